//! Sizes of packed symmetric tensors.

use crate::error::{Error, Result};
use crate::scalar::DType;
use crate::shape::{Layout, Order};

/// Order and dimension of the tensors of a symmetric batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Symmetric {
    /// Number of indices m of each tensor.
    pub order: usize,
    /// Range n of each index.
    pub dimension: usize,
}

/// Most packed entries that a symmetric tensor may have.
pub const MAX_PACKED: usize = 0x7fff_ffff;

/// Most indices that a symmetric tensor may have. In one dimension it has a single entry, so only this limit bounds the
/// allocated index tuples.
pub const MAX_ORDER: usize = 1 << 20;

impl Symmetric {
    /// A checked pair: order at least 2, dimension at least 1, no more than [`MAX_PACKED`] packed entries.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for other pairs, and for an order above [`MAX_ORDER`].
    pub fn new(order: i64, dimension: i64) -> Result<Self> {
        let order = crate::shape::size("order", order, 2)?;
        if order > MAX_ORDER {
            return Err(Error::invalid("order", format!("is {order}, outside 2 to {MAX_ORDER}")));
        }
        let dimension = crate::shape::size("dimension", dimension, 1)?;
        let shape = Self { order, dimension };
        shape.checked_count().map(|_| shape)
    }

    /// Layout of a packed batch of `count` tensors.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a batch of more than 2^63 bytes.
    pub fn batch_layout(self, dtype: DType, order: Order, count: usize) -> Result<Layout> {
        let entries = self.count();
        let too_large =
            |_| Error::invalid("count", format!("is {count}, with {entries} entries each more than 2^63 bytes"));
        Layout::packed(&[entries, count], order, dtype).map_err(too_large)
    }

    fn checked_count(self) -> Result<usize> {
        let Self { order, dimension } = self;
        // C(m + n - 1, k) built factor by factor stays an integer and grows, so it can stop at the limit. The smaller
        // of m and n - 1 bounds the number of factors that matter.
        let k = order.min(dimension - 1);
        let top = order.checked_add(dimension - 1);
        let mut count: u128 = 1;
        for i in 1..=k {
            let factor = top.map_or(u128::MAX, |t| (t - k + i) as u128);
            count = count.checked_mul(factor).map_or(u128::MAX, |c| c / i as u128);
            if count > MAX_PACKED as u128 {
                let more = format!("more than {MAX_PACKED} packed entries");
                return Err(if dimension > order {
                    Error::invalid("dimension", format!("is {dimension}, with order = {order} {more}"))
                } else {
                    Error::invalid("order", format!("is {order}, with dimension = {dimension} {more}"))
                });
            }
        }
        Ok(count as usize)
    }

    /// Number of packed entries U = C(m + n - 1, m).
    #[inline]
    pub fn count(self) -> usize {
        // `new` has checked it; the fields are public, so an unchecked pair gives the limit rather than a panic.
        self.checked_count().unwrap_or(MAX_PACKED)
    }
}
