//! The algebra of trains in device memory against the definition, and against the CPU.

use std::sync::Arc;

use super::entries::{check_graded, check_not_finite};
use super::support as plain;
use crate::algebra::{
    Place, Spread, Truncation, add, apply, apply_round, canonicalize, cast, conj, copy, elements, full, hadamard,
    hadamard_round, reverse, rotate, round, scale, to_open, tt_svd,
};
use crate::context::Context;
use crate::scalar::{Complex, DType, Scalar};
use crate::shape::Order;
use crate::tensor::train::TensorTrain;
use crate::tensor::{Location, Tensor};
use crate::trains::Scaled;
use crate::trains::testing::{cpu, gpu};

type C = Complex<f64>;

/// Results in device memory.
fn device(context: &Arc<Context>) -> Place<'_> {
    Place::new(context, None, Location::Device)
}

/// The same random train in host memory and on the device.
fn twins<T: Scalar>(
    (host, context): (&Arc<Context>, &Arc<Context>),
    modes: &[usize],
    ranks: &[usize],
    seed: u64,
) -> (TensorTrain, TensorTrain) {
    let there = copy(&device(context), &plain::train::<T>(context, modes, ranks, seed)).unwrap();
    assert!(there.is_device());
    (plain::train::<T>(host, modes, ranks, seed), there)
}

/// Copies a train from the device to host memory.
fn here(context: &Arc<Context>, x: &TensorTrain) -> TensorTrain {
    copy(&Place::host(context), x).unwrap()
}

macro_rules! four_types {
    ($($name:ident => $test:ident;)*) => {$(
        #[test]
        #[ignore = "needs a GPU"]
        fn $name() {
            $test::<f32>();
            $test::<f64>();
            $test::<Complex<f32>>();
            $test::<Complex<f64>>();
        }
    )*};
}

four_types! {
    what_the_host_computes_has_the_bits_of_the_cpu => moved;
    entries_and_dense_tensors_are_those_of_the_definition => entries;
    rounded_trains_keep_their_promise => rounded;
    trains_of_dense_tensors_are_the_tensors => decomposed;
}

/// Sums, factors, products and other orders of the cores. The host computes them, so the results have the bits of the
/// CPU.
fn moved<T: Scalar>() {
    let (host, context) = (cpu(2), gpu(0));
    let (off, on) = (Place::host(&host), device(&context));
    let (alpha, beta) = (C::new(-1.5, if T::IS_COMPLEX { 0.25 } else { 0.0 }), C::new(2.0, 0.0));
    for (s, (modes, ranks)) in plain::SHAPES.into_iter().enumerate() {
        let (x, a) = twins::<T>((&host, &context), modes, ranks, s as u64);
        let (y, b) = twins::<T>((&host, &context), modes, &vec![2; modes.len() + 1], 50);
        let w: Vec<usize> = ranks.iter().map(|r| 1 + r % 3).collect();
        let (h, g) =
            (plain::matrix::<T>(&host, modes, modes, &w, 3), plain::matrix::<T>(&context, modes, modes, &w, 3));
        let factor = Scaled::new(C::new(-3.0, 0.0), 2);
        let pairs = [
            ("add", add(&off, alpha, &x, beta, &y), add(&on, alpha, &a, beta, &b)),
            ("hadamard", hadamard(&off, &x, &y), hadamard(&on, &a, &b)),
            ("apply", apply(&off, &h, &x), apply(&on, &g, &a)),
            ("scale", scale(&off, factor, &x, Spread::Auto), scale(&on, factor, &a, Spread::Auto)),
            ("conj", conj(&off, &x), conj(&on, &a)),
            ("reverse", reverse(&off, &x), reverse(&on, &a)),
            ("rotate", rotate(&off, &x, modes.len() - 1), rotate(&on, &a, modes.len() - 1)),
            ("to_open", to_open(&off, &x), to_open(&on, &a)),
            ("copy", copy(&off, &x), copy(&on, &a)),
        ];
        for (what, want, got) in pairs {
            let (want, got) = (want.unwrap(), got.unwrap());
            assert!(got.is_device(), "{what}");
            assert!(plain::same::<T>(&want, &here(&context, &got)), "{what} {:?} {modes:?} {ranks:?}", T::DTYPE);
        }
        let wide = cast(&on, &a, DType::CF64).unwrap();
        assert_eq!(plain::dense::<C>(&here(&context, &wide)), plain::dense::<T>(&x));
    }
}

fn entries<T: Scalar>() {
    let (host, context) = (cpu(2), gpu(0));
    for (modes, ranks) in plain::SHAPES {
        let (x, a) = twins::<T>((&host, &context), modes, ranks, 1);
        let (want, scales) = (plain::dense::<T>(&x), plain::moduli::<T>(&x));
        let list: Vec<usize> = plain::tuples(modes).concat();
        let on = device(&context);
        let found = elements(&on, &a, &list).unwrap();
        assert_eq!(found, elements(&Place::host(&host), &x, &list).unwrap());
        let found: Vec<C> = found.iter().map(|e| e.plain(DType::CF64).0).collect();
        plain::assert_close::<T>(&found, &want, &scales, plain::steps(&x), "entries");
        for location in [Location::Host, Location::Device] {
            let mut out = Tensor::create(&context, T::DTYPE, location, Order::ColumnMajor, modes).unwrap();
            full(&on, &a, &mut out, false).unwrap();
            let mut read = Tensor::create(&context, T::DTYPE, Location::Host, Order::ColumnMajor, modes).unwrap();
            crate::tensor::copy(&context, None, &out, &mut read).unwrap();
            plain::assert_close::<T>(&plain::numbers::<T>(&read), &want, &scales, plain::steps(&x), "full");
        }
    }
}

#[test]
#[ignore = "needs a GPU"]
fn entries_of_bonds_far_from_balanced() {
    let context = gpu(0);
    for location in [Location::Device, Location::Host] {
        check_graded::<f32>(&context, location);
        check_graded::<f64>(&context, location);
        check_graded::<C>(&context, location);
        check_not_finite::<f32>(&context, location);
        check_not_finite::<f64>(&context, location);
        check_not_finite::<C>(&context, location);
    }
}

fn rounded<T: Scalar>() {
    let (host, context) = (cpu(2), gpu(0));
    let on = device(&context);
    let slack = 100.0 * plain::roundoff::<T>();
    for (s, (modes, ranks)) in plain::open_shapes().enumerate() {
        let (x, a) = twins::<T>((&host, &context), modes, ranks, 20 + s as u64);
        let values = plain::dense::<T>(&x);
        let whole = plain::norm(&values);
        for epsilon in [0.7, 0.1, 0.01] {
            let (y, info) = round(&on, &a, &Truncation::relative(epsilon)).unwrap();
            assert!(y.is_device());
            let error = plain::distance(&plain::dense::<T>(&here(&context, &y)), &values);
            assert!(error <= (epsilon + slack) * whole, "{error} of {whole}");
            // The truncations are orthogonal to each other: the bound is the error.
            assert!((error - info.error * whole).abs() <= slack * whole, "{error} {}", info.error);
        }
        let twice = add(&on, C::new(1.0, 0.0), &a, C::new(1.0, 0.0), &a).unwrap();
        let (y, info) = round(&on, &twice, &Truncation::relative(slack)).unwrap();
        let (z, _) = round(&Place::host(&host), &x, &Truncation::relative(slack)).unwrap();
        assert_eq!(y.shape().ranks(), z.shape().ranks(), "{modes:?} {ranks:?}");
        assert!((info.norm.plain(DType::F64).0.re - 2.0 * whole).abs() <= 10.0 * slack * whole);
        for centre in 0..modes.len() {
            let y = canonicalize(&on, &a, centre).unwrap();
            assert_eq!(y.exponent, 0);
            let y = here(&context, &y.train);
            assert!(plain::distance(&plain::dense::<T>(&y), &values) <= slack * whole);
        }
        // Rounded products, whose cores are computed one at a time.
        let (y, b) = twins::<T>((&host, &context), modes, ranks, 70);
        let h = plain::matrix::<T>(&context, modes, modes, ranks, 3);
        let g = plain::matrix::<T>(&host, modes, modes, ranks, 3);
        let off = Place::host(&host);
        let truncation = Truncation::relative(0.05);
        for (what, got, formed) in [
            ("hadamard", hadamard_round(&on, &a, &b, &truncation), hadamard(&off, &x, &y)),
            ("apply", apply_round(&on, &h, &a, &truncation), apply(&off, &g, &x)),
        ] {
            let (got, want) = (got.unwrap().0, plain::dense::<T>(&formed.unwrap()));
            let error = plain::distance(&plain::dense::<T>(&here(&context, &got)), &want);
            assert!(error <= (0.05 + slack) * plain::norm(&want), "{what}: {error}");
        }
    }
}

fn decomposed<T: Scalar>() {
    let context = gpu(0);
    let on = device(&context);
    let modes = [4, 5, 3, 4];
    let x = plain::train::<T>(&context, &modes, &[1, 3, 4, 2, 1], 9);
    let values = plain::dense::<T>(&x);
    let tensor = plain::tensor::<T>(&context, &modes, &values);
    let mut there = Tensor::create(&context, T::DTYPE, Location::Device, Order::ColumnMajor, &modes).unwrap();
    crate::tensor::copy(&context, None, &tensor, &mut there).unwrap();
    let epsilon = 1e3 * plain::roundoff::<T>();
    for tensor in [&tensor, &there] {
        let (y, _) = tt_svd(&on, tensor, None, &Truncation::relative(epsilon)).unwrap();
        assert_eq!(y.shape().ranks(), [1, 3, 4, 2, 1]);
        let error = plain::distance(&plain::dense::<T>(&here(&context, &y)), &values);
        assert!(error <= 2.0 * epsilon * plain::norm(&values), "{error}");
    }
}
