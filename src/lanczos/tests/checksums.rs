//! Bits of the pairs: a change of structure must not change one.

use std::sync::Arc;

use super::inputs::symmetric;
use super::operators::rectangular;
use crate::context::Context;
use crate::dense::Op;
use crate::error::Result;
use crate::lanczos::operator::{Kind, Symmetric};
use crate::lanczos::singular::{Request, SingularOperator, singular_triplets};
use crate::lanczos::solve::{SolveInputs, eigenpairs, tridiagonalize};
use crate::lanczos::{Filter, Info, Method, Options, Orthogonalization, Pairs, Verify, Which};
use crate::matrix::{Matrix, Operator};
use crate::progress::Progress;
use crate::scalar::{Complex, Scalar};
use crate::testing::checksums::{Cases, Checksum, checksum_tests, scalar, value};

checksum_tests!("lanczos", cases);

fn cases(c: &Arc<Context>, out: &mut Cases) {
    of::<f32>(c, out);
    of::<f64>(c, out);
    of::<Complex<f32>>(c, out);
    of::<Complex<f64>>(c, out);
}

/// Order of the matrices: beyond that of the spaces that hold everything.
const N: usize = 72;

/// A band, and a hub; off the diagonal without negative real parts.
fn hub<T: Scalar>(c: &Arc<Context>) -> Matrix {
    let number = |k: usize| {
        let x: T = scalar(k);
        T::from_parts(x.re().abs(), x.im())
    };
    let band = (0..3 * N).map(|k| (k % N, (k % N + 1 + k / N * 5) % N, number(k)));
    let star = (5..N).step_by(7).map(|j| (1, j, number(2000 + j)));
    let diagonal = (0..N).map(|i| (i, i, T::from_parts(value(3000 + i).abs(), 0.0)));
    let mut entries: Vec<(usize, usize, T)> = band.chain(star).collect();
    entries.iter_mut().for_each(|e| (e.0, e.1) = (e.0.min(e.1), e.0.max(e.1)));
    entries.extend(diagonal);
    symmetric(c, N, &entries)
}

fn sum_of<T: Scalar>(pairs: &Pairs<T>) -> Checksum {
    let Info { stop_reason: reason, converged, products, restarts, degree, .. } = pairs.info;
    Checksum::new().numbers(&pairs.values).numbers(&pairs.vectors).numbers(&pairs.residuals).integers([
        reason as u64,
        converged as u64,
        products as u64,
        restarts as u64,
        degree as u64,
    ])
}

fn pairs<T: Scalar>(
    c: &Arc<Context>,
    a: &Matrix,
    kind: Kind,
    options: &Options,
    given: &SolveInputs<'_, T>,
) -> Result<Checksum> {
    let mut operator = Symmetric::<T>::new(c, a, kind, 0.0)?;
    eigenpairs(c, &mut operator, options, given, &Progress::none()).map(|pairs| sum_of(&pairs))
}

/// Solves with a matrix of `diagonal` and -1 beside it.
struct Tridiagonal {
    diagonal: Vec<f64>,
}

impl<T: Scalar> Operator<T> for Tridiagonal {
    fn shape(&self) -> (usize, usize) {
        (N, N)
    }

    fn apply(&mut self, _: Op, x: &[T], _: usize, y: &mut [T]) -> Result<()> {
        for (x, y) in x.chunks_exact(N).zip(y.chunks_exact_mut(N)) {
            let (mut pivots, mut sums) = (self.diagonal.clone(), vec![Complex::new(0.0, 0.0); N]);
            for i in 0..N {
                sums[i] = Complex::new(x[i].re(), x[i].im());
                if i > 0 {
                    let factor = 1.0 / pivots[i - 1];
                    pivots[i] -= factor;
                    let before = sums[i - 1] * factor;
                    sums[i] += before;
                }
            }
            for i in (0..N).rev() {
                let after = if i + 1 < N { sums[i + 1] } else { Complex::new(0.0, 0.0) };
                sums[i] = (sums[i] + after) / pivots[i];
                y[i] = T::from_parts(sums[i].re, sums[i].im);
            }
        }
        Ok(())
    }
}

fn of<T: Scalar>(c: &Arc<Context>, out: &mut Cases) {
    let name = T::DTYPE.name();
    let a = hub::<T>(c);
    let base = Options { count: 4, ..Options::default() };
    let filter = Filter::Chebyshev;
    for (what, options) in [
        ("largest", base),
        ("smallest", Options { which: Which::Smallest, ..base }),
        ("both ends", Options { which: Which::BothEnds, verify: Verify::On, ..base }),
        ("largest magnitude", Options { which: Which::LargestMagnitude, verify: Verify::Off, ..base }),
        ("small basis", Options { basis: 12, seed: 3, ..base }),
        ("loose", Options { tolerance: 1e-3, ..base }),
        ("whole space", Options { count: 70, ..base }),
        ("block", Options { block: 3, ..base }),
        ("block, both ends", Options { block: 2, basis: 20, which: Which::BothEnds, ..base }),
        ("partial", Options { orthogonalization: Orthogonalization::Partial, basis: 40, ..base }),
        ("plain", Options { method: Method::Plain, basis: 60, ..base }),
        ("plain, smallest", Options { method: Method::Plain, which: Which::Smallest, ..base }),
        ("filter", Options { filter, which: Which::Smallest, tolerance: 1e-5, ..base }),
        ("filter of degree 6", Options { filter, degree: 6, tolerance: 1e-5, ..base }),
        ("nearest", Options { which: Which::Nearest, sigma: 0.4, count: 2, tolerance: 1e-4, ..base }),
        ("few restarts", Options { basis: 8, restarts: 2, verify: Verify::Off, ..base }),
    ] {
        out.add(format!("{name} {what}"), pairs::<T>(c, &a, Kind::Matrix, &options, &SolveInputs::default()));
    }
    for kind in Kind::HERMITIAN.into_iter().skip(1).filter(|_| T::DTYPE == crate::scalar::DType::F64) {
        let options = Options { count: 3, which: Which::Smallest, tolerance: 1e-5, ..base };
        out.add(format!("{name} {kind:?}"), pairs::<T>(c, &a, kind, &options, &SolveInputs::default()));
    }
    let start: Vec<T> = (0..N).map(|k| scalar(k + 11)).collect();
    let known: Vec<T> = (0..2 * N).map(|k| scalar(k + 500)).collect();
    let given = SolveInputs { start: Some(&start[..]), deflate: &known, ..SolveInputs::default() };
    out.add(format!("{name} start and known vectors"), pairs(c, &a, Kind::Matrix, &base, &given));

    let diagonal: Vec<f64> = (0..N).map(|i| 2.5 + value(i + 40).abs()).collect();
    let entries: Vec<(usize, usize, T)> = diagonal
        .iter()
        .enumerate()
        .map(|(i, d)| (i, i, T::from_parts(*d, 0.0)))
        .chain((1..N).map(|i| (i - 1, i, T::from_parts(-1.0, 0.0))))
        .collect();
    let (tridiagonal, inverse) =
        (symmetric(c, N, &entries), Matrix::from_operator::<T>(c, Box::new(Tridiagonal { diagonal })));
    let given = SolveInputs::<T> { solve: Some(&inverse), ..SolveInputs::default() };
    let options = Options { which: Which::Nearest, ..base };
    out.add(format!("{name} solve"), pairs(c, &tridiagonal, Kind::Matrix, &options, &given));

    let run = || {
        let mut operator = Symmetric::<T>::new(c, &a, Kind::Matrix, 0.0)?;
        let found = tridiagonalize(c, &mut operator, 30, 2, None, &Progress::none())?;
        Ok(Checksum::new().numbers(&found.alpha).numbers(&found.beta))
    };
    out.add(format!("{name} tridiagonal"), run());
    singular::<T>(c, out);
}

fn singular<T: Scalar>(c: &Arc<Context>, out: &mut Cases) {
    for (rows, cols) in [(80, 66), (66, 75)] {
        let a = rectangular::<T>(c, rows, cols, 4);
        for through in [SingularOperator::Auto, SingularOperator::Gram, SingularOperator::Augmented] {
            for which in [Which::Largest, Which::Smallest] {
                if through != SingularOperator::Auto && (which == Which::Smallest || rows < cols) {
                    continue;
                }
                let run = || {
                    let request = Request { through, ..Request::default() };
                    let options = Options { count: 3, which, ..Options::default() };
                    let found = singular_triplets::<T>(c, &a, request, &options, &Progress::none())?;
                    let sum = Checksum::new().numbers(&found.values).numbers(&found.residuals);
                    Ok(sum.numbers(&found.left).numbers(&found.right))
                };
                out.add(format!("{} singular {rows} x {cols} {through:?} {which:?}", T::DTYPE.name()), run());
            }
        }
    }
}
