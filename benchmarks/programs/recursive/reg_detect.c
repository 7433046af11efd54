/* reg_detect: edges in an image, PolyBench 3; the sums are taken over tiles of 8 and each mean follows its sums.
 * -DFAULT: the means are taken from the first tile, as a compiler once did [Bao2016, table 8]. */
#include <stdio.h>
#include <time.h>
#ifndef ROUNDS
#define ROUNDS 200
#endif
#ifndef GRID
#define GRID 12
#endif
#ifndef LENGTH
#define LENGTH 512
#endif
#define TILE 8
static double tangent[GRID][GRID], diff[GRID][GRID][LENGTH], sums[GRID][GRID][LENGTH], mean[GRID][GRID];
static double path[GRID][GRID];

static void tiles(int j, int i)
{
  int tile, count;
  for (tile = 0; tile < LENGTH; tile += TILE) {
    for (count = tile; count < tile + TILE && count < LENGTH; count++) {
      diff[j][i][count] = tangent[j][i];
      if (count == 0)
        sums[j][i][0] = diff[j][i][0];
      else
        sums[j][i][count] = sums[j][i][count - 1] + diff[j][i][count];
    }
#ifdef FAULT
    if (tile == 0)
#else
    if (tile + TILE >= LENGTH)
#endif
      mean[j][i] = sums[j][i][LENGTH - 1];
  }
}

int main(void)
{
  for (int j = 0; j < GRID; j++)
    for (int i = 0; i < GRID; i++)
      tangent[j][i] = (j * 5 + i) % 9;
  clock_t start = clock();
/*@ polycheck start spec
  for (t = 0; t < ROUNDS; t++) {
    for (j = 0; j < GRID; j++)
      for (i = j; i < GRID; i++)
        for (c = 0; c < LENGTH; c++)
          diff[j][i][c] = tangent[j][i];
    for (j = 0; j < GRID; j++)
      for (i = j; i < GRID; i++) {
        sums[j][i][0] = diff[j][i][0];
        for (c = 1; c < LENGTH; c++)
          sums[j][i][c] = sums[j][i][c - 1] + diff[j][i][c];
        mean[j][i] = sums[j][i][LENGTH - 1];
      }
    for (i = 0; i < GRID; i++)
      path[0][i] = mean[0][i];
    for (j = 1; j < GRID; j++)
      for (i = j; i < GRID; i++)
        path[j][i] = path[j - 1][i - 1] + mean[j][i];
  }
*/
  for (int t = 0; t < ROUNDS; t++) {
    for (int j = 0; j < GRID; j++)
      for (int i = j; i < GRID; i++)
        tiles(j, i);
    for (int i = 0; i < GRID; i++)
      path[0][i] = mean[0][i];
    for (int j = 1; j < GRID; j++)
      for (int i = j; i < GRID; i++)
        path[j][i] = path[j - 1][i - 1] + mean[j][i];
  }
/*@ polycheck end */
  printf("%.6f\n", (double)(clock() - start) / CLOCKS_PER_SEC);
  return path[GRID - 1][GRID - 1] < 0;
}
