//! Orders of the vertices of a graph for which a product gathers from nearby addresses.

use std::cmp::Reverse;

use super::entries::{charge_indices, csr};
use super::index::Rows;
use crate::alloc;
use crate::choice::numbered;
use crate::error::{Error, Result};
use crate::matrix::Matrix;
use crate::progress::{CancelWatch, PacedWatch};
use crate::shape::to_i64;

const WHAT: &str = "order of the vertices of a graph";

/// Methods to order vertices. The numbers are those of the C interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum Ordering {
    /// Longest rows first, rows of equal length in their order. The vector entries of a power-law graph's hubs then
    /// stay in the caches.
    Degree = 0,
    /// Reverse Cuthill-McKee: neighbours get nearby numbers, so that meshes get a small bandwidth (Cuthill and McKee
    /// 1969, from pseudo-peripheral vertices of George and Liu 1979).
    CuthillMckee = 1,
}

numbered!(Ordering, Degree, CuthillMckee);

/// An order of the rows of a square sparse matrix: row i of the reordered matrix is row `order[i]` of `a`, and likewise
/// for columns. [`permute`](super::permute) with this list for both gives that matrix. The pattern is taken as
/// symmetric: for other matrices only the edges stored in rows are followed.
///
/// O(rows log rows) by degree; O(nnz log(longest row)) and a few passes over the matrix by Cuthill-McKee.
///
/// # Errors
/// [`Error::InvalidArgument`] for a matrix that is not square; [`Error::NotSupported`] for another storage than sparse;
/// [`Error::OutOfMemory`]; [`Error::Cancelled`], by Cuthill-McKee.
pub fn order(a: &Matrix, ordering: Ordering) -> Result<Vec<i64>> {
    let cancel = a.context().cancel_watch();
    let rows = Rows::new(csr("a", a)?)?;
    if a.rows() != a.cols() {
        return Err(Error::invalid("a", format!("is {} x {}, a square matrix is needed", a.rows(), a.cols())));
    }
    // Charge the three lists of the search, and the result.
    let _charge = charge_indices(a.context(), &[rows.len(); LISTS])?;
    let list = match ordering {
        Ordering::Degree => {
            let mut list = alloc::with_capacity(WHAT, rows.len())?;
            list.extend(0..rows.len());
            // The row in the key keeps the order of equal lengths; a stable sort would allocate memory.
            list.sort_unstable_by_key(|&r| (Reverse(rows.row(r).len()), r));
            list
        }
        Ordering::CuthillMckee => Search::new(&rows)?.order(cancel)?,
    };
    let mut order = alloc::with_capacity(WHAT, list.len())?;
    order.extend(list.into_iter().map(to_i64));
    Ok(order)
}

/// Lists of an order, of as many indices as there are rows.
const LISTS: usize = 4;

/// Host bytes that [`order`] is charged for while it runs.
pub fn order_bytes(rows: usize) -> usize {
    rows.saturating_mul(LISTS * size_of::<usize>())
}

/// State of the breadth-first searches.
struct Search<'a> {
    rows: &'a Rows<'a>,
    /// The number of the last search that saw each vertex; [`DONE`] for a vertex whose position is final.
    seen: Vec<usize>,
    /// Number of searches so far.
    searches: usize,
    /// Vertices whose positions are final, then those of the current search, in its order.
    list: Vec<usize>,
}

const DONE: usize = usize::MAX;

impl<'a> Search<'a> {
    fn new(rows: &'a Rows<'a>) -> Result<Self> {
        let (seen, list) = (alloc::filled(WHAT, rows.len(), 0)?, alloc::with_capacity(WHAT, rows.len())?);
        Ok(Self { rows, seen, searches: 0, list })
    }

    fn degree(&self, v: usize) -> usize {
        self.rows.row(v).len()
    }

    /// Searches from `start`: appends the vertices that it reaches after the first `done` of the list, each one's
    /// neighbours sorted by degree. Returns the number of levels, and the index in the list where the last level
    /// begins.
    fn run(&mut self, start: usize, done: usize, paced: &mut PacedWatch<'_>) -> Result<(usize, usize)> {
        self.searches += 1;
        self.list.truncate(done);
        self.list.push(start);
        self.seen[start] = self.searches;
        let (mut levels, mut begin, mut end) = (1, done, self.list.len());
        let mut next = done;
        loop {
            while next < end {
                let first = self.list.len();
                paced.step(self.degree(self.list[next]))?;
                for k in self.rows.row(self.list[next]) {
                    let to = self.rows.col(k);
                    if self.seen[to] != DONE && self.seen[to] != self.searches {
                        self.seen[to] = self.searches;
                        // Does not allocate: the list has capacity for all vertices.
                        self.list.push(to);
                    }
                }
                let rows = self.rows;
                self.list[first..].sort_unstable_by_key(|&v| (rows.row(v).len(), v));
                next += 1;
            }
            if self.list.len() == end {
                return Ok((levels, begin));
            }
            (levels, begin, end) = (levels + 1, end, self.list.len());
        }
    }

    fn order(mut self, cancel: CancelWatch<'_>) -> Result<Vec<usize>> {
        let mut paced = cancel.paced();
        let mut starts = alloc::with_capacity(WHAT, self.rows.len())?;
        starts.extend(0..self.rows.len());
        starts.sort_unstable_by_key(|&v| (self.degree(v), v));
        for mut start in starts {
            if self.seen[start] == DONE {
                continue;
            }
            let done = self.list.len();
            let (mut levels, mut last) = self.run(start, done, &mut paced)?;
            // Search again from the far end, as long as this finds more levels.
            while let Some(&far) = self.list[last..].iter().min_by_key(|&&v| (self.degree(v), v)) {
                let reached = self.list.len();
                let (found, at) = self.run(far, done, &mut paced)?;
                // If edges have one direction, a search from the far end may miss vertices, even the start.
                if found <= levels || self.list.len() < reached {
                    // Use the search from the previous start.
                    self.run(start, done, &mut paced)?;
                    break;
                }
                (start, levels, last) = (far, found, at);
            }
            for &v in &self.list[done..] {
                self.seen[v] = DONE;
            }
        }
        self.list.reverse();
        Ok(self.list)
    }
}
