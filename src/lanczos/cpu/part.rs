//! The rows of one context on the CPU, where several share a matrix.

use super::space::{CpuKrylov, WHAT};
use super::sums::{Coefficients, project};
use crate::alloc;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::lanczos::cycles::Columns;
use crate::lanczos::operator::Symmetric;
use crate::lanczos::ops::Affine;
use crate::lanczos::shared::{Block, Part, Reading, Sums, Transfer};
use crate::scalar::Scalar;
use std::sync::Arc;

/// The columns of some rows, and buffers for the entries that products gather and other parts need.
pub(in crate::lanczos) struct CpuPart<'o, 'a, T: Scalar> {
    krylov: CpuKrylov<'o, 'a, 'static, T>,
    gathered: Vec<T>,
    sends: &'o [u32],
    packed: Vec<T>,
    sums: Option<Sums<T::Wide>>,
}

impl<'o, 'a, T: Scalar> CpuPart<'o, 'a, T> {
    /// Allocates `columns` vectors; `operator` has the rows of `block`.
    ///
    /// # Errors
    /// Out of memory, the context's limit included.
    pub(in crate::lanczos) fn new(
        context: &Arc<Context>,
        operator: &'o mut Symmetric<'a, T>,
        block: &'o Block,
        columns: usize,
    ) -> Result<Self> {
        let gathered = alloc::filled(WHAT, block.gathered(), T::default())?;
        let packed = alloc::filled(WHAT, block.sends.len(), T::default())?;
        let krylov = CpuKrylov::new(context, operator, None, columns)?;
        Ok(Self { krylov, gathered, sends: &block.sends, packed, sums: None })
    }
}

impl<T: Scalar> Part<T> for CpuPart<'_, '_, T> {
    fn columns(&mut self) -> &mut Columns<'_, T> {
        &mut self.krylov
    }

    fn pack(&mut self, from: usize) -> Result<()> {
        let x = self.krylov.column(from)?;
        self.krylov.operator.gather(x, &mut self.gathered);
        self.packed.iter_mut().zip(self.sends).for_each(|(to, &row)| *to = self.gathered[row as usize]);
        Ok(())
    }

    fn exchange(parts: &mut [Self], transfers: &[Transfer]) -> Result<()> {
        for t in transfers {
            let Ok([source, target]) = parts.get_disjoint_mut([t.source, t.target]) else {
                return Err(Error::Internal(format!("{t:?} between {} parts", parts.len())));
            };
            target.gathered[t.at..t.at + t.count].copy_from_slice(&source.packed[t.from..t.from + t.count]);
        }
        Ok(())
    }

    fn finish(&mut self, step: Affine, from: usize, to: usize) -> Result<()> {
        let (x, y, operator) = self.krylov.pair(from, to)?;
        operator.finish(step, &self.gathered, x, y)
    }

    fn begin(&mut self, reading: Reading<'_, T::Wide>) -> Result<()> {
        let Reading { first, count, column, weights, forms } = reading;
        let n = self.krylov.n;
        let context = Arc::clone(&self.krylov.context);
        let all = self.krylov.memory.as_mut_slice::<T>()?;
        // w is after V in memory, or before it.
        let (v, w) = if first + count <= column {
            let (low, high) = all.split_at_mut(column * n);
            (&low[first * n..(first + count) * n], &mut high[..n])
        } else if column < first {
            let (low, high) = all.split_at_mut(first * n);
            (&high[..count * n], &mut low[column * n..(column + 1) * n])
        } else {
            return Err(Error::Internal(format!("column {column} is among {count} from {first} on")));
        };
        let weights = match weights {
            None => None,
            Some(wide) => {
                let mut own = alloc::with_capacity(WHAT, count)?;
                own.extend(wide.iter().map(|h| T::narrow(*h)));
                Some(own)
            }
        };
        let mut products = if forms && count > 0 { Some(Coefficients::new(n, count)?) } else { None };
        let (before, after) = project(&context, v, w, weights.as_deref(), products.as_mut());
        let products = match products {
            None => Vec::new(),
            Some(found) => found.wide()?,
        };
        self.sums = Some(Sums { products, before, after });
        Ok(())
    }

    fn sums(&mut self) -> Result<Sums<T::Wide>> {
        self.sums.take().ok_or_else(|| Error::Internal("sums of a reading that was not begun".into()))
    }
}
