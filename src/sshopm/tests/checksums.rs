//! Bits of the pairs: a change of structure must not change one.

use std::sync::Arc;

use super::support::{dense, from_slice, symmetric};
use crate::context::Context;
use crate::error::Result;
use crate::progress::Progress;
use crate::scalar::{Real, Scalar};
use crate::sshopm::{Goal, Method, Options, Results, Shift, Sign, StartKind, all, classify, product, solve, starts};
use crate::tensor::{Symmetric, Tensor};
use crate::testing::checksums::{Cases, Checksum, checksum_tests, value};

checksum_tests!("sshopm", cases);

fn cases(c: &Arc<Context>, out: &mut Cases) {
    of::<f32>(c, out);
    of::<f64>(c, out);
}

/// Tensors in a batch: a full vector of lanes and a rest.
const TENSORS: usize = 9;

fn batch<T: Real>(c: &Arc<Context>, order: usize, dimension: usize, count: usize) -> Tensor {
    let each = Symmetric { order, dimension }.count();
    let entries: Vec<f64> = (0..each * count).map(|k| value(k + 1000 * order + 77 * dimension)).collect();
    symmetric::<T>(c, order, dimension, &entries)
}

fn add<T: Real + Scalar>(sum: Checksum, t: &Tensor) -> Result<Checksum> {
    Ok(sum.numbers(t.view::<T>("t")?.data()))
}

fn add_words(sum: Checksum, t: &Tensor) -> Result<Checksum> {
    Ok(sum.integers(t.view::<i32>("t")?.data().iter().map(|v| u64::from(v.cast_unsigned()))))
}

/// Checksum of the pairs of every tensor.
fn pairs<T: Real + Scalar>(c: &Arc<Context>, a: &Tensor, from: Option<&Tensor>, o: &Options) -> Result<Checksum> {
    let (k, t, n) = (6, a.dims()[1], a.expect_symmetric("a")?.dimension);
    let mut reals = [dense::<T>(c, &[k, t]), dense::<T>(c, &[k, t]), dense::<T>(c, &[n, k, t])];
    let mut hessian = dense::<T>(c, &[n - 1, k, t]);
    let mut words = [dense::<i32>(c, &[t]), dense::<i32>(c, &[t]), dense::<i32>(c, &[k, t]), dense::<i32>(c, &[k, t])];
    let ([values, residuals, vectors], [count, status, classes, basins]) = (&mut reals, &mut words);
    let mut results = Results {
        count: Some(count),
        values: Some(values),
        vectors: Some(vectors),
        residuals: Some(residuals),
        classes: Some(classes),
        hessian: Some(&mut hessian),
        basins: Some(basins),
        status: Some(status),
        ..Results::default()
    };
    let info = solve(c, None, a, from, o, &mut results, &Progress::none())?;
    let sum = reals.iter().chain([&hessian]).try_fold(Checksum::new(), add::<T>)?;
    Ok(words.iter().try_fold(sum, add_words)?.integers([info.iterations.cast_unsigned()]))
}

/// The end of every start.
fn ends<T: Real + Scalar>(c: &Arc<Context>, a: &Tensor, from: &Tensor, o: &Options) -> Result<Checksum> {
    let (v, t, n) = (from.dims()[1], a.dims()[1], from.dims()[0]);
    let mut reals = [&[v, t][..], &[v, t], &[v, t], &[n, v, t]].map(|dims| dense::<T>(c, dims));
    let mut words = [dense::<i32>(c, &[v, t]), dense::<i32>(c, &[v, t]), dense::<i32>(c, &[v, t])];
    let ([values, residuals, shifts, vectors], [iterations, status, violations]) = (&mut reals, &mut words);
    let mut results = Results {
        start_values: Some(values),
        start_vectors: Some(vectors),
        start_residuals: Some(residuals),
        start_iterations: Some(iterations),
        start_shifts: Some(shifts),
        start_status: Some(status),
        start_violations: Some(violations),
        ..Results::default()
    };
    solve(c, None, a, Some(from), o, &mut results, &Progress::none())?;
    words.iter().try_fold(reals.iter().try_fold(Checksum::new(), add::<T>)?, add_words)
}

fn of<T: Real + Scalar>(c: &Arc<Context>, out: &mut Cases) {
    let kind = T::DTYPE.name();
    let base = Options { starts: 4, max_iterations: 30, ..Options::default() };
    for (order, dimension) in [(2, 3), (3, 3), (4, 3), (6, 3), (4, 2), (3, 5), (5, 4)] {
        let a = batch::<T>(c, order, dimension, TENSORS);
        let numbers: Vec<T> = (0..5 * dimension).map(|k| T::from_f64(value(k + 3))).collect();
        let given = from_slice(c, &[dimension, 5], &numbers);
        let name = format!("{kind} order {order} dimension {dimension}");
        for method in [Method::Hybrid, Method::Power] {
            for (shift_kind, shift) in [(Shift::Adaptive, 0.0), (Shift::Fixed, 4.0), (Shift::Guaranteed, 0.0)] {
                let o = Options { method, shift_kind, shift, ..base };
                let what = format!("{name} {method:?} {shift_kind:?}");
                out.add(format!("{what} pairs"), pairs::<T>(c, &a, None, &o));
                out.add(format!("{what} ends"), ends::<T>(c, &a, &given, &Options { starts: 0, ..o }));
            }
            let o = Options { method, goal: Goal::Both, sign: Sign::Raw, starts: 0, ..base };
            out.add(format!("{name} {method:?} both goals"), pairs::<T>(c, &a, Some(&given), &o));
        }
        out.add(format!("{name} products"), products::<T>(c, &a, &given));
    }
    for start_kind in [StartKind::FibonacciHemisphere, StartKind::Icosahedral, StartKind::Random, StartKind::RandomCube]
    {
        let count = if start_kind == StartKind::Icosahedral { 6 } else { 7 };
        let run = || {
            let mut points = dense::<T>(c, &[3, count]);
            starts(c, None, start_kind, 5, &mut points)?;
            let o = Options { start_kind, starts: count as i64, ..base };
            let a = batch::<T>(c, 4, 3, 5);
            Ok(add::<T>(Checksum::new(), &points)?.all(&[pairs::<T>(c, &a, None, &o)?]))
        };
        out.add(format!("{kind} starts {start_kind:?}"), run());
    }
    for (order, dimension) in [(3, 3), (4, 3), (3, 4)] {
        out.add(format!("{kind} all of order {order} dimension {dimension}"), every_pair::<T>(c, order, dimension));
    }
}

/// Products with given vectors, and the classes of those.
fn products<T: Real + Scalar>(c: &Arc<Context>, a: &Tensor, x: &Tensor) -> Result<Checksum> {
    let (v, t) = (x.dims()[1], a.dims()[1]);
    let Symmetric { order, dimension: n } = a.expect_symmetric("a")?;
    let each: Vec<T> = (0..t).flat_map(|_| x.view::<T>("x").unwrap().data().to_vec()).collect();
    let vectors = from_slice(c, &[n, v, t], &each);
    let mut sum = Checksum::new();
    for (free, dims) in [(0, &[v, t][..]), (1, &[n, v, t]), (2, &[n, n, v, t])] {
        let mut found = dense::<T>(c, dims);
        product(c, None, a, &vectors, (order - free) as i64, &mut found)?;
        sum = add::<T>(sum, &found)?;
    }
    let values = dense::<T>(c, &[v, t]);
    let (mut residuals, mut hessian) = (dense::<T>(c, &[v, t]), dense::<T>(c, &[n - 1, v, t]));
    let mut classes = dense::<i32>(c, &[v, t]);
    let outputs = (Some(&mut residuals), Some(&mut hessian), Some(&mut classes));
    classify(c, None, a, &values, &vectors, 0.0, outputs.0, outputs.1, outputs.2)?;
    add_words(add::<T>(add::<T>(sum, &residuals)?, &hessian)?, &classes)
}

fn every_pair<T: Real + Scalar>(c: &Arc<Context>, order: usize, n: usize) -> Result<Checksum> {
    let (k, t) = (20, 2);
    let a = batch::<T>(c, order, n, t);
    let mut reals = [&[k, t][..], &[k, t], &[n, k, t], &[n - 1, k, t]].map(|dims| dense::<T>(c, dims));
    let mut words = [&[t][..], &[t], &[k, t], &[t], &[t]].map(|dims| dense::<i32>(c, dims));
    let ([values, residuals, vectors, hessian], [count, status, classes, morse, expected]) = (&mut reals, &mut words);
    let mut results = Results {
        count: Some(count),
        values: Some(values),
        vectors: Some(vectors),
        residuals: Some(residuals),
        classes: Some(classes),
        hessian: Some(hessian),
        status: Some(status),
        ..Results::default()
    };
    let o = Options { starts: 30, max_starts: 60, seed: 3, ..Options::default() };
    all(c, None, &a, &o, &mut results, Some(morse), Some(expected), &Progress::none())?;
    words.iter().try_fold(reals.iter().try_fold(Checksum::new(), add::<T>)?, add_words)
}
