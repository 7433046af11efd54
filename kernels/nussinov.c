/* nussinov: the largest number of base pairs in a folded RNA sequence, by dynamic programming. */
#define _POSIX_C_SOURCE 199309L
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#pragma GCC diagnostic ignored "-Wunknown-pragmas" /* the region */
#pragma GCC diagnostic ignored "-Wunused-label"    /* its loop tags */

#ifndef N
#define N 1600
#endif
#ifndef CLOCK
#define CLOCK CLOCK_MONOTONIC
#endif

static int table[N][N];
static char seq[N];

#define MAX(a, b) ((a) >= (b) ? (a) : (b))
#define MATCH(a, b) ((a) + (b) == 3 ? 1 : 0)

static void initialise(void)
{
  for (int i = 0; i < N; i++)
    seq[i] = (char)((i + 1) % 4);
  memset(table, 0, sizeof table);
}

static void kernel(void)
{
  long i, j, k;
#pragma scop
  for (i = N - 1; i >= 0; i--)
    for (j = i + 1; j < N; j++) {
      West: table[i][j] = MAX(table[i][j], table[i][j - 1]);
      South: table[i][j] = MAX(table[i][j], table[i + 1][j]);
      if (i < j - 1)
        Pair: table[i][j] = MAX(table[i][j], table[i + 1][j - 1] + MATCH(seq[i], seq[j]));
      else
        Near: table[i][j] = MAX(table[i][j], table[i + 1][j - 1]);
      for (k = i + 1; k < j; k++)
        Split: table[i][j] = MAX(table[i][j], table[i][k] + table[k + 1][j]);
    }
#pragma endscop
}

static const struct {
  const void *start;
  size_t size;
} results[] = {{table, sizeof table}};

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
