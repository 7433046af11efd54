/* ludcmp: a linear system A x = b by LU factors and two substitutions. */
#define _POSIX_C_SOURCE 199309L
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#pragma GCC diagnostic ignored "-Wunknown-pragmas" /* the region */
#pragma GCC diagnostic ignored "-Wunused-label"    /* its loop tags */

#ifndef N
#define N 1000
#endif
#ifndef CLOCK
#define CLOCK CLOCK_MONOTONIC
#endif

static double A[N][N], b[N], x[N], y[N], w;

static void initialise(void)
{
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      A[i][j] = i == j ? 2.0 * N : (double)((i + j) % N) / N;

  for (int i = 0; i < N; i++)
    b[i] = (i + 1.0) / N / 2.0 + 4.0;
}

static void kernel(void)
{
  long i, j, k;
#pragma scop
  for (i = 0; i < N; i++) {
    for (j = 0; j < i; j++) {
      LoadL: w = A[i][j];
      for (k = 0; k < j; k++)
        Left: w -= A[i][k] * A[k][j];
      Norm: A[i][j] = w / A[j][j];
    }
    for (j = i; j < N; j++) {
      LoadR: w = A[i][j];
      for (k = 0; k < i; k++)
        Right: w -= A[i][k] * A[k][j];
      Store: A[i][j] = w;
    }
  }
  for (i = 0; i < N; i++) {
    LoadB: w = b[i];
    for (j = 0; j < i; j++)
      Forward: w -= A[i][j] * y[j];
    StoreY: y[i] = w;
  }
  for (i = N - 1; i >= 0; i--) {
    LoadY: w = y[i];
    for (j = i + 1; j < N; j++)
      Backward: w -= A[i][j] * x[j];
    StoreX: x[i] = w / A[i][i];
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
