/* purlin: heavy numerical jobs on CPUs and NVIDIA GPUs. Generated from src/ffi: do not edit. */

#ifndef PURLIN_H
#define PURLIN_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__) || defined(__clang__)
#define PURLIN_MUST_USE __attribute__((warn_unused_result))
#else
#define PURLIN_MUST_USE
#endif

/**
 * Major version of the header.
 */
#define PURLIN_VERSION_MAJOR 0

/**
 * Minor version of the header.
 */
#define PURLIN_VERSION_MINOR 1

/**
 * Patch version of the header.
 */
#define PURLIN_VERSION_PATCH 0

/**
 * The GPU if there is one, else the CPU.
 */
#define PURLIN_BACKEND_AUTO 0

/**
 * The CPU.
 */
#define PURLIN_BACKEND_CPU 1

/**
 * A GPU; an error if there is none.
 */
#define PURLIN_BACKEND_CUDA 2

/**
 * The best vector instructions the machine has.
 */
#define PURLIN_ISA_AUTO 0

/**
 * No vector instructions beyond the build's target.
 */
#define PURLIN_ISA_PORTABLE 1

/**
 * AVX2 and FMA.
 */
#define PURLIN_ISA_AVX2 2

/**
 * AVX-512.
 */
#define PURLIN_ISA_AVX512 3

/**
 * No messages.
 */
#define PURLIN_LOG_OFF 0

/**
 * Something failed.
 */
#define PURLIN_LOG_ERROR 1

/**
 * Something is not as asked, but the call goes on.
 */
#define PURLIN_LOG_WARN 2

/**
 * What was chosen, and why.
 */
#define PURLIN_LOG_INFO 3

/**
 * Details for developers.
 */
#define PURLIN_LOG_DEBUG 4

/**
 * Every entry is stored.
 */
#define PURLIN_DENSE 0

/**
 * Compressed sparse rows.
 */
#define PURLIN_CSR 1

/**
 * Result of every fallible function: 0, or negative. Values are never reused.
 */
enum purlin_status
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /**
   * Done.
   */
  PURLIN_SUCCESS = 0,
  /**
   * An argument lies outside its documented domain.
   */
  PURLIN_ERROR_INVALID_ARGUMENT = -1,
  /**
   * A handle is null, destroyed or of another type.
   */
  PURLIN_ERROR_INVALID_HANDLE = -2,
  /**
   * An object is in use by another call.
   */
  PURLIN_ERROR_BUSY = -3,
  /**
   * Host memory is not to be had, the context's limit included.
   */
  PURLIN_ERROR_OUT_OF_MEMORY = -4,
  /**
   * Device memory is not to be had, the context's limit included.
   */
  PURLIN_ERROR_OUT_OF_DEVICE_MEMORY = -5,
  /**
   * The tolerance was not met; outputs hold the last iterate.
   */
  PURLIN_ERROR_NO_CONVERGENCE = -6,
  /**
   * Cancelled by the progress callback or by `purlin_context_cancel`.
   */
  PURLIN_ERROR_CANCELLED = -7,
  /**
   * No driver, or no such GPU.
   */
  PURLIN_ERROR_NO_DEVICE = -8,
  /**
   * The CUDA driver failed; the message has its name and number for the error.
   */
  PURLIN_ERROR_CUDA = -9,
  /**
   * This type, shape or device combination is not supported.
   */
  PURLIN_ERROR_NOT_SUPPORTED = -10,
  /**
   * Overflow, breakdown, singularity.
   */
  PURLIN_ERROR_NUMERICAL = -11,
  /**
   * A file could not be read or written.
   */
  PURLIN_ERROR_IO = -12,
  /**
   * The context was made before `fork()` and is used in the child.
   */
  PURLIN_ERROR_FORKED = -13,
  /**
   * A bug in purlin; the object is unusable from now on.
   */
  PURLIN_ERROR_INTERNAL = -14,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum purlin_status purlin_status;
#else
typedef int32_t purlin_status;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * Backend, thread pool, memory limits and log; everything else belongs to one. Thread-safe.
 */
typedef struct purlin_context purlin_context;

/**
 * A matrix: dense with a leading dimension, or compressed sparse rows; on the host or on the context's GPU.
 */
typedef struct purlin_matrix purlin_matrix;

/**
 * An ordered queue of work of a context. On a GPU it is a CUDA stream; on the CPU calls are complete on return.
 */
typedef struct purlin_stream purlin_stream;

/**
 * An array of numbers: dense of any rank, or a batch of packed symmetric tensors; on the host or on the context's GPU.
 */
typedef struct purlin_tensor purlin_tensor;

/**
 * What a GPU is.
 */
typedef struct purlin_device_info {
  /**
   * Size of the caller's struct; set by purlin_device_info_init.
   */
  size_t struct_size;
  /**
   * Ordinal of the device, as the driver counts.
   */
  int32_t ordinal;
  /**
   * Compute capability, major.
   */
  int32_t compute_capability_major;
  /**
   * Compute capability, minor.
   */
  int32_t compute_capability_minor;
  /**
   * Number of multiprocessors.
   */
  int32_t multiprocessors;
  /**
   * Bytes of device memory.
   */
  int64_t memory_total;
  /**
   * Bytes of device memory that are free now.
   */
  int64_t memory_free;
  /**
   * Bytes of L2 cache.
   */
  int64_t l2_bytes;
  /**
   * Most bytes of shared memory that a block can have.
   */
  int64_t shared_memory_per_block;
  /**
   * Peak clock of the multiprocessors in kHz.
   */
  int32_t clock_khz;
  /**
   * Version of the driver's CUDA interface, 13000 for 13.0.
   */
  int32_t driver_version;
  /**
   * The driver's name of the device, terminated.
   */
  char name[128];
} purlin_device_info;

/**
 * Takes one log message: one line of UTF-8, valid during the call. May be called from any thread. It must not
 * throw, longjmp or unwind.
 */
typedef void (*purlin_log_fn)(int32_t level,
                              const char *message,
                              void *user);

/**
 * How a context is made.
 */
typedef struct purlin_context_options {
  /**
   * Size of the caller's struct; set by purlin_context_options_init.
   */
  size_t struct_size;
  /**
   * One of PURLIN_BACKEND_*; default AUTO.
   */
  int32_t backend;
  /**
   * Ordinal of the GPU; default 0.
   */
  int32_t device;
  /**
   * Threads of the context's pool; 0, the default, is one a core.
   */
  int32_t threads;
  /**
   * One of PURLIN_ISA_*; default AUTO.
   */
  int32_t cpu_isa;
  /**
   * Bytes of host memory that purlin may allocate; 0, the default, is no limit.
   */
  int64_t host_memory_limit;
  /**
   * Bytes of device memory that purlin may allocate; 0, the default, is no limit.
   */
  int64_t device_memory_limit;
  /**
   * One of PURLIN_LOG_*; default OFF.
   */
  int32_t log_level;
  /**
   * 0.
   */
  int32_t reserved;
  /**
   * Takes the messages; default NULL.
   */
  purlin_log_fn log;
  /**
   * Handed to `log`.
   */
  void *log_user;
} purlin_context_options;

/**
 * What a context runs on.
 */
typedef struct purlin_context_info {
  /**
   * Size of the caller's struct; set by purlin_context_info_init.
   */
  size_t struct_size;
  /**
   * PURLIN_BACKEND_CPU or PURLIN_BACKEND_CUDA.
   */
  int32_t backend;
  /**
   * Ordinal of the GPU, -1 on the CPU.
   */
  int32_t device;
  /**
   * Threads of the pool.
   */
  int32_t threads;
  /**
   * One of PURLIN_ISA_*, not AUTO.
   */
  int32_t cpu_isa;
  /**
   * Bytes of host memory that purlin may allocate, 0 for no limit.
   */
  int64_t host_memory_limit;
  /**
   * Bytes of device memory that purlin may allocate, 0 for no limit.
   */
  int64_t device_memory_limit;
  /**
   * Bytes of host memory held by this context's objects.
   */
  int64_t host_memory_used;
  /**
   * Bytes of device memory held by this context's objects.
   */
  int64_t device_memory_used;
  /**
   * Name of the GPU, or "CPU"; terminated.
   */
  char device_name[128];
} purlin_context_info;

/**
 * Element type: one of PURLIN_F32 to PURLIN_F16.
 */
typedef int32_t purlin_dtype;

/**
 * Where memory lies: PURLIN_HOST or PURLIN_DEVICE.
 */
typedef int32_t purlin_location;

/**
 * A set of PURLIN_ROW_MAJOR, PURLIN_READ_ONLY, PURLIN_PINNED and PURLIN_ENTRY_MAJOR, or 0.
 */
typedef int32_t purlin_flags;

/**
 * What a tensor is.
 */
typedef struct purlin_tensor_info {
  /**
   * Size of the caller's struct; set by purlin_tensor_info_init.
   */
  size_t struct_size;
  /**
   * Element type, one of PURLIN_F32 to PURLIN_F16.
   */
  int32_t dtype;
  /**
   * PURLIN_HOST or PURLIN_DEVICE.
   */
  int32_t location;
  /**
   * Number of dimensions; 2 for a symmetric batch (packed entries, tensors).
   */
  int32_t ndim;
  /**
   * PURLIN_READ_ONLY, or 0.
   */
  int32_t flags;
  /**
   * Order of the symmetric tensors; 0 for a dense tensor.
   */
  int32_t symmetric_order;
  /**
   * 1 if purlin allocated the memory, else 0.
   */
  int32_t owned;
  /**
   * Dimension of the symmetric tensors; 0 for a dense tensor.
   */
  int64_t symmetric_dimension;
  /**
   * Number of elements.
   */
  int64_t elements;
  /**
   * Bytes from the first element to one past the last.
   */
  int64_t bytes;
  /**
   * Address of the first element, on the host or the device.
   */
  uint64_t data;
} purlin_tensor_info;

/**
 * What a matrix is.
 */
typedef struct purlin_matrix_info {
  /**
   * Size of the caller's struct; set by purlin_matrix_info_init.
   */
  size_t struct_size;
  /**
   * Element type.
   */
  int32_t dtype;
  /**
   * PURLIN_HOST or PURLIN_DEVICE.
   */
  int32_t location;
  /**
   * PURLIN_DENSE or PURLIN_CSR.
   */
  int32_t storage;
  /**
   * PURLIN_ROW_MAJOR and PURLIN_READ_ONLY, where they hold.
   */
  int32_t flags;
  /**
   * Number of rows.
   */
  int64_t rows;
  /**
   * Number of columns.
   */
  int64_t cols;
  /**
   * Leading dimension in elements; 0 for a sparse matrix.
   */
  int64_t ld;
  /**
   * Stored entries: rows * cols for a dense matrix.
   */
  int64_t nnz;
  /**
   * Bytes of all arrays.
   */
  int64_t bytes;
  /**
   * Address of the entries or values; 0 for a pattern.
   */
  uint64_t data;
  /**
   * Address of the row offsets; 0 for a dense matrix.
   */
  uint64_t row_ptr;
  /**
   * Address of the column indices; 0 for a dense matrix.
   */
  uint64_t col_idx;
  /**
   * First index of a sparse matrix, 0 or 1.
   */
  int32_t index_base;
  /**
   * Type of the row offsets.
   */
  int32_t row_ptr_type;
  /**
   * Type of the column indices.
   */
  int32_t col_idx_type;
  /**
   * 1 if purlin allocated the memory, else 0.
   */
  int32_t owned;
} purlin_matrix_info;

/**
 * 32-bit IEEE float.
 */
#define PURLIN_F32 0

/**
 * 64-bit IEEE float.
 */
#define PURLIN_F64 1

/**
 * Complex of two 32-bit floats, {re, im}.
 */
#define PURLIN_CF32 2

/**
 * Complex of two 64-bit floats, {re, im}.
 */
#define PURLIN_CF64 3

/**
 * Signed 32-bit integer.
 */
#define PURLIN_I32 4

/**
 * Signed 64-bit integer.
 */
#define PURLIN_I64 5

/**
 * Unsigned 8-bit integer.
 */
#define PURLIN_U8 6

/**
 * Unsigned 16-bit integer.
 */
#define PURLIN_U16 7

/**
 * 16-bit IEEE float.
 */
#define PURLIN_F16 8

/**
 * Host memory.
 */
#define PURLIN_HOST 0

/**
 * Memory of the context's GPU.
 */
#define PURLIN_DEVICE 1

/**
 * Packed storage runs through the last index fastest.
 */
#define PURLIN_ROW_MAJOR 1

/**
 * The memory is only read; a call that would write to it is refused.
 */
#define PURLIN_READ_ONLY 2

/**
 * Host memory that a GPU copies to and from at full speed; ordinary memory in a context on the CPU.
 */
#define PURLIN_PINNED 4

/**
 * Symmetric batches: all tensors' first entries, then all second ones.
 */
#define PURLIN_ENTRY_MAJOR 8

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * Version of the library: major * 10000 + minor * 100 + patch. A program compares it with the header's.
 */
PURLIN_MUST_USE
int32_t purlin_version(void);

/**
 * How the library was built, as one line of text: version, target, and the GPU architectures of its kernels, or that
 * it has none. Never NULL; lives as long as the library.
 */
PURLIN_MUST_USE
const char *purlin_build_info(void);

/**
 * Name of a status, as its constant is spelled. Any integer is accepted. Never NULL.
 */
PURLIN_MUST_USE
const char *purlin_status_string(int32_t status);

/**
 * What went wrong in this thread's last call: one line of UTF-8 that names the argument, what was found and what was
 * expected; "" after a success. Never NULL; valid until this thread's next purlin call.
 */
PURLIN_MUST_USE
const char *purlin_last_error_message(void);

/**
 * Number of objects that were made and not destroyed, in the whole process. A program that cleans up ends at 0.
 */
PURLIN_MUST_USE
int64_t purlin_live_handles(void);

/**
 * Number of GPUs. Without a driver the answer is 0 and the call succeeds.
 *
 * @param[out] count  number of GPUs.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer), `PURLIN_ERROR_CUDA`.
 *
 * @pre `count` is NULL or valid for writing.
 */
PURLIN_MUST_USE
purlin_status purlin_device_count(int32_t *count);

/**
 * Sets `struct_size` and zeroes the rest.
 *
 * @param[out] info  the struct.
 * @param      size  `sizeof *info`.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, impossible size).
 *
 * @pre `info` is NULL or valid for `size` writable bytes.
 */
PURLIN_MUST_USE
purlin_status purlin_device_info_init(struct purlin_device_info *info,
                                      size_t size);

/**
 * Properties of a GPU.
 *
 * @param      ordinal  0 to the number of GPUs less 1.
 * @param[out] info     filled in; initialise it with purlin_device_info_init.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, struct_size),
 * `PURLIN_ERROR_NO_DEVICE` (no driver, no such GPU), `PURLIN_ERROR_CUDA`.
 *
 * @pre `info` is NULL or an initialised struct.
 */
PURLIN_MUST_USE
purlin_status purlin_device_properties(int32_t ordinal,
                                       struct purlin_device_info *info);

/**
 * Writes the defaults: the GPU if there is one, all cores, no limits, no log.
 *
 * @param[out] options  the struct.
 * @param      size     `sizeof *options`.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, impossible size).
 *
 * @pre `options` is NULL or valid for `size` writable bytes.
 */
PURLIN_MUST_USE
purlin_status purlin_context_options_init(struct purlin_context_options *options,
                                          size_t size);

/**
 * Makes a context.
 *
 * On a GPU it uses the device's primary context, so that memory of the caller's CUDA runtime code is shared.
 *
 * @param      options  NULL for the defaults.
 * @param[out] context  the context; destroy it with purlin_context_destroy.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, unknown constant, negative number),
 * `PURLIN_ERROR_NO_DEVICE` (a GPU is asked for and there is none), `PURLIN_ERROR_NOT_SUPPORTED` (vector instructions
 * that the machine lacks), `PURLIN_ERROR_OUT_OF_MEMORY`, `PURLIN_ERROR_CUDA`.
 *
 * @pre `options` is NULL or an initialised struct, `context` is NULL or valid for writing.
 */
PURLIN_MUST_USE
purlin_status purlin_context_create(const struct purlin_context_options *options,
                                    struct purlin_context **context);

/**
 * Destroys a context. Objects that belong to it keep working; it goes when the last of them is gone.
 *
 * @param context  the context; NULL does nothing.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`.
 */
purlin_status purlin_context_destroy(struct purlin_context *context);

/**
 * Sets `struct_size` and zeroes the rest.
 *
 * @param[out] info  the struct.
 * @param      size  `sizeof *info`.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, impossible size).
 *
 * @pre `info` is NULL or valid for `size` writable bytes.
 */
PURLIN_MUST_USE
purlin_status purlin_context_info_init(struct purlin_context_info *info,
                                       size_t size);

/**
 * What a context runs on, and the memory it holds.
 *
 * @param      context  the context.
 * @param[out] info     filled in; initialise it with purlin_context_info_init.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer,
 * struct_size), `PURLIN_ERROR_FORKED`.
 *
 * @pre `info` is NULL or an initialised struct.
 */
PURLIN_MUST_USE
purlin_status purlin_context_properties(const struct purlin_context *context,
                                        struct purlin_context_info *info);

/**
 * Replaces the log of a context.
 *
 * @param context  the context; no other call may use it meanwhile.
 * @param level    one of PURLIN_LOG_*.
 * @param log      takes the messages from any thread; NULL for none.
 * @param user     handed to `log`.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (unknown level).
 *
 * @pre `log` may be called with `user` from any thread until the context is gone or has another log.
 */
PURLIN_MUST_USE
purlin_status purlin_context_set_log(struct purlin_context *context,
                                     int32_t level,
                                     purlin_log_fn log,
                                     void *user);

/**
 * Cancels the calls that run in this context now; each returns `PURLIN_ERROR_CANCELLED` within one tile of its work
 * and frees what it held. Later calls are not touched. May be called from any thread and from a progress function.
 *
 * @param context  the context.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_FORKED`.
 */
PURLIN_MUST_USE
purlin_status purlin_context_cancel(const struct purlin_context *context);

/**
 * Makes a stream.
 *
 * @param      context  the context it belongs to.
 * @param[out] stream   the stream; destroy it with purlin_stream_destroy.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer),
 * `PURLIN_ERROR_CUDA`.
 *
 * @pre `stream` is NULL or valid for writing.
 */
PURLIN_MUST_USE
purlin_status purlin_stream_create(const struct purlin_context *context,
                                   struct purlin_stream **stream);

/**
 * Lets purlin enqueue on a caller's CUDA stream, which stays the caller's and must outlive the handle.
 *
 * @param      context      a context on the GPU of that stream.
 * @param      cuda_stream  the `CUstream` (or `cudaStream_t`) as an integer; 0 is the legacy default stream.
 * @param[out] stream       the stream; destroying it leaves the caller's alone.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, a stream of
 * another device), `PURLIN_ERROR_NOT_SUPPORTED` (a context on the CPU), `PURLIN_ERROR_CUDA`.
 *
 * @pre `cuda_stream` is a live stream or 0, `stream` is NULL or valid for writing.
 */
PURLIN_MUST_USE
purlin_status purlin_stream_wrap(const struct purlin_context *context,
                                 uint64_t cuda_stream,
                                 struct purlin_stream **stream);

/**
 * Waits until all work enqueued on a stream is done.
 *
 * @param stream  the stream.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, or what an asynchronous call failed with.
 */
PURLIN_MUST_USE
purlin_status purlin_stream_synchronize(const struct purlin_stream *stream);

/**
 * Destroys a stream. Work enqueued on it still completes.
 *
 * @param stream  the stream; NULL does nothing.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`.
 */
purlin_status purlin_stream_destroy(struct purlin_stream *stream);

/**
 * Makes a dense tensor of purlin's own memory, zeroed.
 *
 * @param      context   the context it belongs to.
 * @param      dtype     element type.
 * @param      location  PURLIN_HOST or PURLIN_DEVICE.
 * @param      flags     PURLIN_ROW_MAJOR, PURLIN_PINNED or 0.
 * @param      ndim      number of dimensions, 0 to 32; 0 is a single number.
 * @param[in]  dims      `ndim` sizes, not negative.
 * @param[out] tensor    the tensor; destroy it with purlin_tensor_destroy.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (unknown constant,
 * negative or too large size, NULL pointer), `PURLIN_ERROR_NOT_SUPPORTED` (device memory in a context on the CPU),
 * `PURLIN_ERROR_OUT_OF_MEMORY`, `PURLIN_ERROR_OUT_OF_DEVICE_MEMORY`.
 *
 * @pre `dims` is NULL or valid for `ndim` elements, `tensor` is NULL or valid for writing.
 */
PURLIN_MUST_USE
purlin_status purlin_tensor_create(const struct purlin_context *context,
                                   purlin_dtype dtype,
                                   purlin_location location,
                                   purlin_flags flags,
                                   int32_t ndim,
                                   const int64_t *dims,
                                   struct purlin_tensor **tensor);

/**
 * Makes a dense tensor over the caller's host memory, which must outlive the handle.
 *
 * @param      context  the context it belongs to.
 * @param      dtype    element type.
 * @param      flags    PURLIN_ROW_MAJOR (for `strides` NULL), PURLIN_READ_ONLY or 0.
 * @param      ndim     number of dimensions, 0 to 32.
 * @param[in]  dims     `ndim` sizes, not negative.
 * @param[in]  strides  `ndim` strides in elements, not negative; NULL for packed storage.
 * @param[in]  data     the first element, aligned as its component type.
 * @param[out] tensor   the tensor; destroy it with purlin_tensor_destroy.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT`.
 *
 * @pre `data` is valid for the extent of `dims` and `strides` while the handle lives, the arrays for `ndim` elements.
 */
PURLIN_MUST_USE
purlin_status purlin_tensor_borrow(const struct purlin_context *context,
                                   purlin_dtype dtype,
                                   purlin_flags flags,
                                   int32_t ndim,
                                   const int64_t *dims,
                                   const int64_t *strides,
                                   void *data,
                                   struct purlin_tensor **tensor);

/**
 * Makes a dense tensor over the caller's device memory, which must outlive the handle.
 *
 * @param      context  a context on the GPU of that memory.
 * @param      dtype    element type.
 * @param      flags    PURLIN_ROW_MAJOR (for `strides` NULL), PURLIN_READ_ONLY or 0.
 * @param      ndim     number of dimensions, 0 to 32.
 * @param[in]  dims     `ndim` sizes, not negative.
 * @param[in]  strides  `ndim` strides in elements, not negative; NULL for packed storage.
 * @param      data     the `CUdeviceptr` of the first element (a pointer of the CUDA runtime, as an integer).
 * @param[out] tensor   the tensor; destroy it with purlin_tensor_destroy.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (also memory that is not
 * this GPU's), `PURLIN_ERROR_NOT_SUPPORTED` (a context on the CPU), `PURLIN_ERROR_CUDA`.
 *
 * @pre As for purlin_tensor_borrow.
 */
PURLIN_MUST_USE
purlin_status purlin_tensor_borrow_device(const struct purlin_context *context,
                                          purlin_dtype dtype,
                                          purlin_flags flags,
                                          int32_t ndim,
                                          const int64_t *dims,
                                          const int64_t *strides,
                                          uint64_t data,
                                          struct purlin_tensor **tensor);

/**
 * Makes a batch of packed symmetric tensors of purlin's own memory, zeroed.
 *
 * Each tensor has U = C(order + dimension - 1, order) entries in lexicographic order of the nondecreasing index
 * tuples (purlin_symmetric_indices lists them), not multiplied by the number of their permutations.
 *
 * @param      context    the context it belongs to.
 * @param      dtype      PURLIN_F32 or PURLIN_F64.
 * @param      location   PURLIN_HOST or PURLIN_DEVICE.
 * @param      flags      PURLIN_PINNED, PURLIN_ENTRY_MAJOR or 0.
 * @param      order      number of indices, at least 2.
 * @param      dimension  range of each index, at least 1; U may not exceed 2^31 - 1.
 * @param      count      number of tensors, not negative.
 * @param[out] tensor     the batch; destroy it with purlin_tensor_destroy.
 * @return as purlin_tensor_create.
 *
 * @pre `tensor` is NULL or valid for writing.
 */
PURLIN_MUST_USE
purlin_status purlin_tensor_create_symmetric(const struct purlin_context *context,
                                             purlin_dtype dtype,
                                             purlin_location location,
                                             purlin_flags flags,
                                             int32_t order,
                                             int64_t dimension,
                                             int64_t count,
                                             struct purlin_tensor **tensor);

/**
 * Makes a batch of packed symmetric tensors over the caller's host memory, which must outlive the handle.
 *
 * @param      context        the context it belongs to.
 * @param      dtype          PURLIN_F32 or PURLIN_F64.
 * @param      flags          PURLIN_ENTRY_MAJOR (for zero strides), PURLIN_READ_ONLY or 0.
 * @param      order          number of indices, at least 2.
 * @param      dimension      range of each index, at least 1.
 * @param      count          number of tensors, not negative.
 * @param      entry_stride   elements from one entry of a tensor to its next.
 * @param      tensor_stride  elements from one tensor to the next; both 0 mean packed: 1 and U, or `count` and 1 with
 *                            PURLIN_ENTRY_MAJOR.
 * @param[in]  data           first entry of the first tensor.
 * @param[out] tensor         the batch; destroy it with purlin_tensor_destroy.
 * @return as purlin_tensor_borrow.
 *
 * @pre `data` is valid for the extent of the batch while the handle lives, `tensor` is NULL or valid for writing.
 */
PURLIN_MUST_USE
purlin_status purlin_tensor_borrow_symmetric(const struct purlin_context *context,
                                             purlin_dtype dtype,
                                             purlin_flags flags,
                                             int32_t order,
                                             int64_t dimension,
                                             int64_t count,
                                             int64_t entry_stride,
                                             int64_t tensor_stride,
                                             void *data,
                                             struct purlin_tensor **tensor);

/**
 * Makes a batch of packed symmetric tensors over the caller's device memory, which must outlive the handle.
 *
 * @param      context        a context on the GPU of that memory.
 * @param      dtype          PURLIN_F32 or PURLIN_F64.
 * @param      flags          PURLIN_ENTRY_MAJOR (for zero strides), PURLIN_READ_ONLY or 0.
 * @param      order          number of indices, at least 2.
 * @param      dimension      range of each index, at least 1.
 * @param      count          number of tensors, not negative.
 * @param      entry_stride   as purlin_tensor_borrow_symmetric.
 * @param      tensor_stride  as purlin_tensor_borrow_symmetric.
 * @param      data           `CUdeviceptr` of the first entry of the first tensor.
 * @param[out] tensor         the batch; destroy it with purlin_tensor_destroy.
 * @return as purlin_tensor_borrow_device.
 *
 * @pre As for purlin_tensor_borrow_symmetric.
 */
PURLIN_MUST_USE
purlin_status purlin_tensor_borrow_symmetric_device(const struct purlin_context *context,
                                                    purlin_dtype dtype,
                                                    purlin_flags flags,
                                                    int32_t order,
                                                    int64_t dimension,
                                                    int64_t count,
                                                    int64_t entry_stride,
                                                    int64_t tensor_stride,
                                                    uint64_t data,
                                                    struct purlin_tensor **tensor);

/**
 * Copies a tensor into another of the same dimensions and element type, in any direction between host and device.
 *
 * Host destinations are complete on return, device destinations in stream order. Host tensors may have any strides;
 * device tensors must be packed.
 *
 * @param      context      the context of both tensors.
 * @param      stream       NULL for the context's own.
 * @param      source       read.
 * @param      destination  written.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (other dimensions, type or
 * context, overlap, read-only destination), `PURLIN_ERROR_NOT_SUPPORTED` (strided device memory),
 * `PURLIN_ERROR_OUT_OF_MEMORY`, `PURLIN_ERROR_CUDA`.
 */
PURLIN_MUST_USE
purlin_status purlin_tensor_copy(const struct purlin_context *context,
                                 const struct purlin_stream *stream,
                                 const struct purlin_tensor *source,
                                 struct purlin_tensor *destination);

/**
 * Sets `struct_size` and zeroes the rest.
 *
 * @param[out] info  the struct.
 * @param      size  `sizeof *info`.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, impossible size).
 *
 * @pre `info` is NULL or valid for `size` writable bytes.
 */
PURLIN_MUST_USE
purlin_status purlin_tensor_info_init(struct purlin_tensor_info *info,
                                      size_t size);

/**
 * What a tensor is. Its sizes are in purlin_tensor_shape.
 *
 * @param      tensor  the tensor.
 * @param[out] info    filled in; initialise it with purlin_tensor_info_init.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer,
 * struct_size).
 *
 * @pre `info` is NULL or an initialised struct.
 */
PURLIN_MUST_USE
purlin_status purlin_tensor_properties(const struct purlin_tensor *tensor,
                                       struct purlin_tensor_info *info);

/**
 * Sizes and strides of a tensor.
 *
 * @param      tensor    the tensor.
 * @param      capacity  elements that each array has room for, at least the number of dimensions.
 * @param[out] dims      sizes; may be NULL.
 * @param[out] strides   strides in elements; may be NULL.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (capacity).
 *
 * @pre Each array is NULL or valid for `capacity` elements.
 */
PURLIN_MUST_USE
purlin_status purlin_tensor_shape(const struct purlin_tensor *tensor,
                                  int32_t capacity,
                                  int64_t *dims,
                                  int64_t *strides);

/**
 * Destroys a tensor, and frees its memory if that is purlin's.
 *
 * @param tensor  the tensor; NULL does nothing.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`.
 */
purlin_status purlin_tensor_destroy(struct purlin_tensor *tensor);

/**
 * Takes a DLPack tensor. Its memory is used in place; its deleter is called exactly once: when the handle is gone, or
 * before this call returns a failure.
 *
 * @param      context  the context it will belong to.
 * @param      managed  a `DLManagedTensorVersioned *` of DLPack 1.x, owned by purlin from now on.
 * @param[out] tensor   the tensor; destroy it with purlin_tensor_destroy.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, shape),
 * `PURLIN_ERROR_NOT_SUPPORTED` (another DLPack version, type or device).
 *
 * @pre `managed` is NULL or a live capsule, `tensor` is NULL or valid for writing.
 */
PURLIN_MUST_USE
purlin_status purlin_tensor_from_dlpack(const struct purlin_context *context,
                                        void *managed,
                                        struct purlin_tensor **tensor);

/**
 * Gives a tensor to another library by DLPack, in place. The memory stays alive until the capsule's deleter is
 * called, also after the handle is destroyed. On a GPU the receiver must order its work behind the tensor's stream.
 *
 * @param      tensor   the tensor. A symmetric batch goes out as its array of packed entries.
 * @param[out] managed  a `DLManagedTensorVersioned *`; whoever receives it calls its deleter.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer).
 *
 * @pre `managed` is NULL or valid for writing.
 */
PURLIN_MUST_USE
purlin_status purlin_tensor_to_dlpack(const struct purlin_tensor *tensor,
                                      void **managed);

/**
 * Makes a dense matrix of purlin's own memory, zeroed and packed.
 *
 * @param      context   the context it belongs to.
 * @param      dtype     element type.
 * @param      location  PURLIN_HOST or PURLIN_DEVICE.
 * @param      flags     PURLIN_ROW_MAJOR, PURLIN_PINNED or 0.
 * @param      rows      number of rows, not negative.
 * @param      cols      number of columns, not negative.
 * @param[out] matrix    the matrix; destroy it with purlin_matrix_destroy.
 * @return as purlin_tensor_create.
 *
 * @pre `matrix` is NULL or valid for writing.
 */
PURLIN_MUST_USE
purlin_status purlin_matrix_create(const struct purlin_context *context,
                                   purlin_dtype dtype,
                                   purlin_location location,
                                   purlin_flags flags,
                                   int64_t rows,
                                   int64_t cols,
                                   struct purlin_matrix **matrix);

/**
 * Makes a dense matrix over the caller's host memory, which must outlive the handle.
 *
 * @param      context  the context it belongs to.
 * @param      dtype    element type.
 * @param      flags    PURLIN_ROW_MAJOR, PURLIN_READ_ONLY or 0.
 * @param      rows     number of rows, not negative.
 * @param      cols     number of columns, not negative.
 * @param      ld       elements from one column to the next, at least `rows` (row-major: from one row to the next, at
 *                      least `cols`), and at least 1.
 * @param[in]  data     the first entry.
 * @param[out] matrix   the matrix; destroy it with purlin_matrix_destroy.
 * @return as purlin_tensor_borrow.
 *
 * @pre `data` is valid for `(cols - 1) * ld + rows` elements (row-major: rows and cols exchanged) while the handle lives,
 * `matrix` is NULL or valid for writing.
 */
PURLIN_MUST_USE
purlin_status purlin_matrix_borrow(const struct purlin_context *context,
                                   purlin_dtype dtype,
                                   purlin_flags flags,
                                   int64_t rows,
                                   int64_t cols,
                                   int64_t ld,
                                   void *data,
                                   struct purlin_matrix **matrix);

/**
 * Makes a dense matrix over the caller's device memory, which must outlive the handle.
 *
 * @param      context  a context on the GPU of that memory.
 * @param      dtype    element type.
 * @param      flags    PURLIN_ROW_MAJOR, PURLIN_READ_ONLY or 0.
 * @param      rows     number of rows, not negative.
 * @param      cols     number of columns, not negative.
 * @param      ld       as purlin_matrix_borrow.
 * @param      data     `CUdeviceptr` of the first entry.
 * @param[out] matrix   the matrix; destroy it with purlin_matrix_destroy.
 * @return as purlin_tensor_borrow_device.
 *
 * @pre As for purlin_matrix_borrow.
 */
PURLIN_MUST_USE
purlin_status purlin_matrix_borrow_device(const struct purlin_context *context,
                                          purlin_dtype dtype,
                                          purlin_flags flags,
                                          int64_t rows,
                                          int64_t cols,
                                          int64_t ld,
                                          uint64_t data,
                                          struct purlin_matrix **matrix);

/**
 * Makes a sparse matrix over the caller's compressed sparse rows, which must outlive the handle. The indices are
 * checked once, here; rows need not be sorted. The matrix is read-only.
 *
 * @param      context       the context it belongs to.
 * @param      dtype         element type, also of a pattern (`values` NULL).
 * @param      index_base    0 or 1: the first row and column number.
 * @param      rows          number of rows, not negative.
 * @param      cols          number of columns, not negative.
 * @param      nnz           number of stored entries, not negative.
 * @param      row_ptr_type  PURLIN_I32 or PURLIN_I64.
 * @param[in]  row_ptr       host, `rows + 1` offsets that start at `index_base`, do not decrease and end at
 *                           `nnz + index_base`.
 * @param      col_idx_type  PURLIN_I32 or PURLIN_I64.
 * @param[in]  col_idx       host, `nnz` columns.
 * @param[in]  values        host, `nnz` values; NULL for a pattern whose entries are all 1.
 * @param[out] matrix        the matrix; destroy it with purlin_matrix_destroy.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (the first wrong offset or
 * column is named). O(rows + nnz).
 *
 * @pre The arrays are valid for the stated numbers of elements while the handle lives.
 */
PURLIN_MUST_USE
purlin_status purlin_matrix_borrow_csr(const struct purlin_context *context,
                                       purlin_dtype dtype,
                                       int32_t index_base,
                                       int64_t rows,
                                       int64_t cols,
                                       int64_t nnz,
                                       purlin_dtype row_ptr_type,
                                       const void *row_ptr,
                                       purlin_dtype col_idx_type,
                                       const void *col_idx,
                                       const void *values,
                                       struct purlin_matrix **matrix);

/**
 * As purlin_matrix_borrow_csr, but copies the arrays, which may go after the call.
 *
 * @param      context       the context it belongs to.
 * @param      dtype         element type, also of a pattern (`values` NULL).
 * @param      index_base    0 or 1: the first row and column number.
 * @param      rows          number of rows, not negative.
 * @param      cols          number of columns, not negative.
 * @param      nnz           number of stored entries, not negative.
 * @param      row_ptr_type  PURLIN_I32 or PURLIN_I64.
 * @param[in]  row_ptr       host, `rows + 1` offsets.
 * @param      col_idx_type  PURLIN_I32 or PURLIN_I64.
 * @param[in]  col_idx       host, `nnz` columns.
 * @param[in]  values        host, `nnz` values; NULL for a pattern.
 * @param[out] matrix        the matrix; destroy it with purlin_matrix_destroy.
 * @return as purlin_matrix_borrow_csr, and `PURLIN_ERROR_OUT_OF_MEMORY`.
 *
 * @pre The arrays are valid for the stated numbers of elements during the call.
 */
PURLIN_MUST_USE
purlin_status purlin_matrix_copy_csr(const struct purlin_context *context,
                                     purlin_dtype dtype,
                                     int32_t index_base,
                                     int64_t rows,
                                     int64_t cols,
                                     int64_t nnz,
                                     purlin_dtype row_ptr_type,
                                     const void *row_ptr,
                                     purlin_dtype col_idx_type,
                                     const void *col_idx,
                                     const void *values,
                                     struct purlin_matrix **matrix);

/**
 * Copies a dense matrix into another of the same size and element type, in any direction between host and device.
 *
 * @param      context      the context of both matrices.
 * @param      stream       NULL for the context's own.
 * @param      source       read.
 * @param      destination  written.
 * @return as purlin_tensor_copy; `PURLIN_ERROR_NOT_SUPPORTED` for sparse matrices.
 */
PURLIN_MUST_USE
purlin_status purlin_matrix_copy(const struct purlin_context *context,
                                 const struct purlin_stream *stream,
                                 const struct purlin_matrix *source,
                                 struct purlin_matrix *destination);

/**
 * Sets `struct_size` and zeroes the rest.
 *
 * @param[out] info  the struct.
 * @param      size  `sizeof *info`.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, impossible size).
 *
 * @pre `info` is NULL or valid for `size` writable bytes.
 */
PURLIN_MUST_USE
purlin_status purlin_matrix_info_init(struct purlin_matrix_info *info,
                                      size_t size);

/**
 * What a matrix is.
 *
 * @param      matrix  the matrix.
 * @param[out] info    filled in; initialise it with purlin_matrix_info_init.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer,
 * struct_size).
 *
 * @pre `info` is NULL or an initialised struct.
 */
PURLIN_MUST_USE
purlin_status purlin_matrix_properties(const struct purlin_matrix *matrix,
                                       struct purlin_matrix_info *info);

/**
 * Destroys a matrix, and frees its memory if that is purlin's.
 *
 * @param matrix  the matrix; NULL does nothing.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`.
 */
purlin_status purlin_matrix_destroy(struct purlin_matrix *matrix);

/**
 * Writes the defaults: the GPU if there is one, all cores, no limits, no log.
 *
 * @param[out] options  the struct.
 * @param      size     `sizeof *options`.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, impossible size).
 *
 * @pre `options` is NULL or valid for `size` writable bytes.
 */
PURLIN_MUST_USE
purlin_status purlin_context_options_init(struct purlin_context_options *options,
                                          size_t size);

/**
 * Makes a context.
 *
 * On a GPU it uses the device's primary context, so that memory of the caller's CUDA runtime code is shared.
 *
 * @param      options  NULL for the defaults.
 * @param[out] context  the context; destroy it with purlin_context_destroy.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, unknown constant, negative number),
 * `PURLIN_ERROR_NO_DEVICE` (a GPU is asked for and there is none), `PURLIN_ERROR_NOT_SUPPORTED` (vector instructions
 * that the machine lacks), `PURLIN_ERROR_OUT_OF_MEMORY`, `PURLIN_ERROR_CUDA`.
 *
 * @pre `options` is NULL or an initialised struct, `context` is NULL or valid for writing.
 */
PURLIN_MUST_USE
purlin_status purlin_context_create(const struct purlin_context_options *options,
                                    struct purlin_context **context);

/**
 * Destroys a context. Objects that belong to it keep working; it goes when the last of them is gone.
 *
 * @param context  the context; NULL does nothing.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`.
 */
purlin_status purlin_context_destroy(struct purlin_context *context);

/**
 * Sets `struct_size` and zeroes the rest.
 *
 * @param[out] info  the struct.
 * @param      size  `sizeof *info`.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, impossible size).
 *
 * @pre `info` is NULL or valid for `size` writable bytes.
 */
PURLIN_MUST_USE
purlin_status purlin_context_info_init(struct purlin_context_info *info,
                                       size_t size);

/**
 * What a context runs on, and the memory it holds.
 *
 * @param      context  the context.
 * @param[out] info     filled in; initialise it with purlin_context_info_init.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer,
 * struct_size), `PURLIN_ERROR_FORKED`.
 *
 * @pre `info` is NULL or an initialised struct.
 */
PURLIN_MUST_USE
purlin_status purlin_context_properties(const struct purlin_context *context,
                                        struct purlin_context_info *info);

/**
 * Replaces the log of a context.
 *
 * @param context  the context; no other call may use it meanwhile.
 * @param level    one of PURLIN_LOG_*.
 * @param log      takes the messages from any thread; NULL for none.
 * @param user     handed to `log`.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (unknown level).
 *
 * @pre `log` may be called with `user` from any thread until the context is gone or has another log.
 */
PURLIN_MUST_USE
purlin_status purlin_context_set_log(struct purlin_context *context,
                                     int32_t level,
                                     purlin_log_fn log,
                                     void *user);

/**
 * Cancels the calls that run in this context now; each returns `PURLIN_ERROR_CANCELLED` within one tile of its work
 * and frees what it held. Later calls are not touched. May be called from any thread and from a progress function.
 *
 * @param context  the context.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_FORKED`.
 */
PURLIN_MUST_USE
purlin_status purlin_context_cancel(const struct purlin_context *context);

/**
 * Number of GPUs. Without a driver the answer is 0 and the call succeeds.
 *
 * @param[out] count  number of GPUs.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer), `PURLIN_ERROR_CUDA`.
 *
 * @pre `count` is NULL or valid for writing.
 */
PURLIN_MUST_USE
purlin_status purlin_device_count(int32_t *count);

/**
 * Sets `struct_size` and zeroes the rest.
 *
 * @param[out] info  the struct.
 * @param      size  `sizeof *info`.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, impossible size).
 *
 * @pre `info` is NULL or valid for `size` writable bytes.
 */
PURLIN_MUST_USE
purlin_status purlin_device_info_init(struct purlin_device_info *info,
                                      size_t size);

/**
 * Properties of a GPU.
 *
 * @param      ordinal  0 to the number of GPUs less 1.
 * @param[out] info     filled in; initialise it with purlin_device_info_init.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, struct_size),
 * `PURLIN_ERROR_NO_DEVICE` (no driver, no such GPU), `PURLIN_ERROR_CUDA`.
 *
 * @pre `info` is NULL or an initialised struct.
 */
PURLIN_MUST_USE
purlin_status purlin_device_properties(int32_t ordinal,
                                       struct purlin_device_info *info);

/**
 * Takes a DLPack tensor. Its memory is used in place; its deleter is called exactly once: when the handle is gone, or
 * before this call returns a failure.
 *
 * @param      context  the context it will belong to.
 * @param      managed  a `DLManagedTensorVersioned *` of DLPack 1.x, owned by purlin from now on.
 * @param[out] tensor   the tensor; destroy it with purlin_tensor_destroy.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, shape),
 * `PURLIN_ERROR_NOT_SUPPORTED` (another DLPack version, type or device).
 *
 * @pre `managed` is NULL or a live capsule, `tensor` is NULL or valid for writing.
 */
PURLIN_MUST_USE
purlin_status purlin_tensor_from_dlpack(const struct purlin_context *context,
                                        void *managed,
                                        struct purlin_tensor **tensor);

/**
 * Gives a tensor to another library by DLPack, in place. The memory stays alive until the capsule's deleter is
 * called, also after the handle is destroyed. On a GPU the receiver must order its work behind the tensor's stream.
 *
 * @param      tensor   the tensor. A symmetric batch goes out as its array of packed entries.
 * @param[out] managed  a `DLManagedTensorVersioned *`; whoever receives it calls its deleter.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer).
 *
 * @pre `managed` is NULL or valid for writing.
 */
PURLIN_MUST_USE
purlin_status purlin_tensor_to_dlpack(const struct purlin_tensor *tensor,
                                      void **managed);

/**
 * Version of the library: major * 10000 + minor * 100 + patch. A program compares it with the header's.
 */
PURLIN_MUST_USE
int32_t purlin_version(void);

/**
 * How the library was built, as one line of text: version, target, and the GPU architectures of its kernels, or that
 * it has none. Never NULL; lives as long as the library.
 */
PURLIN_MUST_USE
const char *purlin_build_info(void);

/**
 * Name of a status, as its constant is spelled. Any integer is accepted. Never NULL.
 */
PURLIN_MUST_USE
const char *purlin_status_string(int32_t status);

/**
 * What went wrong in this thread's last call: one line of UTF-8 that names the argument, what was found and what was
 * expected; "" after a success. Never NULL; valid until this thread's next purlin call.
 */
PURLIN_MUST_USE
const char *purlin_last_error_message(void);

/**
 * Number of objects that were made and not destroyed, in the whole process. A program that cleans up ends at 0.
 */
PURLIN_MUST_USE
int64_t purlin_live_handles(void);

/**
 * Makes a dense matrix of purlin's own memory, zeroed and packed.
 *
 * @param      context   the context it belongs to.
 * @param      dtype     element type.
 * @param      location  PURLIN_HOST or PURLIN_DEVICE.
 * @param      flags     PURLIN_ROW_MAJOR, PURLIN_PINNED or 0.
 * @param      rows      number of rows, not negative.
 * @param      cols      number of columns, not negative.
 * @param[out] matrix    the matrix; destroy it with purlin_matrix_destroy.
 * @return as purlin_tensor_create.
 *
 * @pre `matrix` is NULL or valid for writing.
 */
PURLIN_MUST_USE
purlin_status purlin_matrix_create(const struct purlin_context *context,
                                   purlin_dtype dtype,
                                   purlin_location location,
                                   purlin_flags flags,
                                   int64_t rows,
                                   int64_t cols,
                                   struct purlin_matrix **matrix);

/**
 * Makes a dense matrix over the caller's host memory, which must outlive the handle.
 *
 * @param      context  the context it belongs to.
 * @param      dtype    element type.
 * @param      flags    PURLIN_ROW_MAJOR, PURLIN_READ_ONLY or 0.
 * @param      rows     number of rows, not negative.
 * @param      cols     number of columns, not negative.
 * @param      ld       elements from one column to the next, at least `rows` (row-major: from one row to the next, at
 *                      least `cols`), and at least 1.
 * @param[in]  data     the first entry.
 * @param[out] matrix   the matrix; destroy it with purlin_matrix_destroy.
 * @return as purlin_tensor_borrow.
 *
 * @pre `data` is valid for `(cols - 1) * ld + rows` elements (row-major: rows and cols exchanged) while the handle lives,
 * `matrix` is NULL or valid for writing.
 */
PURLIN_MUST_USE
purlin_status purlin_matrix_borrow(const struct purlin_context *context,
                                   purlin_dtype dtype,
                                   purlin_flags flags,
                                   int64_t rows,
                                   int64_t cols,
                                   int64_t ld,
                                   void *data,
                                   struct purlin_matrix **matrix);

/**
 * Makes a dense matrix over the caller's device memory, which must outlive the handle.
 *
 * @param      context  a context on the GPU of that memory.
 * @param      dtype    element type.
 * @param      flags    PURLIN_ROW_MAJOR, PURLIN_READ_ONLY or 0.
 * @param      rows     number of rows, not negative.
 * @param      cols     number of columns, not negative.
 * @param      ld       as purlin_matrix_borrow.
 * @param      data     `CUdeviceptr` of the first entry.
 * @param[out] matrix   the matrix; destroy it with purlin_matrix_destroy.
 * @return as purlin_tensor_borrow_device.
 *
 * @pre As for purlin_matrix_borrow.
 */
PURLIN_MUST_USE
purlin_status purlin_matrix_borrow_device(const struct purlin_context *context,
                                          purlin_dtype dtype,
                                          purlin_flags flags,
                                          int64_t rows,
                                          int64_t cols,
                                          int64_t ld,
                                          uint64_t data,
                                          struct purlin_matrix **matrix);

/**
 * Makes a sparse matrix over the caller's compressed sparse rows, which must outlive the handle. The indices are
 * checked once, here; rows need not be sorted. The matrix is read-only.
 *
 * @param      context       the context it belongs to.
 * @param      dtype         element type, also of a pattern (`values` NULL).
 * @param      index_base    0 or 1: the first row and column number.
 * @param      rows          number of rows, not negative.
 * @param      cols          number of columns, not negative.
 * @param      nnz           number of stored entries, not negative.
 * @param      row_ptr_type  PURLIN_I32 or PURLIN_I64.
 * @param[in]  row_ptr       host, `rows + 1` offsets that start at `index_base`, do not decrease and end at
 *                           `nnz + index_base`.
 * @param      col_idx_type  PURLIN_I32 or PURLIN_I64.
 * @param[in]  col_idx       host, `nnz` columns.
 * @param[in]  values        host, `nnz` values; NULL for a pattern whose entries are all 1.
 * @param[out] matrix        the matrix; destroy it with purlin_matrix_destroy.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (the first wrong offset or
 * column is named). O(rows + nnz).
 *
 * @pre The arrays are valid for the stated numbers of elements while the handle lives.
 */
PURLIN_MUST_USE
purlin_status purlin_matrix_borrow_csr(const struct purlin_context *context,
                                       purlin_dtype dtype,
                                       int32_t index_base,
                                       int64_t rows,
                                       int64_t cols,
                                       int64_t nnz,
                                       purlin_dtype row_ptr_type,
                                       const void *row_ptr,
                                       purlin_dtype col_idx_type,
                                       const void *col_idx,
                                       const void *values,
                                       struct purlin_matrix **matrix);

/**
 * As purlin_matrix_borrow_csr, but copies the arrays, which may go after the call.
 *
 * @param      context       the context it belongs to.
 * @param      dtype         element type, also of a pattern (`values` NULL).
 * @param      index_base    0 or 1: the first row and column number.
 * @param      rows          number of rows, not negative.
 * @param      cols          number of columns, not negative.
 * @param      nnz           number of stored entries, not negative.
 * @param      row_ptr_type  PURLIN_I32 or PURLIN_I64.
 * @param[in]  row_ptr       host, `rows + 1` offsets.
 * @param      col_idx_type  PURLIN_I32 or PURLIN_I64.
 * @param[in]  col_idx       host, `nnz` columns.
 * @param[in]  values        host, `nnz` values; NULL for a pattern.
 * @param[out] matrix        the matrix; destroy it with purlin_matrix_destroy.
 * @return as purlin_matrix_borrow_csr, and `PURLIN_ERROR_OUT_OF_MEMORY`.
 *
 * @pre The arrays are valid for the stated numbers of elements during the call.
 */
PURLIN_MUST_USE
purlin_status purlin_matrix_copy_csr(const struct purlin_context *context,
                                     purlin_dtype dtype,
                                     int32_t index_base,
                                     int64_t rows,
                                     int64_t cols,
                                     int64_t nnz,
                                     purlin_dtype row_ptr_type,
                                     const void *row_ptr,
                                     purlin_dtype col_idx_type,
                                     const void *col_idx,
                                     const void *values,
                                     struct purlin_matrix **matrix);

/**
 * Copies a dense matrix into another of the same size and element type, in any direction between host and device.
 *
 * @param      context      the context of both matrices.
 * @param      stream       NULL for the context's own.
 * @param      source       read.
 * @param      destination  written.
 * @return as purlin_tensor_copy; `PURLIN_ERROR_NOT_SUPPORTED` for sparse matrices.
 */
PURLIN_MUST_USE
purlin_status purlin_matrix_copy(const struct purlin_context *context,
                                 const struct purlin_stream *stream,
                                 const struct purlin_matrix *source,
                                 struct purlin_matrix *destination);

/**
 * Sets `struct_size` and zeroes the rest.
 *
 * @param[out] info  the struct.
 * @param      size  `sizeof *info`.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, impossible size).
 *
 * @pre `info` is NULL or valid for `size` writable bytes.
 */
PURLIN_MUST_USE
purlin_status purlin_matrix_info_init(struct purlin_matrix_info *info,
                                      size_t size);

/**
 * What a matrix is.
 *
 * @param      matrix  the matrix.
 * @param[out] info    filled in; initialise it with purlin_matrix_info_init.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer,
 * struct_size).
 *
 * @pre `info` is NULL or an initialised struct.
 */
PURLIN_MUST_USE
purlin_status purlin_matrix_properties(const struct purlin_matrix *matrix,
                                       struct purlin_matrix_info *info);

/**
 * Destroys a matrix, and frees its memory if that is purlin's.
 *
 * @param matrix  the matrix; NULL does nothing.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`.
 */
purlin_status purlin_matrix_destroy(struct purlin_matrix *matrix);

/**
 * Makes a stream.
 *
 * @param      context  the context it belongs to.
 * @param[out] stream   the stream; destroy it with purlin_stream_destroy.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer),
 * `PURLIN_ERROR_CUDA`.
 *
 * @pre `stream` is NULL or valid for writing.
 */
PURLIN_MUST_USE
purlin_status purlin_stream_create(const struct purlin_context *context,
                                   struct purlin_stream **stream);

/**
 * Lets purlin enqueue on a caller's CUDA stream, which stays the caller's and must outlive the handle.
 *
 * @param      context      a context on the GPU of that stream.
 * @param      cuda_stream  the `CUstream` (or `cudaStream_t`) as an integer; 0 is the legacy default stream.
 * @param[out] stream       the stream; destroying it leaves the caller's alone.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, a stream of
 * another device), `PURLIN_ERROR_NOT_SUPPORTED` (a context on the CPU), `PURLIN_ERROR_CUDA`.
 *
 * @pre `cuda_stream` is a live stream or 0, `stream` is NULL or valid for writing.
 */
PURLIN_MUST_USE
purlin_status purlin_stream_wrap(const struct purlin_context *context,
                                 uint64_t cuda_stream,
                                 struct purlin_stream **stream);

/**
 * Waits until all work enqueued on a stream is done.
 *
 * @param stream  the stream.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, or what an asynchronous call failed with.
 */
PURLIN_MUST_USE
purlin_status purlin_stream_synchronize(const struct purlin_stream *stream);

/**
 * Destroys a stream. Work enqueued on it still completes.
 *
 * @param stream  the stream; NULL does nothing.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`.
 */
purlin_status purlin_stream_destroy(struct purlin_stream *stream);

/**
 * Makes a dense tensor of purlin's own memory, zeroed.
 *
 * @param      context   the context it belongs to.
 * @param      dtype     element type.
 * @param      location  PURLIN_HOST or PURLIN_DEVICE.
 * @param      flags     PURLIN_ROW_MAJOR, PURLIN_PINNED or 0.
 * @param      ndim      number of dimensions, 0 to 32; 0 is a single number.
 * @param[in]  dims      `ndim` sizes, not negative.
 * @param[out] tensor    the tensor; destroy it with purlin_tensor_destroy.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (unknown constant,
 * negative or too large size, NULL pointer), `PURLIN_ERROR_NOT_SUPPORTED` (device memory in a context on the CPU),
 * `PURLIN_ERROR_OUT_OF_MEMORY`, `PURLIN_ERROR_OUT_OF_DEVICE_MEMORY`.
 *
 * @pre `dims` is NULL or valid for `ndim` elements, `tensor` is NULL or valid for writing.
 */
PURLIN_MUST_USE
purlin_status purlin_tensor_create(const struct purlin_context *context,
                                   purlin_dtype dtype,
                                   purlin_location location,
                                   purlin_flags flags,
                                   int32_t ndim,
                                   const int64_t *dims,
                                   struct purlin_tensor **tensor);

/**
 * Makes a dense tensor over the caller's host memory, which must outlive the handle.
 *
 * @param      context  the context it belongs to.
 * @param      dtype    element type.
 * @param      flags    PURLIN_ROW_MAJOR (for `strides` NULL), PURLIN_READ_ONLY or 0.
 * @param      ndim     number of dimensions, 0 to 32.
 * @param[in]  dims     `ndim` sizes, not negative.
 * @param[in]  strides  `ndim` strides in elements, not negative; NULL for packed storage.
 * @param[in]  data     the first element, aligned as its component type.
 * @param[out] tensor   the tensor; destroy it with purlin_tensor_destroy.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT`.
 *
 * @pre `data` is valid for the extent of `dims` and `strides` while the handle lives, the arrays for `ndim` elements.
 */
PURLIN_MUST_USE
purlin_status purlin_tensor_borrow(const struct purlin_context *context,
                                   purlin_dtype dtype,
                                   purlin_flags flags,
                                   int32_t ndim,
                                   const int64_t *dims,
                                   const int64_t *strides,
                                   void *data,
                                   struct purlin_tensor **tensor);

/**
 * Makes a dense tensor over the caller's device memory, which must outlive the handle.
 *
 * @param      context  a context on the GPU of that memory.
 * @param      dtype    element type.
 * @param      flags    PURLIN_ROW_MAJOR (for `strides` NULL), PURLIN_READ_ONLY or 0.
 * @param      ndim     number of dimensions, 0 to 32.
 * @param[in]  dims     `ndim` sizes, not negative.
 * @param[in]  strides  `ndim` strides in elements, not negative; NULL for packed storage.
 * @param      data     the `CUdeviceptr` of the first element (a pointer of the CUDA runtime, as an integer).
 * @param[out] tensor   the tensor; destroy it with purlin_tensor_destroy.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (also memory that is not
 * this GPU's), `PURLIN_ERROR_NOT_SUPPORTED` (a context on the CPU), `PURLIN_ERROR_CUDA`.
 *
 * @pre As for purlin_tensor_borrow.
 */
PURLIN_MUST_USE
purlin_status purlin_tensor_borrow_device(const struct purlin_context *context,
                                          purlin_dtype dtype,
                                          purlin_flags flags,
                                          int32_t ndim,
                                          const int64_t *dims,
                                          const int64_t *strides,
                                          uint64_t data,
                                          struct purlin_tensor **tensor);

/**
 * Makes a batch of packed symmetric tensors of purlin's own memory, zeroed.
 *
 * Each tensor has U = C(order + dimension - 1, order) entries in lexicographic order of the nondecreasing index
 * tuples (purlin_symmetric_indices lists them), not multiplied by the number of their permutations.
 *
 * @param      context    the context it belongs to.
 * @param      dtype      PURLIN_F32 or PURLIN_F64.
 * @param      location   PURLIN_HOST or PURLIN_DEVICE.
 * @param      flags      PURLIN_PINNED, PURLIN_ENTRY_MAJOR or 0.
 * @param      order      number of indices, at least 2.
 * @param      dimension  range of each index, at least 1; U may not exceed 2^31 - 1.
 * @param      count      number of tensors, not negative.
 * @param[out] tensor     the batch; destroy it with purlin_tensor_destroy.
 * @return as purlin_tensor_create.
 *
 * @pre `tensor` is NULL or valid for writing.
 */
PURLIN_MUST_USE
purlin_status purlin_tensor_create_symmetric(const struct purlin_context *context,
                                             purlin_dtype dtype,
                                             purlin_location location,
                                             purlin_flags flags,
                                             int32_t order,
                                             int64_t dimension,
                                             int64_t count,
                                             struct purlin_tensor **tensor);

/**
 * Makes a batch of packed symmetric tensors over the caller's host memory, which must outlive the handle.
 *
 * @param      context        the context it belongs to.
 * @param      dtype          PURLIN_F32 or PURLIN_F64.
 * @param      flags          PURLIN_ENTRY_MAJOR (for zero strides), PURLIN_READ_ONLY or 0.
 * @param      order          number of indices, at least 2.
 * @param      dimension      range of each index, at least 1.
 * @param      count          number of tensors, not negative.
 * @param      entry_stride   elements from one entry of a tensor to its next.
 * @param      tensor_stride  elements from one tensor to the next; both 0 mean packed: 1 and U, or `count` and 1 with
 *                            PURLIN_ENTRY_MAJOR.
 * @param[in]  data           first entry of the first tensor.
 * @param[out] tensor         the batch; destroy it with purlin_tensor_destroy.
 * @return as purlin_tensor_borrow.
 *
 * @pre `data` is valid for the extent of the batch while the handle lives, `tensor` is NULL or valid for writing.
 */
PURLIN_MUST_USE
purlin_status purlin_tensor_borrow_symmetric(const struct purlin_context *context,
                                             purlin_dtype dtype,
                                             purlin_flags flags,
                                             int32_t order,
                                             int64_t dimension,
                                             int64_t count,
                                             int64_t entry_stride,
                                             int64_t tensor_stride,
                                             void *data,
                                             struct purlin_tensor **tensor);

/**
 * Makes a batch of packed symmetric tensors over the caller's device memory, which must outlive the handle.
 *
 * @param      context        a context on the GPU of that memory.
 * @param      dtype          PURLIN_F32 or PURLIN_F64.
 * @param      flags          PURLIN_ENTRY_MAJOR (for zero strides), PURLIN_READ_ONLY or 0.
 * @param      order          number of indices, at least 2.
 * @param      dimension      range of each index, at least 1.
 * @param      count          number of tensors, not negative.
 * @param      entry_stride   as purlin_tensor_borrow_symmetric.
 * @param      tensor_stride  as purlin_tensor_borrow_symmetric.
 * @param      data           `CUdeviceptr` of the first entry of the first tensor.
 * @param[out] tensor         the batch; destroy it with purlin_tensor_destroy.
 * @return as purlin_tensor_borrow_device.
 *
 * @pre As for purlin_tensor_borrow_symmetric.
 */
PURLIN_MUST_USE
purlin_status purlin_tensor_borrow_symmetric_device(const struct purlin_context *context,
                                                    purlin_dtype dtype,
                                                    purlin_flags flags,
                                                    int32_t order,
                                                    int64_t dimension,
                                                    int64_t count,
                                                    int64_t entry_stride,
                                                    int64_t tensor_stride,
                                                    uint64_t data,
                                                    struct purlin_tensor **tensor);

/**
 * Copies a tensor into another of the same dimensions and element type, in any direction between host and device.
 *
 * Host destinations are complete on return, device destinations in stream order. Host tensors may have any strides;
 * device tensors must be packed.
 *
 * @param      context      the context of both tensors.
 * @param      stream       NULL for the context's own.
 * @param      source       read.
 * @param      destination  written.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (other dimensions, type or
 * context, overlap, read-only destination), `PURLIN_ERROR_NOT_SUPPORTED` (strided device memory),
 * `PURLIN_ERROR_OUT_OF_MEMORY`, `PURLIN_ERROR_CUDA`.
 */
PURLIN_MUST_USE
purlin_status purlin_tensor_copy(const struct purlin_context *context,
                                 const struct purlin_stream *stream,
                                 const struct purlin_tensor *source,
                                 struct purlin_tensor *destination);

/**
 * Sets `struct_size` and zeroes the rest.
 *
 * @param[out] info  the struct.
 * @param      size  `sizeof *info`.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, impossible size).
 *
 * @pre `info` is NULL or valid for `size` writable bytes.
 */
PURLIN_MUST_USE
purlin_status purlin_tensor_info_init(struct purlin_tensor_info *info,
                                      size_t size);

/**
 * What a tensor is. Its sizes are in purlin_tensor_shape.
 *
 * @param      tensor  the tensor.
 * @param[out] info    filled in; initialise it with purlin_tensor_info_init.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer,
 * struct_size).
 *
 * @pre `info` is NULL or an initialised struct.
 */
PURLIN_MUST_USE
purlin_status purlin_tensor_properties(const struct purlin_tensor *tensor,
                                       struct purlin_tensor_info *info);

/**
 * Sizes and strides of a tensor.
 *
 * @param      tensor    the tensor.
 * @param      capacity  elements that each array has room for, at least the number of dimensions.
 * @param[out] dims      sizes; may be NULL.
 * @param[out] strides   strides in elements; may be NULL.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (capacity).
 *
 * @pre Each array is NULL or valid for `capacity` elements.
 */
PURLIN_MUST_USE
purlin_status purlin_tensor_shape(const struct purlin_tensor *tensor,
                                  int32_t capacity,
                                  int64_t *dims,
                                  int64_t *strides);

/**
 * Destroys a tensor, and frees its memory if that is purlin's.
 *
 * @param tensor  the tensor; NULL does nothing.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`.
 */
purlin_status purlin_tensor_destroy(struct purlin_tensor *tensor);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* PURLIN_H */
