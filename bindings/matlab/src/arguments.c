/* Numbers, words and option structs from MATLAB. The values of the words come from purlin.h alone. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#define PURLIN_DEFINE_WORDS
#include "gateway.h"

const choice norms[] = {{"frobenius", PURLIN_NORM_FROBENIUS}, {"one", PURLIN_NORM_ONE}, {"max", PURLIN_NORM_MAX},
  {NULL, 0}};
const choice packings[] = {{"entries", PURLIN_PACKING_ENTRIES}, {"polynomial", PURLIN_PACKING_POLYNOMIAL}, {NULL, 0}};
const choice bases[] = {{"canonical", PURLIN_SH_CANONICAL}, {"mrtrix3", PURLIN_SH_MRTRIX3},
  {"tournier07_legacy", PURLIN_SH_TOURNIER07_LEGACY}, {"descoteaux07_legacy", PURLIN_SH_DESCOTEAUX07_LEGACY},
  {"descoteaux07", PURLIN_SH_DESCOTEAUX07}, {NULL, 0}};
const choice endiannesses[] = {{"little", PURLIN_LITTLE_ENDIAN}, {"big", PURLIN_BIG_ENDIAN}, {NULL, 0}};
const choice orders[] = {{"columns", 0}, {"rows", PURLIN_ROW_MAJOR}, {NULL, 0}};
const choice classes[] = {{"single", PURLIN_F32}, {"double", PURLIN_F64}, {"int8", PURLIN_I8}, {"uint8", PURLIN_U8},
  {"int16", PURLIN_I16}, {"uint16", PURLIN_U16}, {"int32", PURLIN_I32}, {"uint32", PURLIN_U32}, {NULL, 0}};
const choice precisions[] = {{"single", PURLIN_F32}, {"double", PURLIN_F64}, {NULL, 0}};
const choice locations[] = {{"host", PURLIN_HOST}, {"device", PURLIN_DEVICE}, {NULL, 0}};

double scalar_argument(const char *name, const mxArray *value) {
  if (!(mxIsNumeric(value) || mxIsLogical(value)) || mxIsComplex(value) || mxIsSparse(value) ||
      mxGetNumberOfElements(value) != 1)
    fail("invalidArgument", "%s: is not a real scalar", name);
  return mxGetScalar(value);
}

/* A number of a class of 64 bits as it is: as a double it may be another one. */
static int is_long(const mxArray *value) {
  return (mxIsInt64(value) || mxIsUint64(value)) && !mxIsComplex(value) && mxGetNumberOfElements(value) == 1;
}

/* Refuses a number outside of the limits. The message leaves out an upper limit that the type has anyway. */
static void fail_outside(const char *name, const char *found, int64_t least, int64_t most) {
  if (most == INT64_MAX && least != INT64_MIN)
    fail("invalidArgument", "%s: is %s, expected at least %lld", name, found, (long long)least);
  fail("invalidArgument", "%s: is %s, expected %lld to %lld", name, found, (long long)least, (long long)most);
}

int64_t integer_argument(const char *name, const mxArray *value, int64_t least, int64_t most) {
  double number;
  char found[32];
  if (is_long(value)) {
    int64_t whole = *(const int64_t *)mxGetData(value);
    if (mxIsUint64(value) && whole < 0)
      fail("invalidArgument", "%s: is %llu, expected %lld to %lld", name, (unsigned long long)whole, (long long)least,
           (long long)most);
    (void)snprintf(found, sizeof found, "%lld", (long long)whole);
    if (whole < least || whole > most) fail_outside(name, found, least, most);
    return whole;
  }
  number = scalar_argument(name, value);
  if (!(number == floor(number))) fail("invalidArgument", "%s: is not a whole number", name);
  /* Beyond 2^53 a double no longer says which integer is meant. */
  if (fabs(number) > 9007199254740992.0)
    fail("invalidArgument", "%s: is %g, beyond 2^53, from where a double does not hold every whole number: give an int64 or uint64",
         name, number);
  (void)snprintf(found, sizeof found, "%.0f", number);
  if (number < (double)least || number > (double)most) fail_outside(name, found, least, most);
  return (int64_t)number;
}

int64_t *integers_argument(const char *name, const mxArray *value, int64_t least, int64_t less, int64_t *count) {
  size_t n = mxGetNumberOfElements(value), k;
  int64_t *list = mxMalloc((n + 1) * sizeof *list);
  const double *numbers = mxGetData(value);
  if (!mxIsDouble(value) || mxIsComplex(value) || mxIsSparse(value))
    fail("invalidArgument", "%s: is not a full array of real numbers of class double", name);
  for (k = 0; k < n; k++) {
    /* Comparisons with NaN are false. */
    if (!(numbers[k] == floor(numbers[k]) && fabs(numbers[k]) <= 9007199254740992.0))
      fail("invalidArgument", "%s: element %.0f is %g, which is not a whole number", name, (double)(k + 1), numbers[k]);
    if (numbers[k] < (double)least)
      fail("invalidArgument", "%s: element %.0f is %.0f, expected at least %.0f", name, (double)(k + 1), numbers[k],
           (double)least);
    list[k] = (int64_t)numbers[k] - less;
  }
  *count = (int64_t)n;
  return list;
}

int64_t *modes_argument(const char *name, const mxArray *value, int64_t *count) {
  if (mxIsEmpty(value)) fail("invalidArgument", "%s: is empty, at least 1 is needed", name);
  return integers_argument(name, value, 1, 0, count);
}

void name_order(int64_t order) {
  static const char *const places[] = {"tensors", "input", "packed", "sh"};
  static char found[96];
  char from[32];
  for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
    (void)snprintf(from, sizeof from, "%s: has order ", places[i]);
    reword(from, "order: is ");
    (void)snprintf(from, sizeof from, "%s: has the odd order ", places[i]);
    reword(from, "order: is ");
  }
  if (order < 0 || order > 999) return;
  const long long count = (order + 1) * (order + 2) / 2;
  (void)snprintf(found, sizeof found, "order: is %lld, which has %lld coefficients", (long long)order, count);
  (void)snprintf(from, sizeof from, "sh: has %lld coefficients", count);
  reword(from, found);
  (void)snprintf(from, sizeof from, "input: has %lld coefficients", count);
  reword(from, found);
}

uint64_t seed_argument(const char *name, const mxArray *value) {
  if (mxIsUint64(value) && mxGetNumberOfElements(value) == 1) return *(const uint64_t *)mxGetData(value);
  int64_t number = integer_argument(name, value, INT64_MIN, INT64_MAX);
  if (number < 0)
    fail("invalidArgument", "%s: is %lld, expected 0 to %llu", name, (long long)number, (unsigned long long)UINT64_MAX);
  return (uint64_t)number;
}

void expect_row(const char *name, const mxArray *value) {
  const mwSize *sizes = mxGetDimensions(value);
  if (mxIsEmpty(value) || (mxGetNumberOfDimensions(value) == 2 && sizes[0] == 1)) return;
  fail("invalidArgument", "%s: is an array of %.0f x %.0f characters, expected one row", name, (double)sizes[0],
       (double)mxGetN(value));
}

int32_t choice_argument(const char *name, const mxArray *value, const choice *list) {
  char word[64] = "", known[256] = "";
  if (mxIsChar(value)) expect_row(name, value);
  int is_word = mxIsChar(value) && mxGetString(value, word, sizeof word) == 0;
  for (const choice *c = list; c->word; c++) {
    if (is_word && strcmp(c->word, word) == 0) return c->value;
    if (strlen(known) + strlen(c->word) + 3 < sizeof known) {
      if (known[0]) strcat(known, ", ");
      strcat(known, c->word);
    }
  }
  if (is_word) fail("invalidArgument", "%s: is '%s', expected one of %s", name, word, known);
  if (mxIsChar(value)) fail("invalidArgument", "%s: is another text, expected one of %s", name, known);
  if ((mxIsNumeric(value) || mxIsLogical(value)) && mxGetNumberOfElements(value) == 1)
    fail("invalidArgument", "%s: is %.15g, expected one of %s", name, mxGetScalar(value), known);
  fail("invalidArgument", "%s: is of class %s, expected one of %s", name, mxGetClassName(value), known);
  return 0;
}

int is_true(const char *name, const mxArray *value) {
  double number = scalar_argument(name, value);
  if (number != 0 && number != 1) fail("invalidArgument", "%s: is %.15g, expected true or false", name, number);
  return number == 1;
}

const mxArray *option(const mxArray *options, const char *name) {
  const mxArray *value;
  if (!options || !mxIsStruct(options) || mxGetNumberOfElements(options) != 1) return NULL;
  value = mxGetField(options, 0, name);
  if (!value || !mxIsEmpty(value)) return value;
  /* As purlin.internal.options has it, also for the fields of structs that describe files and functions. */
  if (mxIsChar(value) || mxIsCell(value))
    fail("invalidArgument", "%s: is an empty %s; [] stands for the default", name, mxGetClassName(value));
  return NULL;
}

void read_double(const mxArray *options, const char *name, double *value) {
  const mxArray *given = option(options, name);
  if (given) *value = scalar_argument(name, given);
}

void read_int32(const mxArray *options, const char *name, int32_t *value) {
  const mxArray *given = option(options, name);
  if (given) *value = (int32_t)integer_argument(name, given, INT32_MIN, INT32_MAX);
}

void read_int64(const mxArray *options, const char *name, int64_t *value) {
  const mxArray *given = option(options, name);
  if (given) *value = integer_argument(name, given, INT64_MIN, INT64_MAX);
}

void read_seed(const mxArray *options, const char *name, uint64_t *value) {
  const mxArray *given = option(options, name);
  if (given) *value = seed_argument(name, given);
}

void read_choice(const mxArray *options, const char *name, const choice *list, int32_t *value) {
  const mxArray *given = option(options, name);
  if (given) *value = choice_argument(name, given, list);
}

void read_flag(const mxArray *options, const char *name, int32_t *value) {
  const mxArray *given = option(options, name);
  if (given) *value = is_true(name, given);
}

const purlin_group *read_group(const mxArray *options) {
  const mxArray *given = option(options, "devices");
  const purlin_context *members[MAX_DEVICES + 1];
  purlin_group *group = NULL;
  purlin_status status;
  char text[1024];
  int place = 0, length = 0;
  size_t count, k;
  if (!given) return NULL;
  count = mxGetNumberOfElements(given);
  if (!mxIsDouble(given) || mxIsComplex(given) || mxIsSparse(given) || count > MAX_DEVICES)
    fail("invalidArgument", "devices: is not a list of at most %d ordinals", (int)MAX_DEVICES);
  if (count == 0) return NULL;
  members[0] = gateway_context();
  for (k = 0; k < count; k++) {
    double device = ((const double *)mxGetData(given))[k];
    if (!(device == floor(device) && device >= 0 && device <= INT32_MAX))
      fail("invalidArgument", "devices: has %g, which is no ordinal", device);
    members[k + 1] = temporary_context(another_context((int32_t)device));
  }
  status = purlin_group_create((int64_t)count + 1, members, NULL, &group);
  if (status != PURLIN_SUCCESS) {
    /* The first member is the context in use, which is none of the devices. */
    const char *message = purlin_last_error_message();
    if (sscanf(message, "contexts[%d]%n", &place, &length) == 1 && length > 0) {
      (void)snprintf(text, sizeof text, "devices[%d]%s", place - 1, message + length);
      message = text;
    }
    fail_with(status, message);
  }
  return temporary_group(group);
}
