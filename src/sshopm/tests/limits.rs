//! The limits of the context's memory: a run that does not fit is refused before it allocates, and one that fits gives
//! the same bits.

use std::sync::Arc;

use super::all::find_as;
use super::support::*;
use crate::backend::BackendChoice;
use crate::context::{Context, Options as ContextOptions};
use crate::error::{Error, Result};
use crate::progress::Progress;
use crate::rng;
use crate::sshopm::{Info, Options, Results, StartKind, all, classify, product, solve};
use crate::tensor::Tensor;

fn limited(threads: usize, host_memory_limit: u64) -> Arc<Context> {
    let backend = BackendChoice::Cpu;
    Context::new(ContextOptions { backend, threads, host_memory_limit, ..ContextOptions::default() }).unwrap()
}

fn entries(count: usize) -> Vec<f64> {
    (0..15 * count).map(|k| rng::normal(8, 63, 4, u32::try_from(k).unwrap())).collect()
}

fn solved(c: &Arc<Context>, a: &Tensor, options: &Options) -> Result<Info> {
    let mut count = dense::<i32>(c, &[a.dims()[1]]);
    let mut results = Results { count: Some(&mut count), ..Results::default() };
    solve(c, None, a, None, options, &mut results, &Progress::none())
}

#[track_caller]
fn refused<R>(result: Result<R>, limit: u64) {
    match result.map(|_| ()) {
        Err(Error::OutOfMemory { limit: Some(l), .. }) => assert_eq!(l, limit),
        other => panic!("{other:?}, not out of memory under the limit of {limit} bytes"),
    }
}

#[test]
fn a_solve_stays_below_the_limit_of_host_memory() {
    let limit = 1 << 20;
    for kind in [StartKind::Auto, StartKind::Random] {
        let c = limited(2, limit);
        let a = symmetric::<f64>(&c, 4, 3, &entries(20));
        let used = c.host_budget().used();
        refused(solved(&c, &a, &Options { starts: 500_000, start_kind: kind, ..Options::default() }), limit);
        assert_eq!(c.host_budget().used(), used, "a refused call gives all back");
        c.host_budget().restart_peak();
        let o = Options { starts: 128, start_kind: kind, ..Options::default() };
        let s = run::<f64>(&c, &a, None, &o, 6);
        assert!(c.host_budget().peak() > used + 128 * 24, "the buffers of the call are counted");
        let free = limited(2, 0);
        let z = run::<f64>(&free, &symmetric::<f64>(&free, 4, 3, &entries(20)), None, &o, 6);
        assert_eq!((s.count, s.basins), (z.count, z.basins));
        assert!(s.values.iter().zip(&z.values).all(|(x, y)| x.to_bits() == y.to_bits()));
    }
    // Not even one thread's buffers.
    let c = limited(1, 4096);
    refused(solved(&c, &symmetric::<f64>(&c, 4, 3, &entries(1)), &Options::default()), 4096);
}

#[test]
fn the_refusal_of_the_least_run_names_what_it_needs() {
    let attempt = |limit: u64| {
        let c = limited(1, limit);
        solved(&c, &symmetric::<f64>(&c, 4, 3, &entries(20)), &Options { starts: 64, ..Options::default() })
    };
    let (mut refused, mut enough) = (4096, 1 << 20);
    while enough - refused > 1 {
        let limit = u64::midpoint(refused, enough);
        if attempt(limit).is_ok() { enough = limit } else { refused = limit }
    }
    match attempt(refused) {
        Err(Error::OutOfMemory { bytes, .. }) => assert_eq!(bytes, enough),
        other => panic!("{other:?}"),
    }
}

#[test]
fn fewer_threads_work_where_the_limit_is_too_small_for_all() {
    let free = limited(4, 0);
    let a = symmetric::<f64>(&free, 5, 3, &entries(70)[..21 * 50]);
    let o = Options { starts: 200, ..Options::default() };
    free.host_budget().restart_peak();
    let whole = run::<f64>(&free, &a, None, &o, 6);
    let peak = free.host_budget().peak();
    let c = limited(4, peak * 3 / 5);
    let a = symmetric::<f64>(&c, 5, 3, &entries(70)[..21 * 50]);
    let s = run::<f64>(&c, &a, None, &o, 6);
    assert!(s.values.iter().zip(&whole.values).all(|(x, y)| x.to_bits() == y.to_bits()));
    assert!(c.host_budget().peak() <= peak * 3 / 5);
}

/// With memory for 3 of 4 threads, a division into halves gives 4 leaves that run at the same time.
#[test]
fn no_more_leaves_run_than_have_memory() {
    let o = Options { starts: 100, ..Options::default() };
    let data: Vec<f64> = (0..40).flat_map(|_| entries(15)).collect();
    for threads in [4, 8] {
        let free = limited(threads, 0);
        let a = symmetric::<f64>(&free, 4, 3, &data);
        free.host_budget().restart_peak();
        let whole = run::<f64>(&free, &a, None, &o, 6);
        let peak = free.host_budget().peak();
        for sixteenths in 10..16 {
            let c = limited(threads, peak * sixteenths / 16);
            let s = run::<f64>(&c, &symmetric::<f64>(&c, 4, 3, &data), None, &o, 6);
            assert!(s.values.iter().zip(&whole.values).all(|(x, y)| x.to_bits() == y.to_bits()));
        }
    }
}

#[test]
fn the_search_for_all_pairs_and_products_stay_below_the_limit() {
    let free = limited(2, 0);
    let o = Options { starts: 1000, max_starts: 2000, ..Options::default() };
    let whole = find_as::<f64>(&free, &symmetric::<f64>(&free, 4, 3, &entries(1)), &o, 20);
    let c = limited(2, 1 << 20);
    let s = find_as::<f64>(&c, &symmetric::<f64>(&c, 4, 3, &entries(1)), &o, 20);
    assert_eq!((s.count, s.status), (whole.count, whole.status));
    assert!(s.values.iter().zip(&whole.values).all(|(x, y)| x.to_bits() == y.to_bits()));

    // Starts that end without a pair are listed, too: here all do.
    let limit = 400 << 10;
    let c = limited(1, limit);
    let o = Options { starts: 12_000, max_starts: 12_000, ..Options::default() };
    assert!(find_as::<f64>(&c, &symmetric::<f64>(&c, 4, 3, &entries(1)), &o, 20).count > 0);
    let o = Options { max_iterations: 1, ..o };
    let a = symmetric::<f64>(&c, 4, 3, &entries(1));
    let mut count = dense::<i32>(&c, &[1]);
    let mut results = Results { count: Some(&mut count), ..Results::default() };
    let used = c.host_budget().used();
    refused(all(&c, None, &a, &o, &mut results, None, None, &Progress::none()), limit);
    assert_eq!(c.host_budget().used(), used, "a refused call gives all back");

    let limit = 16 << 10;
    let c = limited(2, limit);
    let a = symmetric::<f64>(&c, 4, 3, &entries(1));
    let mut count = dense::<i32>(&c, &[1]);
    let mut results = Results { count: Some(&mut count), ..Results::default() };
    refused(all(&c, None, &a, &o, &mut results, None, None, &Progress::none()), limit);
    let (free, c) = (limited(1, 0), limited(1, 40 << 10));
    let of = |c: &Arc<Context>| {
        let a = symmetric::<f64>(c, 4, 3, &entries(100));
        let mut out = dense::<f64>(c, &[1, 100]);
        let x = from_slice::<f64>(c, &[3, 1], &[0.6, 0.0, 0.8]);
        product(c, None, &a, &x, 4, &mut out).map(|()| data::<f64>(&out))
    };
    assert_eq!(of(&free).unwrap(), of(&c).unwrap());
    let c = limited(1, 20_000);
    let (a, x) = (symmetric::<f64>(&c, 4, 3, &entries(1)), dense::<f64>(&c, &[3, 100, 1]));
    let (values, mut residuals) = (dense::<f64>(&c, &[100, 1]), dense::<f64>(&c, &[100, 1]));
    refused(classify(&c, None, &a, &values, &x, 0.0, Some(&mut residuals), None, None), 20_000);
}
