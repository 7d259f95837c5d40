//! Products that are computed on the host. Columns are copied there and back.

use super::space::{Krylov, WHAT};
use crate::alloc;
use crate::dense::Op;
use crate::error::{Error, Result};
use crate::lanczos::operator::Symmetric;
use crate::lanczos::ops::Affine;
use crate::scalar::Scalar;
use crate::shape::product;

/// The operator and the inverse of a space, as far as they multiply on the host, without their type.
pub(super) trait HostProducts {
    /// Column `to` = step of columns `from` and `to`: see [`Symmetric::affine`].
    ///
    /// # Errors
    /// Errors of the operator and of the device.
    fn affine(&mut self, krylov: &mut Krylov<'_>, step: Affine, from: usize, to: usize) -> Result<()>;

    /// Products of `count` columns, in one call of the operator.
    ///
    /// # Errors
    /// As [`HostProducts::affine`]; [`Error::OutOfMemory`].
    fn apply_block(&mut self, krylov: &mut Krylov<'_>, from: usize, to: usize, count: usize) -> Result<()>;

    /// Column `to` = the inverse times column `from`.
    ///
    /// # Errors
    /// As [`HostProducts::affine`]; [`Error::NotSupported`] without an inverse.
    fn invert(&mut self, krylov: &mut Krylov<'_>, from: usize, to: usize) -> Result<()>;

    /// Column `to` of one space = op of the operator's matrix, times column `from` of the other. `is_back` says that the
    /// second of [`Symmetric::factors`] is op.
    ///
    /// # Errors
    /// As [`HostProducts::affine`]; [`Error::OutOfMemory`].
    fn factor(&mut self, is_back: bool, source: (&Krylov<'_>, usize), target: (&mut Krylov<'_>, usize)) -> Result<()>;
}

/// [`HostProducts`] of numbers of type T.
struct OnHost<'o, 'a, 's, T: Scalar> {
    operator: Option<&'o mut Symmetric<'a, T>>,
    inverse: Option<&'o mut Symmetric<'s, T>>,
    /// Operand and result of a product on the host, n numbers each.
    vectors: [Vec<T>; 2],
}

/// The products of an operator and of an inverse on the host. Allocates two vectors of `n` numbers.
pub(super) fn on_host<'o, 'a: 'o, 's: 'o, T: Scalar>(
    operator: Option<&'o mut Symmetric<'a, T>>,
    inverse: Option<&'o mut Symmetric<'s, T>>,
    n: usize,
) -> Result<Box<dyn HostProducts + 'o>> {
    let buffer = || alloc::filled(WHAT, n, T::default());
    let vectors = [buffer()?, buffer()?];
    Ok(Box::new(OnHost { operator, inverse, vectors }))
}

impl<T: Scalar> HostProducts for OnHost<'_, '_, '_, T> {
    fn affine(&mut self, krylov: &mut Krylov<'_>, step: Affine, from: usize, to: usize) -> Result<()> {
        let [x, y] = &mut self.vectors;
        krylov.read(from, x)?;
        if step.keep != 0.0 {
            krylov.read(to, y)?;
        }
        if let Some(operator) = &mut self.operator {
            operator.affine(step, x, y)?;
        }
        krylov.write(y, to)
    }

    fn apply_block(&mut self, krylov: &mut Krylov<'_>, from: usize, to: usize, count: usize) -> Result<()> {
        let n = krylov.n;
        let buffer = || alloc::filled(WHAT, product(WHAT, n, count)?, T::default());
        let (mut x, mut y) = (buffer()?, buffer()?);
        for (j, x) in x.chunks_exact_mut(n).enumerate() {
            krylov.read(from + j, x)?;
        }
        if let Some(operator) = &mut self.operator {
            operator.apply_block(&x, count, &mut y)?;
        }
        y.chunks_exact(n).enumerate().try_for_each(|(j, y)| krylov.write(y, to + j))
    }

    fn invert(&mut self, krylov: &mut Krylov<'_>, from: usize, to: usize) -> Result<()> {
        let [x, y] = &mut self.vectors;
        krylov.read(from, x)?;
        match &mut self.inverse {
            Some(inverse) => inverse.apply(x, y)?,
            None => return Err(no_solve()),
        }
        krylov.write(y, to)
    }

    fn factor(
        &mut self,
        is_back: bool,
        (source, from): (&Krylov<'_>, usize),
        (target, to): (&mut Krylov<'_>, usize),
    ) -> Result<()> {
        let mut here = alloc::filled(WHAT, source.n, T::default())?;
        let mut there = alloc::filled(WHAT, target.n, T::default())?;
        source.read(from, &mut here)?;
        if let Some(operator) = &mut self.operator {
            let [out, back]: [Op; 2] = operator.factors();
            operator.factor(if is_back { back } else { out }, &here, &mut there)?;
        }
        target.write(&there, to)
    }
}

/// The error of [`HostProducts::invert`] without an inverse.
pub(super) fn no_solve() -> Error {
    Error::NotSupported("solve: there is none".into())
}
