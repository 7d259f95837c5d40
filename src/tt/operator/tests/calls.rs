//! The number of steps of calls with operators, and the cancellation of a sum of terms.

use std::sync::atomic::Ordering;

use super::support::*;
use crate::error::{Error, Result};
use crate::operator::local::{correlation_watched, expect_local_watched};
use crate::operator::models::{self, Heisenberg};
use crate::operator::value::{rayleigh_watched, sandwich_watched, unwatched};
use crate::operator::{Terms, Trains, ising};
use crate::scalar::DType;
use crate::trains::options::Options;

const Z: [(f64, f64); 4] = [(1.0, 0.0), (0.0, 0.0), (0.0, 0.0), (-1.0, 0.0)];

fn z() -> [C; 4] {
    Z.map(|(re, im)| c(re, im))
}

fn state(d: usize, rank: usize, ends: usize) -> Plain {
    let ranks = [&[ends][..], &vec![rank; d - 1], &[ends]].concat();
    Plain::random(&mut Draw::new(5), &vec![2; d], &ranks, false)
}

#[test]
fn every_step_is_counted() {
    let context = cpu(2);
    for (d, rank, ends) in [(1, 1, 1), (1, 1, 3), (8, 5, 1), (9, 4, 3)] {
        let x = state(d, rank, ends).train(&context, DType::F64);
        let h = ising(&context, DType::F64, d, 1.0, 0.5, false).unwrap();
        let trains = Trains::new(&x, Some(&h), &x);
        for limit in [0, 100_000] {
            let options = Options { workspace_limit: limit, ..Options::default() };
            let counted = |what: &str, call: &dyn Fn(&crate::trains::watch::Watch) -> Result<()>| {
                let watch = unwatched(&context);
                call(&watch).unwrap();
                let done = i64::try_from(watch.done.load(Ordering::Relaxed)).unwrap();
                assert_eq!(done, watch.so_far().1, "{what}, {d} sites, rank {rank}, {ends} at the ends, limit {limit}");
            };
            counted("sandwich", &|w| sandwich_watched(&context, None, &options, &trains, w).map(|_| ()));
            counted("quotient", &|w| rayleigh_watched(&context, None, &options, &x, &h, w).map(|_| ()));
            let sites: Vec<usize> = (0..d).step_by(2).collect();
            counted("local", &|w| expect_local_watched(&context, None, &options, &x, &z(), &sites, w).map(|_| ()));
            for b in [z(), [c(0.0, 0.0), c(1.0, 0.0), c(1.0, 0.0), c(0.0, 0.0)]] {
                counted("pairs", &|w| correlation_watched(&context, None, &options, &x, &z(), &b, w).map(|_| ()));
            }
        }
    }
}

#[test]
fn a_sum_of_terms_ends_at_its_next_site() {
    let context = cpu(1);
    let mut terms = Terms::uniform(4, 2).unwrap();
    terms.add(c(1.0, 0.0), &[(1, &[c(2.0, 0.0); 4])]).unwrap();
    let running = context.cancel_watch();
    context.cancel();
    let built = terms.build_watched(&context, DType::F64, false, running).map(drop);
    assert_eq!(built, Err(Error::Cancelled));
    assert!(terms.build(&context, DType::F64, false).is_ok());
    assert!(models::heisenberg(&context, DType::F64, 4, &Heisenberg::default()).is_ok());
}
