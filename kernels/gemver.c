/* gemver: two rank-one updates and two matrix-vector products: A += u1 v1' + u2 v2', x += beta
   A' y + z, w += alpha A x. */
#define _POSIX_C_SOURCE 199309L
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#pragma GCC diagnostic ignored "-Wunknown-pragmas" /* the region */
#pragma GCC diagnostic ignored "-Wunused-label"    /* its loop tags */

#ifndef N
#define N 4000
#endif
#ifndef CLOCK
#define CLOCK CLOCK_MONOTONIC
#endif

static double alpha = 1.5, beta = 1.2;
static double A[N][N], u1[N], v1[N], u2[N], v2[N], w[N], x[N], y[N], z[N];

static void initialise(void)
{
  for (int i = 0; i < N; i++) {
    u1[i] = i;
    u2[i] = (i + 1.0) / N / 2.0;
    v1[i] = (i + 1.0) / N / 4.0;
    v2[i] = (i + 1.0) / N / 6.0;
    y[i] = (i + 1.0) / N / 8.0;
    z[i] = (i + 1.0) / N / 9.0;
    for (int j = 0; j < N; j++)
      A[i][j] = (double)(i * j % N) / N;
  }
}

static void kernel(void)
{
  long i, j;
#pragma scop
  for (i = 0; i < N; i++)
    for (j = 0; j < N; j++)
      First: A[i][j] = A[i][j] + u1[i] * v1[j] + u2[i] * v2[j];
  for (i = 0; i < N; i++)
    for (j = 0; j < N; j++)
      Second: x[i] = x[i] + beta * A[j][i] * y[j];
  for (i = 0; i < N; i++)
    Third: x[i] = x[i] + z[i];
  for (i = 0; i < N; i++)
    for (j = 0; j < N; j++)
      Fourth: w[i] = w[i] + alpha * A[i][j] * x[j];
#pragma endscop
}

static const struct {
  const void *start;
  size_t size;
} results[] = {{w, sizeof w}};

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
