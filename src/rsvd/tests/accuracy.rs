//! Published tables, and what is claimed of one method against another.
//!
//! Errors depend on the spectrum alone where the sketch is Gaussian and the matrix is not cut, so that a diagonal matrix,
//! kept sparse, stands for a dense one.

use std::sync::Arc;

use super::support::{Dense, PACKED, cpu, factor, matrix, with_spectrum};
use crate::backend::memory::HostMemory;
use crate::context::Context;
use crate::matrix::{Csr, CsrParts, IndexType, Matrix};
use crate::rsvd::Options;
use crate::rsvd::options::Method;
use crate::scalar::DType;

fn host<T: crate::scalar::Element>(context: &Arc<Context>, values: &[T]) -> HostMemory {
    let mut memory = HostMemory::allocate("test", size_of_val(values), context.host_budget()).unwrap();
    memory.as_mut_slice::<T>().unwrap().copy_from_slice(values);
    memory
}

/// A sparse matrix.
fn csr(context: &Arc<Context>, shape: (usize, usize), offsets: &[i64], columns: &[i32], values: &[f64]) -> Matrix {
    let parts = CsrParts {
        row_ptr: host(context, offsets),
        row_ptr_type: IndexType::I64,
        col_idx: host(context, columns),
        col_idx_type: IndexType::I32,
        values: Some(crate::backend::memory::Memory::Host(host(context, values))),
    };
    let csr = Csr::new(parts, shape.0, shape.1, values.len(), 0).unwrap();
    Matrix::from_csr(context, DType::F64, csr, true)
}

fn diagonal(context: &Arc<Context>, s: &[f64]) -> Matrix {
    let n = s.len();
    let offsets: Vec<i64> = (0..=n as i64).collect();
    let columns: Vec<i32> = (0..n as i32).collect();
    csr(context, (n, n), &offsets, &columns, s)
}

/// Mean of e2 = ||A - A_k||_F / ||A||_F over seeds.
fn mean_error(context: &Arc<Context>, a: &Matrix, options: &Options, seeds: u64) -> f64 {
    let run = |seed| factor::<f64>(context, a, Options { seed, ..options.clone() }).unwrap().info.error_relative;
    (0..seeds).map(run).sum::<f64>() / seeds as f64
}

fn geometric(n: usize) -> Vec<f64> {
    (0..n).map(|j| 0.99f64.powi(j as i32)).collect()
}

fn exponential(n: usize) -> Vec<f64> {
    (1..=n).map(|j| (-(j as f64) / 160.0).exp()).collect()
}

#[test]
fn table_of_1000_x_1000_with_20_columns() {
    let context = cpu();
    let tail: Vec<f64> = (1..=1000).map(|j| if j <= 10 { 1.0 } else { 1.0 / (j - 10) as f64 }).collect();
    for (s, right, tolerance) in [
        (geometric(1000), [0.900, 0.852, 0.837, 0.830], 0.004),
        (exponential(1000), [0.939, 0.907, 0.897, 0.893], 0.004),
        // The first column scatters by 0.015 to 0.02 from seed to seed: 0.006 in the mean of ten, of which three.
        (tail, [0.199, 0.095, 0.092, 0.091], 0.018),
    ] {
        let a = diagonal(&context, &s);
        for (q, right) in right.into_iter().enumerate() {
            for method in [Method::Range, Method::Fused] {
                let options = Options {
                    rank: 20,
                    oversampling: Some(0),
                    power_iterations: Some(q),
                    method,
                    ..Options::default()
                };
                let mean = mean_error(&context, &a, &options, 10);
                let tolerance = if q == 0 { tolerance } else { 0.004 };
                assert!((mean - right).abs() <= tolerance, "{method:?} q = {q}: {mean}, not {right}");
            }
        }
    }
}

#[test]
fn table_of_1000_x_1000_with_40_columns() {
    let context = cpu();
    let a = diagonal(&context, &geometric(1000));
    for (q, right) in [0.8757, 0.8314, 0.8220, 0.8193].into_iter().enumerate() {
        let options = Options {
            rank: 20,
            oversampling: Some(20),
            power_iterations: Some(q),
            method: Method::Fused,
            ..Options::default()
        };
        let mean = mean_error(&context, &a, &options, 10);
        assert!((mean - right).abs() <= 0.004, "q = {q}: {mean}, not {right}");
    }
    // Ten ones and a steep tail: with bases made orthonormal between products, iterations lose nothing.
    let s: Vec<f64> = (1..=1000).map(|j| if j <= 10 { 1.0 } else { 10f64.powi(10 - j) }).collect();
    let best = s[20..].iter().map(|x| x * x).sum::<f64>().sqrt() / s.iter().map(|x| x * x).sum::<f64>().sqrt();
    let a = diagonal(&context, &s);
    for q in 0..4 {
        let options = Options {
            rank: 20,
            oversampling: Some(20),
            power_iterations: Some(q),
            method: Method::Range,
            ..Options::default()
        };
        let f = factor::<f64>(&context, &a, options).unwrap();
        // Of a diagonal matrix the error is summed entry by entry.
        let mut error = 0.0;
        for j in 0..1000 {
            for (i, &value) in s.iter().enumerate() {
                let product: f64 = (0..20).map(|k| f.u.at(i, k) * f.s[k] * f.v.at(j, k)).sum();
                error += (if i == j { value } else { 0.0 } - product).powi(2);
            }
        }
        let relative = error.sqrt() / 10f64.sqrt();
        // 3.177e-12 is published; rounding of U and V adds a little of 1e-15 a column.
        assert!((best - 3.177e-12).abs() < 1e-15);
        assert!((relative - best).abs() < 0.05 * best, "q = {q}: {relative:e} {best:e}");
    }
}

#[test]
fn table_of_10000_x_5000_with_64_of_128_columns() {
    let context = cpu();
    for (s, one, four, range) in [(geometric(5000), 0.536, 0.5256, 0.5277), (exponential(5000), 0.693, 0.6704, 0.6779)]
    {
        let a = diagonal(&context, &s);
        for (method, q, right) in [
            (Method::RowFused, 1, one),
            (Method::RowFused, 4, four),
            (Method::Range, 1, range),
            (Method::Fused, 1, range),
        ] {
            let options =
                Options { rank: 64, oversampling: Some(64), power_iterations: Some(q), method, ..Options::default() };
            let mean = mean_error(&context, &a, &options, 2);
            assert!((mean - right).abs() <= 0.002, "{method:?} q = {q}: {mean}, not {right}");
        }
    }
}

#[test]
fn merging_blocks_beats_summing_them_and_passing_again() {
    let context = cpu();
    let n = 600;
    let root: Vec<f64> = (1..=n).map(|j| (j as f64).powf(-0.5)).collect();
    for (name, s) in [("0.99^j", geometric(n)), ("exp", exponential(n)), ("j^-0.5", root)] {
        let a: Dense<f64> = with_spectrum(&context, 600, 1200, &s, 3);
        let m = matrix(&context, &a, PACKED);
        for q in 0..3 {
            // The longer axis is cut: 16 blocks.
            let options = |method, width| Options {
                rank: 10,
                oversampling: Some(10),
                power_iterations: Some(q),
                merge_width: width,
                block_rows: 75,
                method,
                ..Options::default()
            };
            let error = |method, width| mean_error(&context, &m, &options(method, width), 2);
            let (twice, once) = (error(Method::Merge, 40), error(Method::Merge, 20));
            let (multi, sum) = (error(Method::Range, 0), error(Method::Brsvd, 0));
            assert!(twice < once && once < multi && once < sum, "{name} q = {q}: {twice} {once} {multi} {sum}");
        }
    }
}

#[test]
fn krylov_beats_power_iteration_from_two_iterations_on() {
    let context = cpu();
    let s = geometric(1000);
    let a = diagonal(&context, &s);
    let total: f64 = s.iter().map(|x| x * x).sum();
    let best = (s[20..].iter().map(|x| x * x).sum::<f64>() / total).sqrt();
    for q in 2..4 {
        let options = |method| Options {
            rank: 20,
            oversampling: Some(20),
            power_iterations: Some(q),
            method,
            ..Options::default()
        };
        let krylov = mean_error(&context, &a, &options(Method::Krylov), 2);
        let power = mean_error(&context, &a, &options(Method::RowFused), 2);
        // Published for q = 3: 0.81798 against 0.81976, optimum 0.81791.
        let part = if q == 2 { 0.5 } else { 0.2 };
        assert!(krylov - best < part * (power - best), "q = {q}: {krylov} {power} {best}");
    }
}

#[test]
fn a_flat_sparse_spectrum_needs_krylov() {
    let context = cpu();
    let text = std::fs::read_to_string(super::support::golden("sparse_2000x1500.mtx")).unwrap();
    let mut lines = text.lines().filter(|l| !l.starts_with('%'));
    let size: Vec<usize> = lines.next().unwrap().split_whitespace().map(|x| x.parse().unwrap()).collect();
    let mut entries: Vec<(usize, i32, f64)> = lines
        .map(|l| {
            let mut parts = l.split_whitespace();
            let row: usize = parts.next().unwrap().parse().unwrap();
            let column: i32 = parts.next().unwrap().parse().unwrap();
            (row - 1, column - 1, parts.next().unwrap().parse().unwrap())
        })
        .collect();
    entries.sort_by_key(|e| (e.0, e.1));
    let mut offsets = vec![0i64; size[0] + 1];
    entries.iter().for_each(|e| offsets[e.0 + 1] += 1);
    (0..size[0]).for_each(|i| offsets[i + 1] += offsets[i]);
    let columns: Vec<i32> = entries.iter().map(|e| e.1).collect();
    let values: Vec<f64> = entries.iter().map(|e| e.2).collect();
    let a = csr(&context, (size[0], size[1]), &offsets, &columns, &values);
    let golden = super::support::golden_numbers("sparse_2000x1500", "singular_values");
    for (q, tolerance) in [(12, 1e-5), (20, 1e-12)] {
        let options = Options {
            rank: 12,
            oversampling: Some(10),
            power_iterations: Some(q),
            method: Method::Krylov,
            ..Options::default()
        };
        let f = factor::<f64>(&context, &a, options).unwrap();
        for (x, y) in f.s.iter().zip(&golden) {
            assert!((x - y).abs() <= tolerance * golden[0], "q = {q}: {x}, not {y}");
        }
    }
    let options = Options { rank: 12, power_iterations: Some(20), method: Method::RowFused, ..Options::default() };
    let f = factor::<f64>(&context, &a, options).unwrap();
    assert!((f.s[11] - golden[11]).abs() > 1e-4 * golden[0], "plain iteration is not expected to get there");
}

#[test]
fn one_pass_is_much_less_accurate_than_two() {
    let context = cpu();
    let s: Vec<f64> = (0..300).map(|j| 0.95f64.powi(j)).collect();
    let m = matrix(&context, &with_spectrum::<f64>(&context, 400, 300, &s, 9), PACKED);
    let f = |method| {
        let options =
            Options { rank: 40, oversampling: Some(0), power_iterations: Some(0), method, ..Options::default() };
        let f = factor::<f64>(&context, &m, options).unwrap();
        super::support::residual(&super::support::held(&m), &f.u, &f.s, &f.v)
    };
    let (one, two) = (f(Method::OnePass), f(Method::Range));
    let total = s.iter().map(|x| x * x).sum::<f64>().sqrt();
    assert!(two < one && one < 0.6 * total, "{one} {two} of {total}");
}
