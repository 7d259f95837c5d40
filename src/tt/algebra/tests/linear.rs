use super::support::*;
use crate::algebra::{Place, Spread, add, cast, conj, copy, reverse, rotate, scale, to_open};
use crate::scalar::{Complex, DType, Scalar};
use crate::trains::scaled::Scaled;

four_types! {
    sums_are_sums => sums;
    copies_casts_and_conjugates => copies;
    reversed_and_rotated_trains => orders;
    rings_are_cut_open_exactly => opened;
    factors_go_into_the_first_core => factors;
}

fn sums<T: Scalar>() {
    let c = context(2);
    let at = Place::host(&c);
    let (alpha, beta) = (C::new(-1.5, if T::IS_COMPLEX { 0.25 } else { 0.0 }), C::new(2.0, 0.0));
    for (s, (modes, ranks)) in SHAPES.into_iter().enumerate() {
        // The sum with itself, with an open train and with a ring.
        let d = modes.len();
        let open: Vec<usize> = (0..=d).map(|k| if k == 0 || k == d { 1 } else { 2 }).collect();
        let ring = vec![2; d + 1];
        for (t, others) in [ranks, &open, &ring].into_iter().enumerate() {
            let x = train::<T>(&c, modes, ranks, s as u64);
            let y = train::<T>(&c, modes, others, 100 + t as u64);
            let z = add(&at, alpha, &x, beta, &y).unwrap();
            let (a, b) = (dense::<T>(&x), dense::<T>(&y));
            let expected: Vec<C> = a.iter().zip(&b).map(|(a, b)| alpha * a + beta * b).collect();
            let scales: Vec<f64> =
                moduli::<T>(&x).iter().zip(moduli::<T>(&y)).map(|(a, b)| alpha.norm() * a + beta.norm() * b).collect();
            assert_close::<T>(&dense::<T>(&z), &expected, &scales, 4, "sum");
            if ranks[0] == 1 && others[0] == 1 {
                assert!(!z.shape().is_cyclic());
                assert!((1..d).all(|k| z.shape().ranks()[k] == ranks[k] + others[k]));
            }
        }
    }
}

#[test]
fn cast_to_single_precision_shares_powers_that_it_does_not_hold() {
    let c = context(1);
    let at = Place::host(&c);
    for (numbers, product) in [([1e30, 1e30, 1e-50], 1e10), ([1e60, 1e-100, 1e40], 1.0), ([1e-60, 1e100, 1e-60], 1e-20)]
    {
        let mut x = train::<f64>(&c, &[1, 1, 1], &[1, 1, 1, 1], 5);
        let mut cores = x.cores_mut::<f64>("x").unwrap();
        (0..3).for_each(|k| cores.core(k)[0] = numbers[k]);
        let single = dense::<f32>(&cast(&at, &x, DType::F32).unwrap())[0].re;
        assert!((single / product - 1.0).abs() < 1e-6, "{numbers:?}: {single:e}");
    }
    let mut x = train::<f64>(&c, &[1, 1], &[1, 1, 1], 5);
    let mut cores = x.cores_mut::<f64>("x").unwrap();
    (0..2).for_each(|k| cores.core(k)[0] = 1e50);
    let message = cast(&at, &x, DType::F32).err().unwrap().to_string();
    assert!(message.contains("beyond the range of F32"), "{message}");
}

#[test]
fn cast_to_single_precision_balances_bonds_that_carry_powers() {
    let c = context(1);
    let at = Place::host(&c);
    // Core k is D_k^-1 1 D_k+1 with a matrix of ones and diagonal matrices D: every entry of the tensor is the product
    // of the inner ranks.
    let gauges: [&[&[i32]]; 5] = [
        &[&[0], &[79, -47], &[-83], &[0]],
        &[&[0], &[200], &[-200, 200], &[0]],
        &[&[0], &[300], &[-300], &[0]],
        &[&[0], &[170, -180], &[-350, 20, 300], &[40, -90], &[0]],
        &[&[300, -40], &[79, -247], &[300, -40]],
    ];
    for gauge in gauges {
        let ranks: Vec<usize> = gauge.iter().map(|g| g.len()).collect();
        let mut x = train::<f64>(&c, &vec![1; ranks.len() - 1], &ranks, 5);
        let mut cores = x.cores_mut::<f64>("x").unwrap();
        for (k, pair) in gauge.windows(2).enumerate() {
            for (at, value) in cores.core(k).iter_mut().enumerate() {
                *value = 2.0f64.powi(pair[1][at / ranks[k]] - pair[0][at % ranks[k]]);
            }
        }
        let count = ranks[..ranks.len() - 1].iter().product::<usize>() as f64;
        assert_eq!(dense::<f64>(&x)[0].re, count, "{gauge:?}");
        let single = cast(&at, &x, DType::F32).unwrap();
        assert_eq!(dense::<f32>(&single)[0].re, count, "{gauge:?}");
        let complex = cast(&at, &x, DType::CF32).unwrap();
        assert_eq!(dense::<Complex<f32>>(&complex)[0].re, count, "{gauge:?}");
    }
    // A value of a bond that is not connected to the first core, with a large entry behind it.
    for power in [100, 150, 200, 600] {
        let mut x = train::<f64>(&c, &[1; 3], &[1, 2, 1, 1], 5);
        let mut cores = x.cores_mut::<f64>("x").unwrap();
        cores.core(0).copy_from_slice(&[1.0, 0.0]);
        cores.core(1).copy_from_slice(&[1.0 / 3.0, 2.0f64.powi(power)]);
        cores.core(2)[0] = 1.0;
        let single = cast(&at, &x, DType::F32).unwrap();
        assert_eq!(dense::<f32>(&single)[0].re, f64::from(1.0f32 / 3.0), "2^{power}");
    }
}

#[test]
fn real_and_complex_trains_add_up_to_complex_ones() {
    let c = context(1);
    let at = Place::host(&c);
    let x = train::<f32>(&c, &[2, 3], &[1, 2, 1], 1);
    let y = train::<Complex<f32>>(&c, &[2, 3], &[1, 2, 1], 2);
    let i = C::new(0.0, 1.0);
    let z = add(&at, i, &x, C::new(1.0, 0.0), &y).unwrap();
    assert_eq!(z.dtype(), DType::CF32);
    let expected: Vec<C> = dense::<f32>(&x).iter().zip(dense::<Complex<f32>>(&y)).map(|(a, b)| i * a + b).collect();
    assert_close::<f32>(&dense::<Complex<f32>>(&z), &expected, &[4.0; 6], 2, "mixed sum");
}

fn copies<T: Scalar>() {
    let c = context(2);
    let at = Place::host(&c);
    for (modes, ranks) in SHAPES {
        let x = train::<T>(&c, modes, ranks, 5);
        let twin = copy(&at, &x).unwrap();
        assert!(same::<T>(&x, &twin) && !twin.is_same(&x));
        let conjugate = dense::<T>(&conj(&at, &x).unwrap());
        assert!(conjugate.iter().zip(dense::<T>(&x)).all(|(a, b)| *a == b.conj()));
        let wide = cast(&at, &x, <T::Wide as crate::scalar::Element>::DTYPE).unwrap();
        assert_eq!(dense::<T::Wide>(&wide), dense::<T>(&x));
        let back = cast(&at, &wide, T::DTYPE).unwrap();
        assert!(same::<T>(&x, &back));
        let complex = cast(&at, &x, DType::CF64).unwrap();
        assert_eq!(dense::<Complex<f64>>(&complex), dense::<T>(&x));
    }
}

fn orders<T: Scalar>() {
    let c = context(1);
    let at = Place::host(&c);
    for (modes, ranks) in SHAPES {
        let x = train::<T>(&c, modes, ranks, 7);
        let (expected, scales) = (dense::<T>(&x), moduli::<T>(&x));
        let y = reverse(&at, &x).unwrap();
        let place = |t: &[usize], modes: &[usize]| t.iter().zip(modes).rev().fold(0, |p, (i, n)| p * n + i);
        let pick = |y: &crate::tensor::train::TensorTrain, from: &dyn Fn(&[usize]) -> Vec<usize>| -> Vec<C> {
            let values = dense::<T>(y);
            tuples(modes).iter().map(|t| values[place(&from(t), y.shape().modes())]).collect()
        };
        let got = pick(&y, &|t| t.iter().rev().copied().collect());
        assert_close::<f64>(&got, &expected, &scales, steps(&x), "reversed");
        for first in 0..modes.len() {
            let y = rotate(&at, &x, first).unwrap();
            assert_eq!(y.shape().ranks()[0], ranks[first]);
            let got = pick(&y, &|t| [&t[first..], &t[..first]].concat());
            assert_close::<f64>(&got, &expected, &scales, steps(&x), "rotated");
        }
        assert!(same::<T>(&x, &reverse(&at, &y).unwrap()));
    }
}

fn opened<T: Scalar>() {
    let c = context(1);
    let at = Place::host(&c);
    for (modes, ranks) in SHAPES {
        let x = train::<T>(&c, modes, ranks, 9);
        let y = to_open(&at, &x).unwrap();
        assert!(!y.shape().is_cyclic());
        for k in 1..modes.len() {
            assert_eq!(y.shape().ranks()[k], ranks[k] * ranks[0]);
        }
        // A sum of one core is computed in the type itself, with roundings.
        let u = if modes.len() == 1 { 2 * ranks[0] } else { 0 };
        let scales: Vec<f64> = moduli::<T>(&x).iter().map(|s| s + 0.0).collect();
        assert_close::<T>(&dense::<T>(&y), &dense::<T>(&x), &scales, u.max(1), "opened");
    }
}

fn factors<T: Scalar>() {
    let c = context(2);
    let at = Place::host(&c);
    for (modes, ranks) in SHAPES {
        let x = train::<T>(&c, modes, ranks, 11);
        let factor = C::new(-3.0, if T::IS_COMPLEX { 4.0 } else { 0.0 });
        let expected: Vec<C> = dense::<T>(&x).iter().map(|z| factor * z).collect();
        let scales: Vec<f64> = moduli::<T>(&x).iter().map(|s| 5.0 * s).collect();
        for spread in [Spread::Auto, Spread::First, Spread::Even] {
            let y = scale(&at, Scaled::new(factor, 0), &x, spread).unwrap();
            assert_close::<T>(&dense::<T>(&y), &expected, &scales, 2 + steps(&x), "scaled");
        }
        assert_eq!(norm(&dense::<T>(&scale(&at, Scaled::ZERO, &x, Spread::Auto).unwrap())), 0.0);
    }
}

#[test]
fn huge_factors_are_spread_and_exact() {
    let c = context(1);
    let at = Place::host(&c);
    let x = train::<f32>(&c, &[2; 40], &[1; 41], 3);
    // A factor beyond the range of f32 and of f64.
    let y = scale(&at, Scaled { mantissa: C::new(0.5, 0.0), exponent: 2001 }, &x, Spread::Auto).unwrap();
    let back = scale(&at, Scaled { mantissa: C::new(0.5, 0.0), exponent: -1999 }, &y, Spread::Even).unwrap();
    let index = [1; 40];
    let value = |t| crate::algebra::element(&at, t, &index).unwrap();
    assert_eq!(value(&y), Scaled { exponent: value(&x).exponent + 2000, ..value(&x) });
    assert_eq!(value(&back), value(&x));
    let cores = y.cores::<f32>("y").unwrap();
    let magnitude = |k: usize| cores.core(k).iter().fold(0.0f32, |m, x| m.max(x.abs()));
    assert!((0..40).all(|k| magnitude(k) > 2f32.powi(40) && magnitude(k) < 2f32.powi(60)));
    let e = scale(&at, Scaled { mantissa: C::new(0.5, 0.0), exponent: 2001 }, &x, Spread::First).map(|_| ());
    assert!(e.unwrap_err().to_string().contains("factor: core 0 of magnitude 2^"));
    let e = scale(&at, Scaled { mantissa: C::new(0.5, 0.0), exponent: 1 << 40 }, &x, Spread::Auto).map(|_| ());
    assert!(matches!(e.unwrap_err(), crate::error::Error::Numerical(_)));
}
