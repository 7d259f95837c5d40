//! Powers of two for the values of an environment's bonds.
//!
//! The numbers at a bond may differ by more than a type's range, and any later core may compensate that. The magnitudes
//! of an environment are known from its own side alone. So each value of a bond has a power of two of its own by which
//! the entries are divided, which brings all of them to magnitude 1.

use super::gather::Gather;
use super::ops::Extent;
use crate::alloc;
use crate::error::Result;
use crate::scalar::{DType, Scalar};
use crate::tt::scaled::{exponent_of, scale};

const WHAT: &str = "powers of environments";

/// The indices of an environment.
pub(super) const BRA: usize = 0;
pub(super) const SLOT: usize = 1;
pub(super) const PAIR: usize = 2;
pub(super) const KET: usize = 3;

/// Sizes of the indices in the order of [`BRA`] to [`KET`].
fn counts(extent: Extent) -> [usize; 4] {
    [extent.bra, extent.slots, extent.pairs, extent.ket]
}

/// Bra, slot, pair and ket of an element.
fn indices(extent: Extent, at: usize) -> [usize; 4] {
    let [a, q, p, _] = counts(extent);
    [at % a, at / a % q, at / (a * q) % p, at / (a * q * p)]
}

/// The larger of |re| and |im|; NaN if either is.
pub(super) fn size<T: Scalar>(x: T) -> f64 {
    let (re, im) = (x.re().abs(), x.im().abs());
    if re > im || re.is_nan() { re } else { im }
}

/// Exponent difference to the largest number up to which a contraction in this type keeps all digits of smaller
/// numbers.
pub(super) fn budget(dtype: DType) -> i64 {
    if dtype.is_single() { 100 } else { 900 }
}

/// Exponent difference between the largest and the smallest nonzero of these numbers.
pub(super) fn spread(values: &[f64]) -> i64 {
    let exponents = || values.iter().filter(|v| **v > 0.0).map(|v| exponent_of(*v));
    exponents().max().unwrap_or(0) - exponents().min().unwrap_or(0)
}

/// The largest number at every value of each index.
pub(super) struct Sizes {
    of: [Vec<f64>; 4],
}

impl Sizes {
    fn zeros(extent: Extent) -> Result<Self> {
        let [a, q, p, b] = counts(extent).map(|n| alloc::filled(WHAT, n, 0.0f64));
        Ok(Self { of: [a?, q?, p?, b?] })
    }

    /// From the largest numbers of all rows (bra, slot, pair) and of all columns (ket).
    pub(super) fn new(extent: Extent, rows: &[f64], columns: &[f64]) -> Result<Self> {
        let mut sizes = Self::zeros(extent)?;
        sizes.of[KET].copy_from_slice(columns);
        for (at, &row) in rows.iter().enumerate() {
            let index = indices(extent, at);
            for layer in [BRA, SLOT, PAIR] {
                raise(&mut sizes.of[layer][index[layer]], row);
            }
        }
        Ok(sizes)
    }

    fn of_values<T: Scalar>(extent: Extent, values: &[T]) -> Result<Self> {
        let rows = extent.bra * extent.slots * extent.pairs;
        let [rows, columns] = rows_and_columns(values, rows, extent.ket)?;
        Self::new(extent, &rows, &columns)
    }

    /// Whether all numbers are finite.
    pub(super) fn are_finite(&self) -> bool {
        self.of[KET].iter().all(|size| size.is_finite())
    }

    /// Exponent difference between the largest number and the least that the values of all indices may have together.
    pub(super) fn apart(&self) -> i64 {
        self.of.iter().map(|sizes| spread(sizes)).sum()
    }

    /// Whether some value of an index has no nonzero number.
    pub(super) fn has_unused(&self) -> bool {
        self.of.iter().flatten().any(|size| *size == 0.0)
    }

    /// Whether a value of an index has a nonzero number.
    pub(super) fn is_used(&self, layer: usize, at: usize) -> bool {
        self.of[layer][at] != 0.0
    }
}

fn raise(to: &mut f64, size: f64) {
    // `max` loses a NaN.
    if size > *to || size.is_nan() {
        *to = size;
    }
}

/// The largest |re| or |im| of every row and of every column of a matrix, NaN where there is one.
pub(super) fn rows_and_columns<T: Scalar>(values: &[T], rows: usize, columns: usize) -> Result<[Vec<f64>; 2]> {
    let (mut of_rows, mut of_columns) = (alloc::filled(WHAT, rows, 0.0)?, alloc::filled(WHAT, columns, 0.0)?);
    for (column, most) in values.chunks_exact(rows.max(1)).zip(&mut of_columns) {
        for (row, x) in of_rows.iter_mut().zip(column) {
            let size = size(*x);
            raise(row, size);
            raise(most, size);
        }
    }
    Ok([of_rows, of_columns])
}

/// Exponents of the powers of two by which the entries of an environment must be multiplied.
pub(super) struct Gauge {
    of: [Vec<i64>; 4],
}

impl Gauge {
    pub(super) fn zeros(extent: Extent) -> Result<Self> {
        let [a, q, p, b] = counts(extent).map(|n| alloc::filled(WHAT, n, 0i64));
        Ok(Self { of: [a?, q?, p?, b?] })
    }

    pub(super) fn copied(&self) -> Result<Self> {
        let [a, q, p, b] = &self.of;
        Ok(Self {
            of: [alloc::copied(WHAT, a)?, alloc::copied(WHAT, q)?, alloc::copied(WHAT, p)?, alloc::copied(WHAT, b)?],
        })
    }

    /// The powers of an index.
    pub(super) fn layer(&self, layer: usize) -> &[i64] {
        &self.of[layer]
    }

    pub(super) fn layer_mut(&mut self, layer: usize) -> &mut Vec<i64> {
        &mut self.of[layer]
    }

    /// The power of an element.
    pub(super) fn element(&self, extent: Extent, at: usize) -> i64 {
        let index = indices(extent, at);
        (0..4).map(|layer| self.of[layer][index[layer]]).sum()
    }

    /// Sum over the indices of the exponent differences between values with nonzero numbers.
    pub(super) fn apart(&self, sizes: &Sizes) -> i64 {
        let of = |layer: usize| {
            let used =
                || self.of[layer].iter().enumerate().filter(|(at, _)| sizes.is_used(layer, *at)).map(|(_, p)| *p);
            used().max().unwrap_or(0) - used().min().unwrap_or(0)
        };
        (0..4).map(of).sum()
    }

    /// Moves powers from the entries to the gauge until the largest number at every value is in [0.5, 1). Returns the
    /// new sizes.
    pub(super) fn balance<T: Scalar>(&mut self, extent: Extent, values: &mut [T]) -> Result<Sizes> {
        for layer in [KET, BRA, SLOT, PAIR] {
            let sizes = Sizes::of_values(extent, values)?;
            let powers = &mut self.of[layer];
            let mut least = None;
            for (power, size) in powers.iter_mut().zip(&sizes.of[layer]).filter(|(_, size)| **size != 0.0) {
                *power += exponent_of(*size);
                least = Some(least.map_or(*power, |least: i64| least.min(*power)));
            }
            // A value without nonzero numbers may have any power.
            for (power, _) in powers.iter_mut().zip(&sizes.of[layer]).filter(|(_, size)| **size == 0.0) {
                *power = least.unwrap_or(0);
            }
            for (at, x) in values.iter_mut().enumerate() {
                *x = shifted(*x, -exponent_of(sizes.of[layer][indices(extent, at)[layer]]));
            }
        }
        Sizes::of_values(extent, values)
    }

    /// Subtracts the largest exponent of each index, and returns the sum of these.
    pub(super) fn take_largest(&mut self) -> i64 {
        let mut taken = 0;
        for powers in &mut self.of {
            let most = powers.iter().copied().max().unwrap_or(0);
            powers.iter_mut().for_each(|power| *power -= most);
            taken += most;
        }
        taken
    }

    /// Multiplies the entries by their powers, and divides them by 2^e so that the largest is in [0.5, 1). Returns e.
    pub(super) fn unfold<T: Scalar>(&self, extent: Extent, values: &mut [T]) -> i64 {
        let power = |at: usize| self.element(extent, at);
        let most = largest(values.iter().enumerate().map(|(at, x)| (size(*x), power(at))));
        for (at, x) in values.iter_mut().enumerate() {
            *x = shifted(*x, power(at) - most);
        }
        most
    }
}

/// x times 2^e, rounded where it leaves the range.
pub(super) fn shifted<T: Scalar>(x: T, e: i64) -> T {
    if e == 0 { x } else { T::from_parts(scale(x.re(), e), scale(x.im(), e)) }
}

/// The largest exponent of numbers times powers; 0 if all are 0.
fn largest(values: impl Iterator<Item = (f64, i64)>) -> i64 {
    values.filter(|(size, _)| *size > 0.0).map(|(size, power)| exponent_of(size) + power).max().unwrap_or(0)
}

/// Multiplies the values of the near bond of a core r x n x s by powers, and divides each value of its far bond by the
/// power that brings its largest number to [0.5, 1). Returns the powers of the far bond. Finite numbers that are only
/// multiplied by zeros become 0.
pub(super) fn core<S: Scalar>(
    values: &mut [S],
    [r, n, s]: [usize; 3],
    mirrored: bool,
    near: &[i64],
    is_used: impl Fn(usize) -> bool,
) -> Result<Vec<i64>> {
    let sides = |at: usize| {
        let (a, b) = (at % r, at / (r * n));
        if mirrored { (b, a) } else { (a, b) }
    };
    let mut far = alloc::filled(WHAT, if mirrored { r } else { s }, i64::MIN)?;
    for (at, x) in values.iter().enumerate() {
        let (from, to) = sides(at);
        let size = size(*x);
        if is_used(from) && size > 0.0 {
            far[to] = far[to].max(near[from] + exponent_of(size));
        }
    }
    far.iter_mut().filter(|power| **power == i64::MIN).for_each(|power| *power = 0);
    for (at, x) in values.iter_mut().enumerate() {
        let (from, to) = sides(at);
        if is_used(from) {
            *x = shifted(*x, near[from] - far[to]);
        } else if size(*x).is_finite() {
            *x = S::default();
        }
    }
    Ok(far)
}

/// [`core()`] for an operator between slots.
pub(super) fn operator(gather: &Gather, near: &[i64], is_used: impl Fn(usize) -> bool) -> Result<(Gather, Vec<i64>)> {
    let mut far = alloc::filled(WHAT, gather.outputs, i64::MIN)?;
    for to in 0..gather.rows * gather.outputs {
        for term in gather.of(to).iter().filter(|term| is_used(term.slot as usize)) {
            let size = term.value.re.abs().max(term.value.im.abs());
            if size > 0.0 {
                let far = &mut far[to / gather.rows];
                *far = (*far).max(near[term.slot as usize] + exponent_of(size));
            }
        }
    }
    far.iter_mut().filter(|power| **power == i64::MIN).for_each(|power| *power = 0);
    let made = gather.shifted(|from, to| if is_used(from) { Some(near[from] - far[to]) } else { None })?;
    Ok((made, far))
}
