//! Small dense linear algebra in lanes: element (i, j) of lane l of a matrix of order n at `[(i * n + j) * LEN + l]`.

use crate::backend::cpu::simd::{Lanes, Mask, Simd};
use crate::scalar::Real;

#[inline(always)]
fn at<T: Real, S: Simd<T>>(simd: S, a: &[T], k: usize) -> S::V {
    simd.load(&a[k * S::V::LEN..])
}

#[inline(always)]
fn put<T: Real, V: Lanes<T = T>>(a: &mut [T], k: usize, value: V) {
    value.store(&mut a[k * V::LEN..]);
}

/// Solves A x = b for symmetric positive definite A by Cholesky; overwrites both. Returns the lanes whose A is positive
/// definite; the results of the others are meaningless.
#[inline(always)]
pub fn cholesky_solve<T: Real, S: Simd<T>>(simd: S, a: &mut [T], b: &mut [T], n: usize) -> <S::V as Lanes>::M {
    let (zero, one) = (simd.splat(T::ZERO), simd.splat(T::ONE));
    let mut definite = zero.le(zero);
    for j in 0..n {
        let mut pivot = at(simd, a, j * n + j);
        for k in 0..j {
            let l = at(simd, a, j * n + k);
            pivot = l.neg_mul_add(l, pivot);
        }
        let positive = zero.lt(pivot);
        definite = definite.and(positive);
        // 1 / L_jj; a lane that failed continues with 1.
        let inverse = one.div(S::V::select(positive, pivot, one).sqrt());
        put(a, j * n + j, inverse);
        for i in j + 1..n {
            let mut sum = at(simd, a, i * n + j);
            for k in 0..j {
                sum = at(simd, a, i * n + k).neg_mul_add(at(simd, a, j * n + k), sum);
            }
            put(a, i * n + j, sum.mul(inverse));
        }
        let mut sum = at(simd, b, j);
        for k in 0..j {
            sum = at(simd, a, j * n + k).neg_mul_add(at(simd, b, k), sum);
        }
        put(b, j, sum.mul(inverse));
    }
    for j in (0..n).rev() {
        let mut sum = at(simd, b, j);
        for k in j + 1..n {
            sum = at(simd, a, k * n + j).neg_mul_add(at(simd, b, k), sum);
        }
        put(b, j, sum.mul(at(simd, a, j * n + j)));
    }
    definite
}

/// Solves A x = b by Householder's QR; overwrites both. Returns the lanes whose A is regular: no diagonal element of R is
/// below 1e-14 (f64) or 1e-6 (f32) of the largest.
#[inline(always)]
pub fn qr_solve<T: Real, S: Simd<T>>(simd: S, a: &mut [T], b: &mut [T], n: usize) -> <S::V as Lanes>::M {
    let (zero, one) = (simd.splat(T::ZERO), simd.splat(T::ONE));
    let (mut least, mut largest) = (simd.splat(T::from_f64(f64::INFINITY)), zero);
    for j in 0..n {
        let mut norm2 = zero;
        for i in j..n {
            let x = at(simd, a, i * n + j);
            norm2 = x.mul_add(x, norm2);
        }
        let norm = norm2.sqrt();
        let head = at(simd, a, j * n + j);
        let diagonal = S::V::select(head.lt(zero), norm, zero.sub(norm));
        least = least.min(norm);
        largest = largest.max(norm);
        // v = column - diagonal e_j, and I - v v' / (norm (norm + |head|)).
        put(a, j * n + j, head.sub(diagonal));
        let size = norm.mul(norm.add(head.abs()));
        let beta = S::V::select(zero.lt(size), one.div(size), zero);
        for c in j + 1..=n {
            let mut sum = zero;
            for i in j..n {
                let other = if c < n { at(simd, a, i * n + c) } else { at(simd, b, i) };
                sum = at(simd, a, i * n + j).mul_add(other, sum);
            }
            let sum = sum.mul(beta);
            for i in j..n {
                let v = at(simd, a, i * n + j);
                if c < n {
                    let new = v.neg_mul_add(sum, at(simd, a, i * n + c));
                    put(a, i * n + c, new);
                } else {
                    let new = v.neg_mul_add(sum, at(simd, b, i));
                    put(b, i, new);
                }
            }
        }
        // The reflection is applied; store R's diagonal element over it.
        put(a, j * n + j, diagonal);
    }
    let regular = simd.splat(T::from_f64(if size_of::<T>() == 4 { 1e-6 } else { 1e-14 })).mul(largest).lt(least);
    for j in (0..n).rev() {
        let mut sum = at(simd, b, j);
        for k in j + 1..n {
            sum = at(simd, a, j * n + k).neg_mul_add(at(simd, b, k), sum);
        }
        let diagonal = S::V::select(regular, at(simd, a, j * n + j), one);
        put(b, j, sum.div(diagonal));
    }
    regular
}

/// A lower bound of the smallest eigenvalue of a symmetric matrix (Samuelson's inequality): mean - sd sqrt(n - 1) of the
/// eigenvalues, whose mean and square sum are the trace and the Frobenius norm. Exact for n = 2.
#[inline(always)]
pub fn least_eigenvalue_bound<T: Real, S: Simd<T>>(simd: S, a: &[T], n: usize) -> S::V {
    let (mean, spread) = eigenvalue_bounds(simd, a, n);
    mean.sub(spread)
}

/// The corresponding upper bound of the largest eigenvalue.
#[inline(always)]
pub fn largest_eigenvalue_bound<T: Real, S: Simd<T>>(simd: S, a: &[T], n: usize) -> S::V {
    let (mean, spread) = eigenvalue_bounds(simd, a, n);
    mean.add(spread)
}

/// Mean of the eigenvalues, and a bound of their distance from it.
#[inline(always)]
fn eigenvalue_bounds<T: Real, S: Simd<T>>(simd: S, a: &[T], n: usize) -> (S::V, S::V) {
    let count = simd.splat(T::from_f64(1.0 / n as f64));
    let zero = simd.splat(T::ZERO);
    let mut trace = zero;
    for i in 0..n {
        trace = trace.add(at(simd, a, i * n + i));
    }
    let mean = trace.mul(count);
    // Subtract the mean before squaring, to avoid cancellation.
    let mut square = zero;
    for i in 0..n {
        for j in 0..n {
            let x = at(simd, a, i * n + j);
            let x = if i == j { x.sub(mean) } else { x };
            square = x.mul_add(x, square);
        }
    }
    let spread = square.mul(count).mul(simd.splat(T::from_f64((n - 1) as f64)));
    (mean, spread.sqrt())
}

/// Smallest eigenvalue of a symmetric matrix, which is overwritten, by cyclic Jacobi rotations.
#[inline(always)]
pub fn least_eigenvalue<T: Real, S: Simd<T>>(simd: S, a: &mut [T], n: usize) -> S::V {
    jacobi(simd, a, n);
    let mut least = at(simd, a, 0);
    for i in 1..n {
        least = least.min(at(simd, a, i * n + i));
    }
    least
}

/// Diagonalizes a symmetric matrix. Convergence is quadratic: sweeps end when the off-diagonal part is at rounding.
#[inline(always)]
pub fn jacobi<T: Real, S: Simd<T>>(simd: S, a: &mut [T], n: usize) {
    let (zero, one, two) = (simd.splat(T::ZERO), simd.splat(T::ONE), simd.splat(T::from_f64(2.0)));
    for _ in 0..12 {
        let (mut off, mut all) = (zero, zero);
        for i in 0..n {
            for j in 0..n {
                let x = at(simd, a, i * n + j);
                all = x.mul_add(x, all);
                if i != j {
                    off = x.mul_add(x, off);
                }
            }
        }
        let rounding = T::EPSILON.to_f64();
        if !simd.splat(T::from_f64(rounding * rounding)).mul(all).lt(off).any() {
            return;
        }
        for p in 0..n {
            for q in p + 1..n {
                let apq = at(simd, a, p * n + q);
                let d = at(simd, a, q * n + q).sub(at(simd, a, p * n + p));
                // tan of the angle: the smaller root of t^2 + (d / apq) t - 1 = 0.
                let twice = two.mul(apq);
                let root = d.mul_add(d, twice.mul(twice)).sqrt();
                let size = d.abs().add(root);
                let t = S::V::select(zero.lt(size), twice.div(size), zero);
                let t = S::V::select(d.lt(zero), zero.sub(t), t);
                let c = one.div(t.mul_add(t, one).sqrt());
                let s = t.mul(c);
                for k in 0..n {
                    let (x, y) = (at(simd, a, k * n + p), at(simd, a, k * n + q));
                    put(a, k * n + p, s.neg_mul_add(y, c.mul(x)));
                    put(a, k * n + q, c.mul_add(y, s.mul(x)));
                }
                for k in 0..n {
                    let (x, y) = (at(simd, a, p * n + k), at(simd, a, q * n + k));
                    put(a, p * n + k, s.neg_mul_add(y, c.mul(x)));
                    put(a, q * n + k, c.mul_add(y, s.mul(x)));
                }
            }
        }
    }
}
