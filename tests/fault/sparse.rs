//! Sparse matrices: made, taken apart, read and written.

use std::ptr::null;

use purlin::ffi::*;

use crate::cases::{Call, Case};
use crate::fixture::{Fixture, c};
use crate::rsvd::{Folder, in_turn};
use crate::spectra::{Made, N, entries, graph};

/// Calls that are tried on the host only.
pub fn on_host() -> Vec<Case> {
    vec![
        Case { name: "purlin_matrix_from_coordinates, transpose, symmetrize", allocations: 8, prepare: make },
        Case { name: "purlin_matrix_select, component, row_sums, scale", allocations: 8, prepare: cut },
        Case { name: "purlin_matrix_from_columns, canonical, permute", allocations: 8, prepare: convert },
        Case { name: "purlin_matrix_from_dense, to_dense, set_values, drop_zeros", allocations: 4, prepare: fill },
        Case { name: "Matrix Market and edges", allocations: 8, prepare: |f| files(f, "graph") },
    ]
}

/// Calls that read and write files.
pub fn on_files() -> Vec<Case> {
    vec![
        Case { name: "Matrix Market and edges", allocations: 0, prepare: |f| files(f, "graph") },
        Case { name: "Matrix Market and edges, packed", allocations: 0, prepare: |f| files(f, "graph.gz") },
    ]
}

fn make(f: &Fixture) -> Call {
    let context = f.context;
    Box::new(move || {
        let mut made = Made::none();
        let [a, t, s, p] = &mut made.matrices;
        let status = in_turn!(
            graph(context, &raw mut *a),
            purlin_matrix_transpose(*a, 0, &raw mut *t),
            purlin_matrix_symmetrize(*t, PURLIN_SYMMETRIZE_AVERAGE, &raw mut *s),
            purlin_matrix_pattern(*s, &raw mut *p),
        );
        made.end(status)
    })
}

fn cut(f: &Fixture) -> Call {
    let (context, sums) = (f.context, f.vector(N));
    Box::new(move || {
        let (mut made, rows, mut norm) = (Made::none(), [5i64, 3, 4], 0.0);
        let [a, part, component, scaled] = &mut made.matrices;
        let status = in_turn!(
            graph(context, &raw mut *a),
            purlin_matrix_select(*a, 3, rows.as_ptr(), 0, null(), &raw mut *part),
            purlin_graph_component(*a, -1, &raw mut *component, &raw mut made.names),
            purlin_matrix_row_sums(*a, sums),
            purlin_matrix_scale(*a, sums, null(), &raw mut *scaled),
            purlin_matrix_norm(*a, PURLIN_NORM_ONE, &raw mut norm),
        );
        made.end(status)
    })
}

/// Columns with a duplicate entry; rows without one, in another order.
fn convert(f: &Fixture) -> Call {
    let (context, order) = (f.context, f.on_host(PURLIN_I64, &[N], |_| 0.0));
    let count = 3 * N;
    let starts: Vec<i64> = (0..=N).map(|j| 3 * j).collect();
    let rows: Vec<i32> = (0..count).map(|k| ((k / 3 + [1, 1, 7][(k % 3) as usize]) % N) as i32).collect();
    let values = vec![0.5f64; rows.len()];
    let backwards: Vec<i64> = (0..N).rev().collect();
    Box::new(move || {
        let (mut made, mut symmetric) = (Made::none(), 0);
        let [a, distinct, turned, dense] = &mut made.matrices;
        let (p, r, v) = (starts.as_ptr().cast(), rows.as_ptr().cast(), values.as_ptr().cast());
        let place = &raw mut *a;
        let status = in_turn!(
            purlin_matrix_from_columns(context, PURLIN_F64, 0, N, N, count, PURLIN_I64, p, PURLIN_I32, r, v, place),
            purlin_matrix_canonical(*a, PURLIN_DUPLICATES_SUM, &raw mut *distinct),
            purlin_matrix_check(*distinct, PURLIN_CHECK_DISTINCT),
            purlin_matrix_permute(*distinct, backwards.as_ptr(), backwards.as_ptr(), &raw mut *turned),
            purlin_matrix_is_symmetric(*a, 0.0, &raw mut symmetric),
            purlin_matrix_symmetrize(*turned, PURLIN_SYMMETRIZE_UNION, &raw mut *dense),
            purlin_matrix_order(*dense, PURLIN_ORDERING_CUTHILL_MCKEE, order),
            purlin_matrix_order(*dense, PURLIN_ORDERING_DEGREE, order),
        );
        made.end(status)
    })
}

fn fill(f: &Fixture) -> Call {
    let (context, nnz) = (f.context, entries().0.len() as i64);
    let values = f.on_host(PURLIN_F64, &[nnz], |k| k as f64);
    Box::new(move || {
        let mut made = Made::none();
        let [a, dense, again, clean] = &mut made.matrices;
        let status = in_turn!(
            graph(context, &raw mut *a),
            purlin_matrix_set_values(*a, values),
            purlin_matrix_create(context, PURLIN_F64, PURLIN_HOST, 0, N, N, &raw mut *dense),
            purlin_matrix_to_dense(*a, *dense),
            purlin_matrix_from_dense(*dense, 0.5, &raw mut *again),
            purlin_matrix_drop_zeros(*again, 3.0, &raw mut *clean),
        );
        made.end(status)
    })
}

/// A graph written and read in both forms. A failure must leave no other file, and each of these complete.
fn files(f: &Fixture, name: &'static str) -> Call {
    let (context, folder) = (f.context, Folder::new(name));
    let (market, edges) = (folder.path(&format!("market-{name}")), folder.path(&format!("edges-{name}")));
    Box::new(move || {
        let mut made = Made::none();
        let [a, of_market, of_edges, ..] = &mut made.matrices;
        let names = &raw mut made.names;
        let (m, e, sum) = (market.as_ptr(), edges.as_ptr(), PURLIN_DUPLICATES_SUM);
        let status = in_turn!(
            graph(context, &raw mut *a),
            purlin_matrix_write_market(*a, m, 1),
            purlin_matrix_read_market(context, m, PURLIN_F64, &raw mut *of_market),
            purlin_matrix_write_edges(*a, e, 1),
            purlin_matrix_read_edges(context, e, PURLIN_F64, 1, sum, &raw mut *of_edges, names),
        );
        for left in std::fs::read_dir(folder.whole()).expect("the folder") {
            let file = left.expect("a file").file_name();
            assert!(file.to_string_lossy().ends_with(&format!("-{name}")), "{status:?} left {file:?}");
        }
        made.end(status)
    })
}
