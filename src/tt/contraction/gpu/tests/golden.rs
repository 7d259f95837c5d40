//! Exact integers and norms by every method, within the tolerances of the golden data.

use std::sync::Arc;

use super::oracle::epsilon;
use crate::algebra::{Place, copy};
use crate::context::Context;
use crate::contraction::Contraction;
use crate::contraction::tests::golden::{exact, methods, relative, tiled, trains};
use crate::contraction::tests::support::session_by;
use crate::scalar::DType;
use crate::tensor::Location;
use crate::tensor::train::TensorTrain;
use crate::trains::options::{Conjugate, Method, NormMethod};
use crate::trains::testing::{C, Json, KERNELS, Plain, TYPES as TOLERANCES, gpu, npy};
use crate::trains::{Options, Scaled};

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
                assert_eq!(outcome, crate::trains::info::Outcome::Overflow, "{name} {dtype:?}");
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

/// The norm of the ground state of the Ising chain, by each method.
#[test]
#[ignore = "needs a GPU"]
fn the_ground_state_of_the_ising_chain_has_its_norm() {
    let context = gpu(0);
    let about = Json::read("tfim_L16_chi24.json");
    let numbers = npy("tfim_L16_chi24_mps.npy");
    let mut rest = &numbers[..];
    let cores = about.at("mps_shapes").list().iter().map(|shape| {
        let shape: Vec<usize> = shape.numbers().iter().map(|&size| size as usize).collect();
        let (core, tail) = rest.split_at(shape.iter().product());
        rest = tail;
        (shape, core.iter().map(|&x| C::new(x, 0.0)).collect())
    });
    let state = there(&context, &Plain::of_cores(cores.collect()).train(&context, DType::F64));
    for way in [NormMethod::Auto, NormMethod::Inner, NormMethod::Triangle, NormMethod::Qr] {
        let norm = norm_of(&context, way, &state).plain(DType::F64).0.re;
        assert!((norm * norm - about.at("norm2_numpy").number()).abs() < 1e-13, "{way:?}: {norm}");
    }
}
