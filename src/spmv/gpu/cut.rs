//! The division of a matrix's rows into shares for thread blocks, encoded as words for the device.

use crate::alloc;
use crate::backend::gpu::kernels::spmv::{MERGE_TILE, PIECE, Pieces, Shares, THREADS, TILE_WORDS};
use crate::backend::gpu::{DeviceMemory, Gpu, GpuStream, Region};
use crate::error::{Error, Result};
use crate::matrix::sparse::Rows;
use crate::shape::to_i64;

const WHAT: &str = "plan of a sparse product";

/// Longest row, in entries, that one warp sums in a bin.
const LONGEST_IN_BIN: usize = 1024;

/// Shares of the work, as the kernels read them.
#[derive(Default)]
pub(super) struct Cut {
    /// The shares: [`TILE_WORDS`](crate::backend::gpu::kernels::spmv::TILE_WORDS) or `BIN_WORDS` words each.
    pub(super) words: Vec<i64>,
    /// Number of shares. Tiles have one more record, which holds the end of the last.
    pub(super) count: usize,
    /// Rows that are summed in pieces, and the end: one word each.
    pub(super) longs: Vec<i64>,
    /// Pieces of all rows that are summed in pieces.
    pub(super) pieces: usize,
    /// For bins: the rows by length.
    pub(super) order: Vec<i32>,
}

/// The sizes of a [`Cut`], which its bytes and those of its workspace follow from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct CutSizes {
    /// Number of shares.
    pub(super) count: usize,
    /// Pieces of all rows that are summed in pieces.
    pub(super) pieces: usize,
    /// Number of these rows.
    pub(super) longs: usize,
    /// Bytes of the lists on the device.
    pub(super) bytes: usize,
}

/// Two fields of 32 bits, the lower first.
fn pair(low: usize, high: i32) -> Result<i64> {
    Ok(i64::from(number(low)?.cast_unsigned()) | i64::from(high) << 32)
}

fn number(value: usize) -> Result<i32> {
    let problem = || Error::NotSupported(format!("a: {value} rows or pieces of rows, at most {} on a GPU", i32::MAX));
    i32::try_from(value).map_err(|_| problem())
}

impl Cut {
    fn tile(&mut self, entry: usize, row: usize, piece: i32) -> Result<()> {
        alloc::push(WHAT, &mut self.words, to_i64(entry))?;
        alloc::push(WHAT, &mut self.words, pair(row, piece)?)
    }

    fn long(&mut self, row: usize) -> Result<()> {
        let piece = number(self.pieces)?;
        alloc::push(WHAT, &mut self.longs, pair(row, piece)?)
    }

    /// Number of rows in pieces.
    pub(super) fn long_count(&self) -> usize {
        self.longs.len().saturating_sub(1)
    }

    /// For each piece, the index in `longs` of its row.
    pub(super) fn owners(&self) -> Result<Vec<i32>> {
        let mut owners = alloc::with_capacity(WHAT, self.pieces)?;
        for (owner, pair) in self.longs.windows(2).enumerate() {
            let piece = |word: i64| usize::try_from(word >> 32).unwrap_or(0);
            owners.resize(piece(pair[1]).min(self.pieces), number(owner)?);
        }
        Ok(owners)
    }

    /// The sizes on the device.
    pub(super) fn sizes(&self) -> CutSizes {
        // Shares of equal work have pieces, and no rows that own them.
        let owned = if self.longs.is_empty() { 0 } else { self.pieces };
        let lists = 8 * (self.words.len() + self.longs.len()) + 4 * (self.order.len() + owned);
        CutSizes { count: self.count, pieces: self.pieces, longs: self.long_count(), bytes: lists }
    }

    /// Sizes that those of [`Cut::tiles`] do not exceed for these rows in any order.
    pub(super) fn most_tiles(rows: &Rows<'_>, entries: usize, most_rows: usize) -> CutSizes {
        let (mut short, mut short_rows, mut longest, mut longs, mut pieces) = (0, 0, 0, 0, 0usize);
        for length in (0..rows.len()).map(|r| rows.row(r).len()) {
            if length > entries {
                longs += 1;
                pieces += length.div_ceil(entries);
            } else {
                short += length;
                short_rows += 1;
                longest = longest.max(length);
            }
        }
        // A tile ends where the next row is too long for it. It is then at least so full, or, with the first row of the
        // next tile, has more than `entries`. It also ends after `most_rows` rows and at a row in pieces.
        let full = (entries + 1 - longest).max(entries / 2).max(1);
        let count = pieces + short / full + short_rows / most_rows + longs + 1;
        let bytes = 8 * (TILE_WORDS * (count + 1) + longs + 1) + 4 * pieces;
        CutSizes { count, pieces, longs, bytes }
    }

    /// Shares of whole rows, with up to `entries` entries and `most_rows` rows each; longer rows in pieces.
    pub(super) fn tiles(rows: &Rows<'_>, entries: usize, most_rows: usize) -> Result<Self> {
        let mut cut = Self::default();
        let (mut held, mut held_rows, mut open) = (0, 0, false);
        for r in 0..rows.len() {
            let row = rows.row(r);
            if row.len() > entries {
                cut.long(r)?;
                for k in row.step_by(entries) {
                    cut.tile(k, r, number(cut.pieces)?)?;
                    cut.pieces += 1;
                }
                open = false;
                continue;
            }
            if !open || held + row.len() > entries || held_rows == most_rows {
                cut.tile(row.start, r, -1)?;
                (held, held_rows, open) = (0, 0, true);
            }
            held += row.len();
            held_rows += 1;
        }
        cut.count = cut.words.len() / 2;
        cut.tile(rows.entry(rows.len()), rows.len(), -1)?;
        cut.long(rows.len())?;
        Ok(cut)
    }

    /// Shares with equal sums of rows and entries.
    pub(super) fn merge(rows: &Rows<'_>) -> Result<Self> {
        let mut cut = Self::default();
        let (n, nnz) = (rows.len(), rows.entry(rows.len()));
        let length = n + nnz;
        let mut diagonal = 0;
        loop {
            let at = diagonal.min(length);
            let (mut low, mut high) = (at.saturating_sub(nnz), at.min(n));
            while low < high {
                let middle = low + (high - low) / 2;
                if rows.entry(middle + 1) < at - middle { low = middle + 1 } else { high = middle }
            }
            cut.tile(at - low, low, -1)?;
            if at == length {
                break;
            }
            diagonal += MERGE_TILE;
        }
        cut.count = cut.words.len() / 2 - 1;
        cut.pieces = cut.count;
        Ok(cut)
    }

    /// Rows of similar length together; long ones in pieces, which come first.
    pub(super) fn bins(rows: &Rows<'_>) -> Result<Self> {
        let mut cut = Self::default();
        let is_long = |r: usize| rows.row(r).len() > LONGEST_IN_BIN;
        for r in (0..rows.len()).filter(|&r| is_long(r)) {
            cut.long(r)?;
            let row = rows.row(r);
            for k in row.clone().step_by(PIECE) {
                let length = PIECE.min(row.end - k);
                for word in [to_i64(k), to_i64(length), to_i64(cut.pieces)] {
                    alloc::push(WHAT, &mut cut.words, word)?;
                }
                cut.pieces += 1;
            }
        }
        cut.long(rows.len())?;
        // Up to four entries for each lane.
        let lanes_of = |length: usize| length.div_ceil(4).clamp(1, 32).next_power_of_two();
        cut.order = alloc::with_capacity(WHAT, rows.len())?;
        for lanes in [32, 16, 8, 4, 2, 1] {
            let first = cut.order.len();
            for r in (0..rows.len()).filter(|&r| !is_long(r) && lanes_of(rows.row(r).len()) == lanes) {
                cut.order.push(number(r)?);
            }
            let each = THREADS / lanes;
            for at in (first..cut.order.len()).step_by(each) {
                let count = each.min(cut.order.len() - at);
                for word in [to_i64(at), to_i64(count) | to_i64(lanes) << 32, 0] {
                    alloc::push(WHAT, &mut cut.words, word)?;
                }
            }
        }
        cut.count = cut.words.len() / 3;
        Ok(cut)
    }
}

/// Shares of the work on the device.
pub(super) struct DeviceCut {
    pub(super) list: DeviceMemory,
    pub(super) count: usize,
    longs: DeviceMemory,
    pub(super) long_count: usize,
    owners: DeviceMemory,
    pub(super) pieces: usize,
    order: Option<DeviceMemory>,
    pub(super) bytes: usize,
}

impl DeviceCut {
    pub(super) fn new(gpu: &Gpu, stream: &GpuStream, cut: &Cut) -> Result<Self> {
        Ok(Self {
            list: gpu.upload_numbers(stream, WHAT, &cut.words)?,
            count: cut.count,
            longs: gpu.upload_numbers(stream, WHAT, &cut.longs)?,
            long_count: cut.long_count(),
            owners: gpu.upload_numbers(stream, WHAT, &cut.owners()?)?,
            pieces: cut.pieces,
            order: if cut.order.is_empty() { None } else { Some(gpu.upload_numbers(stream, WHAT, &cut.order)?) },
            bytes: cut.sizes().bytes,
        })
    }

    /// The sizes of the shares.
    pub(super) fn sizes(&self) -> CutSizes {
        CutSizes { count: self.count, pieces: self.pieces, longs: self.long_count, bytes: self.bytes }
    }

    pub(super) fn pieces<'a>(&'a self, partials: Region<'a>, arrivals: Region<'a>) -> Pieces<'a> {
        Pieces {
            longs: self.longs.whole(),
            rows: self.long_count,
            owners: self.owners.whole(),
            count: self.pieces,
            partials,
            arrivals,
        }
    }

    pub(super) fn shares<'a>(&'a self, partials: Region<'a>, arrivals: Region<'a>) -> Shares<'a> {
        Shares {
            list: self.list.whole(),
            count: self.count,
            order: self.order.as_ref().map(DeviceMemory::whole),
            pieces: self.pieces(partials, arrivals),
        }
    }
}
