//! Searches of too few starts: a set that lacks pairs is reported.

use super::all::lists;
use super::support::*;
use crate::sshopm::{Options, TensorStatus};
use crate::tensor::Symmetric;

const PAIRS: usize = 64;

/// Counts of sets with status OK that are complete, and that are not. The complete sets are those of many starts.
fn complete_of(order: usize, dimension: usize, (starts, max_starts): (i64, i64)) -> (usize, usize) {
    const TENSORS: usize = 40;
    let c = context(2);
    let size = Symmetric { order, dimension }.count();
    let normal = |i: usize| crate::rng::normal(8, 79, order as u64, u32::try_from(i).unwrap());
    let a = symmetric::<f64>(&c, order, dimension, &(0..TENSORS * size).map(normal).collect::<Vec<_>>());
    let whole = lists(&c, &a, &Options { starts: 500, ..Options::default() }, PAIRS);
    let few = lists(&c, &a, &Options { starts, max_starts, seed: 2, ..Options::default() }, PAIRS);
    let ok = (0..TENSORS).filter(|t| few.status[*t] == TensorStatus::Ok as i32);
    let (complete, lacking): (Vec<_>, Vec<_>) = ok.partition(|t| few.found[*t] == whole.found[*t]);
    (complete.len(), lacking.len())
}

/// For odd order and even dimension no sum of the pairs is known: the other relations and the starts at each pair decide.
#[test]
fn sets_of_few_starts_that_lack_pairs_are_incomplete() {
    for (order, starts, least) in [(3, (4, 128), 20), (3, (10, 320), 36), (3, (20, 640), 36), (4, (20, 640), 36)] {
        let (complete, lacking) = complete_of(order, 4, starts);
        assert_eq!(lacking, 0, "order {order}, {starts:?}: {complete} complete");
        assert!(complete >= least, "order {order}, {starts:?}: {complete} complete");
    }
}

/// A pair that few starts reached: the search draws more starts, or says that they were used up.
#[test]
fn sets_with_a_pair_that_few_starts_reached_are_incomplete() {
    let c = context(1);
    let a = symmetric::<f64>(&c, 4, 3, &KOFIDIS_REGALIA);
    for seed in 0..20 {
        let o = Options { starts: 8, max_starts: 32, seed, ..Options::default() };
        let r = super::all::find_as::<f64>(&c, &a, &o, 16);
        let is_reached = r.basins[..r.count].iter().all(|b| *b >= 4);
        assert!(r.status == TensorStatus::Incomplete as i32 || is_reached, "seed {seed}: {:?}", r.basins);
        let r = super::all::find_as::<f64>(&c, &a, &Options { max_starts: 4096, ..o }, 16);
        assert_eq!((r.status, r.count, r.morse, r.expected), (TensorStatus::Ok as i32, 11, 1, 1), "seed {seed}");
    }
}
