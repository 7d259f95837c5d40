//! The elementwise pass over a block.

use crate::backend::cpu::Isa;
use crate::backend::cpu::simd::{Kernel, Simd, dispatch};
use crate::rpca::ops::Sums;
use crate::scalar::{Complex, Real, Scalar};

/// A block's arrays, all of one length, and the numbers of the iteration.
pub struct Pass<'a, T> {
    /// The low-rank part L of this block.
    pub low_rank: &'a [T],
    /// The data M of this block, times the caller's scale over the unit of the run.
    pub m: &'a [T],
    /// X of the iteration before; the pass writes the new X, or L.
    pub x: &'a mut [T],
    /// Y of the iteration before; the pass writes the new Y, or S.
    pub y: &'a mut [T],
    /// 0 where an entry is not observed.
    pub mask: Option<&'a [u8]>,
    /// 1 / mu, the inverse penalty.
    pub inverse: f64,
    /// mu, the penalty of this iteration.
    pub mu: f64,
    /// lambda / mu, the threshold that shrinks S.
    pub shrink: f64,
    /// 1 + mu / mu_next.
    pub keep: f64,
    /// Whether X becomes L and Y becomes S.
    pub last: bool,
    /// Whether the dual residual is summed.
    pub measured: bool,
    /// Only entries of S of modulus over the threshold are counted.
    pub threshold: f64,
}

/// Types with a vectorized pass.
pub trait Elementwise: Scalar {
    /// Updates X and Y of one block and returns its sums, in a fixed order.
    fn pass(isa: Isa, pass: Pass<'_, Self>) -> Sums;
    /// The values themselves if the type is double precision; else `None`.
    fn as_wide(values: &[Self]) -> Option<&[Self::Wide]>;
}

/// Number of entries that are summed in the type itself before the sum is added in double precision.
const CHUNK: usize = 4096;
/// Independent sums of a chunk; entry k adds to sum k modulo this.
const LANES: usize = 16;

/// The operations of the pass on one entry.
trait Entry: Scalar {
    /// The entry, reduced to modulus `limit` if it is larger.
    fn clip(self, limit: Self::Part) -> Self;
    fn times(self, factor: Self::Part) -> Self;
    /// Square of the modulus, in the real type.
    fn square(self) -> Self::Part;
    fn modulus(self) -> Self::Part;
}

macro_rules! real {
    ($t:ident, |$values:ident| $wide:expr) => {
        impl Entry for $t {
            #[inline(always)]
            fn clip(self, limit: $t) -> $t {
                // These comparisons keep a NaN.
                if self > limit {
                    limit
                } else if self < -limit {
                    -limit
                } else {
                    self
                }
            }
            #[inline(always)]
            fn times(self, factor: $t) -> $t {
                self * factor
            }
            #[inline(always)]
            fn square(self) -> $t {
                self * self
            }
            #[inline(always)]
            fn modulus(self) -> $t {
                self.abs()
            }
        }

        impl Entry for Complex<$t> {
            #[inline(always)]
            fn clip(self, limit: $t) -> Self {
                let modulus = self.modulus();
                if modulus > limit { self.times(limit / modulus) } else { self }
            }
            #[inline(always)]
            fn times(self, factor: $t) -> Self {
                Self::new(self.re * factor, self.im * factor)
            }
            #[inline(always)]
            fn square(self) -> $t {
                self.re * self.re + self.im * self.im
            }
            #[inline(always)]
            fn modulus(self) -> $t {
                self.square().sqrt()
            }
        }

        impl Elementwise for $t {
            fn pass(isa: Isa, pass: Pass<'_, Self>) -> Sums {
                dispatch::<$t, _>(isa, Chunks(pass))
            }
            fn as_wide($values: &[Self]) -> Option<&[Self::Wide]> {
                $wide
            }
        }

        impl Elementwise for Complex<$t> {
            fn pass(isa: Isa, pass: Pass<'_, Self>) -> Sums {
                dispatch::<$t, _>(isa, Chunks(pass))
            }
            fn as_wide($values: &[Self]) -> Option<&[Self::Wide]> {
                $wide
            }
        }
    };
}
real!(f32, |_values| None);
real!(f64, |values| Some(values));

struct Chunks<'a, T>(Pass<'a, T>);

impl<T: Entry> Kernel<T::Part> for Chunks<'_, T> {
    type Output = Sums;
    #[inline(always)]
    fn run<S: Simd<T::Part>>(self, _: S) -> Sums {
        let Pass { low_rank, m, x, y, mask, inverse, mu, shrink, keep, last, measured, threshold } = self.0;
        let part = |v: f64| <T::Part as Real>::from_f64(v);
        let n = Numbers {
            inverse: part(inverse),
            mu: part(mu),
            shrink: part(shrink),
            keep: part(keep),
            threshold: part(threshold),
        };
        let mut sums = Sums::default();
        let length = x.len();
        for from in (0..length).step_by(CHUNK) {
            let range = from..(from + CHUNK).min(length);
            let (l, m, x, y) =
                (&low_rank[range.clone()], &m[range.clone()], &mut x[range.clone()], &mut y[range.clone()]);
            let chunk = match (mask, last) {
                (Some(mask), _) => masked(l, m, &mask[range], x, y, &n, (last, measured)),
                (None, false) if measured => update_measured(l, m, x, y, &n),
                (None, false) => update(l, m, x, y, &n),
                (None, true) => finish(l, m, x, y, &n),
            };
            sums = sums.and(chunk);
        }
        sums
    }
}

struct Numbers<P> {
    inverse: P,
    mu: P,
    shrink: P,
    keep: P,
    threshold: P,
}

/// Computes T = M - L + Y / mu, c = T - S (the part that shrinking removes), and Z = c - Y / mu = M - L - S.
#[inline(always)]
fn parts<T: Entry>(l: T, m: T, y: T, n: &Numbers<T::Part>) -> (T, T, T) {
    let t = m - l + y.times(n.inverse);
    let c = t.clip(n.shrink);
    (t, c, c - y.times(n.inverse))
}

/// Calls `entry` for each place with its lane, L, M, X and Y. Whole groups of lanes become vectors; with an index modulo the
/// number of lanes they do not.
#[inline(always)]
fn in_lanes<T: Entry>(l: &[T], m: &[T], x: &mut [T], y: &mut [T], mut entry: impl FnMut(usize, T, T, &mut T, &mut T)) {
    let whole = x.len() / LANES * LANES;
    let (l, m, y) = (&l[..x.len()], &m[..x.len()], &mut y[..x.len()]);
    let mut at = 0;
    while at < whole {
        let (l, m) = (&l[at..at + LANES], &m[at..at + LANES]);
        let (x, y) = (&mut x[at..at + LANES], &mut y[at..at + LANES]);
        let mut i = 0;
        while i < LANES {
            entry(i, l[i], m[i], &mut x[i], &mut y[i]);
            i += 1;
        }
        at += LANES;
    }
    while at < x.len() {
        entry(at % LANES, l[at], m[at], &mut x[at], &mut y[at]);
        at += 1;
    }
}

/// Y := mu c, X := M - S + Y / mu_next = M - T + (1 + mu / mu_next) c.
#[inline(always)]
fn update<T: Entry>(l: &[T], m: &[T], x: &mut [T], y: &mut [T], n: &Numbers<T::Part>) -> Sums {
    let mut squares = [T::Part::ZERO; LANES];
    in_lanes(l, m, x, y, |lane, l, m, x, y| {
        let (t, c, z) = parts(l, m, *y, n);
        squares[lane] += z.square();
        *y = c.times(n.mu);
        *x = m - t + c.times(n.keep);
    });
    Sums { residual2: total(&squares), ..Sums::default() }
}

/// [`update`] with the change of S: S' = M + Y / mu - X, so that S - S' = X - L - c.
#[inline(always)]
fn update_measured<T: Entry>(l: &[T], m: &[T], x: &mut [T], y: &mut [T], n: &Numbers<T::Part>) -> Sums {
    let (mut squares, mut moduli) = ([T::Part::ZERO; LANES], [T::Part::ZERO; LANES]);
    let (mut changes, mut multipliers) = ([T::Part::ZERO; LANES], [T::Part::ZERO; LANES]);
    in_lanes(l, m, x, y, |lane, l, m, x, y| {
        let (t, c, z) = parts(l, m, *y, n);
        squares[lane] += z.square();
        changes[lane] += (*x - l - c).square();
        multipliers[lane] += c.square();
        moduli[lane] += (t - c).modulus();
        *y = c.times(n.mu);
        *x = m - t + c.times(n.keep);
    });
    Sums {
        residual2: total(&squares),
        one_norm: total(&moduli),
        dual2: total(&changes),
        multiplier2: total(&multipliers),
        nonzeros: 0,
    }
}

/// X := L, Y := S.
#[inline(always)]
fn finish<T: Entry>(l: &[T], m: &[T], x: &mut [T], y: &mut [T], n: &Numbers<T::Part>) -> Sums {
    let (mut squares, mut moduli, mut nonzeros) = ([T::Part::ZERO; LANES], [T::Part::ZERO; LANES], 0);
    for at in 0..x.len() {
        let (t, c, z) = parts(l[at], m[at], y[at], n);
        let s = t - c;
        squares[at % LANES] += z.square();
        moduli[at % LANES] += s.modulus();
        nonzeros += u64::from(s.modulus() > n.threshold);
        (x[at], y[at]) = (l[at], s);
    }
    Sums { residual2: total(&squares), one_norm: total(&moduli), nonzeros, ..Sums::default() }
}

/// The update with a mask: for entries that are not observed X := L and Y := 0.
#[inline(always)]
fn masked<T: Entry>(
    l: &[T],
    m: &[T],
    mask: &[u8],
    x: &mut [T],
    y: &mut [T],
    n: &Numbers<T::Part>,
    (last, measured): (bool, bool),
) -> Sums {
    let (mut changes, mut multipliers) = ([T::Part::ZERO; LANES], [T::Part::ZERO; LANES]);
    let (mut squares, mut moduli, mut nonzeros) = ([T::Part::ZERO; LANES], [T::Part::ZERO; LANES], 0);
    for at in 0..x.len() {
        if mask[at] == 0 {
            changes[at % LANES] += (x[at] - l[at]).square();
            (x[at], y[at]) = (l[at], T::from_parts(0.0, 0.0));
            continue;
        }
        let (t, c, z) = parts(l[at], m[at], y[at], n);
        squares[at % LANES] += z.square();
        if last {
            let s = t - c;
            moduli[at % LANES] += s.modulus();
            nonzeros += u64::from(s.modulus() > n.threshold);
            (x[at], y[at]) = (l[at], s);
        } else {
            if measured {
                changes[at % LANES] += (x[at] - l[at] - c).square();
                multipliers[at % LANES] += c.square();
                moduli[at % LANES] += (t - c).modulus();
            }
            y[at] = c.times(n.mu);
            x[at] = m[at] - t + c.times(n.keep);
        }
    }
    let (dual2, multiplier2) = (total(&changes), total(&multipliers));
    Sums { residual2: total(&squares), one_norm: total(&moduli), nonzeros, dual2, multiplier2 }
}

#[inline(always)]
fn total<P: Real>(lanes: &[P]) -> f64 {
    lanes.iter().map(|v| v.to_f64()).sum()
}
