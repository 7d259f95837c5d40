mod edges;
mod passes;

use std::sync::Arc;

use super::*;
use crate::backend::BackendChoice;
use crate::backend::memory::{Budget, HostMemory, Memory};
use crate::blocks::array::{ArrayInfo, Block};
use crate::blocks::number::{Number, encode};
use crate::blocks::source::{CallbackSource, HostSource, Source};
use crate::context::{Context, Options};
use crate::dense::cpu::matrix::CpuMatrix;
use crate::dense::sketch::{Distribution, Sketch};
use crate::dense::{Algebra, Op};
use crate::error::{Error, Result};
use crate::matrix::{Csr, CsrParts, IndexType, Matrix, Operator};
use crate::progress::Progress;
use crate::rng::stream;
use crate::rsvd::data::{Center, Data, LongColumns, Problem, Resident, Setting};
use crate::rsvd::ops::{BlockParameters, RsvdOps};
use crate::rsvd::traffic::Traffic;
use crate::scalar::{Complex, DType, Real, Scalar};
use crate::shape::{Order, to_u64};
use crate::tensor::Location;

type C64 = Complex<f64>;

fn context(threads: usize, limit: u64) -> Arc<Context> {
    let options = Options { backend: BackendChoice::Cpu, threads, host_memory_limit: limit, ..Options::default() };
    Context::new(options).unwrap()
}

fn setting() -> Setting {
    Setting {
        block_rows: 0,
        resident: Resident::Auto,
        alternate: false,
        center: Center::None,
        scale: false,
        factor: 1.0,
        tall_columns: 0,
        long: LongColumns::default(),
        small_elements: 0,
        panel_rows: 0,
    }
}

fn eps<T: Scalar>() -> f64 {
    <T::Part as Real>::EPSILON.to_f64()
}

fn sketch(stream: u32) -> Sketch {
    Sketch { distribution: Distribution::Gaussian, seed: 11, stream }
}

/// A plain matrix in double precision.
#[derive(Clone)]
struct Plain {
    rows: usize,
    cols: usize,
    data: Vec<C64>,
}

impl Plain {
    fn new(rows: usize, cols: usize, f: impl Fn(usize, usize) -> C64) -> Self {
        Self { rows, cols, data: (0..rows * cols).map(|e| f(e % rows.max(1), e / rows.max(1))).collect() }
    }

    fn at(&self, i: usize, j: usize) -> C64 {
        self.data[j * self.rows + i]
    }

    fn adjoint(&self) -> Self {
        Self::new(self.cols, self.rows, |i, j| self.at(j, i).conj())
    }

    fn times(&self, b: &Self) -> Self {
        assert_eq!(self.cols, b.rows);
        Self::new(self.rows, b.cols, |i, j| (0..self.cols).map(|k| self.at(i, k) * b.at(k, j)).sum())
    }

    fn block(&self, first: usize, count: usize) -> Self {
        Self::new(count, self.cols, |i, j| self.at(first + i, j))
    }

    /// The matrix that the setting makes of it: centred, scaled.
    fn treated(&self, s: &Setting) -> Self {
        let (m, n) = (self.rows as f64, self.cols as f64);
        let means: Vec<C64> = (0..self.cols).map(|j| (0..self.rows).map(|i| self.at(i, j)).sum::<C64>() / m).collect();
        let rows: Vec<C64> = (0..self.rows).map(|i| (0..self.cols).map(|j| self.at(i, j)).sum::<C64>() / n).collect();
        let deviation = |j: usize| {
            let spread: f64 = (0..self.rows).map(|i| (self.at(i, j) - means[j]).norm_sqr()).sum();
            let d = (spread / (m - 1.0).max(1.0)).sqrt();
            if d > 0.0 { d } else { 1.0 }
        };
        let gains: Vec<f64> = (0..self.cols).map(|j| if s.scale { 1.0 / deviation(j) } else { s.factor }).collect();
        Self::new(self.rows, self.cols, |i, j| {
            let mean = match s.center {
                Center::None => C64::default(),
                Center::Columns => means[j],
                Center::Rows => rows[i],
            };
            (self.at(i, j) - mean) * gains[j]
        })
    }

    fn norm(&self) -> f64 {
        self.data.iter().map(|x| x.norm_sqr()).sum::<f64>().sqrt()
    }

    fn off(&self, other: &Self) -> f64 {
        assert_eq!((self.rows, self.cols), (other.rows, other.cols));
        self.data.iter().zip(&other.data).map(|(a, b)| (a - b).norm_sqr()).sum::<f64>().sqrt()
    }
}

fn plain<T: Scalar>(m: &CpuMatrix<T>) -> Plain {
    let data = m.slice().unwrap().iter().map(|x| C64::new(x.re(), x.im())).collect();
    Plain { rows: m.rows(), cols: m.cols(), data }
}

/// Small whole numbers, which every element type holds, a third of them 0 and every column with a mean of its own.
fn whole(rows: usize, cols: usize, complex: bool) -> Plain {
    let value = |seed: u64, i: usize, j: usize| {
        let word = crate::rng::words(seed, 9, i as u64, j as u32)[0];
        if word.is_multiple_of(3) { 0.0 } else { f64::from(word / 3 % 19) + 3.0 * (j % 5) as f64 }
    };
    Plain::new(rows, cols, |i, j| C64::new(value(1, i, j), if complex { value(2, i, j) } else { 0.0 }))
}

fn bytes_of(number: Number, values: &[C64]) -> Vec<u8> {
    let mut bytes = vec![0u8; values.len() * number.size()];
    if number.is_complex() {
        encode(number, values, &mut bytes);
    } else {
        let real: Vec<f64> = values.iter().map(|x| x.re).collect();
        encode(number, &real, &mut bytes);
    }
    bytes
}

/// The matrix as `number`, with a gap of `gap` elements that no product may read.
fn laid_out(a: &Plain, number: Number, order: Order, gap: usize) -> (Memory, usize, usize) {
    let (outer, inner) = if order == Order::RowMajor { (a.rows, a.cols) } else { (a.cols, a.rows) };
    let mut values = Vec::new();
    for o in 0..outer {
        for i in 0..inner {
            values.push(if order == Order::RowMajor { a.at(o, i) } else { a.at(i, o) });
        }
        if o + 1 < outer {
            values.extend(vec![C64::new(if number.size() > 2 { f64::NAN } else { 99.0 }, 7.0); gap]);
        }
    }
    let bytes = bytes_of(number, &values);
    let mut memory = HostMemory::allocate("test", bytes.len(), &Budget::new(0)).unwrap();
    memory.as_mut_slice::<u8>().unwrap().copy_from_slice(&bytes);
    let strides = if order == Order::RowMajor { (inner + gap, 1) } else { (1, inner + gap) };
    (Memory::Host(memory), strides.0, strides.1)
}

fn packed(a: &Plain, number: Number, order: Order) -> (ArrayInfo, Vec<u8>) {
    let (info, values) = match order {
        Order::RowMajor => ([a.cols, a.rows], a.adjoint().data.iter().map(|x| x.conj()).collect::<Vec<_>>()),
        Order::ColumnMajor => ([a.rows, a.cols], a.data.clone()),
    };
    (ArrayInfo::new(number, &info).unwrap(), bytes_of(number, &values))
}

struct Known(Plain, usize);

impl<T: Scalar> Operator<T> for Known {
    fn shape(&self) -> (usize, usize) {
        (self.0.rows, self.0.cols)
    }

    fn apply(&mut self, op: Op, x: &[T], count: usize, y: &mut [T]) -> Result<()> {
        self.1 += 1;
        let a = if op == Op::Plain { self.0.clone() } else { self.0.adjoint() };
        let x = Plain { rows: a.cols, cols: count, data: x.iter().map(|v| C64::new(v.re(), v.im())).collect() };
        for (to, v) in y.iter_mut().zip(a.times(&x).data) {
            *to = T::from_parts(v.re, v.im);
        }
        Ok(())
    }
}

fn host<E: crate::scalar::Element>(values: &[E]) -> HostMemory {
    let mut memory = HostMemory::allocate("test", size_of_val(values), &Budget::new(0)).unwrap();
    memory.as_mut_slice::<E>().unwrap().copy_from_slice(values);
    memory
}

/// A sparse matrix in rows that are not in order, a third of whose places are stored twice: 2 x and -x make x.
fn sparse<T: Scalar>(a: &Plain, base: i64, long: bool) -> Csr {
    let (mut offsets, mut columns, mut values) = (vec![base], Vec::new(), Vec::new());
    for i in 0..a.rows {
        let mut put = |j: usize, x: C64, times: f64| {
            columns.push(j as i64 + base);
            values.push(T::from_parts(times * x.re, times * x.im));
        };
        let stored: Vec<usize> = (0..a.cols).rev().filter(|&j| a.at(i, j).norm() != 0.0).collect();
        for &j in &stored {
            put(j, a.at(i, j), if (i + j) % 3 == 0 { 2.0 } else { 1.0 });
        }
        for &j in stored.iter().filter(|&&j| (i + j) % 3 == 0) {
            put(j, a.at(i, j), -1.0);
        }
        offsets.push(columns.len() as i64 + base);
    }
    let short = |v: &[i64]| host(&v.iter().map(|x| *x as i32).collect::<Vec<_>>());
    let parts = if long {
        CsrParts {
            row_ptr: host(&offsets),
            row_ptr_type: IndexType::I64,
            col_idx: short(&columns),
            col_idx_type: IndexType::I32,
            values: Some(Memory::Host(host(&values))),
        }
    } else {
        CsrParts {
            row_ptr: short(&offsets),
            row_ptr_type: IndexType::I32,
            col_idx: host(&columns),
            col_idx_type: IndexType::I64,
            values: Some(Memory::Host(host(&values))),
        }
    };
    Csr::new(parts, a.rows, a.cols, values.len(), base).unwrap()
}

fn filled<T: Scalar>(ops: &mut CpuOps<'_, T>, rows: usize, cols: usize, stream: u32) -> CpuMatrix<T> {
    let mut m = ops.zeros("test", rows, cols).unwrap();
    ops.fill(&mut m, &sketch(stream), 0, 0).unwrap();
    m
}

/// A matrix whose numbers must not be read.
fn poisoned<T: Scalar>(ops: &mut CpuOps<'_, T>, rows: usize, cols: usize) -> CpuMatrix<T> {
    let mut m = ops.zeros("test", rows, cols).unwrap();
    m.slice_mut().unwrap().fill(T::from_parts(f64::NAN, f64::NAN));
    m
}
