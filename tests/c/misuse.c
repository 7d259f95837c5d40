/* Handles that are null, destroyed, foreign, of another type or invented are refused without touching memory. */
#include "check.h"

static int64_t dims[2] = {2, 3};
static double data[6];

/* Every function that takes a context refuses this one. */
static void bad_context(const char *text, purlin_context *c) {
  purlin_stream *stream = NULL;
  purlin_tensor *tensor = NULL;
  purlin_matrix *matrix = NULL;
  purlin_context_info info;
  int32_t rows[2] = {0, 0};
  OK(purlin_context_info_init(&info, sizeof info));
  BAD_HANDLE(text, purlin_context_properties(c, &info));
  BAD_HANDLE(text, purlin_context_set_log(c, PURLIN_LOG_OFF, NULL, NULL));
  BAD_HANDLE(text, purlin_context_cancel(c));
  BAD_HANDLE(text, purlin_stream_create(c, &stream));
  BAD_HANDLE(text, purlin_stream_wrap(c, 0, &stream));
  BAD_HANDLE(text, purlin_tensor_create(c, PURLIN_F64, PURLIN_HOST, 0, 2, dims, &tensor));
  BAD_HANDLE(text, purlin_tensor_borrow(c, PURLIN_F64, 0, 2, dims, NULL, data, &tensor));
  BAD_HANDLE(text, purlin_tensor_borrow_device(c, PURLIN_F64, 0, 2, dims, NULL, 64, &tensor));
  BAD_HANDLE(text, purlin_tensor_create_symmetric(c, PURLIN_F64, PURLIN_HOST, 0, 2, 2, 2, &tensor));
  BAD_HANDLE(text, purlin_tensor_borrow_symmetric(c, PURLIN_F64, 0, 2, 2, 2, 0, 0, data, &tensor));
  BAD_HANDLE(text, purlin_tensor_borrow_symmetric_device(c, PURLIN_F64, 0, 2, 2, 2, 0, 0, 64, &tensor));
  BAD_HANDLE(text, purlin_tensor_copy(c, NULL, NULL, NULL));
  BAD_HANDLE(text, purlin_matrix_create(c, PURLIN_F64, PURLIN_HOST, 0, 2, 3, &matrix));
  BAD_HANDLE(text, purlin_matrix_borrow(c, PURLIN_F64, 0, 2, 3, 2, data, &matrix));
  BAD_HANDLE(text, purlin_matrix_borrow_device(c, PURLIN_F64, 0, 2, 3, 2, 64, &matrix));
  BAD_HANDLE(text, purlin_matrix_borrow_csr(c, PURLIN_F64, 0, 1, 1, 0, PURLIN_I32, rows, PURLIN_I32, NULL, NULL, &matrix));
  BAD_HANDLE(text, purlin_matrix_borrow_csr_device(c, PURLIN_F64, 0, 1, 1, 0, PURLIN_I32, 64, PURLIN_I32, 0, 0, &matrix));
  BAD_HANDLE(text, purlin_matrix_copy_csr(c, PURLIN_F64, 0, 1, 1, 0, PURLIN_I32, rows, PURLIN_I32, NULL, NULL, &matrix));
  BAD_HANDLE(text, purlin_matrix_copy(c, NULL, NULL, NULL));
  if (c) BAD_HANDLE(text, purlin_context_destroy(c));
  CHECK(!stream && !tensor && !matrix);
}

static void bad_tensor(const char *text, const purlin_context *context, purlin_tensor *t) {
  purlin_tensor *good = array2(context, PURLIN_F64, 2, 3, data);
  purlin_tensor_info info;
  void *capsule = NULL;
  OK(purlin_tensor_info_init(&info, sizeof info));
  BAD_HANDLE(text, purlin_tensor_properties(t, &info));
  BAD_HANDLE(text, purlin_tensor_shape(t, 2, dims, NULL));
  BAD_HANDLE(text, purlin_tensor_to_dlpack(t, &capsule));
  BAD_HANDLE(text, purlin_tensor_copy(context, NULL, t, good));
  BAD_HANDLE(text, purlin_tensor_copy(context, NULL, good, t));
  if (t) BAD_HANDLE(text, purlin_tensor_destroy(t));
  CHECK(!capsule);
  OK(purlin_tensor_destroy(good));
}

static void bad_matrix(const char *text, const purlin_context *context, purlin_matrix *m) {
  purlin_matrix *good = NULL;
  purlin_matrix_info info;
  OK(purlin_matrix_borrow(context, PURLIN_F64, 0, 2, 3, 2, data, &good));
  OK(purlin_matrix_info_init(&info, sizeof info));
  BAD_HANDLE(text, purlin_matrix_properties(m, &info));
  BAD_HANDLE(text, purlin_matrix_copy(context, NULL, m, good));
  BAD_HANDLE(text, purlin_matrix_copy(context, NULL, good, m));
  if (m) BAD_HANDLE(text, purlin_matrix_destroy(m));
  OK(purlin_matrix_destroy(good));
}

static void bad_stream(const char *text, const purlin_context *context, purlin_stream *s) {
  double a[6] = {0}, b[6];
  purlin_tensor *from = array2(context, PURLIN_F64, 2, 3, a), *to = array2(context, PURLIN_F64, 2, 3, b);
  BAD_HANDLE(text, purlin_stream_synchronize(s));
  if (s) {
    BAD_HANDLE(text, purlin_tensor_copy(context, s, from, to));
    BAD_HANDLE(text, purlin_stream_destroy(s));
  }
  OK(purlin_tensor_destroy(from));
  OK(purlin_tensor_destroy(to));
}

/* A pointer to an object of the caller's, of every alignment. */
static void foreign_pointers(purlin_context *context) {
  static char memory[64];
  int k;
  for (k = 0; k < 16; k++) {
    bad_context("context: is not a handle", (purlin_context *)(void *)(memory + k));
    bad_tensor("is not a handle", context, (purlin_tensor *)(void *)(memory + k));
    bad_matrix("is not a handle", context, (purlin_matrix *)(void *)(memory + k));
    bad_stream("is not a handle", context, (purlin_stream *)(void *)(memory + k));
  }
}

static void wrong_types(purlin_context *context) {
  purlin_tensor *t = array2(context, PURLIN_F64, 2, 3, data);
  purlin_matrix *m = NULL;
  purlin_stream *s = NULL;
  OK(purlin_matrix_create(context, PURLIN_F64, PURLIN_HOST, 0, 2, 3, &m));
  OK(purlin_stream_create(context, &s));
  bad_context("context: is a handle of another type", (purlin_context *)(void *)t);
  bad_context("context: is a handle of another type", (purlin_context *)(void *)m);
  bad_tensor("is a handle of another type", context, (purlin_tensor *)(void *)s);
  bad_tensor("is a handle of another type", context, (purlin_tensor *)(void *)context);
  bad_matrix("is a handle of another type", context, (purlin_matrix *)(void *)t);
  bad_stream("is a handle of another type", context, (purlin_stream *)(void *)m);
  OK(purlin_tensor_destroy(t));
  OK(purlin_matrix_destroy(m));
  OK(purlin_stream_destroy(s));
}

static void destroyed(purlin_context *context) {
  purlin_context *c = cpu_context(1);
  purlin_tensor *t = array2(context, PURLIN_F64, 2, 3, data), *next;
  purlin_matrix *m = NULL;
  purlin_stream *s = NULL;
  OK(purlin_matrix_create(context, PURLIN_F64, PURLIN_HOST, 0, 2, 3, &m));
  OK(purlin_stream_create(context, &s));
  OK(purlin_context_destroy(c));
  OK(purlin_tensor_destroy(t));
  OK(purlin_matrix_destroy(m));
  OK(purlin_stream_destroy(s));
  bad_context("context: was destroyed", c);
  bad_tensor("was destroyed", context, t);
  bad_matrix("was destroyed", context, m);
  bad_stream("was destroyed", context, s);
  /* The slot's next handle differs, and the old one stays invalid. */
  next = array2(context, PURLIN_F64, 2, 3, data);
  CHECK(next != t);
  BAD_HANDLE("was destroyed", purlin_tensor_destroy(t));
  OK(purlin_tensor_destroy(next));
  BAD_HANDLE("was destroyed", purlin_tensor_destroy(next));
}

/* Objects of a context work after its handle was destroyed, and any order of destruction works. */
static void orders_of_destruction(void) {
  int order;
  for (order = 0; order < 24; order++) {
    int left[4] = {0, 1, 2, 3}, k, choice = order;
    purlin_context *c = cpu_context(1);
    purlin_tensor *t = NULL;
    purlin_matrix *m = NULL;
    purlin_stream *s = NULL;
    purlin_tensor_info info;
    OK(purlin_tensor_create(c, PURLIN_F64, PURLIN_HOST, 0, 2, dims, &t));
    OK(purlin_matrix_create(c, PURLIN_F64, PURLIN_HOST, 0, 2, 3, &m));
    OK(purlin_stream_create(c, &s));
    for (k = 4; k > 0; k--) {
      int at = choice % k, which = left[at];
      choice /= k;
      left[at] = left[k - 1];
      if (which == 0) OK(purlin_context_destroy(c));
      if (which == 1) OK(purlin_tensor_destroy(t));
      if (which == 2) OK(purlin_matrix_destroy(m));
      if (which == 3) OK(purlin_stream_destroy(s));
      if (which == 0 && purlin_tensor_info_init(&info, sizeof info) == PURLIN_SUCCESS) {
        purlin_status found = purlin_tensor_properties(t, &info);
        CHECK(found == PURLIN_SUCCESS || found == PURLIN_ERROR_INVALID_HANDLE);
      }
      CHECK(purlin_live_handles() == 1 + k - 1);
    }
  }
}

/* Invented handles: any bits, and bits that look like a handle. Only a live one may be accepted. */
static void invented(const purlin_context *context) {
  uint64_t state = UINT64_C(0x9e3779b97f4a7c15);
  int64_t n = rounds(1000000, 20000), i, wrong = 0;
  purlin_tensor_info info;
  OK(purlin_tensor_info_init(&info, sizeof info));
  for (i = 0; i < n; i++) {
    uint64_t bits = draw(&state);
    purlin_status found = PURLIN_ERROR_INVALID_HANDLE;
    if (i % 2) bits = (bits % 6) << 56 | (bits >> 8) % 5 << 24 | (bits >> 16) % 4;
    if (bits == 0 || bits == (uint64_t)(uintptr_t)context) continue;
    switch (draw(&state) % 7) {
      case 0: found = purlin_tensor_properties((const purlin_tensor *)(uintptr_t)bits, &info); break;
      case 1: found = purlin_tensor_destroy((purlin_tensor *)(uintptr_t)bits); break;
      case 2: found = purlin_matrix_destroy((purlin_matrix *)(uintptr_t)bits); break;
      case 3: found = purlin_stream_synchronize((const purlin_stream *)(uintptr_t)bits); break;
      case 4: found = purlin_context_cancel((const purlin_context *)(uintptr_t)bits); break;
      case 5: found = purlin_stream_destroy((purlin_stream *)(uintptr_t)bits); break;
      default: found = purlin_context_destroy((purlin_context *)(uintptr_t)bits); break;
    }
    wrong += found != PURLIN_ERROR_INVALID_HANDLE;
  }
  CHECK(wrong == 0);
}

int main(void) {
  purlin_context *context = cpu_context(1);
  bad_context("context: is NULL", NULL);
  bad_tensor("is NULL", context, NULL);
  bad_matrix("is NULL", context, NULL);
  bad_stream("stream: is NULL", context, NULL);
  foreign_pointers(context);
  wrong_types(context);
  destroyed(context);
  orders_of_destruction();
  invented(context);
  CHECK(purlin_live_handles() == 1);
  OK(purlin_context_destroy(context));
  return finish();
}
