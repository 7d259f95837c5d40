/* Launch constants and parameter structs of the sparse products, under the rules of docs/contributing.md.
 *
 * A has compressed rows: row r holds entries row_ptr[r] to row_ptr[r + 1], counted from 0. Columns are int32. Kernel names
 * end in the element type, f32, f64, cf32 or cf64, and then in `_pattern` if every entry is 1 and no values are read. Offsets
 * are int64; kernels with `_narrow_` in the name read int32.
 *
 * Words
 *   tile      the work of one block: whole rows, or a part of one row that is too long (a piece).
 *   piece     its sum is stored in partials[piece]. The last block of a row to arrive adds the row's pieces in their order
 *             and finishes the row. arrivals[] has one counter for each long row, 0 before and after.
 *   finish    how y is computed from the sum s of row r:
 *             y[r] = alpha f scale[r] s + (shift + weight diagonal[r]) x[r] + gamma g z[r] + beta y[r],
 *             f and g are numbers in device memory. Arrays whose address is 0 are not read, nor is y if beta is 0.
 */
#ifndef PURLIN_SPMV_LAUNCH_H
#define PURLIN_SPMV_LAUNCH_H

#include <stdint.h>

#define PURLIN_LAUNCH_SPMV_THREADS 256
#define PURLIN_LAUNCH_SPMV_TILE 2048        /* entries of a tile */
#define PURLIN_LAUNCH_SPMV_SHORT_TILE 1024  /* entries of a tile of purlin_spmv_short_tiles_* */
#define PURLIN_LAUNCH_SPMV_TILE_ROWS 1024   /* largest number of rows of either tile */
#define PURLIN_LAUNCH_SPMV_MERGE_THREADS 128
#define PURLIN_LAUNCH_SPMV_MERGE_TILE 1152  /* rows plus entries; a multiple of the threads */
#define PURLIN_LAUNCH_SPMV_PIECE 4096       /* largest number of entries of a row that a block of bins sums at once */
#define PURLIN_LAUNCH_SPMV_SPREAD_THREADS 512
#define PURLIN_LAUNCH_SPMV_LONG_SUM 32      /* largest number of entries for a lane; longer rows of a tile get whole warps */
#define PURLIN_LAUNCH_SPMV_PAD 16           /* the entries of each block of columns begin at a multiple of this */

/* The start of a tile. */
typedef struct purlin_spmv_tile {
  int64_t entry;
  int32_t row;
  int32_t piece; /* -1: whole rows */
} purlin_spmv_tile;
#define PURLIN_SPMV_TILE_BYTES 16

/* How y is computed from the sums of rows. */
typedef struct purlin_spmv_finish {
  uint64_t y;
  uint64_t x;             /* the kernel's type, or 0 without a diagonal and shift */
  uint64_t z;             /* the kernel's type, or 0 */
  uint64_t scale;         /* real parts, or 0 */
  uint64_t diagonal;      /* real parts, or 0 */
  uint64_t alpha_factor;  /* double f, or 0: 1 */
  uint64_t gamma_factor;  /* double g, or 0: 1 */
  double alpha[2];
  double beta[2];
  double gamma;
  double shift[2];
  double weight[2];
} purlin_spmv_finish;
#define PURLIN_SPMV_FINISH_BYTES 128

/* Rows in pieces. */
typedef struct purlin_spmv_pieces {
  uint64_t partials;      /* the kernel's type */
  uint64_t longs;         /* purlin_spmv_long for each row, and one for the end */
  uint64_t owners;        /* int32: the index in longs of each piece's row */
  uint64_t arrivals;      /* uint32, one for each long row */
} purlin_spmv_pieces;
#define PURLIN_SPMV_PIECES_BYTES 32

/* Products with a vector: purlin_spmv_rows_*, _bins_*, _tiles_*, _short_tiles_*, _merge_*, _mend_*. */
typedef struct purlin_spmv_params {
  uint64_t row_ptr;
  uint64_t columns;
  uint64_t values;
  uint64_t gathered;      /* the vector that entries gather from */
  uint64_t tiles;         /* purlin_spmv_tile [count + 1]; for bins purlin_spmv_bin [count] */
  uint64_t order;         /* for bins: int32 rows */
  int64_t rows;
  int32_t count;          /* number of tiles or bins */
  int32_t lanes;          /* for rows: lanes of a row, a power of two up to 32 */
  purlin_spmv_pieces pieces; /* for merge only `partials`, one for each tile */
  purlin_spmv_finish finish;
} purlin_spmv_params;
#define PURLIN_SPMV_PARAMS_BYTES 224

/* Work of a block of purlin_spmv_bins_*: `count` rows from order[first] on, with `lanes` lanes each. With lanes = 0, a piece:
 * entries first to first + count. */
typedef struct purlin_spmv_bin {
  int64_t first;
  int32_t count;
  int16_t lanes;
  int16_t reserved;
  int64_t piece;
} purlin_spmv_bin;
#define PURLIN_SPMV_BIN_BYTES 24

/* A row in pieces. */
typedef struct purlin_spmv_long {
  int32_t row;
  int32_t piece; /* its first piece */
} purlin_spmv_long;
#define PURLIN_SPMV_LONG_BYTES 8

/* Two sweeps without gathers from global memory. Entries are sorted by blocks of `width` columns; each block of columns begins
 * at a multiple of SPMV_PAD, and its entries are in the order of tiles of rows. purlin_spmv_spread_* multiplies: a thread block
 * processes a unit of entries, with their part of x in shared memory. purlin_spmv_collect_* sums: a thread block processes a
 * tile of rows, whose products are one run in each block of columns.
 */
typedef struct purlin_spmv_unit {
  int64_t first; /* entry, a multiple of SPMV_PAD */
  int32_t count; /* a multiple of SPMV_PAD */
  int32_t block; /* index of its block of columns */
} purlin_spmv_unit;
#define PURLIN_SPMV_UNIT_BYTES 16

typedef struct purlin_spmv_spread_params {
  uint64_t units;         /* purlin_spmv_unit, one for each thread block */
  uint64_t columns;       /* uint16: within the block of columns */
  uint64_t values;
  uint64_t gathered;
  uint64_t products;
  int64_t length;         /* numbers in `gathered` */
  int64_t first;          /* the entry whose product is products[0] */
  int64_t width;
} purlin_spmv_spread_params;
#define PURLIN_SPMV_SPREAD_PARAMS_BYTES 64

typedef struct purlin_spmv_collect_params {
  uint64_t row_ptr;
  uint64_t tiles;         /* purlin_spmv_tile, from this sweep's first on, and one for the end */
  uint64_t runs;          /* uint32 [blocks] for each tile: first index in `products` of each run */
  uint64_t offsets;       /* uint16 [blocks + 1] for each tile: index in shared memory of each run; then the entry count */
  uint64_t places;        /* uint16 [capacity] for each tile: index in shared memory of each entry, in the order of A */
  uint64_t products;
  int64_t blocks;         /* number of blocks of columns */
  int64_t capacity;       /* largest number of entries of a tile, a multiple of 8 */
  int64_t lanes;          /* lanes that copy a run together: 4 to 32, a power of two */
  purlin_spmv_pieces pieces;
  purlin_spmv_finish finish;
} purlin_spmv_collect_params;
#define PURLIN_SPMV_COLLECT_PARAMS_BYTES 232

/* Preparation of the sweeps: purlin_spmv_count, one thread block for each tile; _accumulate, one for each block of columns;
 * _place, one for each tile. After _accumulate the host replaces `totals` by the begin of each block of columns. */
typedef struct purlin_spmv_prepare_params {
  uint64_t columns;       /* int32 */
  uint64_t tiles;
  uint64_t runs;          /* as in purlin_spmv_collect_params */
  uint64_t offsets;
  uint64_t places;
  uint64_t totals;        /* uint32 [blocks] */
  uint64_t short_columns; /* uint16 */
  uint64_t sources;       /* uint32: the entry of A at each index; the padding keeps UINT32_MAX */
  int64_t blocks;
  int64_t width;
  int64_t capacity;
  int64_t count;          /* number of tiles */
} purlin_spmv_prepare_params;
#define PURLIN_SPMV_PREPARE_PARAMS_BYTES 96

/* output[k] = values[sources[k]]; 0 if the source is UINT32_MAX. */
typedef struct purlin_spmv_permute_params {
  uint64_t sources;
  uint64_t values;
  uint64_t output;
  int64_t count;
} purlin_spmv_permute_params;
#define PURLIN_SPMV_PERMUTE_PARAMS_BYTES 32

/* Reorders vectors: to[r * to_row + k * to_column] = from[list[r] * from_row + k * from_column] for k < width. */
typedef struct purlin_spmv_renumber_params {
  uint64_t list;
  uint64_t from;
  uint64_t to;
  int64_t rows;
  int64_t width;
  int64_t from_row;
  int64_t from_column;
  int64_t to_row;
  int64_t to_column;
} purlin_spmv_renumber_params;
#define PURLIN_SPMV_RENUMBER_PARAMS_BYTES 72

/* Products with a block of vectors: element (r, k) of X is x[r * x_stride + k]; sums of pieces are partials[piece * width + k].
 * From sum s, element (r, k) of Y is alpha scale[r] s + (shift + weight diagonal[r]) own[r * own_stride + k] + beta y. */
typedef struct purlin_spmv_block_params {
  uint64_t row_ptr;
  uint64_t columns;
  uint64_t values;
  uint64_t x;
  uint64_t y;
  uint64_t tiles;
  uint64_t partials;
  int64_t x_stride;
  int64_t y_stride;
  uint64_t own;           /* the kernel's type, or 0 without a diagonal and shift */
  uint64_t scale;         /* real parts, or 0 */
  uint64_t diagonal;      /* real parts, or 0 */
  int64_t own_stride;
  int32_t count;          /* for join: number of long rows */
  int32_t width;
  double alpha[2];
  double beta[2];
  double shift[2];
  double weight[2];
} purlin_spmv_block_params;
#define PURLIN_SPMV_BLOCK_PARAMS_BYTES 176

/* purlin_spmv_pixels_*: the graph of neighbouring pixels without its matrix. Pair k joins each pixel with the one at
 * offsets[k] from it, down and to the right; the first of the two has the weight. One thread for each pixel. */
typedef struct purlin_spmv_pixels_params {
  uint64_t weights;       /* real parts [pairs, height, width]: 0 where the pair leads out of the image */
  uint64_t offsets;       /* int32 [pairs, 2]: rows down, from 0, and columns to the right */
  uint64_t gathered;
  int64_t height;
  int64_t width;
  int64_t pairs;
  purlin_spmv_finish finish;
} purlin_spmv_pixels_params;
#define PURLIN_SPMV_PIXELS_PARAMS_BYTES 176

#ifdef __cplusplus
static_assert(sizeof(purlin_spmv_pixels_params) == PURLIN_SPMV_PIXELS_PARAMS_BYTES, "mirrored in Rust");
static_assert(sizeof(purlin_spmv_tile) == PURLIN_SPMV_TILE_BYTES, "mirrored in Rust");
static_assert(sizeof(purlin_spmv_finish) == PURLIN_SPMV_FINISH_BYTES, "mirrored in Rust");
static_assert(sizeof(purlin_spmv_pieces) == PURLIN_SPMV_PIECES_BYTES, "mirrored in Rust");
static_assert(sizeof(purlin_spmv_params) == PURLIN_SPMV_PARAMS_BYTES, "mirrored in Rust");
static_assert(sizeof(purlin_spmv_bin) == PURLIN_SPMV_BIN_BYTES, "mirrored in Rust");
static_assert(sizeof(purlin_spmv_long) == PURLIN_SPMV_LONG_BYTES, "mirrored in Rust");
static_assert(sizeof(purlin_spmv_unit) == PURLIN_SPMV_UNIT_BYTES, "mirrored in Rust");
static_assert(sizeof(purlin_spmv_spread_params) == PURLIN_SPMV_SPREAD_PARAMS_BYTES, "mirrored in Rust");
static_assert(sizeof(purlin_spmv_collect_params) == PURLIN_SPMV_COLLECT_PARAMS_BYTES, "mirrored in Rust");
static_assert(sizeof(purlin_spmv_prepare_params) == PURLIN_SPMV_PREPARE_PARAMS_BYTES, "mirrored in Rust");
static_assert(sizeof(purlin_spmv_permute_params) == PURLIN_SPMV_PERMUTE_PARAMS_BYTES, "mirrored in Rust");
static_assert(sizeof(purlin_spmv_renumber_params) == PURLIN_SPMV_RENUMBER_PARAMS_BYTES, "mirrored in Rust");
static_assert(sizeof(purlin_spmv_block_params) == PURLIN_SPMV_BLOCK_PARAMS_BYTES, "mirrored in Rust");
#endif

#endif
