mod checksums;
pub(super) mod ends;
pub(crate) mod filters;
pub(super) mod kinds;
pub(super) mod orders;

use std::sync::Arc;

use super::cpu::Finish;
use super::*;
use crate::backend::memory::{HostMemory, Memory};
use crate::context::Context;
use crate::error::Error;
use crate::matrix::sparse::{Index, Norm, Rows, components, diagonal, norm};
use crate::matrix::{Csr, CsrParts, IndexType, Matrix};
use crate::scalar::{Complex, DType, Real, Scalar};
use crate::shape::Order;
use crate::tensor::{Location, Tensor};
use crate::testing::sparse::{GRAPHS, cpu, from_entries, golden, recorded, stored, vector};

pub(super) const ALL: [Method; 7] =
    [Method::Auto, Method::Scalar, Method::Vector, Method::RowGroup, Method::RowBin, Method::Merge, Method::EntrySplit];

/// A matrix as lists of entries.
pub(super) struct Lists {
    pub(super) cols: usize,
    pub(super) rows: Vec<Vec<usize>>,
}

fn noise(k: usize) -> usize {
    let mut x = k.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x1234_5678;
    x ^= x >> 31;
    x = x.wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x ^ (x >> 29)
}

pub(super) fn value(k: usize) -> f64 {
    (noise(k) % 2001) as f64 / 1000.0 - 1.0
}

/// Matrices with rows of every difficult kind.
pub(super) fn cases() -> Vec<(&'static str, Lists)> {
    let random = |rows: usize, cols: usize, most: usize, seed: usize| Lists {
        cols,
        rows: (0..rows)
            .map(|i| (0..noise(i + seed) % (most + 1)).map(|k| noise(i * 131 + k * 7 + seed) % cols).collect())
            .collect(),
    };
    let mut hub = random(40_000, 40_000, 3, 5);
    hub.rows[17] = (0..39_999).collect();
    hub.rows[18].clear();
    hub.rows[39_999] = (0..20_000).map(|c| c * 2).collect();
    let mut holes = random(50_000, 300, 2, 9);
    holes.rows[100..40_000].iter_mut().for_each(Vec::clear);
    vec![
        ("none", Lists { cols: 0, rows: vec![] }),
        ("no columns", Lists { cols: 0, rows: vec![vec![], vec![]] }),
        ("no rows", Lists { cols: 3, rows: vec![] }),
        ("one", Lists { cols: 1, rows: vec![vec![0]] }),
        ("a row", Lists { cols: 40_000, rows: vec![(0..40_000).collect()] }),
        ("a column", Lists { cols: 1, rows: (0..70).map(|i| if i % 3 == 0 { vec![0] } else { vec![] }).collect() }),
        ("empty", Lists { cols: 5, rows: vec![vec![]; 60_000] }),
        ("duplicates", Lists { cols: 3, rows: vec![vec![1, 1, 1, 0], vec![2, 2]] }),
        ("short", random(997, 501, 6, 1)),
        ("long", random(53, 8000, 3000, 2)),
        ("hub", hub),
        ("holes", holes),
    ]
}

pub(super) fn matrix<T: Scalar, I: Index>(
    c: &Arc<Context>,
    lists: &Lists,
    base: i64,
    pattern: bool,
) -> (Matrix, Vec<T>) {
    let mut row_ptr = vec![base];
    let mut cols = Vec::new();
    for row in &lists.rows {
        cols.extend(row.iter().map(|&c| I::from_usize(c + base as usize)));
        row_ptr.push(cols.len() as i64 + base);
    }
    let values: Vec<T> = (0..cols.len())
        .map(|k| if pattern { T::from_parts(1.0, 0.0) } else { T::from_parts(value(k), value(k + 1_000_003)) })
        .collect();
    let parts = CsrParts {
        row_ptr: stored(c, &row_ptr),
        row_ptr_type: IndexType::I64,
        col_idx: stored(c, &cols),
        col_idx_type: I::TYPE,
        values: (!pattern).then(|| Memory::Host(stored(c, &values))),
    };
    let csr = Csr::new(parts, lists.rows.len(), lists.cols, cols.len(), base).unwrap();
    (Matrix::from_csr(c, T::DTYPE, csr, true), values)
}

pub(super) fn entries<T: Scalar>(t: &Tensor) -> Vec<T> {
    t.view::<T>("t").unwrap().data().to_vec()
}

/// alpha op(A) x + beta y in f64, and its bound: 2 (length + 2) eps (|alpha| |A| |x| + |beta| |y|).
pub(super) fn reference<T: Scalar>(
    lists: &Lists,
    values: &[T],
    op: Op,
    scalars: (Complex<f64>, Complex<f64>),
    x: &[T],
    y: &[T],
) -> Vec<(Complex<f64>, f64)> {
    let wide = |v: T| Complex::new(v.re(), v.im());
    let (alpha, beta) = scalars;
    let count = if op == Op::Plain { lists.rows.len() } else { lists.cols };
    let zero = Complex::new(0.0, 0.0);
    let mut sums = vec![(zero, 0.0, 0usize); count];
    let mut k = 0;
    for (i, row) in lists.rows.iter().enumerate() {
        for &j in row {
            let v = if op == Op::Adjoint { wide(values[k]).conj() } else { wide(values[k]) };
            let (to, from) = if op == Op::Plain { (i, j) } else { (j, i) };
            let s = &mut sums[to];
            s.0 += v * wide(x[from]);
            s.1 += v.norm() * wide(x[from]).norm();
            s.2 += 1;
            k += 1;
        }
    }
    let eps = T::Part::EPSILON.to_f64();
    sums.iter()
        .enumerate()
        .map(|(i, (sum, size, length))| {
            let old = if beta == zero { zero } else { beta * wide(y[i]) };
            let bound = 2.0 * (*length as f64 + 2.0) * eps * (alpha.norm() * size + old.norm());
            // A complex product rounds several times.
            (alpha * sum + old, bound * if T::IS_COMPLEX { 4.0 } else { 1.0 })
        })
        .collect()
}

/// Every method on every case, in a context.
pub(super) fn check<T: Scalar, I: Index>(c: &Arc<Context>, all: &[Method], base: i64, pattern: bool, op: Op) {
    let s = |re, im| if T::IS_COMPLEX { Complex::new(re, im) } else { Complex::new(re, 0.0) };
    for (name, lists) in cases() {
        let (a, values) = matrix::<T, I>(c, &lists, base, pattern);
        let (rows, cols) = if op == Op::Plain { (a.rows(), a.cols()) } else { (a.cols(), a.rows()) };
        let x: Vec<T> = (0..cols).map(|k| T::from_parts(value(k + 17), value(k + 33))).collect();
        for &method in all {
            let plan = Plan::new(c, &a, Options { method, op, ..Options::default() }).unwrap();
            for (alpha, beta) in [(s(1.0, 0.0), s(0.0, 0.0)), (s(-1.5, 0.5), s(0.25, 1.0)), (s(0.0, 0.0), s(2.0, 0.0))]
            {
                let overwritten = beta == s(0.0, 0.0);
                let old: Vec<T> = (0..rows)
                    .map(|k| if overwritten { T::from_parts(f64::NAN, f64::NAN) } else { T::from_parts(value(k), 1.0) })
                    .collect();
                let mut y = vector(c, &old);
                plan.apply(alpha, &a, &vector(c, &x), beta, &mut y).unwrap();
                let expected = reference(&lists, &values, op, (alpha, beta), &x, &old);
                for (i, (found, (want, bound))) in entries::<T>(&y).iter().zip(expected).enumerate() {
                    let off = (Complex::new(found.re(), found.im()) - want).norm();
                    assert!(off <= bound, "{name} {method:?} {op:?} row {i}: {found:?}, not {want} +- {bound}");
                }
            }
        }
    }
}

#[test]
fn every_method_keeps_to_its_bound_for_every_shape() {
    let c = cpu(2);
    check::<f64, i32>(&c, &ALL, 0, false, Op::Plain);
    check::<f32, i64>(&c, &ALL, 1, false, Op::Plain);
    check::<Complex<f64>, i32>(&c, &ALL, 1, false, Op::Plain);
    check::<Complex<f32>, i64>(&c, &ALL, 0, false, Op::Plain);
}

#[test]
fn patterns_multiply_by_ones() {
    let c = cpu(2);
    check::<f64, i32>(&c, &ALL, 1, true, Op::Plain);
    check::<f32, i32>(&c, &ALL, 0, true, Op::Plain);
    check::<Complex<f32>, i64>(&c, &ALL, 0, true, Op::Plain);
}

#[test]
fn transposes_and_adjoints_are_multiplied_by() {
    let c = cpu(2);
    check::<f64, i32>(&c, &ALL, 0, false, Op::Transpose);
    check::<f32, i32>(&c, &ALL, 0, true, Op::Transpose);
    check::<Complex<f64>, i64>(&c, &ALL, 1, false, Op::Adjoint);
    check::<Complex<f32>, i32>(&c, &ALL, 0, false, Op::Transpose);
}

#[test]
fn blocks_are_vectors_side_by_side() {
    check_blocks(&cpu(2), &[Method::Scalar, Method::RowBin, Method::Merge, Method::EntrySplit]);
}

/// Blocks of vectors in a context.
pub(super) fn check_blocks(c: &Arc<Context>, all: &[Method]) {
    for (name, lists) in cases() {
        let (a, values) = matrix::<f64, i32>(c, &lists, 1, false);
        for &method in all {
            let plan = Plan::new(c, &a, Options { method, ..Options::default() }).unwrap();
            for width in [1usize, 3, 4, 8, 11, 16] {
                let x: Vec<f64> = (0..a.cols() * width).map(value).collect();
                let old: Vec<f64> = (0..a.rows() * width).map(|k| value(k + 5)).collect();
                let mut y = old.clone();
                plan.compute_block(&a, (2.0, -1.0), width, &x, &mut y).unwrap();
                for v in [0, width - 1] {
                    let one = |all: &[f64]| all.iter().skip(v).step_by(width).copied().collect::<Vec<_>>();
                    let scalars = (Complex::new(2.0, 0.0), Complex::new(-1.0, 0.0));
                    let expected = reference(&lists, &values, Op::Plain, scalars, &one(&x), &one(&old));
                    for (i, (found, (want, bound))) in one(&y).iter().zip(expected).enumerate() {
                        assert!((found - want.re).abs() <= bound, "{name} {method:?} {width} row {i}: {found}");
                    }
                }
            }
        }
        let plan = Plan::new(c, &a, Options::default()).unwrap();
        let (x, mut y) = (vec![f64::NAN; a.cols() * 2], vec![f64::NAN; a.rows() * 2]);
        plan.compute_block(&a, (0.0, 0.0), 2, &x, &mut y).unwrap();
        assert!(y.iter().all(|v| *v == 0.0), "{name}");
        assert!(plan.compute_block(&a, (1.0, 0.0), 0, &[], &mut []).is_err());
    }
}

#[test]
fn bits_do_not_depend_on_the_number_of_threads() {
    for method in ALL {
        let bits: Vec<Vec<u64>> = [1, 2, 5]
            .into_iter()
            .map(|threads| {
                let c = cpu(threads);
                let lists = &cases().into_iter().find(|c| c.0 == "hub").unwrap().1;
                let (a, _) = matrix::<f64, i32>(&c, lists, 0, false);
                let plan = Plan::new(&c, &a, Options { method, ..Options::default() }).unwrap();
                let x: Vec<f64> = (0..a.cols()).map(value).collect();
                let mut y = vector(&c, &vec![0.0; a.rows()]);
                plan.apply(Complex::new(1.0, 0.0), &a, &vector(&c, &x), Complex::new(0.0, 0.0), &mut y).unwrap();
                entries::<f64>(&y).iter().map(|v| v.to_bits()).collect()
            })
            .collect();
        assert!(bits[0] == bits[1] && bits[0] == bits[2], "{method:?}");
    }
}

#[test]
fn plans_refuse_what_does_not_fit_and_take_new_values() {
    let c = cpu(1);
    let lists = Lists { cols: 3, rows: vec![vec![0, 2], vec![1]] };
    let (a, _) = matrix::<f64, i32>(&c, &lists, 0, true);
    let (b, _) = matrix::<f64, i32>(&c, &Lists { cols: 3, rows: vec![vec![0], vec![1]] }, 0, true);
    let one = Complex::new(1.0, 0.0);
    let mut plan = Plan::new(&c, &a, Options { op: Op::Transpose, ..Options::default() }).unwrap();
    let (mut y, x) = (vector(&c, &[0.0; 3]), vector(&c, &[1.0f64, 10.0]));
    plan.apply(one, &a, &x, one, &mut y).unwrap();
    assert_eq!(entries::<f64>(&y), [1.0, 10.0, 1.0]);
    let message = |e: Error| e.to_string();
    let e = plan.apply(one, &b, &x, one, &mut y).map_err(message);
    assert_eq!(e.unwrap_err(), "a: is 2 x 3 with 2 entries, the plan is for 2 x 3 with 3 entries");
    let e = plan.apply(one, &a, &vector(&c, &[0.0; 3]), one, &mut y).map_err(message);
    assert_eq!(e.unwrap_err(), "x: has dimensions [3], [2] are needed");
    assert!(plan.apply(one, &a, &vector(&c, &[1.0f32; 2]), one, &mut y).is_err());
    let (valued, values) = matrix::<f64, i32>(&c, &lists, 0, false);
    plan.update(&valued).unwrap();
    plan.apply(one, &valued, &x, Complex::new(0.0, 0.0), &mut y).unwrap();
    assert_eq!(entries::<f64>(&y), [values[0], values[2] * 10.0, values[1]]);
    assert!(Plan::new(&c, &a, Options { symmetric: true, ..Options::default() }).is_err());
    let dense = Matrix::create(&c, DType::F64, Location::Host, Order::ColumnMajor, 2, 2).unwrap();
    assert!(Plan::new(&c, &dense, Options::default()).is_err());
}

#[test]
fn the_rest_of_a_row_is_added_to_its_sum() {
    let c = cpu(2);
    let lists = Lists { cols: 4, rows: vec![vec![0, 1], vec![], vec![3], vec![0, 1, 2, 3]] };
    let (a, values) = matrix::<f64, i32>(&c, &lists, 0, false);
    let x = [1.0, -2.0, 3.0, 0.5];
    let (scale, diagonal) = ([2.0, 3.0, 4.0, 5.0], [0.5, 0.25, -1.0, 7.0]);
    let finish =
        Finish { alpha: -1.0, beta: 0.0, row_scale: Some(&scale), shift: 10.0, diagonal: Some(&diagonal), weight: 0.5 };
    for method in ALL {
        let plan = Plan::new(&c, &a, Options { method, ..Options::default() }).unwrap();
        let mut y = [f64::NAN; 4];
        plan.compute(&a, finish, &x, &x, &mut y).unwrap();
        let mut k = 0;
        for (i, row) in lists.rows.iter().enumerate() {
            let sum: f64 = row
                .iter()
                .map(|&j| {
                    k += 1;
                    values[k - 1] * x[j]
                })
                .sum();
            let want = -scale[i] * sum + (10.0 + 0.5 * diagonal[i]) * x[i];
            assert!((y[i] - want).abs() <= 1e-13 * want.abs().max(1.0), "{method:?} {i}: {} {want}", y[i]);
        }
    }
}

#[test]
fn graphs_give_the_recorded_sums() {
    check_graphs(&cpu(2), &ALL);
}

/// Recorded sums of real graphs, in a context.
pub(super) fn check_graphs(c: &Arc<Context>, all: &[Method]) {
    let plain = GRAPHS.into_iter().chain(["bcsstk13", "cit-HepPh-directed_raw"]).map(|name| (name, "spmv", Op::Plain));
    for (name, section, op) in plain.chain([("cit-HepPh-directed_raw", "spmv_transpose", Op::Transpose)]) {
        let a = golden(c, name);
        let n = a.rows();
        let number = |key: &str| recorded(name, &format!("{section}.{key}"))[0];
        let x: Vec<f64> =
            (0..n).map(|i| ((i * 2_654_435_761) % (1 << 32)) as f64 / (1u64 << 32) as f64 - 0.5).collect();
        let scale = norm(&a, if op == Op::Plain { Norm::Infinity } else { Norm::One }).unwrap();
        for &method in all {
            let plan = Plan::new(c, &a, Options { method, op, ..Options::default() }).unwrap();
            let mut y = vec![f64::NAN; n];
            plan.compute(&a, Finish::plain(1.0, 0.0), &x, &x, &mut y).unwrap();
            let limit = 1e-13 * scale * (n as f64).sqrt();
            let near = |key: &str, found: f64, limit: f64| {
                let want = number(key);
                assert!((found - want).abs() <= limit, "{name} {op:?} {method:?} {key}: {found}, not {want}");
            };
            near("sum_y", y.iter().sum(), limit);
            near("sum_i_y", y.iter().enumerate().map(|(i, v)| i as f64 * v).sum(), limit * n as f64);
            near("norm2_y", y.iter().map(|v| v * v).sum::<f64>().sqrt(), 1e-13 * number("norm2_y") * 10.0);
            near("y0", y[0], 1e-13 * scale);
            near("y_longest", y[number("row_longest") as usize], 1e-13 * scale);
            near("max_y", y.iter().copied().fold(f64::MIN, f64::max), 1e-13 * scale);
            near("min_y", y.iter().copied().fold(f64::MAX, f64::min), 1e-13 * scale);
        }
    }
}

#[test]
fn graphs_have_the_recorded_structure() {
    let c = cpu(2);
    for name in GRAPHS.into_iter().chain(["bcsstk13", "cit-HepPh-directed_raw"]) {
        let a = golden(&c, name);
        let rows = Rows::new(tiles::csr(&a).unwrap()).unwrap();
        let lengths: Vec<usize> = (0..a.rows()).map(|i| rows.row(i).len()).collect();
        let same = |key: &str, found: usize| assert_eq!(found as f64, recorded(name, key)[0], "{name} {key}");
        same("n", a.rows());
        same("nnz", lengths.iter().sum());
        same("diag_nnz", diagonal(&a).unwrap().iter().filter(|d| d.re != 0.0).count());
        let longest = *lengths.iter().max().unwrap();
        same("max_row", longest);
        same("min_row", *lengths.iter().min().unwrap());
        same("empty_rows", lengths.iter().filter(|l| **l == 0).count());
        same("spmv.row_longest", lengths.iter().position(|l| *l == longest).unwrap());
        same("spmv.len_longest", longest);
        let parts = components(&a).unwrap();
        same("components", parts.sizes.len());
        same("largest_component", *parts.sizes.iter().max().unwrap());
        let near = |key: &str, found: f64| {
            let want = recorded(name, key)[0];
            assert!((found - want).abs() <= 1e-13 * want, "{name} {key}: {found}, not {want}");
        };
        // In whole numbers, so that only the last operation rounds.
        let (n, sum) = (a.rows(), lengths.iter().sum::<usize>());
        let squares: usize = lengths.iter().map(|l| l * l).sum();
        near("mean_row", sum as f64 / n as f64);
        near("std_row", ((n * squares - sum * sum) as f64).sqrt() / n as f64);
    }
    // The columns of a matrix are the rows of its transpose.
    let a = golden(&c, "cit-HepPh-directed_raw");
    let rows = Rows::new(tiles::csr(&a).unwrap()).unwrap();
    let mut columns = vec![0usize; a.cols()];
    (0..a.rows()).flat_map(|i| rows.row(i)).for_each(|k| columns[rows.col(k)] += 1);
    let of = |key: &str| recorded("cit-HepPh-directed_raw", &format!("spmv_transpose.{key}"))[0] as usize;
    assert_eq!(columns.iter().max(), Some(&of("len_longest")));
    assert_eq!(columns[of("row_longest")], of("len_longest"));
}

#[test]
#[ignore = "needs 9 GB of memory"]
fn entries_beyond_32_bits_are_reached() {
    check_beyond_32_bits(&cpu(0), &ALL);
}

/// More entries than 32 bits can count, in a pattern.
pub(super) fn check_beyond_32_bits(c: &Arc<Context>, all: &[Method]) {
    let (rows, cols) = (40_009usize, 70_001usize);
    let each = (1usize << 31) / rows + 2;
    let nnz = rows * each;
    let allocate = |bytes| HostMemory::allocate("test", bytes, c.host_budget()).unwrap();
    let (mut row_ptr, mut col_idx) = (allocate(8 * (rows + 1)), allocate(4 * nnz));
    for (i, p) in row_ptr.as_mut_slice::<i64>().unwrap().iter_mut().enumerate() {
        *p = (i * each) as i64;
    }
    // Row i has columns i, i + 1, ..., around the end.
    for (k, c) in col_idx.as_mut_slice::<i32>().unwrap().iter_mut().enumerate() {
        *c = ((k / each + k % each) % cols) as i32;
    }
    let parts = CsrParts { row_ptr, row_ptr_type: IndexType::I64, col_idx, col_idx_type: IndexType::I32, values: None };
    let a = Matrix::from_csr(c, DType::F64, Csr::new(parts, rows, cols, nnz, 0).unwrap(), true);
    // Whole numbers, whose sums are exact in any order.
    let x: Vec<f64> = (0..cols).map(|j| (j % 1000) as f64).collect();
    let mut before = vec![0.0; 2 * cols + 1];
    for j in 0..2 * cols {
        before[j + 1] = before[j] + x[j % cols];
    }
    for &method in all {
        let plan = Plan::new(c, &a, Options { method, ..Options::default() }).unwrap();
        let mut y = vec![f64::NAN; rows];
        plan.compute(&a, Finish::plain(1.0, 0.0), &x, &x, &mut y).unwrap();
        for (i, found) in y.iter().enumerate() {
            assert_eq!(*found, before[i % cols + each] - before[i % cols], "{method:?} row {i}");
        }
    }
}

#[test]
fn blocks_of_one_row_have_both_orders() {
    let c = cpu(1);
    let block = |order: Order, rows: usize, values: &[f64]| {
        let mut made = Matrix::create(&c, DType::F64, Location::Host, order, rows, 3).unwrap();
        made.dense_mut("m")
            .unwrap()
            .memory
            .host_mut("m")
            .unwrap()
            .as_mut_slice::<f64>()
            .unwrap()
            .copy_from_slice(values);
        made
    };
    let tall = from_entries(&c, (5, 1), &(0..5).map(|i| (i, 0, i as f64 + 1.0)).collect::<Vec<_>>());
    let wide = from_entries(&c, (1, 5), &(0..5).map(|i| (0, i, i as f64 + 1.0)).collect::<Vec<_>>());
    let (one, zero) = (Complex::new(1.0, 0.0), Complex::new(0.0, 0.0));
    for [x, y] in [[Order::RowMajor, Order::ColumnMajor], [Order::ColumnMajor, Order::RowMajor]] {
        let at = |order: Order, i: usize, j: usize| if order == Order::RowMajor { i * 3 + j } else { j * 5 + i };
        let (from, mut to) = (block(x, 1, &[1.0, 10.0, 100.0]), block(y, 5, &[0.0; 15]));
        Plan::new(&c, &tall, Options::default()).unwrap().apply_block(one, &tall, &from, zero, &mut to).unwrap();
        let found = to.dense("m").unwrap().memory.host("m").unwrap().as_slice::<f64>().unwrap();
        for (i, j) in (0..5).flat_map(|i| (0..3).map(move |j| (i, j))) {
            assert_eq!(found[at(y, i, j)], (i as f64 + 1.0) * 10f64.powi(j as i32));
        }
        let (from, mut to) = (block(x, 5, &[1.0; 15]), block(y, 1, &[0.0; 3]));
        Plan::new(&c, &wide, Options::default()).unwrap().apply_block(one, &wide, &from, zero, &mut to).unwrap();
        assert_eq!(to.dense("m").unwrap().memory.host("m").unwrap().as_slice::<f64>().unwrap(), [15.0; 3]);
    }
    // Two rows have one order.
    let two = from_entries(&c, (2, 2), &[(0, 0, 1.0), (1, 1, 1.0)]);
    let (from, mut to) = (block(Order::RowMajor, 2, &[1.0; 6]), block(Order::ColumnMajor, 2, &[0.0; 6]));
    let plan = Plan::new(&c, &two, Options::default()).unwrap();
    assert!(matches!(plan.apply_block(one, &two, &from, zero, &mut to), Err(Error::NotSupported(_))));
}
