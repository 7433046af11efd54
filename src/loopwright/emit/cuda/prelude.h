/* The same text is CUDA for nvcc and C for other compilers, where it runs in one thread. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LW_MOST 64

typedef struct {
  int count, failed;
  void *device[LW_MOST], *host[LW_MOST];
  size_t rows[LW_MOST], width[LW_MOST], pitch[LW_MOST]; /* in bytes, but for the number of rows */
  int written[LW_MOST];
#ifdef __CUDACC__
  cudaEvent_t start, stop;
#endif
} lw_state;

#ifdef __CUDACC__

/* Rows on the device begin at multiples of 32 elements, so that neighbours can be loaded and stored at once. */
static __host__ __device__ __forceinline__ long lw_pitch(long n)
{
  return (n + 31) & ~31L;
}

/* The product of the extents of an array; the macro has it read as one of these. */
struct lw_shape {
  size_t rows, last;
  lw_shape(long long n) : rows(1), last((size_t)n) {}
  lw_shape operator*(long long n) const
  {
    lw_shape found(n);
    found.rows = rows * last;
    return found;
  }
};
#define LW_SHAPE(count) ([&]() -> lw_shape { typedef lw_shape size_t; return (count); }())

/* Arrays of the text, whose rows have lengths that are not known when it is compiled. */
/* What is added to the columns of a row is the same for all lanes; with numbers of 32 bits it is one product. */
template <typename T> struct lw_row {
  T *data;
  long offset; /* in bytes */
  template <typename K> __device__ __forceinline__ T &operator[](K k) const
  {
    return *(T *)((char *)(data + k) + offset);
  }
};
template <typename T> struct lw_array2 {
  T *data;
  long n1;
  __device__ __forceinline__ lw_row<T> operator[](long i) const { return {data, i * n1 * (long)sizeof(T)}; }
  __device__ __forceinline__ lw_row<T> operator[](int i) const
  {
    return {data, (long)i * (int)(n1 * (long)sizeof(T))};
  }
};
template <typename T> struct lw_array3 {
  T *data;
  long n2, plane;
  __device__ __forceinline__ lw_array2<T> operator[](long i) const { return {data + i * plane, n2}; }
};
template <typename T> struct lw_array4 {
  T *data;
  long n1, n2, n3;
  __device__ __forceinline__ lw_array3<T> operator[](long i) const { return {data + i * n1 * n2 * n3, n3, n2 * n3}; }
};

/* The threads of a block, and how many blocks are to run at a time on a multiprocessor. */
#define LW_KERNEL(...) static __global__ void __launch_bounds__(__VA_ARGS__)
#define LW_RESTRICT __restrict__
#define LW_LAUNCHER extern "C"
#define LW_ARRAY_1(type, name) type *LW_RESTRICT name = name##_
#define LW_ALIGNED(type, name) ((type *)__builtin_assume_aligned(name##_, 256))
#define LW_ARRAY_2(type, name, n1) lw_array2<type> name = {LW_ALIGNED(type, name), lw_pitch(n1)}
#define LW_ARRAY_3(type, name, n1, n2) \
  lw_array3<type> name = {LW_ALIGNED(type, name), lw_pitch(n2), (n1) * lw_pitch(n2)}
#define LW_ARRAY_4(type, name, n1, n2, n3) lw_array4<type> name = {LW_ALIGNED(type, name), n1, n2, lw_pitch(n3)}

/* Arrays that a kernel only reads: with the first number of 32 bytes, the one `rows` further along the first dimension,
   which has n0, is fetched into the cache of the device, if there is one.  It has no effect but on time. */
template <typename T> __device__ __forceinline__ void lw_fetch(const T *place)
{
#ifdef __CUDA_ARCH__
  asm volatile("prefetch.global.L2::evict_last [%0];" : : "l"(place));
#endif
}
template <typename T> struct lw_ahead_place {
  const T *place;
  long distance;
  unsigned k; /* modulo a power of 2 */
  bool more;
  __device__ __forceinline__ lw_ahead_place operator&() const { return *this; }
  __device__ __forceinline__ void fetch(unsigned count) const
  {
    if (more && k % (32 / (unsigned)sizeof(T)) < count)
      lw_fetch((const T *)((const char *)place + distance));
  }
  __device__ __forceinline__ operator T() const
  {
    fetch(1);
    return *place;
  }
};
template <typename T> struct lw_ahead1 {
  const T *data;
  long offset, distance; /* in bytes */
  bool more;
  template <typename K> __device__ __forceinline__ lw_ahead_place<T> operator[](K k) const
  {
    return {(const T *)((const char *)(data + k) + offset), distance, (unsigned)k, more};
  }
};
template <typename T> struct lw_ahead_plane {
  const T *data;
  long n2, distance;
  bool more;
  __device__ __forceinline__ lw_ahead1<T> operator[](long j) const { return {data + j * n2, 0, distance, more}; }
};
template <typename T> struct lw_ahead2 {
  const T *data;
  long n1, n0, rows;
  __device__ __forceinline__ lw_ahead1<T> operator[](long i) const
  {
    const long bytes = n1 * (long)sizeof(T);
    return {data, i * bytes, rows * bytes, i + rows < n0};
  }
  __device__ __forceinline__ lw_ahead1<T> operator[](int i) const
  {
    const int bytes = (int)(n1 * (long)sizeof(T));
    return {data, (long)i * bytes, rows * bytes, i + (int)rows < (int)n0};
  }
};
template <typename T> struct lw_ahead3 {
  const T *data;
  long n1, n2, n0, rows;
  __device__ __forceinline__ lw_ahead_plane<T> operator[](long i) const
  {
    return {data + i * n1 * n2, n2, rows * n1 * n2 * (long)sizeof(T), i + rows < n0};
  }
};
#define LW_AHEAD_2(type, name, n0, n1, rows) \
  lw_ahead2<type> name = {LW_ALIGNED(const type, name), lw_pitch(n1), n0, rows}
#define LW_AHEAD_3(type, name, n0, n1, n2, rows) \
  lw_ahead3<type> name = {LW_ALIGNED(const type, name), n1, lw_pitch(n2), n0, rows}

/* The blocks of a grid in another order: those at the ends of x and y come first, for they take longest. */
static __device__ __forceinline__ uint3 lw_ends_first(void)
{
  const unsigned nx = gridDim.x, ny = gridDim.y, nz = gridDim.z;
  if (nx < 3 || ny < 3 || (unsigned long long)nx * ny * nz > 2147483647u)
    return blockIdx;
  const unsigned number = blockIdx.x + nx * (blockIdx.y + ny * blockIdx.z), ends = 2 * (nx + ny - 2);
  const unsigned many = number < ends * nz ? ends : (nx - 2) * (ny - 2);
  const unsigned left = number < ends * nz ? number : number - ends * nz;
  const unsigned k = left % many;
  uint3 found = {0, 0, (left / many + nz - 1) % nz};
  if (number >= ends * nz) {
    found.x = 1 + k % (nx - 2);
    found.y = 1 + k / (nx - 2);
  } else if (k < 2 * nx) {
    found.x = k % nx;
    found.y = k < nx ? 0 : ny - 1;
  } else {
    found.x = k % 2 ? nx - 1 : 0;
    found.y = 1 + (k - 2 * nx) / 2;
  }
  return found;
}

/* Numbers of 32 bits, where sizes are small.  Whatever is added to that of a block, it ends at the largest number. */
typedef int LW_INDEX;
struct lw_block_index {
  int value;
  static __device__ __forceinline__ int small(long number) { return number > 2147483647L ? 2147483647 : (int)number; }
  __device__ __forceinline__ lw_block_index(long first) : value(small(first)) {}
  __device__ __forceinline__ operator int() const { return value; }
  __device__ __forceinline__ lw_block_index &operator+=(long more) { value = small(value + more); return *this; }
};
typedef lw_block_index LW_BLOCK_INDEX;

/* Iterations first, first + step, ... of a loop: every one is run by one block, or by one thread. */
#define LW_IS_WARP (lw_threads_x * lw_threads_y * lw_threads_z == 32)
#define LW_HAS_MANY_WARPS (lw_threads_x == 32 && lw_threads_y > 8 && lw_threads_z == 1)
#define LW_BLOCK(axis, first, step) \
  ((first) + (long)(LW_IS_WARP || LW_HAS_MANY_WARPS ? lw_ends_first() : blockIdx).axis * (step))
#define LW_BLOCKS(axis, step) ((long)gridDim.axis * (step))
#define LW_THREAD(axis, first, step) ((first) + (long)threadIdx.axis * (step))
#define LW_THREADS(axis, step) ((long)lw_threads_##axis * (step))
/* Lanes of a warp whose block has 32 threads along x have one number along y, which the compiler is told. */
#define LW_BLOCK_SIZE(x, y, z) \
  enum { lw_threads_x = x, lw_threads_y = y, lw_threads_z = z }; \
  [[maybe_unused]] const unsigned lw_number_x = lw_thread_x(), lw_number_y = lw_thread_y(x == 32 && y > 1)
static __device__ __forceinline__ unsigned lw_thread_x(void) { return threadIdx.x; }
static __device__ __forceinline__ unsigned lw_thread_y(bool is_warp)
{
  return is_warp ? __shfl_sync(0xffffffffu, threadIdx.y, 0) : threadIdx.y;
}
#define LW_ONE(axis) (threadIdx.axis == 0)
#define LW_BARRIER() __syncthreads()
/* A barrier of two parts in each step of a march over r from 0 on: threads arrive, and later wait for all of the
   block to have arrived.  One lane tells for its warp. */
__device__ __forceinline__ void lw_split_begin(unsigned long long *barrier, bool first, int warps)
{
#ifdef __CUDA_ARCH__
  if (first)
    asm volatile(
      "mbarrier.init.shared.b64 [%0], %1;" : : "r"((unsigned)__cvta_generic_to_shared(barrier)), "r"(warps) : "memory"
    );
#endif
  __syncthreads();
}
__device__ __forceinline__ void lw_arrive(unsigned long long *barrier, bool first)
{
  __syncwarp();
#ifdef __CUDA_ARCH__
  if (first)
    asm volatile(
      "{ .reg .b64 state; mbarrier.arrive.shared.b64 state, [%0]; }"
      : : "r"((unsigned)__cvta_generic_to_shared(barrier)) : "memory"
    );
#endif
}
__device__ __forceinline__ void lw_wait(unsigned long long *barrier, int step)
{
#ifdef __CUDA_ARCH__
  asm volatile(
    "{ .reg .pred done; again_%=: mbarrier.try_wait.parity.shared.b64 done, [%0], %1; @!done bra again_%=; }"
    : : "r"((unsigned)__cvta_generic_to_shared(barrier)), "r"(step & 1) : "memory"
  );
#else
  __syncthreads();
#endif
}
__device__ __forceinline__ void lw_split_end(unsigned long long *barrier, bool first)
{
#ifdef __CUDA_ARCH__
  if (first)
    asm volatile("mbarrier.inval.shared.b64 [%0];" : : "r"((unsigned)__cvta_generic_to_shared(barrier)) : "memory");
#endif
}
#define LW_SPLIT() \
  __shared__ unsigned long long lw_split; \
  lw_split_begin(&lw_split, lw_number_x == 0 && lw_number_y == 0, lw_threads_y)
#define LW_ARRIVE(test) \
  do { \
    if (test) \
      lw_arrive(&lw_split, lw_number_x == 0); \
  } while (0)
#define LW_WAIT(r) lw_wait(&lw_split, r)
#define LW_SPLIT_END() lw_split_end(&lw_split, lw_number_x == 0 && lw_number_y == 0)
#define LW_SHARED_1(type, name, n0) alignas(16) __shared__ type name[n0]
#define LW_SHARED_2(type, name, n0, n1) alignas(16) __shared__ type name[n0][n1]
#define LW_SHARED_3(type, name, n0, n1, n2) alignas(16) __shared__ type name[n0][n1][n2]
#define LW_SHARED_4(type, name, n0, n1, n2, n3) alignas(16) __shared__ type name[n0][n1][n2][n3]
/* One of five dimensions, which a launch has room for. */
#define LW_SHARED_5(type, name, n0, n1, n2, n3, n4) \
  extern __shared__ uint4 lw_room[]; \
  type(*name)[n1][n2][n3][n4] = (type(*)[n1][n2][n3][n4])lw_room

/* Arrays whose first subscripts are the numbers of the thread: each thread has the rest in its registers. */
template <typename T, int axes> struct lw_own_row {
  T &data;
  __device__ __forceinline__ lw_own_row<T, axes - 1> operator[](long) const { return {data}; }
};
template <typename T> struct lw_own_row<T, 1> {
  T &data;
  __device__ __forceinline__ T &operator[](long) const { return data; }
};
template <typename T, int axes> struct lw_own {
  T data;
  __device__ __forceinline__ decltype(auto) operator[](long k) { return lw_own_row<T, axes>{data}[k]; }
};
#define LW_OWN_1_1(type, name, n0) lw_own<type, 1> name
#define LW_OWN_1_2(type, name, n0, n1) lw_own<type[n1], 1> name
#define LW_OWN_1_3(type, name, n0, n1, n2) lw_own<type[n1][n2], 1> name
#define LW_OWN_2_2(type, name, n0, n1) lw_own<type, 2> name
#define LW_OWN_2_3(type, name, n0, n1, n2) lw_own<type[n2], 2> name
#define LW_OWN_2_4(type, name, n0, n1, n2, n3) lw_own<type[n2][n3], 2> name
#define LW_OWN_3_3(type, name, n0, n1, n2) lw_own<type, 3> name
#define LW_OWN_3_4(type, name, n0, n1, n2, n3) lw_own<type[n3], 3> name

/* The lanes of a warp, or along y the warps of a block: lane k runs iteration k alone, and has what is in its registers under the subscript k.
   The remainder, and a next iteration that is no lane, tell the compiler that every lane runs one: a loop that could
   diverge costs a branch at each shuffle, and copies of registers at its end. */
struct lw_no_lane {};
#define LW_LANE(axis, first, step) ((first) + (long)(lw_number_##axis % lw_threads_##axis) * (step))
#define LW_LANES(axis, step) (lw_no_lane())
#define LW_WARP_BARRIER() __syncwarp()
#define LW_UNROLL _Pragma("unroll")
#define LW_UNROLL_3 _Pragma("unroll 3")
#define LW_UNROLL_1 _Pragma("unroll 1")
template <typename I> struct lw_lane {
  int value;
  __device__ __forceinline__ lw_lane(long lane) : value((int)lane) {}
  __device__ __forceinline__ operator I() const { return value; }
  __device__ __forceinline__ lw_lane &operator+=(lw_no_lane) { value = 1 << 20; return *this; }
};
typedef lw_lane<long> LW_LANE_TYPE;
typedef lw_lane<int> LW_LANE_INDEX;
struct lw_other_lane {
  int value;
  __device__ __forceinline__ operator long() const { return value; }
};
template <typename I> __device__ __forceinline__ lw_other_lane operator+(lw_lane<I> lane, int more)
{
  return {lane.value + more};
}
template <typename I> __device__ __forceinline__ lw_other_lane operator+(lw_lane<I> lane, long more)
{
  return {lane.value + (int)more};
}
__device__ __forceinline__ lw_other_lane operator%(lw_other_lane lane, int count) { return {lane.value % count}; }
/* A number in registers.  Twice a number is computed as a sum unless the compiler does not know the two, and a product
   that is added to something is one operation with it where contraction is allowed. */
template <typename T> __device__ __forceinline__ T lw_number(T number) { return number; }
#ifdef __CUDA_ARCH__
template <> __device__ __forceinline__ float lw_number(float number)
{
  float found;
  asm("mov.f32 %0, %1;" : "=f"(found) : "f"(number));
  return found;
}
template <> __device__ __forceinline__ double lw_number(double number)
{
  double found;
  asm("mov.f64 %0, %1;" : "=d"(found) : "d"(number));
  return found;
}
#endif
template <typename T> struct lw_value {
  T value;
  __device__ __forceinline__ lw_value &operator=(T other) { value = other; return *this; }
  __device__ __forceinline__ operator T() const { return value; }
};
template <typename T> __device__ __forceinline__ T operator*(T one, lw_value<T> other)
{
  return lw_number(one) * other.value;
}
template <typename T> __device__ __forceinline__ T operator*(lw_value<T> one, T other)
{
  return one.value * lw_number(other);
}
template <typename T, int N1> struct lw_lane1 {
  T (&data)[N1];
  int lane;
  __device__ __forceinline__ T operator[](long i) const { return {__shfl_sync(0xffffffffu, data[i].value, lane)}; }
};
template <typename T, int N1, int N2> struct lw_lane2 {
  T (&data)[N1][N2];
  int lane;
  __device__ __forceinline__ lw_lane1<T, N2> operator[](long i) const { return {data[i], lane}; }
};
template <typename T, int N1, int N2, int N3> struct lw_lane3 {
  T (&data)[N1][N2][N3];
  int lane;
  __device__ __forceinline__ lw_lane2<T, N2, N3> operator[](long i) const { return {data[i], lane}; }
};
template <typename T, int N1, int N2, int N3, int N4> struct lw_lane4 {
  T (&data)[N1][N2][N3][N4];
  int lane;
  __device__ __forceinline__ lw_lane3<T, N2, N3, N4> operator[](long i) const { return {data[i], lane}; }
};
template <typename T, int N1, int N2, int N3> struct lw_registers4 {
  T data[N1][N2][N3];
  typedef T values[N1][N2][N3];
  template <typename I> __device__ __forceinline__ values &operator[](lw_lane<I>) { return data; }
  __device__ __forceinline__ lw_lane3<T, N1, N2, N3> operator[](lw_other_lane lane) { return {data, lane.value}; }
};
template <typename T, int N1, int N2, int N3, int N4> struct lw_registers5 {
  T data[N1][N2][N3][N4];
  typedef T values[N1][N2][N3][N4];
  template <typename I> __device__ __forceinline__ values &operator[](lw_lane<I>) { return data; }
  __device__ __forceinline__ lw_lane4<T, N1, N2, N3, N4> operator[](lw_other_lane lane) { return {data, lane.value}; }
};
/* Several warps: each has such an array for itself, and none that of another one. */
template <typename T, int N1, int N2, int N3, int N4> struct lw_registers6 {
  lw_registers5<T, N1, N2, N3, N4> data;
  template <typename I> __device__ __forceinline__ lw_registers5<T, N1, N2, N3, N4> &operator[](lw_lane<I>) { return data; }
};
#define LW_REGISTERS_4(type, name, n0, n1, n2, n3) lw_registers4<lw_value<type>, n1, n2, n3> name
#define LW_REGISTERS_5(type, name, n0, n1, n2, n3, n4) lw_registers5<lw_value<type>, n1, n2, n3, n4> name
#define LW_REGISTERS_6(type, name, n0, n1, n2, n3, n4, n5) lw_registers6<lw_value<type>, n2, n3, n4, n5> name

/* A test of a cell, which selects between two values: the compiler is not to make branches of what all cells ask. */
__device__ __forceinline__ bool lw_select(bool test)
{
  int found = test;
#ifdef __CUDA_ARCH__
  asm("" : "+r"(found));
#endif
  return found;
}
#define LW_SELECT(...) lw_select(__VA_ARGS__)

/* Tests that are the same in all steps of a march, in the bits of a register: for each cell (p, c) of a lane that of
   the test, or a flag, which all cells have in common.  A compiler is not to make versions of the march of flags. */
#define LW_MASK() [[maybe_unused]] unsigned lw_mask = 0
#define LW_FLAGS(bit, warp, lane, ...) \
  do { \
    [[maybe_unused]] const LW_LANE_INDEX warp = LW_LANE(y, 0, 1), lane = LW_LANE(x, 0, 1); \
    lw_mask |= (unsigned)((__VA_ARGS__) != 0) << (bit); \
  } while (0)
#define LW_BITS(first, warp, lane, p, p0, p1, c, c0, c1, ...) \
  do { \
    [[maybe_unused]] const LW_LANE_INDEX warp = LW_LANE(y, 0, 1), lane = LW_LANE(x, 0, 1); \
    LW_UNROLL \
    for (LW_INDEX p = p0; p <= p1; p++) \
      LW_UNROLL \
      for (LW_INDEX c = c0; c <= c1; c++) \
        lw_mask |= (unsigned)((__VA_ARGS__) != 0) << ((first) + (p - (p0)) * ((c1) - (c0) + 1) + c - (c0)); \
  } while (0)
__device__ __forceinline__ bool lw_flag(unsigned mask, int bit)
{
  int found = mask >> bit & 1;
#ifdef __CUDA_ARCH__
  asm volatile("" : "+r"(found));
#endif
  return found;
}
/* Where one holds: what all cells ask for in a step, or the test of a cell. */
#define LW_KEPT_OR(bit, now, ...) ((bool)(((now) ? ~0u : lw_mask) >> (bit) & 1))
#define LW_FLAG(bit, ...) lw_flag(lw_mask, bit)
/* Where all hold: rows, inside, and one of planes and border; those inside have bits, those of them at borders next. */
#define LW_KEPT_WHERE(bit, count, rows, planes, inside, border) \
  ((bool)(((rows) ? (planes) ? lw_mask : lw_mask >> (count) : 0u) >> (bit) & 1))

/* What a step of a march over r copies from an array that a kernel only reads is fetched in the step before, to a
   place of the thread: the statement runs twice, for r it takes what was fetched, for r + 1 it fetches. */
#define LW_LATE_ROOM(type, count) __shared__ type lw_late[count][lw_threads_x * lw_threads_y * lw_threads_z]
__device__ __forceinline__ int lw_begins(int fetches, int step, int last)
{
#ifdef __CUDA_ARCH__
  if (!fetches)
    asm volatile("cp.async.wait_all;" : : : "memory");
#endif
  return !fetches || step <= last;
}
#define LW_EARLY(r, last) \
  LW_UNROLL \
  for (int lw_fetches = 0, lw_now = r; lw_fetches < 2; lw_fetches++) \
    for (LW_INDEX r = lw_now + lw_fetches, lw_more = lw_begins(lw_fetches, r, last); lw_more; lw_more = 0)
#define LW_EARLY_FIRST(r, first) \
  for (int lw_fetches = 1; lw_fetches < 2; lw_fetches++) \
    for (LW_INDEX r = first, lw_more = 1; lw_more; lw_more = 0)
template <typename T> __device__ __forceinline__ void lw_fetch_to(T *to, const T *from)
{
#ifdef __CUDA_ARCH__
  asm volatile(
    "cp.async.ca.shared.global [%0], [%1], %2;" : : "r"((unsigned)__cvta_generic_to_shared(to)), "l"(from),
    "n"(sizeof(T)) : "memory"
  );
#else
  *to = *from;
#endif
}
#define LW_LATE(number, to, from) \
  do { \
    auto &lw_place = lw_late[number][lw_number_x + lw_threads_x * lw_number_y]; \
    if (lw_fetches) \
      lw_fetch_to(&lw_place, &(from)); \
    else \
      to = lw_place; \
  } while (0)

/* `to = from` for count values of c from the first on: registers, and neighbours in memory that begin at a multiple of
   count elements, which are loaded or stored at once. */
template <typename T, int count> struct alignas(count * sizeof(T) < 16 ? count * sizeof(T) : 16) lw_neighbours {
  T values[count];
};
template <int count, typename T> __device__ __forceinline__ void lw_together(lw_value<T> *to, const T *from)
{
  const lw_neighbours<T, count> found = *(const lw_neighbours<T, count> *)from;
#pragma unroll
  for (int k = 0; k < count; k++)
    to[k].value = found.values[k];
}
template <int count, typename T> __device__ __forceinline__ void lw_together(T *to, const lw_value<T> *from)
{
  lw_neighbours<T, count> found;
#pragma unroll
  for (int k = 0; k < count; k++)
    found.values[k] = from[k].value;
  *(lw_neighbours<T, count> *)to = found;
}
template <int count, typename T>
__device__ __forceinline__ void lw_together(lw_value<T> *to, const lw_ahead_place<T> from)
{
  from.fetch(count);
  lw_together<count>(to, from.place);
}
#define LW_TOGETHER(count, c, first, to, from) \
  do { \
    const int c = first; \
    lw_together<count>(&(to), &(from)); \
  } while (0)

#define LW_GRID(x, y, z) dim3(lw_clamp(x, 2147483647), lw_clamp(y, 65535), lw_clamp(z, 65535))
#define LW_SIZE(x, y, z) dim3(x, y, z)
#define LW_LAUNCH(kernel, grid, size, arguments) \
  do { \
    if (!lw_call.failed) { \
      kernel<<<grid, size>>> arguments; \
      lw_check(&lw_call, cudaGetLastError(), "a launch of " #kernel); \
    } \
  } while (0)

/* With so many bytes that the threads of a block share. */
#define LW_LAUNCH_WITH(bytes, kernel, grid, size, arguments) \
  do { \
    if (!lw_call.failed) { \
      const cudaError_t room = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes); \
      lw_check(&lw_call, room, "room for " #kernel); \
    } \
    if (!lw_call.failed) { \
      kernel<<<grid, size, bytes>>> arguments; \
      lw_check(&lw_call, cudaGetLastError(), "a launch of " #kernel); \
    } \
  } while (0)

static unsigned lw_clamp(long long count, long long most)
{
  return (unsigned)(count < 1 ? 1 : count > most ? most : count);
}

static void lw_check(lw_state *lw, cudaError_t error, const char *what)
{
  if (error == cudaSuccess)
    return;
  if (!lw->failed)
    fprintf(stderr, "loopwright: %s: %s; the original loops run\n", what, cudaGetErrorString(error));
  lw->failed = 1;
}

static void lw_open(lw_state *lw)
{
  int devices = 0;
  memset(lw, 0, sizeof *lw);
  lw->failed = cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0; /* no device is no error */
  if (!lw->failed)
    lw_check(lw, cudaEventCreate(&lw->start), "making an event");
  if (!lw->failed)
    lw_check(lw, cudaEventCreate(&lw->stop), "making an event");
}

static void *lw_to_device(lw_state *lw, void *host, size_t size, lw_shape shape, int written)
{
  const size_t width = shape.last * size, pitch = (size_t)lw_pitch((long)shape.last) * size;
  const size_t bytes = shape.rows * pitch;
  void *device = NULL;
  if (!lw->failed && lw->count == LW_MOST)
    lw_check(lw, cudaErrorMemoryAllocation, "too many arrays");
  if (!lw->failed)
    lw_check(lw, cudaMalloc(&device, bytes ? bytes : 1), "memory on the device");
  if (lw->failed)
    return NULL;
  lw->device[lw->count] = device;
  lw->host[lw->count] = host;
  lw->rows[lw->count] = shape.rows;
  lw->width[lw->count] = width;
  lw->pitch[lw->count] = pitch;
  lw->written[lw->count++] = written;
  if (host != NULL && width && shape.rows)
    lw_check(
      lw, cudaMemcpy2D(device, pitch, host, width, width, shape.rows, cudaMemcpyHostToDevice), "copying to the device"
    );
  return device;
}

static int lw_ready(lw_state *lw)
{
  if (!lw->failed)
    lw_check(lw, cudaEventRecord(lw->start), "an event");
  return !lw->failed;
}

/* Nothing of the host's memory changes before all kernels have ended without an error. */
static int lw_close(lw_state *lw)
{
  float milliseconds = 0;
  if (!lw->failed)
    lw_check(lw, cudaEventRecord(lw->stop), "an event");
  if (!lw->failed)
    lw_check(lw, cudaDeviceSynchronize(), "the kernels");
  if (!lw->failed && getenv("LOOPWRIGHT_CUDA_TIME")) {
    lw_check(lw, cudaEventElapsedTime(&milliseconds, lw->start, lw->stop), "the time");
    fprintf(stderr, "loopwright: kernels %.9f s\n", milliseconds * 1e-3);
  }
  for (int k = 0; k < lw->count; k++) {
    const size_t width = lw->width[k], pitch = lw->pitch[k], rows = lw->rows[k];
    if (!lw->failed && lw->written[k] && width && rows) {
      cudaError_t error = cudaMemcpy2D(
        lw->host[k], width, lw->device[k], pitch, width, rows, cudaMemcpyDeviceToHost
      );
      if (error != cudaSuccess) {
        fprintf(stderr, "loopwright: copying results back: %s\n", cudaGetErrorString(error));
        abort();
      }
    }
  }
  for (int k = 0; k < lw->count; k++)
    cudaFree(lw->device[k]);
  if (lw->start)
    cudaEventDestroy(lw->start);
  if (lw->stop)
    cudaEventDestroy(lw->stop);
  return !lw->failed;
}

#else

typedef long LW_LANE_TYPE;
typedef long LW_LANE_INDEX;
typedef long LW_INDEX;
typedef long LW_BLOCK_INDEX;
#define LW_SHAPE(count) (count)
#define LW_KERNEL(...) static void
#define LW_RESTRICT restrict
#define LW_LAUNCHER
#define LW_ARRAY_1(type, name) type *name = name##_
#define LW_ARRAY_2(type, name, n1) type(*name)[n1] = (type(*)[n1])name##_
#define LW_ARRAY_3(type, name, n1, n2) type(*name)[n1][n2] = (type(*)[n1][n2])name##_
#define LW_ARRAY_4(type, name, n1, n2, n3) type(*name)[n1][n2][n3] = (type(*)[n1][n2][n3])name##_
#define LW_AHEAD_2(type, name, n0, n1, rows) LW_ARRAY_2(const type, name, n1)
#define LW_AHEAD_3(type, name, n0, n1, n2, rows) LW_ARRAY_3(const type, name, n1, n2)
#define LW_BLOCK(axis, first, step) (first)
#define LW_BLOCKS(axis, step) (step)
#define LW_THREAD(axis, first, step) (first)
#define LW_THREADS(axis, step) (step)
#define LW_BLOCK_SIZE(x, y, z) (void)0
#define LW_ONE(axis) 1
#define LW_BARRIER() (void)0
#define LW_SPLIT() (void)0
#define LW_ARRIVE(test) (void)0
#define LW_WAIT(r) (void)0
#define LW_SPLIT_END() (void)0
#define LW_SHARED_1(type, name, n0) type name[n0]
#define LW_SHARED_2(type, name, n0, n1) type name[n0][n1]
#define LW_SHARED_3(type, name, n0, n1, n2) type name[n0][n1][n2]
#define LW_SHARED_4(type, name, n0, n1, n2, n3) type name[n0][n1][n2][n3]
#define LW_SHARED_5(type, name, n0, n1, n2, n3, n4) type name[n0][n1][n2][n3][n4]
#define LW_OWN_1_1(type, name, n0) type name[n0]
#define LW_OWN_1_2(type, name, n0, n1) type name[n0][n1]
#define LW_OWN_1_3(type, name, n0, n1, n2) type name[n0][n1][n2]
#define LW_OWN_2_2(type, name, n0, n1) type name[n0][n1]
#define LW_OWN_2_3(type, name, n0, n1, n2) type name[n0][n1][n2]
#define LW_OWN_2_4(type, name, n0, n1, n2, n3) type name[n0][n1][n2][n3]
#define LW_OWN_3_3(type, name, n0, n1, n2) type name[n0][n1][n2]
#define LW_OWN_3_4(type, name, n0, n1, n2, n3) type name[n0][n1][n2][n3]
#define LW_LANE(axis, first, step) (first)
#define LW_LANES(axis, step) (step)
#define LW_WARP_BARRIER() (void)0
#define LW_UNROLL
#define LW_UNROLL_3
#define LW_UNROLL_1
#define LW_REGISTERS_4(type, name, n0, n1, n2, n3) type name[n0][n1][n2][n3]
#define LW_REGISTERS_5(type, name, n0, n1, n2, n3, n4) type name[n0][n1][n2][n3][n4]
#define LW_REGISTERS_6(type, name, n0, n1, n2, n3, n4, n5) type name[n0][n1][n2][n3][n4][n5]
#define LW_SELECT(...) (__VA_ARGS__)
#define LW_MASK() (void)0
#define LW_FLAGS(bit, warp, lane, ...) (void)0
#define LW_BITS(first, warp, lane, p, p0, p1, c, c0, c1, ...) (void)0
#define LW_KEPT_OR(bit, now, ...) ((__VA_ARGS__) | (now))
#define LW_FLAG(bit, ...) (__VA_ARGS__)
#define LW_KEPT_WHERE(bit, count, rows, planes, inside, border) ((rows) & (inside) & ((planes) | (border)))
#define LW_LATE_ROOM(type, count) (void)0
#define LW_EARLY(r, last)
#define LW_EARLY_FIRST(r, first) for (long r = first; r < first; r++)
#define LW_LATE(number, to, from) to = from
#define LW_TOGETHER(count, c, first, to, from) \
  do { \
    for (long c = first; c < first + count; c++) \
      to = from; \
  } while (0)
#define LW_GRID(x, y, z)
#define LW_SIZE(x, y, z)
#define LW_LAUNCH(kernel, grid, size, arguments) kernel arguments
#define LW_LAUNCH_WITH(bytes, kernel, grid, size, arguments) kernel arguments

static void lw_open(lw_state *lw)
{
  memset(lw, 0, sizeof *lw);
  lw->failed = getenv("LOOPWRIGHT_NO_DEVICE") != NULL;
}

static void *lw_to_device(lw_state *lw, void *host, size_t size, size_t count, int written)
{
  const size_t bytes = size * count;
  void *device = lw->failed || lw->count == LW_MOST ? NULL : malloc(bytes ? bytes : 1);
  if (device == NULL) {
    lw->failed = 1;
    return NULL;
  }
  if (host != NULL)
    memcpy(device, host, bytes);
  lw->device[lw->count] = device;
  lw->host[lw->count] = host;
  lw->width[lw->count] = bytes;
  lw->written[lw->count++] = written;
  return device;
}

static int lw_ready(lw_state *lw)
{
  return !lw->failed;
}

static int lw_close(lw_state *lw)
{
  for (int k = 0; k < lw->count; k++) {
    if (!lw->failed && lw->written[k])
      memcpy(lw->host[k], lw->device[k], lw->width[k]);
    free(lw->device[k]);
  }
  return !lw->failed;
}

#endif

#define LW_CONST_ARRAY_1(type, name) LW_ARRAY_1(const type, name)
#define LW_CONST_ARRAY_2(type, name, n1) LW_ARRAY_2(const type, name, n1)
#define LW_CONST_ARRAY_3(type, name, n1, n2) LW_ARRAY_3(const type, name, n1, n2)
#define LW_CONST_ARRAY_4(type, name, n1, n2, n3) LW_ARRAY_4(const type, name, n1, n2, n3)

#define LW_BEGIN() lw_state lw_call; lw_open(&lw_call)
/* Beyond the bound the original loops run. */
#define LW_WITHIN(size, bound) lw_call.failed |= (size) < -(bound) || (size) > (bound)
#define LW_READ(type, name, count) \
  type *name##_ = (type *)lw_to_device(&lw_call, name##_host, sizeof(type), LW_SHAPE(count), 0)
#define LW_WRITTEN(type, name, count) \
  type *name##_ = (type *)lw_to_device(&lw_call, name##_host, sizeof(type), LW_SHAPE(count), 1)
#define LW_SCRATCH(type, name, count) \
  type *name##_ = (type *)lw_to_device(&lw_call, NULL, sizeof(type), LW_SHAPE(count), 0)
#define LW_READY() lw_ready(&lw_call)
#define LW_END() lw_close(&lw_call)

/* The text of the program begins here. */
