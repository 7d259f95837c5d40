//! The ramp filter as a circular convolution of a vector of rows: each lane of the vectors is one row.
//!
//! Rows do not mix, so a row's bits depend on that row alone, and a pixel that is not finite affects no other row. A row of
//! `length` real samples is transformed as length / 2 complex ones. The forward transform decimates in frequency and leaves
//! the spectrum in permuted order. The inverse transform decimates in time and reads that order, so nothing is sorted.

use super::super::ops::Poll;
use crate::alloc;
use crate::backend::cpu::simd::{Lanes, Simd};
use crate::error::Result;

/// Complex vectors between two looks: about a millisecond's work. Sums by a prime factor p of the length take p / 4
/// times as long up to p = 256; with larger factors a look follows as many terms, or one sum.
const SEGMENT: usize = 1 << 16;

/// A filter's response for rows of one length.
pub struct Convolution {
    /// Complex samples of a transform.
    samples: usize,
    /// Number of complex vectors that are computed between two looks.
    segment: usize,
    stages: Vec<Stage>,
    pairs: Vec<Pair>,
}

/// One pass of a transform. It splits each block of `radix * step` samples into `radix` blocks.
struct Stage {
    radix: usize,
    step: usize,
    /// exp(-2 pi i j q / (radix step)) for q = 1 to radix - 1, for each j in order.
    twiddles: Vec<[f32; 2]>,
    /// exp(-2 pi i q / radix).
    roots: Vec<[f32; 2]>,
}

/// Frequencies k and samples - k of the packed spectrum Z. The spectrum X of the real row is
/// X[k] = E + w O, conj X[samples - k] = E - w O with E = (Z[k] + conj Z[samples - k]) / 2,
/// i O = (Z[k] - conj Z[samples - k]) / 2 and w = exp(-2 pi i k / length).
/// With the responses R and R' at the two and p = R + R', a = -i w (R - R') / 2, filtering is
/// Z[k] <- p Z[k] + (a D + conj(a) S), conj Z[samples - k] <- p conj Z[samples - k] + (a D - conj(a) S), D = 2 i O, S = 2 E.
struct Pair {
    /// Indices of both in the permuted order.
    places: [usize; 2],
    p: f32,
    a: [f32; 2],
}

impl Convolution {
    /// For rows of `length`, which is even, and the response at the frequencies 0 to length / 2, divided by `length`.
    pub fn new(length: usize, response: &[f64]) -> Result<Self> {
        let samples = length / 2;
        let mut stages = Vec::new();
        for (radix, step) in passes(samples) {
            stages.push(Stage::new(radix, step)?);
        }
        let place = |k: usize| {
            let (mut k, mut at) = (k, 0);
            for stage in &stages {
                at += k % stage.radix * stage.step;
                k /= stage.radix;
            }
            at
        };
        let mut pairs = alloc::with_capacity("frequencies", samples / 2 + 1)?;
        for k in 0..=samples / 2 {
            let (r, other) = (response[k], response[samples - k]);
            let (sin, cos) = (std::f64::consts::TAU * k as f64 / length as f64).sin_cos();
            let half = 0.5 * (r - other);
            let a = [-half * sin, -half * cos].map(|v| v as f32);
            pairs.push(Pair { places: [place(k), place((samples - k) % samples)], p: (r + other) as f32, a });
        }
        Ok(Self { samples, segment: SEGMENT, stages, pairs })
    }

    /// Bytes of the tables for rows of `length`, and of the scratch array of [`Self::run`] for vectors of `lanes`.
    pub fn bytes(length: usize, lanes: usize) -> [usize; 2] {
        let samples = length / 2;
        let number = size_of::<[f32; 2]>();
        let twiddles: usize = passes(samples).map(|(radix, step)| number * ((radix - 1) * step + radix)).sum();
        let largest = passes(samples).map(|(radix, _)| radix).max().unwrap_or(0);
        [twiddles + (samples / 2 + 1) * size_of::<Pair>(), number * lanes * largest]
    }

    /// Length of the scratch array of [`Self::run`], for vectors of `lanes`.
    pub fn spare(&self, lanes: usize) -> usize {
        2 * lanes * self.stages.iter().map(|s| s.radix).max().unwrap_or(0)
    }

    /// Convolves in place: `rows[s * LEN + r]` is sample s of the row in lane r. Ends early at an error of `poll`.
    #[inline(always)]
    pub fn run<S: Simd<f32>>(&self, simd: S, rows: &mut [f32], spare: &mut [f32], poll: Poll<'_>) -> Result<()> {
        for stage in &self.stages {
            stage.pass::<S, false>(simd, rows, spare, (self.segment, poll))?;
        }
        for pairs in self.pairs.chunks(self.segment) {
            poll()?;
            Self::respond(simd, pairs, rows);
        }
        for stage in self.stages.iter().rev() {
            stage.pass::<S, true>(simd, rows, spare, (self.segment, poll))?;
        }
        debug_assert_eq!(rows.len(), self.samples * 2 * S::V::LEN);
        Ok(())
    }

    /// Multiplies pairs of frequencies with the response.
    #[inline(always)]
    fn respond<S: Simd<f32>>(simd: S, pairs: &[Pair], rows: &mut [f32]) {
        let each = 2 * S::V::LEN;
        for pair in pairs {
            let [k, other] = pair.places.map(|at| at * each..(at + 1) * each);
            let (x, y) = (Complex::load(simd, &rows[k.clone()]), Complex::load(simd, &rows[other.clone()]));
            let (p, ar, ai) = (simd.splat(pair.p), simd.splat(pair.a[0]), simd.splat(pair.a[1]));
            let (dr, di) = (x.re.sub(y.re), x.im.add(y.im));
            let (sr, si) = (x.re.add(y.re), x.im.sub(y.im));
            let (d_re, d_im) = (di.neg_mul_add(ai, dr.mul(ar)), dr.mul_add(ai, di.mul(ar)));
            let (s_re, s_im) = (si.mul_add(ai, sr.mul(ar)), sr.neg_mul_add(ai, si.mul(ar)));
            Complex { re: p.mul_add(y.re, d_re.sub(s_re)), im: p.mul_add(y.im, s_im.sub(d_im)) }
                .store(&mut rows[other]);
            Complex { re: p.mul_add(x.re, d_re.add(s_re)), im: p.mul_add(x.im, d_im.add(s_im)) }.store(&mut rows[k]);
        }
    }
}

/// Radix and step of each pass of a transform of `samples` complex samples.
fn passes(samples: usize) -> impl Iterator<Item = (usize, usize)> {
    let mut left = samples;
    std::iter::from_fn(move || {
        if left <= 1 {
            return None;
        }
        let radix = [4, 2, 3].into_iter().find(|r| left.is_multiple_of(*r)).unwrap_or_else(|| least_factor(left));
        left /= radix;
        Some((radix, left))
    })
}

fn least_factor(n: usize) -> usize {
    (2..).take_while(|f| f * f <= n).find(|f| n.is_multiple_of(*f)).unwrap_or(n)
}

/// exp(-2 pi i k / n).
fn root(k: usize, n: usize) -> [f32; 2] {
    let (sin, cos) = (std::f64::consts::TAU * (k % n) as f64 / n as f64).sin_cos();
    [cos as f32, -sin as f32]
}

/// A vector of complex numbers.
#[derive(Clone, Copy)]
struct Complex<V> {
    re: V,
    im: V,
}

impl<V: Lanes<T = f32>> Complex<V> {
    #[inline(always)]
    fn load<S: Simd<f32, V = V>>(simd: S, from: &[f32]) -> Self {
        Self { re: simd.load(from), im: simd.load(&from[V::LEN..]) }
    }

    #[inline(always)]
    fn store(self, to: &mut [f32]) {
        let (re, im) = to.split_at_mut(V::LEN);
        self.re.store(re);
        self.im.store(im);
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self { re: self.re.add(other.re), im: self.im.add(other.im) }
    }

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Self { re: self.re.sub(other.re), im: self.im.sub(other.im) }
    }

    /// `self - i other`, lane by lane.
    #[inline(always)]
    fn minus_i(self, other: Self) -> Self {
        Self { re: self.re.add(other.im), im: self.im.sub(other.re) }
    }

    /// `self + i other`, lane by lane.
    #[inline(always)]
    fn plus_i(self, other: Self) -> Self {
        Self { re: self.re.sub(other.im), im: self.im.add(other.re) }
    }

    /// The product with a root of unity, or BACK with its conjugate.
    #[inline(always)]
    fn times<S: Simd<f32, V = V>, const BACK: bool>(self, simd: S, root: [f32; 2]) -> Self {
        let (re, im) = (simd.splat(root[0]), simd.splat(if BACK { -root[1] } else { root[1] }));
        Self { re: self.im.neg_mul_add(im, self.re.mul(re)), im: self.re.mul_add(im, self.im.mul(re)) }
    }
}

impl Stage {
    fn new(radix: usize, step: usize) -> Result<Self> {
        let mut twiddles = alloc::with_capacity("roots of unity", (radix - 1) * step)?;
        for j in 0..step {
            twiddles.extend((1..radix).map(|q| root(j * q, radix * step)));
        }
        let mut roots = alloc::with_capacity("roots of unity", radix)?;
        roots.extend((0..radix).map(|q| root(q, radix)));
        Ok(Self { radix, step, twiddles, roots })
    }

    /// One pass, or BACK its inverse times `radix`, with a look before each `segment` vectors.
    #[inline(always)]
    fn pass<S: Simd<f32>, const BACK: bool>(
        &self,
        simd: S,
        rows: &mut [f32],
        spare: &mut [f32],
        (segment, poll): (usize, Poll<'_>),
    ) -> Result<()> {
        let part = self.step * 2 * S::V::LEN;
        let whole = self.radix * part;
        if whole > segment * 2 * S::V::LEN {
            for block in rows.chunks_exact_mut(whole) {
                self.long::<S, BACK>(simd, block, spare, (segment, poll))?;
            }
            return Ok(());
        }
        for blocks in rows.chunks_mut(segment * 2 * S::V::LEN / whole * whole) {
            poll()?;
            for block in blocks.chunks_exact_mut(whole) {
                match self.radix {
                    2 => Self::two::<S, BACK>(simd, halves(block, part), &self.twiddles),
                    3 => Self::three::<S, BACK>(simd, thirds(block, part), &self.twiddles),
                    4 => Self::four::<S, BACK>(simd, quarters(block, part), &self.twiddles),
                    _ => self.any::<S, BACK>(simd, block, part, spare, (segment, poll))?,
                }
            }
        }
        Ok(())
    }

    /// [`Stage::pass`] for one block of more than `segment` vectors.
    #[inline(always)]
    fn long<S: Simd<f32>, const BACK: bool>(
        &self,
        simd: S,
        block: &mut [f32],
        spare: &mut [f32],
        (segment, poll): (usize, Poll<'_>),
    ) -> Result<()> {
        let part = self.step * 2 * S::V::LEN;
        let count = (segment / self.radix).max(1);
        let (piece, roots) = (count * 2 * S::V::LEN, self.twiddles.chunks((self.radix - 1) * count));
        match self.radix {
            2 => {
                let [a, b] = halves(block, part).map(|part| part.chunks_mut(piece));
                for ((a, b), w) in a.zip(b).zip(roots) {
                    poll()?;
                    Self::two::<S, BACK>(simd, [a, b], w);
                }
            }
            3 => {
                let [a, b, c] = thirds(block, part).map(|part| part.chunks_mut(piece));
                for (((a, b), c), w) in a.zip(b).zip(c).zip(roots) {
                    poll()?;
                    Self::three::<S, BACK>(simd, [a, b, c], w);
                }
            }
            4 => {
                let [a, b, c, d] = quarters(block, part).map(|part| part.chunks_mut(piece));
                for (((a, b), (c, d)), w) in a.zip(b).zip(c.zip(d)).zip(roots) {
                    poll()?;
                    Self::four::<S, BACK>(simd, [a, b, c, d], w);
                }
            }
            _ => self.any::<S, BACK>(simd, block, part, spare, (segment, poll))?,
        }
        Ok(())
    }

    #[inline(always)]
    fn two<S: Simd<f32>, const BACK: bool>(simd: S, [a, b]: [&mut [f32]; 2], twiddles: &[[f32; 2]]) {
        let each = 2 * S::V::LEN;
        for ((a, b), w) in a.chunks_exact_mut(each).zip(b.chunks_exact_mut(each)).zip(twiddles) {
            let (x, mut y) = (Complex::load(simd, a), Complex::load(simd, b));
            if BACK {
                y = y.times::<S, true>(simd, *w);
            }
            let (sum, mut difference) = (x.add(y), x.sub(y));
            if !BACK {
                difference = difference.times::<S, false>(simd, *w);
            }
            sum.store(a);
            difference.store(b);
        }
    }

    #[inline(always)]
    fn three<S: Simd<f32>, const BACK: bool>(simd: S, [a, b, c]: [&mut [f32]; 3], twiddles: &[[f32; 2]]) {
        let each = 2 * S::V::LEN;
        let (half, sine) = (simd.splat(0.5), simd.splat(0.75f32.sqrt()));
        let parts = a.chunks_exact_mut(each).zip(b.chunks_exact_mut(each)).zip(c.chunks_exact_mut(each));
        for (((a, b), c), w) in parts.zip(twiddles.chunks_exact(2)) {
            let (x, mut y, mut z) = (Complex::load(simd, a), Complex::load(simd, b), Complex::load(simd, c));
            if BACK {
                (y, z) = (y.times::<S, true>(simd, w[0]), z.times::<S, true>(simd, w[1]));
            }
            let (sum, difference) = (y.add(z), y.sub(z));
            let middle = Complex { re: sum.re.neg_mul_add(half, x.re), im: sum.im.neg_mul_add(half, x.im) };
            let turn = Complex { re: difference.re.mul(sine), im: difference.im.mul(sine) };
            let (low, high) = (middle.minus_i(turn), middle.plus_i(turn));
            x.add(sum).store(a);
            if BACK {
                high.store(b);
                low.store(c);
            } else {
                low.times::<S, false>(simd, w[0]).store(b);
                high.times::<S, false>(simd, w[1]).store(c);
            }
        }
    }

    #[inline(always)]
    fn four<S: Simd<f32>, const BACK: bool>(simd: S, [a, b, c, d]: [&mut [f32]; 4], twiddles: &[[f32; 2]]) {
        let each = 2 * S::V::LEN;
        let low = a.chunks_exact_mut(each).zip(b.chunks_exact_mut(each));
        let high = c.chunks_exact_mut(each).zip(d.chunks_exact_mut(each));
        for (((a, b), (c, d)), w) in low.zip(high).zip(twiddles.chunks_exact(3)) {
            let (x0, mut x1) = (Complex::load(simd, a), Complex::load(simd, b));
            let (mut x2, mut x3) = (Complex::load(simd, c), Complex::load(simd, d));
            if BACK {
                x1 = x1.times::<S, true>(simd, w[0]);
                x2 = x2.times::<S, true>(simd, w[1]);
                x3 = x3.times::<S, true>(simd, w[2]);
            }
            let (even, odd) = (x0.add(x2), x0.sub(x2));
            let (sum, difference) = (x1.add(x3), x1.sub(x3));
            even.add(sum).store(a);
            let (one, two, three) = (odd.minus_i(difference), even.sub(sum), odd.plus_i(difference));
            if BACK {
                three.store(b);
                two.store(c);
                one.store(d);
            } else {
                one.times::<S, false>(simd, w[0]).store(b);
                two.times::<S, false>(simd, w[1]).store(c);
                three.times::<S, false>(simd, w[2]).store(d);
            }
        }
    }

    /// Any radix, by the definition, with a look after each `segment` terms.
    #[inline(always)]
    fn any<S: Simd<f32>, const BACK: bool>(
        &self,
        simd: S,
        block: &mut [f32],
        part: usize,
        spare: &mut [f32],
        (segment, poll): (usize, Poll<'_>),
    ) -> Result<()> {
        let (each, radix) = (2 * S::V::LEN, self.radix);
        let mut left = segment;
        let spare = &mut spare[..radix * each];
        for (j, w) in self.twiddles.chunks_exact(radix - 1).enumerate() {
            for (q, x) in spare.chunks_exact_mut(each).enumerate() {
                let at = q * part + j * each;
                let mut value = Complex::load(simd, &block[at..at + each]);
                if BACK && q > 0 {
                    value = value.times::<S, true>(simd, w[q - 1]);
                }
                value.store(x);
            }
            for k in 0..radix {
                let mut sum = Complex::load(simd, spare);
                for (q, x) in spare.chunks_exact(each).enumerate().skip(1) {
                    let x = Complex::load(simd, x);
                    sum = sum.add(x.times::<S, BACK>(simd, self.roots[k * q % radix]));
                }
                if !BACK && k > 0 {
                    sum = sum.times::<S, false>(simd, w[k - 1]);
                }
                let at = k * part + j * each;
                sum.store(&mut block[at..at + each]);
                left = left.saturating_sub(radix);
                if left == 0 {
                    poll()?;
                    left = segment;
                }
            }
        }
        Ok(())
    }
}

/// The two parts of a block.
#[inline(always)]
fn halves(block: &mut [f32], part: usize) -> [&mut [f32]; 2] {
    let (a, b) = block.split_at_mut(part);
    [a, b]
}

#[inline(always)]
fn thirds(block: &mut [f32], part: usize) -> [&mut [f32]; 3] {
    let (a, rest) = block.split_at_mut(part);
    let [b, c] = halves(rest, part);
    [a, b, c]
}

#[inline(always)]
fn quarters(block: &mut [f32], part: usize) -> [&mut [f32]; 4] {
    let (low, high) = block.split_at_mut(2 * part);
    let ([a, b], [c, d]) = (halves(low, part), halves(high, part));
    [a, b, c, d]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::cpu::Isa;
    use crate::backend::cpu::simd::{Kernel, dispatch};

    struct Run<'a>(&'a Convolution, &'a [Vec<f64>], usize, Poll<'a>);

    impl Kernel<f32> for Run<'_> {
        type Output = Vec<Vec<f64>>;
        #[inline(always)]
        fn run<S: Simd<f32>>(self, simd: S) -> Vec<Vec<f64>> {
            let Run(convolution, signals, length, poll) = self;
            let lanes = S::V::LEN;
            let mut rows = vec![0f32; length * lanes];
            for (r, signal) in signals.iter().take(lanes).enumerate() {
                signal.iter().enumerate().for_each(|(s, v)| rows[s * lanes + r] = *v as f32);
            }
            convolution.run(simd, &mut rows, &mut vec![0.0; convolution.spare(lanes)], poll).unwrap();
            let row = |r: usize| (0..length).map(|s| f64::from(rows[s * lanes + r])).collect();
            (0..lanes.min(signals.len())).map(row).collect()
        }
    }

    #[test]
    fn rows_of_any_length_are_convolved_as_by_the_definition() {
        for length in [4usize, 6, 8, 10, 12, 14, 22, 30, 32, 48, 96, 100, 150, 154, 256, 384] {
            // An even kernel has a real response.
            let kernel: Vec<f64> = (0..length).map(|k| (0.9f64).powi(k.min(length - k) as i32)).collect();
            let response: Vec<f64> = (0..=length / 2)
                .map(|f| {
                    let wave = |k: usize| (std::f64::consts::TAU * (f * k % length) as f64 / length as f64).cos();
                    kernel.iter().enumerate().map(|(k, h)| h * wave(k)).sum::<f64>() / length as f64
                })
                .collect();
            let convolution = Convolution::new(length, &response).unwrap();
            let signals: Vec<Vec<f64>> = (0..16usize)
                .map(|r| (0..length).map(|s| ((s * s + 7 * r) % 13) as f64 - 6.0 + r as f64).collect())
                .collect();
            for isa in [Isa::Portable, Isa::Avx2, Isa::Avx512] {
                for (r, got) in dispatch(isa, Run(&convolution, &signals, length, &|| Ok(()))).iter().enumerate() {
                    let want: Vec<f64> = (0..length)
                        .map(|s| (0..length).map(|k| kernel[k] * signals[r][(s + length - k) % length]).sum())
                        .collect();
                    let scale = want.iter().fold(0f64, |m, w| m.max(w.abs()));
                    for (g, w) in got.iter().zip(&want) {
                        assert!((g - w).abs() < 2e-6 * scale, "{length} {isa:?} row {r}: {g} {w}");
                    }
                }
            }
        }
    }

    #[test]
    fn looks_are_as_close_as_asked_for_and_change_no_bit() {
        use std::sync::atomic::{AtomicUsize, Ordering};

        for length in [4usize, 16, 22, 194, 300, 1024, 1458] {
            let response: Vec<f64> = (0..=length / 2).map(|f| (f % 7) as f64 / length as f64).collect();
            let mut convolution = Convolution::new(length, &response).unwrap();
            let signals: Vec<Vec<f64>> =
                (0..16usize).map(|r| (0..length).map(|s| ((s * s + 7 * r) % 13) as f64 - 6.0).collect()).collect();
            let looks = AtomicUsize::new(0);
            let count = || {
                looks.fetch_add(1, Ordering::Relaxed);
                Ok(())
            };
            let mut run = |segment: usize| {
                convolution.segment = segment;
                let rows = dispatch(Isa::detect(), Run(&convolution, &signals, length, &count));
                // A look is followed by at most a segment, or by one vector of each part of a block. In long sums of a
                // prime it is followed by so many terms.
                let samples = length / 2;
                let of_stage = |s: &Stage| {
                    let is_sum = ![2, 3, 4].contains(&s.radix) && s.radix * s.radix > segment;
                    if is_sum { samples / segment.div_ceil(s.radix) / 2 } else { samples / segment.max(s.radix) }
                };
                let least = 2 * convolution.stages.iter().map(of_stage).sum::<usize>();
                let (found, least) = (looks.swap(0, Ordering::Relaxed), least + convolution.pairs.len() / segment);
                assert!(found >= least, "{length} {segment}: {found} looks, {least} are needed");
                rows
            };
            let want = run(SEGMENT);
            for segment in [1, 3, 16, 100] {
                assert!(run(segment) == want, "{length} {segment}");
            }
        }
    }
}
