//! Expectations at one site and correlations against full tensors.

use super::support::*;
use crate::error::Error;
use crate::scalar::DType;
use crate::tt::operator::{correlation, expect_local};
use crate::tt::options::Options;

#[test]
fn local_expectations_agree_with_full_tensors() {
    let context = cpu(2);
    for seed in 0..48 {
        let mut draw = Draw::new(seed);
        let d = 1 + seed as usize % 6;
        let n = 2 + seed as usize % 2;
        // One mode differs, and is left out.
        let mut modes = vec![n; d];
        if d > 2 {
            modes[1] = 1;
        }
        let ends = 1 + seed as usize / 6 % 3;
        let ranks = draw.ranks(d, 4, ends);
        let dtype = [DType::F64, DType::CF64, DType::F32, DType::CF32][seed as usize % 4];
        let x = Plain::random(&mut draw, &modes, &ranks, matches!(dtype, DType::CF64 | DType::CF32));
        let op = draw.numbers(n * n, seed % 3 == 0);
        let full = x.full();
        let nn = dot(&full, &full).re;
        if nn < 1e-3 {
            continue;
        }
        let mut sites: Vec<usize> = (0..d).filter(|&k| modes[k] == n).collect();
        sites.reverse();
        let train = x.train(&context, dtype);
        for options in [Options::default(), Options { workspace_limit: 1, ..Options::default() }] {
            let found = expect_local(&context, &options, &train, &op, &sites).unwrap();
            for (&k, found) in sites.iter().zip(found) {
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
        let kept = if seed % 4 == 0 { 1 } else { 0 };
        let options = Options { workspace_limit: kept, ..Options::default() };
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
        assert_eq!(e, Error::Numerical("division by <x|x>, which is 0".into()));
    }
    assert!(expect_local(&context, &options, &x, &[], &[]).unwrap().is_empty());
}
