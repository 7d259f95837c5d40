//! Tests that need a GPU: `cargo test -- --ignored`. The CPU computes the expected results.

use std::slice::from_ref;
use std::sync::Arc;

use super::calls::{compute, compute_csr, difference, split};
use super::inputs::{context, entries, matrix, noise, synthetic, video};
use crate::backend::BackendChoice;
use crate::backend::gpu::{Transpose, View};
use crate::backend::memory::Memory;
use crate::blocks::array::{ArrayInfo, Block};
use crate::blocks::number::Number;
use crate::blocks::source::CallbackSource;
use crate::context::{Context, Options as ContextOptions};
use crate::dense::Algebra;
use crate::dense::gpu::{GpuAlgebra, GpuMatrix};
use crate::dense::sketch::{Distribution, Sketch};
use crate::error::Error;
use crate::matrix::{self, Matrix, SharedSource, Storage};
use crate::rpca::Options;
use crate::scalar::{Complex, DType, Element, Scalar};
use crate::shape::Order;
use crate::tensor::Location;

pub(super) fn gpu_context(device_memory_limit: u64) -> Arc<Context> {
    let options =
        ContextOptions { backend: BackendChoice::Cuda, threads: 4, device_memory_limit, ..ContextOptions::default() };
    Context::new(options).unwrap()
}

fn compare<T: Scalar>(
    shape: (usize, usize),
    order: Order,
    entry: impl Fn(usize, usize) -> T + Copy,
    options: &Options,
    bound: f64,
) {
    let (cpu, gpu) = (context(), gpu_context(0));
    let m = matrix(&cpu, order, shape, entry);
    let (.., free) = split::<T>(&cpu, &m, None, options).unwrap();
    // The method's end depends on its way, to more than its tolerance: on the penalties, and on how well its partial
    // decompositions do. The backends choose between those and whole ones each by its own costs.
    let options = &Options { mu: 1.25 / free.norm2, power_iterations: 4, ..options.clone() };
    let (l, s, a) = split::<T>(&cpu, &m, None, options).unwrap();
    let (on_l, on_s, b) = split::<T>(&gpu, &matrix(&gpu, order, shape, entry), None, options).unwrap();
    assert!(a.converged && b.converged, "{a:?}\n{b:?}");
    assert!(difference(&on_l, &l) < bound, "{shape:?} {order:?}: {}", difference(&on_l, &l));
    assert!(difference(&on_s, &s) < bound, "{shape:?} {order:?}: {}", difference(&on_s, &s));
    assert!((a.objective - b.objective).abs() < bound * a.objective, "{} {}", a.objective, b.objective);
    assert!((a.frobenius - b.frobenius).abs() < 1e-6 * a.frobenius);
    assert!((a.norm2 - b.norm2).abs() < 1e-2 * a.norm2);
}

pub(super) fn low_rank_and_spikes(i: usize, j: usize) -> f64 {
    let at = |stream: u32, i: usize, k: u32| crate::rng::normal(3, stream, i as u64, k);
    let low: f64 = (0..3).map(|k| at(1000, i, k) * at(1001, j, k)).sum();
    low + if noise(i, j) > 0.85 { 8.0 * noise(j, i) } else { 0.0 }
}

#[test]
#[ignore = "needs a GPU"]
fn the_gpu_agrees_with_the_cpu() {
    let complex = |i: usize, j: usize| Complex::new(low_rank_and_spikes(i, j), low_rank_and_spikes(i + 1000, j));
    for order in [Order::ColumnMajor, Order::RowMajor] {
        for shape in [(300, 120), (120, 300), (1000, 37), (64, 64)] {
            for block_rows in [0, 100] {
                let options = Options { block_rows, ..Options::default() };
                // Both stop at a residual of 1e-7; their difference is a few times that.
                compare::<f64>(shape, order, low_rank_and_spikes, &options, 1e-6);
                compare::<Complex<f64>>(shape, order, complex, &options, 1e-6);
                compare::<f32>(shape, order, |i, j| low_rank_and_spikes(i, j) as f32, &options, 2e-4);
                let single = |i, j| {
                    let v = complex(i, j);
                    Complex::new(v.re as f32, v.im as f32)
                };
                compare::<Complex<f32>>(shape, order, single, &options, 2e-4);
            }
        }
    }
}

#[test]
#[ignore = "needs a GPU"]
fn goldens_on_the_gpu() {
    let context = gpu_context(0);
    let (m, truth) = synthetic();
    for order in [Order::ColumnMajor, Order::RowMajor] {
        let m = matrix(&context, order, (300, 200), |i, j| m[i * 200 + j]);
        let (l, _, info) = split::<f64>(&context, &m, None, &Options::default()).unwrap();
        assert!(info.rank == 8 && info.converged && info.bytes_to_device >= 480_000, "{info:?}");
        assert!(difference(&l, &truth) < 1e-6, "{}", difference(&l, &truth));
        assert!((info.objective - 3_657.428_358_501_793).abs() < 1e-4, "{info:?}");
        let again = split::<f64>(&context, &m, None, &Options::default()).unwrap();
        assert!(again.0 == l, "the same bits");
    }
    let video = video();
    let options = Options { scale: 1.0 / 255.0, dtype: Some(DType::F64), ..Options::default() };
    for order in [Order::ColumnMajor, Order::RowMajor] {
        let m = matrix(&context, order, (6912, 200), |p, f| video[f * 6912 + p]);
        let (_, _, info) = split::<f64>(&context, &m, None, &options).unwrap();
        assert!(info.objective < 786.20 && info.objective > 786.12 && info.converged, "{info:?}");
        println!("video f64 {order:?}: {:.3} s, {} iterations", info.seconds, info.iterations);
        let single = Options { dtype: None, ..options.clone() };
        let (_, _, info) = split::<f32>(&context, &m, None, &single).unwrap();
        assert!(info.objective < 786.25 && info.objective > 786.12 && info.converged, "{info:?}");
    }
}

#[test]
#[ignore = "needs a GPU"]
fn masks_matrices_and_parts_may_lie_on_the_device() {
    let context = gpu_context(0);
    let (values, truth) = synthetic();
    let hidden = |i: usize, j: usize| noise(i, j) < -0.8;
    let to_device = |host: &Matrix, order: Order| {
        let mut m = Matrix::create(&context, host.dtype(), Location::Device, order, host.rows(), host.cols()).unwrap();
        matrix::copy(&context, None, host, &mut m).unwrap();
        m
    };
    for (order, mask_order) in [
        (Order::ColumnMajor, Order::ColumnMajor),
        (Order::ColumnMajor, Order::RowMajor),
        (Order::RowMajor, Order::ColumnMajor),
    ] {
        let entry = |i: usize, j: usize| if hidden(i, j) { f64::NAN } else { values[i * 200 + j] };
        let m = matrix(&context, order, (300, 200), entry);
        let mask = matrix(&context, mask_order, (300, 200), |i, j| u8::from(!hidden(i, j)));
        for (on_device, block_rows) in [(false, 0), (true, 0), (true, 77)] {
            let (m, mask) = if on_device {
                (to_device(&m, order), to_device(&mask, mask_order))
            } else {
                (
                    matrix(&context, order, (300, 200), entry),
                    matrix(&context, mask_order, (300, 200), |i, j| u8::from(!hidden(i, j))),
                )
            };
            let options = Options { block_rows, ..Options::default() };
            for part_order in [Order::ColumnMajor, Order::RowMajor] {
                let part = || Matrix::create(&context, f64::DTYPE, Location::Device, part_order, 300, 200).unwrap();
                let (mut low_rank, mut sparse) = (part(), part());
                let info = compute(
                    from_ref(&context),
                    None,
                    &m,
                    Some(&mask),
                    &options,
                    Some(&mut low_rank),
                    Some(&mut sparse),
                    None,
                )
                .unwrap();
                assert!(info.converged && info.rank == 8, "{info:?}");
                assert!(!on_device || info.bytes_to_device == 0, "{info:?}");
                let host = |m: &Matrix| {
                    let mut h = Matrix::create(&context, f64::DTYPE, Location::Host, part_order, 300, 200).unwrap();
                    matrix::copy(&context, None, m, &mut h).unwrap();
                    entries::<f64>(&h)
                };
                let (l, s) = (host(&low_rank), host(&sparse));
                assert!(difference(&l, &truth) < 1e-5, "{}", difference(&l, &truth));
                assert!((0..60_000).all(|e| !hidden(e / 200, e % 200) || s[e] == 0.0));
            }
        }
    }
}

#[test]
#[ignore = "needs a GPU"]
fn little_device_memory_gives_what_much_gives() {
    let (rows, cols) = (40_000, 120);
    let shape = (rows, cols);
    let much = gpu_context(0);
    // Buffers of cuBLAS included, less than X and Y of 38 MB each take.
    let little = gpu_context(70_000_000);
    for order in [Order::ColumnMajor, Order::RowMajor] {
        let m = matrix(&much, order, shape, low_rank_and_spikes);
        let (l, s, _) = split::<f64>(&much, &m, None, &Options::default()).unwrap();
        let m = matrix(&little, order, shape, low_rank_and_spikes);
        let (on_l, on_s, info) = split::<f64>(&little, &m, None, &Options::default()).unwrap();
        assert!(info.blocks > 1 && info.device_bytes_used <= 70_000_000, "{info:?}");
        assert!(info.bytes_to_device > 10 * 38_000_000, "{info:?}");
        assert!(difference(&on_l, &l) < 1e-10, "{}", difference(&on_l, &l));
        assert!(difference(&on_s, &s) < 1e-10);
        let dims = if order == Order::RowMajor { [cols, rows] } else { [rows, cols] };
        let read = move |block: &Block, out: &mut [u8]| {
            let (first, count) = (block.first(), block.count());
            for (k, bytes) in out.chunks_exact_mut(8).enumerate() {
                let (fast, slow) = (first[0] + k % count[0], first[1] + k / count[0]);
                let (i, j) = if order == Order::RowMajor { (slow, fast) } else { (fast, slow) };
                bytes.copy_from_slice(&low_rank_and_spikes(i, j).to_ne_bytes());
            }
            Ok(())
        };
        let source = CallbackSource::new(ArrayInfo::new(Number::F64, &dims).unwrap(), Box::new(read));
        let m = Matrix::from_source(&much, SharedSource::new(Box::new(source)), order).unwrap();
        let (on_l, _, info) = split::<f64>(&much, &m, None, &Options::default()).unwrap();
        assert_eq!(info.bytes_read, 38_400_000);
        assert!(difference(&on_l, &l) < 1e-10);
    }
}

#[test]
#[ignore = "needs a GPU"]
fn the_sparse_part_of_the_gpu_in_compressed_rows() {
    let context = gpu_context(0);
    let m = matrix(&context, Order::RowMajor, (500, 90), low_rank_and_spikes);
    let (_, s, info) = split::<f64>(&context, &m, None, &Options::default()).unwrap();
    let (sparse, again) = compute_csr(from_ref(&context), None, &m, None, &Options::default(), None, None).unwrap();
    let Storage::Csr(csr) = sparse.storage() else { panic!("not sparse") };
    assert_eq!(csr.nnz(), s.iter().filter(|v| **v != 0.0).count());
    assert_eq!((csr.nnz() as u64, again.nonzeros), (info.nonzeros, info.nonzeros));
}

#[test]
#[ignore = "needs a GPU"]
fn what_is_not_finite_is_refused_on_the_gpu() {
    let context = gpu_context(0);
    let m = matrix(&context, Order::ColumnMajor, (50, 20), |i, j| if (i, j) == (33, 7) { f32::NAN } else { 1.0 });
    let error = split::<f32>(&context, &m, None, &Options::default()).unwrap_err().to_string();
    assert_eq!(error, "m: has 1 numbers that are not finite");
    assert_eq!(context.device_budget().used(), 0);
}

#[test]
#[ignore = "needs a GPU"]
fn small_shapes_and_zeros_on_the_gpu() {
    let context = gpu_context(0);
    for (rows, cols) in [(0, 5), (5, 0), (1, 1), (7, 3), (3, 7)] {
        let m = matrix(&context, Order::ColumnMajor, (rows, cols), |_, _| 0.0f64);
        let (l, s, info) = split::<f64>(&context, &m, None, &Options::default()).unwrap();
        assert!(l.iter().chain(&s).all(|v| *v == 0.0));
        assert_eq!((info.rank, info.objective, info.converged), (0, 0.0, true));
    }
    for order in [Order::ColumnMajor, Order::RowMajor] {
        for (rows, cols) in [(1, 1), (40, 1), (1, 40), (2, 2), (33, 32), (4097, 1)] {
            let m = matrix(&context, order, (rows, cols), |i, j| 1e120 * (1.0 + noise(i, j)));
            let (l, s, info) = split::<f64>(&context, &m, None, &Options::default()).unwrap();
            assert!(info.converged, "{rows} x {cols}: {info:?}");
            let sum: Vec<f64> = l.iter().zip(&s).map(|(l, s)| (l + s) * 1e-120).collect();
            let whole: Vec<f64> = entries::<f64>(&m).iter().map(|v| v * 1e-120).collect();
            assert!(difference(&sum, &whole) < 1e-7);
        }
    }
    let m = matrix(&context, Order::ColumnMajor, (50, 20), noise);
    let no = |_: i64, _: i64, _: f64| false;
    let error = compute(from_ref(&context), None, &m, None, &Options::default(), None, None, Some(&no)).unwrap_err();
    assert_eq!(error, Error::Cancelled);
    let bytes = matrix(&context, Order::RowMajor, (400, 30), |i, j| (100.0 * (1.0 + noise(i, j))) as u16);
    let (l, s, info) = split::<f32>(&context, &bytes, None, &Options { scale: 0.5, ..Options::default() }).unwrap();
    let sum: Vec<f64> = l.iter().zip(&s).map(|(l, s)| f64::from(l + s)).collect();
    let whole: Vec<f64> = entries::<u16>(&bytes).iter().map(|v| 0.5 * f64::from(*v)).collect();
    assert!(info.converged && difference(&sum, &whole) < 2e-6, "{}", difference(&sum, &whole));
    assert_eq!(info.bytes_to_device, 24_000);
}

/// U V^H of rank 10 plus 5 S, an eighth of whose entries are 1 or -1; all on the device.
fn generated(context: &Arc<Context>, rows: usize, cols: usize) -> (Matrix, GpuAlgebra, [GpuMatrix<f32>; 2]) {
    let gpu = context.gpu("test").unwrap();
    let mut algebra = GpuAlgebra::new(context, gpu, gpu.default_stream()).unwrap();
    let draw = |algebra: &mut GpuAlgebra, rows: usize, stream: u32| -> GpuMatrix<f32> {
        let mut m: GpuMatrix<f32> = algebra.zeros("test", rows, 10).unwrap();
        let sketch = Sketch { distribution: Distribution::Gaussian, seed: 5, stream };
        algebra.fill(&mut m, &sketch, 0, 0).unwrap();
        m
    };
    let (u, v) = (draw(&mut algebra, rows, 1), draw(&mut algebra, cols, 2));
    let m = Matrix::create(context, f32::DTYPE, Location::Device, Order::ColumnMajor, rows, cols).unwrap();
    {
        let Memory::Device(memory) = m.dense("m").unwrap().memory else { panic!("on the host") };
        let view = View::packed(memory.whole(), rows, cols);
        let sketch = Sketch { distribution: Distribution::SparseSign, seed: 5, stream: 3 };
        algebra.draw(DType::F32, view, &sketch, 0, 0).unwrap();
        let (plain, adjoint) = (Transpose::Plain, Transpose::Adjoint);
        algebra.blas().multiply(DType::F32, 1.0, u.view(), plain, v.view(), adjoint, 5.0, view).unwrap();
    }
    (m, algebra, [u, v])
}

/// Prints time and memory of large matrices; `PURLIN_RPCA_SHAPES` may hold others, as 2073600x1000.
#[test]
#[ignore = "needs a large GPU and is a measurement"]
fn large_matrices_are_split_fast() {
    let shapes = std::env::var("PURLIN_RPCA_SHAPES").unwrap_or_else(|_| "2073600x1000".into());
    let blocks = std::env::var("PURLIN_RPCA_BLOCKS").unwrap_or_else(|_| "0".into());
    for shape in shapes.split_whitespace() {
        let (rows, cols) = shape.split_once('x').unwrap();
        let (rows, cols): (usize, usize) = (rows.parse().unwrap(), cols.parse().unwrap());
        let context = gpu_context(0);
        let (m, algebra, [u, v]) = generated(&context, rows, cols);
        let part = || Matrix::create(&context, f32::DTYPE, Location::Device, Order::ColumnMajor, rows, cols).unwrap();
        let (mut low_rank, mut sparse) = (part(), part());
        for block_rows in blocks.split_whitespace() {
            let options = Options { block_rows: block_rows.parse().unwrap(), ..Options::default() };
            for _ in 0..2 {
                let info =
                    compute(from_ref(&context), None, &m, None, &options, Some(&mut low_rank), Some(&mut sparse), None)
                        .unwrap();
                println!(
                    "{rows} x {cols}, panels of {}: {:.3} s, {} iterations, {} passes, {:.1} ms an iteration, of which \
                     fused {:.1} and decomposition {:.1}; rank {}, residual {:.2e}",
                    info.block_rows,
                    info.seconds,
                    info.iterations,
                    info.passes,
                    1e3 * info.seconds / info.iterations as f64,
                    1e3 * info.seconds_elementwise / info.iterations as f64,
                    1e3 * info.seconds_svd / info.iterations as f64,
                    info.rank,
                    info.residual,
                );
                assert!(info.converged && info.rank == 10, "{info:?}");
            }
        }
        let Memory::Device(memory) = low_rank.dense("l").unwrap().memory else { panic!("on the host") };
        let view = View::packed(memory.whole(), rows, cols);
        let norm = |sums: Vec<f64>| sums.iter().sum::<f64>().sqrt();
        let whole = norm(algebra.column_sums(DType::F32, view, 1.0).unwrap());
        let (plain, adjoint) = (Transpose::Plain, Transpose::Adjoint);
        algebra.blas().multiply(DType::F32, -1.0, u.view(), plain, v.view(), adjoint, 1.0, view).unwrap();
        let error = norm(algebra.column_sums(DType::F32, view, 1.0).unwrap()) / whole;
        println!("{rows} x {cols}: error of L {error:.2e}");
        assert!(error < 1e-4, "{error}");
    }
}

/// The sums that the check takes are those of the CPU: of these matrices the parts add up in one iteration, far from the
/// optimum.
#[test]
#[ignore = "needs a GPU"]
fn a_success_on_the_gpu_is_no_worse_than_a_trivial_split() {
    let gpu = gpu_context(0);
    for (rows, cols) in [(5, 4), (6, 6), (20, 9), (300, 40)] {
        for lambda in [1e-3, 0.05, 0.1, 0.3, 0.6, 1.0] {
            let options = Options { lambda, ..Options::default() };
            let hidden = matrix(&gpu, Order::ColumnMajor, (rows, cols), |i, j| u8::from((i + 2 * j) % 5 != 0));
            let seen = entries::<u8>(&hidden);
            let m = matrix(&gpu, Order::ColumnMajor, (rows, cols), |i, j| noise(i, 91) * noise(17, j));
            let moduli = entries::<f64>(&m);
            for mask in [None, Some(&hidden)] {
                let (.., info) = split::<f64>(&gpu, &m, mask, &options).unwrap();
                let one: f64 =
                    (moduli.iter().zip(&seen)).filter(|v| mask.is_none() || *v.1 != 0).map(|v| v.0.abs()).sum();
                assert!(info.converged, "{rows}x{cols} {lambda}: {info:?}");
                assert!(info.objective <= 1.002 * lambda * one, "{rows}x{cols} {lambda}: {} {info:?}", lambda * one);
            }
        }
    }
}
