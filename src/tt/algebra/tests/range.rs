//! Cores near the ends of the range, cores of zeros, and numbers that are not finite multiplied only by zeros.

use super::support::*;
use crate::algebra::{
    Place, Truncation, add, apply, apply_round, canonicalize, full, hadamard, hadamard_round, round, tt_svd,
};
use crate::error::Error;
use crate::tensor::train::{TensorTrain, TrainMatrix};

/// A train of cores with one entry each.
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
    // The product is beyond the range of all cores.
    let huge = numbers::<T>(&c, &[two(top), two(top)]);
    assert!(matches!(hadamard(&at, &huge, &huge), Err(Error::Numerical(_))));
}

#[test]
fn products_of_cores_may_lie_beyond_the_range() {
    products_are_right::<f64>(600);
    products_are_right::<C>(600);
    products_are_right::<f32>(70);
}

/// A train with the only entry 4. All entries of its cores are powers of two; the values of its bonds are 2^-a and 2^a.
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

fn dense_tensors_of_gauges_are_right<T: crate::scalar::Scalar>(ranges: &[i32]) {
    let c = context(1);
    for &a in ranges {
        assert_eq!(only::<T>(&c, &gauged::<T>(&c, a)), 4.0, "{:?} 2^{a}", T::DTYPE);
        // An entry that is only multiplied by zeros must not affect the others.
        let mut x = gauged::<T>(&c, 1);
        let mut cores = x.cores_mut::<T>("x").unwrap();
        cores.core(0)[0] = T::from_parts(2.0f64.powi(2 * a), 0.0);
        (0..2).for_each(|b| cores.core(1)[2 * b] = T::default());
        drop(cores);
        assert_eq!(only::<T>(&c, &x), 2.0, "{:?} idle 2^{}", T::DTYPE, 2 * a);
    }
}

#[test]
fn dense_tensors_of_trains_whose_bonds_carry_gauges_are_right() {
    dense_tensors_of_gauges_are_right::<f32>(&[10, 30, 50, 60]);
    dense_tensors_of_gauges_are_right::<f64>(&[60, 250, 400, 500]);
    dense_tensors_of_gauges_are_right::<C>(&[60, 400]);
}

fn tensors_may_be_far_away<T: crate::scalar::Scalar>(powers: &[i32], bound: f64) {
    let c = context(1);
    let at = Place::host(&c);
    for dims in [vec![3, 4, 2], vec![2, 9], vec![5]] {
        let len = dims.iter().product::<usize>();
        for &e in powers {
            let number =
                |i: usize| crate::trains::scaled::scale(1.0 + ((i * 37 + 11) % 64) as f64 / 64.0, i64::from(e));
            let values = (0..len).map(|i| T::from_parts(number(i), 0.0)).collect::<Vec<_>>();
            let (location, order) = (crate::tensor::Location::Host, crate::shape::Order::ColumnMajor);
            let mut tensor = crate::tensor::Tensor::create(&c, T::DTYPE, location, order, &dims).unwrap();
            tensor
                .memory_mut("x")
                .unwrap()
                .host_mut("x")
                .unwrap()
                .as_mut_slice::<T>()
                .unwrap()
                .copy_from_slice(&values);
            let (made, _) = tt_svd(&at, &tensor, None, &Truncation::default()).unwrap();
            let mut back = crate::tensor::Tensor::create(&c, T::DTYPE, location, order, &dims).unwrap();
            full(&at, &made, &mut back, false).unwrap();
            for (i, v) in back.memory().host("x").unwrap().as_slice::<T>().unwrap().iter().enumerate() {
                let found = crate::trains::scaled::scale(v.re(), i64::from(-e));
                let wanted = crate::trains::scaled::scale(number(i), i64::from(-e));
                assert!((found - wanted).abs() < bound, "{:?} {dims:?} 2^{e}: {found} for {wanted}", T::DTYPE);
            }
        }
    }
}

#[test]
fn tensors_near_the_ends_of_the_range_are_decomposed() {
    tensors_may_be_far_away::<f32>(&[60, 84, 100, 122, -60, -90, -110], 3e-5);
    tensors_may_be_far_away::<f64>(&[500, 901, 1000, 1018, -500, -901, -1000], 1e-12);
    tensors_may_be_far_away::<C>(&[901, 1018, -1000], 1e-12);
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
                let problem = canonicalize(&at, &x, centre).map(|_| ()).unwrap_err();
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
        let z = canonicalize(&at, &x, centre).unwrap().train;
        let cores = z.cores::<f64>("x").unwrap();
        for k in 0..3 {
            let norm: f64 = cores.core(k).iter().map(|v| v * v).sum();
            assert_eq!(norm, if k == centre { 0.0 } else { 1.0 });
        }
        assert_eq!(only::<f64>(&c, &z), 0.0);
    }
}

/// The entries of a train, times 2^-e.
fn entries(c: &std::sync::Arc<crate::context::Context>, x: &TensorTrain, e: i64) -> Vec<f64> {
    let (at, host) = (Place::host(c), crate::tensor::Location::Host);
    let order = crate::shape::Order::ColumnMajor;
    let mut tensor =
        crate::tensor::Tensor::create(c, crate::scalar::DType::F64, host, order, x.shape().modes()).unwrap();
    full(&at, x, &mut tensor, false).unwrap();
    let values = tensor.memory().host("tensor").unwrap().as_slice::<f64>().unwrap();
    values.iter().map(|v| crate::trains::scaled::scale(*v, -e)).collect()
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
            // The spacing of the type's numbers of this size.
            let tolerance = 1e-13 + 4.0 * 2.0f64.powi((-1074 - e).max(-200) as i32) / size;
            let mut x = train::<f64>(&c, &modes, &ranks, 7);
            let mut cores = x.cores_mut::<f64>("x").unwrap();
            cores.core(d - 1).iter_mut().for_each(|v| *v = crate::trains::scaled::scale(*v, e));
            let order = crate::shape::Order::ColumnMajor;
            let dtype = crate::scalar::DType::F64;
            let mut tensor =
                crate::tensor::Tensor::create(&c, dtype, crate::tensor::Location::Host, order, &modes).unwrap();
            let small: Vec<f64> = wanted.iter().map(|v| crate::trains::scaled::scale(*v, e)).collect();
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
            let made = canonicalize(&at, &x, 0).unwrap();
            for (found, wanted) in entries(&c, &made.train, e - made.exponent).iter().zip(&wanted) {
                assert!((found - wanted).abs() <= 30.0 * tolerance * size, "canonicalize {e}: {found} {wanted}");
            }
        }
        // A train of zeros stays one.
        let mut x = train::<f64>(&c, &modes, &ranks, 7);
        x.cores_mut::<f64>("x").unwrap().core(0).fill(0.0);
        assert!(round(&at, &x, &Truncation::default()).unwrap().1.norm.is_zero());
    }
}
