/* Shadows of one number a cell: the types of the numbers, and where loops over them collect differences.
 *
 * A shadow holds numbers of 1, 2, 4 or 8 bytes.  Each width has a difference of its own, so that a loop
 * compares as many cells as fit into a vector register. */
#ifndef LW_CODES_H
#define LW_CODES_H

#include "helpers.h"

typedef unsigned char lw_code1;
typedef unsigned short lw_code2;
typedef unsigned int lw_code4;
typedef unsigned long lw_code8;

#define LW_DIFFERENCES                                                                             \
  lw_code1 dif1 = 0;                                                                               \
  lw_code2 dif2 = 0;                                                                               \
  lw_code4 dif4 = 0;                                                                               \
  lw_code8 dif8 = 0
#define LW_DIFFERENT (dif1 | dif2 | dif4 | dif8)

/* Cells next to each other that should hold one code, or get it: from `first` to `last`, which may be before it.
 *
 * Most are a few dozen bytes, a row of a tile: sixteen bytes at a time, the last sixteen once more. */
typedef lw_code8 lw_codes __attribute__((vector_size(16), aligned(1), may_alias));

static inline lw_code8 lw_other(const char *at, long bytes, lw_code8 code)
{
  const lw_codes wanted = {code, code};
  const char *const last = at + bytes - 16;
  lw_codes sum = *(const lw_codes *)last ^ wanted;
  for (; at < last; at += 16) sum |= *(const lw_codes *)at ^ wanted;
  return sum[0] | sum[1];
}

static inline void lw_filled(char *at, long bytes, lw_code8 code)
{
  const lw_codes wanted = {code, code};
  char *const last = at + bytes - 16;
  for (; at < last; at += 16) *(lw_codes *)at = wanted;
  *(lw_codes *)last = wanted;
}

#define LW_RUNS(size)                                                                              \
  static inline lw_code8 lw_other##size(const lw_code##size *at, long first, long last, lw_code##size code) \
  {                                                                                                \
    const long count = last - first + 1;                                                           \
    const lw_code8 wanted = (lw_code8)code * (~0ul / (lw_code8)(lw_code##size)~0ul);               \
    lw_code8 sum = 0;                                                                              \
    if (count >= 16 / size) return lw_other((const char *)at, count * size, wanted);               \
    for (; first <= last; first++) sum |= *at++ ^ code;                                            \
    return sum;                                                                                    \
  }                                                                                                \
  static inline void lw_filled##size(lw_code##size *at, long first, long last, lw_code##size code) \
  {                                                                                                \
    const long count = last - first + 1;                                                           \
    const lw_code8 wanted = (lw_code8)code * (~0ul / (lw_code8)(lw_code##size)~0ul);               \
    if (count >= 16 / size)                                                                        \
      lw_filled((char *)at, count * size, wanted);                                                 \
    else                                                                                           \
      for (; first <= last; first++) *at++ = code;                                                 \
  }
LW_RUNS(1)
LW_RUNS(2)
LW_RUNS(4)
LW_RUNS(8)

#endif
