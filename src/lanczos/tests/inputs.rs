//! Symmetric matrices from entries, and the edges of graphs.

use std::sync::Arc;

use crate::context::Context;
use crate::matrix::Matrix;
use crate::scalar::Scalar;
use crate::testing::sparse::from_entries;

/// A symmetric matrix from entries; each one off the diagonal also gives its mirror image.
pub(crate) fn symmetric<T: Scalar>(c: &Arc<Context>, n: usize, entries: &[(usize, usize, T)]) -> Matrix {
    let mirrored = entries.iter().filter(|e| e.0 != e.1).map(|&(i, j, v)| (j, i, v.conjugate()));
    from_entries(c, (n, n), &entries.iter().copied().chain(mirrored).collect::<Vec<_>>())
}

pub(crate) fn edges(list: impl IntoIterator<Item = (usize, usize)>) -> Vec<(usize, usize, f64)> {
    list.into_iter().map(|(i, j)| (i, j, 1.0)).collect()
}

/// The edges of a hypercube of 2^d vertices.
pub(super) fn cube(d: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..1usize << d).flat_map(move |v| (0..d).filter(move |b| v & (1 << b) != 0).map(move |b| (v, v ^ (1 << b))))
}
