//! ||A||_F of operators, which the residual of given probes and the factors determine.

use std::sync::Arc;

use super::checksums::Products;
use super::support::{Dense, PACKED, cpu, factor, gpu, matrix, residual, vector, with_spectrum};
use crate::context::Context;
use crate::matrix::Matrix;
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
