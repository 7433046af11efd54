/* What is asked of two programs that `native.c` has run: it is the end of that file. */

static void place_of(num one, num *to) {
  to[0] = one, to[1] = cells[one].array, to[2] = cells[one].rank;
  memcpy(to + 3, cells[one].at, cells[one].rank * sizeof(num));
}

/* Of the cells of arrays below `counted` that end up with two values, those that both runs are done with first.
   Each is its number, its array, its rank and its subscripts. */
num different(num counted, num *out) {
  num chosen = 0, ends[MOST_PLACES];
  for (num k = 0; k < count_of_cells; k++) {
    cell *one = cells + k;
    if (one->array >= counted || one->value[0] == one->value[1]) continue;
    num end = one->last[0] > one->last[1] ? one->last[0] : one->last[1], place = chosen;
    while (place > 0 && ends[place - 1] > end) place--;
    if (place == MOST_PLACES) continue;
    if (chosen < MOST_PLACES) chosen++;
    for (num m = chosen - 1; m > place; m--) {
      ends[m] = ends[m - 1];
      memcpy(out + m * WIDTH_OUT, out + (m - 1) * WIDTH_OUT, WIDTH_OUT * sizeof(num));
    }
    ends[place] = end;
    place_of(k, out + place * WIDTH_OUT);
  }
  return chosen;
}

/* Of an execution whose integers are given: whether it writes a cell that is needed, or, if `is_part`, its reads
   marked as needed. */
static int touched(num statement, char *needed, int is_part) {
  const num *p = does + starts[statement];
  int writes = 0;
  for (num assignments = *p++; assignments > 0; assignments--) {
    p++;
    for (num parts = *p++; parts > 0; parts--)
      if (*p < 0) p += 3;
      else if (is_part) needed[found(&p)] = 1;
      else p += 2 + 2 * p[1];
    if (is_part) p += 2 + 2 * p[1];
    else {
      num target = found(&p);
      writes |= needed[target], needed[target] = 0;
    }
  }
  return writes;
}

/* The executions that the last value of a cell is made by, the last one first, each as its statement and what
   it is given; all of them for the cell -1.  How many numbers that takes, or -1 where it is more than `most`.
   With `seen`, by statement, only the last one of each; they are marked for `measured`, and in `inputs` are the
   cells that may be read before one of them writes them. */
num leading_to(num which, num wanted, num most, num *out, char *seen, char *inputs) {
  char *needed = calloc(count_of_cells + 1, 1);
  num used = 0;
  if (seen) free(marked), marked = calloc(executions[which] + 1, 1);
  if (!needed || (seen && !marked)) return free(needed), -1;
  if (wanted >= 0) needed[wanted] = 1;
  for (num k = executions[which] - 1; k >= 0 && used >= 0; k--) {
    const num *step = trace[which] + starts_of[which][k];
    num statement = step[0], size = 1 + widths[statement];
    memcpy(given, step + 1, (size - 1) * sizeof(num));
    if (wanted >= 0 && !touched(statement, needed, 0)) continue;
    touched(statement, needed, 1);
    if (seen) {
      marked[k] = 1;
      if (seen[statement]) continue;
      seen[statement] = 1;
    }
    if (used + size > most) used = -1;
    else memcpy(out + used, step, size * sizeof(num)), used += size;
  }
  for (num k = 0; inputs && k < count_of_cells; k++) inputs[k] |= needed[k];
  free(needed);
  return used;
}

enum { PART, WHOLE, NUMBER, PLUS, MINUS, TIMES, QUOTIENT, NEGATIVE, DONE };
enum { MOST_OPERANDS = 64 };

/* A value in doubles: what is done with the parts of an assignment, in order, each result on top of the others. */
static double in_doubles(const num *p, const double *parts) {
  double stack[MOST_OPERANDS + 1], *top = stack;
  for (;;) switch (*p++) {
    case PART: case WHOLE: *++top = *parts++; break;
    case NUMBER: memcpy(++top, p++, sizeof *top); break;
    case PLUS: top--, top[0] += top[1]; break;
    case MINUS: top--, top[0] -= top[1]; break;
    case TIMES: top--, top[0] *= top[1]; break;
    case QUOTIENT: top--, top[0] /= top[1]; break;
    case NEGATIVE: *top = -*top; break;
    default: return *top;
  }
}

/* The last value of a cell in doubles, by the executions that the last `leading_to` marked, where cells with an
   odd sum of subscripts begin with 1 and all others with 0; 0 if doubles are not computed as such here.  In
   `formulas` is, from `where` on, what an assignment of each shape computes. */
int measured(num which, num wanted, const num *formulas, const num *where, double *found_value) {
  if (FLT_EVAL_METHOD != 0 || sizeof(double) != sizeof(num)) return 0;
  double *now = malloc((count_of_cells + 1) * sizeof *now), parts[MOST_OPERANDS];
  int is_known = now != 0;
  for (num k = 0; is_known && k < count_of_cells; k++) {
    word sum = 0;
    for (int m = 0; m < cells[k].rank; m++) sum += cells[k].at[m];
    now[k] = sum & 1;
  }
  for (num k = 0; is_known && k < executions[which]; k++) {
    if (!marked[k]) continue;
    const num *step = trace[which] + starts_of[which][k], *p = does + starts[step[0]];
    memcpy(given, step + 1, widths[step[0]] * sizeof(num));
    for (num assignments = *p++; assignments > 0; assignments--) {
      num begins = where[*p++];
      if (begins < 0) { free(now); return 0; }
      for (num left = *p++, part = 0; left > 0; left--, part++)
        if (*p < 0) {
          num whole = given[p[1]] + p[2];
          parts[part] = whole, is_known &= whole >= INT_MIN && whole <= INT_MAX, p += 3;
        } else parts[part] = now[found(&p)];
      num target = found(&p);
      now[target] = in_doubles(formulas + begins, parts);
    }
  }
  if (is_known) *found_value = now[wanted];
  free(now);
  return is_known && !over;
}

num cells_seen(void) { return count_of_cells; }

/* Of the cells that are marked, the number, the array, the rank and the subscripts of each; how many they are. */
num places_of(const char *inputs, num *out) {
  num count = 0;
  for (num k = 0; k < count_of_cells; k++)
    if (inputs[k]) place_of(k, out + count++ * WIDTH_OUT);
  return count;
}

/* The least and the largest of what each statement of a program is given. */
void spans(num which, num *out) {
  for (num k = 0; k < executions[which]; k++) {
    const num *step = trace[which] + starts_of[which][k];
    num *own = out + step[0] * 2 * MOST_GIVEN;
    for (num m = 0; m < widths[step[0]]; m++) {
      if (step[1 + m] < own[2 * m]) own[2 * m] = step[1 + m];
      if (step[1 + m] > own[2 * m + 1]) own[2 * m + 1] = step[1 + m];
    }
  }
}
