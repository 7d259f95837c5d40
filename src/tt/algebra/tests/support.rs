//! Trains for the tests, and their tensors from the definition.

use std::sync::Arc;

use crate::algebra::{Place, create};
use crate::backend::BackendChoice;
use crate::context::{Context, Options};
use crate::scalar::{Complex, Real, Scalar};
use crate::shape::Order;
use crate::tensor::train::{Shape, TensorTrain, TrainMatrix};
use crate::tensor::{Location, Tensor};

pub type C = Complex<f64>;

pub fn context(threads: usize) -> Arc<Context> {
    Context::new(Options { backend: BackendChoice::Cpu, threads, ..Options::default() }).unwrap()
}

/// Modes and ranks: open and cyclic, one core, ranks of 1, modes of 1.
pub const SHAPES: [(&[usize], &[usize]); 9] = [
    (&[3, 2, 4], &[1, 2, 3, 1]),
    (&[2, 3, 2, 2, 3], &[1, 4, 5, 3, 2, 1]),
    (&[2, 3, 4], &[3, 2, 4, 3]),
    (&[5], &[1, 1]),
    (&[4], &[3, 3]),
    (&[3, 4], &[1, 3, 1]),
    (&[2, 3, 2, 3], &[1, 1, 1, 1, 1]),
    (&[1, 3, 1, 2], &[2, 1, 3, 4, 2]),
    (&[1, 1, 1], &[1, 2, 3, 1]),
];

pub fn open_shapes() -> impl Iterator<Item = (&'static [usize], &'static [usize])> {
    SHAPES.into_iter().filter(|(_, ranks)| ranks[0] == 1)
}

pub fn train<T: Scalar>(c: &Arc<Context>, modes: &[usize], ranks: &[usize], seed: u64) -> TensorTrain {
    create::random(&Place::host(c), T::DTYPE, Shape::new("x", modes, ranks).unwrap(), seed).unwrap()
}

pub fn matrix<T: Scalar>(c: &Arc<Context>, rows: &[usize], cols: &[usize], ranks: &[usize], seed: u64) -> TrainMatrix {
    let shape = TrainMatrix::shape_of("h", rows, cols, ranks).unwrap();
    let train = create::random(&Place::host(c), T::DTYPE, shape, seed).unwrap();
    TrainMatrix::new("h", train, rows, cols).unwrap()
}

/// All index tuples, first index fastest.
pub fn tuples(modes: &[usize]) -> Vec<Vec<usize>> {
    let mut all = vec![vec![]];
    for &n in modes.iter().rev() {
        all = all.iter().flat_map(|rest| (0..n).map(move |i| [&[i], &rest[..]].concat())).collect();
    }
    let place = |t: &[usize]| t.iter().zip(modes).rev().fold(0, |p, (i, n)| p * n + i);
    all.sort_by_key(|t| place(t));
    all
}

fn entry(x: &TensorTrain, cores: &[Vec<C>], index: &[usize]) -> C {
    let ring = x.shape().ranks()[0];
    let mut sum = C::new(0.0, 0.0);
    for p in 0..ring {
        let mut row = vec![C::new(0.0, 0.0); ring];
        row[p] = C::new(1.0, 0.0);
        for (k, &i) in index.iter().enumerate() {
            let [r, n, s] = x.shape().core(k);
            row = (0..s).map(|b| (0..r).map(|a| row[a] * cores[k][a + r * (i + n * b)]).sum()).collect();
        }
        sum += row[p];
    }
    sum
}

fn wide<T: Scalar>(x: &TensorTrain) -> Vec<Vec<C>> {
    let cores = x.cores::<T>("x").unwrap();
    (0..x.shape().len()).map(|k| cores.core(k).iter().map(|z| C::new(z.re(), z.im())).collect()).collect()
}

/// The tensor from the definition.
pub fn dense<T: Scalar>(x: &TensorTrain) -> Vec<C> {
    let cores = wide::<T>(x);
    tuples(x.shape().modes()).iter().map(|t| entry(x, &cores, t)).collect()
}

/// The tensor of the moduli of the cores, to which rounding errors are relative.
pub fn moduli<T: Scalar>(x: &TensorTrain) -> Vec<f64> {
    let mut cores = wide::<T>(x);
    cores.iter_mut().flatten().for_each(|z| *z = C::new(z.norm(), 0.0));
    tuples(x.shape().modes()).iter().map(|t| entry(x, &cores, t).re).collect()
}

pub fn roundoff<T: Scalar>() -> f64 {
    <T::Part as Real>::EPSILON.to_f64()
}

/// Asserts that each entry is within the worst case of `steps` roundings of its scale.
pub fn assert_close<T: Scalar>(got: &[C], expected: &[C], scales: &[f64], steps: usize, what: &str) {
    assert_eq!(got.len(), expected.len(), "{what}");
    for (k, ((a, b), scale)) in got.iter().zip(expected).zip(scales).enumerate() {
        let bound = 4.0 * steps as f64 * roundoff::<T>() * scale;
        assert!((a - b).norm() <= bound, "{what}, {:?}, entry {k}: {a} and {b}, bound {bound}", T::DTYPE);
    }
}

/// Number of roundings of an entry: for each core one product and one sum.
pub fn steps(x: &TensorTrain) -> usize {
    x.shape().ranks().iter().sum::<usize>() + 2 * x.shape().len()
}

pub fn norm(x: &[C]) -> f64 {
    x.iter().map(|z| z.norm_sqr()).sum::<f64>().sqrt()
}

pub fn distance(x: &[C], y: &[C]) -> f64 {
    assert_eq!(x.len(), y.len());
    x.iter().zip(y).map(|(a, b)| (a - b).norm_sqr()).sum::<f64>().sqrt()
}

/// A packed tensor of the given numbers.
pub fn tensor<T: Scalar>(c: &Arc<Context>, dims: &[usize], values: &[C]) -> Tensor {
    let mut t = Tensor::create(c, T::DTYPE, Location::Host, Order::ColumnMajor, dims).unwrap();
    let mut view = t.view_mut::<T>("t").unwrap();
    view.data().iter_mut().zip(values).for_each(|(to, z)| *to = T::from_parts(z.re, z.im));
    t
}

pub fn numbers<T: Scalar>(t: &Tensor) -> Vec<C> {
    t.view::<T>("t").unwrap().data().iter().map(|z| C::new(z.re(), z.im())).collect()
}

/// Whether two trains have the same cores, bit for bit.
pub fn same<T: Scalar>(x: &TensorTrain, y: &TensorTrain) -> bool {
    let (a, b) = (x.cores::<T>("x").unwrap(), y.cores::<T>("y").unwrap());
    x.shape() == y.shape() && (0..x.shape().len()).all(|k| a.core(k) == b.core(k))
}

/// Calls a generic test for the four types.
macro_rules! four_types {
    ($($name:ident => $test:ident;)*) => {$(
        #[test]
        fn $name() {
            $test::<f32>();
            $test::<f64>();
            $test::<crate::scalar::Complex<f32>>();
            $test::<crate::scalar::Complex<f64>>();
        }
    )*};
}
pub(super) use four_types;
