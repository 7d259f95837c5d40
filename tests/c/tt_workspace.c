/* The bytes of workspace that a plan reports and those that a limit is refused for are one number, on either backend. */
#include "tt.h"

static purlin_context *context;

static purlin_tt_contraction *contraction(int32_t method, int32_t kernel, int64_t limit) {
  purlin_tt_contraction_options o;
  purlin_tt_contraction *c = NULL;
  OK(purlin_tt_contraction_options_init(&o, sizeof o));
  o.method = method;
  o.kernel = kernel;
  o.workspace_limit = limit;
  OK(purlin_tt_contraction_create(context, &o, &c));
  return c;
}

/* The bytes that a refusal of `limit` names. */
static int64_t needed(int64_t limit) {
  char start[64];
  const char *text = purlin_last_error_message();
  sprintf(start, "workspace_limit: is %d, at least ", (int)limit);
  CHECK(strncmp(text, start, strlen(start)) == 0 && strstr(text, " bytes are needed"));
  return strncmp(text, start, strlen(start)) == 0 ? (int64_t)atof(text + strlen(start)) : 0;
}

/* Plans and computes <x, x> under a limit. Returns the bytes that are needed if both are refused, else 0. */
static int64_t run(const purlin_tt *x, int32_t method, int32_t kernel, int64_t limit) {
  purlin_tt_contraction *c = contraction(method, kernel, limit);
  purlin_tt_contraction_info plan, info;
  double result[2] = {7, 7};
  int64_t least = 0;
  OK(purlin_tt_contraction_info_init(&plan, sizeof plan));
  OK(purlin_tt_contraction_info_init(&info, sizeof info));
  if (purlin_tt_plan_inner(c, x, x, &plan) == PURLIN_SUCCESS) {
    OK(purlin_tt_inner(c, NULL, x, x, result, &info));
    CHECK(plan.workspace_bytes <= limit && info.workspace_bytes == plan.workspace_bytes);
    CHECK(isfinite(result[0]) && result[0] > 0 && result[0] != 7);
  } else {
    least = needed(limit);
    CHECK(purlin_tt_inner(c, NULL, x, x, result, &info) == PURLIN_ERROR_INVALID_ARGUMENT);
    CHECK(needed(limit) == least && least > limit && result[0] == 7);
  }
  OK(purlin_tt_contraction_destroy(c));
  return least;
}

/* A limit of one byte, of the bytes that are needed, and of one less. Returns whether one byte is enough. */
static int check(const purlin_tt *x, int32_t method, int32_t kernel) {
  int64_t least = run(x, method, kernel, 1);
  if (least == 0) return 1;
  CHECK(run(x, method, kernel, least) == 0);
  CHECK(run(x, method, kernel, least - 1) == least);
  return 0;
}

int main(void) {
  static const int32_t methods[5] = {PURLIN_TT_METHOD_REDUCED, PURLIN_TT_METHOD_FULL, PURLIN_TT_METHOD_BLOCKED,
                                     PURLIN_TT_METHOD_HALVES, PURLIN_TT_METHOD_AUTO};
  static const int32_t kernels[3] = {PURLIN_TT_KERNEL_AUTO, PURLIN_TT_KERNEL_PRODUCTS, PURLIN_TT_KERNEL_CHAIN};
  static const int64_t modes[4] = {2, 2, 2, 2};
  /* The first is one block on a GPU. */
  static const int64_t ranks[3][5] = {{3, 5, 4, 5, 3}, {1, 6, 7, 6, 1}, {4, 70, 80, 70, 4}};
  static double numbers[2 * 4 * 80 * 80];
  const int on_gpu = !is_on_cpu();
  uint64_t seed = 3;
  size_t i;
  int k, m, way;
  context = test_context(2);
  for (i = 0; i < COUNT(numbers); i++) numbers[i] = uniform(&seed);
  for (k = 0; k < 3; k++) {
    double *next = numbers;
    void *cores[4];
    purlin_tt *host = NULL, *x = NULL;
    for (m = 0; m < 4; m++) {
      cores[m] = next;
      next += ranks[k][m] * 2 * ranks[k][m + 1];
    }
    OK(purlin_tt_borrow(context, PURLIN_F64, 0, 4, modes, ranks[k], cores, &host));
    OK(purlin_tt_create(context, PURLIN_F64, on_gpu ? PURLIN_DEVICE : PURLIN_HOST, 0, 4, modes, ranks[k], &x));
    OK(purlin_tt_copy(context, NULL, host, x));
    for (m = 0; m < 5; m++)
      for (way = 0; way < 3; way++) {
        int is_enough = check(x, methods[m], kernels[way]);
        /* REDUCED, FULL and BLOCKED then need no workspace at all, whatever the limit. */
        if (on_gpu && k == 0 && m < 3 && kernels[way] == PURLIN_TT_KERNEL_AUTO) CHECK(is_enough);
      }
    OK(purlin_tt_destroy(x));
    OK(purlin_tt_destroy(host));
  }
  OK(purlin_context_destroy(context));
  return finish();
}
