/* gram: products of all pairs of features, added up over samples. */
#ifndef CLOCK
#define CLOCK CLOCK_MONOTONIC
#endif
#include "../timed.h"
#ifndef S
#define S 3000
#endif
#ifndef F
#define F 500
#endif

static double sample[S][F], product[F][F];

static void initialise(void)
{
  for (int s = 0; s < S; s++)
    for (int f = 0; f < F; f++)
      sample[s][f] = (s * 3 + f * 7) % 11 / 4.0;
}

static void kernel(void)
{
#pragma scop
  for (int s = 0; s < S; s++)
    for (int i = 0; i < F; i++)
      for (int j = 0; j < F; j++)
        product[i][j] += sample[s][i] * sample[s][j];
#pragma endscop
}

/* --time: seconds in the region; otherwise a result, so that none is computed in vain. */
int main(int argc, char **argv)
{
  double seconds = timed();
  printf("%.9f\n", argc > 1 && !strcmp(argv[1], "--time") ? seconds : (double)(product[3][F / 2]));
  return 0;
}
