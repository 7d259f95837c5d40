//! Environments in which each entry has an exponent of its own.
//!
//! No entry underflows, whatever the cores, the operator and the vectors hold. Steps over such environments are plain
//! loops, which are much slower than matrix products. They are used only if one exponent, or a gauge, does not suffice.

use std::sync::Arc;

use super::gather::Gather;
use super::gauge::{shifted, size};
use super::ops::Extent;
use crate::alloc;
use crate::backend::cpu::parallel::{Items as _, Pieces as _};
use crate::backend::memory::{Budget, Charge};
use crate::error::{Error, Result};
use crate::scalar::{Complex, Scalar};
use crate::shape::product;
use crate::trains::scaled::{Scaled, exponent_of};

const WHAT: &str = "environments of numbers with exponents";

/// The exponent of 0. The sum of two such exponents does not overflow.
const NONE: i64 = i64::MIN / 8;

/// value * 2^power, with |value| in [0.5, 1). A 0 has the power [`NONE`], and a value that is not finite the power 0.
#[derive(Clone, Copy)]
pub(super) struct Number<W> {
    value: W,
    power: i64,
}

impl<W: Scalar> Number<W> {
    pub(super) fn new(value: W, power: i64) -> Self {
        let size = size(value);
        if size == 0.0 {
            return Self { value, power: NONE };
        }
        if !size.is_finite() {
            return Self { value, power: 0 };
        }
        let exponent = exponent_of(size);
        Self { value: shifted(value, -exponent), power: power + exponent }
    }

    /// From the parts of a number of a type that may be real while `W` is complex.
    fn of(re: f64, im: f64) -> Self {
        Self::new(W::from_parts(re, im), 0)
    }

    fn is_zero(self) -> bool {
        self.power == NONE
    }
}

/// A sum of products, in units of the power of two of the largest product so far.
#[derive(Clone, Copy)]
struct Sum<W> {
    value: W,
    power: i64,
}

impl<W: Scalar> Default for Sum<W> {
    fn default() -> Self {
        Self { value: W::default(), power: NONE }
    }
}

impl<W: Scalar> Sum<W> {
    #[inline]
    fn add(&mut self, a: Number<W>, b: Number<W>) {
        let (x, power) = (a.value * b.value, a.power + b.power);
        if power <= NONE / 2 {
            // 0 times infinity or NaN is NaN.
            if size(x).is_nan() {
                self.value += x;
            }
            return;
        }
        if self.power == NONE || power > self.power {
            self.value = if self.power == NONE { self.value } else { shifted(self.value, self.power - power) } + x;
            self.power = power;
        } else {
            self.value += shifted(x, power - self.power);
        }
    }

    fn number(self) -> Number<W> {
        Number::new(self.value, self.power)
    }
}

fn sums<W: Scalar>(count: usize) -> Result<Vec<Sum<W>>> {
    alloc::filled(WHAT, count, Sum::default())
}

fn numbers<W: Scalar>(sums: &[Sum<W>]) -> Result<Vec<Number<W>>> {
    let mut list = alloc::with_capacity(WHAT, sums.len())?;
    list.extend(sums.iter().map(|sum| sum.number()));
    Ok(list)
}

/// Numbers of a core or of a vector, each with its exponent.
pub(super) fn widened<S: Scalar, W: Scalar>(values: &[S]) -> Result<Vec<Number<W>>> {
    let mut list = alloc::with_capacity(WHAT, values.len())?;
    list.extend(values.iter().map(|x| Number::of(x.re(), x.im())));
    Ok(list)
}

/// Writes numbers with one common exponent, so that the largest is in [0.5, 1). Returns the exponent.
pub(super) fn fold<T: Scalar>(numbers: &[Number<T::Wide>], out: &mut [T]) -> i64 {
    let powers = || numbers.iter().filter(|x| !x.is_zero() && size(x.value).is_finite()).map(|x| x.power);
    let most = powers().max().unwrap_or(0);
    for (to, x) in out.iter_mut().zip(numbers) {
        let is_plain = x.is_zero() || !size(x.value).is_finite();
        *to = T::narrow(if is_plain { x.value } else { shifted(x.value, x.power - most) });
    }
    most
}

/// A core, in the order in which a step reads it.
pub(super) struct Core<W> {
    pub numbers: Vec<Number<W>>,
    pub dims: [usize; 3],
    pub mirrored: bool,
}

impl<W: Scalar> Core<W> {
    fn at(&self, near: usize, i: usize, far: usize) -> Number<W> {
        let [r, n, _] = self.dims;
        let (left, right) = if self.mirrored { (far, near) } else { (near, far) };
        self.numbers[left + r * (i + n * right)]
    }

    /// The bond where a step starts, the mode, and the bond where it ends.
    fn along(&self) -> [usize; 3] {
        let [r, n, s] = self.dims;
        if self.mirrored { [s, n, r] } else { [r, n, s] }
    }
}

/// An environment; [`super::ops`] has the order of its entries.
pub(super) struct Wide<W> {
    pub extent: Extent,
    numbers: Vec<Number<W>>,
    _charge: Charge,
}

impl<W: Scalar> Wide<W> {
    fn new(budget: &Arc<Budget>, extent: Extent) -> Result<Self> {
        let count = extent.elements()?;
        let charge = budget.charge_host(WHAT, product("x", count, size_of::<Number<W>>())?)?;
        let numbers = alloc::filled(WHAT, count, Sum::default().number())?;
        Ok(Self { extent, numbers, _charge: charge })
    }

    /// Entry `at` is `values[at]` times 2^`power(at)`.
    pub(super) fn of<T: Scalar>(
        budget: &Arc<Budget>,
        extent: Extent,
        values: &[T],
        power: impl Fn(usize) -> i64,
    ) -> Result<Self> {
        let mut wide = Self::new(budget, extent)?;
        for (at, (to, x)) in wide.numbers.iter_mut().zip(values).enumerate() {
            *to = Number::new(W::from_parts(x.re(), x.im()), power(at));
        }
        Ok(wide)
    }

    /// The environment of the cut for all boundary pairs: 1 if bra and ket have the values of the pair and
    /// `starts[slot]`; otherwise 0.
    pub(super) fn boundary(budget: &Arc<Budget>, extent: Extent, starts: &[bool]) -> Result<Self> {
        let mut wide = Self::new(budget, extent)?;
        let Extent { bra, slots, pairs, .. } = extent;
        for pair in 0..pairs {
            for slot in (0..slots).filter(|slot| starts[*slot]) {
                let at = pair % bra + bra * (slot + slots * (pair + pairs * (pair / bra)));
                wide.numbers[at] = Number::of(1.0, 0.0);
            }
        }
        Ok(wide)
    }

    pub(super) fn numbers(&self) -> &[Number<W>] {
        &self.numbers
    }

    /// Whether all entries are finite.
    pub(super) fn is_finite(&self) -> bool {
        self.numbers.iter().all(|x| size(x.value).is_finite())
    }

    /// T for one value of the ket's next bond: the sums over the ket's near bond, for all bra values, slots and pairs,
    /// and for each of the `count` columns of `core`.
    fn columns(&self, count: usize, core: impl Fn(usize, usize) -> Number<W>) -> Result<Vec<Number<W>>> {
        let rows = self.extent.bra * self.extent.slots * self.extent.pairs;
        let skips_zeros = self.is_finite();
        let mut made = sums(rows * count)?;
        for (j, made) in made.chunks_exact_mut(rows).enumerate() {
            for (b, column) in self.numbers.chunks_exact(rows).enumerate() {
                let x = core(b, j);
                if !(skips_zeros && x.is_zero()) {
                    made.iter_mut().zip(column).for_each(|(sum, l)| sum.add(*l, x));
                }
            }
        }
        numbers(&made)
    }

    /// A step over one site.
    pub(super) fn step(
        &self,
        budget: &Arc<Budget>,
        [bra, ket]: [&Core<W>; 2],
        conjugate: bool,
        gather: &Gather,
    ) -> Result<Self> {
        let ([_, m, bra_after], [_, n, ket_after]) = (bra.along(), ket.along());
        let Extent { bra: height, slots, pairs, .. } = self.extent;
        let after = Extent { bra: bra_after, slots: gather.outputs, pairs, ket: ket_after };
        let mut made = Self::new(budget, after)?;
        let width = bra_after * after.slots * pairs;
        made.numbers.par_chunks_mut(width).enumerate().try_for_each(|(to, out)| {
            let t = self.columns(n, |b, j| ket.at(b, j, to))?;
            let u = gathered(gather, &t, [height, slots, pairs], [1, 1])?;
            for (at, out) in out.iter_mut().enumerate() {
                let (a, rest) = (at % bra_after, at / bra_after);
                let mut sum = Sum::default();
                for i in 0..m {
                    for (near, u) in u[height * (i + m * rest)..][..height].iter().enumerate() {
                        let y = bra.at(near, i, a);
                        let value = if conjugate { y.value.conjugate() } else { y.value };
                        sum.add(Number { value, ..y }, *u);
                    }
                }
                *out = sum.number();
            }
            Ok(())
        })?;
        Ok(made)
    }

    /// The sum over all entries of their products.
    pub(super) fn meet(&self, other: &Self) -> Result<Scaled> {
        if self.extent != other.extent {
            return Err(Error::Internal(format!("environments of {:?} and {:?} meet", self.extent, other.extent)));
        }
        let mut sum = Sum::default();
        self.numbers.iter().zip(&other.numbers).for_each(|(a, b)| sum.add(*a, *b));
        let Number { value, power } = sum.number();
        Ok(Scaled::new(Complex::new(value.re(), value.im()), power))
    }

    /// out\[a, i.., a'\] = sum of L\[a, q, p, b\] h.. v\[b, j.., b'\] R\[a', q', p, b'\] over as many sites as there are gathers.
    pub(super) fn apply(&self, right: &Self, gathers: &[Gather], v: &[Number<W>]) -> Result<Vec<Number<W>>> {
        let Extent { bra: height, slots, pairs, ket: near } = self.extent;
        let inputs: usize = gathers.iter().map(|g| g.cols).product();
        let outputs: usize = gathers.iter().map(|g| g.rows).product();
        let last = right.extent;
        // For each value of the ket's last bond, an array [a, i.., q', p].
        let width = height * outputs * last.slots * pairs;
        let mut between = alloc::filled(WHAT, width * last.ket, Sum::default().number())?;
        between.par_chunks_mut(width.max(1)).enumerate().try_for_each(|(to, out)| {
            let t = self.columns(inputs, |b, j| v[b + near * (j + inputs * to)])?;
            let made = match gathers {
                [] => t,
                [one] => gathered(one, &t, [height, slots, pairs], [1, 1])?,
                [first, second, ..] => {
                    let u = gathered(first, &t, [height, slots, pairs], [1, second.cols])?;
                    gathered(second, &u, [height, first.outputs, pairs], [first.rows, 1])?
                }
            };
            out.copy_from_slice(&made);
            Ok(())
        })?;
        let rows = height * outputs;
        let mut out = alloc::filled(WHAT, rows * last.bra, Sum::default().number())?;
        out.par_chunks_mut(rows.max(1)).enumerate().try_for_each(|(to, out)| {
            let mut made = sums(rows)?;
            for (b, column) in between.chunks_exact(width.max(1)).enumerate() {
                for (rest, column) in column.chunks_exact(rows.max(1)).enumerate() {
                    let r = right.numbers[to + last.bra * (rest + last.slots * pairs * b)];
                    made.iter_mut().zip(column).for_each(|(sum, u)| sum.add(*u, r));
                }
            }
            out.iter_mut().zip(&made).for_each(|(out, sum)| *out = sum.number());
            Ok(())
        })?;
        Ok(out)
    }
}

/// The sums of an operator: from columns \[a, i', q, p, j, j'\] to \[a, i', i, q', p, j'\]. i' has `before` values, of
/// sites before this one; j' has `behind` values, of sites after it.
fn gathered<W: Scalar>(
    gather: &Gather,
    from: &[Number<W>],
    [height, slots, pairs]: [usize; 3],
    [before, behind]: [usize; 2],
) -> Result<Vec<Number<W>>> {
    let run = height * before;
    let mut made = sums(run * gather.rows * gather.outputs * pairs * behind)?;
    for later in 0..behind {
        for pair in 0..pairs {
            for to in 0..gather.rows * gather.outputs {
                let first = run * (to + gather.rows * gather.outputs * (pair + pairs * later));
                for term in gather.of(to) {
                    let h = Number::of(term.value.re, term.value.im);
                    let (slot, column) = (term.slot as usize, term.column as usize);
                    let start = run * (slot + slots * (pair + pairs * (column + gather.cols * later)));
                    let (to, from) = (&mut made[first..first + run], &from[start..start + run]);
                    to.iter_mut().zip(from).for_each(|(sum, x)| sum.add(*x, h));
                }
            }
        }
    }
    numbers(&made)
}
