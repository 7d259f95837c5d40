//! How large the numbers of a train become on the way to each value of a bond, and behind it.
//!
//! A path takes one value of every bond; its size is the product of the largest numbers of the cores at its values. The largest path to a
//! value of a bond and the largest one behind it follow from one sweep each over all cores, so that powers of two arrive
//! however many cores hand them on. Half of what the two differ by, moved from one side to the other, makes both alike: no number of a
//! core then exceeds the share that a core has of the largest path, and what becomes too small for its type lies on paths that are
//! smaller than the largest by the whole range of the type.

use super::powers::{Bounds, WHAT};
use crate::alloc;
use crate::error::Result;
use crate::scalar::Scalar;
use crate::tensor::train::{Cores, Shape};

/// Marks a value of a bond through which no path leads: its numbers meet zeros alone.
pub(super) const IDLE: i64 = i64::MIN;
/// No path.
const NONE: f64 = f64::NEG_INFINITY;
/// Times round a ring at most; where all values are connected with each other, two suffice.
const ROUNDS: usize = 16;

/// Powers of two for the values of all bonds: columns before a bond are divided by them, rows behind it multiplied.
pub(super) struct Powers {
    pub of: Vec<Vec<i64>>,
    /// Exponent of the largest numbers that cores then have, about.
    pub share: i64,
}

/// Logarithms to base 2 of the largest moduli over the middle index of each core, first bond fastest; `None` where a number is not finite.
fn sizes<T: Scalar>(cores: &Cores<'_, T>, shape: &Shape) -> Result<Option<Vec<Vec<f64>>>> {
    let mut all = alloc::with_capacity(WHAT, shape.len())?;
    for k in 0..shape.len() {
        let [r, n, s] = shape.core(k);
        let mut sizes = alloc::filled(WHAT, r * s, 0.0f64)?;
        let mut is_finite = true;
        for (at, x) in cores.core(k).iter().enumerate() {
            let (re, im) = (x.re().abs(), x.im().abs());
            is_finite &= re.is_finite() && im.is_finite();
            let size = &mut sizes[at % r + r * (at / (r * n))];
            *size = size.max(re).max(im);
        }
        if !is_finite {
            return Ok(None);
        }
        sizes.iter_mut().for_each(|size| *size = size.log2());
        all.push(sizes);
    }
    Ok(Some(all))
}

/// Largest paths to the values behind a core from those before it.
fn forward(sizes: &[f64], from: &[f64], to: &mut [f64]) {
    for (column, to) in sizes.chunks_exact(from.len().max(1)).zip(to) {
        *to = column.iter().zip(from).fold(NONE, |most, (s, a)| most.max(s + a));
    }
}

/// The other way.
fn backward(sizes: &[f64], from: &[f64], to: &mut [f64]) {
    to.fill(NONE);
    for (column, b) in sizes.chunks_exact(to.len().max(1)).zip(from) {
        to.iter_mut().zip(column).for_each(|(to, s)| *to = to.max(s + b));
    }
}

fn largest(values: &[f64]) -> f64 {
    values.iter().copied().fold(NONE, f64::max)
}

/// Half of what two sides of a bond differ by, and nothing for a value that one of them does not reach.
fn halves(before: &[f64], behind: &[f64], to: &mut [f64]) {
    for ((l, r), to) in before.iter().zip(behind).zip(to) {
        *to = if l.is_finite() && r.is_finite() { (l - r) / 2.0 } else { NONE };
    }
}

/// How far numbers lie apart.
fn spread(values: impl Iterator<Item = f64>) -> f64 {
    let (low, high) =
        values.filter(|v| v.is_finite()).fold((f64::INFINITY, NONE), |(low, high), v| (low.min(v), high.max(v)));
    if low <= high { high - low } else { 0.0 }
}

/// [`halves`] of the bond that closes a ring, and what leads to it and away from it.
fn closing(sizes: &[Vec<f64>], shape: &Shape) -> Result<[Vec<f64>; 3]> {
    let p = shape.ranks()[0];
    let room = |n: usize| alloc::filled(WHAT, n, 0.0f64);
    let (mut now, mut next) = (room(shape.max_rank())?, room(shape.max_rank())?);
    let (mut l, mut r, mut half, mut last) = (room(p)?, room(p)?, room(p)?, room(p)?);
    let rounds = if p == 1 { 1 } else { ROUNDS };
    for round in 0..rounds {
        now[..p].copy_from_slice(&l);
        for (k, sizes) in sizes.iter().enumerate() {
            let [a, _, b] = shape.core(k);
            forward(sizes, &now[..a], &mut next[..b]);
            std::mem::swap(&mut now, &mut next);
        }
        l.copy_from_slice(&now[..p]);
        now[..p].copy_from_slice(&r);
        for (k, sizes) in sizes.iter().enumerate().rev() {
            let [a, _, b] = shape.core(k);
            backward(sizes, &now[..b], &mut next[..a]);
            std::mem::swap(&mut now, &mut next);
        }
        r.copy_from_slice(&now[..p]);
        for side in [&mut l, &mut r] {
            let most = largest(side);
            if most.is_finite() {
                side.iter_mut().for_each(|v| *v -= most);
            }
        }
        last.copy_from_slice(&half);
        halves(&l, &r, &mut half);
        if round > 0 && spread(half.iter().zip(&last).map(|(a, b)| a - b)) < 0.5 {
            break;
        }
    }
    Ok([half, l, r])
}

/// Largest paths to all values of all bonds, and behind them.
pub(super) struct Paths {
    pub before: Vec<Vec<f64>>,
    pub behind: Vec<Vec<f64>>,
    /// Half of what the sides of the bond that closes a ring differ by; 0 for an open train.
    ends: Vec<f64>,
    /// Paths to the bond that closes a ring, and from it.
    around: Option<[Vec<f64>; 2]>,
    /// The size of the largest path.
    whole: f64,
}

impl Paths {
    /// Of these cores; `None` where a number is not finite.
    pub(super) fn new<T: Scalar>(cores: &Cores<'_, T>, shape: &Shape) -> Result<Option<Self>> {
        let Some(sizes) = sizes(cores, shape)? else { return Ok(None) };
        let d = shape.len();
        let (ends, around) = if shape.is_cyclic() {
            let [half, l, r] = closing(&sizes, shape)?;
            (half, Some([l, r]))
        } else {
            (alloc::filled(WHAT, 1, 0.0f64)?, None)
        };
        let mut before = alloc::with_capacity(WHAT, d + 1)?;
        let mut behind = alloc::with_capacity(WHAT, d + 1)?;
        for rank in shape.ranks() {
            before.push(alloc::filled(WHAT, *rank, 0.0f64)?);
            behind.push(alloc::filled(WHAT, *rank, 0.0f64)?);
        }
        before[0].copy_from_slice(&ends);
        behind[d].iter_mut().zip(&ends).for_each(|(to, end)| *to = if end.is_finite() { -end } else { NONE });
        for (k, sizes) in sizes.iter().enumerate() {
            let (from, to) = before.split_at_mut(k + 1);
            forward(sizes, &from[k], &mut to[0]);
        }
        for (k, sizes) in sizes.iter().enumerate().rev() {
            let (to, from) = behind.split_at_mut(k + 1);
            backward(sizes, &from[0], &mut to[k]);
        }
        let whole = before[d].iter().zip(&behind[d]).fold(NONE, |most, (l, r)| most.max(l + r));
        Ok(Some(Self { before, behind, ends, around, whole }))
    }

    /// Both sides of a bond.
    fn sides(&self, bond: usize) -> (&[f64], &[f64]) {
        match &self.around {
            Some([l, r]) if bond == 0 || bond + 1 == self.before.len() => (l, r),
            _ => (&self.before[bond], &self.behind[bond]),
        }
    }

    /// Whether a bond is to be balanced.
    fn is_far(&self, bond: usize, Bounds { limit, drop }: Bounds) -> bool {
        let (l, r) = self.sides(bond);
        let limit = limit as f64;
        if spread(l.iter().zip(r).map(|(l, r)| (l - r) / 2.0)) > limit {
            return true;
        }
        // Large numbers that meet zeros alone, beside small ones that count.
        let hides = |l: &[f64], r: &[f64]| {
            let least =
                l.iter().zip(r).filter(|(l, r)| l.is_finite() && r.is_finite()).map(|(l, _)| *l).fold(-NONE, f64::min);
            let idle = l.iter().zip(r).filter(|(_, r)| !r.is_finite()).map(|(l, _)| *l).fold(NONE, f64::max);
            least.is_finite() && idle - least > limit
        };
        drop && (hides(l, r) || hides(r, l))
    }

    /// Powers of two that balance all bonds; `None` where none is far from it.
    pub(super) fn powers(&self, bounds: Bounds) -> Result<Option<Powers>> {
        let d = self.before.len() - 1;
        let is_zero = !self.whole.is_finite();
        if is_zero && !bounds.drop || !is_zero && !(0..d).any(|bond| self.is_far(bond, bounds)) {
            return Ok(None);
        }
        let whole = if is_zero { 0.0 } else { self.whole };
        let share = whole / d as f64;
        let mut of = alloc::with_capacity(WHAT, d + 1)?;
        for bond in 0..=d {
            let ends = bond == 0 || bond == d;
            let (l, r) = (&self.before[bond], &self.behind[bond]);
            let mut powers = alloc::filled(WHAT, l.len(), IDLE)?;
            // Cores have equal shares of the largest path.
            let moved = if ends { 0.0 } else { whole / 2.0 - bond as f64 * share };
            for (b, power) in powers.iter_mut().enumerate() {
                if l[b].is_finite() && r[b].is_finite() && !is_zero {
                    let half = if ends { self.ends[b] } else { (l[b] - r[b]) / 2.0 };
                    *power = (half + moved).round() as i64;
                }
            }
            of.push(powers);
        }
        Ok(Some(Powers { of, share: share.floor() as i64 }))
    }
}
