/* Unusual host processes: closed standard streams, no free keys for thread-specific data, and coroutines. */
#define _GNU_SOURCE
#include "children.h"
#include "folder.h"

#include <pthread.h>
#include <ucontext.h>

static int64_t panel[3] = {32, 24, 12}, cube[3] = {24, 24, 24};
static int closed;

/* The program's messages, for which there is no stream. */
static int32_t shouting(const int64_t *first, const int64_t *count, void *out, void *user) {
  float *pixels = out;
  int64_t k;
  (void)first;
  (void)user;
  for (k = 0; k < count[0] * count[1] * count[2]; k++) pixels[k] = 1;
  return write(closed, "message", 7) == -1 ? 0 : 1;
}

/* A volume that goes to a file while a standard stream is closed. */
static int without_stream(const struct family *unused, int64_t stream) {
  static char volume[24 * 24 * 24 * sizeof(float)];
  purlin_context *context;
  purlin_status status;
  purlin_source *source = NULL;
  purlin_sink *sink = NULL;
  purlin_fdk *fdk = NULL;
  size_t size = 0, k;
  FILE *file;
  (void)unused;
  closed = (int)stream;
  close(closed);
  status = family_context(&context);
  THEN(family_fdk_of(context, panel[0], panel[1], panel[2], &fdk));
  THEN(purlin_source_from_callback(context, PURLIN_F32, 3, panel, shouting, NULL, &source));
  THEN(purlin_sink_to_file(context, in_folder("volume"), 0, PURLIN_F32, PURLIN_LITTLE_ENDIAN, 3, cube, &sink));
  THEN(purlin_fdk_reconstruct_to_sink(fdk, NULL, source, sink, NULL));
  GONE(purlin_fdk_destroy(fdk));
  GONE(purlin_sink_destroy(sink));
  GONE(purlin_source_destroy(source));
  GONE(purlin_context_destroy(context));
  if (status != PURLIN_SUCCESS) return 2;
  file = fopen(in_folder("volume"), "rb");
  if (file) size = fread(volume, 1, sizeof volume, file);
  if (file) fclose(file);
  if (size != sizeof volume) return 3;
  for (k = 0; k + 7 <= size; k++)
    if (memcmp(volume + k, "message", 7) == 0) return 4;
  return 0;
}

static pthread_key_t keys[2048];

/* A call when `left` keys are free, and another one after three more were freed. */
static int without_keys(const struct family *family, int64_t left) {
  int made = 0, k;
  purlin_status status;
  while (made < (int)COUNT(keys) && pthread_key_create(&keys[made], NULL) == 0) made++;
  for (k = 0; k < left; k++) pthread_key_delete(keys[--made]);
  status = family->call();
  if (status != PURLIN_SUCCESS && (status != PURLIN_ERROR_OUT_OF_MEMORY || !strstr(purlin_last_error_message(), "keys")))
    return 2;
  for (k = 0; k < 3; k++) pthread_key_delete(keys[--made]);
  if (family->call() != PURLIN_SUCCESS) return 3;
  return end_of(family, status);
}

static ucontext_t back, other;
static const struct family *called;
static purlin_status came;

static void coroutine(void) { came = called->call(); }

/* A call from a coroutine with a guard page below its stack. */
static int in_coroutine(const struct family *family, int64_t bytes) {
  char *memory = mmap(NULL, (size_t)bytes + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED || mprotect(memory, 4096, PROT_NONE) != 0 || getcontext(&other) != 0) return 4;
  other.uc_stack.ss_sp = memory + 4096;
  other.uc_stack.ss_size = (size_t)bytes;
  other.uc_link = &back;
  called = family;
  came = PURLIN_ERROR_INTERNAL;
  makecontext(&other, coroutine, 0);
  if (swapcontext(&back, &other) != 0) return 5;
  /* The thread itself calls as it did before. */
  return came == PURLIN_SUCCESS ? end_of(family, family->call()) : end_of(family, came);
}

static void one_context(void) {
  purlin_context *context = NULL;
  purlin_context_options options;
  came = purlin_context_options_init(&options, sizeof options);
  options.backend = PURLIN_BACKEND_CPU;
  options.threads = 1;
  if (came == PURLIN_SUCCESS) came = purlin_context_create(&options, &context);
  purlin_context_destroy(context);
}

/* The first call of a program, from a coroutine whose stack of `bytes` is in the middle of an array on the main thread's stack. The
   system does not know the bounds of such a stack. The array below it must stay unchanged. */
static int in_array(const struct family *unused, int64_t bytes) {
  enum { HALF = 3 << 20 };
  char array[2 * HALF];
  size_t k;
  (void)unused;
  memset(array, 0x5a, sizeof array);
  if (getcontext(&other) != 0) return 4;
  other.uc_stack.ss_sp = array + HALF;
  other.uc_stack.ss_size = (size_t)bytes;
  other.uc_link = &back;
  came = PURLIN_ERROR_INTERNAL;
  makecontext(&other, one_context, 0);
  if (swapcontext(&back, &other) != 0) return 5;
  for (k = 0; k < HALF; k++)
    if (array[k] != 0x5a) return 6;
  return came == PURLIN_SUCCESS ? 0 : 2;
}

int main(void) {
  struct ends streams = {0}, thread_keys = {0}, coroutines = {0}, arrays = {0};
  size_t k;
  int64_t left, kilobytes;
  in_child(&arrays, in_array, NULL, 256 << 10);
  print_ends("a coroutine in an array", &arrays);
  CHECK(arrays.succeeded == 1);
  family_inputs();
  if (!mkdtemp(folder)) return 1;
  for (left = 0; left < 3; left++) in_child(&streams, without_stream, NULL, left);
  print_ends("closed streams", &streams);
  CHECK(streams.succeeded == 3);
  unlink(in_folder("volume"));
  rmdir(folder);
  for (left = 0; left < 6; left++) in_child(&thread_keys, without_keys, &families[0], left);
  print_ends("few keys", &thread_keys);
  CHECK(thread_keys.killed == 0 && thread_keys.wrong == 0 && thread_keys.refused >= 2 && thread_keys.succeeded >= 3);
  for (kilobytes = 32; kilobytes <= 512; kilobytes *= 2)
    for (k = 0; k < COUNT(families); k++) in_child(&coroutines, in_coroutine, &families[k], kilobytes * 1024);
  print_ends("coroutines", &coroutines);
  CHECK(coroutines.succeeded == 5 * (int)COUNT(families));
  return finish();
}
