/* Errors and the handles that must not outlive a command. */
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
  forget_functions();
}

void release_source(void) {
  (void)!purlin_source_destroy(source);
  source = NULL;
}

/* Does not return; its callers rely on that. */
void fail(const char *what, const char *format, ...) {
  static char identifier[64], text[1024];
  va_list list;
  va_start(list, format);
  (void)vsnprintf(text, sizeof text, format, list);
  va_end(list);
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

/* The word of a message of the library before a number that is an index, all of which the library counts from 0: one for
 * a part of an argument, or an argument that is itself an index. NULL without such a number. */
static const char *word_of_index(const char *message) {
  static const char *const words[] = {"core ", "cores ", "bond ", "bonds ", "site ", "sites ", "tuple ", "element ",
    "elements ", "entry ", "index ", "term ", "operator ", "train ", "view ", "voxel ", "pixel ", "tensor ",
    "tensors from ", "vector ", "pair ", "row ", "rows ", "column ", "vertex ", "component ", "feature ", "number ",
    "mode ", "axis ", "not finite in ", "x[", "y[", "cut: is ", "centre: is ", "first: is ", "last: is ", "bond: is ",
    "site: is ", "k: is "};
  const char *at;
  size_t i, length;
  if (strstr(message, "from 0)")) return NULL;
  for (i = 0; i < sizeof words / sizeof words[0]; i++) {
    length = strlen(words[i]);
    for (at = strstr(message, words[i]); at; at = strstr(at + length, words[i])) {
      const char *number = at + length + (at[length] == '-');
      if (at > message && ((at[-1] >= 'a' && at[-1] <= 'z') || at[-1] == '_')) continue;
      if (*number >= '0' && *number <= '9') return words[i];
    }
  }
  return NULL;
}

/* Writes a message with its indices counted from one, if it is one of those below as a whole: each % is an index, and a 0 the
 * first index. Other messages may speak of indices, sizes and values in one sentence. Fortran has the same list, and a test
 * compares both with the library's calls. */
static int is_counted_from_one(const char *message, char *out, size_t size) {
  static const char *const forms[] = {
    "bond: is %, outside 0 to %", "cut: is %, outside 0 to %", "k: is %, outside 0 to %", "site: is %, outside 0 to %",
    "first: is %, outside 0 to %", "last: is %, outside 0 to %", "centre: is %, outside 0 to %",
    "sites: element % is %, outside 0 to %", "views: element % is %, outside 0 to %",
    "rows: element % is %, outside 0 to %", "cols: element % is %, outside 0 to %",
    "views: element % is %, which was pushed before", "views: name view % twice", "rows: elements % and % are both %",
    "cols: elements % and % are both %", "first, last: are % and %, not in order from 0 to %"};
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

/* The library's names of arguments that are called otherwise in MATLAB. */
static const char *renamed(const char *message) {
  static const struct { const char *from, *to; } names[] = {
    {"options->start:", "start:"}, {"group:", "devices:"}};
  static char text[1024];
  int count = 0, length = 0;
  /* The first context of the group is the one in use; the others are the devices that the user gave. */
  if (sscanf(message, "group: has %d contexts on the CPU: %n", &count, &length) == 1 && length > 0) {
    (void)snprintf(text, sizeof text, "devices: has %d, the context in use is on the CPU: %s", count - 1, message + length);
    return text;
  }
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    if (strncmp(message, names[i].from, strlen(names[i].from)) == 0) {
      (void)snprintf(text, sizeof text, "%s%s", names[i].to, message + strlen(names[i].from));
      return text;
    }
  return message;
}

void fail_with(purlin_status status, const char *message) {
  message = renamed(message);
  /* A message about a file has the numbers of its lines, pages and entries, and begins with its name. */
  const char *word = status == PURLIN_ERROR_IO ? NULL : word_of_index(message);
  size_t length = word ? strlen(word) : 0;
  char shifted[256];
  if (status != PURLIN_ERROR_IO && is_counted_from_one(message, shifted, sizeof shifted))
    fail(name_of(status), "%s", shifted);
  if (!word || strstr(message, "(counted from 0)"))
    fail(name_of(status), "%s", message);
  else if (!strstr(message, "outside 1 to "))
    fail(name_of(status), "%s (counted from 0)", message);
  else if (word[length - 1] == ' ' && !strstr(word, ": is"))
    /* The value and its range are from 1, its place is not. */
    fail(name_of(status), "%s (%.*s counted from 0)", message, (int)(length - 1), word);
  else
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
