//! Tensor trains, TT-matrices, their contractions and algebra. Trains are short and of few shapes, so that those of one
//! program mostly fit one another.

use std::ffi::c_void;
use std::ptr::{null, null_mut};

use purlin::ffi::*;

use crate::base::any_stream;
use crate::families::{context, progress, shaped, wanted};
use crate::options::{StructMemory, any_init, initialized};
use crate::program::c;
use crate::source::Source;
use crate::world::{World, element_size, extent};

/// Most sites of a train.
const SITES: usize = 4;
/// Mode sizes of the sites.
const MODES: [i64; SITES] = [2, 3, 2, 2];

/// Makes one random call of these functions; returns its status.
pub fn call(s: &mut Source<'_>, w: &mut World) -> purlin_status {
    match s.below(24) {
        0 => inits(s),
        1..=3 => train(s, w).0,
        4 => cores(s, w),
        5 | 6 => matrix(s, w).0,
        7 => contraction(s, w),
        8..=11 => contract(s, w),
        12 => lists(s, w),
        13 | 14 => operate(s, w),
        15 => environments(s, w),
        16 | 17 => environment(s, w),
        18..=20 => algebra(s, w),
        21 => entries(s, w),
        _ => destroy(s, w),
    }
}

fn inits(s: &mut Source<'_>) -> purlin_status {
    match s.below(5) {
        0 => any_init!(s, purlin_tt_info, purlin_tt_info_init),
        1 => any_init!(s, purlin_tt_contraction_options, purlin_tt_contraction_options_init),
        2 => any_init!(s, purlin_tt_contraction_info, purlin_tt_contraction_info_init),
        3 => any_init!(s, purlin_tt_round_options, purlin_tt_round_options_init),
        _ => any_init!(s, purlin_tt_round_info, purlin_tt_round_info_init),
    }
}

/// An element type, mostly double precision.
fn any_type(s: &mut Source<'_>) -> i32 {
    if s.once_in(40) {
        return s.code(12);
    }
    s.one_of(&[PURLIN_F64, PURLIN_F64, PURLIN_F64, PURLIN_F32, PURLIN_CF64, PURLIN_CF32])
}

/// Mostly the length of the others; never more than the lists have.
fn any_length(s: &mut Source<'_>) -> i64 {
    match s.below(20) {
        0 => s.one_of(&[0, -1, i64::MIN]),
        1 => 1 + s.below(SITES) as i64,
        _ => 3,
    }
}

/// Ranks of an open train or a ring.
fn any_ranks(s: &mut Source<'_>, length: i64) -> [i64; SITES + 1] {
    let mut ranks = [1i64; SITES + 1];
    ranks.iter_mut().for_each(|r| *r = 1 + s.below(3) as i64);
    let edge = if s.below(3) == 0 { 2 } else { 1 };
    ranks[0] = edge;
    if let Some(last) = usize::try_from(length).ok().and_then(|d| ranks.get_mut(d)) {
        *last = edge;
    }
    if s.once_in(20) {
        ranks[s.below(SITES + 1)] = s.size();
    }
    ranks
}

fn any_modes(s: &mut Source<'_>) -> [i64; SITES] {
    let mut modes = MODES;
    if s.once_in(20) {
        modes[s.below(SITES)] = s.size();
    }
    modes
}

/// Memory for each core; NULL if its sizes are invalid.
fn borrowed_cores(
    s: &mut Source<'_>,
    w: &mut World,
    dtype: i32,
    modes: &[i64; SITES],
    ranks: &[i64; SITES + 1],
) -> [*mut c_void; SITES] {
    let mut cores = [null_mut(); SITES];
    for (k, core) in cores.iter_mut().enumerate() {
        *core = w.buffer(s, extent(&[ranks[k], modes[k], ranks[k + 1]], None, element_size(dtype)));
    }
    cores
}

fn train(s: &mut Source<'_>, w: &mut World) -> (purlin_status, *mut purlin_tt) {
    let (context, dtype, length) = (context(s, w), any_type(s), any_length(s));
    let (modes, ranks) = (any_modes(s), any_ranks(s, length));
    let mut made = null_mut();
    let place = if s.once_in(40) { null_mut() } else { &raw mut made };
    let location = if s.once_in(20) { s.code(3) } else { PURLIN_HOST };
    let (m, r) = (modes.as_ptr(), ranks.as_ptr());
    let status = match s.below(8) {
        0 => c!(purlin_tt_create(context, dtype, location, s.one_of(&[0, 0, PURLIN_PINNED, -1]), length, m, r, place)),
        1 => {
            let addresses = [s.bits(), 0, 64, u64::MAX];
            c!(purlin_tt_borrow_device(context, dtype, 0, length, m, r, addresses.as_ptr(), place))
        }
        2 | 3 => c!(purlin_tt_random(context, dtype, location, length, m, r, s.bits(), place)),
        4 if s.below(2) == 0 => c!(purlin_tt_zeros(context, dtype, location, length, m, place)),
        4 => c!(purlin_tt_ones(context, dtype, location, length, m, place)),
        5 => {
            let sum = modes[..usize::try_from(length).unwrap_or(0)].iter().fold(0i64, |a, b| a.saturating_add(*b));
            let vectors = shaped(s, w, dtype, &[sum]);
            c!(purlin_tt_product_state(context, length, m, vectors, place))
        }
        _ => {
            let cores = borrowed_cores(s, w, dtype, &modes, &ranks);
            let flags = s.one_of(&[0, PURLIN_READ_ONLY, PURLIN_READ_ONLY]);
            let list = if s.once_in(40) { null() } else { cores.as_ptr() };
            c!(purlin_tt_borrow(context, dtype, flags, length, m, r, list, place))
        }
    };
    w.trains.made(status, made);
    (status, made)
}

/// An existing train, or a new one.
fn any_train(s: &mut Source<'_>, w: &mut World) -> *mut purlin_tt {
    if w.trains.live.is_empty() || s.once_in(6) { train(s, w).1 } else { w.trains.pick(s) }
}

/// Sizes of a core, and the type, as the train reports them.
fn core_shape(train: *const purlin_tt, k: usize) -> ([i64; 3], i32, usize) {
    let mut info = initialized!(purlin_tt_info, purlin_tt_info_init);
    let (mut modes, mut ranks) = ([1i64; SITES + 1], [1i64; SITES + 1]);
    let known = c!(purlin_tt_properties(train, &raw mut info)) == purlin_status::PURLIN_SUCCESS
        && c!(purlin_tt_shape(train, SITES as i64 + 1, modes.as_mut_ptr(), ranks.as_mut_ptr()))
            == purlin_status::PURLIN_SUCCESS;
    if !known {
        return ([1, 2, 1], PURLIN_F64, 3);
    }
    let k = k % (info.length as usize);
    ([ranks[k], modes[k], ranks[k + 1]], info.dtype, info.length as usize)
}

fn cores(s: &mut Source<'_>, w: &mut World) -> purlin_status {
    let tt = any_train(s, w);
    let k = s.below(SITES);
    let (dims, dtype, length) = core_shape(tt, k);
    let k = if s.once_in(10) { s.strange() } else { (k % length) as i64 };
    let stream = any_stream(s, w);
    match s.below(7) {
        0 | 1 => {
            let core = shaped(s, w, dtype, &dims);
            c!(purlin_tt_set_core(tt, stream, k, core))
        }
        2 => {
            let core = shaped(s, w, dtype, &dims);
            c!(purlin_tt_core(tt, stream, k, core))
        }
        3 => {
            let mut address = 0u64;
            c!(purlin_tt_core_address(tt, k, &raw mut address))
        }
        4 => {
            let (mut modes, mut ranks) = ([0i64; SITES + 1], [0i64; SITES + 1]);
            let capacity = s.one_of(&[SITES as i64 + 1, 0, -1, 2]);
            let modes = if s.once_in(10) { null_mut() } else { modes.as_mut_ptr() };
            c!(purlin_tt_shape(tt, capacity, modes, ranks.as_mut_ptr()))
        }
        5 => {
            let other = any_train(s, w);
            c!(purlin_tt_copy(context(s, w), stream, tt, other))
        }
        _ => {
            let info = initialized!(purlin_tt_info, purlin_tt_info_init);
            let mut memory = StructMemory::of(s, &info);
            c!(purlin_tt_properties(tt, memory.get_mut()))
        }
    }
}

fn matrix(s: &mut Source<'_>, w: &mut World) -> (purlin_status, *mut purlin_tt_matrix) {
    let (context, dtype, length) = (context(s, w), any_type(s), any_length(s));
    let (rows, ranks, ring) = (any_modes(s), any_ranks(s, length), s.code(2));
    let mut made = null_mut();
    let place = if s.once_in(40) { null_mut() } else { &raw mut made };
    let (m, r) = (rows.as_ptr(), ranks.as_ptr());
    let status = match s.below(9) {
        0 => c!(purlin_tt_matrix_create(context, dtype, PURLIN_HOST, s.code(2), length, m, m, r, place)),
        1 => {
            let addresses = [s.bits(); SITES];
            c!(purlin_tt_matrix_borrow_device(context, dtype, 0, length, m, m, r, addresses.as_ptr(), place))
        }
        2 => c!(purlin_tt_matrix_ising(context, dtype, length, ring, s.float(), s.float(), place)),
        3 => {
            let couplings = [s.float(), s.float(), s.float()];
            let list = if s.below(3) == 0 { null() } else { couplings.as_ptr() };
            let spin = if s.once_in(8) { s.one_of(&[0, -1, i64::MAX, i64::MIN]) } else { 1 + s.below(3) as i64 };
            c!(purlin_tt_matrix_heisenberg(context, dtype, length, ring, spin, list, s.float(), place))
        }
        4 => c!(purlin_tt_matrix_identity(context, dtype, length, m, place)),
        5 => from_terms(s, w, context, length, place),
        _ => {
            let mut pairs = rows;
            pairs.iter_mut().for_each(|n| *n = n.saturating_mul(*n));
            let cores = borrowed_cores(s, w, dtype, &pairs, &ranks);
            c!(purlin_tt_matrix_borrow(context, dtype, PURLIN_READ_ONLY, length, m, m, r, cores.as_ptr(), place))
        }
    };
    w.train_matrices.made(status, made);
    if status == purlin_status::PURLIN_SUCCESS && s.below(3) == 0 {
        return (about_matrix(s, w, made), made);
    }
    (status, made)
}

fn from_terms(
    s: &mut Source<'_>,
    w: &mut World,
    context: *const purlin_context,
    length: i64,
    place: *mut *mut purlin_tt_matrix,
) -> purlin_status {
    let modes = [2i64; SITES];
    let (mut coefficients, mut sites) = ([0f64; 8], [0i64; 8]);
    coefficients.iter_mut().for_each(|x| *x = s.float());
    sites.iter_mut().for_each(|k| *k = if s.once_in(20) { s.strange() } else { s.below(3) as i64 });
    let factors = [1i64, 2, if s.once_in(20) { -1 } else { 1 }];
    let mut operators = [null::<purlin_tensor>(); 8];
    operators.iter_mut().for_each(|o| *o = shaped(s, w, PURLIN_F64, &[2, 2]).cast_const());
    let count = if s.once_in(20) { s.one_of(&[0, -1, i64::MIN]) } else { 1 + s.below(3) as i64 };
    let (m, x, f, k, o) = (modes.as_ptr(), coefficients.as_ptr(), factors.as_ptr(), sites.as_ptr(), operators.as_ptr());
    c!(purlin_tt_matrix_from_terms(context, PURLIN_F64, length, m, s.code(2), count, x, f, k, o, place))
}

fn about_matrix(s: &mut Source<'_>, w: &mut World, matrix: *mut purlin_tt_matrix) -> purlin_status {
    let stream = any_stream(s, w);
    let (mut rows, mut cols, mut ranks) = ([1i64; SITES + 1], [1i64; SITES + 1], [1i64; SITES + 1]);
    let (m, n, r) = (rows.as_mut_ptr(), cols.as_mut_ptr(), ranks.as_mut_ptr());
    let status = c!(purlin_tt_matrix_shape(matrix, SITES as i64 + 1, m, n, r));
    let dims = [ranks[0], rows[0], cols[0], ranks[1]];
    match s.below(4) {
        0 => status,
        1 => {
            let mut info = initialized!(purlin_tt_info, purlin_tt_info_init);
            c!(purlin_tt_matrix_properties(matrix, &raw mut info))
        }
        2 => {
            let core = shaped(s, w, PURLIN_F64, &dims);
            c!(purlin_tt_matrix_set_core(matrix, stream, s.below(3) as i64, core))
        }
        _ => {
            let core = shaped(s, w, PURLIN_F64, &dims);
            c!(purlin_tt_matrix_core(matrix, stream, s.below(3) as i64, core))
        }
    }
}

fn any_matrix(s: &mut Source<'_>, w: &mut World) -> *mut purlin_tt_matrix {
    if w.train_matrices.live.is_empty() || s.once_in(4) { matrix(s, w).1 } else { w.train_matrices.pick(s) }
}

fn contraction(s: &mut Source<'_>, w: &mut World) -> purlin_status {
    let mut o = initialized!(purlin_tt_contraction_options, purlin_tt_contraction_options_init);
    for _ in 0..s.below(4) {
        match s.below(11) {
            9 => o.group = w.groups.pick(s),
            0 => o.method = s.code(7),
            1 => o.scaling = s.code(3),
            2 => o.conjugate = s.code(2),
            3 => o.math = s.code(4),
            4 => o.norm_method = s.code(4),
            5 => (o.assume_hermitian, o.kernel) = (s.code(2), s.code(3)),
            6 => o.cut = s.size().saturating_sub(1),
            7 => o.block = s.size(),
            // More repetitions would only take longer.
            8 => o.repeat = s.one_of(&[1, 2, 5, 0, -1, i64::MIN]),
            _ => o.workspace_limit = s.strange(),
        }
    }
    o.progress = progress(s);
    let memory = StructMemory::of(s, &o);
    let options = if s.once_in(20) { null() } else { memory.get() };
    let mut made = null_mut();
    let place = if s.once_in(40) { null_mut() } else { &raw mut made };
    let status = c!(purlin_tt_contraction_create(context(s, w), options, place));
    w.contractions.made(status, made);
    status
}

fn any_contraction(s: &mut Source<'_>, w: &mut World) -> *mut purlin_tt_contraction {
    if w.contractions.live.is_empty() {
        contraction(s, w);
    }
    w.contractions.pick(s)
}

fn any_info(s: &mut Source<'_>) -> StructMemory {
    let info = initialized!(purlin_tt_contraction_info, purlin_tt_contraction_info_init);
    StructMemory::of(s, &info)
}

fn contract(s: &mut Source<'_>, w: &mut World) -> purlin_status {
    let (with, x) = (any_contraction(s, w), any_train(s, w));
    let y = if s.below(4) == 0 { x } else { any_train(s, w) };
    let (stream, mut memory) = (any_stream(s, w), any_info(s));
    let (mut plain, mut scaled) =
        ([0f64; 2], purlin_tt_scaled { re: 0.0, im: 0.0, exponent: 0, log_abs: 0.0, phase_re: 0.0, phase_im: 0.0 });
    let result = if s.once_in(40) { null_mut() } else { plain.as_mut_ptr() };
    let info = if s.below(2) == 0 { null_mut() } else { memory.get_mut() };
    match s.below(9) {
        0 => match s.below(5) {
            0 => c!(purlin_tt_plan_inner(with, x, y, memory.get_mut())),
            1 => c!(purlin_tt_plan_norm(with, x, memory.get_mut())),
            2 => c!(purlin_tt_plan_distance(with, x, y, memory.get_mut())),
            3 => c!(purlin_tt_plan_sandwich(with, y, any_matrix(s, w), x, memory.get_mut())),
            _ => c!(purlin_tt_plan_rayleigh(with, any_matrix(s, w), x, memory.get_mut())),
        },
        1 | 2 => c!(purlin_tt_inner(with, stream, x, y, result, info)),
        3 => c!(purlin_tt_inner_scaled(with, stream, x, y, &raw mut scaled, info)),
        4 => c!(purlin_tt_norm(with, stream, x, result, info)),
        5 => c!(purlin_tt_norm_scaled(with, stream, x, &raw mut scaled, info)),
        6 => c!(purlin_tt_distance(with, stream, x, y, result, info)),
        7 => c!(purlin_tt_distance_scaled(with, stream, x, y, &raw mut scaled, info)),
        _ => match s.below(3) {
            0 => c!(purlin_tt_contraction_last_info(with, memory.get_mut())),
            1 => c!(purlin_tt_contraction_cancel(with)),
            _ => once(s, w, (x, y), result, info),
        },
    }
}

fn once(
    s: &mut Source<'_>,
    w: &mut World,
    (x, y): (*const purlin_tt, *const purlin_tt),
    result: *mut f64,
    info: *mut purlin_tt_contraction_info,
) -> purlin_status {
    let mut o = initialized!(purlin_tt_contraction_options, purlin_tt_contraction_options_init);
    (o.method, o.norm_method, o.progress) = (s.code(7), s.code(4), progress(s));
    let memory = StructMemory::of(s, &o);
    let options = if s.once_in(4) { null() } else { memory.get() };
    let (context, stream) = (context(s, w), any_stream(s, w));
    match s.below(3) {
        0 => c!(purlin_tt_inner_once(context, stream, x, y, options, result, info)),
        1 => c!(purlin_tt_norm_once(context, stream, x, options, result, info)),
        _ => c!(purlin_tt_distance_once(context, stream, x, y, options, result, info)),
    }
}

fn lists(s: &mut Source<'_>, w: &mut World) -> purlin_status {
    let with = any_contraction(s, w);
    let (mut x, mut y) = ([null::<purlin_tt>(); 3], [null::<purlin_tt>(); 3]);
    x.iter_mut().chain(&mut y).for_each(|t| *t = any_train(s, w).cast_const());
    let (rows, cols) = (s.below(4) as i64, s.below(4) as i64);
    let (stream, mut memory, dtype) = (any_stream(s, w), any_info(s), s.one_of(&[PURLIN_F64, PURLIN_CF64]));
    let rows_given = if s.once_in(20) { -1 } else { rows };
    if s.below(2) == 0 {
        let (values, exponents) = (shaped(s, w, dtype, &[rows]), wanted(s, w, PURLIN_I64, &[rows]));
        let (x, y) = (x.as_ptr(), y.as_ptr());
        if s.below(3) == 0 {
            return c!(purlin_tt_plan_batch(with, rows_given, x, y, memory.get_mut()));
        }
        return c!(purlin_tt_inner_batch(with, stream, rows_given, x, y, values, exponents, memory.get_mut()));
    }
    let same = s.below(3) == 0;
    let cols = if same { rows } else { cols };
    let (values, exponents) = (shaped(s, w, dtype, &[rows, cols]), wanted(s, w, PURLIN_I64, &[rows, cols]));
    let (x, y) = (x.as_ptr(), if same { null() } else { y.as_ptr() });
    if s.below(3) == 0 {
        return c!(purlin_tt_plan_gram(with, rows_given, x, cols, y, memory.get_mut()));
    }
    c!(purlin_tt_gram(with, stream, rows_given, x, cols, y, values, exponents, memory.get_mut()))
}

fn operate(s: &mut Source<'_>, w: &mut World) -> purlin_status {
    let (with, h, x) = (any_contraction(s, w), any_matrix(s, w), any_train(s, w));
    let y = if s.below(3) == 0 { x } else { any_train(s, w) };
    let (stream, mut memory, mut plain) = (any_stream(s, w), any_info(s), [0f64; 2]);
    let mut scaled =
        [purlin_tt_scaled { re: 0.0, im: 0.0, exponent: 0, log_abs: 0.0, phase_re: 0.0, phase_im: 0.0 }; 2];
    let first = scaled.as_mut_ptr();
    match s.below(6) {
        0 => c!(purlin_tt_sandwich(with, stream, y, h, x, plain.as_mut_ptr(), memory.get_mut())),
        1 => c!(purlin_tt_sandwich_scaled(with, stream, y, h, x, first, memory.get_mut())),
        2 => {
            // SAFETY: the second of two.
            let second = unsafe { first.add(1) };
            c!(purlin_tt_rayleigh(with, stream, h, x, plain.as_mut_ptr(), first, second, memory.get_mut()))
        }
        3 => {
            let n = s.one_of(&[2, 2, 3]);
            let (a, b) = (shaped(s, w, PURLIN_F64, &[n, n]), shaped(s, w, PURLIN_F64, &[n, n]));
            let values = shaped(s, w, PURLIN_CF64, &[3, 3]);
            c!(purlin_tt_correlation(with, stream, x, a, b, values, memory.get_mut()))
        }
        _ => {
            let sites = [0i64, 2, s.size()];
            let count = s.below(4) as i64;
            let (op, values) = (shaped(s, w, PURLIN_F64, &[2, 2]), shaped(s, w, PURLIN_CF64, &[count]));
            c!(purlin_tt_expect_local(with, stream, x, op, count, sites.as_ptr(), values, memory.get_mut()))
        }
    }
}

fn environments(s: &mut Source<'_>, w: &mut World) -> purlin_status {
    let (with, x) = (any_contraction(s, w), any_train(s, w));
    let h = if s.below(2) == 0 { null_mut() } else { any_matrix(s, w) };
    let y = if s.below(2) == 0 { x } else { any_train(s, w) };
    let mut made = null_mut();
    let place = if s.once_in(40) { null_mut() } else { &raw mut made };
    let status = c!(purlin_tt_environments_create(with, y, h, x, place));
    w.environments.made(status, made);
    status
}

fn environment(s: &mut Source<'_>, w: &mut World) -> purlin_status {
    if w.environments.live.is_empty() {
        environments(s, w);
    }
    let e = w.environments.pick(s);
    let bond = if s.once_in(10) { s.strange() } else { s.below(SITES) as i64 };
    let side = s.code(2);
    let (mut dims, mut dtype, mut exponent) = ([1i64; 8], PURLIN_F64, 0i64);
    let status = c!(purlin_tt_environments_shape(e, bond, dims.as_mut_ptr(), &raw mut dtype));
    let mut scaled = purlin_tt_scaled { re: 0.0, im: 0.0, exponent: 0, log_abs: 0.0, phase_re: 0.0, phase_im: 0.0 };
    match s.below(8) {
        0 => status,
        7 => {
            let (y, x) = (w.trains.pick(s), w.trains.pick(s));
            let last = if s.once_in(10) { s.strange() } else { s.below(SITES) as i64 };
            c!(purlin_tt_environments_set_trains(e, y, x, bond, last))
        }
        1 => c!(purlin_tt_environments_build(e, null(), side, bond)),
        2 => c!(purlin_tt_environments_update_core(e, bond)),
        3 => {
            let values = shaped(s, w, dtype, &dims[..4]);
            c!(purlin_tt_environments_get(e, null(), side, bond, values, &raw mut exponent))
        }
        4 => {
            let (modes, sites) = (MODES[s.below(SITES)], i64::from(s.code(3)));
            let next = 1 + s.below(3) as i64;
            let (v, out) = (shaped(s, w, dtype, &[dims[3], modes, next]), shaped(s, w, dtype, &[dims[0], modes, next]));
            c!(purlin_tt_environments_apply(e, null(), bond, sites, v, out, &raw mut exponent))
        }
        5 => c!(purlin_tt_environments_value(e, null(), bond, &raw mut scaled)),
        _ => {
            let op = shaped(s, w, PURLIN_F64, &[2, 2]);
            c!(purlin_tt_environments_local(e, null(), bond, op, &raw mut scaled))
        }
    }
}

fn algebra(s: &mut Source<'_>, w: &mut World) -> purlin_status {
    let (context, stream, x) = (context(s, w), any_stream(s, w), any_train(s, w));
    let (a, b) = ([s.float(), s.float()], [s.float(), s.float()]);
    let mut made = null_mut();
    let place = if s.once_in(40) { null_mut() } else { &raw mut made };
    let mut exponent = 0i64;
    let status = match s.below(13) {
        0 => {
            let y = any_train(s, w);
            c!(purlin_tt_add(context, stream, a.as_ptr(), x, b.as_ptr(), y, place))
        }
        1 => {
            let e = if s.once_in(6) { s.strange() } else { 0 };
            c!(purlin_tt_scale(context, stream, x, a.as_ptr(), e, s.code(3), place))
        }
        2 => c!(purlin_tt_conj(context, stream, x, place)),
        3 => {
            let y = any_train(s, w);
            c!(purlin_tt_hadamard(context, stream, x, y, place))
        }
        4 => {
            let h = any_matrix(s, w);
            c!(purlin_tt_apply(context, stream, h, x, place))
        }
        5 => c!(purlin_tt_reverse(context, stream, x, place)),
        6 => c!(purlin_tt_rotate(context, stream, x, s.size(), place)),
        7 => c!(purlin_tt_to_open(context, stream, x, place)),
        8 => c!(purlin_tt_cast(context, stream, x, any_type(s), place)),
        9 => c!(purlin_tt_canonicalize(context, stream, x, s.size(), &raw mut exponent, place)),
        _ => truncation(s, w, context, stream, x, place),
    };
    // Ranks that grow at every step would fill any memory, so a program keeps few such trains.
    if status == purlin_status::PURLIN_SUCCESS && s.below(2) == 0 {
        return c!(purlin_tt_destroy(made));
    }
    w.trains.made(status, made);
    status
}

fn truncation(
    s: &mut Source<'_>,
    w: &mut World,
    context: *const purlin_context,
    stream: *const purlin_stream,
    x: *const purlin_tt,
    place: *mut *mut purlin_tt,
) -> purlin_status {
    let mut o = initialized!(purlin_tt_round_options, purlin_tt_round_options_init);
    if s.below(2) == 0 {
        o.epsilon = s.float();
    }
    if s.below(4) == 0 {
        o.max_rank = s.size();
    }
    if s.below(4) == 0 {
        o.absolute = s.code(2);
    }
    let info = initialized!(purlin_tt_round_info, purlin_tt_round_info_init);
    let (given, mut memory) = (StructMemory::of(s, &o), StructMemory::of(s, &info));
    let options = if s.once_in(10) { null() } else { given.get() };
    match s.below(4) {
        0 => {
            let y = any_train(s, w);
            c!(purlin_tt_hadamard_round(context, stream, x, y, options, place, memory.get_mut()))
        }
        1 => {
            let discarded = wanted(s, w, PURLIN_F64, &[2]);
            c!(purlin_tt_round(context, stream, x, options, place, discarded, memory.get_mut()))
        }
        2 => {
            let h = any_matrix(s, w);
            c!(purlin_tt_apply_round(context, stream, h, x, options, place, memory.get_mut()))
        }
        _ => {
            let (length, modes) = (any_length(s), any_modes(s));
            let used = &modes[..usize::try_from(length).unwrap_or(0)];
            let values = shaped(s, w, PURLIN_F64, used);
            let (m, discarded) = (modes.as_ptr(), wanted(s, w, PURLIN_F64, &[2]));
            c!(purlin_tt_svd(context, stream, values, length, m, options, place, discarded, memory.get_mut()))
        }
    }
}

fn entries(s: &mut Source<'_>, w: &mut World) -> purlin_status {
    let (context, stream, x) = (context(s, w), any_stream(s, w), any_train(s, w));
    let mut indices = [0i64; 3 * SITES];
    indices.iter_mut().for_each(|i| *i = if s.once_in(60) { s.strange() } else { s.below(2) as i64 });
    let (_, dtype, length) = core_shape(x, 0);
    match s.below(3) {
        0 => {
            let mut result = [0f64; 2];
            c!(purlin_tt_element(context, stream, x, indices.as_ptr(), result.as_mut_ptr()))
        }
        1 => {
            let count = s.below(4) as i64;
            let values = shaped(s, w, dtype, &[count]);
            c!(purlin_tt_elements(context, stream, x, count, indices.as_ptr(), values))
        }
        _ => {
            let values = shaped(s, w, dtype, &MODES[..length]);
            c!(purlin_tt_full(context, stream, x, values))
        }
    }
}

fn destroy(s: &mut Source<'_>, w: &mut World) -> purlin_status {
    match s.below(4) {
        0 => {
            let h = w.contractions.pick(s);
            let status = c!(purlin_tt_contraction_destroy(h));
            w.contractions.destroyed(status, h);
            status
        }
        1 => {
            let h = w.environments.pick(s);
            let status = c!(purlin_tt_environments_destroy(h));
            w.environments.destroyed(status, h);
            status
        }
        2 => {
            let h = w.train_matrices.pick(s);
            let status = c!(purlin_tt_matrix_destroy(h));
            w.train_matrices.destroyed(status, h);
            status
        }
        _ => {
            let h = w.trains.pick(s);
            let status = c!(purlin_tt_destroy(h));
            w.trains.destroyed(status, h);
            status
        }
    }
}
