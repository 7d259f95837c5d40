//! Newton steps of minimum norm, in f64 and for one point: near a continuum of eigenvectors the Hessian is singular along it,
//! and a step across it is all that is needed.

use faer::Mat;

use crate::alloc;
use crate::error::{Error, Result};
use crate::scalar::Real;
use crate::shape::product;
use crate::tensor::Symmetric;
use crate::tensor::symmetric::Monomials;

/// Most steps.
const STEPS: usize = 60;
/// Eigenvalues of the projected Hessian below this, relative to the largest magnitude, count as 0.
const FLAT: f64 = 1e-6;
/// Longest step.
const LONGEST: f64 = 0.5;

/// One tensor as a polynomial.
pub(super) struct Approach {
    shape: Symmetric,
    /// Exponents, n a monomial.
    exponents: Vec<i32>,
    /// Entry times multinomial coefficient over m (m - 1).
    weights: Vec<f64>,
}

impl Approach {
    /// The polynomial of packed entries.
    pub(super) fn new<T: Real>(shape: Symmetric, a: &[T], multinomials: &[T]) -> Result<Self> {
        let n = shape.dimension;
        let mut exponents = alloc::filled("exponents", product("exponents", a.len(), n)?, 0i32)?;
        let mut weights = alloc::with_capacity("exponents", a.len())?;
        let mut walk = Monomials::new(shape)?;
        let pairs = (shape.order * (shape.order - 1)) as f64;
        for ((k, a), w) in exponents.chunks_exact_mut(n).zip(a).zip(multinomials) {
            if let Some((_, tuple)) = walk.next_tuple() {
                tuple.iter().for_each(|i| k[*i] += 1);
            }
            weights.push(a.to_f64() * w.to_f64() / pairs);
        }
        Ok(Self { shape, exponents, weights })
    }

    /// A x^(m-2).
    fn matrix(&self, x: &[f64]) -> Mat<f64> {
        let n = self.shape.dimension;
        let mut b = Mat::<f64>::zeros(n, n);
        for (k, weight) in self.exponents.chunks_exact(n).zip(&self.weights) {
            for i in 0..n {
                for j in 0..=i {
                    // Ordered pairs of positions that hold i and j.
                    let count = f64::from(k[i]) * (f64::from(k[j]) - if i == j { 1.0 } else { 0.0 });
                    if count == 0.0 {
                        continue;
                    }
                    let power = |l: usize| x[l].powi(k[l] - i32::from(l == i) - i32::from(l == j));
                    b[(i, j)] += weight * count * (0..n).map(power).product::<f64>();
                }
            }
        }
        for i in 0..n {
            for j in 0..i {
                b[(j, i)] = b[(i, j)];
            }
        }
        b
    }

    /// Moves x by `length` times `direction`, then towards an eigenvector until the residual is at most `floor`.
    pub(super) fn run<T: Real>(&mut self, x: &mut [T], (direction, length): (&[f64], f64), floor: f64) -> Result<()> {
        let n = self.shape.dimension;
        let k = (self.shape.order - 1) as f64;
        let mut p = alloc::filled("start vectors", n, 0.0)?;
        for (p, (x, d)) in p.iter_mut().zip(x.iter().zip(direction)) {
            *p = x.to_f64() + length * d;
        }
        normalise(&mut p);
        for _ in 0..STEPS {
            let b = self.matrix(&p);
            let y = |i: usize| (0..n).map(|j| b[(i, j)] * p[j]).sum::<f64>();
            let lambda: f64 = (0..n).map(|i| p[i] * y(i)).sum();
            let r = |i: usize| y(i) - lambda * p[i];
            if (0..n).map(|i| r(i) * r(i)).sum::<f64>().sqrt() <= floor {
                break;
            }
            // P ((m-1) B - lambda I) P with P = I - x x': x itself has the eigenvalue 0, which the step leaves out.
            let mut h = Mat::<f64>::zeros(n, n);
            for i in 0..n {
                for j in 0..n {
                    let inner = b[(i, j)] - p[i] * y(j) - y(i) * p[j] + lambda * p[i] * p[j];
                    h[(i, j)] = k * inner - lambda * (f64::from(u8::from(i == j)) - p[i] * p[j]);
                }
            }
            let decomposition = h
                .self_adjoint_eigen(faer::Side::Lower)
                .map_err(|_| Error::Numerical("the symmetric eigensolver did not converge".into()))?;
            let (values, vectors) = (decomposition.S().column_vector(), decomposition.U());
            let largest = (0..n).fold(0.0f64, |m, e| m.max(values[e].abs()));
            let mut step = alloc::filled("start vectors", n, 0.0)?;
            for e in (0..n).filter(|e| values[*e].abs() > FLAT * largest) {
                let share = (0..n).map(|i| vectors[(i, e)] * r(i)).sum::<f64>() / values[e];
                step.iter_mut().enumerate().for_each(|(i, d)| *d -= share * vectors[(i, e)]);
            }
            let size = step.iter().map(|d| d * d).sum::<f64>().sqrt();
            if size == 0.0 || !size.is_finite() {
                break;
            }
            let scale = (LONGEST / size).min(1.0);
            p.iter_mut().zip(&step).for_each(|(p, d)| *p += scale * d);
            normalise(&mut p);
        }
        for (x, p) in x.iter_mut().zip(&p) {
            *x = T::from_f64(*p);
        }
        Ok(())
    }
}

fn normalise(x: &mut [f64]) {
    let norm = x.iter().map(|c| c * c).sum::<f64>().sqrt();
    x.iter_mut().for_each(|c| *c /= norm);
}
