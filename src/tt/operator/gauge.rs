//! Gauges: powers of two for the values of an environment's bonds.
//!
//! The entries at the values of a bond may differ by more than the range of a type, and a later core may compensate the
//! difference. A step does not know the later cores, so it cannot balance the bond. Instead each value of a bond has a
//! power of two by which the entries are divided, so that all of them have magnitude 1.

use super::gather::Gather;
use super::ops::Extent;
use crate::alloc;
use crate::error::Result;
use crate::scalar::{DType, Scalar};
use crate::trains::scaled::{exponent_of, scale};

const WHAT: &str = "powers of environments";

/// The indices of an environment, the fastest first.
pub(super) const BRA: usize = 0;
pub(super) const SLOT: usize = 1;
pub(super) const PAIR: usize = 2;
pub(super) const KET: usize = 3;

/// Number of values of each index, in the order of [`BRA`] to [`KET`].
fn counts(extent: Extent) -> [usize; 4] {
    [extent.bra, extent.slots, extent.pairs, extent.ket]
}

/// The values of the four indices for element `at`.
fn indices(extent: Extent, at: usize) -> [usize; 4] {
    let [a, q, p, _] = counts(extent);
    [at % a, at / a % q, at / (a * q) % p, at / (a * q * p)]
}

/// The larger of |re| and |im|; NaN if either is NaN.
pub(super) fn size<T: Scalar>(x: T) -> f64 {
    let (re, im) = (x.re().abs(), x.im().abs());
    if re > im || re.is_nan() { re } else { im }
}

/// Largest exponent difference between entries with which a contraction in this type keeps all digits of the small
/// ones.
pub(super) fn budget(dtype: DType) -> i64 {
    if dtype.is_single() { 100 } else { 900 }
}

/// Exponent difference between the largest and the smallest nonzero of these magnitudes.
pub(super) fn spread(values: &[f64]) -> i64 {
    let exponents = || values.iter().filter(|v| **v > 0.0).map(|v| exponent_of(*v));
    exponents().max().unwrap_or(0) - exponents().min().unwrap_or(0)
}

/// For each value of each index, the largest magnitude of the entries.
pub(super) struct Sizes {
    of: [Vec<f64>; 4],
}

impl Sizes {
    fn zeros(extent: Extent) -> Result<Self> {
        let [a, q, p, b] = counts(extent).map(|n| alloc::filled(WHAT, n, 0.0f64));
        Ok(Self { of: [a?, q?, p?, b?] })
    }

    /// From the largest magnitudes of all rows (bra, slot, pair) and of all columns (ket).
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

    /// Whether all entries are finite.
    pub(super) fn are_finite(&self) -> bool {
        self.of[KET].iter().all(|size| size.is_finite())
    }

    /// Bound of the exponent difference between the largest entry and the smallest: the sum of the differences of all
    /// indices.
    pub(super) fn apart(&self) -> i64 {
        self.of.iter().map(|sizes| spread(sizes)).sum()
    }

    /// Whether all entries are 0 at some value of an index.
    pub(super) fn has_unused(&self) -> bool {
        self.of.iter().flatten().any(|size| *size == 0.0)
    }

    /// Whether an entry is not 0 at value `at` of an index.
    pub(super) fn is_used(&self, layer: usize, at: usize) -> bool {
        self.of[layer][at] != 0.0
    }
}

fn raise(to: &mut f64, size: f64) {
    // `max` would lose a NaN.
    if size > *to || size.is_nan() {
        *to = size;
    }
}

/// The largest |re| or |im| of each row and of each column of a column-major matrix; NaN if an entry is NaN.
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

/// A gauge: for each value of each index, the exponent of the power of two by which the entries there must be
/// multiplied.
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

    /// The exponents of an index.
    pub(super) fn layer(&self, layer: usize) -> &[i64] {
        &self.of[layer]
    }

    pub(super) fn layer_mut(&mut self, layer: usize) -> &mut Vec<i64> {
        &mut self.of[layer]
    }

    /// The exponent of an element: the sum over its four indices.
    pub(super) fn element(&self, extent: Extent, at: usize) -> i64 {
        let index = indices(extent, at);
        (0..4).map(|layer| self.of[layer][index[layer]]).sum()
    }

    /// Sum over the indices of the exponent differences between those values at which some entry is not 0.
    pub(super) fn apart(&self, sizes: &Sizes) -> i64 {
        let of = |layer: usize| {
            let used =
                || self.of[layer].iter().enumerate().filter(|(at, _)| sizes.is_used(layer, *at)).map(|(_, p)| *p);
            used().max().unwrap_or(0) - used().min().unwrap_or(0)
        };
        (0..4).map(of).sum()
    }

    /// Moves powers of two from the entries to the gauge until the largest entry at each value of each index is in
    /// [0.5, 1). Returns the new sizes.
    pub(super) fn balance<T: Scalar>(&mut self, extent: Extent, values: &mut [T]) -> Result<Sizes> {
        for layer in [KET, BRA, SLOT, PAIR] {
            let sizes = Sizes::of_values(extent, values)?;
            let powers = &mut self.of[layer];
            let mut least = None;
            for (power, size) in powers.iter_mut().zip(&sizes.of[layer]).filter(|(_, size)| **size != 0.0) {
                *power += exponent_of(*size);
                least = Some(least.map_or(*power, |least: i64| least.min(*power)));
            }
            // If all entries at a value are 0, its power has no effect. Take the smallest one.
            for (power, _) in powers.iter_mut().zip(&sizes.of[layer]).filter(|(_, size)| **size == 0.0) {
                *power = least.unwrap_or(0);
            }
            for (at, x) in values.iter_mut().enumerate() {
                *x = shifted(*x, -exponent_of(sizes.of[layer][indices(extent, at)[layer]]));
            }
        }
        Sizes::of_values(extent, values)
    }

    /// Subtracts the largest exponent of each index from its exponents. Returns the sum of the largest ones.
    pub(super) fn take_largest(&mut self) -> i64 {
        let mut taken = 0;
        for powers in &mut self.of {
            let most = powers.iter().copied().max().unwrap_or(0);
            powers.iter_mut().for_each(|power| *power -= most);
            taken += most;
        }
        taken
    }

    /// Multiplies the entries by the gauge's powers and divides them by 2^e, so that the largest is in [0.5, 1).
    /// Returns e.
    pub(super) fn unfold<T: Scalar>(&self, extent: Extent, values: &mut [T]) -> i64 {
        let power = |at: usize| self.element(extent, at);
        let most = largest(values.iter().enumerate().map(|(at, x)| (size(*x), power(at))));
        for (at, x) in values.iter_mut().enumerate() {
            *x = shifted(*x, power(at) - most);
        }
        most
    }
}

/// x times 2^e, rounded if the result is subnormal.
pub(super) fn shifted<T: Scalar>(x: T, e: i64) -> T {
    if e == 0 { x } else { T::from_parts(scale(x.re(), e), scale(x.im(), e)) }
}

/// The largest exponent of a magnitude times its power; 0 if all are 0.
fn largest(values: impl Iterator<Item = (f64, i64)>) -> i64 {
    values.filter(|(size, _)| *size > 0.0).map(|(size, power)| exponent_of(size) + power).max().unwrap_or(0)
}

/// Multiplies each value of the near bond of a core r x n x s by its power, and divides each value of the far bond by
/// the power that brings its largest entry to [0.5, 1). Returns the powers of the far bond. Finite entries at near
/// values without `is_used`, which are only multiplied by zeros, become 0.
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

/// [`core()`] for the operator's terms, whose bonds are slots.
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
