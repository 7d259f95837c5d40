//! The instruction sets as tokens: when they are available, and the vectors that they make.
//!
//! Every `unsafe` block below calls intrinsics that need an instruction set. Each vector type is made by its token's
//! `splat` and `load` or from vectors of the same type, a token is made by `available` after the processor said that it
//! has the instructions, and so whoever holds a vector runs on such a processor.

use std::arch::x86_64::*;
use std::sync::OnceLock;

use super::super::twice::Pair;
use super::super::{Kernel, Lanes, Mask, Simd};
use super::registers::*;
use crate::real::Real;

/// The right to use AVX2 and FMA, and the extensions of the same processors: POPCNT, LZCNT, BMI1 and BMI2.
#[derive(Debug, Clone, Copy)]
pub struct Avx2 {
    _private: (),
}

/// The right to use AVX-512 F, DQ, VL and BW, and all that [`Avx2`] stands for.
#[derive(Debug, Clone, Copy)]
pub struct Avx512 {
    _private: (),
}

#[target_feature(enable = "avx2,fma,popcnt,lzcnt,bmi1,bmi2")]
fn run_avx2<T: Real, K: Kernel<T>>(token: Avx2, kernel: K) -> K::Output
where
    Avx2: Simd<T>,
{
    kernel.run(token)
}

#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,avx2,fma,popcnt,lzcnt,bmi1,bmi2")]
fn run_avx512<T: Real, K: Kernel<T>>(token: Avx512, kernel: K) -> K::Output
where
    Avx512: Simd<T>,
{
    kernel.run(token)
}

impl Avx2 {
    /// The token, if the processor has the instructions. Asking is a load and a test.
    #[inline]
    pub fn available() -> Option<Self> {
        static ANSWER: OnceLock<bool> = OnceLock::new();
        let has = || {
            std::is_x86_feature_detected!("avx2")
                && std::is_x86_feature_detected!("fma")
                && std::is_x86_feature_detected!("popcnt")
                && std::is_x86_feature_detected!("lzcnt")
                && std::is_x86_feature_detected!("bmi1")
                && std::is_x86_feature_detected!("bmi2")
        };
        ANSWER.get_or_init(has).then_some(Self { _private: () })
    }

    /// Runs a kernel with the instructions.
    #[inline]
    pub fn enter<T: Real, K: Kernel<T>>(self, kernel: K) -> K::Output
    where
        Self: Simd<T>,
    {
        // SAFETY: the token says that the processor has the instructions.
        unsafe { run_avx2(self, kernel) }
    }
}

impl Avx512 {
    /// The token, if the processor has the instructions. Asking is a load and a test.
    #[inline]
    pub fn available() -> Option<Self> {
        static ANSWER: OnceLock<bool> = OnceLock::new();
        let has = || {
            std::is_x86_feature_detected!("avx512f")
                && std::is_x86_feature_detected!("avx512dq")
                && std::is_x86_feature_detected!("avx512vl")
                && std::is_x86_feature_detected!("avx512bw")
                && Avx2::available().is_some()
        };
        ANSWER.get_or_init(has).then_some(Self { _private: () })
    }

    /// Runs a kernel with the instructions.
    #[inline]
    pub fn enter<T: Real, K: Kernel<T>>(self, kernel: K) -> K::Output
    where
        Self: Simd<T>,
    {
        // SAFETY: the token says that the processor has the instructions.
        unsafe { run_avx512(self, kernel) }
    }
}

/// One vector type: a struct of the registers `$r`, each holding `$n` lanes.
macro_rules! vector {
    ($v:ident, $token:ident, $doubled:ty, |$self:ident| $double:expr, $t:ty, $raw:ty, $n:literal, [$($r:tt)*], $count:literal, $mask:ty,
     $set1:ident $loadu:ident $storeu:ident $add:ident $sub:ident $mul:ident $div:ident $min:ident $max:ident
     $fmadd:ident $fnmadd:ident $sqrt:ident, $abs:expr, $cmp:ident, $wrap:path, $each:ident, $select:expr, $floor:ident,
     $rsqrt:ident, $largest:ident, $total:ident, $lanes:ident, $part:ident, $gather:ident, $swap:ident,
     [$($interpolate:ident)?] [$($pick:ident)?]) => {
        /// A vector in registers; the first register has the lowest lanes.
        #[derive(Debug, Clone, Copy)]
        pub struct $v([$raw; $count]);

        impl Simd<$t> for $token {
            type V = $v;
            type Doubled = $doubled;
            #[inline(always)]
            fn doubled(self) -> $doubled {
                let $self = self;
                $double
            }
            #[inline(always)]
            fn splat(self, x: $t) -> $v {
                // SAFETY: the token says that the processor has the instructions.
                let x = unsafe { $set1(x) };
                $v([x; $count])
            }
            #[inline(always)]
            fn load(self, from: &[$t]) -> $v {
                let from = &from[..$n * $count];
                // SAFETY: as above; the slice has as many elements as the registers.
                $v([$(unsafe { $loadu(from.as_ptr().add($r * $n)) }),*])
            }
            #[inline(always)]
            fn load_part(self, from: &[$t]) -> $v {
                $v([$($part(from.get($r * $n..).unwrap_or_default())),*])
            }
            #[inline(always)]
            fn gather(self, from: &[$t], at: &[i32], base: i32) -> $v {
                $v([$($gather(from, at.get($r * $n..).unwrap_or_default(), base)),*])
            }
            #[inline(always)]
            fn swap_pairs(self, x: $v) -> $v {
                $v([$($swap(x.0[$r])),*])
            }
            #[inline(always)]
            fn floor(self, x: $v) -> $v {
                $v([$($floor(x.0[$r])),*])
            }
            #[inline(always)]
            fn mask(self, bits: u64) -> $mask {
                $each!($wrap, $($wrap($lanes(bits >> ($r * $n))),)*)
            }
            #[inline(always)]
            fn rsqrt(self, x: $v) -> $v {
                $v([$($rsqrt(x.0[$r])),*])
            }
            $(
                #[inline(always)]
                fn interpolate(self, low: $v, high: $v, position: $v) -> $v {
                    $v([$interpolate(low.0[0], high.0[0], position.0[0])])
                }
            )?
            $(
                #[inline(always)]
                fn pick(self, from: &[$t], at: &[i32], count: usize, base: i32) -> $v {
                    $v([$pick(from, at, count, base)])
                }
            )?
        }

        impl Lanes for $v {
            type T = $t;
            type M = $mask;
            const LEN: usize = $n * $count;

            #[inline(always)]
            fn store(self, to: &mut [$t]) {
                let to = &mut to[..$n * $count];
                // SAFETY: a vector exists; the slice has as many elements as the registers.
                $(unsafe { $storeu(to.as_mut_ptr().add($r * $n), self.0[$r]) };)*
            }
            #[inline(always)]
            fn add(self, other: Self) -> Self {
                Self([$(op!($add(self.0[$r], other.0[$r]))),*])
            }
            #[inline(always)]
            fn sub(self, other: Self) -> Self {
                Self([$(op!($sub(self.0[$r], other.0[$r]))),*])
            }
            #[inline(always)]
            fn mul(self, other: Self) -> Self {
                Self([$(op!($mul(self.0[$r], other.0[$r]))),*])
            }
            #[inline(always)]
            fn div(self, other: Self) -> Self {
                Self([$(op!($div(self.0[$r], other.0[$r]))),*])
            }
            #[inline(always)]
            fn min(self, other: Self) -> Self {
                Self([$(op!($min(self.0[$r], other.0[$r]))),*])
            }
            #[inline(always)]
            fn max(self, other: Self) -> Self {
                Self([$(op!($max(self.0[$r], other.0[$r]))),*])
            }
            #[inline(always)]
            fn mul_add(self, b: Self, c: Self) -> Self {
                Self([$(op!($fmadd(self.0[$r], b.0[$r], c.0[$r]))),*])
            }
            #[inline(always)]
            fn neg_mul_add(self, b: Self, c: Self) -> Self {
                Self([$(op!($fnmadd(self.0[$r], b.0[$r], c.0[$r]))),*])
            }
            #[inline(always)]
            fn sqrt(self) -> Self {
                Self([$(op!($sqrt(self.0[$r]))),*])
            }
            #[inline(always)]
            fn abs(self) -> Self {
                Self([$($abs(self.0[$r])),*])
            }
            #[inline(always)]
            fn largest(self) -> $t {
                let mut most = self.0[0];
                for other in &self.0[1..] {
                    most = op!($max(most, *other));
                }
                $largest(most)
            }
            #[inline(always)]
            fn total(self) -> $t {
                let mut sum = self.0[0];
                for other in &self.0[1..] {
                    sum = op!($add(sum, *other));
                }
                $total(sum)
            }
            #[inline(always)]
            fn lt(self, other: Self) -> $mask {
                $each!($wrap, $($wrap(op!($cmp::<_CMP_LT_OQ>(self.0[$r], other.0[$r]))),)*)
            }
            #[inline(always)]
            fn le(self, other: Self) -> $mask {
                $each!($wrap, $($wrap(op!($cmp::<_CMP_LE_OQ>(self.0[$r], other.0[$r]))),)*)
            }
            #[inline(always)]
            fn select(mask: $mask, yes: Self, no: Self) -> Self {
                Self([$($select(half!($each, mask, $r), yes.0[$r], no.0[$r])),*])
            }
        }
    };
}

/// The mask of one register, or of two.
macro_rules! single {
    ($wrap:path, $mask:expr,) => {
        $mask
    };
}
macro_rules! pair {
    ($wrap:path, $low:expr, $high:expr,) => {
        Pair($low, $high)
    };
}

/// The register's part of a mask.
macro_rules! half {
    (single, $mask:ident, 0) => {
        $mask.0
    };
    (pair, $mask:ident, 0) => {
        $mask.0.0
    };
    (pair, $mask:ident, 1) => {
        $mask.1.0
    };
}

/// Vectors of one and of two registers. Two are written out rather than built on the first: kernels are inlined whole,
/// and every layer costs the compiler.
macro_rules! lanes {
    ($v:ident, $v2:ident, $token:ident, $twice:ident, $t:ty, $raw:ty, $n:literal, $mask:ty,
     $($f:ident)*, $abs:expr, $cmp:ident, $wrap:path, $select:expr, $floor:ident, $rsqrt:ident,
     $largest:ident, $total:ident, $lanes:ident, $part:ident, $gather:ident, $swap:ident,
     [$($interpolate:ident)?] [$($pick:ident)?]) => {
        vector!($v, $token, $twice, |token| $twice(token), $t, $raw, $n, [0], 1, $mask,
            $($f)*, $abs, $cmp, $wrap, single, $select, $floor, $rsqrt, $largest, $total, $lanes, $part, $gather, $swap,
            [$($interpolate)?] [$($pick)?]);
        vector!($v2, $twice, $twice, |token| token, $t, $raw, $n, [0 1], 2, Pair<$mask>,
            $($f)*, $abs, $cmp, $wrap, pair, $select, $floor, $rsqrt, $largest, $total, $lanes, $part, $gather, $swap, [] []);
    };
}

/// AVX-512 masks are registers of bits.
#[derive(Debug, Clone, Copy)]
pub struct Bits<B>(B);

macro_rules! bits_mask {
    ($($b:ty = $n:literal),*) => {$(
        impl Mask for Bits<$b> {
            const LEN: usize = $n;
            #[inline(always)]
            fn and(self, other: Self) -> Self {
                Self(self.0 & other.0)
            }
            #[inline(always)]
            fn or(self, other: Self) -> Self {
                Self(self.0 | other.0)
            }
            #[inline(always)]
            fn and_not(self, other: Self) -> Self {
                Self(self.0 & !other.0)
            }
            #[inline(always)]
            fn any(self) -> bool {
                self.0 != 0
            }
            #[inline(always)]
            fn bits(self) -> u64 {
                u64::from(self.0)
            }
        }
    )*};
}
bits_mask!(__mmask16 = 16, __mmask8 = 8);

/// AVX2 masks are vectors whose lanes are all ones or all zeros.
macro_rules! vector_mask {
    ($m:ident, $n:literal, $raw:ty, $and:ident $or:ident $andnot:ident $movemask:ident) => {
        /// A register of truth values.
        #[derive(Debug, Clone, Copy)]
        pub struct $m($raw);

        impl Mask for $m {
            const LEN: usize = $n;
            #[inline(always)]
            fn and(self, other: Self) -> Self {
                Self(op!($and(self.0, other.0)))
            }
            #[inline(always)]
            fn or(self, other: Self) -> Self {
                Self(op!($or(self.0, other.0)))
            }
            #[inline(always)]
            fn and_not(self, other: Self) -> Self {
                // The instruction negates its first operand.
                Self(op!($andnot(other.0, self.0)))
            }
            #[inline(always)]
            fn any(self) -> bool {
                op!($movemask(self.0)) != 0
            }
            #[inline(always)]
            fn bits(self) -> u64 {
                u64::from(op!($movemask(self.0)).cast_unsigned())
            }
        }
    };
}
vector_mask!(MaskF32x8, 8, __m256, _mm256_and_ps _mm256_or_ps _mm256_andnot_ps _mm256_movemask_ps);
vector_mask!(MaskF64x4, 4, __m256d, _mm256_and_pd _mm256_or_pd _mm256_andnot_pd _mm256_movemask_pd);

/// The right to use pairs of AVX2 registers.
#[derive(Debug, Clone, Copy)]
pub struct Avx2Twice(Avx2);

/// The right to use pairs of AVX-512 registers.
#[derive(Debug, Clone, Copy)]
pub struct Avx512Twice(Avx512);

lanes!(F32x8, F32x8x2, Avx2, Avx2Twice, f32, __m256, 8, MaskF32x8,
    _mm256_set1_ps _mm256_loadu_ps _mm256_storeu_ps _mm256_add_ps _mm256_sub_ps _mm256_mul_ps _mm256_div_ps
    _mm256_min_ps _mm256_max_ps _mm256_fmadd_ps _mm256_fnmadd_ps _mm256_sqrt_ps, abs_f32x8,
    _mm256_cmp_ps, MaskF32x8, select_f32x8, floor_f32x8, rsqrt_f32x8, largest_f32x8, total_f32x8, lanes_f32x8, part_f32x8,
    gather_f32x8, swap_f32x8, [interpolate_f32x8] []);
lanes!(F64x4, F64x4x2, Avx2, Avx2Twice, f64, __m256d, 4, MaskF64x4,
    _mm256_set1_pd _mm256_loadu_pd _mm256_storeu_pd _mm256_add_pd _mm256_sub_pd _mm256_mul_pd _mm256_div_pd
    _mm256_min_pd _mm256_max_pd _mm256_fmadd_pd _mm256_fnmadd_pd _mm256_sqrt_pd, abs_f64x4,
    _mm256_cmp_pd, MaskF64x4, select_f64x4, floor_f64x4, rsqrt_f64x4, largest_f64x4, total_f64x4, lanes_f64x4, part_f64x4,
    gather_f64x4, swap_f64x4, [] []);
lanes!(F32x16, F32x16x2, Avx512, Avx512Twice, f32, __m512, 16, Bits<__mmask16>,
    _mm512_set1_ps _mm512_loadu_ps _mm512_storeu_ps _mm512_add_ps _mm512_sub_ps _mm512_mul_ps _mm512_div_ps
    _mm512_min_ps _mm512_max_ps _mm512_fmadd_ps _mm512_fnmadd_ps _mm512_sqrt_ps, abs_f32x16,
    _mm512_cmp_ps_mask, Bits, select_f32x16, floor_f32x16, rsqrt_f32x16, largest_f32x16, total_f32x16, lanes_f32x16, part_f32x16,
    gather_f32x16, swap_f32x16, [interpolate_f32x16] [pick_f32x16]);
lanes!(F64x8, F64x8x2, Avx512, Avx512Twice, f64, __m512d, 8, Bits<__mmask8>,
    _mm512_set1_pd _mm512_loadu_pd _mm512_storeu_pd _mm512_add_pd _mm512_sub_pd _mm512_mul_pd _mm512_div_pd
    _mm512_min_pd _mm512_max_pd _mm512_fmadd_pd _mm512_fnmadd_pd _mm512_sqrt_pd, abs_f64x8,
    _mm512_cmp_pd_mask, Bits, select_f64x8, floor_f64x8, rsqrt_f64x8, largest_f64x8, total_f64x8, lanes_f64x8, part_f64x8,
    gather_f64x8, swap_f64x8, [interpolate_f64x8] [pick_f64x8]);
