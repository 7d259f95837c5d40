//! Two vectors side by side.

use super::{Lanes, Mask, Simd};
use crate::real::Real;

/// Token of vectors twice as long as those of `S`: two of them, whose chains of operations do not wait for each other.
#[derive(Debug, Clone, Copy)]
pub struct Twice<S>(pub S);

/// Two vectors or masks that are used as one of twice the lanes: the first has the lower lanes.
#[derive(Debug, Clone, Copy)]
pub struct Pair<V>(pub(super) V, pub(super) V);

impl<M: Mask> Mask for Pair<M> {
    const LEN: usize = 2 * M::LEN;
    #[inline(always)]
    fn and(self, other: Self) -> Self {
        Self(self.0.and(other.0), self.1.and(other.1))
    }
    #[inline(always)]
    fn or(self, other: Self) -> Self {
        Self(self.0.or(other.0), self.1.or(other.1))
    }
    #[inline(always)]
    fn and_not(self, other: Self) -> Self {
        Self(self.0.and_not(other.0), self.1.and_not(other.1))
    }
    #[inline(always)]
    fn any(self) -> bool {
        self.0.or(self.1).any()
    }
    #[inline(always)]
    fn bits(self) -> u64 {
        self.0.bits() | self.1.bits() << M::LEN
    }
}

macro_rules! both {
    ($($name:ident($($arg:ident),*);)*) => {$(
        #[inline(always)]
        fn $name(self, $($arg: Self),*) -> Self {
            Self(self.0.$name($($arg.0),*), self.1.$name($($arg.1),*))
        }
    )*};
}

impl<V: Lanes> Lanes for Pair<V> {
    type T = V::T;
    type M = Pair<V::M>;
    const LEN: usize = 2 * V::LEN;

    #[inline(always)]
    fn store(self, to: &mut [V::T]) {
        self.0.store(to);
        self.1.store(&mut to[V::LEN..]);
    }
    both! {
        add(other);
        sub(other);
        mul(other);
        div(other);
        mul_add(b, c);
        neg_mul_add(b, c);
        sqrt();
        abs();
        min(other);
        max(other);
    }
    #[inline(always)]
    fn largest(self) -> V::T {
        self.0.max(self.1).largest()
    }
    #[inline(always)]
    fn total(self) -> V::T {
        self.0.add(self.1).total()
    }
    #[inline(always)]
    fn lt(self, other: Self) -> Self::M {
        Pair(self.0.lt(other.0), self.1.lt(other.1))
    }
    #[inline(always)]
    fn le(self, other: Self) -> Self::M {
        Pair(self.0.le(other.0), self.1.le(other.1))
    }
    #[inline(always)]
    fn select(mask: Self::M, yes: Self, no: Self) -> Self {
        Self(V::select(mask.0, yes.0, no.0), V::select(mask.1, yes.1, no.1))
    }
}

impl<T: Real, S: Simd<T>> Simd<T> for Twice<S> {
    type V = Pair<S::V>;
    type Doubled = Self;
    #[inline(always)]
    fn doubled(self) -> Self {
        self
    }
    #[inline(always)]
    fn splat(self, x: T) -> Pair<S::V> {
        let v = self.0.splat(x);
        Pair(v, v)
    }
    #[inline(always)]
    fn load(self, from: &[T]) -> Pair<S::V> {
        Pair(self.0.load(from), self.0.load(&from[S::V::LEN..]))
    }
    #[inline(always)]
    fn load_part(self, from: &[T]) -> Pair<S::V> {
        Pair(self.0.load_part(from), self.0.load_part(from.get(S::V::LEN..).unwrap_or_default()))
    }
    #[inline(always)]
    fn gather(self, from: &[T], at: &[i32], base: i32) -> Pair<S::V> {
        Pair(self.0.gather(from, at, base), self.0.gather(from, at.get(S::V::LEN..).unwrap_or_default(), base))
    }
    #[inline(always)]
    fn swap_pairs(self, x: Pair<S::V>) -> Pair<S::V> {
        Pair(self.0.swap_pairs(x.0), self.0.swap_pairs(x.1))
    }
    #[inline(always)]
    fn mask(self, bits: u64) -> Pair<<S::V as Lanes>::M> {
        Pair(self.0.mask(bits), self.0.mask(bits >> S::V::LEN))
    }
    #[inline(always)]
    fn rsqrt(self, x: Pair<S::V>) -> Pair<S::V> {
        Pair(self.0.rsqrt(x.0), self.0.rsqrt(x.1))
    }
    #[inline(always)]
    fn floor(self, x: Pair<S::V>) -> Pair<S::V> {
        Pair(self.0.floor(x.0), self.0.floor(x.1))
    }
}
