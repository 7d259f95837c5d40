use std::sync::Arc;

use super::support::*;
use crate::algebra::{Place, create, element, elements, full};
use crate::context::Context;
use crate::scalar::{DType, Scalar};
use crate::shape::Order;
use crate::tensor::{Location, Tensor};
use crate::trains::testing::{Plain, placed};

four_types! {
    entries_one_by_one => single;
    dense_tensors => whole;
}

fn single<T: Scalar>() {
    let c = context(2);
    let at = Place::host(&c);
    for (modes, ranks) in SHAPES {
        let x = train::<T>(&c, modes, ranks, 1);
        // All index tuples in an order that is not sorted, some of them twice.
        let all = tuples(modes);
        let list: Vec<usize> = all.iter().rev().chain(&all).flatten().copied().collect();
        let got: Vec<C> = elements(&at, &x, &list).unwrap().iter().map(|e| e.plain(DType::CF64).0).collect();
        let count = all.len();
        let ordered: Vec<C> = got[..count].iter().rev().copied().collect();
        assert_eq!(ordered, got[count..]);
        assert_close::<T>(&ordered, &dense::<T>(&x), &moduli::<T>(&x), steps(&x), "entries");
        let last = all.last().unwrap();
        assert_eq!(element(&at, &x, last).unwrap().plain(DType::CF64).0, ordered[count - 1]);
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
    // The logarithm of 3^d. In single precision each factor is rounded once.
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
    // The halves are 2^400 and 2^-400, beyond the range of f32; the entry is 1.
    let x = create::product_state(&at, &[1; 6], &numbers_of([100, 100, 100, -100, -100, -100])).unwrap();
    let mut out = Tensor::create(&c, DType::F32, Location::Host, Order::ColumnMajor, &[1]).unwrap();
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
    let x = create::ones(&at, DType::F32, &[2; 40]).unwrap();
    let mut out = Tensor::create(&c, DType::F32, Location::Host, Order::ColumnMajor, &[4]).unwrap();
    let text = |e: crate::error::Error| e.to_string();
    let e = text(full(&at, &x, &mut out, false).unwrap_err());
    assert_eq!(e, "x: has 1099511627776 elements as a dense tensor, more than 2147483648");
    let e = text(full(&at, &x, &mut out, true).unwrap_err());
    assert_eq!(e, "tensor: have 1099511627776 elements, the tensor has 4");
    let x = create::ones(&at, DType::F32, &[2; 70]).unwrap();
    assert!(text(full(&at, &x, &mut out, true).unwrap_err()).contains("more than 2^64"));
    let x = create::ones(&at, DType::F64, &[2, 2]).unwrap();
    assert_eq!(text(full(&at, &x, &mut out, true).unwrap_err()), "tensor: is F32, F64 is needed");
}

/// Trains of one entry, with that entry, whose bonds have values of very different magnitude. An open one of two paths,
/// 2^p 2^-p + 2^-p 2^p, through cores of the identity. A ring of three cores of ones, whose bonds are multiplied and
/// divided by powers of two.
pub fn graded(dtype: DType, d: usize) -> [(Plain, f64); 2] {
    let is_single = dtype.is_single();
    let power = |e: i32| C::new(2f64.powi(e), 0.0);
    let p = if is_single { 83 } else { 664 };
    let mut cores = vec![vec![power(p), power(-p)]];
    cores.extend((2..d).map(|_| [1.0, 0.0, 0.0, 1.0].map(|x| C::new(x, 0.0)).to_vec()));
    cores.push(vec![power(-p), power(p)]);
    let mut ranks = vec![2; d + 1];
    (ranks[0], ranks[d]) = (1, 1);
    let open = Plain { modes: vec![1; d], ranks, cores };
    let bonds = [[213, 183], [279, -259], [-329, 292]].map(|e: [i32; 2]| e.map(|e| if is_single { e / 5 } else { e }));
    let core = |k: usize| (0..4).map(|at| power(bonds[k][at / 2] - bonds[(k + 2) % 3][at % 2])).collect();
    let ring = Plain { modes: vec![1; 3], ranks: vec![2; 4], cores: (0..3).map(core).collect() };
    [(open, 2.0), (ring, 8.0)]
}

four_types! {
    entries_of_bonds_far_from_balanced => gauged_entries;
}

fn gauged_entries<T: Scalar>() {
    check_graded::<T>(&context(2), Location::Host);
}

/// Checks the entries and dense tensors of [`graded`] trains in memory of `location`.
pub fn check_graded<T: Scalar>(c: &Arc<Context>, location: Location) {
    let at = Place::new(c, None, location);
    for d in [2, 3, 5, 8] {
        for (plain, value) in graded(T::DTYPE, d) {
            let x = placed(c, plain.train(c, T::DTYPE), location);
            let count = x.shape().len();
            let close = |z: C, what: &str| assert!((z - value).norm() < 1e-5 * value, "{what}, {d}: {z}, not {value}");
            let number = |e: crate::trains::Scaled| e.plain(DType::CF64).0;
            close(number(element(&at, &x, &vec![0; count]).unwrap()), "element");
            close(number(elements(&at, &x, &vec![0; 2 * count]).unwrap()[1]), "elements");
            let modes = vec![1; count];
            let mut out = Tensor::create(c, T::DTYPE, Location::Host, Order::ColumnMajor, &modes).unwrap();
            full(&at, &x, &mut out, false).unwrap();
            close(numbers::<T>(&out)[0], "full");
        }
    }
}

four_types! {
    entries_beside_numbers_that_are_not_finite => beside_not_finite;
}

fn beside_not_finite<T: Scalar>() {
    check_not_finite::<T>(&context(2), Location::Host);
}

/// Some entries of a dense tensor do not depend on a number of a core that is not finite. They must be the same as
/// without it; the others must not be finite. The train is in memory of `location`.
pub fn check_not_finite<T: Scalar>(c: &Arc<Context>, location: Location) {
    let at = Place::new(c, None, location);
    for (modes, ranks) in SHAPES {
        let plain = train::<T>(c, modes, ranks, 7);
        let (want, sizes) = (dense::<T>(&plain), moduli::<T>(&plain));
        for (bad, first) in
            [(f64::NAN, 0), (f64::INFINITY, 0), (f64::NEG_INFINITY, 1), (f64::INFINITY, modes.len() / 2)]
        {
            // The bad number is in core `first`, and then in the last core.
            let sites: Vec<usize> = (0..modes.len()).filter(|&k| k == first || k == modes.len() - 1).collect();
            let mut x = train::<T>(c, modes, ranks, 7);
            for &site in &sites {
                // The number at index 0 of all three indices. In a ring of one core it is on the diagonal.
                x.cores_mut::<T>("x").unwrap().core(site)[0] = T::from_parts(bad, 0.0);
            }
            let x = placed(c, x, location);
            let mut out = Tensor::create(c, T::DTYPE, Location::Host, Order::ColumnMajor, modes).unwrap();
            full(&at, &x, &mut out, false).unwrap();
            let found = numbers::<T>(&out);
            let what = format!("{bad} in the cores {sites:?} of {modes:?}, {ranks:?}");
            let mut beside = (vec![], vec![], vec![]);
            for (k, tuple) in tuples(modes).iter().enumerate() {
                if sites.iter().any(|&site| tuple[site] == 0) {
                    assert!(!found[k].is_finite(), "{what}, {:?}, {tuple:?}: {}", T::DTYPE, found[k]);
                } else {
                    beside.0.push(found[k]);
                    beside.1.push(want[k]);
                    beside.2.push(sizes[k]);
                }
            }
            assert_close::<T>(&beside.0, &beside.1, &beside.2, 2 * steps(&x), &what);
        }
    }
}
