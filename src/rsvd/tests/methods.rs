//! Every method on the plain backend against golden data.

use std::sync::Arc;

use super::plain::Plain;
use super::support::{Dense, cpu, disorder, golden_numbers, read_npy, residual, task};
use crate::context::Context;
use crate::dense::cpu::matrix::CpuMatrix;
use crate::rsvd::algorithm::{ErrorFigures, estimate};
use crate::rsvd::algorithm::{Outcome, Run, Task, decompose, passes};
use crate::rsvd::erased::Typed;
use crate::rsvd::options::{IterationPrecision, Method, unit_roundoff};
use crate::scalar::{Complex, Scalar};

/// Krylov is not among them: its blocks are narrower where all of them would be more than the space.
const METHODS: [Method; 8] = [
    Method::Basic,
    Method::Fifo,
    Method::RowFused,
    Method::Gram,
    Method::Range,
    Method::Fused,
    Method::Merge,
    Method::Direct,
];

struct Found<T> {
    u: Dense<T>,
    s: Vec<f64>,
    v: Dense<T>,
    outcome: Outcome,
    passes: u64,
}

fn dense<T: Scalar>(m: &CpuMatrix<T>) -> Dense<T> {
    Dense { rows: m.rows(), columns: m.cols(), data: m.slice().unwrap().to_vec() }
}

fn found<T: Scalar>(context: &Arc<Context>, ops: &mut Plain<T>, task: &Task) -> Found<T> {
    let mut operations = Typed::new(&mut *ops);
    let mut run = Run::new(&mut operations, task, context, passes(task.method, task.iterations, task.one_pass));
    let factors = decompose(&mut run).unwrap();
    let error = estimate::identity(&run, &factors.s).unwrap();
    let mut figures = ErrorFigures::none();
    figures.frobenius = error.unwrap_or(f64::NAN);
    let outcome = run.outcome(factors.s.len(), figures).unwrap();
    let passes = run.ops.traffic().passes;
    let (u, v) = (factors.u.unwrap().into_inner().unwrap(), factors.v.unwrap().into_inner().unwrap());
    Found { u: dense(&u), s: factors.s, v: dense(&v), outcome, passes }
}

/// Golden matrices: with l = min(m, n) everything is exact.
fn whole_space<T: Scalar>(name: &str) {
    let context = cpu();
    let a = read_npy::<T>(&format!("{name}.npy"));
    let golden = golden_numbers(name, "singular_values");
    let least = a.rows.min(a.columns);
    let single = unit_roundoff(T::DTYPE) > 1e-10;
    for method in METHODS {
        for k in [1, 5, 10, 20, least] {
            let task = task(method, k, least, 2);
            let mut ops = a.plain(&context, 37);
            let f = found(&context, &mut ops, &task);
            let name = format!("{name} {:?} {method:?} k = {k}", T::DTYPE);
            let tolerance = match (single, method) {
                (true, _) => 5e-6,
                (false, Method::Gram) => 1e-7,
                (false, _) => 1e-12,
            };
            for (j, (x, y)) in f.s.iter().zip(&golden).enumerate() {
                assert!((x - y).abs() <= tolerance * golden[0], "{name}: sigma_{j} = {x}, {y} is right");
            }
            let limit = if single { 5e-6 } else { 1e-13 };
            assert!(disorder(&f.u) < limit, "{name}: U {}", disorder(&f.u));
            assert!(disorder(&f.v) < limit, "{name}: V {}", disorder(&f.v));
            let best = golden[k..].iter().map(|s| s * s).sum::<f64>().sqrt();
            let floor = if single { 1e-5 } else { 1e-13 } * golden[0] * (least as f64).sqrt();
            let error = residual(&a, &f.u, &f.s, &f.v);
            let floor = match (method, single) {
                (Method::Gram, false) => 1e-7,
                // Rows down to u^(1/4) of the largest carry u / u^(1/4).
                (Method::Fused, false) => 2e-12 * (least as f64).sqrt(),
                _ => floor,
            };
            assert!(error <= (1.0 + 1e-3) * best + floor, "{name}: error {error}, optimum {best}");
            if !f.outcome.error.frobenius.is_nan() {
                assert!((f.outcome.error.frobenius - error).abs() < 1e-3 * error + floor, "{name}: {error}");
            }
        }
    }
}

#[test]
fn golden_matrices_are_reproduced_by_every_method() {
    for name in
        ["geo_200x120", "poly_150x150", "step_240x80", "rank7_120x90", "wide_60x200", "cond1e12_256x32", "zeros_100x40"]
    {
        whole_space::<f64>(name);
        whole_space::<f32>(name);
    }
    whole_space::<Complex<f64>>("cplx_100x70");
    whole_space::<Complex<f32>>("cplx_100x70");
}

#[test]
fn passes_are_those_of_the_reference() {
    let context = cpu();
    let a = read_npy::<f64>("poly_150x150.npy");
    for q in 0..4 {
        for (method, expected) in [
            (Method::Basic, 2 * q + 1),
            (Method::RowFused, q + 1),
            (Method::Gram, 2),
            (Method::Brsvd, 2),
            (Method::Range, 2 * q + 2),
            (Method::Fused, q + 1),
            (Method::Merge, 2),
            (Method::Krylov, q + 1),
            (Method::OnePass, 1),
            (Method::Direct, 1),
        ] {
            let task = task(method, 10, 20, q);
            assert_eq!(passes(method, q, false), expected);
            let f = found(&context, &mut a.plain(&context, 40), &task);
            assert_eq!(f.passes, expected as u64, "{method:?} q = {q}: {}", f.outcome.remark);
        }
    }
}

/// ||A - U diag(s) V^H||_2.
fn spectral<T: Scalar>(context: &Arc<Context>, a: &Dense<T>, f: &Found<T>) -> f64 {
    use crate::dense::Algebra;
    let mut left = a.clone();
    for j in 0..a.columns {
        for i in 0..a.rows {
            for (k, s) in f.s.iter().enumerate() {
                let product = f.u.at(i, k) * f.v.at(j, k).conjugate();
                left.data[j * a.rows + i] -= product * T::from_parts(*s, 0.0);
            }
        }
    }
    let mut algebra = crate::dense::cpu::CpuAlgebra::new(context);
    let left = algebra.upload("test", a.rows, a.columns, &left.data, a.rows).unwrap();
    algebra.svd(&left).unwrap().s[0]
}

#[test]
fn rough_iterations_give_the_factors_of_exact_ones() {
    let context = cpu();
    for name in ["poly_150x150", "wide_60x200"] {
        let a = read_npy::<f64>(&format!("{name}.npy"));
        for (method, rough) in
            [(Method::Basic, 4), (Method::RowFused, 4), (Method::Range, 4), (Method::Fused, 4), (Method::Krylov, 4)]
        {
            let full = task(method, 10, 20, 2);
            let fast = Task { precision: IterationPrecision::Fast, ..full.clone() };
            let exact = found(&context, &mut a.plain(&context, 40), &full);
            let mut ops = a.plain(&context, 40);
            ops.has_rough = true;
            let f = found(&context, &mut ops, &fast);
            assert_eq!(ops.rough_passes, rough, "{name} {method:?}");
            assert_eq!(f.outcome.remark, exact.outcome.remark);
            let (e, want) = (spectral(&context, &a, &f), spectral(&context, &a, &exact));
            assert!((e - want).abs() <= 1e-3 * want, "{name} {method:?}: {e}, {want} with exact iterations");
            assert!(disorder(&f.u) < 1e-13 && disorder(&f.v) < 1e-13, "{name} {method:?}");
            // Without a faster way nothing changes, and it is said.
            let same = found(&context, &mut a.plain(&context, 40), &fast);
            assert!(same.s == exact.s && same.u.data == exact.u.data && same.v.data == exact.v.data);
            assert!(same.outcome.remark.contains("no faster one for F64"), "{}", same.outcome.remark);
        }
    }
}
