"""The engine of the delayed check [Bao2016, section 5]: shadows at fixed places, one verdict at the end."""

ENGINE = r"""
struct lw_state { int active; };
#define lw_active LW_STATE->active

static void lw_left(void) { if (lw_active) lw_put("left\n", 5); }

static void lw_map(int flags)
{
  flags |= MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  for (int k = 0; k < LW_SHADOWS; k++) {
    void *place = (void *)lw_places[k][0];
    if (mmap(place, lw_places[k][1], PROT_READ | PROT_WRITE, flags, -1, 0) != place) {
      lw_put("memory\n", 7);
      _exit(125);
    }
    /* a large shadow is touched all over: in huge pages it is there after few faults */
    if (lw_places[k][1] >= 1ul << 22) madvise(place, lw_places[k][1], MADV_HUGEPAGE);
  }
}

/* Operations may run before the segment, where nobody looks at what they leave in the shadows. */
__attribute__((constructor)) static void lw_start(void) { lw_map(MAP_FIXED_NOREPLACE); }

void lw_begin(const long *sizes)
{
  static int entered;
  char text[512] = "enter sizes=";
  int length = 12;
  if (!entered++) atexit(lw_left);
  for (int k = 0; k < LW_SIZES; k++)
    length += snprintf(text + length, sizeof text - (size_t)length, k ? ",%ld" : "%ld", sizes[k]);
  text[length++] = '\n';
  lw_put(text, length);
  lw_map(MAP_FIXED);
  lw_active = 1;
}

void lw_end(unsigned long different)
{
  if (!lw_active) return;
  lw_active = 0;
  lw_put((different | lw_last_writers()) ? "dirty\n" : "clean\n", 6);
}
"""
