/* Library, devices, contexts, streams, option and info structs. */
#include "check.h"
#include "generated/layout.h"

static void library(void) {
  int32_t code;
  CHECK(purlin_version() ==
        PURLIN_VERSION_MAJOR * 10000 + PURLIN_VERSION_MINOR * 100 + PURLIN_VERSION_PATCH);
  CHECK(strncmp(purlin_build_info(), "purlin ", 7) == 0);
  CHECK(purlin_build_info() == purlin_build_info());
  CHECK(!strchr(purlin_build_info(), '\n'));
  CHECK(strcmp(purlin_status_string(PURLIN_SUCCESS), "PURLIN_SUCCESS") == 0);
  CHECK(strcmp(purlin_status_string(PURLIN_ERROR_BUSY), "PURLIN_ERROR_BUSY") == 0);
  CHECK(strcmp(purlin_status_string(PURLIN_ERROR_INTERNAL), "PURLIN_ERROR_INTERNAL") == 0);
  for (code = -14; code < 0; code++) {
    CHECK(strncmp(purlin_status_string(code), "PURLIN_ERROR_", 13) == 0);
    CHECK(strcmp(purlin_status_string(code), purlin_status_string(code - 1)) != 0);
  }
  CHECK(strncmp(purlin_status_string(1), "PURLIN_", 7) != 0);
  CHECK(strncmp(purlin_status_string(INT32_MIN), "PURLIN_", 7) != 0);
  CHECK(strncmp(purlin_status_string(INT32_MAX), "PURLIN_", 7) != 0);
  CHECK(purlin_last_error_message() != NULL);
  CHECK(purlin_last_error_message()[0] == '\0');
  CHECK(purlin_live_handles() == 0);
}

static void devices(void) {
  int32_t count = -7;
  purlin_device_info info;
  OK(purlin_device_count(&count));
  CHECK(count >= 0);
  BAD_ARGUMENT("count: is NULL", purlin_device_count(NULL));
  BAD_ARGUMENT("info", purlin_device_info_init(NULL, sizeof info));
  BAD_ARGUMENT("info", purlin_device_info_init(&info, sizeof info - 1));
  OK(purlin_device_info_init(&info, sizeof info));
  CHECK(info.struct_size == sizeof info);
  BAD_ARGUMENT("info", purlin_device_properties(0, NULL));
  FAILS(PURLIN_ERROR_NO_DEVICE, "", purlin_device_properties(-1, &info));
  FAILS(PURLIN_ERROR_NO_DEVICE, "", purlin_device_properties(count, &info));
  FAILS(PURLIN_ERROR_NO_DEVICE, "", purlin_device_properties(INT32_MAX, &info));
  if (count > 0) {
    OK(purlin_device_properties(0, &info));
    CHECK(info.ordinal == 0 && info.multiprocessors > 0 && info.memory_total > 0);
    CHECK(memchr(info.name, '\0', sizeof info.name) != NULL && info.name[0] != '\0');
  } else {
    printf("no GPU here: its properties are not tested\n");
  }
}

/* Each wrong field is refused by name, and the caller's pointer stays as it was. */
static void context_options(void) {
  purlin_context *untouched = (purlin_context *)(uintptr_t)12345;
  purlin_context *context = untouched;
  purlin_context_options o;
  int32_t devices_here = 0;
  BAD_ARGUMENT("options: is NULL", purlin_context_options_init(NULL, sizeof o));
  BAD_ARGUMENT("options: struct_size is 8", purlin_context_options_init(&o, 8));
  BAD_ARGUMENT("options: struct_size is 1025", purlin_context_options_init(&o, 1025));

#define REFUSED(text, field, value)                               \
  do {                                                            \
    OK(purlin_context_options_init(&o, sizeof o));                \
    o.backend = PURLIN_BACKEND_CPU;                               \
    o.field = (value);                                            \
    BAD_ARGUMENT(text, purlin_context_create(&o, &context));      \
    CHECK(context == untouched);                                  \
  } while (0)
  REFUSED("backend: is 3", backend, 3);
  REFUSED("backend: is -1", backend, -1);
  REFUSED("device: is -1", device, -1);
  REFUSED("threads: is -1", threads, -1);
  REFUSED("threads: is 4097", threads, 4097);
  REFUSED("threads: is 4294967297", threads, 4294967297);
  REFUSED("cpu_isa: is 4", cpu_isa, 4);
  REFUSED("cpu_isa: is -1", cpu_isa, -1);
  REFUSED("host_memory_limit: is -1", host_memory_limit, -1);
  REFUSED("device_memory_limit: is -9", device_memory_limit, -9);
  REFUSED("log_level: is 5", log_level, 5);
  REFUSED("log_level: is -1", log_level, -1);
  REFUSED("options: struct_size is 0", struct_size, 0);
  REFUSED("options: struct_size is 8", struct_size, 8);
  REFUSED("options: struct_size", struct_size, sizeof o - 1);
  REFUSED("options: struct_size is 1025", struct_size, 1025);
  REFUSED("options: struct_size", struct_size, SIZE_MAX);
#undef REFUSED

  OK(purlin_context_options_init(&o, sizeof o));
  BAD_ARGUMENT("context: is NULL", purlin_context_create(&o, NULL));
  BAD_ARGUMENT("context: is NULL", purlin_context_create(NULL, NULL));
  OK(purlin_device_count(&devices_here));
  o.backend = PURLIN_BACKEND_CUDA;
  o.device = devices_here;
  FAILS(PURLIN_ERROR_NO_DEVICE, "", purlin_context_create(&o, &context));
  o.device = devices_here + 1;
  o.backend = PURLIN_BACKEND_AUTO;
  FAILS(PURLIN_ERROR_NO_DEVICE, "", purlin_context_create(&o, &context));
  o.backend = PURLIN_BACKEND_CPU;
  o.device = 100;
  BAD_ARGUMENT("device: is 100, the backend CPU has no device but 0", purlin_context_create(&o, &context));
  o.device = 0;
  o.device_memory_limit = 4096;
  BAD_ARGUMENT("device_memory_limit: is 4096, the backend CPU has no device memory", purlin_context_create(&o, &context));
  CHECK(context == untouched);
  /* AUTO on a machine without a GPU uses the CPU, where the limit has no effect. */
  o.backend = PURLIN_BACKEND_AUTO;
  OK(purlin_context_create(&o, &context));
  OK(purlin_context_destroy(context));
}

/* A struct of a newer header: its tail must be zero for this library. */
static void newer_structs(void) {
  struct {
    purlin_context_options known;
    int64_t added;
  } newer;
  struct {
    purlin_context_info known;
    int64_t added;
  } info;
  purlin_context *context = NULL;
  memset(&newer, 0xff, sizeof newer);
  OK(purlin_context_options_init(&newer.known, sizeof newer));
  CHECK(newer.known.struct_size == sizeof newer && newer.added == 0);
  newer.known.backend = PURLIN_BACKEND_CPU;
  newer.known.threads = 1;
  newer.added = 1;
  UNSUPPORTED("options", purlin_context_create(&newer.known, &context));
  CHECK(context == NULL);
  newer.added = 0;
  OK(purlin_context_create(&newer.known, &context));
  memset(&info, 0xff, sizeof info);
  OK(purlin_context_info_init(&info.known, sizeof info));
  OK(purlin_context_properties(context, &info.known));
  CHECK(info.known.struct_size == sizeof info && info.known.threads == 1 && info.added == 0);
  OK(purlin_context_destroy(context));
}

static void contexts(void) {
  purlin_context *context = NULL;
  purlin_context *narrow = NULL;
  purlin_context_options o;
  purlin_context_info info;
  int32_t isa;
  OK(purlin_context_options_init(&o, sizeof o));
  CHECK(o.struct_size == sizeof o && o.backend == PURLIN_BACKEND_AUTO && o.threads == 0 && !o.log);
  o.backend = PURLIN_BACKEND_CPU;
  o.threads = 3;
  o.host_memory_limit = 1 << 20;
  OK(purlin_context_create(&o, &context));
  CHECK(purlin_live_handles() == 1);
  BAD_ARGUMENT("info", purlin_context_info_init(NULL, sizeof info));
  OK(purlin_context_info_init(&info, sizeof info));
  BAD_ARGUMENT("info: is NULL", purlin_context_properties(context, NULL));
  info.struct_size = 0;
  BAD_ARGUMENT("info: struct_size is 0", purlin_context_properties(context, &info));
  OK(purlin_context_info_init(&info, sizeof info));
  OK(purlin_context_properties(context, &info));
  CHECK(info.backend == PURLIN_BACKEND_CPU && info.device == -1 && info.threads == 3);
  CHECK(info.cpu_isa >= PURLIN_ISA_PORTABLE && info.cpu_isa <= PURLIN_ISA_AVX512);
  CHECK(info.host_memory_limit == 1 << 20 && info.host_memory_used == 0);
  CHECK(info.device_memory_limit == 0 && info.device_memory_used == 0);
  CHECK(strcmp(info.device_name, "CPU") == 0);
  OK(purlin_context_cancel(context));
  /* Instruction sets up to the machine's are given as asked; a wider one is refused. */
  for (isa = PURLIN_ISA_PORTABLE; isa <= PURLIN_ISA_AVX512; isa++) {
    o.cpu_isa = isa;
    if (isa > info.cpu_isa) {
      UNSUPPORTED("cpu_isa", purlin_context_create(&o, &narrow));
    } else {
      purlin_context_info found;
      OK(purlin_context_create(&o, &narrow));
      OK(purlin_context_info_init(&found, sizeof found));
      OK(purlin_context_properties(narrow, &found));
      CHECK(found.cpu_isa == isa);
      OK(purlin_context_destroy(narrow));
    }
  }
  OK(purlin_context_destroy(context));
  /* All defaults. */
  OK(purlin_context_create(NULL, &context));
  OK(purlin_context_properties(context, &info));
  CHECK(info.threads >= 1);
  OK(purlin_context_destroy(context));
  OK(purlin_context_destroy(NULL));
}

static void streams(void) {
  purlin_context *context = cpu_context(1);
  purlin_stream *stream = NULL;
  BAD_ARGUMENT("stream: is NULL", purlin_stream_create(context, NULL));
  OK(purlin_stream_create(context, &stream));
  OK(purlin_stream_synchronize(stream));
  CHECK(purlin_live_handles() == 2);
  OK(purlin_context_destroy(context));
  OK(purlin_stream_synchronize(stream));
  OK(purlin_stream_destroy(stream));
  OK(purlin_stream_destroy(NULL));
  context = cpu_context(1);
  UNSUPPORTED("cuda_stream", purlin_stream_wrap(context, 0, &stream));
  BAD_ARGUMENT("stream: is NULL", purlin_stream_wrap(context, 0, NULL));
  OK(purlin_context_destroy(context));
}

struct seen {
  purlin_context *context;
  int messages;
  int bad;
};

static void remember(int32_t level, const char *message, void *user) {
  struct seen *seen = user;
  seen->messages++;
  if (level < PURLIN_LOG_ERROR || level > PURLIN_LOG_DEBUG || !message || !message[0] || strchr(message, '\n'))
    seen->bad++;
}

static void log_messages(void) {
  struct seen loud = {NULL, 0, 0}, quiet = {NULL, 0, 0};
  purlin_context *context = NULL;
  purlin_context_options o;
  OK(purlin_context_options_init(&o, sizeof o));
  o.backend = PURLIN_BACKEND_CPU;
  o.threads = 1;
  o.log = remember;
  o.log_level = PURLIN_LOG_DEBUG;
  o.log_user = &loud;
  OK(purlin_context_create(&o, &context));
  CHECK(loud.messages >= 1 && loud.bad == 0);
  BAD_ARGUMENT("level: is 9", purlin_context_set_log(context, 9, remember, &loud));
  BAD_ARGUMENT("level: is -1", purlin_context_set_log(context, -1, NULL, NULL));
  OK(purlin_context_set_log(context, PURLIN_LOG_WARN, remember, &quiet));
  OK(purlin_context_set_log(context, PURLIN_LOG_OFF, NULL, NULL));
  OK(purlin_context_destroy(context));
  o.log_level = PURLIN_LOG_OFF;
  o.log_user = &quiet;
  OK(purlin_context_create(&o, &context));
  OK(purlin_context_destroy(context));
  CHECK(quiet.messages == 0);
}

int main(void) {
  library();
  devices();
  context_options();
  newer_structs();
  contexts();
  streams();
  log_messages();
  return finish();
}
