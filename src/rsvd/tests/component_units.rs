//! Principal components of samples in any unit: those of the same samples in the unit 1, up to the ends of double precision.

use std::sync::Arc;

use super::checksums::Products;
use super::far::forms;
use super::spectra::csr;
use super::support::{Dense, blank, cpu, gpu, held, numbers, vector};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::matrix::Matrix;
use crate::rsvd::options::Method;
use crate::rsvd::pca::{Pca, PcaOptions};
use crate::rsvd::{Options, Rsvd};
use crate::scalar::{Complex, DType, Scalar};
use crate::shape::Order;
use crate::tensor::{Location, Tensor};

const COUNT: usize = 40;
const RANK: usize = 3;
/// Noise, noise far from 0, noise in some samples, one number, a constant, and zeros.
const FEATURES: usize = 6;

/// Samples in a unit, which is a power of two. The second feature has the mean `far`.
fn samples<T: Scalar>(unit: f64, far: f64) -> Dense<T> {
    let noise = |i: usize, k: usize| ((i * 7919 + k * 104_729 + i * k * 31) % 1009) as f64 / 1009.0 - 0.5;
    let entry = |i: usize, j: usize| {
        let (re, im) = (noise(i, j + 1), noise(i, j + 9));
        let (re, im) = match j {
            0 => (3.0 * re, im),
            1 => (2.0 * re + far, im),
            2 if i.is_multiple_of(3) => (re, 2.0 * im),
            3 if i == 17 => (1.5, 0.5),
            4 => (0.3, 0.2),
            _ => (0.0, 0.0),
        };
        // Rounded in the unit 1, so that the numbers of all units are multiples of each other.
        let x = T::from_parts(re, im);
        T::from_parts(x.re() * unit, x.im() * unit)
    };
    let data = (0..FEATURES).flat_map(|j| (0..COUNT).map(move |i| entry(i, j))).collect();
    Dense { rows: COUNT, columns: FEATURES, data }
}

/// The real samples, sparse without their zeros.
fn without_zeros(context: &Arc<Context>, x: &Dense<f64>) -> Matrix {
    let (mut offsets, mut places, mut values) = (vec![0], Vec::new(), Vec::new());
    for i in 0..x.rows {
        let stored = (0..x.columns).filter(|j| x.at(i, *j) != 0.0);
        for j in stored {
            places.push(i32::try_from(j).unwrap());
            values.push(x.at(i, j));
        }
        offsets.push(values.len() as i64);
    }
    csr(context, (x.rows, x.columns), &offsets, &places, &values)
}

/// All numbers of a fit. Values, means and scores are in the unit of the samples, variances in its square.
struct Fit {
    values: Vec<f64>,
    means: Vec<f64>,
    scores: Vec<f64>,
    variances: Vec<f64>,
    ratios: Vec<f64>,
    /// Of all features, and of the directions orthogonal to the components.
    total: f64,
    noise: f64,
}

/// The means in double precision, real and imaginary parts in turn.
fn means<T: Scalar>(pca: &Pca) -> Result<Vec<f64>> {
    let dtype = if T::IS_COMPLEX { DType::CF64 } else { DType::F64 };
    let mut means = Tensor::create(pca.context(), dtype, Location::Host, Order::ColumnMajor, &[FEATURES])?;
    pca.mean(&mut means)?;
    if !T::IS_COMPLEX {
        return Ok(numbers(&means));
    }
    let view = means.view::<Complex<f64>>("means")?;
    Ok((0..FEATURES).flat_map(|j| [view.get(&[j]).re, view.get(&[j]).im]).collect())
}

fn fit<T: Scalar>(context: &Arc<Context>, x: &Matrix, method: Method, options: &PcaOptions) -> Result<Fit> {
    let mut scores = blank::<T>(context, COUNT, RANK);
    let mut session = Rsvd::new(context, Options { rank: RANK, method, ..Options::default() })?;
    let (pca, _) = session.fit_pca(None, x, options, Some(&mut scores), None)?;
    let [mut values, mut variances, mut ratios] = [(); 3].map(|()| vector(context, RANK));
    pca.singular_values(&mut values)?;
    pca.explained_variance(&mut variances)?;
    pca.explained_variance_ratio(&mut ratios)?;
    let info = pca.info();
    Ok(Fit {
        values: numbers(&values),
        means: means::<T>(&pca)?,
        scores: held::<T>(&scores).data.iter().flat_map(|x| [x.re(), x.im()]).collect(),
        variances: numbers(&variances),
        ratios: numbers(&ratios),
        total: info.total_variance,
        noise: info.noise_variance,
    })
}

/// Whether numbers are `power` times those of the unit 1, with an error relative to the largest of them.
fn are_multiples(found: &[f64], right: &[f64], power: i32, tolerance: f64) -> bool {
    let most = right.iter().fold(0.0f64, |most, x| most.max(x.abs()));
    // In two steps, of which neither is beyond double precision.
    let back = |x: f64| x * 2f64.powi(-power / 2) * 2f64.powi(-power - -power / 2);
    found.len() == right.len() && found.iter().zip(right).all(|(x, r)| (back(*x) - r).abs() <= tolerance * most)
}

fn expect(found: &Fit, right: &Fit, power: i32, tolerance: f64, what: &str) {
    for (name, found, right, power) in [
        ("values", &found.values, &right.values, power),
        ("scores", &found.scores, &right.scores, power),
        ("variances", &found.variances, &right.variances, 2 * power),
        ("ratios", &found.ratios, &right.ratios, 0),
        ("variances of all", &vec![found.total, found.noise], &vec![right.total, right.noise], 2 * power),
    ] {
        assert!(are_multiples(found, right, power, tolerance), "{what}: {name} {found:?}, not {right:?} 2^{power}");
    }
}

/// The powers of two from the smallest to the largest unit in which double precision holds all variances.
fn powers(right: &Fit) -> (i32, i32) {
    let least = right.variances.iter().fold(f64::MAX, |least, x| least.min(*x));
    let first = ((f64::MIN_POSITIVE.log2() - least.log2()) / 2.0).ceil() as i32;
    let last = (1023.999 - right.total.log2()).div_euclid(2.0) as i32;
    (first, last)
}

fn check_form<T: Scalar>(
    context: &Arc<Context>,
    form: impl Fn(&Dense<T>) -> Matrix,
    (far, tolerance): (f64, f64),
    options: &PcaOptions,
    what: &str,
) {
    for method in [Method::Auto, Method::Range, Method::Gram] {
        let what = format!("{:?} {what} {method:?} {options:?}", T::DTYPE);
        let of = |power: i32| fit::<T>(context, &form(&samples(2f64.powi(power), far)), method, options);
        let right = match of(0) {
            Err(Error::InvalidArgument { .. } | Error::NotSupported(_)) if method != Method::Auto => continue,
            found => found.unwrap_or_else(|e| panic!("{what}: {e}")),
        };
        let single = T::DTYPE.is_single();
        if options.scale {
            for power in if single { [-100, 100] } else { [-900, 900] } {
                let what = format!("{what} 2^{power}");
                let found = of(power).unwrap_or_else(|e| panic!("{what}: {e}"));
                assert!(are_multiples(&found.means, &right.means, power, tolerance), "{what}: means {:?}", found.means);
                expect(&found, &right, 0, tolerance, &what);
            }
            continue;
        }
        let (first, last) = if single { (-100, 100) } else { powers(&right) };
        for power in [first, first + 20, -1, last - 5, last] {
            let what = format!("{what} 2^{power}");
            let found = of(power).unwrap_or_else(|e| panic!("{what}: {e}"));
            assert!(are_multiples(&found.means, &right.means, power, tolerance), "{what}: means {:?}", found.means);
            expect(&found, &right, power, tolerance, &what);
        }
        if single {
            continue;
        }
        let below = (-1022.001 - right.total.log2()).div_euclid(2.0) as i32;
        for power in [last + 1, below] {
            let Err(Error::Numerical(text)) = of(power) else { panic!("{what}: variances of 2^{power} are held") };
            assert!(text.starts_with("x: samples with singular values of "), "{what}: {text}");
            assert!(text.contains(" beyond the normal numbers of double precision"), "{what}: {text}");
        }
    }
}

/// The rounding of the mean `far` in products with a sparse matrix, relative to the data: root(COUNT) 2^-52 of the mean.
fn rounding_of_means(far: f64) -> f64 {
    8.0 * f64::EPSILON * far
}

/// All forms of samples. Sparse matrices and operators are less exact, because means are subtracted from their products.
fn check<T: Scalar>(context: &Arc<Context>, far: f64, tolerance: f64) {
    let centred = PcaOptions::default();
    let scaled = PcaOptions { scale: true, ..centred };
    let plain = PcaOptions { center: false, ..centred };
    let names: Vec<_> = forms::<T>(context, &samples(1.0, far)).into_iter().map(|(name, _)| name).collect();
    for options in [plain, centred, scaled] {
        for (k, name) in names.iter().enumerate() {
            let form = |x: &Dense<T>| forms(context, x).remove(k).1;
            let tolerance = if *name == "sparse" { tolerance + rounding_of_means(far) } else { tolerance };
            check_form::<T>(context, form, (far, tolerance), &options, name);
        }
        if !options.scale {
            let form = |x: &Dense<T>| Matrix::from_operator::<T>(context, Box::new(Products(x.clone())));
            let bounds = (1.0, tolerance.max(1e-9));
            check_form::<T>(context, form, bounds, &options, "operator");
        }
    }
}

fn check_all(context: &Arc<Context>) {
    for far in [2.0, 1e9] {
        check::<f64>(context, far, 1e-10);
        for options in [PcaOptions::default(), PcaOptions { scale: true, ..PcaOptions::default() }] {
            let form = |x: &Dense<f64>| without_zeros(context, x);
            let tolerance = 1e-10 + rounding_of_means(far);
            check_form::<f64>(context, form, (far, tolerance), &options, "sparse without zeros");
        }
    }
    check::<Complex<f64>>(context, 1e9, 1e-10);
    check::<f32>(context, 50.0, 1e-4);
}

#[test]
fn components_of_samples_in_any_unit() {
    check_all(&cpu());
}

#[test]
#[ignore = "needs a GPU"]
fn components_of_samples_in_any_unit_on_a_gpu() {
    check_all(&gpu());
}

/// A feature without zeros whose mean has an infinite square, while the squares of the distances from it are in range.
fn check_far_mean(context: &Arc<Context>) {
    let (far, near) = ([1.000_000_000_3e159, 9.999_999_991e158], [1.3e148, -2.1e149]);
    let x = csr(context, (2, 3), &[0, 2, 4], &[0, 2, 0, 1], &[far[0], near[0], far[1], near[1]]);
    let mut session = Rsvd::new(context, Options { rank: 1, ..Options::default() }).unwrap();
    let (pca, _) = session.fit_pca(None, &x, &PcaOptions::default(), None, None).unwrap();
    let right = ((far[0] - far[1]).powi(2) + near[0].powi(2) + near[1].powi(2)) / 2.0;
    let found = pca.info().total_variance;
    assert!((found / right - 1.0).abs() < 1e-5, "{found:e}, not {right:e}");
}

#[test]
fn components_of_a_sparse_feature_far_from_zero() {
    check_far_mean(&cpu());
}

#[test]
#[ignore = "needs a GPU"]
fn components_of_a_sparse_feature_far_from_zero_on_a_gpu() {
    check_far_mean(&gpu());
}

/// The second value of two samples far from the origin is a rounding error of their means, whose variance may vanish.
fn check_rounding_errors(context: &Arc<Context>) {
    for k in 0..24 {
        let k = f64::from(k);
        let entries =
            [1e-138 + (k + 1.0) * 1e-150, (1.0 + k) * 1e-140, 1e-138 - 2e-150, (1.0 + k) * 1e-140 - k * 1e-150];
        let x = csr(context, (2, 2), &[0, 2, 4], &[0, 1, 0, 1], &entries);
        let mut session = Rsvd::new(context, Options { rank: 2, ..Options::default() }).unwrap();
        let mut scores = blank::<f64>(context, 2, 2);
        let (pca, _) = session.fit_pca(None, &x, &PcaOptions::default(), Some(&mut scores), None).unwrap();
        let [mut values, mut variances] = [(); 2].map(|()| vector(context, 2));
        pca.singular_values(&mut values).unwrap();
        pca.explained_variance(&mut variances).unwrap_or_else(|e| panic!("{entries:?}: {e}"));
        let (values, variances) = (numbers(&values), numbers(&variances));
        assert!(values[1] <= pca.info().rounding && values[0] > pca.info().rounding, "{entries:?}: {values:?}");
        assert!(variances[0] > 1e-302 && variances[1] < 1e-304, "{entries:?}: {variances:?}");
    }
}

#[test]
fn variances_of_rounding_errors_may_vanish() {
    check_rounding_errors(&cpu());
}

#[test]
#[ignore = "needs a GPU"]
fn variances_of_rounding_errors_may_vanish_on_a_gpu() {
    check_rounding_errors(&gpu());
}
