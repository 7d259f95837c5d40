/* Options of a contraction that its method or its trains cannot use, each refused by its name. */
#include "tt.h"

static purlin_context *context;

static purlin_tt_contraction_options fresh(int32_t method) {
  purlin_tt_contraction_options o;
  OK(purlin_tt_contraction_options_init(&o, sizeof o));
  o.method = method;
  return o;
}

/* Options that have no meaning for any train. */
static void with_any_train(void) {
  static const int32_t unblocked[] = {PURLIN_TT_METHOD_OPEN, PURLIN_TT_METHOD_FULL, PURLIN_TT_METHOD_REDUCED,
                                      PURLIN_TT_METHOD_HALVES, PURLIN_TT_METHOD_POWER};
  static const int32_t single[] = {PURLIN_TT_MATH_TF32, PURLIN_TT_MATH_TF32X3, PURLIN_TT_MATH_GEMM3M,
                                   PURLIN_TT_MATH_INT8X6};
  purlin_tt_contraction *made = NULL;
  purlin_tt_contraction_options o;
  size_t k;
  for (k = 0; k < COUNT(unblocked); k++) {
    o = fresh(unblocked[k]);
    o.block = 2;
    BAD_ARGUMENT("block: is 2", purlin_tt_contraction_create(context, &o, &made));
  }
  /* Products of a GPU. */
  for (k = 0; k < COUNT(single) && is_on_cpu(); k++) {
    o = fresh(PURLIN_TT_METHOD_AUTO);
    o.math = single[k];
    BAD_ARGUMENT("math: is", purlin_tt_contraction_create(context, &o, &made));
  }
  CHECK(made == NULL);
}

/* Options that are refused for open trains of three sites. */
static void with_open_trains(void) {
  static made x;
  purlin_tt_matrix *h = NULL;
  purlin_tt_contraction *c = NULL;
  double result[2];
  int way;
  make_train(context, &x, 3, 2, 2, 1, 9);
  OK(purlin_tt_matrix_ising(context, PURLIN_F64, 3, 0, 1.0, 0.5, &h));
  for (way = 0; way < 5; way++) {
    /* Inner products refuse the first three, operators all but the third. */
    static const int32_t method[] = {PURLIN_TT_METHOD_AUTO, PURLIN_TT_METHOD_POWER, PURLIN_TT_METHOD_HALVES,
                                        PURLIN_TT_METHOD_HALVES, PURLIN_TT_METHOD_AUTO};
    static const char *const name[] = {"cut: is 3", "method: is", "method: is", "method: is", "repeat: is 2"};
    purlin_tt_contraction_options o = fresh(method[way]);
    if (way == 0) o.cut = 3;
    if (way == 2 || way == 4) o.repeat = 2;
    OK(purlin_tt_contraction_create(context, &o, &c));
    if (way < 3) {
      BAD_ARGUMENT(name[way], purlin_tt_inner(c, NULL, x.tt, x.tt, result, NULL));
      BAD_ARGUMENT(name[way], purlin_tt_norm(c, NULL, x.tt, result, NULL));
    }
    if (way == 4) {
      UNSUPPORTED(name[way], purlin_tt_sandwich(c, NULL, x.tt, h, x.tt, result, NULL));
      UNSUPPORTED(name[way], purlin_tt_rayleigh(c, NULL, h, x.tt, result, NULL, NULL, NULL));
    } else if (way != 2) {
      BAD_ARGUMENT(name[way], purlin_tt_sandwich(c, NULL, x.tt, h, x.tt, result, NULL));
      BAD_ARGUMENT(name[way], purlin_tt_rayleigh(c, NULL, h, x.tt, result, NULL, NULL, NULL));
    }
    OK(purlin_tt_contraction_destroy(c));
  }
  OK(purlin_tt_matrix_destroy(h));
  OK(purlin_tt_destroy(x.tt));
}

int main(void) {
  context = test_context(1);
  with_any_train();
  with_open_trains();
  OK(purlin_context_destroy(context));
  return finish();
}
