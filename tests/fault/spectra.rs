//! Sparse matrices, their products, eigenpairs and graphs. Each call creates its objects.

use std::ptr::{null, null_mut};

use purlin::ffi::*;

use crate::cases::{Call, Case};
use crate::fixture::{Fixture, c, good, initialized, message};
use crate::rsvd::in_turn;

/// Vertices of the graph: two rings that an edge joins.
pub const N: i64 = 80;

/// Products, eigenpairs and functions of them.
pub fn on_any_backend() -> Vec<Case> {
    vec![
        Case { name: "purlin_spmv_create, apply", allocations: 3, prepare: multiply },
        Case { name: "purlin_spmv_apply_block", allocations: 3, prepare: |f| blocks(f, PURLIN_SPMV_METHOD_AUTO) },
        Case { name: "purlin_spmv_create, apply, kind", allocations: 6, prepare: operate },
        Case { name: "purlin_spmv_create, apply, filter, operator", allocations: 6, prepare: filter },
        Case { name: "purlin_lanczos_solve_once", allocations: 8, prepare: solve },
        Case { name: "purlin_lanczos_solve_once, group", allocations: 8, prepare: share },
        Case { name: "purlin_lanczos_solve_once, block", allocations: 8, prepare: |f| way(f, |o| o.block = 2) },
        Case { name: "purlin_lanczos_solve_once, partial", allocations: 8, prepare: |f| way(f, partial) },
        Case { name: "purlin_lanczos_solve_once, filter", allocations: 8, prepare: |f| way(f, filtered) },
        Case { name: "purlin_lanczos_solve_once, plain", allocations: 8, prepare: |f| way(f, plain) },
        Case { name: "purlin_lanczos_solve_once, nearest, solve", allocations: 8, prepare: nearest },
        Case { name: "purlin_spmv_create, purlin_lanczos_solve_once, order", allocations: 8, prepare: ordered },
        Case {
            name: "purlin_lanczos_singular_once",
            allocations: 8,
            prepare: |f| singular(f, |o| o.kind = PURLIN_LANCZOS_GRAM),
        },
        Case {
            name: "purlin_lanczos_singular_once, smallest",
            allocations: 8,
            prepare: |f| singular(f, |o| o.which = PURLIN_LANCZOS_SMALLEST),
        },
        Case { name: "purlin_lanczos_tridiagonalize, filter, histogram", allocations: 4, prepare: recurrence },
        Case { name: "purlin_lanczos_create, plan, solve, singular, last_info", allocations: 8, prepare: object },
        Case { name: "purlin_graph_cluster, fiedler, bisect", allocations: 8, prepare: cluster },
        Case { name: "purlin_graph_embed, k_means, pivoted_qr", allocations: 8, prepare: embedding },
        Case { name: "purlin_graph_density, of_image", allocations: 6, prepare: density },
    ]
}

/// Calls that exist on a GPU only.
pub fn on_gpu() -> Vec<Case> {
    vec![
        Case { name: "purlin_matrix_borrow_csr_device, lanczos", allocations: 3, prepare: resident },
        Case { name: "purlin_matrix_copy_to, spmv", allocations: 3, prepare: there_and_back },
        Case { name: "purlin_spmv, sweeps", allocations: 3, prepare: |f| blocks(f, PURLIN_SPMV_METHOD_SWEEPS) },
    ]
}

/// Row, column and value of each entry of the graph.
pub fn entries() -> (Vec<i64>, Vec<i64>, Vec<f64>) {
    let (mut row, mut col) = (vec![3, 50], vec![50, 3]);
    for i in 0..N {
        let next = if i < 40 { (i + 1) % 40 } else { 40 + (i + 1) % 40 };
        row.extend([i, next]);
        col.extend([next, i]);
    }
    let values = vec![1.0; row.len()];
    (row, col, values)
}

/// Handles of a call, destroyed at its end whatever its status.
pub struct Made {
    pub matrices: [*mut purlin_matrix; 4],
    pub names: *mut purlin_tensor,
    plan: *mut purlin_spmv,
    lanczos: *mut purlin_lanczos,
}

impl Made {
    pub fn none() -> Self {
        Self { matrices: [null_mut(); 4], names: null_mut(), plan: null_mut(), lanczos: null_mut() }
    }

    /// Destroys all handles; those of objects that were not created are NULL.
    pub fn end(self, status: purlin_status) -> purlin_status {
        // The next successful call clears the message of a failure, so only the status is passed on.
        self.end_with(status, &message())
    }

    /// As [`Made::end`], where other calls have been made since.
    fn end_with(self, status: purlin_status, text: &str) -> purlin_status {
        let good = purlin_status::PURLIN_SUCCESS;
        assert_eq!(purlin_lanczos_destroy(self.lanczos), good, "{}", message());
        assert_eq!(purlin_spmv_destroy(self.plan), good, "{}", message());
        assert_eq!(purlin_tensor_destroy(self.names), good, "{}", message());
        for matrix in self.matrices {
            assert_eq!(purlin_matrix_destroy(matrix), good, "{}", message());
        }
        assert_eq!(text.is_empty(), status == good, "{status:?}: {text}");
        status
    }
}

pub fn graph(context: *mut purlin_context, place: *mut *mut purlin_matrix) -> purlin_status {
    let (row, col, values) = entries();
    let (n, sum) = (row.len() as i64, PURLIN_DUPLICATES_SUM);
    let (r, k, v) = (row.as_ptr().cast(), col.as_ptr().cast(), values.as_ptr().cast());
    c!(purlin_matrix_from_coordinates(context, PURLIN_F64, 0, N, N, n, PURLIN_I64, r, k, v, sum, place))
}

fn options() -> purlin_lanczos_options {
    let mut o = initialized!(purlin_lanczos_options, purlin_lanczos_options_init);
    o.count = 2;
    o
}

fn multiply(f: &Fixture) -> Call {
    let (context, x, y) = (f.context, f.vector(N), f.vector(N));
    Box::new(move || {
        let mut made = Made::none();
        let mut o = initialized!(purlin_spmv_options, purlin_spmv_options_init);
        (o.method, o.op) = (PURLIN_SPMV_METHOD_MERGE, PURLIN_SPMV_TRANSPOSE);
        let a = &mut made.matrices[0];
        let status = in_turn!(
            graph(context, &raw mut *a),
            purlin_spmv_create(*a, &raw const o, &raw mut made.plan),
            purlin_spmv_apply(made.plan, null(), null(), *a, x, null(), y),
            purlin_spmv_update(made.plan, *a),
        );
        made.end(status)
    })
}

/// Products of one vector and of three.
fn blocks(f: &Fixture, method: i32) -> Call {
    let (context, x, y) = (f.context, f.vector(N), f.vector(N));
    Box::new(move || {
        let mut made = Made::none();
        let mut o = initialized!(purlin_spmv_options, purlin_spmv_options_init);
        o.method = method;
        let [a, xs, ys, ..] = &mut made.matrices;
        let status = in_turn!(
            graph(context, &raw mut *a),
            purlin_matrix_create(context, PURLIN_F64, PURLIN_HOST, 0, N, 3, &raw mut *xs),
            purlin_matrix_create(context, PURLIN_F64, PURLIN_HOST, 0, N, 3, &raw mut *ys),
            purlin_spmv_create(*a, &raw const o, &raw mut made.plan),
            purlin_spmv_apply(made.plan, null(), null(), *a, x, null(), y),
            purlin_spmv_apply_block(made.plan, null(), null(), *a, *xs, null(), *ys),
        );
        made.end(status)
    })
}

fn partial(o: &mut purlin_lanczos_options) {
    o.orthogonalization = PURLIN_LANCZOS_ORTHOGONALIZATION_PARTIAL;
}

fn filtered(o: &mut purlin_lanczos_options) {
    (o.filter, o.degree) = (PURLIN_LANCZOS_FILTER_CHEBYSHEV, 4);
}

fn plain(o: &mut purlin_lanczos_options) {
    (o.method, o.basis) = (PURLIN_LANCZOS_METHOD_PLAIN, 60);
}

/// The two largest values of a diagonal, which are far from the rest: few steps find them.
fn way(f: &Fixture, set: fn(&mut purlin_lanczos_options)) -> Call {
    let (context, values, residuals) = (f.context, f.vector(2), f.vector(2));
    Box::new(move || {
        let (mut made, mut o) = (Made::none(), options());
        (o.basis, o.tolerance) = (30, 1e-6);
        set(&mut o);
        let [a, v, ..] = &mut made.matrices;
        let diagonal: Vec<f64> = (0..N).map(|i| if i < 2 { 9.0 - i as f64 } else { i as f64 / N as f64 }).collect();
        let (place, o, no) = (&raw mut *a, &raw const o, null());
        let status = in_turn!(
            spread(context, &diagonal, place),
            purlin_matrix_create(context, PURLIN_F64, PURLIN_HOST, 0, N, 2, &raw mut *v),
            purlin_lanczos_solve_once(context, null(), *a, null(), no, no, o, values, *v, residuals, null_mut()),
        );
        made.end(status)
    })
}

/// Makes the sparse diagonal matrix of order N.
fn spread(context: *mut purlin_context, diagonal: &[f64], place: *mut *mut purlin_matrix) -> purlin_status {
    let index: Vec<i64> = (0..N).collect();
    let (i, v, sum) = (index.as_ptr().cast(), diagonal.as_ptr().cast(), PURLIN_DUPLICATES_SUM);
    c!(purlin_matrix_from_coordinates(context, PURLIN_F64, 0, N, N, N, PURLIN_I64, i, i, v, sum, place))
}

const SIGMA: f64 = 30.3;

/// (A - sigma I)^-1 of the diagonal 0, 1, ...
unsafe extern "C" fn invert(
    _: i32,
    count: i64,
    x: *const std::ffi::c_void,
    ldx: i64,
    y: *mut std::ffi::c_void,
    ldy: i64,
    _cuda_stream: u64,
    _: *mut std::ffi::c_void,
) -> i32 {
    for k in 0..count {
        for i in 0..N {
            // SAFETY: purlin passes columns of N numbers.
            unsafe {
                let value = *x.cast::<f64>().add((ldx * k + i) as usize);
                y.cast::<f64>().add((ldy * k + i) as usize).write(value / (i as f64 - SIGMA));
            }
        }
    }
    0
}

fn nearest(f: &Fixture) -> Call {
    let (context, values) = (f.context, f.vector(2));
    Box::new(move || {
        let (mut made, mut o) = (Made::none(), options());
        (o.which, o.sigma, o.basis) = (PURLIN_LANCZOS_NEAREST, SIGMA, 30);
        let [a, inverse, ..] = &mut made.matrices;
        let diagonal: Vec<f64> = (0..N).map(|i| i as f64).collect();
        let (place, with, nobody) = (&raw mut *a, &raw mut *inverse, null_mut());
        let (o, no) = (&raw const o, null());
        let (v, r, info) = (null_mut(), null_mut(), null_mut());
        let status = in_turn!(
            spread(context, &diagonal, place),
            purlin_matrix_from_operator(context, PURLIN_F64, N, N, Some(invert), nobody, PURLIN_HOST, with),
            purlin_lanczos_solve_once(context, null(), *a, null(), no, *inverse, o, values, v, r, info),
        );
        made.end(status)
    })
}

/// A normalized Laplacian, and products with A^H A in blocks, neither formed.
fn operate(f: &Fixture) -> Call {
    let (context, x, y) = (f.context, f.vector(N), f.vector(N));
    Box::new(move || {
        let (mut made, mut gram) = (Made::none(), null_mut());
        let mut o = initialized!(purlin_spmv_options, purlin_spmv_options_init);
        let mut g = initialized!(purlin_spmv_options, purlin_spmv_options_init);
        (o.kind, o.shift, o.ordering) = (PURLIN_LANCZOS_NORMALIZED_LAPLACIAN, 0.5, PURLIN_ORDERING_DEGREE);
        g.kind = PURLIN_LANCZOS_GRAM;
        let a = &mut made.matrices[0];
        let status = in_turn!(
            graph(context, &raw mut *a),
            purlin_spmv_create(*a, &raw const o, &raw mut made.plan),
            purlin_spmv_apply(made.plan, null(), null(), *a, x, null(), y),
            purlin_spmv_update(made.plan, *a),
            purlin_spmv_create(*a, &raw const g, &raw mut gram),
            purlin_spmv_apply(gram, null(), null(), *a, x, null(), y),
        );
        let text = message();
        assert_eq!(purlin_spmv_destroy(gram), purlin_status::PURLIN_SUCCESS);
        made.end_with(status, &text)
    })
}

/// Filters of a graph, and of an image's graph that is not formed.
fn filter(f: &Fixture) -> Call {
    let (context, x, y) = (f.context, f.vector(N), f.vector(N));
    Box::new(move || {
        let (mut made, mut of_image) = (Made::none(), null_mut());
        let mut o = initialized!(purlin_spmv_options, purlin_spmv_options_init);
        (o.kind, o.degree, o.lower, o.upper) = (PURLIN_LANCZOS_NORMALIZED_LAPLACIAN, 3, 0.5, 2.0);
        let [a, image, unformed, ..] = &mut made.matrices;
        let status = in_turn!(
            graph(context, &raw mut *a),
            purlin_spmv_create(*a, &raw const o, &raw mut made.plan),
            purlin_spmv_apply(made.plan, null(), null(), *a, x, null(), y),
            purlin_matrix_create(context, PURLIN_F64, PURLIN_HOST, 0, N / 10, 10, &raw mut *image),
            purlin_graph_operator_of_image(context, *image, 1.5, 0.1, 4.0, 1e-6, &raw mut *unformed),
            purlin_spmv_create(*unformed, &raw const o, &raw mut of_image),
            purlin_spmv_apply(of_image, null(), null(), *unformed, x, null(), y),
        );
        let text = message();
        assert_eq!(purlin_spmv_destroy(of_image), purlin_status::PURLIN_SUCCESS);
        made.end_with(status, &text)
    })
}

/// A copy on the device, products with it, and its copy on the host.
fn there_and_back(f: &Fixture) -> Call {
    let (context, x, y) = (f.context, f.vector(N), f.vector(N));
    Box::new(move || {
        let mut made = Made::none();
        let [a, there, back, ..] = &mut made.matrices;
        let status = in_turn!(
            graph(context, &raw mut *a),
            purlin_matrix_copy_to(*a, PURLIN_DEVICE, &raw mut *there),
            purlin_spmv_create(*there, null(), &raw mut made.plan),
            purlin_spmv_apply(made.plan, null(), null(), *there, x, null(), y),
            purlin_matrix_copy_to(*there, PURLIN_HOST, &raw mut *back),
        );
        made.end(status)
    })
}

fn solve(f: &Fixture) -> Call {
    let (context, values, residuals) = (f.context, f.vector(2), f.vector(2));
    Box::new(move || {
        let (mut made, mut o) = (Made::none(), options());
        (o.kind, o.which, o.basis) = (PURLIN_LANCZOS_LAPLACIAN, PURLIN_LANCZOS_SMALLEST, 40);
        o.verify = PURLIN_LANCZOS_VERIFY_ON;
        let [a, v, ..] = &mut made.matrices;
        let (none, no_matrix) = (null(), null());
        let status = in_turn!(
            graph(context, &raw mut *a),
            purlin_matrix_create(context, PURLIN_F64, PURLIN_HOST, 0, N, 2, &raw mut *v),
            purlin_lanczos_solve_once(
                context,
                null(),
                *a,
                none,
                no_matrix,
                no_matrix,
                &raw const o,
                values,
                *v,
                residuals,
                null_mut()
            ),
        );
        made.end(status)
    })
}

/// A product and a solve in another order of rows and columns.
fn ordered(f: &Fixture) -> Call {
    let (context, values, x, y) = (f.context, f.vector(2), f.vector(N), f.vector(N));
    Box::new(move || {
        let (mut made, mut o) = (Made::none(), options());
        let mut p = initialized!(purlin_spmv_options, purlin_spmv_options_init);
        (o.basis, o.ordering, p.ordering) = (40, PURLIN_ORDERING_DEGREE, PURLIN_ORDERING_CUTHILL_MCKEE);
        let a = &mut made.matrices[0];
        let (start, no) = (null(), null());
        let (v, r, info) = (null_mut(), null_mut(), null_mut());
        let status = in_turn!(
            graph(context, &raw mut *a),
            purlin_spmv_create(*a, &raw const p, &raw mut made.plan),
            purlin_spmv_apply(made.plan, null(), null(), *a, x, null(), y),
            purlin_lanczos_solve_once(context, null(), *a, start, no, no, &raw const o, values, v, r, info),
        );
        made.end(status)
    })
}

/// A group that is destroyed with the call that owns it.
struct Group(*mut purlin_group);

impl Group {
    /// The fixture's context and another one on its device.
    fn of(f: &Fixture) -> Self {
        let mut info = initialized!(purlin_context_info, purlin_context_info_init);
        good!(purlin_context_properties(f.context, &raw mut info));
        let mut options = initialized!(purlin_context_options, purlin_context_options_init);
        (options.backend, options.threads) = (info.backend, 1);
        let (mut another, mut made) = (null_mut(), null_mut());
        good!(purlin_context_create(&raw const options, &raw mut another));
        let members = [f.context.cast_const(), another.cast_const()];
        good!(purlin_group_create(2, members.as_ptr(), null(), &raw mut made));
        // The group keeps its member alive.
        good!(purlin_context_destroy(another));
        Self(made)
    }

    /// A method of the whole value, so that a closure captures all of it.
    fn handle(&self) -> *const purlin_group {
        self.0
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        assert_eq!(purlin_group_destroy(self.0), purlin_status::PURLIN_SUCCESS, "{}", message());
    }
}

/// Rows that two contexts share.
fn share(f: &Fixture) -> Call {
    let (context, values, both) = (f.context, f.vector(2), Group::of(f));
    Box::new(move || {
        let (mut made, mut o) = (Made::none(), options());
        (o.kind, o.basis) = (PURLIN_LANCZOS_MODULARITY, 40);
        // Few steps: each of thousands of exchanges is failed, which takes hours on a GPU otherwise.
        (o.tolerance, o.verify) = (1e-2, PURLIN_LANCZOS_VERIFY_OFF);
        o.group = both.handle();
        let a = &mut made.matrices[0];
        let (o, start, no) = (&raw const o, null(), null());
        let (v, r, info) = (null_mut(), null_mut(), null_mut());
        let status = in_turn!(
            graph(context, &raw mut *a),
            purlin_lanczos_solve_once(context, null(), *a, start, no, no, o, values, v, r, info),
        );
        made.end(status)
    })
}

/// A ring in device memory, with its eigenpairs.
fn resident(f: &Fixture) -> Call {
    let (context, values) = (f.context, f.vector(2));
    let (_, row_ptr) = f.on_device(PURLIN_I32, N + 1, |i| 2.0 * i as f64);
    let neighbour = |k: usize| (k / 2 + [1, N as usize - 1][k % 2]) % N as usize;
    let (_, col_idx) = f.on_device(PURLIN_I32, 2 * N, |k| neighbour(k) as f64);
    let (_, ones) = f.on_device(PURLIN_F64, 2 * N, |_| 1.0);
    Box::new(move || {
        let (mut made, mut o) = (Made::none(), options());
        (o.basis, o.tolerance) = (30, 1e-6);
        let [a, v, ..] = &mut made.matrices;
        let (i32, none, no_matrix) = (PURLIN_I32, null(), null());
        let status = in_turn!(
            purlin_matrix_borrow_csr_device(
                context,
                PURLIN_F64,
                0,
                N,
                N,
                2 * N,
                i32,
                row_ptr,
                i32,
                col_idx,
                ones,
                &raw mut *a
            ),
            purlin_matrix_create(context, PURLIN_F64, PURLIN_DEVICE, 0, N, 2, &raw mut *v),
            purlin_lanczos_solve_once(
                context,
                null(),
                *a,
                none,
                no_matrix,
                no_matrix,
                &raw const o,
                values,
                *v,
                null_mut(),
                null_mut()
            ),
        );
        made.end(status)
    })
}

fn singular(f: &Fixture, set: fn(&mut purlin_lanczos_options)) -> Call {
    let (context, values, residuals) = (f.context, f.vector(2), f.vector(2));
    Box::new(move || {
        let (mut made, mut o) = (Made::none(), options());
        o.basis = 40;
        set(&mut o);
        let [a, u, v, ..] = &mut made.matrices;
        let status = in_turn!(
            graph(context, &raw mut *a),
            purlin_matrix_create(context, PURLIN_F64, PURLIN_HOST, 0, N, 2, &raw mut *u),
            purlin_matrix_create(context, PURLIN_F64, PURLIN_HOST, 0, N, 2, &raw mut *v),
            purlin_lanczos_singular_once(
                context,
                null(),
                *a,
                null(),
                &raw const o,
                *u,
                values,
                *v,
                residuals,
                null_mut()
            ),
        );
        made.end(status)
    })
}

/// A solver that has a plan, eigenpairs, singular triplets and a report.
fn object(f: &Fixture) -> Call {
    let (context, values) = (f.context, f.vector(2));
    Box::new(move || {
        let (mut made, mut o) = (Made::none(), options());
        let mut info = initialized!(purlin_lanczos_info, purlin_lanczos_info_init);
        o.basis = 40;
        let info = &raw mut info;
        let (start, no, none, left) = (null(), null(), null_mut(), null_mut());
        let Made { matrices: [a, ..], lanczos, .. } = &mut made;
        let status = in_turn!(
            graph(context, &raw mut *a),
            purlin_lanczos_create(context, &raw const o, &raw mut *lanczos),
            purlin_lanczos_plan(*lanczos, *a, no, no, info),
            purlin_lanczos_solve(*lanczos, null(), *a, start, no, no, values, none, left, info),
            purlin_lanczos_plan_singular(*lanczos, *a, info),
            purlin_lanczos_singular(*lanczos, null(), *a, start, none, values, none, left, info),
            purlin_lanczos_last_info(*lanczos, info),
        );
        made.end(status)
    })
}

fn recurrence(f: &Fixture) -> Call {
    let context = f.context;
    Box::new(move || {
        let (mut made, mut alpha, mut beta, mut count) = (Made::none(), [0.0; 30], [0.0; 30], 0);
        let mut shares = [0.0; 10];
        let mut accepted = [purlin_lanczos_accepted { value: 0.0, residual: 0.0, copies: 0 }; 30];
        let (d, e, place) = (alpha.as_mut_ptr(), beta.as_mut_ptr(), &raw mut count);
        let Made { matrices: [a, ..], lanczos, .. } = &mut made;
        let status = in_turn!(
            graph(context, &raw mut *a),
            purlin_lanczos_create(context, null(), &raw mut *lanczos),
            purlin_lanczos_tridiagonalize(*lanczos, null(), *a, 30, null(), d, e, place),
            purlin_lanczos_cullum_willoughby(30, d, e, 1e-12, 1e-6, accepted.as_mut_ptr(), place),
            purlin_graph_density_histogram(30, d, e, -4.0, 4.0, 10, shares.as_mut_ptr()),
        );
        made.end(status)
    })
}

fn embedding(f: &Fixture) -> Call {
    let (context, labels) = (f.context, f.on_host(PURLIN_I64, &[N], |_| 0.0));
    Box::new(move || {
        let (mut made, o) = (Made::none(), options());
        let Made { matrices: [a, points, ..], lanczos, .. } = &mut made;
        let (none, scaling) = (null_mut(), PURLIN_GRAPH_SCALING_UNIT_ROWS);
        let status = in_turn!(
            graph(context, &raw mut *a),
            purlin_matrix_create(context, PURLIN_F64, PURLIN_HOST, 0, N, 2, &raw mut *points),
            purlin_lanczos_create(context, &raw const o, &raw mut *lanczos),
            purlin_graph_embed(*lanczos, null(), *a, scaling, *points, null_mut(), none),
            purlin_graph_k_means(*points, 2, 2, 1, labels, null_mut()),
            purlin_graph_pivoted_qr(*points, labels, null_mut()),
        );
        made.end(status)
    })
}

fn cluster(f: &Fixture) -> Call {
    let (context, labels, vector) = (f.context, f.on_host(PURLIN_I64, &[N], |_| 0.0), f.vector(N));
    Box::new(move || {
        let (mut made, o) = (Made::none(), options());
        let one = purlin_lanczos_options { count: 1, ..o };
        let Made { matrices: [a, ..], lanczos, .. } = &mut made;
        let (how, none) = (PURLIN_GRAPH_LABELS_K_MEANS, null_mut());
        let status = in_turn!(
            graph(context, &raw mut *a),
            purlin_lanczos_create(context, &raw const o, &raw mut *lanczos),
            purlin_graph_cluster(*lanczos, null(), *a, how, 2, labels, null_mut(), none),
            purlin_lanczos_destroy(std::mem::replace(lanczos, null_mut())),
            purlin_lanczos_create(context, &raw const one, &raw mut *lanczos),
            purlin_graph_fiedler(*lanczos, null(), *a, 0, null_mut(), vector, none),
            purlin_graph_bisect(*a, vector, PURLIN_GRAPH_CUT_SWEEP, labels, null_mut(), null_mut()),
        );
        made.end(status)
    })
}

fn density(f: &Fixture) -> Call {
    let (context, points, weights) = (f.context, f.vector(20), f.vector(20));
    Box::new(move || {
        let (mut made, mut count) = (Made::none(), 0);
        let Made { matrices: [a, image, of, unformed], lanczos, .. } = &mut made;
        let status = in_turn!(
            graph(context, &raw mut *a),
            purlin_lanczos_create(context, null(), &raw mut *lanczos),
            purlin_graph_density(*lanczos, null(), *a, 10, 2, points, weights, &raw mut count),
            purlin_matrix_create(context, PURLIN_F64, PURLIN_HOST, 0, 6, 5, &raw mut *image),
            purlin_graph_of_image(context, *image, 1.5, 0.1, 4.0, 1e-6, &raw mut *of),
            purlin_graph_operator_of_image(context, *image, 1.5, 0.1, 4.0, 1e-6, &raw mut *unformed),
            purlin_graph_density(*lanczos, null(), *unformed, 10, 2, points, weights, &raw mut count),
        );
        made.end(status)
    })
}
