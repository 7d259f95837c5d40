//! Results of the algebra, measured by norms and distances, and norms of trains near the largest number of their type.

use std::sync::Arc;

use crate::algebra::{Place, Truncation, add, canonicalize, copy, create, hadamard, hadamard_round, round};
use crate::context::Context;
use crate::contraction::Contraction;
use crate::scalar::{Real, Scalar};
use crate::tensor::train::{Shape, TensorTrain};
use crate::trains::options::NormMethod;
use crate::trains::scaled::scale;
use crate::trains::testing::{C, Plain, cpu};
use crate::trains::{Options, Scaled};

fn train<T: Scalar>(c: &Arc<Context>, modes: &[usize], ranks: &[usize], seed: u64) -> TensorTrain {
    create::random(&Place::host(c), T::DTYPE, Shape::new("x", modes, ranks).unwrap(), seed).unwrap()
}

#[test]
fn gauges_of_random_trains_change_no_product() {
    let c = cpu(1);
    let at = Place::host(&c);
    for seed in 0..20 {
        let x = train::<f32>(&c, &[2; 4], &[1, 3, 3, 2, 1], seed);
        let y = train::<f32>(&c, &[2; 4], &[1, 2, 3, 2, 1], seed + 100);
        // Value b of each bond is multiplied by 2^e in one core and divided by it in the next.
        let moved = |x: &TensorTrain, seed: u64| {
            let mut z = copy(&at, x).unwrap();
            let shape = x.shape().clone();
            let shift = |bond: usize, b: usize| match bond {
                0 | 4 => 0,
                _ => ((b as u64 * 37 + bond as u64 * 11 + seed * 17) % 81) as i32 - 40,
            };
            let mut cores = z.cores_mut::<f32>("z").unwrap();
            for k in 0..4 {
                let [r, n, _] = shape.core(k);
                for (i, v) in cores.core(k).iter_mut().enumerate() {
                    *v *= 2.0f32.powi(shift(k + 1, i / (r * n)) - shift(k, i % r));
                }
            }
            drop(cores);
            z
        };
        let (gx, gy) = (moved(&x, seed), moved(&y, seed + 3));
        let plain = hadamard(&at, &x, &y).unwrap();
        let mut session = Contraction::new(&c, Options::default()).unwrap();
        let norm = session.norm(None, &plain, None).unwrap().0;
        for found in [
            hadamard(&at, &gx, &gy).unwrap(),
            hadamard_round(&at, &gx, &gy, &Truncation::default()).unwrap().0,
            hadamard(&at, &gx, &y).unwrap(),
        ] {
            let error = session.distance(None, &plain, &found, None).unwrap().0;
            assert!(error <= 2e-5 * norm, "seed {seed}: {error} of {norm}");
        }
    }
}

/// A train with twice the necessary ranks, and with core k times 2^e, keeps its norm and its entries in all
/// decompositions.
fn one_core_may_be_far_away<T: Scalar>(powers: &[i32], bound: f64) {
    let c = cpu(1);
    let at = Place::host(&c);
    let mut session = Contraction::new(&c, Options::default()).unwrap();
    for ranks in [vec![1, 3, 3, 1], vec![1, 2, 1], vec![1, 1]] {
        let d = ranks.len() - 1;
        let x = train::<T>(&c, &vec![3; d], &ranks, 7);
        let one = C::new(1.0, 0.0);
        let twice = add(&at, one, &x, one, &x).unwrap();
        for &e in powers {
            for k in 0..d {
                let mut y = copy(&at, &twice).unwrap();
                let part = |v: f64| scale(v, i64::from(e));
                for v in y.cores_mut::<T>("y").unwrap().core(k) {
                    *v = T::from_parts(part(v.re()), part(v.im()));
                }
                let what = format!("{:?} 2^{e} at core {k} of {d}", T::DTYPE);
                let (near, far) = (
                    session.norm_scaled(None, &twice, None).unwrap().0,
                    session.norm_scaled(None, &y, None).unwrap().0,
                );
                assert_eq!(far.exponent - near.exponent, i64::from(e), "{what}");
                let (rounded, report) = round(&at, &y, &Truncation::default()).unwrap();
                assert!(
                    rounded.shape().ranks().iter().zip(&ranks).all(|(r, s)| r <= s),
                    "{what}: {:?}",
                    rounded.shape()
                );
                let off = |v: Scaled| v.over(far).unwrap().log_abs().exp();
                assert!((off(report.norm) - 1.0).abs() < bound, "{what}: norm {:?} for {far:?}", report.norm);
                let canonical = canonicalize(&at, &y, d / 2).unwrap();
                let norm = session.norm_scaled(None, &canonical.train, None).unwrap().0;
                let norm = Scaled { exponent: norm.exponent + canonical.exponent, ..norm };
                assert!((off(norm) - 1.0).abs() < bound, "{what}: norm {norm:?} for {far:?}");
                let exact = (canonical.exponent == 0).then_some(canonical.train);
                for made in [Some(rounded), exact].into_iter().flatten() {
                    let error = off(session.distance_scaled(None, &made, &y, None).unwrap().0);
                    assert!(error < bound, "{what}: {error:e}");
                }
            }
        }
    }
}

#[test]
fn trains_with_a_core_near_the_ends_of_the_range_are_decomposed() {
    one_core_may_be_far_away::<f32>(&[60, 84, 85, 100, 122, -60, -90, -91, -105], 3e-6);
    one_core_may_be_far_away::<f64>(&[500, 899, 901, 1000, 1018, -500, -899, -901, -990], 1e-13);
    one_core_may_be_far_away::<C>(&[901, 1018, -990], 1e-13);
}

fn two(e: i64) -> f64 {
    scale(1.0, e)
}

/// 2^e, above all numbers of the type.
fn above<T: Scalar>() -> i64 {
    if size_of::<T::Part>() == 4 { 128 } else { 1024 }
}

/// The largest number of the type's parts.
fn largest<T: Scalar>() -> f64 {
    (2.0 - T::Part::EPSILON.to_f64()) * two(above::<T>() - 1)
}

/// A train of real numbers.
fn cores<T: Scalar>(c: &Arc<Context>, modes: &[usize], ranks: &[usize], values: &[&[f64]]) -> TensorTrain {
    let cores = values.iter().map(|core| core.iter().map(|&v| C::new(v, 0.0)).collect()).collect();
    Plain { modes: modes.to_vec(), ranks: ranks.to_vec(), cores }.train(c, T::DTYPE)
}

fn assert_is<T: Scalar>(found: Scaled, value: f64, exponent: i64, what: &str) {
    let expected = Scaled::new(C::new(value, 0.0), exponent);
    let apart = found.plus(Scaled { mantissa: -expected.mantissa, ..expected });
    let error = if apart.is_zero() { f64::NEG_INFINITY } else { apart.log_abs() - expected.log_abs() };
    let bound = (8.0 * T::Part::EPSILON.to_f64()).ln();
    assert!(error <= bound, "{:?} {what}: {found:?}, not {expected:?}", T::DTYPE);
}

fn norm(c: &Arc<Context>, norm_method: NormMethod, x: &TensorTrain) -> Scaled {
    let mut session = Contraction::new(c, Options { norm_method, ..Options::default() }).unwrap();
    session.norm_scaled(None, x, None).unwrap().0
}

/// The norm by each method, and the distance from zero.
fn norms(c: &Arc<Context>, x: &TensorTrain) -> Vec<Scaled> {
    let ways = [NormMethod::Auto, NormMethod::Inner, NormMethod::Triangle, NormMethod::Qr];
    let mut found: Vec<Scaled> = ways.map(|way| norm(c, way, x)).into();
    let zero = create::zeros(&Place::host(c), x.dtype(), x.shape().modes()).unwrap();
    let mut session = Contraction::new(c, Options::default()).unwrap();
    found.push(session.distance_scaled(None, x, &zero, None).unwrap().0);
    found
}

fn norms_at_the_top<T: Scalar>() {
    let c = cpu(1);
    let (most, n) = (above::<T>(), largest::<T>());
    let trace = cores::<T>(&c, &[1], &[2, 2], &[&[n, 0.0, 0.0, n]]);
    for method in [NormMethod::Auto, NormMethod::Qr] {
        assert_is::<T>(norm(&c, method, &trace), n, 1, "trace");
    }
    let (p, q, m) = if most == 128 { (127, -60, 120) } else { (1023, -700, 1023) };
    let row = |v: &[f64], e: i64| v.iter().map(|v| v * two(e)).collect::<Vec<_>>();
    // The large entries cancel: the tensor's entry is 2^(q + 2 m + 1).
    let lists: [&[f64]; 3] = [&[two(p), two(q)], &row(&[1.0, 1.0, 1.0, -1.0], m), &row(&[1.0, -1.0], m)];
    let x = cores::<T>(&c, &[1; 3], &[1, 2, 2, 1], &lists);
    for (way, norm) in norms(&c, &x).into_iter().enumerate() {
        assert!(norm.is_finite(), "{:?} way {way}", T::DTYPE);
        // The rounding error relative to the entries that cancel.
        let noise = T::Part::EPSILON.to_f64().powf(if way < 3 { 0.5 } else { 1.0 });
        let bound = (p + 2 * m + 1) as f64 * 2f64.ln() + (64.0 * noise).ln();
        assert!(norm.log_abs() <= bound, "{:?} way {way}: {norm:?}", T::DTYPE);
    }
    // A power of two that is rounded to the next would bring a core just beyond the range.
    let far = two(if most == 128 { 60 } else { 512 });
    let lists: [&[f64]; 2] = [&[n * 0.64, n * 0.67], &[n, -far, n, far * 0.5]];
    let x = cores::<T>(&c, &[1, 2], &[1, 2, 1], &lists);
    for (way, norm) in norms(&c, &x).into_iter().enumerate() {
        assert_is::<T>(norm, 0.64 * 2f64.sqrt() * n, most, &format!("way {way}"));
    }
}

#[test]
fn norms_near_the_largest_number_are_right() {
    norms_at_the_top::<f32>();
    norms_at_the_top::<f64>();
    norms_at_the_top::<crate::scalar::Complex<f32>>();
    norms_at_the_top::<C>();
}
