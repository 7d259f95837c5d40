//! Memory that a run is charged for, counted before it begins. Plans and runs use the same counts: a run begins with
//! [`Bytes::expect`], and a plan ends with it.
//!
//! A run may need less: where no search for copies follows, or where Golub-Kahan-Lanczos need not follow.

use std::sync::Arc;

use super::algorithm::pairs::Job;
use super::cpu::CpuKrylov;
use super::gpu::{DeviceOperator, GpuKrylov};
use super::operator::{self, Kind};
use crate::backend::Backend;
use crate::context::Context;
use crate::dense::cpu::factor::working_bytes;
use crate::error::{Error, Result};
use crate::matrix::Matrix;
use crate::matrix::sparse::{CopyBytes, Ordering};
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
    /// `bytes` of host memory.
    pub fn on_host(bytes: usize) -> Self {
        Self { host: bytes, device: 0 }
    }

    /// Both at once.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self { host: self.host.saturating_add(other.host), device: self.device.saturating_add(other.device) }
    }

    /// The larger of both, for one after the other.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self { host: self.host.max(other.host), device: self.device.max(other.device) }
    }

    /// The most of a run that needs these bytes beside the copies of its operator, which are made first.
    #[must_use]
    pub fn behind(self, copies: CopyBytes) -> Self {
        self.and(Self::on_host(copies.kept)).or(Self::on_host(copies.peak))
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
            let device = GpuKrylov::<T>::bytes(context, gpu, (n, columns), operator.device, beside.device)?;
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

/// Bytes of the operator `kind` of a matrix of this shape, beside the copies of the matrix.
pub fn operator<T: Scalar>(context: &Context, kind: Kind, shape: (usize, usize)) -> Bytes {
    match context.backend() {
        Backend::Cpu => Bytes::default(),
        Backend::Gpu(_) => Bytes { host: 0, device: DeviceOperator::<T>::bytes(kind, shape) },
    }
}

/// Bytes of a search for eigenpairs: of its vectors, of its largest projected problem, and of `returned` numbers on the
/// host. The operator is one of `kind` for a matrix of `shape`, whose copies are not counted.
///
/// # Errors
/// As [`space`].
pub fn eigenpairs<T: Scalar>(
    context: &Context,
    job: &Job<'_, T>,
    (kind, shape): (Kind, (usize, usize)),
    returned: usize,
) -> Result<Bytes> {
    let operator = operator::<T>(context, kind, shape);
    let space = space::<T>(context, (job.order(), job.columns()), operator, Bytes::default())?;
    Ok(space.and(eigenvectors::<T>(job.projected())).and(numbers::<T>(returned)))
}

/// Host bytes of the copies of `a` that operator `kind` needs.
///
/// # Errors
/// As [`super::operator::Symmetric::in_order`].
pub fn copies(context: &Arc<Context>, a: &Matrix, kind: Kind, ordering: Option<Ordering>) -> Result<CopyBytes> {
    operator::copies(context, a, !kind.is_of_square(), ordering)
}
