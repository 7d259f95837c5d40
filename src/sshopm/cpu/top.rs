//! Tests whether a start ended at a maximum of its form, by sampling where the Hessian cannot decide.
//!
//! Near a circle of minima of one straight fibre (d . x)^m, or near a point of inflection, the residual of a start is of
//! rounding size. The start ends there although values increase in some direction.

use super::chain::packed;
use super::engine::{Engine, Vectors, WIDEST};
use crate::alloc;
use crate::error::Result;
use crate::scalar::Real;
use crate::sshopm::jacobi::{jacobi, projected};
use crate::tensor::Symmetric;

/// Directions in the plane of two eigenvectors: a prime number, so that the samples resolve a form of any order.
const DIRECTIONS: usize = 29;
/// Limit of the eigenvectors that are combined.
const MOST_FLAT: usize = 8;
/// Distances of the samples, as exponents of 2.
const DISTANCES: std::ops::RangeInclusive<i32> = -10..=-1;

/// Memory to test one point.
pub struct Probe<T> {
    shape: Symmetric,
    /// `WIDEST` points of n components each.
    samples: Vec<T>,
    out: Vec<T>,
    /// Point, gradient and a direction, n each.
    vectors: Vec<f64>,
    h: Vec<f64>,
    /// Eigenvectors, one in each row.
    basis: Vec<f64>,
}

/// Bound of the squared eigenvalues of the projected Hessian that may be 0 at a degenerate pair nearby, in units of
/// norm times residual. On a form of Frobenius norm 1 the largest third derivative along a great circle is sqrt(m
/// choose 3) 6.
pub fn uncertainty(order: usize) -> f64 {
    let m = order as f64;
    18.0 * (m * (m - 1.0) * (m - 2.0) / 6.0).sqrt() / m
}

impl<T: Real> Probe<T> {
    /// Allocates memory for one shape.
    ///
    /// # Errors
    /// [`crate::error::Error::OutOfMemory`].
    pub fn new(shape: Symmetric) -> Result<Self> {
        let n = shape.dimension;
        let size = n.max(n * (n + 1) / 2) * WIDEST;
        Ok(Self {
            shape,
            samples: alloc::filled("samples", n * WIDEST, T::ZERO)?,
            out: alloc::filled("samples", size, T::ZERO)?,
            vectors: alloc::filled("samples", 3 * n, 0.0)?,
            h: alloc::filled("samples", n * n, 0.0)?,
            basis: alloc::filled("samples", n * n, 0.0)?,
        })
    }

    /// Values of the form at the first `count` samples.
    fn values(&mut self, engine: &mut dyn Engine<T>, a: &[T], count: usize) -> &[T] {
        engine.contract(a, Vectors { data: &self.samples, stride: WIDEST, count }, 0, &mut self.out);
        &self.out[..count]
    }

    /// Whether the form with entries `a` and Frobenius norm `norm` has a local maximum at x, within the accuracy of its
    /// type. x is a pair with the given residual. Eigenvalues of the projected Hessian above -`flat` count as 0.
    pub fn is_top(
        &mut self,
        engine: &mut dyn Engine<T>,
        a: &[T],
        x: impl Iterator<Item = T>,
        [residual, norm, flat]: [f64; 3],
    ) -> bool {
        let Symmetric { order: m, dimension: n } = self.shape;
        if n == 1 {
            return true;
        }
        for (i, c) in x.enumerate() {
            self.vectors[i] = c.to_f64();
            self.samples[i * WIDEST..(i + 1) * WIDEST].fill(c);
        }
        let value = self.values(engine, a, 1)[0].to_f64();
        engine.contract(a, Vectors { data: &self.samples, stride: WIDEST, count: 1 }, 2, &mut self.out);
        let (x, rest) = self.vectors.split_at_mut(n);
        let (y, _) = rest.split_at_mut(n);
        let b = |i: usize, j: usize| self.out[packed(n, i.min(j), i.max(j)) * WIDEST].to_f64();
        for (i, y) in y.iter_mut().enumerate() {
            *y = (0..n).map(|j| b(i, j) * x[j]).sum();
        }
        for i in 0..n {
            for j in 0..n {
                let own = -4.0 * m as f64 * norm;
                self.h[i * n + j] = projected(b(i, j), (x, y, value), (m - 1) as f64, own, (i, j));
            }
        }
        jacobi(n, &mut self.h, &mut self.basis);
        // Move the flat eigenvectors to the front.
        let mut count = 0;
        for e in 0..n {
            if self.h[e * n + e] >= -flat && count < MOST_FLAT {
                (0..n).for_each(|i| self.basis.swap(count * n + i, e * n + i));
                count += 1;
            }
        }
        let is_plane = count > 1;
        let planes = if is_plane { count * (count - 1) / 2 } else { count };
        let each = if is_plane { DIRECTIONS } else { 2 };
        let (mut p, mut q) = (0, usize::from(is_plane));
        for _ in 0..planes {
            let mut decided = [false; DIRECTIONS];
            for exponent in DISTANCES {
                let h = 2f64.powi(exponent);
                for (s, decided) in decided[..each].iter().enumerate() {
                    let (sine, cosine) = match (decided, is_plane) {
                        (true, _) => continue,
                        (_, true) => (std::f64::consts::TAU * s as f64 / DIRECTIONS as f64).sin_cos(),
                        (_, false) => (0.0, if s == 0 { 1.0 } else { -1.0 }),
                    };
                    let (x, rest) = self.vectors.split_at_mut(n);
                    let direction = &mut rest[n..];
                    let mut square = 0.0;
                    for i in 0..n {
                        let d = cosine * self.basis[p * n + i] + sine * self.basis[q * n + i];
                        direction[i] = x[i] + h * d;
                        square += direction[i] * direction[i];
                    }
                    let scale = 1.0 / square.sqrt();
                    (0..n).for_each(|i| self.samples[i * WIDEST + s] = T::from_f64(direction[i] * scale));
                }
                let doubt = 64.0 * T::EPSILON.to_f64() * norm + 2.0 * m as f64 * residual * h;
                let values = self.values(engine, a, each);
                for (decided, v) in decided.iter_mut().zip(values).filter(|(d, _)| !**d) {
                    if v.to_f64() - value > doubt {
                        return false;
                    }
                    *decided = v.to_f64() - value < -doubt;
                }
            }
            q += 1;
            if q >= count {
                p += 1;
                q = p + 1;
            }
        }
        true
    }
}
