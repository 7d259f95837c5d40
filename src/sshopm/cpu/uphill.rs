//! The step of the hybrid in dimension 3: Newton's step on the sphere, safeguarded by a shift of the Hessian.
//!
//! `three.rs` and `uphill.rs` import each other: the step uses products with the tensor, and the iteration on these
//! takes the step.

use super::three::{apply, tangent_invariants};
use crate::backend::cpu::simd::{Lanes, Simd};
use crate::scalar::Real;

/// A step from x to x + `w` `inverse`, in the tangent plane.
pub struct AscentStep<V> {
    /// Direction of the step, orthogonal to x, without its length.
    pub w: [V; 3],
    /// Factor that gives the direction its length.
    pub inverse: V,
    /// The multiple of the identity that was subtracted from the projected Hessian.
    pub shift: V,
}

/// Newton's step at x with the shifted projected Hessian H - s I. The shift s >= 0 is the smallest for which H - s I is
/// negative definite and the step is no longer than 2/m, less than a third of the wavelength of a form of degree m. The step
/// is always uphill, and a multiple of E in the tensor does not change it.
///
/// With B = A x^(m-2), r = B x - lambda x, k = m - 1 and g = (m/2) |r| / k, let h2 <= h1 be the eigenvalues of
/// H / k = U'BU - q I, q = lambda / k. The shifted eigenvalues are -e1 = -max(-h1, g) and -e2 = h2 - h1 - e1, so that the
/// determinant e1 e2 has no cancellation and |d| <= |r| / (k e1) <= 2/m. By Cayley and Hamilton, with the trace t2 of U'BU,
/// the step is d = (B r - |r|^2 x - (t2 - q - s) r) / (k e1 e2), where s = h1 + e1.
#[inline(always)]
pub fn uphill<T: Real, S: Simd<T>>(
    simd: S,
    m: usize,
    b: [S::V; 6],
    r: [S::V; 3],
    lambda: S::V,
    residual2: S::V,
    x: [S::V; 3],
) -> AscentStep<S::V> {
    let order = m as f64;
    let number = |x: f64| simd.splat(T::from_f64(x));
    let k = number(order - 1.0);
    let (trace, determinant) = tangent_invariants(b, lambda, residual2);
    let q = lambda.mul(number(1.0 / (order - 1.0)));
    let half = trace.mul(number(0.5));
    let gap = half.mul_add(half, number(0.0).sub(determinant)).max(number(0.0)).sqrt();
    let top = half.add(gap).sub(q);
    // If the residual is 0 as well, this keeps the product of both from underflowing.
    let tiny = number(if size_of::<T>() == 4 { 1e-18 } else { 1e-150 });
    let steepness = residual2.sqrt().mul_add(number(0.5 * order / (order - 1.0)), tiny);
    let first = number(0.0).sub(top).max(steepness);
    let second = number(2.0).mul_add(gap, first);
    let shift = first.add(top);
    let c = trace.sub(q).sub(shift);
    let inverse = number(1.0).div(k.mul(first).mul(second));
    let mut w = apply(b, r);
    for i in 0..3 {
        w[i] = c.neg_mul_add(r[i], residual2.neg_mul_add(x[i], w[i]));
    }
    AscentStep { w, inverse, shift: k.mul(shift) }
}
