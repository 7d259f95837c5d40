//! Features, samples and scores of very different sizes in one model: each keeps its own digits.

use std::sync::Arc;

use super::ends::fitted;
use super::far::forms;
use super::support::{Dense, PACKED, blank, cpu, gpu, held, matrix, numbers, vector};
use crate::backend::Backend;
use crate::context::Context;
use crate::rsvd::pca::{Pca, PcaOptions};
use crate::scalar::{Complex, DType, Scalar};
use crate::shape::Order;
use crate::tensor::{Location, Tensor};

const ROWS: usize = 9;
const COLUMNS: usize = 6;

/// Numbers in [-0.5, 0.5) that repeat after 2^20 calls.
struct Draws(u64);

impl Draws {
    fn next(&mut self) -> f64 {
        self.0 = (self.0.wrapping_mul(6_364_136_223_846_793_005)).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 44) as f64 / f64::from(1 << 20) - 0.5
    }

    /// A power of two with an exponent from `least` to `most`.
    fn unit(&mut self, (least, most): (f64, f64)) -> f64 {
        ((self.next() + 0.5) * (most - least) + least).round().exp2()
    }
}

/// Noise in the units, about means of up to 100 units; the last column is constant.
fn samples<T: Scalar>(draws: &mut Draws, units: &[f64]) -> Dense<T> {
    let mut data = Vec::new();
    for (j, unit) in units.iter().enumerate() {
        let mean = if j % 2 == 0 { 0.0 } else { 100.0 * draws.next() };
        for _ in 0..ROWS {
            let noise = if j + 1 == units.len() { (0.3, 0.4) } else { (draws.next() + mean, draws.next()) };
            data.push(T::from_parts(noise.0 * unit, noise.1 * unit));
        }
    }
    Dense { rows: ROWS, columns: units.len(), data }
}

/// The model's numbers in double precision.
struct Model {
    components: Dense<Complex<f64>>,
    means: Vec<Complex<f64>>,
    /// 0 for constant features of scaled data.
    divisors: Vec<f64>,
    stretches: Vec<f64>,
}

impl Model {
    fn of<T: Scalar>(pca: &Pca) -> Self {
        let (context, info) = (pca.context(), pca.info());
        let mut components = blank::<T>(context, info.features, info.rank);
        pca.components(None, &mut components).unwrap();
        let found = held::<T>(&components);
        let data = found.data.iter().map(|c| Complex::new(c.re(), c.im())).collect();
        let components = Dense { rows: info.features, columns: info.rank, data };
        let of = |length: usize, read: &dyn Fn(&mut Tensor)| {
            let mut v = vector(context, length);
            read(&mut v);
            numbers(&v)
        };
        let constant = of(info.features, &|v| pca.constant(v).unwrap());
        let divisors = of(info.features, &|v| pca.scale(v).unwrap());
        let divisors = divisors.iter().zip(constant).map(|(d, c)| if c > 0.0 { 0.0 } else { *d }).collect();
        let values = of(info.rank, &|v| pca.singular_values(v).unwrap());
        let degrees = ((info.count - 1) as f64).sqrt();
        let stretch = |value: &f64| match info.options.whiten {
            false => 1.0,
            true if *value <= info.rounding => 0.0,
            true => value / degrees,
        };
        let dtype = if T::IS_COMPLEX { DType::CF64 } else { DType::F64 };
        let dims = [info.features];
        let mut mean = Tensor::create(context, dtype, Location::Host, Order::ColumnMajor, &dims).unwrap();
        pca.mean(&mut mean).unwrap();
        let mean_of = |i: usize| match T::IS_COMPLEX {
            true => mean.view::<Complex<f64>>("mean").unwrap().get(&[i]),
            false => Complex::new(mean.view::<f64>("mean").unwrap().get(&[i]), 0.0),
        };
        Self {
            components,
            means: (0..info.features).map(mean_of).collect(),
            divisors,
            stretches: values.iter().map(stretch).collect(),
        }
    }

    /// Whether `x` are the samples of scores `t`: each feature to some roundings of its mean, of its deviation and of its
    /// distance from the mean.
    fn expect_samples<T: Scalar>(&self, t: &Dense<T>, x: &Dense<T>, what: &str) {
        let (epsilon, least) = (T::DTYPE.epsilon(), T::DTYPE.smallest());
        for s in 0..t.rows {
            for i in 0..x.columns {
                let term = |j: usize| {
                    let score = Complex::new(t.at(s, j).re(), t.at(s, j).im());
                    self.components.at(i, j).conj() * score * self.stretches[j]
                };
                let (mut sum, mut size) = (Complex::new(0.0, 0.0), 1.0);
                (0..t.columns).for_each(|j| (sum, size) = (sum + term(j), size + term(j).norm()));
                let (d, mean) = (self.divisors[i], self.means[i]);
                let right = mean + Complex::new(sum.re * d, sum.im * d);
                let off = Complex::new(x.at(s, i).re(), x.at(s, i).im()) - right;
                let limit = 16.0 * epsilon * (size * d) + 4.0 * epsilon * mean.norm() + 4.0 * least;
                assert!(off.norm() <= limit, "{what}: feature {i} of {s} is {:?}, not {right}", x.at(s, i));
            }
        }
    }
}

trait Smallest {
    fn smallest(self) -> f64;
}

impl Smallest for DType {
    fn smallest(self) -> f64 {
        if self.is_single() { f64::from(f32::from_bits(1)) } else { f64::from_bits(1) }
    }
}

fn check_round_trips<T: Scalar>(context: &Arc<Context>, range: (f64, f64)) {
    let epsilon = T::DTYPE.epsilon();
    let is_gpu = matches!(context.backend(), Backend::Gpu(_));
    for seed in 0..12 {
        let draws = &mut Draws(seed * 77 + 5);
        // Deviations far below the largest entry have squares that underflow in double precision.
        let range = if T::DTYPE.is_single() { range } else { (range.0, range.1.min(range.0 + 450.0)) };
        let mut units: Vec<f64> = (0..COLUMNS).map(|_| draws.unit(range)).collect();
        (units[0], units[1]) = (range.1.exp2(), range.0.exp2());
        let x = samples::<T>(draws, &units);
        for (form, a) in forms(context, &x).into_iter().filter(|f| f.0 != "read by columns") {
            // A GPU divides weights for sparse matrices, which a type may not hold.
            if is_gpu && form == "sparse" {
                continue;
            }
            for (rank, whiten) in [(1, false), (COLUMNS - 1, false), (1, true), (COLUMNS - 1, true)] {
                let what = format!("{form} {:?} {seed} rank {rank}, whitened: {whiten}", T::DTYPE);
                let options = PcaOptions { scale: true, whiten, ..PcaOptions::default() };
                let (pca, _) = fitted::<T>(context, &a, rank, options).unwrap_or_else(|e| panic!("{what}: {e}"));
                let mut scores = blank::<T>(context, ROWS, rank);
                pca.transform(None, &a, &mut scores, None).unwrap_or_else(|e| panic!("{what}: {e}"));
                let mut back = blank::<T>(context, ROWS, COLUMNS);
                pca.inverse_transform(None, &scores, &mut back, None).unwrap_or_else(|e| panic!("{what}: {e}"));
                let (model, scores, back) = (Model::of::<T>(&pca), held::<T>(&scores), held::<T>(&back));
                model.expect_samples(&scores, &back, &what);
                if rank + 1 == COLUMNS {
                    for (k, (found, right)) in back.data.iter().zip(&x.data).enumerate() {
                        let off = (found.re() - right.re()).hypot(found.im() - right.im());
                        let unit = units[k / ROWS];
                        let limit = 500.0 * epsilon * unit + 4.0 * T::DTYPE.smallest();
                        assert!(off <= limit, "{what}: {k} in units of {unit:e} is {found:?}, not {right:?}");
                    }
                }
                // Scores that no transform made, each sample in its own unit.
                let mut others = Vec::new();
                for _ in 0..rank {
                    others.extend([1.0, 1e-3, 1e-20, 0.0, 1e3].map(|unit| T::from_parts(unit * draws.next(), 0.0)));
                }
                let others = Dense { rows: 5, columns: rank, data: others };
                let mut found = blank::<T>(context, 5, COLUMNS);
                pca.inverse_transform(None, &matrix(context, &others, PACKED), &mut found, None)
                    .unwrap_or_else(|e| panic!("{what}: {e}"));
                model.expect_samples(&others, &held::<T>(&found), &format!("{what}, other scores"));
            }
        }
    }
}

fn check_all_round_trips(context: &Arc<Context>) {
    check_round_trips::<f32>(context, (-118.0, 112.0));
    check_round_trips::<Complex<f32>>(context, (-118.0, 112.0));
    for range in [(-1000.0, -560.0), (-300.0, 140.0), (560.0, 1005.0)] {
        check_round_trips::<f64>(context, range);
        check_round_trips::<Complex<f64>>(context, range);
    }
}

#[test]
fn features_of_any_size_come_back_from_scores() {
    check_all_round_trips(&cpu());
}

#[test]
#[ignore = "needs a GPU"]
fn features_of_any_size_come_back_from_scores_on_a_gpu() {
    check_all_round_trips(&gpu());
}

/// The features of the report: 1e38 and one far below, which was 25 % off at 1e-36 and gone from 1e-37 on.
fn check_two_features<T: Scalar>(context: &Arc<Context>, top: f64, least: f64) {
    let of = |k: usize, by: f64| [1.0, -2.0, 3.0, -1.0, 1.5, 0.5].map(|x| x * by)[k];
    let data = (0..12).map(|k| if k < 6 { of(k, top) } else { of((k * 5) % 6, least) });
    let x = Dense::<T> { rows: 6, columns: 2, data: data.map(|x| T::from_parts(x, -0.5 * x)).collect() };
    for scale in [true, false] {
        // Without scales the second direction is lost beside the first, but not the mean.
        let options = PcaOptions { scale, ..PcaOptions::default() };
        let (pca, _) = fitted::<T>(context, &matrix(context, &x, PACKED), 2, options).unwrap();
        let [mut scores, mut back] = [(); 2].map(|()| blank::<T>(context, 6, 2));
        pca.transform(None, &matrix(context, &x, PACKED), &mut scores, None).unwrap();
        pca.inverse_transform(None, &scores, &mut back, None).unwrap();
        let (back, epsilon) = (held::<T>(&back), T::DTYPE.epsilon());
        if scale {
            for (k, (found, right)) in back.data.iter().zip(&x.data).enumerate() {
                let off = (found.re() - right.re()).hypot(found.im() - right.im());
                let unit = if k < 6 { top } else { least };
                assert!(off <= 50.0 * epsilon * unit, "{top:e} {least:e}: {k} is {found:?}, not {right:?}");
            }
            continue;
        }
        let zeros = Dense { rows: 1, columns: 2, data: vec![T::default(); 2] };
        let mut found = blank::<T>(context, 1, 2);
        pca.inverse_transform(None, &matrix(context, &zeros, PACKED), &mut found, None).unwrap();
        let (found, right) = (held::<T>(&found), Model::of::<T>(&pca).means);
        for (i, right) in right.iter().enumerate() {
            let off = (found.at(0, i).re() - right.re).hypot(found.at(0, i).im() - right.im);
            assert!(off <= 2.0 * epsilon * right.norm(), "{top:e} {least:e}: {i} is {:?}, not {right}", found.at(0, i));
        }
    }
}

fn check_all_two_features(context: &Arc<Context>) {
    for least in [1e-36, 1e-37, 1e-20, 1e10] {
        check_two_features::<f32>(context, 1e38, least);
        check_two_features::<Complex<f32>>(context, 1e38, least);
    }
    // The squares of unscaled features of 1e154 overflow.
    check_two_features::<f64>(context, 1e152, 1e6);
    check_two_features::<Complex<f64>>(context, 1e-5, 1e-152);
}

#[test]
fn the_smallest_feature_comes_back_beside_the_largest() {
    check_all_two_features(&cpu());
}

#[test]
#[ignore = "needs a GPU"]
fn the_smallest_feature_comes_back_beside_the_largest_on_a_gpu() {
    check_all_two_features(&gpu());
}

/// A model with the components (1, 1) / sqrt(2) and (1, -1) / sqrt(2), and deviations of about 0.416 `by`.
fn diagonal<T: Scalar>(context: &Arc<Context>, by: f64) -> Pca {
    let data = [0.5, -0.5, 0.1, -0.1, 0.5, -0.5, -0.1, 0.1].map(|x| T::from_parts(x * by, 0.0)).to_vec();
    let x = matrix(context, &Dense { rows: 4, columns: 2, data }, PACKED);
    fitted::<T>(context, &x, 2, PcaOptions { scale: true, ..PcaOptions::default() }).unwrap().0
}

/// Quotients overflow, or products of them do, and scores do not; each sample in its own unit.
fn check_quotients<T: Scalar>(context: &Arc<Context>, top: f64, tolerance: f64) {
    let is_gpu = matches!(context.backend(), Backend::Gpu(_));
    let pca = diagonal::<T>(context, 1.0);
    let scale = Model::of::<T>(&pca).divisors[0];
    let z = |x: f64| T::from_parts(x, 0.0);
    let least = T::DTYPE.smallest().sqrt();
    let rows = [[top, 0.0], [0.0, -top], [3.0, 1.0], [-top, -0.1 * top], [3.0 * least, least], [0.4 * top, 0.4 * top]];
    let rows = rows.map(|row| if row[0] == -top { [-0.9 * top, 0.0] } else { row });
    let data = (0..2).flat_map(|j| rows.map(|row| z(row[j]))).collect();
    let a = Dense { rows: 6, columns: 2, data };
    for (form, a) in forms(context, &a) {
        if is_gpu && form == "sparse" {
            continue;
        }
        let mut scores = blank::<T>(context, 6, 2);
        pca.transform(None, &a, &mut scores, None).unwrap_or_else(|e| panic!("{form} {:?}: {e}", T::DTYPE));
        let found = held::<T>(&scores);
        let sign = found.at(2, 1).re().signum();
        for (s, [x, y]) in rows.into_iter().enumerate() {
            let part = std::f64::consts::FRAC_1_SQRT_2 / scale;
            let right = [x * part + y * part, (x * part - y * part) * sign];
            for (j, right) in right.into_iter().enumerate() {
                let off = (found.at(s, j).re() - right).abs();
                let most = (x.abs() * part).max(y.abs() * part);
                assert!(off <= tolerance * most, "{form} {:?}: {s} {j} is {:?}, not {right}", T::DTYPE, found.at(s, j));
            }
        }
        let mut back = blank::<T>(context, 6, 2);
        pca.inverse_transform(None, &scores, &mut back, None).unwrap_or_else(|e| panic!("{form} {:?}: {e}", T::DTYPE));
        let back = held::<T>(&back);
        for (s, row) in rows.into_iter().enumerate() {
            for (i, right) in row.into_iter().enumerate() {
                let off = (back.at(s, i).re() - right).abs();
                let most = row[0].abs().max(row[1].abs());
                assert!(
                    off <= 4.0 * tolerance * most,
                    "{form} {:?}: {s} {i} is {:?}, not {right}",
                    T::DTYPE,
                    back.at(s, i)
                );
            }
        }
    }
    // The second component of the second sample, and nothing else, is beyond the type.
    let bad = Dense { rows: 3, columns: 2, data: [0.9, 0.9, 0.5, 0.0, -0.9, 0.3].map(|x| z(x * top)).to_vec() };
    for (form, a) in forms(context, &bad) {
        if is_gpu && form == "sparse" {
            continue;
        }
        let e = pca.transform(None, &a, &mut blank::<T>(context, 3, 2), None).unwrap_err().to_string();
        let name = T::DTYPE.name();
        let right = format!("numerical failure: scores: component 1 of sample 1 is beyond the range of {name}");
        assert_eq!(e, right, "{form}");
    }
    // One feature of the last sample, and nothing else.
    let large = diagonal::<T>(context, 2.0);
    let bad = [1.0, 0.5, 1.6, 0.0, -0.5, 1.6].map(|x| z(x * top)).to_vec();
    let bad = matrix(context, &Dense { rows: 3, columns: 2, data: bad }, PACKED);
    let feature = if Model::of::<T>(&large).components.at(0, 1).re > 0.0 { 0 } else { 1 };
    let e = large.inverse_transform(None, &bad, &mut blank::<T>(context, 3, 2), None).unwrap_err().to_string();
    let name = T::DTYPE.name();
    assert_eq!(e, format!("numerical failure: x: feature {feature} of sample 2 is beyond the range of {name}"));
}

fn check_all_quotients(context: &Arc<Context>) {
    check_quotients::<f64>(context, 1e308, 1e-15);
    check_quotients::<Complex<f64>>(context, 1e308, 1e-15);
    check_quotients::<f32>(context, 1.9e38, 1e-6);
    check_quotients::<Complex<f32>>(context, 1.9e38, 1e-6);
}

#[test]
fn scores_are_refused_only_beyond_the_type() {
    check_all_quotients(&cpu());
}

#[test]
#[ignore = "needs a GPU"]
fn scores_are_refused_only_beyond_the_type_on_a_gpu() {
    check_all_quotients(&gpu());
}

/// A sample whose sums overflow on the way does not take the digits of others.
fn check_beside<T: Scalar>(context: &Arc<Context>, top: f64, least: f64, tolerance: f64) {
    let data = (0..16).flat_map(|_| [1.0, -1.0, 2.0, 0.5]).map(|x| T::from_parts(x, 0.0)).collect();
    let x = Dense { rows: 4, columns: 16, data };
    let options = PcaOptions { center: false, ..PcaOptions::default() };
    let (pca, _) = fitted::<T>(context, &matrix(context, &x, PACKED), 1, options).unwrap();
    let data = (0..16).flat_map(|j| [if j < 8 { top } else { -top }, least]).map(|x| T::from_parts(x, 0.0)).collect();
    for (form, a) in forms(context, &Dense { rows: 2, columns: 16, data }) {
        let mut found = blank::<T>(context, 2, 1);
        pca.transform(None, &a, &mut found, None).unwrap_or_else(|e| panic!("{form}: {e}"));
        let found = held::<T>(&found);
        let right = 4.0 * least;
        assert!(found.at(0, 0).re().abs() <= tolerance * top, "{form}: {found:?}");
        assert!((found.at(1, 0).re() / right - 1.0).abs() <= tolerance, "{form}: {found:?}, not {right:e}");
    }
}

fn check_all_beside(context: &Arc<Context>) {
    check_beside::<f64>(context, 1.7e308, 3e-308, 1e-14);
    check_beside::<Complex<f64>>(context, 1.7e308, 3e-308, 1e-14);
    check_beside::<f32>(context, 3e38, 1.2e-38, 1e-5);
    check_beside::<Complex<f32>>(context, 3e38, 1.2e-38, 1e-5);
}

#[test]
fn small_samples_keep_their_digits_beside_sums_that_overflow() {
    check_all_beside(&cpu());
}

#[test]
#[ignore = "needs a GPU"]
fn small_samples_keep_their_digits_beside_sums_that_overflow_on_a_gpu() {
    check_all_beside(&gpu());
}
