//! Left and right singular vectors in device memory.

use super::operator::ProductVectors;
use super::space::{GpuKrylov, Source, WHAT, column as region};
use crate::alloc;
use crate::error::Result;
use crate::lanczos::cycles::Columns;
use crate::lanczos::ops::LanczosOps;
use crate::lanczos::sides::{Pair, Side, Sides};
use crate::scalar::Scalar;

impl<T: Scalar> Sides<T> for Pair<GpuKrylov<'_, '_, '_, T>, GpuKrylov<'_, '_, '_, T>> {
    fn side(&mut self, side: Side) -> &mut Columns<'_, T> {
        match side {
            Side::Short => &mut self.short,
            Side::Long => &mut self.long,
        }
    }

    fn cross(&mut self, from: Side, column: usize, to: usize) -> Result<()> {
        let (short, long) = (&mut self.short, &mut self.long);
        if let Source::Device(operator) = &short.operator {
            let [out, back] = operator.factors();
            let at = |side: Side, j: usize| match side {
                Side::Short => region::<T>(&short.memory, short.n, j),
                Side::Long => region::<T>(&long.memory, long.n, j),
            };
            return match from {
                Side::Short => {
                    operator.factor(out, ProductVectors { x: at(Side::Short, column)?, y: at(Side::Long, to)? })
                }
                Side::Long => {
                    operator.factor(back, ProductVectors { x: at(Side::Long, column)?, y: at(Side::Short, to)? })
                }
            };
        }
        let mut here = alloc::filled(WHAT, short.n, T::default())?;
        let mut there = alloc::filled(WHAT, long.n, T::default())?;
        match from {
            Side::Short => short.read(column, &mut here)?,
            Side::Long => long.read(column, &mut there)?,
        }
        if let Source::Host(operator) = &mut short.operator {
            let [out, back] = operator.factors();
            match from {
                Side::Short => operator.factor(out, &here, &mut there)?,
                Side::Long => operator.factor(back, &there, &mut here)?,
            }
        }
        match from {
            Side::Short => long.write(&there, to),
            Side::Long => short.write(&here, to),
        }
    }
}
