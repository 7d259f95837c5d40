//! Numbers and factors at the ends of the range of the type.

use std::sync::Arc;

use super::support::*;
use crate::algebra::{Place, Spread, Truncation, add, canonicalize, element, full, hadamard, round, scale, to_open};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::scalar::{Real, Scalar};
use crate::tensor::Location;
use crate::tensor::train::{Shape, TensorTrain};
use crate::trains::scaled::Scaled;

type C32 = crate::scalar::Complex<f32>;

/// Exponents (least, most): the product of 2^least and a number below 1 may underflow, the sum of two numbers near
/// 2^most may overflow.
fn ends<T: Scalar>() -> (i64, i64) {
    if size_of::<T::Part>() == 4 { (-149, 128) } else { (-1074, 1024) }
}

fn two(e: i64) -> f64 {
    crate::trains::scaled::scale(1.0, e)
}

fn real(x: f64) -> C {
    C::new(x, 0.0)
}

/// A train with these entries, core by core.
fn cores<T: Scalar>(c: &Arc<Context>, modes: &[usize], ranks: &[usize], values: &[&[C]]) -> TensorTrain {
    let mut x = TensorTrain::zeros(c, T::DTYPE, Location::Host, Shape::new("x", modes, ranks).unwrap()).unwrap();
    let mut to = x.cores_mut::<T>("x").unwrap();
    for (k, values) in values.iter().enumerate() {
        to.core(k).iter_mut().zip(*values).for_each(|(to, v)| *to = T::from_parts(v.re, v.im));
    }
    drop(to);
    x
}

/// A train of cores with one entry each.
fn line<T: Scalar>(c: &Arc<Context>, values: &[C]) -> TensorTrain {
    let d = values.len();
    let lists: Vec<&[C]> = values.iter().map(std::slice::from_ref).collect();
    cores::<T>(c, &vec![1; d], &vec![1; d + 1], &lists)
}

fn full_of<T: Scalar>(x: &TensorTrain) -> Result<Vec<C>> {
    let at = Place::host(x.context());
    let mut out = tensor::<T>(x.context(), x.shape().modes(), &[]);
    full(&at, x, &mut out, false)?;
    Ok(numbers::<T>(&out))
}

/// All entries with the other indices 0, computed with separate exponents.
fn entries(x: &TensorTrain) -> Vec<Scaled> {
    let at = Place::host(x.context());
    let place = |i: usize| [vec![i], vec![0; x.shape().len() - 1]].concat();
    (0..x.shape().modes()[0]).map(|i| element(&at, x, &place(i)).unwrap()).collect()
}

fn assert_is<T: Scalar>(found: Scaled, value: C, exponent: i64, what: &str) {
    let expected = Scaled::new(value, exponent);
    let apart = found.plus(Scaled { mantissa: -expected.mantissa, ..expected });
    let error = if apart.is_zero() { f64::NEG_INFINITY } else { apart.log_abs() - expected.log_abs() };
    let bound = (8.0 * T::Part::EPSILON.to_f64()).ln();
    assert!(error <= bound, "{:?} {what}: {found:?}, not {expected:?}", T::DTYPE);
}

fn factors_beyond_single_precision<T: Scalar>() {
    let c = context(1);
    let at = Place::host(&c);
    let one = real(1.0);
    for d in [1, 2, 3] {
        // Each core is 2^-20, or only the first one.
        for all in [false, true] {
            let small = if all { two(-20) } else { 1.0 };
            let rest = vec![real(small); d - 1];
            let make = |first: &[C]| {
                let mut lists = vec![first];
                lists.extend(rest.iter().map(std::slice::from_ref));
                let modes: Vec<usize> = lists.iter().map(|l| l.len()).collect();
                cores::<T>(&c, &modes, &vec![1; d + 1], &lists)
            };
            let below = if all { -20 * d as i64 } else { -20 };
            let x = make(&[real(0.0), real(two(-20))]);
            let y = cores::<T>(&c, x.shape().modes(), x.shape().ranks(), &vec![&[one, one][..]; d]);
            let zero = make(&[real(0.0), real(0.0)]);
            for e in [127, 128, 130] {
                let what = format!("d = {d} {all} 2^{e}");
                let factor = real(1.375 * two(e));
                let found = entries(&add(&at, factor, &x, one, &y).unwrap());
                assert_is::<T>(found[0], one, 0, &what);
                assert_is::<T>(found[1], real(1.375 + two(-e - below)), e + below, &what);
                let found = entries(&add(&at, one, &y, factor, &x).unwrap());
                assert_is::<T>(found[1], real(1.375 + two(-e - below)), e + below, &what);
                let found = entries(&add(&at, factor, &zero, one, &y).unwrap());
                assert_eq!(found, [Scaled::ONE; 2], "{what}");
            }
            // Factors near the smallest number of single precision.
            let large = make(&[real(two(100)), real(two(101))]);
            for e in [-120, -126, -130, -148, -149, -150, -160] {
                let what = format!("d = {d} {all} 2^{e}");
                let found = entries(&add(&at, real(1.375 * two(e)), &large, one, &zero).unwrap());
                let size = e + 100 + if all { below + 20 } else { 0 };
                if size > -120 {
                    assert_is::<T>(found[0], real(1.375), size, &what);
                    assert_is::<T>(found[1], real(1.375), size + 1, &what);
                }
            }
        }
    }
    if T::IS_COMPLEX {
        let x = line::<T>(&c, &[real(two(-20))]);
        let found = entries(&add(&at, C::new(0.0, two(128)), &x, one, &line::<T>(&c, &[one])).unwrap());
        assert_is::<T>(found[0], C::new(two(-108), 1.0), 108, "i");
    }
}

#[test]
fn sums_take_factors_beyond_single_precision() {
    factors_beyond_single_precision::<f32>();
    factors_beyond_single_precision::<C32>();
    factors_beyond_single_precision::<f64>();
    factors_beyond_single_precision::<C>();
}

fn small_numbers_take_factors<T: Scalar>() {
    let c = context(1);
    let at = Place::host(&c);
    let (least, _) = ends::<T>();
    let factors = [real(1.375), real(-1.375), C::new(0.75, -1.25)];
    for factor in factors.into_iter().take(if T::IS_COMPLEX { 3 } else { 2 }) {
        let tiny = real(3.0 * two(least));
        let x = line::<T>(&c, &[tiny]);
        for spread in [Spread::Auto, Spread::First, Spread::Even] {
            for e in [40, 60, 100] {
                let found = scale(&at, Scaled::new(factor, e), &x, spread).unwrap();
                assert_is::<T>(entries(&found)[0], factor * 3.0, least + e, &format!("{spread:?} 2^{e}"));
            }
        }
        // Another core makes the entry large.
        let large = real(two(100));
        for y in [line::<T>(&c, &[tiny, large]), line::<T>(&c, &[large, tiny])] {
            for spread in [Spread::Auto, Spread::Even] {
                let found = scale(&at, Scaled::new(factor, 0), &y, spread).unwrap();
                assert_is::<T>(entries(&found)[0], factor * 3.0, least + 100, &format!("{spread:?}"));
            }
            let zero = line::<T>(&c, &[real(0.0); 2]);
            let found = add(&at, factor, &y, real(1.0), &zero).unwrap();
            assert_is::<T>(entries(&found)[0], factor * 3.0, least + 100, "sum");
        }
        // The entries of the first core fill the range, so it cannot be scaled.
        let most = ends::<T>().1 - 9;
        let lists: [&[C]; 2] = [&[tiny, real(two(most))], &[real(two(100 - most))]];
        let y = cores::<T>(&c, &[2, 1], &[1; 3], &lists);
        let found = entries(&scale(&at, Scaled::new(factor, 0), &y, Spread::Auto).unwrap());
        assert_is::<T>(found[0], factor * 3.0, least + 100 - most, "second core");
        assert_is::<T>(found[1], factor, 100, "second core");
        let lists: [&[C]; 2] = [&[tiny, real(two(most))], &[real(two(100))]];
        let y = cores::<T>(&c, &[2, 1], &[1; 3], &lists);
        let refused = scale(&at, Scaled::new(factor, 0), &y, Spread::First);
        let text = format!("factor: core 0 would have numbers that count below the range of {}", T::DTYPE.name());
        assert_eq!(refused.map(|_| ()).unwrap_err(), Error::Numerical(text));
        // The product with a sign or a power of two is exact in any core.
        let found = entries(&scale(&at, Scaled::new(real(-1.0), 0), &y, Spread::First).unwrap());
        assert_is::<T>(found[0], real(-3.0), least + 100, "sign");
    }
    // The result is below the range and is rounded as any number is.
    let x = line::<T>(&c, &[real(4.0 * two(least))]);
    let found = scale(&at, Scaled::real(1.25), &x, Spread::Auto).unwrap();
    assert_eq!(entries(&found)[0], Scaled::new(real(5.0), least));
}

four_types! {
    factors_keep_the_digits_of_small_numbers => small_numbers_take_factors;
}

/// The largest number of a real type; for a complex type 1 + i `im` times that of its parts.
fn largest<T: Scalar>(im: f64) -> C {
    let most = (2.0 - T::Part::EPSILON.to_f64()) * two(ends::<T>().1 - 1);
    if T::IS_COMPLEX { C::new(most, im * most) } else { real(most) }
}

fn sums_at_the_top<T: Scalar>() {
    let c = context(1);
    let at = Place::host(&c);
    let one = real(1.0);
    let most = largest::<T>(1.0);
    let x = line::<T>(&c, &[most]);
    let beyond = |r: Result<TensorTrain>| {
        let text = r.map(|_| ()).unwrap_err().to_string();
        assert!(text.contains("beyond the range of"), "{text}");
    };
    beyond(add(&at, one, &x, one, &x));
    beyond(add(&at, real(1.5), &x, real(0.25), &x));
    beyond(scale(&at, Scaled::real(1.5), &x, Spread::Auto));
    // Each term is larger than the sum.
    let found = add(&at, real(1.5), &x, real(-1.0), &x).unwrap();
    assert_is::<T>(entries(&found)[0], most * 0.5, 0, "difference");
    assert_eq!(entries(&add(&at, real(3.0), &x, real(-3.0), &x).unwrap()), [Scaled::ZERO]);
    // The power of two multiplies the other core.
    let x = line::<T>(&c, &[most, real(two(-9))]);
    let found = add(&at, one, &x, one, &x).unwrap();
    assert_is::<T>(entries(&found)[0], most * two(-8), 0, "two cores");
    if !T::IS_COMPLEX {
        return;
    }
    for factor in [C::new(0.75, 0.75), C::new(-1.5, 1.0), C::new(0.6, 0.8)] {
        let x = line::<T>(&c, &[most * 0.75]);
        if factor.re == 0.6 {
            // The product's parts are -0.2 and 1.4 times three quarters of the largest number.
            beyond(scale(&at, Scaled::new(factor, 0), &x, Spread::Auto));
        } else {
            beyond(scale(&at, Scaled::new(factor, 0), &line::<T>(&c, &[most]), Spread::Auto));
        }
        let x = line::<T>(&c, &[most, real(two(-9))]);
        for spread in [Spread::Auto, Spread::Even] {
            let Ok(found) = scale(&at, Scaled::new(factor, 0), &x, spread) else {
                assert!(spread != Spread::Auto);
                continue;
            };
            assert_is::<T>(entries(&found)[0], most * two(-20) * factor, 11, "two cores");
        }
        let zero = line::<T>(&c, &[real(0.0); 2]);
        let found = add(&at, factor, &x, one, &zero).unwrap();
        assert_is::<T>(entries(&found)[0], most * two(-20) * factor, 11, "two cores");
    }
}

four_types! {
    sums_near_the_largest_number_are_right_or_refused => sums_at_the_top;
}

fn traces_at_the_top<T: Scalar>() {
    let c = context(1);
    let at = Place::host(&c);
    let most = largest::<T>(0.0);
    let zero = real(0.0);
    let ring = |a: C, b: C| cores::<T>(&c, &[1], &[2, 2], &[&[a, zero, zero, b]]);
    let sum = ring(most, most);
    let text = format!("x: its trace is beyond the range of {}", T::DTYPE.name());
    assert_eq!(to_open(&at, &sum).map(|_| ()).unwrap_err(), Error::Numerical(text.clone()));
    assert_eq!(full_of::<T>(&sum).unwrap_err(), Error::Numerical(text));
    assert_eq!(full_of::<T>(&ring(most, -most)).unwrap(), [zero]);
    let three = cores::<T>(&c, &[1], &[3, 3], &[&[most, zero, zero, zero, most, zero, zero, zero, -most]]);
    assert_eq!(full_of::<T>(&three).unwrap(), [most]);
}

four_types! {
    traces_near_the_largest_number_are_right_or_refused => traces_at_the_top;
}

fn dense_at_the_ends<T: Scalar>() {
    let c = context(1);
    let (least, most) = ends::<T>();
    let right = |values: &[f64], expected: f64| {
        let values: Vec<C> = values.iter().map(|v| real(*v)).collect();
        for flip in [false, true] {
            let mut values = values.clone();
            if flip {
                values.reverse();
            }
            let found = full_of::<T>(&line::<T>(&c, &values)).unwrap();
            let error = (4.0 * T::Part::EPSILON.to_f64() * expected).max(two(least));
            assert!((found[0].re - expected).abs() <= error, "{:?} {values:?}: {} {expected}", T::DTYPE, found[0]);
        }
    };
    right(&[1.5, two(most - 1)], 1.5 * two(most - 1));
    right(&[1.25, two(most - 1), 1.5], 1.875 * two(most - 1));
    right(&[1.5 * two(most - 1), two(-40), two(40)], 1.5 * two(most - 1));
    // A core below the range, between two others.
    let low = 3.0 * two(least + 5);
    right(&[two(most - 2), low, 1.25], 3.75 * two(most + least + 3));
    right(&[two(most - 2), low, 1.25 * two(-30)], 3.75 * two(most + least - 27));
    right(&[1.375 * two(most - 1), low, two(-most - 6)], two(least));
    right(&[1.75 * two(most - 1), low, two(-most + 1)], 3.0 * 1.75 * two(least + 5));
    // Each term is beyond the range, the sum within it.
    let big = two(most - 1);
    let row = [real(big), real(big), real(big * 1.5)];
    let column = [real(1.5), real(1.5), real(-1.5)];
    let sum = cores::<T>(&c, &[1, 1], &[1, 3, 1], &[&row, &column]);
    assert_eq!(full_of::<T>(&sum).unwrap(), [real(0.75 * big)]);
    for values in [[largest::<T>(0.0), real(1.1)], [real(2.0), largest::<T>(1.0)]] {
        let text = full_of::<T>(&line::<T>(&c, &values)).unwrap_err().to_string();
        assert!(text.contains("beyond the range of"), "{text}");
    }
    // The product of the norms of a ring's halves, which bounds its entries, is larger than the entries.
    let e = two(most - 2);
    let id = |v: f64| (0..16).map(|i| real(if i % 5 == 0 { v } else { 0.0 })).collect::<Vec<_>>();
    let ring = cores::<T>(&c, &[1, 1], &[4, 4, 4], &[&id(e), &id(0.75)]);
    assert_eq!(full_of::<T>(&ring).unwrap(), [real(3.0 * e)]);
    let ring = cores::<T>(&c, &[1, 1], &[4, 4, 4], &[&id(e), &id(1.0)]);
    assert!(full_of::<T>(&ring).unwrap_err().to_string().contains("beyond the range of"));
}

four_types! {
    dense_tensors_reach_the_ends_of_the_range => dense_at_the_ends;
}

fn bonds_at_the_top<T: Scalar>() {
    let c = context(1);
    let at = Place::host(&c);
    let (_, most) = ends::<T>();
    let (p, q, m) = if most == 128 { (127, -60, 120) } else { (1023, -700, 1023) };
    let row = |v: &[f64], e: i64| v.iter().map(|v| real(v * two(e))).collect::<Vec<_>>();
    // The large entries cancel: the tensor's entry is 2^(q + 2 m + 1).
    let first = [real(two(p)), real(two(q))];
    let lists: [&[C]; 3] = [&first, &row(&[1.0, 1.0, 1.0, -1.0], m), &row(&[1.0, -1.0], m)];
    let x = cores::<T>(&c, &[1; 3], &[1, 2, 2, 1], &lists);
    let small = |norm: Scaled| assert!(norm.is_finite() && norm.log_abs() <= (p + 2 * m) as f64 * 2f64.ln() - 8.0);
    small(round(&at, &x, &Truncation::default()).unwrap().1.norm);
    let found = canonicalize(&at, &x, 1).unwrap();
    small(element(&at, &found.train, &[0; 3]).unwrap().shifted(found.exponent));
    // A power of two that is rounded to the next would bring a core just beyond the range.
    let n = largest::<T>(0.0).re;
    let far = two(if most == 128 { 60 } else { 512 });
    let first = [real(n * 0.64), real(n * 0.67)];
    let lists: [&[C]; 2] = [&first, &[real(n), real(-far), real(n), real(far * 0.5)]];
    let x = cores::<T>(&c, &[1, 2], &[1, 2, 1], &lists);
    // The norm is too large for two cores that are orthonormal up to powers of two.
    let text = round(&at, &x, &Truncation::default()).map(|_| ()).unwrap_err().to_string();
    assert!(text.contains("is beyond the range of 2 cores"), "{text}");
    let found = canonicalize(&at, &x, 1).unwrap();
    let entry = element(&at, &found.train, &[0, 0]).unwrap();
    assert_is::<T>(entry.shifted(found.exponent), real(0.64 * n), most, "canonical");
    let lists: [&[C]; 2] = [&[real(two(-most)), real(0.0)], &[real(1.0); 4]];
    let y = cores::<T>(&c, &[1, 2], &[1, 2, 1], &lists);
    let product = hadamard(&at, &x, &y).unwrap();
    assert_is::<T>(element(&at, &product, &[0, 0]).unwrap(), real(0.64 * n), 0, "product");
}

four_types! {
    bonds_of_numbers_near_the_largest_are_balanced_within_the_range => bonds_at_the_top;
}
