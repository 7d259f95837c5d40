/* Packed symmetric tensors: counts, tables, conversions, norms, identity. */
#include <math.h>

#include "check.h"
#include "published.h"

static purlin_context *context;

static void counts(void) {
  static const struct {
    int64_t order;
    int64_t dimension, count;
  } known[] = {{3, 3, 10}, {4, 3, 15}, {6, 3, 28}, {8, 3, 45}, {4, 4, 35}, {3, 10, 220}, {4, 8, 330}, {4, 10, 715},
               {6, 10, 5005}, {2, 1, 1}, {9, 1, 1}, {2, 2, 3}, {2, 65535, INT64_C(2147450880)}};
  int64_t n = -5;
  size_t k;
  for (k = 0; k < COUNT(known); k++) {
    OK(purlin_symmetric_count(known[k].order, known[k].dimension, &n));
    CHECK(n == known[k].count);
  }
  n = -5;
  BAD_ARGUMENT("order: is 1", purlin_symmetric_count(1, 3, &n));
  BAD_ARGUMENT("order: is 4294967300", purlin_symmetric_count(4294967300, 3, &n));
  BAD_ARGUMENT("order: is -9223372036854775808", purlin_symmetric_count(INT64_MIN, 3, &n));
  BAD_ARGUMENT("dimension: is 0", purlin_symmetric_count(4, 0, &n));
  BAD_ARGUMENT("dimension: is -9223372036854775808", purlin_symmetric_count(4, INT64_MIN, &n));
  BAD_ARGUMENT("order", purlin_symmetric_count(2, 65536, &n));
  BAD_ARGUMENT("order", purlin_symmetric_count(INT32_MAX, INT64_MAX, &n));
  BAD_ARGUMENT("count: is NULL", purlin_symmetric_count(4, 3, NULL));
  CHECK(n == -5);
}

static int64_t factorial(int64_t n) { return n < 2 ? 1 : n * factorial(n - 1); }

static void tables(void) {
  static const int64_t orders[] = {2, 3, 4, 8};
  static int64_t indices[8 * 330], exponents[8 * 330], multinomials[330];
  int64_t n, u, r, i, sum;
  size_t k;
  for (k = 0; k < COUNT(orders); k++) {
    int64_t m = orders[k];
    for (n = 1; n <= (m < 8 ? 8 : 4); n++) {
      int right = 1;
      OK(purlin_symmetric_count(m, n, &u));
      OK(purlin_symmetric_indices(m, n, indices));
      OK(purlin_symmetric_exponents(m, n, exponents));
      OK(purlin_symmetric_multinomials(m, n, multinomials));
      for (r = 0, sum = 0; r < u; r++) {
        int64_t found[8] = {0}, permutations = factorial(m), greater = r == 0;
        for (i = 0; i < m; i++) {
          int64_t x = indices[r * m + i];
          right &= x >= 0 && x < n && (i == 0 || x >= indices[r * m + i - 1]);
          if (!greater && x != indices[(r - 1) * m + i]) {
            right &= x > indices[(r - 1) * m + i];
            greater = 1;
          }
          if (x >= 0 && x < n) found[x]++;
        }
        right &= greater == 1;
        for (i = 0; i < n; i++) {
          right &= exponents[r * n + i] == found[i];
          permutations /= factorial(found[i]);
        }
        right &= multinomials[r] == permutations;
        sum += multinomials[r];
      }
      CHECK(right);
      /* Every entry of the full tensor is counted once. */
      CHECK((double)sum == pow((double)n, m));
    }
  }
  BAD_ARGUMENT("indices: is NULL", purlin_symmetric_indices(4, 3, NULL));
  BAD_ARGUMENT("exponents: is NULL", purlin_symmetric_exponents(4, 3, NULL));
  BAD_ARGUMENT("multinomials: is NULL", purlin_symmetric_multinomials(4, 3, NULL));
  BAD_ARGUMENT("order: is 0", purlin_symmetric_indices(0, 3, indices));
  BAD_ARGUMENT("dimension: is -1", purlin_symmetric_exponents(4, -1, exponents));
  BAD_ARGUMENT("order", purlin_symmetric_multinomials(50, 50, multinomials));
  /* 70! / (35! 35!) is more than 2^63. */
  BAD_ARGUMENT("multinomial", purlin_symmetric_multinomials(70, 2, multinomials));
}

static void packings(void) {
  struct published p = published(4);
  static const double permutations[15] = {1, 4, 4, 6, 12, 6, 4, 12, 12, 4, 1, 4, 6, 4, 1};
  double polynomial[15], back[15];
  purlin_tensor *a = symmetric(context, PURLIN_F64, 4, 3, 1, p.tensor);
  purlin_tensor *b = symmetric(context, PURLIN_F64, 4, 3, 1, polynomial);
  purlin_tensor *c = symmetric(context, PURLIN_F64, 4, 3, 1, back);
  purlin_tensor *other = symmetric(context, PURLIN_F64, 2, 5, 1, back), *flat = vector_of(context, PURLIN_F64, 15, back);
  int k, right = 1;
  OK(purlin_symmetric_convert(context, NULL, a, PURLIN_PACKING_ENTRIES, b, PURLIN_PACKING_POLYNOMIAL));
  for (k = 0; k < 15; k++) right &= polynomial[k] == permutations[k] * p.tensor[k];
  CHECK(right);
  OK(purlin_symmetric_convert(context, NULL, b, PURLIN_PACKING_POLYNOMIAL, c, PURLIN_PACKING_ENTRIES));
  for (k = 0; k < 15; k++) CHECK(fabs(back[k] - p.tensor[k]) <= 2.3e-16 * fabs(p.tensor[k]));
  OK(purlin_symmetric_convert(context, NULL, a, PURLIN_PACKING_ENTRIES, c, PURLIN_PACKING_ENTRIES));
  CHECK(memcmp(back, p.tensor, sizeof back) == 0);
  BAD_ARGUMENT("source_packing: is 2", purlin_symmetric_convert(context, NULL, a, 2, b, 0));
  BAD_ARGUMENT("destination_packing: is -1", purlin_symmetric_convert(context, NULL, a, 0, b, -1));
  BAD_ARGUMENT("destination", purlin_symmetric_convert(context, NULL, a, 0, other, 1));
  BAD_ARGUMENT("destination", purlin_symmetric_convert(context, NULL, a, 0, flat, 1));
  BAD_ARGUMENT("source", purlin_symmetric_convert(context, NULL, flat, 0, b, 1));
  BAD_ARGUMENT("destination: overlaps source", purlin_symmetric_convert(context, NULL, c, 0, other, 1));
  BAD_ARGUMENT("destination: is given twice", purlin_symmetric_convert(context, NULL, a, 0, a, 1));
  BAD_HANDLE("source: is NULL", purlin_symmetric_convert(context, NULL, NULL, 0, a, 1));
  OK(purlin_tensor_destroy(a));
  OK(purlin_tensor_destroy(b));
  OK(purlin_tensor_destroy(c));
  OK(purlin_tensor_destroy(other));
  OK(purlin_tensor_destroy(flat));
}

static void full_tensors(void) {
  struct published p = published(3);
  double full[27], packed[10], norms[1], square = 0, one = 0, most = 0;
  int64_t dims[4] = {3, 3, 3, 1};
  int i, j, k;
  purlin_tensor *a = symmetric(context, PURLIN_F64, 3, 3, 1, p.tensor), *b = symmetric(context, PURLIN_F64, 3, 3, 1, packed);
  purlin_tensor *f = dense(context, PURLIN_F64, 3, dims, full), *g = dense(context, PURLIN_F64, 4, dims, full);
  purlin_tensor *n = vector_of(context, PURLIN_F64, 1, norms), *wrong = dense(context, PURLIN_F64, 2, dims, full);
  OK(purlin_symmetric_to_full(context, NULL, a, f));
  for (i = 0; i < 3; i++)
    for (j = 0; j < 3; j++)
      for (k = 0; k < 3; k++) CHECK(full[i + 3 * j + 9 * k] == full[k + 3 * i + 9 * j] && full[i + 3 * j + 9 * k] == full[j + 3 * i + 9 * k]);
  CHECK(full[0] == p.tensor[0] && full[0 + 3 + 18] == p.tensor[4] && full[26] == p.tensor[9]);
  OK(purlin_symmetric_to_full(context, NULL, a, g));
  OK(purlin_symmetric_from_full(context, NULL, f, 0, 0, b));
  CHECK(memcmp(packed, p.tensor, sizeof packed) == 0);
  OK(purlin_symmetric_from_full(context, NULL, g, 1, 0, b));
  for (k = 0; k < 10; k++) CHECK(fabs(packed[k] - p.tensor[k]) < 1e-16);
  for (i = 0; i < 27; i++) square += full[i] * full[i], one += fabs(full[i]), most = fmax(most, fabs(full[i]));
  OK(purlin_symmetric_norm(context, NULL, a, PURLIN_NORM_FROBENIUS, n));
  CHECK(fabs(norms[0] - sqrt(square)) < 1e-15);
  OK(purlin_symmetric_norm(context, NULL, a, PURLIN_NORM_ONE, n));
  CHECK(fabs(norms[0] - one) < 4e-15);
  OK(purlin_symmetric_norm(context, NULL, a, PURLIN_NORM_MAX, n));
  CHECK(norms[0] == most);
  BAD_ARGUMENT("kind: is 3", purlin_symmetric_norm(context, NULL, a, 3, n));
  BAD_ARGUMENT("norms", purlin_symmetric_norm(context, NULL, a, 0, f));
  BAD_ARGUMENT("packed", purlin_symmetric_norm(context, NULL, f, 0, n));
  /* Asymmetry is refused beyond the tolerance, naming the entry, or averaged. */
  full[1] += 1e-9;
  BAD_ARGUMENT("full", purlin_symmetric_from_full(context, NULL, f, 0, 0, b));
  OK(purlin_symmetric_from_full(context, NULL, f, 0, 1e-6, b));
  full[1] += 0.3 - 1e-9;
  OK(purlin_symmetric_from_full(context, NULL, f, 1, 0, b));
  CHECK(fabs(packed[1] - (p.tensor[1] + 0.1)) < 1e-15);
  BAD_ARGUMENT("symmetrize: is 2", purlin_symmetric_from_full(context, NULL, f, 2, 0, b));
  BAD_ARGUMENT("check_tolerance", purlin_symmetric_from_full(context, NULL, f, 0, -1, b));
  BAD_ARGUMENT("check_tolerance", purlin_symmetric_from_full(context, NULL, f, 0, NAN, b));
  BAD_ARGUMENT("full", purlin_symmetric_from_full(context, NULL, wrong, 0, 0, b));
  BAD_ARGUMENT("full", purlin_symmetric_to_full(context, NULL, a, wrong));
  BAD_ARGUMENT("packed", purlin_symmetric_from_full(context, NULL, f, 0, 0, n));
  OK(purlin_tensor_destroy(a));
  OK(purlin_tensor_destroy(b));
  OK(purlin_tensor_destroy(f));
  OK(purlin_tensor_destroy(g));
  OK(purlin_tensor_destroy(n));
  OK(purlin_tensor_destroy(wrong));
}

static void identity(void) {
  float e[2][15];
  double odd[10];
  int k;
  purlin_tensor *t = symmetric(context, PURLIN_F32, 4, 3, 2, e), *u = symmetric(context, PURLIN_F64, 3, 3, 1, odd);
  OK(purlin_symmetric_identity(context, NULL, 3, t));
  for (k = 0; k < 15; k++) {
    float due = k == 0 || k == 10 || k == 14 ? 3.0f : k == 3 || k == 5 || k == 12 ? 1.0f : 0.0f;
    CHECK(e[0][k] == due && e[1][k] == due);
  }
  BAD_ARGUMENT("packed", purlin_symmetric_identity(context, NULL, 1, u));
  BAD_ARGUMENT("scale", purlin_symmetric_identity(context, NULL, NAN, t));
  BAD_ARGUMENT("scale", purlin_symmetric_identity(context, NULL, INFINITY, t));
  BAD_HANDLE("packed: is NULL", purlin_symmetric_identity(context, NULL, 1, NULL));
  OK(purlin_tensor_destroy(t));
  OK(purlin_tensor_destroy(u));
}

int main(void) {
  context = test_context(1);
  counts();
  tables();
  packings();
  full_tensors();
  identity();
  OK(purlin_context_destroy(context));
  return finish();
}
