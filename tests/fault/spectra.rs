//! Sparse matrices, their products, eigenpairs and graphs, all objects made on the way.

use std::ptr::{null, null_mut};

use purlin::ffi::*;

use crate::cases::{Call, Case};
use crate::fixture::{Fixture, c, good, initialised, message};
use crate::rsvd::in_turn;

/// Vertices of the graph: two rings that an edge joins.
const N: i64 = 80;

/// Products and eigenpairs.
pub fn on_any_backend() -> Vec<Case> {
    vec![
        Case { name: "purlin_spmv_create, apply", allocations: 3, prepare: multiply },
        Case { name: "purlin_lanczos_solve", allocations: 8, prepare: solve },
        Case { name: "purlin_lanczos_solve, contexts", allocations: 8, prepare: share },
        Case { name: "purlin_spmv_create, purlin_lanczos_solve, order", allocations: 8, prepare: ordered },
        Case { name: "purlin_lanczos_singular", allocations: 8, prepare: singular },
    ]
}

/// What there is on a GPU alone.
pub fn on_gpu() -> Vec<Case> {
    vec![Case { name: "purlin_matrix_borrow_csr_device, lanczos", allocations: 3, prepare: resident }]
}

/// What is tried on the host alone.
pub fn on_host() -> Vec<Case> {
    vec![
        Case { name: "purlin_matrix_from_coordinates, transpose, symmetrise", allocations: 8, prepare: make },
        Case { name: "purlin_matrix_select, component, row_sums", allocations: 8, prepare: cut },
        Case { name: "purlin_lanczos_tridiagonalise, filter", allocations: 4, prepare: recurrence },
        Case { name: "purlin_graph_cluster, fiedler, bisect", allocations: 8, prepare: cluster },
        Case { name: "purlin_graph_density, of_image", allocations: 6, prepare: density },
    ]
}

/// Row, column and value of each entry of the graph.
fn entries() -> (Vec<i64>, Vec<i64>, Vec<f64>) {
    let (mut row, mut col) = (vec![3, 50], vec![50, 3]);
    for i in 0..N {
        let next = if i < 40 { (i + 1) % 40 } else { 40 + (i + 1) % 40 };
        row.extend([i, next]);
        col.extend([next, i]);
    }
    let values = vec![1.0; row.len()];
    (row, col, values)
}

/// Handles of a call, destroyed at its end whatever came of it.
struct Made {
    matrices: [*mut purlin_matrix; 4],
    names: *mut purlin_tensor,
    plan: *mut purlin_spmv,
}

impl Made {
    fn none() -> Self {
        Self { matrices: [null_mut(); 4], names: null_mut(), plan: null_mut() }
    }

    /// Destroys all, NULL for what was not made.
    fn end(self, status: purlin_status) -> purlin_status {
        // The message of a failure goes with the next call that succeeds: the status is what is passed on.
        let text = message();
        let good = purlin_status::PURLIN_SUCCESS;
        assert_eq!(purlin_spmv_destroy(self.plan), good, "{}", message());
        assert_eq!(purlin_tensor_destroy(self.names), good, "{}", message());
        for matrix in self.matrices {
            assert_eq!(purlin_matrix_destroy(matrix), good, "{}", message());
        }
        assert_eq!(text.is_empty(), status == good, "{status:?}: {text}");
        status
    }
}

fn graph(context: *mut purlin_context, place: *mut *mut purlin_matrix) -> purlin_status {
    let (row, col, values) = entries();
    let (n, sum) = (row.len() as i64, PURLIN_DUPLICATES_SUM);
    let (r, k, v) = (row.as_ptr().cast(), col.as_ptr().cast(), values.as_ptr().cast());
    c!(purlin_matrix_from_coordinates(context, PURLIN_F64, 0, N, N, n, PURLIN_I64, r, k, v, sum, place))
}

fn options() -> purlin_lanczos_options {
    let mut o = initialised!(purlin_lanczos_options, purlin_lanczos_options_init);
    o.count = 2;
    o
}

fn make(f: &Fixture) -> Call {
    let context = f.context;
    Box::new(move || {
        let mut made = Made::none();
        let [a, t, s, p] = &mut made.matrices;
        let status = in_turn!(
            graph(context, &raw mut *a),
            purlin_matrix_transpose(*a, 0, &raw mut *t),
            purlin_matrix_symmetrise(*t, PURLIN_SYMMETRISE_AVERAGE, &raw mut *s),
            purlin_matrix_pattern(*s, &raw mut *p),
        );
        made.end(status)
    })
}

fn cut(f: &Fixture) -> Call {
    let (context, sums) = (f.context, f.vector(N));
    Box::new(move || {
        let (mut made, rows, mut norm) = (Made::none(), [5i64, 3, 4], 0.0);
        let [a, part, component, ..] = &mut made.matrices;
        let status = in_turn!(
            graph(context, &raw mut *a),
            purlin_matrix_select(*a, 3, rows.as_ptr(), 0, null(), &raw mut *part),
            purlin_graph_component(*a, -1, &raw mut *component, &raw mut made.names),
            purlin_matrix_row_sums(*a, sums),
            purlin_matrix_norm(*a, PURLIN_NORM_ONE, &raw mut norm),
        );
        made.end(status)
    })
}

fn multiply(f: &Fixture) -> Call {
    let (context, x, y) = (f.context, f.vector(N), f.vector(N));
    Box::new(move || {
        let mut made = Made::none();
        let mut o = initialised!(purlin_spmv_options, purlin_spmv_options_init);
        (o.algorithm, o.op) = (PURLIN_SPMV_ALGORITHM_MERGE, PURLIN_SPMV_TRANSPOSE);
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
            purlin_lanczos_solve(
                *a,
                null(),
                &raw const o,
                none,
                no_matrix,
                no_matrix,
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
        let mut p = initialised!(purlin_spmv_options, purlin_spmv_options_init);
        (o.basis, o.order, p.order) = (40, PURLIN_ORDER_DEGREE, PURLIN_ORDER_CUTHILL_MCKEE);
        let a = &mut made.matrices[0];
        let (start, no) = (null(), null());
        let (v, r, info) = (null_mut(), null_mut(), null_mut());
        let status = in_turn!(
            graph(context, &raw mut *a),
            purlin_spmv_create(*a, &raw const p, &raw mut made.plan),
            purlin_spmv_apply(made.plan, null(), null(), *a, x, null(), y),
            purlin_lanczos_solve(*a, null(), &raw const o, start, no, no, values, v, r, info),
        );
        made.end(status)
    })
}

/// A context that goes with the call that has it.
struct Another(*mut purlin_context);

impl Another {
    /// On the device of a fixture's.
    fn like(f: &Fixture) -> Self {
        let mut info = initialised!(purlin_context_info, purlin_context_info_init);
        good!(purlin_context_properties(f.context, &raw mut info));
        let mut options = initialised!(purlin_context_options, purlin_context_options_init);
        (options.backend, options.threads) = (info.backend, 1);
        let mut made = null_mut();
        good!(purlin_context_create(&raw const options, &raw mut made));
        Self(made)
    }

    /// Asked of the whole, so that a closure keeps all of it.
    fn handle(&self) -> *const purlin_context {
        self.0
    }
}

impl Drop for Another {
    fn drop(&mut self) {
        assert_eq!(purlin_context_destroy(self.0), purlin_status::PURLIN_SUCCESS);
    }
}

/// Rows that two contexts share.
fn share(f: &Fixture) -> Call {
    let (context, values, another) = (f.context, f.vector(2), Another::like(f));
    Box::new(move || {
        let (mut made, mut o) = (Made::none(), options());
        let further = [another.handle()];
        (o.kind, o.basis) = (PURLIN_LANCZOS_MODULARITY, 40);
        (o.contexts, o.contexts_count) = (further.as_ptr(), 1);
        let a = &mut made.matrices[0];
        let (o, start, no) = (&raw const o, null(), null());
        let (v, r, info) = (null_mut(), null_mut(), null_mut());
        let status = in_turn!(
            graph(context, &raw mut *a),
            purlin_lanczos_solve(*a, null(), o, start, no, no, values, v, r, info),
        );
        made.end(status)
    })
}

/// A ring in device memory, its eigenpairs there too.
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
            purlin_lanczos_solve(
                *a,
                null(),
                &raw const o,
                none,
                no_matrix,
                no_matrix,
                values,
                *v,
                null_mut(),
                null_mut()
            ),
        );
        made.end(status)
    })
}

fn singular(f: &Fixture) -> Call {
    let (context, values, residuals) = (f.context, f.vector(2), f.vector(2));
    Box::new(move || {
        let (mut made, mut o) = (Made::none(), options());
        (o.kind, o.basis) = (PURLIN_LANCZOS_GRAM, 40);
        let [a, u, v, ..] = &mut made.matrices;
        let status = in_turn!(
            graph(context, &raw mut *a),
            purlin_matrix_create(context, PURLIN_F64, PURLIN_HOST, 0, N, 2, &raw mut *u),
            purlin_matrix_create(context, PURLIN_F64, PURLIN_HOST, 0, N, 2, &raw mut *v),
            purlin_lanczos_singular(*a, null(), &raw const o, *u, values, *v, residuals, null_mut()),
        );
        made.end(status)
    })
}

fn recurrence(f: &Fixture) -> Call {
    let context = f.context;
    Box::new(move || {
        let (mut made, mut alpha, mut beta, mut count) = (Made::none(), [0.0; 30], [0.0; 30], 0);
        let mut accepted = [purlin_lanczos_accepted { value: 0.0, residual: 0.0, copies: 0 }; 30];
        let (d, e, place) = (alpha.as_mut_ptr(), beta.as_mut_ptr(), &raw mut count);
        let a = &mut made.matrices[0];
        let status = in_turn!(
            graph(context, &raw mut *a),
            purlin_lanczos_tridiagonalise(*a, null(), null(), 30, null(), d, e, place),
            purlin_lanczos_filter(30, d, e, 1e-12, 1e-6, accepted.as_mut_ptr(), place),
        );
        made.end(status)
    })
}

fn cluster(f: &Fixture) -> Call {
    let (context, labels, vector) = (f.context, f.dense(PURLIN_I64, &[N], |_| 0.0), f.vector(N));
    Box::new(move || {
        let (mut made, o) = (Made::none(), options());
        let a = &mut made.matrices[0];
        let (how, none) = (PURLIN_GRAPH_LABELS_K_MEANS, null_mut());
        let status = in_turn!(
            graph(context, &raw mut *a),
            purlin_graph_cluster(*a, null(), &raw const o, how, 2, labels, null_mut(), none),
            purlin_graph_fiedler(*a, null(), 0, &raw const o, null_mut(), vector, none),
            purlin_graph_bisect(*a, vector, PURLIN_GRAPH_CUT_SWEEP, labels, null_mut(), null_mut()),
        );
        made.end(status)
    })
}

fn density(f: &Fixture) -> Call {
    let (context, points, weights) = (f.context, f.vector(20), f.vector(20));
    Box::new(move || {
        let (mut made, mut count) = (Made::none(), 0);
        let [a, image, of, unformed] = &mut made.matrices;
        let status = in_turn!(
            graph(context, &raw mut *a),
            purlin_graph_density(*a, null(), null(), 10, 2, points, weights, &raw mut count),
            purlin_matrix_create(context, PURLIN_F64, PURLIN_HOST, 0, 6, 5, &raw mut *image),
            purlin_graph_of_image(context, *image, 1.5, 0.1, 4.0, 1e-6, &raw mut *of),
            purlin_graph_operator_of_image(context, *image, 1.5, 0.1, 4.0, 1e-6, &raw mut *unformed),
            purlin_graph_density(*unformed, null(), null(), 10, 2, points, weights, &raw mut count),
        );
        made.end(status)
    })
}
