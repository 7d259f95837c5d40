//! Cores with entries of very different magnitude, and tensors at the ends of the range.

use super::support::*;
use crate::algebra::{
    Place, Spread, Truncation, add, apply, apply_round, cast, elements, full, hadamard, hadamard_round, matrix, round,
    scale, tt_svd,
};
use crate::error::Error;
use crate::scalar::{DType, Scalar};
use crate::tensor::train::{Shape, TensorTrain, TrainMatrix};
use crate::tensor::{Location, Tensor};
use crate::trains::scaled::Scaled;

/// 2^e, which may be subnormal.
fn two(e: i64) -> f64 {
    crate::trains::scaled::scale(1.0, e)
}

fn cores<T: Scalar>(c: &std::sync::Arc<crate::context::Context>, modes: &[usize], values: &[&[f64]]) -> TensorTrain {
    let ranks = vec![1; modes.len() + 1];
    let shape = Shape::new("x", modes, &ranks).unwrap();
    let mut x = TensorTrain::zeros(c, T::DTYPE, Location::Host, shape).unwrap();
    let mut to = x.cores_mut::<T>("x").unwrap();
    for (k, values) in values.iter().enumerate() {
        to.core(k).iter_mut().zip(*values).for_each(|(to, v)| *to = T::from_parts(*v, 0.0));
    }
    drop(to);
    x
}

/// The entries at these index tuples, computed with separate exponents.
fn entries(x: &TensorTrain, places: &[&[usize]]) -> Vec<Scaled> {
    let at = Place::host(x.context());
    places.iter().map(|place| crate::algebra::element(&at, x, place).unwrap()).collect()
}

fn power(e: i64) -> Scaled {
    Scaled::new(C::new(1.0, 0.0), e)
}

fn full_of<T: Scalar>(x: &TensorTrain) -> crate::error::Result<Vec<f64>> {
    let at = Place::host(x.context());
    let mut out = tensor::<T>(x.context(), x.shape().modes(), &[]);
    full(&at, x, &mut out, false)?;
    Ok(numbers::<T>(&out).iter().map(|z| z.re).collect())
}

/// Cores with the entries 2^-p and 2^p, whose products are near 1.
fn products<T: Scalar>(p: i64) {
    let c = context(2);
    let at = Place::host(&c);
    let what = format!("{:?} 2^{p}", T::DTYPE);
    let (x, z) = (cores::<T>(&c, &[2], &[&[two(-p), two(p)]]), cores::<T>(&c, &[2], &[&[two(p), two(-p)]]));
    assert_eq!(full_of::<T>(&hadamard(&at, &x, &z).unwrap()).unwrap(), [1.0, 1.0], "{what}");
    let column = cores::<T>(&c, &[4], &[&[1.0, 1.0, 0.0, 0.0]]);
    let h = TrainMatrix::new("h", column, &[2], &[2]).unwrap();
    assert_eq!(full_of::<T>(&apply(&at, &h, &x).unwrap()).unwrap(), [two(-p); 2], "{what}");
    let diagonal = cores::<T>(&c, &[4], &[&[two(-p), 0.0, 0.0, two(p)]]);
    let h = TrainMatrix::new("h", diagonal, &[2], &[2]).unwrap();
    let y = cores::<T>(&c, &[2], &[&[1.0, 0.0]]);
    assert_eq!(full_of::<T>(&apply(&at, &h, &y).unwrap()).unwrap(), [two(-p), 0.0], "{what}");
    let all = Truncation::default();
    for train in [apply_round(&at, &h, &y, &all).unwrap().0, hadamard_round(&at, &x, &z, &all).unwrap().0] {
        assert!(full_of::<T>(&train).unwrap()[0] > 0.0, "{what}");
    }
    // Another core makes the small product large.
    let far = [two(-p), two(p)];
    let (x, y) = (cores::<T>(&c, &[2, 1], &[&far, &[two(p / 2)]]), cores::<T>(&c, &[2, 1], &[&[1.0, far[0]], &[1.0]]));
    let found = entries(&hadamard(&at, &x, &y).unwrap(), &[&[0, 0], &[1, 0]]);
    assert_eq!(found, [power(p / 2 - p), power(p / 2)], "{what}");
}

#[test]
fn products_of_numbers_far_apart_are_kept() {
    for p in [60, 80, 100, 120] {
        products::<f32>(p);
        products::<crate::scalar::Complex<f32>>(p);
    }
    for p in [500, 600, 1000] {
        products::<f64>(p);
        products::<C>(p);
    }
}

/// Balancing the bond takes an entry out of the range, and the product with the other operand is in the range again.
fn balancing_loses_nothing<T: Scalar>([p, q, top]: [i64; 3]) {
    let c = context(1);
    let at = Place::host(&c);
    let shape = |modes: &[usize]| Shape::new("y", modes, &[1, 2, 1]).unwrap();
    let of = |modes: &[usize], first: &[f64]| {
        let mut y = TensorTrain::zeros(&c, T::DTYPE, Location::Host, shape(modes)).unwrap();
        let mut to = y.cores_mut::<T>("y").unwrap();
        for (k, values) in [first, &[two(-p), 1.0]].into_iter().enumerate() {
            to.core(k).iter_mut().zip(values).for_each(|(to, v)| *to = T::from_parts(*v, 0.0));
        }
        drop(to);
        y
    };
    let x = cores::<T>(&c, &[2, 1], &[&[1.0, two(top)], &[1.0]]);
    let y = of(&[2, 1], &[two(p), two(-q), 1.0, 0.0]);
    let diagonal = of(&[4, 1], &[two(p), 0.0, 0.0, two(-q), 1.0, 0.0, 0.0, 0.0]);
    let h = TrainMatrix::new("h", diagonal, &[2, 1], &[2, 1]).unwrap();
    for made in [hadamard(&at, &x, &y), hadamard(&at, &y, &x), apply(&at, &h, &x)] {
        assert_eq!(entries(&made.unwrap(), &[&[0, 0], &[1, 0]]), [power(1), power(top - p - q)], "{:?}", T::DTYPE);
    }
    let (rounded, _) = hadamard_round(&at, &x, &y, &Truncation::default()).unwrap();
    assert_eq!(entries(&rounded, &[&[0, 0]]), [power(1)], "{:?}", T::DTYPE);
}

#[test]
fn balanced_operands_lose_nothing_that_counts() {
    balancing_loses_nothing::<f32>([100, 60, 120]);
    balancing_loses_nothing::<crate::scalar::Complex<f32>>([100, 60, 120]);
    balancing_loses_nothing::<f64>([800, 400, 1000]);
    balancing_loses_nothing::<C>([800, 400, 1000]);
}

/// Zeros of one operand multiply the large entries of the other, so that the norm of the product is far below the
/// operand's.
fn rounding_keeps_what_is_small_beside_the_operands<T: Scalar>([first, p, q]: [i64; 3]) {
    let c = context(2);
    let at = Place::host(&c);
    let of = |modes: &[usize], inner: usize, values: [&[f64]; 2]| {
        let shape = Shape::new("x", modes, &[1, inner, 1]).unwrap();
        let mut x = TensorTrain::zeros(&c, T::DTYPE, Location::Host, shape).unwrap();
        let mut to = x.cores_mut::<T>("x").unwrap();
        for (k, values) in values.iter().enumerate() {
            to.core(k).iter_mut().zip(*values).for_each(|(to, v)| *to = T::from_parts(*v, 0.0));
        }
        drop(to);
        x
    };
    let (small, large) = (two(first), two(-first));
    let ends: &[f64] = &[two(p), two(q)];
    let x = of(&[2, 1], 2, [&[small, 0.0, 0.0, large], ends]);
    let y = of(&[2, 1], 1, [&[1.0, 0.0], &[1.0]]);
    let matrix = |x| TrainMatrix::new("h", x, &[2, 1], &[2, 1]).unwrap();
    let wide = matrix(of(&[4, 1], 2, [&[small, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, large], ends]));
    let select = matrix(of(&[4, 1], 1, [&[1.0, 0.0, 0.0, 0.0], &[1.0]]));
    let all = Truncation::default();
    let matrices = |g, h| {
        let (product, info) = matrix::multiply_round(&at, g, h, &all).unwrap();
        (crate::algebra::copy(&at, product.train()).unwrap(), info)
    };
    let made = [
        hadamard_round(&at, &x, &y, &all).unwrap(),
        hadamard_round(&at, &y, &x, &all).unwrap(),
        apply_round(&at, &select, &x, &all).unwrap(),
        apply_round(&at, &wide, &y, &all).unwrap(),
        matrices(&select, &wide),
        matrices(&wide, &select),
    ];
    for (i, (train, info)) in made.iter().enumerate() {
        let what = format!("{:?} 2^{first} 2^{p} 2^{q}, product {i}: {info:?}", T::DTYPE);
        let last = train.shape().modes()[0] - 1;
        let found = entries(train, &[&[0, 0], &[last, 0]]);
        for size in [found[0], info.norm] {
            let size = size.shifted(-first - p).plain(DType::F64).0.re;
            assert!((size.abs() - 1.0).abs() < 1e-6, "{what}: {size}");
        }
        assert!(found[1].is_zero() && info.error == 0.0, "{what}: {found:?}");
    }
}

#[test]
fn rounded_products_keep_numbers_far_below_the_operands() {
    for powers in [[0, -60, 60], [0, -120, 120], [-40, -100, 100], [-20, -30, 30]] {
        rounding_keeps_what_is_small_beside_the_operands::<f32>(powers);
        rounding_keeps_what_is_small_beside_the_operands::<crate::scalar::Complex<f32>>(powers);
    }
    for powers in [[0, -600, 600], [0, -1000, 1000], [-40, -900, 900], [-500, -500, 1000]] {
        rounding_keeps_what_is_small_beside_the_operands::<f64>(powers);
        rounding_keeps_what_is_small_beside_the_operands::<C>(powers);
    }
}

#[test]
fn rounded_products_refuse_numbers_that_no_core_holds() {
    let c = context(1);
    let at = Place::host(&c);
    // The product has one entry, 2^-2000. In its first core the entry that contributes to it is 2^-1000 beside 1.
    let mut x = train::<f64>(&c, &[2, 2], &[1, 2, 1], 1);
    let mut cores = x.cores_mut::<f64>("x").unwrap();
    cores.core(0).copy_from_slice(&[1.0, 0.0, 0.0, two(-1000)]);
    cores.core(1).copy_from_slice(&[1.0, 0.0, 0.0, 1.0]);
    drop(cores);
    let y = self::cores::<f64>(&c, &[2, 2], &[&[1.0, two(-1000)], &[0.0, 1.0]]);
    match hadamard_round(&at, &x, &y, &Truncation::default()) {
        Ok((_, info)) => assert_eq!(info.norm, power(-2000)),
        Err(problem) => assert!(problem.to_string().contains("numbers that count below"), "{problem}"),
    }
    // The lost entries are far below the norm.
    let far: &[f64] = &[1.0, two(-1000)];
    let x = self::cores::<f64>(&c, &[2, 2], &[far, far]);
    let (_, info) = hadamard_round(&at, &x, &x, &Truncation::default()).unwrap();
    assert_eq!(info.norm, power(0));
}

#[test]
fn products_in_exponents_of_their_own_are_those_of_the_type() {
    let c = context(2);
    let at = Place::host(&c);
    // Each core has one entry far below the others. Its products do not contribute.
    let mut x = train::<f32>(&c, &[3, 2, 3], &[2, 3, 2, 2], 3);
    let mut y = train::<f32>(&c, &[3, 2, 3], &[1, 2, 3, 1], 4);
    let mut h = train::<f32>(&c, &[6, 4, 3], &[1, 2, 3, 1], 5);
    let plain = |x: &TensorTrain, y: &TensorTrain, h: &TensorTrain| {
        let h = crate::algebra::copy(&at, h).unwrap();
        let h = TrainMatrix::new("h", h, &[2, 2, 1], &[3, 2, 3]).unwrap();
        [hadamard(&at, x, y).unwrap(), apply(&at, &h, x).unwrap()].map(|z| dense::<f32>(&z))
    };
    let before = plain(&x, &y, &h);
    for (train, place) in [(&mut x, 1), (&mut y, 1), (&mut h, 1)] {
        train.cores_mut::<f32>("x").unwrap().core(1)[place] = 0.0;
    }
    let without = plain(&x, &y, &h);
    for train in [&mut x, &mut y, &mut h] {
        train.cores_mut::<f32>("x").unwrap().core(1)[1] = 1e-36;
    }
    let with = plain(&x, &y, &h);
    for ((with, without), before) in with.iter().zip(&without).zip(&before) {
        assert!(distance(with, without) <= 1e-6 * norm(without) && distance(before, without) > 1e-3 * norm(without));
    }
}

#[test]
fn products_that_no_cores_hold_are_refused() {
    let c = context(1);
    let at = Place::host(&c);
    let far: &[f64] = &[1.0, two(-100)];
    // The entry 2^-200 is below the range of single precision and may become 0.
    let x = cores::<f32>(&c, &[2, 2], &[far, far]);
    assert_eq!(full_of::<f32>(&hadamard(&at, &x, &x).unwrap()).unwrap(), [1.0, 0.0, 0.0, 0.0]);
    // Here the third core brings the entry back into the range.
    let x = cores::<f32>(&c, &[2, 2, 2], &[far, far, &[two(60), two(60 - 100)]]);
    let problem = hadamard(&at, &x, &x).map(|_| ()).unwrap_err();
    let text = "result: core 0 would have numbers that count below the range of F32";
    assert_eq!(problem, Error::Numerical(text.into()));
}

#[test]
fn scaling_keeps_small_numbers_of_any_core() {
    let c = context(1);
    let at = Place::host(&c);
    let factor = |e| Scaled::new(C::new(1.3, 0.0), e);
    for spread in [Spread::Auto, Spread::Even] {
        for (small, large, e) in [(-1000, 1000, -600), (-1000, 1000, -60)] {
            let x = cores::<f64>(&c, &[2, 1], &[&[1.0, two(small)], &[two(large)]]);
            let found = entries(&scale(&at, factor(e), &x, spread).unwrap(), &[&[0, 0], &[1, 0]]);
            assert_eq!(found, [factor(e + large), factor(e + large + small)], "{spread:?} {e}");
        }
        let single = |e| Scaled::new(C::new(f64::from(1.3f32), 0.0), e);
        for (first, small, large, e) in [(0, -120, 100, -19), (120, -56, -118, 1), (100, -56, -118, 1)] {
            let x = cores::<f32>(&c, &[2, 1], &[&[two(first), two(small)], &[two(large)]]);
            let found = entries(&scale(&at, single(e), &x, spread).unwrap(), &[&[0, 0], &[1, 0]]);
            assert_eq!(found, [single(e + large + first), single(e + large + small)], "{spread:?} {e}");
        }
    }
    let x = cores::<f32>(&c, &[2, 1], &[&[two(120), two(-56)], &[two(-118)]]);
    let none = cores::<f32>(&c, &[2, 1], &[&[0.0, 0.0], &[0.0]]);
    let sum = add(&at, C::new(1.0, 0.0), &none, C::new(2.0, 0.0), &x).unwrap();
    assert_eq!(entries(&sum, &[&[0, 0], &[1, 0]]), [power(3), power(-173)]);
    // Neither core can take more of the power of two.
    let far: &[f64] = &[two(60), two(-110)];
    let x = cores::<f32>(&c, &[2, 2], &[far, far]);
    let problem = scale(&at, power(-60), &x, Spread::Auto).map(|_| ()).unwrap_err().to_string();
    assert!(problem.contains("factor: core 0 would have numbers that count below"), "{problem}");
    let problem = scale(&at, power(-30), &x, Spread::First).map(|_| ()).unwrap_err().to_string();
    assert!(problem.contains("factor: core 0 would have numbers that count below"), "{problem}");
}

#[test]
fn a_zero_train_is_zero_in_single_precision() {
    let c = context(1);
    let at = Place::host(&c);
    for (a, b) in [(394, 0), (200, -200), (600, 600), (-600, 600)] {
        let x = cores::<f64>(&c, &[2, 1, 2], &[&[two(a); 2], &[0.0], &[two(b); 2]]);
        for dtype in [DType::F32, DType::CF32] {
            let y = cast(&at, &x, dtype).unwrap();
            let places: [&[usize]; 2] = [&[0, 0, 0], &[1, 0, 1]];
            assert_eq!(elements(&at, &y, &[0, 0, 0, 1, 0, 1]).unwrap().len(), places.len());
            assert_eq!(entries(&y, &places), [Scaled::ZERO; 2], "2^{a} 2^{b}");
        }
        assert_eq!(full_of::<f32>(&cast(&at, &x, DType::F32).unwrap()).unwrap(), [0.0; 4]);
    }
    // The next core makes the small entry of this core large.
    let x = cores::<f64>(&c, &[2, 1], &[&[1.0, two(-180)], &[two(180)]]);
    assert_eq!(entries(&cast(&at, &x, DType::F32).unwrap(), &[&[0, 0], &[1, 0]]), [power(180), power(0)]);
}

#[test]
fn products_of_one_core_below_the_range_are_refused() {
    let c = context(1);
    let at = Place::host(&c);
    let all = Truncation::default();
    for (dtype, size) in [(DType::F32, two(-80)), (DType::F32, 1.25 * two(-73)), (DType::F64, two(-600))] {
        let make = |modes: &[usize]| match dtype {
            DType::F32 => cores::<f32>(&c, modes, &[&[size]]),
            _ => cores::<f64>(&c, modes, &[&[size]]),
        };
        let h = TrainMatrix::new("h", make(&[1]), &[1], &[1]).unwrap();
        for found in [hadamard_round(&at, &make(&[1]), &make(&[1]), &all), apply_round(&at, &h, &make(&[1]), &all)] {
            let problem = found.map(|_| ()).unwrap_err().to_string();
            assert!(problem.contains("x: a norm of 2^-"), "{dtype:?} {size}: {problem}");
        }
    }
    // The entries of a train are always in the range of its type.
    let x = cores::<f32>(&c, &[2], &[&[3.0 * two(-149), two(-149)]]);
    assert_eq!(full_of::<f32>(&round(&at, &x, &all).unwrap().0).unwrap(), [3.0 * two(-149), two(-149)]);
    let square = |small| {
        let x = cores::<f32>(&c, &[2], &[&[two(-70), two(small)]]);
        full_of::<f32>(&hadamard_round(&at, &x, &x, &all)?.0)
    };
    assert_eq!(square(-73).unwrap(), [two(-140), two(-146)]);
    assert!(square(-75).is_err());
}

fn svd_of<T: Scalar>(dims: &[usize], value: impl Fn(usize) -> f64) -> (Tensor, TensorTrain, f64, Scaled) {
    let c = context(2);
    let values: Vec<C> = (0..dims.iter().product()).map(|i| C::new(value(i), 0.0)).collect();
    let given = tensor::<T>(&c, dims, &values);
    let (train, report) = tt_svd(&Place::host(&c), &given, None, &Truncation::default()).unwrap();
    (given, train, report.error, report.norm)
}

fn tensors_at_the_upper_end<T: Scalar>(top: i64) {
    let all = Truncation::default();
    let shapes: [&[usize]; 7] = [&[1], &[3], &[2, 2, 1], &[4, 4], &[1, 3, 3], &[2, 2, 2, 2, 2, 2, 2], &[2, 64]];
    for dims in shapes {
        for e in [top - 1, top - 2, top - 6] {
            // Values from 1 to 2, times 2^e.
            let value = |i: usize| (1.0 + ((i * 37 + 11) % 64) as f64 / 64.0) * two(e);
            let (given, train, _, norm) = svd_of::<T>(dims, value);
            let what = format!("{:?} {dims:?} 2^{e}", T::DTYPE);
            let square: f64 = numbers::<T>(&given).iter().map(|x| (x.re * two(-e)).powi(2)).sum();
            let size = norm.shifted(-e).plain(DType::F64).0.re / square.sqrt();
            assert!((size - 1.0).abs() < 1e-6, "{what}: {norm:?}");
            let one = vec![dims.iter().product()];
            let core: Vec<f64> = numbers::<T>(&given).iter().map(|x| x.re).collect();
            let whole =
                round(&Place::host(train.context()), &cores::<T>(train.context(), &one, &[&core]), &all).unwrap();
            let back = [full_of::<T>(&train).unwrap(), full_of::<T>(&whole.0).unwrap()].concat();
            for (i, x) in back.iter().enumerate() {
                let i = i % core.len();
                assert!((x * two(-e) - value(i) * two(-e)).abs() < 3e-5, "{what}: {x} for {}", value(i));
            }
        }
    }
}

#[test]
fn tensors_at_the_upper_end_of_the_range_come_back() {
    tensors_at_the_upper_end::<f32>(127);
    tensors_at_the_upper_end::<f64>(1023);
    tensors_at_the_upper_end::<C>(1023);
    let c = context(1);
    let bad = tensor::<f64>(&c, &[2, 2], &[C::new(f64::INFINITY, 0.0); 4]);
    let problem = tt_svd(&Place::host(&c), &bad, None, &Truncation::default()).map(|_| ()).unwrap_err().to_string();
    assert!(problem.ends_with("tensor: holds numbers that are not finite"), "{problem}");
    // The product's entry is beyond the range of the type.
    for (x, y) in [(two(64), two(64)), (two(100), two(100))] {
        let problem = full_of::<f32>(&cores::<f32>(&c, &[1, 1], &[&[x], &[y]])).unwrap_err().to_string();
        assert!(problem.ends_with("beyond the range of F32; scale the train first"), "{problem}");
    }
}

#[test]
fn tensors_of_single_precision_near_the_least_number_keep_their_digits() {
    let shapes: [&[usize]; 4] = [&[4, 4], &[2, 2, 2, 2], &[3, 20], &[6]];
    for dims in shapes {
        for e in [-149, -142, -130, -100] {
            let value = |i: usize| (1 + (i * 37 + 11) % 15) as f64 * two(e);
            let (_, train, error, _) = svd_of::<f32>(dims, value);
            let wide = cast(&Place::host(train.context()), &train, DType::F64).unwrap();
            let found: Vec<f64> = dense::<f64>(&wide).iter().map(|x| x.re * two(-e)).collect();
            let off: f64 = found.iter().enumerate().map(|(i, x)| (x - value(i) * two(-e)).powi(2)).sum();
            let size: f64 = found.iter().map(|x| x * x).sum();
            assert!(error < 1e-6 && off.sqrt() < 1e-6 * size.sqrt(), "{dims:?} 2^{e}: {error} {}", (off / size).sqrt());
        }
    }
}

/// Trains of cores with one entry, of these exponents, and the same with one of the entries 0.
fn one_number<T: Scalar>(cases: &[&[i64]]) {
    let c = context(1);
    for powers in cases {
        let values: Vec<[f64; 1]> = powers.iter().map(|e| [two(*e)]).collect();
        let mut x = cores::<T>(&c, &vec![1; values.len()], &values.iter().map(|v| &v[..]).collect::<Vec<_>>());
        assert_eq!(full_of::<T>(&x).unwrap(), [two(powers.iter().sum())], "{:?} {powers:?}", T::DTYPE);
        x.cores_mut::<T>("x").unwrap().core(0)[0] = T::default();
        assert_eq!(full_of::<T>(&x).unwrap(), [0.0], "{:?} 0 {powers:?}", T::DTYPE);
    }
}

#[test]
fn dense_tensors_of_cores_far_from_one_are_right() {
    let single: [&[i64]; 7] = [
        &[-60, 120, 9],
        &[-60, 120, 10],
        &[-60, 124, 5],
        &[9, 120, -60],
        &[1, 1, 123, 5, -50],
        &[127, -140, 12],
        &[127],
    ];
    one_number::<f32>(&single);
    let double: [&[i64]; 5] =
        [&[-900, 1016, 9], &[9, 1016, -900], &[13, 13, -1060, 13, 13], &[1023, 1, -900, 7], &[1023]];
    one_number::<f64>(&double);
    one_number::<C>(&double);
    // Entries that lead only to zeros are far above the one that contributes.
    let c = context(1);
    let mut x = train::<f64>(&c, &[1; 4], &[1, 2, 2, 1, 1], 1);
    let numbers: [&[f64]; 4] = [&[0.0, 1.0], &[0.0, two(215), 0.0, two(281)], &[two(-1022), 0.0], &[1.0]];
    let mut cores = x.cores_mut::<f64>("x").unwrap();
    numbers.iter().enumerate().for_each(|(k, values)| cores.core(k).copy_from_slice(values));
    drop(cores);
    assert_eq!(full_of::<f64>(&x).unwrap(), [two(-807)]);
    // All entries are within the range, but the norm of the core is not.
    let many = vec![two(1022); 64];
    let x = self::cores::<f64>(&c, &[64, 64], &[&many, &vec![two(-30); 64]]);
    assert!(full_of::<f64>(&x).unwrap().iter().all(|x| *x == two(992)));
    let x = self::cores::<f64>(&c, &[64, 1, 1], &[&many, &[two(-900)], &[two(20)]]);
    assert!(full_of::<f64>(&x).unwrap().iter().all(|x| *x == two(142)));
}
