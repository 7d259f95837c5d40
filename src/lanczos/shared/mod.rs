//! Eigenpairs of a sparse matrix whose rows are shared out over several contexts: GPUs of one host.
//!
//! Each context has some rows of the matrix, and the same rows of every vector. Before a product it sends to each other
//! context what that gathers of its rows, the halo, and nothing else. Sums over rows are added on the host in the order of
//! the parts, so that the same contexts give the same bits; other contexts give other roundings.
//!
//! | file | subject |
//! |---|---|
//! | `partition` | which rows, and what is sent |
//! | `part` | what the rows of one context do |
//! | `krylov` | a space of all of them |

mod krylov;
mod part;
mod partition;
#[cfg(test)]
pub(super) mod tests;

use std::sync::Arc;

use super::algorithm::pairs::{Job, Vectors};
use super::algorithm::symmetry::sample;
use super::cpu::CpuPart;
use super::gpu::GpuPart;
use super::info::Pairs;
use super::krylov::Columns;
use super::operator::{Kind, Symmetric, symmetric, unsymmetric};
use super::options::Options;
use super::solve::{Given, run_job};
use crate::alloc;
use crate::backend::Backend;
use crate::backend::memory::Memory;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::matrix::sparse::row_sums;
use crate::matrix::{Csr, Matrix, Storage};
use crate::progress::Progress;
use crate::scalar::{Real, Scalar};
use crate::session::expect_alike;
use krylov::{RankOne, SharedKrylov};

pub(super) use part::{Part, Reading, Sums};
pub use partition::{Block, Partition, Shares, Transfer};

const WHAT: &str = "rows of several contexts";

/// As [`super::solve::eigenpairs_to`], of what `kind` makes of `a` plus `shift` times the identity, by all `contexts`:
/// several GPUs of one kind, or several contexts on the CPU, which take turns. The matrix, what is given and device outputs
/// belong to the first. Rows are cut so that entries and rows are shared evenly ([`Partition`]); the parts, copies of the
/// rows, stay with a matrix whose values are known to stay. Of one context this is [`super::solve::eigenpairs_to`].
///
/// # Errors
/// As [`super::operator::Symmetric::new`] and [`super::eigenpairs`]; [`Error::InvalidArgument`] for contexts of different
/// kinds, or one that comes twice; [`Error::NotSupported`] for a matrix that is not sparse, and kinds of matrices that need
/// not be square.
pub fn eigenpairs_over<T: Scalar>(
    contexts: &[Arc<Context>],
    a: &Matrix,
    (kind, shift): (Kind, f64),
    options: &Options,
    given: &Given<'_, T>,
    progress: &Progress<'_>,
    vectors: Vectors<'_>,
) -> Result<Pairs<T>> {
    let context = expect_contexts(contexts)?;
    if contexts.len() == 1 {
        let mut operator = Symmetric::new(context, a, kind, shift)?;
        return super::solve::eigenpairs_to(context, &mut operator, options, given, progress, vectors);
    }
    a.expect_context("a", context)?;
    a.expect_dtype("a", T::DTYPE)?;
    let is_elsewhere = expect_matrix::<T>(a, kind)?;
    let job = Job::new(options, a.rows(), given.start, given.deflate, given.solve.is_some())?;
    let inverse = given.solve.map(|solve| Symmetric::new(context, solve, Kind::Matrix, 0.0)).transpose()?;
    if let Some(found) = inverse.as_ref().map(Symmetric::order).filter(|found| *found != a.rows()) {
        return Err(Error::invalid("solve", format!("is of order {found}, {} is needed", a.rows())));
    }
    let partition = Partition::kept(contexts, a)?;
    let degrees = if kind == Kind::Matrix { None } else { Some(degrees(a, &partition)?) };
    let rank_one = match (kind, &degrees) {
        (Kind::Modularity, Some(degrees)) => Some(modularity(degrees)?),
        _ => None,
    };
    let mut operators = alloc::with_capacity(WHAT, partition.blocks().len())?;
    for block in partition.blocks() {
        // The modularity's second term is the space's; its first is W.
        let (kind, own) = match (kind, &degrees) {
            (Kind::Modularity, _) | (_, None) => (Kind::Matrix, None),
            (kind, Some(degrees)) => (kind, Some(of_block(block, degrees)?)),
        };
        let place = block.matrix.context();
        operators.push(Symmetric::<T>::of_rows(place, &block.matrix, (kind, shift), &block.rows, own.as_deref())?);
    }
    let columns = job.columns().max(3) + usize::from(rank_one.is_some());
    let second = rank_one.zip(degrees.as_ref());
    let second = second.map_or(0.0, |(RankOne(inverse), d)| d.iter().map(|d| d * d).sum::<f64>() * inverse);
    let terms_norm = operators.iter().fold(0.0f64, |most, own| most.max(own.terms_norm())) + second;
    let second = (rank_one, degrees.as_deref());
    let finish = |krylov: &mut Columns<'_, T>| {
        if is_elsewhere || options.check_symmetry {
            sample(krylov)?;
        }
        run_job(context, &job, krylov, vectors, progress)
    };
    let mut pairs = match context.backend() {
        Backend::Cpu => {
            let mut parts = alloc::with_capacity(WHAT, operators.len())?;
            for (operator, block) in operators.iter_mut().zip(partition.blocks()) {
                parts.push(CpuPart::new(block.matrix.context(), operator, block, columns)?);
            }
            finish(&mut space(context, &partition, parts, inverse, second, terms_norm)?)
        }
        Backend::Gpu(_) => {
            let mut parts = alloc::with_capacity(WHAT, operators.len())?;
            for (operator, block) in operators.iter_mut().zip(partition.blocks()) {
                parts.push(GpuPart::new(block.matrix.context(), operator, block, columns)?);
            }
            GpuPart::connect(&parts, partition.transfers())?;
            finish(&mut space(context, &partition, parts, inverse, second, terms_norm)?)
        }
    }?;
    pairs.info.shares = partition.shares(T::DTYPE);
    Ok(pairs)
}

/// What all `contexts` would have of a square sparse matrix, for [`eigenpairs_over`]: the parts stay with a matrix whose values
/// are known to stay.
///
/// # Errors
/// As [`eigenpairs_over`], but for matrices that are not Hermitian.
pub fn shares(contexts: &[Arc<Context>], a: &Matrix) -> Result<Shares> {
    let context = expect_contexts(contexts)?;
    a.expect_context("a", context)?;
    expect_rows(a)?;
    if contexts.len() > 1 {
        return Ok(Partition::kept(contexts, a)?.shares(a.dtype()));
    }
    let csr = crate::spmv::plan::csr(a)?;
    let (rows, entries, number) = (a.rows(), csr.nnz(), a.dtype().size());
    let value = if csr.parts().values.is_some() { number } else { 0 };
    let product_bytes = entries * (4 + value) + rows * (8 + 2 * number);
    Ok(Shares { contexts: 1, rows, entries, halo: 0, halo_bytes: 0, product_bytes })
}

/// The first of contexts that can share rows.
fn expect_contexts(contexts: &[Arc<Context>]) -> Result<&Arc<Context>> {
    let Some(first) = contexts.first() else { return Err(Error::invalid("context", "is missing")) };
    first.check_alive()?;
    for (k, context) in contexts.iter().enumerate().skip(1) {
        expect_alike(&contexts[..k], "solve", context).map_err(|error| match error {
            Error::InvalidArgument { problem, .. } => Error::invalid(format!("contexts[{}]", k - 1), problem),
            other => other,
        })?;
    }
    Ok(first)
}

/// The rows of a matrix that has some to share.
fn expect_rows(a: &Matrix) -> Result<&Csr> {
    let (rows, cols) = (a.rows(), a.cols());
    if rows != cols {
        return Err(Error::invalid("a", format!("is {rows} x {cols}, a square matrix is needed")));
    }
    if rows == 0 {
        return Err(Error::invalid("a", "is 0 x 0, no matrix to speak of"));
    }
    match a.storage() {
        Storage::Csr(csr) => Ok(csr),
        other => {
            let name = other.name();
            Err(Error::NotSupported(format!("a: is {name}, several contexts share the rows of a sparse matrix")))
        }
    }
}

/// Refuses a kind of operator whose rows several contexts cannot share.
///
/// # Errors
/// [`Error::NotSupported`].
pub fn expect_kind(kind: Kind) -> Result<()> {
    if kind.is_of_square() {
        return Ok(());
    }
    let problem = format!("kind: is {kind:?}, several contexts share the rows of the kinds Matrix to Modularity alone");
    Err(Error::NotSupported(problem))
}

/// Refuses a matrix that has no rows to share, and one that is not Hermitian. Whether that is left to products.
fn expect_matrix<T: Scalar>(a: &Matrix, kind: Kind) -> Result<bool> {
    expect_kind(kind)?;
    let csr = expect_rows(a)?;
    if matches!(csr.parts().values, Some(Memory::Device(_))) {
        return Ok(true);
    }
    if symmetric(a, 100.0 * T::Part::EPSILON.to_f64())? {
        return Ok(false);
    }
    Err(unsymmetric(a))
}

/// The row sums of a matrix, by its blocks, whose values are on the host.
fn degrees(a: &Matrix, partition: &Partition) -> Result<Vec<f64>> {
    let mut degrees = alloc::filled(WHAT, a.rows(), 0.0)?;
    for block in partition.blocks() {
        let mut own = alloc::with_capacity(WHAT, block.len())?;
        own.extend(row_sums(&block.matrix)?.iter().map(|d| d.re));
        block.put(&own, &mut degrees);
    }
    Ok(degrees)
}

/// The row sums of a block.
fn of_block(block: &Block, degrees: &[f64]) -> Result<Vec<f64>> {
    let mut own = alloc::filled(WHAT, block.len(), 0.0)?;
    block.take(degrees, &mut own);
    Ok(own)
}

fn modularity(degrees: &[f64]) -> Result<RankOne> {
    if let Some(i) = degrees.iter().position(|d| !d.is_finite()) {
        return Err(Error::invalid("a", format!("has row sum {} in row {i} (from 0)", degrees[i])));
    }
    let total: f64 = degrees.iter().sum();
    if total.is_nan() || total <= 0.0 {
        return Err(Error::invalid("a", format!("has entries of sum {total}: no modularity")));
    }
    Ok(RankOne(1.0 / total))
}

/// A space of all parts; with a second term their first columns have the row sums.
fn space<'p, 's, T: Scalar, P: Part<T>>(
    context: &Arc<Context>,
    partition: &'p Partition,
    mut parts: Vec<P>,
    inverse: Option<Symmetric<'s, T>>,
    (rank_one, degrees): (Option<RankOne>, Option<&[f64]>),
    terms_norm: f64,
) -> Result<SharedKrylov<'p, 's, T, P>> {
    if let (Some(_), Some(degrees)) = (rank_one, degrees) {
        for (part, block) in parts.iter_mut().zip(partition.blocks()) {
            let own = of_block(block, degrees)?;
            let mut column = alloc::with_capacity(WHAT, own.len())?;
            column.extend(own.iter().map(|d| T::from_parts(*d, 0.0)));
            part.columns().write(&column, 0)?;
        }
    }
    Ok(SharedKrylov::new(context, partition, parts, inverse, rank_one, terms_norm))
}
