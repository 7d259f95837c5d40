//! The operations of one context on its rows of a space that several contexts share.

use super::partition::Transfer;
use crate::error::Result;
use crate::lanczos::cycles::Columns;
use crate::lanczos::ops::Affine;
use crate::scalar::Scalar;

/// One pass over columns V and a column w.
#[derive(Clone, Copy)]
pub(in crate::lanczos) struct Reading<'a, W> {
    /// Index of V's first column.
    pub(in crate::lanczos) first: usize,
    /// Number of columns of V; w is not one of them.
    pub(in crate::lanczos) count: usize,
    /// Index of the column w.
    pub(in crate::lanczos) column: usize,
    /// h, for w -= V h, which is computed first.
    pub(in crate::lanczos) weights: Option<&'a [W]>,
    /// Whether V^H w is computed then.
    pub(in crate::lanczos) forms: bool,
}

/// Sums over the rows of a part.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::lanczos) struct Sums<W> {
    /// V^H w over these rows, if [`Reading::forms`].
    pub(in crate::lanczos) products: Vec<W>,
    /// |w|^2 before V h is subtracted.
    pub(in crate::lanczos) before: f64,
    /// |w|^2 after V h is subtracted.
    pub(in crate::lanczos) after: f64,
}

/// The rows of one context. Operations that have begun on several parts may run at the same time.
pub(in crate::lanczos) trait Part<T: Scalar>: Sized {
    /// The columns of this part's rows, for operations that need no other part.
    fn columns(&mut self) -> &mut Columns<'_, T>;

    /// Begins a product: writes this part's entries of column `from` into its gather buffer, and packs the entries that
    /// other parts need.
    fn pack(&mut self, from: usize) -> Result<()>;

    /// Copies the packed entries into the gather buffers of the parts that need them.
    fn exchange(parts: &mut [Self], transfers: &[Transfer]) -> Result<()>;

    /// Ends a product: computes `step` with x = column `from` and y = column `to`.
    fn finish(&mut self, step: Affine, from: usize, to: usize) -> Result<()>;

    fn begin(&mut self, reading: Reading<'_, T::Wide>) -> Result<()>;

    /// The sums of the reading that was begun last; waits for it.
    fn sums(&mut self) -> Result<Sums<T::Wide>>;
}
