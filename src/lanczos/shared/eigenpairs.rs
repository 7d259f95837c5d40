//! Eigenpairs computed by all contexts of a group.

use std::sync::Arc;

use super::super::algorithm::pairs::{Job, Vectors};
use super::super::algorithm::symmetry::sample;
use super::super::cpu::CpuPart;
use super::super::cycles::Columns;
use super::super::gpu::GpuPart;
use super::super::info::Pairs;
use super::super::operator::{Kind, Symmetric};
use super::super::options::Options;
use super::super::solve::{SolveInputs, run_job};
use super::expect::expect_matrix;
use super::krylov::{RankOne, SharedKrylov};
use super::memory::{columns, expect_bytes};
use super::part::Part;
use super::partition::{Block, Partition};
use crate::alloc;
use crate::backend::Backend;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::group::Group;
use crate::instances::compiled_here;
use crate::matrix::Matrix;
use crate::matrix::sparse::row_sums;
use crate::progress::Progress;
use crate::scalar::{Real, Scalar};
use crate::spmv::terms::Terms;

const WHAT: &str = "rows of several contexts";

compiled_here! {
    /// As [`super::super::solve::eigenpairs_to`] for an operator of `a`, its kind plus a shift times the identity,
    /// computed by all members of a group: several GPUs of one model, or several contexts on the CPU, which run one
    /// after another. The matrix, the vectors in `given` and device outputs belong to the first member. Rows are cut so
    /// that entries and rows are balanced ([`Partition`]). The matrix keeps the parts, which are copies of its rows, if
    /// its values are known not to change. With one member this is [`super::super::solve::eigenpairs_to`].
    ///
    /// # Errors
    /// As [`super::super::operator::Symmetric::new`] and [`super::super::eigenpairs`]; with several members
    /// [`Error::NotSupported`] for a matrix that is not sparse, and for kinds of operators whose matrix need not be
    /// square.
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
        return super::super::solve::eigenpairs_to(context, &mut operator, options, given, progress, vectors);
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
