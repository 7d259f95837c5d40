//! Left and right singular vectors in host memory.

use super::CpuKrylov;
use crate::error::Result;
use crate::lanczos::krylov::Columns;
use crate::lanczos::operator::Symmetric;
use crate::lanczos::sides::{Side, Sides};
use crate::scalar::Scalar;

/// Columns of both sides on the host; the short one has the operator.
pub struct CpuSides<'o, 'a, T: Scalar> {
    short: CpuKrylov<'o, 'a, 'static, T>,
    long: CpuKrylov<'o, 'static, 'static, T>,
}

impl<'o, 'a, T: Scalar> CpuSides<'o, 'a, T> {
    /// Memory for `columns` vectors of each side; `operator` is A^H A or A A^H, whichever is of smaller order, and `longer` has
    /// the other order.
    ///
    /// # Errors
    /// Out of memory, the context's limit included.
    pub fn new(
        context: &std::sync::Arc<crate::context::Context>,
        operator: &'o mut Symmetric<'a, T>,
        longer: &'o mut Symmetric<'static, T>,
        columns: usize,
    ) -> Result<Self> {
        let short = CpuKrylov::new(context, operator, None, columns)?;
        Ok(Self { short, long: CpuKrylov::new(context, longer, None, columns)? })
    }
}

impl<T: Scalar> Sides<T> for CpuSides<'_, '_, T> {
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
