//! Shapes at the edge, bad input, numbers of extreme size.

use std::cell::Cell;
use std::sync::Arc;

use super::support::{
    Dense, PACKED, bits, blank, cpu, disorder, factor, gpu, held, matrix, numbers, read_npy, residual, vector,
    with_spectrum,
};
use crate::context::Context;
use crate::error::Error;
use crate::rsvd::data::Resident;
use crate::rsvd::gpu::{NO_CUT, NO_HOST};
use crate::rsvd::options::{Centering, Method};
use crate::rsvd::outputs::Outputs;
use crate::rsvd::pca::PcaOptions;
use crate::rsvd::plan::WantedFactors;
use crate::rsvd::{Options, Rsvd};
use crate::scalar::{Complex, Scalar};
use crate::testing::cancel::is_cancelled;

#[test]
fn every_shape_gives_orthonormal_factors() {
    let context = cpu();
    for (m, n) in [(1, 1), (1, 7), (7, 1), (2, 2), (5, 3), (3, 5), (40, 39), (33, 65)] {
        let least = m.min(n);
        let s: Vec<f64> = (0..least).map(|j| 0.5f64.powi(j as i32)).collect();
        let a = with_spectrum::<f64>(&context, m, n, &s, 3);
        for method in [Method::Auto, Method::Range, Method::Fused, Method::RowFused, Method::Gram, Method::Krylov] {
            for k in [1, least.div_ceil(2), least] {
                let options = Options { rank: k, method, oversampling: Some(1000), ..Options::default() };
                let f = factor::<f64>(&context, &matrix(&context, &a, PACKED), options).unwrap();
                let name = format!("{m} x {n}, k = {k}, {method:?}");
                assert!(disorder(&f.u) < 1e-13 && disorder(&f.v) < 1e-13, "{name}");
                let best = s[k..].iter().map(|x| x * x).sum::<f64>().sqrt();
                let error = residual(&a, &f.u, &f.s, &f.v);
                assert!(error <= 1.001 * best + 1e-6, "{name}: {error} {best}");
            }
        }
    }
}

#[test]
fn no_entries_have_no_rank() {
    let context = cpu();
    for (m, n) in [(0, 5), (5, 0), (0, 0)] {
        let a = matrix(&context, &Dense::<f64> { rows: m, columns: n, data: Vec::new() }, PACKED);
        for rank in [1, 2, 100] {
            let rsvd = Rsvd::new(&context, Options { rank, ..Options::default() }).unwrap();
            let problem = format!("rank: is {rank}, more than min(m, n) = 0");
            assert_eq!(rsvd.plan(&a).unwrap_err().to_string(), problem);
        }
        let options = Options { tolerance: 0.1, max_rank: 1, ..Options::default() };
        let e = Rsvd::new(&context, options).unwrap().plan(&a).unwrap_err();
        assert_eq!(e.to_string(), "max_rank: is 1, more than min(m, n) = 0");
        let options = Options { tolerance: 0.1, ..Options::default() };
        let f = factor::<f64>(&context, &a, options).unwrap();
        assert!(f.s.is_empty() && f.info.rank == 0, "{:?}", f.s);
    }
}

#[test]
fn zeros_give_zeros_and_identity_columns() {
    let context = cpu();
    let a = Dense { rows: 100, columns: 40, data: vec![0.0f64; 4000] };
    let wide = super::support::adjoint(&a);
    for a in [a, wide] {
        for method in [Method::Auto, Method::Fused, Method::Gram, Method::Merge, Method::Krylov, Method::OnePass] {
            let options = Options { rank: 4, method, ..Options::default() };
            let f = factor::<f64>(&context, &matrix(&context, &a, PACKED), options).unwrap();
            assert_eq!(f.s, [0.0; 4], "{method:?}");
            assert_eq!(f.info.error_frobenius, 0.0);
            for x in [&f.u, &f.v] {
                for j in 0..4 {
                    assert!((0..x.rows).all(|i| x.at(i, j) == f64::from(u8::from(i == j))), "{method:?}");
                }
            }
        }
    }
}

#[test]
fn a_sketch_beyond_the_rank_finds_zeros() {
    let context = cpu();
    let a = read_npy::<f64>("rank7_120x90.npy");
    for method in [
        Method::Basic,
        Method::RowFused,
        Method::Gram,
        Method::Range,
        Method::Fused,
        Method::Merge,
        Method::Krylov,
        Method::OnePass,
        Method::Brsvd,
    ] {
        let options = Options { rank: 20, oversampling: Some(0), method, block_rows: 50, ..Options::default() };
        let f = factor::<f64>(&context, &matrix(&context, &a, PACKED), options).unwrap();
        // Gram does not resolve values below sqrt(u) of the largest; two more passes do.
        assert!(f.s[6] > 0.5 && f.s[7] < 1e-13, "{method:?}: {:?}", &f.s[6..9]);
        assert!(disorder(&f.u) < 1e-13 && disorder(&f.v) < 1e-13, "{method:?}");
        assert!(residual(&a, &f.u, &f.s, &f.v) < 1e-12, "{method:?}");
    }
}

fn problem_of(options: Options) -> String {
    let context = cpu();
    let a = matrix(&context, &read_npy::<f64>("wide_60x200.npy"), PACKED);
    match factor::<f64>(&context, &a, options) {
        Err(Error::InvalidArgument { argument, problem }) => format!("{argument}: {problem}"),
        Err(Error::NotSupported(text)) => text,
        Err(e) => panic!("{e}"),
        Ok(_) => panic!("accepted"),
    }
}

#[test]
fn bad_options_are_named() {
    let o = Options { rank: 5, ..Options::default() };
    for (options, needed) in [
        (Options { rank: 0, ..o.clone() }, "rank: is 0"),
        (Options { rank: 61, ..o.clone() }, "rank: is 61, more than min(m, n) = 60"),
        (Options { tolerance: f64::NAN, ..o.clone() }, "tolerance: is NaN"),
        (Options { tolerance: 1.5, ..o.clone() }, "tolerance: is 1.5"),
        (Options { tolerance: 0.1, max_rank: 61, rank: 0, ..o.clone() }, "max_rank: is 61"),
        (Options { tolerance: 0.1, ..o.clone() }, "rank: is 5 beside a tolerance"),
        (Options { block_columns: 3, ..o.clone() }, "block_columns: is 3, which needs a tolerance"),
        (Options { resident_rows: Resident::AtMost(4), ..o.clone() }, "resident_rows: is 4 on a CPU"),
        (Options { block_columns: 0, ..o.clone() }, "block_columns: is 0"),
        (Options { max_rank: 3, ..o.clone() }, "max_rank: is 3, which needs a tolerance"),
        (Options { tolerance: 0.1, method: Method::Fused, ..o.clone() }, "method: is FUSED with a tolerance"),
        (Options { method: Method::Fused, merge_width: 30, ..o.clone() }, "merge_width: is 30 for method FUSED"),
        (Options { method: Method::Fused, smallest_ratio: 0.1, ..o.clone() }, "smallest_ratio: is 0.1, which needs"),
        (Options { read_rate: f64::NAN, ..o.clone() }, "read_rate: is NaN"),
        (Options { read_rate: 1e6, ..o.clone() }, "read_rate: is 1000000, for a matrix that is not read"),
        (Options { probes: 0, ..o.clone() }, "probes: is 0"),
        (Options { scale: true, ..o.clone() }, "scale: is set without"),
        (Options { scale: true, center: Centering::Rows, ..o.clone() }, "scale: is set without"),
        (Options { one_pass: true, ..o.clone() }, "one_pass: is set"),
        (Options { method: Method::Nystrom, ..o.clone() }, "method: is NYSTROM"),
        (Options { method: Method::Merge, merge_width: 3, ..o.clone() }, "merge_width: is 3"),
        (Options { method: Method::Merge, one_pass: true, ..o.clone() }, "v: one pass of MERGE"),
    ] {
        let found = problem_of(options);
        assert!(found.starts_with(needed), "{found}, not {needed}");
    }
    assert!(Method::from_code("method", 14).is_err() && Method::from_code("method", -1).is_err());
    assert_eq!(Method::from_code("method", 11), Ok(Method::Direct));
}

#[test]
fn outputs_of_other_sizes_and_types_are_refused() {
    let context = cpu();
    let a = matrix(&context, &read_npy::<f64>("geo_200x120.npy"), PACKED);
    let mut rsvd = Rsvd::new(&context, Options { rank: 4, ..Options::default() }).unwrap();
    let mut u = blank::<f64>(&context, 200, 5);
    let e = rsvd.compute(None, &a, Outputs { u: Some(&mut u), ..Outputs::default() }, None).unwrap_err();
    assert_eq!(e.to_string(), "u: is 200 x 5, 200 x 4 is needed");
    let mut u = blank::<f32>(&context, 200, 4);
    let e = rsvd.compute(None, &a, Outputs { u: Some(&mut u), ..Outputs::default() }, None).unwrap_err();
    assert!(e.to_string().starts_with("u: is F32"), "{e}");
    let mut s = vector(&context, 3);
    let e = rsvd.compute(None, &a, Outputs { s: Some(&mut s), ..Outputs::default() }, None).unwrap_err();
    assert!(e.to_string().starts_with("s: has dimensions [3]"), "{e}");
    let elsewhere = matrix(&cpu(), &read_npy::<f64>("geo_200x120.npy"), PACKED);
    let e = rsvd.compute(None, &elsewhere, Outputs::default(), None).unwrap_err();
    assert_eq!(e.to_string(), "a: belongs to another context");
}

#[test]
fn numbers_that_are_not_finite_are_refused_with_their_place() {
    let context = cpu();
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        for at in [0, 137 * 200 % 24000, 23_999] {
            let mut a = read_npy::<f64>("geo_200x120.npy");
            a.data[at] = bad;
            let m = matrix(&context, &a, PACKED);
            for method in [Method::Basic, Method::Fused, Method::Gram, Method::Merge, Method::OnePass, Method::Range] {
                let options = Options { rank: 5, method, block_rows: 64, ..Options::default() };
                match factor::<f64>(&context, &m, options) {
                    Err(e) => {
                        let want = format!("a: has {bad} in row {}, column {} (from 0)", at % 200, at / 200);
                        assert_eq!(e.to_string(), want, "{method:?}");
                    }
                    Ok(_) => panic!("{method:?} took {bad} at {at}"),
                }
            }
        }
    }
}

/// Powers of two on the data are powers of two on the values, even where squares overflow or vanish.
fn extreme<T: Scalar>(exponents: &[i32]) {
    let context = cpu();
    let a = read_npy::<Complex<f64>>("cplx_100x70.npy");
    let scaled = |e: i32| {
        let data = a.data.iter().map(|x| T::from_parts(x.re * 2f64.powi(e), x.im * 2f64.powi(e))).collect();
        Dense::<T> { rows: a.rows, columns: a.columns, data }
    };
    for method in [
        Method::Fused,
        Method::Range,
        Method::Gram,
        Method::Krylov,
        Method::Direct,
        Method::Merge,
        Method::Basic,
        Method::RowFused,
        Method::Brsvd,
    ] {
        let run = |e: i32| {
            let options = Options { rank: 5, method, block_rows: 30, ..Options::default() };
            factor::<T>(&context, &matrix(&context, &scaled(e), PACKED), options).unwrap()
        };
        let plain = run(0);
        for &e in exponents {
            let f = run(e);
            for (x, y) in f.s.iter().zip(&plain.s) {
                let back = x / 2f64.powi(e);
                assert!((back - y).abs() < 1e-5 * plain.s[0], "{method:?} 2^{e}: {back} {y}");
            }
            assert!(disorder(&f.u) < 1e-5 && disorder(&f.v) < 1e-5, "{method:?} 2^{e}");
            let relative = (f.info.error_relative - plain.info.error_relative).abs();
            assert!(relative < 1e-3, "{method:?} 2^{e}: {} {}", f.info.error_relative, plain.info.error_relative);
            assert!((f.info.frobenius / 2f64.powi(e) - plain.info.frobenius).abs() < 1e-5 * plain.info.frobenius);
        }
    }
}

#[test]
fn numbers_whose_squares_overflow_or_vanish_are_scaled() {
    extreme::<Complex<f64>>(&[600, -600, 1000, -1000]);
    extreme::<f64>(&[600, -600, 1000, -1000]);
    extreme::<f32>(&[70, -70, 100, -100]);
}

#[test]
fn cancelling_ends_a_run_and_nothing_else() {
    let context = cpu();
    let a = matrix(&context, &read_npy::<f64>("geo_200x120.npy"), PACKED);
    let mut rsvd = Rsvd::new(&context, Options { rank: 4, method: Method::Basic, ..Options::default() }).unwrap();
    let before = factor::<f64>(&context, &a, rsvd.options().clone()).unwrap();
    let calls = Cell::new(0);
    let no = |_: i64, _: i64, _: f64| {
        calls.set(calls.get() + 1);
        false
    };
    let mut s = vector(&context, 4);
    let outputs = Outputs { s: Some(&mut s), ..Outputs::default() };
    assert_eq!(rsvd.compute(None, &a, outputs, Some(&no)).unwrap_err(), Error::Cancelled);
    assert_eq!(calls.get(), 1);
    let outputs = Outputs { s: Some(&mut s), ..Outputs::default() };
    rsvd.compute(None, &a, outputs, None).unwrap();
    assert_eq!(numbers(&s), before.s);
}

#[test]
fn a_sketch_is_cancelled_by_its_object_and_by_its_context() {
    let context = cpu();
    let rsvd = Rsvd::new(&context, Options::default()).unwrap();
    let (handle, mut omega) = (rsvd.cancel_handle(), blank::<f64>(&context, 20_000, 12));
    is_cancelled(&|| handle.cancel(), "object", || rsvd.sketch(None, &mut omega));
    is_cancelled(&|| context.cancel(), "context", || rsvd.sketch(None, &mut omega));
}

/// Memory that does not suffice for a method makes AUTO plan again, with the cancellations since the start of the call.
#[test]
fn a_cancel_between_two_plans_is_not_lost() {
    let context = cpu();
    let a = matrix(&context, &read_npy::<f64>("geo_200x120.npy"), PACKED);
    let rsvd = Rsvd::new(&context, Options { rank: 4, ..Options::default() }).unwrap();
    let (progress, plans) = (rsvd.progress(None), Cell::new(0));
    let planned = |cancels: bool| {
        plans.set(0);
        let plan = |excluded: &[Method]| rsvd.planned_decomposition(&a, WantedFactors::ALL, excluded);
        rsvd.choosing(&progress, plan, |_| {
            plans.set(plans.get() + 1);
            if cancels {
                rsvd.cancel_handle().cancel();
            }
            match plans.get() {
                1 => Err(Error::OutOfMemory { what: NO_HOST, bytes: 1, limit: None }),
                _ => Ok(()),
            }
        })
    };
    assert_eq!((planned(false), plans.get()), (Ok(()), 2));
    assert_eq!((planned(true), plans.get()), (Err(Error::Cancelled), 1));
}

/// A fit plans again by another method where the chosen one does not fit, until none is left. Then the first refusal is
/// returned.
#[test]
fn a_fit_passes_over_methods_that_do_not_fit() {
    let context = cpu();
    let x = matrix(&context, &read_npy::<f64>("geo_200x120.npy"), PACKED);
    let rsvd = Rsvd::new(&context, Options { rank: 4, ..Options::default() }).unwrap();
    let pca = PcaOptions::default();
    let plan = |excluded: &[Method]| rsvd.planned_fit(&x, &pca, false, excluded);
    let mut tried = Vec::new();
    let refusal = |bytes: usize| Error::OutOfDeviceMemory { what: NO_CUT, bytes: bytes as u64, limit: None };
    let end = rsvd.choosing(&rsvd.progress(None), plan, |planned| {
        tried.push(planned.plan.method);
        Err::<(), _>(refusal(tried.len()))
    });
    assert_eq!(end, Err(refusal(1)));
    assert_eq!(tried.last(), Some(&Method::RowFused), "{tried:?}");
    assert!(tried.len() > 2 && (1..tried.len()).all(|k| !tried[..k].contains(&tried[k])), "{tried:?}");
    let single = Rsvd::new(&context, Options { rank: 4, method: Method::Fused, ..Options::default() }).unwrap();
    let plan = |excluded: &[Method]| single.planned_fit(&x, &pca, false, excluded);
    let mut plans = 0;
    let end = single.choosing(&single.progress(None), plan, |_| {
        plans += 1;
        Err::<(), _>(refusal(plans))
    });
    assert_eq!((end, plans), (Err(refusal(1)), 1));
}

#[test]
fn progress_ends_with_all_passes_done() {
    let context = cpu();
    let a = matrix(&context, &read_npy::<f64>("geo_200x120.npy"), PACKED);
    let last = Cell::new((0, 0));
    let note = |step: i64, steps: i64, _: f64| {
        assert!(step <= steps);
        last.set((step, steps));
        true
    };
    let options = Options { rank: 4, method: Method::Range, ..Options::default() };
    let mut rsvd = Rsvd::new(&context, options).unwrap();
    rsvd.compute(None, &a, Outputs::default(), Some(&note)).unwrap();
    let (step, steps) = last.get();
    assert!(step == steps && steps > 0, "{step} of {steps}");
}

#[test]
fn gaps_of_a_result_are_left_alone() {
    let context = cpu();
    let a = matrix(&context, &read_npy::<f64>("geo_200x120.npy"), PACKED);
    let mut rsvd = Rsvd::new(&context, Options { rank: 4, ..Options::default() }).unwrap();
    let whole = factor::<f64>(&context, &a, rsvd.options().clone()).unwrap();
    let blank = Dense { rows: 200, columns: 4, data: vec![1.0f64; 800] };
    let layout = super::support::MatrixLayout { order: crate::shape::Order::RowMajor, gap: 3 };
    let mut u = matrix(&context, &blank, layout);
    rsvd.compute(None, &a, Outputs { u: Some(&mut u), ..Outputs::default() }, None).unwrap();
    assert_eq!(bits(&held::<f64>(&u)), bits(&whole.u));
    let memory = u.dense("u").unwrap().memory.host("u").unwrap().as_slice::<f64>().unwrap();
    assert!((0..199).all(|i| memory[7 * i + 4..7 * i + 7].iter().all(|x| x.is_nan())));
}

/// The sketch is contained in an invariant space, which it spans: further directions are orthogonal to it all the same.
#[test]
fn krylov_blocks_of_one_column_in_an_invariant_space_are_orthonormal() {
    let context = cpu();
    for n in [3, 5, 100] {
        let mut data = vec![0.0; n * n];
        data.iter_mut().step_by(n + 1).for_each(|x| *x = 1.0);
        let a = matrix(&context, &Dense { rows: n, columns: n, data }, PACKED);
        for oversampling in [Some(0), Some(10)] {
            let options = Options { rank: 1, oversampling, method: Method::Krylov, ..Options::default() };
            let f = factor::<f64>(&context, &a, options).unwrap();
            assert!((f.s[0] - 1.0).abs() < 1e-12, "{n}: {:?}", f.s);
            assert!(disorder(&f.u) < 1e-12 && disorder(&f.v) < 1e-12, "{n}");
        }
    }
}

/// Solvers of orders over 128 have to work for data of any size.
#[test]
fn accuracy_does_not_depend_on_the_size_of_the_entries() {
    let context = cpu();
    let s: Vec<f64> = (0..140).map(|j| 0.97f64.powi(j)).collect();
    for size in [1.0, 1e-12, 1e12, 1e-140, 1e140] {
        let scaled: Vec<f64> = s.iter().map(|x| x * size).collect();
        let a = matrix(&context, &with_spectrum::<f64>(&context, 150, 140, &scaled, 3), PACKED);
        for method in [Method::Gram, Method::Direct] {
            let options = Options { rank: 140, method, ..Options::default() };
            let f = factor::<f64>(&context, &a, options).unwrap();
            let off = f.s.iter().zip(&scaled).map(|(x, y)| (x - y).abs() / size).fold(0.0, f64::max);
            assert!(off < 1e-12, "{method:?} {size:e}: {off:e}");
            assert!(disorder(&f.u) < 1e-12 && disorder(&f.v) < 1e-12, "{method:?} {size:e}");
        }
    }
}

/// Data times a power of two: the powers of the published block method stay in the range of the type.
fn powers_of_blocks<T: Scalar>(context: &Arc<Context>, exponents: &[i32]) {
    let a = read_npy::<Complex<f64>>("cplx_100x70.npy");
    for (iterations, block_rows) in [(1, 30), (2, 100), (7, 30), (7, 100)] {
        let run = |e: i32, method: Method, step: f64| {
            let at = |k: usize| 2f64.powi(e) * if k / a.columns < 30 { 1.0 } else { step };
            let data = a.data.iter().enumerate().map(|(k, x)| T::from_parts(x.re * at(k), x.im * at(k))).collect();
            let data = Dense::<T> { rows: a.rows, columns: a.columns, data };
            let power_iterations = (method == Method::Brsvd).then_some(iterations);
            let options = Options { rank: 5, method, block_rows, power_iterations, ..Options::default() };
            factor::<T>(context, &matrix(context, &data, PACKED), options).unwrap()
        };
        let plain = run(0, Method::Brsvd, 1.0);
        for &e in exponents {
            let f = run(e, Method::Brsvd, 1.0);
            for (x, y) in f.s.iter().zip(&plain.s) {
                let back = x / 2f64.powi(e);
                assert!((back - y).abs() < 1e-5 * plain.s[0], "q = {iterations}, 2^{e}: {back} {y}");
            }
            assert!(disorder(&f.u) < 1e-5 && disorder(&f.v) < 1e-5, "q = {iterations}, 2^{e}");
        }
        // A later block that is far larger than the first one.
        let (found, want) = (run(0, Method::Brsvd, 1e6), run(0, Method::Direct, 1e6));
        // Of one iteration the method's own error is a hundredth.
        let bound = if iterations == 1 { 0.05 } else { 0.01 };
        assert!((found.s[0] / want.s[0] - 1.0).abs() < bound, "q = {iterations}: {} {}", found.s[0], want.s[0]);
    }
}

fn powers_of_any_type(context: &Arc<Context>) {
    powers_of_blocks::<f32>(context, &[14, -14, 40, -40, 46, -46, 49, -49, 100, -100]);
    powers_of_blocks::<Complex<f32>>(context, &[40, -46]);
    powers_of_blocks::<f64>(context, &[266, -266, 490, -490, 930, -930]);
}

#[test]
fn powers_of_blocks_stay_in_range() {
    powers_of_any_type(&cpu());
}

#[test]
#[ignore = "needs a GPU"]
fn powers_of_blocks_stay_in_range_on_a_gpu() {
    powers_of_any_type(&gpu());
}

#[test]
fn the_largest_entry_of_complex_data_is_a_modulus() {
    let context = cpu();
    for size in [1.0, 1e200, 1e-200] {
        let data = vec![Complex::new(3.0 * size, 4.0 * size); 12];
        let a = matrix(&context, &Dense { rows: 4, columns: 3, data }, PACKED);
        let options = Options { rank: 1, method: Method::Fused, ..Options::default() };
        let found = factor::<Complex<f64>>(&context, &a, options).unwrap().info.max_abs;
        assert!((found / (5.0 * size) - 1.0).abs() < 1e-15, "{found}");
    }
}
