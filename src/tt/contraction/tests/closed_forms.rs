//! States whose inner products are known in closed form.

use super::support::{session, session_by};
use crate::backend::memory::{HostMemory, Memory};
use crate::context::Context;
use crate::error::Error;
use crate::scalar::DType;
use crate::tensor::train::{Shape, TensorTrain};
use crate::trains::Options;
use crate::trains::options::Method;
use crate::trains::testing::{C, KERNELS, Plain, cpu};
use std::ptr::NonNull;
use std::sync::Arc;

fn real(values: &[f64]) -> Vec<C> {
    values.iter().map(|&v| C::new(v, 0.0)).collect()
}

/// A ring of d equal cores of rank r with mode size n and the entries G[a, i, b].
fn ring(d: usize, r: usize, n: usize, entry: impl Fn(usize, usize, usize) -> f64) -> Plain {
    let mut core = Vec::new();
    for b in 0..r {
        for i in 0..n {
            core.extend((0..r).map(|a| C::new(entry(a, i, b), 0.0)));
        }
    }
    Plain::repeated(d, [r, n, r], &core)
}

fn square(x: &Plain, dtype: DType) -> f64 {
    let c = cpu(2);
    let t = x.train(&c, dtype);
    let found =
        KERNELS.map(|kernel| session_by(&c, kernel, Options::default()).inner(None, &t, &t, None).unwrap().0.re);
    assert!(found.iter().all(|f| (f - found[0]).abs() <= 1e-13 * found[0].abs()), "{found:?}");
    found[2]
}

fn ghz(d: usize, n: usize) -> Plain {
    ring(d, n, n, |a, i, b| f64::from(u8::from(a == i && i == b)))
}

/// The AKLT state of spins 1, with states (+, 0, -) and every entry times a factor.
fn aklt(d: usize, factor: f64) -> Plain {
    let root = 2f64.sqrt();
    ring(d, 2, 3, |a, i, b| {
        factor
            * match (i, a, b) {
                (0, 0, 1) => root,
                (1, 0, 0) => -1.0,
                (1, 1, 1) => 1.0,
                (2, 1, 0) => -root,
                _ => 0.0,
            }
    })
}

#[test]
fn the_ghz_ring_has_as_many_terms_as_levels() {
    for n in [2, 3, 4] {
        for d in [1, 2, 3, 10, 200] {
            assert_eq!(square(&ghz(d, n), DType::F64), n as f64, "n = {n}, d = {d}");
            assert_eq!(square(&ghz(d, n), DType::CF32), n as f64, "n = {n}, d = {d}");
        }
    }
}

#[test]
fn the_aklt_ring_has_its_norm() {
    for (d, wanted) in [(3, 24.0), (4, 84.0), (7, 2184.0), (10, 59052.0)] {
        let found = square(&aklt(d, 1.0), DType::F64);
        assert!((found - wanted).abs() < 1e-12 * wanted, "d = {d}: {found}");
        let found = square(&aklt(d, 1.0 / 3f64.sqrt()), DType::F64);
        let wanted = 1.0 + 3.0 * (-1.0f64 / 3.0).powi(d as i32);
        assert!((found - wanted).abs() < 1e-13, "d = {d}: {found}");
    }
}

#[test]
fn the_majumdar_ghosh_ring_has_its_norm() {
    for (d, wanted) in [(4, 12.0), (6, 12.0), (8, 36.0), (20, 2f64.powi(11) + 4.0)] {
        let x = ring(d, 3, 2, |a, i, b| match (a, i, b) {
            (0, 0, 1) | (1, 1, 0) | (2, 0, 0) => 1.0,
            (0, 1, 2) => -1.0,
            _ => 0.0,
        });
        assert_eq!(square(&x, DType::F64), wanted, "d = {d}");
    }
}

#[test]
fn the_cluster_ring_has_its_products() {
    let c = cpu(2);
    for d in [3, 4, 7, 10] {
        let x = ring(d, 2, 2, |a, s, b| if a == s { [1.0, -1.0][s * b] } else { 0.0 });
        assert_eq!(square(&x, DType::F64), 2f64.powi(d as i32));
        let ones = ring(d, 1, 2, |_, _, _| 1.0);
        let (a, b) = (ones.train(&c, DType::F64), x.train(&c, DType::F64));
        let wanted = if d % 2 == 0 { 2f64.powi(d as i32 / 2 + 1) } else { 0.0 };
        assert_eq!(session(&c, Options::default()).inner(None, &a, &b, None).unwrap().0.re, wanted, "d = {d}");
    }
}

/// An open train of rank 2: the first core by rows, the cores in the middle, the last core by columns.
fn rank2(
    modes: usize,
    d: usize,
    core: impl Fn(usize) -> [f64; 4],
    first: impl Fn(usize) -> [f64; 2],
    last: impl Fn(usize) -> [f64; 2],
) -> Plain {
    let mut cores = Vec::new();
    for k in 0..d {
        let (is_first, is_last) = (k == 0, k == d - 1);
        let shape = vec![if is_first { 1 } else { 2 }, modes, if is_last && !is_first { 1 } else { 2 }];
        let value = |a: usize, i: usize, b: usize| match (is_first, is_last) {
            (true, _) => first(i)[b],
            (_, true) => last(i)[a],
            _ => core(i)[2 * a + b],
        };
        let mut entries = Vec::new();
        for b in 0..shape[2] {
            for i in 0..modes {
                entries.extend((0..shape[0]).map(|a| value(a, i, b)));
            }
        }
        cores.push((shape, real(&entries)));
    }
    Plain::of_cores(cores)
}

#[test]
fn sums_and_sines_have_their_norms() {
    let sum = rank2(5, 6, |i| [1.0, 0.0, i as f64, 1.0], |i| [i as f64, 1.0], |i| [1.0, i as f64]);
    assert_eq!(square(&sum, DType::F64), 2_437_500.0);
    let x = |i: usize| i as f64 / 7.0;
    let (s, c) = (|i: usize| x(i).sin(), |i: usize| x(i).cos());
    let sine = rank2(8, 6, |i| [c(i), -s(i), s(i), c(i)], |i| [s(i), c(i)], |i| [c(i), s(i)]);
    let found = square(&sine, DType::F64);
    assert!((found - 98374.321764164).abs() < 1e-8, "{found}");
}

/// A uniform train: all sites share the memory of one core.
#[allow(unsafe_code, reason = "borrows memory as the C boundary does")]
pub fn uniform(c: &Arc<Context>, core: &mut [f64], d: usize, r: usize, n: usize) -> TensorTrain {
    let start = NonNull::new(core.as_mut_ptr().cast::<u8>()).unwrap();
    let bytes = size_of_val(core);
    let shape = Shape::new("x", &vec![n; d], &vec![r; d + 1]).unwrap();
    // SAFETY: the test keeps the core longer than the train.
    let memory = (0..d).map(|_| Memory::Host(unsafe { HostMemory::borrow(start, bytes) })).collect();
    TensorTrain::from_cores(c, DType::F64, shape, memory, true).unwrap()
}

#[test]
fn uniform_trains_of_a_thousand_million_sites_are_squared() {
    let c = cpu(2);
    let plain = aklt(1, 1.0 / 3f64.sqrt());
    let mut core: Vec<f64> = plain.cores[0].iter().map(|v| v.re).collect();
    let cell = uniform(&c, &mut core, 1, 2, 3);
    for (repeat, tolerance) in [(10u64, 1e-14), (1001, 1e-12), (1_000_000_000, 1e-6)] {
        let options = Options { repeat, method: Method::Power, ..Options::default() };
        let (found, info) = session(&c, options).inner(None, &cell, &cell, None).unwrap();
        let wanted = 1.0 + 3.0 * (-1.0f64 / 3.0).powi(repeat.min(10_001) as i32);
        assert!((found.re - wanted).abs() < tolerance, "{repeat}: {found}");
        assert_eq!(info.method, Method::Power);
    }
    // Without the factor, each core triples the result: 3^(10^9).
    let mut core: Vec<f64> = aklt(1, 1.0).cores[0].iter().map(|v| v.re).collect();
    let cell = uniform(&c, &mut core, 1, 2, 3);
    let mut s = session(&c, Options { repeat: 1_000_000_000, ..Options::default() });
    let (found, info) = s.inner_scaled(None, &cell, &cell, None).unwrap();
    assert_eq!(info.method, Method::Power);
    assert!((found.log_abs() / (1e9 * 3f64.ln()) - 1.0).abs() < 1e-9, "{found:?}");
    // An exponent beyond 64 bits gives an error.
    let mut large = [2.0f64.powi(1000)];
    let cell = uniform(&c, &mut large, 1, 1, 1);
    for (repeat, fits) in [(1u64 << 49, true), (1 << 60, false)] {
        let mut s = session(&c, Options { repeat, ..Options::default() });
        match s.inner_scaled(None, &cell, &cell, None) {
            Ok((found, _)) => assert!(fits && found.exponent == 2000 * repeat as i64 + 1, "{found:?}"),
            Err(problem) => assert!(!fits && matches!(problem, Error::Numerical(_)), "{problem}"),
        }
    }
    // As many cores as sites, and cells of several cores.
    let mut core: Vec<f64> = aklt(1, 1.0).cores[0].iter().map(|v| v.re).collect();
    let ring = uniform(&c, &mut core, 10, 2, 3);
    for (repeat, wanted) in [(1, 59052.0), (2, 3f64.powi(20) + 3.0)] {
        for method in [Method::Auto, Method::Power, Method::Blocked, Method::Reduced, Method::Full] {
            let mut s = session(&c, Options { repeat, method, ..Options::default() });
            let (found, _) = s.inner(None, &ring, &ring, None).unwrap();
            assert!((found.re - wanted).abs() < 1e-12 * wanted, "{method:?}: {found}");
        }
    }
    let cell = aklt(4, 1.0).train(&c, DType::F64);
    for method in [Method::Auto, Method::Power, Method::Blocked] {
        let mut s = session(&c, Options { repeat: 5, method, ..Options::default() });
        let (found, _) = s.inner(None, &cell, &cell, None).unwrap();
        let wanted = 3f64.powi(20) + 3.0;
        assert!((found.re - wanted).abs() < 1e-12 * wanted, "{method:?}: {found}");
    }
}
