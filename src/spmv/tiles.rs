//! The division of the work of a product on threads into shares of rows and entries.

use super::info::Info;
use crate::alloc;
use crate::error::{Error, Result};
use crate::matrix::sparse::Rows;
use crate::matrix::{Csr, Matrix, SharedOperator, Storage};

const WHAT: &str = "plan of a sparse product";

/// Rows plus entries of a share: enough to hide the overhead of a share, and few enough for every thread to have
/// several.
pub(super) const TILE: usize = 1 << 14;

/// The start of a share: entry `entry` in row `row`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tile {
    /// The first row that ends in the share or after it.
    pub row: usize,
    /// First entry of the share, from 0.
    pub entry: usize,
}

/// The shares of a plan.
#[derive(Clone, Copy)]
pub struct Shares<'a> {
    /// The plan's choice, and the statistics of the rows.
    pub info: &'a Info,
    /// The starts of the shares, and the end of the last one.
    pub tiles: &'a [Tile],
    /// For [`Method::RowBin`](super::Method::RowBin): rows in the order in which the shares process them, counted
    /// from the share's first row.
    pub order: &'a [u32],
}

/// The operator of `a`, if `a` is known only by its products.
pub(super) fn operator(a: &Matrix) -> Option<&SharedOperator> {
    match a.storage() {
        Storage::Operator(own) => Some(own),
        _ => None,
    }
}

/// The rows of a sparse matrix.
///
/// # Errors
/// [`Error::NotSupported`] for another storage.
pub fn csr(matrix: &Matrix) -> Result<&Csr> {
    match matrix.storage() {
        Storage::Csr(csr) => Ok(csr),
        other => Err(Error::NotSupported(format!("a: is {}, a sparse matrix is needed", other.name()))),
    }
}

/// Shares of [`TILE`] steps each out of `steps`; `at` maps a step to its row and entry.
pub(super) fn tiles(rows: &Rows<'_>, at: impl Fn(usize) -> Tile, steps: usize) -> Result<Vec<Tile>> {
    let count = steps.div_ceil(TILE).max(1);
    let mut tiles = alloc::with_capacity(WHAT, count + 1)?;
    tiles.extend((0..count).map(|t| at(t * TILE)));
    tiles.push(end(rows));
    Ok(tiles)
}

fn end(rows: &Rows<'_>) -> Tile {
    let row = rows.len();
    Tile { row, entry: rows.entry(row) }
}

/// The point where diagonal `diagonal` crosses the merge path of row ends and entries.
pub(super) fn search(rows: &Rows<'_>, diagonal: usize) -> Tile {
    let end = end(rows);
    let (mut low, mut high) = (diagonal.saturating_sub(end.entry), diagonal.min(end.row));
    while low < high {
        let middle = low + (high - low) / 2;
        // diagonal > middle here, since high is at most diagonal.
        if rows.entry(middle + 1) < diagonal - middle { low = middle + 1 } else { high = middle }
    }
    Tile { row: low, entry: diagonal - low }
}

/// The share that begins at entry `entry`. A row that ends just before it is completed in this share, with nothing to
/// add.
pub(super) fn row_of(rows: &Rows<'_>, entry: usize) -> Tile {
    let (mut low, mut high) = (0, rows.len());
    while low < high {
        let middle = low + (high - low) / 2;
        if rows.entry(middle + 1) < entry { low = middle + 1 } else { high = middle }
    }
    Tile { row: low, entry }
}

/// Shares of whole rows, at most [`TILE`] rows plus entries each unless one row is longer; the end last.
pub(super) fn whole_rows(rows: &Rows<'_>) -> Result<Vec<Tile>> {
    let mut tiles = Vec::new();
    alloc::push(WHAT, &mut tiles, Tile { row: 0, entry: 0 })?;
    let mut steps = 0;
    for i in 0..rows.len() {
        let length = rows.row(i).len() + 1;
        if steps > 0 && steps + length > TILE {
            alloc::push(WHAT, &mut tiles, Tile { row: i, entry: rows.entry(i) })?;
            steps = 0;
        }
        steps += length;
    }
    alloc::push(WHAT, &mut tiles, end(rows))?;
    Ok(tiles)
}

/// The rows of each share, by length; rows of equal length in their order.
pub(super) fn binned(rows: &Rows<'_>, tiles: &[Tile]) -> Result<Vec<u32>> {
    let mut order = alloc::with_capacity(WHAT, rows.len())?;
    for pair in tiles.windows(2) {
        let begin = order.len();
        // No share has more than TILE rows.
        order.extend((0..pair[1].row - pair[0].row).map(|i| i as u32));
        order[begin..].sort_by_key(|&i| rows.row(pair[0].row + i as usize).len());
    }
    Ok(order)
}
