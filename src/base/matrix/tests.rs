use std::ptr::NonNull;
use std::sync::Arc;

use super::adjoint;
use super::copy::copy;
use super::csr::{Csr, CsrParts, IndexType};
use super::matrix::Matrix;
use super::operator::Operator;
use super::storage::Storage;
use super::streamed::SharedSource;
use crate::backend::BackendChoice;
use crate::backend::memory::{HostMemory, Memory};
use crate::context::{Context, Options};
use crate::dense::Op;
use crate::error::{Error, Result};
use crate::scalar::{Complex, DType, Scalar};
use crate::shape::Order;
use crate::tensor::Location;

fn context() -> Arc<Context> {
    Context::new(Options { backend: BackendChoice::Cpu, threads: 1, ..Options::default() }).unwrap()
}

fn owned(values: &[i32]) -> HostMemory {
    let budget = crate::backend::memory::Budget::new(0);
    let mut m = HostMemory::allocate("test", values.len() * 4, &budget).unwrap();
    m.as_mut_slice().unwrap().copy_from_slice(values);
    m
}

fn csr(row_ptr: &[i32], col_idx: &[i32], cols: usize, base: i64) -> Result<Csr> {
    let parts = CsrParts {
        row_ptr: owned(row_ptr),
        row_ptr_type: IndexType::I32,
        col_idx: owned(col_idx),
        col_idx_type: IndexType::I32,
        values: None,
    };
    Csr::new(parts, row_ptr.len() - 1, cols, col_idx.len(), base)
}

#[test]
fn sparse_arrays_are_checked_and_the_place_is_named() {
    assert!(csr(&[0, 2, 2, 3], &[0, 3, 1], 4, 0).is_ok());
    assert!(csr(&[1, 3, 3, 4], &[1, 4, 2], 4, 1).is_ok());
    let text = |r: Result<Csr>| r.map(|_| ()).unwrap_err().to_string();
    assert_eq!(text(csr(&[1, 2], &[0, 1], 4, 0)), "row_ptr: element 0 is 1, index_base = 0 is needed");
    assert_eq!(text(csr(&[0, 2, 1, 3], &[0, 1, 2], 4, 0)), "row_ptr: element 2 is 1, less than element 1");
    assert_eq!(text(csr(&[0, 1], &[0, 1], 4, 0)), "row_ptr: element 1 is 1, nnz + index_base = 2 is needed");
    assert_eq!(text(csr(&[0, 2], &[0, 4], 4, 0)), "col_idx: element 1 is 4, outside 0 to 3");
    assert_eq!(text(csr(&[0, 1], &[-1], 4, 0)), "col_idx: element 0 is -1, outside 0 to 3");
    assert_eq!(text(csr(&[0, 1], &[0], 0, 0)), "col_idx: element 0 is 0, the matrix has no columns");
    assert!(csr(&[0, 1], &[0], 4, 2).is_err());
}

#[test]
fn the_leading_dimension_is_checked_against_its_own_direction() {
    assert!(Matrix::dense_layout(DType::F64, Order::ColumnMajor, 3, 5, 3).is_ok());
    let e = Matrix::dense_layout(DType::F64, Order::ColumnMajor, 3, 5, 2).unwrap_err();
    assert_eq!(e.to_string(), "ld: is 2, less than rows = 3");
    let e = Matrix::dense_layout(DType::F64, Order::RowMajor, 3, 5, 3).unwrap_err();
    assert_eq!(e.to_string(), "ld: is 3, less than cols = 5");
}

#[test]
#[allow(unsafe_code, reason = "borrows memory as the C boundary does")]
fn row_major_and_strided_column_major_copy_into_each_other() {
    let c = context();
    let mut data: Vec<f64> = (0..20).map(f64::from).collect();
    let start = NonNull::new(data.as_mut_ptr().cast::<u8>()).unwrap();
    // SAFETY: `data` outlives the matrix and nothing else touches it meanwhile.
    let memory = Memory::Host(unsafe { HostMemory::borrow(start, 160) });
    let layout = Matrix::dense_layout(DType::F64, Order::ColumnMajor, 3, 4, 5).unwrap();
    let a = Matrix::from_memory(&c, DType::F64, Order::ColumnMajor, layout, memory, true).unwrap();
    let mut b = Matrix::create(&c, DType::F64, Location::Host, Order::RowMajor, 3, 4).unwrap();
    copy(&c, None, &a, &mut b).unwrap();
    let Storage::Dense { memory, .. } = b.storage() else { unreachable!() };
    let got = memory.host("b").unwrap().as_slice::<f64>().unwrap();
    assert_eq!(got, [0., 5., 10., 15., 1., 6., 11., 16., 2., 7., 12., 17.]);
    let mut a = a;
    assert!(copy(&c, None, &b, &mut a).is_err());
}

#[test]
fn a_source_becomes_a_matrix_of_either_order_and_one_run_has_it() {
    use crate::blocks::array::ArrayInfo;
    use crate::blocks::number::Number;
    use crate::blocks::source::CallbackSource;
    let c = context();
    let source = |dims: &[usize]| {
        let info = ArrayInfo::new(Number::U8, dims).unwrap();
        SharedSource::new(Box::new(CallbackSource::new(info, Box::new(|_, _| Ok(())))))
    };
    let m = Matrix::from_source(&c, source(&[3, 5]), Order::ColumnMajor).unwrap();
    assert_eq!((m.rows(), m.cols(), m.dtype()), (3, 5, DType::U8));
    let m = Matrix::from_source(&c, source(&[3, 5]), Order::RowMajor).unwrap();
    assert_eq!((m.rows(), m.cols()), (5, 3));
    let Storage::Streamed(streamed) = m.storage() else { unreachable!() };
    let held = streamed.lock("a").unwrap();
    assert_eq!(streamed.lock("a").map(|_| ()).unwrap_err(), Error::Busy { argument: "a".into() });
    drop(held);
    assert!(streamed.lock("a").is_ok());
    assert!(Matrix::from_source(&c, source(&[3]), Order::RowMajor).is_err());
    let e = m.dense("a").map(|_| ()).unwrap_err().to_string();
    assert!(e.contains("a: is streamed, a dense matrix is needed"), "{e}");
}

#[test]
fn an_operator_is_reached_with_its_own_type_alone() {
    struct Doubled;
    impl Operator<f64> for Doubled {
        fn shape(&self) -> (usize, usize) {
            (2, 2)
        }
        fn apply(&mut self, _: Op, x: &[f64], _: usize, y: &mut [f64]) -> Result<()> {
            y.iter_mut().zip(x).for_each(|(y, x)| *y = 2.0 * x);
            Ok(())
        }
    }
    let m = Matrix::from_operator::<f64>(&context(), Box::new(Doubled));
    assert_eq!((m.rows(), m.cols(), m.dtype(), m.is_read_only()), (2, 2, DType::F64, true));
    let Storage::Operator(shared) = m.storage() else { unreachable!() };
    assert!(shared.lock::<f32>("a").is_err());
    let mut guard = shared.lock::<f64>("a").unwrap();
    let mut y = [0.0; 2];
    guard.operator().unwrap().apply(Op::Plain, &[1.0, 3.0], 1, &mut y).unwrap();
    assert_eq!(y, [2.0, 6.0]);
    assert!(shared.lock::<f64>("a").is_err());
}

/// The test of an adjoint for a matrix of 3 rows and 2 columns, whose products with the adjoint go through `of`. `bad` is the
/// number of the product that has another value in one place, and that value.
fn test_of_adjoint<T: Scalar>(
    a: [T; 6],
    of: impl Fn([T; 2]) -> [T; 2],
    bad: Option<(usize, f64)>,
) -> Result<Option<f64>> {
    let mut calls = 0;
    let mut multiply = |op, x: &[T], y: &mut [T]| {
        match op {
            Op::Plain => (0..3).for_each(|i| y[i] = a[i] * x[0] + a[3 + i] * x[1]),
            Op::Adjoint => {
                let sum = |j: usize| (0..3).fold(T::default(), |sum, i| sum + a[3 * j + i].conjugate() * x[i]);
                y.copy_from_slice(&of([sum(0), sum(1)]));
            }
        }
        if bad.is_some_and(|(at, _)| at == calls) {
            y[1] = T::from_parts(bad.map_or(0.0, |(_, value)| value), 0.0);
        }
        calls += 1;
        Ok(())
    };
    adjoint::expect_adjoint::<T>((3, 2), 1 << 31, &mut multiply)
}

#[test]
fn a_conjugate_adjoint_is_no_adjoint() {
    let z = |re: f64, im: f64| Complex::<f64>::new(re, im);
    let a = [z(1.0, 2.0), z(0.5, -1.0), z(0.0, 3.0), z(-1.0, 0.25), z(2.0, 1.0), z(0.0, -0.5)];
    let size = test_of_adjoint(a, |y| y, None).unwrap().unwrap();
    assert!(size > 1.0 && size < 6.0, "{size}");
    let e = test_of_adjoint(a, |y| y.map(|y| y.conjugate()), None).unwrap_err();
    assert!(e.to_string().contains("adjoint is not that of A"), "{e}");
}

#[test]
fn an_adjoint_with_an_antisymmetric_error_is_no_adjoint() {
    // The product of the wrong adjoint and A is that of the right one and A, and an antisymmetric matrix.
    let mut multiply = |op, x: &[f64], y: &mut [f64]| {
        match op {
            Op::Plain => y.copy_from_slice(x),
            Op::Adjoint => {
                (0..60).step_by(2).for_each(|i| (y[i], y[i + 1]) = (x[i] - 0.5 * x[i + 1], x[i + 1] + 0.5 * x[i]))
            }
        }
        Ok(())
    };
    let e = adjoint::expect_adjoint::<f64>((60, 60), 1 << 31, &mut multiply).unwrap_err();
    assert!(e.to_string().contains("adjoint is not that of A"), "{e}");
}

#[test]
fn an_adjoint_of_zero_is_zero() {
    assert_eq!(test_of_adjoint([0.0f64; 6], |y| y, None).unwrap(), None);
    let e = test_of_adjoint([0.0f64; 6], |_| [0.0, 1e-200], None).unwrap_err();
    assert!(e.to_string().contains("A X is 0 for a random X, and ||A^H Y|| is 1.0e-200"), "{e}");
    let e = test_of_adjoint([0.0f64; 6], |_| [f64::NAN, 0.0], None).unwrap_err();
    assert!(matches!(&e, Error::Numerical(text) if text.contains("its adjoint")), "{e}");
}

#[test]
fn products_that_are_not_finite_fail_the_test_of_an_adjoint() {
    let a = [1.0f64, 0.5, 2.0, -1.0, 0.25, 3.0];
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let twice = |y: [f64; 2]| y.map(|y| 2.0 * y);
        for at in [0, 1] {
            let e = test_of_adjoint(a, twice, Some((at, bad))).unwrap_err();
            // An infinite product is asked for once more, with a smaller vector.
            let is_asked_again = at == 0 && bad.is_infinite();
            assert!(matches!(e, Error::Numerical(_)) != is_asked_again, "{at} {bad}: {e}");
        }
    }
    // Only the product with a vector of norm 1 is finite.
    let mut calls = 0;
    let mut multiply = |op, x: &[f32], y: &mut [f32]| {
        calls += 1;
        match op {
            Op::Plain if adjoint::norm(x) > 1.0 => y[0] = f32::INFINITY,
            Op::Plain => y[0] = x.iter().sum::<f32>() * 1e37,
            Op::Adjoint => y.fill(x[0] * 1e37),
        }
        Ok(())
    };
    let size = adjoint::expect_adjoint::<f32>((1, 64), 1 << 31, &mut multiply).unwrap().unwrap();
    assert!((size / 8e37 - 1.0).abs() < 1e-6, "{size}");
    assert_eq!(calls, 3);
    let e = test_of_adjoint([f32::INFINITY; 6], |y| y, None).unwrap_err();
    assert!(matches!(e, Error::Numerical(_)), "{e}");
}
