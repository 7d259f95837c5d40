use super::support::*;
use crate::algebra::{
    Place, Spread, Truncation, add, apply, canonicalize, cast, copy, create, elements, hadamard, matrix as algebra,
    rotate, round, scale, tt_svd,
};
use crate::error::{Error, Result};
use crate::scalar::DType;
use crate::shape::Order;
use crate::tensor::train::{Shape, TensorTrain};
use crate::tensor::{Location, Tensor};
use crate::trains::scaled::Scaled;

const ONE: C = C::new(1.0, 0.0);

fn text<V>(result: Result<V>) -> String {
    result.map(|_| ()).unwrap_err().to_string()
}

#[test]
fn arguments_are_named_with_what_was_found() {
    let c = context(1);
    let at = Place::host(&c);
    let x = train::<f64>(&c, &[2, 3], &[1, 2, 1], 1);
    let other = train::<f64>(&c, &[2, 4], &[1, 2, 1], 1);
    let single = train::<f32>(&c, &[2, 3], &[1, 2, 1], 1);
    let long = train::<f64>(&c, &[2, 3, 2], &[1, 2, 2, 1], 1);
    assert_eq!(text(add(&at, ONE, &x, ONE, &other)), "y: core 1 has mode size 4, that of x is 3");
    assert_eq!(text(hadamard(&at, &x, &long)), "y: has 3 cores, x has 2");
    assert_eq!(text(hadamard(&at, &x, &single)), "y: is F32, the other operand is F64");
    assert_eq!(text(add(&at, C::new(1.0, 2.0), &x, ONE, &x)), "alpha: has the imaginary part 2 for F64");
    let factor = Scaled::new(C::new(0.5, 3.0), 0);
    assert_eq!(text(scale(&at, factor, &x, Spread::Auto)), "factor: has the imaginary part 3 for F64");
    assert_eq!(text(add(&at, ONE, &x, C::new(f64::NAN, 0.0), &x)), "beta: is NaN + 0 i, not finite");
    assert_eq!(text(scale(&at, Scaled::real(f64::INFINITY), &x, Spread::Auto)), "factor: is inf + 0 i, not finite");
    assert_eq!(text(rotate(&at, &x, 2)), "first: is 2, outside 0 to 1");
    assert_eq!(text(canonicalize(&at, &x, 2)), "centre: is 2, outside 0 to 1");
    assert_eq!(text(elements(&at, &x, &[0, 1, 1, 3])), "indices: tuple 1: element 1 is 3, outside 0 to 2");
    assert_eq!(text(elements(&at, &x, &[0, 1, 1])), "indices: has 3 numbers, not a multiple of the 2 cores");
    let h = matrix::<f64>(&c, &[2, 2], &[2, 2], &[1, 2, 1], 1);
    assert_eq!(text(apply(&at, &h, &x)), "h: core 1 has mode size 2, that of x is 3");
    let g = matrix::<f64>(&c, &[1, 4], &[4, 1], &[1, 2, 1], 1);
    assert_eq!(text(algebra::add(&at, ONE, &h, ONE, &g)), "h: core 0 has 1 rows, that of g has 2");
    assert_eq!(text(create::ones(&at, DType::F32, &[2, 0])), "modes: core 1 has mode size 0, at least 1 is needed");
    let e = text(create::basis_state(&at, DType::F32, &[2, 2], &[0, 2]));
    assert_eq!(e, "indices: element 1 is 2, outside 0 to 1");
    assert_eq!(text(create::product_state(&at, &[2, 2], &[1.0f64])), "vectors: has 1 elements, 4 are needed");
    assert_eq!(text(create::ones(&at, DType::I32, &[2])), "dtype: is I32, F32, F64, CF32 or CF64 is needed");
    assert_eq!(
        text(round(&at, &x, &Truncation::relative(-1.0))),
        "epsilon: is -1, a finite number of at least 0 is needed"
    );
    let wrong = Truncation { max_ranks: &[1, 2], ..Truncation::default() };
    assert_eq!(text(round(&at, &x, &wrong)), "max_ranks: has 2 ranks, the train has 1 inner bonds");
    let z = cast(&at, &x, DType::CF64).unwrap();
    assert_eq!(text(cast(&at, &z, DType::F64)), "dtype: is F64 for a train of CF64");
    assert_eq!(text(cast(&at, &x, DType::I32)), "dtype: is I32, F32, F64, CF32 or CF64 is needed");
    let t = tensor::<f64>(&c, &[2, 3], &dense::<f64>(&x));
    let none = Truncation::default();
    assert_eq!(text(tt_svd(&at, &t, Some(&[2, 2]), &none)), "modes: have 4 elements, the tensor has 6");
    let empty = Tensor::create(&c, DType::F64, Location::Host, Order::ColumnMajor, &[2, 0]).unwrap();
    assert_eq!(text(tt_svd(&at, &empty, None, &none)), "modes: core 1 has mode size 0, at least 1 is needed");
    let bytes = Tensor::create(&c, DType::U8, Location::Host, Order::ColumnMajor, &[2, 2]).unwrap();
    assert!(text(tt_svd(&at, &bytes, None, &none)).contains("is U8"));
}

#[test]
fn rings_are_not_rounded() {
    let c = context(1);
    let at = Place::host(&c);
    let x = train::<f64>(&c, &[2, 3], &[2, 2, 2], 1);
    for e in [
        round(&at, &x, &Truncation::default()).map(|_| ()).unwrap_err(),
        canonicalize(&at, &x, 0).map(|_| ()).unwrap_err(),
    ] {
        assert!(matches!(&e, Error::NotSupported(text) if text.starts_with("x: is cyclic with the rank 2")), "{e}");
    }
}

#[test]
fn other_contexts_missing_cores_and_devices_are_refused() {
    let (c, d) = (context(1), context(1));
    let at = Place::host(&c);
    let stranger = train::<f64>(&d, &[2], &[1, 1], 1);
    assert_eq!(text(copy(&at, &stranger)), "x: belongs to another context");
    let shape = Shape::new("x", &[2], &[1, 1]).unwrap();
    let unset = TensorTrain::create(&c, DType::F64, Location::Host, shape).unwrap();
    assert_eq!(text(copy(&at, &unset)), "x: core 0 has not been set");
    let x = train::<f64>(&c, &[2], &[1, 1], 1);
    let there = Place { location: Location::Device, ..at };
    assert!(matches!(copy(&there, &x), Err(Error::NotSupported(_))));
    assert!(matches!(round(&there, &x, &Truncation::default()), Err(Error::NotSupported(_))));
}

#[test]
fn numbers_that_are_not_finite_are_named() {
    let c = context(1);
    let at = Place::host(&c);
    for bad in [f64::NAN, f64::INFINITY] {
        let mut x = train::<f64>(&c, &[2, 3, 2], &[1, 2, 2, 1], 1);
        x.cores_mut::<f64>("x").unwrap().core(1)[3] = bad;
        for e in [text(round(&at, &x, &Truncation::default())), text(canonicalize(&at, &x, 0))] {
            assert!(e.starts_with("x: core 1 has the norm ") && e.ends_with("finite numbers are needed"), "{e}");
        }
        for dims in [&[2, 3, 2][..], &[4, 3], &[12], &[2, 60]] {
            let count = dims.iter().product();
            let mut values = vec![C::new(1.0, 0.0); count];
            values[count / 2].re = bad;
            let t = tensor::<f64>(&c, dims, &values);
            for epsilon in [0.1, 1e-12] {
                let e = text(tt_svd(&at, &t, None, &Truncation::relative(epsilon)));
                assert_eq!(e, "tensor: holds numbers that are not finite", "{dims:?}");
            }
        }
    }
}

#[test]
fn memory_limits_are_errors_and_leave_the_context_usable() {
    let limited = crate::context::Context::new(crate::context::Options {
        backend: crate::backend::BackendChoice::Cpu,
        threads: 1,
        host_memory_limit: 100_000,
        ..crate::context::Options::default()
    })
    .unwrap();
    let at = Place::host(&limited);
    let x = train::<f64>(&limited, &[10, 10], &[1, 30, 1], 1);
    for e in [
        hadamard(&at, &x, &x).map(|_| ()).unwrap_err(),
        create::random(&at, DType::F64, Shape::new("x", &[2, 2], &[1, 9000, 1]).unwrap(), 1).map(|_| ()).unwrap_err(),
    ] {
        assert!(matches!(e, Error::OutOfMemory { .. }), "{e}");
    }
    let used = limited.host_memory_used();
    assert!(round(&at, &x, &Truncation::default()).is_ok());
    assert_eq!(limited.host_memory_used(), used);
}
