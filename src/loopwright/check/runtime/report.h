/* How a checked program reports: one line at a time, whatever the program does to its own files.
 *
 * The report file is opened for every line, so a program that closes or reuses descriptors does not
 * disturb it.  Its name is read before the program starts, so changes of the environment do not either.
 * The name and the state of the engine lie far from all other memory, where a write outside of an array
 * does not reach them.
 *
 * Each engine includes this file once, after defining _GNU_SOURCE.
 */
#ifndef LW_REPORT_H
#define LW_REPORT_H

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define LW_HOME 0x0f0000000000UL
#define LW_PAGE 4096
#define LW_STATE (LW_HOME + LW_PAGE)
#define LW_FAILED 125 /* the exit status when the engine itself cannot go on */
#define LW_DIGITS 21  /* characters of a long, and a comma */

static char *const lw_path = (char *)LW_HOME;

__attribute__((constructor(101))) static void lw_find_report(void)
{
  const char *path = getenv("LOOPWRIGHT_REPORT");
  void *home =
      mmap((void *)LW_HOME, 2 * LW_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

  if (home != (void *)LW_HOME)
    _exit(LW_FAILED);
  if (path)
    snprintf(lw_path, LW_PAGE, "%s", path);
  mprotect(home, LW_PAGE, PROT_READ);
}

/* Append `text` to the report, or write it to standard error where there is no report file. */
static void lw_put(const char *text, int length)
{
  int saved = errno;
  int file = 2;

  if (lw_path[0])
    file = open(lw_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (file < 0 || write(file, text, (size_t)length) != length)
    _exit(LW_FAILED);
  if (file != 2)
    close(file);
  errno = saved;
}

/* A line of the report that is being put together in `text`. */
struct lw_line {
  char *text;
  int room, length;
};

__attribute__((format(printf, 2, 3))) static void lw_add(struct lw_line *line, const char *format, ...)
{
  va_list values;
  int left = line->room - line->length, added;

  va_start(values, format);
  added = vsnprintf(line->text + line->length, (size_t)left, format, values);
  va_end(values);
  if (added < 0 || added >= left)
    _exit(LW_FAILED);
  line->length += added;
}

static void lw_add_numbers(struct lw_line *line, const long *values, int count)
{
  for (int k = 0; k < count; k++)
    lw_add(line, k ? ",%ld" : "%ld", values[k]);
}

/* The segment was entered with these problem sizes. */
static void lw_put_entry(const long *sizes, int count)
{
  char text[32 + LW_DIGITS * (LW_SIZES + 1)];
  struct lw_line line = {text, (int)sizeof text, 0};

  lw_add(&line, "enter sizes=");
  lw_add_numbers(&line, sizes, count);
  lw_add(&line, "\n");
  lw_put(line.text, line.length);
}

static void lw_put_no_memory(void)
{
  lw_put("memory\n", 7);
  _exit(LW_FAILED);
}

/* Two arrays of the original share memory, or something that is no operation writes one of them. */
void lw_alias(int one, int other);

void lw_alias(int one, int other)
{
  char text[64];

  lw_put(text, snprintf(text, sizeof text, "alias one=%d other=%d\n", one, other));
}

/* A variable that the original leaves alone is not what it was before the segment. */
void lw_changed(int variable);

void lw_changed(int variable)
{
  char text[64];

  lw_put(text, snprintf(text, sizeof text, "changed variable=%d\n", variable));
}

/* A variable was not looked at: there is too much to look at. */
void lw_unseen(int variable);

void lw_unseen(int variable)
{
  char text[64];

  lw_put(text, snprintf(text, sizeof text, "unseen variable=%d\n", variable));
}

#endif
