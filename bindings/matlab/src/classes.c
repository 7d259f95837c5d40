/* Which arguments a command reads. Octave ends the process where a function of its C interface looks into a function handle or
 * an object of a class, so these are refused by their class before any command reads them. */
#include <stdio.h>
#include <string.h>

#include "gateway.h"

/* Deepest nesting of cells and structs; a cell of trains has 2. */
enum { MAX_NESTING = 8 };

/* Fields of options and of descriptions that hold function handles. */
static int is_function_field(const char *field) {
  return strcmp(field, "progress") == 0 || strcmp(field, "read") == 0 || strcmp(field, "write") == 0 ||
         strcmp(field, "apply") == 0;
}

/* Classes that hold numbers or text. */
static int is_data(const mxArray *value) {
  return mxIsNumeric(value) || mxIsLogical(value) || mxIsChar(value);
}

static void expect_readable(const char *name, const mxArray *value, int depth) {
  char inner[256];
  /* MATLAB has no array for an element or a field that was never set. */
  if (!value || is_data(value)) return;
  if (!mxIsCell(value) && !mxIsStruct(value))
    fail("invalidArgument", "%s: is of class %s, expected numbers, text, a cell or a struct", name, mxGetClassName(value));
  if (depth == MAX_NESTING) fail("invalidArgument", "%s: is nested deeper than %d cells and structs", name, (int)MAX_NESTING);
  for (size_t k = 0; k < mxGetNumberOfElements(value); k++) {
    if (mxIsCell(value)) {
      const mxArray *element = mxGetCell(value, (mwIndex)k);
      if (!element || is_data(element)) continue;
      (void)snprintf(inner, sizeof inner, "%.200s{%.0f}", name, (double)k + 1);
      expect_readable(inner, element, depth + 1);
      continue;
    }
    for (int f = 0; f < mxGetNumberOfFields(value); f++) {
      const char *field = mxGetFieldNameByNumber(value, f);
      const mxArray *held = mxGetFieldByNumber(value, (mwIndex)k, f);
      if (!held || is_data(held) || (is_function_field(field) && mxIsClass(held, "function_handle"))) continue;
      /* Options are known by their own names. */
      if (depth == 0 && (strcmp(name, "options") == 0 || strcmp(name, "own") == 0)) (void)snprintf(inner, sizeof inner, "%.200s", field);
      else (void)snprintf(inner, sizeof inner, "%.150s.%.100s", name, field);
      expect_readable(inner, held, depth + 1);
    }
  }
}

void expect_classes(const char *names, int count, const mxArray *arguments[]) {
  for (int k = 0; k < count; k++) {
    char name[64];
    int length = (int)strcspn(names, " ?");
    (void)snprintf(name, sizeof name, "%.*s", length, names);
    expect_readable(name, arguments[k], 0);
    names += length;
    names += strspn(names, " ?");
  }
}

const mxArray *cell_element(const mxArray *cell, size_t k) {
  const mxArray *element = mxGetCell(cell, (mwIndex)k);
  return element ? element : mxCreateDoubleMatrix(0, 0, mxREAL);
}

void expect_field(const char *name, const mxArray *value, const char *field, const char *expected) {
  if (!mxIsStruct(value))
    fail("invalidArgument", "%s: is of class %s, expected %s", name, mxGetClassName(value), expected);
  if (mxGetNumberOfElements(value) != 1)
    fail("invalidArgument", "%s: is a struct array of %.0f elements, expected %s", name,
         (double)mxGetNumberOfElements(value), expected);
  if (!option(value, field)) fail("invalidArgument", "%s: is a struct without %s, expected %s", name, field, expected);
}
