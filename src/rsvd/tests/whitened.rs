//! Whitened scores where the rank of the samples is below that of the fit: the remaining variances are rounding errors.

use std::sync::Arc;

use super::spectra::csr_of;
use super::support::{Dense, PACKED, adjoint, blank, cpu, gpu, held, matrix, numbers, vector};
use crate::context::Context;
use crate::rsvd::options::Method;
use crate::rsvd::pca::{PcaOptions, Samples};
use crate::rsvd::{Options, Rsvd};
use crate::scalar::{Complex, DType, Scalar};

fn noise(i: usize, j: usize) -> f64 {
    ((i * 7919 + j * 104_729 + i * j * 31) % 1009) as f64 / 1009.0 - 0.5
}

/// Samples of `kinds` different kinds, `offset` from the origin.
fn samples<T: Scalar>(count: usize, kinds: usize, features: usize, offset: f64) -> Dense<T> {
    let entry = |i: usize, j: usize| {
        let x = 2.0 * noise(i * kinds / count, j + 1) + offset;
        T::from_parts(x, noise(j, i * kinds / count + 3))
    };
    let data = (0..features).flat_map(|j| (0..count).map(move |i| entry(i, j))).collect();
    Dense { rows: count, columns: features, data }
}

fn distance<T: Scalar>(a: &Dense<T>, b: &Dense<T>) -> f64 {
    assert_eq!((a.rows, a.columns), (b.rows, b.columns));
    let off = |(x, y): (&T, &T)| (x.re() - y.re()).hypot(x.im() - y.im());
    // A maximum by `max` would skip NaN.
    a.data.iter().zip(&b.data).map(off).fold(0.0, |most, off| if off <= most { most } else { off })
}

/// Scores of a fit are those of a transform of the same samples, 0 along directions without variance, and give the
/// samples back.
fn check<T: Scalar>(context: &Arc<Context>, a: &Dense<T>, rank: usize, options: PcaOptions, k: usize, tolerance: f64) {
    for (sparse, by_columns) in [(false, false), (true, false), (false, true)] {
        for method in [Method::Auto, Method::Range, Method::Gram] {
            if sparse && method == Method::Gram {
                continue;
            }
            let what = format!("{:?} {options:?} {method:?} {sparse} {by_columns} {} x {k}", T::DTYPE, a.rows);
            let turned = if by_columns { adjoint(a) } else { a.clone() };
            let x = if sparse { csr_of(context, a) } else { matrix(context, &turned, PACKED) };
            let samples = if by_columns { Samples::Columns } else { Samples::Rows };
            let (rows, columns) = if by_columns { (k, a.rows) } else { (a.rows, k) };
            let [mut fitted, mut scores] = [(); 2].map(|()| blank::<T>(context, rows, columns));
            let mut session = Rsvd::new(context, Options { rank: k, method, ..Options::default() }).unwrap();
            let (pca, _) =
                session.fit_pca(None, &x, &PcaOptions { samples, ..options }, Some(&mut fitted), None).unwrap();
            pca.transform(None, &x, &mut scores, None).unwrap();
            let (fitted, found) = (held::<T>(&fitted), held::<T>(&scores));
            let off = distance(&fitted, &found);
            assert!(off < tolerance, "{what}: {off:e}");
            for (i, j) in (0..a.rows).flat_map(|i| (0..k).map(move |j| (i, j))) {
                let x = if by_columns { found.at(j, i) } else { found.at(i, j) };
                assert!(x.re().hypot(x.im()) < 10.0 && (j < rank || x == T::default()), "{what}: {i} {j} {x:?}");
            }
            let mut back = blank::<T>(context, turned.rows, turned.columns);
            pca.inverse_transform(None, &scores, &mut back, None).unwrap();
            let off = distance(&held::<T>(&back), &turned);
            assert!(off < tolerance, "{what}: back {off:e}");
        }
    }
}

fn check_type<T: Scalar>(context: &Arc<Context>, offset: f64, tolerance: f64) {
    let plain = PcaOptions { center: false, whiten: true, ..PcaOptions::default() };
    let centred = PcaOptions { whiten: true, ..PcaOptions::default() };
    let scaled = PcaOptions { scale: true, ..centred };
    check::<T>(context, &samples(12, 2, 5, 0.0), 2, plain, 5, tolerance);
    check::<T>(context, &samples(12, 2, 5, 0.0), 1, centred, 5, tolerance);
    check::<T>(context, &samples(4, 4, 9, 0.0), 3, centred, 4, tolerance);
    check::<T>(context, &samples(150, 3, 20, offset), 2, centred, 6, 100.0 * tolerance);
    check::<T>(context, &samples(150, 3, 20, offset), 2, scaled, 6, 100.0 * tolerance);
}

/// `offset` is the distance of some samples from the origin.
fn check_all(context: &Arc<Context>, offset: f64) {
    check_type::<f64>(context, offset, 1e-12);
    check_type::<f32>(context, offset, 3e-4);
    check_type::<Complex<f64>>(context, offset, 1e-12);
    check_type::<Complex<f32>>(context, offset, 3e-4);
}

/// Samples of two features that have nothing to do with each other: one whose mean hides its deviation, which is the
/// larger one, and one without a mean. Signs of the first alternate, signs of the second change every second sample.
fn beside_a_hidden_feature(hidden: usize) -> Dense<f64> {
    let entry = |i: usize, j: usize| match j == hidden {
        // 26 units of the last place of the mean.
        true => 1e10 + if i.is_multiple_of(2) { 26.0 } else { -26.0 } * 2f64.powi(-19),
        false => {
            if (i / 2).is_multiple_of(2) {
                1e-5
            } else {
                -1e-5
            }
        }
    };
    let data = (0..2).flat_map(|j| (0..40).map(move |i| entry(i, j))).collect();
    Dense { rows: 40, columns: 2, data }
}

/// A component that the rounding of a mean hides leaves smaller ones of other features as they are.
fn check_hidden<T: Scalar>(context: &Arc<Context>, tolerance: f64) {
    for (hidden, by_columns) in [(0, false), (1, false), (0, true), (1, true)] {
        let what = format!("{:?} {hidden} {by_columns}", T::DTYPE);
        let a = beside_a_hidden_feature(hidden);
        let x = matrix(context, &if by_columns { adjoint(&a) } else { a.clone() }, PACKED);
        let samples = if by_columns { Samples::Columns } else { Samples::Rows };
        let (rows, columns) = if by_columns { (2, a.rows) } else { (a.rows, 2) };
        let [mut fitted, mut found] = [(); 2].map(|()| blank::<T>(context, rows, columns));
        let dtype = (T::DTYPE != DType::F64).then_some(T::DTYPE);
        let mut session = Rsvd::new(context, Options { rank: 2, dtype, ..Options::default() }).unwrap();
        let options = PcaOptions { samples, whiten: true, ..PcaOptions::default() };
        let (pca, _) = session.fit_pca(None, &x, &options, Some(&mut fitted), None).unwrap();
        pca.transform(None, &x, &mut found, None).unwrap();
        let mut negligible = vector(context, 2);
        pca.negligible(&mut negligible).unwrap();
        assert_eq!(numbers(&negligible), [1.0, 0.0], "{what}");
        assert!(pca.info().rounding < 1e-8, "{what}: {:e}", pca.info().rounding);
        for scores in [held::<T>(&fitted), held::<T>(&found)] {
            for i in 0..a.rows {
                let [first, second] = [0, 1].map(|j| if by_columns { scores.at(j, i) } else { scores.at(i, j) });
                let want = (39.0f64 / 40.0).sqrt() * a.at(i, 1 - hidden).signum();
                assert!((second.re() - want).abs() < tolerance, "{what}: {i} {second:?}, not {want}");
                assert_eq!(first, T::default(), "{what}: {i}");
            }
        }
        let mut back = blank::<T>(context, x.rows(), x.cols());
        pca.inverse_transform(None, &found, &mut back, None).unwrap();
        let back = held::<T>(&back);
        for i in 0..a.rows {
            let feature = 1 - hidden;
            let x = if by_columns { back.at(feature, i) } else { back.at(i, feature) };
            assert!((x.re() / a.at(i, feature) - 1.0).abs() < tolerance, "{what}: back {i} {x:?}");
        }
    }
}

#[test]
fn a_hidden_component_leaves_smaller_ones() {
    check_hidden::<f64>(&cpu(), 1e-9);
    check_hidden::<f32>(&cpu(), 1e-5);
}

#[test]
#[ignore = "needs a GPU"]
fn a_hidden_component_leaves_smaller_ones_on_a_gpu() {
    check_hidden::<f64>(&gpu(), 1e-9);
    check_hidden::<f32>(&gpu(), 1e-5);
}

#[test]
fn whitened_scores_of_a_fit_are_those_of_a_transform_below_full_rank() {
    check_all(&cpu(), 100.0);
}

#[test]
#[ignore = "needs a GPU"]
fn whitened_scores_of_a_fit_are_those_of_a_transform_below_full_rank_on_a_gpu() {
    // Products of sparse matrices are centred after they are rounded there: means of 100 leave more in single precision.
    check_all(&gpu(), 1.0);
}
