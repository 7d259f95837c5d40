//! Environments that are held from call to call.

use std::sync::Arc;

use super::support::*;
use crate::context::Context;
use crate::operator::{Environments, Side, Trains, sandwich};
use crate::scalar::{Complex, DType};
use crate::tensor::Location;
use crate::trains::options::{Options, Scaling};
use crate::trains::scaled::scale;
use crate::trains::testing::placed;

struct Case {
    y: Plain,
    h: PlainMatrix,
    x: Plain,
}

fn case(seed: u64, d: usize, ends: [usize; 3]) -> Case {
    let mut draw = Draw::new(seed);
    let (rows, cols) = (draw.sizes(d, 3), draw.sizes(d, 3));
    let [ry, rh, rx] = ends.map(|e| draw.ranks(d, 3, e));
    Case {
        y: Plain::random(&mut draw, &rows, &ry, true),
        h: PlainMatrix::random(&mut draw, &rows, &cols, &rh, false),
        x: Plain::random(&mut draw, &cols, &rx, true),
    }
}

/// Boundary ranks of y, H and x: all open, a ring of the operator, all cyclic, a ring of x.
const ENDS: [[usize; 3]; 4] = [[1, 1, 1], [1, 3, 1], [2, 2, 3], [1, 1, 2]];

#[test]
fn environments_meet_in_the_value_at_every_bond() {
    let context = cpu(2);
    for (seed, ends) in (0..24).zip(ENDS.iter().cycle()) {
        let d = 1 + seed as usize % 5;
        let Case { y, h, x } = case(seed, d, *ends);
        let (ty, th, tx) =
            (y.train(&context, DType::CF64), h.matrix(&context, DType::F64), x.train(&context, DType::CF64));
        let trains = Trains::new(&ty, Some(&th), &tx);
        let value = dot(&y.full(), &h.apply(&x).full());
        let size = (norm(&y.full()) * norm(&h.apply(&x).full())).max(1e-3);
        let mut environments = Environments::new(&context, &Options::default(), &trains).unwrap();
        for k in 0..=d {
            let found = number(environments.value(None, &trains, k).unwrap());
            assert!((found - value).norm() <= 1e-12 * size, "case {seed}, bond {k}");
        }
        // For zero, one and two sites: the effective operator applied to the cores, times the conjugate cores, gives
        // the value.
        for k in 0..d {
            let mut out = vec![Complex::new(0.0, 0.0); y.cores[k].len()];
            let exponent = environments.apply(None, &trains, (k, 1), &x.cores[k], &mut out).unwrap();
            let found = dot(&y.cores[k], &out) * scale(1.0, exponent);
            assert!((found - value).norm() <= 1e-12 * size, "case {seed}, site {k}");
        }
        for k in 0..d.saturating_sub(1) {
            let two = |t: &Plain| Plain::new(&t.modes[k..k + 2], &t.ranks[k..k + 3], t.cores[k..k + 2].to_vec());
            let merged = |t: &Plain| {
                let t = two(t);
                let (r, s, [n, m]) = (t.ranks[0], t.ranks[2], [t.modes[0], t.modes[1]]);
                let mut out = vec![c(0.0, 0.0); r * n * m * s];
                for (at, to) in out.iter_mut().enumerate() {
                    let (a, i, j, b) = (at % r, at / r % n, at / r / n % m, at / r / n / m);
                    *to = (0..t.ranks[1]).map(|q| t.at(0, a, i, q) * t.at(1, q, j, b)).sum();
                }
                out
            };
            let (bra, ket) = (merged(&y), merged(&x));
            let mut out = vec![Complex::new(0.0, 0.0); bra.len()];
            let exponent = environments.apply(None, &trains, (k, 2), &ket, &mut out).unwrap();
            let found = dot(&bra, &out) * scale(1.0, exponent);
            assert!((found - value).norm() <= 1e-12 * size, "case {seed}, sites {k} and {}", k + 1);
        }
        for k in 0..=d {
            let (r, s) = (y.ranks[k], x.ranks[k]);
            let eye =
                |n: usize| -> Vec<C> { (0..n * n).map(|at| c(f64::from(u8::from(at % n == at / n)), 0.0)).collect() };
            let mut out = vec![Complex::new(0.0, 0.0); r * r];
            let exponent = environments.apply(None, &trains, (k, 0), &eye(s), &mut out).unwrap();
            let found = dot(&eye(r), &out) * scale(1.0, exponent);
            assert!((found - value).norm() <= 1e-12 * size, "case {seed}, bond {k} as an operator");
        }
    }
}

#[test]
fn an_environment_read_out_is_what_the_definition_says() {
    let context = cpu(1);
    let Case { y, h, x } = case(3, 3, [1, 2, 1]);
    let (ty, th, tx) = (y.train(&context, DType::CF64), h.matrix(&context, DType::F64), x.train(&context, DType::CF64));
    let trains = Trains::new(&ty, Some(&th), &tx);
    let mut environments = Environments::new(&context, &Options::default(), &trains).unwrap();
    let dims = environments.dims(&trains, 1).unwrap();
    assert_eq!(dims, [y.ranks[1], h.train.ranks[1], 2, x.ranks[1]]);
    let mut out = vec![c(0.0, 0.0); dims.iter().product()];
    let exponent = environments.get(None, &trains, Side::Left, 1, &mut out).unwrap();
    for (at, found) in out.iter().enumerate() {
        let (a, w) = (at % dims[0], at / dims[0] % dims[1]);
        let (p, b) = (at / dims[0] / dims[1] % 2, at / dims[0] / dims[1] / 2);
        let (m, n) = (h.rows[0], h.cols[0]);
        let value: C =
            (0..m * n).map(|ij| y.at(0, 0, ij % m, a).conj() * h.train.at(0, p, ij, w) * x.at(0, 0, ij / m, b)).sum();
        assert!((found * scale(1.0, exponent) - value).norm() < 1e-14, "element {at}");
    }
    let problem = environments.get(None, &trains, Side::Left, 1, &mut [c(0.0, 0.0)]).unwrap_err().to_string();
    assert_eq!(problem, format!("environment: has 1 elements, {} are needed", out.len()));
    assert!(environments.get(None, &trains, Side::Left, 1, &mut [0.0f64]).unwrap_err().to_string().contains("F64"));
    assert!(
        environments.build(None, &trains, Side::Right, 4).unwrap_err().to_string().contains("is 4, outside 0 to 3")
    );
}

#[test]
fn a_changed_core_is_seen_and_ranks_may_change() {
    let context = cpu(2);
    let mut draw = Draw::new(4);
    let d = 6;
    let modes = vec![2; d];
    let h = PlainMatrix::random(&mut draw, &modes, &modes, &draw_ranks(d, 3), false);
    let th = h.matrix(&context, DType::F64);
    let mut x = Plain::random(&mut draw, &modes, &draw_ranks(d, 4), false);
    let mut train = x.train(&context, DType::F64);
    let mut environments =
        Environments::new(&context, &Options::default(), &Trains::new(&train, Some(&th), &train)).unwrap();
    for k in [0, 5, 2, 3, 3, 1, 4] {
        // A core with another right rank, and the next core.
        if k == 3 {
            x.ranks[4] += 1;
            for site in [3, 4] {
                x.cores[site] = draw.numbers(x.ranks[site] * 2 * x.ranks[site + 1], false);
            }
            environments.update_core(4);
        } else {
            x.cores[k] = draw.numbers(x.cores[k].len(), false);
        }
        environments.update_core(k);
        train = x.train(&context, DType::F64);
        let trains = Trains::new(&train, Some(&th), &train);
        let (whole, _) = sandwich(&context, &Options::default(), &trains).unwrap();
        for bond in [k, k + 1, 0, d] {
            let found = number(environments.value(None, &trains, bond).unwrap());
            assert!((found - number(whole)).norm() <= 1e-12 * norm(&x.full()) * norm(&h.apply(&x).full()), "core {k}");
        }
    }
    x.ranks[2] += 1;
    x.cores[1] = draw.numbers(x.ranks[1] * 2 * x.ranks[2], false);
    x.cores[2] = draw.numbers(x.ranks[2] * 2 * x.ranks[3], false);
    train = x.train(&context, DType::F64);
    let trains = Trains::new(&train, Some(&th), &train);
    let problem = environments.value(None, &trains, 2).unwrap_err().to_string();
    assert!(problem.contains("at bond 2") && problem.contains("without an update"), "{problem}");
    environments.update_core(1);
    environments.update_core(2);
    let (whole, _) = sandwich(&context, &Options::default(), &trains).unwrap();
    assert!(
        (number(environments.value(None, &trains, 2).unwrap()) - number(whole)).norm()
            <= 1e-10 * number(whole).norm().max(1.0)
    );
}

#[test]
fn trains_with_other_ranks_take_over_what_does_not_depend_on_them() {
    check_other_ranks(&cpu(2), Location::Host);
}

/// Checks two-site steps that change ranks, with trains in the memory of `location`.
pub fn check_other_ranks(context: &Arc<Context>, location: Location) {
    let there = |plain: &Plain| placed(context, plain.train(context, DType::F64), location);
    let mut draw = Draw::new(14);
    let d = 6;
    let modes = vec![2; d];
    for ends in [1, 2] {
        let h = PlainMatrix::random(&mut draw, &modes, &modes, &draw_ranks(d, 3), false);
        let th = h.matrix(context, DType::F64);
        let ranks = draw.ranks(d, 4, ends);
        let mut x = Plain::random(&mut draw, &modes, &ranks, false);
        let mut train = there(&x);
        let mut environments =
            Environments::new(context, &Options::default(), &Trains::new(&train, Some(&th), &train)).unwrap();
        let mut stored_some = 0;
        for k in [0, 1, 2, 3, 4, 3, 2, 1, 0] {
            // A two-site step, which changes the rank between the two sites.
            x.ranks[k + 1] = 1 + draw.below(5);
            for site in [k, k + 1] {
                x.cores[site] = draw.numbers(x.ranks[site] * 2 * x.ranks[site + 1], false);
            }
            train = there(&x);
            let trains = Trains::new(&train, Some(&th), &train);
            let before = environments.stored_bonds();
            stored_some += usize::from(before[0] > 0 && before[1] < d);
            environments.set_trains(&trains, k, k + 1).unwrap();
            assert_eq!(environments.stored_bonds(), [before[0].min(k), before[1].max(k + 2)]);
            let (whole, _) = sandwich(context, &Options::default(), &trains).unwrap();
            // The environments of one side need two new steps, those of the other none.
            for bond in [k, k + 2] {
                let found = number(environments.value(None, &trains, bond).unwrap());
                let size = norm(&x.full()) * norm(&h.apply(&x).full());
                assert!((found - number(whole)).norm() <= 1e-12 * size, "ends {ends}, core {k}");
            }
        }
        assert!(stored_some >= 5, "environments are stored in {stored_some} steps");
        // A rank that changes at a bond outside the announced range, and cores that do not exist.
        let before = number(environments.value(None, &Trains::new(&train, Some(&th), &train), 3).unwrap());
        let mut wrong = x.clone();
        wrong.ranks[4] += 1;
        for site in [3, 4] {
            wrong.cores[site] = draw.numbers(wrong.ranks[site] * 2 * wrong.ranks[site + 1], false);
        }
        let wrong = there(&wrong);
        let others = Trains::new(&wrong, Some(&th), &wrong);
        let problem = environments.set_trains(&others, 1, 2).unwrap_err().to_string();
        assert!(problem.contains("at bond 4") && problem.contains("only cores 1 to 2"), "{problem}");
        assert!(environments.set_trains(&others, 3, d).is_err() && environments.set_trains(&others, 2, 1).is_err());
        let shorter = there(&Plain::random(&mut draw, &modes[1..], &draw_ranks(d - 1, 2), false));
        assert!(environments.set_trains(&Trains::new(&shorter, Some(&th), &shorter), 0, 1).is_err());
        let after = number(environments.value(None, &Trains::new(&train, Some(&th), &train), 3).unwrap());
        assert_eq!(after, before);
        environments.set_trains(&others, 3, 4).unwrap();
    }
}

fn draw_ranks(d: usize, r: usize) -> Vec<usize> {
    (0..=d).map(|k| if k == 0 || k == d { 1 } else { r }).collect()
}

#[test]
fn local_expectations_from_environments() {
    let context = cpu(1);
    let mut draw = Draw::new(8);
    for ends in [1, 3] {
        let modes = [2, 3, 2, 3];
        let ranks = draw.ranks(4, 4, ends);
        let (y, x) = (Plain::random(&mut draw, &modes, &ranks, true), Plain::random(&mut draw, &modes, &ranks, false));
        let (ty, tx) = (y.train(&context, DType::CF64), x.train(&context, DType::F64));
        let trains = Trains::new(&ty, None, &tx);
        let mut environments =
            Environments::new(&context, &Options { scaling: Scaling::Never, ..Options::default() }, &trains).unwrap();
        for k in [2, 0, 3, 1] {
            let op = draw.numbers(modes[k] * modes[k], true);
            let value = dot(&y.full(), &act(&x.full(), &modes, k, &op));
            let found = number(environments.local(None, &trains, k, &op).unwrap());
            assert!((found - value).norm() <= 1e-12 * norm(&y.full()) * norm(&act(&x.full(), &modes, k, &op)));
        }
    }
}

#[test]
fn other_trains_and_vectors_are_refused() {
    let context = cpu(1);
    let Case { y, h, x } = case(3, 3, [1, 1, 1]);
    let (ty, th, tx) = (y.train(&context, DType::CF64), h.matrix(&context, DType::F64), x.train(&context, DType::CF64));
    let trains = Trains::new(&ty, Some(&th), &tx);
    let mut environments = Environments::new(&context, &Options::default(), &trains).unwrap();
    assert_eq!((environments.dtype(), environments.sites()), (DType::CF64, 3));
    let problem = environments.local(None, &trains, 0, &[c(1.0, 0.0)]).unwrap_err().to_string();
    assert!(problem.contains("local expectations need those of <y|x>"), "{problem}");
    let mut out = vec![c(0.0, 0.0); y.cores[0].len()];
    let v = &x.cores[0];
    for k in [0, 2, 3, 9] {
        let problem = environments.apply(None, &trains, (k, 3), v, &mut out).unwrap_err().to_string();
        assert_eq!(problem, "sites: is 3, 0 to 2 are possible");
    }
    assert_eq!([0, 1, 2].map(|sites| environments.last_start(sites).unwrap()), [3, 2, 1]);
    assert_eq!(environments.last_start(3).unwrap_err().to_string(), "sites: is 3, 0 to 2 are possible");
    assert!(
        environments
            .apply(None, &trains, (2, 2), v, &mut out)
            .unwrap_err()
            .to_string()
            .contains("k: is 2, outside 0 to 1")
    );
    assert!(
        environments.apply(None, &trains, (0, 1), &v[1..], &mut out).unwrap_err().to_string().starts_with("v: has")
    );
    assert!(
        environments.apply(None, &trains, (0, 1), &[0.0f32], &mut [0.0f32]).unwrap_err().to_string().contains("F32")
    );
    let before = environments.value(None, &trains, 3).unwrap();
    environments.update_core(3);
    environments.update_core(usize::MAX);
    assert_eq!(environments.value(None, &trains, 3).unwrap(), before);
    let square = Trains::new(&tx, None, &tx);
    assert!(environments.value(None, &square, 0).unwrap_err().to_string().contains("another operator"));
    assert!(Side::from_code("side", 2).is_err() && Side::from_code("side", 1) == Ok(Side::Right));
}
