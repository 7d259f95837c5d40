//! ||A||_F of operators, which the residual of given probes and the factors determine.

use std::sync::Arc;

use super::checksums::Products;
use super::support::{Dense, PACKED, cpu, factor, gpu, matrix, residual, vector, with_spectrum};
use crate::context::Context;
use crate::dense::Op;
use crate::error::{Error, Result};
use crate::matrix::{Matrix, Operator};
use crate::rsvd::options::{ErrorKind, Method};
use crate::rsvd::pca::PcaOptions;
use crate::rsvd::{Options, Rsvd};
use crate::scalar::{Complex, Scalar};

fn operator<T: Scalar>(context: &Arc<Context>, a: &Dense<T>) -> Matrix {
    Matrix::from_operator::<T>(context, Box::new(Products(a.clone())))
}

fn near(what: &str, got: f64, want: f64) {
    assert!((got / want - 1.0).abs() < 0.08, "{what}: {got} for {want}");
}

/// A flat spectrum, which a rank of 12 leaves most of: the one-pass method's factors then have more than its norm.
fn check<T: Scalar>(context: &Arc<Context>) {
    let a = with_spectrum::<T>(context, 120, 80, &[1.0; 80], 7);
    for method in [Method::OnePass, Method::Fused, Method::Krylov, Method::Range, Method::RowFused] {
        for seed in 0..3 {
            let options = Options { rank: 12, method, probes: 200, seed, ..Options::default() };
            let f = factor::<T>(context, &operator(context, &a), options).unwrap();
            let what = format!("{:?} {method:?} {seed}", T::DTYPE);
            let error = residual(&a, &f.u, &f.s, &f.v);
            near(&format!("{what}: norm"), f.info.frobenius, a.norm());
            near(&format!("{what}: error"), f.info.error_frobenius, error);
            near(&format!("{what}: relative error"), f.info.error_relative, error / a.norm());
        }
    }
}

/// Factors of the caller's, which are neither orthonormal nor near.
fn check_given<T: Scalar>(context: &Arc<Context>) {
    let a = with_spectrum::<T>(context, 120, 80, &[1.0; 80], 7);
    let other = with_spectrum::<T>(context, 120, 5, &[3.0, 2.0, 1.0, 0.5, 0.25], 8);
    let v = with_spectrum::<T>(context, 80, 5, &[2.0, 1.0, 1.0, 1.0, 0.5], 9);
    let s = [4.0, 2.0, 1.0, 1.0, 0.5];
    let mut rsvd = Rsvd::new(context, Options { probes: 200, ..Options::default() }).unwrap();
    let (u, right) = (matrix(context, &other, PACKED), matrix(context, &v, PACKED));
    let mut values = vector(context, s.len());
    values.view_mut::<f64>("s").unwrap().write_column(&[], &s);
    let (frobenius, _, info) = rsvd.error(None, &operator(context, &a), (&u, &values, &right), None).unwrap();
    let error = residual(&a, &other, &s, &v);
    near("error of given factors", frobenius, error);
    near("norm beside given factors", info.frobenius, a.norm());
    near("relative error of given factors", info.error_relative, error / a.norm());
}

#[test]
fn norms_of_operators_do_not_depend_on_the_method() {
    let context = cpu();
    check::<f64>(&context);
    check::<f32>(&context);
    check::<Complex<f64>>(&context);
    check_given::<f64>(&context);
    check_given::<Complex<f32>>(&context);
}

#[test]
#[ignore = "needs a GPU"]
fn norms_of_operators_do_not_depend_on_the_method_on_a_gpu() {
    let context = gpu();
    check::<f64>(&context);
    check::<f32>(&context);
    check::<Complex<f64>>(&context);
    check_given::<f64>(&context);
}

/// Products of which number `at` has one number that is far too large.
struct Once {
    products: Products<f64>,
    at: usize,
    calls: usize,
}

impl Operator<f64> for Once {
    fn shape(&self) -> (usize, usize) {
        Operator::<f64>::shape(&self.products)
    }

    fn apply(&mut self, op: Op, x: &[f64], count: usize, y: &mut [f64]) -> Result<()> {
        self.products.apply(op, x, count, y)?;
        if self.calls == self.at {
            y[1] = 1e300;
        }
        self.calls += 1;
        Ok(())
    }
}

/// The run is repeated with a factor that the large number asks for, and without that number all products vanish.
fn check_changing(context: &Arc<Context>) {
    let a = with_spectrum::<f64>(context, 60, 40, &[3.0, 2.0, 1.0, 0.5, 0.25], 7);
    for method in [Method::Auto, Method::Fused, Method::Krylov, Method::Range, Method::OnePass, Method::RowFused] {
        let options = Options { rank: 4, method, ..Options::default() };
        for at in 0..2 {
            let changing = Once { products: Products(a.clone()), at, calls: 0 };
            let m = Matrix::from_operator::<f64>(context, Box::new(changing));
            match factor::<f64>(context, &m, options.clone()) {
                Ok(found) => assert!((found.s[0] - 3.0).abs() < 0.1, "{method:?} {at}: {:?}", found.s),
                Err(e) => {
                    assert!(matches!(e, Error::Numerical(_) | Error::InvalidArgument { .. }), "{method:?} {at}: {e}")
                }
            }
        }
    }
}

#[test]
fn products_that_change_between_runs_are_no_success() {
    check_changing(&cpu());
}

#[test]
#[ignore = "needs a GPU"]
fn products_that_change_between_runs_are_no_success_on_a_gpu() {
    check_changing(&gpu());
}

#[test]
fn principal_components_of_operators_have_the_variance_of_the_data() {
    let context = cpu();
    let a = with_spectrum::<f64>(&context, 120, 80, &[1.0; 80], 7);
    let centred = |c: usize| {
        let mean = (0..a.rows).map(|i| a.at(i, c)).sum::<f64>() / a.rows as f64;
        (0..a.rows).map(|i| (a.at(i, c) - mean).powi(2)).sum::<f64>()
    };
    let variance = (0..a.columns).map(centred).sum::<f64>() / (a.rows - 1) as f64;
    for method in [Method::OnePass, Method::Fused] {
        let options = Options { rank: 8, method, probes: 200, ..Options::default() };
        let mut rsvd = Rsvd::new(&context, options).unwrap();
        let (pca, _) = rsvd.fit_pca(None, &operator(&context, &a), &PcaOptions::default(), None, None).unwrap();
        near(&format!("{method:?}"), pca.info().total_variance, variance);
    }
}

#[test]
fn passes_of_an_operator_are_those_of_the_plan() {
    let context = cpu();
    let a = with_spectrum::<f64>(&context, 120, 80, &[1.0; 80], 7);
    for method in [Method::OnePass, Method::Fused, Method::Range] {
        for error in [ErrorKind::None, ErrorKind::Identity, ErrorKind::Probes, ErrorKind::Power] {
            let options = Options { rank: 12, method, error, ..Options::default() };
            let rsvd = Rsvd::new(&context, options.clone()).unwrap();
            let planned = rsvd.plan(&operator(&context, &a)).unwrap().passes;
            let found = factor::<f64>(&context, &operator(&context, &a), options).unwrap().info.passes;
            assert_eq!(found, planned, "{method:?} {error:?}");
        }
    }
}
