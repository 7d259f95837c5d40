//! Constant columns and rows far from the other entries, which centring turns into zeros.

use std::sync::Arc;

use super::spectra::csr_of;
use super::support::{Dense, MatrixLayout, PACKED, adjoint, cpu, factor, gpu, matrix};
use crate::context::Context;
use crate::error::Error;
use crate::matrix::Matrix;
use crate::rsvd::Options;
use crate::rsvd::Rsvd;
use crate::rsvd::options::{Centering, Method};
use crate::rsvd::pca::{PcaOptions, Samples};
use crate::scalar::{Complex, Scalar};
use crate::shape::Order;

const ROWS: usize = 40;
const COLUMNS: usize = 6;
const CONSTANT: usize = 4;

/// Noise of the unit `unit` with one column of `value`.
pub fn samples<T: Scalar>(unit: f64, value: f64) -> Dense<T> {
    let noise = |i: usize, j: usize| ((i * 7919 + j * 104_729 + i * j * 31) % 1009) as f64 / 1009.0 - 0.5;
    let entry = |i: usize, j: usize| {
        let (re, im) = if j == CONSTANT { (value, 0.5 * value) } else { (unit * noise(i, j), unit * noise(i, j + 7)) };
        T::from_parts(re, if T::IS_COMPLEX { im } else { 0.0 })
    };
    let data = (0..COLUMNS).flat_map(|j| (0..ROWS).map(move |i| entry(i, j))).collect();
    Dense { rows: ROWS, columns: COLUMNS, data }
}

fn forms<T: Scalar>(context: &Arc<Context>, x: &Dense<T>) -> [(&'static str, Matrix); 3] {
    let rows = MatrixLayout { order: Order::RowMajor, gap: 1 };
    [("columns", matrix(context, x, PACKED)), ("rows", matrix(context, x, rows)), ("sparse", csr_of(context, x))]
}

/// The values and norms are those of the same data in the unit 1 beside a column of zeros.
fn check<T: Scalar>(context: &Arc<Context>, pairs: &[(f64, f64)], tolerance: f64) {
    let options = |center, method| Options { rank: 3, center, method, ..Options::default() };
    let right = matrix(context, &samples::<T>(1.0, 0.0), PACKED);
    let right = factor::<T>(context, &right, options(Centering::Columns, Method::Auto)).unwrap();
    for (unit, value) in pairs {
        let x = samples::<T>(*unit, *value);
        let cases = [(Centering::Columns, forms(context, &x)), (Centering::Rows, forms(context, &adjoint(&x)))];
        for (center, (name, a)) in cases.into_iter().flat_map(|(c, forms)| forms.map(|form| (c, form))) {
            for method in [Method::Auto, Method::Fused] {
                let what = format!("{:?} {unit:e} {value:e} {center:?} {name} {method:?}", T::DTYPE);
                let found = factor::<T>(context, &a, options(center, method)).unwrap_or_else(|e| panic!("{what}: {e}"));
                let off = |(s, r): (&f64, &f64)| (s / unit / r - 1.0).abs();
                let worst = found.s.iter().zip(&right.s).map(off).fold(0.0, f64::max);
                // A sketch of few columns is not exact.
                let allowed = if method == Method::Auto { tolerance } else { 0.05 };
                assert!(worst < allowed, "{what}: {:?}, not {:?}", found.s, right.s);
                let norm = found.info.frobenius / unit / right.info.frobenius;
                assert!((norm - 1.0).abs() < tolerance, "{what}: norm {:e}", found.info.frobenius);
            }
        }
    }
}

fn check_all(context: &Arc<Context>) {
    let pairs = [
        (1e-170, 1e-20),
        (1e-170, 1.0),
        (1e-170, 1e200),
        (1e-155, 1.0),
        (1e-155, 1e308),
        (1.0, 1e160),
        (1.0, 1e200),
        (1.0, 1e300),
        (1e200, 1e308),
        (1e200, 1e-200),
    ];
    check::<f64>(context, &pairs, 1e-9);
    check::<Complex<f64>>(context, &pairs, 1e-9);
    let pairs = [(1e-30, 1e30), (1e-36, 1.0), (1.0, 3e38), (1e10, 1e38)];
    check::<f32>(context, &pairs, 1e-4);
    check::<Complex<f32>>(context, &pairs, 1e-4);
}

#[test]
fn constant_lines_far_from_other_entries_become_zeros() {
    check_all(&cpu());
}

#[test]
#[ignore = "needs a GPU"]
fn constant_lines_far_from_other_entries_become_zeros_on_a_gpu() {
    check_all(&gpu());
}

/// Long lines, one of which has one entry that is not the constant `value`: its distance is `units` roundings of it.
/// Rounding errors of products with the line exceed its centred entries.
fn nearly_constant<T: Scalar>(value: f64, units: f64) -> Dense<T> {
    const LENGTH: usize = 4000;
    let entry = |i: usize, j: usize| match (i, j) {
        (7, 1) => value * (1.0 + units * T::DTYPE.epsilon()),
        (_, 1) => value,
        _ => 1e-3 * T::DTYPE.epsilon() * value * ((i * 7919 + j * 104_729) % 1009) as f64 / 1009.0,
    };
    let data = (0..3).flat_map(|j| (0..LENGTH).map(move |i| T::from_parts(entry(i, j), 0.0))).collect();
    Dense { rows: LENGTH, columns: 3, data }
}

/// Sparse data that the rounding errors of a correction exceed are refused by the name of the line, those that are
/// larger are not. Dense data are centred before they are multiplied.
fn check_refused<T: Scalar>(context: &Arc<Context>, values: &[f64]) {
    for value in values {
        for (center, name) in [(Centering::Columns, "column"), (Centering::Rows, "row")] {
            let turned = |x: Dense<T>| if center == Centering::Columns { x } else { adjoint(&x) };
            let options = Options { rank: 2, center, ..Options::default() };
            let what = format!("{:?} {value:e} {center:?}", T::DTYPE);
            let x = turned(nearly_constant(*value, 16.0));
            let found = factor::<T>(context, &csr_of(context, &x), options.clone()).map(|found| found.s);
            let Err(Error::Numerical(text)) = found else { panic!("{what}: {found:?}") };
            let place = format!("of {name} 1 (from 0) is subtracted from products");
            assert!(text.starts_with("center: the mean ") && text.contains(&place), "{what}: {text}");
            assert!(text.contains(" exceeds the norm "), "{what}: {text}");
            factor::<T>(context, &matrix(context, &x, PACKED), options.clone())
                .unwrap_or_else(|e| panic!("{what}: {e}"));
            let far = turned(nearly_constant(*value, 4096.0));
            factor::<T>(context, &csr_of(context, &far), options).unwrap_or_else(|e| panic!("{what}: {e}"));
        }
    }
}

#[test]
fn sparse_data_that_corrections_for_means_hide_are_refused() {
    check_refused::<f64>(&cpu(), &[1.0, 1e-200, 1e200]);
    check_refused::<Complex<f64>>(&cpu(), &[1.0, 1e200]);
}

#[test]
#[ignore = "needs a GPU"]
fn sparse_data_that_corrections_for_means_hide_are_refused_on_a_gpu() {
    check_refused::<f64>(&gpu(), &[1.0, 1e-200, 1e200]);
    check_refused::<Complex<f64>>(&gpu(), &[1.0, 1e200]);
    check_refused::<f32>(&gpu(), &[1.0, 1e20]);
    check_refused::<Complex<f32>>(&gpu(), &[1.0]);
}

/// The variance is that of the features that vary.
fn check_variance(context: &Arc<Context>) {
    let mut variances = Vec::new();
    for value in [0.0, 1e150, 1e165, 1e200, 1e300] {
        for (name, a) in forms(context, &samples::<f64>(1.0, value)) {
            let mut session = Rsvd::new(context, Options { rank: 3, ..Options::default() }).unwrap();
            let (pca, _) = session.fit_pca(None, &a, &PcaOptions::default(), None, None).unwrap();
            variances.push((name, value, pca.info().total_variance));
        }
    }
    let right = variances[0].2;
    assert!(variances.iter().all(|(_, _, v)| (v / right - 1.0).abs() < 1e-9), "{variances:?}");
}

#[test]
fn a_distant_constant_feature_has_no_variance() {
    check_variance(&cpu());
}

#[test]
#[ignore = "needs a GPU"]
fn a_distant_constant_feature_has_no_variance_on_a_gpu() {
    check_variance(&gpu());
}

/// Of samples in columns, features are rows of the caller's matrix.
#[test]
fn a_lost_deviation_of_samples_in_columns_names_the_row() {
    let context = cpu();
    let mut x = samples::<f64>(1.0, 1.0);
    (0..ROWS).for_each(|i| x.data[2 * ROWS + i] *= 1e-170);
    let fit = |x: &Dense<f64>, samples: Samples| {
        let mut session = Rsvd::new(&context, Options { rank: 2, ..Options::default() }).unwrap();
        let options = PcaOptions { scale: true, samples, ..PcaOptions::default() };
        match session.fit_pca(None, &matrix(&context, x, PACKED), &options, None, None) {
            Ok(_) => panic!("a deviation that is lost"),
            Err(e) => e.to_string(),
        }
    };
    let by_columns = fit(&adjoint(&x), Samples::Columns);
    assert!(by_columns.contains("the deviation of row 2 (from 0)"), "{by_columns}");
    let by_rows = fit(&x, Samples::Rows);
    assert!(by_rows.contains("the deviation of column 2 (from 0)"), "{by_rows}");
}
