/* Variables that the original leaves alone: the segment has to leave them as they were.
 *
 * Before it is included: LW_KEPT, their number; LW_TELL, whether one that is not looked at may be changed. */
#ifndef LW_KEPT_H
#define LW_KEPT_H

#define LW_KEPT_MOST (1UL << 31) /* bytes that are looked at in all, however often the segment is entered */

void lw_changed(int variable);
void lw_unseen(int variable);

/* A number for what each of them held where the segment started, and whether there is one. */
static unsigned long lw_held[LW_KEPT];
static unsigned char lw_is_held[LW_KEPT];
static unsigned long lw_looked_at_kept;

static inline unsigned long lw_content(const volatile void *at, unsigned long size)
{
  typedef unsigned long __attribute__((may_alias, aligned(1))) word;
  const volatile unsigned char *bytes = (const volatile unsigned char *)at;
  unsigned long sum = 14695981039346656037UL, k = 0;

  for (; k + sizeof(word) <= size; k += sizeof(word)) {
    sum = (sum ^ *(const volatile word *)(bytes + k)) * 1099511628211UL;
    sum ^= sum >> 29;
  }
  for (; k < size; k++)
    sum = (sum ^ bytes[k]) * 1099511628211UL;
  return sum;
}

static inline void lw_hold(int variable, const volatile void *at, unsigned long size)
{
  lw_is_held[variable] = size <= LW_KEPT_MOST - lw_looked_at_kept;
  if (!lw_is_held[variable]) {
    if (LW_TELL)
      lw_unseen(variable);
    return;
  }
  lw_looked_at_kept += size;
  lw_held[variable] = lw_content(at, size);
}

static inline void lw_holds(int variable, const volatile void *at, unsigned long size)
{
  if (lw_is_held[variable] && lw_held[variable] != lw_content(at, size))
    lw_changed(variable);
}

static inline void lw_leaves(int variable, unsigned long value)
{
  if (lw_held[variable] != value)
    lw_changed(variable);
}

#endif
