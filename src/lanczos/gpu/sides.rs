//! Left and right singular vectors in device memory.

use super::operator::ProductVectors;
use super::space::GpuKrylov;
use crate::error::Result;
use crate::lanczos::cycles::Columns;
use crate::lanczos::sides::{Pair, Side, Sides};
use crate::scalar::Scalar;

impl<T: Scalar> Sides<T> for Pair<GpuKrylov<'_, T>, GpuKrylov<'_, T>> {
    fn side(&mut self, side: Side) -> &mut Columns<'_, T> {
        match side {
            Side::Short => &mut self.short,
            Side::Long => &mut self.long,
        }
    }

    fn cross(&mut self, from: Side, column: usize, to: usize) -> Result<()> {
        let (short, long) = (&mut self.short.space, &mut self.long.space);
        if let Some(operator) = &short.operator {
            let [out, back] = operator.factors();
            let (op, x, y) = match from {
                Side::Short => (out, short.column(column)?, long.column(to)?),
                Side::Long => (back, long.column(column)?, short.column(to)?),
            };
            return operator.factor(op, ProductVectors { x, y });
        }
        short.on_host(|host, short| match from {
            Side::Short => host.factor(false, (&*short, column), (long, to)),
            Side::Long => host.factor(true, (&*long, column), (short, to)),
        })
    }
}
