/* A folder of a test's own, for the files that it makes. */
#ifndef PURLIN_TESTS_FOLDER_H
#define PURLIN_TESTS_FOLDER_H

#include <stdio.h>

static char folder[] = "/tmp/purlin-test-XXXXXX";

/* The path of a file of the folder; valid until three more are asked for. */
static const char *in_folder(const char *name) {
  static char paths[4][96];
  static int at = 0;
  at = (at + 1) % 4;
  snprintf(paths[at], sizeof paths[at], "%s/%s", folder, name);
  return paths[at];
}

#endif
