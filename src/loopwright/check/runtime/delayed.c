/* The engine of delayed detection [Bao2016, section 5]: shadows at fixed places, one verdict at the end.
 *
 * `lw_tables.h` is generated for one original: LW_SIZES, LW_SHADOWS, the place and length of each shadow,
 * and lw_last_writers(), which compares every cell with its LastWriter.
 */
#define _GNU_SOURCE
#include "lw_tables.h"
#include "report.h"

#define LARGE (1ul << 22) /* bytes */

struct state {
  int active;
};

static struct state *const state = (struct state *)LW_STATE;

static void report_left(void)
{
  if (state->active)
    lw_put("left\n", 5);
}

/* Map all shadows, which sets them to 0: nothing has written any cell. */
static void map_shadows(int flags)
{
  flags |= MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  for (int k = 0; k < LW_SHADOWS; k++) {
    void *place = (void *)lw_places[k][0];
    unsigned long length = lw_places[k][1];

    if (mmap(place, length, PROT_READ | PROT_WRITE, flags, -1, 0) != place)
      lw_put_no_memory();
    if (length >= LARGE) /* all of it is touched: huge pages need few faults */
      madvise(place, length, MADV_HUGEPAGE);
  }
}

/* Operations may run before the segment is entered; what they leave in the shadows is not looked at. */
__attribute__((constructor)) static void start(void)
{
  map_shadows(MAP_FIXED_NOREPLACE);
}

void lw_begin(const long *sizes);
void lw_end(unsigned long different);

void lw_begin(const long *sizes)
{
  static int entered;

  if (!entered++)
    atexit(report_left);
  lw_put_entry(sizes, LW_SIZES);
  map_shadows(MAP_FIXED);
  state->active = 1;
}

void lw_end(unsigned long different)
{
  if (!state->active)
    return;
  state->active = 0;
  lw_put((different | lw_last_writers()) ? "dirty\n" : "clean\n", 6);
}
