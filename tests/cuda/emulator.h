/* What kernels need of CUDA, for g++: the threads of a block are contexts that run one after the other, each up to
   its next barrier, in an order that LW_ORDER names: 0 forwards, 1 backwards, 2 another one at each barrier.  Lanes of
   a warp that wait for each other alone, at a shuffle or a barrier of the warp, go on before other warps run.  Where a
   warp arrives at a barrier of two parts, others run before it goes on.  What is copied asynchronously is not there
   before it is waited for.  LW_MUTANT names a mistake: see the end. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <vector>

#define __CUDACC__
#define __device__
#define __host__
#define __global__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __shared__ static

struct dim3 {
  unsigned x, y, z;
  dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};
typedef dim3 uint3;
static dim3 threadIdx, blockIdx, gridDim;

typedef int cudaError_t;
typedef int cudaEvent_t;
enum { cudaSuccess, cudaErrorMemoryAllocation, cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost };
static const char *cudaGetErrorString(cudaError_t) { return "an error"; }
static cudaError_t cudaGetLastError() { return cudaSuccess; }
static cudaError_t cudaGetDeviceCount(int *devices) { *devices = 1; return cudaSuccess; }
static cudaError_t cudaEventCreate(cudaEvent_t *) { return cudaSuccess; }
static cudaError_t cudaEventDestroy(cudaEvent_t) { return cudaSuccess; }
static cudaError_t cudaEventRecord(cudaEvent_t) { return cudaSuccess; }
static cudaError_t cudaEventElapsedTime(float *, cudaEvent_t, cudaEvent_t) { return cudaSuccess; }
static cudaError_t cudaDeviceSynchronize() { return cudaSuccess; }
static cudaError_t cudaMalloc(void **device, size_t bytes)
{
  *device = aligned_alloc(256, (bytes + 255) / 256 * 256);
  return cudaSuccess;
}
static cudaError_t cudaFree(void *device) { free(device); return cudaSuccess; }
static cudaError_t cudaMemcpy2D(
  void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t rows, int
)
{
  for (size_t k = 0; k < rows; k++)
    memcpy((char *)to + k * to_pitch, (const char *)from + k * from_pitch, width);
  return cudaSuccess;
}

enum lw_wait { lw_of_block, lw_of_warp_alone, lw_of_split, lw_of_nothing };
struct lw_copy {
  void *to;
  const void *from;
  size_t bytes;
};
struct lw_context {
  ucontext_t state;
  std::vector<char> stack;
  dim3 thread;
  lw_wait waits;
  unsigned shuffles;
  double shown[2]; /* what other lanes fetch, of two shuffles: no lane is further ahead */
  std::vector<lw_copy> copies; /* that are under way */
};
static int lw_mutant() { static const char *told = getenv("LW_MUTANT"); return told ? atoi(told) : 0; }
static ucontext_t lw_scheduler;
static lw_context *lw_running;
static void (*lw_body)(void *);
static void *lw_arguments;

static void lw_stop(lw_wait waits)
{
  lw_running->waits = waits;
  swapcontext(&lw_running->state, &lw_scheduler);
}

static void __syncthreads() { lw_stop(lw_of_block); }
static void __syncwarp() { lw_stop(lw_of_warp_alone); }

static lw_context *lw_threads;
template <typename T> static T __shfl_sync(unsigned, T value, int lane)
{
  lw_context *mine = lw_running, *first = lw_threads + (mine - lw_threads) / 32 * 32;
  const unsigned turn = mine->shuffles++ % 2;
  mine->shown[turn] = value;
  lw_stop(lw_of_warp_alone);
  return (T)first[lane % 32].shown[turn];
}

static void lw_start()
{
  lw_body(lw_arguments);
  lw_stop(lw_of_nothing);
}

/* The threads of a warp, up to something that all of them wait for, which is not the warp alone, or to their end. */
static lw_wait lw_run_warp(std::vector<lw_context> &threads, size_t first, size_t count, int order, unsigned seed)
{
  size_t kinds[lw_of_nothing + 1];
  do {
    memset(kinds, 0, sizeof kinds);
    for (size_t k = 0; k < count; k++) {
      size_t next = order == 0 ? k : order == 1 ? count - 1 - k : (k * 7 + (seed >> 8)) % count;
      lw_running = &threads[first + next];
      threadIdx = lw_running->thread;
      swapcontext(&lw_scheduler, &lw_running->state);
      kinds[lw_running->waits]++;
    }
    if (kinds[lw_running->waits] != count) {
      fprintf(stderr, "%zu of %zu lanes wait for each other\n", kinds[lw_of_warp_alone], count);
      exit(1);
    }
  } while (kinds[lw_of_warp_alone]);
  return lw_running->waits;
}

static unsigned lw_steps; /* of barriers: where none is made in a round, none will be */

/* All threads reach a barrier, or all of them end. */
static void lw_block(dim3 size, unsigned *seed)
{
  const char *told = getenv("LW_ORDER");
  int order = told ? atoi(told) : 0;
  size_t count = (size_t)size.x * size.y * size.z, warp = size.x == 32 ? 32 : count, warps = count / warp;
  std::vector<lw_context> threads(count);
  std::vector<lw_wait> states(warps, lw_of_split);
  lw_threads = threads.data();
  for (size_t k = 0; k < count; k++) {
    lw_context &one = threads[k];
    one.stack.resize(65536);
    one.thread = dim3(k % size.x, k / size.x % size.y, k / size.x / size.y);
    one.shuffles = 0;
    getcontext(&one.state);
    one.state.uc_stack.ss_sp = one.stack.data();
    one.state.uc_stack.ss_size = one.stack.size();
    makecontext(&one.state, lw_start, 0);
  }
  for (;;) {
    size_t ended = 0, at_barrier = 0, left = 0;
    const unsigned before = lw_steps;
    *seed = *seed * 1664525u + 1013904223u;
    for (size_t k = 0; k < warps; k++) {
      size_t next = order == 0 ? k : order == 1 ? warps - 1 - k : (k + (*seed >> 8)) % warps;
      if (order == 2 && *seed >> (9 + next % 16) & 1)
        left += states[next] == lw_of_split; /* others go on before it */
      else if (states[next] == lw_of_split) {
        states[next] = lw_run_warp(threads, next * warp, warp, order, *seed);
        lw_steps += states[next] != lw_of_split;
      }
      ended += states[next] == lw_of_nothing;
      at_barrier += states[next] == lw_of_block;
    }
    if (ended == warps)
      return;
    if (at_barrier == warps)
      states.assign(warps, lw_of_split);
    else if ((left == 0 && lw_steps == before) || (ended != 0 && at_barrier != 0)) {
      fprintf(stderr, "%zu of %zu warps ended at a barrier\n", ended, warps);
      exit(1);
    }
  }
}

/* A barrier of two parts: how many are to arrive, how many have, and how often all have. */
struct lw_split_state {
  int expected, arrived;
  unsigned phase;
};
static lw_split_state lw_split_of_block;
static void lw_emulated_split(bool first, int warps)
{
  if (first)
    lw_split_of_block = {warps, 0, 0};
  __syncthreads();
}
static void lw_emulated_arrive(bool first)
{
  __syncwarp();
  if (first && !(lw_mutant() == 2 && lw_running == lw_threads) && ++lw_split_of_block.arrived == lw_split_of_block.expected)
    lw_split_of_block.arrived = 0, lw_split_of_block.phase++;
  lw_steps++;
  lw_stop(lw_of_split);
}
static void lw_emulated_wait(int step)
{
  if (lw_mutant() == 1)
    return;
  while ((lw_split_of_block.phase & 1) == (unsigned)(step + (lw_mutant() == 3)) % 2)
    lw_stop(lw_of_split);
}

static void lw_emulated_fetch(void *to, const void *from, size_t bytes)
{
  memset(to, 0xff, bytes); /* not a number, until it is waited for */
  lw_running->copies.push_back({to, from, bytes});
}
static int lw_emulated_begins(int fetches, int step, int last)
{
  if (!fetches && lw_mutant() != 4) {
    for (const lw_copy &one : lw_running->copies)
      memcpy(one.to, one.from, one.bytes);
    lw_running->copies.clear();
  }
  return !fetches || step <= last;
}
/* Mistakes: 1, threads do not wait for the others to arrive; 2, one warp does not arrive; 3, the step before is waited for;
   4, copies are not waited for. */

template <typename F> static void lw_run(dim3 grid, dim3 size, F kernel)
{
  unsigned seed = 1;
  gridDim = grid;
  lw_body = [](void *known) { (*(F *)known)(); };
  lw_arguments = &kernel;
  for (unsigned z = 0; z < grid.z; z++)
    for (unsigned y = 0; y < grid.y; y++)
      for (unsigned x = 0; x < grid.x; x++) {
        blockIdx = dim3(x, y, z);
        lw_block(size, &seed);
      }
}
