//! Principal components against scikit-learn's and against full decompositions.

use std::sync::Arc;

use super::spectra::csr;
use super::support::{
    Dense, PACKED, adjoint, blank, cpu, disorder, factor, golden, golden_numbers, gpu, held, matrix, numbers, read_npy,
    vector, with_spectrum,
};
use crate::backend::memory::{HostMemory, Memory};
use crate::context::Context;
use crate::matrix::Matrix;
use crate::rsvd::options::{Centering, Method, Right, Sign};
use crate::rsvd::pca::{Pca, PcaOptions, Samples};
use crate::rsvd::{Options, Rsvd};
use crate::scalar::{Complex, DType, Scalar};
use crate::shape::Order;
use crate::tensor::Tensor;

fn fit<T: Scalar>(x: &Dense<T>, rsvd: Options, options: PcaOptions) -> (Pca, Matrix, Matrix) {
    let context = cpu();
    let m = matrix(&context, x, PACKED);
    let k = rsvd.rank;
    let by_columns = options.samples == Samples::Columns;
    let mut scores = if by_columns { blank::<T>(&context, k, x.columns) } else { blank::<T>(&context, x.rows, k) };
    let mut session = Rsvd::new(&context, rsvd).unwrap();
    let (pca, _) = session.fit_pca(None, &m, &options, Some(&mut scores), None).unwrap();
    (pca, m, scores)
}

fn close<T: Scalar>(a: &Dense<T>, b: &Dense<T>, tolerance: f64, what: &str) {
    assert_eq!((a.rows, a.columns), (b.rows, b.columns), "{what}");
    let most = b.data.iter().map(|x| x.re().hypot(x.im())).fold(0.0, f64::max);
    for (k, (x, y)) in a.data.iter().zip(&b.data).enumerate() {
        let off = (x.re() - y.re()).hypot(x.im() - y.im());
        assert!(off <= tolerance * most, "{what}: entry {k} is {x:?}, not {y:?}");
    }
}

#[test]
fn centred_values_survive_means_that_dwarf_them() {
    let golden = golden_numbers("offset_300x50", "pca_centred_singular_values");
    let x = read_npy::<f64>("offset_300x50.npy");
    for method in [Method::Auto, Method::Fused, Method::Range, Method::Gram, Method::Krylov, Method::RowFused] {
        let options = Options { rank: 8, power_iterations: Some(6), method, ..Options::default() };
        let (pca, ..) = fit(&x, options, PcaOptions::default());
        let mut s = vector(pca.context(), 8);
        pca.singular_values(&mut s).unwrap();
        for (found, right) in numbers(&s).iter().zip(&golden) {
            assert!((found - right).abs() < 1e-10 * golden[0], "{method:?}: {found}, not {right}");
        }
    }
}

/// The digits of scikit-learn, 1797 images of 64 numbers from 0 to 16, as bytes in the order of rows.
fn digits(context: &Arc<Context>) -> Matrix {
    let packed = std::fs::read(golden("digits_1797x64_u8.npy.gz")).unwrap();
    let bytes = miniz_oxide::inflate::decompress_to_vec(&packed[10..packed.len() - 8]).unwrap();
    let head = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    let layout = Matrix::dense_layout(DType::U8, Order::RowMajor, 1797, 64, 64).unwrap();
    let mut memory = HostMemory::allocate("test", 1797 * 64, context.host_budget()).unwrap();
    memory.as_mut_slice::<u8>().unwrap().copy_from_slice(&bytes[head..]);
    Matrix::from_memory(context, DType::U8, Order::RowMajor, layout, Memory::Host(memory), true).unwrap()
}

#[test]
fn components_of_the_digits_are_those_of_scikit_learn() {
    let context = cpu();
    let x = digits(&context);
    let list = |key: &str| golden_numbers("digits_1797x64", key);
    // Values fall by a fifth over the 10 columns to spare. All iterates of KRYLOV would be more than the 64 dimensions.
    for (method, power_iterations) in
        [(Method::Direct, 0), (Method::Gram, 40), (Method::Fused, 40), (Method::RowFused, 40)]
    {
        let options = Options {
            rank: 20,
            method,
            power_iterations: Some(power_iterations),
            dtype: Some(DType::F64),
            ..Options::default()
        };
        let mut session = Rsvd::new(&context, options).unwrap();
        let (pca, _) = session.fit_pca(None, &x, &PcaOptions::default(), None, None).unwrap();
        let found = |read: &dyn Fn(&mut Tensor) -> crate::error::Result<()>, length: usize| {
            let mut v = vector(&context, length);
            read(&mut v).unwrap();
            numbers(&v)
        };
        for (key, found) in [
            ("pca_singular_values", found(&|v| pca.singular_values(v), 20)),
            ("pca_explained_variance", found(&|v| pca.explained_variance(v), 20)),
            ("pca_explained_variance_ratio", found(&|v| pca.explained_variance_ratio(v), 20)),
            ("pca_mean_head", found(&|v| pca.mean(v), 64)),
        ] {
            let right = list(key);
            let most = right.iter().copied().fold(0.0, f64::max);
            for (j, (x, y)) in found.iter().zip(&right).enumerate() {
                assert!((x - y).abs() <= 1e-10 * most, "{method:?}: {key}[{j}] is {x}, not {y}");
            }
        }
    }
}

/// Mean and variance of each column, from the definition.
fn moments(x: &Dense<f64>) -> (Vec<f64>, Vec<f64>) {
    (0..x.columns)
        .map(|j| {
            let column = &x.data[j * x.rows..(j + 1) * x.rows];
            let mean = column.iter().sum::<f64>() / x.rows as f64;
            (mean, column.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (x.rows - 1) as f64)
        })
        .unzip()
}

#[test]
fn variances_are_those_of_the_definition() {
    let mut x = with_spectrum::<f64>(&cpu(), 80, 30, &(0..30).map(|j| 0.8f64.powi(j)).collect::<Vec<_>>(), 2);
    x.data.iter_mut().enumerate().for_each(|(k, v)| *v += (k / 80) as f64);
    let (means, variances) = moments(&x);
    let (pca, m, scores) = fit(&x, Options { rank: 6, ..Options::default() }, PcaOptions::default());
    let context = pca.context().clone();
    let mut t = vector(&context, 30);
    pca.mean(&mut t).unwrap();
    numbers(&t).iter().zip(&means).for_each(|(a, b)| assert!((a - b).abs() < 1e-12));
    let info = pca.info();
    let total: f64 = variances.iter().sum();
    assert!((info.total_variance - total).abs() < 1e-10 * total);
    let (mut s, mut e, mut r) = (vector(&context, 6), vector(&context, 6), vector(&context, 6));
    pca.singular_values(&mut s).unwrap();
    pca.explained_variance(&mut e).unwrap();
    pca.explained_variance_ratio(&mut r).unwrap();
    for j in 0..6 {
        let v = numbers(&s)[j].powi(2) / 79.0;
        assert!((numbers(&e)[j] - v).abs() < 1e-14 && (numbers(&r)[j] - v / total).abs() < 1e-12);
    }
    let explained: f64 = numbers(&e).iter().sum();
    assert!((info.noise_variance - (total - explained) / 24.0).abs() < 1e-12);
    let scored = held::<f64>(&scores);
    let (score_means, score_variances) = moments(&scored);
    assert!(score_means.iter().all(|v| v.abs() < 1e-12));
    score_variances.iter().zip(numbers(&e)).for_each(|(a, b)| assert!((a - b).abs() < 1e-12));
    let mut again = blank::<f64>(&context, 80, 6);
    pca.transform(None, &m, &mut again, None).unwrap();
    close(&held(&again), &scored, 1e-12, "transform of the samples");
    let mut back = blank::<f64>(&context, 80, 30);
    pca.inverse_transform(None, &scores, &mut back, None).unwrap();
    let lost = held::<f64>(&back).data.iter().zip(&x.data).map(|(a, b)| (a - b).powi(2)).sum::<f64>() / 79.0;
    assert!((lost - (total - explained)).abs() < 1e-10, "{lost}");
    let mut components = blank::<f64>(&context, 30, 6);
    pca.components(None, &mut components).unwrap();
    assert!(disorder(&held::<f64>(&components)) < 1e-13);
}

fn round_trip<T: Scalar>(samples: Samples, scale: bool, whiten: bool) {
    let what = format!("{:?} {samples:?} {scale} {whiten}", T::DTYPE);
    let s: Vec<f64> = (0..12).map(|j| 0.7f64.powi(j)).collect();
    let mut x = with_spectrum::<T>(&cpu(), 60, 12, &s, 4);
    x.data.iter_mut().enumerate().for_each(|(k, v)| *v += T::from_parts(1.0 + (k / 60) as f64, 0.5));
    if samples == Samples::Columns {
        // The transpose, not the adjoint.
        let a = adjoint(&x);
        x = Dense { data: a.data.iter().map(|v| v.conjugate()).collect(), ..a };
    }
    let options = PcaOptions { samples, scale, whiten, ..PcaOptions::default() };
    let (pca, m, scores) = fit(&x, Options { rank: 12, ..Options::default() }, options);
    let context = pca.context().clone();
    let mut again = blank::<T>(&context, scores.rows(), scores.cols());
    pca.transform(None, &m, &mut again, None).unwrap();
    close(&held::<T>(&again), &held::<T>(&scores), 1e-9, &what);
    let mut back = blank::<T>(&context, x.rows, x.columns);
    pca.inverse_transform(None, &scores, &mut back, None).unwrap();
    close(&held::<T>(&back), &x, 1e-11, &what);
    if whiten {
        let scored = held::<T>(&scores);
        for j in 0..12 {
            let at = |i: usize| if samples == Samples::Rows { scored.at(i, j) } else { scored.at(j, i) };
            let sum: f64 = (0..60).map(|i| at(i).re().powi(2) + at(i).im().powi(2)).sum();
            assert!((sum / 59.0 - 1.0).abs() < 1e-10, "{what}");
        }
    }
    if scale {
        assert!((pca.info().total_variance - 12.0).abs() < 1e-10, "{what}: {}", pca.info().total_variance);
    }
}

#[test]
fn samples_come_back_from_all_their_components() {
    for samples in [Samples::Rows, Samples::Columns] {
        for (scale, whiten) in [(false, false), (true, false), (false, true), (true, true)] {
            round_trip::<f64>(samples, scale, whiten);
            round_trip::<Complex<f64>>(samples, scale, whiten);
        }
    }
}

#[test]
fn centring_columns_or_rows_is_that_of_a_centred_copy() {
    let context = cpu();
    for name in ["geo_200x120.npy", "wide_60x200.npy"] {
        let mut a = read_npy::<f64>(name);
        a.data.iter_mut().enumerate().for_each(|(k, x)| *x += (k % a.rows) as f64 + 2.0 * (k / a.rows) as f64);
        for center in [Centering::Columns, Centering::Rows] {
            let mut copy = a.clone();
            let other = |i: usize, j: usize| if center == Centering::Columns { j } else { i };
            let mut sums = vec![0.0; a.rows.max(a.columns)];
            let count = if center == Centering::Columns { a.rows } else { a.columns } as f64;
            (0..a.columns).for_each(|j| (0..a.rows).for_each(|i| sums[other(i, j)] += a.at(i, j)));
            for j in 0..a.columns {
                for i in 0..a.rows {
                    copy.data[j * a.rows + i] -= sums[other(i, j)] / count;
                }
            }
            for method in [Method::Fused, Method::Gram, Method::Range, Method::Merge] {
                let options = Options {
                    rank: 5,
                    method,
                    center,
                    power_iterations: Some(5),
                    block_rows: 30,
                    ..Options::default()
                };
                let plain = Options { center: Centering::None, ..options.clone() };
                let found = factor::<f64>(&context, &matrix(&context, &a, PACKED), options).unwrap();
                let right = factor::<f64>(&context, &matrix(&context, &copy, PACKED), plain).unwrap();
                for (x, y) in found.s.iter().zip(&right.s) {
                    assert!((x - y).abs() < 1e-10 * right.s[0], "{name} {center:?} {method:?}: {x} {y}");
                }
                assert!((found.info.frobenius - copy.norm()).abs() < 1e-9 * copy.norm(), "{name} {center:?}");
            }
        }
    }
}

#[test]
fn bad_requests_are_named() {
    let context = cpu();
    let x = matrix(&context, &read_npy::<f64>("geo_200x120.npy"), PACKED);
    let mut rsvd = Rsvd::new(&context, Options { rank: 3, ..Options::default() }).unwrap();
    let e = rsvd.fit_pca(None, &x, &PcaOptions { center: false, scale: true, ..PcaOptions::default() }, None, None);
    assert!(e.err().unwrap().to_string().starts_with("scale: is set without center"));
    let one = matrix(&context, &Dense { rows: 1, columns: 4, data: vec![1.0f64; 4] }, PACKED);
    let e = rsvd.fit_pca(None, &one, &PcaOptions::default(), None, None);
    assert_eq!(e.err().unwrap().to_string(), "x: has 1 samples, at least 2 are needed");
    let fit = |options: Options| {
        let mut session = Rsvd::new(&context, Options { rank: 3, ..options }).unwrap();
        session.fit_pca(None, &x, &PcaOptions::default(), None, None).err().map(|e| e.to_string())
    };
    let sign = fit(Options { sign: Sign::UMax, ..Options::default() }).unwrap();
    assert_eq!(sign, "sign: is U_MAX for principal components, whose largest entries are positive");
    let center = fit(Options { center: Centering::Columns, ..Options::default() }).unwrap();
    assert_eq!(center, "center: is COLUMNS for principal components, which have an option of their own");
    assert_eq!(fit(Options { right: Right::Vh, ..Options::default() }), None);
    let (pca, _) = rsvd.fit_pca(None, &x, &PcaOptions::default(), None, None).unwrap();
    let mut scores = blank::<f64>(&context, 200, 3);
    let other = matrix(&context, &read_npy::<f64>("wide_60x200.npy"), PACKED);
    let e = pca.transform(None, &other, &mut scores, None).unwrap_err();
    assert_eq!(e.to_string(), "x: has 200 features, 120 are needed");
}

#[test]
fn a_constant_column_contributes_nothing_when_columns_are_scaled() {
    for value in [3.7, 0.1, 1.0 / 3.0, 2.5, 1e6 + 0.1, 0.0, 1_732_456_789_123_456_789.0, 3.3e20, 3.7e100] {
        let (rows, columns) = (5000, 3);
        let mut x = Dense { rows, columns, data: vec![value; rows * columns] };
        for (i, x) in x.data[..rows].iter_mut().enumerate() {
            *x = (i as f64 * 0.37).sin();
        }
        let options = Options { rank: 2, ..Options::default() };
        let (pca, ..) = fit(&x, options, PcaOptions { scale: true, ..PcaOptions::default() });
        let total = pca.info().total_variance;
        assert!((total - 1.0).abs() < 1e-9, "{value}: {total}");
        let mut scales = vector(pca.context(), columns);
        pca.scale(&mut scales).unwrap();
        assert_eq!(numbers(&scales)[1..], [1.0, 1.0], "{value}");
        let mut s = vector(pca.context(), 2);
        pca.singular_values(&mut s).unwrap();
        let s = numbers(&s);
        assert!((s[0] - 4999f64.sqrt()).abs() < 1e-9 && s[1] < 1e-9, "{value}: {s:?}");
        // Means of a sparse matrix are taken out of products.
        let offsets: Vec<i64> = (0..=rows as i64).map(|i| 3 * i).collect();
        let places: Vec<i32> = (0..rows).flat_map(|_| 0..3).collect();
        let entries: Vec<f64> = (0..rows).flat_map(|i| [x.data[i], value, value]).collect();
        let context = cpu();
        let sparse = csr(&context, (rows, columns), &offsets, &places, &entries);
        let options = Options { rank: 2, center: Centering::Columns, scale: true, ..Options::default() };
        let s = factor::<f64>(&context, &sparse, options).unwrap().s;
        assert!((s[0] - 4999f64.sqrt()).abs() < 1e-9 && s[1] < 1e-9, "sparse, {value}: {s:?}");
    }
}

/// A matrix of the same numbers has the same variance however it is stored.
fn constant_columns(context: &Arc<Context>) {
    for value in [0.3, 0.1, 1.0 / 3.0, 1e6 + 0.1, 3.7e100, 3.7e-100] {
        for rows in [3, 50, 5000] {
            for varied in [0.0, 1.0] {
                let mut x = Dense { rows, columns: 4, data: vec![value; rows * 4] };
                x.data[..rows].iter_mut().enumerate().for_each(|(i, x)| *x *= 1.0 + varied * (i % 3) as f64);
                let entries: Vec<f64> =
                    (0..rows).flat_map(|i| (0..4).map(move |j| (i, j))).map(|(i, j)| x.at(i, j)).collect();
                let offsets: Vec<i64> = (0..=rows as i64).map(|i| 4 * i).collect();
                let places: Vec<i32> = (0..rows).flat_map(|_| 0..4).collect();
                let sparse = csr(context, (rows, 4), &offsets, &places, &entries);
                for method in [Method::Auto, Method::Range] {
                    let mut session = Rsvd::new(context, Options { rank: 2, method, ..Options::default() }).unwrap();
                    let (pca, _) = session.fit_pca(None, &sparse, &PcaOptions::default(), None, None).unwrap();
                    let mut s = vector(context, 2);
                    pca.singular_values(&mut s).unwrap();
                    let (s, total) = (numbers(&s), pca.info().total_variance);
                    let right = varied * value * spread_of(rows).sqrt();
                    assert!(
                        (s[0] - right).abs() <= 1e-12 * right && s[1] <= 1e-12 * right,
                        "{value} {rows}: {s:?} {right}"
                    );
                    let right = right * right / (rows - 1) as f64;
                    assert!((total - right).abs() <= 1e-12 * right, "{value} {rows}: {total} {right}");
                }
            }
        }
    }
}

#[test]
fn constant_columns_of_sparse_matrices_are_nothing() {
    constant_columns(&cpu());
}

#[test]
#[ignore = "needs a GPU"]
fn constant_columns_of_sparse_matrices_are_nothing_on_a_gpu() {
    constant_columns(&gpu());
}

/// Sum of the squares of the distances of 0, 1, 2, 0, 1, 2, ... from their mean.
fn spread_of(rows: usize) -> f64 {
    let mean = (0..rows).map(|i| (i % 3) as f64).sum::<f64>() / rows as f64;
    (0..rows).map(|i| ((i % 3) as f64 - mean).powi(2)).sum()
}

#[test]
fn scores_of_a_fit_are_those_of_a_transform() {
    let context = cpu();
    let x = with_spectrum::<f64>(&context, 120, 60, &[1.0; 60], 5);
    for method in [Method::Auto, Method::Fused, Method::Range, Method::RowFused, Method::Gram, Method::Merge] {
        for whiten in [false, true] {
            let options = Options { rank: 5, method, power_iterations: Some(1), ..Options::default() };
            let mut session = Rsvd::new(&context, options).unwrap();
            let m = matrix(&context, &x, PACKED);
            let (mut scores, mut again) = (blank::<f64>(&context, 120, 5), blank::<f64>(&context, 120, 5));
            let options = PcaOptions { whiten, ..PcaOptions::default() };
            let (pca, _) = session.fit_pca(None, &m, &options, Some(&mut scores), None).unwrap();
            pca.transform(None, &m, &mut again, None).unwrap();
            close(&held::<f64>(&scores), &held::<f64>(&again), 1e-11, &format!("{method:?} {whiten}"));
        }
    }
}

#[test]
fn what_single_precision_does_not_hold_is_refused() {
    let context = cpu();
    let entry = |i: usize, j: usize| ((i * 5 + j) as f64 * 0.7).sin();
    let of = |all: f64, second: f64| {
        let data = (0..5).flat_map(|j| (0..40).map(move |i| entry(i, j) * all * if j == 1 { second } else { 1.0 }));
        Dense { rows: 40, columns: 5, data: data.map(|x| x as f32).collect() }
    };
    let options = || Options { rank: 3, ..Options::default() };
    // A deviation of 1e-40: no component can be divided by it, so samples are. Its digits are not those of F32.
    let (pca, x, scores) = fit(&of(1.0, 1e-40), options(), PcaOptions { scale: true, ..PcaOptions::default() });
    let mut again = blank::<f32>(pca.context(), 40, 3);
    pca.transform(None, &x, &mut again, None).unwrap();
    close(&held::<f32>(&again), &held::<f32>(&scores), 1e-5, "a deviation of 1e-40");
    let host = crate::tensor::Location::Host;
    let mut scales = Tensor::create(pca.context(), DType::F32, host, Order::ColumnMajor, &[5]).unwrap();
    pca.scale(&mut scales).unwrap();
    assert!(scales.view::<f32>("scales").unwrap().get(&[1]) > 0.0);
    // A deviation that vanishes in F32: of one entry of 1e-45 among zeros.
    let mut x = of(1.0, 0.0);
    x.data[40] = 1e-45;
    let (pca, ..) = fit(&x, options(), PcaOptions { scale: true, ..PcaOptions::default() });
    let mut scales = Tensor::create(pca.context(), DType::F32, host, Order::ColumnMajor, &[5]).unwrap();
    let e = pca.scale(&mut scales).unwrap_err().to_string();
    assert!(e.starts_with("numerical failure: scale: number 1 is") && e.ends_with("which F32 does not hold"), "{e}");
    // Variances of 1e-60.
    let (pca, ..) = fit(&of(1e-30, 1.0), options(), PcaOptions::default());
    let mut variance = Tensor::create(&context, DType::F32, host, Order::ColumnMajor, &[3]).unwrap();
    let e = pca.explained_variance(&mut variance).unwrap_err().to_string();
    assert!(e.contains("explained_variance: number 0 is") && e.ends_with("which F32 does not hold"), "{e}");
}

#[test]
fn whitened_scores_of_constant_samples_are_zero() {
    let data = (0..6).flat_map(|j| std::iter::repeat_n(j as f64, 20)).collect();
    let x = Dense { rows: 20, columns: 6, data };
    for method in [Method::Auto, Method::Direct, Method::Gram] {
        let options = Options { rank: 2, method, ..Options::default() };
        let (.., scores) = fit(&x, options, PcaOptions { whiten: true, ..PcaOptions::default() });
        assert!(held::<f64>(&scores).data.iter().all(|s| *s == 0.0), "{method:?}");
    }
}
