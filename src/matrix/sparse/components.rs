//! Connected components.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

use super::entries::{WHAT, charge_indices, csr};
use super::index::{Indices, Rows};
use super::transform::select;
use crate::alloc;
use crate::backend::cpu::parallel::{Items as _, Pieces as _};
use crate::backend::gpu::DeviceMemory;
use crate::backend::gpu::kernels::spmv::pick;
use crate::backend::memory::Memory;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::matrix::Matrix;
use crate::scalar::{Scalar, with_scalar};
use crate::shape::to_i64;

/// The connected components of a graph, numbered by their lowest vertex.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Components {
    /// Component of each vertex.
    pub labels: Vec<usize>,
    /// Vertices of each component.
    pub sizes: Vec<usize>,
}

impl Components {
    /// The component with the most vertices, the first of several such; `None` for a graph without vertices.
    pub fn largest(&self) -> Option<usize> {
        (0..self.sizes.len()).max_by_key(|&c| (self.sizes[c], std::cmp::Reverse(c)))
    }
}

/// Vertices that a thread takes at a time.
const PIECE: usize = 1 << 13;

/// Edges of every vertex that are followed before it is looked which of them hang together already.
const FIRST: usize = 2;

/// Trees whose roots are their lowest vertices, which threads join side by side (Jaiganesh and Burtscher, HPDC 2018).
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
                // A vertex that has a parent never loses it, so any vertex above will do, whatever others write.
                self.0[v].store(next, Relaxed);
            }
            v = next;
        }
    }

    /// Whether `a` and `b` were in two trees, which are one now.
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

    /// Follows some edges of every vertex; how many trees that cost.
    fn follow(&self, context: &Context, edges: impl Fn(usize) -> usize + Sync) -> usize {
        context.pool().run(|| {
            let pieces = self.0.par_chunks(PIECE).enumerate();
            pieces.map(|(piece, own)| (0..own.len()).map(|i| edges(piece * PIECE + i)).sum::<usize>()).sum()
        })
    }
}

/// The connected components of the graph whose edges are the stored entries of a square matrix, whatever their direction;
/// O((n + nnz) log n) at worst, shared by the threads of its context.
///
/// # Errors
/// [`Error::InvalidArgument`] for a matrix that is not square; [`Error::NotSupported`] for another storage; out of memory.
pub fn components(a: &Matrix) -> Result<Components> {
    let from = csr("a", a)?;
    a.expect_size("a", a.rows(), a.rows())?;
    let n = a.rows();
    let rows = Rows::new(from)?;
    // Parents, labels, and sizes of at most as many components.
    let _charge = charge_indices(a.context(), &[n; 3])?;
    let forest = Forest::new(n)?;
    forest.follow(a.context(), |i| rows.row(i).filter(|&k| forest.join(i, rows.col(k))).count());
    let mut sizes = Vec::new();
    // A root comes before the other vertices of its tree, so its label is known when they are reached.
    let mut labels = alloc::filled(WHAT, n, 0usize)?;
    for v in 0..n {
        let r = forest.root(v);
        if r == v {
            labels[v] = sizes.len();
            alloc::push(WHAT, &mut sizes, 1)?;
        } else {
            labels[v] = labels[r];
            sizes[labels[r]] += 1;
        }
    }
    Ok(Components { labels, sizes })
}

/// Rows outside of a large component that are listed.
const MOST_OUTSIDE: usize = 1 << 12;

/// How the vertices of an undirected graph hang together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pieces {
    /// Components with entries.
    pub joined: usize,
    /// Vertices without any.
    pub isolated: usize,
    /// Rows with entries that are not of one large component; `None` for more than 4096.
    pub outside: Option<Vec<usize>>,
}

/// Counts the components of the graph of a symmetric matrix. Of a graph of which most hangs together only a few edges of each
/// vertex are looked at, and all of the vertices beside (Sutton, Ben-Nun and Barak, IPDPS 2018): O(n) for such, shared by the
/// threads of its context.
///
/// # Errors
/// As [`components`].
pub fn pieces(a: &Matrix) -> Result<Pieces> {
    let from = csr("a", a)?;
    a.expect_size("a", a.rows(), a.rows())?;
    let (n, context, rows) = (a.rows(), a.context(), Rows::new(from)?);
    let _charge = charge_indices(context, &[n])?;
    let forest = Forest::new(n)?;
    let isolated = forest.follow(context, |i| usize::from(rows.row(i).is_empty()));
    let mut trees = n;
    for at in 0..FIRST {
        trees -= forest.follow(context, |i| {
            let row = rows.row(i);
            usize::from(row.len() > at && forest.join(i, rows.col(row.start + at)))
        });
    }
    let mut outside = Some(Vec::new());
    if trees > isolated + 1 {
        // The tree that most of some vertices are in is the largest, or any other: its edges lead to it from the other side too.
        let step = n.div_ceil(1 << 10).max(1);
        let mut seen: Vec<usize> = (0..n).step_by(step).map(|v| forest.root(v)).collect();
        seen.sort_unstable();
        let most = seen.chunk_by(|a, b| a == b).max_by_key(|same| same.len()).map_or(0, |same| same[0]);
        trees -= forest.follow(context, |i| match forest.root(i) == most {
            true => 0,
            false => rows.row(i).skip(FIRST).filter(|&k| forest.join(i, rows.col(k))).count(),
        });
        let most = forest.root(most);
        let mut listed = (0..n).filter(|&i| !rows.row(i).is_empty() && forest.root(i) != most);
        let mut list = alloc::with_capacity(WHAT, MOST_OUTSIDE)?;
        list.extend(listed.by_ref().take(MOST_OUTSIDE));
        outside = if listed.next().is_none() { Some(list) } else { None };
    }
    Ok(Pieces { joined: trees - isolated, isolated, outside })
}

impl Pieces {
    /// Largest sum of moduli of a row outside of the large component, of the matrix that the pieces are of: no eigenvalue of what
    /// is there is larger (Gershgorin). Infinite where these rows are not listed, and
    /// for more than 2^32 values on a device.
    ///
    /// # Errors
    /// [`Error::Cuda`] for values on a device.
    pub fn beyond(&self, a: &Matrix) -> Result<f64> {
        let from = csr("a", a)?;
        let Some(outside) = &self.outside else { return Ok(f64::INFINITY) };
        if u32::try_from(from.nnz()).is_err() && matches!(from.parts().values, Some(Memory::Device(_))) {
            return Ok(f64::INFINITY);
        }
        let rows = Rows::new(from)?;
        let Some(values) = &from.parts().values else {
            return Ok(outside.iter().map(|&i| rows.row(i).len() as f64).fold(0.0, f64::max));
        };
        with_scalar!(a.dtype(), "a", T => {
            let lengths = outside.iter().map(|&i| rows.row(i).len());
            let entries = outside.iter().flat_map(|&i| rows.row(i));
            let mut numbers: Vec<T> = alloc::with_capacity(WHAT, lengths.clone().sum())?;
            match values {
                Memory::Host(held) => {
                    let held = held.as_slice::<T>()?;
                    numbers.extend(entries.map(|k| held[k]));
                }
                Memory::Device(there) => numbers = picked(a.context(), there, entries, from.nnz())?,
            }
            let mut rest = &numbers[..];
            let mut most = 0.0f64;
            for length in lengths {
                let (row, others) = rest.split_at(length.min(rest.len()));
                let sum: f64 = row.iter().map(|v| v.re().hypot(v.im())).sum();
                most = if sum.is_nan() { f64::INFINITY } else { most.max(sum) };
                rest = others;
            }
            Ok(most)
        })
    }
}

/// Some of `count` numbers on a device.
fn picked<T: Scalar>(
    context: &Context,
    there: &DeviceMemory,
    entries: impl Iterator<Item = usize>,
    count: usize,
) -> Result<Vec<T>> {
    let gpu = context.gpu("a")?;
    let stream = gpu.default_stream();
    let mut list = Vec::new();
    for k in entries {
        let place =
            u32::try_from(k).map_err(|_| Error::NotSupported("a: has entries beyond 2^32 on a device".into()))?;
        alloc::push(WHAT, &mut list, place)?;
    }
    let places = gpu.upload_numbers(stream, WHAT, &list)?;
    let copy = gpu.allocate_uninitialised_on(stream, WHAT, size_of::<T>() * list.len())?;
    pick::<T>(gpu, stream, places.whole(), (list.len(), count), there.whole(), copy.whole())?;
    let mut numbers = alloc::filled(WHAT, list.len(), T::default())?;
    gpu.load_numbers(stream, &copy, 0, &mut numbers)?;
    Ok(numbers)
}

/// The graph of one connected component, of the largest if `which` is `None`, and the vertices that it has in the whole
/// graph, ascending.
///
/// # Errors
/// As [`components`]; [`Error::InvalidArgument`] for a component that there is not.
pub fn component(context: &Arc<Context>, a: &Matrix, which: Option<usize>) -> Result<(Matrix, Vec<i64>)> {
    let found = components(a)?;
    let count = found.sizes.len();
    let which = match which {
        Some(c) if c < count => c,
        Some(c) => return Err(Error::invalid("which", format!("is {c}, there are {count} components"))),
        None => found.largest().ok_or_else(|| Error::invalid("a", "is a graph without vertices"))?,
    };
    let mut vertices = alloc::with_capacity(WHAT, found.sizes[which])?;
    vertices.extend(found.labels.iter().enumerate().filter(|(_, c)| **c == which).map(|(v, _)| to_i64(v)));
    let list = Indices::I64(&vertices);
    let part = select(context, a, Some(&list), Some(&list))?;
    Ok((part, vertices))
}
