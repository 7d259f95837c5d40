/* A host that loads the library as part of a plug-in and unloads it while objects and threads exist: its code stays, and when
   it is loaded again it is the same library. Nothing is linked. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <purlin.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failed, made;

static void check_that(int holds, const char *what, int line) {
  made++;
  if (holds) return;
  failed++;
  fprintf(stderr, "plugin.c:%d: does not hold: %s\n", line, what);
}
#define CHECK(condition) check_that((condition) != 0, #condition, __LINE__)

struct functions {
  void *library;
  purlin_status (*options_init)(purlin_context_options *, size_t);
  purlin_status (*create)(const purlin_context_options *, purlin_context **);
  purlin_status (*destroy)(purlin_context *);
  purlin_status (*tensor_create)(const purlin_context *, purlin_dtype, purlin_location, purlin_flags, int32_t, const int64_t *,
                                 purlin_tensor **);
  purlin_status (*tensor_destroy)(purlin_tensor *);
  int64_t (*live)(void);
  const char *(*message)(void);
};

/* ISO C has no conversion of an address to a function; POSIX promises it. */
static int find(const struct functions *f, const char *name, void *function) {
  void *address = dlsym(f->library, name);
  memcpy(function, &address, sizeof address);
  return address != NULL;
}

static int load(const char *path, struct functions *f) {
  memset(f, 0, sizeof *f);
  f->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!f->library) fprintf(stderr, "%s\n", dlerror());
  return f->library && find(f, "purlin_context_options_init", &f->options_init) && find(f, "purlin_context_create", &f->create) &&
         find(f, "purlin_context_destroy", &f->destroy) && find(f, "purlin_tensor_create", &f->tensor_create) &&
         find(f, "purlin_tensor_destroy", &f->tensor_destroy) && find(f, "purlin_live_handles", &f->live) &&
         find(f, "purlin_last_error_message", &f->message);
}

static purlin_context *context_of(const struct functions *f, int64_t threads) {
  purlin_context_options o;
  purlin_context *context = NULL;
  CHECK(f->options_init(&o, sizeof o) == PURLIN_SUCCESS);
  o.backend = PURLIN_BACKEND_CPU;
  o.threads = threads;
  CHECK(f->create(&o, &context) == PURLIN_SUCCESS);
  return context;
}

static void use(const struct functions *f, purlin_context *context) {
  const int64_t dims[2] = {300, 200}, wrong[2] = {-1, 1};
  purlin_tensor *t = NULL;
  CHECK(f->tensor_create(context, PURLIN_F64, PURLIN_HOST, 0, 2, dims, &t) == PURLIN_SUCCESS && f->message()[0] == '\0');
  CHECK(f->tensor_create(context, PURLIN_F64, PURLIN_HOST, 0, 2, wrong, &t) == PURLIN_ERROR_INVALID_ARGUMENT);
  CHECK(strstr(f->message(), "-1"));
  CHECK(f->tensor_destroy(t) == PURLIN_SUCCESS);
}

static int is_loaded(struct dl_phdr_info *info, size_t size, void *data) {
  (void)size;
  if (strstr(info->dlpi_name, "libpurlin.so")) ++*(int *)data;
  return 0;
}

static int copies(void) {
  int count = 0;
  dl_iterate_phdr(is_loaded, &count);
  return count;
}

static const char *path;

/* All calls run on a thread that ends after the library was unloaded: its thread-local objects are destroyed then. */
static void *on_thread(void *argument) {
  struct functions f;
  purlin_context *own;
  CHECK(load(path, &f));
  own = context_of(&f, 2);
  use(&f, own);
  use(&f, argument);
  CHECK(f.destroy(own) == PURLIN_SUCCESS);
  CHECK(dlclose(f.library) == 0);
  return NULL;
}

int main(int argc, char **argv) {
  struct functions first, second;
  purlin_context *kept;
  pthread_t id;
  int k;
  if (argc != 2) return 1;
  path = argv[1];
  if (copies() != 0 || !load(path, &first)) return 1;
  kept = context_of(&first, 3);
  use(&first, kept);
  for (k = 0; k < 3; k++) CHECK(pthread_create(&id, NULL, on_thread, kept) == 0 && pthread_join(id, NULL) == 0);
  /* Its threads keep running, so their code must stay mapped. */
  CHECK(dlclose(first.library) == 0);
  CHECK(copies() == 1);
  CHECK(load(path, &second) && copies() == 1);
  CHECK(second.create == first.create && second.live() == 1);
  use(&second, kept);
  CHECK(second.destroy(kept) == PURLIN_SUCCESS);
  for (k = 0; k < 20; k++) {
    purlin_context *context = context_of(&second, 2);
    use(&second, context);
    CHECK(second.destroy(context) == PURLIN_SUCCESS && dlclose(second.library) == 0 && load(path, &second));
  }
  CHECK(second.live() == 0);
  CHECK(dlclose(second.library) == 0);
  printf("%d checks, %d failed\n", made, failed);
  return failed != 0;
}
