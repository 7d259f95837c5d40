use super::support::*;
use crate::scalar::Scalar;
use crate::shape::Order;
use crate::tensor::{Location, Tensor};
use crate::tt::algebra::{Place, create, element, elements, full};

four_types! {
    entries_one_by_one => single;
    dense_tensors => whole;
}

fn single<T: Scalar>() {
    let c = context(2);
    let at = Place::host(&c);
    for (modes, ranks) in SHAPES {
        let x = train::<T>(&c, modes, ranks, 1);
        // In an order that is not sorted, and with repetitions.
        let all = tuples(modes);
        let list: Vec<usize> = all.iter().rev().chain(&all).flatten().copied().collect();
        let got: Vec<C> =
            elements(&at, &x, &list).unwrap().iter().map(|e| e.plain(crate::scalar::DType::CF64).0).collect();
        let count = all.len();
        let ordered: Vec<C> = got[..count].iter().rev().copied().collect();
        assert_eq!(ordered, got[count..]);
        assert_close::<T>(&ordered, &dense::<T>(&x), &moduli::<T>(&x), steps(&x), "entries");
        let last = all.last().unwrap();
        assert_eq!(element(&at, &x, last).unwrap().plain(crate::scalar::DType::CF64).0, ordered[count - 1]);
    }
    let x = train::<T>(&c, &[2, 2], &[1, 2, 1], 1);
    assert!(elements(&at, &x, &[]).unwrap().is_empty());
}

#[test]
fn entries_of_long_trains_do_not_overflow() {
    let c = context(1);
    let at = Place::host(&c);
    let d = 100_000;
    let three = create::product_state(&at, &vec![1; d], &vec![3.0f32; d]).unwrap();
    let value = element(&at, &three, &vec![0; d]).unwrap();
    // The logarithm of 3^d; each factor rounds once in single precision.
    let expected = d as f64 * 3f64.ln();
    assert!((value.log_abs() - expected).abs() < d as f64 * f64::from(f32::EPSILON));
    assert!(value.exponent > 150_000);
}

fn whole<T: Scalar>() {
    let c = context(2);
    let at = Place::host(&c);
    for (modes, ranks) in SHAPES {
        let x = train::<T>(&c, modes, ranks, 1);
        let (expected, scales) = (dense::<T>(&x), moduli::<T>(&x));
        let mut out = Tensor::create(&c, T::DTYPE, Location::Host, Order::ColumnMajor, modes).unwrap();
        full(&at, &x, &mut out, false).unwrap();
        assert_close::<T>(&numbers::<T>(&out), &expected, &scales, steps(&x), "full");
        let count = expected.len();
        let mut flat = Tensor::create(&c, T::DTYPE, Location::Host, Order::ColumnMajor, &[count]).unwrap();
        full(&at, &x, &mut flat, false).unwrap();
        assert_eq!(numbers::<T>(&flat), numbers::<T>(&out));
        let mut rows = Tensor::create(&c, T::DTYPE, Location::Host, Order::RowMajor, modes).unwrap();
        full(&at, &x, &mut rows, false).unwrap();
        let view = rows.view::<T>("rows").unwrap();
        for (t, z) in tuples(modes).iter().zip(numbers::<T>(&out)) {
            assert_eq!(C::new(view.get(t).re(), view.get(t).im()), z);
        }
    }
}

#[test]
fn halves_beyond_the_range_make_entries_within_it() {
    let c = context(1);
    let at = Place::host(&c);
    let numbers_of = |exponents: [i32; 6]| exponents.map(|e| 2f32.powi(e));
    // 2^400 and 2^-400 in the halves, 2^0 in the tensor: what f32 cannot hold on the way.
    let x = create::product_state(&at, &[1; 6], &numbers_of([100, 100, 100, -100, -100, -100])).unwrap();
    let mut out = Tensor::create(&c, crate::scalar::DType::F32, Location::Host, Order::ColumnMajor, &[1]).unwrap();
    full(&at, &x, &mut out, false).unwrap();
    assert_eq!(numbers::<f32>(&out), [C::new(1.0, 0.0)]);
    let x = create::product_state(&at, &[1; 6], &numbers_of([100; 6])).unwrap();
    let e = full(&at, &x, &mut out, false).unwrap_err();
    assert!(matches!(e, crate::error::Error::Numerical(_)), "{e}");
    let x = create::product_state(&at, &[1; 6], &numbers_of([-100; 6])).unwrap();
    full(&at, &x, &mut out, false).unwrap();
    assert_eq!(numbers::<f32>(&out), [C::new(0.0, 0.0)]);
}

#[test]
fn large_tensors_take_force_and_other_sizes_are_refused() {
    let c = context(1);
    let at = Place::host(&c);
    let x = create::ones(&at, crate::scalar::DType::F32, &[2; 40]).unwrap();
    let mut out = Tensor::create(&c, crate::scalar::DType::F32, Location::Host, Order::ColumnMajor, &[4]).unwrap();
    let text = |e: crate::error::Error| e.to_string();
    let e = text(full(&at, &x, &mut out, false).unwrap_err());
    assert_eq!(e, "x: has 1099511627776 elements as a dense tensor, more than 2147483648");
    let e = text(full(&at, &x, &mut out, true).unwrap_err());
    assert_eq!(e, "tensor: have 1099511627776 elements, the tensor has 4");
    let x = create::ones(&at, crate::scalar::DType::F32, &[2; 70]).unwrap();
    assert!(text(full(&at, &x, &mut out, true).unwrap_err()).contains("more than 2^64"));
    let x = create::ones(&at, crate::scalar::DType::F64, &[2, 2]).unwrap();
    assert_eq!(text(full(&at, &x, &mut out, true).unwrap_err()), "tensor: is F32, F64 is needed");
}
