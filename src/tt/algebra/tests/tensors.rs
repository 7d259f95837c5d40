use super::support::*;
use crate::algebra::{Place, Truncation, tt_svd};
use crate::scalar::{Complex, DType, Scalar};
use crate::shape::Order;
use crate::tensor::{Location, Tensor};

four_types! {
    trains_of_dense_tensors => decomposed;
    tensors_of_zeros => zero;
}

fn decomposed<T: Scalar>() {
    let c = context(2);
    let at = Place::host(&c);
    let dims: [&[usize]; 7] = [&[3, 4, 5], &[6], &[2, 1, 3, 1], &[40, 3, 2], &[2, 3, 40], &[2; 9], &[1, 1]];
    for (s, modes) in dims.into_iter().enumerate() {
        // A train of full ranks, so that every truncation drops something.
        let d = modes.len();
        let ranks: Vec<usize> = (0..=d).map(|k| if k == 0 || k == d { 1 } else { 8 }).collect();
        let x = train::<T>(&c, modes, &ranks, s as u64);
        let t = tensor::<T>(&c, modes, &dense::<T>(&x));
        let values = numbers::<T>(&t);
        let whole = norm(&values);
        let slack = 100.0 * roundoff::<T>() * whole;
        for epsilon in [0.0, 1e-9, 1e-3, 0.2] {
            let (y, info) = tt_svd(&at, &t, None, &Truncation::relative(epsilon)).unwrap();
            let error = distance(&dense::<T>(&y), &values);
            assert!(error <= epsilon * whole + slack, "{modes:?} {epsilon}: {error} of {whole}");
            // A Gram matrix loses singular values below the square root of the roundoff.
            let known = if epsilon > 1e-6 { slack + 1e-7 * whole } else { slack };
            assert!((error - info.error * whole).abs() <= known, "{error} {}", info.error * whole);
            assert!((info.norm.plain(DType::F64).0.re - whole).abs() <= slack);
            assert_eq!(info.discarded.len(), d - 1);
        }
        // The same numbers in another memory order.
        let mut rows = Tensor::create(&c, T::DTYPE, Location::Host, Order::RowMajor, modes).unwrap();
        crate::tensor::copy(&c, None, &t, &mut rows).unwrap();
        let truncation = Truncation::relative(0.2);
        let (y, z) = (tt_svd(&at, &t, None, &truncation).unwrap(), tt_svd(&at, &rows, None, &truncation).unwrap());
        assert!(same::<T>(&y.0, &z.0));
        let (z, _) = tt_svd(&at, &t, Some(&[values.len()]), &truncation).unwrap();
        assert_eq!(dense::<T>(&z), values);
        let (z, _) = tt_svd(&at, &t, None, &Truncation { max_rank: 2, ..Truncation::default() }).unwrap();
        assert!(z.shape().max_rank() <= 2);
    }
}

fn zero<T: Scalar>() {
    let c = context(1);
    for modes in [&[3, 2, 4][..], &[5], &[30, 40]] {
        let t = Tensor::create(&c, T::DTYPE, Location::Host, Order::ColumnMajor, modes).unwrap();
        let (y, info) = tt_svd(&Place::host(&c), &t, None, &Truncation::relative(1e-3)).unwrap();
        assert_eq!(y.shape().max_rank(), 1);
        assert_eq!((norm(&dense::<T>(&y)), info.error, info.norm.is_zero()), (0.0, 0.0, true));
    }
}

/// Ranks and errors as computed by ttpy 1.2.1 and by NumPy.
#[test]
fn ranks_are_those_of_other_libraries() {
    let c = context(2);
    let at = Place::host(&c);
    let modes = [8; 6];
    let hilbert: Vec<C> =
        tuples(&modes).iter().map(|t| C::new(1.0 / (6 + t.iter().sum::<usize>()) as f64, 0.0)).collect();
    let whole = norm(&hilbert);
    // The rounding error of a sum of 2^18 squares, added in order.
    assert!((whole - 20.476429165157864).abs() < 1e-10);
    let t = tensor::<f64>(&c, &modes, &hilbert);
    let z = tensor::<Complex<f64>>(&c, &modes, &hilbert.iter().map(|x| x * C::new(0.6, 0.8)).collect::<Vec<_>>());
    for (epsilon, ranks, error, digits) in [
        (1e-2, [2, 2, 2, 2, 2], 2.562e-3, 1e-3),
        (1e-4, [3, 4, 4, 4, 3], 5.175e-5, 1e-3),
        (1e-8, [6, 7, 7, 7, 6], 2.304e-9, 1e-3),
        (1e-12, [8, 10, 10, 10, 8], 1.2e-13, 0.5),
    ] {
        let (y, info) = tt_svd(&at, &t, None, &Truncation::relative(epsilon)).unwrap();
        assert_eq!(y.shape().ranks()[1..6], ranks, "{epsilon}");
        let found = distance(&dense::<f64>(&y), &hilbert) / whole;
        assert!((found - error).abs() < digits * error, "{epsilon}: {found}");
        assert!(info.error <= epsilon);
        let (y, _) = tt_svd(&at, &z, None, &Truncation::relative(epsilon)).unwrap();
        assert_eq!(y.shape().ranks()[1..6], ranks, "complex, {epsilon}");
        // A train of higher ranks than the tensor's is rounded to the tensor's ranks.
        let (fine, _) = tt_svd(&at, &t, None, &Truncation::relative(1e-15)).unwrap();
        let (y, _) = crate::algebra::round(&at, &fine, &Truncation::relative(epsilon)).unwrap();
        assert_eq!(y.shape().ranks()[1..6], ranks, "rounded, {epsilon}");
    }
    let sine: Vec<C> =
        tuples(&modes).iter().map(|t| C::new((t.iter().sum::<usize>() as f64 / 7.0).sin(), 0.0)).collect();
    // A sum of 2^18 terms in order is rounded 2^18 times.
    assert!((norm(&sine).powi(2) - 98374.321764164).abs() < 98374.3 * 262_144.0 * f64::EPSILON);
    let t = tensor::<f64>(&c, &modes, &sine);
    for epsilon in [1e-2, 1e-4, 1e-8, 1e-12, 0.0] {
        let (y, _) = tt_svd(&at, &t, None, &Truncation::relative(epsilon)).unwrap();
        assert_eq!(y.shape().ranks()[1..6], [2; 5], "{epsilon}");
    }
    let t = tensor::<f32>(&c, &modes, &sine);
    let (y, _) = tt_svd(&at, &t, None, &Truncation::default()).unwrap();
    assert_eq!(y.shape().ranks()[1..6], [2; 5]);
}

#[test]
fn extreme_magnitudes_are_decomposed() {
    let c = context(1);
    let at = Place::host(&c);
    for magnitude in [1e200, 1e-200] {
        let x = train::<f64>(&c, &[3, 20, 20], &[1, 2, 3, 1], 1);
        let values: Vec<C> = dense::<f64>(&x).iter().map(|z| z * magnitude).collect();
        let t = tensor::<f64>(&c, &[3, 20, 20], &values);
        let (y, info) = tt_svd(&at, &t, None, &Truncation::relative(1e-10)).unwrap();
        assert_eq!(y.shape().ranks(), [1, 2, 3, 1]);
        let scaled = |v: &[C]| v.iter().map(|z| z / magnitude).collect::<Vec<C>>();
        let (a, b) = (scaled(&dense::<f64>(&y)), scaled(&values));
        assert!(distance(&a, &b) < 1e-13 * norm(&b));
        assert!((info.norm.plain(DType::F64).0.re / magnitude - norm(&b)).abs() < 1e-13 * norm(&b));
    }
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let build = |threads: usize, epsilon: f64| {
        let c = context(threads);
        let values: Vec<C> = (0..40 * 50 * 60).map(|k| C::new(crate::rng::normal(1, 0, k, 0), 0.0)).collect();
        let t = tensor::<f64>(&c, &[40, 50, 60], &values);
        let (y, info) = tt_svd(&Place::host(&c), &t, None, &Truncation::relative(epsilon)).unwrap();
        let cores = y.cores::<f64>("y").unwrap();
        ((0..3).map(|k| cores.core(k).to_vec()).collect::<Vec<_>>(), info)
    };
    for epsilon in [0.5, 1e-9] {
        assert!(build(1, epsilon) == build(3, epsilon));
    }
}
