//! The iterations in dimension 3, in registers. All code finds maxima; minima run on the negated tensor.

use super::flight::{Job, Rule, Step, state};
use super::nested::{self, Entries, Form, PerLane};
use super::pool::{Pool, job_of, row, stopped};
use super::steps::{Status, tiny2};
use super::uphill::{AscentStep, uphill};
use crate::backend::cpu::simd::{Lanes, Mask, Simd};
use crate::scalar::Real;
use crate::sshopm::options::Test;

/// Runs the starts of a pool until at most `keep` of them still run, for at most `steps` steps. The vectors take one step
/// each in rotation. The latency of a step is several times its throughput, so the processor overlaps the steps of
/// different vectors.
#[inline(always)]
pub fn advance<F: Form, T: Real, S: Simd<T>>(
    simd: S,
    rule: &Rule<T>,
    pool: &mut Pool<T>,
    keep: usize,
    steps: usize,
    power_steps: bool,
) {
    let width = S::V::LEN;
    // A constant length for the compiler.
    let whole = (row::ENTRIES + nested::entries(F::ORDER)) * width;
    let (data, size, ended) = pool.blocks::<S::V>();
    for _ in 0..steps {
        let mut still = 0;
        let mut rest = &mut data[..];
        // `chunks_exact_mut` would divide.
        while size <= rest.len() {
            let (block, others) = rest.split_at_mut(size);
            rest = others;
            let (head, entries) = block[..whole].split_at_mut(row::ENTRIES * width);
            let mut status = Status::read(simd, head);
            let running = status.running(simd);
            if !running.any() {
                continue;
            }
            let a = PerLane::new(simd, entries);
            let job = job_of(simd, head);
            let mut x = [simd.load(head), simd.load(&head[width..]), simd.load(&head[2 * width..])];
            let running = if power_steps {
                power::<F, T, S>(simd, a, rule, &job, &mut status, running, &mut x)
            } else {
                curved::<F, T, S>(simd, a, rule, &job, &mut status, running, &mut x)
            };
            still += running.bits().count_ones() as usize;
            x[0].store(head);
            x[1].store(&mut head[width..]);
            x[2].store(&mut head[2 * width..]);
            status.write(head);
        }
        if still <= keep {
            break;
        }
    }
    for (block, ended) in data.chunks_exact(size).zip(ended) {
        *ended = stopped(simd, block);
    }
}

/// x . y.
#[inline(always)]
pub fn dot<V: Lanes>(x: [V; 3], y: [V; 3]) -> V {
    x[0].mul_add(y[0], x[1].mul_add(y[1], x[2].mul(y[2])))
}

/// g - lambda x, computed explicitly: |g|^2 - lambda^2 would cancel.
#[inline(always)]
fn residual<V: Lanes>(g: [V; 3], lambda: V, x: [V; 3]) -> [V; 3] {
    [lambda.neg_mul_add(x[0], g[0]), lambda.neg_mul_add(x[1], g[1]), lambda.neg_mul_add(x[2], g[2])]
}

#[inline(always)]
fn squared_residual<V: Lanes>(g: [V; 3], lambda: V, x: [V; 3]) -> V {
    let r = residual(g, lambda, x);
    dot(r, r)
}

/// B x of a symmetric B = 11, 12, 13, 22, 23, 33.
#[inline(always)]
pub fn apply<V: Lanes>(b: [V; 6], x: [V; 3]) -> [V; 3] {
    [dot([b[0], b[1], b[2]], x), dot([b[1], b[3], b[4]], x), dot([b[2], b[4], b[5]], x)]
}

/// Moves the lanes of `going` to the direction of `next`, whose squared length is `norm2`. Stores the length of the step if
/// the test needs it.
#[inline(always)]
fn move_to<T: Real, S: Simd<T>>(
    simd: S,
    going: <S::V as Lanes>::M,
    status: &mut Status<S::V>,
    x: &mut [S::V; 3],
    next: [S::V; 3],
    norm2: S::V,
    measured: bool,
) {
    let scale = simd.rsqrt(norm2);
    let next = [next[0].mul(scale), next[1].mul(scale), next[2].mul(scale)];
    if measured {
        let d = [next[0].sub(x[0]), next[1].sub(x[1]), next[2].sub(x[2])];
        status.step2 = S::V::select(going, dot(d, d), status.step2);
    }
    // No iterators over arrays of vectors: dropping them is a function call, which would spill the vector registers.
    for i in 0..3 {
        x[i] = S::V::select(going, next[i], x[i]);
    }
}

/// A power step with a constant shift: one A x^(m-1). Returns the lanes that continue.
#[inline(always)]
fn power<F: Form, T: Real, S: Simd<T>>(
    simd: S,
    a: impl Entries<S::V>,
    rule: &Rule<T>,
    job: &Job<S::V>,
    status: &mut Status<S::V>,
    running: <S::V as Lanes>::M,
    x: &mut [S::V; 3],
) -> <S::V as Lanes>::M {
    status.shift = job.shift;
    let g = F::gradient::<T, S>(simd, a, *x);
    let lambda = dot(*x, g);
    // The other tests need the residual only of the starts that end.
    let tested = rule.test == Test::Residual;
    let residual2 = if tested { squared_residual(g, lambda, *x) } else { status.residual2 };
    let going = status.process(simd, rule, job, running, lambda, residual2);
    let ended = running.and_not(going);
    if !tested && ended.any() {
        status.residual2 = S::V::select(ended, squared_residual(g, lambda, *x), status.residual2);
        status.accept(simd, job, ended);
    }
    let next = [job.shift.mul_add(x[0], g[0]), job.shift.mul_add(x[1], g[1]), job.shift.mul_add(x[2], g[2])];
    let norm2 = dot(next, next);
    let vanished = going.and(norm2.le(simd.splat(tiny2())));
    status.end(simd, vanished, state::ZERO);
    let going = going.and_not(vanished);
    move_to(simd, going, status, x, next, norm2, rule.test == Test::Step);
    going
}

/// Trace and determinant of U'BU for lambda = x'Bx and residual2 = |B x - lambda x|^2.
#[inline(always)]
pub fn tangent_invariants<V: Lanes>(b: [V; 6], lambda: V, residual2: V) -> (V, V) {
    let whole = b[0].add(b[3]).add(b[5]);
    let minor = |p: V, q: V, o: V| o.neg_mul_add(o, p.mul(q));
    let e2 = minor(b[0], b[3], b[1]).add(minor(b[0], b[5], b[2])).add(minor(b[3], b[5], b[4]));
    let trace = whole.sub(lambda);
    // |B x|^2 = lambda^2 + residual2.
    (trace, lambda.neg_mul_add(trace, e2.add(residual2)))
}

/// A step that needs A x^(m-2): hybrid, adaptive power or Newton. Returns the lanes that continue.
///
/// Newton's step needs no basis of the tangent plane. With B = A x^(m-2), r = B x - lambda x and k = m - 1, the
/// projected Hessian H = k U'BU - lambda I has U H U' r = k (B r - |r|^2 x) - lambda r, trace k t - 2 lambda and
/// determinant k^2 d - k lambda t + lambda^2, where t = tr B - lambda and d = x' adj(B) x are trace and determinant of
/// U'BU. Its adjugate is trace I - H, so that with q = t - lambda / k the step -H^-1 U'r is (B r - |r|^2 x - q r) / (k
/// d - lambda q).
#[inline(always)]
fn curved<F: Form, T: Real, S: Simd<T>>(
    simd: S,
    a: impl Entries<S::V>,
    rule: &Rule<T>,
    job: &Job<S::V>,
    status: &mut Status<S::V>,
    running: <S::V as Lanes>::M,
    x: &mut [S::V; 3],
) -> <S::V as Lanes>::M {
    let b = F::matrix::<T, S>(simd, a, *x);
    let g = apply(b, *x);
    let lambda = dot(*x, g);
    let r = residual(g, lambda, *x);
    let residual2 = dot(r, r);
    let running = if rule.step == Step::Newton {
        newton_test(simd, rule, job, status, running, lambda, residual2)
    } else {
        status.process(simd, rule, job, running, lambda, residual2)
    };
    if rule.step == Step::Adaptive {
        let e = smallest_eigenvalue(simd, b);
        status.shift = S::V::select(running, adaptive_shift(simd, F::ORDER, e, job.tau), status.shift);
        let shift = status.shift;
        let next = [shift.mul_add(x[0], g[0]), shift.mul_add(x[1], g[1]), shift.mul_add(x[2], g[2])];
        let norm2 = dot(next, next);
        let vanished = running.and(norm2.le(simd.splat(tiny2())));
        status.end(simd, vanished, state::ZERO);
        let going = running.and_not(vanished);
        move_to(simd, going, status, x, next, norm2, rule.test == Test::Step);
        return going;
    }
    if rule.step == Step::Hybrid {
        let AscentStep { mut w, mut inverse, mut shift } = uphill(simd, F::ORDER, b, r, lambda, residual2, *x);
        if rule.warmup > T::ZERO {
            // y + alpha x is (lambda + alpha) x + r: as a direction, x + r / (lambda + alpha).
            let warming = status.iterations.le(simd.splat(rule.warmup));
            let alpha = warming_shift(simd, F::ORDER, b, lambda, residual2);
            let weight = simd.splat(T::ONE).div(lambda.add(alpha));
            for i in 0..3 {
                w[i] = S::V::select(warming, r[i], w[i]);
            }
            inverse = S::V::select(warming, weight, inverse);
            shift = S::V::select(warming, alpha, shift);
        }
        status.shift = S::V::select(running, shift, status.shift);
        let next = [w[0].mul_add(inverse, x[0]), w[1].mul_add(inverse, x[1]), w[2].mul_add(inverse, x[2])];
        move_to(simd, running, status, x, next, dot(next, next), rule.test == Test::Step);
        return running;
    }
    let (zero, one) = (simd.splat(T::ZERO), simd.splat(T::ONE));
    let k = simd.splat(T::from_f64((F::ORDER - 1) as f64));
    let (trace_b, determinant_b) = tangent_invariants(b, lambda, residual2);
    let part = lambda.mul(simd.splat(T::from_f64(1.0 / (F::ORDER - 1) as f64)));
    let q = trace_b.sub(part);
    let determinant = lambda.neg_mul_add(q, k.mul(determinant_b));
    let br = apply(b, r);
    let mut d = [lambda; 3];
    for i in 0..3 {
        d[i] = q.neg_mul_add(r[i], residual2.neg_mul_add(x[i], br[i]));
    }
    // Divide before it is known whether Newton's step is taken: the decision takes longer than a division.
    let mut inverse = one.div(determinant);
    let going = if rule.step == Step::Newton {
        // Trace and determinant of H; q - lambda / k and `determinant` are 1/k of them.
        let trace = q.sub(part).mul(k);
        let size = trace.mul_add(trace, determinant.mul(k).abs());
        let least = simd.splat(T::from_f64(if size_of::<T>() == 4 { 1e-6 } else { 1e-14 }));
        let singular = running.and(determinant.mul(k).abs().le(least.mul(size)));
        let length2 = dot(d, d).mul(inverse.mul(inverse));
        newton_ends(simd, status, running, singular, length2)
    } else {
        // H is negative definite and the step shorter than a half.
        let half = simd.splat(T::from_f64(0.5)).mul(determinant);
        let newton = q
            .lt(part)
            .and(zero.lt(determinant))
            .and(dot(d, d).lt(half.mul(half)))
            .and(simd.splat(rule.warmup).lt(status.iterations));
        let alpha = job.shift;
        // y + alpha x is (lambda + alpha) x + r: as a direction, x + r / (lambda + alpha).
        let weight = lambda.add(alpha);
        let vanished = running.and(weight.abs().le(simd.splat(T::from_f64(1e-30)))).and_not(newton);
        status.end(simd, vanished, state::ZERO);
        let going = running.and_not(vanished);
        for i in 0..3 {
            d[i] = S::V::select(newton, d[i], r[i]);
        }
        inverse = S::V::select(newton, inverse, one.div(weight));
        status.shift = S::V::select(going, S::V::select(newton, zero, alpha), status.shift);
        going
    };
    let next = [d[0].mul_add(inverse, x[0]), d[1].mul_add(inverse, x[1]), d[2].mul_add(inverse, x[2])];
    let norm2 = dot(next, next);
    move_to(simd, going, status, x, next, norm2, rule.test == Test::Step);
    going
}

/// The shift of the hybrid's power steps: the largest of 0, tau' - lambda_min(h) and tau' - (m-1) lambda with
/// h = (m-1) U'BU and tau' = 1e-3 |lambda|. (m-1) B + alpha I is then positive on the plane and, where lambda < 0, along x
/// too. A little more keeps lambda + alpha away from 0 where lambda is 0.
#[inline(always)]
fn warming_shift<T: Real, S: Simd<T>>(simd: S, m: usize, b: [S::V; 6], lambda: S::V, residual2: S::V) -> S::V {
    let zero = simd.splat(T::ZERO);
    let (trace, determinant) = tangent_invariants(b, lambda, residual2);
    let half = trace.mul(simd.splat(T::from_f64(0.5)));
    let spread = half.mul_add(half, zero.sub(determinant)).max(zero);
    let most = spread.sqrt().sub(half).max(zero.sub(lambda));
    let margin = lambda.abs().mul_add(simd.splat(T::from_f64(1e-3)), simd.splat(T::from_f64(1e-6)));
    simd.splat(T::from_f64((m - 1) as f64)).mul_add(most, margin).max(zero)
}

/// Stopping test of a Newton search for all pairs. It ends one step after the residual is within its floor, because that
/// step takes a quadratically convergent start to the level of rounding.
#[inline(always)]
pub fn newton_test<T: Real, S: Simd<T>>(
    simd: S,
    rule: &Rule<T>,
    job: &Job<S::V>,
    status: &mut Status<S::V>,
    running: <S::V as Lanes>::M,
    lambda: S::V,
    residual2: S::V,
) -> <S::V as Lanes>::M {
    let zero = simd.splat(T::ZERO);
    let within = residual2.le(job.floor2);
    // `shift` is 1 after the residual was within the floor; then this is the end of the last step.
    let last = zero.lt(status.shift);
    let out = simd.splat(rule.max_iterations).le(status.iterations);
    let ended = running.and(within.and(last).or(out));
    let converged = ended.and(within);
    let exhausted = ended.and_not(within);
    status.lambda = lambda;
    status.residual2 = residual2;
    status.end(simd, converged, state::CONVERGED);
    status.end(simd, exhausted, state::EXHAUSTED);
    let going = running.and_not(ended);
    status.iterations = S::V::select(going, status.iterations.add(simd.splat(T::ONE)), status.iterations);
    status.shift = S::V::select(within, simd.splat(T::ONE), zero);
    going
}

/// Ends the starts that cannot take Newton's step, whose squared length is `length2`; returns those that can. A start
/// within the floor of the residual has converged: at a continuum of eigenvectors the Hessian is singular, and the step
/// along it is a quotient of rounding errors with an arbitrary length.
#[inline(always)]
pub fn newton_ends<T: Real, S: Simd<T>>(
    simd: S,
    status: &mut Status<S::V>,
    running: <S::V as Lanes>::M,
    singular: <S::V as Lanes>::M,
    length2: S::V,
) -> <S::V as Lanes>::M {
    let zero = simd.splat(T::ZERO);
    // Within the floor, the distance to a nondegenerate pair is at most floor / |smallest Hessian eigenvalue|. The
    // defaults of both give 1e-4 (f64) and 1e-2 (f32).
    let long = simd.splat(T::from_f64(if size_of::<T>() == 4 { 1e-4 } else { 1e-8 }));
    let within = running.and(zero.lt(status.shift));
    let flat = within.and(singular).or(within.and(long.lt(length2)));
    let lost = singular.and_not(flat);
    status.end(simd, flat, state::CONVERGED);
    status.end(simd, lost, state::SINGULAR);
    running.and_not(flat).and_not(lost)
}

/// Kolda and Mayo's shift (2014), which makes A x^m + alpha |x|^m convex at x with a margin tau. e is the smallest
/// eigenvalue of A x^(m-2).
#[inline(always)]
pub fn adaptive_shift<T: Real, S: Simd<T>>(simd: S, m: usize, e: S::V, tau: S::V) -> S::V {
    let m = m as f64;
    let enough = tau.mul(simd.splat(T::from_f64(1.0 / (m * m - m)))).le(e);
    let shift = simd.splat(T::from_f64(m - 1.0)).neg_mul_add(e, tau.mul(simd.splat(T::from_f64(1.0 / m))));
    S::V::select(enough, simd.splat(T::ZERO), shift)
}

/// Coefficients of -2 cos((2/3) acos w) for w in [0, 1], in powers of 2w - 1, highest first. Chebyshev interpolation of
/// degree 16 with an error of at most 2e-14. The function is smooth there, so no arc cosine is needed.
const LEAST_ROOT: [f64; 17] = [
    4.388_145_922_115_899e-10,
    -1.030_501_040_909_868e-9,
    1.690_142_427_061_127_6e-9,
    -7.284_508_415_837_466e-9,
    2.758_558_022_260_398_2e-8,
    -9.224_486_289_262_974e-8,
    3.184_497_736_926_886e-7,
    -1.128_036_298_054_926e-6,
    4.071_996_427_602_591e-6,
    -1.508_223_251_704_551_6e-5,
    5.783_981_616_729_975e-5,
    -2.328_508_947_032_555_4e-4,
    1.008_249_388_342_658_7e-3,
    -4.932_705_630_910_805e-3,
    3.101_837_687_272_19e-2,
    -0.494_818_132_645_691_9,
    -1.532_088_886_237_954_7,
];

/// Smallest eigenvalue of the symmetric 11, 12, 13, 22, 23, 33: q + p t, where t is the smallest root of
/// t^3 - 3t = 2r, with q a third of the trace, p^2 a sixth of |B - qI|^2 and r half the determinant of (B - qI)/p.
#[inline(always)]
pub fn smallest_eigenvalue<T: Real, S: Simd<T>>(simd: S, b: [S::V; 6]) -> S::V {
    let number = |x: f64| simd.splat(T::from_f64(x));
    let q = b[0].add(b[3]).add(b[5]).mul(number(1.0 / 3.0));
    let (u, v, w) = (b[0].sub(q), b[3].sub(q), b[5].sub(q));
    let off = dot([b[1], b[2], b[4]], [b[1], b[2], b[4]]);
    // The floor keeps p^3 from underflowing.
    let floor = number(if size_of::<T>() == 4 { 1e-20 } else { 1e-190 });
    let p2 = dot([u, v, w], [u, v, w]).add(off.add(off)).mul(number(1.0 / 6.0)).max(floor);
    let p = p2.sqrt();
    let det = u
        .mul(b[4].neg_mul_add(b[4], v.mul(w)))
        .sub(b[1].mul(b[4].neg_mul_add(b[2], b[1].mul(w))))
        .add(b[2].mul(v.neg_mul_add(b[2], b[1].mul(b[4]))));
    let r = det.div(p2.mul(p)).mul(number(0.5)).max(number(-1.0)).min(number(1.0));
    let c = number(1.0).sub(r).mul(number(0.5)).sqrt();
    // acos r = 2 asin c, and the smallest root 2 cos(acos(r)/3 + 2 pi/3) = -2 cos((2/3) acos c).
    let s = c.add(c).sub(number(1.0));
    let mut t = number(LEAST_ROOT[0]);
    for coefficient in &LEAST_ROOT[1..] {
        t = t.mul_add(s, number(*coefficient));
    }
    // In f32 r loses half its digits where two roots are close. The margin makes the shift err on the safe side.
    let margin = if size_of::<T>() == 4 { 1e-3 } else { 0.0 };
    p.mul_add(t.sub(number(margin)), q)
}

/// Eigenvalues of the projected Hessian at x, ascending. They are computed in a basis (u, w) of the tangent plane, because
/// the trace and the determinant alone would lose half the digits of close eigenvalues.
#[inline(always)]
pub fn hessian_eigenvalues<T: Real, S: Simd<T>>(
    simd: S,
    m: usize,
    b: [S::V; 6],
    lambda: S::V,
    [x, y, z]: [S::V; 3],
) -> (S::V, S::V) {
    let (zero, one) = (simd.splat(T::ZERO), simd.splat(T::ONE));
    let minus_one = zero.sub(one);
    let s = S::V::select(z.lt(zero), minus_one, one);
    let a = minus_one.div(s.add(z));
    let c = a.mul(x).mul(y);
    let u = [s.mul(a).mul(x).mul_add(x, one), s.mul(c), zero.sub(s.mul(x))];
    let w = [c, a.mul(y).mul_add(y, s), zero.sub(y)];
    let (bu, bw) = (apply(b, u), apply(b, w));
    let (h11, h12, h22) = (dot(u, bu), dot(u, bw), dot(w, bw));
    let k = simd.splat(T::from_f64((m - 1) as f64));
    let half = simd.splat(T::from_f64(0.5));
    let mean = k.mul(half).mul(h11.add(h22)).sub(lambda);
    let d = half.mul(h11.sub(h22));
    let radius = k.mul(d.mul_add(d, h12.mul(h12)).sqrt());
    (mean.sub(radius), mean.add(radius))
}
