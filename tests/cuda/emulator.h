/* What kernels need of CUDA, for g++: the threads of a block are contexts that run one after the other, each up to
   its next barrier, in an order that LW_ORDER names: 0 forwards, 1 backwards, 2 another one at each barrier. */
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
template <typename T> static T __shfl_sync(unsigned, T, int) { abort(); }
static void __syncwarp() { abort(); }

struct lw_context {
  ucontext_t state;
  std::vector<char> stack;
  dim3 thread;
  bool ended;
};
static ucontext_t lw_scheduler;
static lw_context *lw_running;
static void (*lw_body)(void *);
static void *lw_arguments;

static void __syncthreads()
{
  swapcontext(&lw_running->state, &lw_scheduler);
}

static void lw_start()
{
  lw_body(lw_arguments);
  lw_running->ended = true;
  swapcontext(&lw_running->state, &lw_scheduler);
}

/* All threads reach a barrier, or all of them end. */
static void lw_block(dim3 size, unsigned *seed)
{
  const char *told = getenv("LW_ORDER");
  int order = told ? atoi(told) : 0;
  size_t count = (size_t)size.x * size.y * size.z, ended = 0;
  std::vector<lw_context> threads(count);
  for (size_t k = 0; k < count; k++) {
    lw_context &one = threads[k];
    one.stack.resize(65536);
    one.thread = dim3(k % size.x, k / size.x % size.y, k / size.x / size.y);
    one.ended = false;
    getcontext(&one.state);
    one.state.uc_stack.ss_sp = one.stack.data();
    one.state.uc_stack.ss_size = one.stack.size();
    makecontext(&one.state, lw_start, 0);
  }
  while (ended < count) {
    size_t before = ended;
    *seed = *seed * 1664525u + 1013904223u;
    for (size_t k = 0; k < count; k++) {
      size_t next = order == 0 ? k : order == 1 ? count - 1 - k : (k * 7 + (*seed >> 8)) % count;
      lw_running = &threads[next];
      threadIdx = lw_running->thread;
      swapcontext(&lw_scheduler, &lw_running->state);
      ended += lw_running->ended;
    }
    if (ended != before && ended != count) {
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
