//! Coordinates of the vertices of a graph: vertices that are strongly connected are near each other.

use super::cluster::{Labels, k_means_until, pivoted_qr_until};
use super::degrees;
use crate::alloc;
use crate::choice::numbered;
use crate::error::Result;
use crate::group::Group;
use crate::lanczos::operator::Kind;
use crate::lanczos::solve::{SolveInputs, Vectors};
use crate::lanczos::{Info, Options, Which, eigenpairs_over};
use crate::matrix::Matrix;
use crate::progress::Progress;
use crate::scalar::{Scalar, with_real};

/// How rows of eigenvectors become coordinates. The numbers are those of the C interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum Scaling {
    /// Not scaled: the columns stay orthonormal.
    None = 0,
    /// Rows are scaled to length 1 (Ng, Jordan and Weiss, NIPS 14, 2001); a row of zeros stays.
    UnitRows = 1,
    /// Rows are divided by the square root of the degree: eigenvectors of the random walk (Shi and Malik, IEEE PAMI 22,
    /// 2000).
    Degrees = 2,
}

/// How coordinates become labels. The numbers are those of the C interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum Assignment {
    /// k-means from rows of length 1 (Ng, Jordan and Weiss, NIPS 14, 2001).
    KMeans = 0,
    /// Column-pivoted QR of the eigenvectors, without start values or iteration (Damle, Minden and Ying, Information
    /// and Inference 8, 2019).
    PivotedQr = 1,
}

numbered!(Scaling, None, UnitRows, Degrees);
numbered!(Assignment, KMeans, PivotedQr);

/// Coordinates of n vertices in k dimensions.
#[derive(Debug, Clone, PartialEq)]
pub struct Embedding {
    /// n-by-k, column-major: a row for each vertex.
    pub coordinates: Vec<f64>,
    /// The smallest eigenvalues of the normalized Laplacian, ascending.
    pub values: Vec<f64>,
    /// Figures of the eigensolver's run.
    pub info: Info,
}

/// Coordinates from the eigenvectors of the k smallest eigenvalues of the normalized Laplacian L = I - D^-1/2 W D^-1/2,
/// whose rows of isolated vertices are 0. The solve uses L - I: its eigenvalues near -1 are as accurate as the largest
/// ones of D^-1/2 W D^-1/2. The `count` of `options` is k; its `which` is ignored. All members of `group` take part; the
/// graph belongs to the first.
/// # Errors
/// [`crate::error::Error::InvalidArgument`] for a graph of complex numbers or with a row sum below 0; else as
/// [`eigenpairs_over`].
pub fn embed(
    group: &Group,
    graph: &Matrix,
    options: &Options,
    scaling: Scaling,
    progress: &Progress<'_>,
) -> Result<Embedding> {
    let options = Options { which: Which::Smallest, ..*options };
    let n = graph.rows();
    // Charge coordinates, and a vector of lengths or degrees.
    let numbers = n.saturating_mul(options.count.min(n) + 1);
    let _charge = graph.context().host_budget().charge_host("coordinates of a graph", numbers.saturating_mul(8))?;
    let (values, mut coordinates, info) = with_real!(graph.dtype(), "graph", T => {
        let (what, given) = ((Kind::NormalizedLaplacian, -1.0), SolveInputs::<T>::default());
        let pairs = eigenpairs_over(group, graph, what, &options, &given, progress, Vectors::Returned)?;
        Ok((pairs.values, in_double(pairs.vectors)?, pairs.info))
    })?;
    match scaling {
        Scaling::None => {}
        Scaling::UnitRows => {
            let mut lengths = alloc::filled("lengths of rows", n, 0.0f64)?;
            for column in coordinates.chunks_exact(n) {
                lengths.iter_mut().zip(column).for_each(|(l, x)| *l += x * x);
            }
            for column in coordinates.chunks_exact_mut(n) {
                column.iter_mut().zip(&lengths).filter(|(_, l)| **l > 0.0).for_each(|(x, l)| *x /= l.sqrt());
            }
        }
        Scaling::Degrees => {
            let degrees = degrees(graph)?;
            for column in coordinates.chunks_exact_mut(n) {
                column.iter_mut().zip(&degrees).filter(|(_, d)| **d > 0.0).for_each(|(x, d)| *x /= d.sqrt());
            }
        }
    }
    let values = values.iter().map(|v| 1.0 + v).collect();
    Ok(Embedding { coordinates, values, info })
}

/// Converts numbers of a real type to double precision.
pub(super) fn in_double<T: Scalar>(numbers: Vec<T>) -> Result<Vec<f64>> {
    let mut wide = alloc::with_capacity("vectors of a graph", numbers.len())?;
    wide.extend(numbers.iter().map(|v| v.re()));
    Ok(wide)
}

/// As [`in_double`], for numbers that are only read.
pub(super) fn widened<T: Scalar>(numbers: &[T]) -> Result<Vec<f64>> {
    let mut wide = alloc::with_capacity("numbers", numbers.len())?;
    wide.extend(numbers.iter().map(|v| v.re()));
    Ok(wide)
}

/// Clusters of a graph from an embedding; their number is `options.count`. There are none if the solve found fewer pairs.
/// `start_count` is an argument of [`k_means`](super::cluster::k_means), whose seed is that of `options`.
///
/// # Errors
/// As [`embed`], [`k_means`](super::cluster::k_means) and
/// [`pivoted_qr`](super::cluster::pivoted_qr).
pub fn clusters(
    group: &Group,
    graph: &Matrix,
    options: &Options,
    assignment: Assignment,
    start_count: u32,
    progress: &Progress<'_>,
) -> Result<(Option<Labels>, Embedding)> {
    let scaling = if assignment == Assignment::KMeans { Scaling::UnitRows } else { Scaling::None };
    let found = embed(group, graph, options, scaling, progress)?;
    let n = graph.rows();
    if found.values.len() < options.count {
        return Ok((None, found));
    }
    let labels = match assignment {
        Assignment::KMeans => {
            let settings = (options.count, start_count, options.seed);
            k_means_until(graph.context(), &found.coordinates, n, settings, progress)?
        }
        Assignment::PivotedQr => pivoted_qr_until(graph.context(), &found.coordinates, n, progress)?,
    };
    Ok((Some(labels), found))
}
