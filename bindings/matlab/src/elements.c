/* Element types, and complex elements as the library reads and writes them. */
#include <string.h>

#include "gateway.h"

int32_t dtype_of(const mxArray *array) {
  switch (mxGetClassID(array)) {
  case mxDOUBLE_CLASS: return mxIsComplex(array) ? PURLIN_CF64 : PURLIN_F64;
  case mxSINGLE_CLASS: return mxIsComplex(array) ? PURLIN_CF32 : PURLIN_F32;
  case mxINT8_CLASS: return PURLIN_I8;
  case mxINT16_CLASS: return PURLIN_I16;
  case mxINT32_CLASS: return PURLIN_I32;
  case mxINT64_CLASS: return PURLIN_I64;
  case mxUINT8_CLASS:
  case mxLOGICAL_CLASS: return PURLIN_U8;
  case mxUINT16_CLASS: return PURLIN_U16;
  case mxUINT32_CLASS: return PURLIN_U32;
  default: fail("invalidArgument", "array: its class has no counterpart in the library");
  }
  return 0;
}

mxClassID class_of(int32_t dtype) {
  switch (dtype) {
  case PURLIN_F32:
  case PURLIN_CF32: return mxSINGLE_CLASS;
  case PURLIN_F64:
  case PURLIN_CF64: return mxDOUBLE_CLASS;
  case PURLIN_I8: return mxINT8_CLASS;
  case PURLIN_I16: return mxINT16_CLASS;
  case PURLIN_I32: return mxINT32_CLASS;
  case PURLIN_I64: return mxINT64_CLASS;
  case PURLIN_U8: return mxUINT8_CLASS;
  case PURLIN_U16: return mxUINT16_CLASS;
  case PURLIN_U32: return mxUINT32_CLASS;
  default: fail("notSupported", "tensor: MATLAB has no class for its type");
  }
  return mxUNKNOWN_CLASS;
}

int is_complex(int32_t dtype) { return dtype == PURLIN_CF32 || dtype == PURLIN_CF64; }

#if !MX_HAS_INTERLEAVED_COMPLEX
/* Number of stored elements: for a sparse array that of its nonzeros, which may be far fewer than its elements. */
static size_t stored_elements(const mxArray *array) {
  return mxIsSparse(array) ? (size_t)mxGetJc(array)[mxGetN(array)] : mxGetNumberOfElements(array);
}
#endif

void *elements_of(const mxArray *array, int32_t dtype) {
  static double nothing;
  if (mxGetNumberOfElements(array) == 0) return &nothing;
#if MX_HAS_INTERLEAVED_COMPLEX
  if (dtype == PURLIN_CF64) return mxGetComplexDoubles(array);
  if (dtype == PURLIN_CF32) return mxGetComplexSingles(array);
#else
  if (is_complex(dtype)) {
    size_t n = stored_elements(array), size = dtype == PURLIN_CF64 ? 8 : 4;
    char *woven = mxMalloc(2 * n * size + 1);
    const char *re = mxGetData(array), *im = mxGetImagData(array);
    for (size_t i = 0; i < n; i++) {
      memcpy(woven + 2 * i * size, re + i * size, size);
      memcpy(woven + (2 * i + 1) * size, im + i * size, size);
    }
    return woven;
  }
#endif
  return mxGetData(array);
}

void *space_of(mxArray *array, int32_t dtype) {
#if !MX_HAS_INTERLEAVED_COMPLEX
  if (is_complex(dtype)) return mxCalloc(mxGetNumberOfElements(array) + 1, dtype == PURLIN_CF64 ? 16 : 8);
#endif
  return elements_of(array, dtype);
}

void unweave(mxArray *array, int32_t dtype, const void *space) {
#if !MX_HAS_INTERLEAVED_COMPLEX
  if (is_complex(dtype)) {
    size_t n = mxGetNumberOfElements(array), size = dtype == PURLIN_CF64 ? 8 : 4;
    char *re = mxGetData(array), *im = mxGetImagData(array);
    const char *woven = space;
    for (size_t i = 0; i < n; i++) {
      memcpy(re + i * size, woven + 2 * i * size, size);
      memcpy(im + i * size, woven + (2 * i + 1) * size, size);
    }
  }
#else
  (void)array;
  (void)dtype;
  (void)space;
#endif
}

purlin_matrix_info matrix_properties_of(const purlin_matrix *matrix) {
  purlin_matrix_info info;
  check(purlin_matrix_info_init(&info, sizeof info));
  check(purlin_matrix_properties(matrix, &info));
  return info;
}

int32_t computing_dtype(const mxArray *options, int32_t dtype) {
  /* The library's choice: double also for integers that single precision would round. */
  int is_wide = dtype == PURLIN_F64 || dtype == PURLIN_CF64 || dtype == PURLIN_I32 || dtype == PURLIN_U32;
  int32_t wanted = is_wide ? PURLIN_F64 : PURLIN_F32;
  read_choice(options, "dtype", precisions, &wanted);
  if (!is_complex(dtype)) return wanted;
  return wanted == PURLIN_F64 ? PURLIN_CF64 : PURLIN_CF32;
}

output new_matrix(int32_t dtype, int64_t rows, int64_t cols) {
  output o;
  o.dtype = dtype;
  o.matrix = NULL;
  o.array = mxCreateNumericMatrix((mwSize)rows, (mwSize)cols, class_of(dtype), is_complex(dtype) ? mxCOMPLEX : mxREAL);
  o.space = space_of(o.array, dtype);
  check(purlin_matrix_borrow(gateway_context(), dtype, 0, rows, cols, rows > 0 ? rows : 1, o.space, &o.matrix));
  (void)temporary_matrix(o.matrix);
  return o;
}

mxArray *finish_output(const output *o) {
  unweave(o->array, o->dtype, o->space);
  return o->array;
}

void add_word(mxArray *target, const char *field, const choice *list, int32_t value) {
  const char *word = "unknown";
  for (; list->word; list++)
    if (list->value == value) word = list->word;
  (void)mxAddField(target, field);
  mxSetField(target, 0, field, mxCreateString(word));
}
