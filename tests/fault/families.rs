//! The calls of the families.

use std::ptr::{null, null_mut};

use purlin::ffi::*;

use crate::cases::{Call, Case};
use crate::fixture::{Fixture, c, initialized, noise};

/// Pairs returned for each tensor, and starts of each.
const LISTED: i64 = 6;
const STARTS: i64 = 12;
/// Measurements of a gradient scheme.
const MEASURED: i64 = 40;

/// Calls on packed tensors, which run on the processor that holds the tensors.
pub fn packed() -> Vec<Case> {
    vec![
        Case { name: "purlin_symmetric_convert", allocations: 1, prepare: convert },
        Case { name: "purlin_symmetric_from_full", allocations: 1, prepare: |f| from_full(f, 1) },
        Case { name: "purlin_symmetric_from_full, checked", allocations: 1, prepare: |f| from_full(f, 0) },
        Case { name: "purlin_symmetric_to_full", allocations: 1, prepare: to_full },
        Case { name: "purlin_symmetric_norm", allocations: 1, prepare: norm },
        Case { name: "purlin_symmetric_identity", allocations: 1, prepare: identity },
    ]
}

/// Calls that run on either backend.
pub fn on_any_backend() -> Vec<Case> {
    vec![
        Case { name: "purlin_sshopm_solve_once, n = 3", allocations: 3, prepare: |f| solve(f, 4, 3, PURLIN_F64, 0) },
        Case {
            name: "purlin_sshopm_solve_once, n = 3, F32, power",
            allocations: 3,
            prepare: |f| solve(f, 6, 3, PURLIN_F32, 1),
        },
        Case { name: "purlin_sshopm_solve_once, n = 5", allocations: 3, prepare: |f| solve(f, 3, 5, PURLIN_F64, 0) },
        Case { name: "purlin_sshopm_solve_once, m = 2", allocations: 3, prepare: |f| solve(f, 2, 4, PURLIN_F64, 0) },
        Case { name: "purlin_sshopm_solve_once, given starts", allocations: 3, prepare: solve_from },
        Case { name: "purlin_sshopm_plan", allocations: 1, prepare: plan },
        Case { name: "purlin_sshopm_solve", allocations: 3, prepare: solve_by_object },
        Case { name: "purlin_sshopm_product", allocations: 1, prepare: product },
        Case { name: "purlin_sshopm_classify", allocations: 1, prepare: classify },
        Case { name: "purlin_dwi_fit_once", allocations: 3, prepare: |f| fit(f, PURLIN_DWI_OLS, PURLIN_DWI_CLAMP) },
        Case {
            name: "purlin_dwi_fit_once, weighted",
            allocations: 3,
            prepare: |f| fit(f, PURLIN_DWI_WLS, PURLIN_DWI_CLAMP),
        },
        Case { name: "purlin_dwi_plan", allocations: 1, prepare: plan_peaks },
        Case { name: "purlin_dwi_fit", allocations: 3, prepare: fit_by_object },
        Case { name: "purlin_dwi_sh_to_tensor", allocations: 1, prepare: sh_to_tensor },
        Case { name: "purlin_dwi_tensor_to_sh", allocations: 1, prepare: tensor_to_sh },
        Case { name: "purlin_dwi_peaks_once", allocations: 3, prepare: |f| peaks(f, 0) },
        Case { name: "purlin_dwi_peaks_once, harmonics", allocations: 3, prepare: |f| peaks(f, PURLIN_SH_MRTRIX3) },
    ]
}

/// Calls that process one tensor after the other.
pub fn searches() -> Vec<Case> {
    vec![
        Case { name: "purlin_sshopm_solve_all_once", allocations: 3, prepare: |f| all(f, 4) },
        Case { name: "purlin_sshopm_solve_all", allocations: 3, prepare: all_by_object },
        Case { name: "purlin_sshopm_solve_all_once, m = 2", allocations: 3, prepare: |f| all(f, 2) },
    ]
}

/// Calls whose arithmetic is the host's on either backend.
pub fn on_the_host() -> Vec<Case> {
    vec![
        Case { name: "purlin_sshopm_starts, random", allocations: 1, prepare: |f| starts(f, PURLIN_STARTS_RANDOM) },
        Case {
            name: "purlin_sshopm_starts, sphere",
            allocations: 1,
            prepare: |f| starts(f, PURLIN_STARTS_FIBONACCI_SPHERE),
        },
        Case { name: "purlin_dwi_csa_once", allocations: 3, prepare: csa },
        Case {
            name: "purlin_dwi_fit_once, left-out signals",
            allocations: 3,
            prepare: |f| fit(f, PURLIN_DWI_OLS, PURLIN_DWI_SKIP),
        },
    ]
}

/// Calls for batches that are cut into chunks.
pub fn in_chunks() -> Vec<Case> {
    vec![
        Case { name: "purlin_sshopm_solve_once, chunks", allocations: 3, prepare: |f| solve(f, 4, 3, PURLIN_F32, 0) },
        Case {
            name: "purlin_dwi_fit_once, chunks",
            allocations: 3,
            prepare: |f| fit(f, PURLIN_DWI_WLS, PURLIN_DWI_CLAMP),
        },
    ]
}

fn convert(f: &Fixture) -> Call {
    let (context, a, b) = (f.context, f.symmetric(PURLIN_F64, 4, 3), f.symmetric(PURLIN_F32, 4, 3));
    Box::new(move || {
        c!(purlin_symmetric_convert(context, null(), a, PURLIN_PACKING_ENTRIES, b, PURLIN_PACKING_POLYNOMIAL))
    })
}

fn from_full(f: &Fixture, symmetrize: i32) -> Call {
    // Alike under permutation, as long as only the number of the tensor counts.
    let (context, full) = (f.context, f.dense(PURLIN_F64, &[3, 3, 3, f.count], |k| noise(k / 27)));
    let packed = f.symmetric(PURLIN_F64, 3, 3);
    Box::new(move || c!(purlin_symmetric_from_full(context, null(), full, symmetrize, 0.0, packed)))
}

fn to_full(f: &Fixture) -> Call {
    let (context, full) = (f.context, f.dense(PURLIN_F64, &[3, 3, 3, f.count], noise));
    let packed = f.symmetric(PURLIN_F64, 3, 3);
    Box::new(move || c!(purlin_symmetric_to_full(context, null(), packed, full)))
}

fn norm(f: &Fixture) -> Call {
    let (context, packed, norms) = (f.context, f.symmetric(PURLIN_F64, 4, 3), f.dense(PURLIN_F64, &[f.count], noise));
    Box::new(move || c!(purlin_symmetric_norm(context, null(), packed, PURLIN_NORM_FROBENIUS, norms)))
}

fn identity(f: &Fixture) -> Call {
    let (context, packed) = (f.context, f.symmetric(PURLIN_F64, 4, 3));
    Box::new(move || c!(purlin_symmetric_identity(context, null(), 2.0, packed)))
}

/// Results of every kind, for `starts` starts of tensors of dimension `n`.
fn results(f: &Fixture, n: i64, dtype: i32, starts: i64) -> purlin_sshopm_results {
    let mut r = initialized!(purlin_sshopm_results, purlin_sshopm_results_init);
    let (t, zero) = (f.count, |_: usize| 0.0);
    let of = |dtype, dims: &[i64]| f.dense(dtype, dims, zero);
    r.count = of(PURLIN_I32, &[t]);
    r.status = of(PURLIN_I32, &[t]);
    r.found = of(PURLIN_I32, &[t]);
    r.values = of(dtype, &[LISTED, t]);
    r.vectors = of(dtype, &[n, LISTED, t]);
    r.residuals = of(dtype, &[LISTED, t]);
    r.classes = of(PURLIN_I32, &[LISTED, t]);
    r.hessian = of(dtype, &[n - 1, LISTED, t]);
    r.basins = of(PURLIN_I32, &[LISTED, t]);
    r.start_values = of(dtype, &[starts, t]);
    r.start_vectors = of(dtype, &[n, starts, t]);
    r.start_residuals = of(dtype, &[starts, t]);
    r.start_iterations = of(PURLIN_I32, &[starts, t]);
    r.start_shifts = of(dtype, &[starts, t]);
    r.start_status = of(PURLIN_I32, &[starts, t]);
    r.start_violations = of(PURLIN_I32, &[starts, t]);
    r
}

fn solve(f: &Fixture, order: i64, n: i64, dtype: i32, method: i32) -> Call {
    let (context, tensors, r) = (f.context, f.symmetric(dtype, order, n), results(f, n, dtype, STARTS));
    let mut o = initialized!(purlin_sshopm_options, purlin_sshopm_options_init);
    o.starts = STARTS;
    o.method = method;
    o.max_iterations = 30;
    Box::new(move || {
        let mut info = initialized!(purlin_sshopm_info, purlin_sshopm_info_init);
        c!(purlin_sshopm_solve_once(context, null(), tensors, null(), &raw const o, &raw const r, &raw mut info))
    })
}

fn solve_from(f: &Fixture) -> Call {
    let (context, tensors, r) = (f.context, f.symmetric(PURLIN_F64, 4, 3), results(f, 3, PURLIN_F64, STARTS));
    let starts = f.dense(PURLIN_F64, &[3, STARTS], noise);
    Box::new(move || c!(purlin_sshopm_solve_once(context, null(), tensors, starts, null(), &raw const r, null_mut())))
}

/// Makes a solver, a call on it, and destroys it.
fn with_solver(
    context: *const purlin_context,
    options: *const purlin_sshopm_options,
    call: impl FnOnce(*mut purlin_sshopm) -> purlin_status,
) -> purlin_status {
    let mut solver = null_mut();
    let status = c!(purlin_sshopm_create(context, options, &raw mut solver));
    if status != purlin_status::PURLIN_SUCCESS {
        return status;
    }
    let status = call(solver);
    assert_eq!(purlin_sshopm_destroy(solver), purlin_status::PURLIN_SUCCESS);
    status
}

fn plan(f: &Fixture) -> Call {
    let (context, tensors) = (f.context, f.symmetric(PURLIN_F64, 4, 3));
    Box::new(move || {
        let mut info = initialized!(purlin_sshopm_info, purlin_sshopm_info_init);
        with_solver(context, null(), |solver| c!(purlin_sshopm_plan(solver, tensors, &raw mut info)))
    })
}

fn solve_by_object(f: &Fixture) -> Call {
    let (context, tensors, r) = (f.context, f.symmetric(PURLIN_F64, 4, 3), results(f, 3, PURLIN_F64, STARTS));
    let mut o = initialized!(purlin_sshopm_options, purlin_sshopm_options_init);
    o.starts = STARTS;
    Box::new(move || {
        let mut info = initialized!(purlin_sshopm_info, purlin_sshopm_info_init);
        with_solver(context, &raw const o, |solver| {
            let status = c!(purlin_sshopm_solve(solver, null(), tensors, null(), &raw const r, null_mut()));
            let info_status = c!(purlin_sshopm_last_info(solver, &raw mut info));
            assert_eq!(info_status == purlin_status::PURLIN_SUCCESS, status == purlin_status::PURLIN_SUCCESS);
            status
        })
    })
}

fn all_by_object(f: &Fixture) -> Call {
    let (context, tensors) = (f.context, f.symmetric(PURLIN_F64, 4, 3));
    let mut r = initialized!(purlin_sshopm_results, purlin_sshopm_results_init);
    r.count = f.dense(PURLIN_I32, &[f.count], noise);
    let mut o = initialized!(purlin_sshopm_options, purlin_sshopm_options_init);
    (o.starts, o.max_starts) = (20, 20);
    Box::new(move || {
        with_solver(context, &raw const o, |solver| {
            let none = null_mut();
            c!(purlin_sshopm_solve_all(solver, null(), tensors, &raw const r, none, none, null_mut()))
        })
    })
}

fn all(f: &Fixture, order: i64) -> Call {
    let (context, tensors) = (f.context, f.symmetric(PURLIN_F64, order, 3));
    let all = results(f, 3, PURLIN_F64, STARTS);
    let mut r = initialized!(purlin_sshopm_results, purlin_sshopm_results_init);
    (r.count, r.status, r.values, r.vectors) = (all.count, all.status, all.values, all.vectors);
    (r.residuals, r.classes, r.hessian, r.basins) = (all.residuals, all.classes, all.hessian, all.basins);
    let (sum, expected) = (f.dense(PURLIN_I32, &[f.count], noise), f.dense(PURLIN_I32, &[f.count], noise));
    let mut o = initialized!(purlin_sshopm_options, purlin_sshopm_options_init);
    // Matrices have no search that starts could be given to.
    if order > 2 {
        (o.starts, o.max_starts) = (20, 20);
    }
    Box::new(move || {
        c!(purlin_sshopm_solve_all_once(
            context,
            null(),
            tensors,
            &raw const o,
            &raw const r,
            sum,
            expected,
            null_mut()
        ))
    })
}

fn product(f: &Fixture) -> Call {
    let (context, tensors) = (f.context, f.symmetric(PURLIN_F64, 4, 3));
    let (vectors, products) = (f.dense(PURLIN_F64, &[3, 5], noise), f.dense(PURLIN_F64, &[3, 5, f.count], noise));
    Box::new(move || c!(purlin_sshopm_product(context, null(), tensors, vectors, 3, products)))
}

fn starts(f: &Fixture, kind: i32) -> Call {
    let (context, starts) = (f.context, f.dense(PURLIN_F64, &[3, f.count], noise));
    let seed = u64::from(kind == PURLIN_STARTS_RANDOM);
    Box::new(move || c!(purlin_sshopm_starts(context, null(), kind, seed, starts)))
}

fn classify(f: &Fixture) -> Call {
    let (context, tensors, t) = (f.context, f.symmetric(PURLIN_F64, 4, 3), f.count);
    let (values, vectors) =
        (f.dense(PURLIN_F64, &[2, t], noise), f.dense(PURLIN_F64, &[3, 2, t], |k| f64::from(k % 3 == 0)));
    let (r, h, k) = (
        f.dense(PURLIN_F64, &[2, t], noise),
        f.dense(PURLIN_F64, &[2, 2, t], noise),
        f.dense(PURLIN_I32, &[2, t], noise),
    );
    Box::new(move || c!(purlin_sshopm_classify(context, null(), tensors, values, vectors, 0.0, r, h, k)))
}

/// Signals, b-values and directions of a usable scheme.
fn scheme(f: &Fixture) -> [*mut purlin_tensor; 3] {
    let measured = MEASURED as usize;
    let signals =
        f.dense(PURLIN_F32, &[MEASURED, f.count], |k| if k % measured == 0 { 100.0 } else { 50.0 + 20.0 * noise(k) });
    let bvals = f.dense(PURLIN_F64, &[MEASURED], |k| if k == 0 { 0.0 } else { 1000.0 });
    let bvecs = f.dense(PURLIN_F64, &[3, MEASURED], |k| {
        let j = (k / 3) as f64;
        let z = 1.0 - (j + 0.5) / MEASURED as f64;
        let (r, phi) = ((1.0 - z * z).sqrt(), 2.399_963 * j);
        [r * phi.cos(), r * phi.sin(), z][k % 3]
    });
    [signals, bvals, bvecs]
}

fn fit(f: &Fixture, weighting: i32, nonpositive: i32) -> Call {
    let (context, [signals, bvals, bvecs]) = (f.context, scheme(f));
    let (tensors, mask) = (f.symmetric(PURLIN_F64, 4, 3), f.dense(PURLIN_U8, &[f.count], |k| (k % 5) as f64));
    let (s0, status) = (f.dense(PURLIN_F64, &[f.count], noise), f.dense(PURLIN_I32, &[f.count], noise));
    let mut o = initialized!(purlin_dwi_options, purlin_dwi_options_init);
    (o.weighting, o.nonpositive) = (weighting, nonpositive);
    let none = null();
    Box::new(move || {
        let o = &raw const o;
        c!(purlin_dwi_fit_once(context, null(), signals, bvals, bvecs, mask, none, o, tensors, s0, status, null_mut()))
    })
}

/// Makes an object for diffusion MRI, a call on it, and destroys it.
fn with_dwi(context: *const purlin_context, call: impl FnOnce(*mut purlin_dwi) -> purlin_status) -> purlin_status {
    let mut dwi = null_mut();
    let status = c!(purlin_dwi_create(context, null(), &raw mut dwi));
    if status != purlin_status::PURLIN_SUCCESS {
        return status;
    }
    let status = call(dwi);
    assert_eq!(purlin_dwi_destroy(dwi), purlin_status::PURLIN_SUCCESS);
    status
}

fn plan_peaks(f: &Fixture) -> Call {
    let (context, input) = (f.context, f.symmetric(PURLIN_F32, 4, 3));
    Box::new(move || {
        let mut info = initialized!(purlin_sshopm_info, purlin_sshopm_info_init);
        with_dwi(context, |dwi| c!(purlin_dwi_plan(dwi, input, &raw mut info)))
    })
}

fn fit_by_object(f: &Fixture) -> Call {
    let (context, [signals, bvals, bvecs]) = (f.context, scheme(f));
    let tensors = f.symmetric(PURLIN_F64, 4, 3);
    Box::new(move || {
        with_dwi(context, |dwi| {
            let none = null_mut();
            c!(purlin_dwi_fit(dwi, null(), signals, bvals, bvecs, none, none, tensors, none, none, null_mut()))
        })
    })
}

fn csa(f: &Fixture) -> Call {
    let (context, [signals, bvals, bvecs]) = (f.context, scheme(f));
    let (sh, status) = (f.dense(PURLIN_F32, &[15, f.count], noise), f.dense(PURLIN_I32, &[f.count], noise));
    Box::new(move || {
        c!(purlin_dwi_csa_once(
            context,
            null(),
            signals,
            bvals,
            bvecs,
            null(),
            PURLIN_SH_MRTRIX3,
            null(),
            sh,
            status,
            null_mut()
        ))
    })
}

fn sh_to_tensor(f: &Fixture) -> Call {
    let (context, sh, tensors) = (f.context, f.dense(PURLIN_F32, &[45, f.count], noise), f.symmetric(PURLIN_F32, 8, 3));
    Box::new(move || c!(purlin_dwi_sh_to_tensor(context, null(), sh, PURLIN_SH_DESCOTEAUX07, tensors)))
}

fn tensor_to_sh(f: &Fixture) -> Call {
    let (context, sh, tensors) = (f.context, f.dense(PURLIN_F32, &[45, f.count], noise), f.symmetric(PURLIN_F32, 8, 3));
    Box::new(move || c!(purlin_dwi_tensor_to_sh(context, null(), tensors, PURLIN_SH_CANONICAL, sh)))
}

fn peaks(f: &Fixture, basis: i32) -> Call {
    let (context, t) = (f.context, f.count);
    let input = match basis {
        0 => f.symmetric(PURLIN_F32, 4, 3),
        _ => f.dense(PURLIN_F32, &[15, t], |k| if k % 15 == 0 { 3.0 } else { noise(k) }),
    };
    let (peaks, mask) = (f.dense(PURLIN_F32, &[4, 3, t], noise), f.dense(PURLIN_U8, &[t], |k| (k % 5) as f64));
    let (count, status) = (f.dense(PURLIN_I32, &[t], noise), f.dense(PURLIN_I32, &[t], noise));
    let mut o = initialized!(purlin_dwi_options, purlin_dwi_options_init);
    o.basis = basis;
    o.starts = STARTS;
    Box::new(move || {
        let mut info = initialized!(purlin_sshopm_info, purlin_sshopm_info_init);
        c!(purlin_dwi_peaks_once(context, null(), input, mask, &raw const o, peaks, count, status, &raw mut info))
    })
}
