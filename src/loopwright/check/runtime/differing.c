/* The original and the segment, one after the other on the same data: do they leave the same?
 *
 *     lw_area_of(..) for each array, lw_before(), the original, lw_between(), the segment, lw_after()
 *
 * LOOPWRIGHT_SEED tells the data: 0 what the arrays hold where the segment starts, else made-up numbers.
 * The first cell that is left with another value is reported; the program ends there.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum kind { FLOAT = 1, DOUBLE, LONG_DOUBLE, SIGNED, UNSIGNED };

struct area {
  const char *base;
  char *first;
  long cells, size;
  int kind, rank, seen;
  const long *strides;
  char *data, *result;
};

static struct area areas[LW_AREAS];
static int area_count;

static char *copy(const char *bytes, long length)
{
  char *made = malloc((size_t)length + 1);

  if (!made)
    _exit(125);
  return memcpy(made, bytes, (size_t)length);
}

void lw_area_of(int seen, const void *base, long low, long high, int kind, int rank, const long *strides);
void lw_before(void);
void lw_between(void);
void lw_after(void);

/* The bytes from `low` to `high` after `base` are elements of this kind.
 *
 * The strides are those of the subscripts, and last the size of an element.  What is not seen afterwards is not
 * compared.
 */
void lw_area_of(int seen, const void *base, long low, long high, int kind, int rank, const long *strides)
{
  struct area *area = &areas[area_count++];

  if (!kind || area_count > LW_AREAS)
    _exit(125);
  area->seen = seen;
  area->base = base;
  area->first = (char *)base + low;
  area->size = strides[rank];
  area->cells = (high - low) / area->size;
  area->kind = kind;
  area->rank = rank;
  area->strides = (const long *)copy((const char *)strides, (rank + 1) * (long)sizeof *strides);
}

static unsigned long mixed(unsigned long number)
{
  number = (number ^ (number >> 31)) * 0x9e3779b97f4a7c15UL;
  return (number ^ (number >> 29)) * 0xbf58476d1ce4e5b9UL >> 40;
}

/* Floating-point numbers from 0.5 to 1.5, integers from 1 to 9. */
static void fill(const struct area *area, unsigned long seed)
{
  for (long k = 0; k < area->cells; k++) {
    unsigned long number = mixed(seed * 0x100000001b3UL + (unsigned long)k);
    double real = 0.5 + (double)number / (1 << 24);
    char *cell = area->first + k * area->size;

    if (area->kind == FLOAT)
      memcpy(cell, &(float){(float)real}, sizeof(float));
    else if (area->kind == DOUBLE)
      memcpy(cell, &real, sizeof real);
    else if (area->kind == LONG_DOUBLE)
      memcpy(cell, &(long double){real}, sizeof(long double));
    else
      memcpy(cell, &(unsigned long){number % 9 + 1}, (size_t)area->size); /* the low bytes come first */
  }
}

void lw_before(void)
{
  const char *text = getenv("LOOPWRIGHT_SEED");
  unsigned long seed = text ? strtoul(text, 0, 10) : 0;

  for (int k = 0; k < area_count; k++) {
    if (seed)
      fill(&areas[k], seed + 131 * (unsigned long)k);
    areas[k].data = copy(areas[k].first, areas[k].cells * areas[k].size);
  }
}

void lw_between(void)
{
  for (int k = 0; k < area_count; k++) {
    areas[k].result = copy(areas[k].first, areas[k].cells * areas[k].size);
    if (memcmp(areas[k].first, areas[k].data, (size_t)(areas[k].cells * areas[k].size)) != 0)
      memcpy(areas[k].first, areas[k].data, (size_t)(areas[k].cells * areas[k].size));
  }
}

static long double real(const struct area *area, const char *cell)
{
  float single;
  double number;
  long double large;

  if (area->kind == FLOAT)
    return memcpy(&single, cell, sizeof single), single;
  if (area->kind == DOUBLE)
    return memcpy(&number, cell, sizeof number), number;
  return memcpy(&large, cell, sizeof large), large;
}

static long integer(const struct area *area, const char *cell)
{
  unsigned long number = 0;
  int unused = 64 - 8 * (int)area->size;

  memcpy(&number, cell, (size_t)area->size);
  return area->kind == SIGNED ? (long)(number << unused) >> unused : (long)number;
}

/* Zeros of both signs are the same here, and so are all that are no numbers. */
static int same(const struct area *area, const char *one, const char *other)
{
  if (memcmp(one, other, (size_t)area->size) == 0)
    return 1;
  if (area->kind > LONG_DOUBLE)
    return 0;
  long double first = real(area, one), second = real(area, other);
  return first == second || (first != first && second != second);
}

static void told(int array, long at)
{
  const int digits[] = {0, 17, 17, 21};
  const struct area *area = &areas[array];
  const char *old = area->result + at * area->size, *new = area->first + at * area->size;
  const char *path = getenv("LOOPWRIGHT_REPORT");
  FILE *report = path ? fopen(path, "w") : stderr;

  if (!report)
    _exit(125);
  long offset = new - area->base;
  fprintf(report, "differs %d ", array);
  for (int k = 0; k < area->rank; offset %= area->strides[k++])
    fprintf(report, "[%ld]", offset / area->strides[k]);
  fprintf(report, " ");
  if (area->kind <= LONG_DOUBLE)
    fprintf(report, "%.*Lg %.*Lg\n", digits[area->kind], real(area, old), digits[area->kind], real(area, new));
  else
    fprintf(report, "%ld %ld\n", integer(area, old), integer(area, new));
  fclose(report);
  _exit(0);
}

void lw_after(void)
{
  for (int k = 0; k < area_count; k++)
    for (long at = 0; at < areas[k].seen * areas[k].cells; at++)
      if (!same(&areas[k], areas[k].result + at * areas[k].size, areas[k].first + at * areas[k].size))
        told(k, at);
  _exit(0);
}
