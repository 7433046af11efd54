/* convolution: a layer of a network, seven loops around one product. */
#define _POSIX_C_SOURCE 199309L
#include <stdio.h>
#include <string.h>
#include <time.h>

#ifndef CLOCK
#define CLOCK CLOCK_MONOTONIC
#endif
#ifndef IMAGES
#define IMAGES 16
#endif
#ifndef OUTPUTS
#define OUTPUTS 64
#endif
#ifndef INPUTS
#define INPUTS 32
#endif
#ifndef HEIGHT
#define HEIGHT 48
#endif
#ifndef WIDTH
#define WIDTH 48
#endif
#ifndef SIDE
#define SIDE 3
#endif

static float in[IMAGES][INPUTS][HEIGHT + SIDE][WIDTH + SIDE], weight[OUTPUTS][INPUTS][SIDE][SIDE];
static float out[IMAGES][OUTPUTS][HEIGHT][WIDTH];

static void initialise(void)
{
  for (int n = 0; n < IMAGES; n++)
    for (int k = 0; k < OUTPUTS; k++)
      for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
          out[n][k][y][x] = 1;
  for (int n = 0; n < IMAGES; n++)
    for (int c = 0; c < INPUTS; c++)
      for (int y = 0; y < HEIGHT + SIDE; y++)
        for (int x = 0; x < WIDTH + SIDE; x++)
          in[n][c][y][x] = (float)((n + c * y + x) % 17) / 17;
  for (int k = 0; k < OUTPUTS; k++)
    for (int c = 0; c < INPUTS; c++)
      for (int r = 0; r < SIDE; r++)
        for (int s = 0; s < SIDE; s++)
          weight[k][c][r][s] = (float)((k + c + r * s) % 13) / 13;
}

static void kernel(void)
{
#pragma scop
  for (int n = 0; n < IMAGES; n++)
    for (int k = 0; k < OUTPUTS; k++)
      for (int c = 0; c < INPUTS; c++)
        for (int y = 0; y < HEIGHT; y++)
          for (int x = 0; x < WIDTH; x++)
            for (int r = 0; r < SIDE; r++)
              for (int s = 0; s < SIDE; s++)
                out[n][k][y][x] += in[n][c][y + r][x + s] * weight[k][c][r][s];
#pragma endscop
}

static double now(void)
{
  struct timespec time;
  clock_gettime(CLOCK, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* --time: seconds in the region; otherwise a result, so that none is computed in vain. */
int main(int argc, char **argv)
{
  initialise();
  double start = now();
  kernel();
  double seconds = now() - start;
  printf("%.9f\n", argc > 1 && !strcmp(argv[1], "--time") ? seconds : (double)out[IMAGES - 1][OUTPUTS - 1][HEIGHT - 1][WIDTH - 1]);
  return 0;
}
