//! Inner products against dense tensors.

use crate::contraction::Contraction;
use crate::scalar::DType;
use crate::trains::Options;
use crate::trains::options::Math;
use crate::trains::testing::{Plain, cpu, inner};

#[test]
fn open_products_are_those_of_the_dense_tensors() {
    let c = cpu(2);
    for (dtype, tolerance) in [(DType::F64, 1e-13), (DType::CF64, 1e-13), (DType::F32, 2e-6), (DType::CF32, 2e-6)] {
        let complex = dtype.is_complex();
        for (d, rank) in [(2, 3), (3, 5), (6, 4), (9, 6)] {
            let x = Plain::uniform_ranks(d, 2, rank, false, complex, 1);
            let y = Plain::uniform_ranks(d, 2, rank + 2, false, complex, 2);
            let (tx, ty) = (x.train(&c, dtype), y.train(&c, dtype));
            let mut session = Contraction::new(&c, Options::default()).unwrap();
            let (value, info) = session.inner(None, &tx, &ty, None).unwrap();
            let error = (value - inner(&x, &y, true)).norm();
            assert!(error <= tolerance * x.norm() * y.norm(), "{dtype:?} d = {d}: {error}, {info:?}");
        }
    }
}

#[test]
fn arithmetic_of_gpus_is_refused_on_a_cpu() {
    let c = cpu(1);
    for dtype in [DType::F32, DType::CF32] {
        let x = Plain::uniform_ranks(5, 2, 7, false, dtype == DType::CF32, 3).train(&c, dtype);
        for math in [Math::Tf32, Math::Gemm3m, Math::Int8x6] {
            let made = Contraction::new(&c, Options { math, ..Options::default() });
            let message = made.and_then(|mut session| session.inner(None, &x, &x, None)).unwrap_err().to_string();
            assert!(message.starts_with("math"), "{math:?} {dtype:?}: {message}");
        }
    }
    assert_eq!(Math::from_code("math", 4).unwrap(), Math::Int8x6);
    assert!(Math::from_code("math", 5).is_err());
}
