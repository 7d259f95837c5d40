//! Contexts, tensors and the published examples.

use std::sync::Arc;

use crate::backend::BackendChoice;
use crate::context::{self, Context};
use crate::progress::Progress;
use crate::scalar::{Element, Real};
use crate::shape::Order;
use crate::sshopm::{Info, Options, Results, solve};
use crate::tensor::{Location, Symmetric, Tensor};
use crate::testing::source;

/// Kofidis and Regalia's tensor: Kolda and Mayo 2011, example 3.5.
pub const KOFIDIS_REGALIA: [f64; 15] = [
    0.2883, -0.0031, 0.1973, -0.2485, -0.2939, 0.3847, 0.2972, 0.1862, 0.0919, -0.3619, 0.1241, -0.3420, 0.2127,
    0.2727, -0.3054,
];

/// Kolda and Mayo 2011, example 3.6.
pub const KOLDA_MAYO: [f64; 10] = [-0.1281, 0.0516, -0.0954, -0.1958, -0.1790, -0.2676, 0.3251, 0.2513, 0.1773, 0.0338];

pub fn context(threads: usize) -> Arc<Context> {
    with_isa(threads, None)
}

/// The CPU; the GPU where the variable says so: the same checks then hold there.
fn tested_backend() -> BackendChoice {
    match std::env::var("PURLIN_TEST_BACKEND").as_deref() {
        Ok("cuda") => BackendChoice::Cuda,
        _ => BackendChoice::Cpu,
    }
}

pub fn with_isa(threads: usize, isa: Option<crate::backend::cpu::Isa>) -> Arc<Context> {
    let options = context::Options { backend: tested_backend(), threads, isa, ..context::Options::default() };
    Context::new(options).unwrap()
}

/// A batch of symmetric tensors from f64 entries, tensor after tensor.
pub fn symmetric<T: Real>(c: &Arc<Context>, order: usize, dimension: usize, entries: &[f64]) -> Tensor {
    let shape = Symmetric { order, dimension };
    let count = entries.len() / shape.count();
    let mut t = Tensor::create_symmetric(c, T::DTYPE, Location::Host, Order::ColumnMajor, shape, count).unwrap();
    for (o, e) in t.view_mut::<T>("tensors").unwrap().data().iter_mut().zip(entries) {
        *o = T::from_f64(*e);
    }
    t
}

pub fn dense<T: Element>(c: &Arc<Context>, dims: &[usize]) -> Tensor {
    Tensor::create(c, T::DTYPE, Location::Host, Order::ColumnMajor, dims).unwrap()
}

pub fn from_slice<T: Element>(c: &Arc<Context>, dims: &[usize], values: &[T]) -> Tensor {
    let mut t = dense::<T>(c, dims);
    t.view_mut::<T>("values").unwrap().data().copy_from_slice(values);
    t
}

pub fn data<T: Element>(t: &Tensor) -> Vec<T> {
    t.view::<T>("data").unwrap().data().to_vec()
}

/// Every result of a solve.
pub struct Solved<T> {
    pub info: Info,
    pub count: Vec<i32>,
    pub values: Vec<T>,
    pub vectors: Vec<T>,
    pub residuals: Vec<T>,
    pub classes: Vec<i32>,
    pub hessian: Vec<T>,
    pub basins: Vec<i32>,
    pub status: Vec<i32>,
    pub found: Vec<i32>,
}

/// Solves with K = `pairs`.
pub fn run<T: Real>(
    c: &Arc<Context>,
    tensors: &Tensor,
    starts: Option<&Tensor>,
    o: &Options,
    pairs: usize,
) -> Solved<T> {
    let t = tensors.dims()[1];
    let n = tensors.symmetric().unwrap().dimension;
    let (mut count, mut status) = (dense::<i32>(c, &[t]), dense::<i32>(c, &[t]));
    let (mut values, mut residuals) = (dense::<T>(c, &[pairs, t]), dense::<T>(c, &[pairs, t]));
    let (mut vectors, mut hessian) = (dense::<T>(c, &[n, pairs, t]), dense::<T>(c, &[n - 1, pairs, t]));
    let (mut classes, mut basins) = (dense::<i32>(c, &[pairs, t]), dense::<i32>(c, &[pairs, t]));
    let mut found = dense::<i32>(c, &[t]);
    let mut results = Results {
        count: Some(&mut count),
        values: Some(&mut values),
        vectors: Some(&mut vectors),
        residuals: Some(&mut residuals),
        classes: Some(&mut classes),
        hessian: Some(&mut hessian),
        basins: Some(&mut basins),
        status: Some(&mut status),
        found: Some(&mut found),
        ..Results::default()
    };
    let info = solve(c, None, tensors, starts, o, &mut results, &Progress::none()).unwrap();
    // A pair listed as a maximum or a minimum has a definite projected Hessian.
    let curvatures = data(&hessian);
    for (p, class) in data::<i32>(&classes).into_iter().enumerate() {
        let listed = p % pairs.max(1) < data::<i32>(&count)[p / pairs.max(1)] as usize;
        let curvature = &curvatures[(n - 1) * p..(n - 1) * (p + 1)];
        let definite = match class {
            0 => curvature.iter().all(|h: &T| *h < T::ZERO),
            1 => curvature.iter().all(|h| *h > T::ZERO),
            _ => true,
        };
        assert!(!listed || n == 1 || definite, "pair {p}: class {class}, {curvature:?}");
        assert_eq!(listed, class != crate::sshopm::NO_PAIR, "pair {p}: class {class}");
    }
    Solved {
        info,
        count: data(&count),
        values: data(&values),
        vectors: data(&vectors),
        residuals: data(&residuals),
        classes: data(&classes),
        hessian: curvatures,
        basins: data(&basins),
        status: data(&status),
        found: data(&found),
    }
}

/// Results of each start: V T elements, n V T for the vectors.
pub struct Ends<T> {
    pub values: Vec<T>,
    pub vectors: Vec<T>,
    pub residuals: Vec<T>,
    pub iterations: Vec<i32>,
    pub shifts: Vec<T>,
    pub status: Vec<i32>,
    pub violations: Vec<i32>,
}

/// Solves for the starts' ends alone; `v` is the number of starts.
pub fn run_starts<T: Real>(
    c: &Arc<Context>,
    tensors: &Tensor,
    starts: Option<&Tensor>,
    o: &Options,
    v: usize,
) -> Ends<T> {
    let t = tensors.dims()[1];
    let n = tensors.symmetric().unwrap().dimension;
    let (mut values, mut residuals) = (dense::<T>(c, &[v, t]), dense::<T>(c, &[v, t]));
    let (mut vectors, mut shifts) = (dense::<T>(c, &[n, v, t]), dense::<T>(c, &[v, t]));
    let mut iterations = dense::<i32>(c, &[v, t]);
    let (mut status, mut violations) = (dense::<i32>(c, &[v, t]), dense::<i32>(c, &[v, t]));
    let mut results = Results {
        start_values: Some(&mut values),
        start_vectors: Some(&mut vectors),
        start_residuals: Some(&mut residuals),
        start_iterations: Some(&mut iterations),
        start_shifts: Some(&mut shifts),
        start_status: Some(&mut status),
        start_violations: Some(&mut violations),
        ..Results::default()
    };
    solve(c, None, tensors, starts, o, &mut results, &Progress::none()).unwrap();
    // Whatever became of a start that iterated, its vector is a unit vector and its residual a number.
    let (x, r, became) = (data::<T>(&vectors), data::<T>(&residuals), data::<i32>(&status));
    for (p, became) in became.into_iter().enumerate().filter(|(_, s)| *s <= 1) {
        let length: f64 = x[n * p..n * (p + 1)].iter().map(|v| v.to_f64().powi(2)).sum();
        assert!((length - 1.0).abs() < 20.0 * T::EPSILON.to_f64() && r[p].is_finite(), "start {p}, status {became}");
    }
    Ends {
        values: data(&values),
        vectors: x,
        residuals: r,
        iterations: data(&iterations),
        shifts: data(&shifts),
        status: data(&status),
        violations: data(&violations),
    }
}

/// An .npz file of `tests/golden/sshopm`: a ZIP archive of deflated arrays in row-major order.
pub struct Golden(Vec<u8>);

impl Golden {
    pub fn open(name: &str) -> Self {
        let path = source("tests/golden/sshopm").join(name);
        Self(std::fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display())))
    }

    /// The little-endian number of `size` bytes at `place`.
    fn number(&self, place: usize, size: usize) -> usize {
        self.0[place..place + size].iter().rev().fold(0, |n, b| n << 8 | usize::from(*b))
    }

    /// Type and elements of an array, by way of the archive's directory.
    fn read(&self, array: &str) -> (String, Vec<u8>) {
        let end = (0..=self.0.len() - 22).rev().find(|p| self.0[*p..].starts_with(b"PK\x05\x06")).expect("an archive");
        let mut entry = self.number(end + 16, 4);
        for _ in 0..self.number(end + 10, 2) {
            let name = self.number(entry + 28, 2);
            if self.0[entry + 46..entry + 46 + name] == *format!("{array}.npy").as_bytes() {
                let local = self.number(entry + 42, 4);
                let data = local + 30 + self.number(local + 26, 2) + self.number(local + 28, 2);
                let packed = &self.0[data..data + self.number(entry + 20, 4)];
                let bytes = match self.number(entry + 10, 2) {
                    0 => packed.to_vec(),
                    _ => miniz_oxide::inflate::decompress_to_vec(packed).expect("a deflated array"),
                };
                let start = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
                let header = String::from_utf8_lossy(&bytes[10..start]).into_owned();
                assert!(header.contains("'fortran_order': False"), "{header}");
                let kind = header.split("'descr': '").nth(1).and_then(|t| t.split('\'').next()).expect("a type");
                return (kind.to_owned(), bytes[start..].to_vec());
            }
            entry += 46 + name + self.number(entry + 30, 2) + self.number(entry + 32, 2);
        }
        panic!("no array {array}")
    }

    fn words<const N: usize, T>(&self, array: &str, kind: &str, read: fn([u8; N]) -> T) -> Vec<T> {
        let (found, bytes) = self.read(array);
        assert_eq!(found, kind, "{array}");
        bytes.chunks_exact(N).map(|b| read(b.try_into().expect("N bytes"))).collect()
    }

    pub fn f64(&self, array: &str) -> Vec<f64> {
        self.words(array, "<f8", f64::from_le_bytes)
    }

    pub fn i32(&self, array: &str) -> Vec<i32> {
        self.words(array, "<i4", i32::from_le_bytes)
    }
}
