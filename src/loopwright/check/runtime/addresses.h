/* Where the arrays of the original lie, for cells that are touched through pointers, and whether arrays
 * share memory [Bao2016, section 5, "Aliasing"].  The checked program includes it. */
#ifndef LW_ADDRESSES_H
#define LW_ADDRESSES_H

#define LW_BEYOND (1L << 35) /* bytes; an address further from an array is no cell of it */

void lw_alias(int one, int other);

/* An array that is one block: the address of its first element, the bytes that a step takes in each
 * dimension, and those of an element. */
struct lw_block {
  const char *base;
  long *stride;
  long element;
};

/* The subscript in `dimension` of the cell at an address; those further in round down.  An address inside
 * an element is no cell. */
static inline long lw_subscript(const struct lw_block *block, int dimension, const volatile void *at)
{
  long rest = (const volatile char *)at - block->base, found = 0;

  if (rest < -LW_BEYOND || rest > LW_BEYOND || rest % block->element)
    rest = -block->stride[0];
  for (int k = 0; k <= dimension; k++) {
    long size = block->stride[k];

    found = rest >= 0 ? rest / size : -((size - 1 - rest) / size);
    rest -= found * size;
  }
  return found;
}

/* Memory of an array of the original, from `low` up to but not including `high`. */
static struct {
  const char *low, *high;
  int array;
} *lw_areas;
static int lw_area_count;

/* Not inlined: the compiler would take two declared arrays to be apart without looking.
 * An array has the bytes from `low` to `high` of `base`; report the first array that shares some. */
static __attribute__((noinline, unused)) void lw_area(int array, const void *base, long low, long high)
{
  static int reported;
  const char *first = (const char *)base + low, *last = (const char *)base + high;

  for (int k = 0; k < lw_area_count && !reported; k++)
    if (first < lw_areas[k].high && lw_areas[k].low < last) {
      lw_alias(lw_areas[k].array, array);
      reported = 1;
    }
  if (lw_area_count % 64 == 0)
    lw_areas = __builtin_realloc(lw_areas, sizeof *lw_areas * (unsigned long)(lw_area_count + 64));
  lw_areas[lw_area_count].low = first;
  lw_areas[lw_area_count].high = last;
  lw_areas[lw_area_count].array = array;
  lw_area_count++;
}

/* An array of pointers to rows: the first `size` bytes of each row. */
static inline void lw_rows(int array, const void *rows, long from, long to, long size)
{
  for (long k = from; k <= to; k++)
    lw_area(array, ((const void *const *)rows)[k], 0, size);
}

#endif
