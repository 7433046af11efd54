/* Memory that was allocated before the segment and is no array of the original: the segment has to leave it
 * as it was, whatever pointers lead there.
 *
 * It follows an engine, which includes report.h.  The linker puts the functions here in the place of those
 * of the library (--wrap). */
#include <string.h>

#define LW_BLOCKS_MOST (1UL << 31) /* bytes that are looked at in all, however often the segment is entered */
#define LW_ALLOCATED (-1)          /* the number of all of it, where variables have theirs */

struct lw_piece {
  char *at; /* 0: a free place of the table; of a removed one `size` is 1 */
  unsigned long size, content;
  int held;
};

static struct lw_piece *lw_pieces;
static unsigned long lw_room, lw_used, lw_looked_at;
static char lw_lock;
static const char **lw_owns;
static unsigned long lw_own_room, lw_own_count;

static void lw_take(void)
{
  while (__atomic_test_and_set(&lw_lock, __ATOMIC_ACQUIRE))
    ;
}

static void lw_give(void)
{
  __atomic_clear(&lw_lock, __ATOMIC_RELEASE);
}

static void *lw_map(unsigned long size)
{
  void *made = mmap(0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

  if (made == MAP_FAILED)
    lw_put_no_memory();
  return made;
}

/* The place of a block in the table, or one where it may be put: that of a removed one, if it comes first. */
static struct lw_piece *lw_find(const char *at)
{
  unsigned long k = ((unsigned long)at >> 4) * 0x9e3779b97f4a7c15UL;
  struct lw_piece *removed = 0;

  for (k >>= 20;; k++) {
    struct lw_piece *one = &lw_pieces[k & (lw_room - 1)];

    if (one->at == at)
      return one;
    if (!one->at && !one->size)
      return removed ? removed : one;
    if (!one->at && !removed)
      removed = one;
  }
}

/* Another table without those that were removed, larger where there are many others. */
static void lw_grow(void)
{
  struct lw_piece *old = lw_pieces;
  unsigned long room = lw_room, count = 0;

  for (unsigned long k = 0; k < room; k++)
    count += old[k].at != 0;
  if (4 * count >= room)
    lw_room = room ? 2 * room : 1UL << 12;
  lw_pieces = lw_map(lw_room * sizeof *lw_pieces);
  lw_used = 0;
  for (unsigned long k = 0; k < room; k++)
    if (old[k].at) {
      *lw_find(old[k].at) = old[k];
      lw_used++;
    }
  if (old)
    munmap(old, room * sizeof *old);
}

static void *lw_made(void *at, unsigned long size)
{
  if (!at)
    return at;
  lw_take();
  if (4 * (lw_used + 1) > 3 * lw_room)
    lw_grow();
  struct lw_piece *one = lw_find(at);

  lw_used += !one->at && !one->size;
  *one = (struct lw_piece){at, size, 0, 0};
  lw_give();
  return at;
}

/* A block that is given back in the segment is not what it was. */
static void lw_gone(void *at)
{
  int held = 0;

  if (!at)
    return;
  lw_take();
  if (lw_room) {
    struct lw_piece *one = lw_find(at);

    held = one->at && one->held;
    if (one->at)
      *one = (struct lw_piece){0, 1, 0, 0};
  }
  lw_give();
  if (held)
    lw_changed(LW_ALLOCATED);
}

void *__real_malloc(size_t), *__real_calloc(size_t, size_t), *__real_realloc(void *, size_t);
void *__real_aligned_alloc(size_t, size_t), *__real_memalign(size_t, size_t), *__real_valloc(size_t);
char *__real_strdup(const char *), *__real_strndup(const char *, size_t);
int __real_posix_memalign(void **, size_t, size_t);
void __real_free(void *);

void *__wrap_malloc(size_t size)
{
  return lw_made(__real_malloc(size), size);
}

void *__wrap_calloc(size_t count, size_t size)
{
  return lw_made(__real_calloc(count, size), count * size);
}

void *__wrap_realloc(void *at, size_t size)
{
  void *made;

  lw_gone(at);
  made = __real_realloc(at, size);
  return lw_made(made, size);
}

void *__wrap_reallocarray(void *at, size_t count, size_t size)
{
  size_t all;

  return __builtin_mul_overflow(count, size, &all) ? 0 : __wrap_realloc(at, all);
}

void *__wrap_aligned_alloc(size_t unit, size_t size)
{
  return lw_made(__real_aligned_alloc(unit, size), size);
}

void *__wrap_memalign(size_t unit, size_t size)
{
  return lw_made(__real_memalign(unit, size), size);
}

void *__wrap_valloc(size_t size)
{
  return lw_made(__real_valloc(size), size);
}

int __wrap_posix_memalign(void **at, size_t unit, size_t size)
{
  int failed = __real_posix_memalign(at, unit, size);

  if (!failed)
    lw_made(*at, size);
  return failed;
}

char *__wrap_strdup(const char *text)
{
  return lw_made(__real_strdup(text), strlen(text) + 1);
}

char *__wrap_strndup(const char *text, size_t most)
{
  char *made = __real_strndup(text, most);

  return made ? lw_made(made, strlen(made) + 1) : made;
}

void __wrap_free(void *at)
{
  lw_gone(at);
  __real_free(at);
}

static unsigned long lw_content_of(const struct lw_piece *one)
{
  unsigned long sum = 14695981039346656037UL, k = 0, word;

  for (; k + sizeof word <= one->size; k += sizeof word) {
    memcpy(&word, one->at + k, sizeof word);
    sum = (sum ^ word) * 1099511628211UL;
    sum ^= sum >> 29;
  }
  for (; k < one->size; k++)
    sum = (sum ^ (unsigned char)one->at[k]) * 1099511628211UL;
  return sum;
}

void lw_own(const void *at);
void lw_own_rows(const void *rows, long from, long to);
void lw_hold_allocated(void);
void lw_holds_allocated(void);

/* An array of the original lies in the block with this address. */
void lw_own(const void *at)
{
  if (lw_own_count == lw_own_room) {
    unsigned long room = lw_own_room ? 2 * lw_own_room : 1UL << 10;
    const char **made = lw_map(room * sizeof *made);

    if (lw_own_count)
      memcpy(made, lw_owns, lw_own_count * sizeof *made);
    if (lw_own_room)
      munmap(lw_owns, lw_own_room * sizeof *lw_owns);
    lw_owns = made;
    lw_own_room = room;
  }
  lw_owns[lw_own_count++] = at;
}

void lw_own_rows(const void *rows, long from, long to)
{
  for (long k = from; k <= to; k++)
    lw_own(((const void *const *)rows)[k]);
}

static int lw_by_address(const void *one, const void *other)
{
  const char *left = *(const char *const *)one, *right = *(const char *const *)other;

  return (left > right) - (left < right);
}

static int lw_is_own(const struct lw_piece *one)
{
  unsigned long low = 0, high = lw_own_count;

  while (low < high) {
    unsigned long middle = (low + high) / 2;

    if (lw_owns[middle] < one->at)
      low = middle + 1;
    else
      high = middle;
  }
  return low < lw_own_count && lw_owns[low] < one->at + one->size;
}

void lw_hold_allocated(void)
{
  qsort(lw_owns, lw_own_count, sizeof *lw_owns, lw_by_address);
  lw_take();
  for (unsigned long k = 0; k < lw_room; k++) {
    struct lw_piece *one = &lw_pieces[k];

    one->held = one->at && !lw_is_own(one);
    if (one->held && one->size > LW_BLOCKS_MOST - lw_looked_at) {
      one->held = 0;
      lw_unseen(LW_ALLOCATED);
    }
    if (one->held) {
      lw_looked_at += one->size;
      one->content = lw_content_of(one);
    }
  }
  lw_own_count = 0;
  lw_give();
}

void lw_holds_allocated(void)
{
  int changed = 0;

  lw_take();
  for (unsigned long k = 0; k < lw_room; k++) {
    struct lw_piece *one = &lw_pieces[k];

    changed |= one->held && one->content != lw_content_of(one);
    one->held = 0;
  }
  lw_give();
  if (changed)
    lw_changed(LW_ALLOCATED);
}
