//! Randomized SVD, principal components and robust PCA. Matrices are small, of every storage, and mostly fit the call.

use std::ffi::{c_char, c_void};
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicU64, Ordering};

use purlin::ffi::*;

use crate::base::any_stream;
use crate::families::{context, progress, shaped, wanted};
use crate::fdk::{Name, answer, remove_file, remove_old_file, write_file};
use crate::options::{StructMemory, any_init, initialized};
use crate::program::c;
use crate::source::Source;
use crate::world::{World, element_size, extent};

/// Rows, columns and rank that a call's arguments have; the rank is that of the session.
#[derive(Clone, Copy)]
pub struct Sizes {
    rows: i64,
    cols: i64,
    rank: i64,
    dtype: i32,
}

/// Makes one random call of these functions; returns its status.
pub fn call(s: &mut Source<'_>, w: &mut World) -> purlin_status {
    match s.below(20) {
        0 => inits(s),
        1..=3 => source(s, w),
        4 | 5 => {
            let sizes = any_sizes(s);
            outside(s, w, &sizes).0
        }
        6..=8 => create(s, w),
        9..=11 => compute(s, w),
        12 => others(s, w),
        13 => settings(s, w),
        14 => fit(s, w),
        15 | 16 => transform(s, w),
        17 => split(s, w),
        _ => destroy(s, w),
    }
}

fn inits(s: &mut Source<'_>) -> purlin_status {
    match s.below(6) {
        0 => any_init!(s, purlin_rsvd_options, purlin_rsvd_options_init),
        1 => any_init!(s, purlin_rsvd_info, purlin_rsvd_info_init),
        2 => any_init!(s, purlin_pca_options, purlin_pca_options_init),
        3 => any_init!(s, purlin_pca_info, purlin_pca_info_init),
        4 => any_init!(s, purlin_rpca_options, purlin_rpca_options_init),
        _ => any_init!(s, purlin_rpca_info, purlin_rpca_info_init),
    }
}

fn any_sizes(s: &mut Source<'_>) -> Sizes {
    let rank = 1 + s.below(4) as i64;
    Sizes { rows: s.below(12) as i64, cols: s.below(12) as i64, rank, dtype: any_type(s) }
}

/// One of the four types that are computed with, mostly the first two.
fn any_type(s: &mut Source<'_>) -> i32 {
    s.one_of(&[PURLIN_F32, PURLIN_F64, PURLIN_F64, PURLIN_F64, PURLIN_CF32, PURLIN_CF64])
}

/// A matrix of the given shape, mostly.
fn dense(s: &mut Source<'_>, w: &mut World, dtype: i32, rows: i64, cols: i64) -> *mut purlin_matrix {
    if s.once_in(40) {
        return w.matrices.pick(s);
    }
    let rows = if s.once_in(40) { s.size() } else { rows };
    let dtype = if s.once_in(40) { s.code(12) } else { dtype };
    let order = s.one_of(&[0, 0, PURLIN_ROW_MAJOR]);
    let flags = if s.once_in(50) { PURLIN_READ_ONLY } else { order };
    let ld = if flags & PURLIN_ROW_MAJOR == 0 { rows } else { cols }.max(1).saturating_add(s.below(3) as i64);
    let long = extent(&[rows.max(cols), rows.max(cols)], Some(&[1, ld]), element_size(dtype));
    let data = w.buffer(s, long);
    let mut made = null_mut();
    let status = c!(purlin_matrix_borrow(w.home(), dtype, flags, rows, cols, ld, data, &raw mut made));
    w.matrices.made(status, made);
    made
}

/// [`dense`], or NULL as where a result is not wanted.
fn dense_or_none(s: &mut Source<'_>, w: &mut World, dtype: i32, rows: i64, cols: i64) -> *mut purlin_matrix {
    if s.below(3) == 0 { null_mut() } else { dense(s, w, dtype, rows, cols) }
}

unsafe extern "C" fn read(_: *const i64, count: *const i64, block: *mut c_void, user: *mut c_void) -> i32 {
    // SAFETY: purlin passes two counts, and memory for their product of at least one byte each.
    unsafe { block.cast::<u8>().write_bytes(1, (*count * *count.add(1)) as usize) };
    user.addr() as i32
}

unsafe extern "C" fn apply(
    _: i32,
    count: i64,
    _: *const c_void,
    _: i64,
    y: *mut c_void,
    ldy: i64,
    _cuda_stream: u64,
    user: *mut c_void,
) -> i32 {
    // SAFETY: purlin passes columns of so many elements, of at least four bytes each.
    unsafe { y.cast::<u8>().write_bytes(0, (4 * ldy * (count - 1).max(0)) as usize) };
    user.addr() as i32
}

/// A matrix that is read from a function, or known by its products.
fn outside(s: &mut Source<'_>, w: &mut World, sizes: &Sizes) -> (purlin_status, *mut purlin_matrix) {
    let context = context(s, w);
    let mut made = null_mut();
    let place = if s.once_in(40) { null_mut() } else { &raw mut made };
    let status = match s.below(3) {
        0 => {
            let (rows, cols) = if s.once_in(20) { (-1, s.strange()) } else { (sizes.rows, sizes.cols) };
            let dtype = if s.once_in(20) { s.code(12) } else { sizes.dtype };
            let apply = if s.once_in(20) { None } else { Some(apply as _) };
            let location = if s.once_in(20) { s.code(2) } else { PURLIN_HOST };
            c!(purlin_matrix_from_operator(context, dtype, rows, cols, apply, answer(s), location, place))
        }
        1 => c!(purlin_matrix_from_source(context, w.sources.pick(s), s.code(2), place)),
        _ => {
            let (mut source, flags) = (null_mut(), s.one_of(&[0, PURLIN_ROW_MAJOR]));
            let mut dims = [sizes.rows, sizes.cols];
            if flags == PURLIN_ROW_MAJOR {
                dims.reverse();
            }
            let (dtype, d, p) = (s.code(12), dims.as_ptr(), &raw mut source);
            let status = c!(purlin_source_from_callback(w.home(), dtype, 2, d, Some(read), answer(s), p));
            w.sources.made(status, source);
            c!(purlin_matrix_from_source(context, source, flags, place))
        }
    };
    w.matrices.made(status, made);
    (status, made)
}

/// The matrix of a call.
fn matrix(s: &mut Source<'_>, w: &mut World, sizes: &Sizes) -> *mut purlin_matrix {
    match s.below(6) {
        0 => w.matrices.pick(s),
        1 => outside(s, w, sizes).1,
        2 => {
            let dtype = s.code(12);
            dense(s, w, dtype, sizes.rows, sizes.cols)
        }
        _ => dense(s, w, sizes.dtype, sizes.rows, sizes.cols),
    }
}

const NPY: &[u8] = b"\x93NUMPY\x01\0\x3e\0{'descr': '<f4', 'fortran_order': False, 'shape': (5, 7), }  \n";

fn source(s: &mut Source<'_>, w: &mut World) -> purlin_status {
    let mut made = null_mut();
    let place = if s.once_in(30) { null_mut() } else { &raw mut made };
    let context = context(s, w);
    let status = if s.below(2) == 0 {
        write_file(s, "array.npy", NPY);
        let name = Name::of(s, "array.npy");
        c!(purlin_source_from_npy(context, name.get(), place))
    } else {
        // A file that is made shorter would end a process that reads its pages: each has a name of its own.
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let file = format!("mapped-{}", COUNT.fetch_add(1, Ordering::Relaxed));
        write_file(s, &file, &[1; 300]);
        let (name, offset) = (Name::of(s, &file), if s.once_in(6) { s.strange() } else { s.below(40) as i64 });
        let (dims, dtype) = ([s.size(), s.size(), s.size(), s.size()], s.code(12));
        let ndim = if s.once_in(6) { s.one_of(&[0, 5, -1, i64::MAX]) } else { 1 + s.below(4) as i64 };
        let (n, d) = (name.get(), dims.as_ptr());
        let status = c!(purlin_source_from_mapped_file(context, n, offset, dtype, s.code(2), ndim, d, place));
        // A mapping stays valid after its file's name is removed.
        remove_file(&file);
        status
    };
    w.sources.made(status, made);
    status
}

/// The path of a state of the program's own runs, of a file with any contents, or of none.
fn restart(s: &mut Source<'_>, w: &mut World) -> *const c_char {
    // With the state that another program has left, this program's calls would depend on that program.
    remove_old_file("state");
    if s.once_in(3) {
        write_file(s, "state", b"PURLINRS\x03\0\0\0\0\0\0\0");
    }
    Name::of(s, "state").keep(w)
}

/// Options of a session of the given rank: mostly usable, none that take long.
fn rsvd_options(s: &mut Source<'_>, w: &mut World, rank: i64) -> purlin_rsvd_options {
    let mut o = initialized!(purlin_rsvd_options, purlin_rsvd_options_init);
    o.rank = rank;
    o.oversampling = s.below(6) as i64 - 1;
    o.power_iterations = s.below(4) as i64 - 1;
    (o.method, o.orthonormalization, o.sketch) = (s.code(14), s.code(4), s.code(4));
    for _ in 0..s.below(4) {
        match s.below(22) {
            0 => o.rank = s.strange(),
            1 => o.oversampling = s.strange(),
            2 => o.power_iterations = s.strange().min(3),
            3 => o.max_rank = s.size(),
            4 => o.block_columns = s.size(),
            5 => o.block_rows = s.size(),
            6 => o.resident_rows = s.size().saturating_sub(1),
            7 => o.merge_width = s.size(),
            8 => o.probes = s.size(),
            9 => o.seed = s.bits(),
            10 => o.tolerance = s.float(),
            11 => o.smallest_ratio = s.float(),
            12 => o.dtype = s.code(12),
            13 => (o.center, o.scale) = (s.code(3), s.code(2)),
            14 => o.sign = s.code(3),
            15 => o.right = s.code(2),
            16 => o.error = s.code(3),
            17 => o.group = w.groups.pick(s),
            18 => o.restart_path = restart(s, w),
            19 => o.iteration_precision = s.code(2),
            20 => o.read_rate = s.float(),
            _ => o.one_pass = s.code(2),
        }
    }
    o.progress = progress(s);
    o
}

fn create(s: &mut Source<'_>, w: &mut World) -> purlin_status {
    let rank = 1 + s.below(4) as i64;
    let o = rsvd_options(s, w, rank);
    let memory = StructMemory::of(s, &o);
    let options = if s.once_in(30) { null() } else { memory.get() };
    let mut made = null_mut();
    let place = if s.once_in(30) { null_mut() } else { &raw mut made };
    let status = c!(purlin_rsvd_create(context(s, w), options, place));
    w.rsvds.made(status, made);
    if status == purlin_status::PURLIN_SUCCESS {
        w.ranks.push((made, rank));
    }
    status
}

/// A session, and sizes that mostly fit it.
fn session(s: &mut Source<'_>, w: &World) -> (*mut purlin_rsvd, Sizes) {
    let rsvd = w.rsvds.pick(s);
    let mut sizes = any_sizes(s);
    if let Some((_, rank)) = w.ranks.iter().find(|r| r.0 == rsvd) {
        sizes.rank = *rank;
    }
    if !s.once_in(8) {
        sizes.rows = sizes.rows.max(sizes.rank);
        sizes.cols = sizes.cols.max(sizes.rank);
    }
    (rsvd, sizes)
}

fn rsvd_info(s: &mut Source<'_>) -> StructMemory {
    let info = initialized!(purlin_rsvd_info, purlin_rsvd_info_init);
    StructMemory::of(s, &info)
}

fn compute(s: &mut Source<'_>, w: &mut World) -> purlin_status {
    let (rsvd, sizes) = session(s, w);
    let Sizes { rows, cols, rank, dtype } = sizes;
    let a = matrix(s, w, &sizes);
    let u = dense_or_none(s, w, dtype, rows, rank);
    let v = dense_or_none(s, w, dtype, cols, rank);
    let real = s.one_of(&[PURLIN_F64, PURLIN_F32]);
    let values = wanted(s, w, real, &[rank]);
    let (stream, mut memory) = (any_stream(s, w), rsvd_info(s));
    if s.once_in(4) {
        let o = rsvd_options(s, w, rank);
        let o = StructMemory::of(s, &o);
        return c!(purlin_rsvd_compute_once(context(s, w), stream, a, o.get(), u, values, v, memory.get_mut()));
    }
    c!(purlin_rsvd_compute(rsvd, stream, a, u, values, v, memory.get_mut()))
}

fn others(s: &mut Source<'_>, w: &mut World) -> purlin_status {
    let (rsvd, sizes) = session(s, w);
    let Sizes { rows, cols, rank, dtype } = sizes;
    let (stream, mut memory) = (any_stream(s, w), rsvd_info(s));
    match s.below(4) {
        0 => {
            let (a, q) = (matrix(s, w, &sizes), dense(s, w, dtype, rows, rank));
            let b = dense_or_none(s, w, dtype, rank, cols);
            c!(purlin_rsvd_range(rsvd, stream, a, q, b, memory.get_mut()))
        }
        1 => {
            let a = matrix(s, w, &Sizes { cols: rows, ..sizes });
            let (lambda, v) = (wanted(s, w, PURLIN_F64, &[rank]), dense_or_none(s, w, dtype, rows, rank));
            c!(purlin_rsvd_symmetric(rsvd, stream, a, lambda, v, memory.get_mut()))
        }
        given => {
            let a = matrix(s, w, &sizes);
            let (u, v) = (dense(s, w, dtype, rows, rank), dense(s, w, dtype, cols, rank));
            let values = shaped(s, w, PURLIN_F64, &[rank]);
            if given == 2 {
                let (mut norm, mut bound) = (0.0, 0.0);
                let norm = if s.once_in(20) { null_mut() } else { &raw mut norm };
                return c!(purlin_rsvd_error(rsvd, stream, a, u, values, v, norm, &raw mut bound, memory.get_mut()));
            }
            let (left, right) = (shaped(s, w, PURLIN_F64, &[rank]), shaped(s, w, PURLIN_F32, &[rank]));
            c!(purlin_rsvd_residuals(rsvd, stream, a, u, values, v, left, right, memory.get_mut()))
        }
    }
}

fn settings(s: &mut Source<'_>, w: &mut World) -> purlin_status {
    let (rsvd, sizes) = session(s, w);
    match s.below(6) {
        0 => c!(purlin_rsvd_cancel(rsvd)),
        1 | 2 => {
            let omega = dense_or_none(s, w, sizes.dtype, sizes.cols, 16);
            c!(purlin_rsvd_set_sketch(rsvd, omega))
        }
        3 => {
            let (a, mut memory, u, v) = (matrix(s, w, &sizes), rsvd_info(s), s.code(2), s.code(2));
            c!(purlin_rsvd_plan(rsvd, a, u, v, if s.once_in(20) { null_mut() } else { memory.get_mut() }))
        }
        4 => {
            let mut memory = rsvd_info(s);
            c!(purlin_rsvd_last_info(rsvd, if s.once_in(20) { null_mut() } else { memory.get_mut() }))
        }
        _ => {
            let (stream, omega) = (any_stream(s, w), dense(s, w, sizes.dtype, sizes.rows, sizes.cols));
            c!(purlin_rsvd_sketch(rsvd, stream, omega))
        }
    }
}

fn fit(s: &mut Source<'_>, w: &mut World) -> purlin_status {
    let (rsvd, mut sizes) = session(s, w);
    sizes.rows = sizes.rows.max(2);
    let x = matrix(s, w, &sizes);
    let scores = dense_or_none(s, w, sizes.dtype, sizes.rows, sizes.rank);
    let mut o = initialized!(purlin_pca_options, purlin_pca_options_init);
    if s.below(3) == 0 {
        (o.samples, o.center, o.scale, o.whiten) = (s.code(2), s.code(2), s.code(2), s.code(2));
    }
    let (memory, stream, mut info) = (StructMemory::of(s, &o), any_stream(s, w), rsvd_info(s));
    let options = if s.once_in(4) { null() } else { memory.get() };
    if s.once_in(4) {
        let (with_scores, info) = (s.code(2), if s.once_in(20) { null_mut() } else { info.get_mut() });
        return c!(purlin_pca_plan(rsvd, x, options, with_scores, info));
    }
    let mut made = null_mut();
    let place = if s.once_in(30) { null_mut() } else { &raw mut made };
    let status = c!(purlin_pca_fit(rsvd, stream, x, options, scores, place, info.get_mut()));
    w.pcas.made(status, made);
    status
}

fn transform(s: &mut Source<'_>, w: &mut World) -> purlin_status {
    let pca = w.pcas.pick(s);
    let mut found = initialized!(purlin_pca_info, purlin_pca_info_init);
    if c!(purlin_pca_properties(pca, &raw mut found)) != purlin_status::PURLIN_SUCCESS {
        return c!(purlin_pca_mean(pca, w.tensors.pick(s)));
    }
    let (dtype, features, rank) = (found.dtype, found.features, found.rank);
    let turned = |a: i64, b: i64| if found.samples == PURLIN_PCA_SAMPLES_ROWS { (a, b) } else { (b, a) };
    match s.below(8) {
        0 => {
            let mean = shaped(s, w, dtype, &[features]);
            c!(purlin_pca_mean(pca, mean))
        }
        1 => {
            let numbers = shaped(s, w, PURLIN_F64, &[features]);
            if s.below(2) == 0 { c!(purlin_pca_scale(pca, numbers)) } else { c!(purlin_pca_constant(pca, numbers)) }
        }
        2 => {
            let values = shaped(s, w, PURLIN_F32, &[rank]);
            match s.below(3) {
                0 => c!(purlin_pca_singular_values(pca, values)),
                1 => c!(purlin_pca_explained_variance(pca, values)),
                _ => c!(purlin_pca_explained_variance_ratio(pca, values)),
            }
        }
        3 => {
            let (stream, components) = (any_stream(s, w), dense(s, w, dtype, features, rank));
            c!(purlin_pca_components(pca, stream, components))
        }
        way => {
            let count = s.below(6) as i64;
            let ((a, b), (c, d)) = (turned(count, features), turned(count, rank));
            let (x, scores) = (dense(s, w, dtype, a, b), dense(s, w, dtype, c, d));
            let (stream, mut info) = (any_stream(s, w), rsvd_info(s));
            if way < 6 {
                c!(purlin_pca_transform(pca, stream, x, scores, info.get_mut()))
            } else {
                c!(purlin_pca_inverse_transform(pca, stream, scores, x))
            }
        }
    }
}

fn split(s: &mut Source<'_>, w: &mut World) -> purlin_status {
    let sizes = any_sizes(s);
    let Sizes { rows, cols, dtype, .. } = sizes;
    let mut o = initialized!(purlin_rpca_options, purlin_rpca_options_init);
    o.max_iterations = 5;
    for _ in 0..s.below(4) {
        match s.below(13) {
            0 => o.lambda = s.float(),
            1 => o.tolerance = s.float(),
            2 => o.mu = s.float(),
            3 => o.rho = s.float(),
            4 => o.threshold = s.float(),
            5 => o.scale = s.float(),
            6 => o.max_iterations = s.strange().min(20),
            // A bound beside a fixed rank is refused: `structs` asserts that.
            7 if s.once_in(2) => (o.max_rank, o.fixed_rank) = (s.size(), 0),
            7 => (o.max_rank, o.fixed_rank) = (0, s.size()),
            8 => (o.power_iterations, o.oversampling) = (s.strange().min(3), s.size()),
            9 => o.block_rows = s.size(),
            10 => (o.warm_start, o.frames) = (s.code(2), s.code(2)),
            11 => o.group = w.groups.pick(s),
            _ => (o.dtype, o.seed) = (s.code(12), s.bits()),
        }
    }
    o.progress = progress(s);
    let m = matrix(s, w, &sizes);
    let mask = if s.below(3) == 0 { dense(s, w, PURLIN_U8, rows, cols) } else { null_mut() };
    let low_rank = dense_or_none(s, w, dtype, rows, cols);
    let info = initialized!(purlin_rpca_info, purlin_rpca_info_init);
    let (memory, mut info) = (StructMemory::of(s, &o), StructMemory::of(s, &info));
    let options = if s.once_in(8) { null() } else { memory.get() };
    let (context, stream) = (context(s, w), any_stream(s, w));
    if s.once_in(4) {
        let sparse = dense_or_none(s, w, dtype, rows, cols);
        return c!(purlin_rpca_compute_once(context, stream, m, mask, options, low_rank, sparse, info.get_mut()));
    }
    let mut made = null_mut();
    let place = if s.once_in(30) { null_mut() } else { &raw mut made };
    let status = c!(purlin_rpca_create(context, options, place));
    w.rpcas.made(status, made);
    // The new object, or any other.
    let rpca = if s.once_in(4) || made.is_null() { w.rpcas.pick(s) } else { made };
    let status = match s.below(6) {
        0 => {
            let mut made = null_mut();
            let place = if s.once_in(30) { null_mut() } else { &raw mut made };
            let status = c!(purlin_rpca_compute_csr(rpca, stream, m, mask, low_rank, place, info.get_mut()));
            if status == purlin_status::PURLIN_ERROR_NO_CONVERGENCE {
                // The object is created in any case.
                w.matrices.live.push(made);
            } else {
                w.matrices.made(status, made);
            }
            status
        }
        1 => {
            let (low_rank, sparse) = (w.sinks.pick(s), if s.once_in(2) { null_mut() } else { w.sinks.pick(s) });
            c!(purlin_rpca_compute_to_sinks(rpca, stream, m, mask, low_rank, sparse, info.get_mut()))
        }
        2 => c!(purlin_rpca_plan(rpca, m, mask, info.get_mut())),
        _ => {
            let sparse = dense_or_none(s, w, dtype, rows, cols);
            c!(purlin_rpca_compute(rpca, stream, m, mask, low_rank, sparse, info.get_mut()))
        }
    };
    if s.once_in(4) {
        return c!(purlin_rpca_last_info(rpca, if s.once_in(20) { null_mut() } else { info.get_mut() }));
    }
    if s.once_in(8) {
        return c!(purlin_rpca_cancel(rpca));
    }
    if s.once_in(2) {
        let ended = c!(purlin_rpca_destroy(rpca));
        w.rpcas.destroyed(ended, rpca);
    }
    status
}

fn destroy(s: &mut Source<'_>, w: &mut World) -> purlin_status {
    if s.below(2) == 0 {
        let pca = w.pcas.pick(s);
        let status = c!(purlin_pca_destroy(pca));
        w.pcas.destroyed(status, pca);
        return status;
    }
    let rsvd = w.rsvds.pick(s);
    let status = c!(purlin_rsvd_destroy(rsvd));
    w.rsvds.destroyed(status, rsvd);
    status
}
