//! What the rows of one context do for a space that several share.

use super::partition::Transfer;
use crate::error::Result;
use crate::lanczos::krylov::{Affine, Columns};
use crate::scalar::Scalar;

/// One reading of columns V and a column w.
#[derive(Clone, Copy)]
pub(in crate::lanczos) struct Reading<'a, W> {
    /// First column of V.
    pub(in crate::lanczos) first: usize,
    /// Columns of V, of which w is none.
    pub(in crate::lanczos) count: usize,
    /// w.
    pub(in crate::lanczos) column: usize,
    /// h: w -= V h first.
    pub(in crate::lanczos) weights: Option<&'a [W]>,
    /// Whether V^H w is formed then.
    pub(in crate::lanczos) forms: bool,
}

/// Sums over the rows of a part.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::lanczos) struct Sums<W> {
    /// V^H w, if it was asked for.
    pub(in crate::lanczos) products: Vec<W>,
    /// |w|^2 before anything was taken away.
    pub(in crate::lanczos) before: f64,
    /// And after.
    pub(in crate::lanczos) after: f64,
}

/// Rows of one context. What is begun on one part runs beside what is begun on the others.
pub(in crate::lanczos) trait Part<T: Scalar>: Sized {
    /// The columns, of this part's rows alone, for what needs no other part.
    fn columns(&mut self) -> &mut Columns<'_, T>;

    /// Begins a product: puts what it gathers of column `from` in place, and packs what other parts need of that.
    fn pack(&mut self, from: usize) -> Result<()>;

    /// Brings what was packed to where it is gathered from.
    fn exchange(parts: &mut [Self], transfers: &[Transfer]) -> Result<()>;

    /// Ends a product, as `step` says, x being column `from` and y column `to`.
    fn finish(&mut self, step: Affine, from: usize, to: usize) -> Result<()>;

    /// Begins a reading.
    fn begin(&mut self, reading: Reading<'_, T::Wide>) -> Result<()>;

    /// What the reading that was begun last has summed up.
    fn sums(&mut self) -> Result<Sums<T::Wide>>;
}
