//! Vectors, their masks, the tokens that make them, and the kernels that use them, for any instruction set.

use crate::real::Real;

/// One truth value a lane.
pub trait Mask: Copy {
    /// Lanes of a mask, as many as of the vectors it comes from.
    const LEN: usize;
    /// Lanes that are true in both.
    fn and(self, other: Self) -> Self;
    /// Lanes that are true in either.
    fn or(self, other: Self) -> Self;
    /// Lanes that are true in `self` and false in `other`.
    fn and_not(self, other: Self) -> Self;
    /// Whether any lane is true.
    fn any(self) -> bool;
    /// The lanes as bits, lane 0 lowest.
    fn bits(self) -> u64;
}

/// A vector of floating-point numbers.
///
/// Comparisons with NaN are false. `min` and `max` give either operand when one is NaN.
pub trait Lanes: Copy {
    /// Type of a lane.
    type T: Real;
    /// One truth value a lane, from comparisons.
    type M: Mask;
    /// Lanes of a vector, of one or several registers.
    const LEN: usize;

    /// Writes to the first `LEN` elements of `to`, which has as many.
    fn store(self, to: &mut [Self::T]);
    /// `self + other`, lane by lane.
    fn add(self, other: Self) -> Self;
    /// `self - other`, lane by lane.
    fn sub(self, other: Self) -> Self;
    /// `self * other`, lane by lane.
    fn mul(self, other: Self) -> Self;
    /// `self / other`, lane by lane, correctly rounded.
    fn div(self, other: Self) -> Self;
    /// `self * b + c`, rounded once where the instruction set has it.
    fn mul_add(self, b: Self, c: Self) -> Self;
    /// `c - self * b`, rounded once where the instruction set has it.
    fn neg_mul_add(self, b: Self, c: Self) -> Self;
    /// Square root of each lane, correctly rounded; NaN for negative numbers.
    fn sqrt(self) -> Self;
    /// Each lane without its sign bit, NaN included.
    fn abs(self) -> Self;
    /// The smaller of both, lane by lane.
    fn min(self, other: Self) -> Self;
    /// The larger of both, lane by lane.
    fn max(self, other: Self) -> Self;
    /// Lanes with `self < other`.
    fn lt(self, other: Self) -> Self::M;
    /// Lanes with `self <= other`.
    fn le(self, other: Self) -> Self::M;
    /// The largest lane, where none is NaN.
    #[inline(always)]
    fn largest(self) -> Self::T {
        let mut lanes = [Self::T::ZERO; MAX_LEN];
        self.store(&mut lanes);
        lanes[1..Self::LEN].iter().fold(lanes[0], |most, x| if *x > most { *x } else { most })
    }
    /// The sum of the lanes, of halves and halves of these.
    #[inline(always)]
    fn total(self) -> Self::T {
        let mut lanes = [Self::T::ZERO; MAX_LEN];
        self.store(&mut lanes);
        let mut half = Self::LEN / 2;
        while half > 0 {
            for k in 0..half {
                lanes[k] += lanes[k + half];
            }
            half /= 2;
        }
        lanes[0]
    }
    /// `yes` where the mask is true, else `no`.
    fn select(mask: Self::M, yes: Self, no: Self) -> Self;
}

/// The right to use an instruction set, and the maker of its vectors.
pub trait Simd<T: Real>: Copy {
    /// The vector that this token makes.
    type V: Lanes<T = T>;
    /// Token of vectors twice as long; of the same where these are already two.
    type Doubled: Simd<T>;
    /// Two vectors at once: two independent chains of operations hide the latency of a dependent one.
    fn doubled(self) -> Self::Doubled;
    /// The same number in every lane.
    fn splat(self, x: T) -> Self::V;
    /// The first `LEN` elements of `from`, which has as many.
    fn load(self, from: &[T]) -> Self::V;

    /// The elements of `from`, at most `LEN` of them, and zeros in the lanes beyond.
    #[inline(always)]
    fn load_part(self, from: &[T]) -> Self::V {
        let mut lanes = [T::ZERO; MAX_LEN];
        let count = from.len().min(Self::V::LEN);
        lanes[..count].copy_from_slice(&from[..count]);
        self.load(&lanes)
    }

    /// Element `at[k] - base` of `from` in lane k, for at most `LEN` indices, and zeros in the lanes beyond.
    ///
    /// # Panics
    /// For an index outside of `from`, as slices do.
    #[inline(always)]
    fn gather(self, from: &[T], at: &[i32], base: i32) -> Self::V {
        let mut lanes = [T::ZERO; MAX_LEN];
        for (lane, at) in lanes[..Self::V::LEN].iter_mut().zip(at) {
            *lane = from[at.wrapping_sub(base).cast_unsigned() as usize];
        }
        self.load(&lanes)
    }

    /// [`Simd::gather`] with the first `count` of `at`, at most `LEN`, by loads one by one: faster where whole vectors
    /// of indices can be read and [`crate::backend::cpu::prefers_loads`].
    ///
    /// # Panics
    /// As [`Simd::gather`].
    #[inline(always)]
    fn pick(self, from: &[T], at: &[i32], count: usize, base: i32) -> Self::V {
        self.gather(from, &at[..count.min(at.len())], base)
    }

    /// Lanes 0 and 1 exchanged, 2 and 3, and so on: the parts of complex numbers.
    #[inline(always)]
    fn swap_pairs(self, x: Self::V) -> Self::V {
        let mut lanes = [T::ZERO; MAX_LEN];
        x.store(&mut lanes);
        lanes[..Self::V::LEN].chunks_exact_mut(2).for_each(|pair| pair.swap(0, 1));
        self.load(&lanes)
    }

    /// The lanes whose bits are set, lane 0 lowest.
    fn mask(self, bits: u64) -> <Self::V as Lanes>::M;

    /// 1 / sqrt(x) to two units in the last place, for normal positive numbers.
    #[inline(always)]
    fn rsqrt(self, x: Self::V) -> Self::V {
        self.splat(T::ONE).div(x.sqrt())
    }

    /// The largest whole number not above each lane.
    #[inline(always)]
    fn floor(self, x: Self::V) -> Self::V {
        let mut lanes = [T::ZERO; MAX_LEN];
        x.store(&mut lanes);
        for v in &mut lanes[..Self::V::LEN] {
            *v = T::from_f64(v.to_f64().floor());
        }
        self.load(&lanes)
    }

    /// For each lane the value at `position` between the elements of the table of 2 LEN numbers that `low` and `high`
    /// make. The position must be within 0 and 2 LEN - 1, that excluded; with any other the lane is no number of use.
    #[inline(always)]
    fn interpolate(self, low: Self::V, high: Self::V, position: Self::V) -> Self::V {
        let n = Self::V::LEN;
        let (mut table, mut lanes) = ([T::ZERO; 2 * MAX_LEN], [T::ZERO; MAX_LEN]);
        low.store(&mut table);
        high.store(&mut table[n..]);
        position.store(&mut lanes);
        for v in &mut lanes[..n] {
            // `as` takes NaN to 0 and holds the rest to the range of the type.
            let at = v.to_f64() as usize % (2 * n);
            let (near, far) = (table[at], table[(at + 1) % (2 * n)]);
            *v = (*v - T::from_f64(at as f64)) * (far - near) + near;
        }
        self.load(&lanes)
    }
}

/// Largest number of lanes of a vector, which may have two registers.
const MAX_LEN: usize = 32;

/// Code that is generic over the instruction set. Implement `run` with `#[inline(always)]`.
pub trait Kernel<T: Real> {
    /// Result of [`Kernel::run`], the same for every instruction set.
    type Output;
    /// The work, with vectors that `simd` makes.
    fn run<S: Simd<T>>(self, simd: S) -> Self::Output;
}
