//! Methods on blocks, bad and extreme data, memory, threads, callers' matrices.

use std::sync::Arc;

use super::super::CpuOps;
use super::inputs::{laid_out, packed, sparse};
use super::plain::{C64, Plain, plain, whole};
use super::runs::{context, eps, filled, poisoned, sketch};
use crate::backend::memory::{HostMemory, Memory};
use crate::blocks::array::{ArrayInfo, Block};
use crate::blocks::number::Number;
use crate::blocks::source::{CallbackSource, HostSource, Source};
use crate::dense::Algebra;
use crate::error::Error;
use crate::matrix::Matrix;
use crate::progress::Progress;
use crate::rng::stream;
use crate::rsvd::data::{Center, Data, Problem, Setting};
use crate::rsvd::ops::{BlockParameters, RsvdOps};
use crate::scalar::{Complex, DType, Scalar};
use crate::shape::Order;
use crate::tensor::Location;

/// Blocks of 17 rows, as the setting says.
fn block_methods<T: Scalar>() {
    let (m, n) = (61, 23);
    let a = whole(m, n, T::IS_COMPLEX);
    let c = context(2, 0);
    let progress = Progress::none();
    for center in [Center::None, Center::Columns] {
        let s = Setting { block_rows: 17, center, ..Setting::plain() };
        let treated = a.treated(&s);
        let (memory, row_stride, column_stride) = laid_out(&a, Number::of("a", T::DTYPE).unwrap(), Order::RowMajor, 1);
        let data = Data::Dense { memory: &memory, dtype: T::DTYPE, row_stride, column_stride };
        let mut ops = CpuOps::<T>::new(&c, Problem::new(m, n, data), s, &progress).unwrap();
        assert_eq!((ops.traffic().blocks, ops.traffic().block_rows), (4, 17));
        for iterations in [0, 2] {
            let local = BlockParameters { width: 4, iterations, sketch: sketch(stream::SKETCH) };
            let mut y = poisoned(&mut ops, n, 4);
            ops.pass_block_sum(&local, &mut y).unwrap();
            let omega = filled(&mut ops, m, 4, stream::SKETCH);
            let mut want = Plain::new(n, 4, |_, _| C64::default());
            for first in (0..m).step_by(17) {
                let block = treated.block(first, 17.min(m - first));
                let mut z = plain(&omega).block(first, block.rows);
                for _ in 0..iterations {
                    z = block.times(&block.adjoint().times(&z));
                }
                for (to, x) in want.data.iter_mut().zip(block.adjoint().times(&z).data) {
                    *to += x;
                }
            }
            // Known up to a factor.
            let got = plain(&y);
            let factor = want.norm() / got.norm();
            let scaled = Plain::new(n, 4, |i, j| got.at(i, j) * factor);
            assert!(
                scaled.off(&want) < 200.0 * eps::<T>() * want.norm(),
                "{iterations}: {:e}",
                scaled.off(&want) / want.norm()
            );
        }
        // Wide enough for each block to be kept whole, the merge is exact.
        let local = BlockParameters { width: 23, iterations: 1, sketch: sketch(stream::SKETCH) };
        let mut r = poisoned(&mut ops, n, 23);
        ops.pass_merge(&local, &mut r).unwrap();
        let got = plain(&r).times(&plain(&r).adjoint());
        let want = treated.adjoint().times(&treated);
        assert!(got.off(&want) < 500.0 * eps::<T>() * want.norm(), "{:e}", got.off(&want) / want.norm());
        let order: Vec<f64> = ops.column_norms(&r).unwrap();
        assert!(order.is_sorted_by(|a, b| a >= b), "{order:?}");
        let cross = plain(&r).adjoint().times(&plain(&r));
        for j in 0..23 {
            for i in 0..j {
                assert!(cross.at(i, j).norm() < 500.0 * eps::<T>() * want.norm(), "columns {i} and {j}");
            }
        }
        assert_eq!(ops.traffic().passes, 3 + u64::from(center == Center::Columns));
    }
}

#[test]
fn methods_on_blocks() {
    block_methods::<f32>();
    block_methods::<f64>();
    block_methods::<Complex<f64>>();
    let csr = sparse::<f64>(&whole(5, 4, false), 0, true);
    let (c, progress) = (context(1, 0), Progress::none());
    let problem = Problem::new(5, 4, Data::Csr(&csr));
    let mut ops = CpuOps::<f64>::new(&c, problem, Setting::plain(), &progress).unwrap();
    let mut y = ops.zeros("test", 4, 2).unwrap();
    let local = BlockParameters { width: 2, iterations: 0, sketch: sketch(stream::SKETCH) };
    assert!(matches!(ops.pass_block_sum(&local, &mut y), Err(Error::NotSupported(_))));
}

#[test]
fn centring_by_panels_cancels_nothing() {
    // Means of 1e8 in double precision would leave eight digits if they were subtracted from products.
    let small = whole(301, 9, false).treated(&Setting { center: Center::Columns, ..Setting::plain() });
    let a = Plain::new(301, 9, |i, j| small.at(i, j) + 1e8);
    let rounded = Plain::new(301, 9, |i, j| a.at(i, j));
    let s = Setting { center: Center::Columns, ..Setting::plain() };
    let want = rounded.treated(&s);
    let (memory, row_stride, column_stride) = laid_out(&a, Number::F64, Order::RowMajor, 0);
    let data = Data::Dense { memory: &memory, dtype: DType::F64, row_stride, column_stride };
    let (c, progress) = (context(2, 0), Progress::none());
    let mut ops = CpuOps::<f64>::new(&c, Problem::new(301, 9, data), s, &progress).unwrap();
    let mut g = ops.zeros("test", 9, 9).unwrap();
    ops.pass_gram(&mut g).unwrap();
    let exact = want.adjoint().times(&want);
    // The means themselves are known to 1e8 eps, which counts once, squared, in each of the 301 rows.
    assert!(plain(&g).off(&exact) < 1e-12 * exact.norm(), "{:e}", plain(&g).off(&exact) / exact.norm());
}

#[test]
fn numbers_that_are_not_finite_are_refused_with_their_place() {
    let (c, progress) = (context(2, 0), Progress::none());
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let mut a = whole(50, 4, false);
        a.data[2 * 50 + 37] = C64::new(bad, 0.0);
        for center in [Center::None, Center::Columns, Center::Rows] {
            let s = Setting { center, block_rows: 10, ..Setting::plain() };
            let named = |row: usize, column: usize| {
                Error::invalid("a", format!("has {bad} in row {row}, column {column} (from 0)"))
            };
            for (order, transposed) in [(Order::RowMajor, false), (Order::ColumnMajor, true)] {
                let (info, bytes) = packed(&a, Number::F64, order);
                let mut source = HostSource::new(info, &bytes).unwrap();
                let data = Data::Streamed { source: &mut source, order };
                let problem = Problem { rows: 50, columns: 4, transposed, data };
                let mut ops = CpuOps::<f64>::new(&c, problem, s, &progress).unwrap();
                let w = filled(&mut ops, 4, 2, 1);
                let mut p = ops.tall("test", 2).unwrap();
                let e = ops.pass_multiply(&w, &mut p).unwrap_err();
                let want = if transposed { named(2, 37) } else { named(37, 2) };
                assert_eq!(e, want, "{center:?}");
            }
            let csr = sparse::<f64>(&a, 0, true);
            let problem = Problem::new(50, 4, Data::Csr(&csr));
            let mut ops = CpuOps::<f64>::new(&c, problem, s, &progress).unwrap();
            let w = filled(&mut ops, 4, 2, 1);
            let mut p = ops.tall("test", 2).unwrap();
            // Entries stored twice for one place are added: infinities of both signs make NaN.
            let e = ops.pass_multiply(&w, &mut p).unwrap_err().to_string();
            assert!(e.starts_with("a: has ") && e.ends_with(" in row 37, column 2 (from 0)"), "{center:?}: {e}");
        }
    }
}

#[test]
fn squares_may_overflow_where_entries_do_not() {
    let mut a = whole(20, 3, false);
    a.data[5] = C64::new(1e200, 0.0);
    let (memory, row_stride, column_stride) = laid_out(&a, Number::F64, Order::RowMajor, 0);
    let data = Data::Dense { memory: &memory, dtype: DType::F64, row_stride, column_stride };
    let (c, progress) = (context(1, 0), Progress::none());
    let mut ops = CpuOps::<f64>::new(&c, Problem::new(20, 3, data), Setting::plain(), &progress).unwrap();
    let w = filled(&mut ops, 3, 2, 1);
    let mut p = ops.tall("test", 2).unwrap();
    ops.pass_multiply(&w, &mut p).unwrap();
    assert_eq!(ops.statistics().unwrap().max_abs, 1e200);
    let small = Setting { factor: 2f64.powi(-664), center: Center::Columns, ..Setting::plain() };
    let data = Data::Dense { memory: &memory, dtype: DType::F64, row_stride, column_stride };
    let mut ops = CpuOps::<f64>::new(&c, Problem::new(20, 3, data), small, &progress).unwrap();
    ops.pass_multiply(&w, &mut p).unwrap();
    // One entry of twenty in its column, beside which the others vanish.
    let (norm2, want) = (ops.statistics().unwrap().norm2, (1e200 * small.factor).powi(2) * 0.95);
    assert!((norm2 - want).abs() < 1e-14 * want, "{norm2} {want}");
}

#[test]
fn readers_errors_and_cancellation_end_a_pass() {
    let c = context(2, 0);
    let info = ArrayInfo::new(Number::F64, &[4, 50]).unwrap();
    let error = || Error::Io { path: "reader".into(), problem: "planted".into() };
    let read = move |block: &Block, out: &mut [u8]| {
        out.fill(0);
        if block.first()[1] >= 20 {
            Err(Error::Io { path: "reader".into(), problem: "planted".into() })
        } else {
            Ok(())
        }
    };
    let mut source = CallbackSource::new(info.clone(), Box::new(read));
    let progress = Progress::none();
    let data = Data::Streamed { source: &mut source as &mut dyn Source, order: Order::RowMajor };
    let s = Setting { block_rows: 10, ..Setting::plain() };
    let mut ops = CpuOps::<f64>::new(&c, Problem::new(50, 4, data), s, &progress).unwrap();
    let w = filled(&mut ops, 4, 2, 1);
    let mut p = ops.tall("test", 2).unwrap();
    assert_eq!(ops.pass_multiply(&w, &mut p), Err(error()));

    let progress = c.progress(None);
    let cancel = Arc::clone(&c);
    let read = move |block: &Block, out: &mut [u8]| {
        out.fill(0);
        if block.first()[1] == 20 {
            cancel.cancel();
        }
        Ok(())
    };
    let mut source = CallbackSource::new(info, Box::new(read));
    let data = Data::Streamed { source: &mut source as &mut dyn Source, order: Order::RowMajor };
    let mut ops = CpuOps::<f64>::new(&c, Problem::new(50, 4, data), s, &progress).unwrap();
    assert_eq!(ops.pass_multiply(&w, &mut p), Err(Error::Cancelled));
}

#[test]
fn a_source_is_cut_as_the_plan_says() {
    let a = whole(4000, 20, false);
    let (info, bytes) = packed(&a, Number::F64, Order::RowMajor);
    let mut source = HostSource::new(info, &bytes).unwrap();
    let c = context(2, 400_000);
    let progress = Progress::none();
    let data = Data::Streamed { source: &mut source, order: Order::RowMajor };
    let s = Setting { block_rows: 312, panel_rows: 100, ..Setting::plain() };
    let mut ops = CpuOps::<f64>::new(&c, Problem::new(4000, 20, data), s, &progress).unwrap();
    assert_eq!(ops.traffic().block_rows, 312);
    assert_eq!(c.host_memory_used(), 2 * 312 * 160);
    let w = filled(&mut ops, 20, 3, 1);
    let mut p = ops.tall("test", 3).unwrap();
    ops.pass_multiply(&w, &mut p).unwrap();
    let want = a.times(&plain(&w));
    assert!(plain(&p).off(&want) < 1e-13 * want.norm());
    drop((w, p, ops));
    assert_eq!(c.host_memory_used(), 0);
}

#[test]
fn copies_of_panels_are_as_long_as_the_plan_says() {
    let a = whole(4000, 40, false);
    let (memory, row_stride, column_stride) = laid_out(&a, Number::F64, Order::ColumnMajor, 0);
    let c = context(2, 100_000);
    let progress = Progress::none();
    let data = Data::Dense { memory: &memory, dtype: DType::F64, row_stride, column_stride };
    let s = Setting { center: Center::Columns, panel_rows: 150, ..Setting::plain() };
    let mut ops = CpuOps::<f64>::new(&c, Problem::new(4000, 40, data), s, &progress).unwrap();
    let w = filled(&mut ops, 40, 3, 1);
    let mut t = ops.zeros("test", 40, 3).unwrap();
    ops.pass_fused(&w, None, &mut t).unwrap();
    let treated = a.treated(&s);
    let want = treated.adjoint().times(&treated.times(&plain(&w)));
    assert!(plain(&t).off(&want) < 1e-12 * want.norm());
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let a = whole(700, 30, false);
    let run = |threads| {
        let c = context(threads, 0);
        let (memory, row_stride, column_stride) = laid_out(&a, Number::F64, Order::RowMajor, 0);
        let data = Data::Dense { memory: &memory, dtype: DType::F64, row_stride, column_stride };
        let progress = Progress::none();
        let s = Setting { center: Center::Columns, scale: true, ..Setting::plain() };
        let mut ops = CpuOps::<f64>::new(&c, Problem::new(700, 30, data), s, &progress).unwrap();
        let w = filled(&mut ops, 30, 6, 1);
        let mut t = ops.zeros("test", 30, 6).unwrap();
        ops.pass_fused(&w, None, &mut t).unwrap();
        (t.slice().unwrap().to_vec(), ops.statistics().unwrap().norm2)
    };
    assert!(run(1) == run(4));
}

fn callers_matrices<T: Scalar>() {
    let c = context(2, 0);
    let progress = Progress::none();
    let a = whole(7, 3, T::IS_COMPLEX);
    let (memory, row_stride, column_stride) = laid_out(&a, Number::of("a", T::DTYPE).unwrap(), Order::RowMajor, 0);
    let data = Data::Dense { memory: &memory, dtype: T::DTYPE, row_stride, column_stride };
    let mut ops = CpuOps::<T>::new(&c, Problem::new(7, 3, data), Setting::plain(), &progress).unwrap();
    let p = filled(&mut ops, 7, 4, 1);
    for adjoint in [false, true] {
        for conjugate in [false, true] {
            for order in [Order::RowMajor, Order::ColumnMajor] {
                let (rows, cols) = if adjoint { (4, 7) } else { (7, 4) };
                // A leading dimension with a gap, whose numbers stay.
                let ld = if order == Order::RowMajor { cols + 2 } else { rows + 2 };
                let layout = Matrix::dense_layout(T::DTYPE, order, rows, cols, ld).unwrap();
                let mut memory =
                    HostMemory::allocate("test", layout.extent() * size_of::<T>(), c.host_budget()).unwrap();
                memory.as_mut_slice::<T>().unwrap().fill(T::from_parts(99.0, 99.0));
                let mut target = Matrix::from_memory(&c, T::DTYPE, order, layout, Memory::Host(memory), false).unwrap();
                ops.tall_write(&p, &mut target, adjoint, conjugate).unwrap();
                let back = ops.tall_read("test", &target, adjoint, conjugate).unwrap();
                assert_eq!(back.slice().unwrap(), p.slice().unwrap(), "{adjoint} {conjugate} {order:?}");
                let words = target.dense("test").unwrap().memory.host("test").unwrap().as_slice::<T>().unwrap();
                let at = |i: usize, j: usize| words[if order == Order::RowMajor { i * ld + j } else { j * ld + i }];
                let x = if adjoint { at(2, 5) } else { at(5, 2) };
                let want = p.slice().unwrap()[2 * 7 + 5];
                assert_eq!(x, if adjoint != conjugate { want.conjugate() } else { want });
                let untouched = words.iter().filter(|x| x.re() == 99.0).count();
                assert_eq!(untouched, 2 * (if order == Order::RowMajor { rows } else { cols } - 1));
            }
        }
    }
    let mut other = Matrix::create(&c, DType::F16, Location::Host, Order::RowMajor, 7, 4).unwrap();
    assert!(ops.tall_write(&p, &mut other, false, false).is_err());
    let mut other = Matrix::create(&c, T::DTYPE, Location::Host, Order::RowMajor, 4, 7).unwrap();
    assert!(ops.tall_write(&p, &mut other, false, false).is_err());
    assert!(ops.tall_read("test", &other, false, false).is_err(), "four rows are not those of the data");
}

#[test]
fn callers_matrices_go_in_and_out_in_any_order() {
    callers_matrices::<f32>();
    callers_matrices::<Complex<f64>>();
}

#[test]
fn empty_problems_have_empty_products() {
    let (c, progress) = (context(2, 0), Progress::none());
    for (m, n) in [(0, 4), (4, 0), (0, 0)] {
        let a = whole(m, n, false);
        let (memory, row_stride, column_stride) = laid_out(&a, Number::F64, Order::RowMajor, 0);
        for center in [Center::None, Center::Columns, Center::Rows] {
            let data = Data::Dense { memory: &memory, dtype: DType::F64, row_stride, column_stride };
            let s = Setting { center, ..Setting::plain() };
            let mut ops = CpuOps::<f64>::new(&c, Problem::new(m, n, data), s, &progress).unwrap();
            let w = filled(&mut ops, n, 2, 1);
            let (mut p, mut t) = (poisoned(&mut ops, m, 2), poisoned(&mut ops, n, 2));
            ops.pass_fused(&w, Some(&mut p), &mut t).unwrap();
            assert!(p.slice().unwrap().iter().chain(t.slice().unwrap()).all(|x| *x == 0.0), "{m} {n}");
            assert_eq!(ops.statistics().unwrap().norm2, 0.0);
        }
    }
}
