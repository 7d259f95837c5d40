//! Golden data, matrices of a known spectrum, and measures of factors.

use std::path::PathBuf;
use std::sync::Arc;

use super::plain::Plain;
use crate::backend::BackendChoice;
use crate::backend::memory::{HostMemory, Memory};
use crate::context::{Context, Options as ContextOptions};
use crate::dense::orthonormal::{BasisAccuracy, BasisMethod, Counts, Kind, Own, orthonormalize};
use crate::dense::sketch::{Distribution, Sketch};
use crate::dense::{Algebra, Op};
use crate::error::Result;
use crate::matrix::Matrix;
use crate::rsvd::algorithm::{Phase, Task};
use crate::rsvd::options::{ErrorKind, IterationPrecision, Method, Orthonormalization, Right};
use crate::rsvd::outputs::Outputs;
use crate::rsvd::{Info, Options, Rsvd};
use crate::scalar::{Complex, DType, Scalar};
use crate::shape::Order;
use crate::tensor::{Location, Tensor};
use crate::testing::source;

/// A context of two threads on a GPU.
pub fn gpu() -> Arc<Context> {
    let options = ContextOptions { backend: BackendChoice::Cuda, threads: 2, ..ContextOptions::default() };
    Context::new(options).unwrap()
}

/// A context of two threads on the CPU.
pub fn cpu() -> Arc<Context> {
    Context::new(ContextOptions { backend: BackendChoice::Cpu, threads: 2, ..ContextOptions::default() }).unwrap()
}

/// A path in the golden data.
pub fn golden(name: &str) -> PathBuf {
    source("tests/golden/rsvd").join(name)
}

/// A matrix in memory, column by column.
#[derive(Debug, Clone)]
pub struct Dense<T> {
    pub rows: usize,
    pub columns: usize,
    pub data: Vec<T>,
}

impl<T: Scalar> Dense<T> {
    pub fn at(&self, i: usize, j: usize) -> T {
        self.data[j * self.rows + i]
    }

    pub fn norm(&self) -> f64 {
        self.data.iter().map(|x| x.re() * x.re() + x.im() * x.im()).sum::<f64>().sqrt()
    }

    /// The plain backend with this matrix.
    pub fn plain(&self, context: &Arc<Context>, block: usize) -> Plain<T> {
        Plain::new(context, self.rows, self.columns, &self.data, block)
    }
}

/// Reads a little-endian .npy of f64 or complex128 in C order.
pub fn read_npy<T: Scalar>(name: &str) -> Dense<T> {
    let bytes = std::fs::read(golden(name)).unwrap();
    assert_eq!(&bytes[..6], b"\x93NUMPY");
    let head = usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    let header = std::str::from_utf8(&bytes[10..10 + head]).unwrap();
    assert!(header.contains("'fortran_order': False"), "{header}");
    let complex = header.contains("'<c16'");
    assert!(complex || header.contains("'<f8'"), "{header}");
    let shape = header.split("'shape': (").nth(1).unwrap().split(')').next().unwrap();
    let dims: Vec<usize> = shape.split(',').filter_map(|d| d.trim().parse().ok()).collect();
    let (rows, columns) = (dims[0], dims[1]);
    let numbers: Vec<f64> =
        bytes[10 + head..].chunks_exact(8).map(|b| f64::from_le_bytes(b.try_into().unwrap())).collect();
    let mut data = vec![T::default(); rows * columns];
    for i in 0..rows {
        for j in 0..columns {
            let at = i * columns + j;
            let (re, im) = if complex { (numbers[2 * at], numbers[2 * at + 1]) } else { (numbers[at], 0.0) };
            data[j * rows + i] = T::from_parts(re, im);
        }
    }
    Dense { rows, columns, data }
}

/// The list of numbers under `key` (after `section`) in golden.json, whose layout is one number a line.
pub fn golden_numbers(section: &str, key: &str) -> Vec<f64> {
    let text = std::fs::read_to_string(golden("golden.json")).unwrap();
    let from = text.find(&format!("\"{section}\"")).unwrap();
    let from = from + text[from..].find(&format!("\"{key}\"")).unwrap();
    let open = from + text[from..].find('[').unwrap();
    let close = open + text[open..].find(']').unwrap();
    text[open + 1..close].split(',').map(|x| x.trim().parse().unwrap()).collect()
}

/// A random matrix with orthonormal columns.
pub fn orthonormal<T: Scalar>(context: &Arc<Context>, rows: usize, columns: usize, seed: u64) -> Dense<T> {
    let mut algebra = crate::dense::cpu::CpuAlgebra::new(context);
    let mut m = Algebra::<T>::zeros(&mut algebra, "test", rows, columns).unwrap();
    let sketch = Sketch { distribution: Distribution::Gaussian, seed, stream: 99 };
    algebra.fill(&mut m, &sketch, 0, 0).unwrap();
    let how = BasisMethod { kind: Kind::Auto, need: BasisAccuracy::Basis, seed: 0, draw: 0 };
    orthonormalize(&mut Own(&mut algebra), &mut m, how, &mut Counts::default()).unwrap();
    Dense { rows, columns, data: m.slice().unwrap().to_vec() }
}

/// U diag(s) V^H with random orthonormal U and V.
pub fn with_spectrum<T: Scalar>(context: &Arc<Context>, rows: usize, columns: usize, s: &[f64], seed: u64) -> Dense<T> {
    let u = orthonormal::<T>(context, rows, s.len(), seed);
    let v = orthonormal::<T>(context, columns, s.len(), seed + 1000);
    product(context, &u, s, &v)
}

/// U diag(s) V^H as a full matrix.
pub fn product<T: Scalar>(context: &Arc<Context>, u: &Dense<T>, s: &[f64], v: &Dense<T>) -> Dense<T> {
    let mut algebra = crate::dense::cpu::CpuAlgebra::new(context);
    let (rows, columns) = (u.rows, v.rows);
    let mut left = algebra.upload("test", rows, s.len(), &u.data, rows).unwrap();
    algebra.scale_columns(&mut left, s).unwrap();
    let right = algebra.upload("test", columns, s.len(), &v.data, columns).unwrap();
    let mut a = Algebra::<T>::zeros(&mut algebra, "test", rows, columns).unwrap();
    algebra.multiply(1.0, &left, Op::Plain, &right, Op::Adjoint, 0.0, &mut a).unwrap();
    Dense { rows, columns, data: a.slice().unwrap().to_vec() }
}

/// A task with defaults for everything that does not matter.
pub fn task(method: Method, rank: usize, columns: usize, iterations: usize) -> Task {
    Task {
        method,
        rank,
        columns,
        iterations,
        merge_width: 2 * columns,
        one_pass: false,
        block_columns: 16,
        tolerance: 0.0,
        sketch: Sketch { distribution: Distribution::Gaussian, seed: 0, stream: crate::rng::stream::SKETCH },
        orthonormalization: Orthonormalization::Auto,
        precision: IterationPrecision::Full,
        phase: Phase::Right,
        left: true,
        right: true,
        error: ErrorKind::Identity,
        probes: 10,
    }
}

/// ||X^H X - I||_2, computed in double precision.
pub fn disorder<T: Scalar>(x: &Dense<T>) -> f64 {
    let mut algebra = crate::dense::cpu::CpuAlgebra::new(&cpu());
    let wide: Vec<Complex<f64>> = x.data.iter().map(|z| Complex::new(z.re(), z.im())).collect();
    let m = algebra.upload("test", x.rows, x.columns, &wide, x.rows.max(1)).unwrap();
    let mut c = Algebra::<Complex<f64>>::zeros(&mut algebra, "test", x.columns, x.columns).unwrap();
    algebra.multiply(1.0, &m, Op::Adjoint, &m, Op::Plain, 0.0, &mut c).unwrap();
    for j in 0..x.columns {
        c.slice_mut().unwrap()[j * (x.columns + 1)] -= Complex::new(1.0, 0.0);
    }
    algebra.eigen(&c).unwrap().0.iter().fold(0.0, |most, e| e.abs().max(most))
}

/// ||A - U diag(s) V^H||_F.
pub fn residual<T: Scalar>(a: &Dense<T>, u: &Dense<T>, s: &[f64], v: &Dense<T>) -> f64 {
    let mut sum = 0.0;
    for j in 0..a.columns {
        for i in 0..a.rows {
            let (mut re, mut im) = (a.at(i, j).re(), a.at(i, j).im());
            for (k, s) in s.iter().enumerate() {
                let (x, y) = (u.at(i, k), v.at(j, k));
                re -= s * (x.re() * y.re() + x.im() * y.im());
                im -= s * (x.im() * y.re() - x.re() * y.im());
            }
            sum += re * re + im * im;
        }
    }
    sum.sqrt()
}

/// How a matrix lies in memory.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MatrixLayout {
    pub order: Order,
    /// Elements beyond the least leading dimension.
    pub gap: usize,
}

/// Column-major without gaps.
pub const PACKED: MatrixLayout = MatrixLayout { order: Order::ColumnMajor, gap: 0 };

/// A matrix of the library's with the numbers of `a`; gaps hold NaN.
pub fn matrix<T: Scalar>(context: &Arc<Context>, a: &Dense<T>, stored: MatrixLayout) -> Matrix {
    let (rows, columns) = (a.rows, a.columns);
    let ld = match stored.order {
        Order::ColumnMajor => rows,
        Order::RowMajor => columns,
    }
    .max(1)
        + stored.gap;
    let layout = Matrix::dense_layout(T::DTYPE, stored.order, rows, columns, ld).unwrap();
    let bytes = layout.extent() * T::DTYPE.size();
    let mut memory = HostMemory::allocate("test", bytes, context.host_budget()).unwrap();
    let (down, right) = (layout.strides()[0], layout.strides()[1]);
    let out = memory.as_mut_slice::<T>().unwrap();
    out.fill(T::from_parts(f64::NAN, f64::NAN));
    for j in 0..columns {
        for i in 0..rows {
            out[i * down + j * right] = a.at(i, j);
        }
    }
    Matrix::from_memory(context, T::DTYPE, stored.order, layout, Memory::Host(memory), false).unwrap()
}

/// A new matrix on the host, for a result.
pub fn blank<T: Scalar>(context: &Arc<Context>, rows: usize, columns: usize) -> Matrix {
    Matrix::create(context, T::DTYPE, Location::Host, Order::ColumnMajor, rows, columns).unwrap()
}

/// The numbers of a matrix, packed.
pub fn held<T: Scalar>(m: &Matrix) -> Dense<T> {
    let dense = m.dense("test").unwrap();
    let data = dense.memory.host("test").unwrap().as_slice::<T>().unwrap();
    let (down, right) = (dense.layout.strides()[0], dense.layout.strides()[1]);
    let mut out = Vec::new();
    for j in 0..m.cols() {
        out.extend((0..m.rows()).map(|i| data[i * down + j * right]));
    }
    Dense { rows: m.rows(), columns: m.cols(), data: out }
}

/// A vector of `length` zeros in F64 on the host.
pub fn vector(context: &Arc<Context>, length: usize) -> Tensor {
    Tensor::create(context, DType::F64, Location::Host, Order::ColumnMajor, &[length]).unwrap()
}

/// The numbers of a vector of F64.
pub fn numbers(t: &Tensor) -> Vec<f64> {
    let view = t.view::<f64>("test").unwrap();
    (0..t.dims()[0]).map(|j| view.get(&[j])).collect()
}

/// Factors from the session, packed.
pub struct Factored<T> {
    pub u: Dense<T>,
    pub s: Vec<f64>,
    pub v: Dense<T>,
    pub info: Info,
}

/// U, s and V of a matrix.
pub fn factor<T: Scalar>(context: &Arc<Context>, a: &Matrix, options: Options) -> Result<Factored<T>> {
    let mut rsvd = Rsvd::new(context, options)?;
    factor_with(&mut rsvd, a)
}

/// The same with a session that exists.
pub fn factor_with<T: Scalar>(rsvd: &mut Rsvd, a: &Matrix) -> Result<Factored<T>> {
    let o = rsvd.options().clone();
    let context = Arc::clone(rsvd.context());
    let k = match (o.tolerance > 0.0, o.max_rank) {
        (true, 0) => a.rows().min(a.cols()),
        (true, most) => most,
        (false, _) => o.rank,
    };
    let mut u = blank::<T>(&context, a.rows(), k);
    let mut v = match o.right {
        Right::V => blank::<T>(&context, a.cols(), k),
        Right::Vh => blank::<T>(&context, k, a.cols()),
    };
    let mut s = vector(&context, k);
    let outputs = Outputs { u: Some(&mut u), s: Some(&mut s), v: Some(&mut v) };
    let info = rsvd.compute(None, a, outputs, None)?;
    Ok(Factored { u: held(&u), s: numbers(&s), v: held(&v), info })
}

/// The first `columns` columns.
pub fn leading<T: Scalar>(m: &Dense<T>, columns: usize) -> Dense<T> {
    Dense { rows: m.rows, columns, data: m.data[..m.rows * columns].to_vec() }
}

/// The conjugate transpose, packed.
pub fn adjoint<T: Scalar>(m: &Dense<T>) -> Dense<T> {
    let mut data = Vec::new();
    for i in 0..m.rows {
        data.extend((0..m.columns).map(|j| m.at(i, j).conjugate()));
    }
    Dense { rows: m.columns, columns: m.rows, data }
}

/// The bits of numbers, which distinguish -0 from 0.
pub fn bits<T: Scalar>(m: &Dense<T>) -> Vec<(u64, u64)> {
    m.data.iter().map(|x| (x.re().to_bits(), x.im().to_bits())).collect()
}
