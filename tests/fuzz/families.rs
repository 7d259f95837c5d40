//! Symmetric tensors, eigenpairs, diffusion MRI. Sizes are small and mostly fit together.

use std::ffi::c_void;
use std::ptr::{null, null_mut};

use purlin::ffi::*;

use crate::base::any_stream;
use crate::options::{StructMemory, any_init, initialized};
use crate::program::c;
use crate::source::Source;
use crate::world::{World, element_size, extent, packed_count};

/// Makes one random call of these functions; returns its status.
pub fn call(s: &mut Source<'_>, w: &mut World) -> purlin_status {
    match s.below(20) {
        0 => inits(s),
        1 | 2 => tables(s),
        3 | 4 => packed(s, w),
        5..=8 => solve(s, w),
        9 => all(s, w),
        10 => product(s, w),
        11 => starts(s, w),
        12 => classify(s, w),
        13 | 14 => fit(s, w),
        15 => csa(s, w),
        16 => harmonics(s, w),
        _ => peaks(s, w),
    }
}

/// Order, dimension, number and type of a batch of tensors.
struct Shape {
    order: i64,
    n: i64,
    count: i64,
    dtype: i32,
}

fn shape(s: &mut Source<'_>) -> Shape {
    Shape {
        order: s.one_of(&[4, 4, 2, 3, 5, 6, 8]),
        n: s.one_of(&[3, 3, 3, 1, 2, 4, 5]),
        count: s.below(6) as i64,
        dtype: s.one_of(&[PURLIN_F64, PURLIN_F32]),
    }
}

/// A tensor of the given type and sizes; at times of others, or something else altogether.
pub fn shaped(s: &mut Source<'_>, w: &mut World, dtype: i32, dims: &[i64]) -> *mut purlin_tensor {
    if s.once_in(40) {
        return w.tensors.pick(s);
    }
    let (mut dims, mut dtype) = (dims.to_vec(), dtype);
    if s.once_in(40) && !dims.is_empty() {
        let place = s.below(dims.len());
        dims[place] = s.size();
    }
    if s.once_in(50) {
        dtype = s.code(12);
    }
    let flags = if s.once_in(50) { PURLIN_READ_ONLY } else { s.one_of(&[0, 0, PURLIN_ROW_MAJOR]) };
    let data = w.buffer(s, extent(&dims, None, element_size(dtype)));
    let (mut tensor, ndim) = (null_mut(), dims.len() as i64);
    let place = &raw mut tensor;
    let status = c!(purlin_tensor_borrow(w.home(), dtype, flags, ndim, dims.as_ptr(), null(), data, place));
    w.tensors.made(status, tensor);
    tensor
}

/// [`shaped`], or NULL as where a result is not wanted.
pub fn wanted(s: &mut Source<'_>, w: &mut World, dtype: i32, dims: &[i64]) -> *mut purlin_tensor {
    if s.below(2) == 0 { null_mut() } else { shaped(s, w, dtype, dims) }
}

/// A symmetric batch of the given shape, mostly.
fn batch(s: &mut Source<'_>, w: &mut World, shape: &Shape) -> *mut purlin_tensor {
    if s.once_in(40) {
        return w.tensors.pick(s);
    }
    let count = if s.once_in(40) { s.size() } else { shape.count };
    let flags = s.one_of(&[0, 0, PURLIN_ENTRY_MAJOR]);
    let bytes = packed_count(shape.order, shape.n).and_then(|u| extent(&[u, count], None, element_size(shape.dtype)));
    let data = w.buffer(s, bytes);
    let mut tensor = null_mut();
    let (dtype, order, n, place) = (shape.dtype, shape.order, shape.n, &raw mut tensor);
    let status = c!(purlin_tensor_borrow_symmetric(w.home(), dtype, flags, order, n, count, 0, 0, data, place));
    w.tensors.made(status, tensor);
    tensor
}

pub fn context(s: &mut Source<'_>, w: &World) -> *const purlin_context {
    if s.once_in(30) { w.contexts.pick(s).cast_const() } else { w.home() }
}

unsafe extern "C" fn go_on(_: i64, _: i64, _: f64, _: *mut c_void) -> i32 {
    0
}

unsafe extern "C" fn cancel(_: i64, _: i64, _: f64, _: *mut c_void) -> i32 {
    1
}

pub fn progress(s: &mut Source<'_>) -> purlin_progress_fn {
    s.one_of(&[None, None, Some(go_on as _), Some(cancel as _)])
}

fn inits(s: &mut Source<'_>) -> purlin_status {
    match s.below(4) {
        0 => any_init!(s, purlin_sshopm_options, purlin_sshopm_options_init),
        1 => any_init!(s, purlin_sshopm_results, purlin_sshopm_results_init),
        2 => any_init!(s, purlin_sshopm_info, purlin_sshopm_info_init),
        _ => any_init!(s, purlin_dwi_options, purlin_dwi_options_init),
    }
}

fn tables(s: &mut Source<'_>) -> purlin_status {
    let order = if s.once_in(6) { s.strange() } else { s.below(12) as i64 };
    let n = if s.once_in(6) { s.strange() } else { s.below(8) as i64 };
    let mut count = -1;
    let status = c!(purlin_symmetric_count(order, n, &raw mut count));
    let known = packed_count(order, n).filter(|u| *u <= 0x7fff_ffff);
    if let Some(known) = known {
        assert_eq!((status, count), (purlin_status::PURLIN_SUCCESS, known), "order {order}, dimension {n}");
    }
    // A table's true size, or NULL where that is unknown or large.
    let rows = [order, n, 1][s.below(3)];
    let size = known.and_then(|u| u.checked_mul(rows)).filter(|u| *u <= 1 << 16);
    let mut table = vec![0i64; size.map_or(0, |u| u as usize)];
    let place = if size.is_some() { table.as_mut_ptr() } else { null_mut() };
    if rows == order && rows != n {
        c!(purlin_symmetric_indices(order, n, place))
    } else if rows == n {
        c!(purlin_symmetric_exponents(order, n, place))
    } else {
        c!(purlin_symmetric_multinomials(order, n, place))
    }
}

fn packed(s: &mut Source<'_>, w: &mut World) -> purlin_status {
    let h = shape(s);
    let (context, stream, a) = (context(s, w), any_stream(s, w), batch(s, w, &h));
    let full: Vec<i64> = std::iter::repeat_n(h.n, h.order as usize).chain([h.count]).collect();
    match s.below(5) {
        0 => {
            let b = batch(s, w, &h);
            c!(purlin_symmetric_convert(context, stream, a, s.code(2), b, s.code(2)))
        }
        1 => {
            let full = shaped(s, w, h.dtype, &full);
            c!(purlin_symmetric_from_full(context, stream, full, s.code(2), s.float(), a))
        }
        2 => {
            let full = shaped(s, w, h.dtype, &full);
            c!(purlin_symmetric_to_full(context, stream, a, full))
        }
        3 => {
            let norms = shaped(s, w, h.dtype, &[h.count]);
            c!(purlin_symmetric_norm(context, stream, a, s.code(3), norms))
        }
        _ => c!(purlin_symmetric_identity(context, stream, s.float(), a)),
    }
}

/// A solver, mostly a new one with the given options; now and then one is cancelled or destroyed.
fn solver(
    s: &mut Source<'_>,
    w: &mut World,
    context: *const purlin_context,
    options: *const purlin_sshopm_options,
) -> *mut purlin_sshopm {
    let mut made = null_mut();
    let status = c!(purlin_sshopm_create(context, options, &raw mut made));
    w.solvers.made(status, made);
    let solver = if s.once_in(4) || made.is_null() { w.solvers.pick(s) } else { made };
    match s.below(8) {
        0 => {
            let status = c!(purlin_sshopm_cancel(solver));
            assert_eq!(status == purlin_status::PURLIN_SUCCESS, w.solvers.live.contains(&solver));
        }
        1 => {
            let gone = w.solvers.pick(s);
            let status = c!(purlin_sshopm_destroy(gone));
            w.solvers.destroyed(status, gone);
        }
        _ => {}
    }
    solver
}

fn solve(s: &mut Source<'_>, w: &mut World) -> purlin_status {
    let h = shape(s);
    let (k, v) = (1 + s.below(5) as i64, 1 + s.below(20) as i64);
    let mut o = initialized!(purlin_sshopm_options, purlin_sshopm_options_init);
    (o.starts, o.max_iterations, o.goal, o.method) = (v, 40, s.below(3) as i32, s.below(2) as i32);
    for _ in 0..s.below(4) {
        match s.below(18) {
            0 => o.goal = s.code(3),
            1 => o.method = s.code(2),
            2 => o.shift_kind = s.code(3),
            3 => o.test = s.code(3),
            4 => o.start_kind = s.code(6),
            5 => o.max_iterations = s.one_of(&[1, 2, 100, 0, -1, i64::MIN]),
            6 => o.warmup = s.one_of(&[0, 3, -1, -2, i64::from(i32::MAX), i64::MAX, i64::MIN]),
            7 => o.sign = s.code(2),
            8 => o.compatibility = s.code(2),
            9 => o.remove_isotropic = s.code(2),
            10 => o.starts = s.one_of(&[0, 1, 7, -1, i64::MIN]),
            11 => o.seed = s.bits(),
            12 => o.shift = s.float(),
            13 => o.tolerance = s.float(),
            14 => o.tau = s.float(),
            15 => o.merge_angle = s.float(),
            16 => o.merge_value = s.float(),
            _ => o.degeneracy_tolerance = s.float(),
        }
    }
    o.progress = progress(s);
    let mut r = initialized!(purlin_sshopm_results, purlin_sshopm_results_init);
    let (t, n, real, int) = (h.count, h.n, h.dtype, PURLIN_I32);
    r.count = wanted(s, w, int, &[t]);
    r.status = wanted(s, w, int, &[t]);
    r.values = wanted(s, w, real, &[k, t]);
    r.vectors = wanted(s, w, real, &[n, k, t]);
    r.residuals = wanted(s, w, real, &[k, t]);
    r.classes = wanted(s, w, int, &[k, t]);
    r.hessian = wanted(s, w, real, &[n - 1, k, t]);
    r.basins = wanted(s, w, int, &[k, t]);
    r.found = wanted(s, w, int, &[t]);
    if s.once_in(4) {
        r.start_values = wanted(s, w, real, &[v, t]);
        r.start_vectors = wanted(s, w, real, &[n, v, t]);
        r.start_residuals = wanted(s, w, real, &[v, t]);
        r.start_iterations = wanted(s, w, int, &[v, t]);
        r.start_shifts = wanted(s, w, real, &[v, t]);
        r.start_status = wanted(s, w, int, &[v, t]);
        r.start_violations = wanted(s, w, int, &[v, t]);
    }
    if s.once_in(12) {
        r.trace = shaped(s, w, real, &[10]);
    }
    let (context, stream, tensors) = (context(s, w), any_stream(s, w), batch(s, w, &h));
    let starts = if s.once_in(4) { shaped(s, w, real, &[n, v]) } else { null_mut() };
    let info = initialized!(purlin_sshopm_info, purlin_sshopm_info_init);
    let (options, results, mut info) = (StructMemory::of(s, &o), StructMemory::of(s, &r), StructMemory::of(s, &info));
    if s.once_in(3) {
        let solver = solver(s, w, context, options.get());
        return match s.below(4) {
            0 => c!(purlin_sshopm_plan(solver, tensors, info.get_mut())),
            1 => c!(purlin_sshopm_last_info(solver, info.get_mut())),
            _ => c!(purlin_sshopm_solve(solver, stream, tensors, starts, results.get(), info.get_mut())),
        };
    }
    c!(purlin_sshopm_solve_once(context, stream, tensors, starts, options.get(), results.get(), info.get_mut()))
}

fn all(s: &mut Source<'_>, w: &mut World) -> purlin_status {
    let mut h = shape(s);
    h.order = s.one_of(&[4, 3, 2, 5]);
    let k = 1 + s.below(8) as i64;
    let mut o = initialized!(purlin_sshopm_options, purlin_sshopm_options_init);
    (o.starts, o.max_starts) = (1 + s.below(20) as i64, 40);
    match s.below(12) {
        0 => o.starts = s.one_of(&[-1, i64::MIN]),
        1 => o.max_starts = s.one_of(&[1, -1, i64::MIN]),
        2 => o.max_iterations = s.one_of(&[1, 0, -1, i64::MIN]),
        3 => o.sign = s.code(2),
        4 => o.tolerance = s.float(),
        5 => o.merge_angle = s.float(),
        6 => o.merge_value = s.float(),
        7 => o.degeneracy_tolerance = s.float(),
        _ => o.seed = s.bits(),
    }
    o.progress = progress(s);
    let mut r = initialized!(purlin_sshopm_results, purlin_sshopm_results_init);
    let (t, n, real, int) = (h.count, h.n, h.dtype, PURLIN_I32);
    r.count = wanted(s, w, int, &[t]);
    r.status = wanted(s, w, int, &[t]);
    r.values = wanted(s, w, real, &[k, t]);
    r.vectors = wanted(s, w, real, &[n, k, t]);
    r.hessian = wanted(s, w, real, &[n - 1, k, t]);
    r.classes = wanted(s, w, int, &[k, t]);
    let (context, stream, tensors) = (context(s, w), any_stream(s, w), batch(s, w, &h));
    let (sum, expected) = (wanted(s, w, int, &[t]), wanted(s, w, int, &[t]));
    let info = initialized!(purlin_sshopm_info, purlin_sshopm_info_init);
    let (o, r, mut info) = (StructMemory::of(s, &o), StructMemory::of(s, &r), StructMemory::of(s, &info));
    if s.once_in(3) {
        let solver = solver(s, w, context, o.get());
        return c!(purlin_sshopm_solve_all(solver, stream, tensors, r.get(), sum, expected, info.get_mut()));
    }
    c!(purlin_sshopm_solve_all_once(context, stream, tensors, o.get(), r.get(), sum, expected, info.get_mut()))
}

fn product(s: &mut Source<'_>, w: &mut World) -> purlin_status {
    let (h, v) = (shape(s), s.below(6) as i64);
    let (context, stream, tensors) = (context(s, w), any_stream(s, w), batch(s, w, &h));
    let vectors: &[i64] = if s.below(2) == 0 { &[h.n, v] } else { &[h.n, v, h.count] };
    let vectors = shaped(s, w, h.dtype, vectors);
    let left = s.below(3);
    let dims = [vec![v, h.count], vec![h.n, v, h.count], vec![h.n, h.n, v, h.count]];
    let products = shaped(s, w, h.dtype, &dims[left]);
    let power = if s.once_in(20) { s.strange() } else { h.order - left as i64 };
    c!(purlin_sshopm_product(context, stream, tensors, vectors, power, products))
}

fn starts(s: &mut Source<'_>, w: &mut World) -> purlin_status {
    let (context, stream, n, v) = (context(s, w), any_stream(s, w), s.one_of(&[3, 3, 1, 2, 5]), s.below(60) as i64);
    let dtype = s.one_of(&[PURLIN_F64, PURLIN_F32]);
    let starts = shaped(s, w, dtype, &[n, v]);
    c!(purlin_sshopm_starts(context, stream, s.code(6), s.bits(), starts))
}

fn classify(s: &mut Source<'_>, w: &mut World) -> purlin_status {
    let (h, v) = (shape(s), s.below(6) as i64);
    let (context, stream, tensors) = (context(s, w), any_stream(s, w), batch(s, w, &h));
    let values = shaped(s, w, h.dtype, &[v, h.count]);
    let vectors = shaped(s, w, h.dtype, &[h.n, v, h.count]);
    let residuals = wanted(s, w, h.dtype, &[v, h.count]);
    let hessian = wanted(s, w, h.dtype, &[h.n - 1, v, h.count]);
    let classes = wanted(s, w, PURLIN_I32, &[v, h.count]);
    let tolerance = if s.below(2) == 0 { 0.0 } else { s.float() };
    c!(purlin_sshopm_classify(context, stream, tensors, values, vectors, tolerance, residuals, hessian, classes))
}

/// Measurements of a scheme, which is usable more often than not.
fn scheme(s: &mut Source<'_>, w: &mut World, voxels: i64) -> [*mut purlin_tensor; 3] {
    let measured = s.one_of(&[30, 30, 20, 8, 1, 0]);
    let dtype = s.one_of(&[PURLIN_F32, PURLIN_F64, PURLIN_U16, PURLIN_I32, PURLIN_U8]);
    let signals = shaped(s, w, dtype, &[measured, voxels]);
    if s.once_in(6) {
        let (bvals, bvecs) = (shaped(s, w, PURLIN_F64, &[measured]), shaped(s, w, PURLIN_F64, &[3, measured]));
        return [signals, bvals, bvecs];
    }
    let (mut b, mut g) = (Vec::new(), Vec::new());
    for j in 0..measured {
        let z = 1.0 - (j as f64 + 0.5) / measured as f64;
        let (r, phi) = ((1.0 - z * z).sqrt(), 2.399_963 * j as f64);
        b.extend((if j % 10 == 0 { 0.0f64 } else { 1000.0 }).to_ne_bytes());
        for x in [r * phi.cos(), r * phi.sin(), z] {
            g.extend(x.to_ne_bytes());
        }
    }
    let (b, g) = (w.keep(b), w.keep(g));
    let [mut bvals, mut bvecs] = [null_mut(); 2];
    let (one, two) = ([measured], [3, measured]);
    let place = &raw mut bvals;
    let status = c!(purlin_tensor_borrow(w.home(), PURLIN_F64, 0, 1, one.as_ptr(), null(), b, place));
    w.tensors.made(status, bvals);
    let place = &raw mut bvecs;
    let status = c!(purlin_tensor_borrow(w.home(), PURLIN_F64, 0, 2, two.as_ptr(), null(), g, place));
    w.tensors.made(status, bvecs);
    [signals, bvals, bvecs]
}

/// An object for diffusion MRI, mostly a new one with the given options; now and then one is cancelled or destroyed.
fn diffusion(
    s: &mut Source<'_>,
    w: &mut World,
    context: *const purlin_context,
    options: *const purlin_dwi_options,
) -> *mut purlin_dwi {
    let mut made = null_mut();
    let status = c!(purlin_dwi_create(context, options, &raw mut made));
    w.diffusions.made(status, made);
    let dwi = if s.once_in(4) || made.is_null() { w.diffusions.pick(s) } else { made };
    match s.below(8) {
        0 => {
            let status = c!(purlin_dwi_cancel(dwi));
            assert_eq!(status == purlin_status::PURLIN_SUCCESS, w.diffusions.live.contains(&dwi));
        }
        1 => {
            let gone = w.diffusions.pick(s);
            let status = c!(purlin_dwi_destroy(gone));
            w.diffusions.destroyed(status, gone);
        }
        _ => {}
    }
    dwi
}

fn fit(s: &mut Source<'_>, w: &mut World) -> purlin_status {
    let mut h = shape(s);
    if !s.once_in(10) {
        (h.n, h.order) = (3, s.one_of(&[2, 4, 4, 6]));
    }
    let (context, stream, [signals, bvals, bvecs]) = (context(s, w), any_stream(s, w), scheme(s, w, h.count));
    let mask = wanted(s, w, PURLIN_U8, &[h.count]);
    let weights = if s.once_in(4) { shaped(s, w, h.dtype, &[30, h.count]) } else { null_mut() };
    let tensors = batch(s, w, &h);
    let (s0, status) = (wanted(s, w, h.dtype, &[h.count]), wanted(s, w, PURLIN_I32, &[h.count]));
    let mut o = initialized!(purlin_dwi_options, purlin_dwi_options_init);
    (o.weighting, o.nonpositive) = (s.code(2), s.code(2));
    if s.once_in(4) {
        (o.b0_threshold, o.clamp) = (s.float(), s.float());
    }
    o.progress = progress(s);
    let o = StructMemory::of(s, &o);
    if s.once_in(3) {
        let dwi = diffusion(s, w, context, o.get());
        return c!(purlin_dwi_fit(dwi, stream, signals, bvals, bvecs, mask, weights, tensors, s0, status, null_mut()));
    }
    c!(purlin_dwi_fit_once(
        context,
        stream,
        signals,
        bvals,
        bvecs,
        mask,
        weights,
        o.get(),
        tensors,
        s0,
        status,
        null_mut()
    ))
}

fn csa(s: &mut Source<'_>, w: &mut World) -> purlin_status {
    let count = s.below(6) as i64;
    let (context, stream, [signals, bvals, bvecs]) = (context(s, w), any_stream(s, w), scheme(s, w, count));
    let mask = wanted(s, w, PURLIN_U8, &[count]);
    let (dtype, unknowns) = (s.one_of(&[PURLIN_F64, PURLIN_F32]), s.one_of(&[15, 6, 28, 45, 1, 14]));
    let (sh, status) = (shaped(s, w, dtype, &[unknowns, count]), wanted(s, w, PURLIN_I32, &[count]));
    let mut o = initialized!(purlin_dwi_options, purlin_dwi_options_init);
    if s.once_in(4) {
        (o.b0_threshold, o.smoothing) = (s.float(), s.float());
        (o.minimum_signal, o.maximum_signal) = (s.float(), s.float());
    }
    o.progress = progress(s);
    let o = StructMemory::of(s, &o);
    if s.once_in(3) {
        let dwi = diffusion(s, w, context, o.get());
        return c!(purlin_dwi_csa(dwi, stream, signals, bvals, bvecs, mask, s.code(6), sh, status, null_mut()));
    }
    c!(purlin_dwi_csa_once(context, stream, signals, bvals, bvecs, mask, s.code(6), o.get(), sh, status, null_mut()))
}

fn harmonics(s: &mut Source<'_>, w: &mut World) -> purlin_status {
    let mut h = shape(s);
    (h.n, h.order) = (3, s.one_of(&[2, 4, 6, 8, 3]));
    let (context, stream, tensors) = (context(s, w), any_stream(s, w), batch(s, w, &h));
    let unknowns = packed_count(h.order, 3).unwrap_or(0);
    let sh = shaped(s, w, h.dtype, &[unknowns, h.count]);
    if s.below(2) == 0 {
        c!(purlin_dwi_sh_to_tensor(context, stream, sh, s.code(6), tensors))
    } else {
        c!(purlin_dwi_tensor_to_sh(context, stream, tensors, s.code(6), sh))
    }
}

fn peaks(s: &mut Source<'_>, w: &mut World) -> purlin_status {
    let mut h = shape(s);
    if !s.once_in(10) {
        (h.n, h.order) = (3, s.one_of(&[2, 4, 4, 6, 8]));
    }
    let mut o = initialized!(purlin_dwi_options, purlin_dwi_options_init);
    (o.starts, o.max_iterations, o.basis) = (1 + s.below(20) as i64, 40, s.code(6));
    (o.format, o.missing) = (s.code(2), s.code(2));
    for _ in 0..s.below(3) {
        match s.below(10) {
            0 => o.start_kind = s.code(6),
            1 => o.max_iterations = s.one_of(&[1, 100, 0, -1]),
            2 => o.method = s.code(2),
            3 => o.starts = s.one_of(&[0, 1, -1, i64::MIN]),
            4 => o.seed = s.bits(),
            5 => o.absolute_threshold = s.float(),
            6 => o.relative_threshold = s.float(),
            7 => o.min_separation = s.float(),
            8 => o.tolerance = s.float(),
            _ => o.merge_angle = s.float(),
        }
    }
    o.progress = progress(s);
    let (context, stream) = (context(s, w), any_stream(s, w));
    let unknowns = packed_count(h.order, 3).unwrap_or(0);
    let input = if o.basis == 0 { batch(s, w, &h) } else { shaped(s, w, h.dtype, &[unknowns, h.count]) };
    let mask = wanted(s, w, PURLIN_U8, &[h.count]);
    let (row, k) = (if o.format == PURLIN_PEAKS_MRTRIX { 3 } else { 4 }, 1 + s.below(4) as i64);
    let peaks = shaped(s, w, h.dtype, &[row, k, h.count]);
    let (count, status) = (wanted(s, w, PURLIN_I32, &[h.count]), wanted(s, w, PURLIN_I32, &[h.count]));
    let info = initialized!(purlin_sshopm_info, purlin_sshopm_info_init);
    let (o, mut info) = (StructMemory::of(s, &o), StructMemory::of(s, &info));
    if s.once_in(3) {
        let dwi = diffusion(s, w, context, o.get());
        return match s.below(4) {
            0 => c!(purlin_dwi_plan(dwi, input, info.get_mut())),
            1 => c!(purlin_dwi_last_info(dwi, info.get_mut())),
            _ => c!(purlin_dwi_peaks(dwi, stream, input, mask, peaks, count, status, info.get_mut())),
        };
    }
    c!(purlin_dwi_peaks_once(context, stream, input, mask, o.get(), peaks, count, status, info.get_mut()))
}
