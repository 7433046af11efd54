/* nbody: forces between all pairs of bodies. */
#ifndef CLOCK
#define CLOCK CLOCK_MONOTONIC
#endif
#include "../timed.h"
#ifndef N
#define N 8000
#endif

static float x[N], y[N], z[N], mass[N], fx[N], fy[N], fz[N];

static void initialise(void)
{
  for (int i = 0; i < N; i++) {
    x[i] = (float)(i % 17);
    y[i] = (float)(i * 5 % 23);
    z[i] = (float)(i * 3 % 29);
    mass[i] = (float)(1 + i % 3);
  }
}

static void kernel(void)
{
#pragma scop
  for (int i = 0; i < N; i++) {
    fx[i] = 0;
    fy[i] = 0;
    fz[i] = 0;
    for (int j = 0; j < N; j++) {
      float dx = x[j] - x[i];
      float dy = y[j] - y[i];
      float dz = z[j] - z[i];
      float square = dx * dx + dy * dy + dz * dz + 0.01f;
      float scale = mass[j] / (square * square);
      fx[i] += scale * dx;
      fy[i] += scale * dy;
      fz[i] += scale * dz;
    }
  }
#pragma endscop
}

/* --time: seconds in the region; otherwise a result, so that none is computed in vain. */
int main(int argc, char **argv)
{
  double seconds = timed();
  printf("%.9f\n", argc > 1 && !strcmp(argv[1], "--time") ? seconds : (double)(fx[N / 2]));
  return 0;
}
