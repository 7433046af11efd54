/* What kernels need of CUDA, for g++: the threads of a block are contexts that run one after the other, each up to
   its next barrier, in an order that LW_ORDER names: 0 forwards, 1 backwards, 2 another one at each barrier.  Lanes of
   a warp that wait for each other alone, at a shuffle or a barrier of the warp, go on before other warps run. */
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

enum lw_wait { lw_of_block, lw_of_warp_alone, lw_of_nothing };
struct lw_context {
  ucontext_t state;
  std::vector<char> stack;
  dim3 thread;
  lw_wait waits;
  unsigned shuffles;
  double shown[2]; /* what other lanes fetch, of two shuffles: no lane is further ahead */
};
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

/* Threads from `first` on, up to the barrier of the block that all of them reach, or to their end. */
static size_t lw_run_warp(std::vector<lw_context> &threads, size_t first, size_t count, int order, unsigned seed)
{
  size_t waiting, ended;
  do {
    waiting = ended = 0;
    for (size_t k = 0; k < count; k++) {
      size_t next = order == 0 ? k : order == 1 ? count - 1 - k : (k * 7 + (seed >> 8)) % count;
      lw_running = &threads[first + next];
      threadIdx = lw_running->thread;
      swapcontext(&lw_scheduler, &lw_running->state);
      waiting += lw_running->waits == lw_of_warp_alone;
      ended += lw_running->waits == lw_of_nothing;
    }
    if (waiting != 0 && waiting != count) {
      fprintf(stderr, "%zu of %zu lanes wait for each other\n", waiting, count);
      exit(1);
    }
  } while (waiting);
  return ended;
}

/* All threads reach a barrier, or all of them end. */
static void lw_block(dim3 size, unsigned *seed)
{
  const char *told = getenv("LW_ORDER");
  int order = told ? atoi(told) : 0;
  size_t count = (size_t)size.x * size.y * size.z, ended = 0, warp = size.x == 32 ? 32 : count;
  std::vector<lw_context> threads(count);
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
  while (ended < count) {
    const size_t warps = count / warp;
    *seed = *seed * 1664525u + 1013904223u;
    for (size_t k = 0; k < warps; k++) {
      size_t next = order == 0 ? k : order == 1 ? warps - 1 - k : (k + (*seed >> 8)) % warps;
      ended += lw_run_warp(threads, next * warp, warp, order, *seed);
    }
    if (ended != 0 && ended != count) {
      fprintf(stderr, "%zu of %zu threads ended at a barrier\n", ended, count);
      exit(1);
    }
  }
}

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
