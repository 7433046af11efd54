/* Delayed detection [Bao2016, section 5], the part that the checked program includes.
 *
 * Differences are collected, without branches; whether there were any is asked at the end of the segment.
 */
#ifndef LW_DELAYED_H
#define LW_DELAYED_H

#include "codes.h"

void lw_begin(const long *sizes);
void lw_end(unsigned long different);

/* What was collected, with room around it: a write a little outside of an array does not reach it. */
static struct {
  char before[65536];
  unsigned long dif;
  unsigned int dif4;
  long neg;
  char after[65536];
} lw_sum;

#define lw_dif lw_sum.dif
#define lw_dif4 lw_sum.dif4
#define lw_neg lw_sum.neg

#define LW_CLEAR() (lw_dif = 0, lw_dif4 = 0, lw_neg = 0)
#define LW_FINISH() lw_end(lw_dif | lw_dif4 | (unsigned long)(lw_neg < 0))

/* An operation that is not an instance of the original, whatever it reads. */
#define LW_WRONG() __atomic_store_n(&lw_dif, 1ul, __ATOMIC_RELAXED)

/* The check of one operation, and of a nest: 1 if all its operations are right. */
#define LW_SITE static inline __attribute__((always_inline)) void
#define LW_NEST static __attribute__((noinline)) int

/* What a nest finds is far out: the checks of its operations do not overflow on it, a sum might. */
#define LW_FAR(p) ((p) < -(1L << 40) || (p) > 1L << 40)

#endif
