/* What a program writes of each array: how often, and between which subscripts
 * [Bao2016, section 5, "Problem-size parameters"].
 *
 * `lw_tables.h` is generated: LW_ARRAYS, LW_RANKS, lw_site_array and lw_ranks.
 */
#include "lw_tables.h"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static long counts[LW_ARRAYS], lows[LW_ARRAYS][LW_RANKS + 1], highs[LW_ARRAYS][LW_RANKS + 1];
static int active;

void lw_alias(int one, int other);
void lw_begin(void);
void lw_operation(int site, const long *observed);
void lw_end(void);

void lw_alias(int one, int other) /* the run that checks reports it */
{
  (void)one;
  (void)other;
}

void lw_begin(void)
{
  active = 1;
}

void lw_operation(int site, const long *observed)
{
  int array = lw_site_array[site];

  if (!active)
    return;
  for (int k = 0; k < lw_ranks[array]; k++) {
    if (!counts[array] || observed[k] < lows[array][k])
      lows[array][k] = observed[k];
    if (!counts[array] || observed[k] > highs[array][k])
      highs[array][k] = observed[k];
  }
  counts[array]++;
}

void lw_end(void)
{
  const char *path = getenv("LOOPWRIGHT_REPORT");
  FILE *report = path ? fopen(path, "w") : 0;

  if (!report)
    _exit(125);
  for (int array = 0; array < LW_ARRAYS; array++) {
    fprintf(report, "%ld", counts[array]);
    for (int k = 0; k < lw_ranks[array]; k++)
      fprintf(report, " %ld %ld", lows[array][k], highs[array][k]);
    fprintf(report, "\n");
  }
  fclose(report);
  _exit(0);
}
