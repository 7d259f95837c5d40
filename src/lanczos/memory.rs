//! Memory that a run is charged for, counted before it begins. Plans and runs use the same counts: a run begins with
//! [`Bytes::expect`], and a plan ends with it.
//!
//! A run may need less: where no search for copies follows, or where Golub-Kahan-Lanczos need not follow.

use std::sync::Arc;

use super::algorithm::pairs::Job;
use super::cpu::CpuKrylov;
use super::gpu::{DeviceOperator, Krylov, Passing};
use super::operator::{self, Copies, Kind, Symmetric};
use crate::backend::Backend;
use crate::backend::memory::Memory;
use crate::context::Context;
use crate::dense::cpu::factor::working_bytes;
use crate::error::{Error, Result};
use crate::matrix::sparse::{CopyBytes, Ordering};
use crate::matrix::{Matrix, Storage, adjoint};
use crate::scalar::Scalar;
use crate::shape::to_u64;

/// The name of a search for eigenpairs in errors.
pub const EIGENPAIRS: &str = "eigenpairs";

/// The name of a search for singular triplets in errors.
pub const TRIPLETS: &str = "singular triplets";

/// Bytes of host and device memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Bytes {
    /// Bytes of host memory.
    pub host: usize,
    /// Bytes of device memory; 0 on the CPU.
    pub device: usize,
}

impl Bytes {
    /// `bytes` of host memory and none of a device.
    pub fn on_host(bytes: usize) -> Self {
        Self { host: bytes, device: 0 }
    }

    /// The sum, for memory that is held at one time. It saturates.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self { host: self.host.saturating_add(other.host), device: self.device.saturating_add(other.device) }
    }

    /// The larger of both, for one after the other.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self { host: self.host.max(other.host), device: self.device.max(other.device) }
    }

    /// The most of a run that needs these bytes beside the copies of its operator, which are made first. Of these bytes,
    /// `held` are taken before.
    #[must_use]
    pub(super) fn behind(self, copies: &Copies, held: Self) -> Self {
        let kept = Self { host: copies.host.kept, device: copies.device.kept };
        self.and(kept).or(Self { host: copies.host.peak, device: copies.device.peak }.and(held))
    }

    /// Refuses a run for which the limits of `context` do not leave enough.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`] and [`Error::OutOfDeviceMemory`], with the bytes that the limit would have to be.
    pub fn expect(self, context: &Context, what: &'static str) -> Result<()> {
        let (host, device) = (to_u64(self.host), to_u64(self.device));
        let budget = context.host_budget();
        if host > budget.available() {
            return Err(Error::OutOfMemory { what, bytes: host.saturating_add(budget.used()), limit: budget.limit() });
        }
        let budget = context.device_budget();
        if device > budget.available() {
            let bytes = device.saturating_add(budget.used());
            return Err(Error::OutOfDeviceMemory { what, bytes, limit: budget.limit() });
        }
        Ok(())
    }
}

/// Bytes of `columns` vectors of `n` numbers, the workspace of their operations, and `operator`, beside `beside`.
///
/// # Errors
/// Those of loading the kernels of a GPU; [`Error::OutOfMemory`] for sizes beyond any memory.
pub fn space<T: Scalar>(
    context: &Context,
    (n, columns): (usize, usize),
    operator: Bytes,
    beside: Bytes,
) -> Result<Bytes> {
    match context.backend() {
        Backend::Cpu => Ok(operator.and(Bytes::on_host(CpuKrylov::<T>::bytes(context, n, columns.max(3))))),
        Backend::Gpu(gpu) => {
            let device = Krylov::bytes(T::DTYPE, context, gpu, (n, columns), operator.device, beside.device)?;
            Ok(Bytes { device, ..operator })
        }
    }
}

/// Bytes of `numbers` numbers of type `T` in host memory.
pub fn numbers<T>(numbers: usize) -> Bytes {
    Bytes::on_host(numbers.saturating_mul(size_of::<T>()))
}

/// Bytes of the eigenvectors of a projected matrix of order `order`: the matrix, the vectors, and workspace.
pub fn eigenvectors<T: Scalar>(order: usize) -> Bytes {
    let square = order.saturating_mul(order);
    numbers::<T::Wide>(square.saturating_mul(2)).and(Bytes::on_host(working_bytes::eigen::<T::Wide>(order)))
}

/// Bytes of the singular vectors of a real projected matrix of order `order`: the matrix, both vectors, and workspace.
pub fn singular_vectors(order: usize) -> Bytes {
    let square = order.saturating_mul(order);
    numbers::<f64>(square.saturating_mul(3)).and(Bytes::on_host(working_bytes::svd::<f64>(order, order)))
}

/// Bytes of the operator `kind` of a matrix of this shape, beside the copies of the matrix. `gathered` is the length of the
/// gather buffer of an operator that has only some rows.
pub fn operator<T: Scalar>(context: &Context, kind: Kind, shape: (usize, usize), gathered: Option<usize>) -> Bytes {
    match context.backend() {
        Backend::Cpu => Bytes::default(),
        Backend::Gpu(_) => Bytes { host: 0, device: DeviceOperator::bytes(T::DTYPE, kind, shape, gathered) },
    }
}

/// Bytes of single operations on `columns` vectors of `n` numbers, which a device takes for as long as they run.
///
/// # Errors
/// As [`space`].
pub(super) fn passing<T: Scalar>(context: &Context, size: (usize, usize), of: Passing) -> Result<Bytes> {
    match context.backend() {
        Backend::Cpu => Ok(Bytes::default()),
        Backend::Gpu(gpu) => Ok(Bytes { host: 0, device: Krylov::passing(T::DTYPE, gpu, size, of)? }),
    }
}

/// The properties of an operator that determine the bytes of a search.
#[derive(Debug, Clone, Copy)]
pub(super) struct Multiplied {
    /// The kind of the operator.
    pub kind: Kind,
    /// Rows and columns of its matrix.
    pub shape: (usize, usize),
    /// Whether its matrix is known by products alone.
    pub is_own: bool,
    /// Whether vectors are in an order of their own.
    pub is_ordered: bool,
    /// The copies of the matrix, with the products with them.
    pub copies: Copies,
}

/// Bytes of a search for eigenpairs: of its vectors, of its largest projected problem, and of `returned` numbers on the
/// host. The copies of the operator's matrix are not counted.
///
/// # Errors
/// As [`space`].
pub(super) fn eigenpairs<T: Scalar>(
    context: &Context,
    job: &Job<'_, T>,
    of: &Multiplied,
    returned: usize,
) -> Result<Bytes> {
    let copies = &of.copies;
    let operator = operator::<T>(context, of.kind, of.shape, None).and(Bytes { host: 0, device: copies.space });
    let (size, beside) = ((job.order(), job.columns()), Bytes { host: 0, device: copies.device.kept });
    let space = space::<T>(context, size, operator, beside)?;
    let sizes = Passing { is_ordered: of.is_ordered, block: copies.block, tiles: copies.tiles, ..job.passing() };
    let passing = passing::<T>(context, size, sizes)?;
    let returned = numbers::<T>(returned);
    let run = space.and(passing).and(eigenvectors::<T>(job.projected())).and(returned);
    Ok(run.or(test_of_adjoint::<T>(of.kind, of.shape, of.is_own).and(returned)))
}

/// Bytes of the test of an operator's adjoint, before a run and after it, beside the vectors that it returns. A device holds two of its vectors at once, fewer than
/// those of a run.
pub(super) fn test_of_adjoint<T>(kind: Kind, shape: (usize, usize), is_own: bool) -> Bytes {
    Bytes::on_host(if operator::tests_adjoint(kind, is_own) { adjoint::bytes_of_test::<T>(shape) } else { 0 })
}

/// The copies of `a` that operator `kind` needs, the lists that show its symmetry, and its products with blocks of `width`
/// vectors.
///
/// # Errors
/// As [`super::operator::Symmetric::in_order`].
pub(super) fn copies(
    context: &Arc<Context>,
    a: &Matrix,
    (kind, ordering): (Kind, Option<Ordering>),
    width: usize,
) -> Result<Copies> {
    let width = if takes_blocks(kind) { width } else { 1 };
    let mut copies = operator::copies(context, a, !kind.is_of_square(), ordering, width)?;
    let lists = if kind.is_of_square() { operator::symmetry_lists(a)? } else { 0 };
    copies.host.peak = copies.host.peak.max(copies.host.kept.saturating_add(lists));
    let (n, number) = (a.rows(), a.dtype().size());
    let Storage::Csr(csr) = a.storage() else { return Ok(copies) };
    if matches!(context.backend(), Backend::Cpu) {
        return Ok(copies);
    }
    if kind.is_of_graph() && matches!(csr.parts().values, Some(Memory::Device(_))) {
        // A product with vectors on the host computes the row sums. The plan keeps its workspace.
        let vectors = n.saturating_mul(2 * number);
        let product = CopyBytes { peak: copies.space.saturating_add(vectors), kept: copies.space };
        copies.device = copies.device.then(product);
    }
    Ok(with_blocks(copies, n, width, number))
}

/// Bytes of a run at the moment when it renews the device's copies of values that the caller may have changed: the new ones
/// beside the old.
pub(super) fn renewal(context: &Context, a: &Matrix, copies: &Copies) -> Bytes {
    let Storage::Csr(csr) = a.storage() else { return Bytes::default() };
    if matches!(context.backend(), Backend::Cpu) || a.owns_values() {
        return Bytes::default();
    }
    Bytes { host: 0, device: copies.device.kept.saturating_add(csr.nnz().saturating_mul(a.dtype().size())) }
}

/// The products of an operator with blocks of `width` vectors, beside the copies that it has.
///
/// # Errors
/// As [`copies`].
pub(super) fn products<T: Scalar>(context: &Context, operator: &Symmetric<'_, T>, width: usize) -> Result<Multiplied> {
    let (kind, shape) = operator.kind();
    let is_sparse = !matches!(context.backend(), Backend::Cpu) && operator.is_sparse();
    let width = if takes_blocks(kind) && is_sparse { width } else { 1 };
    let copies = with_blocks(operator.copies(width)?, operator.order(), width, size_of::<T>());
    let is_own = operator.is_own();
    Ok(Multiplied { kind, shape, is_own, is_ordered: operator.renumbering().is_some(), copies })
}

/// Whether an operator of a sparse matrix on a device multiplies blocks of vectors at once.
fn takes_blocks(kind: Kind) -> bool {
    kind.is_of_square() && kind != Kind::Modularity
}

/// Adds the vectors of a product with `width` vectors of `n` numbers of `number` bytes each, row by row: input and output.
fn with_blocks(copies: Copies, n: usize, width: usize, number: usize) -> Copies {
    let vectors = if width > 1 { n.saturating_mul(2 * width).saturating_mul(number) } else { 0 };
    Copies { block: copies.block.saturating_add(vectors), ..copies }
}
