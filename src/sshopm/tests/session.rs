//! The solver as an object: its plan against the reports of its runs, and options of its two calls.

use std::sync::Arc;

use super::support::*;
use crate::backend::BackendChoice;
use crate::context::{Context, Options as ContextOptions};
use crate::error::Result;
use crate::rng;
use crate::sshopm::{Compatibility, Goal, Info, Method, Options, Results, Sshopm, StartKind};
use crate::tensor::Tensor;

fn context(threads: usize, host_memory_limit: u64) -> Arc<Context> {
    let backend = BackendChoice::Cpu;
    Context::new(ContextOptions { backend, threads, host_memory_limit, ..ContextOptions::default() }).unwrap()
}

fn batch(c: &Arc<Context>, m: usize, n: usize, count: usize) -> Tensor {
    let packed = crate::tensor::Symmetric { order: m, dimension: n }.count();
    let entries: Vec<f64> = (0..packed * count).map(|k| rng::normal(8, 21, 4, u32::try_from(k).unwrap())).collect();
    symmetric::<f64>(c, m, n, &entries)
}

fn counted(solver: &Sshopm, a: &Tensor) -> Info {
    planned_and_counted(solver, a).1.unwrap()
}

/// The plan and the report of a solve for the number of pairs and the status, whose arrays exist before both.
fn planned_and_counted(solver: &Sshopm, a: &Tensor) -> (Result<Info>, Result<Info>) {
    let (mut count, mut status) =
        (dense::<i32>(solver.context(), &[a.dims()[1]]), dense::<i32>(solver.context(), &[a.dims()[1]]));
    let planned = solver.plan(a);
    let mut results = Results { count: Some(&mut count), status: Some(&mut status), ..Results::default() };
    (planned, solver.solve(None, a, None, &mut results, None))
}

#[test]
fn a_plan_is_what_a_solve_does_and_its_bytes_are_those_that_are_charged() {
    for (threads, limit) in [(1, 0), (3, 0), (3, 2 << 20)] {
        let c = context(threads, limit);
        for (m, n, count) in [(4, 3, 3000), (5, 3, 20), (3, 5, 12), (2, 2, 1), (4, 3, 0)] {
            for start_kind in [StartKind::Auto, StartKind::Random] {
                let a = batch(&c, m, n, count);
                let solver = Sshopm::new(&c, Options { start_kind, starts: 40, ..Options::default() }).unwrap();
                let plan = solver.plan(&a).unwrap();
                let used = c.host_budget().used();
                let results = crate::shape::to_u64(2 * 4 * count);
                c.host_budget().restart_peak();
                let done = counted(&solver, &a);
                let what = format!("m = {m}, n = {n}, {count} tensors, {threads} threads, {start_kind:?}");
                assert_eq!(
                    (plan.tensors, plan.starts, plan.chunks, plan.tolerance, plan.reason),
                    (done.tensors, done.starts, done.chunks, done.tolerance, done.reason),
                    "{what}"
                );
                let taken = c.host_budget().peak() - used;
                assert_eq!(done.host_bytes + super::super::bytes(results), super::super::bytes(taken), "{what}");
                if limit == 0 {
                    assert_eq!(plan.host_bytes, done.host_bytes, "{what}");
                }
                assert_eq!(solver.last_info().unwrap(), done);
            }
        }
    }
}

/// A call as it ends: nothing, or its error.
fn outcome<R>(call: Result<R>) -> Result<()> {
    call.map(|_| ())
}

/// The plan of a solve ends as the solve does, with the same text, for good and bad options and tensors, and under limits.
#[test]
fn a_plan_is_refused_where_a_solve_is() {
    let plain = Options::default;
    let table = [
        plain(),
        Options { goal: Goal::Both, ..plain() },
        Options { max_starts: 20, ..plain() },
        Options { seed: 7, ..plain() },
        Options { seed: 7, start_kind: StartKind::Random, ..plain() },
        Options { starts: 1, ..plain() },
        Options { starts: 40_000_000, ..plain() },
        Options { start_kind: StartKind::Icosahedral, starts: 7, ..plain() },
        Options { start_kind: StartKind::FibonacciHemisphere, ..plain() },
        Options { start_kind: StartKind::FibonacciHemisphere, starts: 64, ..plain() },
        Options { tolerance: 1e-30, ..plain() },
        Options { merge_angle: 4.0, merge_value: 1e-3, ..plain() },
        Options { compatibility: Compatibility::TensorToolbox, method: Method::Power, ..plain() },
    ];
    let (mut good, mut bad) = (0, 0);
    for limit in [0, 1 << 12, 1 << 14, 1 << 15, 1 << 16, 3 << 16, 1 << 18, 1 << 20] {
        let c = context(2, limit);
        let unlimited = context(1, 0);
        for (m, n, count) in [(4, 3, 3), (5, 3, 2), (3, 5, 4), (2, 2, 1), (4, 3, 0)] {
            let packed = crate::tensor::Symmetric { order: m, dimension: n }.count() * count * 8;
            if limit != 0 && packed as u64 + 1000 > limit {
                continue;
            }
            let a = batch(&c, m, n, count);
            // Without a limit so many starts would fit.
            for options in table.iter().filter(|o| limit != 0 || o.starts < 40_000_000) {
                let solver = Sshopm::new(&c, *options).unwrap();
                let (planned, done) = planned_and_counted(&solver, &a);
                let (planned, done) = (outcome(planned), outcome(done));
                assert_eq!(planned, done, "limit {limit}, m = {m}, n = {n}: {options:?}");
                if done.is_ok() { good += 1 } else { bad += 1 }
            }
        }
        let stranger = batch(&unlimited, 4, 3, 1);
        let solver = Sshopm::new(&c, plain()).unwrap();
        let (planned, done) = planned_and_counted(&solver, &stranger);
        assert_eq!(outcome(planned), outcome(done));
        let (planned, done) = planned_and_counted(&solver, &dense::<f64>(&c, &[15, 3]));
        assert_eq!(outcome(planned), outcome(done));
    }
    assert!(good > 100 && bad > 50, "{good} good, {bad} bad");
}

#[test]
fn zero_iterations_stand_for_the_default_of_each_call() {
    let c = context(2, 0);
    let a = batch(&c, 4, 3, 5);
    for (compatibility, number) in [(Compatibility::None, 500), (Compatibility::TensorToolbox, 1000)] {
        let run = |max_iterations| {
            let o = Options { compatibility, method: Method::Power, max_iterations, ..Options::default() };
            counted(&Sshopm::new(&c, o).unwrap(), &a).iterations
        };
        assert_eq!(run(0), run(number), "{compatibility:?}");
        assert!(run(0) > run(3), "{compatibility:?}");
    }
}

#[test]
fn each_call_refuses_what_only_the_other_uses() {
    let c = context(1, 0);
    let a = batch(&c, 4, 3, 1);
    let both = Sshopm::new(&c, Options { goal: Goal::Both, ..Options::default() }).unwrap();
    let searching = Sshopm::new(&c, Options { starts: 20, max_starts: 20, ..Options::default() }).unwrap();
    let mut results = Results::default();
    let refused = both.solve_all(None, &a, &mut results, (None, None), None).unwrap_err().to_string();
    assert!(refused.starts_with("goal: is 2, but the search for all pairs"), "{refused}");
    let refused = searching.solve(None, &a, None, &mut results, None).unwrap_err().to_string();
    assert!(refused.starts_with("max_starts: is 20, but"), "{refused}");
    assert!(both.last_info().is_err() && searching.last_info().is_err());
    searching.solve_all(None, &a, &mut results, (None, None), None).unwrap();
    assert_eq!(searching.last_info().unwrap().starts, 20);
    both.solve(None, &a, None, &mut results, None).unwrap();
}
