//! Random numbers as a pure function of their indices: Philox 4x32-10 (Salmon, Moraes, Dror, Shaw, SC 2011) keyed by the
//! seed, with (row, column, stream) as the counter.
//!
//! A number does not depend on threads, blocks or the device. The transcendental functions only use additions,
//! multiplications, fused multiply-adds, divisions and square roots. IEEE 754 defines their rounding, so `cuda/rng.cuh`, the
//! mirror of this file, gives the same bits. Change both or neither.
//!
//! Code that draws many numbers calls [`normal_cells`] or [`uniform_cells`] inside a
//! [`Kernel`](crate::backend::cpu::simd::Kernel). All functions here are inlined into their callers. A fused multiply-add is
//! one instruction only if the caller was compiled with it. Otherwise it is a function call that takes ten times as long.

/// Streams: the purposes of random numbers. Different streams give independent numbers for the same seed.
pub mod stream {
    /// Start vectors of SS-HOPM: row = index of the tensor, column = start * n + component.
    pub const STARTS: u32 = 1;
    /// Sketches of the randomized SVD: row and column of the random matrix.
    pub const SKETCH: u32 = 2;
    /// The second sketch of the one-pass method.
    pub const TEST: u32 = 3;
    /// Probes of error estimates, which must be independent of the sketch.
    pub const PROBES: u32 = 4;
    /// Directions that replace dependent columns.
    pub const FRESH: u32 = 5;
    /// Sketches of robust PCA: row and column of the random matrix.
    pub const ROBUST: u32 = 6;
    /// Random tensor trains: row = element of the core, column = core.
    pub const TRAINS: u32 = 7;
    /// Start vectors of Lanczos iterations: row of the matrix, number of the vector.
    pub const LANCZOS: u32 = 8;
    /// Starts of k-means++: number of the centre, number of the restart.
    pub const CLUSTERS: u32 = 9;
}

const MULTIPLIER: [u32; 2] = [0xD251_1F53, 0xCD9E_8D57];
const WEYL: [u32; 2] = [0x9E37_79B9, 0xBB67_AE85];

/// Number of cells that are drawn together, so that the compiler can use vectors.
pub const CELLS: usize = 8;

/// The ten rounds of Philox 4x32.
#[inline(always)]
pub fn philox(mut counter: [u32; 4], mut key: [u32; 2]) -> [u32; 4] {
    for _ in 0..10 {
        let p0 = u64::from(MULTIPLIER[0]) * u64::from(counter[0]);
        let p1 = u64::from(MULTIPLIER[1]) * u64::from(counter[2]);
        counter = [high(p1) ^ counter[1] ^ key[0], low(p1), high(p0) ^ counter[3] ^ key[1], low(p0)];
        key = [key[0].wrapping_add(WEYL[0]), key[1].wrapping_add(WEYL[1])];
    }
    counter
}

#[inline(always)]
fn low(word: u64) -> u32 {
    (word & 0xffff_ffff) as u32
}

#[inline(always)]
fn high(word: u64) -> u32 {
    (word >> 32) as u32
}

/// The two uniform numbers of a cell, U in (0, 1] and V in [0, 1), both multiples of 2^-53.
#[inline(always)]
fn uniforms(seed: u64, stream: u32, row: u64, cell: u32) -> (f64, f64) {
    const STEP: f64 = 1.0 / 9_007_199_254_740_992.0;
    let x = words(seed, stream, row, cell);
    let u = ((u64::from(x[0]) << 32 | u64::from(x[1])) >> 11) + 1;
    let v = (u64::from(x[2]) << 32 | u64::from(x[3])) >> 11;
    // At most 2^53: exact in f64.
    (u as f64 * STEP, v as f64 * STEP)
}

/// A standard normal number (Box and Muller): columns 2k and 2k + 1 are the cosine and the sine of one cell.
#[inline]
pub fn normal(seed: u64, stream: u32, row: u64, column: u32) -> f64 {
    let (even, odd) = normals(seed, stream, row, column >> 1);
    if column & 1 == 0 { even } else { odd }
}

/// The two normal numbers of a cell, columns `2 cell` and `2 cell + 1`.
#[inline(always)]
pub fn normals(seed: u64, stream: u32, row: u64, cell: u32) -> (f64, f64) {
    let (u, v) = uniforms(seed, stream, row, cell);
    normals_of(u, v)
}

#[inline(always)]
fn normals_of(u: f64, v: f64) -> (f64, f64) {
    let radius = (-2.0 * ln(u)).sqrt();
    let (cosine, sine) = cos_sin_turn(v);
    (radius * cosine, radius * sine)
}

/// The results of [`normals`] for the cells `places`, each (row, cell): the even columns and the odd ones.
#[inline(always)]
pub fn normal_cells(seed: u64, stream: u32, places: &[(u64, u32); CELLS]) -> ([f64; CELLS], [f64; CELLS]) {
    let (mut even, mut odd) = uniforms_at(seed, stream, places);
    for (a, b) in even.iter_mut().zip(&mut odd) {
        (*a, *b) = normals_of(*a, *b);
    }
    (even, odd)
}

/// The results of [`symmetric_uniforms`] for the cells `places`, each (row, cell): the even columns and the odd ones.
#[inline(always)]
pub fn uniform_cells(seed: u64, stream: u32, places: &[(u64, u32); CELLS]) -> ([f64; CELLS], [f64; CELLS]) {
    let (mut even, mut odd) = uniforms_at(seed, stream, places);
    for (a, b) in even.iter_mut().zip(&mut odd) {
        (*a, *b) = symmetric(*a, *b);
    }
    (even, odd)
}

#[inline(always)]
fn uniforms_at(seed: u64, stream: u32, places: &[(u64, u32); CELLS]) -> ([f64; CELLS], [f64; CELLS]) {
    let (mut u, mut v) = ([0.0; CELLS], [0.0; CELLS]);
    for ((u, v), &(row, cell)) in u.iter_mut().zip(&mut v).zip(places) {
        (*u, *v) = uniforms(seed, stream, row, cell);
    }
    (u, v)
}

/// A number uniform in [-1, 1): columns 2k and 2k + 1 are the two uniforms of one cell.
#[inline]
pub fn uniform(seed: u64, stream: u32, row: u64, column: u32) -> f64 {
    let (even, odd) = symmetric_uniforms(seed, stream, row, column >> 1);
    if column & 1 == 0 { even } else { odd }
}

/// The two numbers uniform in [-1, 1) of a cell, columns `2 cell` and `2 cell + 1`.
#[inline(always)]
pub fn symmetric_uniforms(seed: u64, stream: u32, row: u64, cell: u32) -> (f64, f64) {
    let (u, v) = uniforms(seed, stream, row, cell);
    symmetric(u, v)
}

#[inline(always)]
fn symmetric(u: f64, v: f64) -> (f64, f64) {
    // 1 - 2u maps (0, 1] to [-1, 1).
    (2.0f64.mul_add(-u, 1.0), 2.0f64.mul_add(v, -1.0))
}

/// The four words of a cell.
#[inline(always)]
pub fn words(seed: u64, stream: u32, row: u64, cell: u32) -> [u32; 4] {
    philox([low(row), high(row), cell, stream], [low(seed), high(seed)])
}

/// Natural logarithm of a normal number in (0, 1], to about one unit in the last place.
///
/// x = 2^e m with m in [sqrt(1/2), sqrt(2)), s = (m - 1)/(m + 1), ln m = 2 atanh s = 2s + s t (2/3 + 2t/5 + ...), with
/// t = s^2 <= 0.0295: eleven terms leave 2 t^12/25 < 4e-20.
#[inline(always)]
fn ln(x: f64) -> f64 {
    // ln 2 in two parts; the high one has 32 bits, so that e times it is exact.
    const LN2_HIGH: f64 = f64::from_bits(0x3FE6_2E42_FEE0_0000);
    const LN2_LOW: f64 = f64::from_bits(0x3DEA_39EF_3579_3C76);
    let bits = x.to_bits();
    let m = f64::from_bits(bits & 0x000F_FFFF_FFFF_FFFF | 0x3FF0_0000_0000_0000);
    let large = m > std::f64::consts::SQRT_2;
    let exponent = (bits >> 52) as i32 - 1023 + i32::from(large);
    let m = if large { 0.5 * m } else { m };
    let f = m - 1.0;
    let s = f / (m + 1.0);
    let t = s * s;
    let mut series = 2.0 / 23.0;
    for term in
        [2.0 / 21.0, 2.0 / 19.0, 2.0 / 17.0, 2.0 / 15.0, 2.0 / 13.0, 2.0 / 11.0, 2.0 / 9.0, 2.0 / 7.0, 0.4, 2.0 / 3.0]
    {
        series = t.mul_add(series, term);
    }
    let series = series * t;
    // 2s = f - s f, so ln m = f - s (f - series): f is exact and the correction is small compared with it.
    let e = f64::from(exponent);
    let correction = s.mul_add(f - series, -(e * LN2_LOW));
    e.mul_add(LN2_HIGH, f - correction)
}

/// cos 2 pi v and sin 2 pi v for v in [0, 1).
///
/// v = k/4 + r with |r| <= 1/8 is exact; a = 2 pi r, |a| <= pi/4; the Taylor series to a^18 and a^19 leave less than
/// 1e-20 of the value.
#[inline(always)]
fn cos_sin_turn(v: f64) -> (f64, f64) {
    let quadrant = 4.0f64.mul_add(v, 0.5).floor();
    let r = 0.25f64.mul_add(-quadrant, v);
    let a = r * std::f64::consts::TAU;
    let t = a * a;
    let mut c = -1.0 / 6_402_373_705_728_000.0;
    for term in [
        1.0 / 20_922_789_888_000.0,
        -1.0 / 87_178_291_200.0,
        1.0 / 479_001_600.0,
        -1.0 / 3_628_800.0,
        1.0 / 40_320.0,
        -1.0 / 720.0,
        1.0 / 24.0,
        -0.5,
        1.0,
    ] {
        c = t.mul_add(c, term);
    }
    let mut s = -1.0 / 121_645_100_408_832_000.0;
    for term in [
        1.0 / 355_687_428_096_000.0,
        -1.0 / 1_307_674_368_000.0,
        1.0 / 6_227_020_800.0,
        -1.0 / 39_916_800.0,
        1.0 / 362_880.0,
        -1.0 / 5_040.0,
        1.0 / 120.0,
        -1.0 / 6.0,
    ] {
        s = t.mul_add(s, term);
    }
    let s = (a * t).mul_add(s, a);
    // Quadrants 0 to 4: (c, s), (-s, c), (-c, -s), (s, -c) and (c, s) again, without a branch.
    let (one, two, three) = (quadrant == 1.0, quadrant == 2.0, quadrant == 3.0);
    let (x, y) = if one | three { (s, c) } else { (c, s) };
    (if one | two { -x } else { x }, if two | three { -y } else { y })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn philox_gives_its_published_answers() {
        let cases = [
            ([0; 4], [0; 2], [1_713_891_541, 3_781_805_453, 3_159_862_348, 2_600_524_760]),
            ([u32::MAX; 4], [u32::MAX; 2], [1_083_123_565, 1_103_641_358, 2_718_681_030, 1_834_242_557]),
            (
                [608_135_816, 2_242_054_355, 320_440_878, 57_701_188],
                [2_752_067_618, 698_298_832],
                [3_513_581_065, 2_499_661_035, 1_342_301_216, 605_187_745],
            ),
        ];
        for (counter, key, expected) in cases {
            assert_eq!(philox(counter, key), expected);
        }
    }

    #[test]
    fn normals_equal_sixty_digit_values() {
        // Computed with 60 digits for seed 42, stream 0 and rounded.
        let cases: [(u64, u32, f64); 8] = [
            (0, 0, 0.886497505901441),
            (0, 1, 0.43935606943792654),
            (0, 2, 0.34103153577061535),
            (1, 0, -0.15660962291201727),
            (1, 1, -0.013718678830210423),
            (7, 5, 1.4604813920682405),
            (1000, 63, -0.11594817417465299),
            (8_589_934_597, 10, -0.4812779882823676),
        ];
        for (row, column, expected) in cases {
            let got = normal(42, 0, row, column);
            // One rounding each in ln (1 ulp), the root, the angle, the series and the product: 4 eps covers them.
            assert!((got - expected).abs() <= 4.0 * f64::EPSILON * expected.abs(), "{row} {column}: {got} {expected}");
        }
    }

    #[test]
    fn elementary_functions_agree_with_the_systems() {
        for k in 0..20_000u32 {
            let (u, v) = uniforms(7, 3, 11, k);
            assert!((ln(u) - u.ln()).abs() <= 2.0 * f64::EPSILON * u.ln().abs(), "{u}");
            let (c, s) = cos_sin_turn(v);
            let a = std::f64::consts::TAU * v;
            // The system's argument carries the rounding of 2 pi v, up to 8 eps/2 absolute.
            assert!((c - a.cos()).abs() < 4.0 * f64::EPSILON && (s - a.sin()).abs() < 4.0 * f64::EPSILON, "{v}");
        }
        assert_eq!(ln(1.0), 0.0);
        assert_eq!(cos_sin_turn(0.0), (1.0, 0.0));
        assert_eq!(cos_sin_turn(0.25), (0.0, 1.0));
        assert!(ln(1.0 / 9_007_199_254_740_992.0).is_finite());
    }

    #[test]
    fn moments_are_those_of_the_distributions() {
        let n = 40_000u32;
        let (mut sum, mut square, mut box_sum, mut box_square) = (0.0, 0.0, 0.0, 0.0);
        for k in 0..n {
            let x = normal(1, stream::STARTS, 0, k);
            let y = uniform(1, stream::STARTS, 1, k);
            assert!((-1.0..1.0).contains(&y));
            sum += x;
            square += x * x;
            box_sum += y;
            box_square += y * y;
        }
        let n = f64::from(n);
        // Five standard deviations of the estimates: sd of a mean of normals 1/sqrt(n), of squares sqrt(2/n), of
        // uniforms sqrt(1/3n), of their squares sqrt(4/45n).
        assert!((sum / n).abs() < 5.0 / n.sqrt());
        assert!((square / n - 1.0).abs() < 5.0 * (2.0 / n).sqrt());
        assert!((box_sum / n).abs() < 5.0 * (1.0 / (3.0 * n)).sqrt());
        assert!((box_square / n - 1.0 / 3.0).abs() < 5.0 * (4.0 / (45.0 * n)).sqrt());
    }
}
