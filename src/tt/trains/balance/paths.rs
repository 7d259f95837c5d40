//! Powers of two that give the parts of a train before and behind each value of a bond the same norm.
//!
//! One sweep over all cores from each end finds the norms, so a large factor is found even if many cores pass it on.
//! Half of the exponent difference between the two parts is moved from one side to the other, which makes both equal.
//! If an entry then underflows in an environment, the product of the two parts at its value is below the norm of the
//! train by more than the whole range of the type.

use super::norms::{NONE, Parts};
use super::powers::WHAT;
use crate::alloc;
use crate::error::Result;
use crate::scalar::Scalar;
use crate::tensor::train::Shape;

/// Marks a value of a bond that is not connected to one end: its entries are only multiplied by zeros.
pub(super) const IDLE: i64 = i64::MIN;
/// Largest number of passes through a ring. Two suffice if all values of its bonds are connected with each other.
const ROUNDS: usize = 16;

/// Powers of two for the values of all bonds: the column of value b before a bond is divided by 2^of\[bond\]\[b\], the
/// row behind it is multiplied by it.
pub(super) struct Powers {
    pub of: Vec<Vec<i64>>,
    /// Approximate exponent of the cores' largest numbers after balancing.
    pub share: i64,
}

impl Powers {
    /// Powers of 0, which change nothing.
    pub(super) fn idle(shape: &Shape) -> Result<Self> {
        let mut of = alloc::with_capacity(WHAT, shape.len() + 1)?;
        for rank in shape.ranks() {
            of.push(alloc::filled(WHAT, *rank, 0i64)?);
        }
        Ok(Self { of, share: 0 })
    }

    /// Changes the powers as little as necessary so that no entry exceeds 2^`most`. An entry may be far larger than the
    /// norm of its part if the next core cancels it. A solution exists: with all powers 0 the entries are those of the
    /// train, which are in the range. `sizes` has for each core and each pair of values of its bonds the exponent of
    /// the largest entry, [`IDLE`] if no entry contributes.
    pub(super) fn fit(&mut self, shape: &Shape, sizes: &[Vec<i64>], most: i64) {
        let d = shape.len();
        let each = |k: usize| {
            let r = shape.ranks()[k];
            sizes[k].iter().enumerate().filter(|(_, e)| **e != IDLE).map(move |(at, e)| (at % r, at / r, most - e))
        };
        let is_used = |a: i64, b: i64| a != IDLE && b != IDLE;
        // Entry (a, b) of a core is multiplied by 2^(before - behind), the powers of its bonds.
        let lower = |of: &mut [Vec<i64>], k: usize| {
            let mut is_same = true;
            for (a, b, headroom) in each(k) {
                let behind = of[k + 1][b];
                let before = &mut of[k][a];
                if is_used(*before, behind) && *before > behind + headroom {
                    *before = behind + headroom;
                    is_same = false;
                }
            }
            is_same
        };
        if shape.is_cyclic() {
            for _ in 0..ROUNDS {
                let changes = (0..d).rev().filter(|&k| !lower(&mut self.of, k)).count();
                let first = std::mem::take(&mut self.of[0]);
                self.of[d].copy_from_slice(&first);
                self.of[0] = first;
                if changes == 0 {
                    return;
                }
            }
            self.of.iter_mut().flatten().filter(|power| **power != IDLE).for_each(|power| *power = 0);
            return;
        }
        // The sweep from the left raises powers until all cores but the last fit. The sweep from the right lowers
        // powers until the others fit, too.
        for k in 0..d - 1 {
            for (a, b, headroom) in each(k) {
                let before = self.of[k][a];
                let behind = &mut self.of[k + 1][b];
                if is_used(before, *behind) {
                    *behind = (before - headroom).max(*behind);
                }
            }
        }
        (1..d).rev().for_each(|k| {
            lower(&mut self.of, k);
        });
    }
}

fn largest(values: &[f64]) -> f64 {
    values.iter().copied().fold(NONE, f64::max)
}

/// For each value of a bond, half of the difference of the logarithms before and behind it; [`NONE`] if the value is
/// not connected to one end.
fn halves(before: &[f64], behind: &[f64], to: &mut [f64]) {
    for ((l, r), to) in before.iter().zip(behind).zip(to) {
        *to = if l.is_finite() && r.is_finite() { (l - r) / 2.0 } else { NONE };
    }
}

/// Difference between the largest and the smallest finite number.
fn spread(values: impl Iterator<Item = f64>) -> f64 {
    let (low, high) =
        values.filter(|v| v.is_finite()).fold((f64::INFINITY, NONE), |(low, high), v| (low.min(v), high.max(v)));
    if low <= high { high - low } else { 0.0 }
}

/// For the boundary bond of a ring: [`halves`], and the logarithms of the norms of the parts that end and that begin at
/// it.
fn closing<T: Scalar>(parts: &Parts<'_, T>) -> Result<[Vec<f64>; 3]> {
    let p = parts.shape.ranks()[0];
    let vector = || alloc::filled(WHAT, p, 0.0f64);
    let (mut l, mut r, mut half, mut last) = (vector()?, vector()?, vector()?, vector()?);
    for round in 0..ROUNDS {
        for (side, mirrored) in [(&mut l, false), (&mut r, true)] {
            let from = alloc::copied(WHAT, side)?;
            let end = if mirrored { 0 } else { parts.shape.len() };
            parts.sweep(&from, mirrored, |bond, sizes| {
                if bond == end {
                    side.copy_from_slice(sizes);
                }
            })?;
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

/// Logarithms of the norms of the parts before and behind each value of each bond.
pub(super) struct Paths {
    before: Vec<Vec<f64>>,
    behind: Vec<Vec<f64>>,
    /// [`halves`] of the boundary bond of a ring; 0 for an open train.
    ends: Vec<f64>,
    /// Logarithms of the norms of the parts that end and that begin at the boundary bond of a ring.
    around: Option<[Vec<f64>; 2]>,
    /// Logarithm of the largest product of both norms over the values of the last bond.
    whole: f64,
}

impl Paths {
    /// Sweeps over the cores from both ends, for a ring after [`closing`].
    pub(super) fn new<T: Scalar>(parts: &Parts<'_, T>) -> Result<Self> {
        let (shape, d) = (parts.shape, parts.shape.len());
        let (ends, around) = if shape.is_cyclic() {
            let [half, l, r] = closing(parts)?;
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
        let ends_behind = alloc::copied(WHAT, &behind[d])?;
        parts.sweep(&ends, false, |bond, sizes| before[bond].copy_from_slice(sizes))?;
        parts.sweep(&ends_behind, true, |bond, sizes| behind[bond].copy_from_slice(sizes))?;
        let whole = before[d].iter().zip(&behind[d]).fold(NONE, |most, (l, r)| most.max(l + r));
        Ok(Self { before, behind, ends, around, whole })
    }

    /// Logarithms of the norms before and behind the values of a bond.
    fn sides(&self, bond: usize) -> (&[f64], &[f64]) {
        match &self.around {
            Some([l, r]) if bond == 0 || bond + 1 == self.before.len() => (l, r),
            _ => (&self.before[bond], &self.behind[bond]),
        }
    }

    /// Whether the powers that balance this bond differ by more than `limit`.
    fn is_far(&self, bond: usize, limit: i64) -> bool {
        let (l, r) = self.sides(bond);
        spread(l.iter().zip(r).map(|(l, r)| (l - r) / 2.0)) > limit as f64
    }

    /// Powers of two that balance all bonds; `None` if no bond exceeds `limit`, and for a train of zeros.
    pub(super) fn powers(&self, limit: i64) -> Result<Option<Powers>> {
        let d = self.before.len() - 1;
        if !self.whole.is_finite() || !(0..d).any(|bond| self.is_far(bond, limit)) {
            return Ok(None);
        }
        let whole = self.whole;
        let share = whole / d as f64;
        let mut of = alloc::with_capacity(WHAT, d + 1)?;
        for bond in 0..=d {
            let ends = bond == 0 || bond == d;
            let (l, r) = (&self.before[bond], &self.behind[bond]);
            let mut powers = alloc::filled(WHAT, l.len(), IDLE)?;
            // Distribute the exponent of the whole product equally over the cores.
            let moved = if ends { 0.0 } else { whole / 2.0 - bond as f64 * share };
            for (b, power) in powers.iter_mut().enumerate() {
                if l[b].is_finite() && r[b].is_finite() {
                    let half = if ends { self.ends[b] } else { (l[b] - r[b]) / 2.0 };
                    *power = (half + moved).round() as i64;
                }
            }
            of.push(powers);
        }
        Ok(Some(Powers { of, share: share.floor() as i64 }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_fit_into_the_range_of_the_type() {
        let mut seed = 1u64;
        let mut draw = |count: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            i64::try_from((seed >> 33) % count).unwrap()
        };
        let mut changed = 0;
        for ranks in [[2, 3, 2, 2], [1, 3, 2, 1], [4, 4, 4, 4]] {
            let shape = Shape::new("x", &[1; 3], &ranks).unwrap();
            for _ in 0..200 {
                let mut of: Vec<Vec<i64>> = ranks.iter().map(|r| (0..*r).map(|_| draw(90) - 45).collect()).collect();
                of[3] = if ranks[0] == 1 { vec![0] } else { of[0].clone() };
                of[0] = of[3].clone();
                of[1][0] = IDLE;
                let size = |e: i64| if e < 0 { IDLE } else { 1024 - e };
                let sizes: Vec<Vec<i64>> =
                    (0..3).map(|k| (0..ranks[k] * ranks[k + 1]).map(|_| size(draw(40) - 4)).collect()).collect();
                let fits = |of: &[Vec<i64>]| {
                    (0..3).all(|k| {
                        sizes[k].iter().enumerate().all(|(at, size)| {
                            let (a, b) = (of[k][at % ranks[k]], of[k + 1][at / ranks[k]]);
                            a == IDLE || b == IDLE || *size == IDLE || size + a - b <= 1024
                        })
                    })
                };
                let before = of.clone();
                let did = fits(&before);
                let mut powers = Powers { of, share: 0 };
                powers.fit(&shape, &sizes, 1024);
                assert!(fits(&powers.of) && powers.of[0] == powers.of[3], "{sizes:?} {before:?} {:?}", powers.of);
                assert_eq!(powers.of[1][0], IDLE);
                assert!(ranks[0] > 1 || powers.of[0] == [0]);
                assert!(!did || powers.of == before);
                // Count the cases in which the result has powers other than 0.
                changed += usize::from(!did && powers.of[2].iter().any(|power| *power != 0));
            }
        }
        assert!(changed > 400, "{changed}");
    }
}
