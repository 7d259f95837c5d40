//! Newton steps of minimum norm, in f64 and for one point: near a continuum of eigenvectors the Hessian is singular along it,
//! and a step across it is all that is needed.

use faer::Mat;

use crate::alloc;
use crate::error::{Error, Result};
use crate::scalar::Real;
use crate::shape::product;
use crate::sshopm::cpu::load::{exponent_of, power_of_two_times as scale};
use crate::tensor::Symmetric;
use crate::tensor::symmetric::Monomials;

/// Most steps.
const STEPS: usize = 60;
/// Eigenvalues of the projected Hessian below this, relative to the largest magnitude, count as 0.
const FLAT: f64 = 1e-6;
/// Power steps towards a maximum or a minimum.
const POWER_STEPS: usize = 200;
/// Longest step.
const LONGEST: f64 = 0.5;

/// Where a start ended.
pub(super) struct Ending {
    /// A x^m.
    pub(super) lambda: f64,
    /// |A x^(m-1) - lambda x|.
    pub(super) residual: f64,
    /// x with norm 1.
    pub(super) x: Vec<f64>,
    /// Eigenvalues of the projected Hessian, ascending.
    pub(super) hessian: Vec<f64>,
}

/// One tensor as a polynomial.
pub(super) struct Approach {
    shape: Symmetric,
    /// The power of two that the entries, which are not all 0, were divided by: squares of what is computed of them neither overflow nor vanish.
    exponent: i32,
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
        let exponent = exponent_of(a.iter().fold(0.0f64, |most, x| most.max(x.to_f64().abs())));
        for ((k, a), w) in exponents.chunks_exact_mut(n).zip(a).zip(multinomials) {
            if let Some((_, tuple)) = walk.next_tuple() {
                tuple.iter().for_each(|i| k[*i] += 1);
            }
            weights.push(scale(a.to_f64(), -exponent) * w.to_f64() / pairs);
        }
        Ok(Self { shape, exponent, exponents, weights })
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
    pub(super) fn run<T: Real>(&self, x: &mut [T], (direction, length): (&[f64], f64), floor: f64) -> Result<()> {
        let n = self.shape.dimension;
        let floor = scale(floor, -self.exponent);
        let mut p = alloc::filled("start vectors", n, 0.0)?;
        for (p, (x, d)) in p.iter_mut().zip(x.iter().zip(direction)) {
            *p = x.to_f64() + length * d;
        }
        normalise(&mut p);
        for _ in 0..STEPS {
            let b = self.matrix(&p);
            let (lambda, y) = self.product(&b, &p)?;
            let r = |i: usize| y[i] - lambda * p[i];
            if norm_of(n, r) <= floor {
                break;
            }
            let h = self.hessian(&b, &p, (lambda, &y));
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

    /// Takes x uphill, or with `down` downhill, by power steps with a sufficient shift, of which every one moves lambda the same
    /// way: unlike Newton steps they end at an eigenvector wherever they begin.
    pub(super) fn climb<T: Real>(&self, x: &mut [T], down: bool) -> Result<()> {
        let n = self.shape.dimension;
        let k = (self.shape.order - 1) as f64;
        let direction = if down { -1.0 } else { 1.0 };
        let mut p = alloc::filled("start vectors", n, 0.0)?;
        p.iter_mut().zip(x.iter()).for_each(|(p, x)| *p = x.to_f64());
        normalise(&mut p);
        for _ in 0..POWER_STEPS {
            let b = self.matrix(&p);
            let (_, y) = self.product(&b, &p)?;
            // The largest row sum bounds every eigenvalue of A x^(m-2).
            let bound = (0..n).map(|i| (0..n).map(|j| b[(i, j)].abs()).sum::<f64>()).fold(0.0, f64::max);
            p.iter_mut().zip(&y).for_each(|(p, y)| *p = direction * y + k * bound * *p);
            normalise(&mut p);
            if p.iter().any(|c| !c.is_finite()) {
                return Ok(());
            }
        }
        x.iter_mut().zip(&p).for_each(|(x, p)| *x = T::from_f64(*p));
        Ok(())
    }

    /// lambda and A x^(m-1) at x, from A x^(m-2).
    fn product(&self, b: &Mat<f64>, x: &[f64]) -> Result<(f64, Vec<f64>)> {
        let n = self.shape.dimension;
        let mut y = alloc::filled("start vectors", n, 0.0)?;
        y.iter_mut().enumerate().for_each(|(i, y)| *y = (0..n).map(|j| b[(i, j)] * x[j]).sum());
        Ok((x.iter().zip(&y).map(|(x, y)| x * y).sum(), y))
    }

    /// P ((m-1) B - lambda I) P with P = I - x x', B = A x^(m-2): x itself has the eigenvalue 0.
    fn hessian(&self, b: &Mat<f64>, x: &[f64], (lambda, y): (f64, &[f64])) -> Mat<f64> {
        let (n, k) = (self.shape.dimension, (self.shape.order - 1) as f64);
        Mat::from_fn(n, n, |i, j| {
            let inner = b[(i, j)] - x[i] * y[j] - y[i] * x[j] + lambda * x[i] * x[j];
            k * inner - lambda * (f64::from(u8::from(i == j)) - x[i] * x[j])
        })
    }

    /// What is at x, which need not have norm 1.
    pub(super) fn ending<T: Real>(&self, x: &[T]) -> Result<Ending> {
        let n = self.shape.dimension;
        let mut p = alloc::filled("start vectors", n, 0.0)?;
        p.iter_mut().zip(x).for_each(|(p, x)| *p = x.to_f64());
        normalise(&mut p);
        let b = self.matrix(&p);
        let (lambda, y) = self.product(&b, &p)?;
        let residual = norm_of(n, |i| y[i] - lambda * p[i]);
        let decomposition = self
            .hessian(&b, &p, (lambda, &y))
            .self_adjoint_eigen(faer::Side::Lower)
            .map_err(|_| Error::Numerical("the symmetric eigensolver did not converge".into()))?;
        let (values, vectors) = (decomposition.S().column_vector(), decomposition.U());
        // All but that of x.
        let along = |e: usize| (0..n).map(|i| vectors[(i, e)] * p[i]).sum::<f64>().abs();
        let own = (1..n).fold(0, |best, e| if along(e) > along(best) { e } else { best });
        let mut hessian = alloc::with_capacity("start vectors", n)?;
        hessian.extend((0..n).filter(|e| *e != own).map(|e| scale(values[e], self.exponent)));
        let up = |x: f64| scale(x, self.exponent);
        Ok(Ending { lambda: up(lambda), residual: up(residual), x: p, hessian })
    }
}

/// The length of a vector.
fn norm_of(n: usize, r: impl Fn(usize) -> f64) -> f64 {
    (0..n).map(|i| r(i) * r(i)).sum::<f64>().sqrt()
}

fn normalise(x: &mut [f64]) {
    let norm = x.iter().map(|c| c * c).sum::<f64>().sqrt();
    x.iter_mut().for_each(|c| *c /= norm);
}
