"""Algorithm A at run time [Bao2016, figure 4], with the localisation of section 5, as C.

The text is completed by tables (`precise.py`) and the writer functions.  One line a finding goes
to the report file as soon as it is found, so that a crash loses none.
"""

ENGINE = r"""
struct lw_state {
  long count, violations, seen_keys[LW_REPORTS], seen;
  int active, base_depth;
  const void *caller;
  volatile int locked;
};
#define lw_count LW_STATE->count
#define lw_violations LW_STATE->violations
#define lw_seen_keys LW_STATE->seen_keys
#define lw_seen LW_STATE->seen
#define lw_active LW_STATE->active
#define lw_base_depth LW_STATE->base_depth
#define lw_caller LW_STATE->caller
#define lw_locked LW_STATE->locked

static void lw_lock(void) { while (__atomic_exchange_n(&lw_locked, 1, __ATOMIC_ACQUIRE)) { } }
static void lw_unlock(void) { __atomic_store_n(&lw_locked, 0, __ATOMIC_RELEASE); }

/* Frames outside the one that `from` returns to: the depth of the caller of the engine. */
static int lw_depth(const void *from)
{
  void *frames[512];
  int count = backtrace(frames, 512), at = 0;
  while (at < count && frames[at] != from) at++;
  return count - at;
}

static int lw_numbers(char *text, int room, const long *values, int count)
{
  int length = 0;
  for (int k = 0; k < count; k++)
    length += snprintf(text + length, (size_t)(room - length), k ? ",%ld" : "%ld", values[k]);
  return length;
}

static int lw_show(char *text, int room, const char *key, const struct lw_instance *p)
{
  if (p->s < 0) return snprintf(text, (size_t)room, " %s=-", key);
  int length = snprintf(text, (size_t)room, " %s=%d:", key, p->s);
  return length + lw_numbers(text + length, room - length, p->x, lw_dims[p->s]);
}

/* A finding: kind, site, the read concerned, what the site observed, the instance it is taken for,
   and the instances or the cell observed and expected. */
static void lw_report(const char *kind, int number, int site, int read, const long *o, int observed,
                      const struct lw_instance *match, const struct lw_instance *found,
                      const struct lw_instance *wanted, const long *cell, int rank)
{
  char text[4096];
  long key = ((long)number * 4096 + site + 1) * 256 + read + 1;
  int room = (int)sizeof text, length;
  lw_violations++;
  for (int k = 0; k < lw_seen; k++) if (lw_seen_keys[k] == key) return;
  if (lw_seen >= LW_REPORTS) return;
  lw_seen_keys[lw_seen++] = key;
  length = snprintf(text, (size_t)room, "violation kind=%s site=%d read=%d operation=%ld depth=%d", kind,
                    site, read, lw_count, site < 0 ? 0 : lw_depth(lw_caller) - lw_base_depth);
  if (o) {
    length += snprintf(text + length, (size_t)(room - length), " seen=");
    length += lw_numbers(text + length, room - length, o, observed);
  }
  if (match) length += lw_show(text + length, room - length, "match", match);
  if (found) length += lw_show(text + length, room - length, "found", found);
  if (wanted) length += lw_show(text + length, room - length, "wanted", wanted);
  if (cell) {
    length += snprintf(text + length, (size_t)(room - length), " cell=");
    length += lw_numbers(text + length, room - length, cell, rank);
  }
  text[length++] = '\n';
  lw_put(text, length);
}

static struct lw_instance *lw_cell(int array, const long *w)
{
  long at = 0;
  for (int k = 0; k < lw_ranks[array]; k++) {
    long low = lw_boxes[array][k][0], high = lw_boxes[array][k][1];
    if (w[k] < low || w[k] > high) return 0;
    at = at * (high - low + 1) + (w[k] - low);
  }
  return lw_shadow[array] ? lw_shadow[array] + at : 0;
}

static int lw_inside(int array, const long *w)
{
  for (int k = 0; k < lw_ranks[array]; k++)
    if (w[k] < lw_boxes[array][k][0] || w[k] > lw_boxes[array][k][1]) return 0;
  return 1;
}

static int lw_same(const struct lw_instance *a, const struct lw_instance *b)
{
  if (a->s != b->s) return 0;
  for (int k = 0; a->s >= 0 && k < lw_dims[a->s]; k++) if (a->x[k] != b->x[k]) return 0;
  return 1;
}

/* -1, 0 or 1 as a runs before, with or after b in the original; NIL runs before everything. */
static int lw_order(const struct lw_instance *a, const struct lw_instance *b)
{
  long s[LW_TIMES] = {0}, t[LW_TIMES] = {0};
  if (a->s < 0 || b->s < 0) return (a->s >= 0) - (b->s >= 0);
  lw_time(a, s);
  lw_time(b, t);
  for (int k = 0; k < LW_TIMES; k++) if (s[k] != t[k]) return s[k] < t[k] ? -1 : 1;
  return 0;
}

static const struct lw_candidate *lw_candidate_of(int site, int statement)
{
  for (const struct lw_candidate *c = lw_candidates[site]; c->statement >= 0; c++)
    if (c->statement == statement) return c;
  return 0;
}

/* Whether the operation is instance p by its subscripts and iterator values; the number of reads
   whose cell is right goes to *right, the first wrong one to *wrong. */
static int lw_matches(int site, const struct lw_candidate *c, const struct lw_instance *p, const long *o,
                      int *wrong, int *right)
{
  long e[LW_OBSERVED];
  int at = lw_ranks[lw_write_array[p->s]], fits = 1;
  (void)site;
  lw_expected(p->s, p->x, e);
  *wrong = -1;
  *right = 0;
  for (int k = 0; k < at; k++) fits &= e[k] == o[k];
  for (int r = 0; r < lw_read_count[p->s]; r++) {
    int rank = lw_ranks[lw_read_array[p->s][r]], same = 1;
    for (int k = 0; k < rank; k++) same &= e[at + k] == o[at + k];
    if (!same && *wrong < 0) *wrong = r;
    *right += same && rank > 0;
    fits &= same;
    at += rank;
  }
  for (int k = 0; k < c->hole_count; k++) fits &= o[c->first_hole + k] == p->x[c->holes[k]];
  return fits;
}

static void lw_classify(int site, const long *o, struct lw_instance *shadow, const struct lw_instance *next,
                        struct lw_instance *taken)
{
  int array = lw_site_array[site], wrong = -1, right = 0, ignored, also;
  struct lw_instance p, q;
  taken->s = -1;
  if (lw_violations < LW_CLASSIFIED) {
    int steps = 0;
    for (lw_first(array, o, &p); p.s >= 0 && steps < LW_STEPS; lw_next(&p, &q), p = q, steps++) {
      const struct lw_candidate *c = lw_candidate_of(site, p.s);
      if (c && lw_matches(site, c, &p, o, &ignored, &also)) {
        int again = lw_order(&p, shadow) <= 0;
        lw_report(again ? "duplicate" : "too-soon", again ? 1 : 2, site, -1, o, lw_observed[site], &p,
                  shadow, next, 0, 0);
        *taken = again ? *shadow : p;
        return;
      }
    }
  }
  const struct lw_candidate *c = next->s < 0 ? 0 : lw_candidate_of(site, next->s);
  if (c) lw_matches(site, c, next, o, &wrong, &right);
  if (!(c && right > 0))
    for (const struct lw_candidate *d = lw_candidates[site]; d->statement >= 0; d++) {
      p.s = d->statement;
      if (!lw_from_reads(p.s, o, p.x)) continue;
      long e[LW_OBSERVED];
      int w = lw_ranks[array], n = w, fits = 1;
      for (int r = 0; r < lw_read_count[p.s]; r++) n += lw_ranks[lw_read_array[p.s][r]];
      lw_expected(p.s, p.x, e);
      for (int k = w; k < n; k++) fits &= e[k] == o[k];
      if (fits) {
        lw_report("wrong-write", 3, site, -1, o, lw_observed[site], &p, 0, 0, e, w);
        if (c) *taken = *next;
        return;
      }
    }
  if (c && wrong >= 0) {
    long e[LW_OBSERVED];
    int at = lw_ranks[array];
    lw_expected(next->s, next->x, e);
    for (int r = 0; r < wrong; r++) at += lw_ranks[lw_read_array[next->s][r]];
    lw_report("wrong-read", 4, site, wrong, o, lw_observed[site], next, 0, 0, e + at,
              lw_ranks[lw_read_array[next->s][wrong]]);
    *taken = *next;
    return;
  }
  lw_report("no-instance", 5, site, -1, o, lw_observed[site], 0, shadow, next, 0, 0);
  if (next->s >= 0) *taken = *next;
}

/* @verify(o) of [Bao2016, figure 4]. */
static void lw_verify(int site, const long *o)
{
  int array = lw_site_array[site], at = lw_ranks[array], wrong, right;
  struct lw_instance next, taken, wanted;
  const struct lw_candidate *c;
  lw_count++;
  if (!lw_inside(array, o)) {
    lw_report("outside", 6, site, -1, o, lw_observed[site], 0, 0, 0, o, at);
    return;
  }
  struct lw_instance *shadow = lw_cell(array, o);
  if (!shadow) { /* an array that the original only reads */
    next.s = -1;
    lw_report("no-instance", 5, site, -1, o, lw_observed[site], 0, 0, 0, 0, 0);
    return;
  }
  if (shadow->s < 0) lw_first(array, o, &next); else lw_next(shadow, &next);
  c = next.s < 0 ? 0 : lw_candidate_of(site, next.s);
  if (!c || !lw_matches(site, c, &next, o, &wrong, &right)) {
    lw_classify(site, o, shadow, &next, &taken);
    if (taken.s >= 0) *shadow = taken;
    return;
  }
  for (int r = 0; r < lw_read_count[next.s]; r++) {
    int from = lw_read_array[next.s][r];
    struct lw_instance *source = lw_cell(from, o + at);
    if (source) {
      lw_before(next.s, r, next.x, &wanted);
      if (!lw_same(&wanted, source)) {
        int late = lw_order(source, &wanted) > 0;
        lw_report(late ? "overwritten" : "too-soon", late ? 7 : 2, site, r, o, lw_observed[site], &next,
                  source, &wanted, o + at, lw_ranks[from]);
        break;
      }
    }
    at += lw_ranks[from];
  }
  *shadow = next;
}

void lw_operation(int site, const long *o)
{
  if (!lw_active) return;
  lw_lock();
  lw_caller = __builtin_return_address(0);
  lw_verify(site, o);
  lw_unlock();
}

/* @terminate of [Bao2016, figure 4]. */
static void lw_missing(int array)
{
  long w[LW_RANKS + 1] = {0}, missing = 0;
  int rank = lw_ranks[array], k;
  for (k = 0; k < rank; k++) w[k] = lw_boxes[array][k][0];
  do {
    struct lw_instance last, next, *shadow = lw_cell(array, w);
    lw_last(array, w, &last);
    if (!lw_same(shadow, &last)) {
      if (shadow->s < 0) lw_first(array, w, &next); else lw_next(shadow, &next);
      if (next.s >= 0) {
        lw_report("missing", 8, -1, next.s, 0, 0, &next, shadow, 0, w, rank);
        missing++;
      }
    }
    for (k = rank - 1; k >= 0; k--) {
      if (++w[k] <= lw_boxes[array][k][1]) break;
      w[k] = lw_boxes[array][k][0];
    }
  } while (k >= 0);
}

static void lw_finish(const char *how)
{
  char text[128];
  for (int array = 0; array < LW_ARRAYS; array++) if (lw_shadow[array]) lw_missing(array);
  lw_active = 0;
  lw_put(text, snprintf(text, sizeof text, "%s operations=%ld violations=%ld reports=%ld\n", how, lw_count,
                        lw_violations, lw_seen));
}

static void lw_left(void) { if (lw_active) lw_finish("left"); }

void lw_begin(const long *sizes)
{
  static int entered;
  char text[256];
  int room = (int)sizeof text, length = snprintf(text, (size_t)room, "enter sizes=");
  if (!entered++) atexit(lw_left);
  length += lw_numbers(text + length, room - length, sizes, LW_SIZES);
  text[length++] = '\n';
  lw_put(text, length);
  for (int k = 0; k < LW_SIZES; k++)
    if (sizes[k] != lw_sizes[k]) { /* another problem: nothing is known about it */
      lw_active = 0;
      lw_put("skipped\n", 8);
      return;
    }
  for (int array = 0; array < LW_ARRAYS; array++) {
    long cells = 1;
    if (!lw_is_written[array]) continue;
    for (int k = 0; k < lw_ranks[array]; k++) cells *= lw_boxes[array][k][1] - lw_boxes[array][k][0] + 1;
    if (!lw_shadow[array]) lw_shadow[array] = malloc((size_t)cells * sizeof(struct lw_instance));
    if (!lw_shadow[array]) { lw_put("memory\n", 7); _exit(125); }
    for (long k = 0; k < cells; k++) lw_shadow[array][k].s = -1;
  }
  lw_base_depth = lw_depth(__builtin_return_address(0));
  lw_active = 1;
}

void lw_end(void) { if (lw_active) lw_finish("done"); }
"""
