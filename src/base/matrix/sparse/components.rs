//! Connected components of an undirected graph, by union-find.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

use super::entries::{WHAT, charge_indices, csr};
use super::index::{Indices, Rows};
use super::transform::select_watched;
use crate::alloc;
use crate::backend::cpu::parallel::{Items as _, Pieces as _};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::matrix::Matrix;
use crate::progress::CancelWatch;
use crate::shape::{self, to_i64};

/// The connected components of a graph, numbered by their lowest vertex.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Components {
    /// Component of each vertex, from 0.
    pub labels: Vec<usize>,
    /// Number of vertices of each component, at least 1.
    pub sizes: Vec<usize>,
}

impl Components {
    /// The component with the most vertices, the first if there are several; `None` for a graph without vertices.
    pub fn largest(&self) -> Option<usize> {
        (0..self.sizes.len()).max_by_key(|&c| (self.sizes[c], std::cmp::Reverse(c)))
    }
}

/// Vertices that a thread processes at a time.
const PIECE: usize = 1 << 13;

/// Union-find trees, whose roots are their lowest vertices. Threads join them concurrently (Jaiganesh and Burtscher,
/// HPDC 2018).
struct Forest(Vec<AtomicUsize>);

impl Forest {
    fn new(n: usize) -> Result<Self> {
        let mut parents = alloc::with_capacity(WHAT, n)?;
        parents.extend((0..n).map(AtomicUsize::new));
        Ok(Self(parents))
    }

    fn root(&self, mut v: usize) -> usize {
        loop {
            let parent = self.0[v].load(Relaxed);
            if parent == v {
                return v;
            }
            let next = self.0[parent].load(Relaxed);
            if next != parent {
                // A vertex that has a parent always keeps one, so any ancestor is valid, whatever other threads write.
                self.0[v].store(next, Relaxed);
            }
            v = next;
        }
    }

    /// Joins the trees of `a` and `b`; false if they were one tree already.
    fn join(&self, a: usize, b: usize) -> bool {
        loop {
            let (a, b) = (self.root(a), self.root(b));
            if a == b {
                return false;
            }
            if self.0[a.max(b)].compare_exchange(a.max(b), a.min(b), Relaxed, Relaxed).is_ok() {
                return true;
            }
        }
    }

    /// Calls `edges` for every vertex.
    fn follow(&self, context: &Context, cancel: CancelWatch<'_>, edges: impl Fn(usize) + Sync) -> Result<()> {
        context.pool().run(|| {
            let pieces = self.0.par_chunks(PIECE).enumerate();
            pieces.try_for_each(|(piece, own)| {
                cancel.check()?;
                (0..own.len()).for_each(|i| edges(piece * PIECE + i));
                Ok(())
            })
        })
    }
}

/// The connected components of the graph whose edges are the stored entries of a square matrix, in either direction.
/// O((n + nnz) log n) at worst, on the threads of its context.
///
/// # Errors
/// [`Error::InvalidArgument`] for a matrix that is not square; [`Error::NotSupported`] for another storage; out of memory;
/// [`Error::Cancelled`].
pub fn components(a: &Matrix) -> Result<Components> {
    components_watched(a, a.context().cancel_watch())
}

fn components_watched(a: &Matrix, cancel: CancelWatch<'_>) -> Result<Components> {
    let from = csr("a", a)?;
    a.expect_size("a", a.rows(), a.rows())?;
    let n = a.rows();
    let rows = Rows::new(from)?;
    // Charge parents, labels, and sizes of at most n components.
    let _charge = charge_indices(a.context(), &[n; 3])?;
    let forest = Forest::new(n)?;
    forest.follow(a.context(), cancel, |i| {
        for k in rows.row(i) {
            forest.join(i, rows.col(k));
        }
    })?;
    let mut sizes = Vec::new();
    // A root comes before the other vertices of its tree, so its label is known when they are visited.
    let mut labels = alloc::filled(WHAT, n, 0usize)?;
    for block in cancel.blocks(0..n) {
        for v in block? {
            let r = forest.root(v);
            if r == v {
                labels[v] = sizes.len();
                alloc::push(WHAT, &mut sizes, 1)?;
            } else {
                labels[v] = labels[r];
                sizes[labels[r]] += 1;
            }
        }
    }
    Ok(Components { labels, sizes })
}

/// The graph of one connected component, of the largest if `which` is `None`, and its vertices in the whole graph,
/// ascending.
///
/// # Errors
/// As [`components`]; [`Error::InvalidArgument`] for a component that does not exist.
pub fn component(context: &Arc<Context>, a: &Matrix, which: Option<i64>) -> Result<(Matrix, Vec<i64>)> {
    let cancel = a.context().cancel_watch();
    let found = components_watched(a, cancel)?;
    let count = found.sizes.len();
    let which = match which {
        Some(c) => shape::index("which", c, count)?,
        None => found.largest().ok_or_else(|| Error::invalid("a", "is a graph without vertices"))?,
    };
    let mut vertices = alloc::with_capacity(WHAT, found.sizes[which])?;
    vertices.extend(found.labels.iter().enumerate().filter(|(_, c)| **c == which).map(|(v, _)| to_i64(v)));
    let list = Indices::I64(&vertices);
    let part = select_watched(context, a, Some(&list), Some(&list), cancel)?;
    Ok((part, vertices))
}
