/* Launch constants and parameter structs of the kernels for eigenpairs of symmetric tensors. docs/contributing.md has the
 * rules.
 *
 * Conventions of these kernels
 *   real      the kernel's type: float for *_f32, double for *_f64.
 *   packed    output arrays have their first index fastest: values[k + K*t], vectors[c + n*(k + K*t)].
 *   row       the tensor's index in the caller's batch: `index[i]` when an index list is given, else i. Inputs are read
 *             and outputs written at the row; rows that are not listed are not changed.
 */
#ifndef PURLIN_SSHOPM_LAUNCH_H
#define PURLIN_SSHOPM_LAUNCH_H

#include <stdint.h>

/* goal */
#define PURLIN_LAUNCH_MAXIMA 0
#define PURLIN_LAUNCH_MINIMA 1

/* method: each of the fused kernels hybrid_*, power_* and newton_* implements its own. hybrid_* with POWER makes power steps
 * with the adaptive shift; power_* has the fixed and the guaranteed shift. The general kernel implements all. */
#define PURLIN_LAUNCH_HYBRID 0
#define PURLIN_LAUNCH_POWER 1
#define PURLIN_LAUNCH_NEWTON 2

/* shift kind (power method) */
#define PURLIN_LAUNCH_SHIFT_ADAPTIVE 0
#define PURLIN_LAUNCH_SHIFT_FIXED 1
#define PURLIN_LAUNCH_SHIFT_GUARANTEED 2

/* stopping test */
#define PURLIN_LAUNCH_TEST_RESIDUAL 0
#define PURLIN_LAUNCH_TEST_LAMBDA 1
#define PURLIN_LAUNCH_TEST_STEP 2

/* sign of the vectors returned */
#define PURLIN_LAUNCH_SIGN_CANONICAL 0
#define PURLIN_LAUNCH_SIGN_RAW 1
#define PURLIN_LAUNCH_SIGN_Z_POSITIVE 2

/* per start status */
#define PURLIN_LAUNCH_START_CONVERGED 0
#define PURLIN_LAUNCH_START_MAX_ITERATIONS 1
#define PURLIN_LAUNCH_START_ZERO_VECTOR 2
#define PURLIN_LAUNCH_START_NONFINITE 3
#define PURLIN_LAUNCH_START_SINGULAR 4

/* per tensor status */
#define PURLIN_LAUNCH_TENSOR_OK 0
#define PURLIN_LAUNCH_TENSOR_NONFINITE 1
#define PURLIN_LAUNCH_TENSOR_ZERO 2
#define PURLIN_LAUNCH_TENSOR_ISOTROPIC 3
#define PURLIN_LAUNCH_TENSOR_MASKED 4
#define PURLIN_LAUNCH_TENSOR_NO_PAIR 5
#define PURLIN_LAUNCH_TENSOR_SIGNAL 6
#define PURLIN_LAUNCH_TENSOR_CLAMPED 7
#define PURLIN_LAUNCH_TENSOR_DEGENERATE 9
#define PURLIN_LAUNCH_TENSOR_PARTIAL 10

/* class of a pair; `keep_classes` has the bit (1 << class) of every class that may be returned */
#define PURLIN_LAUNCH_PAIR_NEGATIVE_STABLE 0
#define PURLIN_LAUNCH_PAIR_POSITIVE_STABLE 1
#define PURLIN_LAUNCH_PAIR_UNSTABLE 2
#define PURLIN_LAUNCH_PAIR_DEGENERATE 3
#define PURLIN_LAUNCH_PAIR_UNCLASSIFIED 4
#define PURLIN_LAUNCH_PAIR_NONE (-1) /* a row beyond the count */

/* flags, a bit set */
#define PURLIN_LAUNCH_ABSOLUTE_TOLERANCE 1 /* the lambda test compares with `tolerance`, not tolerance * |lambda| */
#define PURLIN_LAUNCH_ABSOLUTE_TAU 2       /* tau is not multiplied by the Frobenius norm */
#define PURLIN_LAUNCH_REMOVE_ISOTROPIC 4   /* even order: iterate on A - c E, c = 0.9 * min over the starts of A x^m */
#define PURLIN_LAUNCH_APPEND 8             /* write after the `count` pairs already in each row */
#define PURLIN_LAUNCH_MISSING_ZERO 16      /* absent peaks and values are 0, else NaN */
#define PURLIN_LAUNCH_PEAKS_SCALED 32      /* peaks rows are 3 numbers, direction * value, else 4: x y z value */
#define PURLIN_LAUNCH_NO_SPECIAL_PAIR 128  /* A = 0 and A = c E give no pair, else one degenerate pair if that class is kept */
#define PURLIN_LAUNCH_FIRST_OF_TWO 256     /* another launch appends: `found` takes MISSED and the status; nothing is counted */
#define PURLIN_LAUNCH_KEEP_STATUS 64       /* do not write `status` for a tensor that ended OK (a fit's CLAMPED stays) */

/* launch geometry and limits */
#define PURLIN_LAUNCH_SOLVE_THREADS 128      /* fused n = 3 kernels, four independent warps a block */
#define PURLIN_LAUNCH_GENERAL_THREADS 64     /* general solve kernel */
#define PURLIN_LAUNCH_SELECT_THREADS 128     /* select kernel: one block a tensor */
#define PURLIN_LAUNCH_PLAIN_THREADS 128      /* products, classification, start drawing */
#define PURLIN_LAUNCH_FUSED_MAX_STARTS 512   /* fused selection; more starts need start outputs and the select kernel */
#define PURLIN_LAUNCH_FUSED_MAX_PAIRS 32     /* distinct pairs of a tensor in one fused launch */
#define PURLIN_LAUNCH_FUSED_SLOT_STARTS 256  /* the host's target of window * starts: window = clamp(256 / V, 1, 8) */
#define PURLIN_LAUNCH_FUSED_MAX_WINDOW 8
#define PURLIN_LAUNCH_SLOT_SCALARS 8         /* scalars that follow the entries of a tensor in flight */
#define PURLIN_LAUNCH_SHARED_NUMBERS 12      /* numbers of the launch, stored once for each block */
#define PURLIN_LAUNCH_MAX_DIMENSION 16       /* general kernels */
#define PURLIN_LAUNCH_MAX_ORDER 32
#define PURLIN_LAUNCH_SELECT_MAX_PAIRS 1024  /* distinct pairs of a tensor in the select kernel */
#define PURLIN_LAUNCH_SELECT_MAX_STARTS 262144

/* counters: uint64, added to with integer atomics */
#define PURLIN_LAUNCH_COUNTER_CONVERGED 0
#define PURLIN_LAUNCH_COUNTER_ITERATIONS 1
#define PURLIN_LAUNCH_COUNTER_SKIPPED 2      /* tensors that are masked, zero, isotropic or not finite */
#define PURLIN_LAUNCH_COUNTER_TRUNCATED 3    /* tensors with more pairs than were listed */
#define PURLIN_LAUNCH_COUNTER_UNCONVERGED 4  /* tensors with a start that did not converge */
#define PURLIN_LAUNCH_COUNTERS 5

/* bit of `found` between two launches: a start did not converge */
#define PURLIN_LAUNCH_MISSED 1073741824

/* Solve (fused n = 3 kernels and the general kernel).
 *
 * Fused dynamic shared memory, in reals, for a block of four warps, with pad(r) = r rounded up to a multiple of 4:
 *   pad(2 * U + PURLIN_LAUNCH_SHARED_NUMBERS + 3 * S)
 *     + 4 * window * (pad(U) + PURLIN_LAUNCH_SLOT_SCALARS + (pairs > 0 ? pad(5 * V) : 0)),
 * S = V if start_stride = 0 and V <= PURLIN_LAUNCH_FUSED_MAX_STARTS, else 0.
 * The grid may have any number of blocks (warps stride over the tensors); fill the device.
 * Start outputs are the iterates, with either sign; a start with status ZERO_VECTOR has zeros. With APPEND a launch for minima
 * writes after the maxima of an earlier one. At most the FUSED_MAX_PAIRS strongest distinct pairs are found. */
typedef struct purlin_sshopm_params {
  uint64_t tensors;          /* real, entry r of row t at tensors[r * entry_stride + t * tensor_stride] */
  int64_t entry_stride;
  int64_t tensor_stride;
  uint64_t index;            /* int64 [count] rows, or 0 */
  uint64_t mask;             /* uint8, by row, 0 = exclude (status MASKED), or 0 */
  uint64_t transform;        /* real [U x U] column-major: entries = transform * input, or 0 (fused kernels) */
  uint64_t starts;           /* real [3 x V] (n x V): start v of item i at starts[n * v + i * start_stride] */
  int64_t start_stride;      /* 0: one set for all; n * V: drawn for each item of this launch */
  int64_t count;             /* number of tensors */
  double shift;              /* fixed shift, its magnitude is used: convex for maxima, concave for minima */
  double tolerance;
  double tau;                /* margin of the adaptive shift */
  double merge_chord2;       /* (2 sin(merge_angle / 2))^2 */
  double merge_value;        /* pairs merge only if their values agree to this times |lambda|; 0 = unused */
  double degeneracy;         /* relative to the Frobenius norm: zero projected-Hessian eigenvalue */
  double level;              /* relative to the Frobenius norm: values on one continuum agree to this */
  double isotropy;           /* relative to max |a|: largest deviation from c E of a tensor that counts as c E */
  double absolute_threshold; /* with `thresholds` only */
  double relative_threshold; /* with `thresholds` only; relative to the strongest listed pair */
  double separation_chord2;  /* (2 sin(min_separation / 2))^2, 0 = off */
  uint64_t pair_count;       /* int32 [T]; these results may each be 0 */
  uint64_t values;           /* real [K,T] */
  uint64_t vectors;          /* real [n,K,T] */
  uint64_t residuals;        /* real [K,T] */
  uint64_t classes;          /* int32 [K,T] */
  uint64_t hessian;          /* real [n-1,K,T] ascending */
  uint64_t basins;           /* int32 [K,T] */
  uint64_t status;           /* int32 [T] */
  uint64_t peaks;            /* real [4,K,T] or [3,K,T] */
  uint64_t start_values;     /* real [V,T]; the start results may each be 0 */
  uint64_t start_vectors;    /* real [n,V,T] */
  uint64_t start_residuals;  /* real [V,T] */
  uint64_t start_iterations; /* int32 [V,T] */
  uint64_t start_shifts;     /* real [V,T] */
  uint64_t start_status;     /* int32 [V,T] */
  uint64_t start_violations; /* int32 [V,T] */
  uint64_t trace;            /* general kernel: real [trace_length], first item and start; prefill with NaN */
  uint64_t counters;         /* uint64 [PURLIN_LAUNCH_COUNTERS], zeroed by the host, or 0 */
  uint64_t indices;          /* general: uint8 [order, U] nondecreasing index tuples */
  uint64_t multinomials;     /* general: real [U] */
  uint64_t identity;         /* general, even order: real [U] entries of E, for status ISOTROPIC; else 0 */
  int64_t entries;           /* U */
  int64_t trace_length;
  int32_t order;
  int32_t dimension;
  int32_t start_count;       /* V */
  int32_t goal;
  int32_t method;            /* general kernel */
  int32_t shift_kind;
  int32_t test;
  int32_t max_iterations;
  int32_t warmup;            /* power steps before the first Newton step */
  int32_t sign;
  int32_t flags;
  int32_t keep_classes;
  int32_t pairs;             /* K; 0 = no selection, start outputs only */
  int32_t thresholds;        /* 1: apply absolute_threshold and relative_threshold */
  int32_t window;            /* fused: tensors in flight in each warp, 1..PURLIN_LAUNCH_FUSED_MAX_WINDOW */
  int32_t reserved;
  uint64_t found;            /* int32 [T]: pairs found, listed or not; needed by a launch with APPEND or FIRST_OF_TWO */
} purlin_sshopm_params;
#define PURLIN_SSHOPM_PARAMS_BYTES 416

/* Select: start outputs (packed, V starts of each row) to pairs, any n up to PURLIN_LAUNCH_MAX_DIMENSION. One block a
 * tensor at a time, grid-stride; dynamic shared memory 4 * ((V + 31) / 32) + 16 * found_limit bytes.
 * Reads start_values, start_vectors, start_residuals, start_status and, if given, the status that the solve wrote;
 * writes the pair outputs and the status. `solve` is the solve's struct with pairs = K; goal orders the rows (maxima
 * descending, minima ascending) and the tables are those of the general kernel, needed for n = 3 as well. */
typedef struct purlin_select_params {
  purlin_sshopm_params solve;
  uint64_t scratch;           /* real [gridDim.x, found_limit, dimension] */
  uint64_t morse;             /* int32 [T]: sum of (-1)^index over the nondegenerate pairs found, or 0 */
  int64_t found_limit;        /* limit of distinct pairs, K..PURLIN_LAUNCH_SELECT_MAX_PAIRS */
} purlin_select_params;
#define PURLIN_SELECT_PARAMS_BYTES 440

/* Products A x^m, A x^(m-1), A x^(m-2): outputs packed [V,T], [n,V,T], [n,n,V,T]; one thread a (vector, tensor),
 * grid-stride. The classify kernels take the same struct. */
typedef struct purlin_product_params {
  uint64_t tensors;
  int64_t entry_stride;
  int64_t tensor_stride;
  uint64_t vectors;       /* real: component c of vector v of tensor t at [c * component_stride + v * vector_stride + t * batch_stride] */
  int64_t component_stride;
  int64_t vector_stride;
  int64_t batch_stride;   /* 0: the same vectors for every tensor */
  uint64_t products;      /* real, packed; classify: not used */
  uint64_t values;        /* classify: real [V,T] lambda */
  uint64_t residuals;     /* classify: real [V,T] or 0 */
  uint64_t hessian;       /* classify: real [n-1,V,T] ascending, or 0 */
  uint64_t classes;       /* classify: int32 [V,T] or 0 */
  uint64_t indices;
  uint64_t multinomials;
  double degeneracy;      /* classify: relative to the Frobenius norm */
  int64_t entries;
  int64_t vector_count;   /* V */
  int64_t count;          /* T */
  int32_t order;
  int32_t dimension;
  int32_t power;          /* m, m - 1 or m - 2 */
  int32_t reserved;
} purlin_product_params;
#define PURLIN_PRODUCT_PARAMS_BYTES 160

/* Random starts [n, V, count], normalized; one thread a start, grid-stride. Row = first_row + (index ? index[i] : i). */
typedef struct purlin_starts_params {
  uint64_t starts;
  uint64_t index;         /* int64 [count] or 0 */
  uint64_t seed;
  int64_t first_row;
  int64_t count;
  int64_t first_start;    /* number of the first start drawn: later batches continue the same sequence */
  int64_t start_count;
  int32_t dimension;
  int32_t cube;           /* 1: uniform in [-1,1]^n instead of Gaussian, then normalized */
} purlin_starts_params;
#define PURLIN_STARTS_PARAMS_BYTES 64

#ifdef __cplusplus
static_assert(sizeof(purlin_sshopm_params) == PURLIN_SSHOPM_PARAMS_BYTES, "purlin_sshopm_params changed size");
static_assert(sizeof(purlin_select_params) == PURLIN_SELECT_PARAMS_BYTES, "purlin_select_params changed size");
static_assert(sizeof(purlin_product_params) == PURLIN_PRODUCT_PARAMS_BYTES, "purlin_product_params changed size");
static_assert(sizeof(purlin_starts_params) == PURLIN_STARTS_PARAMS_BYTES, "purlin_starts_params changed size");
#endif

#endif /* PURLIN_SSHOPM_LAUNCH_H */
