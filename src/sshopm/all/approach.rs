//! Newton steps of minimum norm, in f64 and for one point. Near a continuum of eigenvectors the Hessian is singular
//! along the continuum, so a step only has to go across it.

use crate::alloc;
use crate::error::Result;
use crate::scalar::Real;
use crate::shape::product;
use crate::sshopm::cpu::load::{exponent_of, power_of_two_times as scale};
use crate::sshopm::jacobi::{jacobi, projected};
use crate::tensor::Symmetric;
use crate::tensor::symmetric::Monomials;

/// Limit of Newton steps from one start.
const STEPS: usize = 60;
/// Eigenvalues of the projected Hessian below this, relative to the largest magnitude, count as 0.
const FLAT: f64 = 1e-6;
/// Number of power steps towards a maximum or a minimum.
const POWER_STEPS: usize = 200;
/// Limit of consecutive steps that do not halve the smallest residual so far.
const PATIENCE: usize = 15;
/// Limit of the length of a step.
const LONGEST: f64 = 0.5;

/// The end of a start.
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
    /// The exponent of the power of two that the entries, not all 0, were divided by, so that squares neither overflow nor
    /// underflow.
    exponent: i32,
    /// Exponents, n for each monomial.
    exponents: Vec<u32>,
    /// Entry times multinomial coefficient divided by m (m - 1).
    weights: Vec<f64>,
}

/// Memory for one point. Matrices are n x n.
struct Work {
    n: usize,
    data: Vec<f64>,
    /// x_i^k at `[i * (m + 1) + k]`.
    powers: Vec<f64>,
}

/// The arrays of [`Work`]: vectors of n numbers, matrices of n x n.
struct Arrays<'a> {
    /// The point, with norm 1.
    x: &'a mut [f64],
    /// A x^(m-1).
    y: &'a mut [f64],
    step: &'a mut [f64],
    /// A x^(m-2).
    b: &'a mut [f64],
    /// The projected Hessian; after [`jacobi`] its eigenvalues are on the diagonal.
    h: &'a mut [f64],
    /// Eigenvectors, one in each row.
    vectors: &'a mut [f64],
    powers: &'a mut [f64],
}

impl Work {
    fn new(shape: Symmetric) -> Result<Self> {
        let n = shape.dimension;
        let size = product("start vectors", n, 3)?.saturating_add(product("start vectors", n, 3 * n)?);
        Ok(Self {
            n,
            data: alloc::filled("start vectors", size, 0.0)?,
            powers: alloc::filled("start vectors", product("start vectors", n, shape.order + 1)?, 0.0)?,
        })
    }

    fn arrays(&mut self) -> Arrays<'_> {
        let n = self.n;
        let (x, rest) = self.data.split_at_mut(n);
        let (y, rest) = rest.split_at_mut(n);
        let (step, rest) = rest.split_at_mut(n);
        let (b, rest) = rest.split_at_mut(n * n);
        let (h, vectors) = rest.split_at_mut(n * n);
        Arrays { x, y, step, b, h, vectors, powers: &mut self.powers }
    }
}

impl Approach {
    /// Creates the polynomial from packed entries.
    pub(super) fn new<T: Real>(shape: Symmetric, a: &[T], multinomials: &[T]) -> Result<Self> {
        let n = shape.dimension;
        let mut exponents = alloc::filled("exponents", product("exponents", a.len(), n)?, 0u32)?;
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

    /// Evaluates A x^(m-2) and A x^(m-1), and returns A x^m.
    fn evaluate(&self, at: &mut Arrays<'_>) -> f64 {
        let Symmetric { order: m, dimension: n } = self.shape;
        for (x, powers) in at.x.iter().zip(at.powers.chunks_exact_mut(m + 1)) {
            let mut power = 1.0;
            for p in powers {
                *p = power;
                power *= x;
            }
        }
        at.b.fill(0.0);
        let powers = &*at.powers;
        for (k, weight) in self.exponents.chunks_exact(n).zip(&self.weights) {
            for i in (0..n).filter(|i| k[*i] > 0) {
                for j in 0..=i {
                    // Number of ordered pairs of positions that hold i and j.
                    let count = k[i] * (k[j] - u32::from(i == j && k[j] > 0));
                    if count == 0 {
                        continue;
                    }
                    let mut term = weight * f64::from(count);
                    for (l, (k, powers)) in k.iter().zip(powers.chunks_exact(m + 1)).enumerate() {
                        let less = u32::from(l == i) + u32::from(l == j);
                        term *= powers[(k - less) as usize];
                    }
                    at.b[i * n + j] += term;
                }
            }
        }
        for i in 0..n {
            for j in 0..i {
                at.b[j * n + i] = at.b[i * n + j];
            }
        }
        for (y, row) in at.y.iter_mut().zip(at.b.chunks_exact(n)) {
            *y = dot(row, at.x);
        }
        dot(at.x, at.y)
    }

    /// Eigenvalues and eigenvectors of P ((m-1) B - lambda I) P with P = I - x x', B = A x^(m-2): x itself has the
    /// eigenvalue 0.
    fn decompose(&self, at: &mut Arrays<'_>, lambda: f64) {
        let (n, k) = (self.shape.dimension, (self.shape.order - 1) as f64);
        let (x, y) = (&*at.x, &*at.y);
        for i in 0..n {
            for j in 0..n {
                at.h[i * n + j] = projected(at.b[i * n + j], (x, y, lambda), k, 0.0, (i, j));
            }
        }
        jacobi(n, at.h, at.vectors);
    }

    /// Moves x by `length` times `direction`, then towards an eigenvector until the residual is at most `floor`.
    pub(super) fn run<T: Real>(&self, x: &mut [T], start: (&[f64], f64), floor: f64) -> Result<()> {
        self.steps(x, start, floor, FLAT)
    }

    /// The same along all directions, including flat ones. Near a pair with a Hessian of 0 the error falls by a
    /// constant factor in each step. If there is no pair nearby, the steps move away.
    pub(super) fn run_along_all<T: Real>(&self, x: &mut [T], start: (&[f64], f64), floor: f64) -> Result<()> {
        self.steps(x, start, floor, 0.0)
    }

    fn steps<T: Real>(&self, x: &mut [T], (direction, length): (&[f64], f64), floor: f64, flat: f64) -> Result<()> {
        let n = self.shape.dimension;
        let floor = scale(floor, -self.exponent);
        let mut work = Work::new(self.shape)?;
        let mut at = work.arrays();
        for (p, (x, d)) in at.x.iter_mut().zip(x.iter().zip(direction)) {
            *p = x.to_f64() + length * d;
        }
        normalize(at.x);
        let (mut bound, mut patience) = (f64::INFINITY, PATIENCE);
        for _ in 0..STEPS {
            let lambda = self.evaluate(&mut at);
            let residual = at.residual(lambda);
            if residual < bound {
                (bound, patience) = (0.5 * residual, PATIENCE);
            }
            patience -= 1;
            if residual <= floor || patience == 0 {
                break;
            }
            self.decompose(&mut at, lambda);
            let largest = (0..n).fold(0.0f64, |m, e| m.max(at.h[e * n + e].abs()));
            at.step.fill(0.0);
            for (e, vector) in at.vectors.chunks_exact(n).enumerate() {
                let value = at.h[e * n + e];
                if value.abs() > flat * largest {
                    let r = |i: usize| at.y[i] - lambda * at.x[i];
                    let share = (0..n).map(|i| vector[i] * r(i)).sum::<f64>() / value;
                    at.step.iter_mut().zip(vector).for_each(|(d, v)| *d -= share * v);
                }
            }
            let size = dot(at.step, at.step).sqrt();
            if size == 0.0 || !size.is_finite() {
                break;
            }
            let scale = (LONGEST / size).min(1.0);
            at.x.iter_mut().zip(&*at.step).for_each(|(p, d)| *p += scale * d);
            normalize(at.x);
        }
        x.iter_mut().zip(&*at.x).for_each(|(x, p)| *x = T::from_f64(*p));
        Ok(())
    }

    /// Moves x uphill, or with `down` downhill, by power steps with a sufficient shift. Each step moves lambda in the same
    /// direction, so unlike Newton steps they approach an eigenvector from any start.
    pub(super) fn climb<T: Real>(&self, x: &mut [T], down: bool) -> Result<()> {
        let n = self.shape.dimension;
        let k = (self.shape.order - 1) as f64;
        let direction = if down { -1.0 } else { 1.0 };
        let mut work = Work::new(self.shape)?;
        let mut at = work.arrays();
        at.x.iter_mut().zip(x.iter()).for_each(|(p, x)| *p = x.to_f64());
        normalize(at.x);
        for _ in 0..POWER_STEPS {
            self.evaluate(&mut at);
            // The largest row sum bounds every eigenvalue of A x^(m-2).
            let bound = at.b.chunks_exact(n).map(|row| row.iter().map(|b| b.abs()).sum::<f64>()).fold(0.0, f64::max);
            at.x.iter_mut().zip(&*at.y).for_each(|(p, y)| *p = direction * y + k * bound * *p);
            normalize(at.x);
            if at.x.iter().any(|c| !c.is_finite()) {
                return Ok(());
            }
        }
        x.iter_mut().zip(&*at.x).for_each(|(x, p)| *x = T::from_f64(*p));
        Ok(())
    }

    /// The largest residual at `count` points of the arc from x to y, or to its opposite.
    pub(super) fn most_between(&self, x: &[f64], y: &[f64], turned: bool, count: usize) -> Result<f64> {
        let mut work = Work::new(self.shape)?;
        let mut at = work.arrays();
        let sign = if turned { -1.0 } else { 1.0 };
        let mut most = 0.0f64;
        for k in 1..=count {
            let t = k as f64 / (count + 1) as f64;
            at.x.iter_mut().zip(x.iter().zip(y)).for_each(|(p, (x, y))| *p = (1.0 - t) * x + sign * t * y);
            normalize(at.x);
            let lambda = self.evaluate(&mut at);
            most = most.max(at.residual(lambda));
        }
        Ok(scale(most, self.exponent))
    }

    /// Evaluates the tensor at x, which need not have norm 1.
    pub(super) fn ending<T: Real>(&self, x: &[T]) -> Result<Ending> {
        let n = self.shape.dimension;
        let mut work = Work::new(self.shape)?;
        let mut at = work.arrays();
        at.x.iter_mut().zip(x).for_each(|(p, x)| *p = x.to_f64());
        normalize(at.x);
        let lambda = self.evaluate(&mut at);
        let residual = at.residual(lambda);
        self.decompose(&mut at, lambda);
        // All eigenvalues except that of x.
        let along = |e: usize| dot(&at.vectors[e * n..(e + 1) * n], at.x).abs();
        let own = (1..n).fold(0, |best, e| if along(e) > along(best) { e } else { best });
        let mut hessian = alloc::with_capacity("start vectors", n)?;
        hessian.extend((0..n).filter(|e| *e != own).map(|e| scale(at.h[e * n + e], self.exponent)));
        hessian.sort_unstable_by(f64::total_cmp);
        let x = alloc::copied("start vectors", at.x)?;
        let up = |x: f64| scale(x, self.exponent);
        Ok(Ending { lambda: up(lambda), residual: up(residual), x, hessian })
    }
}

impl Arrays<'_> {
    /// |A x^(m-1) - lambda x|.
    fn residual(&self, lambda: f64) -> f64 {
        self.x.iter().zip(&*self.y).map(|(x, y)| (y - lambda * x).powi(2)).sum::<f64>().sqrt()
    }
}

fn dot(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| x * y).sum()
}

fn normalize(x: &mut [f64]) {
    let norm = x.iter().map(|c| c * c).sum::<f64>().sqrt();
    x.iter_mut().for_each(|c| *c /= norm);
}
