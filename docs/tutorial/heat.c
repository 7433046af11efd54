/* A rod that warms up: each point becomes the mean of itself and its two neighbours, STEPS times. */
#define N 4000
#define STEPS 1000

static double rod[N];

static void kernel(void)
{
#pragma scop
  for (int t = 0; t < STEPS; t++)
    for (int i = 1; i < N - 1; i++)
      Point: rod[i] = (rod[i - 1] + rod[i] + rod[i + 1]) / 3;
#pragma endscop
}
