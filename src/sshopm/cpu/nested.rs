//! Ternary forms: A x^(m-1) and A x^(m-2) of symmetric tensors of dimension 3 and a fixed order, in lanes.
//!
//! Entries with k indices 1 make row k of the packed tensor, ordered by the number j of indices 3: a(k, j). For a point
//! (x, y, z) let F(k, d, s) be row k with d of its free indices contracted with (y, z) and s more indices 3:
//!
//! F(k, d, s) = sum over r of C(d, r) y^(d-r) z^r a(k, s + r) = y F(k, d-1, s) + z F(k, d-1, s+1).
//!
//! With p counting the contractions with x, sums over all p >= 0:
//!
//! - (A x^(m-1))_1 = sum C(m-1, p) x^p F(p+1, m-1-p, 0),  _2 and _3 = sum C(m-1, p) x^p F(p, m-1-p, 0 and 1);
//! - (A x^(m-2))_11 = sum C(m-2, p) x^p F(p+2, m-2-p, 0),  _12, _13 from F(p+1, m-2-p, 0 and 1),  _22, _23, _33 from
//!   F(p, m-2-p, 0, 1 and 2).
//!
//! Each row is summed once at its lowest degree; all rows and entries share the monomials of that degree. The other forms of
//! the row follow by the recurrence. For m = 4 the gradient takes 47 multiply-adds.

use crate::backend::cpu::simd::{Lanes, Simd};
use crate::scalar::Real;

/// Number of packed entries of order m.
pub const fn entries(m: usize) -> usize {
    (m + 1) * (m + 2) / 2
}

const fn binomial(n: usize, k: usize) -> usize {
    let (mut c, mut i) = (1, 1);
    while i <= k {
        c = c * (n + 1 - i) / i;
        i += 1;
    }
    c
}

/// Index of entry j of row k in the packed entries of order m.
const fn place(m: usize, k: usize, j: usize) -> usize {
    (m - k) * (m - k + 1) / 2 + j
}

/// Packed entries of a tensor as vectors: one tensor in all lanes, or one a lane.
pub trait Entries<V>: Copy {
    /// Entry `i` in every lane.
    fn at(&self, i: usize) -> V;
}

/// The entries of one tensor, the same in every lane.
#[derive(Debug, Clone, Copy)]
pub struct Broadcast<'a, S, T> {
    simd: S,
    entries: &'a [T],
}

impl<'a, S, T> Broadcast<'a, S, T> {
    /// Uses the tensor with these entries in all lanes.
    #[inline(always)]
    pub fn new(simd: S, entries: &'a [T]) -> Self {
        Self { simd, entries }
    }
}

impl<T: Real, S: Simd<T>> Entries<S::V> for Broadcast<'_, S, T> {
    #[inline(always)]
    fn at(&self, i: usize) -> S::V {
        self.simd.splat(self.entries[i])
    }
}

/// A separate tensor for every lane; entry i of lane l at `entries[i * LEN + l]`.
#[derive(Debug, Clone, Copy)]
pub struct PerLane<'a, S, T> {
    simd: S,
    entries: &'a [T],
}

impl<'a, S, T> PerLane<'a, S, T> {
    /// Uses the tensors whose entries are interleaved in `entries`.
    #[inline(always)]
    pub fn new(simd: S, entries: &'a [T]) -> Self {
        Self { simd, entries }
    }
}

impl<T: Real, S: Simd<T>> Entries<S::V> for PerLane<'_, S, T> {
    #[inline(always)]
    fn at(&self, i: usize) -> S::V {
        self.simd.load(&self.entries[i * S::V::LEN..(i + 1) * S::V::LEN])
    }
}

/// Kernels of one order. The loops are unrolled, so that every index is a constant and everything stays in registers.
pub trait Form {
    /// Order m of the tensor.
    const ORDER: usize;
    /// A x^(m-1).
    fn gradient<T: Real, S: Simd<T>>(simd: S, a: impl Entries<S::V>, x: [S::V; 3]) -> [S::V; 3];
    /// A x^(m-2) as 11, 12, 13, 22, 23, 33.
    fn matrix<T: Real, S: Simd<T>>(simd: S, a: impl Entries<S::V>, x: [S::V; 3]) -> [S::V; 6];
}

/// Monomials C(d, r) y^(d-r) z^r from those of degree d - 1 without the coefficients: appends `[$d][$r]`.
macro_rules! monomials {
    ($simd:ident, $t:ident, $y:ident, $z:ident, $plain:ident, $weighted:ident, $([$d:literal $($r:literal)*])*) => {$(
        $(
            $plain[$d][$r] = if $r == 0 { $plain[$d - 1][0].mul($y) } else { $plain[$d - 1][$r - 1].mul($z) };
            $weighted[$d][$r] = if $r == 0 || $r == $d {
                $plain[$d][$r]
            } else {
                $plain[$d][$r].mul($simd.splat($t::from_f64(const { binomial($d, $r) as f64 })))
            };
        )*
    )*};
}

/// F(k, d, s), the sum over r of the listed terms; r = 0 is the first.
macro_rules! form {
    ($m:literal, $k:literal, $d:expr, $s:expr, $a:ident, $mono:ident, 0) => {
        $a.at(const { place($m, $k, $s) })
    };
    ($m:literal, $k:literal, $d:expr, $s:expr, $a:ident, $mono:ident, 0 $($r:literal)+) => {{
        let sum = $mono[$d][0].mul($a.at(const { place($m, $k, $s) }));
        $(let sum = $mono[$d][$r].mul_add($a.at(const { place($m, $k, $s + $r) }), sum);)+
        sum
    }};
}

/// `$weights[p] * value + sum`; the term p = 0 starts the sum.
macro_rules! accumulate {
    ($p:expr, $weights:ident, $value:expr, $sum:expr) => {
        $sum = if $p == 0 { $value } else { $weights[$p].mul_add($value, $sum) }
    };
}

/// The kernels of order `$m`: `degrees` lists the monomials (from degree 2 on), `powers` the exponents of x from 2 on,
/// `gradient` and `matrix` the rows k with their terms r = 0..d.
macro_rules! order {
    ($name:ident = $m:literal, degrees $([$($deg:literal)*])*, powers [$($p:literal)*],
     gradient $([$gk:literal: $($gr:tt)*])*, matrix $([$mk:literal: $($mr:tt)*])*) => {
        /// Order
        #[doc = stringify!($m)]
        pub struct $name;

        impl Form for $name {
            const ORDER: usize = $m;

            #[inline(always)]
            #[allow(unused_mut, reason = "order 2 has no monomials")]
            fn gradient<T: Real, S: Simd<T>>(simd: S, a: impl Entries<S::V>, x: [S::V; 3]) -> [S::V; 3] {
                let [x, y, z] = x;
                let one = simd.splat(T::ONE);
                let mut plain = [[one; $m]; $m];
                plain[1] = [one; $m];
                plain[1][0] = y;
                plain[1][1] = z;
                let mut mono = plain;
                monomials!(simd, T, y, z, plain, mono, $([$($deg)*])*);
                // C(m-1, p) x^p.
                let mut power = [one; $m];
                power[1] = x;
                let mut weight = power;
                weight[1] = if $m == 2 { x } else { x.mul(simd.splat(T::from_f64(($m - 1) as f64))) };
                $(
                    power[$p] = power[$p - 1].mul(x);
                    weight[$p] = if $p == $m - 1 {
                        power[$p]
                    } else {
                        power[$p].mul(simd.splat(T::from_f64(const { binomial($m - 1, $p) as f64 })))
                    };
                )*
                let mut g = [one; 3];
                $(
                    let second = form!($m, $gk, $m - 1 - $gk, 0, a, mono, $($gr)*);
                    let third = form!($m, $gk, $m - 1 - $gk, 1, a, mono, $($gr)*);
                    accumulate!($gk, weight, second, g[1]);
                    accumulate!($gk, weight, third, g[2]);
                    if $gk >= 1 {
                        const P: usize = ($gk as usize).saturating_sub(1);
                        accumulate!(P, weight, y.mul_add(second, z.mul(third)), g[0]);
                    }
                )*
                g[0] = weight[$m - 1].mul_add(a.at(0), g[0]);
                g
            }

            #[inline(always)]
            #[allow(unused_variables, unused_assignments, unused_mut, reason = "order 2 has no monomials")]
            fn matrix<T: Real, S: Simd<T>>(simd: S, a: impl Entries<S::V>, x: [S::V; 3]) -> [S::V; 6] {
                let [x, y, z] = x;
                let one = simd.splat(T::ONE);
                let mut plain = [[one; $m]; $m];
                plain[1][0] = y;
                plain[1][1] = z;
                let mut mono = plain;
                // The highest degree belongs to the gradient and is unused here; the compiler removes it.
                monomials!(simd, T, y, z, plain, mono, $([$($deg)*])*);
                // C(m-2, p) x^p.
                let mut power = [one; $m];
                power[1] = x;
                let mut weight = power;
                weight[1] = if $m == 3 { x } else { x.mul(simd.splat(T::from_f64(($m - 2) as f64))) };
                $(
                    power[$p] = power[$p - 1].mul(x);
                    weight[$p] = if $p == $m - 2 {
                        power[$p]
                    } else {
                        power[$p].mul(simd.splat(T::from_f64(const { binomial($m - 2, $p) as f64 })))
                    };
                )*
                let mut b = [one; 6];
                $(
                    let e22 = form!($m, $mk, $m - 2 - $mk, 0, a, mono, $($mr)*);
                    let e23 = form!($m, $mk, $m - 2 - $mk, 1, a, mono, $($mr)*);
                    let e33 = form!($m, $mk, $m - 2 - $mk, 2, a, mono, $($mr)*);
                    accumulate!($mk, weight, e22, b[3]);
                    accumulate!($mk, weight, e23, b[4]);
                    accumulate!($mk, weight, e33, b[5]);
                    if $mk >= 1 {
                        const P: usize = ($mk as usize).saturating_sub(1);
                        let e2 = y.mul_add(e22, z.mul(e23));
                        let e3 = y.mul_add(e23, z.mul(e33));
                        accumulate!(P, weight, e2, b[1]);
                        accumulate!(P, weight, e3, b[2]);
                        if $mk >= 2 {
                            const Q: usize = ($mk as usize).saturating_sub(2);
                            accumulate!(Q, weight, y.mul_add(e2, z.mul(e3)), b[0]);
                        }
                    }
                )*
                // Row m - 1 has one free index besides the pair, row m none.
                let (e2, e3) = (a.at(1), a.at(2));
                accumulate!($m - 2, weight, e2, b[1]);
                accumulate!($m - 2, weight, e3, b[2]);
                if $m >= 3 {
                    const P: usize = ($m as usize).saturating_sub(3);
                    accumulate!(P, weight, y.mul_add(e2, z.mul(e3)), b[0]);
                }
                accumulate!($m - 2, weight, a.at(0), b[0]);
                b
            }
        }
    };
}

order!(Order2 = 2, degrees, powers [], gradient [0: 0 1] [1: 0], matrix [0: 0]);
order!(Order3 = 3, degrees [2 0 1 2], powers [2], gradient [0: 0 1 2] [1: 0 1] [2: 0], matrix [0: 0 1] [1: 0]);
order!(Order4 = 4, degrees [2 0 1 2] [3 0 1 2 3], powers [2 3],
    gradient [0: 0 1 2 3] [1: 0 1 2] [2: 0 1] [3: 0],
    matrix [0: 0 1 2] [1: 0 1] [2: 0]);
order!(Order6 = 6, degrees [2 0 1 2] [3 0 1 2 3] [4 0 1 2 3 4] [5 0 1 2 3 4 5], powers [2 3 4 5],
    gradient [0: 0 1 2 3 4 5] [1: 0 1 2 3 4] [2: 0 1 2 3] [3: 0 1 2] [4: 0 1] [5: 0],
    matrix [0: 0 1 2 3 4] [1: 0 1 2 3] [2: 0 1 2] [3: 0 1] [4: 0]);
order!(Order8 = 8,
    degrees [2 0 1 2] [3 0 1 2 3] [4 0 1 2 3 4] [5 0 1 2 3 4 5] [6 0 1 2 3 4 5 6] [7 0 1 2 3 4 5 6 7],
    powers [2 3 4 5 6 7],
    gradient [0: 0 1 2 3 4 5 6 7] [1: 0 1 2 3 4 5 6] [2: 0 1 2 3 4 5] [3: 0 1 2 3 4] [4: 0 1 2 3] [5: 0 1 2] [6: 0 1]
        [7: 0],
    matrix [0: 0 1 2 3 4 5 6] [1: 0 1 2 3 4 5] [2: 0 1 2 3 4] [3: 0 1 2 3] [4: 0 1 2] [5: 0 1] [6: 0]);
