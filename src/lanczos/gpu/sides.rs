//! Left and right singular vectors in device memory.

use std::sync::Arc;

use super::operator::Ends;
use super::{GpuKrylov, Source, WHAT, column as region};
use crate::alloc;
use crate::context::Context;
use crate::error::Result;
use crate::lanczos::krylov::{Columns, Krylov};
use crate::lanczos::operator::Symmetric;
use crate::lanczos::sides::{Side, Sides};
use crate::scalar::Scalar;

/// Columns of both sides on the device; the short one has the operator.
pub struct GpuSides<'o, 'a, T: Scalar> {
    short: GpuKrylov<'o, 'a, 'static, T>,
    long: GpuKrylov<'o, 'static, 'static, T>,
}

impl<'o, 'a, T: Scalar> GpuSides<'o, 'a, T> {
    /// Memory for `columns` vectors of each side; `operator` is A^H A or A A^H, whichever is of smaller order, and `longer` has
    /// the other order.
    ///
    /// # Errors
    /// Out of memory on the device or the host; [`crate::error::Error::NoDevice`] without cuBLAS.
    pub fn new(
        context: &Arc<Context>,
        operator: &'o mut Symmetric<'a, T>,
        longer: &'o mut Symmetric<'static, T>,
        columns: usize,
    ) -> Result<Self> {
        let short = GpuKrylov::new(context, operator, None, columns)?;
        Ok(Self { short, long: GpuKrylov::new(context, longer, None, columns)? })
    }
}

impl<T: Scalar> Sides<T> for GpuSides<'_, '_, T> {
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
                Side::Short => operator.factor(out, Ends { x: at(Side::Short, column)?, y: at(Side::Long, to)? }),
                Side::Long => operator.factor(back, Ends { x: at(Side::Long, column)?, y: at(Side::Short, to)? }),
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
