//! Random shapes against the dense tensors.

use super::support::{session, session_by};
use crate::trains::Options;
use crate::trains::options::{Conjugate, Method, NormMethod, Scaling};
use crate::trains::testing::{Disorder, KERNELS, Plain, TYPES, cpu, inner};

#[test]
fn random_shapes_have_the_products_of_their_dense_tensors() {
    let c = cpu(2);
    let mut d = Disorder::new(7);
    for round in 0..150 {
        let (dtype, tolerance) = TYPES[round % 4];
        let sites = d.pick(1, 7);
        let mut modes: Vec<usize> = (0..sites).map(|_| d.pick(1, 4)).collect();
        while modes.iter().product::<usize>() > 4096 {
            let k = d.pick(0, sites - 1);
            modes[k] = 1;
        }
        let mut ranks = |largest: usize| {
            let mut r: Vec<usize> = (0..=sites).map(|_| d.pick(1, largest)).collect();
            r[sites] = r[0];
            r
        };
        let (r, s) = (ranks(5), ranks(6));
        let x = Plain::random(&modes, &r, dtype.is_complex(), round as u64);
        let y = Plain::random(&modes, &s, dtype.is_complex(), round as u64 + 1000);
        let (tx, ty) = (x.train(&c, dtype), y.train(&c, dtype));
        let size = x.norm() * y.norm();
        let methods = [Method::Auto, Method::Full, Method::Reduced, Method::Blocked, Method::Halves];
        for method in methods {
            let options = Options {
                method,
                conjugate: if d.number() > 0.0 { Conjugate::Bra } else { Conjugate::None },
                scaling: [Scaling::Auto, Scaling::Always, Scaling::Never][d.pick(0, 2)],
                cut: (d.number() > 0.0).then(|| d.pick(0, sites - 1)),
                block: match (method, d.pick(0, 5)) {
                    (Method::Auto | Method::Blocked, block) => block,
                    _ => 0,
                },
                ..Options::default()
            };
            let wanted = inner(&x, &y, options.conjugate == Conjugate::Bra);
            let kernel = KERNELS[d.pick(0, 2)];
            let (value, info) = session_by(&c, kernel, options.clone()).inner(None, &tx, &ty, None).unwrap();
            let error = (value - wanted).norm();
            assert!(
                error <= tolerance * size.max(1e-3),
                "{dtype:?} {modes:?} {r:?} {s:?} {options:?}: {value}, not {wanted}: {info:?}"
            );
        }
        let norm_method = [NormMethod::Auto, NormMethod::Inner, NormMethod::Triangle, NormMethod::Qr][d.pick(0, 3)];
        let (norm, _) = session(&c, Options { norm_method, ..Options::default() }).norm(None, &tx, None).unwrap();
        assert!((norm - x.norm()).abs() <= tolerance * x.norm(), "{dtype:?} {modes:?} {r:?} {norm_method:?}: {norm}");
    }
}
