//! Sparse matrices, their products, eigenpairs and graphs. Matrices have a few rows, and about every other one is square
//! and symmetric, so that the calls on them mostly get far.

use std::ffi::c_void;
use std::ptr::{null, null_mut};

use purlin::ffi::*;

use crate::base::any_stream;
use crate::families::{context, progress, shaped, wanted};
use crate::options::{StructMemory, any_init, initialized};
use crate::program::c;
use crate::source::Source;
use crate::world::{World, element_size, extent};

/// Makes one random call of these functions; returns its status.
pub fn call(s: &mut Source<'_>, w: &mut World) -> purlin_status {
    match s.below(28) {
        0 => inits(s),
        1..=4 => coordinates(s, w),
        5 => columns(s, w),
        6..=8 => derived(s, w),
        9 | 10 => measured(s, w),
        11 => files(s, w),
        12 | 13 => plan(s, w),
        14..=16 => multiply(s, w),
        17 | 18 => solve(s, w),
        19 => tridiagonal(s, w),
        20 | 21 => graph(s, w),
        22 => labels(s, w),
        23 | 24 => solver(s, w),
        25 | 26 => solver_call(s, w),
        _ if s.once_in(3) => {
            let solver = w.eigensolvers.pick(s);
            let status = c!(purlin_lanczos_destroy(solver));
            w.eigensolvers.destroyed(status, solver);
            status
        }
        _ => {
            let plan = w.plans.pick(s);
            let status = c!(purlin_spmv_destroy(plan));
            w.plans.destroyed(status, plan);
            status
        }
    }
}

fn inits(s: &mut Source<'_>) -> purlin_status {
    match s.below(4) {
        0 => any_init!(s, purlin_spmv_options, purlin_spmv_options_init),
        1 => any_init!(s, purlin_spmv_info, purlin_spmv_info_init),
        2 => any_init!(s, purlin_lanczos_options, purlin_lanczos_options_init),
        _ => any_init!(s, purlin_lanczos_info, purlin_lanczos_info_init),
    }
}

fn any_type(s: &mut Source<'_>) -> i32 {
    if s.once_in(30) {
        return s.code(12);
    }
    s.one_of(&[PURLIN_F64, PURLIN_F64, PURLIN_F64, PURLIN_F32, PURLIN_CF64, PURLIN_CF32])
}

/// Memory of a program with indices of 64 bits.
fn indices(w: &mut World, values: &[i64]) -> *const c_void {
    w.keep(values.iter().flat_map(|v| v.to_ne_bytes()).collect()).cast_const()
}

fn coordinates(s: &mut Source<'_>, w: &mut World) -> purlin_status {
    let (context, dtype) = (context(s, w), any_type(s));
    let n = 1 + s.below(9) as i64;
    let (rows, cols) = if s.once_in(3) { (n, s.below(9) as i64) } else { (n, n) };
    let base = if s.once_in(20) { s.code(2) } else { s.below(2) as i32 };
    let (mut row, mut col) = (Vec::new(), Vec::new());
    let symmetric = rows == cols && s.once_in(2);
    for _ in 0..s.below(20) {
        let (i, j) = (s.below(n as usize) as i64, s.below(cols.max(1) as usize) as i64);
        row.push(i + i64::from(base));
        col.push(j + i64::from(base));
        if symmetric {
            row.push(j + i64::from(base));
            col.push(i + i64::from(base));
        }
    }
    if s.once_in(15) && !row.is_empty() {
        let place = s.below(row.len());
        row[place] = s.strange();
    }
    let nnz = if s.once_in(30) { -1 } else { row.len() as i64 };
    let values: *const c_void = if s.once_in(3) {
        null()
    } else if symmetric || s.once_in(2) {
        // Small whole numbers of any of the types, the same for both of a pair.
        w.keep(vec![0x3f; row.len() * 16]).cast_const()
    } else {
        w.buffer(s, Some(16 * row.len())).cast_const()
    };
    let (row, col) = (indices(w, &row), indices(w, &col));
    let kind = if s.once_in(30) { s.code(12) } else { PURLIN_I64 };
    let mut made = null_mut();
    let place = if s.once_in(40) { null_mut() } else { &raw mut made };
    let (d, how) = (dtype, s.code(5));
    let status =
        c!(purlin_matrix_from_coordinates(context, d, base, rows, cols, nnz, kind, row, col, values, how, place));
    w.matrices.made(status, made);
    status
}

fn columns(s: &mut Source<'_>, w: &mut World) -> purlin_status {
    let (context, dtype, rows, cols) = (context(s, w), any_type(s), 1 + s.below(6) as i64, s.below(6) as i64);
    let mut starts = vec![0];
    for j in 0..cols as usize {
        starts.push(starts[j] + s.below(3) as i64);
    }
    let nnz = starts[cols as usize];
    let below: Vec<i64> = (0..nnz).map(|_| s.below(rows as usize) as i64).collect();
    if s.once_in(6) {
        let place = s.below(starts.len());
        starts[place] = s.strange();
    }
    let values = w.buffer(s, Some(16 * below.len())).cast_const();
    let (p, r) = (indices(w, &starts), indices(w, &below));
    let mut made = null_mut();
    let (k, place) = (PURLIN_I64, &raw mut made);
    let status = c!(purlin_matrix_from_columns(context, dtype, 0, rows, cols, nnz, k, p, k, r, values, place));
    w.matrices.made(status, made);
    status
}

/// The number of rows of the matrix, if it exists; at times another number.
fn rows_of(s: &mut Source<'_>, a: *const purlin_matrix) -> (i64, i64, i32) {
    let mut info = initialized!(purlin_matrix_info, purlin_matrix_info_init);
    if c!(purlin_matrix_properties(a, &raw mut info)) != purlin_status::PURLIN_SUCCESS || s.once_in(30) {
        return (s.size(), s.size(), PURLIN_F64);
    }
    (info.rows, info.cols, info.dtype)
}

/// A list of indices as long as `count`: a permutation, mostly.
fn list(s: &mut Source<'_>, w: &mut World, count: i64) -> *const i64 {
    if s.once_in(4) {
        return null();
    }
    let mut values: Vec<i64> = (0..count.clamp(0, 64)).rev().collect();
    if s.once_in(6) && !values.is_empty() {
        let place = s.below(values.len());
        values[place] = s.strange();
    }
    if values.len() as i64 == count { indices(w, &values).cast() } else { null() }
}

fn derived(s: &mut Source<'_>, w: &mut World) -> purlin_status {
    let a = w.matrices.pick(s).cast_const();
    let mut made = null_mut();
    let place = if s.once_in(40) { null_mut() } else { &raw mut made };
    let (rows, cols, dtype) = rows_of(s, a);
    let status = match s.below(10) {
        0 => c!(purlin_matrix_from_dense(a, s.float(), place)),
        1 => c!(purlin_matrix_canonical(a, s.code(5), place)),
        2 => c!(purlin_matrix_pattern(a, place)),
        3 => c!(purlin_matrix_transpose(a, s.code(2), place)),
        4 => c!(purlin_matrix_symmetrize(a, s.code(5), place)),
        5 => c!(purlin_matrix_permute(a, list(s, w, rows), list(s, w, cols), place)),
        6 => {
            let (m, n) = (rows.min(3), cols.min(2));
            c!(purlin_matrix_select(a, m, list(s, w, m), n, list(s, w, n), place))
        }
        7 => {
            let mut names = null_mut();
            let status = c!(purlin_graph_component(a, s.size().wrapping_sub(2), place, &raw mut names));
            w.tensors.made(status, names);
            status
        }
        8 => {
            let (r, k) = (shaped(s, w, dtype, &[rows]), shaped(s, w, dtype, &[cols]));
            c!(purlin_matrix_scale(a, r, k, place))
        }
        _ => {
            let values = shaped(s, w, dtype, &[s_count(a)]);
            return c!(purlin_matrix_set_values(a.cast_mut(), values));
        }
    };
    w.matrices.made(status, made);
    status
}

/// The number of stored entries of an existing matrix.
fn s_count(a: *const purlin_matrix) -> i64 {
    let mut info = initialized!(purlin_matrix_info, purlin_matrix_info_init);
    match c!(purlin_matrix_properties(a, &raw mut info)) {
        purlin_status::PURLIN_SUCCESS => info.nnz.min(100),
        _ => 3,
    }
}

/// A dense matrix of the given type and sizes, mostly.
fn dense(s: &mut Source<'_>, w: &mut World, dtype: i32, rows: i64, cols: i64) -> *mut purlin_matrix {
    if s.once_in(30) {
        return w.matrices.pick(s);
    }
    let flags = s.one_of(&[0, 0, PURLIN_ROW_MAJOR]);
    let tight = if flags == 0 { rows } else { cols };
    let ld = tight.max(1).saturating_add(if s.once_in(6) { 2 } else { 0 });
    let long = rows.max(cols);
    let data = w.buffer(s, extent(&[long, long], Some(&[1, ld]), element_size(dtype)));
    let mut made = null_mut();
    let place = &raw mut made;
    let status = c!(purlin_matrix_borrow(w.home(), dtype, flags, rows, cols, ld, data, place));
    w.matrices.made(status, made);
    made
}

fn measured(s: &mut Source<'_>, w: &mut World) -> purlin_status {
    let a = w.matrices.pick(s).cast_const();
    let (rows, cols, dtype) = rows_of(s, a);
    let (mut number, mut answer, mut count) = (0.0, 0, 0);
    match s.below(8) {
        7 => c!(purlin_matrix_check(a, s.code(9))),
        6 => c!(purlin_matrix_order(a, s.code(2), shaped(s, w, PURLIN_I64, &[rows]))),
        0 => c!(purlin_matrix_norm(a, s.code(4), if s.once_in(20) { null_mut() } else { &raw mut number })),
        1 => c!(purlin_matrix_is_symmetric(a, s.float(), &raw mut answer)),
        2 => c!(purlin_matrix_row_sums(a, shaped(s, w, dtype, &[rows]))),
        3 => c!(purlin_matrix_diagonal(a, shaped(s, w, dtype, &[rows.min(cols)]))),
        4 => c!(purlin_matrix_to_dense(a, dense(s, w, dtype, rows, cols))),
        _ => c!(purlin_graph_components(a, wanted(s, w, PURLIN_I64, &[rows]), &raw mut count)),
    }
}

/// Readers of paths without a file; tests/fuzz/readers.rs reads files of any contents.
fn files(s: &mut Source<'_>, w: &mut World) -> purlin_status {
    let (context, a) = (context(s, w), w.matrices.pick(s).cast_const());
    let path = s.one_of(&[null(), c"".as_ptr(), c"/nowhere/at/all".as_ptr()]);
    let (mut made, mut names) = (null_mut(), null_mut());
    let status = match s.below(4) {
        0 => c!(purlin_matrix_read_market(context, path, s.code(3), &raw mut made)),
        1 => {
            let (d, k) = (any_type(s), s.code(2));
            c!(purlin_matrix_read_edges(context, path, d, k, s.code(5), &raw mut made, &raw mut names))
        }
        2 => c!(purlin_matrix_write_market(a, path, s.code(2))),
        _ => c!(purlin_matrix_write_edges(a, path, s.code(2))),
    };
    assert!(made.is_null() && names.is_null(), "there is no such file");
    status
}

fn plan(s: &mut Source<'_>, w: &mut World) -> purlin_status {
    let a = w.matrices.pick(s).cast_const();
    match s.below(4) {
        0 => {
            let info = initialized!(purlin_spmv_info, purlin_spmv_info_init);
            let mut memory = StructMemory::of(s, &info);
            c!(purlin_spmv_properties(w.plans.pick(s), memory.get_mut()))
        }
        1 => c!(purlin_spmv_update(w.plans.pick(s), a)),
        _ => {
            let mut o = initialized!(purlin_spmv_options, purlin_spmv_options_init);
            o.method = s.code(8);
            o.ordering = s.code(3).wrapping_sub(1);
            o.op = s.code(3);
            o.symmetric = i32::from(s.once_in(6));
            o.kind = if s.once_in(2) { s.code(10) } else { PURLIN_LANCZOS_MATRIX };
            o.shift = if s.once_in(4) { s.float() } else { 0.0 };
            if s.once_in(6) {
                (o.degree, o.lower, o.upper) = (s.size(), s.float(), s.float());
            }
            let memory = StructMemory::of(s, &o);
            let mut made = null_mut();
            let status = c!(purlin_spmv_create(a, memory.get(), &raw mut made));
            w.plans.made(status, made);
            status
        }
    }
}

fn multiply(s: &mut Source<'_>, w: &mut World) -> purlin_status {
    let a = w.matrices.pick(s).cast_const();
    let mut made = null_mut();
    // Mostly a new plan, because few of the existing ones fit.
    let plan = if s.once_in(4) {
        w.plans.pick(s).cast_const()
    } else {
        let status = c!(purlin_spmv_create(a, null(), &raw mut made));
        w.plans.made(status, made);
        made.cast_const()
    };
    let (rows, cols, dtype) = rows_of(s, a);
    let stream = any_stream(s, w);
    let (alpha, beta) = (w.buffer(s, Some(16)).cast_const(), w.buffer(s, Some(16)).cast_const());
    if s.once_in(2) {
        let (x, y) = (shaped(s, w, dtype, &[cols]), shaped(s, w, dtype, &[rows]));
        return c!(purlin_spmv_apply(plan, stream, alpha, a, x, beta, y));
    }
    let width = s.below(4) as i64;
    let (x, y) = (dense(s, w, dtype, cols, width), dense(s, w, dtype, rows, width));
    c!(purlin_spmv_apply_block(plan, stream, alpha, a, x, beta, y))
}

/// Any options whose work the test has time for.
fn any_options(s: &mut Source<'_>, w: &World) -> purlin_lanczos_options {
    let mut o = initialized!(purlin_lanczos_options, purlin_lanczos_options_init);
    o.ordering = s.code(3).wrapping_sub(1);
    o.count = 1 + s.below(3) as i64;
    match s.below(12) {
        0 => o.which = s.code(5),
        1 => o.kind = s.code(9),
        2 => o.verify = s.code(3),
        3 => o.shift = s.float(),
        4 => o.tolerance = s.float(),
        5 => o.count = s.size(),
        6 => o.basis = s.size(),
        7 => o.method = s.code(2),
        8 => (o.block, o.orthogonalization) = (s.size(), s.code(2)),
        9 => o.group = w.groups.pick(s),
        10 => (o.check_symmetry, o.seed) = (s.code(2), s.bits()),
        _ => (o.filter, o.degree, o.sigma) = (s.code(2), s.size(), s.float()),
    }
    o.restarts = s.below(4) as i64 + 1;
    o.progress = progress(s);
    o
}

fn solve(s: &mut Source<'_>, w: &mut World) -> purlin_status {
    let a = w.matrices.pick(s).cast_const();
    let (n, _, dtype) = rows_of(s, a);
    let o = any_options(s, w);
    let k = o.count;
    let memory = StructMemory::of(s, &o);
    let (values, residuals) = (shaped(s, w, PURLIN_F64, &[k]), wanted(s, w, PURLIN_F64, &[k]));
    let vectors = if s.once_in(2) { null_mut() } else { dense(s, w, dtype, n, k) };
    let start = if s.once_in(4) { shaped(s, w, dtype, &[n]) } else { null_mut() };
    let known = if s.once_in(4) { dense(s, w, dtype, n, 1) } else { null_mut() };
    let info = initialized!(purlin_lanczos_info, purlin_lanczos_info_init);
    let mut report = StructMemory::of(s, &info);
    let solve = if s.once_in(8) { w.matrices.pick(s) } else { null_mut() };
    let stream = any_stream(s, w);
    let options = if s.once_in(20) { null() } else { memory.get() };
    if s.once_in(4) {
        let (_, cols, _) = rows_of(s, a);
        let right = if s.once_in(2) { null_mut() } else { dense(s, w, dtype, cols, k) };
        let start = null();
        return c!(purlin_lanczos_singular_once(
            w.home(),
            stream,
            a,
            start,
            options,
            vectors,
            values,
            right,
            residuals,
            report.get_mut()
        ));
    }
    c!(purlin_lanczos_solve_once(
        w.home(),
        stream,
        a,
        start,
        known,
        solve,
        options,
        values,
        vectors,
        residuals,
        report.get_mut()
    ))
}

/// Makes an eigensolver with random options.
fn solver(s: &mut Source<'_>, w: &mut World) -> purlin_status {
    let mut o = any_options(s, w);
    if s.once_in(2) {
        o = purlin_lanczos_options {
            count: o.count,
            ..initialized!(purlin_lanczos_options, purlin_lanczos_options_init)
        };
    }
    let memory = StructMemory::of(s, &o);
    let options = if s.once_in(20) { null() } else { memory.get() };
    let mut made = null_mut();
    let place = if s.once_in(20) { null_mut() } else { &raw mut made };
    let status = c!(purlin_lanczos_create(context(s, w), options, place));
    w.eigensolvers.made(status, made);
    if status == purlin_status::PURLIN_SUCCESS {
        w.pairs.push((made, if options.is_null() { 6 } else { o.count }));
    }
    status
}

/// A call on an eigensolver.
fn solver_call(s: &mut Source<'_>, w: &mut World) -> purlin_status {
    let (solver, a) = (w.eigensolvers.pick(s), w.matrices.pick(s).cast_const());
    let (n, cols, dtype) = rows_of(s, a);
    let k = w.pairs.iter().find(|p| p.0 == solver).map_or(2, |p| p.1);
    let info = initialized!(purlin_lanczos_info, purlin_lanczos_info_init);
    let mut report = StructMemory::of(s, &info);
    let place = if s.once_in(20) { null_mut() } else { report.get_mut() };
    match s.below(8) {
        0 => {
            let mut given = || if s.once_in(2) { null_mut() } else { w.matrices.pick(s) };
            let (known, solve) = (given(), given());
            c!(purlin_lanczos_plan(solver, a, known, solve, place))
        }
        1 if s.once_in(2) => c!(purlin_lanczos_plan_singular(solver, a, place)),
        1 => c!(purlin_lanczos_last_info(solver, place)),
        2 => c!(purlin_lanczos_cancel(solver)),
        n_of if n_of < 5 => {
            let (values, residuals) = (shaped(s, w, PURLIN_F64, &[k]), wanted(s, w, PURLIN_F64, &[k]));
            let left = if s.once_in(2) { null_mut() } else { dense(s, w, dtype, n, k) };
            let right = if s.once_in(2) { null_mut() } else { dense(s, w, dtype, cols, k) };
            let start = if s.once_in(4) { shaped(s, w, dtype, &[n.min(cols)]) } else { null_mut() };
            let stream = any_stream(s, w);
            c!(purlin_lanczos_singular(solver, stream, a, start, left, values, right, residuals, place))
        }
        _ => {
            let (values, residuals) = (shaped(s, w, PURLIN_F64, &[k]), wanted(s, w, PURLIN_F64, &[k]));
            let vectors = if s.once_in(2) { null_mut() } else { dense(s, w, dtype, n, k) };
            let start = if s.once_in(4) { shaped(s, w, dtype, &[n]) } else { null_mut() };
            let known = if s.once_in(4) { dense(s, w, dtype, n, 1) } else { null_mut() };
            let inverse = if s.once_in(8) { w.matrices.pick(s) } else { null_mut() };
            let stream = any_stream(s, w);
            c!(purlin_lanczos_solve(solver, stream, a, start, known, inverse, values, vectors, residuals, place))
        }
    }
}

fn tridiagonal(s: &mut Source<'_>, w: &mut World) -> purlin_status {
    let m = if s.once_in(12) { s.one_of(&[-1, i64::MIN]) } else { s.below(12) as i64 };
    let bytes = extent(&[m.max(0)], None, 8);
    let (alpha, beta) = (w.buffer(s, bytes).cast::<f64>(), w.buffer(s, bytes).cast::<f64>());
    let mut count = 0;
    match s.below(3) {
        0 => {
            let (a, solver) = (w.matrices.pick(s).cast_const(), w.eigensolvers.pick(s));
            c!(purlin_lanczos_tridiagonalize(solver, null(), a, m, null(), alpha, beta, &raw mut count))
        }
        1 => {
            let mut accepted = vec![purlin_lanczos_accepted { value: 0.0, residual: 0.0, copies: 0 }; 12];
            let place = if s.once_in(20) { null_mut() } else { accepted.as_mut_ptr() };
            c!(purlin_lanczos_cullum_willoughby(m, alpha, beta, s.float(), s.float(), place, &raw mut count))
        }
        2 => {
            let mut shares = [0.0; 12];
            let bins = s.below(14) as i64 - 1;
            let place = if s.once_in(20) || bins > 12 { null_mut() } else { shares.as_mut_ptr() };
            c!(purlin_graph_density_histogram(m, alpha, beta, s.float(), s.float(), bins, place))
        }
        _ => {
            let mut out = [[0.0; 12]; 3];
            let [values, first, last] = &mut out;
            let first = if s.once_in(2) { null_mut() } else { first.as_mut_ptr() };
            c!(purlin_tridiagonal_eigenvalues(m, alpha, beta, values.as_mut_ptr(), first, last.as_mut_ptr()))
        }
    }
}

fn graph(s: &mut Source<'_>, w: &mut World) -> purlin_status {
    let (solver, g) = (w.eigensolvers.pick(s), w.matrices.pick(s).cast_const());
    let (n, _, _) = rows_of(s, g);
    let k = w.pairs.iter().find(|p| p.0 == solver).map_or(2, |p| p.1);
    let (stream, none) = (any_stream(s, w), null_mut());
    let (mut number, mut count) = (0.0, 0);
    match s.below(4) {
        0 => {
            let (x, values) = (dense(s, w, PURLIN_F64, n, k), wanted(s, w, PURLIN_F64, &[k]));
            c!(purlin_graph_embed(solver, stream, g, s.code(3), x, values, none))
        }
        1 => {
            let (l, starts) = (shaped(s, w, PURLIN_I64, &[n]), s.below(4) as i64);
            c!(purlin_graph_cluster(solver, stream, g, s.code(2), starts, l, &raw mut number, none))
        }
        2 => {
            let v = shaped(s, w, PURLIN_F64, &[n]);
            c!(purlin_graph_fiedler(solver, stream, g, s.code(2), &raw mut number, v, none))
        }
        _ => {
            let (steps, vectors) = (s.below(5) as i64, s.below(4) as i64);
            let length = steps * vectors;
            let (p, q) = (shaped(s, w, PURLIN_F64, &[length]), shaped(s, w, PURLIN_F64, &[length]));
            c!(purlin_graph_density(solver, stream, g, steps, vectors, p, q, &raw mut count))
        }
    }
}

fn labels(s: &mut Source<'_>, w: &mut World) -> purlin_status {
    let (n, dims) = (s.below(12) as i64, s.below(4) as i64);
    let (mut number, mut cut) = (0.0, 0.0);
    match s.below(4) {
        0 => {
            let (x, l) = (dense(s, w, PURLIN_F64, n, dims), shaped(s, w, PURLIN_I64, &[n]));
            c!(purlin_graph_k_means(x, s.size(), s.below(3) as i64, s.bits(), l, &raw mut number))
        }
        1 => {
            let (x, l) = (dense(s, w, PURLIN_F64, n, dims), shaped(s, w, PURLIN_I64, &[n]));
            c!(purlin_graph_pivoted_qr(x, l, &raw mut number))
        }
        2 => {
            let g = w.matrices.pick(s).cast_const();
            let (n, _, _) = rows_of(s, g);
            let (v, l) = (shaped(s, w, PURLIN_F64, &[n]), shaped(s, w, PURLIN_I64, &[n]));
            c!(purlin_graph_bisect(g, v, s.code(3), l, &raw mut number, &raw mut cut))
        }
        _ => {
            let image = dense(s, w, PURLIN_F64, n, dims);
            let (radius, mut made) = (1.0 + s.below(3) as f64 / 2.0, null_mut());
            let (i, d, floor) = (s.float(), s.float(), s.float());
            let context = context(s, w);
            let status = match s.once_in(2) {
                true => c!(purlin_graph_of_image(context, image, radius, i, d, floor, &raw mut made)),
                false => c!(purlin_graph_operator_of_image(context, image, radius, i, d, floor, &raw mut made)),
            };
            w.matrices.made(status, made);
            status
        }
    }
}
