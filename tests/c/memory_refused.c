/* One call of each family with an allocator that refuses its n-th request, or that and all later ones, for every n or for
   equal steps over all requests of the call: up to 100 large ones, 50 small ones, and 12 small ones with all later ones. A
   large request must never end the process; the small ones that do are counted and bounded. On a GPU NVIDIA's libraries write
   to memory that they were refused: there the calls that end inside of them are counted, and none may end in purlin's code.

   The program's own malloc replaces the C library's, in purlin too. */
#define _GNU_SOURCE
#include "check.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || !defined(__GLIBC__)
int main(void) {
  printf("the allocator is the sanitizer's, or unknown: nothing is tested\n");
  return finish();
}
#else
#include "children.h"

#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <signal.h>
#include <time.h>

enum { LARGE = 4096, TRIES = 100 };

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

/* Requests of this size and more are counted while `armed`; the one numbered `refused_at` is refused, and later ones if `sticky`. */
static size_t least, most;
static volatile int armed, sticky;
/* Whether the first refused request came from an initializer of one of NVIDIA's libraries. An exception from there must not be
   caught, because the loader would still hold its lock. */
static volatile int is_of_loader;
static volatile int64_t requests, refused_at;

/* The exit status of a child that purlin's own code ended. */
enum { OURS = 7, FRAMES = 64 };

/* Whether the loader is on the call stack with no function of purlin between it and this call. */
static int is_called_by_loader(void) {
  void *frames[FRAMES];
  int n = backtrace(frames, FRAMES), k;
  for (k = 0; k < n; k++) {
    Dl_info found;
    if (!dladdr(frames[k], &found) || !found.dli_fname) continue;
    if (strstr(found.dli_fname, "libpurlin")) return 0;
    if (strstr(found.dli_fname, "ld-linux")) return 1;
  }
  return 0;
}

static int refuses(size_t size) {
  int64_t number;
  if (!armed || size < least || size > most) return 0;
  number = __sync_fetch_and_add(&requests, 1);
  if (number != refused_at && !(sticky && number > refused_at)) return 0;
  if (number == refused_at && test_backend() == PURLIN_BACKEND_CUDA) {
    armed = 0;
    is_of_loader = is_called_by_loader();
    armed = 1;
  }
  errno = ENOMEM;
  return 1;
}

void *malloc(size_t size) { return refuses(size) ? NULL : __libc_malloc(size); }

void *calloc(size_t count, size_t size) {
  return refuses(count * size) ? NULL : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size) { return refuses(size) ? NULL : __libc_realloc(old, size); }

void *memalign(size_t alignment, size_t size) { return refuses(size) ? NULL : __libc_memalign(alignment, size); }

void *aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }

int posix_memalign(void **memory, size_t alignment, size_t size) {
  void *start = memalign(alignment, size);
  if (!start) return ENOMEM;
  *memory = start;
  return 0;
}

/* purlin waits for memory by usleep(); `slowly` simulates a busy machine, on which the waiting thread wakes late. */
static volatile int slowly;

extern int usleep(unsigned microseconds);

int usleep(unsigned microseconds) {
  struct timespec time = {0, 0};
  time.tv_nsec = (long)microseconds * (slowly ? 40 : 1) * 1000;
  return nanosleep(&time, NULL);
}

/* Whose code ended the process: the innermost that is neither the C library's nor this program's. */
static void end(int number) {
  void *frames[FRAMES];
  int n = backtrace(frames, FRAMES), k;
  for (k = 0; k < n; k++) {
    Dl_info found;
    if (!dladdr(frames[k], &found) || !found.dli_fname) continue;
    if (strstr(found.dli_fname, "libpurlin") && least >= LARGE && !is_of_loader) _exit(OURS);
    if (strstr(found.dli_fname, "libpurlin") || strstr(found.dli_fname, "libcu") || strstr(found.dli_fname, "libnv")) {
      if (getenv("PURLIN_TEST_VERBOSE"))
        fprintf(stderr, "  signal %d in %s%s\n", number, found.dli_fname, is_of_loader ? ", an initializer's fault" : "");
      break;
    }
  }
  signal(number, SIG_DFL);
  raise(number);
}

static void catch_ends(void) {
  static const int numbers[] = {SIGSEGV, SIGBUS, SIGABRT, SIGILL, SIGFPE};
  void *frames[FRAMES];
  size_t k;
  /* The first call of `backtrace` allocates. */
  backtrace(frames, FRAMES);
  for (k = 0; k < COUNT(numbers); k++) signal(numbers[k], end);
}

static int64_t *count;

static int counted(const struct family *family, int64_t unused) {
  purlin_status status;
  (void)unused;
  requests = 0;
  refused_at = -1;
  sticky = 0;
  armed = 1;
  status = family->call();
  armed = 0;
  *count = requests;
  return end_of(family, status);
}

/* The CUDA driver's answer where a request of its own was refused. A driver that failed in its initialization, or lost its
   context, may answer so until the process ends. */
static int is_of_driver(purlin_status status) {
  return test_backend() == PURLIN_BACKEND_CUDA && (status == PURLIN_ERROR_NO_DEVICE || status == PURLIN_ERROR_CUDA ||
                                                     status == PURLIN_ERROR_OUT_OF_DEVICE_MEMORY);
}

static int refusing(const struct family *family, int64_t number) {
  purlin_status status, first;
  int end;
  requests = 0;
  refused_at = number;
  armed = 1;
  first = status = family->call();
  armed = 0;
  if (is_of_driver(first)) {
    char message[sizeof family_message];
    if (purlin_live_handles() != 0) return 3;
    snprintf(message, sizeof message, "%s", family_message);
    status = family->call();
    if (purlin_live_handles() != 0) return 3;
    if (status == PURLIN_SUCCESS || status == first) return LOST;
    printf("  %s: %s %s, again: %s %s\n", family->name, purlin_status_string(first), message,
           purlin_status_string(status), family_message);
    fflush(stdout);
    return 5;
  }
  end = end_of(family, status);
  /* Afterwards all is as before. */
  if (end <= 1) {
    status = family->call();
    if (end_of(family, status) != 0) {
      printf("  %s, again: %s %s\n", family->name, purlin_status_string(status), family_message);
      fflush(stdout);
      return 5;
    }
  }
  return end;
}

static void sweep(const char *what, size_t from, size_t to, int and_later, int64_t tries, struct ends *all) {
  size_t k;
  int64_t n;
  least = from;
  most = to;
  for (k = 0; k < COUNT(families); k++) {
    struct ends ends = {0};
    char name[64];
    sticky = 0;
    in_child(&ends, counted, &families[k], 0);
    /* A GPU need not support all that the CPU does. */
    if (ends.refused == 1 && test_backend() == PURLIN_BACKEND_CUDA) {
      printf("%s: not on this backend\n", families[k].name);
      continue;
    }
    CHECK(ends.succeeded == 1);
    ends.succeeded = 0;
    sticky = and_later;
    if (*count <= tries)
      for (n = 0; n < *count; n++) in_child(&ends, refusing, &families[k], n);
    else
      for (n = 0; n < tries; n++) in_child(&ends, refusing, &families[k], n * *count / tries);
    snprintf(name, sizeof name, "%s %s (%lld)", what, families[k].name, (long long)*count);
    print_ends(name, &ends);
    CHECK(ends.wrong == 0);
    all->killed += ends.killed;
    all->refused += ends.refused;
    all->lost += ends.lost;
    all->succeeded += ends.succeeded;
  }
}

/* A refused call does not make the next one fail while its thread still waits for memory. */
static void waits(void) {
  struct ends ends = {0};
  least = LARGE;
  most = SIZE_MAX;
  sticky = 1;
  slowly = 1;
  in_child(&ends, refusing, &families[0], 0);
  slowly = 0;
  print_ends("all of 4 KiB or more, seen late", &ends);
  CHECK(ends.wrong == 0 && ends.refused == 1);
}

static int total(const struct ends *ends) { return ends->killed + ends->refused + ends->lost + ends->succeeded; }

int main(int argc, char **argv) {
  struct ends large = {0}, one = {0}, all = {0};
  int64_t tries = argc > 1 ? atoi(argv[1]) : TRIES;
  int only_large = argc > 2 && strcmp(argv[2], "large") == 0;
  setenv("RUST_BACKTRACE", "0", 1);
  count = shared_memory(sizeof *count);
  family_inputs();
  catch_ends();
  waits();
  sweep("one of 4 KiB or more,", LARGE, SIZE_MAX, 0, tries, &large);
  sweep("all of 4 KiB or more,", LARGE, SIZE_MAX, 1, tries, &large);
  CHECK(large.refused > (int)COUNT(families));
  CHECK(large.killed == 0 || test_backend() == PURLIN_BACKEND_CUDA);
  if (large.killed > 0)
    printf("refused requests inside of NVIDIA's libraries that ended the process: %d of %d\n", large.killed, total(&large));
  if (large.lost > 0)
    printf("the CUDA driver failed in %d of %d calls; called again, each succeeded or failed alike\n", large.lost,
           total(&large));
  if (only_large) return finish();
  sweep("one below 4 KiB,", 0, LARGE - 1, 0, tries / 2, &one);
  sweep("all below 4 KiB,", 0, LARGE - 1, 1, tries / 8, &all);
  printf("refused requests that ended the process: %d of %d large ones, %d of %d small ones, %d of %d small ones with all later\n",
         large.killed, total(&large), one.killed, total(&one), all.killed, total(&all));
  /* Rust's standard library ends the process where it cannot make a thread's handle (docs/architecture.md). */
  CHECK(one.killed * 100 <= 5 * total(&one));
  CHECK(all.killed * 100 <= 25 * total(&all));
  return finish();
}
#endif
