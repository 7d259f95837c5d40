//! Bytes on the device of a plan and of its products, before it is made and afterwards.

use std::sync::PoisonError;

use super::cut::{Cut, CutSizes};
use super::matrix::Structure;
use super::prepared::{Prepared, choose, cut, form};
use super::sweeps::Sweeps;
use crate::backend::gpu::kernels::spmv::{Form, SHORT_TILE, TILE, TILE_ROWS, block_entries};
use crate::backend::memory::Memory;
use crate::error::Result;
use crate::matrix::Csr;
use crate::matrix::sparse::{CopyBytes, Rows};
use crate::scalar::DType;
use crate::spmv::info::Statistics;
use crate::spmv::options::{Method, Options};

/// Largest number of vectors for one launch of a block kernel.
pub(super) const MOST_WIDTH: usize = 16;

/// Device bytes that a plan and its products are charged for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DeviceBytes {
    /// Those of the plan, which the matrix keeps.
    pub plan: CopyBytes,
    /// The workspace of a call's products with one vector: that of [`Plan::device_space`](crate::spmv::Plan::device_space).
    pub space: usize,
    /// The workspace of a product with a block of vectors, which is freed after it.
    pub block: usize,
    /// The tiles of such products, which the plan keeps from the first one on.
    pub tiles: usize,
}

/// The matrix of a plan, or a copy of it in another form.
pub(in crate::spmv) struct Multiplied<'a> {
    /// The matrix of the plan.
    pub(in crate::spmv) from: &'a Csr,
    /// Whether products read a copy of the matrix: its transpose, or one in another order.
    pub(in crate::spmv) is_copied: bool,
    /// The rows that products are computed with, if the plan keeps the matrix's order; else these rows in any order.
    pub(in crate::spmv) rows: Rows<'a>,
    /// Columns of these rows.
    pub(in crate::spmv) cols: usize,
    /// Statistics of these rows, and lanes for each of them.
    pub(in crate::spmv) figures: (Statistics, usize),
}

/// Bytes of a plan that is not made yet, and of its products with `width` vectors. They are exact for rows in the order of
/// products, for other orders and for [`Method::Sweeps`] an upper bound.
pub(in crate::spmv) fn expected(
    dtype: DType,
    of: &Multiplied<'_>,
    options: &Options,
    width: usize,
) -> Result<DeviceBytes> {
    let Multiplied { from, rows, is_copied, .. } = of;
    let (entries, number) = (from.nnz(), dtype.size());
    let values = from.parts().values.as_ref();
    let structure = if *is_copied { Structure::bytes_of_copy(rows.len(), entries) } else { Structure::bytes_of(from) };
    let own_values = match values {
        None => 0,
        Some(Memory::Device(_)) if !is_copied => 0,
        Some(_) => entries.saturating_mul(number),
    };
    let order = if options.ordering.is_some() { rows.len().saturating_mul(8) } else { 0 };
    let before = structure.saturating_add(own_values).saturating_add(order);
    let method = if options.method == Method::Auto { choose(dtype, &of.figures.0, of.cols).0 } else { options.method };
    let is_in_order = options.ordering.is_none();
    let (shares, made, products) = match form(dtype, method, of.figures.1, entries) {
        Some(Form::ShortTiles) if !is_in_order => alone(Cut::most_tiles(rows, SHORT_TILE, TILE_ROWS)),
        Some(Form::Tiles) if !is_in_order => alone(Cut::most_tiles(rows, TILE, TILE_ROWS)),
        Some(form) => alone(cut(form, rows)?.sizes()),
        None => {
            let shares = if is_in_order { Sweeps::cut(dtype, rows)?.sizes() } else { Sweeps::most_cut(dtype, rows) };
            let (bytes, products) = Sweeps::bytes_of(dtype, (of.cols, entries), shares, values.is_some());
            (shares, bytes, products)
        }
    };
    let mut bytes = DeviceBytes {
        plan: CopyBytes { peak: before, kept: before }.then(made),
        space: space_bytes(dtype, (shares.pieces, shares.longs, products)),
        ..DeviceBytes::default()
    };
    for width in widths(width) {
        let entries = block_entries(dtype, width);
        let shares = match is_in_order {
            true => Cut::tiles(rows, entries, TILE_ROWS)?.sizes(),
            false => Cut::most_tiles(rows, entries, TILE_ROWS),
        };
        bytes.add_block(dtype, shares, width, true);
    }
    Ok(bytes)
}

/// Shares that have nothing beside them, and store no products.
fn alone(shares: CutSizes) -> (CutSizes, CopyBytes, usize) {
    (shares, CopyBytes { peak: shares.bytes, kept: shares.bytes }, 0)
}

/// The widths of the launches of a product with `width` vectors; none for a single vector.
fn widths(width: usize) -> impl Iterator<Item = usize> {
    let rest = if width > 1 { width % MOST_WIDTH } else { 0 };
    [if width >= MOST_WIDTH { MOST_WIDTH } else { 0 }, rest].into_iter().filter(|width| *width > 0)
}

/// Bytes of [`Space`](super::Space) for these numbers of partial sums, of counters and of stored products.
fn space_bytes(dtype: DType, (pieces, longs, products): (usize, usize, usize)) -> usize {
    pieces.saturating_add(products).saturating_mul(dtype.size()).saturating_add(4 * longs)
}

impl DeviceBytes {
    /// Counts a product with `width` vectors, and with `is_new` its tiles.
    fn add_block(&mut self, dtype: DType, shares: CutSizes, width: usize, is_new: bool) {
        if is_new {
            self.tiles = self.tiles.saturating_add(shares.bytes);
        }
        self.block = self.block.max(shares.pieces.saturating_mul(width).saturating_mul(dtype.size()));
    }
}

impl Prepared {
    /// Bytes of products of the plan with `width` vectors, beyond those that the plan holds. `a` is the matrix of the
    /// products.
    pub(in crate::spmv) fn bytes_of_products(&self, dtype: DType, a: &Csr, width: usize) -> Result<DeviceBytes> {
        let space = space_bytes(dtype, self.workspace_lengths());
        let mut bytes = DeviceBytes { space, ..DeviceBytes::default() };
        for width in widths(width) {
            let entries = block_entries(dtype, width);
            let made = self.blocks.lock().unwrap_or_else(PoisonError::into_inner);
            let found = made.iter().find(|tiles| tiles.0 == entries).map(|tiles| tiles.1.sizes());
            drop(made);
            let is_new = found.is_none();
            let shares = match found {
                Some(shares) => shares,
                None => Cut::tiles(&Rows::new(a)?, entries, TILE_ROWS)?.sizes(),
            };
            bytes.add_block(dtype, shares, width, is_new);
        }
        Ok(bytes)
    }

    /// Bytes of the copy of the values that [`Prepared::update`] makes before it frees the old one.
    pub(in crate::spmv) fn bytes_of_update(&self) -> usize {
        self.values.bytes()
    }
}
