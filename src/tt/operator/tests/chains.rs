//! Energies of spin states, which are known in closed form.

use std::f64::consts::SQRT_2;
use std::sync::Arc;

use super::support::*;
use crate::context::Context;
use crate::operator::models::Heisenberg;
use crate::operator::spin::spin;
use crate::operator::{Terms, heisenberg, ising, rayleigh};
use crate::scalar::DType;
use crate::tensor::train::TrainMatrix;
use crate::trains::options::{Options, Scaling};

fn energy(context: &Arc<Context>, x: &Plain, dtype: DType, h: &TrainMatrix) -> C {
    number(rayleigh(context, &Options::default(), &x.train(context, dtype), h).unwrap().quotient)
}

/// The product a b of two n-by-n matrices.
fn times(n: usize, a: &[C], b: &[C]) -> Vec<C> {
    (0..n * n).map(|at| (0..n).map(|k| a[at % n + n * k] * b[k + n * (at / n)]).sum()).collect()
}

/// S_k . S_l, times `factor`.
fn exchange(terms: &mut Terms, twice_spin: usize, factor: f64, k: usize, l: usize) {
    for name in ["sx", "sy", "sz"] {
        let s = spin(twice_spin, name).unwrap();
        terms.add(c(factor, 0.0), &[(k, &s), (l, &s)]).unwrap();
    }
}

/// The AKLT state: a ring of spins 1 with valence bonds. The states of a spin are (+, 0, -).
fn aklt(d: usize) -> Plain {
    let zero = c(0.0, 0.0);
    let mut core = vec![zero; 2 * 3 * 2];
    // Entry (a, i, b) is at a + 2 (i + 3 b).
    core[6] = c(SQRT_2, 0.0);
    core[2] = c(-1.0, 0.0);
    core[1 + 2 * (1 + 3)] = c(1.0, 0.0);
    core[1 + 2 * 2] = c(-SQRT_2, 0.0);
    Plain::uniform(d, 3, 2, &core)
}

fn aklt_energy(context: &Arc<Context>, d: usize, ring: bool) -> (C, TrainMatrix) {
    let mut terms = Terms::uniform(d, 3).unwrap();
    for k in 0..d {
        let l = (k + 1) % d;
        exchange(&mut terms, 2, 1.0, k, l);
        for a in ["sx", "sy", "sz"] {
            for b in ["sx", "sy", "sz"] {
                let both = times(3, &spin(2, a).unwrap(), &spin(2, b).unwrap());
                terms.add(c(1.0 / 3.0, 0.0), &[(k, &both), (l, &both)]).unwrap();
            }
        }
    }
    let h = terms.build(context, DType::CF64, ring).unwrap();
    (energy(context, &aklt(d), DType::F64, &h), h)
}

#[test]
fn the_aklt_state_has_two_thirds_a_bond() {
    let context = cpu(2);
    for d in [3, 4, 7, 10, 40] {
        let (found, h) = aklt_energy(&context, d, true);
        assert!((found - c(-2.0 / 3.0 * d as f64, 0.0)).norm() < 1e-12 * d as f64, "d = {d}: {found}");
        assert!(h.train().shape().is_cyclic());
        if d < 8 {
            let (found, h) = aklt_energy(&context, d, false);
            assert!((found - c(-2.0 / 3.0 * d as f64, 0.0)).norm() < 1e-12 * d as f64, "d = {d}: {found}");
            assert!(!h.train().shape().is_cyclic());
        }
    }
    let norm = |d: usize| {
        let x = aklt(d).train(&context, DType::F64);
        let (h, _) = (crate::operator::identity(&context, DType::F64, &vec![3; d]).unwrap(), ());
        number(rayleigh(&context, &Options::default(), &x, &h).unwrap().denominator).re
    };
    for (d, value) in [(3, 24.0), (4, 84.0), (7, 2184.0), (10, 59052.0)] {
        assert!((norm(d) - value).abs() < 1e-12 * value);
    }
}

#[test]
fn the_majumdar_ghosh_state_has_three_eighths_a_site() {
    let context = cpu(2);
    for d in [4usize, 6, 8, 30] {
        let mut core = vec![c(0.0, 0.0); 3 * 2 * 3];
        // Entry (a, i, b) is at a + 3 (i + 2 b).
        core[3 * 2] = c(1.0, 0.0);
        core[3 * (1 + 2 * 2)] = c(-1.0, 0.0);
        core[1 + 3] = c(1.0, 0.0);
        core[2] = c(1.0, 0.0);
        let x = Plain::uniform(d, 2, 3, &core);
        let mut terms = Terms::uniform(d, 2).unwrap();
        for k in 0..d {
            exchange(&mut terms, 1, 1.0, k, (k + 1) % d);
            exchange(&mut terms, 1, 0.5, k, (k + 2) % d);
        }
        let h = terms.build(&context, DType::CF64, true).unwrap();
        let found = rayleigh(&context, &Options::default(), &x.train(&context, DType::F64), &h).unwrap();
        let value = -3.0 / 8.0 * d as f64;
        assert!((number(found.quotient) - c(value, 0.0)).norm() < 1e-12 * d as f64, "d = {d}: {:?}", found.quotient);
        let sign = if d % 4 == 0 { 4.0 } else { -4.0 };
        let norm = 2f64.powi(d as i32 / 2 + 1) + sign;
        assert!((number(found.denominator).re - norm).abs() < 1e-12 * norm);
    }
}

#[test]
fn neel_states_of_open_chains_and_rings() {
    let context = cpu(1);
    for d in [2usize, 6, 12, 31] {
        let site = |k: usize| {
            if k.is_multiple_of(2) { vec![c(1.0, 0.0), c(0.0, 0.0)] } else { vec![c(0.0, 0.0), c(1.0, 0.0)] }
        };
        let x = Plain::product((0..d).map(site).collect());
        let model = Heisenberg::default();
        let h = heisenberg(&context, DType::F64, d, &model).unwrap();
        assert_eq!(energy(&context, &x, DType::F64, &h), c(-(d as f64 - 1.0) / 4.0, 0.0));
        if d > 2 {
            let h = heisenberg(&context, DType::F64, d, &Heisenberg { ring: true, ..model }).unwrap();
            let bonds = if d.is_multiple_of(2) { d as f64 } else { d as f64 - 2.0 };
            assert_eq!(energy(&context, &x, DType::F64, &h), c(-bonds / 4.0, 0.0));
        }
    }
}

#[test]
fn coherent_states_are_classical() {
    let context = cpu(1);
    let mut draw = Draw::new(9);
    for (d, ring) in [(2, false), (5, false), (5, true), (24, true)] {
        let angles: Vec<(f64, f64)> =
            (0..d).map(|_| (draw.below(1000) as f64 / 318.0, draw.below(1000) as f64 / 159.0)).collect();
        let spinor = |&(t, p): &(f64, f64)| vec![c((t / 2.0).cos(), 0.0), C::from_polar((t / 2.0).sin(), p)];
        let x = Plain::product(angles.iter().map(spinor).collect());
        let bloch = |k: usize| {
            let (t, p) = angles[k % d];
            [t.sin() * p.cos(), t.sin() * p.sin(), t.cos()]
        };
        let couplings = [1.25, -0.5, 0.75];
        let model = Heisenberg { couplings, field: 0.375, ring, ..Heisenberg::default() };
        let h = heisenberg(&context, DType::F64, d, &model).unwrap();
        let bonds = if ring { d } else { d - 1 };
        let mut value: f64 =
            (0..bonds).map(|k| (0..3).map(|a| couplings[a] * bloch(k)[a] * bloch(k + 1)[a] / 4.0).sum::<f64>()).sum();
        value -= (0..d).map(|k| 0.375 * bloch(k)[2] / 2.0).sum::<f64>();
        let found = energy(&context, &x, DType::CF64, &h);
        assert!((found - c(value, 0.0)).norm() < 1e-13 * d as f64, "{found} is not {value}");
    }
}

#[test]
fn numbers_beyond_the_range_leave_the_quotient_as_it_is() {
    let context = cpu(2);
    let d = 5000;
    for (dtype, size) in
        [(DType::F64, 8.0), (DType::F32, 8.0), (DType::F64, 1e-30), (DType::F32, 1e-30), (DType::F32, 1e30)]
    {
        // The expectation value of sigma_x in this state is 1.
        let x = Plain::product(vec![vec![c(size, 0.0); 2]; d]).train(&context, dtype);
        let h = ising(&context, dtype, d, 1.0, 0.5, false).unwrap();
        let found = rayleigh(&context, &Options::default(), &x, &h).unwrap();
        let value = number(found.quotient).re;
        assert!((value + d as f64 - 1.0).abs() < 1e-4 * d as f64, "{dtype:?}, {size}: {value}");
        let size = if matches!(dtype, DType::F32) { f64::from(size as f32) } else { size };
        let log = (d as f64) * (2.0 * size * size).ln();
        assert!((found.denominator.log_abs() - log).abs() < 1e-6 * log.abs(), "{}", found.denominator.log_abs());
    }
    let x = Plain::product(vec![vec![c(8.0, 0.0); 2]; d]).train(&context, DType::F64);
    let h = ising(&context, DType::F64, d, 1.0, 0.5, false).unwrap();
    let options = Options { scaling: Scaling::Never, ..Options::default() };
    let found = rayleigh(&context, &options, &x, &h).unwrap();
    assert!(!found.denominator.is_finite(), "without scaling it overflows");
}
