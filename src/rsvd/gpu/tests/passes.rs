//! Each pass in each place, order and type.

use std::sync::Arc;

use super::super::GpuOps;
use super::cases::{Case, From, Held, PLACES, hold, problem};
use super::oracle::{C64, adjoint_times, centred, distance, frobenius, sketched, times, tolerance};
use super::runs::{drawn, fetched, fetched_tall, gpu, setting, sketch, with};
use crate::context::Context;
use crate::dense::Algebra;
use crate::dense::gpu::GpuMatrix;
use crate::progress::Progress;
use crate::rsvd::data::{Center, Resident, Setting};
use crate::rsvd::ops::{BlockParameters, RsvdOps};
use crate::rsvd::options::IterationPrecision;
use crate::scalar::{Complex, DType, Scalar};
use crate::shape::Order;

const ORDERS: [Order; 2] = [Order::RowMajor, Order::ColumnMajor];

/// Every pass against plain loops over the entries.
fn check<T: Scalar>(case: &Case, site: (From, Order, usize), setting: Setting, context: &Arc<Context>) {
    let name = format!("{:?} of {:?} {}x{}", site, case.dtype, case.rows, case.columns);
    let a = centred(&case.matrix(), setting.center, setting.scale);
    let (m, n, l) = (case.rows, case.columns, 5);
    let size = frobenius(&a);
    let near = |what: &str, got: &[Vec<C64>], want: &[Vec<C64>], scale: f64| {
        let error = distance(got, want) / scale.max(1e-300);
        assert!(error < tolerance::<T>(m.max(n)), "{name}: {what} is off by {error:e}");
    };
    with::<T, _>(context, case, site, setting, |ops| {
        let (w, w_here) = drawn(ops, n, l, 2);
        let mut p = ops.tall("test", l).unwrap();
        ops.pass_multiply(&w, &mut p).unwrap();
        let p_here = times(&a, &w_here);
        let w_size = frobenius(&w_here);
        let got = fetched_tall(ops, &p);
        near("P", &got, &p_here, size * w_size);

        let found = ops.statistics().unwrap().clone();
        assert!((found.norm2 / (size * size) - 1.0).abs() < tolerance::<T>(m * n), "{name}: {found:?}");
        let largest = case.matrix().iter().flatten().map(|x| x.norm()).fold(0.0, f64::max);
        assert!((found.max_abs / largest - 1.0).abs() < 1e-7, "{name}: {} {largest}", found.max_abs);

        let mut t: GpuMatrix<T> = ops.zeros("test", n, l).unwrap();
        ops.pass_adjoint(&p, &mut t).unwrap();
        let t_here = adjoint_times(&a, &p_here, n);
        let t_size = size * size * w_size;
        let got = fetched(ops, &t);
        near("T", &got, &t_here, t_size);

        for keep in [true, false] {
            let mut q = ops.tall("test", l).unwrap();
            let mut t: GpuMatrix<T> = ops.zeros("test", n, l).unwrap();
            ops.pass_fused(&w, keep.then_some(&mut q), &mut t).unwrap();
            let got = fetched(ops, &t);
            near("fused T", &got, &t_here, t_size);
            if keep {
                let got = fetched_tall(ops, &q);
                near("fused P", &got, &p_here, size * w_size);
            }
        }

        let mut g: GpuMatrix<T> = ops.zeros("test", n, n).unwrap();
        ops.pass_gram(&mut g).unwrap();
        let got = fetched(ops, &g);
        near("G", &got, &adjoint_times(&a, &a, n), size * size);

        let mut q = ops.tall("test", l).unwrap();
        let mut z: GpuMatrix<T> = ops.zeros("test", n, 3).unwrap();
        ops.pass_two_sketches(&w, &mut q, &sketch(3), &mut z).unwrap();
        let psi = sketched::<T>(&sketch(3), 0, m, 3);
        let got = fetched(ops, &z);
        near("Z", &got, &adjoint_times(&a, &psi, n), size * frobenius(&psi));
        let got = fetched_tall(ops, &q);
        near("two sketches' P", &got, &p_here, size * w_size);

        // Blocks as the plan has them.
        let blocks: Vec<_> = ops.devices.parts[0].feed.all_blocks().collect();
        for iterations in [0i32, 1] {
            let local = BlockParameters { width: l, iterations: iterations as usize, sketch: sketch(4) };
            let mut y: GpuMatrix<T> = ops.zeros("test", n, l).unwrap();
            ops.pass_block_sum(&local, &mut y).unwrap();
            let mut want = vec![vec![C64::new(0.0, 0.0); l]; n];
            for b in &blocks {
                let part = &a[b.first..b.first + b.rows];
                let mut y = adjoint_times(part, &sketched::<T>(&sketch(4), b.first, b.rows, l), n);
                for _ in 0..iterations {
                    y = adjoint_times(part, &times(part, &y), n);
                }
                want.iter_mut().flatten().zip(y.iter().flatten()).for_each(|(w, y)| *w += y);
            }
            // Up to a factor, the same for all columns.
            let mut got = fetched(ops, &y);
            let factor = if iterations == 0 { 1.0 } else { frobenius(&want) / frobenius(&got).max(1e-300) };
            got.iter_mut().flatten().for_each(|x| *x = x.scale(factor));
            let scale = size.powi(2 * iterations + 1) * (m as f64 * l as f64).sqrt();
            near("block sum", &got, &want, scale);
        }
    });
}

#[test]
#[ignore = "needs a GPU"]
fn every_pass_equals_loops_in_every_type_and_place() {
    let context = gpu(0);
    for (rows, columns) in [(301, 37), (64, 64), (5, 40), (1, 1), (1000, 3)] {
        for (k, from) in PLACES.into_iter().enumerate() {
            for order in ORDERS {
                let blocks = [0, 64, 100, 7][k];
                let setting = Setting { block_rows: blocks, alternate: k % 2 == 1, ..setting() };
                let resident = if blocks > 0 { Resident::AtMost(130) } else { Resident::Auto };
                let setting = Setting { resident, ..setting };
                let case = |dtype| Case { rows, columns, dtype, offset: 0.0 };
                check::<f64>(&case(DType::F64), (from, order, 3), setting, &context);
                check::<f32>(&case(DType::F32), (from, order, 0), setting, &context);
                check::<Complex<f64>>(&case(DType::CF64), (from, order, 1), setting, &context);
                check::<Complex<f32>>(&case(DType::CF32), (from, order, 0), setting, &context);
            }
        }
    }
}

#[test]
#[ignore = "needs a GPU"]
fn entries_of_every_type_are_converted() {
    let context = gpu(0);
    for dtype in [DType::U8, DType::I8, DType::U16, DType::I16, DType::U32, DType::I32, DType::F16, DType::F32] {
        let case = Case { rows: 157, columns: 33, dtype, offset: 0.0 };
        for (from, order) in
            [(From::Pinned, Order::RowMajor), (From::Source, Order::ColumnMajor), (From::Device, Order::RowMajor)]
        {
            let setting = Setting { block_rows: 50, resident: Resident::AtMost(50), ..setting() };
            check::<f64>(&case, (from, order, 0), setting, &context);
            check::<f32>(&case, (from, order, 0), setting, &context);
            check::<Complex<f64>>(&case, (from, order, 0), setting, &context);
        }
    }
    let case = Case { rows: 157, columns: 33, dtype: DType::F64, offset: 0.0 };
    check::<f32>(&case, (From::Pageable, Order::RowMajor, 2), setting(), &context);
    let case = Case { dtype: DType::CF32, ..case };
    check::<Complex<f64>>(&case, (From::Pageable, Order::ColumnMajor, 2), setting(), &context);
}

#[test]
#[ignore = "needs a GPU"]
fn means_are_subtracted_and_deviations_divided_by() {
    let context = gpu(0);
    for (center, scale) in
        [(Center::Columns, false), (Center::Columns, true), (Center::Rows, false), (Center::None, true)]
    {
        for from in PLACES {
            for order in ORDERS {
                for block_rows in [0, 60] {
                    let resident = if block_rows > 0 { Resident::AtMost(120) } else { Resident::Auto };
                    let setting = Setting { center, scale, block_rows, resident, ..setting() };
                    let case = Case { rows: 403, columns: 29, dtype: DType::F64, offset: 0.0 };
                    check::<f64>(&case, (from, order, 0), setting, &context);
                    let case = Case { dtype: DType::CF64, ..case };
                    check::<Complex<f64>>(&case, (from, order, 0), setting, &context);
                    let case = Case { dtype: DType::U16, ..case };
                    check::<f64>(&case, (from, order, 0), setting, &context);
                }
            }
        }
    }
}

#[test]
#[ignore = "needs a GPU"]
fn large_means_cost_no_digits() {
    let context = gpu(0);
    let case = Case { rows: 500, columns: 40, dtype: DType::F64, offset: 4096.0 };
    let setting = Setting { center: Center::Columns, ..setting() };
    let a = centred(&case.matrix(), Center::Columns, false);
    for order in ORDERS {
        with::<f64, _>(&context, &case, (From::Pinned, order, 0), setting, |ops| {
            let mut g: GpuMatrix<f64> = ops.zeros("test", 40, 40).unwrap();
            ops.pass_gram(&mut g).unwrap();
            let want = adjoint_times(&a, &a, 40);
            let error = distance(&fetched(ops, &g), &want) / frobenius(&want);
            // An entry's own rounding is 2^-41 of its distance from the mean; means are exact to a few units of it.
            assert!(error < 4096.0 * 8.0 * f64::EPSILON, "{error:e}");
            let means = &ops.statistics().unwrap().means;
            let first: f64 = (0..500).map(|i| case.entry(i, 0).re).sum::<f64>() / 500.0;
            assert!((means[0] - first).abs() < 4096.0 * 4.0 * f64::EPSILON, "{} {first}", means[0]);
        });
    }
}

#[test]
#[ignore = "needs a GPU"]
fn what_is_not_finite_is_refused_with_its_place() {
    let context = gpu(0);
    let case = Case { rows: 100, columns: 10, dtype: DType::F64, offset: 0.0 };
    for from in [From::Pinned, From::Source] {
        let mut held = hold(&case, &context, from, Order::RowMajor, 0);
        let nan = f64::NAN.to_ne_bytes();
        let at = (57 * 10 + 3) * 8;
        match &mut held {
            Held::Source(s) => s.bytes[at..at + 8].copy_from_slice(&nan),
            Held::Memory(t, _) => {
                let memory = t.memory_mut("test").unwrap().host_mut("test").unwrap();
                memory.as_mut_slice::<u8>().unwrap()[at..at + 8].copy_from_slice(&nan);
            }
        }
        let contexts = [Arc::clone(&context)];
        let queue = context.gpu("test").unwrap().create_stream().unwrap();
        let progress = Progress::none();
        let setting = Setting { block_rows: 25, resident: Resident::AtMost(25), ..setting() };
        let problem = problem::<f64>(&case, &mut held, Order::RowMajor);
        let mut ops = GpuOps::new(&contexts, &queue, problem, setting, &progress).unwrap();
        let mut g: GpuMatrix<f64> = ops.zeros("test", 10, 10).unwrap();
        let error = ops.pass_gram(&mut g).unwrap_err().to_string();
        let want = match from {
            From::Source => "a: has a number that is not finite in rows 50 to 74 (from 0)",
            _ => "a: has NaN in row 57, column 3 (from 0)",
        };
        assert_eq!(error, want, "{from:?}");
    }
}

#[test]
#[ignore = "needs a GPU"]
fn a_failing_reader_ends_the_pass_with_its_error() {
    let context = gpu(0);
    let case = Case { rows: 200, columns: 10, dtype: DType::F32, offset: 0.0 };
    let mut held = hold(&case, &context, From::Source, Order::RowMajor, 0);
    if let Held::Source(s) = &mut held {
        s.left = 5;
    }
    let contexts = [Arc::clone(&context)];
    let queue = context.gpu("test").unwrap().create_stream().unwrap();
    let progress = Progress::none();
    let setting = Setting { block_rows: 25, resident: Resident::AtMost(0), ..setting() };
    let mut ops =
        GpuOps::<f32>::new(&contexts, &queue, problem(&case, &mut held, Order::RowMajor), setting, &progress).unwrap();
    let mut g: GpuMatrix<f32> = ops.zeros("test", 10, 10).unwrap();
    let error = ops.pass_gram(&mut g).unwrap_err();
    assert!(matches!(&error, crate::error::Error::Io { problem, .. } if problem == "no more"), "{error}");
}

#[test]
#[ignore = "needs a GPU"]
fn rough_products_are_near_the_exact_ones_and_end_when_switched_off() {
    let context = gpu(0);
    let case = Case { rows: 700, columns: 300, dtype: DType::F32, offset: 0.0 };
    for order in ORDERS {
        let site = (From::Device, order, 0);
        with::<f32, _>(&context, &case, site, setting(), |ops| {
            let (w, _) = drawn(ops, 300, 32, 2);
            let mut product = |precision| {
                let mut t: GpuMatrix<f32> = ops.zeros("test", 300, 32).unwrap();
                assert!(ops.set_precision(precision).unwrap());
                ops.pass_fused(&w, None, &mut t).unwrap();
                fetched(ops, &t)
            };
            let exact = product(IterationPrecision::Full);
            let rough = product(IterationPrecision::Fast);
            let again = product(IterationPrecision::Full);
            let off = distance(&rough, &exact) / frobenius(&exact);
            assert!(off > 1e-6 && off < 2e-3, "{order:?}: {off:e}");
            assert_eq!(again, exact);
        });
        with::<f64, _>(&context, &Case { dtype: DType::F64, ..case }, site, setting(), |ops| {
            assert!(!ops.set_precision(IterationPrecision::Fast).unwrap());
        });
    }
}
