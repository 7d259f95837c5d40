//! Results at the ends of a type's range: representable ones are found, others are refused by name.

use std::sync::Arc;

use super::far::forms;
use super::spectra::csr_of;
use super::support::{Dense, PACKED, blank, cpu, factor, gpu, held, matrix, numbers, vector};
use crate::backend::Backend;
use crate::context::Context;
use crate::error::Result;
use crate::matrix::Matrix;
use crate::rsvd::options::{Centering, Method};
use crate::rsvd::outputs::Outputs;
use crate::rsvd::pca::{Pca, PcaOptions, Samples};
use crate::rsvd::{Options, Rsvd};
use crate::scalar::{Complex, DType, Scalar};
use crate::shape::Order;
use crate::tensor::{Location, Tensor};

fn close<T: Scalar>(found: &Dense<T>, right: &Dense<T>, tolerance: f64, what: &str) {
    let size = |x: &T| (x.re() / 4.0).hypot(x.im() / 4.0);
    let most = right.data.iter().map(size).fold(0.0, f64::max);
    for (k, (x, y)) in found.data.iter().zip(&right.data).enumerate() {
        let off = (x.re() / 4.0 - y.re() / 4.0).hypot(x.im() / 4.0 - y.im() / 4.0);
        assert!(off <= tolerance * most, "{what}: number {k} is {x:?}, not {y:?}");
    }
}

fn transposed<T: Scalar>(a: &Dense<T>) -> Dense<T> {
    let data = (0..a.rows).flat_map(|i| (0..a.columns).map(move |j| (i, j))).map(|(i, j)| a.at(i, j)).collect();
    Dense { rows: a.columns, columns: a.rows, data }
}

/// A model of `x` that computes in `T`, and the scores of its samples.
pub fn fitted<T: Scalar>(
    context: &Arc<Context>,
    x: &Matrix,
    rank: usize,
    options: PcaOptions,
) -> Result<(Pca, Matrix)> {
    let mut session = Rsvd::new(context, Options { rank, dtype: Some(T::DTYPE), ..Options::default() })?;
    let by_columns = options.samples == Samples::Columns;
    let mut scores = if by_columns { blank::<T>(context, rank, x.cols()) } else { blank::<T>(context, x.rows(), rank) };
    let (pca, _) = session.fit_pca(None, x, &options, Some(&mut scores), None)?;
    Ok((pca, scores))
}

/// Columns whose differences from their means overflow, beside ones of the units `middle` and `least`.
fn wide<T: Scalar>(top: f64, middle: f64, least: f64) -> Dense<T> {
    let columns = [
        [top, -top, top / 1.5, top, top, top],
        [1.0, 2.0, 3.5, 4.0, 5.0, -1.0].map(|x| x * middle),
        [-top, -top, top, -0.9 * top, -top, -top],
        [least, 2.0 * least, 3.0 * least, 2.0 * least, least, 7.0 * least],
    ];
    let of = |x: &f64| T::from_parts(*x, 0.25 * x);
    Dense { rows: 6, columns: 4, data: columns.iter().flatten().map(of).collect() }
}

/// Transforms of the samples of a fit are its scores, and come back from them.
fn check_own_samples<T: Scalar>(context: &Arc<Context>, x: &Dense<T>, tolerance: f64) {
    let is_gpu = matches!(context.backend(), Backend::Gpu(_));
    for samples in [Samples::Rows, Samples::Columns] {
        let is_turned = samples == Samples::Columns;
        let x = if is_turned { transposed(x) } else { x.clone() };
        for (form, a) in forms(context, &x) {
            // Neither are scaled, and a GPU multiplies with sparse matrices in their own type.
            if is_gpu && form == "sparse" {
                continue;
            }
            if (is_turned && (form == "sparse" || form == "read by rows")) || (!is_turned && form == "read by columns")
            {
                continue;
            }
            for whiten in [false, true] {
                let what = format!("{form} {:?} {samples:?} whiten: {whiten}", T::DTYPE);
                let options = PcaOptions { samples, scale: true, whiten, ..PcaOptions::default() };
                let (pca, scores) = fitted::<T>(context, &a, 4, options).unwrap_or_else(|e| panic!("{what}: {e}"));
                let right = held::<T>(&scores);
                let mut found = blank::<T>(context, right.rows, right.columns);
                pca.transform(None, &a, &mut found, None).unwrap_or_else(|e| panic!("{what}: {e}"));
                close(&held::<T>(&found), &right, tolerance, &what);
                let mut back = blank::<T>(context, x.rows, x.columns);
                pca.inverse_transform(None, &scores, &mut back, None).unwrap_or_else(|e| panic!("{what}: {e}"));
                let back = held::<T>(&back);
                for i in 0..4 {
                    // Each feature in its own unit.
                    let of = |m: &Dense<T>| {
                        let at = |k: usize| if is_turned { m.at(i, k) } else { m.at(k, i) };
                        Dense { rows: 6, columns: 1, data: (0..6).map(at).collect() }
                    };
                    close(&of(&back), &of(&x), 50.0 * tolerance, &format!("{what}: feature {i}"));
                }
            }
        }
    }
}

fn check_all_own_samples(context: &Arc<Context>) {
    check_own_samples(context, &wide::<f64>(1.7e308, 1e200, 1e170), 1e-13);
    check_own_samples(context, &wide::<Complex<f64>>(1.7e308, 1e200, 1e170), 1e-13);
    check_own_samples(context, &wide::<f32>(3e38, 1.0, 1e-30), 3e-6);
    check_own_samples(context, &wide::<Complex<f32>>(3e38, 1.0, 1e-30), 3e-6);
}

#[test]
fn a_transform_of_the_samples_of_a_fit_does_not_overflow() {
    check_all_own_samples(&cpu());
}

#[test]
#[ignore = "needs a GPU"]
fn a_transform_of_the_samples_of_a_fit_does_not_overflow_on_a_gpu() {
    check_all_own_samples(&gpu());
}

/// Entries of samples of any unit, computed with in single precision.
#[test]
fn models_of_any_unit_transform_their_samples() {
    let context = cpu();
    let sample = |i: usize, j: usize| ((i * 5 + j) as f64 * 0.7).sin() + 0.1 * (i % 3) as f64;
    let entries =
        |by: f64| (0..4).flat_map(|j| (0..20).map(move |i| (i, j))).map(move |(i, j)| by * sample(i, j)).collect();
    let of = |by: f64| Dense { rows: 20, columns: 4, data: entries(by) };
    for center in [true, false] {
        for by in [1e-100, 1e-42, 1e-34, 1e-20, 1e20, 1e37, 1e100] {
            let a = matrix(&context, &of(by), PACKED);
            for whiten in [false, true] {
                // Scores of the unit of the data are beyond single precision.
                if !whiten && !(1e-35..=1e38).contains(&by) {
                    continue;
                }
                let what = format!("centred: {center}, {by:e}, whitened: {whiten}");
                let options = PcaOptions { center, whiten, ..PcaOptions::default() };
                let (pca, scores) = fitted::<f32>(&context, &a, 2, options).unwrap_or_else(|e| panic!("{what}: {e}"));
                let mut found = blank::<f32>(&context, 20, 2);
                pca.transform(None, &a, &mut found, None).unwrap_or_else(|e| panic!("{what}: {e}"));
                close(&held::<f32>(&found), &held::<f32>(&scores), 3e-6, &what);
            }
        }
    }
}

/// Features and samples far below the largest keep their digits in models whose samples are not near 1.
#[test]
fn small_numbers_are_not_lost_beside_a_model_of_large_ones() {
    let context = cpu();
    fn check<T: Scalar>(context: &Arc<Context>, top: f64, least: f64, tolerance: f64) {
        let column = |j: usize| if j == 0 { [1.0, -2.0, 1.0, 3.0].map(|x| x * top) } else { [least; 4] };
        let data = (0..2).flat_map(column).map(|x| T::from_parts(x, 0.0)).collect();
        let x = matrix(context, &Dense { rows: 4, columns: 2, data }, PACKED);
        let (pca, scores) = fitted::<T>(context, &x, 1, PcaOptions::default()).unwrap();
        let mut back = blank::<T>(context, 4, 2);
        pca.inverse_transform(None, &scores, &mut back, None).unwrap();
        let back = held::<T>(&back);
        assert!((0..4).all(|i| (back.at(i, 1).re() / least - 1.0).abs() < tolerance), "{top:e}: {back:?}");
        let (pca, _) = fitted::<T>(context, &x, 1, PcaOptions { center: false, ..PcaOptions::default() }).unwrap();
        let small = Dense { rows: 1, columns: 2, data: vec![T::from_parts(least, 0.0), T::default()] };
        let mut found = blank::<T>(context, 1, 1);
        pca.transform(None, &matrix(context, &small, PACKED), &mut found, None).unwrap();
        assert!(
            (held::<T>(&found).at(0, 0).re() / least - 1.0).abs() < tolerance,
            "{top:e}: {found:?}",
            found = held::<T>(&found)
        );
    }
    check::<f64>(&context, 1e152, 1e-200, 1e-15);
    check::<f32>(&context, 1e20, 1e-30, 1e-6);
    check::<f32>(&context, 1e37, 1e-25, 1e-6);
}

/// Sums of products overflow on the way to scores that do not.
#[test]
fn a_transform_whose_partial_sums_overflow_is_computed() {
    let context = cpu();
    let data = (0..16).flat_map(|_| [1.0, -1.0, 2.0, 0.5]).collect();
    let x = Dense { rows: 4, columns: 16, data };
    let options = PcaOptions { center: false, ..PcaOptions::default() };
    let (pca, _) = fitted::<f64>(&context, &matrix(&context, &x, PACKED), 1, options).unwrap();
    // Each half of the first sample has a product of 3.4e308.
    let data = (0..16).flat_map(|j| [if j < 8 { 1.7e308 } else { -1.7e308 }, 4e307]).collect();
    let far = Dense { rows: 2, columns: 16, data };
    for (form, a) in forms(&context, &far) {
        let mut found = blank::<f64>(&context, 2, 1);
        pca.transform(None, &a, &mut found, None).unwrap_or_else(|e| panic!("{form}: {e}"));
        let found = held::<f64>(&found);
        assert!(found.at(0, 0).abs() < 1e294 && (found.at(1, 0) / 1.6e308 - 1.0).abs() < 1e-14, "{form}: {found:?}");
    }
}

#[test]
fn scores_and_samples_beyond_the_type_are_refused() {
    let context = cpu();
    let data = (0..4).flat_map(|j| (0..30).map(move |i| ((i * 4 + j) as f64 * 0.7).sin())).collect();
    let x = Dense { rows: 30, columns: 4, data };
    let times = |by: f64| Dense { rows: 30, columns: 4, data: x.data.iter().map(|x| x * by).collect::<Vec<f64>>() };
    let begins = "numerical failure: scores: component 0 of sample 0 is beyond the range of ";
    let (single, _) = fitted::<f32>(&context, &matrix(&context, &x, PACKED), 2, PcaOptions::default()).unwrap();
    for by in [1e39, 1e300] {
        let mut found = blank::<f32>(&context, 30, 2);
        let e = single.transform(None, &matrix(&context, &times(by), PACKED), &mut found, None).unwrap_err();
        assert_eq!(e.to_string(), format!("{begins}F32"), "{by:e}");
        let e = single
            .inverse_transform(
                None,
                &matrix(&context, &Dense { rows: 30, columns: 2, data: times(by).data[..60].to_vec() }, PACKED),
                &mut blank::<f32>(&context, 30, 4),
                None,
            )
            .unwrap_err();
        assert!(e.to_string().starts_with("numerical failure: x: feature "), "{by:e}: {e}");
    }
    let scaled = PcaOptions { scale: true, ..PcaOptions::default() };
    let (pca, _) = fitted::<f64>(&context, &matrix(&context, &times(1e-100), PACKED), 2, scaled).unwrap();
    for a in [matrix(&context, &times(1e250), PACKED), csr_of(&context, &times(1e250))] {
        let e = pca.transform(None, &a, &mut blank::<f64>(&context, 30, 2), None).unwrap_err();
        assert_eq!(e.to_string(), format!("{begins}F64"));
    }
    // Scores and means of a fit.
    let far = times(1e39);
    let e = fitted::<f32>(&context, &matrix(&context, &far, PACKED), 2, PcaOptions::default()).err().unwrap();
    assert_eq!(e.to_string(), format!("{begins}F32"));
    let e = fitted::<f32>(&context, &matrix(&context, &times(1e-60), PACKED), 2, PcaOptions::default()).err().unwrap();
    assert!(e.to_string().starts_with("numerical failure: scores: component 0 has scores of norm "), "{e}");
    let mut off = times(1.0);
    off.data[..30].iter_mut().for_each(|x| *x += 1e39);
    let mut session = Rsvd::new(&context, Options { rank: 2, dtype: Some(DType::F32), ..Options::default() }).unwrap();
    let (pca, _) = session.fit_pca(None, &matrix(&context, &off, PACKED), &PcaOptions::default(), None, None).unwrap();
    let mut mean = Tensor::create(&context, DType::F32, Location::Host, Order::ColumnMajor, &[4]).unwrap();
    let e = pca.mean(&mut mean).unwrap_err().to_string();
    assert!(
        e.starts_with("numerical failure: mean: number 0 has parts of up to") && e.ends_with("F32 does not hold"),
        "{e}"
    );
}

/// Means of columns, each in its own unit.
fn check_means<T: Scalar>(context: &Arc<Context>, top: f64, least: f64) {
    let re = [[1.0, -2.0, 1.0, 3.0], [1.0, 2.0, 3.0, 2.0], [5.0, 5.0, 5.0, 5.0]];
    let units = [top, least, least];
    let data = (0..3)
        .flat_map(|j| (0..4).map(move |i| (i, j)))
        .map(|(i, j)| T::from_parts(re[j][i] * units[j], 0.5 * units[j]));
    let x = Dense { rows: 4, columns: 3, data: data.collect() };
    for (form, a) in forms(context, &x) {
        for block_rows in [0, 1, 3] {
            if form == "sparse" && block_rows > 0 {
                continue;
            }
            let mut session = Rsvd::new(context, Options { rank: 2, block_rows, ..Options::default() }).unwrap();
            let (pca, _) = session.fit_pca(None, &a, &PcaOptions::default(), None, None).unwrap();
            let mut mean = Tensor::create(context, T::DTYPE, Location::Host, Order::ColumnMajor, &[3]).unwrap();
            pca.mean(&mut mean).unwrap();
            let view = mean.view::<T>("mean").unwrap();
            for (j, right) in [0.75 * top, 2.0 * least, 5.0 * least].into_iter().enumerate() {
                let found = view.get(&[j]);
                let what = format!("{form}, {block_rows} rows, {top:e} {least:e}: mean {j} is {found:?}");
                assert!((found.re() / right - 1.0).abs() < 1e-15, "{what}");
                assert!(!T::IS_COMPLEX || (found.im() / units[j] - 0.5).abs() < 1e-15, "{what}");
            }
        }
    }
}

#[test]
fn means_keep_their_digits_beside_columns_far_above() {
    for (top, least) in [(1e150, 1e-165), (1e150, 1e-200), (1e152, 1e-300), (1e-140, 1e-305), (1.0, 1e-300)] {
        check_means::<f64>(&cpu(), top, least);
        check_means::<Complex<f64>>(&cpu(), top, least);
    }
}

#[test]
#[ignore = "needs a GPU"]
fn means_keep_their_digits_beside_columns_far_above_on_a_gpu() {
    for (top, least) in [(1e150, 1e-165), (1e150, 1e-200), (1e152, 1e-285), (1.0, 1e-300)] {
        check_means::<f64>(&gpu(), top, least);
        check_means::<Complex<f64>>(&gpu(), top, least);
    }
}

/// Singular values, eigenvalues and bases that vanish in the type of the result.
#[test]
fn values_that_vanish_in_their_type_are_refused() {
    let context = cpu();
    let entries =
        |by: f64| (0..20).flat_map(move |j| (0..20).map(move |i| (((i + 1) * (j + 1)) as f64 * 0.7).sin() * by));
    for by in [1e-47, 1e-42, 1e-300] {
        let a = matrix(&context, &Dense { rows: 20, columns: 20, data: entries(by).collect() }, PACKED);
        for method in [Method::Auto, Method::Range, Method::Direct, Method::Gram, Method::Krylov] {
            let options = Options { rank: 2, method, dtype: Some(DType::F32), ..Options::default() };
            let mut session = Rsvd::new(&context, options).unwrap();
            let mut s = Tensor::create(&context, DType::F32, Location::Host, Order::ColumnMajor, &[2]).unwrap();
            let e = session.compute(None, &a, Outputs { u: None, s: Some(&mut s), v: None }, None).unwrap_err();
            let text = e.to_string();
            assert!(
                text.starts_with("numerical failure: s: number 0 is ") && text.ends_with("which F32 does not hold"),
                "{text}"
            );
            // F64 holds them.
            let mut s = vector(&context, 2);
            session.compute(None, &a, Outputs { u: None, s: Some(&mut s), v: None }, None).unwrap();
            assert!(numbers(&s)[0] > 5.0 * by, "{by:e} {method:?}");
        }
        let mut session =
            Rsvd::new(&context, Options { rank: 2, dtype: Some(DType::F32), ..Options::default() }).unwrap();
        let mut lambda = Tensor::create(&context, DType::F32, Location::Host, Order::ColumnMajor, &[2]).unwrap();
        let e = session.symmetric(None, &a, Some(&mut lambda), None, None).unwrap_err().to_string();
        assert!(
            e.starts_with("numerical failure: lambda: number 0 is ") && e.ends_with("which F32 does not hold"),
            "{e}"
        );
        for layout in [Order::RowMajor, Order::ColumnMajor] {
            let wide = Dense { rows: 10, columns: 40, data: entries(by).collect() };
            let a = matrix(&context, &wide, super::support::MatrixLayout { order: layout, gap: 0 });
            let (mut q, mut b) = (blank::<f32>(&context, 10, 3), blank::<f32>(&context, 3, 40));
            let e = session.range(None, &a, &mut q, Some(&mut b), None).unwrap_err().to_string();
            assert!(e.starts_with("numerical failure: b: row ") && e.ends_with("which F32 does not hold"), "{e}");
        }
    }
    // Singular values in F64 below its normal numbers.
    let tiny = matrix(&context, &Dense { rows: 20, columns: 20, data: entries(1e-310).collect() }, PACKED);
    let e = factor::<f64>(&context, &tiny, Options { rank: 2, ..Options::default() }).err().unwrap().to_string();
    assert!(e.starts_with("numerical failure: s: number 0 is ") && e.ends_with("which F64 does not hold"), "{e}");
}

#[test]
fn values_that_are_rounding_errors_may_vanish() {
    let context = cpu();
    // Rank 1 and rank 2 with a value of 1e-9 of the largest, computed with in single precision.
    let of = |second: f64| {
        let entry = move |i: usize, j: usize| 1.0 + second * if (i + j).is_multiple_of(2) { 1.0 } else { -1.0 };
        (0..20).flat_map(move |j| (0..20).map(move |i| 1e-33 * entry(i, j))).collect::<Vec<f64>>()
    };
    for second in [0.0, 1e-9] {
        for method in [Method::Auto, Method::Range, Method::Direct, Method::Gram] {
            let a = matrix(&context, &Dense { rows: 20, columns: 20, data: of(second) }, PACKED);
            let options = Options { rank: 4, method, dtype: Some(DType::F32), ..Options::default() };
            let mut session = Rsvd::new(&context, options).unwrap();
            let mut s = Tensor::create(&context, DType::F32, Location::Host, Order::ColumnMajor, &[4]).unwrap();
            session.compute(None, &a, Outputs { u: None, s: Some(&mut s), v: None }, None).unwrap();
            let first = f64::from(s.view::<f32>("s").unwrap().get(&[0]));
            assert!((first / 20e-33 - 1.0).abs() < 1e-5, "{second} {method:?}: {first:e}");
        }
    }
    // Zeros stay zeros.
    let zeros = matrix(&context, &Dense { rows: 20, columns: 20, data: vec![0.0; 400] }, PACKED);
    let found = factor::<f64>(&context, &zeros, Options { rank: 2, ..Options::default() }).unwrap();
    assert_eq!(found.s, [0.0, 0.0]);
}

/// Deviations down to 1e-150 of the largest entry are found in any unit.
#[test]
fn deviations_are_judged_beside_the_largest_entry() {
    let context = cpu();
    let entry = |i: usize, j: usize| ((i * 2 + j) as f64 * 0.7).sin() + 0.3 * ((i * i + j) as f64).cos();
    let of = |units: [f64; 2]| {
        let data = (0..2).flat_map(|j| (0..13).map(move |i| (i, j))).map(|(i, j)| entry(i, j) * units[j]).collect();
        Dense { rows: 13, columns: 2, data }
    };
    let values = |a: &Matrix, name: &str| {
        let options = Options { rank: 2, center: Centering::Columns, scale: true, ..Options::default() };
        factor::<f64>(&context, a, options).unwrap_or_else(|e| panic!("{name}: {e}")).s
    };
    let right = values(&matrix(&context, &of([1.0, 1.0]), PACKED), "1");
    for units in [
        [1.0, 1e-50],
        [1e-100, 1e-150],
        [1e-100, 1e-200],
        [1e-140, 1e-190],
        [1e-149, 1e-200],
        [1e-160, 1e-210],
        [1e-200, 1e-250],
        [1e100, 1e-40],
        [1e-120, 1e-260],
    ] {
        for (form, a) in forms(&context, &of(units)).into_iter().filter(|f| f.0 != "read by columns") {
            let name = format!("{form} {units:?}");
            let found = values(&a, &name);
            assert!(found.iter().zip(&right).all(|(x, y)| (x - y).abs() < 1e-12), "{name}: {found:?}, not {right:?}");
        }
    }
}

/// Sparse matrices whose products with gains, or with A^H, leave the range of the type before they are scaled.
#[test]
fn sparse_matrices_are_decomposed_at_the_ends_of_their_type() {
    let context = cpu();
    let entry = |i: usize, j: usize| ((i * 4 + j) as f64 * 0.7).sin() + 0.2 * ((i * i * 3 + j) as f64).cos();
    fn of<T: Scalar>(entry: impl Fn(usize, usize) -> f64, third: f64) -> Dense<T> {
        let by = |j: usize| if j == 2 { third } else { 1.0 };
        let data =
            (0..4).flat_map(|j| (0..9).map(move |i| (i, j))).map(|(i, j)| T::from_parts(entry(i, j) * by(j), 0.0));
        Dense { rows: 9, columns: 4, data: data.collect() }
    }
    let methods = [Method::Range, Method::Fused, Method::Krylov, Method::Direct, Method::RowFused];
    fn check<T: Scalar>(context: &Arc<Context>, x: &Dense<T>, options: &Options, tolerance: f64) {
        let dense = factor::<T>(context, &matrix(context, x, PACKED), options.clone());
        let sparse = factor::<T>(context, &csr_of(context, x), options.clone());
        let what = format!("{:?} {:?} {:?}", T::DTYPE, options.method, options.center);
        let (dense, sparse) = (dense.unwrap().s, sparse.unwrap_or_else(|e| panic!("{what}: {e}")).s);
        let same = dense.iter().zip(&sparse).all(|(x, y)| (x - y).abs() <= tolerance * dense[0]);
        assert!(same, "{what}: {sparse:?}, not {dense:?}");
    }
    for method in methods {
        let scaled = Options { rank: 3, method, center: Centering::Columns, scale: true, ..Options::default() };
        check(&context, &of::<f32>(entry, 6e-45), &scaled, 1e-5);
        check(&context, &of::<Complex<f32>>(entry, 1e-41), &scaled, 1e-5);
        check(&context, &of::<f64>(entry, 1e-140), &scaled, 1e-12);
        for center in [Centering::None, Centering::Columns, Centering::Rows] {
            let options = Options { rank: 2, method, center, ..Options::default() };
            check(&context, &of::<f64>(entry, 2.5e307), &options, 1e-12);
            check(&context, &of::<Complex<f64>>(entry, 2.5e307), &options, 1e-12);
            // Sums of squares of F32 fit into no F32 result.
            check(&context, &of::<f32>(entry, 7e37), &options, 1e-5);
        }
    }
}

/// A complex number is finite if its parts are.
#[test]
fn complex_numbers_are_judged_by_their_parts() {
    let context = cpu();
    for top in [1e308, 1.2e308] {
        let z = |re: f64, im: f64| Complex::new(re, im);
        let x = Dense {
            rows: 3,
            columns: 2,
            data: vec![z(top, top), z(top / 4.0, 0.0), z(3.0, 0.0), z(1.0, 0.0), z(2.0, 0.0), z(0.0, 4.0)],
        };
        let whole: f64 = ((2.0f64 + 1.0 / 16.0).sqrt() * (top / 4.0)) * 4.0;
        for method in [Method::Direct, Method::Range] {
            for (form, a) in forms(&context, &x) {
                let options = Options { rank: 1, oversampling: Some(0), method, ..Options::default() };
                let options =
                    if method == Method::Direct { Options { oversampling: None, ..options } } else { options };
                let found =
                    factor::<Complex<f64>>(&context, &a, options).unwrap_or_else(|e| panic!("{form} {top:e}: {e}"));
                assert!((found.s[0] / whole - 1.0).abs() < 1e-14, "{form} {top:e}: {:?}, not {whole:e}", found.s);
            }
        }
    }
}
