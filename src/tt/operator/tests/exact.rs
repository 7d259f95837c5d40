//! Published values, values of other libraries, and exact integers.

use std::f64::consts::PI;

use super::support::*;
use crate::operator::{Trains, ising, rayleigh, sandwich};
use crate::scalar::DType;
use crate::trains::options::Options;
use crate::trains::testing::npy;

#[test]
fn exact_integers_come_out_in_all_types() {
    let context = cpu(2);
    let mut seen = 0;
    for case in Json::read("exact_small.json").list() {
        let Some(h) = case.get("h") else { continue };
        seen += 1;
        let (u, v, h) = (case.get("u").unwrap().cores(), case.get("v").unwrap().cores(), h.cores());
        let n = case.get("n").unwrap().sizes();
        let h = PlainMatrix { rows: n.clone(), cols: n, train: h };
        let complex = matches!(case.get("complex"), Some(Json::Bool(true)));
        let types = if complex { [DType::CF32, DType::CF64] } else { [DType::F32, DType::F64] };
        for dtype in types {
            let (tu, tv, th) = (u.train(&context, dtype), v.train(&context, dtype), h.matrix(&context, dtype));
            for (bra, ket, full_ket, key) in [(&tu, &tv, &v, "u_h_v"), (&tu, &tu, &u, "u_h_u")] {
                let (found, _) = sandwich(&context, &Options::default(), &Trains::new(bra, Some(&th), ket)).unwrap();
                let value = case.get(key).unwrap().complex();
                let size = norm(&u.full()) * norm(&h.apply(full_ket).full());
                assert!((number(found) - value).norm() <= tolerance(dtype) * size, "{:?} {key}", case.get("name"));
            }
        }
    }
    assert!(seen >= 8);
}

/// The state and the Hamiltonian of the critical Ising chain, from the golden data.
pub fn tfim() -> (Plain, PlainMatrix, Json) {
    let about = Json::read("tfim_L16_chi24.json");
    let shapes = |key: &str| -> Vec<Vec<usize>> { about.get(key).unwrap().list().iter().map(Json::sizes).collect() };
    let cores = |name: &str, shapes: &[Vec<usize>]| {
        let flat = npy(name);
        let mut rest = &flat[..];
        let cores = shapes.iter().map(|shape| {
            let (core, tail) = rest.split_at(shape.iter().product());
            rest = tail;
            core.iter().map(|&x| c(x, 0.0)).collect()
        });
        let cores: Vec<Vec<C>> = cores.collect();
        assert!(rest.is_empty());
        let ranks: Vec<usize> = shapes.iter().map(|s| s[0]).chain([1]).collect();
        let modes: Vec<usize> = shapes.iter().map(|s| s[1..s.len() - 1].iter().product()).collect();
        Plain::new(&modes, &ranks, cores)
    };
    let x = cores("tfim_L16_chi24_mps.npy", &shapes("mps_shapes"));
    let h = cores("tfim_L16_chi24_mpo.npy", &shapes("mpo_shapes"));
    let sites = x.modes.clone();
    (x, PlainMatrix { rows: sites.clone(), cols: sites, train: h }, about)
}

#[test]
fn the_ground_state_of_the_ising_chain_has_its_energy() {
    let context = cpu(2);
    let (x, h, about) = tfim();
    let energy = 1.0 - 1.0 / (PI / 66.0).sin();
    assert!((about.get("E_exact_infinite_chi").unwrap().number() - energy).abs() < 1e-12);
    let (tx, th) = (x.train(&context, DType::F64), h.matrix(&context, DType::F64));
    let own = ising(&context, DType::F64, 16, 1.0, 1.0, false).unwrap();
    for h in [&th, &own] {
        let found = rayleigh(&context, &Options::default(), &tx, h).unwrap();
        let value = number(found.quotient);
        assert_eq!(value.im, 0.0);
        for key in ["E_tenpy_dmrg", "E_tenpy_expectation", "E_numpy_rayleigh"] {
            assert!((value.re - about.get(key).unwrap().number()).abs() < 1e-12, "{value} is not {key}");
        }
        assert!((number(found.denominator).re - about.get("norm2_numpy").unwrap().number()).abs() < 1e-13);
        // A variational energy is at least that of the ground state.
        assert!(value.re - energy > -1e-12 && value.re - energy < 1e-10);
    }
    let (x32, h32) = (x.train(&context, DType::F32), h.matrix(&context, DType::F32));
    let found = rayleigh(&context, &Options::default(), &x32, &h32).unwrap();
    assert!((number(found.quotient).re / energy - 1.0).abs() < 2e-6);
}

#[test]
fn the_laplacian_has_its_eigenvalues() {
    let context = cpu(1);
    let (m, d) = (7usize, 5usize);
    let waves = [1usize, 3, 2, 5, 7];
    let n = m * m;
    let eye: Vec<C> = (0..n).map(|at| c(f64::from(u8::from(at % m == at / m)), 0.0)).collect();
    let laplace: Vec<C> = (0..n)
        .map(|at| match (at % m).abs_diff(at / m) {
            0 => c(2.0, 0.0),
            1 => c(-1.0, 0.0),
            _ => c(0.0, 0.0),
        })
        .collect();
    // The cores of the sum: [I L], [[I L], [0 I]], ..., [L; I].
    let core = |left: usize, right: usize, block: &dyn Fn(usize, usize) -> Option<Vec<C>>| -> Vec<C> {
        let mut out = vec![c(0.0, 0.0); left * n * right];
        for at in 0..left * right {
            if let Some(matrix) = block(at % left, at / left) {
                (0..n).for_each(|i| out[at % left + left * (i + n * (at / left))] = matrix[i]);
            }
        }
        out
    };
    let cores = (0..d).map(|k| match k {
        0 => core(1, 2, &|_, v| Some(if v == 0 { eye.clone() } else { laplace.clone() })),
        k if k + 1 == d => core(2, 1, &|w, _| Some(if w == 0 { laplace.clone() } else { eye.clone() })),
        _ => core(2, 2, &|w, v| match (w, v) {
            (0, 1) => Some(laplace.clone()),
            (1, 0) => None,
            _ => Some(eye.clone()),
        }),
    });
    let ranks: Vec<usize> = (0..=d).map(|k| if k == 0 || k == d { 1 } else { 2 }).collect();
    let h = PlainMatrix { rows: vec![m; d], cols: vec![m; d], train: Plain::new(&vec![n; d], &ranks, cores.collect()) };
    let wave = |k: usize| (1..=m).map(|i| c((PI * (k * i) as f64 / (m + 1) as f64).sin(), 0.0)).collect();
    let x = Plain::product(waves.iter().map(|&k| wave(k)).collect());
    let found =
        rayleigh(&context, &Options::default(), &x.train(&context, DType::F64), &h.matrix(&context, DType::F64))
            .unwrap();
    let value: f64 = waves.iter().map(|&k| 4.0 * (PI * k as f64 / (2 * (m + 1)) as f64).sin().powi(2)).sum();
    assert!((number(found.quotient).re - value).abs() < 1e-13 * value);
    assert!((number(found.denominator).re - 4f64.powi(5)).abs() < 1e-10);
}
