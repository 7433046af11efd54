/* Two programs run side by side, with values as hashes of what they are made of.

   What is asked after a run is in `after_runs.c`, which is compiled as the end of this file.

   A program is a row of numbers, each part of it after what says its kind (`value`, `holds`, `perform`), and so
   is what a statement does (`visit`): `prove/descent/native.py` makes them.  Integers that are too large end a
   run, and so does too much of it. */

#include <float.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

typedef long long num;
typedef unsigned long long word;

enum { MOST_SUBSCRIPTS = 6, MOST_GIVEN = 24, WIDTH_OUT = 9, MOST_PLACES = 6 };
enum { LONGEST_TRACE = 24000000, MOST_CELLS = 1000000 };

static const num LARGEST = 1LL << 60;

typedef struct {
  word value[2];
  int last[2]; /* the execution that wrote it last, from 1; 0 where none did */
  int array, rank;
  num at[MOST_SUBSCRIPTS];
} cell;

static cell *cells;
static int *slots;
static num count_of_cells, room_for_cells, room_for_slots;
static num *trace[2], length[2], room[2], *starts_of[2], executions[2], room_for_starts[2];
static char *marked; /* executions of one of them */
static num given[MOST_GIVEN], fuel, *variables, *guesses;
static const num *does, *starts, *widths, *lengths; /* of rows, by array and subscript; 0 for none known */
static int side, over;
static const num *weights; /* while what executes is summed up: of statements, see `sum_up` */
static word summed_up, multiple;
static const word ONCE = 1 << 16; /* which is halved in each loop around that is not run through */

static word mixed(word one, word other) {
  word h = (one ^ (other + 0x9e3779b97f4a7c15u + (one << 6) + (one >> 2))) * 0xff51afd7ed558ccdu;
  return h ^ (h >> 32);
}

static int grown(void *place, num *room, num wanted, size_t size) {
  void **pointer = place;
  if (wanted <= *room) return 1;
  num more = wanted * 2 + 1024;
  void *next = realloc(*pointer, more * size);
  if (!next) return over = 1, 0;
  *pointer = next, *room = more;
  return 1;
}

/* Where the search for a cell begins, which goes on in steps of 9: eight neighbours of a row are neighbours. */
static word beginning(num array, num rank, const num *at) {
  word place = array * 1031;
  num last = rank ? at[rank - 1] : 0;
  for (num k = 0; k < rank - 1; k++) place = (place + at[k]) * 0x9e3779b97f4a7c15u, place ^= place >> 29;
  place = (place + (last >> 3)) * 0x9e3779b97f4a7c15u;
  return ((place >> 20) << 3 | (last & 7)) & (room_for_slots - 1);
}

static int rehashed(void) {
  num size = room_for_slots ? room_for_slots * 2 : 4096;
  int *next = malloc(size * sizeof *next);
  if (!next) return over = 1, 0;
  free(slots), slots = next, room_for_slots = size;
  memset(slots, -1, size * sizeof *slots);
  for (num k = 0; k < count_of_cells; k++) {
    word at = beginning(cells[k].array, cells[k].rank, cells[k].at);
    while (slots[at] >= 0) at = (at + 9) & (size - 1);
    slots[at] = k;
  }
  return 1;
}

static int is_at(const cell *one, num array, num rank, const num *at) {
  num k = 0;
  while (k < rank && one->at[k] == at[k]) k++;
  return k == rank && one->array == array && one->rank == rank;
}

/* Carries what exceeds the length of a row to the previous subscript, as in a number. */
static void carry(num array, num rank, num *at) {
  const num *own = lengths + array * MOST_SUBSCRIPTS;
  for (num k = rank - 1; k > 0 && own[k] > 0; k--) {
    num rows = at[k] / own[k] - (at[k] % own[k] < 0);
    at[k] -= rows * own[k], at[k - 1] += rows;
  }
}

/* The cell that p says: its array, its rank, and for each subscript what is given and what is added.  It is
   looked for first where the cell is that is as far from the last one of this p as that was from the one
   before: in `guesses` are the last one and how far that was. */
static num found(const num **place) {
  const num *p = *place;
  num array = p[0], rank = p[1], at[MOST_SUBSCRIPTS], *last = guesses + (p - does), here = last[0] + last[1];
  for (num k = 0; k < rank; k++) at[k] = given[p[2 + 2 * k]] + p[3 + 2 * k];
  if (lengths) carry(array, rank, at);
  *place = p + 2 + 2 * rank;
  if (here >= 0 && here < count_of_cells && is_at(cells + here, array, rank, at)) return last[0] = here;
  if (4 * count_of_cells >= room_for_slots && !rehashed()) return 0;
  word slot = beginning(array, rank, at);
  for (; (here = slots[slot]) >= 0; slot = (slot + 9) & (room_for_slots - 1))
    if (is_at(cells + here, array, rank, at)) break;
  if (here < 0) {
    if (count_of_cells == MOST_CELLS) return over = 1, 0;
    if (!grown(&cells, &room_for_cells, count_of_cells + 1, sizeof *cells)) return 0;
    cell *one = cells + count_of_cells;
    word value = mixed(array + 1, 17);
    for (num k = 0; k < rank; k++) value = mixed(value, one->at[k] = at[k]);
    one->value[0] = one->value[1] = value;
    one->last[0] = one->last[1] = 0, one->array = array, one->rank = rank;
    here = slots[slot] = count_of_cells++;
  }
  last[1] = here - last[0], last[0] = here;
  return here;
}

/* A statement is how many assignments it makes, and these.  An assignment is its shape, how many parts its
   value has, the parts, the target.  A part is an integer (-1, what is given, what is added) or a cell. */
static void visit(num statement) {
  num size = 1 + widths[statement], *now;
  if (length[side] + size > LONGEST_TRACE) { over = 1; return; }
  if (!grown(&trace[side], &room[side], length[side] + size, sizeof(num))) return;
  if (!grown(&starts_of[side], &room_for_starts[side], executions[side] + 1, sizeof(num))) return;
  now = trace[side] + length[side];
  now[0] = statement;
  memcpy(now + 1, given, (size - 1) * sizeof(num));
  starts_of[side][executions[side]++] = length[side];
  length[side] += size;
  const num *p = does + starts[statement];
  for (num assignments = *p++; assignments > 0; assignments--) {
    word value = mixed(*p++, 5);
    for (num parts = *p++; parts > 0; parts--)
      if (*p < 0) value = mixed(value, given[p[1]] + p[2]), p += 3;
      else {
        num read = found(&p); /* which may move the cells */
        if (over) return;
        value = mixed(value, cells[read].value[side]);
      }
    num target = found(&p);
    if (over) return;
    cells[target].value[side] = value;
    cells[target].last[side] = executions[side];
  }
}

/* Instead of what a statement does: a number and one for each integer it is given, times these, are added up.
   Equal sums tell nothing; two programs that execute the same instances have equal ones. */
static void sum_up(num statement) {
  const num *own = weights + statement * (MOST_GIVEN + 1);
  word sum = own[0];
  for (num k = 0; k < widths[statement]; k++) sum += (word)own[1 + k] * (word)given[k];
  summed_up += multiple * sum;
}

enum { SUM, FLOOR, TRUNCATED, REMAINDER, MINIMUM, MAXIMUM, CHOICE, VARIABLE };
enum { EQ, NE, LE, LT, GE, GT, AND, OR, NOT };
enum { CALL, BLOCK, IF, FOR, RANGE, EVEN, LET };

static int holds(const num **p);

static num value(const num **p) {
  num kind = *(*p)++, count = *(*p)++, result, one, times;
  switch (kind) {
    case VARIABLE: return variables[count];
    case SUM:
      for (result = *(*p)++; count > 0; count--) {
        times = *(*p)++;
        if (**p == VARIABLE) one = variables[(*p)[1]], *p += 2; /* as most are */
        else one = value(p);
        if (__builtin_mul_overflow(times, one, &one)) over = 1;
        if (__builtin_add_overflow(result, one, &result)) over = 1;
      }
      return result;
    case FLOOR: one = value(p); return one / count - (one % count < 0);
    case TRUNCATED: return value(p) / count;
    case REMAINDER: return value(p) % count;
    case MINIMUM:
      for (result = value(p); count > 1; count--) one = value(p), result = one < result ? one : result;
      return result;
    case MAXIMUM:
      for (result = value(p); count > 1; count--) one = value(p), result = one > result ? one : result;
      return result;
    default: times = holds(p), result = value(p), one = value(p); return times ? result : one;
  }
}

static int holds(const num **p) {
  num kind = *(*p)++, count = *(*p)++, one, other;
  int result;
  if (kind < AND) one = value(p), other = value(p);
  switch (kind) {
    case EQ: return one == other;
    case NE: return one != other;
    case LE: return one <= other;
    case LT: return one < other;
    case GE: return one >= other;
    case GT: return one > other;
    case NOT: return !holds(p);
    case AND: for (result = 1; count > 0; count--) result = holds(p) & result; return result;
    default: for (result = 0; count > 0; count--) result = holds(p) | result; return result;
  }
}

/* The second number of a part is that of a statement or variable, or how many parts or numbers follow. */
static void perform(const num **p) {
  num kind = *(*p)++, count = *(*p)++, step, was, now, last;
  const num *end, *test;
  switch (kind) {
    case CALL:
      for (num k = 0; k < widths[count]; k++) {
        given[k] = value(p);
        if (given[k] >= LARGEST || given[k] <= -LARGEST) over = 1; /* and a little can be added to it */
      }
      if (!over && weights) sum_up(count);
      else if (!over) visit(count);
      return;
    case BLOCK: for (; count > 0; count--) perform(p); return;
    case IF: /* then the test, how many numbers the first branch takes, and the branches */
      end = *p + count;
      was = holds(p), step = *(*p)++;
      if (!was) *p += step;
      if (*p != end) perform(p);
      *p = end;
      return;
    case FOR: /* then its variable, its step, its first value, its test, its body */
      end = *p + count;
      count = *(*p)++, step = *(*p)++, was = variables[count];
      for (now = value(p);;) {
        variables[count] = now, test = *p;
        if (!holds(&test) || over) break;
        if (--fuel < 0) { over = 1; break; }
        perform(&test);
        if (__builtin_add_overflow(now, step, &now)) over = 1;
      }
      variables[count] = was, *p = end;
      return;
    case EVEN: /* a range whose iterations all execute as much */
    case RANGE: /* with its last value in place of its test */
      end = *p + count;
      count = *(*p)++, step = *(*p)++, was = variables[count];
      now = value(p), last = value(p);
      if ((*p)[0] == BLOCK && (*p)[1] == 0 && (step > 0 ? now <= last : now >= last)) { /* nothing inside */
        fuel -= (last - now) / step + 1;
        if (fuel < 0) over = 1;
        now = last + step;
      }
      if (weights && kind == EVEN && (step > 0 ? now < last : now > last)) {
        /* A sum of n numbers at equal distances is n / 2 times the first and the last. */
        word around = multiple;
        num times = (last - now) / step + 1;
        multiple = around / 2 * times;
        for (int end = 0; end < 2 && !over; end++, now += (times - 1) * step) {
          if (--fuel < 0) over = 1;
          variables[count] = now, test = *p, perform(&test);
        }
        multiple = around, now = last + step;
      }
      while (!over && (step > 0 ? now <= last : now >= last)) {
        if (--fuel < 0) { over = 1; break; }
        variables[count] = now, test = *p;
        perform(&test);
        if (__builtin_add_overflow(now, step, &now)) over = 1;
      }
      variables[count] = was, *p = end;
      return;
    default: /* LET: its variable, then its value, and the body */
      was = variables[count], step = value(p);
      variables[count] = step;
      perform(p);
      variables[count] = was;
  }
}

/* In `guess` is a number for each of `all`, which are those that say what the statements do. */
void start(const num *all, const num *where, const num *how_many, num *guess, const num *rows) {
  does = all, starts = where, widths = how_many, guesses = guess, lengths = rows;
  count_of_cells = 0, over = 0;
  if (room_for_slots) memset(slots, -1, room_for_slots * sizeof *slots);
  length[0] = length[1] = executions[0] = executions[1] = 0;
}

void finish(void) {
  free(cells), free(slots), free(marked), cells = 0, slots = 0, marked = 0;
  room_for_cells = room_for_slots = count_of_cells = 0;
  for (int k = 0; k < 2; k++)
    free(trace[k]), free(starts_of[k]), trace[k] = starts_of[k] = 0, room[k] = room_for_starts[k] = 0;
}

/* How many of so many iterations a program leaves; -1 where it takes more. */
num run(num which, const num *program, num *begun, num most) {
  side = which, variables = begun, fuel = most;
  perform(&program);
  return over ? -1 : fuel;
}

/* The same of a program whose statements are summed up; the sum, which is ONCE times that of its executions. */
num sum_of(const num *program, num *begun, num most, const num *by, num *sum) {
  weights = by, summed_up = 0, multiple = ONCE;
  num left = run(0, program, begun, most);
  weights = 0, *sum = (num)summed_up;
  return left;
}
