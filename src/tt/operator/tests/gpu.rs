//! Operators on a GPU: exact integers, the ground state of the Ising chain, and environments of trains whose ranks change.

use std::f64::consts::PI;
use std::sync::Arc;

use super::exact::tfim;
use super::support::*;
use super::sweeps::check_other_ranks;
use crate::algebra::{Place, copy, matrix};
use crate::context::Context;
use crate::operator::{Trains, ising, rayleigh, sandwich};
use crate::scalar::DType;
use crate::tensor::Location;
use crate::tensor::train::TensorTrain;
use crate::trains::Options;
use crate::trains::testing::{TYPES, gpu};

/// A copy of the train in device memory.
fn there(context: &Arc<Context>, train: &TensorTrain) -> TensorTrain {
    copy(&Place::new(context, None, Location::Device), train).unwrap()
}

#[test]
#[ignore = "needs a GPU"]
fn exact_integers_come_out_between_operators() {
    let context = gpu(0);
    let mut seen = 0;
    for case in Json::read("exact_small.json").list() {
        let Some(h) = case.get("h") else { continue };
        seen += 1;
        let (u, v, h) = (case.get("u").unwrap().cores(), case.get("v").unwrap().cores(), h.cores());
        let n = case.get("n").unwrap().sizes();
        let h = PlainMatrix { rows: n.clone(), cols: n, train: h };
        let complex = matches!(case.get("complex"), Some(Json::Bool(true)));
        for (dtype, tolerance) in TYPES.into_iter().filter(|t| t.0.is_complex() == complex) {
            let th = h.matrix(&context, dtype);
            let (tu, tv) = (there(&context, &u.train(&context, dtype)), there(&context, &v.train(&context, dtype)));
            for (ket, plain, key) in [(&tv, &v, "u_h_v"), (&tu, &u, "u_h_u")] {
                let (found, _) = sandwich(&context, &Options::default(), &Trains::new(&tu, Some(&th), ket)).unwrap();
                let size = norm(&u.full()) * norm(&h.apply(plain).full());
                let error = (found.plain(DType::CF64).0 - case.get(key).unwrap().complex()).norm();
                assert!(error <= tolerance * size, "{:?} {dtype:?} {key}: off by {error} of {size}", case.get("name"));
            }
        }
    }
    assert!(seen >= 8);
}

#[test]
#[ignore = "needs a GPU"]
fn the_ground_state_of_the_ising_chain_has_its_energy() {
    let context = gpu(0);
    let (x, h, about) = tfim();
    let golden = |key: &str| about.get(key).unwrap().number();
    let energy = 1.0 - 1.0 / (PI / 66.0).sin();
    let state = there(&context, &x.train(&context, DType::F64));
    let given = h.matrix(&context, DType::F64);
    let own = ising(&context, DType::F64, 16, 1.0, 1.0, false).unwrap();
    for h in [&given, &own] {
        let found = rayleigh(&context, &Options::default(), &state, h).unwrap();
        let value = found.quotient.plain(DType::CF64).0;
        for key in ["E_tenpy_dmrg", "E_tenpy_expectation", "E_numpy_rayleigh"] {
            assert!((value.re - golden(key)).abs() < 1e-12, "{value} is not {key}");
        }
        assert_eq!(value.im, 0.0);
        assert!((found.denominator.plain(DType::F64).0.re - golden("norm2_numpy")).abs() < 1e-13);
        assert!(value.re - energy > -1e-12 && value.re - energy < 1e-10);
    }
    let at = Place::host(&context);
    let single = matrix::cast(&at, &given, DType::F32).unwrap();
    let state = there(&context, &x.train(&context, DType::F32));
    let found = rayleigh(&context, &Options::default(), &state, &single).unwrap();
    let value = found.quotient.plain(DType::CF64).0;
    assert!((value.re / energy - 1.0).abs() < 2e-6, "{value}");
}

#[test]
#[ignore = "needs a GPU"]
fn trains_with_other_ranks_take_over_what_does_not_depend_on_them() {
    check_other_ranks(&gpu(0), Location::Device);
}
