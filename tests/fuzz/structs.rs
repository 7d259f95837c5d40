//! Option structs whose fields are any bits, each on a problem that fits: behind the first check, the numbers decide.

use std::ffi::{CStr, c_void};
use std::mem::offset_of;
use std::ptr::{null, null_mut};

use purlin::ffi::*;

use crate::options::{self, initialized};
use crate::program::{Tally, c};
use crate::source::Source;
use crate::world::{World, packed_count};

/// Tensors, or voxels, of the problem.
const COUNT: i64 = 3;
/// Pairs, or peaks, that are returned.
const LISTED: i64 = 4;
const MEASURED: i64 = 30;

/// Calls the functions that take options. `bytes` decide whether each word of a struct is kept, made small or replaced.
pub fn run(bytes: &[u8], tally: &mut Tally) {
    let mut source = Source::new(bytes);
    let s = &mut source;
    let mut world = World::new();
    while !s.is_empty() {
        let w = &mut world;
        let status = match s.below(11) {
            8 | 9 => decompose(s, w),
            10 => split(s, w),
            0 => context(s, w),
            1 | 2 => solve(s, w),
            3 => all(s, w),
            4 => fit(s, w),
            5 => csa(s, w),
            _ => peaks(s, w),
        };
        tally.calls += 1;
        tally.successes += u64::from(status == purlin_status::PURLIN_SUCCESS);
        assert_eq!(purlin_live_handles(), world.live(), "after a call that gave {status:?}");
    }
    world.end();
    tally.programs += 1;
}

/// Replaces words of a struct from its second field to the byte `end`, where its pointers begin.
fn disturb<T: Copy>(s: &mut Source<'_>, value: &mut T, end: usize) {
    let words = (&raw mut *value).cast::<u32>();
    let (mut k, end) = (size_of::<usize>() / 4, end / 4);
    while k < end {
        let (small, wide) = (s.below(12), k % 2 == 0 && k + 1 < end);
        let new = match small {
            0 => Some(u64::from(s.byte() % 6)),
            1 => Some(s.bits()),
            2 if wide => Some(s.float().to_bits()),
            3 => Some(s.strange() as u64),
            _ => None,
        };
        if let Some(new) = new {
            // SAFETY: word `k` is in the struct, whose fields here are integers and floats: any bits are valid.
            unsafe { words.add(k).write(new as u32) };
            if wide {
                // SAFETY: as above; `wide` means that another word follows.
                unsafe { words.add(k + 1).write((new >> 32) as u32) };
            }
        }
        k += if wide { 2 } else { 1 };
    }
}

/// Mostly resets members that a call does not use to their defaults, because it would refuse them.
macro_rules! spare {
    ($s:expr, $o:ident, $plain:expr, $($name:ident)+) => {
        if !$s.once_in(8) {
            let plain = $plain;
            $($o.$name = plain.$name;)+
        }
    };
}

/// Reduces counts to work that the test has time for. Invalid counts stay, and so do numbers of starts whose memory no
/// machine has.
fn affordable_iterations(n: &mut i64) {
    *n = if *n > 100 { *n % 100 } else { *n };
}

fn affordable_starts(n: &mut i64, most: i64) {
    *n = if (40..=most).contains(n) { *n % 40 } else { *n };
}

const BEYOND_MEMORY: i64 = 1 << 44;

/// A tensor over `bytes`, which the world owns.
fn holding(w: &mut World, dtype: i32, dims: &[i64], bytes: Vec<u8>) -> (*mut purlin_tensor, *const c_void) {
    let data = w.keep(bytes);
    let (mut tensor, ndim) = (null_mut(), dims.len() as i64);
    let place = &raw mut tensor;
    let status = c!(purlin_tensor_borrow(w.home(), dtype, 0, ndim, dims.as_ptr(), null(), data, place));
    w.tensors.made(status, tensor);
    (tensor, data.cast_const())
}

fn numbers(count: i64, value: impl Fn(f64) -> f64) -> Vec<u8> {
    (0..count).flat_map(|k| value(k as f64).to_ne_bytes()).collect()
}

/// A tensor for results of f64, and where they will be.
fn result(w: &mut World, dims: &[i64]) -> (*mut purlin_tensor, *const f64) {
    let count = dims.iter().product();
    let (tensor, data) = holding(w, PURLIN_F64, dims, numbers(count, |_| 7.0));
    (tensor, data.cast())
}

/// Counts for each tensor of the batch, and where they will be.
fn counts(w: &mut World) -> (*mut purlin_tensor, *const i32) {
    let (tensor, data) = holding(w, PURLIN_I32, &[COUNT], vec![0; 4 * COUNT as usize]);
    (tensor, data.cast())
}

/// A symmetric batch: one tensor with structure, one of zeros, one nearly a multiple of the identity.
fn batch(w: &mut World, order: i64, n: i64) -> *mut purlin_tensor {
    let unknowns = packed_count(order, n).unwrap_or(0);
    let values = numbers(unknowns * COUNT, |k| if k as i64 / unknowns == 1 { 0.0 } else { (1.3 * k).sin() });
    let (data, mut tensor) = (w.keep(values), null_mut());
    let place = &raw mut tensor;
    let status = c!(purlin_tensor_borrow_symmetric(w.home(), PURLIN_F64, 0, order, n, COUNT, 0, 0, data, place));
    w.tensors.made(status, tensor);
    tensor
}

/// After a success: as many pairs as counted, with numbers in them.
fn expect_pairs(status: purlin_status, count: *const i32, row: i64, values: *const f64, most: i64) {
    if status != purlin_status::PURLIN_SUCCESS {
        return;
    }
    for t in 0..COUNT as usize {
        // SAFETY: `counts` allocated COUNT of them, in memory that the world owns.
        let found = i64::from(unsafe { count.add(t).read() });
        assert!((0..=most).contains(&found), "{found} of {most} pairs");
        for k in 0..(found * row) as usize {
            // SAFETY: `result` allocated `most` rows a tensor.
            let value = unsafe { values.add(t * (most * row) as usize + k).read() };
            assert!(value.is_finite(), "tensor {t}, value {k} of {found} pairs is {value}");
        }
    }
}

unsafe extern "C" fn go_on(_: i64, _: i64, _: f64, _: *mut c_void) -> i32 {
    0
}

unsafe extern "C" fn cancel(_: i64, _: i64, _: f64, _: *mut c_void) -> i32 {
    1
}

fn progress(s: &mut Source<'_>) -> purlin_progress_fn {
    s.one_of(&[None, None, None, Some(go_on as _), Some(cancel as _)])
}

fn context(s: &mut Source<'_>, w: &mut World) -> purlin_status {
    let mut o = options::plain_context();
    disturb(s, &mut o, offset_of!(purlin_context_options, log));
    spare!(s, o, options::plain_context(), device_memory_limit);
    // Any number up to 4096 is a valid number of threads, and starts that many.
    o.threads = if o.threads > 4 && o.threads <= 4096 { 2 } else { o.threads };
    let mut context = null_mut();
    let status = c!(purlin_context_create(&raw const o, &raw mut context));
    w.contexts.made(status, context);
    if status == purlin_status::PURLIN_SUCCESS {
        let status = c!(purlin_context_destroy(context));
        w.contexts.destroyed(status, context);
    }
    status
}

fn solve(s: &mut Source<'_>, w: &mut World) -> purlin_status {
    let mut o = initialized!(purlin_sshopm_options, purlin_sshopm_options_init);
    (o.starts, o.max_iterations) = (8, 40);
    disturb(s, &mut o, offset_of!(purlin_sshopm_options, progress));
    spare!(s, o, initialized!(purlin_sshopm_options, purlin_sshopm_options_init), max_starts);
    affordable_iterations(&mut o.max_iterations);
    affordable_starts(&mut o.starts, BEYOND_MEMORY);
    o.progress = progress(s);
    let (order, n) = s.one_of(&[(4, 3), (3, 3), (6, 3), (2, 4), (3, 2), (4, 1)]);
    let tensors = batch(w, order, n);
    let (count, found) = counts(w);
    let (values, lambda) = result(w, &[LISTED, COUNT]);
    let (vectors, x) = result(w, &[n, LISTED, COUNT]);
    let mut r = initialized!(purlin_sshopm_results, purlin_sshopm_results_init);
    (r.count, r.values, r.vectors) = (count, values, vectors);
    let status =
        c!(purlin_sshopm_solve_once(w.home(), null(), tensors, null(), &raw const o, &raw const r, null_mut()));
    expect_pairs(status, found, 1, lambda, LISTED);
    expect_pairs(status, found, n, x, LISTED);
    status
}

fn all(s: &mut Source<'_>, w: &mut World) -> purlin_status {
    let mut o = initialized!(purlin_sshopm_options, purlin_sshopm_options_init);
    (o.starts, o.max_starts, o.max_iterations) = (8, 40, 40);
    disturb(s, &mut o, offset_of!(purlin_sshopm_options, progress));
    spare!(s, o, initialized!(purlin_sshopm_options, purlin_sshopm_options_init), method shift_kind shift test warmup tau
        start_kind compatibility remove_isotropic goal);
    affordable_iterations(&mut o.max_iterations);
    affordable_starts(&mut o.starts, i64::MAX);
    affordable_starts(&mut o.max_starts, i64::MAX);
    // 0 is the default, which is large.
    (o.starts, o.max_starts) = (o.starts + i64::from(o.starts == 0), o.max_starts + i64::from(o.max_starts == 0));
    o.progress = progress(s);
    let (order, n) = s.one_of(&[(3, 3), (4, 2), (2, 3), (4, 3)]);
    let tensors = batch(w, order, n);
    let (count, found) = counts(w);
    let (values, lambda) = result(w, &[LISTED, COUNT]);
    let mut r = initialized!(purlin_sshopm_results, purlin_sshopm_results_init);
    (r.count, r.values) = (count, values);
    let (o, r) = (&raw const o, &raw const r);
    let status = c!(purlin_sshopm_solve_all_once(w.home(), null(), tensors, o, r, null_mut(), null_mut(), null_mut()));
    expect_pairs(status, found, 1, lambda, LISTED);
    status
}

/// Signals of the voxels, b-values and gradients: a scheme that suffices for order 4.
fn scheme(w: &mut World) -> [*mut purlin_tensor; 3] {
    let signals = numbers(MEASURED * COUNT, |k| 0.6 + 0.3 * (0.7 * k).sin());
    let b = numbers(MEASURED, |j| if j as i64 % 10 == 0 { 0.0 } else { 1000.0 });
    let g = numbers(3 * MEASURED, |i| {
        let (j, axis) = ((i / 3.0).floor(), i as i64 % 3);
        let z = 1.0 - (j + 0.5) / MEASURED as f64;
        let (r, phi) = ((1.0 - z * z).sqrt(), 2.399_963 * j);
        [r * phi.cos(), r * phi.sin(), z][axis as usize]
    });
    [
        holding(w, PURLIN_F64, &[MEASURED, COUNT], signals).0,
        holding(w, PURLIN_F64, &[MEASURED], b).0,
        holding(w, PURLIN_F64, &[3, MEASURED], g).0,
    ]
}

fn fit(s: &mut Source<'_>, w: &mut World) -> purlin_status {
    let mut o = initialized!(purlin_dwi_options, purlin_dwi_options_init);
    disturb(s, &mut o, offset_of!(purlin_dwi_options, progress));
    spare!(s, o, initialized!(purlin_dwi_options, purlin_dwi_options_init), basis format missing start_kind max_iterations
        method starts seed smoothing minimum_signal maximum_signal absolute_threshold relative_threshold min_separation
        tolerance merge_angle);
    o.progress = progress(s);
    let ([signals, bvals, bvecs], tensors) = (scheme(w), batch(w, s.one_of(&[4, 2]), 3));
    let (none, o) = (null::<purlin_tensor>(), &raw const o);
    c!(purlin_dwi_fit_once(
        w.home(),
        none.cast(),
        signals,
        bvals,
        bvecs,
        none,
        none,
        o,
        tensors,
        null_mut(),
        null_mut(),
        null_mut()
    ))
}

fn csa(s: &mut Source<'_>, w: &mut World) -> purlin_status {
    let mut o = initialized!(purlin_dwi_options, purlin_dwi_options_init);
    disturb(s, &mut o, offset_of!(purlin_dwi_options, progress));
    spare!(s, o, initialized!(purlin_dwi_options, purlin_dwi_options_init), weighting nonpositive clamp basis format missing
        start_kind max_iterations method starts seed absolute_threshold relative_threshold min_separation tolerance
        merge_angle);
    o.progress = progress(s);
    let ([signals, bvals, bvecs], (sh, _)) = (scheme(w), result(w, &[15, COUNT]));
    let (none, basis, o) = (null::<purlin_tensor>(), 1 + s.below(5) as i32, &raw const o);
    c!(purlin_dwi_csa_once(w.home(), none.cast(), signals, bvals, bvecs, none, basis, o, sh, null_mut(), null_mut()))
}

fn peaks(s: &mut Source<'_>, w: &mut World) -> purlin_status {
    let mut o = initialized!(purlin_dwi_options, purlin_dwi_options_init);
    (o.starts, o.max_iterations) = (12, 40);
    disturb(s, &mut o, offset_of!(purlin_dwi_options, progress));
    spare!(s, o, initialized!(purlin_dwi_options, purlin_dwi_options_init), weighting nonpositive clamp smoothing
        minimum_signal maximum_signal b0_threshold);
    affordable_iterations(&mut o.max_iterations);
    affordable_starts(&mut o.starts, BEYOND_MEMORY);
    o.progress = progress(s);
    let (order, unknowns) = s.one_of(&[(4, 15), (2, 6), (6, 28)]);
    let input = match o.basis {
        0 => batch(w, order, 3),
        _ => holding(w, PURLIN_F64, &[unknowns, COUNT], numbers(unknowns * COUNT, |k| (1.3 * k).sin())).0,
    };
    let row = if o.format == PURLIN_PEAKS_MRTRIX { 3 } else { 4 };
    let ((count, found), (peaks, at)) = (counts(w), result(w, &[row, LISTED, COUNT]));
    let status =
        c!(purlin_dwi_peaks_once(w.home(), null(), input, null(), &raw const o, peaks, count, null_mut(), null_mut()));
    expect_pairs(status, found, row, at, LISTED);
    status
}

/// Size of the matrix, and the requested rank.
const ROWS: i64 = 14;
const COLS: i64 = 9;
const RANK: i64 = 3;

/// A matrix of f64 over numbers that live as long as the world, and where they are.
fn matrix(w: &mut World, rows: i64, cols: i64, value: impl Fn(f64) -> f64) -> (*mut purlin_matrix, *const f64) {
    let data = w.keep(numbers(rows * cols, value));
    let mut made = null_mut();
    let status = c!(purlin_matrix_borrow(w.home(), PURLIN_F64, 0, rows, cols, rows, data, &raw mut made));
    w.matrices.made(status, made);
    (made, data.cast_const().cast())
}

/// After a success: numbers, so many.
fn expect_numbers(status: purlin_status, values: *const f64, count: i64) {
    for k in 0..if status == purlin_status::PURLIN_SUCCESS { count as usize } else { 0 } {
        // SAFETY: the matrix was made of so many, in memory that the world owns.
        let value = unsafe { values.add(k).read() };
        assert!(value.is_finite(), "value {k} is {value}");
    }
}

fn decompose(s: &mut Source<'_>, w: &mut World) -> purlin_status {
    let mut o = initialized!(purlin_rsvd_options, purlin_rsvd_options_init);
    (o.rank, o.method) = (RANK, s.below(12) as i32);
    disturb(s, &mut o, offset_of!(purlin_rsvd_options, restart_path));
    spare!(s, o, initialized!(purlin_rsvd_options, purlin_rsvd_options_init), max_rank block_columns one_pass);
    if s.once_in(8) {
        o.iteration_precision = s.code(2);
    }
    // Refused for a matrix in memory, unless it is 0.
    if s.once_in(40) {
        o.read_rate = s.float();
    }
    o.power_iterations = if o.power_iterations > 3 { o.power_iterations % 4 } else { o.power_iterations };
    o.progress = progress(s);
    let mut rsvd = null_mut();
    let status = c!(purlin_rsvd_create(w.home(), &raw const o, &raw mut rsvd));
    w.rsvds.made(status, rsvd);
    if status != purlin_status::PURLIN_SUCCESS {
        return status;
    }
    let (a, _) = matrix(w, ROWS, COLS, |k| (0.7 * k * k).sin());
    let wide = if o.tolerance > 0.0 { if o.max_rank == 0 { COLS } else { o.max_rank.clamp(1, COLS) } } else { RANK };
    let (a_v, b_v) = if o.right == PURLIN_RSVD_V { (COLS, wide) } else { (wide, COLS) };
    let ((u, at_u), (v, at_v)) = (matrix(w, ROWS, wide, |_| 7.0), matrix(w, a_v, b_v, |_| 7.0));
    let (values, at_s) = result(w, &[wide]);
    let status = c!(purlin_rsvd_compute(rsvd, null(), a, u, values, v, null_mut()));
    expect_numbers(status, at_u, ROWS * wide);
    expect_numbers(status, at_v, COLS * wide);
    expect_numbers(status, at_s, wide);
    let ended = c!(purlin_rsvd_destroy(rsvd));
    w.rsvds.destroyed(ended, rsvd);
    status
}

fn split(s: &mut Source<'_>, w: &mut World) -> purlin_status {
    let mut o = initialized!(purlin_rpca_options, purlin_rpca_options_init);
    disturb(s, &mut o, offset_of!(purlin_rpca_options, progress));
    o.max_iterations = if o.max_iterations > 100 { o.max_iterations % 100 } else { o.max_iterations };
    o.power_iterations = if o.power_iterations > 3 { o.power_iterations % 4 } else { o.power_iterations };
    o.progress = progress(s);
    // A fixed rank and a bound together are always refused: mostly one of the two is removed.
    if o.max_rank > 0 && o.fixed_rank > 0 && !s.once_in(8) {
        *(if s.once_in(2) { &mut o.max_rank } else { &mut o.fixed_rank }) = 0;
    }
    let both = s.once_in(16);
    if both {
        o = initialized!(purlin_rpca_options, purlin_rpca_options_init);
        (o.max_rank, o.fixed_rank) = (1 + s.size().clamp(0, 9), 1 + s.size().clamp(0, 9));
    }
    let (m, _) = matrix(w, ROWS, COLS, |k| if k as i64 % 11 == 0 { 5.0 } else { (0.3 * k).sin() });
    let ((low, at_low), (rare, at_rare)) = (matrix(w, ROWS, COLS, |_| 7.0), matrix(w, ROWS, COLS, |_| 7.0));
    let status = c!(purlin_rpca_compute_once(w.home(), null(), m, null(), &raw const o, low, rare, null_mut()));
    if both {
        // SAFETY: never NULL, valid until the next call.
        let message = unsafe { CStr::from_ptr(purlin_last_error_message()) }.to_string_lossy();
        let wanted = format!("max_rank: is {} beside fixed_rank = {}", o.max_rank, o.fixed_rank);
        assert_eq!(status, purlin_status::PURLIN_ERROR_INVALID_ARGUMENT);
        assert!(message.starts_with(&wanted), "{message}");
    }
    expect_numbers(status, at_low, ROWS * COLS);
    expect_numbers(status, at_rare, ROWS * COLS);
    status
}
