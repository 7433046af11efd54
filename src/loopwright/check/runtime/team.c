/* A team of plain threads in the place of gcc's OpenMP library, for ThreadSanitizer.
 *
 * The sanitizer does not know the locks inside that library, and would report every join as a race.  A
 * program that needs more than this file offers does not link, and races are then not looked for.
 *
 * A task runs at once, as a fiber of the sanitizer: to it the task is a thread of its own, that starts where
 * it is created and ends before what waits for it, so that a race is seen whatever order the tasks ran in. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#define MOST 64   /* threads of a team */
#define DEFAULT 4 /* threads of a team whose size the program leaves open */

static __thread int number, size = 1, inside;
static pthread_barrier_t barrier;
static pthread_mutex_t critical = PTHREAD_MUTEX_INITIALIZER;
static void (*work)(void *);
static void *shared;
static int team_size;

void *__tsan_get_current_fiber(void);
void *__tsan_create_fiber(unsigned flags);
void __tsan_destroy_fiber(void *fiber);
void __tsan_switch_to_fiber(void *fiber, unsigned flags);
void __tsan_acquire(void *address);
void __tsan_release(void *address);

void GOMP_parallel(void (*function)(void *), void *data, unsigned threads, unsigned flags);
void GOMP_barrier(void);
_Bool GOMP_single_start(void);
void GOMP_task(void (*function)(void *), void *data, void (*copy)(void *, void *), long bytes, long alignment,
               _Bool is_deferred, unsigned flags, void **depend, int priority, void *detach);
void GOMP_taskwait(void);
void GOMP_taskyield(void);
void GOMP_taskgroup_start(void);
void GOMP_taskgroup_end(void);
void GOMP_critical_start(void);
void GOMP_critical_end(void);
void GOMP_atomic_start(void);
void GOMP_atomic_end(void);
int omp_get_thread_num(void);
int omp_get_num_threads(void);
int omp_get_max_threads(void);
int omp_get_num_procs(void);
int omp_in_parallel(void);

#define UNSEEN __attribute__((no_sanitize("thread")))
#define NO_ORDER 1 /* a switch after which nothing of what was done before is known to be done */
enum { FINAL = 2, DEPENDS = 8, DETACHES = 1 << 13 };

/* What ends in a group is ordered before its end. */
struct group {
  struct group *around;
  char ended;
};

/* A task: what it created is ordered before its `taskwait`.  It has a stack of its own: two tasks that used
 * the same one would seem to share their local variables. */
struct task {
  struct task *parent;
  struct group *group;
  int is_final;
  char ended;
  void (*function)(void *);
  void *given, *stack, *fiber_before;
  ucontext_t before, own;
};

#define STACK ((size_t)8 << 20)

static __thread struct task implicit, *current;
static char all_tasks; /* they end before the next barrier */
static __thread unsigned singles_met;
static unsigned singles_run;

UNSEEN static struct task *this_task(void)
{
  return current ? current : (current = &implicit);
}

UNSEEN static void *new(size_t bytes)
{
  void *made = calloc(1, bytes);

  if (!made)
    abort();
  return made;
}

UNSEEN static void unsupported(const char *what)
{
  fprintf(stderr, "%s of a task is not followed\n", what);
  abort();
}

UNSEEN static void *arguments_of(void *data, void (*copy)(void *, void *), long bytes, long alignment)
{
  size_t unit = alignment > 16 ? (size_t)alignment : 16;
  void *own = aligned_alloc(unit, ((size_t)bytes / unit + 1) * unit);

  if (!own)
    abort();
  if (copy)
    copy(own, data);
  else
    memcpy(own, data, (size_t)bytes);
  return own;
}

UNSEEN static void run_task(void)
{
  struct task *own = current;

  own->function(own->given);
  free(own->given);
  __tsan_release(&own->parent->ended);
  if (own->group)
    __tsan_release(&own->group->ended);
  __tsan_release(&all_tasks);
  __tsan_switch_to_fiber(own->fiber_before, NO_ORDER);
  setcontext(&own->before);
}

UNSEEN void GOMP_task(void (*function)(void *), void *data, void (*copy)(void *, void *), long bytes,
                      long alignment, _Bool is_deferred, unsigned flags, void **depend, int priority,
                      void *detach)
{
  struct task *parent = this_task(), *own = new(sizeof *own);
  void *fiber = __tsan_create_fiber(0);

  (void)depend, (void)priority, (void)detach;
  if (flags & (DEPENDS | DETACHES))
    unsupported(flags & DEPENDS ? "'depend'" : "'detach'");
  own->parent = parent;
  own->group = parent->group;
  own->is_final = parent->is_final || (flags & FINAL) != 0;
  own->function = function;
  own->given = arguments_of(data, copy, bytes, alignment);
  own->fiber_before = __tsan_get_current_fiber();
  own->stack = mmap(0, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (own->stack == MAP_FAILED || getcontext(&own->own))
    abort();
  own->own.uc_stack.ss_sp = own->stack;
  own->own.uc_stack.ss_size = STACK;
  makecontext(&own->own, run_task, 0);
  current = own;
  __tsan_switch_to_fiber(fiber, 0);
  swapcontext(&own->before, &own->own);
  current = parent;
  __tsan_destroy_fiber(fiber);
  if (!is_deferred || parent->is_final)
    __tsan_acquire(&parent->ended);
  munmap(own->stack, STACK);
  free(own);
}

UNSEEN void GOMP_taskwait(void)
{
  __tsan_acquire(&this_task()->ended);
}

void GOMP_taskyield(void)
{
}

UNSEEN void GOMP_taskgroup_start(void)
{
  struct group *own = new(sizeof *own);

  own->around = this_task()->group;
  current->group = own;
}

UNSEEN void GOMP_taskgroup_end(void)
{
  struct group *own = current->group;

  __tsan_acquire(&own->ended);
  current->group = own->around;
  if (own->around)
    __tsan_release(&own->around->ended);
  free(own);
}

/* The first of the team to come to the k-th of the regions for one thread runs it. */
_Bool GOMP_single_start(void)
{
  unsigned met = singles_met++;

  return size == 1 || __atomic_compare_exchange_n(&singles_run, &met, met + 1, 0, __ATOMIC_RELAXED,
                                                  __ATOMIC_RELAXED);
}

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
  singles_met = singles_run = 0;
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
  __tsan_acquire(&all_tasks);
  pthread_barrier_destroy(&barrier);
}

void GOMP_barrier(void)
{
  if (size > 1)
    pthread_barrier_wait(&barrier);
  __tsan_acquire(&all_tasks);
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
