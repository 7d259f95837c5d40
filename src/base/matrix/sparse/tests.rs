use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::*;
use crate::backend::BackendChoice;
use crate::backend::memory::{HostMemory, Memory};
use crate::context::{Context, Options};
use crate::matrix::{Csr, CsrParts, IndexType, Matrix, Storage};
use crate::scalar::{Complex, DType, Element};
use crate::shape::Order;
use crate::tensor::Location;

pub(super) fn context(threads: usize) -> Arc<Context> {
    Context::new(Options { backend: BackendChoice::Cpu, threads, ..Options::default() }).unwrap()
}

fn noise(k: usize) -> usize {
    (k.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407) >> 33) ^ (k * 7919)
}

pub(super) fn memory<T: Element>(c: &Context, values: &[T]) -> HostMemory {
    let mut m = HostMemory::allocate("test", size_of_val(values), c.host_budget()).unwrap();
    m.as_mut_slice::<T>().unwrap().copy_from_slice(values);
    m
}

fn coordinates(
    c: &Arc<Context>,
    (rows, cols): (usize, usize),
    entries: &[(usize, usize, f64)],
    duplicates: Duplicates,
) -> crate::error::Result<Matrix> {
    let row_idx: Vec<i32> = entries.iter().map(|e| e.0 as i32 + 1).collect();
    let col_idx: Vec<i64> = entries.iter().map(|e| e.1 as i64 + 1).collect();
    let values: Vec<f64> = entries.iter().map(|e| e.2).collect();
    let values = memory(c, &values);
    let from = Coordinates {
        rows,
        cols,
        row_idx: Indices::I32(&row_idx),
        col_idx: Indices::I64(&col_idx),
        base: 1,
        dtype: DType::F64,
        values: Some(&values),
    };
    from_coordinates(c, &from, duplicates)
}

/// The arrays of a result, whose rows must be sorted.
pub(super) fn arrays<T: Element>(m: &Matrix) -> (Vec<usize>, Vec<usize>, Option<Vec<T>>) {
    let Storage::Csr(csr) = m.storage() else { panic!("{}", m.storage().name()) };
    let rows = Rows::new(csr).unwrap();
    let ends = (0..m.rows()).map(|i| rows.row(i).end).collect();
    for i in 0..m.rows() {
        let cols: Vec<usize> = rows.row(i).map(|k| rows.col(k)).collect();
        assert!(cols.windows(2).all(|p| p[0] < p[1]), "row {i}: {cols:?}");
    }
    let values = csr.parts().values.as_ref().map(|v| v.host("m").unwrap().as_slice::<T>().unwrap().to_vec());
    (ends, (0..csr.nnz()).map(|k| rows.col(k)).collect(), values)
}

pub(super) fn dense(c: &Arc<Context>, a: &Matrix) -> Vec<Vec<f64>> {
    let mut out = Matrix::create(c, DType::F64, Location::Host, Order::RowMajor, a.rows(), a.cols()).unwrap();
    to_dense(a, &mut out).unwrap();
    let d = out.dense("out").unwrap();
    let data = d.memory.host("out").unwrap().as_slice::<f64>().unwrap();
    (0..a.rows()).map(|i| data[i * a.cols()..(i + 1) * a.cols()].to_vec()).collect()
}

fn random(c: &Arc<Context>, rows: usize, cols: usize, count: usize, seed: usize) -> Matrix {
    let entries: Vec<_> = (0..count)
        .map(|k| {
            let r = noise(k + 1000 * seed);
            (r % rows, (r / rows) % cols, 1.0 + (k % 17) as f64)
        })
        .collect();
    coordinates(c, (rows, cols), &entries, Duplicates::Sum).unwrap()
}

#[test]
fn entries_that_are_not_as_asked_for_are_named() {
    let c = context(1);
    let made = |cols: &[i32], values: &[f64]| {
        let parts = CsrParts {
            row_ptr: memory(&c, &[0i32, 0, 2, 3]),
            row_ptr_type: IndexType::I32,
            col_idx: memory(&c, cols),
            col_idx_type: IndexType::I32,
            values: Some(Memory::Host(memory(&c, values))),
        };
        Matrix::from_csr(&c, DType::F64, Csr::new(parts, 3, 4, 3, 0).unwrap(), true)
    };
    let full = Checks { sorted: true, distinct: true, finite: true };
    let run = |cols: &[i32], values: &[f64], checks| check(&made(cols, values), checks).map_err(|e| e.to_string());
    assert_eq!(run(&[1, 3, 1], &[1.0, 2.0, 3.0], full), Ok(()));
    let text = "a: in row 1, column 1 (from 0), entry 1: follows column 3, ascending columns are needed";
    assert_eq!(run(&[3, 1, 1], &[1.0, 2.0, 3.0], full), Err(text.into()));
    assert_eq!(run(&[3, 1, 1], &[1.0, 2.0, 3.0], Checks { sorted: false, ..full }), Ok(()));
    let text = "a: in row 1, column 2 (from 0), entry 1: is at the place of the entry before it";
    assert_eq!(run(&[2, 2, 0], &[1.0, 2.0, 3.0], full), Err(text.into()));
    let text = "a: in row 1, column 2 (from 0), entry 1: is at the place of entry 0";
    assert_eq!(run(&[2, 2, 0], &[1.0, 2.0, 3.0], Checks { sorted: false, ..full }), Err(text.into()));
    assert_eq!(run(&[2, 2, 0], &[1.0, 2.0, 3.0], Checks { distinct: false, ..full }), Ok(()));
    let text = "a: in row 2, column 0 (from 0), entry 2: is NaN, not finite";
    assert_eq!(run(&[0, 2, 0], &[1.0, 2.0, f64::NAN], full), Err(text.into()));
    assert!(run(&[0, 2, 0], &[1.0, -f64::INFINITY, 3.0], full).unwrap_err().contains("row 1, column 2"));
    assert_eq!(run(&[0, 2, 0], &[1.0, 2.0, f64::NAN], Checks { finite: false, ..full }), Ok(()));
}

#[test]
fn coordinates_become_rows_and_duplicates_what_was_asked() {
    let c = context(2);
    let entries = [(2, 1, 5.0), (0, 3, 1.0), (2, 0, 2.0), (0, 3, -4.0), (2, 1, 7.0), (0, 0, 9.0), (2, 1, 6.0)];
    let made = |d| coordinates(&c, (4, 5), &entries, d).map(|m| arrays::<f64>(&m));
    let (ends, cols) = (vec![2, 2, 4, 4], vec![0, 3, 0, 1]);
    for (how, values) in [
        (Duplicates::Sum, [9.0, -3.0, 2.0, 18.0]),
        (Duplicates::First, [9.0, 1.0, 2.0, 5.0]),
        (Duplicates::Last, [9.0, -4.0, 2.0, 6.0]),
        (Duplicates::Max, [9.0, 1.0, 2.0, 7.0]),
    ] {
        assert_eq!(made(how).unwrap(), (ends.clone(), cols.clone(), Some(values.to_vec())), "{how:?}");
    }
    let e = made(Duplicates::Refuse).unwrap_err().to_string();
    assert_eq!(e, "col_idx: elements 1 and 3 are both row 0, column 3 (from 0)");
}

#[test]
fn entries_outside_are_named() {
    let c = context(1);
    type Triples<'a> = &'a [(usize, usize, f64)];
    let wrong = |size, e: Triples| coordinates(&c, size, e, Duplicates::Sum).err().unwrap().to_string();
    assert_eq!(wrong((2, 3), &[(0, 0, 1.0), (2, 0, 1.0)]), "row_idx: element 1 is 3, outside 1 to 2");
    assert_eq!(wrong((2, 3), &[(0, 3, 1.0)]), "col_idx: element 0 is 4, outside 1 to 3");
    assert_eq!(wrong((2, 0), &[(0, 0, 1.0)]), "col_idx: element 0 is 1, but there are none in a matrix of 2 x 0");
    let (row_idx, col_idx) = ([i64::MIN], [0i64]);
    let from = Coordinates {
        rows: 1,
        cols: 1,
        row_idx: Indices::I64(&row_idx),
        col_idx: Indices::I64(&col_idx),
        base: 1,
        dtype: DType::F32,
        values: None,
    };
    assert!(from_coordinates(&c, &from, Duplicates::Sum).is_err());
}

#[test]
fn empty_matrices_stay_empty() {
    let c = context(1);
    for (rows, cols) in [(0, 0), (3, 0), (0, 3), (2, 2)] {
        let m = coordinates(&c, (rows, cols), &[], Duplicates::Sum).unwrap();
        let t = transpose(&c, &m, false).unwrap();
        assert_eq!((t.rows(), t.cols()), (cols, rows));
        assert_eq!(norm(&m, Norm::Frobenius).unwrap(), 0.0);
        if rows == cols {
            assert_eq!(components(&m).unwrap().sizes, vec![1; rows]);
            assert!(is_symmetric(&m, 0.0).unwrap());
            symmetrize(&c, &m, Symmetrize::Union).unwrap();
        }
    }
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let (one, two) = (context(1), context(2));
    let (a, b) = (random(&one, 3000, 2000, 300_000, 1), random(&two, 3000, 2000, 300_000, 1));
    assert_eq!(arrays::<f64>(&a), arrays::<f64>(&b));
}

#[test]
fn transposes_and_permutations_move_every_entry() {
    let c = context(2);
    for (rows, cols, count) in [(1, 1, 1), (7, 5, 20), (5, 31, 60), (40, 3, 500)] {
        let a = random(&c, rows, cols, count, rows);
        let d = dense(&c, &a);
        let t = dense(&c, &transpose(&c, &a, false).unwrap());
        assert!((0..rows).all(|i| (0..cols).all(|j| t[j][i] == d[i][j])));
        let order = |n: usize| -> Vec<i64> {
            let mut p: Vec<i64> = (0..n as i64).collect();
            p.sort_by_key(|&i| noise(i as usize + 77));
            p
        };
        let (p, q) = (order(rows), order(cols));
        let moved = dense(&c, &permute(&c, &a, Some(&Indices::I64(&p)), Some(&Indices::I64(&q))).unwrap());
        assert!((0..rows).all(|i| (0..cols).all(|j| moved[i][j] == d[p[i] as usize][q[j] as usize])));
        let (some, few) = (&p[..rows.div_ceil(2)], &q[..cols.div_ceil(3)]);
        let cut = dense(&c, &select(&c, &a, Some(&Indices::I64(some)), Some(&Indices::I64(few))).unwrap());
        assert_eq!((cut.len(), cut[0].len()), (some.len(), few.len()));
        assert!((0..some.len()).all(|i| (0..few.len()).all(|j| cut[i][j] == d[some[i] as usize][few[j] as usize])));
    }
    let a = random(&c, 3, 3, 5, 0);
    for (list, problem) in [
        (&[0i32, 1][..], "rows: has 2 elements, 3 are needed"),
        (&[0, 1, 3], "rows: element 2 is 3, outside 0 to 2"),
        (&[0, -1, 2], "rows: element 1 is -1, outside 0 to 2"),
        (&[2, 1, 2], "rows: elements 0 and 2 are both 2"),
    ] {
        let e = permute(&c, &a, Some(&Indices::I32(list)), None).map(|_| ()).unwrap_err();
        assert_eq!(e.to_string(), problem);
    }
}

#[test]
fn complex_transposes_are_conjugated_when_asked() {
    let c = context(1);
    let z = [Complex::new(1.0f32, 2.0), Complex::new(3.0, -4.0)];
    let parts = CsrParts {
        row_ptr: memory(&c, &[1i64, 3]),
        row_ptr_type: IndexType::I64,
        col_idx: memory(&c, &[2i32, 1]),
        col_idx_type: IndexType::I32,
        values: Some(Memory::Host(memory(&c, &z))),
    };
    let a = Matrix::from_csr(&c, DType::CF32, Csr::new(parts, 1, 2, 2, 1).unwrap(), true);
    let values = |conj| arrays::<Complex<f32>>(&transpose(&c, &a, conj).unwrap()).2.unwrap();
    assert_eq!(values(false), [z[1], z[0]]);
    assert_eq!(values(true), [z[1].conj(), z[0].conj()]);
}

#[test]
fn directed_graphs_become_symmetric_in_five_ways() {
    let c = context(1);
    let entries = [(0, 1, 2.0), (1, 0, 6.0), (1, 2, 4.0), (2, 2, 3.0)];
    let a = coordinates(&c, (3, 3), &entries, Duplicates::Refuse).unwrap();
    let made = |how| symmetrize(&c, &a, how).map(|m| dense(&c, &m));
    for (how, expected) in [
        (Symmetrize::Union, [[0.0, 6.0, 0.0], [6.0, 0.0, 4.0], [0.0, 4.0, 3.0]]),
        (Symmetrize::Sum, [[0.0, 8.0, 0.0], [8.0, 0.0, 4.0], [0.0, 4.0, 6.0]]),
        (Symmetrize::Average, [[0.0, 4.0, 0.0], [4.0, 0.0, 2.0], [0.0, 2.0, 3.0]]),
        (Symmetrize::Intersection, [[0.0, 2.0, 0.0], [2.0, 0.0, 0.0], [0.0, 0.0, 3.0]]),
    ] {
        assert_eq!(made(how).unwrap(), expected.map(|r| r.to_vec()).to_vec(), "{how:?}");
        assert!(is_symmetric(&symmetrize(&c, &a, how).unwrap(), 0.0).unwrap());
    }
    assert!(!is_symmetric(&a, 1e300).unwrap());
    assert!(made(Symmetrize::Mirror).unwrap_err().to_string().contains("mirror image"));
    let upper = coordinates(&c, (2, 2), &[(0, 0, 1.0), (0, 1, 5.0)], Duplicates::Refuse).unwrap();
    let mirrored = dense(&c, &symmetrize(&c, &upper, Symmetrize::Mirror).unwrap());
    assert_eq!(mirrored, vec![vec![1.0, 5.0], vec![5.0, 0.0]]);
    let wide = random(&c, 2, 3, 3, 0);
    assert!(symmetrize(&c, &wide, Symmetrize::Sum).is_err());
    assert!(!is_symmetric(&wide, 0.0).unwrap());
}

#[test]
fn complex_matrices_become_hermitian() {
    let c = context(1);
    let z = |re: f64, im: f64| Complex::new(re, im);
    // Diagonals with imaginary parts, two entries as large that are no conjugates, one without a partner.
    let parts = CsrParts {
        row_ptr: memory(&c, &[0i64, 3, 5, 6]),
        row_ptr_type: IndexType::I64,
        col_idx: memory(&c, &[0i32, 1, 2, 0, 1, 2]),
        col_idx_type: IndexType::I32,
        values: Some(Memory::Host(memory(
            &c,
            &[z(1.0, 5.0), z(1.0, 0.0), z(0.0, 2.0), z(0.0, 1.0), z(3.0, -1.0), z(0.0, 4.0)],
        ))),
    };
    let a = Matrix::from_csr(&c, DType::CF64, Csr::new(parts, 3, 3, 6, 0).unwrap(), true);
    let diagonals = |how| if how == Symmetrize::Sum { 2.0 } else { 1.0 };
    for how in [Symmetrize::Union, Symmetrize::Sum, Symmetrize::Average, Symmetrize::Intersection] {
        let made = symmetrize(&c, &a, how).unwrap();
        assert!(is_symmetric(&made, 0.0).unwrap(), "{how:?}");
        let times = diagonals(how);
        assert_eq!(diagonal(&made).unwrap(), [z(times, 0.0), z(3.0 * times, 0.0), z(0.0, 0.0)], "{how:?}");
    }
    let (_, _, values) = arrays::<Complex<f64>>(&symmetrize(&c, &a, Symmetrize::Union).unwrap());
    let wanted = [z(1.0, 0.0), z(1.0, 0.0), z(0.0, 2.0), z(1.0, 0.0), z(3.0, 0.0), z(0.0, -2.0), z(0.0, 0.0)];
    assert_eq!(values.unwrap(), wanted);
}

#[test]
fn measures_are_those_of_the_dense_matrix() {
    let c = context(1);
    let a = random(&c, 9, 6, 30, 3);
    let d = dense(&c, &a);
    let row = |i: usize| d[i].iter().sum::<f64>();
    let squares: f64 = d.iter().flatten().map(|x| x * x).sum();
    assert!((norm(&a, Norm::Frobenius).unwrap() - squares.sqrt()).abs() < 1e-12 * squares.sqrt());
    assert_eq!(norm(&a, Norm::Infinity).unwrap(), (0..9).map(row).fold(0.0, f64::max));
    let column = |j: usize| d.iter().map(|r| r[j]).sum::<f64>();
    assert_eq!(norm(&a, Norm::One).unwrap(), (0..6).map(column).fold(0.0, f64::max));
    assert_eq!(norm(&a, Norm::Max).unwrap(), d.iter().flatten().copied().fold(0.0, f64::max));
    assert_eq!(row_sums(&a).unwrap(), (0..9).map(|i| Complex::new(row(i), 0.0)).collect::<Vec<_>>());
    assert_eq!(diagonal(&a).unwrap(), (0..6).map(|i| Complex::new(d[i][i], 0.0)).collect::<Vec<_>>());
    let huge = coordinates(&c, (1, 2), &[(0, 0, 3e300), (0, 1, 4e300)], Duplicates::Sum).unwrap();
    assert_eq!(norm(&huge, Norm::Frobenius).unwrap(), 5e300);
    let nan = coordinates(&c, (1, 2), &[(0, 0, f64::NAN), (0, 1, 1.0)], Duplicates::Sum).unwrap();
    assert!([Norm::Frobenius, Norm::One, Norm::Max, Norm::Infinity].iter().all(|n| norm(&nan, *n).unwrap().is_nan()));
    assert!(is_symmetric(&a, -1.0).is_err());
}

#[test]
fn dense_matrices_come_back() {
    let c = context(1);
    let a = random(&c, 8, 5, 14, 9);
    let mut full = Matrix::create(&c, DType::F64, Location::Host, Order::ColumnMajor, 8, 5).unwrap();
    to_dense(&a, &mut full).unwrap();
    assert_eq!(arrays::<f64>(&from_dense(&c, &full, 0.0).unwrap()), arrays::<f64>(&a));
    let above = arrays::<f64>(&from_dense(&c, &full, 5.0).unwrap()).2.unwrap();
    assert!(!above.is_empty() && above.iter().all(|v| *v > 5.0));
    assert!(from_dense(&c, &full, f64::NAN).is_err());
}

#[test]
fn components_are_numbered_by_their_lowest_vertex() {
    let c = context(1);
    let entries = [(5, 1, 1.0), (3, 4, 1.0), (4, 3, 1.0), (1, 6, 1.0)];
    let a = coordinates(&c, (7, 7), &entries, Duplicates::Sum).unwrap();
    let found = components(&a).unwrap();
    assert_eq!(found, Components { labels: vec![0, 1, 2, 3, 3, 1, 1], sizes: vec![1, 3, 1, 2] });
    assert_eq!(found.largest(), Some(1));
}

#[test]
fn components_do_not_depend_on_threads() {
    // A chain through most vertices in an order that is mixed up, cut in two places; rings, pairs, loops and vertices alone.
    let n = 40_000;
    let name = |v: usize| v * 27_877 % n;
    let mut edges: Vec<(usize, usize)> =
        (1..30_000).filter(|v| ![9_000, 9_001].contains(v)).map(|v| (v - 1, v)).collect();
    edges.extend((30_000..33_000).map(|v| (v, 30_000 + (v + 1) % 3)));
    edges.extend((33_000..34_000).step_by(2).map(|v| (v, v + 1)));
    edges.extend((34_000..34_050).map(|v| (v, v)));
    let entries: Vec<_> = edges.iter().map(|(u, v)| (name(*u), name(*v), 1.0)).collect();
    let made = |threads| {
        let c = context(threads);
        let directed = coordinates(&c, (n, n), &entries, Duplicates::Sum).unwrap();
        let found = components(&directed).unwrap();
        let whole = symmetrize(&c, &directed, Symmetrize::Union).unwrap();
        assert_eq!(found, components(&whole).unwrap());
        found
    };
    let found = made(1);
    assert_eq!(found, made(4));
    // Numbered as their lowest vertices come.
    let mut next = 0;
    for label in &found.labels {
        assert!(*label <= next);
        next += usize::from(*label == next);
    }
    // Two stretches of the chain and the vertex between them, one ring, 500 pairs, 50 loops, and vertices alone.
    assert_eq!(found.sizes.len(), 2 + 1 + 500 + 50 + n - 34_050 + 1);
    assert!(components(&coordinates(&context(2), (2, 3), &[], Duplicates::Refuse).unwrap()).is_err());
}

#[test]
fn zeros_are_dropped_and_copies_own_their_values() {
    let c = context(2);
    let entries = [(0, 1, 0.0), (0, 2, -1e-9), (1, 0, f64::NAN), (2, 1, 2.0), (2, 2, -0.0)];
    let a = coordinates(&c, (4, 3), &entries, Duplicates::Refuse).unwrap();
    let kept = |threshold: f64| arrays::<f64>(&drop_zeros(&c, &a, threshold).unwrap());
    let (ends, cols, values) = kept(0.0);
    assert_eq!((ends, cols), (vec![1, 2, 3, 3], vec![2, 0, 1]));
    let values = values.unwrap();
    assert!(values[0] == -1e-9 && values[1].is_nan() && values[2] == 2.0);
    assert_eq!(kept(1e-9).1, [0, 1]);
    let ones = pattern(&c, &a).unwrap();
    assert_eq!(arrays::<f64>(&drop_zeros(&c, &ones, 0.5).unwrap()), arrays::<f64>(&ones));
    assert_eq!(arrays::<f64>(&drop_zeros(&c, &ones, 1.0).unwrap()).0, [0; 4]);
    for bad in [-1.0, f64::NAN] {
        assert!(drop_zeros(&c, &a, bad).map(drop).unwrap_err().to_string().starts_with("threshold: "));
    }
    for from in [&a, &ones] {
        let own = copy_to(&c, from, Location::Host).unwrap();
        assert!(own.owns_values() && format!("{:?}", arrays::<f64>(&own)) == format!("{:?}", arrays::<f64>(from)));
    }
    assert!(copy_to(&c, &a, Location::Device).is_err() && copy_to(&c, &a, Location::PinnedHost).is_err());
}

pub(super) struct Folder(PathBuf);

impl Folder {
    pub(super) fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("purlin-sparse-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(super) fn file(&self, name: &str, text: &[u8]) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, text).unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn market(c: &Arc<Context>, path: &Path) -> Vec<Vec<f64>> {
    dense(c, &read_market(c, path, None).unwrap())
}

#[test]
fn market_files_of_every_kind_are_read() {
    let (c, folder) = (context(1), Folder::new("kinds"));
    let general =
        "%%MatrixMarket matrix coordinate real general\r\n% by hand\r\n\r\n2 3 3 \r\n 1 3 -1.5e0\r\n2 1 2\r\n2 1 3\r\n";
    assert_eq!(market(&c, &folder.file("g", general.as_bytes())), [[0.0, 0.0, -1.5], [5.0, 0.0, 0.0]]);
    let lower = "%%matrixmarket MATRIX Coordinate integer symmetric\n2 2 2\n1 1 4\n2 1 7\n";
    assert_eq!(market(&c, &folder.file("s", lower.as_bytes())), [[4.0, 7.0], [7.0, 0.0]]);
    let upper = "%%MatrixMarket matrix coordinate real symmetric\n2 2 1\n1 2 7\n";
    assert_eq!(market(&c, &folder.file("u", upper.as_bytes())), [[0.0, 7.0], [7.0, 0.0]]);
    let skew = "%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n2 1 7\n";
    assert_eq!(market(&c, &folder.file("k", skew.as_bytes())), [[0.0, -7.0], [7.0, 0.0]]);
    let hermitian = "%%MatrixMarket matrix coordinate complex hermitian\n2 2 2\n2 1 1 2\n1 1 3 0\n";
    let path = folder.file("h", hermitian.as_bytes());
    let m = read_market(&c, &path, None).unwrap();
    let z = arrays::<Complex<f64>>(&m).2.unwrap();
    assert_eq!(z, [Complex::new(3.0, 0.0), Complex::new(1.0, -2.0), Complex::new(1.0, 2.0)]);
    assert!(read_market(&c, &path, Some(DType::F32)).map(|_| ()).unwrap_err().to_string().contains("are complex"));
    let pattern = "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n3 1\n2 2\n";
    let m = read_market(&c, &folder.file("p", pattern.as_bytes()), Some(DType::F32)).unwrap();
    assert_eq!((arrays::<f32>(&m), m.dtype()), ((vec![1, 2, 3], vec![2, 1, 0], None), DType::F32));
}

#[test]
fn malformed_market_files_name_the_line() {
    let (c, folder) = (context(1), Folder::new("malformed"));
    let head = "%%MatrixMarket matrix coordinate real general\n";
    for (text, problem) in [
        (String::new(), "is no Matrix Market file"),
        ("%%MatrixMarket matrix coordinate real\n1 1 0\n".into(), "is no Matrix Market file"),
        (head.replace("real", "quaternion"), "line 1: values are quaternion"),
        (head.replace("general", "odd"), "line 1: the matrix is odd"),
        (head.into(), "ends before its line of sizes"),
        (format!("{head}2 2\n"), "line 2: is not rows, columns and entries"),
        (format!("{head}2 2 1\n1 1 x\n"), "line 3: is not a row, a column and a number"),
        (format!("{head}2 2 1\n1 1 1 1\n"), "line 3: is not a row"),
        (format!("{head}2 2 1\n0 1 1\n"), "line 3: row 0, outside 1 to 2"),
        (format!("{head}2 2 1\n1 3 1\n"), "line 3: column 3, outside 1 to 2"),
        (format!("{head}2 2 2\n1 1 1\n"), "has 1 entries, its header says 2"),
        (head.replace("general", "symmetric") + "2 3 0\n", "line 2: a symmetric matrix of 2 x 3"),
        (head.replace("general", "skew-symmetric") + "2 2 1\n1 1 1\n", "line 3: a diagonal entry"),
        (head.replace("real general", "complex hermitian") + "2 2 1\n1 1 3 1\n", "line 3: a diagonal entry"),
        (head.replace("real general", "pattern skew-symmetric") + "2 2 1\n2 1\n", "a pattern has no signs"),
        (head.replace('\n', "\r") + "2 2 1\r1 1 1\r", "line 1: has a carriage return in it"),
    ] {
        let e = read_market(&c, &folder.file("m", text.as_bytes()), None).map(|_| ()).unwrap_err().to_string();
        assert!(e.contains(problem), "{text:?}: {e}");
    }
    // A name in Latin-1 in a comment; elsewhere such a byte is none of a number.
    let latin = b"%%MatrixMarket matrix coordinate real general\n  % Andr\xe9\n1 1 1\n%\xe9\n1 1 1.5\n";
    let m = read_market(&c, &folder.file("l", latin), None).unwrap();
    assert_eq!(arrays::<f64>(&m).2, Some(vec![1.5]));
    let e = read_market(&c, &folder.file("l", &[&latin[..latin.len() - 1], b"\xe9\n"].concat()), None);
    assert!(e.map(|_| ()).unwrap_err().to_string().contains("line 5: is not text"));
    let e = read_market(&c, &folder.file("a", b"%%MatrixMarket matrix array real general\n1 1\n1\n"), None);
    assert!(e.map(|_| ()).unwrap_err().to_string().contains("a dense array"));
    let e = read_market(&c, &folder.0.join("missing"), None).map(|_| ()).unwrap_err().to_string();
    assert!(e.contains("missing"), "{e}");
}

#[test]
fn market_files_come_back_as_they_were_written() {
    let (c, folder) = (context(1), Folder::new("round"));
    let entries: Vec<_> = (0..50).map(|k| (noise(k) % 9, noise(k) / 9 % 7, 1.0 / (k as f64 + 3.0))).collect();
    let a = coordinates(&c, (9, 7), &entries, Duplicates::Sum).unwrap();
    let path = folder.0.join("a.mtx");
    write_market(&a, &path, false).unwrap();
    assert_eq!(arrays::<f64>(&read_market(&c, &path, None).unwrap()), arrays::<f64>(&a));
    assert!(write_market(&a, &path, true).is_err(), "not symmetric");
    let s = symmetrize(&c, &random(&c, 6, 6, 12, 2), Symmetrize::Sum).unwrap();
    write_market(&s, &path, true).unwrap();
    assert_eq!(arrays::<f64>(&read_market(&c, &path, None).unwrap()), arrays::<f64>(&s));
    let text = std::fs::read(&path).unwrap();
    assert!(text.starts_with(b"%%MatrixMarket matrix coordinate real symmetric\n6 6 "));
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut packed, &text).unwrap();
    let packed = folder.file("a.mtx.gz", &packed.finish().unwrap());
    assert_eq!(arrays::<f64>(&read_market(&c, &packed, None).unwrap()), arrays::<f64>(&s));
    // Written so by the name; more than is held at a time.
    let wide = random(&c, 300, 400, 50_000, 3);
    for (a, symmetric) in [(&s, true), (&wide, false)] {
        let path = folder.0.join("own.mtx.gz");
        write_market(a, &path, symmetric).unwrap();
        assert!(std::fs::read(&path).unwrap().starts_with(&[0x1f, 0x8b]));
        assert_eq!(arrays::<f64>(&read_market(&c, &path, None).unwrap()), arrays::<f64>(a));
    }
    let edges = folder.0.join("own.txt.GZ");
    write_edges(&s, &edges, true).unwrap();
    assert!(std::fs::read(&edges).unwrap().starts_with(&[0x1f, 0x8b]));
    let cut = folder.file("cut.gz", &std::fs::read(&packed).unwrap()[..40]);
    assert!(read_market(&c, &cut, None).is_err());
}

#[test]
fn edge_lists_are_read_with_their_own_numbers_or_new_ones() {
    let (c, folder) = (context(1), Folder::new("edges"));
    let path = folder.file("e", b"# a graph\n10,30 1.5\n\n30\t10 2\n 10 20 0.5\n");
    let options = EdgeList { dtype: DType::F64, weighted: true, duplicates: Duplicates::Sum, relabel: true };
    let (m, names) = read_edges(&c, &path, options).unwrap();
    assert_eq!(names.unwrap().as_slice().unwrap(), [10, 30, 20]);
    assert_eq!(dense(&c, &m), [[0.0, 1.5, 0.5], [2.0, 0.0, 0.0], [0.0, 0.0, 0.0]]);
    let (m, names) = read_edges(&c, &path, EdgeList { weighted: false, relabel: false, ..options }).unwrap();
    assert_eq!((m.rows(), names.is_none(), arrays::<f64>(&m).2), (31, true, None));
    for (text, problem) in [
        ("1\n", "line 1: is not two vertices"),
        ("1 2 x\n", "line 1: is not two vertices"),
        ("0 1 1\n1 2\n", "line 2: has no weight"),
        ("-1 2 1\n", "line 1: vertex -1 is outside 0 to 576460752303423486"),
        ("0 1\r1 2\r2 3\r", "line 1: has a carriage return in it"),
        ("# a comment\r0 1 1\r\n", "line 1: has a carriage return in it"),
        ("0,1,1\n0,,1\n", "line 2: is not two vertices"),
        ("0,1,,5\n", "line 1: is not two vertices"),
    ] {
        let path = folder.file("w", text.as_bytes());
        let e = read_edges(&c, &path, EdgeList { relabel: false, ..options }).map(|_| ()).unwrap_err().to_string();
        assert!(e.contains(problem), "{text}: {e}");
    }
    let commas = folder.file("c", b"0 , 1,2.5,\r\n1, 0 3\r\n");
    assert_eq!(dense(&c, &read_edges(&c, &commas, options).unwrap().0), [[0.0, 2.5], [3.0, 0.0]]);
    let twice = folder.file("t", b"1 2 1\n1 2 1\n");
    let e = read_edges(&c, &twice, EdgeList { duplicates: Duplicates::Refuse, ..options }).map(|_| ()).unwrap_err();
    assert!(matches!(e, crate::error::Error::Io { .. }));
}

/// Largest distance of an entry from the diagonal.
fn bandwidth(m: &Matrix) -> usize {
    let Storage::Csr(csr) = m.storage() else { panic!("{}", m.storage().name()) };
    let rows = Rows::new(csr).unwrap();
    (0..m.rows()).flat_map(|i| rows.row(i).map(move |k| rows.col(k).abs_diff(i))).max().unwrap_or(0)
}

#[test]
fn orders_bring_hubs_to_the_front_and_neighbours_together() {
    let c = context(2);
    let (edge, path) = (20, 31);
    let grid = edge * edge;
    let n = grid + path + 3;
    // A grid, a path, a pair and a vertex alone, under names that are all mixed up.
    let name = |v: usize| v * 157 % n;
    let mut edges: Vec<(usize, usize)> = Vec::new();
    for v in 0..grid {
        edges.extend((v % edge + 1 < edge).then_some((v, v + 1)));
        edges.extend((v + edge < grid).then_some((v, v + edge)));
    }
    edges.extend((grid..grid + path - 1).map(|v| (v, v + 1)));
    edges.push((n - 3, n - 2));
    let mut entries: Vec<(usize, usize, f64)> = edges
        .iter()
        .flat_map(|&(u, v)| [(name(u), name(v), (u + 2 * v) as f64), (name(v), name(u), (u + 2 * v) as f64)])
        .collect();
    entries.push((name(5), name(5), 1.0));
    let a = coordinates(&c, (n, n), &entries, Duplicates::Refuse).unwrap();
    for how in [Ordering::Degree, Ordering::CuthillMckee] {
        let list = order(&a, how).unwrap();
        assert_eq!(list, order(&a, how).unwrap());
        let mut sorted = list.clone();
        sorted.sort_unstable();
        assert!(sorted.into_iter().eq(0..n as i64), "{how:?}");
        let b = permute(&c, &a, Some(&Indices::I64(&list)), Some(&Indices::I64(&list))).unwrap();
        let Storage::Csr(csr) = b.storage() else { panic!("{}", b.storage().name()) };
        let rows = Rows::new(csr).unwrap();
        match how {
            Ordering::Degree => assert!((1..n).all(|i| rows.row(i).len() <= rows.row(i - 1).len())),
            // Diagonals of the grid are its levels.
            Ordering::CuthillMckee => {
                assert!(bandwidth(&b) <= edge + 1 && bandwidth(&a) > 4 * edge, "{}", bandwidth(&b))
            }
        }
    }
    let chain: Vec<_> =
        (0..9).flat_map(|v| [(v * 7 % 10, (v + 1) * 7 % 10, 1.0), ((v + 1) * 7 % 10, v * 7 % 10, 1.0)]).collect();
    let chain = coordinates(&c, (10, 10), &chain, Duplicates::Refuse).unwrap();
    let list = order(&chain, Ordering::CuthillMckee).unwrap();
    assert_eq!(bandwidth(&permute(&c, &chain, Some(&Indices::I64(&list)), Some(&Indices::I64(&list))).unwrap()), 1);
    let none = coordinates(&c, (0, 0), &[], Duplicates::Refuse).unwrap();
    assert!(order(&none, Ordering::CuthillMckee).unwrap().is_empty());
    let wide = coordinates(&c, (2, 3), &[], Duplicates::Refuse).unwrap();
    assert!(order(&wide, Ordering::Degree).is_err());
    assert!(Ordering::from_code("order", 2).is_err());
}

#[test]
fn edges_of_one_direction_are_no_symmetric_pattern_and_every_vertex_has_a_place() {
    let c = context(1);
    let below = coordinates(&c, (3, 3), &[(2, 1, 1.0)], Duplicates::Refuse).unwrap();
    assert!(!is_symmetric(&below, 0.0).unwrap());
    for seed in 0..300 {
        let n = 5 + seed % 20;
        let entries: Vec<_> =
            (0..2 * n).map(|k| (noise(seed * 977 + k) % n, noise(seed * 431 + k + 7) % n, 1.0)).collect();
        let a = coordinates(&c, (n, n), &entries, Duplicates::Sum).unwrap();
        let is_mirrored = entries.iter().all(|&(i, j, _)| {
            let count = |i, j| entries.iter().filter(|e| (e.0, e.1) == (i, j)).count();
            count(i, j) == count(j, i)
        });
        assert_eq!(is_symmetric(&a, 0.0).unwrap(), is_mirrored, "{entries:?}");
        let mut list = order(&a, Ordering::CuthillMckee).unwrap();
        list.sort_unstable();
        assert!(list.into_iter().eq(0..n as i64), "{entries:?}");
    }
}
