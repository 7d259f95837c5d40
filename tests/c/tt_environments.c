/* Environments of tensor trains, with an operator and without one; and every refusal. */
#include "tt.h"

static purlin_context *context, *foreign;

static void environments(void) {
  static made x, other;
  static double sz[4] = {1, 0, 0, -1}, numbers[64], out[64];
  purlin_tt_contraction *c = NULL;
  purlin_tt_matrix *h = NULL;
  purlin_tt_environments *e = NULL, *plain = NULL;
  purlin_stream *stream = NULL;
  purlin_tt_scaled s;
  purlin_tensor *op = array2(context, PURLIN_F64, 2, 2, sz), *v, *w, *env, *taken;
  int64_t dims[4], shape[3] = {3, 2, 3}, exponent = 0, k;
  int32_t dtype = -1;
  double energy[2], sum = 0;
  OK(purlin_tt_contraction_create(context, NULL, &c));
  make_train(context, &x, 4, 2, 3, 1, 9);
  OK(purlin_tt_matrix_ising(context, PURLIN_F64, 4, 0, 1, 0.7, &h));
  OK(purlin_tt_sandwich(c, NULL, x.tt, h, x.tt, energy, NULL));
  OK(purlin_tt_environments_create(c, x.tt, h, x.tt, &e));
  OK(purlin_tt_environments_create(c, x.tt, NULL, x.tt, &plain));
  OK(purlin_tt_environments_shape(e, 2, dims, &dtype));
  CHECK(dims[0] == 3 && dims[1] == 3 && dims[2] == 1 && dims[3] == 3 && dtype == PURLIN_F64);
  for (k = 0; k <= 4; k++) {
    OK(purlin_tt_environments_value(e, NULL, k, &s));
    CHECK(near(value_of(&s), energy[0], 1e-12));
  }
  OK(purlin_tt_environments_build(e, NULL, PURLIN_TT_LEFT, 4));
  OK(purlin_tt_environments_build(e, NULL, PURLIN_TT_RIGHT, 0));
  env = dense(context, PURLIN_F64, 4, dims, numbers);
  OK(purlin_tt_environments_get(e, NULL, PURLIN_TT_LEFT, 2, env, &exponent));
  CHECK(numbers[0] != 0);
  /* The effective operator of site 1 between its own core: the energy. */
  v = dense(context, PURLIN_F64, 3, shape, x.cores[1]);
  w = dense(context, PURLIN_F64, 3, shape, out);
  OK(purlin_tt_environments_apply(e, NULL, 1, 1, v, w, &exponent));
  for (k = 0; k < 18; k++) sum += ((double *)x.cores[1])[k] * out[k];
  CHECK(near(ldexp(sum, (int)exponent), energy[0], 1e-12));
  /* As many elements in other dimensions; neighbours joined. */
  {
    const int64_t other[3] = {2, 3, 3}, joined[2] = {6, 3};
    purlin_tensor *wrong = dense(context, PURLIN_F64, 3, other, x.cores[1]);
    purlin_tensor *flat = dense(context, PURLIN_F64, 2, joined, x.cores[1]);
    purlin_tensor *result = dense(context, PURLIN_F64, 3, other, out);
    BAD_ARGUMENT("v: has dimensions [2, 3, 3], [3, 2, 3] are needed",
                 purlin_tt_environments_apply(e, NULL, 1, 1, wrong, w, &exponent));
    BAD_ARGUMENT("out: has dimensions [2, 3, 3], [3, 2, 3] are needed",
                 purlin_tt_environments_apply(e, NULL, 1, 1, v, result, &exponent));
    OK(purlin_tt_environments_apply(e, NULL, 1, 1, flat, w, &exponent));
    OK(purlin_tensor_destroy(wrong));
    OK(purlin_tensor_destroy(flat));
    OK(purlin_tensor_destroy(result));
  }
  OK(purlin_tt_environments_local(plain, NULL, 2, op, &s));
  BAD_ARGUMENT("h: is in the environments", purlin_tt_environments_local(e, NULL, 2, op, &s));
  /* A core changes: the environments that contain it are recomputed. */
  for (k = 0; k < 18; k++) ((double *)x.cores[1])[k] *= 2;
  OK(purlin_tt_environments_update_core(e, 1));
  OK(purlin_tt_environments_value(e, NULL, 3, &s));
  CHECK(near(value_of(&s), 4 * energy[0], 1e-12));
  OK(purlin_stream_create(context, &stream));
  OK(purlin_tt_environments_build(e, stream, PURLIN_TT_LEFT, 1));
  OK(purlin_tt_environments_value(e, stream, 3, &s));
  CHECK(near(value_of(&s), 4 * energy[0], 1e-12));
  OK(purlin_stream_destroy(stream));
  OK(purlin_stream_create(foreign, &stream));
#define FOREIGN(call) BAD_ARGUMENT("stream: belongs to another context", call)
  FOREIGN(purlin_tt_environments_build(e, stream, PURLIN_TT_LEFT, 1));
  FOREIGN(purlin_tt_environments_get(e, stream, PURLIN_TT_LEFT, 2, env, &exponent));
  FOREIGN(purlin_tt_environments_apply(e, stream, 1, 1, v, w, &exponent));
  FOREIGN(purlin_tt_environments_value(e, stream, 1, &s));
  FOREIGN(purlin_tt_environments_local(plain, stream, 2, op, &s));
#undef FOREIGN
  OK(purlin_stream_destroy(stream));
  BAD_ARGUMENT("side: is 2", purlin_tt_environments_build(e, NULL, 2, 0));
  BAD_ARGUMENT("bond: is 5, outside 0 to 4", purlin_tt_environments_build(e, NULL, PURLIN_TT_LEFT, 5));
  BAD_ARGUMENT("bond: is -1", purlin_tt_environments_value(e, NULL, -1, &s));
  BAD_ARGUMENT("k: is 4, outside 0 to 3", purlin_tt_environments_update_core(e, 4));
  BAD_ARGUMENT("k: is 4, outside 0 to 3", purlin_tt_environments_apply(e, NULL, 4, 1, v, w, &exponent));
  BAD_ARGUMENT("k: is -1, outside 0 to 2", purlin_tt_environments_apply(e, NULL, -1, 2, v, w, &exponent));
  BAD_ARGUMENT("k: is -1, outside 0 to 3", purlin_tt_environments_local(plain, NULL, -1, op, &s));
  for (k = 0; k < 5; k++) {
    BAD_ARGUMENT("sites: is 3, 0 to 2 are possible", purlin_tt_environments_apply(e, NULL, k, 3, v, w, &exponent));
  }
  BAD_ARGUMENT("values: has dimensions", purlin_tt_environments_get(e, NULL, PURLIN_TT_LEFT, 0, env, &exponent));
  BAD_ARGUMENT("exponent: is NULL", purlin_tt_environments_apply(e, NULL, 1, 1, v, w, NULL));
  BAD_ARGUMENT("out: has", purlin_tt_environments_apply(e, NULL, 1, 1, v, env, &exponent));
  /* Outputs in the cores that environments are made of. */
  taken = dense(context, PURLIN_F64, 3, shape, x.cores[2]);
  BAD_ARGUMENT("out: overlaps y", purlin_tt_environments_apply(e, NULL, 1, 1, v, taken, &exponent));
  OK(purlin_tensor_destroy(taken));
  taken = dense(context, PURLIN_F64, 4, dims, x.cores[1]);
  BAD_ARGUMENT("values: overlaps y", purlin_tt_environments_get(e, NULL, PURLIN_TT_LEFT, 2, taken, &exponent));
  OK(purlin_tensor_destroy(taken));
  BAD_ARGUMENT("dims: is NULL", purlin_tt_environments_shape(e, 1, NULL, NULL));
  BAD_ARGUMENT("result: is NULL", purlin_tt_environments_value(e, NULL, 1, NULL));
  BAD_ARGUMENT("environments: is NULL", purlin_tt_environments_create(c, x.tt, h, x.tt, NULL));
  /* Other trains, whose rank between cores 1 and 2 differs. The previous ones may be destroyed. */
  make_train(context, &other, 4, 2, 3, 1, 10);
  other.ranks[2] = 2;
  memcpy(other.cores[0], x.cores[0], 6 * sizeof(double));
  memcpy(other.cores[3], x.cores[3], 6 * sizeof(double));
  OK(purlin_tt_destroy(other.tt));
  OK(purlin_tt_borrow(context, PURLIN_F64, 0, 4, other.modes, other.ranks, other.cores, &other.tt));
  OK(purlin_tt_sandwich(c, NULL, other.tt, h, other.tt, energy, NULL));
  BAD_ARGUMENT("x: has rank 2 at bond 2, 3 before, though only cores 0 to 1 are said to differ",
               purlin_tt_environments_set_trains(e, x.tt, other.tt, 0, 1));
  BAD_ARGUMENT("first, last: are 2 and 1", purlin_tt_environments_set_trains(e, other.tt, other.tt, 2, 1));
  BAD_ARGUMENT("last: is 4, outside 0 to 3", purlin_tt_environments_set_trains(e, other.tt, other.tt, 1, 4));
  BAD_ARGUMENT("first: is -1", purlin_tt_environments_set_trains(e, other.tt, other.tt, -1, 2));
  BAD_HANDLE("x: is NULL", purlin_tt_environments_set_trains(e, other.tt, NULL, 1, 2));
  OK(purlin_tt_environments_value(e, NULL, 2, &s));
  OK(purlin_tt_environments_set_trains(e, other.tt, other.tt, 1, 2));
  for (k = 0; k <= 4; k++) {
    OK(purlin_tt_environments_value(e, NULL, k, &s));
    CHECK(near(value_of(&s), energy[0], 1e-12));
  }
  OK(purlin_tt_matrix_destroy(h));
  BAD_HANDLE("h: was destroyed", purlin_tt_environments_value(e, NULL, 1, &s));
  OK(purlin_tt_destroy(other.tt));
  OK(purlin_tt_destroy(x.tt));
  BAD_HANDLE("y: was destroyed", purlin_tt_environments_value(plain, NULL, 1, &s));
  OK(purlin_tensor_destroy(w));
  OK(purlin_tensor_destroy(v));
  OK(purlin_tensor_destroy(env));
  OK(purlin_tensor_destroy(op));
  OK(purlin_tt_environments_destroy(plain));
  OK(purlin_tt_environments_destroy(e));
  BAD_HANDLE("environments: was destroyed", purlin_tt_environments_destroy(e));
  OK(purlin_tt_environments_destroy(NULL));
  OK(purlin_tt_contraction_destroy(c));
}

int main(void) {
  context = test_context(2);
  foreign = test_context(1);
  environments();
  OK(purlin_context_destroy(foreign));
  OK(purlin_context_destroy(context));
  return finish();
}
