/* Numbers that are the names of the computations that make them: what a program computes, whatever its data.

   A program is compiled as C++ with this before it.  A `double` is then a code of 64 bits of the term that it is the
   value of, a `float` one of 32: equal terms have equal codes, and other terms have other ones but for a
   chance of 2^-64 or 2^-32, of which each run, with its own seed, is another.  What decides by the value of a number
   in the function that is looked at says so, and so does what uses a number that nothing has set.

   Headers are those of C: `sqrt(2.0f)` is a double. */
#define _GLIBCXX_INCLUDE_NEXT_C_HEADERS
#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <float.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
#include <type_traits>

static int lw_inside, lw_decided, lw_unset;
static FILE *lw_report;

static uint64_t lw_given_seed(void)
{
  const char *seed = getenv("LOOPWRIGHT_SEED");
  return seed ? strtoull(seed, 0, 10) : 0;
}
static uint64_t lw_seed = lw_given_seed(); /* before the constants of the program */

static inline uint64_t lw_mixed(uint64_t x)
{
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9u;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

static inline uint64_t lw_hash(uint64_t what, uint64_t one, uint64_t other)
{
  uint64_t x = lw_mixed(lw_seed + what * 0x9e3779b97f4a7c15u);
  x = lw_mixed(x ^ one * 0xd6e8feb86659fd93u);
  return lw_mixed(x + (other ^ other >> 29) * 0xca5a826395121157u + 0x632be59bd9b4e019u);
}

static inline uint64_t lw_name(const char *text)
{
  uint64_t x = 14695981039346656037u;
  while (*text) x = (x ^ (unsigned char)*text++) * 1099511628211u;
  return x;
}

/* A code of `Bits` for a number of the type `Number`. */
template <class Bits, class Number> struct lw_term {
  Bits code;
  lw_term() = default;
  template <class A, class = std::enable_if_t<std::is_arithmetic<A>::value>> lw_term(A given)
  {
    union { Number number; Bits bits; } value;
    value.number = (Number)given;
    code = value.bits ? (Bits)lw_hash(1, value.bits, sizeof(Bits)) : 0; /* as memset makes it */
  }
  template <class B, class N, class = std::enable_if_t<!std::is_same<B, Bits>::value>> lw_term(lw_term<B, N> given)
  {
    code = (Bits)lw_hash(2, given.used(), sizeof(Bits));
  }
  uint64_t used() const
  {
    if (lw_inside && code == (Bits)0xfefefefefefefefeu) lw_unset = 1;
    return code;
  }
  static lw_term of(uint64_t code) { lw_term made; made.code = (Bits)code; return made; }
  template <class A, class = std::enable_if_t<std::is_arithmetic<A>::value>> explicit operator A() const
  {
    if (lw_inside) lw_decided = 1;
    return (A)0;
  }
  /* Makes `c ? a_float : 1.0`, which is a double in C, ambiguous. */
  template <class A, class = std::enable_if_t<std::is_same<A, double>::value && sizeof(Bits) == 4>, class = A>
  operator A() const { return explicit_double(); }
  double explicit_double() const
  {
    if (lw_inside) lw_decided = 1;
    return 0;
  }
};
typedef lw_term<uint64_t, double> lw_double;
typedef lw_term<uint32_t, float> lw_float;
static_assert(sizeof(lw_double) == sizeof(double) && sizeof(lw_float) == sizeof(float), "terms take the same space");
static_assert(std::is_trivial<lw_double>::value, "variables of blocks that are jumped into");

/* The type that C computes in: double if either is, float with a float or an integer. */
template <class A> struct lw_is { static const bool term = false, wide = std::is_same<A, double>::value; };
template <> struct lw_is<lw_double> { static const bool term = true, wide = true; };
template <> struct lw_is<lw_float> { static const bool term = true, wide = false; };
template <class A> struct lw_mixes {
  static const bool value = lw_is<A>::term || lw_is<A>::wide || std::is_same<A, float>::value || std::is_integral<A>::value;
};
template <class A, class B> using lw_of = std::enable_if_t<
    (lw_is<A>::term || lw_is<B>::term) && lw_mixes<A>::value && lw_mixes<B>::value,
    std::conditional_t<lw_is<A>::wide || lw_is<B>::wide, lw_double, lw_float>>;

template <class T> static inline T lw_made(uint64_t what, T one, T other, bool either)
{
  uint64_t a = one.used(), b = other.used();
  return either && b < a ? T::of(lw_hash(what, b, a)) : T::of(lw_hash(what, a, b));
}

#define LW_BINARY(op, number, either)                                                             \
  template <class A, class B> static inline lw_of<A, B> operator op(const A &a, const B &b)       \
  {                                                                                               \
    typedef lw_of<A, B> T;                                                                        \
    return lw_made(number * 8 + sizeof(T), T(a), T(b), either);                                   \
  }                                                                                               \
  template <class Bits, class N, class B>                                                         \
  static inline lw_term<Bits, N> &operator op##=(lw_term<Bits, N> &a, const B &b)                 \
  {                                                                                               \
    return a = lw_term<Bits, N>(a op b);                                                          \
  }
LW_BINARY(+, 3, true)
LW_BINARY(-, 4, false)
LW_BINARY(*, 5, true)
LW_BINARY(/, 6, false)

#define LW_COMPARED(op)                                                                           \
  template <class A, class B, class = lw_of<A, B>> static inline bool operator op(const A &, const B &)       \
  {                                                                                               \
    if (lw_inside) lw_decided = 1;                                                                \
    return false;                                                                                 \
  }
LW_COMPARED(<)
LW_COMPARED(>)
LW_COMPARED(<=)
LW_COMPARED(>=)
LW_COMPARED(==)
LW_COMPARED(!=)

template <class Bits, class N> static inline lw_term<Bits, N> operator+(lw_term<Bits, N> a) { return a; }
template <class Bits, class N> static inline lw_term<Bits, N> operator-(lw_term<Bits, N> a)
{
  return lw_term<Bits, N>::of(lw_hash(7, a.used(), sizeof(Bits)));
}
template <class Bits, class N> static inline lw_term<Bits, N> &operator++(lw_term<Bits, N> &a) { return a += 1; }
template <class Bits, class N> static inline lw_term<Bits, N> &operator--(lw_term<Bits, N> &a) { return a -= 1; }
template <class Bits, class N> static inline lw_term<Bits, N> operator++(lw_term<Bits, N> &a, int)
{
  lw_term<Bits, N> was = a;
  a += 1;
  return was;
}
template <class Bits, class N> static inline lw_term<Bits, N> operator--(lw_term<Bits, N> &a, int)
{
  lw_term<Bits, N> was = a;
  a -= 1;
  return was;
}

#define LW_ONE(name)                                                                                           \
  static inline lw_double name(lw_double a) { return lw_double::of(lw_hash(lw_name(#name), a.used(), 8)); }    \
  static inline lw_double name(lw_float a) { return name(lw_double(a)); }                                      \
  static inline lw_float name##f(lw_float a) { return lw_float::of(lw_hash(lw_name(#name), a.used(), 4)); }    \
  static inline lw_float name##f(lw_double a) { return name##f(lw_float(a)); }
#define LW_TWO(name)                                                                                           \
  template <class A, class B, class = lw_of<A, B>> static inline lw_double name(A a, B b)                      \
  {                                                                                                            \
    return lw_made(lw_name(#name), lw_double(a), lw_double(b), false);                                         \
  }                                                                                                            \
  template <class A, class B, class = lw_of<A, B>> static inline lw_float name##f(A a, B b)                    \
  {                                                                                                            \
    return lw_made(lw_name(#name), lw_float(a), lw_float(b), false);                                           \
  }
LW_ONE(sqrt) LW_ONE(cbrt) LW_ONE(fabs) LW_ONE(exp) LW_ONE(exp2) LW_ONE(log) LW_ONE(log2) LW_ONE(log10)
LW_ONE(sin) LW_ONE(cos) LW_ONE(tan) LW_ONE(asin) LW_ONE(acos) LW_ONE(atan) LW_ONE(sinh) LW_ONE(cosh) LW_ONE(tanh)
LW_ONE(floor) LW_ONE(ceil) LW_ONE(trunc) LW_ONE(round)
LW_TWO(pow) LW_TWO(fmax) LW_TWO(fmin) LW_TWO(fmod) LW_TWO(atan2) LW_TWO(hypot)

/* The variables of the file, before and after the function: its data get terms of their own. */
static uint64_t lw_state;
static void lw_put(uint64_t code) { lw_state = lw_mixed(lw_state * 0x9e3779b97f4a7c15u + code + 1); }

template <class Bits, class N> static void lw_visited(bool ends, uint64_t name, uint64_t at, lw_term<Bits, N> &a)
{
  if (ends) lw_put(a.code);
  else a = lw_term<Bits, N>::of(lw_hash(8, name, at));
}
template <class A, class = std::enable_if_t<std::is_arithmetic<A>::value || std::is_enum<A>::value>>
static void lw_visited(bool, uint64_t, uint64_t, A &a)
{
  lw_put((uint64_t)a);
}
template <class T, size_t n> static void lw_visited(bool ends, uint64_t name, uint64_t at, T (&a)[n])
{
  for (size_t k = 0; k < n; k++) lw_visited(ends, name, at * (n + 1) + k + 1, a[k]);
}
template <class T> static void lw_visit(bool ends, const char *name, T &a) { lw_visited(ends, lw_name(name), 0, a); }

/* What the function works on has terms: integers would be those of one run. */
template <class T> static void lw_data(T &)
{
  static_assert(lw_is<std::remove_cv_t<std::remove_all_extents_t<T>>>::term, "data with terms");
}

/* What earlier calls left in variables that the original does not have is no part of the answer. */
template <class T> static void lw_forget(T &a)
{
  lw_data(a);
  memset((void *)&a, 0xfe, sizeof a);
}

static void lw_visit_all(bool ends);
static void lw_size(const char *name, long long value)
{
  if (lw_report) fprintf(lw_report, "size %s=%lld\n", name, value);
}

/* From the start of the function to its end, wherever that is. */
struct lw_scope {
  lw_scope()
  {
    if (lw_inside++) return;
    const char *path = getenv("LOOPWRIGHT_REPORT");
    if (!lw_report && path) lw_report = fopen(path, "a");
    lw_state = 0;
    lw_visit_all(false);
    if (lw_report) fprintf(lw_report, "enter %016llx\n", (unsigned long long)lw_state);
  }
  ~lw_scope()
  {
    if (--lw_inside) return;
    lw_state = 0;
    lw_visit_all(true);
    if (lw_report) fprintf(lw_report, "leave %016llx %d %d\n", (unsigned long long)lw_state, lw_decided, lw_unset);
    if (lw_report) fflush(lw_report);
  }
};

/* Copies are of whole numbers: what looks at their bytes does not compile. */
template <class A, class B> static inline void *lw_copied(A *to, B *from, size_t size)
{
  static_assert(std::is_same<std::remove_cv_t<std::remove_all_extents_t<A>>,
                             std::remove_cv_t<std::remove_all_extents_t<B>>>::value, "the same numbers");
  return memmove((void *)to, (const void *)from, size);
}
#undef memcpy
#undef memmove
#define memcpy lw_copied
#define memmove lw_copied

/* New memory holds numbers that nothing has set, or zeros of any type. */
template <bool is_set> struct lw_memory {
  void *at;
  template <class T> operator T *() const
  {
    static_assert(is_set || lw_is<std::remove_cv_t<std::remove_all_extents_t<T>>>::term, "numbers with terms");
    return (T *)at;
  }
};
static inline lw_memory<false> lw_unset_memory(void *at, size_t size) { return {at ? memset(at, 0xfe, size) : at}; }
static inline lw_memory<false> lw_malloc(size_t size) { return lw_unset_memory(malloc(size), size); }
static inline lw_memory<false> lw_aligned_alloc(size_t to, size_t size)
{
  return lw_unset_memory(aligned_alloc(to, size), size);
}
static inline lw_memory<true> lw_calloc(size_t count, size_t size) { return {calloc(count, size)}; }
#define malloc lw_malloc
#define aligned_alloc lw_aligned_alloc
#define calloc lw_calloc

/* Words of C++ that are names in C, and words that only C has. */
#define restrict __restrict
#define new lw_new
#define class lw_class
#define delete lw_delete
#define this lw_this
#define template lw_template
#define operator lw_operator
#define namespace lw_namespace
#define using lw_using
#define virtual lw_virtual
#define friend lw_friend
#define private lw_private
#define public lw_public
#define protected lw_protected
#define try lw_try
#define catch lw_catch
#define throw lw_throw
#define typename lw_typename
#define explicit lw_explicit
#define mutable lw_mutable
#define export lw_export
#define double lw_double
#define float lw_float
