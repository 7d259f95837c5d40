//! Products of the slices of an index tuple, in the type of the train.

use super::careful::Careful;
use crate::alloc;
use crate::error::Result;
use crate::scalar::{Complex, Scalar};
use crate::tensor::train::Cores;
use crate::trains::scaled::{Scaled, exponent_of, scale};

/// Exponents, as from [`exponent_of`], of the smallest nonzero number and of the largest.
#[derive(Clone, Copy)]
struct Ends {
    low: i64,
    high: i64,
}

impl Ends {
    /// If a number is not finite: no product is within the range of the type.
    const NONE: Self = Self { low: -(1 << 20), high: 1 << 20 };

    /// Over the parts of all numbers; `None` if all are 0.
    fn of<T: Scalar>(values: impl Iterator<Item = T>) -> Option<Self> {
        let (mut low, mut high) = (f64::INFINITY, 0.0f64);
        let mut is_finite = true;
        for x in values {
            for part in [x.re().abs(), x.im().abs()] {
                is_finite &= part < f64::INFINITY;
                high = high.max(part);
                low = low.min(if part > 0.0 { part } else { f64::INFINITY });
            }
        }
        if !is_finite {
            return Some(Self::NONE);
        }
        (high > 0.0).then(|| Self { low: exponent_of(low), high: exponent_of(high) })
    }
}

/// The products of the slices of one index tuple. They are stored for the next tuple, which may have the same leading
/// indices.
///
/// Each product is scaled to magnitude 1 by one power of two. If its numbers, or those of the next slice, differ so
/// much that a term would leave the range of the type, `careful` computes the entry, because a later core may make
/// small numbers large.
pub(super) struct Chain<'a, T> {
    cores: &'a Cores<'a, T>,
    /// After core k the product of the slices is r_0 x r_{k+1}, stored row by row; the products of all cores follow one
    /// another.
    products: Vec<T>,
    /// Offset of each product in `products`.
    starts: Vec<usize>,
    /// Exponent of the power of two by which each product was divided.
    exponents: Vec<i64>,
    /// The exponents of each product's numbers; `None` if all are 0.
    ends: Vec<Option<Ends>>,
    /// Whether neither this product nor any before it has left the range of the type.
    is_whole: Vec<bool>,
    tuple: Vec<usize>,
    careful: Option<Careful<'a, T>>,
}

impl<'a, T: Scalar> Chain<'a, T> {
    pub(super) fn new(cores: &'a Cores<'a, T>) -> Result<Self> {
        let what = "products of slices";
        let ranks = cores.shape().ranks();
        let starts = starts_of(ranks)?;
        let end = ranks[0] * ranks[1..].iter().sum::<usize>();
        Ok(Self {
            cores,
            products: alloc::filled(what, end, T::default())?,
            starts,
            exponents: alloc::filled(what, ranks.len(), 0)?,
            ends: alloc::filled(what, ranks.len(), None)?,
            is_whole: alloc::filled(what, ranks.len(), true)?,
            tuple: alloc::with_capacity(what, ranks.len())?,
            careful: None,
        })
    }

    pub(super) fn entry(&mut self, tuple: &[usize]) -> Result<Scaled> {
        let alike = alike(&self.tuple, tuple);
        self.tuple.truncate(alike);
        for (k, &i) in tuple.iter().enumerate().skip(alike) {
            if k == 0 || self.is_whole[k - 1] {
                self.step(k, i);
            } else {
                self.is_whole[k] = false;
            }
            self.tuple.push(i);
        }
        if !self.is_whole[tuple.len() - 1] {
            if self.careful.is_none() {
                self.careful = Some(Careful::new(self.cores)?);
            }
            if let Some(careful) = &mut self.careful {
                return Ok(careful.entry(tuple));
            }
        }
        let ring = self.cores.shape().ranks()[0];
        let last = self.starts[tuple.len() - 1];
        let mut sum = Complex::new(0.0, 0.0);
        // In single precision a trace is within the range of a double. The products are within 2^8 of 1.
        for p in 0..ring {
            let x = self.products[last + p * (ring + 1)];
            sum += Complex::new(x.re(), x.im());
        }
        Ok(Scaled::new(sum, self.exponents[tuple.len() - 1]))
    }

    /// Multiplies the product before core k by slice i of that core.
    fn step(&mut self, k: usize, i: usize) {
        let [r, n, s] = self.cores.shape().core(k);
        let ring = self.cores.shape().ranks()[0];
        let cores = self.cores;
        let slice = cores.core(k)[r * i..].chunks(r * n).map(|column| &column[..r]);
        let start = self.starts[k];
        let (before, out) = self.products.split_at_mut(start);
        let out = &mut out[..ring * s];
        let mut is_whole = true;
        if k == 0 {
            for (b, column) in slice.enumerate() {
                for (p, &x) in column.iter().enumerate() {
                    out[p * s + b] = x;
                }
            }
        } else {
            let ends = Ends::of(slice.clone().flatten().copied());
            is_whole = holds::<T>(self.ends[k - 1], ends, r);
            let before = &before[self.starts[k - 1]..];
            for (b, column) in slice.enumerate() {
                for (p, row) in before.chunks_exact(r).enumerate() {
                    out[p * s + b] = dot(row, column);
                }
            }
        }
        let carried = if k == 0 { 0 } else { self.exponents[k - 1] };
        let found = Ends::of(out.iter().copied());
        let by = rescale(out, found);
        self.exponents[k] = carried + by;
        self.ends[k] = found.map(|e| Ends { low: e.low - by, high: e.high - by });
        self.is_whole[k] = is_whole && self.ends[k].is_none_or(|e| e.low > T::DTYPE.least_exponent());
    }
}

/// Whether all products of a number of `row` and one of `slice`, and sums of `count` of them, are in the range of the
/// type.
fn holds<T: Scalar>(row: Option<Ends>, slice: Option<Ends>, count: usize) -> bool {
    let (Some(row), Some(slice)) = (row, slice) else { return true };
    let most = T::DTYPE.largest_exponent();
    // A part of a complex product is the sum of two products.
    let sums = i64::from(usize::BITS - count.leading_zeros()) + 1;
    row.low + slice.low > T::DTYPE.least_exponent() && row.high + slice.high + sums <= most
}

/// Number of leading indices in which two tuples agree.
pub(super) fn alike(a: &[usize], b: &[usize]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

/// Offset of the product after each core.
pub(super) fn starts_of(ranks: &[usize]) -> Result<Vec<usize>> {
    let mut starts = alloc::with_capacity("products of slices", ranks.len())?;
    let mut end = 0usize;
    for r in &ranks[1..] {
        starts.push(end);
        end += ranks[0] * r;
    }
    Ok(starts)
}

/// Sum of a\[i\] b\[i\] in four partial sums, for the vector units.
fn dot<T: Scalar>(a: &[T], b: &[T]) -> T {
    let mut lanes = [T::default(); 4];
    let (mut left, mut right) = (a.chunks_exact(4), b.chunks_exact(4));
    for (a, b) in (&mut left).zip(&mut right) {
        for ((lane, &a), &b) in lanes.iter_mut().zip(a).zip(b) {
            *lane += a * b;
        }
    }
    for ((lane, &a), &b) in lanes.iter_mut().zip(left.remainder()).zip(right.remainder()) {
        *lane += a * b;
    }
    (lanes[0] + lanes[1]) + (lanes[2] + lanes[3])
}

/// Divides exactly by a power of two if the largest number is far from 1. Returns the exponent.
fn rescale<T: Scalar>(values: &mut [T], ends: Option<Ends>) -> i64 {
    // The next core may have an extreme magnitude, so only numbers near 1 are left as they are.
    let e = match ends {
        Some(ends) if ends.high.abs() >= 8 && ends.high < Ends::NONE.high => ends.high,
        _ => return 0,
    };
    for x in values.iter_mut() {
        *x = T::from_parts(scale(x.re(), -e), scale(x.im(), -e));
    }
    e
}
