/* Variables that the original leaves alone: the segment has to leave them as they were.
 *
 * Before it is included: LW_KEPT, their number. */
#ifndef LW_KEPT_H
#define LW_KEPT_H

#define LW_KEPT_MOST (1UL << 28) /* bytes that are looked at in all, however often the segment is entered */

void lw_changed(int variable);

/* A number for what each of them held where the segment started, and whether there is one. */
static unsigned long lw_held[LW_KEPT];
static unsigned char lw_is_held[LW_KEPT];
static unsigned long lw_seen;

static inline unsigned long lw_content(const volatile void *at, unsigned long size)
{
  const volatile unsigned char *bytes = (const volatile unsigned char *)at;
  unsigned long sum = 14695981039346656037UL;

  for (unsigned long k = 0; k < size; k++)
    sum = (sum ^ bytes[k]) * 1099511628211UL;
  return sum;
}

static inline void lw_hold(int variable, const volatile void *at, unsigned long size)
{
  lw_is_held[variable] = size <= LW_KEPT_MOST - lw_seen;
  if (!lw_is_held[variable])
    return;
  lw_seen += size;
  lw_held[variable] = lw_content(at, size);
}

static inline void lw_holds(int variable, const volatile void *at, unsigned long size)
{
  if (lw_is_held[variable] && lw_held[variable] != lw_content(at, size))
    lw_changed(variable);
}

#endif
