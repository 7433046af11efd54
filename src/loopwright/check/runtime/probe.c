/* Ask a program for its problem sizes: it ends where its segment starts. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void lw_probe(int count, const long *sizes);

void lw_probe(int count, const long *sizes)
{
  const char *path = getenv("LOOPWRIGHT_REPORT");
  FILE *report = path ? fopen(path, "w") : 0;

  if (!report)
    _exit(125);
  fprintf(report, "sizes");
  for (int k = 0; k < count; k++)
    fprintf(report, " %ld", sizes[k]);
  fprintf(report, "\n");
  fclose(report);
  _exit(0);
}
