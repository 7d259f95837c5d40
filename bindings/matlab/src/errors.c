/* Errors and the handles that must not outlive a command. */
#include <ctype.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gateway.h"

#define MAX_TEMPORARIES 64
/* A command may take long lists of trains. */
#define MAX_TRAINS 4096

static purlin_tensor *tensors[MAX_TEMPORARIES];
static purlin_matrix *matrices[MAX_TEMPORARIES];
static int tensor_count, matrix_count;
static purlin_tt *trains[MAX_TRAINS];
static purlin_tt_matrix *train_matrices[MAX_TEMPORARIES];
static int train_count, train_matrix_count;
/* The sinks of both parts of a matrix. */
static purlin_sink *sinks[2];
static int sink_count;
#define KEPT(name, type) static purlin_##type *name;
SINGLE_OBJECTS(KEPT)
#undef KEPT
/* Of devices that are added to a call, or to an object, which keeps them. */
static purlin_context *added[MAX_DEVICES];
static int added_count;
/* Of the calls of MATLAB's functions, and of the running watch. */
static void (*released[2])(void);
/* Starts of the library's messages about arguments of the command, and those in MATLAB: a name and text `behind` it. */
static struct { char from[32]; const char *to, *behind; } called[24];
static size_t called_count;

void release_temporaries(void) {
  while (tensor_count > 0) (void)!purlin_tensor_destroy(tensors[--tensor_count]);
  while (matrix_count > 0) (void)!purlin_matrix_destroy(matrices[--matrix_count]);
  while (train_count > 0) (void)!purlin_tt_destroy(trains[--train_count]);
  while (train_matrix_count > 0) (void)!purlin_tt_matrix_destroy(train_matrices[--train_matrix_count]);
  while (sink_count > 0) (void)!purlin_sink_destroy(sinks[--sink_count]);
#define DESTROYED(name, type) \
  (void)!purlin_##type##_destroy(name); \
  name = NULL;
  SINGLE_OBJECTS(DESTROYED)
#undef DESTROYED
  while (added_count > 0) (void)!purlin_context_destroy(added[--added_count]);
  called_count = 0;
  for (size_t k = 0; k < sizeof released / sizeof *released; k++)
    if (released[k]) released[k]();
}

void at_release(void (*what)(void)) {
  size_t k = 0;
  while (k < sizeof released / sizeof *released && released[k] && released[k] != what) k++;
  if (k == sizeof released / sizeof *released) fail("internal", "purlin_mex: too many functions at a release");
  released[k] = what;
}

void name_argument(const char *library, const char *name) {
  if (called_count == sizeof called / sizeof *called) return;
  (void)snprintf(called[called_count].from, sizeof called->from, "%s:", library);
  called[called_count].behind = ":";
  called[called_count++].to = name;
}

void reword(const char *from, const char *to) {
  if (called_count == sizeof called / sizeof *called) return;
  (void)snprintf(called[called_count].from, sizeof called->from, "%s", from);
  called[called_count].behind = "";
  called[called_count++].to = to;
}

void name_capital(const char *name) {
  const char small[2] = {(char)tolower((unsigned char)name[0]), '\0'};
  if (isupper((unsigned char)name[0]) && !name[1]) name_argument(small, name);
}

void release_source(void) {
  (void)!purlin_source_destroy(source);
  source = NULL;
}

void raise_exception(void) {
  if (!has_exception()) return;
  release_temporaries();
  throw_again();
}

/* Does not return; its callers rely on that. */
void fail(const char *what, const char *format, ...) {
  static char identifier[64], text[1280];
  va_list list;
  va_start(list, format);
  (void)vsnprintf(text, sizeof text, format, list);
  va_end(list);
  raise_exception();
  (void)snprintf(identifier, sizeof identifier, "purlin:%s", what);
  release_temporaries();
  mexErrMsgIdAndTxt(identifier, "%s", text);
}

/* The part of the identifier after `purlin:` for a status. */
static const char *name_of(purlin_status status) {
  static const struct { purlin_status status; const char *what; } names[] = {
    {PURLIN_ERROR_INVALID_ARGUMENT, "invalidArgument"}, {PURLIN_ERROR_INVALID_HANDLE, "invalidHandle"},
    {PURLIN_ERROR_BUSY, "busy"}, {PURLIN_ERROR_OUT_OF_MEMORY, "outOfMemory"},
    {PURLIN_ERROR_OUT_OF_DEVICE_MEMORY, "outOfDeviceMemory"}, {PURLIN_ERROR_NO_CONVERGENCE, "noConvergence"},
    {PURLIN_ERROR_CANCELLED, "cancelled"}, {PURLIN_ERROR_NO_DEVICE, "noDevice"}, {PURLIN_ERROR_CUDA, "cuda"},
    {PURLIN_ERROR_NOT_SUPPORTED, "notSupported"}, {PURLIN_ERROR_NUMERICAL, "numerical"}, {PURLIN_ERROR_IO, "io"},
    {PURLIN_ERROR_FORKED, "forked"}, {PURLIN_ERROR_INTERNAL, "internal"},
  };
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    if (names[i].status == status) return names[i].what;
  return "internal";
}

/* Writes a message about an index that there is not with its numbers counted from 1, if it is one of those below as a whole: each
 * % is an index, and a 0 the first index. Fortran has the same list, and a test compares both with the library's calls. */
static int is_of_an_index(const char *message, char *out, size_t size) {
  static const char *const forms[] = {
    "bond: is %, outside 0 to %", "cut: is %, outside 0 to %", "k: is %, outside 0 to %", "sites: is %, outside 0 to %",
    "first: is %, outside 0 to %", "last: is %, outside 0 to %", "centre: is %, outside 0 to %",
    "sites: element % is %, outside 0 to %", "views: element % is %, outside 0 to %",
    "rows: element % is %, outside 0 to %", "cols: element % is %, outside 0 to %",
    "views: element % is %, which was pushed before", "views: name view % twice", "rows: elements % and % are both %",
    "cols: elements % and % are both %", "first, last: are % and %, not in order from 0 to %",
    "which: is %, outside 0 to %", "indices: element % is %, outside 0 to %",
    "indices: tuple %: element % is %, outside 0 to %"};
  for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
    const char *form = forms[i], *from = message;
    char *to = out, *end;
    for (; *form && (size_t)(to - out) + 24 < size; form++) {
      if (*form == '%') {
        if ((*from < '0' || *from > '9') && *from != '-') break;
        long long number = strtoll(from, &end, 10);
        if (end == from || number > LLONG_MAX - 1) break;
        to += snprintf(to, 24, "%lld", number + 1);
        from = end;
      } else if (*form == *from) {
        *to++ = *form == '0' ? '1' : *from;
        from++;
      } else {
        break;
      }
    }
    *to = '\0';
    if (!*form && !*from) return 1;
  }
  return 0;
}

/* Whether an index begins here, and its end. A number with a fraction is none, and a part of a name of a file is none. */
static int is_index(const char *at, long long *index, const char **end) {
  char *behind;
  const char *digits = at + (*at == '-');
  if (*digits < '0' || *digits > '9') return 0;
  *index = strtoll(at, &behind, 10);
  *end = behind;
  if (*behind == '.') behind++;
  return *index < LLONG_MAX && (*behind == '\0' || strchr(" ,:;)]", *behind) != NULL);
}

/* The length of a word of the library's messages that begins here and stands directly before an index; 0 for none. Behind one
 * that `is_plural` a second index may follow. */
static size_t word_of_index(const char *message, const char *at, int *is_plural) {
  static const char *const words[] = {"core", "bond", "site", "tuple", "element", "entry", "index", "term", "operator", "train",
    "view", "voxel", "pixel", "tensor", "vector", "pair", "row", "column", "vertex", "component", "feature", "sample", "number",
    "mode", "axis", "block", "x[", "y[", "cut: is"};
  static const char *const plurals[] = {"cores", "bonds", "sites", "elements", "rows", "columns", "tensors from"};
  const size_t count = sizeof words / sizeof words[0], all = count + sizeof plurals / sizeof plurals[0];
  long long index;
  const char *end;
  if (at > message && ((at[-1] >= 'a' && at[-1] <= 'z') || at[-1] == '_')) return 0;
  for (size_t i = 0; i < all; i++) {
    const char *word = i < count ? words[i] : plurals[i - count];
    size_t length = strlen(word);
    if (strncmp(at, word, length) != 0) continue;
    if (word[length - 1] != '[' && at[length++] != ' ') continue;
    *is_plural = i >= count;
    if (is_index(at + length, &index, &end)) return length;
  }
  return 0;
}

/* Writes a text of the library with its indices counted from 1: those behind words, and those of a list behind "at". The
 * library counts them from 0, and says so in some texts. Fortran has the same words, and a test compares them. */
static void count_from_one(const char *text, char *out, size_t size) {
  const char *from = text, *end, *const last = out + size - 24;
  int is_plural = 0, is_list = 0;
  char *to = out;
  long long index;
  size_t length;
  while (*from && to < last) {
    if (strncmp(from, " (from 0)", 9) == 0) {
      from += 9;
      continue;
    }
    if (strncmp(from, " at [", 5) == 0) is_list = 1;
    if (*from == ']') is_list = 0;
    length = word_of_index(text, from, &is_plural);
    if (length == 0 && !(is_list && from > text && strchr("[ ", from[-1]) && is_index(from, &index, &end))) {
      *to++ = *from++;
      continue;
    }
    for (; length > 0 && to < last; length--) *to++ = *from++;
    while (to < last && is_index(from, &index, &end)) {
      to += snprintf(to, 24, "%lld", index + 1);
      from = end;
      length = strncmp(from, " to ", 4) == 0 ? 4 : strncmp(from, " and ", 5) == 0 ? 5 : 0;
      if (!is_plural || length == 0 || !is_index(from + length, &index, &end)) break;
      for (; length > 0 && to < last; length--) *to++ = *from++;
      is_plural = 0;
    }
    is_plural = 0;
  }
  *to = '\0';
}

const char *counted_from_one(const char *text) {
  static char counted[1280];
  if (!is_of_an_index(text, counted, sizeof counted)) count_from_one(text, counted, sizeof counted);
  return counted;
}

/* The library's names of arguments that are called otherwise in MATLAB. */
static const char *renamed(const char *message) {
  static const struct { const char *from, *to; } names[] = {
    {"options->start:", "start"}, {"group:", "devices"}, {"graph:", "W"}};
  /* Words before the name of an argument, which say the status. */
  static const char *const statuses[] = {"numerical failure: ", "not supported: ", "no convergence: "};
  static char text[1280];
  int count = 0, length = 0;
  size_t before = 0;
  /* The first context of the group is the one in use; the others are the devices that the user gave. */
  if (sscanf(message, "group: has %d contexts on the CPU: %n", &count, &length) == 1 && length > 0) {
    (void)snprintf(text, sizeof text, "devices: has %d, the context in use is on the CPU: %s", count - 1, message + length);
    return text;
  }
  for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; i++)
    if (strncmp(message, statuses[i], strlen(statuses[i])) == 0) before = strlen(statuses[i]);
  const size_t all = sizeof names / sizeof names[0];
  for (size_t i = 0; i < all + called_count; i++) {
    const char *from = i < all ? names[i].from : called[i - all].from, *to = i < all ? names[i].to : called[i - all].to;
    const char *behind = i < all ? ":" : called[i - all].behind;
    if (strncmp(message + before, from, strlen(from)) != 0) continue;
    (void)snprintf(text, sizeof text, "%.*s%s%s%s", (int)before, message, to, behind, message + before + strlen(from));
    return text;
  }
  return message;
}

void fail_with(purlin_status status, const char *message) {
  message = renamed(message);
  /* A message about a file has the numbers of its lines, pages and entries, and begins with its name. */
  if (status != PURLIN_ERROR_IO && strncmp(message, "restart_path: ", 14) != 0) message = counted_from_one(message);
  fail(name_of(status), "%s", message);
}

void check(purlin_status status) {
  if (status != PURLIN_SUCCESS) fail_with(status, purlin_last_error_message());
}

void check_and_destroy(purlin_status status, purlin_stream *stream) {
  char text[512];
  if (status == PURLIN_SUCCESS) {
    check(purlin_stream_destroy(stream));
    return;
  }
  /* Destroying clears the library's last error. */
  (void)snprintf(text, sizeof text, "%s", purlin_last_error_message());
  (void)!purlin_stream_destroy(stream);
  fail_with(status, text);
}

purlin_tensor *temporary(purlin_tensor *tensor) {
  if (tensor_count == MAX_TEMPORARIES) {
    (void)!purlin_tensor_destroy(tensor);
    fail("internal", "more than %d tensors in one command", MAX_TEMPORARIES);
  }
  tensors[tensor_count++] = tensor;
  return tensor;
}

purlin_matrix *temporary_matrix(purlin_matrix *matrix) {
  if (matrix_count == MAX_TEMPORARIES) {
    (void)!purlin_matrix_destroy(matrix);
    fail("internal", "more than %d matrices in one command", MAX_TEMPORARIES);
  }
  matrices[matrix_count++] = matrix;
  return matrix;
}

purlin_tt *temporary_train(purlin_tt *tt) {
  if (train_count == MAX_TRAINS) {
    (void)!purlin_tt_destroy(tt);
    fail("notSupported", "more than %d trains that are cells in one command: make them purlin.TT", MAX_TRAINS);
  }
  trains[train_count++] = tt;
  return tt;
}

purlin_tt_matrix *temporary_train_matrix(purlin_tt_matrix *matrix) {
  if (train_matrix_count == MAX_TEMPORARIES) {
    (void)!purlin_tt_matrix_destroy(matrix);
    fail("internal", "more than %d TT-matrices in one command", MAX_TEMPORARIES);
  }
  train_matrices[train_matrix_count++] = matrix;
  return matrix;
}

purlin_sink *temporary_sink(purlin_sink *made) {
  if (sink_count == 2) {
    (void)!purlin_sink_destroy(made);
    fail("internal", "more than 2 sinks in one command");
  }
  return sinks[sink_count++] = made;
}

#define KEEPING(name, type) \
  purlin_##type *temporary_##name(purlin_##type *made) { return name = made; }
SINGLE_OBJECTS(KEEPING)
#undef KEEPING

purlin_context *temporary_context(purlin_context *made) {
  if (added_count == MAX_DEVICES) {
    (void)!purlin_context_destroy(made);
    fail("notSupported", "more than %d further devices in one command", MAX_DEVICES);
  }
  return added[added_count++] = made;
}

void forget(purlin_tensor *tensor) {
  for (int i = 0; i < tensor_count; i++)
    if (tensors[i] == tensor) tensors[i] = tensors[--tensor_count];
}

void forget_matrix(purlin_matrix *matrix) {
  for (int i = 0; i < matrix_count; i++)
    if (matrices[i] == matrix) matrices[i] = matrices[--matrix_count];
}

void forget_train(purlin_tt *tt) {
  for (int i = 0; i < train_count; i++)
    if (trains[i] == tt) trains[i] = trains[--train_count];
}

void forget_train_matrix(purlin_tt_matrix *matrix) {
  for (int i = 0; i < train_matrix_count; i++)
    if (train_matrices[i] == matrix) train_matrices[i] = train_matrices[--train_matrix_count];
}
