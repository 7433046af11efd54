/* Algorithm A at run time [Bao2016, figure 4], with the localisation of errors of section 5.
 *
 * `lw_tables.h` is generated for one original and one program: the limits, tables about statements and
 * sites, and the writer functions of section 4.1.1.  A finding is written to the report as soon as it is
 * found, so that a crash of the program loses none.
 */
#define _GNU_SOURCE
#include "lw_tables.h"
#include "report.h"
#include <execinfo.h>

#define REPORTS 10       /* distinct findings that are written out; the others are counted */
#define CLASSIFIED 1000  /* violations for which all writers of the cell are gone through */
#define STEPS 100000     /* writers of a cell that are gone through */
#define FRAMES 512       /* frames of the call stack that are counted */
#define LINE (512 + LW_DIGITS * (LW_OBSERVED + 3 * LW_DEPTH + LW_RANKS))

enum kind {
  DUPLICATE = 1,
  TOO_SOON,
  WRONG_WRITE,
  WRONG_READ,
  NO_INSTANCE,
  OUTSIDE,
  OVERWRITTEN,
  MISSING
};

static const char *const kind_names[] = {
    "",            "duplicate", "too-soon",    "wrong-write", "wrong-read",
    "no-instance", "outside",   "overwritten", "missing"};

struct state {
  long count, violations, seen;
  long seen_keys[REPORTS];
  int active, base_depth;
  const void *caller;
  volatile int locked;
};

_Static_assert(sizeof(struct state) <= LW_PAGE, "the state fits into its page");

static struct state *const state = (struct state *)LW_STATE;
static struct lw_instance *shadows[LW_ARRAYS];

static void lock(void)
{
  while (__atomic_exchange_n(&state->locked, 1, __ATOMIC_ACQUIRE)) {
  }
}

static void unlock(void)
{
  __atomic_store_n(&state->locked, 0, __ATOMIC_RELEASE);
}

/* The number of frames from the one that `from` returns to outwards: the depth of the engine's caller. */
static int call_depth(const void *from)
{
  void *frames[FRAMES];
  int count = backtrace(frames, FRAMES), at = 0;

  while (at < count && frames[at] != from)
    at++;
  return count - at;
}

/* One violation; what does not apply is 0.
 *
 * `read` is the number of the read concerned, or -1; `match` the instance the operation is taken for;
 * `found` and `wanted` are the instances observed and expected, `cell` is the cell concerned. */
struct finding {
  enum kind kind;
  int site, read, rank;
  const long *observed, *cell;
  const struct lw_instance *match, *found, *wanted;
};

static void add_instance(struct lw_line *line, const char *key, const struct lw_instance *instance)
{
  if (!instance)
    return;
  lw_add(line, " %s=", key);
  if (instance->s < 0) {
    lw_add(line, "-");
    return;
  }
  lw_add(line, "%d:", instance->s);
  lw_add_numbers(line, instance->x, lw_dims[instance->s]);
}

static void put_finding(const struct finding *finding)
{
  char text[LINE];
  struct lw_line line = {text, (int)sizeof text, 0};
  int depth = finding->site < 0 ? 0 : call_depth(state->caller) - state->base_depth;

  lw_add(&line, "violation kind=%s site=%d read=%d", kind_names[finding->kind], finding->site, finding->read);
  lw_add(&line, " operation=%ld depth=%d", state->count, depth);
  if (finding->observed) {
    lw_add(&line, " seen=");
    lw_add_numbers(&line, finding->observed, lw_observed[finding->site]);
  }
  add_instance(&line, "match", finding->match);
  add_instance(&line, "found", finding->found);
  add_instance(&line, "wanted", finding->wanted);
  if (finding->cell) {
    lw_add(&line, " cell=");
    lw_add_numbers(&line, finding->cell, finding->rank);
  }
  lw_add(&line, "\n");
  lw_put(line.text, line.length);
}

/* Count a violation, and write it out if it is the first of its kind at its site and read. */
static void violation(struct finding finding)
{
  long key = ((long)finding.kind * (LW_SITES + 1) + finding.site + 1) * (LW_MOST + 1) + finding.read + 1;

  state->violations++;
  for (int k = 0; k < state->seen; k++)
    if (state->seen_keys[k] == key)
      return;
  if (state->seen >= REPORTS)
    return;
  state->seen_keys[state->seen++] = key;
  put_finding(&finding);
}

/* Whether the subscripts `w` are in the box around what the original touches of `array`. */
static int is_inside(int array, const long *w)
{
  for (int k = 0; k < lw_ranks[array]; k++)
    if (w[k] < lw_boxes[array][k][0] || w[k] > lw_boxes[array][k][1])
      return 0;
  return 1;
}

/* The shadow of a cell; 0 outside of the box, and for arrays that the original only reads. */
static struct lw_instance *shadow_of(int array, const long *w)
{
  long at = 0;

  if (!shadows[array] || !is_inside(array, w))
    return 0;
  for (int k = 0; k < lw_ranks[array]; k++) {
    long low = lw_boxes[array][k][0], high = lw_boxes[array][k][1];

    at = at * (high - low + 1) + (w[k] - low);
  }
  return shadows[array] + at;
}

static int is_same(const struct lw_instance *a, const struct lw_instance *b)
{
  if (a->s != b->s)
    return 0;
  for (int k = 0; a->s >= 0 && k < lw_dims[a->s]; k++)
    if (a->x[k] != b->x[k])
      return 0;
  return 1;
}

/* -1, 0 or 1 as a runs before, with or after b in the original; NIL runs before everything. */
static int order(const struct lw_instance *a, const struct lw_instance *b)
{
  long s[LW_TIMES] = {0}, t[LW_TIMES] = {0};

  if (a->s < 0 || b->s < 0)
    return (a->s >= 0) - (b->s >= 0);
  lw_time(a, s);
  lw_time(b, t);
  for (int k = 0; k < LW_TIMES; k++)
    if (s[k] != t[k])
      return s[k] < t[k] ? -1 : 1;
  return 0;
}

static const struct lw_candidate *candidate_of(int site, int statement)
{
  for (const struct lw_candidate *c = lw_candidates[site]; c->statement >= 0; c++)
    if (c->statement == statement)
      return c;
  return 0;
}

/* How what a site observes, o, compares with an instance. */
struct comparison {
  int fits;  /* all subscripts and iterator values are those of the instance */
  int right; /* reads with subscripts whose cell is right */
  int wrong; /* the first read whose cell is wrong, or -1 */
};

static struct comparison compared(const struct lw_candidate *c, const struct lw_instance *p, const long *o)
{
  struct comparison result = {1, 0, -1};
  int at = lw_ranks[lw_write_array[p->s]];
  long e[LW_OBSERVED];

  lw_expected(p->s, p->x, e);
  for (int k = 0; k < at; k++)
    result.fits &= e[k] == o[k];
  for (int r = 0; r < lw_read_count[p->s]; r++) {
    int rank = lw_ranks[lw_read_array[p->s][r]], same = 1;

    for (int k = 0; k < rank; k++)
      same &= e[at + k] == o[at + k];
    if (!same && result.wrong < 0)
      result.wrong = r;
    result.right += same && rank > 0;
    result.fits &= same;
    at += rank;
  }
  for (int k = 0; k < c->hole_count; k++) {
    int hole = c->holes[k];

    result.fits &= o[c->first_hole + k] == (hole < 0 ? lw_sizes[-1 - hole] : p->x[hole]);
  }
  return result;
}

/* Another instance that writes the same cell and is the operation: it runs twice, or too soon.
 * Returns 1 if there is one; *taken is what the shadow becomes. */
static int is_other_instance(int site, const long *o, const struct lw_instance *shadow,
                             const struct lw_instance *next, struct lw_instance *taken)
{
  struct lw_instance p, q;
  int steps = 0;

  for (lw_first(lw_site_array[site], o, &p); p.s >= 0 && steps < STEPS; lw_next(&p, &q), p = q, steps++) {
    const struct lw_candidate *c = candidate_of(site, p.s);

    if (c && compared(c, &p, o).fits) {
      int again = order(&p, shadow) <= 0;

      violation((struct finding){.kind = again ? DUPLICATE : TOO_SOON, .site = site, .read = -1,
                                 .observed = o, .match = &p, .found = shadow, .wanted = next});
      *taken = again ? *shadow : p;
      return 1;
    }
  }
  return 0;
}

/* An instance that reads what the operation reads, but writes another cell. */
static int is_wrong_write(int site, const long *o)
{
  int width = lw_ranks[lw_site_array[site]];

  for (const struct lw_candidate *c = lw_candidates[site]; c->statement >= 0; c++) {
    struct lw_instance p = {.s = c->statement};
    long e[LW_OBSERVED];
    int count = width, fits = 1;

    if (!lw_from_reads(p.s, o, p.x))
      continue;
    for (int r = 0; r < lw_read_count[p.s]; r++)
      count += lw_ranks[lw_read_array[p.s][r]];
    lw_expected(p.s, p.x, e);
    for (int k = width; k < count; k++)
      fits &= e[k] == o[k];
    if (fits) {
      violation((struct finding){.kind = WRONG_WRITE, .site = site, .read = -1, .observed = o,
                                 .match = &p, .cell = e, .rank = width});
      return 1;
    }
  }
  return 0;
}

/* The operation is `next` but for the cell of one read. */
static void report_wrong_read(int site, const long *o, const struct lw_instance *next, int read)
{
  long e[LW_OBSERVED];
  int at = lw_ranks[lw_site_array[site]];

  lw_expected(next->s, next->x, e);
  for (int r = 0; r < read; r++)
    at += lw_ranks[lw_read_array[next->s][r]];
  violation((struct finding){.kind = WRONG_READ, .site = site, .read = read, .observed = o, .match = next,
                             .cell = e + at, .rank = lw_ranks[lw_read_array[next->s][read]]});
}

/* Tell what is wrong with an operation that is not the next writer of its cell.
 * Returns what the shadow becomes; NIL leaves it as it is. */
static struct lw_instance classified(int site, const long *o, const struct lw_instance *shadow,
                                     const struct lw_instance *next)
{
  struct lw_instance taken = {.s = -1};
  const struct lw_candidate *c = next->s < 0 ? 0 : candidate_of(site, next->s);
  struct comparison with_next = {0, 0, -1};

  if (state->violations < CLASSIFIED && is_other_instance(site, o, shadow, next, &taken))
    return taken;
  if (c)
    with_next = compared(c, next, o);
  if (with_next.right == 0 && is_wrong_write(site, o))
    return c ? *next : taken;
  if (c && with_next.wrong >= 0)
    report_wrong_read(site, o, next, with_next.wrong);
  else
    violation((struct finding){.kind = NO_INSTANCE, .site = site, .read = -1, .observed = o,
                               .found = shadow, .wanted = next});
  return *next;
}

/* WriterBeforeRead: every read finds the value it finds in the original. */
static void verify_reads(int site, const long *o, const struct lw_instance *p)
{
  int at = lw_ranks[lw_site_array[site]];

  for (int r = 0; r < lw_read_count[p->s]; r++) {
    int array = lw_read_array[p->s][r];
    struct lw_instance *source = shadow_of(array, o + at), wanted;

    if (source) {
      lw_before(p->s, r, p->x, &wanted);
      if (!is_same(&wanted, source)) {
        int late = order(source, &wanted) > 0;

        violation((struct finding){.kind = late ? OVERWRITTEN : TOO_SOON, .site = site, .read = r,
                                   .observed = o, .match = p, .found = source, .wanted = &wanted,
                                   .cell = o + at, .rank = lw_ranks[array]});
        return;
      }
    }
    at += lw_ranks[array];
  }
}

/* FirstWriter, NextWriter: the instance that writes a cell after those that have. */
static struct lw_instance next_writer(int array, const long *w, const struct lw_instance *shadow)
{
  struct lw_instance next;

  if (shadow->s < 0)
    lw_first(array, w, &next);
  else
    lw_next(shadow, &next);
  return next;
}

/* @verify(o) of figure 4. */
static void verify(int site, const long *o)
{
  int array = lw_site_array[site];
  struct lw_instance *shadow = shadow_of(array, o), next;
  const struct lw_candidate *c;

  state->count++;
  if (!is_inside(array, o)) {
    violation((struct finding){.kind = OUTSIDE, .site = site, .read = -1, .observed = o, .cell = o,
                               .rank = lw_ranks[array]});
    return;
  }
  if (!shadow) { /* an array that the original only reads */
    violation((struct finding){.kind = NO_INSTANCE, .site = site, .read = -1, .observed = o});
    return;
  }
  next = next_writer(array, o, shadow);
  c = next.s < 0 ? 0 : candidate_of(site, next.s);
  if (c && compared(c, &next, o).fits)
    verify_reads(site, o, &next);
  else
    next = classified(site, o, shadow, &next);
  if (next.s >= 0)
    *shadow = next;
}

void lw_operation(int site, const long *observed);
void lw_begin(const long *sizes);
void lw_end(void);

void lw_operation(int site, const long *observed)
{
  if (!state->active)
    return;
  lock();
  state->caller = __builtin_return_address(0);
  verify(site, observed);
  unlock();
}

/* @terminate of figure 4: LastWriter has written every cell. */
static void find_missing(int array)
{
  long w[LW_RANKS + 1] = {0};
  int rank = lw_ranks[array], k;

  for (k = 0; k < rank; k++)
    w[k] = lw_boxes[array][k][0];
  do {
    struct lw_instance last, next, *shadow = shadow_of(array, w);

    lw_last(array, w, &last);
    if (shadow && !is_same(shadow, &last)) {
      next = next_writer(array, w, shadow);
      if (next.s >= 0)
        violation((struct finding){.kind = MISSING, .site = -1, .read = next.s, .match = &next,
                                   .found = shadow, .cell = w, .rank = rank});
    }
    for (k = rank - 1; k >= 0; k--) {
      if (++w[k] <= lw_boxes[array][k][1])
        break;
      w[k] = lw_boxes[array][k][0];
    }
  } while (k >= 0);
}

static void finish(const char *how)
{
  char text[128];

  for (int array = 0; array < LW_ARRAYS; array++)
    if (shadows[array])
      find_missing(array);
  state->active = 0;
  lw_put(text, snprintf(text, sizeof text, "%s operations=%ld violations=%ld reports=%ld\n", how,
                        state->count, state->violations, state->seen));
}

static void finish_at_exit(void)
{
  if (state->active)
    finish("left");
}

/* @initialize of figure 4, for one array. */
static void clear_shadow(int array)
{
  long cells = 1;

  for (int k = 0; k < lw_ranks[array]; k++)
    cells *= lw_boxes[array][k][1] - lw_boxes[array][k][0] + 1;
  if (!shadows[array])
    shadows[array] = mmap(0, (size_t)cells * sizeof *shadows[array], PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (shadows[array] == MAP_FAILED)
    lw_put_no_memory();
  for (long k = 0; k < cells; k++)
    shadows[array][k].s = -1;
}

void lw_begin(const long *sizes)
{
  static int entered;

  if (!entered++)
    atexit(finish_at_exit);
  lw_put_entry(sizes, LW_SIZES);
  for (int k = 0; k < LW_SIZES; k++)
    if (sizes[k] != lw_sizes[k]) { /* another problem: nothing is known about it */
      state->active = 0;
      lw_put("skipped\n", 8);
      return;
    }
  for (int array = 0; array < LW_ARRAYS; array++)
    if (lw_is_written[array])
      clear_shadow(array);
  state->base_depth = call_depth(__builtin_return_address(0));
  state->active = 1;
}

void lw_end(void)
{
  if (state->active)
    finish("done");
}
