/* Parameter structs of the kernels that measure the numbers at the bonds of tensor trains, under the rules of
 * docs/contributing.md.
 *
 * Value b of a bond is a column of the core before it and a row of the core behind it. purlin_tt_bonds finds the largest
 * |re| or |im| of every row and every column as keys (see tt_launch.h). purlin_tt_spread tests each bond by these keys, and
 * purlin_tt_carried tests the products that cores pass on to each other.
 */
#ifndef PURLIN_TT_BONDS_LAUNCH_H
#define PURLIN_TT_BONDS_LAUNCH_H

#include <stdint.h>

/* A core r x n x s of a train. */
typedef struct purlin_tt_bond_core {
  uint64_t address; /* of its first element; with `bases` the bytes from the train's base to it */
  int64_t r;
  int64_t n;
  int64_t s;
  int64_t rows;    /* its r keys begin at this one of the train's */
  int64_t columns; /* its s keys */
  int64_t more;    /* four more words: the complement of the least key of a pair of values of both bonds; purlin_tt_carried's;
                      the complement of the least such key that is not 0; that of the least number that is not 0 */
} purlin_tt_bond_core;
#define PURLIN_TT_BOND_CORE_BYTES 56

/* purlin_tt_bonds_<f32|f64>: writes the keys of all rows, columns and least pairs of `count` cores of each of
 * `trains` trains, to keys that are 0. Elements have `parts` numbers of the type: 2 for complex ones. Blocks of
 * TT_BONDS_THREADS threads; the grid's x strides over groups of TT_BONDS_COLUMNS columns, y over the cores of all
 * trains. */
#define PURLIN_LAUNCH_TT_BONDS_THREADS 128
#define PURLIN_LAUNCH_TT_BONDS_COLUMNS 16
typedef struct purlin_tt_bonds_params {
  uint64_t cores; /* purlin_tt_bond_core [count] */
  uint64_t bases; /* uint64 [trains], or 0 */
  uint64_t keys;  /* uint64 [trains][stride] */
  int64_t count;
  int64_t trains;
  int64_t stride;
  int64_t parts;
} purlin_tt_bonds_params;
#define PURLIN_TT_BONDS_PARAMS_BYTES 56

/* A bond: the first keys of its columns and of its rows, and its number of values. */
typedef struct purlin_tt_bond {
  int64_t columns;
  int64_t rows;
  int64_t count;
} purlin_tt_bond;
#define PURLIN_TT_BOND_BYTES 24

/* purlin_tt_spread: values of a bond with columns of 2^c and rows of 2^r are balanced by 2^p, p = (c - r) / 2 rounded
 * down. If the p of one bond differ by more than `limit`, writes NaN to the train's number in `to`. Values whose rows
 * or columns are 0 or not finite are ignored. Blocks of TT_BONDS_THREADS threads, the grid's x strides over the bonds
 * of all trains. */
typedef struct purlin_tt_spread_params {
  uint64_t keys;  /* uint64 [trains][stride] */
  uint64_t bonds; /* purlin_tt_bond [count] */
  uint64_t to;    /* double [trains][to_stride] */
  int64_t count;
  int64_t trains;
  int64_t stride;
  int64_t to_stride;
  int64_t limit;
} purlin_tt_spread_params;
#define PURLIN_TT_SPREAD_PARAMS_BYTES 64

/* The cores of one train: `count` from number `first` on; `closed` is 1 for a ring, whose cores products go through
 * `turns` times. */
typedef struct purlin_tt_chain {
  int64_t first;
  int64_t count;
  int64_t closed;
  int64_t turns;
} purlin_tt_chain;
#define PURLIN_TT_CHAIN_BYTES 32

/* purlin_tt_carried: bounds the exponent differences between the largest products of cores up to the values of a
 * bond, and behind them. A core adds the difference of its columns (rows). If all pairs of its values have numbers,
 * the bound is at most the difference of those numbers. Writes NaN to the train's number in `to` if the two bounds of
 * a bond together exceed 2 `limit`, if a ring's bounds still grow in the second round, and if a value that no product
 * reaches may hide others. Writes NaN to the train's number in `wide` if a core's largest number and its least that is
 * not 0 are 2^a apart, the largest is 2^b, and a exceeds `apart` or a + |b| exceeds `away`. Blocks of TT_CARRIED_THREADS
 * threads, which take TT_CARRIED_CORES cores at a time; the grid's x strides over the chains of all trains. */
#define PURLIN_LAUNCH_TT_CARRIED_THREADS 512
#define PURLIN_LAUNCH_TT_CARRIED_CORES 128
typedef struct purlin_tt_carried_params {
  uint64_t keys;   /* uint64 [trains][stride] */
  uint64_t cores;  /* purlin_tt_bond_core [] */
  uint64_t chains; /* purlin_tt_chain [count] */
  uint64_t to;     /* double [trains][to_stride] */
  uint64_t wide;   /* double [trains][to_stride] */
  int64_t count;
  int64_t trains;
  int64_t stride;
  int64_t to_stride;
  int64_t limit;
  int64_t apart;
  int64_t away;
} purlin_tt_carried_params;
#define PURLIN_TT_CARRIED_PARAMS_BYTES 96

/* purlin_tt_near: writes NaN to the number in `to` of each train that has a ring whose numbers may be more than 2^half
 * apart at some bond: if the ranges of all cores, the logarithms of largest by least number that is not 0, add up to more,
 * and if a core has zeros or a range of more than half of that. Rings with a number that is not finite are passed over.
 * Blocks of TT_BONDS_THREADS threads, the grid's x strides over the chains of all trains. */
typedef struct purlin_tt_near_params {
  uint64_t keys;   /* uint64 [trains][stride] */
  uint64_t cores;  /* purlin_tt_bond_core [] */
  uint64_t chains; /* purlin_tt_chain [count] */
  uint64_t to;     /* double [trains][to_stride] */
  int64_t count;
  int64_t trains;
  int64_t stride;
  int64_t to_stride;
  double half;
} purlin_tt_near_params;
#define PURLIN_TT_NEAR_PARAMS_BYTES 72

/* purlin_tt_largest: writes the largest number of each of `count` cores as a key, from the keys of its columns, to
 * numbers that are 0. Blocks of TT_BONDS_THREADS threads, the grid's x strides over the cores. */
typedef struct purlin_tt_largest_params {
  uint64_t keys;  /* uint64 */
  uint64_t cores; /* purlin_tt_bond_core [count] */
  uint64_t to;    /* uint64 [count] */
  int64_t count;
} purlin_tt_largest_params;
#define PURLIN_TT_LARGEST_PARAMS_BYTES 32

/* purlin_tt_graded: writes NaN to `to` if a core has an exponent beyond `one`, or if the sums of the exponents of two
 * trains up to some core differ by more than `apart`. One thread. Exponents are those of the cores' keys, 0 for keys
 * of 0 and of numbers that are not finite. */
typedef struct purlin_tt_graded_params {
  uint64_t keys; /* uint64 [trains][count], in the order of a sweep */
  uint64_t to;   /* double */
  int64_t count;
  int64_t trains; /* 1 or 2 */
  int64_t one;
  int64_t apart;
} purlin_tt_graded_params;
#define PURLIN_TT_GRADED_PARAMS_BYTES 48

#ifdef __cplusplus
static_assert(sizeof(purlin_tt_graded_params) == PURLIN_TT_GRADED_PARAMS_BYTES, "purlin_tt_graded_params changed size");
static_assert(sizeof(purlin_tt_bond_core) == PURLIN_TT_BOND_CORE_BYTES, "purlin_tt_bond_core changed size");
static_assert(sizeof(purlin_tt_chain) == PURLIN_TT_CHAIN_BYTES, "purlin_tt_chain changed size");
static_assert(sizeof(purlin_tt_near_params) == PURLIN_TT_NEAR_PARAMS_BYTES, "purlin_tt_near_params changed size");
static_assert(sizeof(purlin_tt_carried_params) == PURLIN_TT_CARRIED_PARAMS_BYTES, "purlin_tt_carried_params changed size");
static_assert(sizeof(purlin_tt_bonds_params) == PURLIN_TT_BONDS_PARAMS_BYTES, "purlin_tt_bonds_params changed size");
static_assert(sizeof(purlin_tt_bond) == PURLIN_TT_BOND_BYTES, "purlin_tt_bond changed size");
static_assert(sizeof(purlin_tt_largest_params) == PURLIN_TT_LARGEST_PARAMS_BYTES, "purlin_tt_largest_params changed size");
static_assert(sizeof(purlin_tt_spread_params) == PURLIN_TT_SPREAD_PARAMS_BYTES, "purlin_tt_spread_params changed size");
#endif

#endif
