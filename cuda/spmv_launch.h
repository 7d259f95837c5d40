/* Launch constants and parameter structs of the sparse products, under the rules of purlin_launch.h.
 *
 * A has compressed rows: row r holds entries row_ptr[r] to row_ptr[r + 1], counted from 0. Columns are int32. Kernel names
 * end in the element type, f32, f64, cf32 or cf64, and in `_pattern` where no values are read and every entry is 1. Offsets
 * are int64; kernels whose names hold `_narrow_` read int32.
 *
 * Words
 *   tile      a share of the work of a block: whole rows, or a part of one row that is too long (a piece).
 *   piece     its sum goes to partials[piece]. Of the blocks that sum the pieces of a row the last to arrive adds these in
 *             their order and finishes the row: arrivals[], of long rows, are 0 before and after.
 *   finish    what becomes of the sum s of row r:
 *             y[r] = alpha f scale[r] s + (shift + weight diagonal[r]) x[r] + gamma g z[r] + beta y[r],
 *             f and g numbers in device memory. What is 0 (an address, or beta) is not read.
 */
#ifndef PURLIN_SPMV_LAUNCH_H
#define PURLIN_SPMV_LAUNCH_H

#include <stdint.h>

#define PURLIN_LAUNCH_SPMV_THREADS 256
#define PURLIN_LAUNCH_SPMV_TILE 2048        /* entries of a tile */
#define PURLIN_LAUNCH_SPMV_SHORT_TILE 1024  /* of purlin_spmv_short_tiles_* */
#define PURLIN_LAUNCH_SPMV_TILE_ROWS 1024   /* and its rows, at most */
#define PURLIN_LAUNCH_SPMV_MERGE_THREADS 128
#define PURLIN_LAUNCH_SPMV_MERGE_TILE 1152  /* rows and entries together; a multiple of the threads */
#define PURLIN_LAUNCH_SPMV_PIECE 4096       /* most entries of a row that a block of bins sums at once */
#define PURLIN_LAUNCH_SPMV_SPREAD_THREADS 512
#define PURLIN_LAUNCH_SPMV_LONG_SUM 32      /* entries that a lane sums; longer rows of a tile go to whole warps */
#define PURLIN_LAUNCH_SPMV_PAD 16           /* entries of a block of columns begin at multiples */

/* Where a tile begins. */
typedef struct purlin_spmv_tile {
  int64_t entry;
  int32_t row;
  int32_t piece; /* -1: whole rows */
} purlin_spmv_tile;
#define PURLIN_SPMV_TILE_BYTES 16

/* What becomes of the sums of rows. */
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
  uint64_t longs;         /* purlin_spmv_long, and one more */
  uint64_t owners;        /* int32: the long row of each piece */
  uint64_t arrivals;      /* uint32, one a long row */
} purlin_spmv_pieces;
#define PURLIN_SPMV_PIECES_BYTES 32

/* Products with a vector: purlin_spmv_rows_*, _bins_*, _tiles_*, _short_tiles_*, _merge_*, _mend_*. */
typedef struct purlin_spmv_params {
  uint64_t row_ptr;
  uint64_t columns;
  uint64_t values;
  uint64_t gathered;      /* the vector that is multiplied by */
  uint64_t tiles;         /* purlin_spmv_tile [count + 1]; of bins purlin_spmv_bin [count] */
  uint64_t order;         /* bins: int32 rows */
  int64_t rows;
  int32_t count;          /* of tiles or bins */
  int32_t lanes;          /* rows: lanes of a row, a power of two up to 32 */
  purlin_spmv_pieces pieces; /* of merge `partials` alone, one a tile */
  purlin_spmv_finish finish;
} purlin_spmv_params;
#define PURLIN_SPMV_PARAMS_BYTES 224

/* Work of a block of purlin_spmv_bins_*: `count` rows from order[first] on by `lanes` lanes each; with lanes = 0 entries
 * first to first + count, a piece. */
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
  int32_t piece; /* the first */
} purlin_spmv_long;
#define PURLIN_SPMV_LONG_BYTES 8

/* Two sweeps without gathers from global memory. Entries lie by blocks of `width` columns, in each in the order of rows,
 * from a multiple of SPMV_PAD on. purlin_spmv_spread_* multiplies: a block takes a unit of entries, whose part of x it holds
 * in shared memory. purlin_spmv_collect_* sums: a block takes a tile of rows, whose products are one run a block of columns.
 */
typedef struct purlin_spmv_unit {
  int64_t first; /* entry, a multiple of SPMV_PAD */
  int32_t count; /* a multiple of SPMV_PAD */
  int32_t block; /* of columns */
} purlin_spmv_unit;
#define PURLIN_SPMV_UNIT_BYTES 16

typedef struct purlin_spmv_spread_params {
  uint64_t units;         /* purlin_spmv_unit, one a block */
  uint64_t columns;       /* uint16: within the block of columns */
  uint64_t values;
  uint64_t gathered;
  uint64_t products;
  int64_t length;         /* of `gathered` */
  int64_t first;          /* entry that goes to products[0] */
  int64_t width;
} purlin_spmv_spread_params;
#define PURLIN_SPMV_SPREAD_PARAMS_BYTES 64

typedef struct purlin_spmv_collect_params {
  uint64_t row_ptr;
  uint64_t tiles;         /* purlin_spmv_tile, of this sweep's first on, and one more */
  uint64_t runs;          /* uint32 [blocks] a tile: where in `products` its run begins */
  uint64_t offsets;       /* uint16 [blocks + 1] a tile: where the run goes to in shared memory; then the entries of the tile */
  uint64_t places;        /* uint16 [capacity] a tile: where in shared memory each entry is, in the order of A */
  uint64_t products;
  int64_t blocks;         /* of columns */
  int64_t capacity;       /* most entries of a tile, a multiple of 8 */
  int64_t lanes;          /* that take a run together: 4 to 32, a power of two */
  purlin_spmv_pieces pieces;
  purlin_spmv_finish finish;
} purlin_spmv_collect_params;
#define PURLIN_SPMV_COLLECT_PARAMS_BYTES 232

/* What the sweeps want prepared: purlin_spmv_count, a block a tile; _accumulate, a block a block of columns; _place, a block a
 * tile. In between `totals` becomes where each block of columns begins. */
typedef struct purlin_spmv_prepare_params {
  uint64_t columns;       /* int32 */
  uint64_t tiles;
  uint64_t runs;          /* as in purlin_spmv_collect_params */
  uint64_t offsets;
  uint64_t places;
  uint64_t totals;        /* uint32 [blocks] */
  uint64_t short_columns; /* uint16 */
  uint64_t sources;       /* uint32: the entry of A that lies there; UINT32_MAX in between, as it was */
  int64_t blocks;
  int64_t width;
  int64_t capacity;
  int64_t count;          /* of tiles */
} purlin_spmv_prepare_params;
#define PURLIN_SPMV_PREPARE_PARAMS_BYTES 96

/* output[k] = values[sources[k]], 0 for UINT32_MAX. */
typedef struct purlin_spmv_permute_params {
  uint64_t sources;
  uint64_t values;
  uint64_t output;
  int64_t count;
} purlin_spmv_permute_params;
#define PURLIN_SPMV_PERMUTE_PARAMS_BYTES 32

/* Vectors with their numbers in another order: to[r * to_row + k * to_column] = from[list[r] * from_row + k * from_column] for
 * k < width. */
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

/* Products with a block of vectors: element (r, k) of X at x[r * x_stride + k]; pieces at partials[piece * width + k]. What
 * becomes of the sum s of number (r, k) is alpha scale[r] s + (shift + weight diagonal[r]) own[r * own_stride + k] + beta y. */
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
  int32_t count;          /* join: of long rows */
  int32_t width;
  double alpha[2];
  double beta[2];
  double shift[2];
  double weight[2];
} purlin_spmv_block_params;
#define PURLIN_SPMV_BLOCK_PARAMS_BYTES 176

/* purlin_spmv_pixels_*: the graph of neighbouring pixels without its matrix. Pair k joins each pixel with the one offsets[k]
 * away, down and to the right, and has its weight with the first of the two. A thread a pixel. */
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
