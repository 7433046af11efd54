/* Runs the two versions of each pair on the same data, for all its sizes, in processes that may be stopped.
   What is judged is compiled with sanitizers and linked with this; RUNS and the seeds come from judge.py. */
#include <math.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SLOTS = 8, ENDLESS = 5, ENOUGH = 3 }; /* runs of a version that are stopped, before it is left */
struct slot { int bytes, kind, margin; void *shared; };
struct version { void (*call)(int, int, unsigned, short, void **, double *); int keeps; struct slot slots[SLOTS]; };
struct cell { int pair, slot, index; double value; };
extern const int count_of_pairs, sizes[][RUNS][5];
extern struct version versions[][2];
extern const struct cell given[];
extern int fails;
struct result { int done; uint64_t hash; };
__attribute__((weak)) int omp_get_thread_num(void) { return 0; } /* where there is one thread */
__attribute__((weak)) int omp_get_num_threads(void) { return 1; }
static uint64_t state;
static int sparse; /* 1: zeros, 2: zeros and a few ones */
static int wild;   /* the seed of wild data, or 0 */

static uint32_t next(void)
{
  state = state * 6364136223846793005u + 1442695040888963407u;
  return state >> 33;
}

static int put(char *at, int kind, double real, int small)
{
  switch (kind) {
  case 0: *(double *)at = real; return 8;
  case 1: *(float *)at = real; return 4;
  case 2: case 3: *(int *)at = small; return 4;
  case 4: *(long *)at = small; return 8;
  case 5: case 6: *(short *)at = small; return 2;
  case 9: *at = small & 1; return 1;
  default: *at = small; return 1;
  }
}

/* What a smaller type does not hold, or what is no usual number; `small` is the integer of it. */
static double strange(int *small)
{
  static const double reals[] = {0.0 / 0.0, 1 / 0.0, -1 / 0.0, -0.0, 0.0, 5e-324, 1e-40, 3e38, -1.7e308, 0x1p53};
  static const int integers[] = {-1, 0, 1, 255, -128, 65535, -32768, 2147483647, -2147483647 - 1, 16777217};
  uint32_t number = next();
  if (wild == LARGE) {
    *small = (number & 1 ? 1 : -1) * (int)(0x1000001 + number % 0xffffff);
    return *small * 134217729.0 + 0.375;
  }
  *small = integers[number % 10];
  return reals[next() % 10];
}

static void fill(void *data, int bytes, int kind)
{
  for (int k = 0; k < bytes; ) {
    int small = (int)(next() % 12) - (kind == 2 || kind == 6 || kind > 7 ? 0 : 4);
    double real = small + (next() % 1000) / 1024.0 / 3;
    if (sparse) real = small = sparse > 1 && small == 1;
    if (wild && next() % 2) real = strange(&small);
    if (wild && kind == 4) *(long *)((char *)data + k) = small * (wild == LARGE ? 0x7fffffL : 1), k += 8;
    else k += put((char *)data + k, kind, real, small);
  }
}

/* Which of the numbers that are none C does not say: they count as one. */
static uint64_t hashed(uint64_t hash, const unsigned char *data, int bytes, int kind)
{
  int width = kind == 1 ? 4 : bytes % 8 ? 1 : 8; /* of doubles there are whole ones */
  for (int k = 0; k < bytes; k += width) {
    int is_none = kind == 0 ? isnan(*(double *)(data + k)) : kind == 1 && isnan(*(float *)(data + k));
    uint64_t word = 0;
    memcpy(&word, data + k, width);
    hash = (hash ^ (is_none ? 255 : word)) * 1099511628211u;
    hash ^= hash >> 29;
  }
  return hash;
}

/* What only the new program may read is not written by it. */
static void *with_margin(int bytes, int margin)
{
  char *start = malloc(bytes + 2 * margin);
  memset(start, 1, margin);
  memset(start + margin + bytes, 1, margin);
  return start + margin;
}

static void without_margin(char *data, int bytes, int margin)
{
  for (int k = 0; k < margin; k++)
    if (data[-1 - k] != 1 || data[bytes + k] != 1) {
      fprintf(stderr, "runtime error: a write beyond an array\n");
      _exit(1);
    }
  free(data - margin);
}

/* One memory for all arrays of the type of the first one, each two cells after the last; the memory. */
static void *together(struct version *one, void **data)
{
  int most = 0, count = 0, width = one->slots[0].kind == 0 || one->slots[0].kind == 4 ? 16 : 8;
  for (int k = 0; k < SLOTS; k++)
    if (one->slots[k].bytes > most && !one->slots[k].shared) most = one->slots[k].bytes;
  char *memory = malloc(most + SLOTS * width);
  fill(memory, most + SLOTS * width, one->slots[0].kind);
  for (int k = 0; k < SLOTS; k++)
    if (one->slots[k].bytes && !one->slots[k].shared && one->slots[k].kind == one->slots[0].kind)
      data[k] = memory + width * count++;
  return memory;
}

static uint64_t run(int pair, struct version *one, const int *size)
{
  void *memory = NULL;
  void *data[SLOTS];
  double out[4] = {5, 7, -3, 11};
  uint64_t hash = 14695981039346656037u;
  state = size[4];
  wild = size[4] == LARGE || size[4] == STRANGE ? size[4] : 0;
  sparse = size[4] == ZEROS || size[4] == GIVEN || size[4] == FAILING ? 1 : size[4] == ONES ? 2 : 0;
  memset(data, 0, sizeof data);
  if (size[4] == OVERLAPPING) memory = together(one, data);
  for (int k = 0; k < SLOTS; k++) {
    struct slot *slot = &one->slots[k];
    if (slot->bytes == 0 || data[k]) continue;
    data[k] = slot->shared ? slot->shared : with_margin(slot->bytes, slot->margin);
    fill(data[k], slot->bytes, slot->kind);
  }
  for (int k = 0; (size[4] == GIVEN || size[4] == FAILING) && given[k].pair >= 0; k++) {
    int kind = one->slots[given[k].slot].kind;
    int width = kind == 0 || kind == 4 ? 8 : kind < 4 ? 4 : kind < 7 ? 2 : 1;
    char *at = (char *)data[given[k].slot] + width * given[k].index;
    if (given[k].pair == pair) put(at, kind, given[k].value, (int)(long)given[k].value);
  }
  fails = size[4] == FAILING;
  one->call(size[0], size[1], size[2], size[3], data, out);
  fails = 0;
  for (int k = 0; k < SLOTS; k++)
    if (one->slots[k].bytes) hash = hashed(hash, data[k], one->slots[k].bytes, one->slots[k].kind);
  for (int k = 0; k < SLOTS; k++)
    if (one->slots[k].bytes && !one->slots[k].shared && !(memory && one->slots[k].kind == one->slots[0].kind))
      without_margin(data[k], one->slots[k].bytes, one->slots[k].margin);
  free(memory);
  return hashed(hash, (unsigned char *)out, sizeof out, 0);
}

/* A run may take a fifth of a second of processor time, or four where it counts against the new version. */
static void limit(int version)
{
  struct itimerval time = {{0, 0}, {version ? 4 : 0, version ? 0 : 200000}};
  setitimer(ITIMER_PROF, &time, NULL);
  alarm(20);
}

/* All runs from one on, of a version and of those after it, until one is stopped. */
static void all_runs(long start, struct result *results)
{
  for (long at = start; at < 2L * RUNS * count_of_pairs; at++) {
    int pair = at / (2 * RUNS), v = at / RUNS % 2, s = at % RUNS;
    int counts = sizes[pair][s][4] && (v == 0 || results[at - RUNS].done == 2);
    if (at == start || s == 0) fprintf(stderr, "\n@@ %d %d\n", pair, v);
    if (counts) {
      limit(v);
      results[at].done = 1;
      results[at].hash = run(pair, &versions[pair][v], sizes[pair][s]);
    }
    results[at].done = counts ? 2 : 3;
    if (!counts && sizes[pair][s][4] && versions[pair][v].keeps) _exit(0);
  }
  _exit(0);
}

int main(void)
{
  long count = 2L * RUNS * count_of_pairs;
  struct result *results = mmap(0, count * sizeof *results, 3, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  int stops = 0, endless = 0;
  for (long at = 0, version = 0; at < count; ) {
    if (fork() == 0) all_runs(at, results);
    int status;
    wait(&status);
    while (at < count && results[at].done >= 2) at++;
    if (at >= count) break;
    if (at / RUNS != version) version = at / RUNS, stops = endless = 0;
    if (!results[at].done) continue;
    at++, stops++;
    endless += WIFSIGNALED(status) && (WTERMSIG(status) == SIGPROF || WTERMSIG(status) == SIGALRM);
    if (endless == ENDLESS || (version % 2 && stops == ENOUGH)) at = (version + 1) * RUNS;
  }
  for (int pair = 0; pair < count_of_pairs; pair++)
    for (int s = 0; s < RUNS; s++) {
      struct result *old = results + 2L * RUNS * pair + s, *new = old + RUNS;
      printf("%d %d %d %d %d\n", pair, s, old->done, new->done, old->hash == new->hash);
    }
  return 0;
}
