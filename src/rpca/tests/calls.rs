//! Calls of a session that is created for one call, and distances of their results.

use std::slice::from_ref;
use std::sync::Arc;

use super::inputs::entries;
use crate::context::Context;
use crate::error::Result;
use crate::group::Group;
use crate::matrix::Matrix;
use crate::progress::ProgressFn;
use crate::rpca::session::Observed;
use crate::rpca::{Info, Options, Rpca};
use crate::scalar::Scalar;
use crate::shape::Order;
use crate::stream::Stream;
use crate::tensor::Location;

/// A session for one run.
pub(super) fn session(contexts: &[Arc<Context>], options: &Options) -> Result<Rpca> {
    Rpca::over(&Group::new(contexts.to_vec())?, options.clone())
}

/// [`Rpca::plan`] of a session for it alone.
pub(super) fn plan(contexts: &[Arc<Context>], m: &Matrix, mask: Option<&Matrix>, options: &Options) -> Result<Info> {
    session(contexts, options)?.plan(Observed { m, mask })
}

/// [`Rpca::compute`] of a session for it alone.
#[allow(clippy::too_many_arguments, reason = "the arguments of the C interface")]
pub(super) fn compute(
    contexts: &[Arc<Context>],
    stream: Option<&Stream>,
    m: &Matrix,
    mask: Option<&Matrix>,
    options: &Options,
    low_rank: Option<&mut Matrix>,
    sparse: Option<&mut Matrix>,
    report: Option<&ProgressFn<'_>>,
) -> Result<Info> {
    session(contexts, options)?.compute(stream, Observed { m, mask }, low_rank, sparse, report)
}

/// [`Rpca::compute_csr`] of a session for it alone.
pub(super) fn compute_csr(
    contexts: &[Arc<Context>],
    stream: Option<&Stream>,
    m: &Matrix,
    mask: Option<&Matrix>,
    options: &Options,
    low_rank: Option<&mut Matrix>,
    report: Option<&ProgressFn<'_>>,
) -> Result<(Matrix, Info)> {
    session(contexts, options)?.compute_csr(stream, Observed { m, mask }, low_rank, report)
}

/// The parts, row by row, and the figures.
pub(super) fn split<T: Scalar>(
    context: &Arc<Context>,
    m: &Matrix,
    mask: Option<&Matrix>,
    options: &Options,
) -> Result<(Vec<T>, Vec<T>, Info)> {
    let part = || Matrix::create(context, T::DTYPE, Location::Host, Order::ColumnMajor, m.rows(), m.cols()).unwrap();
    let (mut low_rank, mut sparse) = (part(), part());
    let info = compute(from_ref(context), None, m, mask, options, Some(&mut low_rank), Some(&mut sparse), None)?;
    Ok((entries(&low_rank), entries(&sparse), info))
}

/// ||a - b||_F / ||b||_F.
pub(super) fn difference<T: Scalar>(a: &[T], b: &[T]) -> f64 {
    let square = |v: T| v.re() * v.re() + v.im() * v.im();
    let above: f64 = a.iter().zip(b).map(|(a, b)| square(*a - *b)).sum();
    (above / b.iter().map(|b| square(*b)).sum::<f64>()).sqrt()
}
