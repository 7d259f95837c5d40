//! The memory of a Krylov space on the host, and how its columns are reached.

use std::sync::Arc;

use crate::alloc;
use crate::backend::memory::{Charge, HostMemory};
use crate::context::Context;
use crate::error::Result;
use crate::lanczos::operator::Symmetric;
use crate::lanczos::ops::{LanczosOps, PIECE};
use crate::scalar::Scalar;
use crate::shape::product;

pub(super) const WHAT: &str = "Krylov space";

/// A Krylov space on the host: columns of numbers, and an operator.
pub struct CpuKrylov<'o, 'a, 's, T: Scalar> {
    pub(super) context: Arc<Context>,
    pub(super) operator: &'o mut Symmetric<'a, T>,
    pub(super) inverse: Option<Symmetric<'s, T>>,
    pub(super) n: usize,
    pub(super) terms_norm: f64,
    pub(super) memory: HostMemory,
    _charge: Charge,
}

impl<'o, 'a, 's, T: Scalar> CpuKrylov<'o, 'a, 's, T> {
    /// Allocates `columns` vectors. `inverse` is the caller's solve with the operator.
    ///
    /// # Errors
    /// Out of memory, the context's limit included.
    pub fn new(
        context: &Arc<Context>,
        operator: &'o mut Symmetric<'a, T>,
        inverse: Option<Symmetric<'s, T>>,
        columns: usize,
    ) -> Result<Self> {
        let n = operator.order();
        let bytes = product(WHAT, product(WHAT, n, columns)?, size_of::<T>())?;
        let memory = HostMemory::allocate(WHAT, bytes, context.host_budget())?;
        let _charge = context.host_budget().charge_host(WHAT, Self::workspace(context, n, columns))?;
        let terms_norm = operator.terms_norm();
        Ok(Self { context: Arc::clone(context), operator, inverse, n, terms_norm, memory, _charge })
    }

    /// Bytes of the workspace of operations on `columns` vectors of `n` numbers: coefficients of every piece, and a
    /// rotated piece for each thread.
    fn workspace(context: &Context, n: usize, columns: usize) -> usize {
        let rotated = PIECE.saturating_mul(context.pool().threads()).min(n);
        n.div_ceil(PIECE).max(1).saturating_add(rotated).saturating_mul(columns).saturating_mul(size_of::<T>())
    }

    /// Bytes that [`CpuKrylov::new`] is charged for.
    pub(in crate::lanczos) fn bytes(context: &Context, n: usize, columns: usize) -> usize {
        let vectors = n.saturating_mul(columns).saturating_mul(size_of::<T>());
        vectors.saturating_add(Self::workspace(context, n, columns))
    }

    pub(super) fn column(&self, j: usize) -> Result<&[T]> {
        Ok(&self.memory.as_slice::<T>()?[j * self.n..(j + 1) * self.n])
    }

    /// Column j, n numbers, to be written.
    pub(super) fn column_mut(&mut self, j: usize) -> Result<&mut [T]> {
        let n = self.n;
        Ok(&mut self.memory.as_mut_slice::<T>()?[j * n..(j + 1) * n])
    }

    /// Applies `inverse` to a column. The inverse takes and returns vectors in the matrix's order.
    pub(super) fn invert_in_order(&mut self, inverse: &mut Symmetric<'s, T>, from: usize, to: usize) -> Result<()> {
        let mut x = alloc::filled(WHAT, self.n, T::default())?;
        let mut y = alloc::filled(WHAT, self.n, T::default())?;
        self.read(from, &mut x)?;
        inverse.apply(&x, &mut y)?;
        self.write(&y, to)
    }

    /// Two different columns, one to read and one to write, and the operator.
    pub(super) fn pair(&mut self, from: usize, to: usize) -> Result<(&[T], &mut [T], &mut Symmetric<'a, T>)> {
        let n = self.n;
        let all = self.memory.as_mut_slice::<T>()?;
        let (x, y) = if from < to {
            let (low, high) = all.split_at_mut(to * n);
            (&low[from * n..(from + 1) * n], &mut high[..n])
        } else {
            let (low, high) = all.split_at_mut(from * n);
            (&high[..n], &mut low[to * n..(to + 1) * n])
        };
        Ok((x, y, self.operator))
    }
}
