//! Tests that need a GPU: `cargo test -- --ignored`. Plain loops in double precision compute the expected results.

mod factor;
mod singular;

use super::{GpuAlgebra, GpuMatrix};
use crate::backend::BackendChoice;
use crate::backend::gpu::Transpose;
use crate::backend::gpu::kernels::dense;
use crate::context::{Context, Options};
use crate::dense::sketch::{Distribution, Sketch};
use crate::dense::{Algebra, Op, Step};
use crate::error::Error;
use crate::scalar::{Complex, Real, Scalar};

type C64 = Complex<f64>;

fn algebra() -> GpuAlgebra {
    let options = Options { backend: BackendChoice::Cuda, threads: 2, ..Options::default() };
    let context = Context::new(options).unwrap();
    let gpu = context.gpu("test").unwrap().clone();
    GpuAlgebra::new(&context, &gpu, &gpu.create_stream().unwrap()).unwrap()
}

/// As [`algebra`], without cuSOLVER: factorizations run on the CPU.
fn bare() -> GpuAlgebra {
    GpuAlgebra { solver: Some(None), ..algebra() }
}

fn eps<T: Scalar>() -> f64 {
    <T::Part as Real>::EPSILON.to_f64()
}

/// A matrix on the host in double precision, whatever it came from.
#[derive(Clone)]
struct Host {
    rows: usize,
    cols: usize,
    at: Vec<C64>,
}

impl Host {
    fn new(rows: usize, cols: usize, f: impl Fn(usize, usize) -> C64) -> Self {
        Self { rows, cols, at: (0..rows * cols).map(|k| f(k % rows, k / rows)).collect() }
    }

    fn random<T: Scalar>(rows: usize, cols: usize, seed: u64) -> Self {
        let sketch = Sketch { distribution: Distribution::Gaussian, seed, stream: 0 };
        Self::new(rows, cols, |i, j| {
            let x: T = sketch.entry(i as u64, j as u32);
            C64::new(x.re(), x.im())
        })
    }

    /// Columns as near to orthonormal as twice Gram-Schmidt makes them.
    fn orthonormal<T: Scalar>(rows: usize, cols: usize, seed: u64) -> Self {
        let mut q = Self::random::<T>(rows, cols, seed);
        for j in 0..cols {
            for _ in 0..2 {
                for k in 0..j {
                    let (a, b) = q.at.split_at_mut(j * rows);
                    let (a, b) = (&a[k * rows..(k + 1) * rows], &mut b[..rows]);
                    let dot: C64 = a.iter().zip(b.iter()).map(|(x, y)| x.conj() * y).sum();
                    b.iter_mut().zip(a).for_each(|(y, x)| *y -= x * dot);
                }
            }
            let column = &mut q.at[j * rows..(j + 1) * rows];
            let norm = column.iter().map(|x| x.norm_sqr()).sum::<f64>().sqrt();
            column.iter_mut().for_each(|x| *x /= norm);
        }
        q
    }

    /// Q diag(s) W^H with random Q and W, rounded to T.
    fn with_values<T: Scalar>(rows: usize, cols: usize, s: impl Fn(usize) -> f64) -> Self {
        let rank = rows.min(cols);
        let (mut u, v) = (Self::orthonormal::<T>(rows, rank, 1), Self::orthonormal::<T>(cols, rank, 2));
        for j in 0..rank {
            u.at[j * rows..(j + 1) * rows].iter_mut().for_each(|x| *x *= s(j));
        }
        u.times(&v.adjoint()).rounded::<T>()
    }

    fn rounded<T: Scalar>(mut self) -> Self {
        self.at.iter_mut().for_each(|x| *x = at::<T>(T::from_parts(x.re, x.im)));
        self
    }

    fn get(&self, i: usize, j: usize) -> C64 {
        self.at[j * self.rows + i]
    }

    fn adjoint(&self) -> Self {
        Self::new(self.cols, self.rows, |i, j| self.get(j, i).conj())
    }

    fn op(&self, op: Op) -> Self {
        if op == Op::Plain { self.clone() } else { self.adjoint() }
    }

    fn times(&self, other: &Self) -> Self {
        let mut c = Self::new(self.rows, other.cols, |_, _| C64::default());
        for j in 0..other.cols {
            let column = &mut c.at[j * self.rows..(j + 1) * self.rows];
            for k in 0..self.cols {
                let factor = other.get(k, j);
                let from = &self.at[k * self.rows..(k + 1) * self.rows];
                column.iter_mut().zip(from).for_each(|(c, a)| *c += a * factor);
            }
        }
        c
    }

    fn minus(&self, other: &Self) -> Self {
        assert_eq!((self.rows, self.cols), (other.rows, other.cols));
        Self { at: self.at.iter().zip(&other.at).map(|(a, b)| a - b).collect(), ..*self }
    }

    fn norm(&self) -> f64 {
        self.at.iter().map(|x| x.norm_sqr()).sum::<f64>().sqrt()
    }

    /// ||Q^H Q - I||_F.
    fn defect(&self) -> f64 {
        let one = Self::new(self.cols, self.cols, |i, j| C64::new(f64::from(u8::from(i == j)), 0.0));
        self.adjoint().times(self).minus(&one).norm()
    }

    fn to<T: Scalar>(&self, ops: &mut GpuAlgebra) -> GpuMatrix<T> {
        let data: Vec<T> = self.at.iter().map(|x| T::from_parts(x.re, x.im)).collect();
        ops.upload("test", self.rows, self.cols, &data, self.rows).unwrap()
    }

    fn from<T: Scalar>(ops: &mut GpuAlgebra, m: &GpuMatrix<T>) -> Self {
        let (rows, cols) = m.shape();
        let mut data = vec![T::default(); rows * cols];
        ops.download(m, &mut data, rows).unwrap();
        Self { rows, cols, at: data.into_iter().map(at::<T>).collect() }
    }
}

fn at<T: Scalar>(x: T) -> C64 {
    C64::new(x.re(), x.im())
}

/// Calls a generic test for each of the four types.
macro_rules! for_all_types {
    ($test:ident($($argument:expr),*)) => {
        $test::<f32>($($argument),*);
        $test::<f64>($($argument),*);
        $test::<Complex<f32>>($($argument),*);
        $test::<Complex<f64>>($($argument),*);
    };
}

use for_all_types;

const SIZES: [(usize, usize, usize); 9] = [
    (1, 1, 1),
    (3, 5, 7),
    (0, 4, 3),
    (4, 0, 3),
    (4, 3, 0),
    (31, 33, 257),
    (257, 31, 33),
    (101, 13, 4001),
    (32, 32, 32),
];

fn products_equal_plain_loops<T: Scalar>() {
    let mut ops = algebra();
    for (p, q, k) in SIZES {
        for (op_a, op_b) in
            [(Op::Plain, Op::Plain), (Op::Adjoint, Op::Plain), (Op::Plain, Op::Adjoint), (Op::Adjoint, Op::Adjoint)]
        {
            let flip = |op, r, c| if op == Op::Plain { (r, c) } else { (c, r) };
            let ((ar, ac), (br, bc)) = (flip(op_a, p, k), flip(op_b, k, q));
            let (a, b) = (Host::random::<T>(ar, ac, 1), Host::random::<T>(br, bc, 2));
            let (on_a, on_b) = (a.to::<T>(&mut ops), b.to::<T>(&mut ops));
            let product = a.op(op_a).times(&b.op(op_b));
            for (alpha, beta) in [(1.0, 0.0), (-2.0, 1.0), (1.0, 0.5)] {
                let mut old = Host::random::<T>(p, q, 3);
                let mut c = old.to::<T>(&mut ops);
                if beta == 0.0 {
                    // No entry of C is read, not even a NaN.
                    c = Host::new(p, q, |_, _| C64::new(f64::NAN, f64::NAN)).to(&mut ops);
                    old.at.fill(C64::default());
                }
                ops.multiply(alpha, &on_a, op_a, &on_b, op_b, beta, &mut c).unwrap();
                let got = Host::from(&mut ops, &c);
                // Partial sums of k products of standard normal numbers reach a few sqrt(k); k roundings of them, half
                // an eps each and of random sign, add up to a few k eps. alpha and the four parts of a complex product
                // double that.
                let bound = eps::<T>() * (6.0 * k as f64 + 50.0);
                for ((want, old), got) in product.at.iter().zip(&old.at).zip(&got.at) {
                    let want = want * alpha + old * beta;
                    assert!((want - got).norm() <= bound, "{p} {q} {k} {op_a:?} {op_b:?}: {want} {got}");
                }
            }
        }
    }
    let (a, mut c) = (Host::random::<T>(3, 4, 1).to::<T>(&mut ops), Host::random::<T>(3, 3, 1).to::<T>(&mut ops));
    assert!(matches!(ops.multiply(1.0, &a, Op::Plain, &a, Op::Plain, 0.0, &mut c), Err(Error::Internal(_))));
}

#[test]
#[ignore = "needs a GPU"]
fn products() {
    for_all_types!(products_equal_plain_loops());
}

fn parts_and_rows_are_multiplied<T: Scalar>() {
    let mut ops = algebra();
    let (a, w) = (Host::random::<T>(41, 23, 1), Host::random::<T>(23, 5, 2));
    // The transpose of a row-major matrix is its memory read by columns.
    let by_rows = Host::new(23, 41, |i, j| a.get(j, i)).to::<T>(&mut ops);
    let (on_a, on_w) = (a.to::<T>(&mut ops), w.to::<T>(&mut ops));
    let (plain, bound) = (Transpose::Plain, 200.0 * eps::<T>());
    let part = |m: &Host, (i, j): (usize, usize), (p, q): (usize, usize)| Host::new(p, q, |r, c| m.get(i + r, j + c));
    let c = Host::random::<T>(50, 9, 3).to::<T>(&mut ops);
    let before = Host::from(&mut ops, &c);
    let target = c.view().part::<T>((4, 2), (17, 3)).unwrap();
    // Rows 10 .. 27 and columns 3 .. 20 of A times a part of W, by either storage.
    let want = part(&a, (10, 3), (17, 17)).times(&part(&w, (3, 1), (17, 3)));
    let factor = on_w.view().part::<T>((3, 1), (17, 3)).unwrap();
    for (view, op) in [
        (on_a.view().part::<T>((10, 3), (17, 17)).unwrap(), plain),
        (by_rows.view().part::<T>((3, 10), (17, 17)).unwrap(), Transpose::Transpose),
    ] {
        ops.blas().multiply::<T>(1.0, view, op, factor, plain, 0.0, target).unwrap();
        let got = Host::from(&mut ops, &c);
        assert!(part(&got, (4, 2), (17, 3)).minus(&want).norm() < bound);
        // Nothing around it changed.
        let around = (0..50 * 9).filter(|k| !((4..21).contains(&(k % 50)) && (2..5).contains(&(k / 50))));
        assert!(around.into_iter().all(|k| got.at[k] == before.at[k]));
    }
    assert!(on_a.view().part::<T>((30, 0), (12, 1)).is_err() && on_a.view().columns::<T>(23, 1).is_err());
    assert!(on_a.view().rows::<T>(41, 0).is_ok() && on_a.view().columns::<T>(23, 0).is_ok());

    // A rank update, which changes the lower triangle alone. 41 roundings of sums that reach 82.
    let bound = 41.0 * 82.0 * eps::<T>();
    let g = Host::random::<T>(23, 23, 4).to::<T>(&mut ops);
    ops.blas().rank_update::<T>(1.0, on_a.view(), false, 0.0, g.view()).unwrap();
    let (got, want, old) = (Host::from(&mut ops, &g), a.adjoint().times(&a), Host::random::<T>(23, 23, 4));
    for j in 0..23 {
        for i in 0..23 {
            let want = if i >= j { want.get(i, j) } else { old.get(i, j) };
            assert!((got.get(i, j) - want).norm() < bound, "{i} {j}");
        }
    }
}

#[test]
#[ignore = "needs a GPU"]
fn parts() {
    for_all_types!(parts_and_rows_are_multiplied());
}

fn columns_are_copied_scaled_and_measured<T: Scalar>() {
    let mut ops = algebra();
    let (a, b) = (Host::random::<T>(1009, 7, 4), Host::random::<T>(1009, 5, 5));
    let (on_a, mut on_b) = (a.to::<T>(&mut ops), b.to::<T>(&mut ops));
    ops.copy_columns(&on_a, 2, 3, &mut on_b, 1).unwrap();
    let got = Host::from(&mut ops, &on_b);
    assert_eq!((got.get(8, 3), got.get(3, 0), got.get(3, 4)), (a.get(8, 4), b.get(3, 0), b.get(3, 4)));
    assert!(ops.copy_columns(&on_a, 5, 3, &mut on_b, 0).is_err());

    ops.scale_columns(&mut on_b, &[1.0, 2.0, 0.0, -0.5, 1.0]).unwrap();
    assert!(ops.scale_columns(&mut on_b, &[1.0]).is_err());
    let got = Host::from(&mut ops, &on_b);
    assert_eq!((got.get(8, 3), got.get(8, 2)), (a.get(8, 4) * -0.5, C64::default()));
    let norms = ops.column_norms(&on_b).unwrap();
    for (j, n) in norms.iter().enumerate() {
        let want = (0..1009).map(|i| got.get(i, j).norm_sqr()).sum::<f64>().sqrt();
        assert!((n - want).abs() <= 1e-14 * want, "{n} {want}");
    }
    let total = ops.norm2(&on_b).unwrap();
    assert!((total - norms.iter().map(|n| n * n).sum::<f64>()).abs() < 1e-13 * total);

    for (rows, cols) in [(1, 1), (1009, 7), (31, 65), (0, 3), (33, 0)] {
        let a = Host::random::<T>(rows, cols, 6);
        let on = a.to::<T>(&mut ops);
        let t = ops.adjoint("test", &on).unwrap();
        assert_eq!(Host::from(&mut ops, &t).at, a.adjoint().at, "{rows} {cols}");
        for (transposed, conjugate) in [(false, false), (false, true), (true, false)] {
            let shape = if transposed { (cols, rows) } else { (rows, cols) };
            let out = ops.uninitialised::<T>("test", shape.0, shape.1).unwrap();
            dense::place(T::DTYPE, ops.gpu(), ops.stream(), on.view(), out.view(), transposed, conjugate).unwrap();
            let taken = |x: C64| if conjugate { x.conj() } else { x };
            let want = Host::new(shape.0, shape.1, |i, j| taken(if transposed { a.get(j, i) } else { a.get(i, j) }));
            assert_eq!(Host::from(&mut ops, &out).at, want.at, "{rows} {cols} {transposed} {conjugate}");
        }
    }

    // The first of two equal peaks counts, wherever the threads are; a column of zeros has none.
    let mut c = Host::new(5000, 3, |i, j| C64::new(if j == 2 { 0.0 } else { (i % 7) as f64 }, 0.0));
    (c.at[4321], c.at[2]) = (C64::new(9.0, 0.0), C64::new(-9.0, 0.0));
    c.at[9999] = C64::new(-7.0, 0.0);
    let peaks = |ops: &mut GpuAlgebra, c: &Host| {
        let on = c.to::<T>(ops);
        ops.column_peaks(&on).unwrap()
    };
    assert_eq!(peaks(&mut ops, &c), [(-9.0, 0.0), (-7.0, 0.0), (0.0, 0.0)]);
    assert_eq!(peaks(&mut ops, &Host::new(0, 2, |_, _| C64::default())), [(0.0, 0.0); 2]);
    if T::IS_COMPLEX {
        c.at[2] = C64::new(-10.0, 0.0);
        c.at[100] = C64::new(6.0, -8.0);
        assert_eq!(peaks(&mut ops, &c)[0], (-10.0, 0.0));
        c.at[1] = C64::new(6.0, -8.0);
        assert_eq!(peaks(&mut ops, &c)[0], (6.0, -8.0));
    }

    let odd = vec![T::from_parts(2.0, 0.0); 12 * 7];
    let sub = ops.upload("test", 3, 2, &odd, 4).unwrap();
    assert!(ops.upload("test", 3, 2, &odd[..6], 4).is_err(), "six elements with a leading dimension of 4 take 7");
    let mut back = vec![T::default(); 8];
    ops.download(&sub, &mut back, 5).unwrap();
    assert_eq!((back[2], back[3], back[7]), (odd[0], T::default(), odd[0]));
}

#[test]
#[ignore = "needs a GPU"]
fn columns() {
    for_all_types!(columns_are_copied_scaled_and_measured());
}

fn norms_neither_overflow_nor_vanish<T: Scalar>(large: f64, small: f64) {
    let mut ops = algebra();
    let sizes = [large, small, 0.0, 1.0];
    let a = Host::new(300, 4, |i, j| C64::new(if i % 3 == 0 { -sizes[j] } else { sizes[j] }, 0.0));
    let on = a.to::<T>(&mut ops);
    for (n, size) in ops.column_norms(&on).unwrap().iter().zip(sizes) {
        let want = at::<T>(T::from_parts(size, 0.0)).re * 300f64.sqrt();
        assert!((n - want).abs() <= 1e-14 * want, "{n} {want}");
    }
    let mut bad = a;
    bad.at[305] = C64::new(f64::NAN, 0.0);
    let on = bad.to::<T>(&mut ops);
    let norms = ops.column_norms(&on).unwrap();
    assert!(norms[1].is_nan() && norms[3] > 0.0);
}

#[test]
#[ignore = "needs a GPU"]
fn extreme_norms() {
    norms_neither_overflow_nor_vanish::<f64>(1e300, 1e-300);
    norms_neither_overflow_nor_vanish::<Complex<f64>>(1e300, 1e-300);
    norms_neither_overflow_nor_vanish::<f32>(1e38, 1e-40);
    norms_neither_overflow_nor_vanish::<Complex<f32>>(1e38, 1e-40);
}

fn a_fill_is_the_sketch<T: Scalar>() {
    let mut ops = algebra();
    for d in [Distribution::Gaussian, Distribution::Uniform, Distribution::Rademacher, Distribution::SparseSign] {
        let sketch = Sketch { distribution: d, seed: 0x1234_5678_9abc, stream: 3 };
        for (first_row, first_column, rows, cols) in
            [(0, 0, 4100, 35), (5, 3, 17, 6), (1 << 40, 1, 1, 1), (7, 2, 257, 1), (0, 0, 0, 2), (0, 0, 3, 0)]
        {
            let mut m = Algebra::<T>::zeros(&mut ops, "test", rows, cols).unwrap();
            ops.fill(&mut m, &sketch, first_row, first_column).unwrap();
            let got = Host::from(&mut ops, &m);
            for j in 0..cols {
                for i in 0..rows {
                    let (row, column) = (first_row + i as u64, first_column + j as u32);
                    assert_eq!(got.get(i, j), at::<T>(sketch.entry(row, column)), "{d:?} {row} {column}");
                }
            }
        }
    }
}

#[test]
#[ignore = "needs a GPU"]
fn fills() {
    for_all_types!(a_fill_is_the_sketch());
}

#[test]
#[ignore = "needs a GPU"]
fn the_same_calls_give_the_same_bits() {
    let a = Host::random::<f32>(5000, 80, 5);
    let run = || {
        let mut ops = algebra();
        let mut x = a.to::<f32>(&mut ops);
        let mut r = Algebra::<f32>::zeros(&mut ops, "test", 80, 80).unwrap();
        ops.cholesky_step(&mut x, 0.0, &mut r).unwrap();
        let svd = ops.svd(&r).unwrap();
        let peaks = ops.column_peaks(&x).unwrap();
        (Host::from(&mut ops, &svd.u).at, svd.s, Host::from(&mut ops, &x).at, ops.norm2(&x).unwrap(), peaks)
    };
    let first = run();
    assert!(first == run() && first == run());
}

#[test]
#[ignore = "needs a GPU"]
fn memory_is_charged_and_given_back() {
    let limited = |device_memory_limit| {
        Context::new(Options { backend: BackendChoice::Cuda, device_memory_limit, ..Options::default() }).unwrap()
    };
    let context = limited(48 << 20);
    let gpu = context.gpu("test").unwrap().clone();
    let stream = gpu.create_stream().unwrap();
    {
        // The workspace of cuBLAS takes at most an eighth of the free memory, so that several fit.
        let mut ops = GpuAlgebra::new(&context, &gpu, &stream).unwrap();
        let one = context.device_budget().used();
        assert!((64 << 10..=(6 << 20) + 1024).contains(&one), "{one} bytes");
        assert_eq!(ops.blas().own_workspace_bytes(), 4 << 20);
        let other = GpuAlgebra::new(&context, &gpu, &stream).unwrap();
        assert_eq!(context.device_budget().used(), 2 * one);
        drop(other);
        let e = Algebra::<f64>::zeros(&mut ops, "test", 3 << 20, 2).map(|_| ()).unwrap_err();
        assert!(matches!(e, Error::OutOfDeviceMemory { what: "test", .. }), "{e}");
    }
    assert_eq!(context.device_budget().used(), 0);
    // Less than the smallest workspace.
    let context = limited(32 << 10);
    let gpu = context.gpu("test").unwrap().clone();
    let stream = gpu.create_stream().unwrap();
    let e = GpuAlgebra::new(&context, &gpu, &stream).map(|_| ()).unwrap_err();
    assert!(matches!(e, Error::OutOfDeviceMemory { limit: Some(_), .. }), "{e}");
    assert_eq!(context.device_budget().used(), 0);
}

#[cfg(feature = "fault-injection")]
#[test]
#[ignore = "needs a GPU"]
fn every_operation_may_fail_once() {
    use crate::fault::{self, Kind};
    let options = Options { backend: BackendChoice::Cuda, threads: 2, ..Options::default() };
    let context = Context::new(options).unwrap();
    let gpu = context.gpu("test").unwrap().clone();
    let stream = gpu.create_stream().unwrap();
    let a = Host::random::<f32>(200, 70, 5);
    let kinds = [Kind::HostMemory, Kind::DeviceMemory, Kind::Copy, Kind::Launch, Kind::Load, Kind::Library];
    let kinds = kinds.iter().fold(0, |all, k| all | *k as u32);
    for sticky in [false, true] {
        let mut n = 0;
        loop {
            let data: Vec<f32> = a.at.iter().map(|x| x.re as f32).collect();
            fault::arm(n, kinds, sticky);
            let result = (|| {
                let mut ops = GpuAlgebra::new(&context, &gpu, &stream)?;
                let mut x = ops.upload("test", 200, 70, &data, 200)?;
                let mut r = Algebra::<f32>::zeros(&mut ops, "test", 70, 70)?;
                ops.cholesky_step(&mut x, 0.0, &mut r)?;
                let svd = ops.svd(&r)?;
                ops.householder(&mut x, &mut r)?;
                Ok(svd.s[0])
            })();
            let failed = fault::disarm();
            match result {
                Ok(value) => {
                    assert!(value > 14.0 && failed == 0, "{value}");
                    break;
                }
                Err(e) => {
                    let expected =
                        matches!(e, Error::OutOfDeviceMemory { .. } | Error::OutOfMemory { .. } | Error::Cuda { .. });
                    assert!(failed > 0 && expected, "{e}");
                }
            }
            n += 1;
            assert!(n < 1000);
        }
        assert!(n >= 60, "{n} fault points");
        assert_eq!(context.device_budget().used(), 0);
        assert_eq!(context.host_budget().used(), 0);
        gpu.check_alive().unwrap();
    }
}
