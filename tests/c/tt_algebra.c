/* Algebra of tensor trains against their entries, batches, and every refusal. */
#include "tt.h"

static purlin_context *context;

/* All entries of a train, the first index fastest. */
static void entries(const purlin_tt *tt, double *values, int64_t count) {
  purlin_tensor *t = vector_of(context, PURLIN_F64, count, values);
  OK(purlin_tt_full(context, NULL, tt, t));
  OK(purlin_tensor_destroy(t));
}

static void sums_and_products(void) {
  static made x, y;
  static double a[27], b[27], c[27];
  const double two[2] = {2, 0}, minus[2] = {-1, 0}, imaginary[2] = {0, 1};
  const int64_t index[3] = {2, 0, 1}, several[6] = {0, 0, 0, 2, 0, 1};
  const int64_t modes[3] = {3, 3, 3};
  double result[2], values[2];
  purlin_tt *z = NULL, *w = NULL;
  purlin_tt_matrix *one = NULL;
  purlin_tensor *t;
  int64_t exponent = 7, shape[4];
  purlin_tt_round_info info;
  int i;
  OK(purlin_tt_round_info_init(&info, sizeof info));
  make_train(context, &x, 3, 3, 2, 2, 1);
  make_train(context, &y, 3, 3, 3, 2, 2);
  entries(x.tt, a, 27);
  entries(y.tt, b, 27);
  CHECK(near(a[2 + 9], element(&x, index), 1e-14));
  OK(purlin_tt_element(context, NULL, x.tt, index, result));
  CHECK(near(result[0], a[2 + 9], 1e-14) && result[1] == 0);
  t = vector_of(context, PURLIN_F64, 2, values);
  OK(purlin_tt_elements(context, NULL, x.tt, 2, several, t));
  CHECK(near(values[0], a[0], 1e-14) && near(values[1], a[11], 1e-14));
  BAD_ARGUMENT("values: has dimensions [2], [1] are needed", purlin_tt_elements(context, NULL, x.tt, 1, several, t));
  BAD_ARGUMENT("values: ", purlin_tt_full(context, NULL, x.tt, t));
  OK(purlin_tensor_destroy(t));
#define COMPARE(call, expected)                                       \
  do {                                                                \
    OK(call);                                                         \
    entries(z, c, 27);                                                \
    for (i = 0; i < 27; i++) CHECK(near(c[i], (expected), 1e-13));    \
    OK(purlin_tt_destroy(z));                                         \
    z = NULL;                                                         \
  } while (0)
  COMPARE(purlin_tt_add(context, NULL, two, x.tt, minus, y.tt, &z), 2 * a[i] - b[i]);
  COMPARE(purlin_tt_scale(context, NULL, x.tt, two, 3, PURLIN_TT_SPREAD_EVEN, &z), 16 * a[i]);
  COMPARE(purlin_tt_conj(context, NULL, x.tt, &z), a[i]);
  COMPARE(purlin_tt_hadamard(context, NULL, x.tt, y.tt, &z), a[i] * b[i]);
  COMPARE(purlin_tt_reverse(context, NULL, x.tt, &z), a[i / 9 + 3 * (i / 3 % 3) + 9 * (i % 3)]);
  COMPARE(purlin_tt_rotate(context, NULL, x.tt, 1, &z), a[i / 9 + 3 * (i % 3) + 9 * (i / 3 % 3)]);
  COMPARE(purlin_tt_cast(context, NULL, x.tt, PURLIN_F64, &z), a[i]);
  OK(purlin_tt_matrix_identity(context, PURLIN_F64, 3, modes, &one));
  COMPARE(purlin_tt_apply(context, NULL, one, x.tt, &z), a[i]);
  OK(purlin_tt_to_open(context, NULL, x.tt, &w));
  COMPARE(purlin_tt_round(context, NULL, w, NULL, &z, NULL, NULL), a[i]);
  COMPARE(purlin_tt_apply_round(context, NULL, one, w, NULL, &z, NULL), a[i]);
  COMPARE(purlin_tt_hadamard_round(context, NULL, w, w, NULL, &z, &info), a[i] * a[i]);
  CHECK(info.error <= 1e-12 && info.max_rank >= 1 && info.max_rank <= 3);
  COMPARE(purlin_tt_zeros(context, PURLIN_F64, PURLIN_HOST, 3, modes, &z), 0);
  COMPARE(purlin_tt_canonicalize(context, NULL, w, 1, &exponent, &z), a[i]);
  CHECK(exponent == 0);
  OK(purlin_tt_shape(w, 3, NULL, shape));
  CHECK(shape[0] == 1 && shape[3] == 1);
  UNSUPPORTED("", purlin_tt_round(context, NULL, x.tt, NULL, &z, NULL, NULL));
  UNSUPPORTED("product: is cyclic", purlin_tt_hadamard_round(context, NULL, x.tt, w, NULL, &z, NULL));
  BAD_HANDLE("y: is NULL", purlin_tt_hadamard_round(context, NULL, w, NULL, NULL, &z, NULL));
  BAD_ARGUMENT("tt: is NULL", purlin_tt_hadamard_round(context, NULL, w, w, NULL, NULL, NULL));
  UNSUPPORTED("", purlin_tt_canonicalize(context, NULL, x.tt, 0, &exponent, &z));
  BAD_ARGUMENT("alpha", purlin_tt_add(context, NULL, imaginary, x.tt, two, y.tt, &z));
  BAD_ARGUMENT("alpha: is NULL", purlin_tt_add(context, NULL, NULL, x.tt, two, y.tt, &z));
  BAD_ARGUMENT("spread: is 3", purlin_tt_scale(context, NULL, x.tt, two, 0, 3, &z));
  BAD_ARGUMENT("first: is 3", purlin_tt_rotate(context, NULL, x.tt, 3, &z));
  BAD_ARGUMENT("first: is -1", purlin_tt_rotate(context, NULL, x.tt, -1, &z));
  BAD_ARGUMENT("centre: is 3", purlin_tt_canonicalize(context, NULL, w, 3, &exponent, &z));
  BAD_ARGUMENT("exponent: is NULL", purlin_tt_canonicalize(context, NULL, w, 1, NULL, &z));
  BAD_ARGUMENT("tt: is NULL", purlin_tt_conj(context, NULL, x.tt, NULL));
  BAD_HANDLE("y: is NULL", purlin_tt_hadamard(context, NULL, x.tt, NULL, &z));
  BAD_HANDLE("h: is NULL", purlin_tt_apply(context, NULL, NULL, x.tt, &z));
  BAD_ARGUMENT("indices: is NULL", purlin_tt_element(context, NULL, x.tt, NULL, result));
  CHECK(z == NULL);
  OK(purlin_tt_matrix_destroy(one));
  OK(purlin_tt_destroy(w));
  OK(purlin_tt_destroy(y.tt));
  OK(purlin_tt_destroy(x.tt));
}

/* 1 / (i + j + k + l), which has small ranks. */
static void truncation(void) {
  static double a[4096], c[4096], dropped[3];
  const int64_t modes[4] = {8, 8, 8, 8}, wrong[4] = {8, 8, 8, 7};
  purlin_tt_round_options o;
  purlin_tt_round_info info;
  purlin_tt *z = NULL, *w = NULL;
  purlin_tensor *t = vector_of(context, PURLIN_F64, 4096, a), *d = vector_of(context, PURLIN_F64, 3, dropped);
  double error = 0, norm = 0;
  int i;
  for (i = 0; i < 4096; i++) a[i] = 1.0 / (4 + i % 8 + i / 8 % 8 + i / 64 % 8 + i / 512);
  OK(purlin_tt_round_options_init(&o, sizeof o));
  OK(purlin_tt_round_info_init(&info, sizeof info));
  o.epsilon = 1e-5;
  OK(purlin_tt_svd(context, NULL, t, 4, modes, &o, &z, d, &info));
  entries(z, c, 4096);
  for (i = 0; i < 4096; i++) {
    error += pow(c[i] - a[i], 2);
    norm += a[i] * a[i];
  }
  CHECK(sqrt(error / norm) <= 1e-5 && sqrt(error / norm) <= 1.01 * info.error && info.error <= 1e-5 && info.max_rank < 8);
  CHECK(near(info.log_norm, 0.5 * log(norm), 1e-12) && dropped[0] <= info.error && dropped[0] >= 0);
  o.epsilon = 0;
  o.max_rank = 2;
  OK(purlin_tt_round(context, NULL, z, &o, &w, d, &info));
  CHECK(info.max_rank == 2 && info.error > 0);
  OK(purlin_tt_destroy(w));
  w = NULL;
  o.epsilon = -1;
  BAD_ARGUMENT("epsilon: is -1", purlin_tt_round(context, NULL, z, &o, &w, NULL, NULL));
  o.epsilon = 0;
  o.absolute = 2;
  BAD_ARGUMENT("absolute: is 2", purlin_tt_round(context, NULL, z, &o, &w, NULL, NULL));
  o.absolute = 1;
  BAD_ARGUMENT("absolute: is set without epsilon", purlin_tt_round(context, NULL, z, &o, &w, NULL, NULL));
  BAD_ARGUMENT("absolute: is set without epsilon", purlin_tt_hadamard_round(context, NULL, z, z, &o, &w, NULL));
  o.absolute = 0;
  o.reserved = 1;
  BAD_ARGUMENT("reserved: is 1, 0 is needed", purlin_tt_round(context, NULL, z, &o, &w, NULL, NULL));
  o.reserved = 0;
  o.epsilon = INFINITY;
  BAD_ARGUMENT("epsilon: is inf, a finite number of at least 0 is needed", purlin_tt_round(context, NULL, z, &o, &w, NULL, NULL));
  o.epsilon = 0;
  o.max_rank = -1;
  BAD_ARGUMENT("max_rank: is -1", purlin_tt_round(context, NULL, z, &o, &w, NULL, NULL));
  BAD_ARGUMENT("discarded: has dimensions [4096], [3] are needed", purlin_tt_round(context, NULL, z, NULL, &w, t, NULL));
  BAD_ARGUMENT("", purlin_tt_svd(context, NULL, t, 4, wrong, NULL, &w, NULL, NULL));
  BAD_ARGUMENT("modes: is NULL", purlin_tt_svd(context, NULL, t, 4, NULL, NULL, &w, NULL, NULL));
  BAD_ARGUMENT("options: is NULL", purlin_tt_round_options_init(NULL, sizeof o));
  BAD_ARGUMENT("info: struct_size is 1", purlin_tt_round_info_init(&info, 1));
  CHECK(w == NULL);
  OK(purlin_tensor_destroy(d));
  OK(purlin_tensor_destroy(t));
  OK(purlin_tt_destroy(z));
}

static void creation(void) {
  const int64_t modes[3] = {2, 2, 2}, ranks[4] = {1, 2, 2, 1};
  double vectors[6] = {1, 2, 3, 4, 5, 6}, c[8], d[8];
  purlin_tt *x = NULL, *y = NULL;
  purlin_tensor *t = vector_of(context, PURLIN_F64, 6, vectors), *shorter = vector_of(context, PURLIN_F64, 5, vectors);
  int i;
  OK(purlin_tt_random(context, PURLIN_F64, PURLIN_HOST, 3, modes, ranks, 9, &x));
  OK(purlin_tt_random(context, PURLIN_F64, PURLIN_HOST, 3, modes, ranks, 9, &y));
  entries(x, c, 8);
  entries(y, d, 8);
  CHECK(memcmp(c, d, sizeof c) == 0 && c[0] != 0);
  OK(purlin_tt_destroy(y));
  OK(purlin_tt_destroy(x));
  OK(purlin_tt_ones(context, PURLIN_F64, PURLIN_HOST, 3, modes, &x));
  entries(x, c, 8);
  for (i = 0; i < 8; i++) CHECK(c[i] == 1);
  OK(purlin_tt_destroy(x));
  OK(purlin_tt_product_state(context, 3, modes, t, &x));
  entries(x, c, 8);
  CHECK(near(c[5], 2 * 3 * 6, 1e-14));
  OK(purlin_tt_destroy(x));
  BAD_ARGUMENT("vectors: has 5 elements, 6 are needed", purlin_tt_product_state(context, 3, modes, shorter, &x));
  BAD_ARGUMENT("dtype: is U8", purlin_tt_ones(context, PURLIN_U8, PURLIN_HOST, 3, modes, &x));
  BAD_ARGUMENT("dtype: is U8", purlin_tt_zeros(context, PURLIN_U8, PURLIN_HOST, 3, modes, &x));
  BAD_ARGUMENT("tt: is NULL", purlin_tt_zeros(context, PURLIN_F64, PURLIN_HOST, 3, modes, NULL));
  BAD_ARGUMENT("modes: is NULL", purlin_tt_ones(context, PURLIN_F64, PURLIN_HOST, 3, NULL, &x));
  BAD_ARGUMENT("ranks: is NULL", purlin_tt_random(context, PURLIN_F64, PURLIN_HOST, 3, modes, NULL, 9, &x));
  if (is_on_cpu()) UNSUPPORTED("location", purlin_tt_random(context, PURLIN_F64, PURLIN_DEVICE, 3, modes, ranks, 9, &x));
  OK(purlin_tensor_destroy(shorter));
  OK(purlin_tensor_destroy(t));
}

static void batches(void) {
  enum { COUNT = 5 };
  static made x[COUNT];
  const purlin_tt *list[COUNT], *hole[2];
  purlin_tt_contraction *c = NULL;
  purlin_tt_contraction_info info;
  double values[COUNT], gram[COUNT * COUNT];
  int64_t exponents[COUNT];
  purlin_tensor *v = vector_of(context, PURLIN_F64, COUNT, values), *e = vector_of(context, PURLIN_I64, COUNT, exponents);
  purlin_tensor *g = array2(context, PURLIN_F64, COUNT, COUNT, gram);
  int i, j;
  OK(purlin_tt_contraction_info_init(&info, sizeof info));
  OK(purlin_tt_contraction_create(context, NULL, &c));
  for (i = 0; i < COUNT; i++) {
    make_train(context, &x[i], 4, 2, 2 + i, 1, 20 + (uint64_t)i);
    list[i] = x[i].tt;
  }
  OK(purlin_tt_inner_batch(c, NULL, COUNT, list, list, v, NULL, &info));
  for (i = 0; i < COUNT; i++) CHECK(near(values[i], slow_inner(&x[i], &x[i]), 1e-12));
  OK(purlin_tt_inner_batch(c, NULL, COUNT, list, list, v, e, NULL));
  for (i = 0; i < COUNT; i++) CHECK(near(ldexp(values[i], (int)exponents[i]), slow_inner(&x[i], &x[i]), 1e-12));
  OK(purlin_tt_gram(c, NULL, COUNT, list, 0, NULL, g, NULL, NULL));
  for (i = 0; i < COUNT; i++)
    for (j = 0; j < COUNT; j++) CHECK(near(gram[i + COUNT * j], slow_inner(&x[i], &x[j]), 1e-12));
  OK(purlin_tt_gram(c, NULL, COUNT, list, COUNT, list, g, NULL, &info));
  CHECK(near(gram[1], slow_inner(&x[1], &x[0]), 1e-12));
  hole[0] = x[0].tt;
  hole[1] = NULL;
  BAD_HANDLE("x[1]: is NULL", purlin_tt_gram(c, NULL, 2, hole, 0, NULL, g, NULL, NULL));
  BAD_ARGUMENT("values: has dimensions [5], [2] are needed", purlin_tt_inner_batch(c, NULL, 2, list, list, v, NULL, NULL));
  BAD_ARGUMENT("x: is NULL", purlin_tt_inner_batch(c, NULL, COUNT, NULL, list, v, NULL, NULL));
  BAD_ARGUMENT("count: is -1", purlin_tt_inner_batch(c, NULL, -1, list, list, v, NULL, NULL));
  BAD_ARGUMENT("values: is I64, F64 is needed", purlin_tt_inner_batch(c, NULL, COUNT, list, list, e, NULL, NULL));
  BAD_ARGUMENT("exponents: has dimensions", purlin_tt_gram(c, NULL, COUNT, list, 0, NULL, g, e, NULL));
  for (i = 0; i < COUNT; i++) OK(purlin_tt_destroy(x[i].tt));
  OK(purlin_tensor_destroy(g));
  OK(purlin_tensor_destroy(e));
  OK(purlin_tensor_destroy(v));
  OK(purlin_tt_contraction_destroy(c));
}

int main(void) {
  context = test_context(2);
  sums_and_products();
  truncation();
  creation();
  batches();
  OK(purlin_context_destroy(context));
  return finish();
}
