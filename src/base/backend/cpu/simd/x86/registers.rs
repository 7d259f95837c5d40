//! Operations on one register for which there is no single intrinsic.
//!
//! As in the module above, whoever holds a register runs on a processor that has it.

use std::arch::x86_64::*;

/// One intrinsic of the arguments' own vectors.
macro_rules! op {
    ($f:ident($($x:expr),*)) => {{
        // SAFETY: a vector exists, so the processor has its instructions (see the module).
        unsafe { $f($($x),*) }
    }};
    ($f:ident::<$p:tt>($($x:expr),*)) => {{
        // SAFETY: as above.
        unsafe { $f::<$p>($($x),*) }
    }};
}
pub(super) use op;

/// Rounding towards minus infinity without exceptions, to whole numbers.
pub(super) const DOWN: i32 = _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC;
/// Moves bit 3 of an index to the sign, by which a blend selects.
pub(super) const TO_SIGN: i32 = 28;

#[inline(always)]
pub(super) fn floor_f32x8(x: __m256) -> __m256 {
    op!(_mm256_floor_ps(x))
}

#[inline(always)]
pub(super) fn floor_f64x4(x: __m256d) -> __m256d {
    op!(_mm256_floor_pd(x))
}

#[inline(always)]
pub(super) fn floor_f32x16(x: __m512) -> __m512 {
    op!(_mm512_roundscale_ps::<DOWN>(x))
}

#[inline(always)]
pub(super) fn floor_f64x8(x: __m512d) -> __m512d {
    op!(_mm512_roundscale_pd::<DOWN>(x))
}

// The estimate has 14 bits; a step of Newton's method doubles them.
#[inline(always)]
pub(super) fn rsqrt_f32x16(x: __m512) -> __m512 {
    let y = op!(_mm512_rsqrt14_ps(x));
    let (one, half) = (op!(_mm512_set1_ps(1.0)), op!(_mm512_set1_ps(0.5)));
    let square = op!(_mm512_mul_ps(x, y));
    let error = op!(_mm512_fnmadd_ps(square, y, one));
    let part = op!(_mm512_mul_ps(y, half));
    op!(_mm512_fmadd_ps(part, error, y))
}

#[inline(always)]
pub(super) fn rsqrt_f64x8(x: __m512d) -> __m512d {
    let (one, root) = (op!(_mm512_set1_pd(1.0)), op!(_mm512_sqrt_pd(x)));
    op!(_mm512_div_pd(one, root))
}

// The estimates of AVX2 differ from one maker of processors to another.
#[inline(always)]
pub(super) fn rsqrt_f32x8(x: __m256) -> __m256 {
    let (one, root) = (op!(_mm256_set1_ps(1.0)), op!(_mm256_sqrt_ps(x)));
    op!(_mm256_div_ps(one, root))
}

#[inline(always)]
pub(super) fn rsqrt_f64x4(x: __m256d) -> __m256d {
    let (one, root) = (op!(_mm256_set1_pd(1.0)), op!(_mm256_sqrt_pd(x)));
    op!(_mm256_div_pd(one, root))
}

// Bits beyond the lanes are those of the next register.
#[inline(always)]
pub(super) fn lanes_f32x16(bits: u64) -> __mmask16 {
    (bits & 0xffff) as __mmask16
}

#[inline(always)]
pub(super) fn lanes_f64x8(bits: u64) -> __mmask8 {
    (bits & 0xff) as __mmask8
}

#[inline(always)]
pub(super) fn lanes_f32x8(bits: u64) -> __m256 {
    let bits = op!(_mm256_set1_epi32((bits & 0xff) as i32));
    let each = op!(_mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128));
    let bits = op!(_mm256_and_si256(bits, each));
    let lanes = op!(_mm256_cmpeq_epi32(bits, each));
    op!(_mm256_castsi256_ps(lanes))
}

#[inline(always)]
pub(super) fn lanes_f64x4(bits: u64) -> __m256d {
    let bits = op!(_mm256_set1_epi64x((bits & 0xf) as i64));
    let each = op!(_mm256_setr_epi64x(1, 2, 4, 8));
    let bits = op!(_mm256_and_si256(bits, each));
    let lanes = op!(_mm256_cmpeq_epi64(bits, each));
    op!(_mm256_castsi256_pd(lanes))
}

/// Ones and then zeros: the eight or four numbers from `8 - count` on mask the first `count` lanes.
pub(super) static FIRST_LANES: [i32; 16] = [-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0];

#[inline(always)]
pub(super) fn part_f32x8(from: &[f32]) -> __m256 {
    let from = &from[..from.len().min(8)];
    let mask = &FIRST_LANES[8 - from.len()..][..8];
    // SAFETY: a token exists; the mask has eight numbers, and the lanes that it leaves out are not read.
    unsafe { _mm256_maskload_ps(from.as_ptr(), _mm256_loadu_si256(mask.as_ptr().cast())) }
}

#[inline(always)]
pub(super) fn part_f64x4(from: &[f64]) -> __m256d {
    let from = &from[..from.len().min(4)];
    let mask = &FIRST_LANES[8 - 2 * from.len()..][..8];
    // SAFETY: as above, two numbers of the mask a lane.
    unsafe { _mm256_maskload_pd(from.as_ptr(), _mm256_loadu_si256(mask.as_ptr().cast())) }
}

#[inline(always)]
pub(super) fn part_f32x16(from: &[f32]) -> __m512 {
    let mask = (0xffff_u32 >> (16 - from.len().min(16))) as __mmask16;
    // SAFETY: as above.
    unsafe { _mm512_maskz_loadu_ps(mask, from.as_ptr()) }
}

#[inline(always)]
pub(super) fn part_f64x8(from: &[f64]) -> __m512d {
    let mask = (0xff_u32 >> (8 - from.len().min(8))) as __mmask8;
    // SAFETY: as above.
    unsafe { _mm512_maskz_loadu_pd(mask, from.as_ptr()) }
}

#[inline(always)]
pub(super) fn swap_f32x8(x: __m256) -> __m256 {
    op!(_mm256_permute_ps::<0xb1>(x))
}

#[inline(always)]
pub(super) fn swap_f64x4(x: __m256d) -> __m256d {
    op!(_mm256_permute_pd::<0x5>(x))
}

#[inline(always)]
pub(super) fn swap_f32x16(x: __m512) -> __m512 {
    op!(_mm512_permute_ps::<0xb1>(x))
}

#[inline(always)]
pub(super) fn swap_f64x8(x: __m512d) -> __m512d {
    op!(_mm512_permute_pd::<0x55>(x))
}

#[inline(always)]
pub(super) fn largest_f32x16(x: __m512) -> f32 {
    op!(_mm512_reduce_max_ps(x))
}

#[inline(always)]
pub(super) fn largest_f64x8(x: __m512d) -> f64 {
    op!(_mm512_reduce_max_pd(x))
}

#[inline(always)]
pub(super) fn largest_f32x8(x: __m256) -> f32 {
    let (low, high) = (op!(_mm256_castps256_ps128(x)), op!(_mm256_extractf128_ps::<1>(x)));
    let x = op!(_mm_max_ps(low, high));
    let high = op!(_mm_movehl_ps(x, x));
    let x = op!(_mm_max_ps(x, high));
    let high = op!(_mm_shuffle_ps::<1>(x, x));
    let x = op!(_mm_max_ps(x, high));
    op!(_mm_cvtss_f32(x))
}

#[inline(always)]
pub(super) fn largest_f64x4(x: __m256d) -> f64 {
    let (low, high) = (op!(_mm256_castpd256_pd128(x)), op!(_mm256_extractf128_pd::<1>(x)));
    let x = op!(_mm_max_pd(low, high));
    let high = op!(_mm_unpackhi_pd(x, x));
    let x = op!(_mm_max_pd(x, high));
    op!(_mm_cvtsd_f64(x))
}

#[inline(always)]
pub(super) fn total_f32x16(x: __m512) -> f32 {
    op!(_mm512_reduce_add_ps(x))
}

#[inline(always)]
pub(super) fn total_f64x8(x: __m512d) -> f64 {
    op!(_mm512_reduce_add_pd(x))
}

#[inline(always)]
pub(super) fn total_f32x8(x: __m256) -> f32 {
    let (low, high) = (op!(_mm256_castps256_ps128(x)), op!(_mm256_extractf128_ps::<1>(x)));
    let x = op!(_mm_add_ps(low, high));
    let high = op!(_mm_movehl_ps(x, x));
    let x = op!(_mm_add_ps(x, high));
    let high = op!(_mm_shuffle_ps::<1>(x, x));
    let x = op!(_mm_add_ps(x, high));
    op!(_mm_cvtss_f32(x))
}

#[inline(always)]
pub(super) fn total_f64x4(x: __m256d) -> f64 {
    let (low, high) = (op!(_mm256_castpd256_pd128(x)), op!(_mm256_extractf128_pd::<1>(x)));
    let x = op!(_mm_add_pd(low, high));
    let high = op!(_mm_unpackhi_pd(x, x));
    let x = op!(_mm_add_pd(x, high));
    op!(_mm_cvtsd_f64(x))
}

#[cold]
#[inline(never)]
fn outside(at: &[i32], base: i32, length: usize) -> ! {
    panic!("one of the indices {at:?}, counted from {base}, is outside of {length} elements");
}

/// 32-bit indices reach no further.
const REACH: usize = 1 << 31;

// Lanes that are left out are compared as if they were inside.
#[inline(always)]
pub(super) fn gather_f64x8(from: &[f64], at: &[i32], base: i32) -> __m512d {
    let at = &at[..at.len().min(8)];
    let lanes = (0xff_u32 >> (8 - at.len())) as __mmask8;
    // SAFETY: a token exists; lanes that the mask leaves out are not read, and the others lie within the slices.
    unsafe {
        let index = _mm256_sub_epi32(_mm256_maskz_loadu_epi32(lanes, at.as_ptr()), _mm256_set1_epi32(base));
        let length = _mm256_set1_epi32((from.len().min(REACH) as u32).cast_signed());
        if _mm256_mask_cmplt_epu32_mask(lanes, index, length) != lanes {
            outside(at, base, from.len());
        }
        _mm512_mask_i32gather_pd::<8>(_mm512_setzero_pd(), lanes, index, from.as_ptr())
    }
}

#[inline(always)]
pub(super) fn gather_f32x16(from: &[f32], at: &[i32], base: i32) -> __m512 {
    let at = &at[..at.len().min(16)];
    let lanes = (0xffff_u32 >> (16 - at.len())) as __mmask16;
    // SAFETY: as above.
    unsafe {
        let index = _mm512_sub_epi32(_mm512_maskz_loadu_epi32(lanes, at.as_ptr()), _mm512_set1_epi32(base));
        let length = _mm512_set1_epi32((from.len().min(REACH) as u32).cast_signed());
        if _mm512_mask_cmplt_epu32_mask(lanes, index, length) != lanes {
            outside(at, base, from.len());
        }
        _mm512_mask_i32gather_ps::<4>(_mm512_setzero_ps(), lanes, index, from.as_ptr())
    }
}

// Where all eight indices are inside, whatever is wanted of them, each is loaded by the processor's own address arithmetic.
#[inline(always)]
pub(super) fn pick_f64x8(from: &[f64], at: &[i32], count: usize, base: i32) -> __m512d {
    let Some(near) = inside(at, base, from.len()) else { return gather_f64x8(from, &at[..count.min(at.len())], base) };
    let first = from.as_ptr().wrapping_offset(-(base as isize));
    let lanes = (0xff_u32 >> (8 - count.min(8))) as __mmask8;
    let place = |k: usize| first.wrapping_offset(again(near, k));
    // SAFETY: a token exists; eight indices lie within the slice.
    unsafe {
        let a = _mm_loadh_pd(_mm_load_sd(place(0)), place(1));
        let b = _mm_loadh_pd(_mm_load_sd(place(2)), place(3));
        let c = _mm_loadh_pd(_mm_load_sd(place(4)), place(5));
        let d = _mm_loadh_pd(_mm_load_sd(place(6)), place(7));
        let (low, high) = (_mm256_set_m128d(b, a), _mm256_set_m128d(d, c));
        _mm512_maskz_mov_pd(lanes, _mm512_insertf64x4::<1>(_mm512_castpd256_pd512(low), high))
    }
}

#[inline(always)]
pub(super) fn pick_f32x16(from: &[f32], at: &[i32], count: usize, base: i32) -> __m512 {
    let low = pick_f32x8(from, at, count.min(8), base);
    // Most rows that are picked by are short.
    let high = if count > 8 {
        pick_f32x8(from, at.get(8..).unwrap_or_default(), count - 8, base)
    } else {
        op!(_mm256_setzero_ps())
    };
    op!(_mm512_insertf32x8::<1>(_mm512_castps256_ps512(low), high))
}

#[inline(always)]
fn pick_f32x8(from: &[f32], at: &[i32], count: usize, base: i32) -> __m256 {
    let Some(near) = inside(at, base, from.len()) else {
        let all = gather_f32x16(from, &at[..count.min(at.len())], base);
        return op!(_mm512_castps512_ps256(all));
    };
    let first = from.as_ptr().wrapping_offset(-(base as isize));
    let lanes = (0xff_u32 >> (8 - count.min(8))) as __mmask8;
    // SAFETY: as above.
    unsafe {
        let one = |k: usize| *first.wrapping_offset(again(near, k));
        let x = _mm256_set_ps(one(7), one(6), one(5), one(4), one(3), one(2), one(1), one(0));
        _mm256_maskz_mov_ps(lanes, x)
    }
}

/// Index `k`, from memory: to take it out of the vector that was compared, as the compiler would, takes longer.
#[inline(always)]
fn again(near: &[i32; 8], k: usize) -> isize {
    // SAFETY: the element is borrowed.
    unsafe { std::ptr::read_volatile(&raw const near[k]) as isize }
}

/// Eight indices, if there are as many and all are inside.
#[inline(always)]
fn inside(at: &[i32], base: i32, length: usize) -> Option<&[i32; 8]> {
    let near = at.first_chunk::<8>()?;
    // SAFETY: a token exists; there are eight indices.
    let lanes = unsafe {
        let index = _mm256_sub_epi32(_mm256_loadu_si256(near.as_ptr().cast()), _mm256_set1_epi32(base));
        _mm256_cmplt_epu32_mask(index, _mm256_set1_epi32((length.min(REACH) as u32).cast_signed()))
    };
    (lanes == 0xff).then_some(near)
}

// AVX2 compares signed numbers alone: an index is inside if it is not negative and below the length.
#[inline(always)]
pub(super) fn gather_f64x4(from: &[f64], at: &[i32], base: i32) -> __m256d {
    let at = &at[..at.len().min(4)];
    let mask = &FIRST_LANES[8 - at.len()..][..4];
    // SAFETY: as above; the mask has four numbers.
    unsafe {
        let lanes = _mm_loadu_si128(mask.as_ptr().cast());
        let index = _mm_sub_epi32(_mm_maskload_epi32(at.as_ptr(), lanes), _mm_set1_epi32(base));
        let last = _mm_set1_epi32(last_of(from.len()));
        let wrong = _mm_or_si128(_mm_cmpgt_epi32(index, last), _mm_cmpgt_epi32(_mm_setzero_si128(), index));
        if _mm_testz_si128(wrong, lanes) == 0 {
            outside(at, base, from.len());
        }
        let lanes = _mm256_castsi256_pd(_mm256_cvtepi32_epi64(lanes));
        _mm256_mask_i32gather_pd::<8>(_mm256_setzero_pd(), from.as_ptr(), index, lanes)
    }
}

#[inline(always)]
pub(super) fn gather_f32x8(from: &[f32], at: &[i32], base: i32) -> __m256 {
    let at = &at[..at.len().min(8)];
    let mask = &FIRST_LANES[8 - at.len()..][..8];
    // SAFETY: as above; the mask has eight numbers.
    unsafe {
        let lanes = _mm256_loadu_si256(mask.as_ptr().cast());
        let index = _mm256_sub_epi32(_mm256_maskload_epi32(at.as_ptr(), lanes), _mm256_set1_epi32(base));
        let last = _mm256_set1_epi32(last_of(from.len()));
        let wrong = _mm256_or_si256(_mm256_cmpgt_epi32(index, last), _mm256_cmpgt_epi32(_mm256_setzero_si256(), index));
        if _mm256_testz_si256(wrong, lanes) == 0 {
            outside(at, base, from.len());
        }
        _mm256_mask_i32gather_ps::<4>(_mm256_setzero_ps(), from.as_ptr(), index, _mm256_castsi256_ps(lanes))
    }
}

/// The last index of so many elements, -1 of none.
#[inline(always)]
fn last_of(length: usize) -> i32 {
    (length.min(REACH) as i64 - 1) as i32
}

// Truncation is the floor of positions, which are not negative. The instruction takes three bits of an index; the fourth
// chooses between the results of both halves of the table.
#[inline(always)]
pub(super) fn interpolate_f32x8(low: __m256, high: __m256, position: __m256) -> __m256 {
    let i = op!(_mm256_cvttps_epi32(position));
    let one = op!(_mm256_set1_epi32(1));
    let j = op!(_mm256_add_epi32(i, one));
    let (a, b) = (op!(_mm256_permutevar8x32_ps(low, i)), op!(_mm256_permutevar8x32_ps(high, i)));
    let (c, d) = (op!(_mm256_permutevar8x32_ps(low, j)), op!(_mm256_permutevar8x32_ps(high, j)));
    let (i3, j3) = (op!(_mm256_slli_epi32::<TO_SIGN>(i)), op!(_mm256_slli_epi32::<TO_SIGN>(j)));
    let (i3, j3) = (op!(_mm256_castsi256_ps(i3)), op!(_mm256_castsi256_ps(j3)));
    let (near, far) = (op!(_mm256_blendv_ps(a, b, i3)), op!(_mm256_blendv_ps(c, d, j3)));
    let whole = op!(_mm256_cvtepi32_ps(i));
    let (part, rise) = (op!(_mm256_sub_ps(position, whole)), op!(_mm256_sub_ps(far, near)));
    op!(_mm256_fmadd_ps(part, rise, near))
}

#[inline(always)]
pub(super) fn interpolate_f32x16(low: __m512, high: __m512, position: __m512) -> __m512 {
    let i = op!(_mm512_cvttps_epi32(position));
    let one = op!(_mm512_set1_epi32(1));
    let j = op!(_mm512_add_epi32(i, one));
    let (near, far) = (op!(_mm512_permutex2var_ps(low, i, high)), op!(_mm512_permutex2var_ps(low, j, high)));
    let (part, rise) = (op!(_mm512_reduce_ps::<DOWN>(position)), op!(_mm512_sub_ps(far, near)));
    op!(_mm512_fmadd_ps(part, rise, near))
}

#[inline(always)]
pub(super) fn interpolate_f64x8(low: __m512d, high: __m512d, position: __m512d) -> __m512d {
    let i = op!(_mm512_cvttpd_epi64(position));
    let one = op!(_mm512_set1_epi64(1));
    let j = op!(_mm512_add_epi64(i, one));
    let (near, far) = (op!(_mm512_permutex2var_pd(low, i, high)), op!(_mm512_permutex2var_pd(low, j, high)));
    let (part, rise) = (op!(_mm512_reduce_pd::<DOWN>(position)), op!(_mm512_sub_pd(far, near)));
    op!(_mm512_fmadd_pd(part, rise, near))
}

#[inline(always)]
pub(super) fn abs_f32x8(x: __m256) -> __m256 {
    // SAFETY: a vector exists.
    unsafe { _mm256_andnot_ps(_mm256_set1_ps(-0.0), x) }
}

#[inline(always)]
pub(super) fn abs_f64x4(x: __m256d) -> __m256d {
    // SAFETY: a vector exists.
    unsafe { _mm256_andnot_pd(_mm256_set1_pd(-0.0), x) }
}

#[inline(always)]
pub(super) fn abs_f32x16(x: __m512) -> __m512 {
    op!(_mm512_abs_ps(x))
}

#[inline(always)]
pub(super) fn abs_f64x8(x: __m512d) -> __m512d {
    op!(_mm512_abs_pd(x))
}

#[inline(always)]
pub(super) fn select_f32x8(mask: __m256, yes: __m256, no: __m256) -> __m256 {
    op!(_mm256_blendv_ps(no, yes, mask))
}

#[inline(always)]
pub(super) fn select_f64x4(mask: __m256d, yes: __m256d, no: __m256d) -> __m256d {
    op!(_mm256_blendv_pd(no, yes, mask))
}

#[inline(always)]
pub(super) fn select_f32x16(mask: __mmask16, yes: __m512, no: __m512) -> __m512 {
    op!(_mm512_mask_blend_ps(mask, no, yes))
}

#[inline(always)]
pub(super) fn select_f64x8(mask: __mmask8, yes: __m512d, no: __m512d) -> __m512d {
    op!(_mm512_mask_blend_pd(mask, no, yes))
}
