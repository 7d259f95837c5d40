/* The part of DLPack 1.0 that the tests need, written from its specification: struct layouts and numbers only. */
#ifndef PURLIN_TESTS_DLPACK_H
#define PURLIN_TESTS_DLPACK_H

#include <stdint.h>

enum { DL_CPU = 1, DL_CUDA = 2, DL_CUDA_HOST = 3, DL_METAL = 8 };
enum { DL_INT = 0, DL_UINT = 1, DL_FLOAT = 2, DL_COMPLEX = 5 };

struct dl_tensor {
  void *data;
  int32_t device_type, device_id;
  int32_t ndim;
  uint8_t code, bits;
  uint16_t lanes;
  int64_t *shape, *strides;
  uint64_t byte_offset;
};

struct dl_managed {
  uint32_t major, minor;
  void *manager;
  void (*deleter)(struct dl_managed *);
  uint64_t flags;
  struct dl_tensor tensor;
};

#endif
