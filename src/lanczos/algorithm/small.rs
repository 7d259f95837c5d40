//! Solvers of small dense problems.

use crate::error::Result;

/// Computes the eigenvalues of a dense Hermitian matrix, whose lower triangle is read, and its eigenvectors,
/// column-major.
pub type Small<'a, W> = dyn FnMut(usize, &[W]) -> Result<(Vec<f64>, Vec<W>)> + 'a;
