//! Exact integer results of integer cores.

use super::support::{session, session_by};
use crate::contraction::Contraction;
use crate::scalar::{Complex, DType};
use crate::trains::Options;
use crate::trains::options::{Conjugate, Method, NormMethod};
use crate::trains::scaled::Scaled;
use crate::trains::testing::{C, Json, KERNELS, Plain, TYPES, cpu};

pub fn trains(case: &Json) -> (Plain, Plain) {
    let train = |key: &str| Plain::of_cores(case.at(key).list().iter().map(Json::core).collect());
    (train("u"), train("v"))
}

/// The methods that support a case.
pub fn methods(x: &Plain, y: &Plain) -> Vec<Method> {
    let mut list = vec![Method::Auto, Method::Full, Method::Reduced, Method::Blocked, Method::Halves];
    if x.ranks[0] * y.ranks[0] == 1 {
        list.push(Method::Open);
    }
    list
}

#[test]
fn small_integer_trains_have_their_exact_products() {
    let c = cpu(2);
    for case in Json::read("exact_small.json").list() {
        let (u, v) = trains(case);
        let complex = case.at("complex").bool();
        let name = case.at("name").text();
        let size = (case.at("norm2_u").complex().re * case.at("norm2_v").complex().re).sqrt();
        for (dtype, tolerance) in TYPES.into_iter().filter(|t| t.0.is_complex() == complex) {
            let (x, y) = (u.train(&c, dtype), v.train(&c, dtype));
            for method in methods(&u, &v) {
                for (conjugate, key) in [(Conjugate::Bra, "inner_conj"), (Conjugate::None, "inner_noconj")] {
                    let cut = (method != Method::Auto).then_some(0);
                    for kernel in KERNELS {
                        let options = Options { method, conjugate, cut, ..Options::default() };
                        let (value, info) = session_by(&c, kernel, options).inner(None, &x, &y, None).unwrap();
                        let error = (value - case.at(key).complex()).norm();
                        assert!(
                            error <= tolerance * size,
                            "{name} {dtype:?} {key}: off by {error} of {size}: {info:?}"
                        );
                    }
                }
            }
            for (train, key) in [(&x, "norm2_u"), (&y, "norm2_v")] {
                let exact = case.at(key).complex().re.sqrt();
                for norm_method in [NormMethod::Auto, NormMethod::Inner, NormMethod::Triangle, NormMethod::Qr] {
                    let options = Options { norm_method, ..Options::default() };
                    let norm = session(&c, options).norm(None, train, None).unwrap().0;
                    let error = (norm - exact).abs();
                    assert!(error <= tolerance * exact, "{name} {dtype:?} {key} {norm_method:?}: {norm}, not {exact}");
                }
            }
        }
    }
}

/// The trains of a case: four cores repeated as a pattern, and cut at both ends if the train is open.
pub fn tiled(case: &Json, key: &str) -> Plain {
    let base: Vec<_> = case.at(key).list().iter().map(Json::core).collect();
    let d = case.at("d").number() as usize;
    let mut cores: Vec<_> = (0..d).map(|k| base[k % 4].clone()).collect();
    if !case.at("cyclic").bool() {
        let (shape, core) = &cores[0];
        cores[0] = (vec![1, shape[1], shape[2]], core.iter().step_by(shape[0]).copied().collect());
        let (shape, core) = &cores[d - 1];
        cores[d - 1] = (vec![shape[0], shape[1], 1], core[..shape[0] * shape[1]].to_vec());
    }
    Plain::of_cores(cores)
}

pub fn exact(value: &Json) -> Scaled {
    let part = |key: &str| {
        let p = value.at(key);
        Scaled::new(C::new(p.at("mantissa").number(), 0.0), p.at("exp2").number() as i64)
    };
    part("re").plus(part("im").times(Scaled::new(Complex::new(0.0, 1.0), 0)))
}

/// |a - b| / |b|.
pub fn relative(a: Scaled, b: Scaled) -> f64 {
    let minus = Scaled { mantissa: -b.mantissa, ..b };
    let difference = a.plus(minus);
    if difference.is_zero() { 0.0 } else { (difference.log_abs() - b.log_abs()).exp() }
}

#[test]
fn huge_integer_trains_keep_their_exponents() {
    let c = cpu(2);
    for case in Json::read("exact_huge.json").list() {
        let (u, v) = (tiled(case, "base_u"), tiled(case, "base_v"));
        let complex = case.at("complex").bool();
        for (dtype, tolerance) in TYPES.into_iter().filter(|t| t.0.is_complex() == complex) {
            let (x, y) = (u.train(&c, dtype), v.train(&c, dtype));
            let wanted = exact(case.at("inner_conj"));
            let squares = [exact(case.at("norm2_u"))];
            let mut s: Contraction = session(&c, Options::default());
            let name = case.at("name").text();
            let sites = case.at("d").number();
            let (found, info) = s.inner_scaled(None, &x, &y, None).unwrap();
            assert!(info.scaled);
            // Rounding errors add up from site to site.
            let bound = tolerance * sites.sqrt();
            assert!(relative(found, wanted) < bound, "{name} {dtype:?}: {found:?}, not {wanted:?}");
            let (norm, _) = s.norm_scaled(None, &x, None).unwrap();
            assert!(relative(norm.times(norm), squares[0]) < bound, "{name} {dtype:?}: norm {norm:?}");
            let outcome = s.inner(None, &x, &y, None).unwrap().1.outcome;
            assert_eq!(outcome, crate::trains::info::Outcome::Overflow, "{name} {dtype:?}");
            if dtype == DType::F64 || dtype == DType::CF64 {
                let mut qr = session(&c, Options { norm_method: NormMethod::Qr, ..Options::default() });
                let (norm, _) = qr.norm_scaled(None, &x, None).unwrap();
                assert!(relative(norm.times(norm), squares[0]) < bound, "{name} QR: {norm:?}");
            }
        }
    }
}
