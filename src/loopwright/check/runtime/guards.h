/* Assignments that are no operations: none may reach an array of the original.
 *
 * Before it is included: LW_GUARDED, the number of arrays, and lw_guarded, their numbers. */
#ifndef LW_GUARDS_H
#define LW_GUARDS_H

void lw_alias(int one, int other);

/* The first byte of each array and the first after it, while the segment runs; otherwise 0. */
static const char *volatile lw_reach[LW_GUARDED][2];

/* The address itself; report an array that it lies in. */
static inline void *lw_elsewhere(const volatile void *at)
{
  static int reported;
  const char *here = (const char *)at;

  for (int k = 0; k < LW_GUARDED; k++)
    if (here >= lw_reach[k][0] && here < lw_reach[k][1] && !reported++)
      lw_alias(lw_guarded[k], lw_guarded[k]);
  return (void *)at;
}

#endif
