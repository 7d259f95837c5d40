//! However the rows are cut, kept and read: the same numbers, and the traffic that the formulas say.

use std::sync::Arc;

use super::super::GpuOps;
use super::cases::{Bytes, Case, From, PLACES, hold, problem};
use super::oracle::{C64, adjoint_times, distance, frobenius, times};
use super::runs::{drawn, fetched, fetched_tall, gpu, setting, sketch, with};
use crate::backend::BackendChoice;
use crate::blocks::array::ArrayInfo;
use crate::blocks::number::Number;
use crate::context::{Context, Options};
use crate::dense::Algebra;
use crate::dense::gpu::GpuMatrix;
use crate::progress::Progress;
use crate::rsvd::data::{Center, Data, Problem, Resident, Setting};
use crate::rsvd::ops::{BlockParameters, RsvdOps};
use crate::scalar::DType;
use crate::shape::Order;

/// P, T and G of a setting.
fn results(context: &Arc<Context>, case: &Case, site: (From, Order, usize), setting: Setting) -> [Vec<Vec<C64>>; 3] {
    with::<f64, _>(context, case, site, setting, |ops| {
        let (n, l) = (case.columns, 6);
        let (w, _) = drawn(ops, n, l, 2);
        let mut p = ops.tall("test", l).unwrap();
        let mut t: GpuMatrix<f64> = ops.zeros("test", n, l).unwrap();
        let mut g: GpuMatrix<f64> = ops.zeros("test", n, n).unwrap();
        ops.pass_fused(&w, Some(&mut p), &mut t).unwrap();
        ops.pass_gram(&mut g).unwrap();
        ops.pass_fused(&w, None, &mut t).unwrap();

        let traffic = *ops.traffic();
        let (m, kept) = (case.rows as u64, traffic.resident_rows);
        let row = (n * case.dtype.size()) as u64;
        let copies = if site.0 == From::Device { 0 } else { m * row + 2 * (m - kept) * row };
        assert_eq!((traffic.passes, traffic.bytes_to_device), (3, copies), "{site:?} {traffic:?}");
        assert_eq!(traffic.bytes_read, if site.0 == From::Source { copies } else { 0 });
        if let Some(limit) = context.device_budget().limit() {
            assert!(context.device_budget().peak() <= limit);
            assert!(ops.planned_bytes() <= limit);
        }
        [fetched_tall(ops, &p), fetched(ops, &t), fetched(ops, &g)]
    })
}

#[test]
#[ignore = "needs a GPU"]
fn no_cut_changes_the_numbers() {
    let free = gpu(0);
    let case = Case { rows: 6000, columns: 48, dtype: DType::F64, offset: 0.0 };
    let want = results(&free, &case, (From::Device, Order::RowMajor, 0), setting());
    for from in PLACES {
        for order in [Order::RowMajor, Order::ColumnMajor] {
            for (block_rows, kept) in [(0, usize::MAX), (1000, 0), (777, 1600), (64, 6000), (6000, 0), (1, 5990)] {
                for alternate in [false, true] {
                    let setting = Setting { block_rows, resident: Resident::AtMost(kept), alternate, ..setting() };
                    if block_rows == 1 && alternate {
                        continue;
                    }
                    let got = results(&free, &case, (from, order, 5), setting);
                    for (a, b) in got.iter().zip(&want) {
                        let error = distance(a, b) / frobenius(b);
                        assert!(error < 1e-12, "{from:?} {order:?} {block_rows} {kept}: {error:e}");
                    }
                }
            }
        }
    }
}

#[test]
#[ignore = "needs a GPU"]
fn a_quarter_of_the_matrix_and_less_is_enough() {
    let free = gpu(0);
    // 246 MB, of which tall matrices of 32 columns are 15.
    let case = Case { rows: 60_000, columns: 512, dtype: DType::F64, offset: 0.0 };
    let want = results(&free, &case, (From::Pinned, Order::RowMajor, 0), setting());
    for divisor in [4, 5] {
        let limit = 60_000 * 512 * 8 / divisor;
        let tight = gpu(limit);
        for from in [From::Pageable, From::Source] {
            let got = results(&tight, &case, (from, Order::RowMajor, 0), setting());
            for (a, b) in got.iter().zip(&want) {
                let error = distance(a, b) / frobenius(b);
                assert!(error < 1e-12, "{from:?} within {limit}: {error:e}");
            }
        }
    }
    // Blocks still fit, of which the workspace of cuBLAS shrinks to an eighth.
    let got = results(&gpu(34 << 20), &case, (From::Pageable, Order::RowMajor, 0), setting());
    for (a, b) in got.iter().zip(&want) {
        let error = distance(a, b) / frobenius(b);
        assert!(error < 1e-12, "within 34 MiB: {error:e}");
    }
    // Less than factorizations and kernels take beside the blocks.
    let none = gpu(12 << 20);
    let mut held = hold(&case, &none, From::Pageable, Order::RowMajor, 0);
    let contexts = [Arc::clone(&none)];
    let queue = none.gpu("test").unwrap().create_stream().unwrap();
    let progress = Progress::none();
    let refused =
        GpuOps::<f64>::new(&contexts, &queue, problem(&case, &mut held, Order::RowMajor), setting(), &progress);
    assert!(matches!(refused.map(|_| ()), Err(crate::error::Error::OutOfDeviceMemory { .. })));
}

#[test]
#[ignore = "needs a GPU"]
fn merging_blocks_finds_the_row_space() {
    let context = gpu(0);
    // Rank 6 and a little more, on which a merge of width 12 is exact to it.
    let (m, n) = (3000, 40);
    let value = |i: usize, j: usize| -> f64 {
        let smooth =
            |r: usize| ((i * (r + 1)) as f64 * 0.013).cos() * ((j * (r + 2)) as f64 * 0.11).sin() / (r + 1) as f64;
        (0..6).map(smooth).sum()
    };
    let mut data = vec![0u8; m * n * 8];
    for (k, out) in data.chunks_exact_mut(8).enumerate() {
        out.copy_from_slice(&value(k / n, k % n).to_ne_bytes());
    }
    let a: Vec<Vec<C64>> = (0..m).map(|i| (0..n).map(|j| C64::new(value(i, j), 0.0)).collect()).collect();
    let want = adjoint_times(&a, &a, n);
    let info = ArrayInfo::new(Number::F64, &[n, m]).unwrap();
    let contexts = [Arc::clone(&context)];
    let queue = context.gpu("test").unwrap().create_stream().unwrap();
    let progress = Progress::none();
    for block_rows in [3000, 700, 64, 10] {
        let mut source = Bytes { info: info.clone(), bytes: data.clone(), left: usize::MAX };
        let data = Data::Streamed { source: &mut source, order: Order::RowMajor };
        let setting = Setting { block_rows, resident: Resident::AtMost(1000), ..setting() };
        let problem = Problem::new(m, n, data);
        let mut ops = GpuOps::<f64>::new(&contexts, &queue, problem, setting, &progress).unwrap();
        let mut r: GpuMatrix<f64> = ops.zeros("test", n, 12).unwrap();
        let local = BlockParameters { width: 12, iterations: 1, sketch: sketch(2) };
        ops.pass_merge(&local, &mut r).unwrap();
        let r = fetched(&mut ops, &r);
        let transposed: Vec<Vec<C64>> = (0..12).map(|j| (0..n).map(|i| r[i][j]).collect()).collect();
        let error = distance(&times(&r, &transposed), &want) / frobenius(&want);
        // Each merge rounds the earlier result a few times anew.
        let merges = m.div_ceil(block_rows) as f64;
        assert!(error < 20.0 * merges * f64::EPSILON + 1e-14, "blocks of {block_rows}: {error:e}");
        // Columns are orthogonal and in order of their norms.
        let norms: Vec<f64> = transposed.iter().map(|c| c.iter().map(|x| x.norm_sqr()).sum::<f64>().sqrt()).collect();
        assert!(norms.windows(2).all(|w| w[0] >= w[1] * (1.0 - 1e-12)), "{norms:?}");
    }
}

#[test]
#[ignore = "needs two GPUs"]
fn two_devices_give_the_numbers_of_one() {
    if crate::backend::gpu::Gpu::device_count().unwrap() < 2 {
        println!("skipped: this machine has one GPU");
        return;
    }
    let backend = BackendChoice::Cuda;
    let other = Context::new(Options { backend, device: 1, threads: 2, ..Options::default() }).unwrap();
    let contexts = [gpu(0), other];
    let case = Case { rows: 5001, columns: 40, dtype: DType::F64, offset: 0.0 };
    let (n, l) = (case.columns, 6);
    for from in [From::Pageable, From::Pinned, From::Source] {
        let mut outcomes = Vec::new();
        for count in [1, 2] {
            let mut held = hold(&case, &contexts[0], from, Order::RowMajor, 0);
            let queue = contexts[0].gpu("test").unwrap().create_stream().unwrap();
            let progress = Progress::none();
            let setting = Setting { block_rows: 500, center: Center::Columns, ..setting() };
            let problem = problem::<f64>(&case, &mut held, Order::RowMajor);
            let mut ops = GpuOps::new(&contexts[..count], &queue, problem, setting, &progress).unwrap();
            let (w, _) = drawn(&mut ops, n, l, 2);
            let mut p = ops.tall("test", l).unwrap();
            let mut t: GpuMatrix<f64> = ops.zeros("test", n, l).unwrap();
            let mut r: GpuMatrix<f64> = ops.zeros("test", l, l).unwrap();
            ops.pass_fused(&w, Some(&mut p), &mut t).unwrap();
            ops.tall_cholesky_step(&mut p, 0.0, &mut r).unwrap();
            let mut c: GpuMatrix<f64> = ops.zeros("test", l, l).unwrap();
            ops.tall_cross(&p, &p, &mut c).unwrap();
            outcomes.push([
                fetched_tall(&mut ops, &p),
                fetched(&mut ops, &t),
                fetched(&mut ops, &r),
                fetched(&mut ops, &c),
            ]);
        }
        for (a, b) in outcomes[0].iter().zip(&outcomes[1]) {
            let error = distance(a, b) / frobenius(b);
            assert!(error < 1e-12, "{from:?}: {error:e}");
        }
    }
}
