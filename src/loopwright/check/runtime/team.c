/* A team of plain threads in the place of gcc's OpenMP library, for ThreadSanitizer.
 *
 * The sanitizer does not know the locks inside that library, and would report every join as a race.  A
 * program that needs more than this file offers does not link, and races are then not looked for. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>

#define MOST 64   /* threads of a team */
#define DEFAULT 4 /* threads of a team whose size the program leaves open */

static __thread int number, size = 1, inside;
static pthread_barrier_t barrier;
static pthread_mutex_t critical = PTHREAD_MUTEX_INITIALIZER;
static void (*work)(void *);
static void *shared;
static int team_size;

void GOMP_parallel(void (*function)(void *), void *data, unsigned threads, unsigned flags);
void GOMP_barrier(void);
void GOMP_critical_start(void);
void GOMP_critical_end(void);
void GOMP_atomic_start(void);
void GOMP_atomic_end(void);
int omp_get_thread_num(void);
int omp_get_num_threads(void);
int omp_get_max_threads(void);
int omp_get_num_procs(void);
int omp_in_parallel(void);

static void *member(void *which)
{
  number = (int)(long)which;
  size = team_size;
  inside = 1;
  work(shared);
  return 0;
}

static void run_alone(void (*function)(void *), void *data)
{
  int saved_number = number, saved_size = size;

  number = 0;
  size = 1;
  function(data);
  number = saved_number;
  size = saved_size;
}

/* `threads` is 1 where an `if` clause says no, and 0 where the size of the team is open. */
void GOMP_parallel(void (*function)(void *), void *data, unsigned threads, unsigned flags)
{
  pthread_t team[MOST];

  (void)flags;
  if (inside || threads == 1) {
    run_alone(function, data);
    return;
  }
  team_size = threads == 0 ? DEFAULT : threads < MOST ? (int)threads : MOST;
  work = function;
  shared = data;
  pthread_barrier_init(&barrier, 0, (unsigned)team_size);
  for (long k = 1; k < team_size; k++)
    if (pthread_create(&team[k], 0, member, (void *)k))
      abort();
  size = team_size;
  inside = 1;
  function(data);
  inside = 0;
  size = 1;
  for (long k = 1; k < team_size; k++)
    pthread_join(team[k], 0);
  pthread_barrier_destroy(&barrier);
}

void GOMP_barrier(void)
{
  if (size > 1)
    pthread_barrier_wait(&barrier);
}

void GOMP_critical_start(void)
{
  pthread_mutex_lock(&critical);
}

void GOMP_critical_end(void)
{
  pthread_mutex_unlock(&critical);
}

void GOMP_atomic_start(void)
{
  pthread_mutex_lock(&critical);
}

void GOMP_atomic_end(void)
{
  pthread_mutex_unlock(&critical);
}

int omp_get_thread_num(void)
{
  return number;
}

int omp_get_num_threads(void)
{
  return size;
}

int omp_get_max_threads(void)
{
  return DEFAULT;
}

int omp_get_num_procs(void)
{
  return DEFAULT;
}

int omp_in_parallel(void)
{
  return inside;
}
