//! Exact integers, the ground state of the Ising chain, and norms by every method, within the tolerances of the golden
//! data.

use std::f64::consts::PI;
use std::sync::Arc;

use super::inputs::gpu;
use super::oracle::epsilon;
use crate::context::Context;
use crate::scalar::{Complex, DType};
use crate::tensor::Location;
use crate::tensor::train::{TensorTrain, TrainMatrix};
use crate::tt::algebra::{Place, copy, matrix};
use crate::tt::operator::tests::{exact as chain, support as operators};
use crate::tt::operator::{Trains, ising, rayleigh, sandwich};
use crate::tt::options::{Conjugate, Method, NormMethod};
use crate::tt::tests::golden::{exact, methods, relative, tiled, trains};
use crate::tt::tests::support::{Json, KERNELS, TYPES as TOLERANCES, session_by};
use crate::tt::{Contraction, Options, Scaled};

/// A copy of the train in device memory.
fn there(context: &Arc<Context>, train: &TensorTrain) -> TensorTrain {
    copy(&Place::new(context, None, Location::Device), train).unwrap()
}

fn norm_of(context: &Arc<Context>, way: NormMethod, train: &TensorTrain) -> Scaled {
    let given = Options { norm_method: way, ..Options::default() };
    Contraction::new(context, given).unwrap().norm_scaled(None, train, None).unwrap().0
}

#[test]
#[ignore = "needs a GPU"]
fn small_integer_trains_have_their_exact_products() {
    let context = gpu(0);
    for case in Json::read("exact_small.json").list() {
        let (u, v) = trains(case);
        let (name, complex) = (case.at("name").text(), case.at("complex").bool());
        let size = (case.at("norm2_u").complex().re * case.at("norm2_v").complex().re).sqrt();
        for (dtype, tolerance) in TOLERANCES.into_iter().filter(|t| t.0.is_complex() == complex) {
            let (x, y) = (u.train(&context, dtype), v.train(&context, dtype));
            let (on_x, on_y) = (there(&context, &x), there(&context, &y));
            for method in methods(&u, &v) {
                for (conjugate, key) in [(Conjugate::Bra, "inner_conj"), (Conjugate::None, "inner_noconj")] {
                    let cut = (method != Method::Auto).then_some(0);
                    for kernel in KERNELS {
                        let options = Options { method, conjugate, cut, ..Options::default() };
                        let mut session = session_by(&context, kernel, options);
                        for (x, y) in [(&on_x, &on_y), (&x, &on_y)] {
                            let (value, info) = session.inner(None, x, y, None).unwrap();
                            let error = (value - case.at(key).complex()).norm();
                            assert!(error <= tolerance * size, "{name} {dtype:?} {key}: off by {error}: {info:?}");
                        }
                    }
                }
            }
            for (train, key) in [(&on_x, "norm2_u"), (&on_y, "norm2_v")] {
                let wanted = case.at(key).complex().re.sqrt();
                for way in [NormMethod::Auto, NormMethod::Inner, NormMethod::Triangle, NormMethod::Qr] {
                    let norm = norm_of(&context, way, train).plain(dtype).0.re;
                    let error = (norm - wanted).abs();
                    assert!(error <= tolerance * wanted, "{name} {dtype:?} {key} {way:?}: {norm}, not {wanted}");
                }
            }
        }
    }
}

#[test]
#[ignore = "needs a GPU"]
fn huge_integer_trains_keep_their_exponents() {
    let context = gpu(0);
    for case in Json::read("exact_huge.json").list() {
        let (u, v) = (tiled(case, "base_u"), tiled(case, "base_v"));
        let (name, complex) = (case.at("name").text(), case.at("complex").bool());
        for (dtype, tolerance) in TOLERANCES.into_iter().filter(|t| t.0.is_complex() == complex) {
            let (x, y) = (there(&context, &u.train(&context, dtype)), there(&context, &v.train(&context, dtype)));
            // Rounding errors add up from site to site.
            let bound = tolerance * case.at("d").number().sqrt();
            let wanted = exact(case.at("inner_conj"));
            for kernel in KERNELS {
                let mut session = session_by(&context, kernel, Options::default());
                let (found, info) = session.inner_scaled(None, &x, &y, None).unwrap();
                assert!(info.scaled);
                assert!(relative(found, wanted) < bound, "{name} {dtype:?} {kernel:?}: {found:?}, not {wanted:?}");
                let outcome = session.inner(None, &x, &y, None).unwrap().1.outcome;
                assert_eq!(outcome, crate::tt::info::Outcome::Overflow, "{name} {dtype:?}");
            }
            let square = exact(case.at("norm2_u"));
            let ways = [NormMethod::Auto, NormMethod::Inner, NormMethod::Qr];
            // QR factors are rounded at every site in the type of the train.
            for way in &ways[..if epsilon(dtype) > 1e-10 { 2 } else { 3 }] {
                let norm = norm_of(&context, *way, &x);
                assert!(relative(norm.times(norm), square) < bound, "{name} {dtype:?} {way:?}: {norm:?}");
            }
        }
    }
}

#[test]
#[ignore = "needs a GPU"]
fn exact_integers_come_out_between_operators() {
    let context = gpu(0);
    let mut seen = 0;
    for case in operators::Json::read("exact_small.json").list() {
        let Some(h) = case.get("h") else { continue };
        seen += 1;
        let (u, v, h) = (case.get("u").unwrap().cores(), case.get("v").unwrap().cores(), h.cores());
        let n = case.get("n").unwrap().sizes();
        let h = operators::PlainMatrix { rows: n.clone(), cols: n, train: h };
        let complex = matches!(case.get("complex"), Some(operators::Json::Bool(true)));
        for (dtype, tolerance) in TOLERANCES.into_iter().filter(|t| t.0.is_complex() == complex) {
            let th = h.matrix(&context, dtype);
            let (tu, tv) = (there(&context, &u.train(&context, dtype)), there(&context, &v.train(&context, dtype)));
            for (ket, plain, key) in [(&tv, &v, "u_h_v"), (&tu, &u, "u_h_u")] {
                let (found, _) = sandwich(&context, &Options::default(), &Trains::new(&tu, Some(&th), ket)).unwrap();
                let size = operators::norm(&u.full()) * operators::norm(&h.apply(plain).full());
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
    let (x, h, about) = chain::tfim();
    let number = |key: &str| about.get(key).unwrap().number();
    let energy = 1.0 - 1.0 / (PI / 66.0).sin();
    let state = there(&context, &x.train(&context, DType::F64));
    let given = h.matrix(&context, DType::F64);
    let own = ising(&context, DType::F64, 16, 1.0, 1.0, false).unwrap();
    for h in [&given, &own] {
        let found = rayleigh(&context, &Options::default(), &state, h).unwrap();
        let value = found.quotient.plain(DType::CF64).0;
        for key in ["E_tenpy_dmrg", "E_tenpy_expectation", "E_numpy_rayleigh"] {
            assert!((value.re - number(key)).abs() < 1e-12, "{value} is not {key}");
        }
        assert_eq!(value.im, 0.0);
        assert!((found.denominator.plain(DType::F64).0.re - number("norm2_numpy")).abs() < 1e-13);
        assert!(value.re - energy > -1e-12 && value.re - energy < 1e-10);
    }
    for way in [NormMethod::Auto, NormMethod::Inner, NormMethod::Triangle, NormMethod::Qr] {
        let norm = norm_of(&context, way, &state).plain(DType::F64).0.re;
        assert!((norm * norm - number("norm2_numpy")).abs() < 1e-13, "{way:?}: {norm}");
    }
    let at = Place::host(&context);
    let single: TrainMatrix = matrix::cast(&at, &given, DType::F32).unwrap();
    let state = there(&context, &x.train(&context, DType::F32));
    let found = rayleigh(&context, &Options::default(), &state, &single).unwrap();
    let value: Complex<f64> = found.quotient.plain(DType::CF64).0;
    assert!((value.re / energy - 1.0).abs() < 2e-6, "{value}");
}
