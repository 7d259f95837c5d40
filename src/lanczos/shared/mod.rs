//! Eigenpairs of a sparse matrix whose rows are partitioned over several contexts: GPUs of one host.
//!
//! Each context has some rows of the matrix, and the same rows of every vector. Before a product, each context sends
//! the halo to each other context: those entries of its rows that the other one gathers. Sums over rows are added on
//! the host in the order of the parts. The same contexts therefore give the same bits; other contexts round
//! differently.
//!
//! | file | subject |
//! |---|---|
//! | `partition` | which rows each context has, and which entries are sent |
//! | `part` | the operations of one context on its rows |
//! | `krylov` | a space over the rows of all contexts |

mod krylov;
mod part;
mod partition;
#[cfg(test)]
pub(super) mod tests;

use std::sync::Arc;

use super::algorithm::pairs::{Job, Vectors};
use super::algorithm::symmetry::sample;
use super::cpu::CpuPart;
use super::cycles::Columns;
use super::gpu::{GpuPart, Passing};
use super::info::{Pairs, Shares};
use super::memory::{self, Bytes};
use super::operator::{Kind, Symmetric, symmetric, unsymmetric};
use super::options::Options;
use super::solve::{SolveInputs, run_job};
use crate::alloc;
use crate::backend::Backend;
use crate::backend::memory::Memory;
use crate::choice::word;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::group::Group;
use crate::instances::compiled_here;
use crate::matrix::sparse::row_sums;
use crate::matrix::{Csr, Matrix, Storage};
use crate::progress::Progress;
use crate::scalar::{Real, Scalar};
use crate::spmv::terms::Terms;
use krylov::{RankOne, SharedKrylov};

pub(super) use part::{Part, Reading, Sums};
pub use partition::{Block, Partition, Transfer};

const WHAT: &str = "rows of several contexts";

compiled_here! {
    /// As [`super::solve::eigenpairs_to`] for an operator of `a`, its kind plus a shift times the identity, computed by all
    /// members of a group: several GPUs of one model, or several contexts on the CPU, which run one after another. The matrix,
    /// the vectors in `given` and device outputs belong to the first member. Rows are cut so that entries and rows are
    /// balanced ([`Partition`]). The matrix keeps the parts, which are copies of its rows, if its values are known not to
    /// change. With one member this is [`super::solve::eigenpairs_to`].
    ///
    /// # Errors
    /// As [`super::operator::Symmetric::new`] and [`super::eigenpairs`]; with several members [`Error::NotSupported`] for a
    /// matrix that is not sparse, and for kinds of operators whose matrix need not be square.
    pub fn eigenpairs_over<T: Scalar>(
        group: &Group,
        a: &Matrix,
        operator: (Kind, f64),
        options: &Options,
        given: &SolveInputs<'_, T>,
        progress: &Progress<'_>,
        vectors: Vectors<'_>,
    ) -> Result<Pairs<T>> = eigenpairs_over_of;
}

fn eigenpairs_over_of<T: Scalar>(
    group: &Group,
    a: &Matrix,
    (kind, shift): (Kind, f64),
    options: &Options,
    given: &SolveInputs<'_, T>,
    progress: &Progress<'_>,
    vectors: Vectors<'_>,
) -> Result<Pairs<T>> {
    group.check_alive()?;
    let (contexts, context) = (group.members(), group.first());
    if contexts.len() == 1 {
        let mut operator = Symmetric::new(context, a, kind, shift)?;
        return super::solve::eigenpairs_to(context, &mut operator, options, given, progress, vectors);
    }
    a.expect_context("a", context)?;
    a.expect_dtype("a", T::DTYPE)?;
    let is_elsewhere = expect_matrix::<T>(a, kind)?;
    let job = Job::new(options, a.rows(), given.start, given.deflate, given.solve.is_some())?;
    if let Some(found) = given.solve.map(Matrix::rows).filter(|found| *found != a.rows()) {
        return Err(Error::invalid("solve", format!("is of order {found}, {} is needed", a.rows())));
    }
    let partition = Partition::cached(contexts, a)?;
    let returned = if matches!(vectors, Vectors::Returned) { a.rows().saturating_mul(job.count()) } else { 0 };
    let bytes = expect_bytes(a, given.solve, &partition, &job, (kind, returned))?;
    let inverse = given.solve.map(|solve| Symmetric::new(context, solve, Kind::Matrix, 0.0)).transpose()?;
    let degrees = if kind == Kind::Matrix { None } else { Some(degrees(a, &partition)?) };
    let second = match (kind, &degrees) {
        (Kind::Modularity, Some(degrees)) => Some(Terms::<T::Part>::new(kind, degrees, Some(a), |row| row)?),
        _ => None,
    };
    let second_norm = second.as_ref().map_or(0.0, Terms::norm);
    let second = second.and_then(|terms| terms.rank_one);
    let mut operators = alloc::with_capacity(WHAT, partition.blocks().len())?;
    for block in partition.blocks() {
        // The parts multiply by W, the modularity's first term. The space adds the second one.
        let (kind, own) = match (kind, &degrees) {
            (Kind::Modularity, _) | (_, None) => (Kind::Matrix, None),
            (kind, Some(degrees)) => (kind, Some(of_block(block, degrees)?)),
        };
        let place = block.matrix.context();
        operators.push(Symmetric::<T>::of_rows(place, &block.matrix, (kind, shift), &block.rows, own.as_deref())?);
    }
    let columns = columns(&job, kind);
    let terms_norm = operators.iter().fold(0.0f64, |most, own| most.max(own.terms_norm())) + second_norm;
    let second = second.as_ref().map(|(d, inverse)| (RankOne(*inverse), &d[..]));
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
    (pairs.info.host_bytes, pairs.info.device_bytes) = (bytes.host, bytes.device);
    pairs.info.shares = partition.shares(T::DTYPE);
    Ok(pairs)
}

/// Columns of a part. With the modularity's second term they have one more, for d.
fn columns<T: Scalar>(job: &Job<'_, T>, kind: Kind) -> usize {
    job.columns().max(3) + usize::from(kind == Kind::Modularity)
}

/// Bytes of a run on all contexts, with the partition unless the matrix keeps it; refuses those beyond the limit of a
/// context. The partition has been charged already, its parts on devices are counted.
///
/// # Errors
/// [`Error::OutOfMemory`] and [`Error::OutOfDeviceMemory`].
pub(super) fn expect_bytes<T: Scalar>(
    a: &Matrix,
    solve: Option<&Matrix>,
    partition: &Partition,
    job: &Job<'_, T>,
    (kind, returned): (Kind, usize),
) -> Result<Bytes> {
    let first = memory::eigenvectors::<T>(job.projected()).and(memory::numbers::<T>(returned));
    let passing = Passing { watched: 0, count: 0, ..job.passing() };
    let mut all = Bytes::default();
    for (i, block) in partition.blocks().iter().enumerate() {
        let (place, n) = (block.matrix.context(), block.len());
        // The modularity's second term is in the columns.
        let own = if kind == Kind::Modularity { Kind::Matrix } else { kind };
        let mut copies = memory::copies(place, &block.matrix, (Kind::Matrix, None), 1)?;
        if let (0, Some(solve)) = (i, solve) {
            // Its products take vectors in host memory, so that none of its workspace is in a space.
            copies = copies.then(memory::copies(place, solve, (Kind::Matrix, None), 1)?);
        }
        let on_device = |device: usize| Bytes { host: 0, device };
        let size = (n, columns(job, kind));
        let own = memory::operator::<T>(place, own, (n, n), Some(block.matrix.cols()));
        let kept = on_device(copies.device.kept);
        let own = memory::space::<T>(place, size, own.and(on_device(copies.space)), kept)?;
        let exchanged = match place.backend() {
            Backend::Cpu => 0,
            Backend::Gpu(_) => GpuPart::<T>::exchange_bytes(block),
        };
        let own = own.and(on_device(exchanged));
        let own = own.and(memory::passing::<T>(place, size, passing)?);
        let own = if i == 0 { own.and(first) } else { own }.behind(&copies, Bytes::default());
        own.expect(place, memory::EIGENPAIRS)?;
        let rows = if partition.is_kept_by(a) { 0 } else { block.matrix.storage_bytes() };
        all = all.and(own).and(Bytes::on_host(rows));
    }
    Ok(all)
}

/// The partition that [`eigenpairs_over`] would use for a square sparse matrix, in figures. The matrix keeps the parts
/// if its values are known not to change.
///
/// # Errors
/// As [`eigenpairs_over`], except that the matrix need not be Hermitian.
pub fn shares(group: &Group, a: &Matrix) -> Result<Shares> {
    group.check_alive()?;
    a.expect_context("a", group.first())?;
    expect_rows(a)?;
    if group.members().len() > 1 {
        return Ok(Partition::cached(group.members(), a)?.shares(a.dtype()));
    }
    let csr = crate::spmv::tiles::csr(a)?;
    let (rows, entries, number) = (a.rows(), csr.nnz(), a.dtype().size());
    let value = if csr.parts().values.is_some() { number } else { 0 };
    let product_bytes = entries * (4 + value) + rows * (8 + 2 * number);
    Ok(Shares { contexts: 1, rows, entries, halo: 0, halo_bytes: 0, product_bytes })
}

/// The storage of a square sparse matrix that is not empty; refuses any other matrix.
pub(super) fn expect_rows(a: &Matrix) -> Result<&Csr> {
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
    let problem = format!("kind: is {}, several contexts share the rows of MATRIX to MODULARITY alone", word(kind));
    Err(Error::NotSupported(problem))
}

/// Refuses a matrix that is not sparse and square, and one on the host that is not Hermitian. True if the values are on
/// a device, where products must test the symmetry.
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

/// The row sums of a matrix, from its blocks, whose values are on the host.
fn degrees(a: &Matrix, partition: &Partition) -> Result<Vec<f64>> {
    let mut degrees = alloc::filled(WHAT, a.rows(), 0.0)?;
    for block in partition.blocks() {
        let mut own = alloc::with_capacity(WHAT, block.len())?;
        own.extend(row_sums(&block.matrix)?.iter().map(|d| d.re));
        block.put(&own, &mut degrees);
    }
    Ok(degrees)
}

/// The entries of `degrees` for the rows of a block.
fn of_block<P: Real>(block: &Block, degrees: &[P]) -> Result<Vec<P>> {
    let mut own = alloc::filled(WHAT, block.len(), P::ZERO)?;
    block.take(degrees, &mut own);
    Ok(own)
}

/// The space of all parts. With a second term, column 0 of each part is filled with its row sums.
fn space<'p, 's, T: Scalar, P: Part<T>>(
    context: &Arc<Context>,
    partition: &'p Partition,
    mut parts: Vec<P>,
    inverse: Option<Symmetric<'s, T>>,
    second: Option<(RankOne, &[T::Part])>,
    terms_norm: f64,
) -> Result<SharedKrylov<'p, 's, T, P>> {
    if let Some((_, degrees)) = second {
        for (part, block) in parts.iter_mut().zip(partition.blocks()) {
            let own = of_block(block, degrees)?;
            let mut column = alloc::with_capacity(WHAT, own.len())?;
            column.extend(own.iter().map(|d| T::from_parts(Scalar::re(*d), 0.0)));
            part.columns().write(&column, 0)?;
        }
    }
    Ok(SharedKrylov::new(context, partition, parts, inverse, second.map(|s| s.0), terms_norm))
}
