/* purlin_context_cancel from another thread ends calls that report no progress. Their outputs stay as they were, and the
 * same calls succeed afterwards. */
#define _GNU_SOURCE
#include "check.h"
#include "folder.h"

#include <pthread.h>
#include <unistd.h>

enum { CORES = 40, RANK = 16, ENTRIES = 200000, TRIES = 2000 };

static purlin_context *context;
static volatile int has_ended;

static void *canceller(void *unused) {
  while (!has_ended) {
    if (purlin_context_cancel(context) != PURLIN_SUCCESS) break;
  }
  return unused;
}

static purlin_tt *x, *result;
static purlin_matrix *a, *read_back;
static int64_t index_of[ENTRIES];
static double values[ENTRIES];

static purlin_status round_train(void) { return purlin_tt_round(context, NULL, x, NULL, &result, NULL, NULL); }

static purlin_status multiply(void) { return purlin_tt_hadamard(context, NULL, x, x, &result); }

static purlin_status canonical(void) {
  int64_t exponent = 0;
  return purlin_tt_canonicalize(context, NULL, x, CORES / 2, &exponent, &result);
}

static purlin_status write_file(void) { return purlin_matrix_write_market(a, in_folder("a.mtx"), 0); }

static purlin_status read_file(void) {
  return purlin_matrix_read_market(context, in_folder("b.mtx"), PURLIN_F64, &read_back);
}

/* Makes a call until it is cancelled; those that end before succeed. Then once more without the other thread. */
static void until_cancelled(purlin_status (*call)(void)) {
  pthread_t thread;
  purlin_status status = PURLIN_SUCCESS;
  int tries;
  has_ended = 0;
  CHECK(pthread_create(&thread, NULL, canceller, NULL) == 0);
  for (tries = 0; tries < TRIES && status == PURLIN_SUCCESS; tries++) {
    status = call();
    if (status != PURLIN_SUCCESS) break;
    OK(purlin_tt_destroy(result));
    OK(purlin_matrix_destroy(read_back));
    result = NULL;
    read_back = NULL;
  }
  has_ended = 1;
  CHECK(status == PURLIN_ERROR_CANCELLED);
  CHECK(strcmp(purlin_last_error_message(), "") != 0);
  CHECK(result == NULL && read_back == NULL);
  CHECK(pthread_join(thread, NULL) == 0);
  OK(call());
  OK(purlin_tt_destroy(result));
  OK(purlin_matrix_destroy(read_back));
  result = NULL;
  read_back = NULL;
}

int main(void) {
  int64_t modes[CORES], ranks[CORES + 1], k;
  context = test_context(1);
  for (k = 0; k < CORES; k++) modes[k] = 4;
  for (k = 0; k <= CORES; k++) ranks[k] = k == 0 || k == CORES ? 1 : RANK;
  OK(purlin_tt_random(context, PURLIN_F64, PURLIN_HOST, CORES, modes, ranks, 1, &x));
  until_cancelled(round_train);
  until_cancelled(multiply);
  until_cancelled(canonical);

  CHECK(mkdtemp(folder) != NULL);
  for (k = 0; k < ENTRIES; k++) index_of[k] = k;
  OK(purlin_matrix_from_coordinates(context, PURLIN_F64, 0, ENTRIES, ENTRIES, ENTRIES, PURLIN_I64, index_of, index_of,
                                    values, PURLIN_DUPLICATES_REFUSE, &a));
  OK(purlin_matrix_write_market(a, in_folder("b.mtx"), 0));
  until_cancelled(write_file);
  until_cancelled(read_file);
  CHECK(unlink(in_folder("a.mtx")) == 0);
  CHECK(unlink(in_folder("b.mtx")) == 0);
  /* The folder has no other file: incomplete files were removed. */
  CHECK(rmdir(folder) == 0);
  OK(purlin_matrix_destroy(a));
  OK(purlin_tt_destroy(x));
  OK(purlin_context_destroy(context));
  return finish();
}
