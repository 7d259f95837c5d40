/* Groups of contexts: refusals, any order of destruction, and two contexts of one device. */
#include "check.h"

enum { MANY = 1025 };

static int64_t members(const purlin_group *group) {
  purlin_group_info info;
  OK(purlin_group_info_init(&info, sizeof info));
  CHECK(info.struct_size == sizeof info && info.members == 0);
  OK(purlin_group_properties(group, &info));
  return info.members;
}

static void misuse(void) {
  purlin_context *a = test_context(2), *b = test_context(2);
  const purlin_context *list[3];
  static const purlin_context *many[MANY];
  purlin_group *group = NULL;
  struct {
    purlin_group_options known;
    int64_t unknown;
  } newer;
  purlin_group_options options;
  purlin_group_info info;
  purlin_tensor *tensor;
  double number = 0;
  int k;
  list[0] = a, list[1] = b, list[2] = a;
  for (k = 0; k < MANY; k++) many[k] = a;
  BAD_ARGUMENT("group: is NULL", purlin_group_create(2, list, NULL, NULL));
  BAD_ARGUMENT("count: is 0, outside 1 to 1024", purlin_group_create(0, list, NULL, &group));
  BAD_ARGUMENT("count: is 0, outside 1 to 1024", purlin_group_create(0, NULL, NULL, &group));
  BAD_ARGUMENT("count: is -1", purlin_group_create(-1, list, NULL, &group));
  BAD_ARGUMENT("count: is 9223372036854775807, outside 1 to 1024", purlin_group_create(INT64_MAX, list, NULL, &group));
  BAD_ARGUMENT("count: is 1025, outside 1 to 1024", purlin_group_create(MANY, many, NULL, &group));
  BAD_ARGUMENT("contexts: is NULL", purlin_group_create(2, NULL, NULL, &group));
  BAD_ARGUMENT("contexts[2]: is given twice", purlin_group_create(3, list, NULL, &group));
  BAD_ARGUMENT("options: is NULL", purlin_group_options_init(NULL, sizeof options));
  BAD_ARGUMENT("options", purlin_group_options_init(&options, sizeof options - 1));
  OK(purlin_group_options_init(&options, sizeof options));
  CHECK(options.struct_size == sizeof options);
  options.struct_size = 0;
  BAD_ARGUMENT("options: struct_size is 0", purlin_group_create(1, list, &options, &group));
  /* A program of a later version, whose further option is 0 or is set. */
  newer.known.struct_size = sizeof newer, newer.unknown = 1;
  FAILS(PURLIN_ERROR_NOT_SUPPORTED, "options: sets an option that this version of the library does not know",
      purlin_group_create(1, list, &newer.known, &group));
  CHECK(group == NULL);
  newer.unknown = 0;
  OK(purlin_group_create(1, list, &newer.known, &group));
  OK(purlin_group_destroy(group));
  OK(purlin_group_options_init(&options, sizeof options));
  OK(purlin_group_create(1, list, &options, &group));
  OK(purlin_group_destroy(group));
  group = NULL;
  list[1] = NULL;
  BAD_HANDLE("contexts[1]: is NULL", purlin_group_create(3, list, NULL, &group));
  tensor = vector_of(a, PURLIN_F64, 1, &number);
  list[1] = (const purlin_context *)(const void *)tensor;
  BAD_HANDLE("contexts[1]: is a handle of another type", purlin_group_create(2, list, NULL, &group));
  OK(purlin_tensor_destroy(tensor));
  list[1] = (const purlin_context *)(const void *)&number;
  BAD_HANDLE("contexts[1]: is not a handle", purlin_group_create(2, list, NULL, &group));
  OK(purlin_context_destroy(b));
  list[1] = b;
  BAD_HANDLE("contexts[1]: was destroyed", purlin_group_create(2, list, NULL, &group));
  CHECK(group == NULL);

  OK(purlin_group_create(1, list, NULL, &group));
  CHECK(members(group) == 1);
  BAD_ARGUMENT("info: is NULL", purlin_group_info_init(NULL, sizeof info));
  BAD_ARGUMENT("info", purlin_group_info_init(&info, sizeof info - 1));
  BAD_ARGUMENT("info: is NULL", purlin_group_properties(group, NULL));
  OK(purlin_group_info_init(&info, sizeof info));
  info.struct_size = 3;
  BAD_ARGUMENT("info: struct_size is 3", purlin_group_properties(group, &info));
  OK(purlin_group_info_init(&info, sizeof info));
  BAD_HANDLE("group: is NULL", purlin_group_properties(NULL, &info));
  BAD_HANDLE("group: is a handle of another type",
             purlin_group_properties((const purlin_group *)(const void *)a, &info));
  BAD_HANDLE("context: is a handle of another type", purlin_context_cancel((const purlin_context *)(const void *)group));
  OK(purlin_group_destroy(NULL));
  OK(purlin_group_destroy(group));
  BAD_HANDLE("group: was destroyed", purlin_group_properties(group, &info));
  BAD_HANDLE("group: was destroyed", purlin_group_destroy(group));
  OK(purlin_context_destroy(a));
}

/* Members of different kinds would change results. */
static void another_kind(void) {
  purlin_context *a = test_context(2), *other = NULL;
  const purlin_context *list[2];
  purlin_context_options options;
  purlin_context_info info;
  purlin_group *group = NULL;
  OK(purlin_context_info_init(&info, sizeof info));
  OK(purlin_context_properties(a, &info));
  OK(purlin_context_options_init(&options, sizeof options));
  options.backend = PURLIN_BACKEND_CPU, options.cpu_isa = PURLIN_ISA_PORTABLE;
  OK(purlin_context_create(&options, &other));
  list[0] = a, list[1] = other;
  if (info.backend == PURLIN_BACKEND_CPU && info.cpu_isa == PURLIN_ISA_PORTABLE) {
    printf("no vector instructions here: contexts of two kinds are not tested\n");
  } else {
    BAD_ARGUMENT("contexts[1]: is on the CPU with PORTABLE, the first is on ", purlin_group_create(2, list, NULL, &group));
    list[0] = other, list[1] = a;
    BAD_ARGUMENT("the first is on the CPU with PORTABLE: results would differ",
                 purlin_group_create(2, list, NULL, &group));
  }
  OK(purlin_context_destroy(other));
  OK(purlin_context_destroy(a));
}

/* A group keeps its members alive, and any order of destruction works. */
static void orders_of_destruction(void) {
  int order;
  for (order = 0; order < 6; order++) {
    int left[3] = {0, 1, 2}, k, choice = order;
    purlin_context *contexts[2];
    const purlin_context *list[2];
    purlin_group *group = NULL;
    contexts[0] = test_context(2), contexts[1] = test_context(2);
    list[0] = contexts[0], list[1] = contexts[1];
    OK(purlin_group_create(2, list, NULL, &group));
    for (k = 3; k > 0; k--) {
      int at = choice % k, which = left[at];
      choice /= k;
      left[at] = left[k - 1];
      if (which == 2) {
        CHECK(members(group) == 2);
        OK(purlin_group_destroy(group));
      } else {
        OK(purlin_context_destroy(contexts[which]));
      }
    }
  }
}

int main(void) {
  misuse();
  another_kind();
  orders_of_destruction();
  return finish();
}
