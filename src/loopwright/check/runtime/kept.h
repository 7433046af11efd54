/* Variables that the original leaves alone: the segment has to leave them as they were.
 *
 * Before it is included: LW_KEPT, their number. */
#ifndef LW_KEPT_H
#define LW_KEPT_H

#define LW_KEPT_MOST (1UL << 26) /* bytes: more of one variable is not looked at */

void lw_changed(int variable);

/* A number for what each of them held where the segment started. */
static unsigned long lw_held[LW_KEPT];

static inline unsigned long lw_content(const volatile void *at, unsigned long size)
{
  const volatile unsigned char *bytes = (const volatile unsigned char *)at;
  unsigned long sum = 14695981039346656037UL;

  for (unsigned long k = 0; k < size && size <= LW_KEPT_MOST; k++)
    sum = (sum ^ bytes[k]) * 1099511628211UL;
  return sum;
}

static inline void lw_hold(int variable, const volatile void *at, unsigned long size)
{
  lw_held[variable] = lw_content(at, size);
}

static inline void lw_holds(int variable, const volatile void *at, unsigned long size)
{
  if (lw_held[variable] != lw_content(at, size))
    lw_changed(variable);
}

#endif
