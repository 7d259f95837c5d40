//! Expectation values at one site, and correlations, against full tensors.

use super::support::*;
use crate::error::{Error, Result};
use crate::operator::{Environments, Trains, correlation, expect_local};
use crate::scalar::DType;
use crate::trains::info::Outcome;
use crate::trains::options::Options;
use crate::trains::scaled::{Scaled, scale};

/// Options with the smallest workspace that a call accepts, as its error names it. One byte less must be refused.
fn needed<R>(call: impl Fn(&Options) -> Result<R>) -> Options {
    let problem = |limit| {
        let refused = call(&Options { workspace_limit: limit, ..Options::default() }).map(|_| ());
        refused.unwrap_err().to_string()
    };
    let text = problem(1);
    let bytes =
        text.strip_prefix("workspace_limit: is 1, at least ").unwrap().strip_suffix(" bytes are needed").unwrap();
    let needed: u64 = bytes.parse().unwrap();
    assert!(problem(needed - 1).contains(bytes));
    Options { workspace_limit: needed, ..Options::default() }
}

/// A call that takes its options.
type Expectation<'a> = dyn Fn(&Options) -> Result<Vec<C>> + 'a;

#[test]
fn expectations_keep_within_the_workspace() {
    let context = cpu(2);
    for (seed, ends) in [(1, 1), (2, 4)] {
        let mut draw = Draw::new(seed);
        let x = Plain::random(&mut draw, &[2; 9], &[&[ends][..], &[11; 8], &[ends]].concat(), true);
        let train = x.train(&context, DType::CF64);
        let (z, y) = ([c(1.0, 0.0), c(0.0, 0.0), c(0.0, 0.0), c(-1.0, 0.0)], draw.numbers(4, true));
        let sites: Vec<usize> = (0..9).collect();
        let calls: [&Expectation<'_>; 3] = [
            &|options| Ok(expect_local(&context, options, &train, &z, &sites)?.values),
            &|options| Ok(correlation(&context, options, &train, &z, &y)?.values),
            &|options| Ok(correlation(&context, options, &train, &z, &z)?.values),
        ];
        for call in calls {
            let least = needed(call).workspace_limit;
            let whole = call(&Options::default()).unwrap();
            let size = norm(&whole);
            for limit in [least, 2 * least, 3 * least + 17, 20 * least] {
                let before = context.host_budget().restart_peak();
                let found = call(&Options { workspace_limit: limit, ..Options::default() }).unwrap();
                let used = context.host_budget().peak() - before;
                assert!(used <= limit, "{used} of {limit}, {least} are needed");
                // The bound is not much larger than the memory in use.
                assert!(limit > least || 2 * used > limit, "{used} of {limit}");
                let error = found.iter().zip(&whole).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max);
                assert!(error <= 1e-13 * size, "limit {limit}: {error}");
            }
        }
    }
}

#[test]
fn local_expectations_agree_with_full_tensors() {
    let context = cpu(2);
    for seed in 0..48 {
        let mut draw = Draw::new(seed);
        let d = 1 + seed as usize % 6;
        let n = 2 + seed as usize % 2;
        // One mode differs from the others and is not in `sites`.
        let mut modes = vec![n; d];
        if d > 2 {
            modes[1] = 1;
        }
        let ends = 1 + seed as usize / 6 % 3;
        let ranks = draw.ranks(d, 4, ends);
        let dtype = [DType::F64, DType::CF64, DType::F32, DType::CF32][seed as usize % 4];
        let x = Plain::random(&mut draw, &modes, &ranks, dtype.is_complex());
        let op = draw.numbers(n * n, seed % 3 == 0);
        let full = x.full();
        let nn = dot(&full, &full).re;
        if nn < 1e-3 {
            continue;
        }
        let mut sites: Vec<usize> = (0..d).filter(|&k| modes[k] == n).collect();
        sites.reverse();
        let train = x.train(&context, dtype);
        let least = needed(|options| expect_local(&context, options, &train, &op, &sites));
        for options in [Options::default(), least] {
            let found = expect_local(&context, &options, &train, &op, &sites).unwrap();
            for (&k, found) in sites.iter().zip(found.values) {
                let image = act(&full, &modes, k, &op);
                let value = dot(&full, &image) / nn;
                let size = norm(&image) / nn.sqrt();
                assert!((found - value).norm() <= 100.0 * tolerance(dtype) * size.max(1e-3), "case {seed}, site {k}");
            }
        }
    }
}

#[test]
fn correlations_agree_with_full_tensors() {
    let context = cpu(2);
    for seed in 0..36 {
        let mut draw = Draw::new(100 + seed);
        let d = 1 + seed as usize % 6;
        let n = 2 + seed as usize % 2;
        let modes = vec![n; d];
        let ends = 1 + seed as usize / 6 % 3;
        let ranks = draw.ranks(d, 3, ends);
        let dtype = if seed % 2 == 0 { DType::CF64 } else { DType::F64 };
        let x = Plain::random(&mut draw, &modes, &ranks, seed % 2 == 0);
        let a = draw.numbers(n * n, true);
        let b = if seed % 3 == 0 { a.clone() } else { draw.numbers(n * n, false) };
        let full = x.full();
        let nn = dot(&full, &full).re;
        if nn < 1e-3 {
            continue;
        }
        let train = x.train(&context, dtype);
        let options = match seed % 4 {
            0 => needed(|options| correlation(&context, options, &train, &a, &b)),
            _ => Options::default(),
        };
        let found = correlation(&context, &options, &train, &a, &b).unwrap();
        for l in 0..d {
            let right = act(&full, &modes, l, &b);
            for k in 0..d {
                let image = act(&right, &modes, k, &a);
                let value = dot(&full, &image) / nn;
                let size = norm(&image).max(1e-3) / nn.sqrt();
                let error = (found[k + d * l] - value).norm();
                assert!(error <= 1e-12 * size, "case {seed}, sites {k} and {l}: {} is not {value}", found[k + d * l]);
            }
        }
    }
}

#[test]
fn operators_of_any_magnitude_keep_their_power_of_two() {
    let context = cpu(2);
    let one = c(1.0, 0.0);
    for (dtype, p, q) in [
        (DType::F64, 0, -500),
        (DType::F64, 900, -700),
        (DType::F64, 0, 1023),
        (DType::F64, 0, -1074),
        (DType::F32, 0, -91),
        (DType::F32, 100, 27),
        (DType::F32, 0, 130),
        (DType::CF32, 0, -160),
        (DType::CF32, 0, -600),
    ] {
        let op = [c(scale(1.0, q), 0.0)];
        let y = Plain::product(vec![vec![c(scale(1.0, p), 0.0)], vec![one], vec![one]]).train(&context, dtype);
        let x = Plain::product(vec![vec![one]; 3]).train(&context, dtype);
        let trains = Trains::new(&y, None, &x);
        let mut environments = Environments::new(&context, &Options::default(), &trains).unwrap();
        for k in 0..3 {
            let found = environments.local(None, &trains, k, &op).unwrap();
            assert_eq!(found, Scaled::new(one, p + q), "{dtype:?} {p} {q}");
        }
        let found = expect_local(&context, &Options::default(), &y, &op, &[0, 1, 2]).unwrap();
        assert_eq!(found.values, [op[0]; 3], "{dtype:?} {q}");
        // A B is in the range of double precision, but not in that of a train in single precision.
        let (back, square) = (c(scale(1.0, -q / 2), 0.0), c(scale(1.0, q - q / 2), 0.0));
        for (a, b) in [(op[0], back), (back, op[0])] {
            let found = correlation(&context, &Options::default(), &y, &[a], &[b]).unwrap();
            assert_eq!(found.values, [square; 9], "{dtype:?} {q}");
        }
    }
}

#[test]
fn small_numbers_of_an_operator_are_not_lost() {
    let context = cpu(1);
    // The small entry of the operator multiplies the large one of the train.
    for (dtype, p, high, low) in [(DType::F32, 45, 10, -126), (DType::F64, 200, 100, -1000)] {
        let numbers = [c(scale(1.0, -p), 0.0), c(scale(1.0, p), 0.0)];
        let x = Plain::product(vec![numbers.to_vec()]).train(&context, dtype);
        let op = [c(scale(1.0, high), 0.0), c(0.0, 0.0), c(0.0, 0.0), c(scale(1.0, low), 0.0)];
        let right = scale(1.0, high - 4 * p) + scale(1.0, low);
        let found = expect_local(&context, &Options::default(), &x, &op, &[0]).unwrap();
        assert!((found[0].re / right - 1.0).abs() < tolerance(dtype), "{dtype:?}: {}", found[0]);
        let trains = Trains::new(&x, None, &x);
        let mut environments = Environments::new(&context, &Options::default(), &trains).unwrap();
        let local = environments.local(None, &trains, 0, &op).unwrap().plain(DType::F64).0.re;
        assert!((local / right / scale(1.0, 2 * p) - 1.0).abs() < tolerance(dtype), "{dtype:?}: {local}");
    }
    // Beside the largest entries of A and of B, every product of A B is below the range of double precision.
    let (one, none, far) = (c(1.0, 0.0), c(0.0, 0.0), c(scale(1.0, -600), 0.0));
    let a = [one, none, none, none, none, none, far, none, none];
    let b = [none, one, far, none, none, none, none, none, none];
    let x = Plain::product(vec![vec![c(1.0, 0.0), none, none]]).train(&context, DType::F32);
    let found = correlation(&context, &Options::default(), &x, &a, &b).unwrap();
    assert_eq!((found.values[0], found.info.outcome), (none, Outcome::Underflow));
    let found = correlation(&context, &Options::default(), &x, &a, &b.map(|x| x * scale(1.0, 300))).unwrap();
    assert_eq!((found.values[0], found.info.outcome), (c(scale(1.0, -900), 0.0), Outcome::Ok));
}

#[test]
fn what_cannot_be_expected_is_refused() {
    let context = cpu(1);
    let one = c(1.0, 0.0);
    let x = Plain::product(vec![vec![one; 2], vec![one; 3]]).train(&context, DType::F64);
    let options = Options::default();
    let problem = expect_local(&context, &options, &x, &[one; 4], &[0, 2]).unwrap_err().to_string();
    assert_eq!(problem, "sites: element 1 is 2, outside 0 to 1");
    let problem = expect_local(&context, &options, &x, &[one; 4], &[1]).unwrap_err().to_string();
    assert_eq!(problem, "op: has 4 elements, 3 x 3 are needed");
    let problem = correlation(&context, &options, &x, &[one; 4], &[one; 4]).unwrap_err().to_string();
    assert_eq!(problem, "x: core 1 has mode size 3, core 0 has 2: they must be equal");
    let zero = Plain::product(vec![vec![c(0.0, 0.0); 2]; 3]).train(&context, DType::F64);
    for e in [
        expect_local(&context, &options, &zero, &[one; 4], &[0]).unwrap_err(),
        correlation(&context, &options, &zero, &[one; 4], &[one; 4]).unwrap_err(),
    ] {
        assert_eq!(e, Error::Numerical("x: has <x|x> = 0, more than 0 is needed".into()));
    }
    assert!(expect_local(&context, &options, &x, &[], &[]).unwrap().is_empty());
    // <x|x> is not 0, but all of it underflows if an environment has one exponent.
    let ring = [c(0.0, 0.0), c(2f64.powi(40), 0.0), c(2f64.powi(50), 0.0), c(2f64.powi(-40), 0.0)];
    let ring = Plain::uniform(3, 1, 2, &ring).train(&context, DType::F32);
    for found in [
        expect_local(&context, &options, &ring, &[one], &[0]).unwrap(),
        correlation(&context, &options, &ring, &[one], &[one]).unwrap(),
    ] {
        assert!(found.iter().all(|value| (value - one).norm() < 1e-6), "{found:?}");
    }
}
