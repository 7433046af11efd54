/* What the programs in `apart` share: they define CLOCK, `initialise` and `kernel`. */
#define _POSIX_C_SOURCE 199309L
#include <stdio.h>
#include <string.h>
#include <time.h>

static void initialise(void);
static void kernel(void);

static double now(void)
{
  struct timespec time;
  clock_gettime(CLOCK, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* The seconds that the kernel takes. */
static double timed(void)
{
  initialise();
  double start = now();
  kernel();
  return now() - start;
}
