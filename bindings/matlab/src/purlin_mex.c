/* purlin_mex('command', ...): the one gateway of the package. Users call the functions of +purlin. */
#include <stdio.h>
#include <string.h>

#include "gateway.h"

static void at_exit(void) {
  release_temporaries();
  destroy_context();
}

static const char *word_of(const choice *list, int32_t value) {
  for (; list->word; list++)
    if (list->value == value) return list->word;
  return "unknown";
}

/* [number, text] = version() */
static void version(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  plhs[0] = mxCreateDoubleScalar(purlin_version());
  if (nlhs > 1) plhs[1] = mxCreateString(purlin_build_info());
  (void)nrhs;
  (void)prhs;
}

static void devices(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  static const char *names[] = {"ordinal", "name", "compute_capability", "multiprocessors", "memory_total",
    "memory_free", "l2_bytes", "shared_memory_per_block", "clock_khz", "driver_version"};
  int32_t count = 0;
  check(purlin_device_count(&count));
  plhs[0] = mxCreateStructMatrix((mwSize)count, count > 0 ? 1 : 0, (int)(sizeof names / sizeof *names), names);
  for (int32_t i = 0; i < count; i++) {
    purlin_device_info info;
    char capability[32];
    mwIndex at = (mwIndex)i;
    check(purlin_device_info_init(&info, sizeof info));
    check(purlin_device_properties(i, &info));
    (void)snprintf(capability, sizeof capability, "%d.%d", (int)info.compute_capability_major,
                   (int)info.compute_capability_minor);
    mxSetField(plhs[0], at, "ordinal", mxCreateDoubleScalar(info.ordinal));
    mxSetField(plhs[0], at, "name", mxCreateString(info.name));
    mxSetField(plhs[0], at, "compute_capability", mxCreateString(capability));
    mxSetField(plhs[0], at, "multiprocessors", mxCreateDoubleScalar((double)info.multiprocessors));
    mxSetField(plhs[0], at, "memory_total", mxCreateDoubleScalar((double)info.memory_total));
    mxSetField(plhs[0], at, "memory_free", mxCreateDoubleScalar((double)info.memory_free));
    mxSetField(plhs[0], at, "l2_bytes", mxCreateDoubleScalar((double)info.l2_bytes));
    mxSetField(plhs[0], at, "shared_memory_per_block", mxCreateDoubleScalar((double)info.shared_memory_per_block));
    mxSetField(plhs[0], at, "clock_khz", mxCreateDoubleScalar(info.clock_khz));
    mxSetField(plhs[0], at, "driver_version", mxCreateDoubleScalar(info.driver_version));
  }
  (void)nlhs;
  (void)nrhs;
  (void)prhs;
}

/* configure(options): the settings given, the others staying as they are; the next call makes the context */
static void configure(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  purlin_context_options o;
  o = configured_options();
  /* The ordinal and the limit of another backend's device mean nothing to this one. */
  if (option(prhs[0], "backend")) {
    o.device = 0;
    o.device_memory_limit = 0;
  }
  READ_CONTEXT_OPTIONS(prhs[0], &o);
  configure_context(&o);
  (void)nlhs;
  (void)plhs;
  (void)nrhs;
}

static void properties(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  purlin_context_info info;
  check(purlin_context_info_init(&info, sizeof info));
  check(purlin_context_properties(gateway_context(), &info));
  plhs[0] = mxCreateStructMatrix(1, 1, 0, NULL);
  add_text(plhs[0], "backend", word_of(backend_words, info.backend));
  add_text(plhs[0], "device_name", info.device_name);
  add_number(plhs[0], "device", info.device);
  add_number(plhs[0], "threads", (double)info.threads);
  add_text(plhs[0], "cpu_isa", word_of(isa_words, info.cpu_isa));
  add_number(plhs[0], "host_memory_limit", (double)info.host_memory_limit);
  add_number(plhs[0], "device_memory_limit", (double)info.device_memory_limit);
  add_number(plhs[0], "host_memory_used", (double)info.host_memory_used);
  add_number(plhs[0], "device_memory_used", (double)info.device_memory_used);
  (void)nlhs;
  (void)nrhs;
  (void)prhs;
}

/* Destroys the context and forgets the settings. */
static void release(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  at_exit();
  forget_configuration();
  (void)nlhs;
  (void)plhs;
  (void)nrhs;
  (void)prhs;
}

static void live_handles(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  plhs[0] = mxCreateDoubleScalar((double)purlin_live_handles());
  (void)nlhs;
  (void)nrhs;
  (void)prhs;
}

static void status_name(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  plhs[0] = mxCreateString(
    purlin_status_string((int32_t)integer_argument("status", prhs[0], INT32_MIN, INT32_MAX)));
  (void)nlhs;
  (void)nrhs;
}

/* The codes that results hold, by name. */
static void codes(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
#define CODE(name) {#name, PURLIN_##name}
  static const choice list[] = {CODE(PAIR_NEGATIVE_STABLE), CODE(PAIR_POSITIVE_STABLE), CODE(PAIR_UNSTABLE),
    CODE(PAIR_DEGENERATE), CODE(PAIR_UNCLASSIFIED), CODE(PAIR_NONE), CODE(TENSOR_OK), CODE(TENSOR_NONFINITE),
    CODE(TENSOR_ZERO), CODE(TENSOR_ISOTROPIC), CODE(TENSOR_MASKED), CODE(TENSOR_NO_PAIR), CODE(TENSOR_SIGNAL), CODE(TENSOR_CLAMPED),
    CODE(TENSOR_INCOMPLETE), CODE(TENSOR_DEGENERATE), CODE(TENSOR_PARTIAL),
    CODE(START_CONVERGED), CODE(START_MAX_ITERATIONS),
    CODE(START_ZERO_VECTOR), CODE(START_NONFINITE), CODE(START_SINGULAR), {NULL, 0}};
#undef CODE
  plhs[0] = mxCreateStructMatrix(1, 1, 0, NULL);
  for (const choice *c = list; c->word; c++) add_number(plhs[0], c->word, c->value);
  (void)nlhs;
  (void)nrhs;
  (void)prhs;
}

static const command library_commands[] = {
  {"version", "", version},
  {"devices", "", devices},
  {"configure", "options", configure},
  {"properties", "", properties},
  {"release", "", release},
  {"live_handles", "", live_handles},
  {"status_name", "status", status_name},
  {"codes", "", codes},
  {NULL, NULL, NULL},
};

/* Refuses too few or too many arguments. */
static void expect_count(const command *c, int given) {
  int most = c->arguments[0] != 0, optional = 0;
  for (const char *at = c->arguments; *at; at++) {
    most += *at == ' ';
    optional += *at == '?';
  }
  if (given < most - optional || given > most)
    fail("invalidArgument", "purlin_mex: %s has %d arguments, got %d", c->name, most, given);
}

void mexFunction(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
#define TABLE(name) name##_commands,
  const command *const tables[] = {library_commands, COMMAND_TABLES(TABLE)};
#undef TABLE
  char name[64];
  static int registered;
  /* The temporaries of the running command must stay. */
  if (is_calling()) mexErrMsgIdAndTxt("purlin:busy", "purlin: called by a function that purlin is calling");
  /* Left over only if MATLAB itself jumped out of a command, for want of memory. */
  release_temporaries();
  if (!registered) {
    mexAtExit(at_exit);
    registered = 1;
  }
  if (nrhs < 1 || !mxIsChar(prhs[0]) || mxGetString(prhs[0], name, sizeof name) != 0)
    fail("invalidArgument", "purlin_mex: the first argument is not a command");
  for (size_t t = 0; t < sizeof tables / sizeof *tables; t++) {
    for (const command *c = tables[t]; c->name; c++) {
      if (strcmp(c->name, name) != 0) continue;
      expect_count(c, nrhs - 1);
      expect_classes(c->arguments, nrhs - 1, prhs + 1);
      c->run(nlhs, plhs, nrhs - 1, prhs + 1);
      raise_exception();
      release_temporaries();
      return;
    }
  }
  fail("invalidArgument", "purlin_mex: there is no command %s", name);
}
