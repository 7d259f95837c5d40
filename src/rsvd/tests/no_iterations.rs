//! Without power iterations, and Krylov spaces that are complete before their last block.

use super::support::{
    Dense, PACKED, blank, cpu, disorder, factor, held, matrix, numbers, orthonormal, residual, vector, with_spectrum,
};
use crate::rsvd::options::Method;
use crate::rsvd::pca::PcaOptions;
use crate::rsvd::{Options, Rsvd};

fn without(rank: usize, method: Method) -> Options {
    Options { rank, method, power_iterations: Some(0), ..Options::default() }
}

#[test]
fn low_rank_is_found_by_every_method_that_takes_no_iterations() {
    let context = cpu();
    let s: Vec<f64> = (0..8).map(|j| 10.0 - f64::from(j)).collect();
    for (m, n) in [(200, 90), (90, 200)] {
        let a = with_spectrum::<f64>(&context, m, n, &s, 4);
        for method in [Method::Auto, Method::Range, Method::Fused, Method::Gram] {
            let f = factor::<f64>(&context, &matrix(&context, &a, PACKED), without(8, method)).unwrap();
            assert!(f.info.method != Method::Krylov && f.info.method != Method::Direct, "{:?}", f.info.method);
            let error = residual(&a, &f.u, &f.s, &f.v);
            assert!(error < 1e-11, "{m} x {n}, {method:?}: {error}");
        }
        for method in [Method::Krylov, Method::RowFused, Method::Basic, Method::Fifo] {
            let e = factor::<f64>(&context, &matrix(&context, &a, PACKED), without(8, method)).err().unwrap();
            assert!(e.to_string().starts_with("power_iterations: is 0 for method"), "{e}");
        }
    }
    let a = with_spectrum::<f64>(&context, 200, 90, &s, 4);
    let mut session = Rsvd::new(&context, without(8, Method::Auto)).unwrap();
    let options = PcaOptions { center: false, ..PcaOptions::default() };
    let (pca, _) = session.fit_pca(None, &matrix(&context, &a, PACKED), &options, None, None).unwrap();
    let mut values = vector(&context, 8);
    pca.singular_values(&mut values).unwrap();
    for (x, y) in numbers(&values).iter().zip(&s) {
        assert!((x - y).abs() < 1e-11, "{x} {y}");
    }
}

#[test]
fn eigenpairs_without_iterations_come_of_the_matrix() {
    let context = cpu();
    let s: Vec<f64> = (0..8).map(|j| 10.0 - f64::from(j)).collect();
    let u = orthonormal::<f64>(&context, 90, 8, 5);
    let signed: Vec<f64> = s.iter().enumerate().map(|(j, x)| if j % 2 == 0 { *x } else { -x }).collect();
    for (values, method) in [(&signed, Method::Auto), (&signed, Method::Rayleigh), (&s, Method::Nystrom)] {
        let a = super::support::product(&context, &u, values, &u);
        let mut rsvd = Rsvd::new(&context, without(8, method)).unwrap();
        let (mut lambda, mut v) = (vector(&context, 8), blank::<f64>(&context, 90, 8));
        let m = matrix(&context, &a, PACKED);
        let info = rsvd.symmetric(None, &m, Some(&mut lambda), Some(&mut v), None).unwrap();
        for (x, y) in numbers(&lambda).iter().zip(values) {
            assert!((x - y).abs() < 1e-10, "{method:?}: {x} {y}");
        }
        let v = held::<f64>(&v);
        assert!(residual(&a, &v, values, &v) < 1e-9, "{method:?}");
        assert_eq!(info.passes, if method == Method::Nystrom { 1 } else { 2 }, "{method:?}");
    }
}

#[test]
fn the_fused_form_of_all_columns_is_exact_without_iterations() {
    let context = cpu();
    let flat: Vec<f64> = (0..40).map(|j| 0.9f64.powi(j)).collect();
    let graded: Vec<f64> = (0..40).map(|j| 10f64.powf(-12.0 * f64::from(j) / 40.0)).collect();
    for s in [flat, graded] {
        for seed in 0..6 {
            let a = with_spectrum::<f64>(&context, 60, 40, &s, 11 + seed);
            let options = Options { oversampling: Some(40), seed, ..without(3, Method::Fused) };
            let f = factor::<f64>(&context, &matrix(&context, &a, PACKED), options).unwrap();
            for (x, y) in f.s.iter().zip(&s) {
                assert!((x - y).abs() < 1e-12, "seed {seed}: {x} {y}");
            }
        }
    }
}

#[test]
fn krylov_of_all_columns_is_exact() {
    let context = cpu();
    let s: Vec<f64> = (0..62).map(|j| 0.97f64.powi(j)).collect();
    let a = with_spectrum::<f64>(&context, 76, 62, &s, 2);
    for q in [1, 2, 4] {
        let options = Options {
            rank: 3,
            method: Method::Krylov,
            oversampling: Some(62),
            power_iterations: Some(q),
            ..Options::default()
        };
        let f = factor::<f64>(&context, &matrix(&context, &a, PACKED), options).unwrap();
        assert_eq!(f.info.columns, 62);
        for (x, y) in f.s.iter().zip(&s) {
            assert!((x - y).abs() < 1e-12, "q = {q}: {x} {y}");
        }
    }
}

#[test]
fn krylov_goes_on_where_each_block_is_in_the_span_of_those_before() {
    let context = cpu();
    let n = 70;
    let eye: Vec<f64> = (0..n * n).map(|k| f64::from(u8::from(k % (n + 1) == 0))).collect();
    for (name, norm, data) in
        [("identity", 1.0, eye), ("zeros", 0.0, vec![0.0; n * n]), ("ones", 70.0, vec![1.0; n * n])]
    {
        let a = matrix(&context, &Dense { rows: n, columns: n, data }, PACKED);
        for rank in [1, 5, 10] {
            for q in [1, 3, 4, 5, 6, 8, 12] {
                let (method, power_iterations) = (Method::Krylov, Some(q));
                let options = Options { rank, method, power_iterations, ..Options::default() };
                let f = factor::<f64>(&context, &a, options).unwrap_or_else(|e| panic!("{name}, {rank}, {q}: {e}"));
                assert!((f.s[0] - norm).abs() < 1e-9, "{name}, rank {rank}, q = {q}: {}", f.s[0]);
                assert!(disorder(&f.u) < 1e-12 && disorder(&f.v) < 1e-12, "{name}, rank {rank}, q = {q}");
            }
        }
    }
}
