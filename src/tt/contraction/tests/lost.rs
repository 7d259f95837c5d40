//! Host trains whose contraction underflows in entries that contribute to the result. All methods and kernels are
//! compared with sums that are exact powers of two.

use std::sync::Arc;

use super::closed_forms::uniform;
use crate::backend::cpu::flags;
use crate::context::Context;
use crate::contraction::Contraction;
use crate::error::Error;
use crate::operator::{Environments, Side, Trains};
use crate::scalar::{DType, Scalar as _};
use crate::tensor::Location;
use crate::tensor::train::{TensorTrain, TrainMatrix};
use crate::trains::balance::{Balanced, of_operator};
use crate::trains::options::{Method, NormMethod};
use crate::trains::testing::{C, KERNELS, Plain, cpu, placed};
use crate::trains::{Options, Scaled};

/// The context and the memory of a test's trains.
pub type At = (Arc<Context>, Location);

/// A train of real cores r x n x s with these entries.
fn train((context, location): &At, dtype: DType, cores: &[([usize; 3], Vec<f64>)]) -> TensorTrain {
    let modes: Vec<usize> = cores.iter().map(|(shape, _)| shape[1]).collect();
    let mut ranks: Vec<usize> = cores.iter().map(|(shape, _)| shape[0]).collect();
    ranks.push(cores[cores.len() - 1].0[2]);
    let mut plain = Plain::random(&modes, &ranks, false, 1);
    for (to, (_, from)) in plain.cores.iter_mut().zip(cores) {
        to.copy_from_slice(&from.iter().map(|x| C::new(*x, 0.0)).collect::<Vec<_>>());
    }
    placed(context, plain.train(context, dtype), *location)
}

fn operator((context, _): &At, dtype: DType, n: usize, cores: &[([usize; 3], Vec<f64>)]) -> TrainMatrix {
    let h = train(&(Arc::clone(context), Location::Host), dtype, cores);
    let modes = vec![n; cores.len()];
    TrainMatrix::new("h", h, &modes, &modes).unwrap()
}

fn p(e: i32) -> f64 {
    crate::trains::scaled::scale(1.0, i64::from(e))
}

fn assert_power(what: &str, found: Scaled, exponent: i64) {
    // The ratio is 1, up to the rounding of sums.
    let ratio = found.mantissa.re * p(i32::try_from(found.exponent - exponent).unwrap_or(4000));
    assert!((ratio - 1.0).abs() < 1e-6 && found.mantissa.im == 0.0, "{what}: {found:?} for 2^{exponent}");
}

/// Checks inner products, norms, batches and sandwiches of x and y. <x|y> and <x|x> must be these powers of two.
fn check((context, _): &At, what: &str, (x, y): (&TensorTrain, &TensorTrain), [xy, xx]: [i64; 2]) {
    let methods = [Method::Auto, Method::Full, Method::Reduced, Method::Halves, Method::Blocked];
    for method in methods.into_iter().chain((!x.shape().is_cyclic()).then_some(Method::Open)) {
        for kernel in KERNELS {
            let mut s = Contraction::new(context, Options { method, kernel, ..Options::default() }).unwrap();
            let what = format!("{what}, {method:?} {kernel:?}");
            assert_power(&what, s.inner_scaled(None, x, y, None).unwrap().0, xy);
            assert_power(&what, s.inner_scaled(None, x, x, None).unwrap().0, xx);
            let mut sums = [Scaled::ZERO; 3];
            s.inner_batch(None, &[x, x, y], &[y, x, x], &mut sums, None).unwrap();
            for (sum, exponent) in sums.into_iter().zip([xy, xx, xy]) {
                assert_power(&format!("{what}, batch"), sum, exponent);
            }
        }
    }
    for norm_method in [NormMethod::Auto, NormMethod::Inner, NormMethod::Triangle, NormMethod::Qr] {
        let mut s = Contraction::new(context, Options { norm_method, ..Options::default() }).unwrap();
        let (norm, _) = s.norm_scaled(None, x, None).unwrap();
        assert_power(&format!("{what}, norm {norm_method:?}"), norm.times(norm), xx);
    }
    let mut s = Contraction::new(context, Options::default()).unwrap();
    let (sum, _) = s.sandwich(None, &Trains::new(x, None, y), None).unwrap();
    assert_power(&format!("{what}, sandwich"), sum, xy);
    let n = x.shape().modes()[0];
    let one: Vec<C> = (0..n * n).map(|at| C::new(if at % (n + 1) == 0 { 1.0 } else { 0.0 }, 0.0)).collect();
    let sites: Vec<usize> = (0..x.shape().len()).filter(|k| x.shape().modes()[*k] == n).collect();
    for value in s.expect_local(None, x, &one, &sites, None).unwrap().values {
        assert!((value.re - 1.0).abs() < 1e-6, "{what}: {value}");
    }
    if sites.len() == x.shape().len() {
        for value in s.correlation(None, x, &one, &one, None).unwrap().values {
            assert!((value.re - 1.0).abs() < 1e-6, "{what}: {value}");
        }
    }
}

#[test]
fn numbers_of_one_core_may_be_far_apart() {
    far_apart(&(cpu(2), Location::Host));
}

/// Checks cores with entries of very different magnitude.
pub fn far_apart(c: &At) {
    for (dtype, e) in [(DType::F32, 60), (DType::F32, 100), (DType::F64, 500), (DType::F64, 1000), (DType::CF64, 1000)]
    {
        let x = train(c, dtype, &[([1, 2, 1], vec![p(-e), p(e)])]);
        let z = train(c, dtype, &[([1, 2, 1], vec![p(e), p(-e)])]);
        let y = train(c, dtype, &[([1, 2, 1], vec![p(e), 0.0])]);
        let mut s = Contraction::new(&c.0, Options::default()).unwrap();
        assert_power("x y", s.inner_scaled(None, &x, &y, None).unwrap().0, 0);
        assert_power("z x", s.inner_scaled(None, &z, &x, None).unwrap().0, 1);
        check(c, &format!("{dtype:?} {e}"), (&x, &y), [0, 2 * i64::from(e)]);
        // The same core within a longer train, and the vector that selects its small entry.
        let o = || ([1, 2, 1], vec![1.0, 0.0]);
        let x = train(c, dtype, &[o(), ([1, 2, 1], vec![p(-e), p(e)]), o()]);
        let y = train(c, dtype, &[o(), ([1, 2, 1], vec![p(e), 0.0]), o()]);
        check(c, &format!("{dtype:?} {e}, three cores"), (&x, &y), [0, 2 * i64::from(e)]);
    }
}

#[test]
fn an_operator_may_have_small_numbers_that_count() {
    small_in_operators(&(cpu(1), Location::Host));
}

/// Checks operators with small entries that contribute.
pub fn small_in_operators(c: &At) {
    for (dtype, small, large) in [(DType::F32, -50, 110), (DType::F64, -500, 600)] {
        let y = train(c, dtype, &[([1, 2, 1], vec![1.0, 0.0])]);
        let h = operator(c, dtype, 2, &[([1, 4, 1], vec![p(small), 0.0, 0.0, p(large)])]);
        let mut s = Contraction::new(&c.0, Options::default()).unwrap();
        assert_power("sandwich", s.sandwich(None, &Trains::new(&y, Some(&h), &y), None).unwrap().0, i64::from(small));
        let found = s.rayleigh(None, &y, &h, None).unwrap();
        assert_power("rayleigh", found.quotient, i64::from(small));
    }
}

#[test]
fn values_of_bonds_that_are_reached_by_nothing_hide_no_others() {
    unreached(&(cpu(2), Location::Host));
}

/// Checks trains with values of bonds that no path from the first core reaches.
pub fn unreached(c: &At) {
    for (dtype, a, b, e) in [(DType::F32, 51, -31, -76), (DType::F32, 90, -101, -126), (DType::F64, 828, -134, -282)] {
        let mut first = vec![0.0; 6];
        first[1 + 3] = p(a);
        let mut second = vec![0.0; 4];
        (second[0], second[3]) = (p(b), p(e));
        let x = train(c, dtype, &[([1, 3, 2], first), ([2, 2, 1], second)]);
        check(c, &format!("{dtype:?} {a} {b} {e}"), (&x, &x), [2 * i64::from(a + e); 2]);
    }
    let x = train(
        c,
        DType::F64,
        &[([1, 2, 1], vec![p(-924), p(-1022)]), ([1, 1, 2], vec![0.0, p(1019)]), ([2, 1, 1], vec![0.0, 1.0])],
    );
    let mut s = Contraction::new(&c.0, Options::default()).unwrap();
    assert_power("rest", s.inner_scaled(None, &x, &x, None).unwrap().0, 190);
}

#[test]
fn differences_at_bonds_below_the_limit_of_balancing_lose_nothing() {
    differences(&(cpu(2), Location::Host));
}

/// Checks bonds whose values differ by less than the balancing limit, in cores far from 1.
pub fn differences(c: &At) {
    let o = || ([1, 1, 1], vec![1.0]);
    for (b, g) in [(-877, 105), (-900, 100), (-890, 119)] {
        let left = ([1, 1, 2], vec![1.0, p(g)]);
        let right = ([2, 1, 1], vec![p(b), p(b - g)]);
        // The sum is 2^b + 2^b.
        let open = train(c, DType::F64, &[o(), left.clone(), right.clone(), o()]);
        let square = 2 * i64::from(b + 1);
        check(c, &format!("open {b} {g}"), (&open, &open), [square; 2]);
        let ring = train(c, DType::F64, &[right, o(), o(), left]);
        check(c, &format!("ring {b} {g}"), (&ring, &ring), [square; 2]);
    }
}

#[test]
fn ordinary_trains_are_contracted_once() {
    let c = cpu(2);
    for (dtype, ranks) in
        [(DType::F64, vec![1, 9, 30, 9, 1]), (DType::F32, vec![1, 9, 30, 9, 1]), (DType::F32, vec![3, 8, 8, 8, 3])]
    {
        let (x, y) = (Plain::random(&[2; 4], &ranks, false, 3), Plain::random(&[2; 4], &ranks, false, 4));
        let (x, y) = (x.train(&c, dtype), y.train(&c, dtype));
        let mut s = Contraction::new(&c, Options::default()).unwrap();
        let (_, lost) = flags::watch(|| s.inner_scaled(None, &x, &y, None).unwrap());
        assert!(!lost, "{dtype:?} {ranks:?}");
    }
}

#[test]
fn stored_environments_lose_nothing_that_counts() {
    let at = (cpu(2), Location::Host);
    let c = &at;
    for (dtype, e, small, large) in
        [(DType::F32, 80, -50, 110), (DType::F32, 100, -60, 60), (DType::F64, 600, -400, 900)]
    {
        let what = format!("{dtype:?} {e}");
        let x = train(c, dtype, &[([1, 2, 1], vec![p(-e), p(e)])]);
        let z = train(c, dtype, &[([1, 2, 1], vec![p(e), p(-e)])]);
        let trains = Trains::new(&z, None, &x);
        let mut kept = Environments::new(&c.0, &Options::default(), &trains).unwrap();
        for bond in [0, 1] {
            assert_power(&what, kept.value(None, &trains, bond).unwrap(), 1);
        }
        let one = [C::new(1.0, 0.0), C::new(0.0, 0.0), C::new(0.0, 0.0), C::new(1.0, 0.0)];
        assert_power(&what, kept.local(None, &trains, 0, &one).unwrap(), 1);
        kept.update_core(0);
        assert_power(&what, kept.value(None, &trains, 1).unwrap(), 1);
        let y = train(c, dtype, &[([1, 2, 1], vec![1.0, 0.0])]);
        let h = operator(c, dtype, 2, &[([1, 4, 1], vec![p(small), 0.0, 0.0, p(large)])]);
        let trains = Trains::new(&y, Some(&h), &y);
        let mut kept = Environments::new(&c.0, &Options::default(), &trains).unwrap();
        for bond in [0, 1] {
            assert_power(&what, kept.value(None, &trains, bond).unwrap(), i64::from(small));
        }
        crate::scalar::with_scalar!(dtype, "x", T => {
            let mut out = [T::default()];
            let exponent = kept.get::<T>(None, &trains, Side::Left, 1, &mut out).unwrap();
            assert_power(&what, Scaled::new(C::new(out[0].re(), 0.0), exponent), i64::from(small));
            let (v, mut out) = ([T::from_parts(1.0, 0.0), T::default()], [T::default(); 2]);
            let exponent = kept.apply::<T>(None, &trains, (0, 1), &v, &mut out).unwrap();
            assert_power(&what, Scaled::new(C::new(out[0].re(), 0.0), exponent), i64::from(small));
            Ok(())
        })
        .unwrap();
    }
}

#[test]
fn a_ring_of_an_operator_is_finite_where_its_numbers_are() {
    finite_rings(&(cpu(2), Location::Host));
}

/// Checks rings of operators with finite entries.
pub fn finite_rings(c: &At) {
    for (dtype, large, small) in [(DType::F64, 721, -918), (DType::F32, 90, -110)] {
        let x = train(c, dtype, &[([1, 1, 1], vec![1.0]), ([1, 1, 1], vec![1.0])]);
        let of = |core: [f64; 4]| ([2, 1, 2], core.to_vec());
        // The trace of [[0, 1], [1, 0]] [[large, small], [1, 0]] is 1 + small.
        let h = operator(c, dtype, 1, &[of([0.0, 1.0, 1.0, 0.0]), of([p(large), 1.0, p(small), 0.0])]);
        let mut s = Contraction::new(&c.0, Options::default()).unwrap();
        assert_power("sandwich", s.sandwich(None, &Trains::new(&x, Some(&h), &x), None).unwrap().0, 0);
        assert_power("rayleigh", s.rayleigh(None, &x, &h, None).unwrap().quotient, 0);
    }
}

#[test]
fn copies_with_balanced_bonds_lose_nothing() {
    let at = (cpu(2), Location::Host);
    let cases = [
        (DType::F64, -616, 389, -352, 324, -1018),
        (DType::F64, -905, 91, -721, 295, -987),
        (DType::F64, -530, 233, -829, 410, -997),
        (DType::F32, -98, -9, -108, 48, -116),
    ];
    for (dtype, a, b, below, e, f) in cases {
        let x = [([1, 1, 1], vec![1.0]), ([1, 2, 1], vec![0.0, p(e)]), ([1, 2, 1], vec![0.0, 1.0])];
        let second = ([2, 2, 1], vec![0.0, p(below), p(b), 0.0]);
        let y = [([1, 1, 2], vec![p(a); 2]), second, ([1, 2, 1], vec![1.0, p(f)])];
        let (x, y) = (train(&at, dtype, &x), train(&at, dtype, &y));
        // Only one term is not 0.
        let wanted = i64::from(a + b + e + f);
        let mut s = Contraction::new(&at.0, Options::default()).unwrap();
        let h = crate::operator::identity(&at.0, dtype, &[1, 2, 2]).unwrap();
        let what = format!("{dtype:?} {a} {b} {below} {e} {f}");
        for (first, second) in [(&x, &y), (&y, &x)] {
            assert_power(&what, s.inner_scaled(None, first, second, None).unwrap().0, wanted);
            for h in [None, Some(&h)] {
                assert_power(&what, s.sandwich(None, &Trains::new(first, h, second), None).unwrap().0, wanted);
            }
        }
        let mut sums = [Scaled::ZERO; 4];
        s.gram(None, &[&x, &y], &[&x, &y], &mut sums, None).unwrap();
        assert_power(&what, sums[1], wanted);
    }
}

#[test]
fn balancing_reports_the_digits_that_it_loses() {
    let c = cpu(1);
    let is_cut = |x: &TensorTrain| {
        let (balanced, cut) = flags::watch(|| Balanced::new(&c, None, x, x, false, Some(1)).unwrap());
        assert!(!std::ptr::eq(balanced.of(x, x).0, x), "no copy");
        cut
    };
    for (dtype, e, q) in [(DType::F32, 100, 60), (DType::CF32, 100, 60), (DType::F64, 800, 400)] {
        for (small, expected) in [(2.0f64.powi(-q), true), (1.0, false), (0.0, false)] {
            let first = ([1, 2, 2], vec![p(e), small, 1.0, 0.0]);
            let x = train(&(Arc::clone(&c), Location::Host), dtype, &[first, ([2, 1, 1], vec![p(-e), 1.0])]);
            assert_eq!(is_cut(&x), expected, "{dtype:?} {small}");
        }
    }
    // The last value of the bond leads only to zeros.
    let number = |re: f64, im: f64| C::new(re, im);
    let zero = number(0.0, 0.0);
    let first = vec![number(p(60), 0.0), number(1.0, 0.0), number(p(120), p(-100))];
    let last = vec![number(p(-60), 0.0), number(1.0, 0.0), zero];
    let h = Plain { modes: vec![1, 1], ranks: vec![1, 3, 1], cores: vec![first, last] }.train(&c, DType::CF32);
    let h = TrainMatrix::new("h", h, &[1, 1], &[1, 1]).unwrap();
    let (found, cut) = flags::watch(|| of_operator(&c, &h, true).unwrap());
    assert!(found.0.is_some() && !cut);
}

#[test]
fn operators_at_sites_may_have_numbers_that_are_far_apart() {
    let at = (cpu(2), Location::Host);
    for (dtype, large, small) in [(DType::F64, 867, -434), (DType::F64, 1000, -1000), (DType::F32, 120, -140)] {
        let x = train(&at, dtype, &[([1, 2, 1], vec![0.0, 1.0]), ([1, 2, 1], vec![1.0, 0.0])]);
        let real = |a: f64, b: f64| [C::new(a, 0.0), C::new(0.0, 0.0), C::new(0.0, 0.0), C::new(b, 0.0)];
        let (op, one) = (real(p(large), p(small)), real(1.0, 1.0));
        let mut s = Contraction::new(&at.0, Options::default()).unwrap();
        let found = s.expect_local(None, &x, &op, &[0, 1], None).unwrap().values;
        assert_eq!(found, [C::new(p(small), 0.0), C::new(p(large), 0.0)], "{dtype:?}");
        // c[k, l] is at k + 2 l: on the diagonal, and beside it.
        let found = s.correlation(None, &x, &op, &one, None).unwrap().values;
        let (a, b) = (C::new(p(small), 0.0), C::new(p(large), 0.0));
        assert_eq!(found, [a, b, a, b], "{dtype:?}");
        let trains = Trains::new(&x, None, &x);
        let mut kept = Environments::new(&at.0, &Options::default(), &trains).unwrap();
        assert_power("local", kept.local(None, &trains, 0, &op).unwrap(), i64::from(small));
        assert_power("local", kept.local(None, &trains, 1, &op).unwrap(), i64::from(large));
    }
}

#[test]
fn parts_of_one_number_may_be_far_apart() {
    let at = (cpu(1), Location::Host);
    let x = train(&at, DType::CF64, &[([1, 2, 1], vec![1.0, 1.0])]);
    let (zero, large, small) = (C::new(0.0, 0.0), p(900), p(-400));
    // The real parts of the terms cancel.
    let op = [zero, C::new(large, small), C::new(-large, small), zero];
    let mut s = Contraction::new(&at.0, Options::default()).unwrap();
    let found = s.expect_local(None, &x, &op, &[0], None).unwrap().values[0];
    assert_eq!(found, C::new(0.0, small));
}

#[test]
fn small_products_of_an_operator_and_a_core_refuse_no_correlation() {
    let at = (cpu(1), Location::Host);
    let core = || ([1, 2, 1], vec![1.0, p(-1000)]);
    let x = train(&at, DType::F64, &[core(), core()]);
    let real = |a: f64, b: f64| [C::new(a, 0.0), C::new(0.0, 0.0), C::new(0.0, 0.0), C::new(b, 0.0)];
    let mut s = Contraction::new(&at.0, Options::default()).unwrap();
    for value in s.correlation(None, &x, &real(1.0, 1.0), &real(1.0, p(-100)), None).unwrap().values {
        assert!((value.re - 1.0).abs() < 1e-12, "{value}");
    }
}

/// Checks trains that are contracted by squaring.
pub fn squared(c: &At) {
    for (dtype, large, small) in [(DType::F64, 449, -700), (DType::F32, 60, -90), (DType::CF64, 500, -900)] {
        let x = train(c, dtype, &vec![([1, 2, 1], vec![p(large), p(small)]); 3]);
        let y = train(c, dtype, &vec![([1, 2, 1], vec![0.0, 1.0]); 3]);
        let options = Options { method: Method::Power, repeat: 2, ..Options::default() };
        let mut s = Contraction::new(&c.0, options).unwrap();
        assert_power("squared", s.inner_scaled(None, &y, &x, None).unwrap().0, 6 * i64::from(small));
        let options = Options { method: Method::Power, repeat: 1 << 40, ..Options::default() };
        let found = Contraction::new(&c.0, options).unwrap().inner_scaled(None, &y, &x, None);
        assert!(dtype == DType::F32 || matches!(found, Err(Error::Numerical(_))), "{found:?}");
    }
}

#[test]
fn squared_trains_may_have_numbers_that_are_far_apart() {
    let c = cpu(2);
    squared(&(Arc::clone(&c), Location::Host));
    // Uniform trains are squared unless an option forbids it.
    let (mut x, mut y) = ([p(449), p(-700)], [0.0, 1.0]);
    let (x, y) = (uniform(&c, &mut x, 2, 1, 2), uniform(&c, &mut y, 2, 1, 2));
    let mut s = Contraction::new(&c, Options::default()).unwrap();
    assert_power("uniform", s.inner_scaled(None, &y, &x, None).unwrap().0, -1400);
    let mut sums = [Scaled::ZERO; 2];
    s.inner_batch(None, &[&x, &y], &[&y, &x], &mut sums, None).unwrap();
    sums.into_iter().for_each(|sum| assert_power("batch", sum, -1400));
    let mut s = Contraction::new(&c, Options { repeat: 5, ..Options::default() }).unwrap();
    assert_power("repeat", s.inner_scaled(None, &y, &x, None).unwrap().0, -7000);
    let (mut x, mut y) = ([p(449), p(-700)], [0.0, 1.0]);
    let (x, y) = (uniform(&c, &mut x, 4097, 1, 2), uniform(&c, &mut y, 4097, 1, 2));
    let found = Contraction::new(&c, Options::default()).unwrap().inner_scaled(None, &y, &x, None);
    assert_power("4097 cores", found.unwrap().0, -700 * 4097);
}

#[test]
fn values_at_every_bond_see_what_is_not_finite() {
    let at = (cpu(1), Location::Host);
    let o = || ([1, 1, 1], vec![1.0]);
    for bad in [f64::NAN, f64::INFINITY] {
        let x = train(&at, DType::F64, &[o(), ([1, 2, 1], vec![bad, 1.0]), o()]);
        let y = train(&at, DType::F64, &[o(), o(), o()]);
        // The second value of the operator's first bond leads only to the second entry of x. No path reaches the first
        // value.
        let cores = [([1, 1, 2], vec![0.0, 1.0]), ([2, 2, 1], vec![1.0, 0.0, 0.0, 1.0]), o()];
        let h = TrainMatrix::new("h", train(&at, DType::F64, &cores), &[1; 3], &[1, 2, 1]).unwrap();
        let trains = Trains::new(&y, Some(&h), &x);
        for bond in 0..4 {
            let mut kept = Environments::new(&at.0, &Options::default(), &trains).unwrap();
            assert!(!kept.value(None, &trains, bond).unwrap().is_finite(), "{bad} {bond}");
        }
    }
}

#[test]
fn scaled_cores_of_environments_lose_nothing_that_counts() {
    let at = (cpu(2), Location::Host);
    for (dtype, large, small) in [(DType::F64, 902, -173), (DType::F64, 1000, -80), (DType::F32, 120, -30)] {
        let x = [([1, 1, 2], vec![0.0, 1.0]), ([2, 2, 1], vec![0.0, p(large), 1.0, p(small)])];
        let y = [([1, 1, 1], vec![1.0]), ([1, 2, 1], vec![0.0, 1.0])];
        let (x, y) = (train(&at, dtype, &x), train(&at, dtype, &y));
        let trains = Trains::new(&y, None, &x);
        for bond in 0..3 {
            let mut kept = Environments::new(&at.0, &Options::default(), &trains).unwrap();
            assert_power("a mode", kept.value(None, &trains, bond).unwrap(), i64::from(small));
        }
        let mut kept = Environments::new(&at.0, &Options::default(), &trains).unwrap();
        for bond in [2, 1, 0, 1, 2] {
            assert_power("in turn", kept.value(None, &trains, bond).unwrap(), i64::from(small));
        }
    }
    for (dtype, small, large) in [(DType::F64, -600, 600), (DType::F64, -1000, 1000), (DType::F32, -70, 80)] {
        let x = [([1, 2, 2], vec![1.0, 0.0, 0.0, 1.0]), ([2, 1, 1], vec![p(small), p(large)])];
        let y = [([1, 2, 1], vec![1.0, 0.0]), ([1, 1, 1], vec![1.0])];
        let (x, y) = (train(&at, dtype, &x), train(&at, dtype, &y));
        let trains = Trains::new(&y, None, &x);
        for bond in 0..3 {
            let mut kept = Environments::new(&at.0, &Options::default(), &trains).unwrap();
            assert_power("an end", kept.value(None, &trains, bond).unwrap(), i64::from(small));
        }
    }
}

/// Checks trains with `repeat`, by all methods, against trains with all cores written out.
pub fn repeated(c: &At) {
    let of = |ring: bool, numbers: &[Option<i32>]| {
        let core: Vec<f64> = numbers.iter().map(|e| e.map_or(0.0, p)).collect();
        let r = if ring || core.len() == 8 { 2 } else { 1 };
        ([r, core.len() / (r * r), r], core)
    };
    let (x, u) = ([None, Some(700), Some(700), Some(0)], [Some(-700), Some(-700), Some(-1000), Some(-1000)]);
    let y = [None, Some(0), Some(700), Some(0), Some(-700), Some(700), None, Some(-1000)];
    let z = [Some(-1000), Some(700), None, None, None, Some(0), Some(700), None];
    for (x, y, repeat) in
        [(of(true, &x), of(true, &u), 7), (of(true, &y), of(true, &z), 2), (of(true, &y), of(true, &z), 5)]
    {
        let written = |core: &([usize; 3], Vec<f64>), times: u64| {
            train(c, DType::F64, &vec![core.clone(); usize::try_from(times).unwrap()])
        };
        let mut s = Contraction::new(&c.0, Options::default()).unwrap();
        let wanted = s.inner_scaled(None, &written(&y, repeat), &written(&x, repeat), None).unwrap().0;
        for method in [Method::Auto, Method::Full, Method::Blocked, Method::Power] {
            let mut s = Contraction::new(&c.0, Options { method, repeat, ..Options::default() }).unwrap();
            let found = s.inner_scaled(None, &written(&y, 1), &written(&x, 1), None).unwrap().0;
            crate::contraction::tests::spans::close(found, wanted, &format!("{method:?}, {repeat}"));
        }
    }
}

/// Squaring doubles the relative rounding error: in single precision a large power would have no digits left.
pub fn large_powers(c: &At) {
    for (dtype, repeat, most) in
        [(DType::F32, 1_000_000, 1e-6), (DType::F32, 1 << 40, 0.1), (DType::F64, 1_000_000, 1e-6)]
    {
        let (a, b) = (f64::from(0.7f32), f64::from(0.3f32));
        let x = train(c, dtype, &[([2, 1, 2], vec![a, a, b, a])]);
        let y = train(c, dtype, &[([1, 1, 1], vec![1.0])]);
        let mut s = Contraction::new(&c.0, Options { repeat, ..Options::default() }).unwrap();
        let found = s.inner_scaled(None, &y, &x, None).unwrap().0.log_abs();
        let wanted = repeat as f64 * (a + (a * b).sqrt()).ln();
        assert!(
            (found - wanted).abs() < f64::max(most, 1e-15 * wanted.abs()),
            "{dtype:?} {repeat}: {found} for {wanted}"
        );
    }
}

#[test]
fn large_powers_keep_their_digits() {
    large_powers(&(cpu(2), Location::Host));
}

#[test]
fn powers_too_small_for_their_exponent_are_refused() {
    let c = (cpu(1), Location::Host);
    for (repeat, e) in [(1 << 62, -1), (1 << 62, -3), (1 << 62, 3), (1 << 54, -1000)] {
        let (x, y) =
            (train(&c, DType::F64, &[([1, 1, 1], vec![p(e)])]), train(&c, DType::F64, &[([1, 1, 1], vec![1.0])]));
        let mut s = Contraction::new(&c.0, Options { repeat, ..Options::default() }).unwrap();
        let found = s.inner_scaled(None, &y, &x, None);
        assert!(matches!(found, Err(Error::Numerical(_))), "{repeat} {e}: {found:?}");
    }
}

/// Checks powers of the transfer matrix [[1, 2^e], [0, 0]], which are equal to the matrix. 2^e is on no closed path.
pub fn apart_from_closed_ways(c: &At) {
    let large = |e: i32| vec![([1, 2, 1], vec![1.0, p(e)]); 2];
    let matrices = vec![([2, 2, 2], vec![1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0]); 2];
    for (dtype, e) in [
        (DType::F64, 20),
        (DType::F64, 250),
        (DType::F64, 593),
        (DType::CF64, 1000),
        (DType::F32, 40),
        (DType::F32, 80),
    ] {
        let (x, u) = (train(c, dtype, &large(e)), train(c, dtype, &matrices));
        for repeat in [2, 3, 1000] {
            let options = Options { method: Method::Power, repeat, ..Options::default() };
            let mut s = Contraction::new(&c.0, options).unwrap();
            let case = format!("{dtype:?} 2^{e}, {repeat}");
            assert_power(&case, s.inner_scaled(None, &u, &x, None).unwrap().0, 0);
            let mut sums = [Scaled::ZERO; 2];
            s.inner_batch(None, &[&u, &u], &[&x, &x], &mut sums, None).unwrap();
            sums.into_iter().for_each(|sum| assert_power(&case, sum, 0));
        }
    }
}

#[test]
fn powers_of_rings_whose_large_numbers_lie_on_no_closed_way_are_right() {
    let c = cpu(2);
    apart_from_closed_ways(&(Arc::clone(&c), Location::Host));
    let of = |core: &[f64], r: usize| {
        let mut core = core.to_vec();
        let cell = uniform(&c, &mut core, 2, r, 2);
        (core, cell)
    };
    for e in [20, 593, 1000] {
        let (_x, x) = of(&[1.0, p(e)], 1);
        let (_u, u) = of(&[1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0], 2);
        let mut s = Contraction::new(&c, Options::default()).unwrap();
        assert_power(&format!("{e}"), s.inner_scaled(None, &u, &x, None).unwrap().0, 0);
        for repeat in [3, 1000] {
            let mut s = Contraction::new(&c, Options { repeat, ..Options::default() }).unwrap();
            assert_power(&format!("{e}, {repeat}"), s.inner_scaled(None, &u, &x, None).unwrap().0, 0);
        }
    }
}

#[test]
fn repeated_cores_lose_nothing_that_counts() {
    repeated(&(cpu(2), Location::Host));
}

#[test]
fn layers_of_products_are_counted_once() {
    let at = (cpu(1), Location::Host);
    let a = [1.0, p(1000), 1.0, 1.0].map(|x| C::new(x, 0.0));
    let b = [1.0, 1.0, p(500), p(500)].map(|x| C::new(x, 0.0));
    let mut s = Contraction::new(&at.0, Options::default()).unwrap();
    for (first, second, wanted) in [(p(700), p(-600), 2.0), (1.0, p(-1000), 3.0)] {
        let x = train(&at, DType::F64, &[([1, 2, 1], vec![first, second])]);
        let found = s.correlation(None, &x, &a, &b, None).unwrap().values[0];
        assert!((found.re - wanted).abs() < 1e-12, "{found} for {wanted}");
    }
}

#[test]
fn values_that_are_too_small_hide_none_that_are_too_large() {
    let at = (cpu(1), Location::Host);
    let core = |a: f64, b: f64| ([1, 2, 1], vec![a, b]);
    let ends = [core(1.0, 1.0), core(1.0, 1.0), core(p(500), p(-1000)), core(p(500), p(-1000))];
    let x = train(&at, DType::F64, &ends);
    let raise = [0.0, 0.0, p(600), 0.0].map(|x| C::new(x, 0.0));
    let mut s = Contraction::new(&at.0, Options::default()).unwrap();
    let found = s.correlation(None, &x, &raise, &raise, None).unwrap();
    assert_eq!(found.info.outcome, crate::trains::info::Outcome::Overflow);
}
