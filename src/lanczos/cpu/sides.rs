//! Left and right singular vectors in host memory.

use super::space::CpuKrylov;
use crate::error::Result;
use crate::lanczos::cycles::Columns;
use crate::lanczos::sides::{Pair, Side, Sides};
use crate::scalar::Scalar;

impl<T: Scalar> Sides<T> for Pair<CpuKrylov<'_, '_, '_, T>, CpuKrylov<'_, '_, '_, T>> {
    fn side(&mut self, side: Side) -> &mut Columns<'_, T> {
        match side {
            Side::Short => &mut self.short,
            Side::Long => &mut self.long,
        }
    }

    fn cross(&mut self, from: Side, column: usize, to: usize) -> Result<()> {
        let (short, long) = (&mut self.short, &mut self.long);
        let [out, back] = short.operator.factors();
        let (n, length) = (short.n, long.n);
        match from {
            Side::Short => {
                let x = &short.memory.as_slice::<T>()?[column * n..(column + 1) * n];
                short.operator.factor(out, x, long.column_mut(to)?)
            }
            Side::Long => {
                let x = &long.memory.as_slice::<T>()?[column * length..(column + 1) * length];
                let y = &mut short.memory.as_mut_slice::<T>()?[to * n..(to + 1) * n];
                short.operator.factor(back, x, y)
            }
        }
    }
}
