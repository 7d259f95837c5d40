//! Decompositions through the session: layouts, types, given sketches, reproducibility.

use super::support::{
    Dense, MatrixLayout, PACKED, adjoint, bits, cpu, disorder, factor, factor_with, golden_numbers, matrix, read_npy,
    residual,
};
use crate::backend::BackendChoice;
use crate::context::{Context, Options as ContextOptions};
use crate::rsvd::options::{Centering, ErrorKind, Method, Right, Sign};
use crate::rsvd::{Options, Rsvd};
use crate::scalar::{Complex, Scalar};
use crate::shape::Order;

fn all_layouts() -> [MatrixLayout; 3] {
    [PACKED, MatrixLayout { order: Order::RowMajor, gap: 0 }, MatrixLayout { order: Order::ColumnMajor, gap: 3 }]
}

/// q = 6 and a sketch of twice the rank: as good as exact for values that decay.
fn layouts<T: Scalar>(name: &str, k: usize) {
    let context = cpu();
    let a = read_npy::<T>(&format!("{name}.npy"));
    let golden = golden_numbers(name, "singular_values");
    let single = T::DTYPE.is_single();
    let tolerance = if single { 5e-6 } else { 1e-12 };
    for layout in all_layouts() {
        let m = matrix(&context, &a, layout);
        for method in [Method::Auto, Method::Range, Method::Fused, Method::RowFused, Method::Krylov, Method::Merge] {
            let options = Options {
                rank: k,
                oversampling: Some(k + 10),
                power_iterations: Some(6),
                method,
                block_rows: 50,
                ..Options::default()
            };
            let f = factor::<T>(&context, &m, options).unwrap();
            for (j, (x, y)) in f.s.iter().zip(&golden).enumerate() {
                assert!((x - y).abs() <= tolerance * golden[0], "{name} {layout:?} {method:?}: sigma_{j} {x} {y}");
            }
            let limit = if single { 5e-6 } else { 1e-13 };
            assert!(disorder(&f.u) < limit && disorder(&f.v) < limit, "{name} {layout:?} {method:?}");
            let best = golden[k..].iter().map(|s| s * s).sum::<f64>().sqrt();
            let error = residual(&a, &f.u, &f.s, &f.v);
            assert!(
                error <= (1.0 + 1e-3) * best + 1e-6 * f64::from(single),
                "{name} {layout:?} {method:?}: {error} {best}"
            );
            assert!((f.info.frobenius - a.norm()).abs() < 1e-6 * a.norm(), "{name} {layout:?} {method:?}");
        }
    }
}

#[test]
fn layouts_and_types_make_no_difference() {
    layouts::<f64>("geo_200x120", 10);
    layouts::<f32>("geo_200x120", 10);
    layouts::<f64>("wide_60x200", 10);
    layouts::<f32>("wide_60x200", 10);
    layouts::<Complex<f64>>("cplx_100x70", 10);
    layouts::<Complex<f32>>("cplx_100x70", 10);
}

#[test]
fn a_given_sketch_gives_the_known_values() {
    let context = cpu();
    let a = matrix(&context, &read_npy::<f64>("geo_200x120.npy"), PACKED);
    let omega = matrix(&context, &read_npy::<f64>("omega_120x20.npy"), PACKED);
    let row_space = [Method::Basic, Method::Fifo, Method::RowFused, Method::Gram];
    for q in 0..4 {
        for (form, methods) in [("rowspace", &row_space[..]), ("hmt", &[Method::Range, Method::Fused][..])] {
            let golden = golden_numbers("fixed_omega_geo_200x120", &format!("{form}_q{q}"));
            for &method in methods {
                for block_rows in [0, 64, 200] {
                    let options = Options {
                        rank: 20,
                        oversampling: Some(0),
                        power_iterations: Some(q),
                        method,
                        block_rows,
                        ..Options::default()
                    };
                    let mut rsvd = Rsvd::new(&context, options).unwrap();
                    rsvd.set_sketch(Some(&omega)).unwrap();
                    let f = factor_with::<f64>(&mut rsvd, &a).unwrap();
                    assert_eq!(f.s.len(), golden.len());
                    for (j, (x, y)) in f.s.iter().zip(&golden).enumerate() {
                        assert!((x - y).abs() <= 1e-11, "{form} q = {q} {method:?}: sigma_{j} = {x}, not {y}");
                    }
                }
            }
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_bits() {
    let a = read_npy::<f64>("poly_150x150.npy");
    let run = |threads, seed, method| {
        let options = ContextOptions { backend: BackendChoice::Cpu, threads, ..ContextOptions::default() };
        let context = Context::new(options).unwrap();
        let m = matrix(&context, &a, PACKED);
        let options = Options { rank: 8, seed, method, block_rows: 40, ..Options::default() };
        let f = factor::<f64>(&context, &m, options).unwrap();
        (bits(&f.u), f.s, bits(&f.v))
    };
    for method in [Method::Auto, Method::Fused, Method::Krylov, Method::Merge, Method::Gram, Method::OnePass] {
        assert!(run(1, 5, method) == run(2, 5, method), "{method:?}");
        if method != Method::Gram {
            assert!(run(1, 5, method).1 != run(1, 6, method).1, "{method:?}: the seed changes nothing");
        }
    }
}

#[test]
fn blocks_and_what_stays_change_only_roundoff() {
    let context = cpu();
    let m = matrix(&context, &read_npy::<f64>("geo_200x120.npy"), PACKED);
    let methods = [Method::Basic, Method::RowFused, Method::Gram, Method::Range, Method::Fused, Method::Krylov];
    for method in methods {
        let run = |block_rows| {
            let options = Options { rank: 10, method, block_rows, ..Options::default() };
            factor::<f64>(&context, &m, options).unwrap()
        };
        let whole = run(200);
        for block in [1, 7, 64, 199, 500] {
            let f = run(block);
            for (x, y) in f.s.iter().zip(&whole.s) {
                assert!((x - y).abs() < 1e-11, "{method:?} {block}");
            }
            for (x, y) in f.v.data.iter().zip(&whole.v.data) {
                assert!((x - y).abs() < 1e-9, "{method:?} {block}: {x} {y}");
            }
        }
    }
}

#[test]
fn the_peak_of_each_vector_is_positive() {
    fn check<T: Scalar>(name: &str) {
        let context = cpu();
        let m = matrix(&context, &read_npy::<T>(name), PACKED);
        for sign in [Sign::VMax, Sign::UMax] {
            let f = factor::<T>(&context, &m, Options { rank: 6, sign, ..Options::default() }).unwrap();
            let ruled: &Dense<T> = if sign == Sign::VMax { &f.v } else { &f.u };
            for j in 0..6 {
                let column = &ruled.data[j * ruled.rows..(j + 1) * ruled.rows];
                let most = column.iter().map(|x| x.re().hypot(x.im())).fold(0.0, f64::max);
                let peak = column.iter().find(|x| x.re().hypot(x.im()) == most).unwrap();
                assert!(peak.re() > 0.0 && peak.im().abs() < 1e-14, "{name} {sign:?} {j}: {peak:?}");
            }
        }
    }
    check::<f64>("geo_200x120.npy");
    check::<f64>("wide_60x200.npy");
    check::<Complex<f64>>("cplx_100x70.npy");
    let context = cpu();
    let wide = adjoint(&read_npy::<Complex<f64>>("cplx_100x70.npy"));
    let m = matrix(&context, &wide, PACKED);
    let f = factor::<Complex<f64>>(&context, &m, Options { rank: 6, ..Options::default() }).unwrap();
    assert!(f.info.transposed);
    let right = Options { rank: 6, right: Right::Vh, ..Options::default() };
    let h = factor::<Complex<f64>>(&context, &m, right).unwrap();
    assert!(bits(&adjoint(&h.v)) == bits(&f.v) && bits(&h.u) == bits(&f.u));
}

#[test]
fn values_alone_and_one_factor_alone_are_the_same_numbers() {
    let context = cpu();
    let a = matrix(&context, &read_npy::<f64>("geo_200x120.npy"), PACKED);
    let mut rsvd = Rsvd::new(&context, Options { rank: 5, ..Options::default() }).unwrap();
    let all = factor_with::<f64>(&mut rsvd, &a).unwrap();
    let mut s = super::support::vector(&context, 5);
    let outputs = crate::rsvd::outputs::Outputs { s: Some(&mut s), ..Default::default() };
    rsvd.compute(None, &a, outputs, None).unwrap();
    assert_eq!(super::support::numbers(&s), all.s);
    let mut u = super::support::blank::<f64>(&context, 200, 5);
    let outputs = crate::rsvd::outputs::Outputs { u: Some(&mut u), ..Default::default() };
    rsvd.compute(None, &a, outputs, None).unwrap();
    assert_eq!(bits(&super::support::held::<f64>(&u)), bits(&all.u));
}

#[test]
fn the_report_has_the_passes_and_the_reason() {
    let context = cpu();
    let a = matrix(&context, &read_npy::<f64>("poly_150x150.npy"), PACKED);
    for (method, passes) in [
        (Method::Basic, 7),
        (Method::Fifo, 7),
        (Method::RowFused, 4),
        (Method::Gram, 2),
        (Method::Brsvd, 2),
        (Method::Range, 8),
        (Method::Fused, 4),
        (Method::Merge, 2),
        (Method::Krylov, 4),
        (Method::OnePass, 1),
        (Method::Direct, 1),
    ] {
        let iterations = if passes == 1 { 0 } else { 3 };
        let options =
            Options { rank: 10, power_iterations: Some(iterations), method, block_rows: 50, ..Options::default() };
        let planned = Rsvd::new(&context, options.clone()).unwrap().plan(&a).unwrap();
        let info = factor::<f64>(&context, &a, options).unwrap().info;
        assert_eq!((info.passes, planned.passes), (passes, passes), "{method:?}: {}", info.reason);
        assert_eq!((info.method, info.blocks, info.block_rows), (method, 3, 50));
        assert!(info.reason.starts_with("asked for"), "{}", info.reason);
    }
    for (center, error, passes) in [
        (Centering::Columns, ErrorKind::Identity, 4),
        (Centering::None, ErrorKind::Probes, 4),
        (Centering::Columns, ErrorKind::Power, 15),
    ] {
        let options = Options { rank: 10, method: Method::Fused, center, error, ..Options::default() };
        let planned = Rsvd::new(&context, options.clone()).unwrap().plan(&a).unwrap();
        let info = factor::<f64>(&context, &a, options).unwrap().info;
        assert_eq!((info.passes, planned.passes), (passes, passes), "{center:?} {error:?}");
    }
    let info = factor::<f64>(&context, &a, Options { rank: 70, ..Options::default() }).unwrap().info;
    assert_eq!((info.method, info.passes), (Method::Direct, 1));
    assert!(info.reason.contains("direct"), "{}", info.reason);
}
