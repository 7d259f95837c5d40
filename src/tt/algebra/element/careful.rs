//! Products of the slices of an index tuple in which each number has an exponent of its own. For trains whose bonds
//! have entries with very different exponents, which later cores combine again.
//!
//! `careful.rs` and `chain.rs` import each other: products that lose digits are repeated with exponents, at the same
//! offsets.

use super::chain::{alike, starts_of};
use crate::alloc;
use crate::error::Result;
use crate::scalar::{Complex, Scalar};
use crate::tensor::train::Cores;
use crate::trains::scaled::Scaled;

/// Slower form of [`super::chain::Chain`] without underflow: a sum loses only the rounding error of its largest term.
pub(super) struct Careful<'a, T> {
    cores: &'a Cores<'a, T>,
    /// After core k the product of the slices is r_0 x r_{k+1}, stored row by row; the products of all cores follow one
    /// another.
    products: Vec<Scaled>,
    /// Offset of each product in `products`.
    starts: Vec<usize>,
    tuple: Vec<usize>,
}

impl<'a, T: Scalar> Careful<'a, T> {
    pub(super) fn new(cores: &'a Cores<'a, T>) -> Result<Self> {
        let what = "products of slices";
        let ranks = cores.shape().ranks();
        let end = ranks[0] * ranks[1..].iter().sum::<usize>();
        let products = alloc::filled(what, end, Scaled::ZERO)?;
        Ok(Self { cores, products, starts: starts_of(ranks)?, tuple: alloc::with_capacity(what, ranks.len())? })
    }

    pub(super) fn entry(&mut self, tuple: &[usize]) -> Scaled {
        let alike = alike(&self.tuple, tuple);
        self.tuple.truncate(alike);
        for (k, &i) in tuple.iter().enumerate().skip(alike) {
            self.step(k, i);
            self.tuple.push(i);
        }
        let ring = self.cores.shape().ranks()[0];
        let last = self.starts[tuple.len() - 1];
        (0..ring).fold(Scaled::ZERO, |sum, p| sum.plus(self.products[last + p * (ring + 1)]))
    }

    /// Multiplies the product before core k by slice i of that core.
    fn step(&mut self, k: usize, i: usize) {
        let [r, n, s] = self.cores.shape().core(k);
        let cores = self.cores;
        let slice = cores.core(k)[r * i..].chunks(r * n).map(|column| &column[..r]);
        let (before, out) = self.products.split_at_mut(self.starts[k]);
        let before = if k == 0 { &[][..] } else { &before[self.starts[k - 1]..] };
        for (b, column) in slice.enumerate() {
            if k == 0 {
                column.iter().enumerate().for_each(|(p, &x)| out[p * s + b] = number(x));
            } else {
                for (p, row) in before.chunks_exact(r).enumerate() {
                    out[p * s + b] =
                        row.iter().zip(column).fold(Scaled::ZERO, |sum, (x, &y)| sum.plus(x.times(number(y))));
                }
            }
        }
    }
}

fn number<T: Scalar>(x: T) -> Scaled {
    Scaled::new(Complex::new(x.re(), x.im()), 0)
}
