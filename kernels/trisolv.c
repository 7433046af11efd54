/* trisolv: a lower triangular system L x = b. */
#define _POSIX_C_SOURCE 199309L
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#pragma GCC diagnostic ignored "-Wunknown-pragmas" /* the region */
#pragma GCC diagnostic ignored "-Wunused-label"    /* its loop tags */

#ifndef N
#define N 6000
#endif
#ifndef CLOCK
#define CLOCK CLOCK_MONOTONIC
#endif

static double L[N][N], x[N], b[N];

static void initialise(void)
{
  for (int i = 0; i < N; i++) {
    b[i] = (double)i / N;
    for (int j = 0; j <= i; j++)
      L[i][j] = (double)(i + N - j + 1) * 2.0 / N + (i == j ? N : 0.0);
  }
}

static void kernel(void)
{
  long i, j;
#pragma scop
  for (i = 0; i < N; i++) {
    Load: x[i] = b[i];
    for (j = 0; j < i; j++)
      Subtract: x[i] -= L[i][j] * x[j];
    Divide: x[i] = x[i] / L[i][i];
  }
#pragma endscop
}

static const struct {
  const void *start;
  size_t size;
} results[] = {{x, sizeof x}};

/* FNV-1a over the bytes of the results: equal sums, equal bits. */
static uint64_t checksum(void)
{
  uint64_t sum = 14695981039346656037u;
  for (size_t r = 0; r < sizeof results / sizeof *results; r++)
    for (size_t at = 0; at < results[r].size; at++)
      sum = (sum ^ ((const unsigned char *)results[r].start)[at]) * 1099511628211u;
  return sum;
}

static double now(void)
{
  struct timespec time;
  clock_gettime(CLOCK, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* --time: seconds in the region; --checksum: of the results; --dump: the results themselves. */
int main(int argc, char **argv)
{
  const char *flag = argc > 1 ? argv[1] : "";
  initialise();
  double start = now();
  kernel();
  double seconds = now() - start;
  if (!strcmp(flag, "--dump"))
    for (size_t r = 0; r < sizeof results / sizeof *results; r++)
      fwrite(results[r].start, 1, results[r].size, stdout);
  else if (!strcmp(flag, "--checksum"))
    printf("%016llx\n", (unsigned long long)checksum());
  else if (!strcmp(flag, "--time"))
    printf("%.9f\n", seconds);
  else
    printf("%.9f s, checksum %016llx\n", seconds, (unsigned long long)checksum());
  return 0;
}
