/* butterfly: ten stages of a Walsh-Hadamard transform of many complex signals. */
#ifndef CLOCK
#define CLOCK CLOCK_MONOTONIC
#endif
#include "../timed.h"
#ifndef S
#define S 2048
#endif
#ifndef N
#define N 1024
#endif
#ifndef L
#define L 10
#endif

static double re[N][S], im[N][S], re2[N][S], im2[N][S];

static void initialise(void)
{
  for (int k = 0; k < N; k++)
    for (int s = 0; s < S; s++)
      re[k][s] = k % 7 + s % 3, im[k][s] = k % 5;
}

static void kernel(void)
{
#pragma scop
  for (int stage = 0; stage < L; stage++) {
    for (int s = 0; s < S; s++)
      for (int k = 0; k < N / 2; k++) {
        re2[k][s] = re[2 * k][s] + re[2 * k + 1][s];
        im2[k][s] = im[2 * k][s] + im[2 * k + 1][s];
        re2[k + N / 2][s] = re[2 * k][s] - re[2 * k + 1][s];
        im2[k + N / 2][s] = im[2 * k][s] - im[2 * k + 1][s];
      }
    for (int k = 0; k < N; k++)
      for (int s = 0; s < S; s++) {
        re[k][s] = re2[k][s];
        im[k][s] = im2[k][s];
      }
  }
#pragma endscop
}

/* --time: seconds in the region; otherwise a result, so that none is computed in vain. */
int main(int argc, char **argv)
{
  double seconds = timed();
  printf("%.9f\n", argc > 1 && !strcmp(argv[1], "--time") ? seconds : (double)(re[3][S / 2] + im[5][1]));
  return 0;
}
