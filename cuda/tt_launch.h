/* Launch constants and parameter structs of the tensor-train kernels, under the rules of docs/contributing.md.
 *
 * A product <x|y> is contracted site by site. The bra x has bonds r, the ket y bonds s. The environment is F[b, a], b the
 * bond of y and fastest: from the left F'[b', a'] = sum over i, b, a of F[b, a] X[a, i, a'] op(Y[b, i, b']), from the right
 * F[b, a] likewise from F'[b', a']. op conjugates if CONJUGATE is set; F is then the conjugate of the required environment.
 * Cores have their first index fastest and are aligned to an element. Kernel names end in the type: f32, f64, cf32, cf64.
 *
 * Scaling is by powers of two. The environment behind a site is not scaled in place: its largest |re| or |im| is
 * written to a key, and the next kernel that reads the environment multiplies by 2^-q, q the exponent of the key, and
 * adds q to the exponent. A key is the bit pattern of a nonnegative double, so keys have the order of the numbers,
 * with NaN above all. With UNSCALED q is 0.
 * An environment that is 0, not finite, or whose |q| is beyond TT_DOUBT_SINGLE or TT_DOUBT_DOUBLE is doubtful: digits
 * may have been lost before. The same holds for its product with the first core of a site, before 2^-q is applied and
 * after it. Kernels that are given the keys of the cores scale by those, too, so their results are not doubtful.
 * Between a library's products purlin_tt_factors does that.
 */
#ifndef PURLIN_TT_LAUNCH_H
#define PURLIN_TT_LAUNCH_H

#include <stdint.h>

/* flags, a bit set */
#define PURLIN_LAUNCH_TT_CONJUGATE 1
#define PURLIN_LAUNCH_TT_UNSCALED 2
/* pairs are p_x <= p_y in the order of p_y (p_y + 1) / 2 + p_x; else p_x + p_y * pairs_x */
#define PURLIN_LAUNCH_TT_HALVED 4
/* both ends at once: one block (chain) or half of the blocks (grid) each */
#define PURLIN_LAUNCH_TT_TWO_ENDED 8
/* purlin_tt_join: the second factor is conjugated */
#define PURLIN_LAUNCH_TT_JOIN_CONJUGATE 16
/* purlin_tt_begin and purlin_tt_end: the environment is F[b, a, p], pair after pair */
#define PURLIN_LAUNCH_TT_APART 32

#define PURLIN_LAUNCH_TT_DOUBT_SINGLE 60
#define PURLIN_LAUNCH_TT_DOUBT_DOUBLE 500

/* bits of `doubt`. NOT_FINITE: purlin_tt_measure has found numbers that were not finite. A library's factorization
 * that follows may lose a NaN, so purlin_tt_join writes NaN wherever this bit is set. */
#define PURLIN_LAUNCH_TT_DOUBTFUL 1
#define PURLIN_LAUNCH_TT_NOT_FINITE 2

/* A core of both trains. Site k of a sweep is core k % cores. */
typedef struct purlin_tt_site {
  uint64_t x_offset; /* bytes from the train's base to the core, or 0 where bases are those of cores */
  uint64_t y_offset;
  int32_t r; /* X is r x n x r_next */
  int32_t r_next;
  int32_t s; /* Y is s x n x s_next */
  int32_t s_next;
  int32_t n;
  int32_t reserved;
} purlin_tt_site;
#define PURLIN_TT_SITE_BYTES 40

/* State of a contraction, in addition to its environment. */
typedef struct purlin_tt_state {
  double alpha[2]; /* 2^-q of the last site, in the type of the elements: factor of a library's product */
  uint64_t key;    /* of the last site */
  int64_t exponent;
  uint64_t arrivals; /* of blocks */
  int64_t doubt;
} purlin_tt_state;
#define PURLIN_TT_STATE_BYTES 48

/* One term or partial sum: (re + i im) 2^exponent. */
typedef struct purlin_tt_result {
  double re;
  double im;
  int64_t exponent;
  int64_t doubt;
} purlin_tt_result;
#define PURLIN_TT_RESULT_BYTES 32

/* purlin_tt_chain_<form>_<type>: whole products in shared memory, one block for each. A form holds ranks up to its
 * limit:
 *   a  up to 16, 32 threads        b  up to 32, 128 threads
 *   c  up to 32, 512 threads, for few products at a time
 *   d  up to 64, 256 threads
 * Dynamic shared memory: (2 + depth) * (edge + 4) * edge elements and TT_CHAIN_KEYS keys of 8 bytes, half of them
 * those of environments and half those of products; edge is the largest rank rounded up to a multiple of 8, depth 3
 * for a and b, 4 for c and 2 for d.
 * Block j contracts product j / pairs with boundary pair first_pair + j % pairs: bond values p_x of the first and
 * last bond of x and p_y of y. TWO_ENDED: block 0 contracts sites 0 .. middle - 1 from the left and block 1 the
 * others from the right; the environments go to `environments`, each packed in `environment_stride` elements, and to
 * two states. */
#define PURLIN_LAUNCH_TT_CHAIN_A_THREADS 32
#define PURLIN_LAUNCH_TT_CHAIN_B_THREADS 128
#define PURLIN_LAUNCH_TT_CHAIN_C_THREADS 512
#define PURLIN_LAUNCH_TT_CHAIN_D_THREADS 256
#define PURLIN_LAUNCH_TT_CHAIN_A_RANK 16
#define PURLIN_LAUNCH_TT_CHAIN_B_RANK 32
#define PURLIN_LAUNCH_TT_CHAIN_C_RANK 32
#define PURLIN_LAUNCH_TT_CHAIN_D_RANK 64
#define PURLIN_LAUNCH_TT_CHAIN_A_DEPTH 3
#define PURLIN_LAUNCH_TT_CHAIN_B_DEPTH 3
#define PURLIN_LAUNCH_TT_CHAIN_C_DEPTH 4
#define PURLIN_LAUNCH_TT_CHAIN_D_DEPTH 2
#define PURLIN_LAUNCH_TT_CHAIN_KEYS 32
typedef struct purlin_tt_chain_params {
  uint64_t sites;   /* purlin_tt_site [cores] */
  uint64_t x_bases; /* uint64: base of core k of train t at [t * x_train_stride + k * x_core_stride] */
  uint64_t y_bases;
  uint64_t x_index; /* int32: train of each product, or 0 for train j of product j */
  uint64_t y_index;
  uint64_t x_keys; /* uint64: largest number of core k of train t at [t * cores + k], or 0 */
  uint64_t y_keys;
  uint64_t results;      /* purlin_tt_result [blocks], not with TWO_ENDED */
  uint64_t environments; /* TWO_ENDED */
  uint64_t states;       /* purlin_tt_state [2], TWO_ENDED */
  int64_t environment_stride;
  int64_t x_train_stride;
  int64_t y_train_stride;
  int64_t x_core_stride; /* 0: bases are those of trains */
  int64_t y_core_stride;
  int64_t first_pair;
  int64_t pairs; /* of this launch, for each product */
  int64_t pairs_x;
  int32_t length; /* of a sweep: sites */
  int32_t cores;
  int32_t middle;
  int32_t edge;
  int32_t flags;
  int32_t reserved;
} purlin_tt_chain_params;
#define PURLIN_TT_CHAIN_PARAMS_BYTES 168

/* purlin_tt_grid_<form>_<type>: one product by all blocks of a cooperative launch, which wait for each other. Tiles
 * of 32 (form s, 128 threads) or 64 (form l, 256 threads) elements along both sides. Dynamic shared memory:
 * TT_GRID_DEPTH * 2 * (TT_GRID_PANEL + 4) * tile elements and TT_CHAIN_KEYS keys. The environment starts as that of
 * bond values p_x and p_y. TWO_ENDED as above, with half of the blocks at each end. Without it all sites are
 * contracted from the left, and the last environment has 1 element.
 * Workspace: `space` holds 2 * environment_stride + product_stride elements for each end: two environments, and the
 * product with one core. `places` receives the index, 0 or 1, of the last environment: int32 for each end. */
#define PURLIN_LAUNCH_TT_GRID_S_TILE 32
#define PURLIN_LAUNCH_TT_GRID_L_TILE 64
#define PURLIN_LAUNCH_TT_GRID_S_THREADS 128
#define PURLIN_LAUNCH_TT_GRID_L_THREADS 256
#define PURLIN_LAUNCH_TT_GRID_PANEL 32
#define PURLIN_LAUNCH_TT_GRID_DEPTH 4
typedef struct purlin_tt_grid_params {
  uint64_t sites;
  uint64_t x_bases; /* uint64 [cores] if core_bases, else [1] */
  uint64_t y_bases;
  uint64_t space;
  uint64_t states; /* purlin_tt_state [2], zeroed */
  uint64_t keys;   /* uint64 [2 * length], zeroed: of the environments, then of the products */
  uint64_t places; /* int32 [2] */
  uint64_t x_keys; /* uint64 [cores] or 0 */
  uint64_t y_keys;
  int64_t environment_stride;
  int64_t product_stride;
  int64_t pair_x;
  int64_t pair_y;
  int32_t length;
  int32_t cores;
  int32_t middle;
  int32_t core_bases;
  int32_t flags;
  int32_t reserved;
} purlin_tt_grid_params;
#define PURLIN_TT_GRID_PARAMS_BYTES 128

/* purlin_tt_join: partial sums of left[j] * right[j], one for each block of TT_SUM_THREADS threads, both scaled by
 * the keys of their states; without `right`, of left[j]. */
#define PURLIN_LAUNCH_TT_SUM_THREADS 256
typedef struct purlin_tt_join_params {
  uint64_t left;
  uint64_t right;
  uint64_t states;  /* purlin_tt_state [2] */
  uint64_t places;  /* int32 [2] or 0: which of the environments a stride apart */
  uint64_t results; /* purlin_tt_result [blocks] */
  int64_t stride;
  int64_t count;
  int64_t flags;
} purlin_tt_join_params;
#define PURLIN_TT_JOIN_PARAMS_BYTES 64

/* purlin_tt_measure: computes key, alpha and exponent of a state for a new environment of `count` elements, by blocks
 * of TT_SUM_THREADS threads. Key and arrivals must be 0 and are reset to 0; with UNSCALED alpha is 1.
 * purlin_tt_scale: multiplies the environment by the state's alpha, in place. */
typedef struct purlin_tt_measure_params {
  uint64_t environment;
  uint64_t state;
  int64_t count;
  int64_t flags;
} purlin_tt_measure_params;
#define PURLIN_TT_MEASURE_PARAMS_BYTES 32

/* purlin_tt_factors: factors of the two products of a site, for cores of any magnitude: alpha of the state for the
 * first product and `second` for the other, from the key of the new environment and those of the cores. C(q) is q
 * clamped to TT_DOUBT_SINGLE or TT_DOUBT_DOUBLE. The environment has been divided by 2^C(q) of the core that it is
 * multiplied with first, and the first product by 2^C(q) of the other core, so that neither product overflows before
 * its factor is applied. A key address of 0 counts as a core in [0.5, 1). In single precision alpha is NaN for cores
 * whose C(q) is not q. Key and arrivals of the state must be 0 and are reset to 0. */
typedef struct purlin_tt_factors_params {
  uint64_t environment;
  uint64_t state;
  uint64_t second;     /* one element, in 16 bytes */
  uint64_t first_key;  /* uint64: of the core that comes first, or 0 */
  uint64_t second_key; /* of the other */
  uint64_t next_key;   /* of the core that comes first at the next site */
  int64_t count;
} purlin_tt_factors_params;
#define PURLIN_TT_FACTORS_PARAMS_BYTES 56

/* With APART the layout is F[b, a, p] instead of F[b, p, a].
 * purlin_tt_begin: F[b, p, a] = sum over i of X[p_x, i, a] op(Y[p_y, i, b]) for `pairs` pairs from first_pair on.
 * With keys it is scaled by those of the cores and by 2^-C(q) of the next one, and the state's exponent counts that.
 * purlin_tt_end: results[p] = alpha * sum over b, a, i of F[b, p, a] X[a, i, p_x] op(Y[b, i, p_y]), one block of
 * TT_SUM_THREADS threads for each pair, with the state's exponent; with keys the cores are scaled by those. */
typedef struct purlin_tt_edge_params {
  uint64_t x; /* the first or the last core */
  uint64_t y;
  uint64_t environment;
  uint64_t state;   /* end; begin with keys */
  uint64_t results; /* end: purlin_tt_result [pairs] */
  uint64_t x_key;   /* uint64: of these cores, both or 0 */
  uint64_t y_key;
  uint64_t next_key; /* begin: of the core that comes first at the next site, or 0 */
  int64_t first_pair;
  int64_t pairs;
  int64_t pairs_x; /* boundary bond of x */
  int64_t pairs_y;
  int64_t r; /* inner bonds */
  int64_t s;
  int64_t n;
  int64_t flags;
} purlin_tt_edge_params;
#define PURLIN_TT_EDGE_PARAMS_BYTES 128

/* purlin_tt_keys: writes the key of each of `count` cores, to keys zeroed before; blocks of TT_SUM_THREADS threads,
 * the grid's y strides over the cores. */
typedef struct purlin_tt_keys_params {
  uint64_t bases; /* uint64 [count] */
  uint64_t sizes; /* int64 [count]: elements */
  uint64_t keys;
  int64_t count;
} purlin_tt_keys_params;
#define PURLIN_TT_KEYS_PARAMS_BYTES 32

/* purlin_tt_promote_<f32|f64>: complex numbers with the given real parts. */
typedef struct purlin_tt_promote_params {
  uint64_t input;
  uint64_t output;
  int64_t count;
} purlin_tt_promote_params;
#define PURLIN_TT_PROMOTE_PARAMS_BYTES 24

#ifdef __cplusplus
static_assert(sizeof(purlin_tt_site) == PURLIN_TT_SITE_BYTES, "purlin_tt_site changed size");
static_assert(sizeof(purlin_tt_state) == PURLIN_TT_STATE_BYTES, "purlin_tt_state changed size");
static_assert(sizeof(purlin_tt_result) == PURLIN_TT_RESULT_BYTES, "purlin_tt_result changed size");
static_assert(sizeof(purlin_tt_chain_params) == PURLIN_TT_CHAIN_PARAMS_BYTES, "purlin_tt_chain_params changed size");
static_assert(sizeof(purlin_tt_grid_params) == PURLIN_TT_GRID_PARAMS_BYTES, "purlin_tt_grid_params changed size");
static_assert(sizeof(purlin_tt_join_params) == PURLIN_TT_JOIN_PARAMS_BYTES, "purlin_tt_join_params changed size");
static_assert(sizeof(purlin_tt_measure_params) == PURLIN_TT_MEASURE_PARAMS_BYTES,
              "purlin_tt_measure_params changed size");
static_assert(sizeof(purlin_tt_factors_params) == PURLIN_TT_FACTORS_PARAMS_BYTES,
              "purlin_tt_factors_params changed size");
static_assert(sizeof(purlin_tt_edge_params) == PURLIN_TT_EDGE_PARAMS_BYTES, "purlin_tt_edge_params changed size");
static_assert(sizeof(purlin_tt_keys_params) == PURLIN_TT_KEYS_PARAMS_BYTES, "purlin_tt_keys_params changed size");
static_assert(sizeof(purlin_tt_promote_params) == PURLIN_TT_PROMOTE_PARAMS_BYTES,
              "purlin_tt_promote_params changed size");
#endif

#endif
