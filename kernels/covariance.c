/* covariance: the covariance matrix of M variables from N observations. */
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

static double float_n = N;
static double data[N][M], cov[M][M], mean[M];

static void initialise(void)
{
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++)
      data[i][j] = (double)(i * j % (M + 7)) / M + (double)i / N;
}

static void kernel(void)
{
  long j, i, k;
#pragma scop
  for (j = 0; j < M; j++) {
    ClearMean: mean[j] = 0.0;
    for (i = 0; i < N; i++)
      SumMean: mean[j] += data[i][j];
    DivMean: mean[j] /= float_n;
  }
  for (i = 0; i < N; i++)
    for (j = 0; j < M; j++)
      Center: data[i][j] -= mean[j];
  for (i = 0; i < M; i++)
    for (j = i; j < M; j++) {
      Init: cov[i][j] = 0.0;
      for (k = 0; k < N; k++)
        Mult: cov[i][j] += data[k][i] * data[k][j];
      Final: {
        cov[i][j] /= (float_n - 1.0);
        cov[j][i] = cov[i][j];
      }
    }
#pragma endscop
}

static const struct {
  const void *start;
  size_t size;
} results[] = {{cov, sizeof cov}};

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
