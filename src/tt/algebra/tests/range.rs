//! Cores near the ends of the range, zeros, and what is not finite behind zeros.

use super::support::*;
use crate::error::Error;
use crate::tensor::train::{TensorTrain, TrainMatrix};
use crate::tt::algebra::{
    Place, Truncation, add, apply, apply_round, canonicalise, full, hadamard, hadamard_round, round, tt_svd,
};

/// A train of cores of one number each.
fn numbers<T: crate::scalar::Scalar>(c: &std::sync::Arc<crate::context::Context>, values: &[f64]) -> TensorTrain {
    let d = values.len();
    let mut x = train::<T>(c, &vec![1; d], &vec![1; d + 1], 1);
    let mut cores = x.cores_mut::<T>("x").unwrap();
    for (k, v) in values.iter().enumerate() {
        cores.core(k)[0] = T::from_parts(*v, 0.0);
    }
    x
}

fn only<T: crate::scalar::Scalar>(c: &std::sync::Arc<crate::context::Context>, x: &TensorTrain) -> f64 {
    let at = Place::host(c);
    let dims = x.shape().modes();
    let mut tensor = crate::tensor::Tensor::create(
        c,
        T::DTYPE,
        crate::tensor::Location::Host,
        crate::shape::Order::ColumnMajor,
        dims,
    )
    .unwrap();
    full(&at, x, &mut tensor, false).unwrap();
    tensor.memory().host("tensor").unwrap().as_slice::<T>().unwrap()[0].re()
}

fn products_are_right<T: crate::scalar::Scalar>(top: i32) {
    let c = context(1);
    let at = Place::host(&c);
    let two = |e: i32| 2.0f64.powi(e);
    for values in [[two(top), two(-top), 1.0], [two(-top), two(top / 2), two(top / 2)], [two(top), 3.0, two(-top)]] {
        let x = numbers::<T>(&c, &values);
        let square = (values[0] * values[1] * values[2]).powi(2);
        let h = TrainMatrix::new("h", numbers::<T>(&c, &values), &[1; 3], &[1; 3]).unwrap();
        let all = Truncation::default();
        assert_eq!(only::<T>(&c, &hadamard(&at, &x, &x).unwrap()), square, "{values:?}");
        assert_eq!(only::<T>(&c, &apply(&at, &h, &x).unwrap()), square, "{values:?}");
        let close = |found: f64| assert!((found - square).abs() <= 1e-5 * square, "{values:?}: {found}");
        let (train, report) = hadamard_round(&at, &x, &x, &all).unwrap();
        close(only::<T>(&c, &train));
        close(report.norm.plain(crate::scalar::DType::F64).0.re);
        close(only::<T>(&c, &apply_round(&at, &h, &x, &all).unwrap().0));
    }
    let x = numbers::<T>(&c, &[two(top), two(-top)]);
    let factor = C::new(two(top), 0.0);
    assert_eq!(only::<T>(&c, &add(&at, factor, &x, factor, &x).unwrap()), two(top + 1));
    // No cores hold this.
    let huge = numbers::<T>(&c, &[two(top), two(top)]);
    assert!(matches!(hadamard(&at, &huge, &huge), Err(Error::Numerical(_))));
}

#[test]
fn products_of_cores_may_lie_beyond_the_range() {
    products_are_right::<f64>(600);
    products_are_right::<C>(600);
    products_are_right::<f32>(70);
}

/// A train whose only entry is 4: every number is a power of two, and bonds carry 2^-a and 2^a.
fn gauged<T: crate::scalar::Scalar>(c: &std::sync::Arc<crate::context::Context>, a: i32) -> TensorTrain {
    let g = [2.0f64.powi(-a), 2.0f64.powi(a)];
    let mut x = train::<T>(c, &[1; 3], &[1, 2, 2, 1], 1);
    let mut cores = x.cores_mut::<T>("x").unwrap();
    let number = |v: f64| T::from_parts(v, 0.0);
    for b in 0..2 {
        cores.core(0)[b] = number(g[b]);
        cores.core(2)[b] = number(1.0 / g[b]);
        (0..2).for_each(|r| cores.core(1)[r + 2 * b] = number(g[b] / g[r]));
    }
    x
}

fn products_of_gauges_are_right<T: crate::scalar::Scalar>(ranges: [i32; 4]) {
    let c = context(1);
    let at = Place::host(&c);
    for a in ranges {
        let x = gauged::<T>(&c, a);
        let h = TrainMatrix::new("h", gauged::<T>(&c, a), &[1; 3], &[1; 3]).unwrap();
        let all = Truncation::default();
        assert_eq!(only::<T>(&c, &hadamard(&at, &x, &x).unwrap()), 16.0, "2^{a}");
        assert_eq!(only::<T>(&c, &apply(&at, &h, &x).unwrap()), 16.0, "2^{a}");
        let close = |found: f64| assert!((found - 16.0).abs() <= 1e-4, "2^{a}: {found}");
        close(only::<T>(&c, &hadamard_round(&at, &x, &x, &all).unwrap().0));
        close(only::<T>(&c, &apply_round(&at, &h, &x, &all).unwrap().0));
    }
}

#[test]
fn products_of_trains_whose_bonds_carry_gauges_are_right() {
    products_of_gauges_are_right::<f32>([10, 30, 40, 50]);
    products_of_gauges_are_right::<f64>([60, 250, 300, 400]);
    products_of_gauges_are_right::<C>([60, 250, 300, 400]);
}

#[test]
fn gauges_of_random_trains_change_no_product() {
    let c = context(1);
    let at = Place::host(&c);
    for seed in 0..20 {
        let x = train::<f32>(&c, &[2; 4], &[1, 3, 3, 2, 1], seed);
        let y = train::<f32>(&c, &[2; 4], &[1, 2, 3, 2, 1], seed + 100);
        // Value b of each bond times 2^e in one core, divided by it in the next.
        let moved = |x: &TensorTrain, seed: u64| {
            let mut z = crate::tt::algebra::copy(&at, x).unwrap();
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
        let mut session = crate::tt::Contraction::new(&c, crate::tt::Options::default()).unwrap();
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

#[test]
fn zeros_hide_nothing() {
    let c = context(1);
    let at = Place::host(&c);
    for zero in 0..3 {
        for bad in (0..3).filter(|k| *k != zero) {
            let mut x = train::<f64>(&c, &[2, 2, 2], &[1, 2, 2, 1], 5);
            {
                let mut cores = x.cores_mut::<f64>("x").unwrap();
                cores.core(zero).fill(0.0);
                cores.core(bad)[0] = f64::NAN;
            }
            for centre in 0..3 {
                let problem = canonicalise(&at, &x, centre).map(|_| ()).unwrap_err();
                assert!(matches!(problem, Error::InvalidArgument { .. }), "zero {zero}, NaN {bad}: {problem}");
            }
            let problem = round(&at, &x, &Truncation::default()).map(|_| ()).unwrap_err();
            assert!(matches!(problem, Error::InvalidArgument { .. }), "zero {zero}, NaN {bad}: {problem}");
            assert!(only::<f64>(&c, &x).is_nan(), "zero {zero}, NaN {bad}");
        }
    }
}

#[test]
fn a_zero_train_has_a_canonical_form() {
    let c = context(1);
    let at = Place::host(&c);
    let mut x = train::<f64>(&c, &[2, 3, 2], &[1, 2, 2, 1], 5);
    x.cores_mut::<f64>("x").unwrap().core(1).fill(0.0);
    for centre in 0..3 {
        let z = canonicalise(&at, &x, centre).unwrap().train;
        let cores = z.cores::<f64>("x").unwrap();
        for k in 0..3 {
            let norm: f64 = cores.core(k).iter().map(|v| v * v).sum();
            assert_eq!(norm, if k == centre { 0.0 } else { 1.0 });
        }
        assert_eq!(only::<f64>(&c, &z), 0.0);
    }
}

/// The entries of a train times 2^-e.
fn entries(c: &std::sync::Arc<crate::context::Context>, x: &TensorTrain, e: i64) -> Vec<f64> {
    let (at, host) = (Place::host(c), crate::tensor::Location::Host);
    let order = crate::shape::Order::ColumnMajor;
    let mut tensor =
        crate::tensor::Tensor::create(c, crate::scalar::DType::F64, host, order, x.shape().modes()).unwrap();
    full(&at, x, &mut tensor, false).unwrap();
    let values = tensor.memory().host("tensor").unwrap().as_slice::<f64>().unwrap();
    values.iter().map(|v| crate::tt::scaled::scale(*v, -e)).collect()
}

#[test]
fn numbers_near_the_least_of_the_type_are_kept() {
    let c = context(1);
    let at = Place::host(&c);
    for modes in [vec![4, 5, 3], vec![2, 3, 40], vec![60]] {
        let d = modes.len();
        let ranks: Vec<usize> = (0..=d).map(|k| if k == 0 || k == d { 1 } else { 3 }).collect();
        let plain = train::<f64>(&c, &modes, &ranks, 7);
        let wanted = entries(&c, &plain, 0);
        let size = wanted.iter().fold(0.0f64, |most, v| most.max(v.abs()));
        for e in [-1000, -1023, -1030, -1060] {
            // The type's resolution of such numbers.
            let tolerance = 1e-13 + 4.0 * 2.0f64.powi((-1074 - e).max(-200) as i32) / size;
            let mut x = train::<f64>(&c, &modes, &ranks, 7);
            let mut cores = x.cores_mut::<f64>("x").unwrap();
            cores.core(d - 1).iter_mut().for_each(|v| *v = crate::tt::scaled::scale(*v, e));
            let order = crate::shape::Order::ColumnMajor;
            let dtype = crate::scalar::DType::F64;
            let mut tensor =
                crate::tensor::Tensor::create(&c, dtype, crate::tensor::Location::Host, order, &modes).unwrap();
            let small: Vec<f64> = wanted.iter().map(|v| crate::tt::scaled::scale(*v, e)).collect();
            tensor.view_mut::<f64>("t").unwrap().data().copy_from_slice(&small);
            for (what, (made, report)) in [
                ("round", round(&at, &x, &Truncation::default()).unwrap()),
                ("svd", tt_svd(&at, &tensor, None, &Truncation::default()).unwrap()),
            ] {
                assert!(report.norm.exponent < e + 20 && !report.norm.is_zero(), "{what} {e}: {report:?}");
                for (found, wanted) in entries(&c, &made, e).iter().zip(&wanted) {
                    assert!(
                        (found - wanted).abs() <= 30.0 * tolerance * size,
                        "{what} {e} {modes:?}: {found} {wanted}"
                    );
                }
            }
            let made = canonicalise(&at, &x, 0).unwrap();
            for (found, wanted) in entries(&c, &made.train, e - made.exponent).iter().zip(&wanted) {
                assert!((found - wanted).abs() <= 30.0 * tolerance * size, "canonicalise {e}: {found} {wanted}");
            }
        }
        // Nothing at all stays nothing.
        let mut x = train::<f64>(&c, &modes, &ranks, 7);
        x.cores_mut::<f64>("x").unwrap().core(0).fill(0.0);
        assert!(round(&at, &x, &Truncation::default()).unwrap().1.norm.is_zero());
    }
}
