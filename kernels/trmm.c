/* trmm: product with a unit lower triangular matrix, in place: B = alpha A' B. */
#define _POSIX_C_SOURCE 199309L
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#pragma GCC diagnostic ignored "-Wunknown-pragmas" /* the region */
#pragma GCC diagnostic ignored "-Wunused-label"    /* its loop tags */

#ifndef M
#define M 800
#endif
#ifndef N
#define N 960
#endif
#ifndef CLOCK
#define CLOCK CLOCK_MONOTONIC
#endif

static double alpha = 1.5;
static double A[M][M], B[M][N];

static void initialise(void)
{
  for (int i = 0; i < M; i++) {
    for (int j = 0; j < M; j++)
      A[i][j] = j < i ? (double)((i + j) % M) / M : j == i ? 1.0 : 0.0;
    for (int j = 0; j < N; j++)
      B[i][j] = (double)((N + i - j) % N) / N;
  }
}

static void kernel(void)
{
  long i, j, k;
#pragma scop
  for (i = 0; i < M; i++)
    for (j = 0; j < N; j++) {
      for (k = i + 1; k < M; k++)
        Mult: B[i][j] += A[k][i] * B[k][j];
      Alpha: B[i][j] = alpha * B[i][j];
    }
#pragma endscop
}

static const struct {
  const void *start;
  size_t size;
} results[] = {{B, sizeof B}};

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
