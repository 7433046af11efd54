/* viterbi: the most likely states of a hidden Markov model: the best of all states before, in each step. */
#ifndef CLOCK
#define CLOCK CLOCK_MONOTONIC
#endif
#include "../timed.h"
#ifndef T
#define T 300
#endif
#ifndef S
#define S 600
#endif

static float likely[T][S], from[S][S], seen[T][S];

static void initialise(void)
{
  for (int s = 0; s < S; s++) {
    likely[0][s] = (float)-(s % 5);
    for (int p = 0; p < S; p++)
      from[p][s] = (float)-((p * 7 + s * 3) % 19);
  }
  for (int t = 0; t < T; t++)
    for (int s = 0; s < S; s++)
      seen[t][s] = (float)-((t + s) % 23);
}

static void kernel(void)
{
#pragma scop
  for (int t = 1; t < T; t++)
    for (int s = 0; s < S; s++) {
      float best = -1e30f;
      for (int p = 0; p < S; p++)
        best = likely[t - 1][p] + from[p][s] > best ? likely[t - 1][p] + from[p][s] : best;
      likely[t][s] = best + seen[t][s];
    }
#pragma endscop
}

/* --time: seconds in the region; otherwise a result, so that none is computed in vain. */
int main(int argc, char **argv)
{
  double seconds = timed();
  printf("%.9f\n", argc > 1 && !strcmp(argv[1], "--time") ? seconds : (double)(likely[T - 1][S / 2]));
  return 0;
}
