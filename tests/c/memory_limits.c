/* One call of each family under address-space limits from too little to enough: a process must never end by a signal, and the
   same call must succeed once the limit is lifted. */
#define _POSIX_C_SOURCE 200809L
#include "children.h"

#include <sys/resource.h>

enum { LIMITS = 20 };

struct sizes {
  int64_t before, peak;
};

static struct sizes *sizes;

/* A line of /proc/self/status in bytes. */
static int64_t status_line(const char *name) {
  char line[256];
  long long value = 0;
  FILE *file = fopen("/proc/self/status", "r");
  if (!file) return 0;
  while (fgets(line, sizeof line, file))
    if (strncmp(line, name, strlen(name)) == 0) value = atoll(line + strlen(name));
  fclose(file);
  return value * 1024;
}

static int measure(const struct family *family, int64_t unused) {
  (void)unused;
  sizes->before = status_line("VmSize:");
  if (family->call() != PURLIN_SUCCESS) return 2;
  sizes->peak = status_line("VmPeak:");
  return 0;
}

static int limited(const struct family *family, int64_t bytes) {
  struct rlimit limit;
  int end;
  if (getrlimit(RLIMIT_AS, &limit) != 0) return 4;
  limit.rlim_cur = (rlim_t)bytes;
  if (setrlimit(RLIMIT_AS, &limit) != 0) return 4;
  end = end_of(family, family->call());
  limit.rlim_cur = limit.rlim_max;
  if (setrlimit(RLIMIT_AS, &limit) != 0) return 4;
  if (end <= 1 && end_of(family, family->call()) != 0) return 5;
  return end;
}

/* Limit n of `limits`. Most are close to the size before the call, because the system reserves more addresses than it uses. */
static int64_t limit_of(int64_t n, int64_t limits) {
  double part = (double)n / (double)(limits - 1);
  return sizes->before + (int64_t)((double)(sizes->peak - sizes->before) * part * part * part);
}

int main(int argc, char **argv) {
  int64_t limits = rounds(argc > 1 ? atoi(argv[1]) : LIMITS, 2);
  struct ends all = {0};
  size_t k;
  int64_t n;
  sizes = shared_memory(sizeof *sizes);
  family_inputs();
  for (k = 0; k < COUNT(families); k++) {
    struct ends ends = {0};
    in_child(&ends, measure, &families[k], 0);
    CHECK(ends.succeeded == 1);
    for (n = 0; n < limits; n++)
      in_child(&ends, limited, &families[k], limit_of(n, limits));
    print_ends(families[k].name, &ends);
    CHECK(ends.killed == 0 && ends.wrong == 0);
    all.refused += ends.refused;
    all.succeeded += ends.succeeded;
  }
  /* Some limits must be too small and some large enough. */
  CHECK(all.refused >= (int)COUNT(families) * 2 && all.succeeded >= (int)COUNT(families) * 2);
  return finish();
}
