//! Messages name wrong vectors and wrong solves of the caller's.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

use super::inputs::symmetric;
use super::methods::Divide;
use super::solves::{near, solve_with};
use crate::context::Context;
use crate::dense::Op;
use crate::lanczos::operator::Kind;
use crate::lanczos::solve::SolveInputs;
use crate::lanczos::{Filter, Options, Reason, Which};
use crate::matrix::{Matrix, Operator};
use crate::rng;

const N: usize = 200;

/// The diagonal matrix of 0 to N - 1.
fn counting(c: &Arc<Context>) -> Matrix {
    symmetric(c, N, &(0..N).map(|i| (i, i, i as f64)).collect::<Vec<_>>())
}

fn inverse(c: &Arc<Context>, sigma: f64) -> Matrix {
    Matrix::from_operator(c, Box::new(Divide((0..N).map(|i| i as f64 - sigma).collect())))
}

/// A solve by a function of b, of the number of the solve, and of an index.
struct Wrong<F>(F, usize);

impl<F: Fn(&[f64], usize, usize) -> f64 + Send> Operator<f64> for Wrong<F> {
    fn shape(&self) -> (usize, usize) {
        (N, N)
    }

    fn apply(&mut self, _: Op, x: &[f64], _: usize, y: &mut [f64]) -> crate::error::Result<()> {
        for (x, y) in x.chunks_exact(N).zip(y.chunks_exact_mut(N)) {
            self.1 += 1;
            y.iter_mut().enumerate().for_each(|(i, y)| *y = (self.0)(x, self.1, i));
        }
        Ok(())
    }
}

pub(super) fn a_solve_that_does_not_invert_is_named(c: &Arc<Context>) {
    const SIGMA: f64 = 30.3;
    let a = counting(c);
    let options = Options { count: 3, which: Which::Nearest, sigma: SIGMA, ..Options::default() };
    let divided = |x: &[f64], i: usize| x[i] / (i as f64 - SIGMA);
    type Function = Box<dyn Fn(&[f64], usize, usize) -> f64 + Send>;
    let wrong: [(&str, Function); 8] = [
        ("zeros", Box::new(|_, _, _| 0.0)),
        ("a constant", Box::new(|_, _, _| 3.0)),
        ("another constant each time", Box::new(|_, k, _| k as f64)),
        ("random numbers", Box::new(|_, k, i| rng::uniform(k as u64, 0, i as u64, 0))),
        ("its argument", Box::new(|x, _, i| x[i])),
        ("the negative inverse", Box::new(move |x, _, i| -divided(x, i))),
        ("a third of the inverse", Box::new(move |x, _, i| divided(x, i) / 3.0)),
        ("the inverse without sigma", Box::new(|x, _, i| x[i] / (i as f64 + 1.0))),
    ];
    for (name, function) in wrong {
        let solve = Matrix::from_operator(c, Box::new(Wrong(function, 0)));
        let given = SolveInputs::<f64> { solve: Some(&solve), ..SolveInputs::default() };
        for options in [options, Options { block: 2, ..options }] {
            let e = solve_with(c, &a, Kind::Matrix, &options, &given).unwrap_err().to_string();
            assert!(e.starts_with("solve: is not the inverse of A - sigma I"), "{name}: {e}");
        }
    }
}

pub(super) fn a_solve_that_inverts_is_not_named_where_restarts_end(c: &Arc<Context>) {
    let a = counting(c);
    // Next to an eigenvalue the residual of a solution is large beside the right-hand side.
    for gap in [0.3, 1e-6, 1e-13] {
        let sigma = 30.0 + gap;
        let solve = inverse(c, sigma);
        let given = SolveInputs::<f64> { solve: Some(&solve), ..SolveInputs::default() };
        let options = Options {
            count: 12,
            which: Which::Nearest,
            sigma,
            basis: 14,
            restarts: 1,
            tolerance: 1e-14,
            ..Options::default()
        };
        let found = solve_with(c, &a, Kind::Matrix, &options, &given).unwrap();
        assert!(found.info.converged < 12, "{gap}: {:?}", found.info);
    }
}

/// A diagonal operator that counts its products.
struct Counting {
    diagonal: Vec<f64>,
    products: Arc<AtomicUsize>,
}

impl Counting {
    fn matrix(c: &Arc<Context>, of: impl Fn(usize) -> f64) -> (Matrix, Arc<AtomicUsize>) {
        let products = Arc::new(AtomicUsize::new(0));
        let made = Self { diagonal: (0..N).map(of).collect(), products: Arc::clone(&products) };
        (Matrix::from_operator(c, Box::new(made)), products)
    }
}

impl Operator<f64> for Counting {
    fn shape(&self) -> (usize, usize) {
        (N, N)
    }

    fn apply(&mut self, _: Op, x: &[f64], count: usize, y: &mut [f64]) -> crate::error::Result<()> {
        self.products.fetch_add(count, Relaxed);
        for (x, y) in x.chunks_exact(N).zip(y.chunks_exact_mut(N)) {
            y.iter_mut().zip(x).zip(&self.diagonal).for_each(|((y, x), d)| *y = *d * *x);
        }
        Ok(())
    }
}

pub(super) fn products_of_the_tests_of_what_is_given_are_counted(c: &Arc<Context>) {
    const SIGMA: f64 = 30.3;
    let (solve, solved) = Counting::matrix(c, |i| 1.0 / (i as f64 - SIGMA));
    let given = SolveInputs::<f64> { solve: Some(&solve), ..SolveInputs::default() };
    let options = Options {
        count: 12,
        which: Which::Nearest,
        sigma: SIGMA,
        basis: 14,
        restarts: 1,
        tolerance: 1e-14,
        ..Options::default()
    };
    let found = solve_with(c, &counting(c), Kind::Matrix, &options, &given).unwrap();
    assert!(found.info.converged < 12, "{:?}", found.info);
    // The test makes two products with the matrix beside one with the solve.
    assert_eq!(found.info.products, solved.load(Relaxed) + 2, "{:?}", found.info);

    let (a, made) = Counting::matrix(c, |i| i as f64);
    let mut known = vec![0.0; 2 * N];
    (known[N - 1], known[2 * N - 2]) = (1.0, 1.0);
    let given = SolveInputs { deflate: &known[..], ..SolveInputs::default() };
    let options = Options { which: Which::Largest, sigma: 0.0, ..options };
    let found = solve_with(c, &a, Kind::Matrix, &options, &given).unwrap();
    assert!(found.info.converged < 12 && found.info.stop_reason == Reason::Restarts, "{:?}", found.info);
    // Residuals of twelve pairs, and two products that test the symmetry, are not counted.
    assert_eq!(found.info.products + 12 + 2, made.load(Relaxed), "{:?}", found.info);
}

pub(super) fn known_vectors_that_are_no_eigenvectors_are_named(c: &Arc<Context>) {
    const SIGMA: f64 = 150.3;
    let a = counting(c);
    let solve = inverse(c, SIGMA);
    let unit = |parts: &[(usize, f64)]| {
        let mut v = vec![0.0; N];
        parts.iter().for_each(|&(i, x)| v[i] = x);
        v
    };
    let base = Options { count: 3, ..Options::default() };
    let near_sigma = Options { which: Which::Nearest, sigma: SIGMA, ..base };
    for (options, solve, top) in [
        (base, None, N - 1),
        (Options { block: 2, ..base }, None, N - 1),
        (Options { filter: Filter::Chebyshev, ..base }, None, N - 1),
        (near_sigma, None, 150),
        (near_sigma, Some(&solve), 150),
    ] {
        let run = |known: &[Vec<f64>]| {
            let deflate = known.concat();
            let given = SolveInputs { start: None, deflate: &deflate[..], solve };
            solve_with(c, &a, Kind::Matrix, &options, &given)
        };
        let (wrong, other) = (unit(&[(top, 1.0), (top - 1, 0.5)]), unit(&[(top, 0.5), (top - 1, -0.7)]));
        let e = run(&[unit(&[(3, 1.0)]), wrong.clone()]).unwrap_err().to_string();
        assert!(
            e.starts_with("deflate: vector 1 is no eigenvector: the product with it has 4.00e-1 outside the span"),
            "{options:?}: {e}"
        );
        // Neither of them is an eigenvector, but they have the span of two.
        let mixed = run(&[wrong, other]).unwrap();
        assert_eq!(mixed.info.converged, 3, "{options:?}");
        assert!(mixed.values.iter().all(|v| (v - top as f64).abs() > 1.5 || *v > top as f64 + 0.5), "{options:?}");
    }
    // Eigenvectors as accurate as those of single precision limit the residuals, but are no error.
    let rough = unit(&[(N - 1, 1.0), (N - 2, 1e-6)]);
    for tolerance in [0.0, 1e-6] {
        let given = SolveInputs { deflate: &rough[..], ..SolveInputs::default() };
        let found = solve_with(c, &a, Kind::Matrix, &Options { tolerance, ..base }, &given).unwrap();
        near(&found.values, &[198.0, 197.0, 196.0], 1e-9, "rough");
        match found.info.check_converged(3) {
            Ok(()) => assert!(tolerance > 0.0),
            Err(e) => {
                let e = e.to_string();
                assert!(e.contains("the known vectors are eigenvectors to 5.0e-9 of the operator's norm only"), "{e}");
                assert_eq!(tolerance, 0.0);
            }
        }
    }
}

pub(super) fn a_matrix_that_is_not_finite_is_named_beside_a_solve(c: &Arc<Context>) {
    let entries: Vec<_> = (0..N).map(|i| (i, i, if i == 7 { f64::NAN } else { i as f64 })).collect();
    let a = symmetric(c, N, &entries);
    let solve = inverse(c, 30.3);
    let given = SolveInputs::<f64> { solve: Some(&solve), ..SolveInputs::default() };
    let options = Options { count: 3, which: Which::Nearest, sigma: 30.3, ..Options::default() };
    let e = solve_with(c, &a, Kind::Matrix, &options, &given).unwrap_err().to_string();
    assert!(e.starts_with("a: "), "{e}");
}
