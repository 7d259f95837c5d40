//! Sizes of the tiles, bins and records of the kernels.

use super::super::{constants as c, size};

/// Entries of a tile: 2048.
pub const TILE: usize = size(c::SPMV_TILE);
/// Entries of a short tile: 1024.
pub const SHORT_TILE: usize = size(c::SPMV_SHORT_TILE);
/// Most rows of a tile.
pub const TILE_ROWS: usize = size(c::SPMV_TILE_ROWS);
/// Rows and entries of a tile of the merge path.
pub const MERGE_TILE: usize = size(c::SPMV_MERGE_TILE);
/// Most entries of a piece of a bin.
pub const PIECE: usize = size(c::SPMV_PIECE);
/// Threads of a block in most kernels: 256.
pub const THREADS: usize = size(c::SPMV_THREADS);
/// Entries of a block of columns begin at multiples.
pub const PAD: usize = size(c::SPMV_PAD);
/// 64-bit words of a record of a tile.
pub const TILE_WORDS: usize = size(c::SPMV_TILE_BYTES) / 8;
/// 64-bit words of a record of a bin.
pub const BIN_WORDS: usize = size(c::SPMV_BIN_BYTES) / 8;
/// 64-bit words of a record of a unit.
pub const UNIT_WORDS: usize = size(c::SPMV_UNIT_BYTES) / 8;
