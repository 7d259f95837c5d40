//! Matrices that are known by their products: of any magnitude; and wide ones, whose rows a sketch spans.

use std::sync::Arc;

use super::memory::sparse;
use crate::backend::BackendChoice;
use crate::context::{Context, Options as ContextOptions};
use crate::dense::Op;
use crate::error::{Error, Result};
use crate::matrix::{Matrix, Operator};
use crate::rsvd::options::{Centering, Method};
use crate::rsvd::outputs::Outputs;
use crate::rsvd::pca::PcaOptions;
use crate::rsvd::{Info, Options, Rsvd};
use crate::scalar::{DType, Scalar};
use crate::shape::Order;
use crate::tensor::{Location, Tensor};

fn context_of(backend: BackendChoice) -> Arc<Context> {
    Context::new(ContextOptions { backend, threads: 2, ..ContextOptions::default() }).unwrap()
}

/// diag(2, 1, 1/2, 0, ..) times a magnitude, 30 x 30.
struct Diagonal(f64);

const SIDE: usize = 30;

impl<T: Scalar> Operator<T> for Diagonal {
    fn shape(&self) -> (usize, usize) {
        (SIDE, SIDE)
    }

    fn apply(&mut self, _: Op, x: &[T], _: usize, y: &mut [T]) -> Result<()> {
        let entry = |i: usize| [2.0, 1.0, 0.5].get(i % SIDE).map_or(0.0, |v| v * self.0);
        for (i, (y, x)) in y.iter_mut().zip(x).enumerate() {
            *y = T::from_parts(x.re() * entry(i), x.im() * entry(i));
            if !(y.re() + y.im()).is_finite() {
                return Err(Error::invalid("product", "is beyond the type"));
            }
        }
        Ok(())
    }
}

/// Singular values, and the figures.
fn values(context: &Arc<Context>, a: &Matrix, options: &Options) -> Result<(Vec<f64>, Info)> {
    let k = options.rank;
    let mut s = Tensor::create(context, DType::F64, Location::Host, Order::ColumnMajor, &[k])?;
    let info =
        Rsvd::new(context, options.clone())?.compute(None, a, Outputs { u: None, s: Some(&mut s), v: None }, None)?;
    let s = s.view::<f64>("test")?;
    Ok(((0..k).map(|j| s.get(&[j])).collect(), info))
}

fn of_any_magnitude(backend: BackendChoice) {
    fn check<T: Scalar>(context: &Arc<Context>, magnitudes: &[f64], bound: f64) {
        use Method::{Auto, Basic, Direct, Fused, Krylov, OnePass, Range, RowFused};
        for method in [Auto, Range, Fused, Krylov, RowFused, Basic, Direct, OnePass] {
            for center in [Centering::None, Centering::Columns, Centering::Rows] {
                let options = Options { rank: 2, method, center, ..Options::default() };
                let find = |magnitude: f64| {
                    let a = Matrix::from_operator::<T>(context, Box::new(Diagonal(magnitude)));
                    let (s, info) = values(context, &a, &options)
                        .unwrap_or_else(|e| panic!("{method:?} {center:?} {magnitude:e}: {e}"));
                    ([s[0] / magnitude, s[1] / magnitude], info.frobenius / magnitude)
                };
                let (right, whole) = find(1.0);
                for &magnitude in magnitudes {
                    let (s, frobenius) = find(magnitude);
                    let name = format!("{method:?} {:?} {center:?} {magnitude:e}: {s:?} {right:?}", T::DTYPE);
                    assert!((s[0] - right[0]).abs() < bound && (s[1] - right[1]).abs() < bound, "{name}");
                    // NaN where only one factor is there to measure it.
                    let are_none = frobenius.is_nan() && whole.is_nan();
                    assert!(are_none || (frobenius - whole).abs() <= 1e-2, "{name}");
                }
            }
        }
    }
    let context = context_of(backend);
    check::<f64>(&context, &[1e-150, 1e-165, 1e-290, 1e154, 1e160, 1e300], 1e-10);
    check::<f32>(&context, &[1e-30, 1e-15, 1e15, 1e20, 1e30], 1e-4);
}

#[test]
fn operators_of_any_magnitude() {
    of_any_magnitude(BackendChoice::Cpu);
}

#[test]
#[ignore = "needs a GPU"]
fn operators_of_any_magnitude_on_a_gpu() {
    of_any_magnitude(BackendChoice::Cuda);
}

/// A sketch that is as wide as a wide matrix has rows finds all of it.
fn wide_krylov(backend: BackendChoice) {
    let context = context_of(backend);
    for (count, features) in [(4, 14), (9, 31), (11, 12), (12, 12), (14, 4)] {
        let a = sparse(&context, count, features);
        for center in [Centering::None, Centering::Columns, Centering::Rows] {
            let find = |method| {
                let power_iterations = if method == Method::Direct { None } else { Some(2) };
                let options = Options { rank: 2, method, center, power_iterations, ..Options::default() };
                (
                    Rsvd::new(&context, options.clone()).unwrap().plan(&a).unwrap(),
                    values(&context, &a, &options).unwrap(),
                )
            };
            let ((_, (right, _)), (planned, (found, info))) = (find(Method::Direct), find(Method::Krylov));
            let off = right.iter().zip(&found).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(off < 1e-12 * right[0], "{count} x {features} {center:?}: {found:?}, not {right:?}: {info:?}");
            assert_eq!(
                (info.columns, planned.passes),
                (count.min(features) as i64, info.passes),
                "{planned:?} {info:?}"
            );
        }
        let samples = |method| {
            let options = Options { rank: 2, method, ..Options::default() };
            let mut x = Matrix::create(&context, DType::F64, Location::Host, Order::RowMajor, count, features).unwrap();
            let memory = x.dense_mut("test").unwrap().memory.host_mut("test").unwrap();
            for (k, x) in memory.as_mut_slice::<f64>().unwrap().iter_mut().enumerate() {
                *x = ((k * 7919 + k * k * 31) % 1009) as f64 / 504.5 - 1.0;
            }
            let mut session = Rsvd::new(&context, options).unwrap();
            let (pca, info) = session.fit_pca(None, &x, &PcaOptions::default(), None, None).unwrap();
            let mut s = Tensor::create(&context, DType::F64, Location::Host, Order::ColumnMajor, &[2]).unwrap();
            pca.singular_values(&mut s).unwrap();
            let s = s.view::<f64>("test").unwrap();
            ([s.get(&[0]), s.get(&[1])], info)
        };
        let ((right, _), (found, info)) = (samples(Method::Range), samples(Method::Krylov));
        let off = (right[0] - found[0]).abs().max((right[1] - found[1]).abs());
        assert!(off < 1e-12 * right[0], "{count} x {features}: {found:?}, not {right:?}: {info:?}");
    }
}

#[test]
fn krylov_finds_all_of_a_wide_matrix() {
    wide_krylov(BackendChoice::Cpu);
}

#[test]
#[ignore = "needs a GPU"]
fn krylov_finds_all_of_a_wide_matrix_on_a_gpu() {
    wide_krylov(BackendChoice::Cuda);
}
