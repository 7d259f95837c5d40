//! Products on a GPU against sums in double precision: every method, all types, difficult rows.

use std::sync::Arc;

use crate::backend::gpu::kernels::spmv::Finish as DeviceFinish;
use crate::backend::gpu::{DeviceMemory, Gpu};
use crate::backend::memory::{HostMemory, Memory};
use crate::context::Context;
use crate::matrix::sparse::{Index, copy_to, row_sums};
use crate::matrix::{Csr, CsrParts, Matrix, Storage};
use crate::scalar::{Complex, DType, Real, Scalar};
use crate::shape::Order;
use crate::spmv::cpu::Finish;
use crate::spmv::tests::{
    ALL, Lists, cases, check, check_beyond_32_bits, check_blocks, check_graphs, ends, entries, filters, kinds, matrix,
    orders, reference, value,
};
use crate::spmv::{Kind, Method, Op, Options, Plan};
use crate::tensor::{Location, Tensor};
use crate::testing::sparse::{all_on_device, cpu, gpu, vector};

const METHODS: [Method; 8] = {
    let [a, b, c, d, e, f, g] = ALL;
    [a, b, c, d, e, f, g, Method::Sweeps]
};

#[test]
#[ignore = "needs a GPU"]
fn every_method_keeps_to_its_bound_for_every_shape() {
    let c = gpu();
    check::<f64, i32>(&c, &METHODS, 0, false, Op::Plain);
    check::<f32, i64>(&c, &METHODS, 1, false, Op::Plain);
    check::<Complex<f64>, i32>(&c, &METHODS, 1, false, Op::Plain);
    check::<Complex<f32>, i64>(&c, &METHODS, 0, false, Op::Plain);
}

#[test]
#[ignore = "needs a GPU"]
fn patterns_multiply_by_ones() {
    let c = gpu();
    check::<f64, i32>(&c, &METHODS, 1, true, Op::Plain);
    check::<f32, i32>(&c, &METHODS, 0, true, Op::Plain);
    check::<Complex<f64>, i64>(&c, &METHODS, 0, true, Op::Plain);
}

#[test]
#[ignore = "needs a GPU"]
fn transposes_and_adjoints_are_multiplied_by() {
    let c = gpu();
    check::<f64, i32>(&c, &METHODS, 0, false, Op::Transpose);
    check::<f32, i32>(&c, &METHODS, 0, true, Op::Transpose);
    check::<Complex<f64>, i64>(&c, &METHODS, 1, false, Op::Adjoint);
}

#[test]
#[ignore = "needs a GPU"]
fn blocks_are_vectors_side_by_side() {
    check_blocks(&gpu(), &[Method::EntrySplit, Method::Sweeps]);
}

#[test]
#[ignore = "needs a GPU"]
fn products_in_another_order_are_those_of_the_matrix() {
    let c = gpu();
    for location in [Location::Host, Location::Device] {
        orders::check::<f64>(&c, false, Op::Plain, location);
        orders::check::<Complex<f32>>(&c, false, Op::Adjoint, location);
        orders::check::<f32>(&c, true, Op::Transpose, location);
        orders::check::<Complex<f64>>(&c, false, Op::Plain, location);
    }
}

#[test]
#[ignore = "needs a GPU"]
fn operators_are_applied_without_being_formed() {
    let c = gpu();
    for location in [Location::Host, Location::Device] {
        kinds::check::<f64>(&c, false, Op::Plain, location);
        kinds::check::<f32>(&c, true, Op::Transpose, location);
        kinds::check::<Complex<f64>>(&c, false, Op::Adjoint, location);
        kinds::check::<Complex<f32>>(&c, true, Op::Plain, location);
    }
}

#[test]
#[ignore = "needs a GPU"]
fn operators_of_weights_at_both_ends_of_the_range_are_right() {
    let c = gpu();
    for location in [Location::Host, Location::Device] {
        ends::check::<f64>(&c, location);
        ends::check::<f32>(&c, location);
    }
}

#[test]
#[ignore = "needs a GPU"]
fn filters_and_operators_are_planned() {
    let c = gpu();
    for location in [Location::Host, Location::Device] {
        filters::check::<f64>(&c, Op::Plain, location);
        filters::check::<f32>(&c, Op::Transpose, location);
        filters::check::<Complex<f64>>(&c, Op::Adjoint, location);
        filters::check::<Complex<f32>>(&c, Op::Plain, location);
        // An operator that multiplies on the host, and one that multiplies on the device.
        filters::check_operators::<f64>(&c, location);
        filters::check_operators::<Complex<f32>>(&c, location);
    }
}

#[test]
#[ignore = "needs a GPU"]
fn graphs_give_the_recorded_sums() {
    check_graphs(&gpu(), &METHODS);
}

fn upload<T: Scalar>(gpu: &Gpu, values: &[T]) -> DeviceMemory {
    gpu.upload_numbers(gpu.default_stream(), "test", values).unwrap()
}

fn download<T: Scalar>(gpu: &Gpu, memory: &DeviceMemory, count: usize) -> Vec<T> {
    let mut values = vec![T::default(); count];
    gpu.download_numbers(gpu.default_stream(), memory, &mut values).unwrap();
    values
}

/// y = alpha f r (A x) + (shift + d) x + gamma g z + beta y, all of it at once and in parts.
fn finishes<T: Scalar>(c: &Arc<Context>) {
    let gpu = c.gpu("test").unwrap();
    let stream = gpu.default_stream();
    let n = 5003;
    let lists = Lists {
        cols: n,
        rows: (0..n)
            .map(|i| (0..if i == 77 { 4000 } else { i % 9 }).map(|k| (i * 31 + k * 17) % n).collect())
            .collect(),
    };
    let (a, values) = matrix::<T, i32>(c, &lists, 0, false);
    let numbers = |seed: usize| (0..n).map(|k| T::from_parts(value(k + seed), value(k + seed + 7))).collect::<Vec<T>>();
    let parts = |seed: usize| (0..n).map(|k| T::Part::from_f64(value(k + seed))).collect::<Vec<T::Part>>();
    let (x, y, z, scale, diagonal) = (numbers(1), numbers(2), numbers(3), parts(4), parts(5));
    let factors = gpu.upload_numbers(stream, "test", &[0.5f64, -2.0]).unwrap();
    let (own, third) = (upload(gpu, &x), upload(gpu, &z));
    let scales = gpu.upload_numbers(stream, "test", &scale).unwrap();
    let diagonals = gpu.upload_numbers(stream, "test", &diagonal).unwrap();
    let one = Complex::new(1.0, 0.0);
    let zero = Complex::new(0.0, 0.0);
    for method in METHODS {
        let plan = Plan::new(c, &a, Options { method, ..Options::default() }).unwrap();
        let space = plan.device_space(stream).unwrap();
        for case in 0..16 {
            let on = |bit: usize| case & bit != 0;
            let (alpha, beta) = if on(8) { (zero, zero) } else { (Complex::new(-1.5, 0.0), one) };
            let old = if beta == zero { vec![T::from_parts(f64::NAN, f64::NAN); n] } else { y.clone() };
            let there = upload(gpu, &old);
            let finish = DeviceFinish {
                row_scale: on(1).then(|| scales.whole()),
                diagonal: on(2).then(|| diagonals.whole()),
                shift: Complex::new(if on(2) { 0.75 } else { 0.0 }, 0.0),
                x: Some(own.whole()),
                more: on(4).then(|| (3.0, third.whole())),
                alpha_factor: on(4).then(|| factors.region(0, 8).unwrap()),
                gamma_factor: on(4).then(|| factors.region(8, 8).unwrap()),
                ..DeviceFinish::plain(there.whole(), alpha, beta)
            };
            plan.multiply_device(&a, stream, &space, own.whole(), &finish).unwrap();
            let found = download::<T>(gpu, &there, n);
            let sums = reference(&lists, &values, Op::Plain, (one, zero), &x, &old);
            for (i, (found, (sum, bound))) in found.iter().zip(sums).enumerate() {
                let wide = |v: T| Complex::new(v.re(), v.im());
                let f = alpha * if on(4) { 0.5 } else { 1.0 } * if on(1) { scale[i].to_f64() } else { 1.0 };
                let d = if on(2) { 0.75 + diagonal[i].to_f64() } else { 0.0 };
                let more = wide(z[i]) * if on(4) { -6.0 } else { 0.0 };
                let kept = if beta == zero { zero } else { beta * wide(old[i]) };
                let want = if alpha == zero { zero } else { f * sum } + wide(x[i]) * d + more + kept;
                let limit =
                    2.0 * bound * f.norm() + 16.0 * T::Part::EPSILON.to_f64() * (3.0 + more.norm() + sum.norm());
                let off = (wide(*found) - want).norm();
                assert!(off <= limit, "{method:?} case {case} row {i}: {found:?}, not {want} +- {limit}");
            }
        }
    }
}

#[test]
#[ignore = "needs a GPU"]
fn the_rest_of_a_row_is_added_to_its_sum() {
    let c = gpu();
    finishes::<f32>(&c);
    finishes::<f64>(&c);
    finishes::<Complex<f32>>(&c);
    finishes::<Complex<f64>>(&c);
}

#[test]
#[ignore = "needs a GPU"]
fn host_slices_are_taken_as_on_the_cpu() {
    let (c, host) = (gpu(), cpu(2));
    for (name, lists) in cases().into_iter().filter(|c| c.1.cols >= c.1.rows.len()) {
        let (a, _) = matrix::<f64, i32>(&c, &lists, 0, false);
        let (b, _) = matrix::<f64, i32>(&host, &lists, 0, false);
        let numbers = |count: usize, seed: usize| (0..count).map(|k| value(k + seed)).collect::<Vec<f64>>();
        let (x, gathered) = (numbers(a.cols(), 1), numbers(a.cols(), 2));
        let (scale, diagonal) = (numbers(a.rows(), 3), numbers(a.rows(), 4));
        let finish = Finish {
            alpha: 2.0,
            beta: -1.0,
            row_scale: Some(&scale),
            shift: 0.5,
            diagonal: Some(&diagonal),
            weight: -0.5,
        };
        let (mut found, mut want) = (numbers(a.rows(), 5), numbers(a.rows(), 5));
        Plan::new(&c, &a, Options::default()).unwrap().compute(&a, finish, &gathered, &x, &mut found).unwrap();
        Plan::new(&host, &b, Options::default()).unwrap().compute(&b, finish, &gathered, &x, &mut want).unwrap();
        for (i, (found, want)) in found.iter().zip(&want).enumerate() {
            // Both round at most once for each entry of a row, and entries are at most 2.
            let limit = 8.0 * f64::EPSILON * (lists.rows[i].len() as f64 + 4.0).powi(2);
            assert!((found - want).abs() <= limit, "{name} row {i}: {found}, not {want}");
        }
    }
}

#[test]
#[ignore = "needs a GPU"]
fn equal_calls_and_equal_plans_give_equal_bits() {
    let c = gpu();
    let gpu = c.gpu("test").unwrap();
    let stream = gpu.default_stream();
    let lists = cases().into_iter().find(|c| c.0 == "hub").unwrap().1;
    let (a, _) = matrix::<f64, i32>(&c, &lists, 0, false);
    let x: Vec<f64> = (0..a.cols()).map(value).collect();
    let from = upload(gpu, &x);
    for method in METHODS {
        let mut first: Option<Vec<u64>> = None;
        for _ in 0..2 {
            let plan = Plan::new(&c, &a, Options { method, ..Options::default() }).unwrap();
            let space = plan.device_space(stream).unwrap();
            for _ in 0..5 {
                let y = upload(gpu, &vec![f64::NAN; a.rows()]);
                let finish = DeviceFinish::plain(y.whole(), Complex::new(1.0, 0.0), Complex::new(0.0, 0.0));
                plan.multiply_device(&a, stream, &space, from.whole(), &finish).unwrap();
                let bits: Vec<u64> = download::<f64>(gpu, &y, a.rows()).iter().map(|v| v.to_bits()).collect();
                assert!(first.get_or_insert_with(|| bits.clone()) == &bits, "{method:?}");
            }
        }
    }
}

/// The same matrix with its values on the device.
fn on_device(c: &Arc<Context>, a: &Matrix, values: &[f64]) -> Matrix {
    let Storage::Csr(csr) = a.storage() else { unreachable!("a sparse matrix") };
    let copied = |m: &HostMemory| {
        let mut copy = HostMemory::allocate("test", m.bytes(), c.host_budget()).unwrap();
        copy.as_mut_slice::<u8>().unwrap().copy_from_slice(m.as_slice().unwrap());
        copy
    };
    let parts = csr.parts();
    let parts = CsrParts {
        row_ptr: copied(&parts.row_ptr),
        row_ptr_type: parts.row_ptr_type,
        col_idx: copied(&parts.col_idx),
        col_idx_type: parts.col_idx_type,
        values: Some(Memory::Device(upload(c.gpu("test").unwrap(), values))),
    };
    let csr = Csr::new(parts, csr.rows(), csr.cols(), csr.nnz(), csr.index_base()).unwrap();
    Matrix::from_csr(c, DType::F64, csr, true)
}

#[test]
#[ignore = "needs a GPU"]
fn values_come_from_the_device_and_change() {
    let c = gpu();
    let lists = cases().into_iter().find(|c| c.0 == "short").unwrap().1;
    let (a, values) = matrix::<f64, i32>(&c, &lists, 1, false);
    let there = on_device(&c, &a, &values);
    let doubled: Vec<f64> = values.iter().map(|v| 2.0 * v).collect();
    let more = on_device(&c, &a, &doubled);
    let x: Vec<f64> = (0..a.cols()).map(value).collect();
    let (one, zero) = (Complex::new(1.0, 0.0), Complex::new(0.0, 0.0));
    let mut device_y = Tensor::create(&c, DType::F64, Location::Device, Order::ColumnMajor, &[a.rows()]).unwrap();
    let mut device_x = Tensor::create(&c, DType::F64, Location::Device, Order::ColumnMajor, &[a.cols()]).unwrap();
    crate::tensor::copy(&c, None, &vector(&c, &x), &mut device_x).unwrap();
    for method in METHODS {
        let mut plan = Plan::new(&c, &there, Options { method, ..Options::default() }).unwrap();
        for (matrix, values) in [(&there, &values), (&more, &doubled)] {
            plan.update(matrix).unwrap();
            let mut y = vector(&c, &vec![f64::NAN; a.rows()]);
            plan.apply(one, matrix, &vector(&c, &x), zero, &mut y).unwrap();
            plan.apply(one, matrix, &device_x, zero, &mut device_y).unwrap();
            let mut back = vector(&c, &vec![0.0f64; a.rows()]);
            crate::tensor::copy(&c, None, &device_y, &mut back).unwrap();
            let (y, back) = (entries::<f64>(&y), entries::<f64>(&back));
            assert_eq!(y, back, "{method:?}");
            let want = reference(&lists, values, Op::Plain, (one, zero), &x, &y);
            for (i, (found, (want, bound))) in y.iter().zip(want).enumerate() {
                assert!((found - want.re).abs() <= bound, "{method:?} row {i}: {found}, not {want}");
            }
        }
    }
}

#[test]
#[ignore = "needs a GPU"]
fn what_does_not_fit_is_refused() {
    let c = gpu();
    let gpu = c.gpu("test").unwrap();
    let stream = gpu.default_stream();
    let lists = Lists { cols: 3, rows: vec![vec![0, 2], vec![1]] };
    let (a, _) = matrix::<f64, i32>(&c, &lists, 0, false);
    let (b, _) = matrix::<f32, i32>(&c, &lists, 0, false);
    let plan = Plan::new(&c, &a, Options::default()).unwrap();
    let (x, y) = (upload(gpu, &[1.0f64; 3]), upload(gpu, &[0.0f64; 2]));
    let one = Complex::new(1.0, 0.0);
    let finish = DeviceFinish::plain(y.whole(), one, one);
    let space = plan.device_space(stream).unwrap();
    assert!(plan.multiply_device(&b, stream, &space, x.whole(), &finish).is_err());
    let short = x.region(0, 16).unwrap();
    assert!(plan.multiply_device(&a, stream, &space, short, &finish).is_err());
    let shifted = DeviceFinish { shift: one, ..finish };
    assert!(plan.multiply_device(&a, stream, &space, x.whole(), &shifted).is_err());
    let blocks = ((x.whole(), 1), (y.whole(), 1));
    assert!(plan.multiply_device_block(&a, stream, (one, one), 0, blocks.0, blocks.1).is_err());
    assert!(plan.multiply_device_block(&a, stream, (one, one), 2, blocks.0, blocks.1).is_err());
    assert_eq!(download::<f64>(gpu, &y, 2), [0.0; 2]);
}

/// More entries than 32 bits can count.
#[test]
#[ignore = "needs a GPU, and 12 GB of host and device memory"]
fn entries_beyond_32_bits_are_reached() {
    check_beyond_32_bits(&gpu(), &[Method::RowGroup, Method::RowBin, Method::Merge, Method::EntrySplit]);
}

fn products_are_those_of_the_host<T: Scalar, I: Index>(c: &Arc<Context>, base: i64, pattern: bool) {
    for (name, lists) in cases() {
        let (a, _) = matrix::<T, I>(c, &lists, base, pattern);
        let there = all_on_device::<T>(c, &a);
        let x: Vec<T> = (0..a.cols()).map(|k| T::from_parts(value(k), value(k + 5))).collect();
        for method in METHODS {
            let options = Options { method, ..Options::default() };
            let product = |a: &Matrix| {
                let plan = Plan::new(c, a, options).unwrap();
                let mut y = vec![T::from_parts(f64::NAN, 0.0); a.rows()];
                let once = Finish::plain(T::from_parts(1.0, 0.0), T::default());
                plan.compute(a, once, &x, &x, &mut y).unwrap();
                y
            };
            assert!(product(&a) == product(&there), "{name} {method:?}: other bits");
        }
    }
}

#[test]
#[ignore = "needs a GPU"]
fn matrices_on_the_device_are_read_in_place() {
    let c = gpu();
    for base in [0, 1] {
        products_are_those_of_the_host::<f32, i32>(&c, base, false);
        products_are_those_of_the_host::<f64, i32>(&c, base, false);
        products_are_those_of_the_host::<Complex<f32>, i64>(&c, base, false);
        products_are_those_of_the_host::<Complex<f64>, i32>(&c, base, false);
        products_are_those_of_the_host::<f64, i32>(&c, base, true);
    }
    let lists = cases().into_iter().find(|c| c.0 == "short").unwrap().1;
    let (a, _) = matrix::<f64, i32>(&c, &lists, 0, true);
    let there = all_on_device::<f64>(&c, &a);
    let plan = Plan::new(&c, &there, Options::default()).unwrap();
    let x = vec![1.0; a.cols()];
    let error = plan.compute(&a, Finish::plain(1.0, 0.0), &x, &x, &mut vec![0.0; a.rows()]).unwrap_err();
    assert!(error.to_string().contains("has no indices on the device"), "{error}");
}

#[test]
#[ignore = "needs a GPU"]
fn copies_on_the_device_are_multiplied_and_come_back() {
    let c = gpu();
    for (list, pattern) in cases().iter().flat_map(|(_, l)| [(l, false), (l, true)]) {
        let (a, values) = matrix::<f64, i64>(&c, list, 1, pattern);
        let mut there = copy_to(&c, &a, Location::Device).unwrap();
        assert!(there.owns_values());
        let back = copy_to(&c, &there, Location::Host).unwrap();
        let again = copy_to(&c, &there, Location::Device).unwrap();
        let x = vector(&c, &(0..list.cols).map(value).collect::<Vec<f64>>());
        let (one, zero) = (Complex::new(1.0, 0.0), Complex::new(0.0, 0.0));
        let multiplied = |a: &Matrix| {
            let mut y = vector(&c, &vec![f64::NAN; list.rows.len()]);
            Plan::new(&c, a, Options::default()).unwrap().apply(one, a, &x, zero, &mut y).unwrap();
            entries::<f64>(&y)
        };
        let want = multiplied(&a);
        for copy in [&there, &back, &again] {
            assert_eq!(multiplied(copy), want);
        }
        if !pattern {
            let doubled: Vec<f64> = values.iter().map(|v| 2.0 * v).collect();
            there.set_values(&vector(&c, &doubled)).unwrap();
            assert!(multiplied(&there).iter().zip(&want).all(|(a, b)| *a == 2.0 * b));
        }
    }
}

/// A plan that copies the transpose, or a function of the host, copies values from the device first.
#[test]
#[ignore = "needs a GPU"]
fn values_on_the_device_are_copied_where_they_are_needed() {
    let c = gpu();
    for (list, pattern) in cases().iter().flat_map(|(_, l)| [(l, false), (l, true)]) {
        let (a, _) = matrix::<Complex<f64>, i32>(&c, list, 1, pattern);
        let there = copy_to(&c, &a, Location::Device).unwrap();
        let of_kinds =
            [Kind::Gram, Kind::OuterGram, Kind::Augmented].map(|kind| Options { kind, ..Options::default() });
        let of_ops = [Op::Transpose, Op::Adjoint].map(|op| Options { op, ..Options::default() });
        for options in of_kinds.into_iter().chain(of_ops) {
            let [want, found] = [&a, &there].map(|a| {
                let plan = Plan::new(&c, a, options).unwrap();
                let (rows, cols) = if options.op == Op::Plain { plan.size() } else { plan.matrix_size() };
                let x = vector(&c, &(0..cols).map(|k| Complex::new(value(k), value(k + 3))).collect::<Vec<_>>());
                let mut y = vector(&c, &vec![Complex::new(f64::NAN, f64::NAN); rows]);
                plan.apply(Complex::new(1.0, 0.0), a, &x, Complex::new(0.0, 0.0), &mut y).unwrap();
                entries::<Complex<f64>>(&y)
            });
            assert_eq!(found, want, "{options:?}");
        }
        assert_eq!(row_sums(&there).unwrap(), row_sums(&a).unwrap());
    }
}

#[test]
#[ignore = "needs a GPU"]
fn plans_stay_with_a_matrix_and_take_new_values() {
    let c = gpu();
    let lists = cases().into_iter().find(|c| c.0 == "short").unwrap().1;
    let (mut a, values) = matrix::<f64, i32>(&c, &lists, 0, false);
    let x: Vec<f64> = (0..a.cols()).map(value).collect();
    let product = |plan: &Plan, a: &Matrix| {
        let mut y = vec![f64::NAN; a.rows()];
        plan.compute(a, Finish::plain(1.0, 0.0), &x, &x, &mut y).unwrap();
        y
    };
    for method in [Method::Auto, Method::Sweeps] {
        let options = Options { method, ..Options::default() };
        let (first, second) = (Plan::cached(&c, &a, options).unwrap(), Plan::cached(&c, &a, options).unwrap());
        assert!(Arc::ptr_eq(&first, &second), "{method:?}: a plan was made twice");
        let other = Plan::cached(&c, &a, Options { op: Op::Transpose, ..options }).unwrap();
        assert!(!Arc::ptr_eq(&first, &other), "a plan for something else");
        let before = product(&first, &a);
        let doubled: Vec<f64> = values.iter().map(|v| 2.0 * v).collect();
        a.set_values(&vector(&c, &doubled)).unwrap();
        // The plan is in use, so it keeps its values, and a new plan is made.
        let renewed = Plan::cached(&c, &a, options).unwrap();
        assert!(!Arc::ptr_eq(&first, &renewed) && product(&first, &a) == before, "{method:?}");
        assert!(product(&renewed, &a).iter().zip(&before).all(|(y, b)| *y == 2.0 * b), "{method:?}");
        let last = Arc::as_ptr(&renewed);
        drop((first, second, renewed));
        a.set_values(&vector(&c, &values)).unwrap();
        let again = Plan::cached(&c, &a, options).unwrap();
        assert!(Arc::as_ptr(&again) == last && product(&again, &a) == before, "{method:?}: not brought up to date");
    }
    // Values that the caller may write to are read again by each call.
    let there = all_on_device::<f64>(&c, &a);
    let plan = Plan::cached(&c, &there, Options::default()).unwrap();
    assert!(Arc::ptr_eq(&plan, &Plan::cached(&c, &there, Options::default()).unwrap()));
}
