/* What Algorithm A and the tables of one program share; `lw_tables.h` includes it after its limits. */
#ifndef LW_PRECISE_H
#define LW_PRECISE_H

#include "helpers.h"

/* An instance of a statement of the original: its number and its iteration vector.
 * `s` is -1 for NIL and for Init, the value from before the segment. */
struct lw_instance {
  int s;
  long x[LW_DEPTH + 1];
};

/* A statement that a site may be.  From `first_hole` on, the site observes the values of `holes`, which
 * stand in the text of the statement outside subscripts: iterator k is k, problem size k is -1 - k. */
struct lw_candidate {
  int statement, first_hole, hole_count;
  const int *holes;
};

/* The writer functions of the original, in the tables: FirstWriter, LastWriter, NextWriter, and
 * WriterBeforeRead of one read of statement s at x. */
static void lw_first(int array, const long *w, struct lw_instance *r);
static void lw_last(int array, const long *w, struct lw_instance *r);
static void lw_next(const struct lw_instance *p, struct lw_instance *r);
static void lw_before(int s, int read, const long *x, struct lw_instance *r);

/* The subscripts that statement s at x writes and then reads, in the order in which a site observes them. */
static void lw_expected(int s, const long *x, long *o);

/* The time stamp of an instance, Sched_S. */
static void lw_time(const struct lw_instance *p, long *t);

/* The instance of s that reads the cells o, where the subscripts read determine it; otherwise 0. */
static int lw_from_reads(int s, const long *o, long *x);

#endif
