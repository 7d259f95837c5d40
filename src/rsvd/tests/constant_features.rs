//! Constant features contribute nothing: not to a fit, not to a transform of any form of samples, not to whitening.

use std::sync::Arc;

use super::ends::fitted;
use super::far::forms;
use super::spectra::csr_of;
use super::support::{Dense, PACKED, blank, cpu, gpu, held, matrix, numbers, vector};
use crate::context::Context;
use crate::rsvd::pca::{Pca, PcaOptions, Samples};
use crate::rsvd::{Options, Rsvd};
use crate::scalar::{Complex, Scalar};

const ROWS: usize = 20;
const COLUMNS: usize = 4;

fn noise(i: usize, j: usize) -> f64 {
    ((i * 7919 + j * 104_729 + i * j * 31) % 1009) as f64 / 1009.0 - 0.5
}

/// Noise of the unit `unit`, with a feature 1 of `value` times 1 or 1 + `spread`.
fn samples<T: Scalar>(unit: f64, value: f64, spread: f64) -> Dense<T> {
    let entry = |i: usize, j: usize| {
        let x = if j == 1 { value * (1.0 + spread * (i % 2) as f64) } else { unit * noise(i, j) };
        T::from_parts(x, if j == 1 { 0.5 * x } else { unit * noise(i, j + 7) })
    };
    let data = (0..COLUMNS).flat_map(|j| (0..ROWS).map(move |i| entry(i, j))).collect();
    Dense { rows: ROWS, columns: COLUMNS, data }
}

fn distance<T: Scalar>(a: &Dense<T>, b: &Dense<T>) -> f64 {
    let off = |(x, y): (&T, &T)| (x.re() - y.re()).hypot(x.im() - y.im());
    a.data.iter().zip(&b.data).map(off).fold(0.0, |most, off| if off <= most { most } else { off })
}

fn constants(pca: &Pca) -> Vec<f64> {
    let mut constant = vector(pca.context(), COLUMNS);
    pca.constant(&mut constant).unwrap();
    numbers(&constant)
}

/// Fits to each form of the samples, and transforms each form by each model.
fn check<T: Scalar>(context: &Arc<Context>, value: f64, spread: f64, tolerance: f64) {
    let x = samples::<T>(1.0, value, spread);
    for (form, a) in forms(context, &x) {
        // Only rows are divided.
        if form == "read by columns" {
            continue;
        }
        for (rank, whiten) in [(2, false), (COLUMNS, false), (COLUMNS, true)] {
            let what = format!("{form} {:?} {value:e} {spread:e} {rank} {whiten}", T::DTYPE);
            let options = PcaOptions { scale: true, whiten, ..PcaOptions::default() };
            let (pca, right) = fitted::<T>(context, &a, rank, options).unwrap();
            assert_eq!(constants(&pca), [0.0, 1.0, 0.0, 0.0], "{what}");
            let right = held::<T>(&right);
            for (other, b) in forms(context, &x) {
                let mut scores = blank::<T>(context, ROWS, rank);
                pca.transform(None, &b, &mut scores, None).unwrap_or_else(|e| panic!("{what} {other}: {e}"));
                let off = distance(&held::<T>(&scores), &right);
                assert!(off < tolerance, "{what}: a transform of {other} is off by {off:e}");
            }
            // Scores of 1 along each component.
            let ones = Dense { rows: 1, columns: rank, data: vec![T::from_parts(1.0, 0.0); rank] };
            let mut back = blank::<T>(context, 1, COLUMNS);
            pca.inverse_transform(None, &matrix(context, &ones, PACKED), &mut back, None).unwrap();
            let mean = held::<T>(&back).at(0, 1);
            assert!((mean.re() / value - 1.0).abs() < tolerance, "{what}: {mean:?}");
        }
    }
}

fn check_all(context: &Arc<Context>) {
    let near = f64::EPSILON;
    for (value, spread) in [(0.7e60, near), (0.7e20, near), (0.7e60, 0.0), (0.7e8, 0.0), (1e140, 0.0)] {
        check::<f64>(context, value, spread, 1e-13);
        check::<Complex<f64>>(context, value, spread, 1e-13);
    }
    for value in [0.7e8, 0.7e20, 3e38] {
        check::<f32>(context, value, 0.0, 1e-5);
        check::<Complex<f32>>(context, value, 0.0, 1e-5);
    }
}

#[test]
fn constant_features_contribute_nothing_to_a_transform() {
    check_all(&cpu());
}

#[test]
#[ignore = "needs a GPU"]
fn constant_features_contribute_nothing_to_a_transform_on_a_gpu() {
    check_all(&gpu());
}

/// Other samples of the model, in which the feature is not constant: 1.7e308 from its mean on the other side.
#[test]
fn a_feature_that_was_constant_may_differ_in_other_samples() {
    let context = cpu();
    let x = samples::<f64>(1e200, -1.7e308, 0.0);
    let options = PcaOptions { scale: true, ..PcaOptions::default() };
    let (pca, right) = fitted::<f64>(&context, &matrix(&context, &x, PACKED), 2, options).unwrap();
    for (form, b) in forms(&context, &samples::<f64>(1e200, 1.7e308, 0.0)) {
        let mut scores = blank::<f64>(&context, ROWS, 2);
        pca.transform(None, &b, &mut scores, None).unwrap_or_else(|e| panic!("{form}: {e}"));
        let off = distance(&held::<f64>(&scores), &held::<f64>(&right));
        assert!(off < 1e-14, "{form}: {off:e}");
    }
}

/// Without `scale` scores are the differences from the mean times the components, in each feature.
#[test]
fn constant_features_count_without_scaling() {
    let context = cpu();
    let x = samples::<f64>(1.0, 0.7, 0.0);
    for (form, a) in forms(&context, &x) {
        let (pca, _) = fitted::<f64>(&context, &a, COLUMNS, PcaOptions::default()).unwrap();
        assert_eq!(constants(&pca), [0.0; COLUMNS], "{form}");
        // One away from the mean: the norm of the scores of all components is that of the sample.
        let other = samples::<f64>(0.0, 1.7, 0.0);
        let [mut scores, mut right] = [(); 2].map(|()| blank::<f64>(&context, ROWS, COLUMNS));
        pca.transform(None, &matrix(&context, &other, PACKED), &mut scores, None).unwrap();
        pca.transform(None, &matrix(&context, &samples::<f64>(0.0, 0.7, 0.0), PACKED), &mut right, None).unwrap();
        let (scores, right) = (held::<f64>(&scores), held::<f64>(&right));
        let norm = (0..COLUMNS).map(|j| scores.at(0, j) - right.at(0, j)).fold(0.0, f64::hypot);
        assert!((norm - 1.0).abs() < 1e-12, "{form}: {norm}");
    }
}

/// Nanoseconds since 1970 that do not change must not make the variances of other features look like rounding errors.
#[test]
fn constant_features_do_not_hide_variances() {
    let context = cpu();
    let x = samples::<f64>(1.0, 1.7e18, 0.0);
    for a in [matrix(&context, &x, PACKED), csr_of(&context, &x)] {
        let options = PcaOptions { scale: true, whiten: true, ..PcaOptions::default() };
        let (pca, of_fit) = fitted::<f64>(&context, &a, 2, options).unwrap();
        assert!(pca.info().rounding < 1e-11, "{:e}", pca.info().rounding);
        let mut scores = blank::<f64>(&context, ROWS, 2);
        pca.transform(None, &a, &mut scores, None).unwrap();
        for scores in [held::<f64>(&of_fit), held::<f64>(&scores)] {
            let variance = scores.data[..ROWS].iter().map(|x| x * x).sum::<f64>() / (ROWS - 1) as f64;
            assert!((variance - 1.0).abs() < 1e-12, "{variance}");
        }
    }
}

/// Nor without scaling, where a constant feature has no weight in the components of the others: of any size, in the whole
/// rank too, in which a component is that feature alone.
#[test]
fn constant_features_do_not_hide_variances_without_scaling() {
    let context = cpu();
    for value in [1e12, 1e14, 1.7e18] {
        let x = samples::<f64>(1.0, value, 0.0);
        for (form, a) in forms(&context, &x) {
            for rank in [2, COLUMNS] {
                let options = PcaOptions { whiten: true, ..PcaOptions::default() };
                let (pca, of_fit) = fitted::<f64>(&context, &a, rank, options).unwrap();
                let rounding = pca.info().rounding;
                assert!(rounding < 1e-11, "{form}, {value:e}, {rank}: {rounding:e}");
                let mut scores = blank::<f64>(&context, ROWS, rank);
                pca.transform(None, &a, &mut scores, None).unwrap();
                for scores in [held::<f64>(&of_fit), held::<f64>(&scores)] {
                    for j in 0..rank {
                        let column = &scores.data[j * ROWS..(j + 1) * ROWS];
                        let variance = column.iter().map(|x| x * x).sum::<f64>() / (ROWS - 1) as f64;
                        let want = if j == COLUMNS - 1 { 0.0 } else { 1.0 };
                        assert!((variance - want).abs() < 1e-9, "{form}, {value:e}, {rank}, {j}: {variance}");
                    }
                }
            }
        }
    }
}

/// Means whose norm overflows.
#[test]
fn large_means_do_not_hide_variances() {
    let context = cpu();
    let data = (0..COLUMNS * ROWS).map(|k| 1.2e308 + 1e300 * noise(k % ROWS, k / ROWS)).collect();
    let a = matrix(&context, &Dense::<f64> { rows: ROWS, columns: COLUMNS, data }, PACKED);
    // The squares of the values overflow, so the samples are scaled.
    let options = PcaOptions { scale: true, whiten: true, samples: Samples::Rows, ..PcaOptions::default() };
    let (pca, _) = fitted::<f64>(&context, &a, 2, options).unwrap();
    assert!(pca.info().rounding.is_finite() && pca.info().rounding < 1.0, "{:e}", pca.info().rounding);
}

/// A nearly constant column whose squared deviations underflow beside those of the largest entry is constant, in one
/// block or in several.
#[test]
fn nearly_constant_features_far_below_others_are_constant() {
    let context = cpu();
    // Beside the largest entry, squares vanish, lose some of their digits, or keep all.
    for (unit, value) in [
        (1e140, 0.7e-140),
        (1e200, 0.7e54),
        (1e200, 0.7e56),
        (1e200, 0.7e58),
        (1e200, 0.7e60),
        (1e200, 0.7e62),
        (1e200, 0.7e64),
        (1e200, 0.7e70),
        (1e-160, 0.7e-300),
    ] {
        let x = samples::<f64>(unit, value, f64::EPSILON);
        for (form, a) in forms(&context, &x).into_iter().filter(|f| f.0 != "read by columns") {
            for block_rows in if form == "sparse" { vec![0] } else { vec![0, 2, 7] } {
                let options = Options { rank: 2, block_rows, ..Options::default() };
                let mut session = Rsvd::new(&context, options).unwrap();
                let options = PcaOptions { scale: true, ..PcaOptions::default() };
                let (pca, _) = session
                    .fit_pca(None, &a, &options, None, None)
                    .unwrap_or_else(|e| panic!("{form} {value:e} {block_rows}: {e}"));
                assert_eq!(constants(&pca), [0.0, 1.0, 0.0, 0.0], "{form} {value:e} {block_rows}");
            }
        }
    }
}
