//! Vectors as arrays, for any machine; the compiler uses the vector instructions of the target.

use super::{Lanes, Mask, Simd, Twice};
use crate::real::Real;

/// Token of vectors of N lanes without special instructions. `Portable<1>` is scalar arithmetic.
#[derive(Debug, Clone, Copy)]
pub struct Portable<const N: usize>;

/// A vector of N numbers in plain arrays, for machines without the other instruction sets and for N = 1.
#[derive(Debug, Clone, Copy)]
pub struct Array<T, const N: usize>([T; N]);

/// Plain loops: less for the compiler to undo than iterators or `from_fn`, in code that is inlined everywhere.
macro_rules! lanes {
    ($x:ident, $i:ident => $value:expr) => {{
        let mut out = $x;
        let mut $i = 0;
        while $i < N {
            out.0[$i] = $value;
            $i += 1;
        }
        out
    }};
}

macro_rules! flags {
    ($n:ident, $i:ident => $value:expr) => {{
        let mut out = [false; $n];
        let mut $i = 0;
        while $i < $n {
            out[$i] = $value;
            $i += 1;
        }
        out
    }};
}

impl<const N: usize> Mask for [bool; N] {
    const LEN: usize = N;
    #[inline(always)]
    fn and(self, other: Self) -> Self {
        flags!(N, i => self[i] & other[i])
    }
    #[inline(always)]
    fn or(self, other: Self) -> Self {
        flags!(N, i => self[i] | other[i])
    }
    #[inline(always)]
    fn and_not(self, other: Self) -> Self {
        flags!(N, i => self[i] & !other[i])
    }
    #[inline(always)]
    fn any(self) -> bool {
        self.contains(&true)
    }
    #[inline(always)]
    fn bits(self) -> u64 {
        (0..N).fold(0, |bits, i| bits | u64::from(self[i]) << i)
    }
}

impl<T: Real, const N: usize> Lanes for Array<T, N> {
    type T = T;
    type M = [bool; N];
    const LEN: usize = N;

    #[inline(always)]
    fn store(self, to: &mut [T]) {
        to[..N].copy_from_slice(&self.0);
    }
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        lanes!(self, i => self.0[i] + other.0[i])
    }
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        lanes!(self, i => self.0[i] - other.0[i])
    }
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        lanes!(self, i => self.0[i] * other.0[i])
    }
    #[inline(always)]
    fn div(self, other: Self) -> Self {
        lanes!(self, i => self.0[i] / other.0[i])
    }
    // Rounded twice: a fused operation without the instruction is a slow library call.
    #[inline(always)]
    fn mul_add(self, b: Self, c: Self) -> Self {
        lanes!(self, i => self.0[i] * b.0[i] + c.0[i])
    }
    #[inline(always)]
    fn neg_mul_add(self, b: Self, c: Self) -> Self {
        lanes!(self, i => c.0[i] - self.0[i] * b.0[i])
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        lanes!(self, i => self.0[i].sqrt())
    }
    #[inline(always)]
    fn abs(self) -> Self {
        lanes!(self, i => self.0[i].abs())
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        lanes!(self, i => if self.0[i] < other.0[i] { self.0[i] } else { other.0[i] })
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        lanes!(self, i => if self.0[i] > other.0[i] { self.0[i] } else { other.0[i] })
    }
    #[inline(always)]
    fn lt(self, other: Self) -> [bool; N] {
        flags!(N, i => self.0[i] < other.0[i])
    }
    #[inline(always)]
    fn le(self, other: Self) -> [bool; N] {
        flags!(N, i => self.0[i] <= other.0[i])
    }
    #[inline(always)]
    fn select(mask: [bool; N], yes: Self, no: Self) -> Self {
        lanes!(yes, i => if mask[i] { yes.0[i] } else { no.0[i] })
    }
}

impl<T: Real, const N: usize> Simd<T> for Portable<N> {
    type V = Array<T, N>;
    type Doubled = Twice<Self>;
    #[inline(always)]
    fn doubled(self) -> Twice<Self> {
        Twice(self)
    }
    #[inline(always)]
    fn splat(self, x: T) -> Array<T, N> {
        Array([x; N])
    }
    #[inline(always)]
    fn load(self, from: &[T]) -> Array<T, N> {
        let mut out = [T::ZERO; N];
        out.copy_from_slice(&from[..N]);
        Array(out)
    }
    #[inline(always)]
    fn mask(self, bits: u64) -> [bool; N] {
        flags!(N, i => bits >> i & 1 != 0)
    }
}
