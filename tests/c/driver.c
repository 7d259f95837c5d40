/* A stand-in for the CUDA driver, to test which functions purlin calls, and where. Its device memory is host memory, copies are
   synchronous, and kernels do nothing. A call in a forked child of the process that called cuInit ends the child, because the real
   driver is undefined there. It exports the functions that src/base/backend/gpu/driver.rs looks up. */
#define _DEFAULT_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The process of cuInit. */
static pid_t owner;

static void enter(const char *name) {
  if (owner == 0 || owner == getpid()) return;
  fprintf(stderr, "%s is called in a child of the process that initialized the driver\n", name);
  abort();
}

/* A new handle, different from all others. */
static void *handle(void) {
  static uintptr_t last = 0x10000;
  return (void *)__sync_add_and_fetch(&last, 16);
}

static void *memory(uint64_t address) { return (void *)(uintptr_t)address; }

/* Slow, as the real one, if PURLIN_TEST_SLOW_DRIVER is set: a process that forks meanwhile has a child with a partly
   initialized driver. */
unsigned cuInit(unsigned flags) {
  (void)flags;
  enter("cuInit");
  owner = getpid();
  if (getenv("PURLIN_TEST_SLOW_DRIVER")) usleep(400000);
  return 0;
}

#define MADE(name, arguments, body) \
  unsigned name arguments {         \
    enter(#name);                   \
    body;                           \
    return 0;                       \
  }

enum { L2 = 38, MAJOR = 75, MINOR = 76, SHARED = 97, MULTIPROCESSORS = 16, CLOCK = 13, POOLS = 115 };

static int attribute(unsigned which) {
  switch (which) {
  case MAJOR: return 9;
  case MINOR: return 0;
  case MULTIPROCESSORS: return 132;
  case SHARED: return 232448;
  case L2: return 50 << 20;
  case CLOCK: return 1980000;
  case POOLS: return 1;
  default: return 1;
  }
}

MADE(cuDriverGetVersion, (int *version), *version = 13000)
MADE(cuGetErrorName, (unsigned code, const char **text), ((void)code, *text = "CUDA_ERROR_OF_THE_STAND_IN"))
MADE(cuDeviceGetCount, (int *count), *count = 1)
MADE(cuDeviceGet, (int *device, int ordinal), *device = ordinal)
MADE(cuDeviceGetName, (char *text, int size, int device), ((void)device, snprintf(text, (size_t)size, "stand-in")))
MADE(cuDeviceGetAttribute, (int *value, unsigned which, int device), ((void)device, *value = attribute(which)))
MADE(cuDeviceTotalMem_v2, (size_t *bytes, int device), ((void)device, *bytes = (size_t)1 << 36))
MADE(cuDevicePrimaryCtxRetain, (void **context, int device), ((void)device, *context = handle()))
MADE(cuMemGetInfo_v2, (size_t *available, size_t *total), *available = *total = (size_t)1 << 36)
MADE(cuMemPoolCreate, (void **pool, const void *properties), ((void)properties, *pool = handle()))
MADE(cuMemAllocFromPoolAsync, (uint64_t *to, size_t bytes, void *pool, void *stream),
     ((void)pool, (void)stream, *to = (uint64_t)(uintptr_t)malloc(bytes)))
MADE(cuMemAlloc_v2, (uint64_t *to, size_t bytes), *to = (uint64_t)(uintptr_t)malloc(bytes))
MADE(cuMemFreeAsync, (uint64_t from, void *stream), ((void)stream, free(memory(from))))
MADE(cuMemFree_v2, (uint64_t from), free(memory(from)))
MADE(cuMemHostAlloc, (void **to, size_t bytes, unsigned flags), ((void)flags, *to = malloc(bytes)))
MADE(cuMemFreeHost, (void *from), free(from))
MADE(cuMemsetD8Async, (uint64_t to, unsigned char value, size_t bytes, void *stream), ((void)stream, memset(memory(to), value, bytes)))
MADE(cuMemcpyHtoDAsync_v2, (uint64_t to, const void *from, size_t bytes, void *stream),
     ((void)stream, memcpy(memory(to), from, bytes)))
MADE(cuMemcpyDtoHAsync_v2, (void *to, uint64_t from, size_t bytes, void *stream), ((void)stream, memcpy(to, memory(from), bytes)))
MADE(cuMemcpyDtoDAsync_v2, (uint64_t to, uint64_t from, size_t bytes, void *stream),
     ((void)stream, memcpy(memory(to), memory(from), bytes)))
MADE(cuStreamCreate, (void **stream, unsigned flags), ((void)flags, *stream = handle()))
MADE(cuStreamIsCapturing, (void *stream, int *status), ((void)stream, *status = 0))
MADE(cuEventCreate, (void **event, unsigned flags), ((void)flags, *event = handle()))
MADE(cuModuleLoadData, (void **module, const void *image), ((void)image, *module = handle()))
MADE(cuModuleGetFunction, (void **function, void *module, const char *name), ((void)module, (void)name, *function = handle()))
MADE(cuFuncGetAttribute, (int *value, unsigned which, void *function), ((void)which, (void)function, *value = 32))

/* The others have nothing to do, or are not called. */
#define IDLE(name) MADE(name, (void), )
IDLE(cuDeviceCanAccessPeer)
IDLE(cuDevicePrimaryCtxRelease_v2)
IDLE(cuCtxPushCurrent_v2)
IDLE(cuCtxPopCurrent_v2)
IDLE(cuMemPoolDestroy)
IDLE(cuMemPoolSetAttribute)
IDLE(cuMemPoolSetAccess)
IDLE(cuMemPoolTrimTo)
IDLE(cuPointerGetAttributes)
IDLE(cuMemcpyPeerAsync)
IDLE(cuMemcpy2DAsync_v2)
IDLE(cuStreamDestroy_v2)
IDLE(cuStreamSynchronize)
IDLE(cuStreamGetCaptureInfo_v2)
IDLE(cuThreadExchangeStreamCaptureMode)
IDLE(cuGraphInstantiateWithFlags)
IDLE(cuGraphLaunch)
IDLE(cuGraphDestroy)
IDLE(cuGraphExecDestroy)
IDLE(cuStreamGetCtx)
IDLE(cuStreamWaitEvent)
IDLE(cuEventDestroy_v2)
IDLE(cuEventRecord)
IDLE(cuEventQuery)
IDLE(cuEventSynchronize)
IDLE(cuEventElapsedTime)
IDLE(cuModuleUnload)
IDLE(cuFuncSetAttribute)
IDLE(cuOccupancyMaxActiveBlocksPerMultiprocessor)
IDLE(cuLaunchKernel)
IDLE(cuLaunchCooperativeKernel)
