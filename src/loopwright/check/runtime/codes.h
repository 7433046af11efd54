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

#endif
