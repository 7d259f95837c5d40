//! Files and coordinates under a limit of host memory: lists are charged before they are allocated, and refused by the
//! sizes that a header gives.

use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

use super::*;
use crate::backend::BackendChoice;
use crate::context::{Context, Options};
use crate::error::Error;
use crate::matrix::Matrix;
use crate::scalar::DType;

/// The limit of most tests, 64 MiB.
const LIMIT: u64 = 64 << 20;

fn limited(limit: u64) -> Arc<Context> {
    Context::new(Options { backend: BackendChoice::Cpu, threads: 2, host_memory_limit: limit, ..Options::default() })
        .unwrap()
}

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("purlin-limits-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn file(&self, name: &str, content: &[u8]) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, content).unwrap();
        path
    }

    /// A file of `head` and many times `line`, compressed.
    fn packed(&self, name: &str, head: &str, line: &str, count: usize) -> PathBuf {
        let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        packer.write_all(head.as_bytes()).unwrap();
        let lines = line.repeat(1000);
        (0..count / 1000).for_each(|_| packer.write_all(lines.as_bytes()).unwrap());
        self.file(name, &packer.finish().unwrap())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

const HEAD: &str = "%%MatrixMarket matrix coordinate real general\n";

/// The error of a call that must be refused by the limit without ever holding more than it, and that leaves nothing.
fn refused<T>(context: &Arc<Context>, outcome: crate::error::Result<T>) -> (u64, u64) {
    match outcome.map(|_| ()).unwrap_err() {
        Error::OutOfMemory { bytes, limit: Some(limit), .. } => {
            assert!(context.host_budget().peak() <= limit);
            assert_eq!(context.host_budget().used(), 0);
            (bytes, limit)
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_few_bytes_of_header_do_not_allocate_beyond_the_limit() {
    let (c, folder) = (limited(LIMIT), Folder::new("header"));
    // One entry, and a hundred million rows: it made 1.5 GB.
    let rows = folder.file("rows", format!("{HEAD}100000000 1 1\n1 1 1\n").as_bytes());
    assert_eq!(refused(&c, read_market(&c, &rows, None)).1, LIMIT);
    // As many entries as the limit does not hold, in a file that could have them.
    let many = folder.packed("many.gz", &format!("{HEAD}9 9 4000000\n"), "1 1 1\n", 4_000_000);
    assert!(std::fs::metadata(&many).unwrap().len() < 400_000);
    refused(&c, read_market(&c, &many, None));
    // Vertices of an edge list, by their number and by their count.
    let options = EdgeList { dtype: DType::F64, weighted: false, duplicates: Duplicates::Sum, relabel: false };
    refused(&c, read_edges(&c, &folder.file("far", b"0 300000000\n"), options));
    let edges = folder.packed("edges.gz", "", "1 2\n", 4_000_000);
    refused(&c, read_edges(&c, &edges, options));
    let text: String = (0..400_000).map(|v| format!("{v} 7\n")).collect();
    let small = limited(16 << 20);
    let new = folder.file("new", text.as_bytes());
    let (needed, limit) = refused(&small, read_edges(&small, &new, EdgeList { relabel: true, ..options }));
    assert!(needed > limit, "{needed} are needed beside each other, {limit} are allowed");
    // A file that fits is read.
    let fits = folder.file("fits", format!("{HEAD}100000 1 1\n1 1 1\n").as_bytes());
    assert_eq!(read_market(&c, &fits, None).unwrap().rows(), 100_000);
}

#[test]
fn edges_are_read_in_little_more_than_they_take() {
    let folder = Folder::new("edges");
    // A little more than a power of 2: lists of twice the elements would take 17 MB.
    let text: String = (0..270_000).map(|e| format!("{} {}\n", e / 600, e % 600)).collect();
    let path = folder.file("edges", text.as_bytes());
    let options = EdgeList { dtype: DType::F64, weighted: false, duplicates: Duplicates::Sum, relabel: false };
    let whole = read_edges(&limited(1 << 30), &path, options).unwrap().0;
    for (limit, is_enough) in [(14 << 20, true), (4 << 20, false)] {
        let c = limited(limit);
        if is_enough {
            assert_eq!(read_edges(&c, &path, options).unwrap().0.rows(), whole.rows());
        } else {
            let (needed, limit) = refused(&c, read_edges(&c, &path, options));
            assert!(needed > limit && needed < 16 << 20, "{needed}");
        }
    }
}

#[test]
fn sizes_that_no_file_of_that_length_has_are_refused_without_a_limit() {
    let (c, folder) = (limited(0), Folder::new("sizes"));
    for (sizes, problem) in [
        ("18446744073709551615 1 1\n1 1 1\n", "line 2: 18446744073709551615 rows, at most 9223372036854775807"),
        ("1 9223372036854775808 1\n1 1 1\n", "line 2: 9223372036854775808 columns, at most"),
        ("1 1 18446744073709551615\n1 1 1\n", "line 2: 18446744073709551615 entries, at most"),
        ("18446744073709551616 1 1\n1 1 1\n", "line 2: is not rows, columns and entries"),
        ("9 9 1000000000000\n1 1 1\n", "is too short for the 1000000000000 entries that its header says"),
        ("9 9 1\n1 1 1\n2 2 1\n", "line 4: is an entry more than the 1 that the header says"),
    ] {
        let path = folder.file("x", format!("{HEAD}{sizes}").as_bytes());
        match read_market(&c, &path, None).map(|_| ()).unwrap_err() {
            Error::Io { problem: found, .. } => assert!(found.starts_with(problem), "{sizes}: {found}"),
            other => panic!("{sizes}: {other:?}"),
        }
    }
    // More rows than memory has addresses for are a matter of memory.
    let path = folder.file("y", format!("{HEAD}9223372036854775807 1 1\n1 1 1\n").as_bytes());
    assert!(matches!(read_market(&c, &path, None), Err(Error::OutOfMemory { .. })));
    let none: [i64; 0] = [];
    let coordinates = |rows, cols| {
        let (row_idx, col_idx) = (Indices::I64(&none), Indices::I64(&none));
        let from = Coordinates { rows, cols, row_idx, col_idx, base: 0, dtype: DType::F64, values: None };
        from_coordinates(&c, &from, Duplicates::Sum).map(|m| m.rows())
    };
    assert!(matches!(coordinates(usize::MAX, 1), Err(Error::InvalidArgument { argument, .. }) if argument == "rows"));
    assert!(matches!(coordinates(1, usize::MAX), Err(Error::InvalidArgument { argument, .. }) if argument == "cols"));
    assert!(matches!(coordinates(i64::MAX as usize, 1), Err(Error::OutOfMemory { .. })));
    assert_eq!(coordinates(3, i64::MAX as usize).unwrap(), 3);
}

/// A matrix of one long row and many rows of a few entries, on `context`.
fn ragged(context: &Arc<Context>) -> Matrix {
    let count = 40_000i64;
    let row_idx: Vec<i64> = (0..count).map(|k| if k % 2 == 0 { 0 } else { k % 1000 }).collect();
    let col_idx: Vec<i64> = (0..count).map(|k| (k * 7919) % 1000).collect();
    let (row_idx, col_idx) = (Indices::I64(&row_idx), Indices::I64(&col_idx));
    let from = Coordinates { rows: 1000, cols: 1000, row_idx, col_idx, base: 0, dtype: DType::F64, values: None };
    from_coordinates(context, &from, Duplicates::Sum).unwrap()
}

#[test]
fn what_makes_a_sparse_matrix_holds_no_more_than_it_charges() {
    // Under a limit just above its need each call succeeds, and the peak that was charged covers its lists: twice the
    // indices of the entries and the rows.
    let c = limited(1 << 30);
    let a = ragged(&c);
    let nnz = match a.storage() {
        crate::matrix::Storage::Csr(csr) => csr.nnz() as u64,
        other => panic!("{}", other.name()),
    };
    let rows = a.rows() as u64;
    type Make = fn(&Arc<Context>, &Matrix) -> crate::error::Result<()>;
    let makers: [(&str, u64, Make); 6] = [
        ("transpose", rows + 2 * nnz, |c, a| transpose(c, a, false).map(|_| ())),
        ("canonical", rows + 3 * nnz, |c, a| canonical(c, a, Duplicates::Sum).map(|_| ())),
        ("drop_zeros", rows + 2 * nnz, |c, a| drop_zeros(c, a, 0.0).map(|_| ())),
        ("symmetrize", rows + 6 * nnz, |c, a| symmetrize(c, a, Symmetrize::Union).map(|_| ())),
        ("order", 4 * rows, |_, a| order(a, Ordering::CuthillMckee).map(|_| ())),
        ("components", 2 * rows, |_, a| components(a).map(|_| ())),
    ];
    for (name, words, make) in makers {
        let held = c.host_budget().restart_peak();
        make(&c, &a).unwrap();
        let peak = c.host_budget().peak() - held;
        assert!(peak >= 8 * words, "{name}: {peak} bytes charged, {words} words used");
        assert_eq!(c.host_budget().used(), held, "{name}");
    }
}

#[test]
fn numbers_of_files_that_the_type_does_not_hold_are_refused() {
    let (c, folder) = (limited(LIMIT), Folder::new("numbers"));
    let market = |field: &str, value: &str, dtype: DType| {
        let text = format!("%%MatrixMarket matrix coordinate {field} general\n1 1 1\n1 1 {value}\n");
        read_market(&c, &folder.file("m", text.as_bytes()), Some(dtype)).map(|_| ()).map_err(|e| e.to_string())
    };
    assert!(market("real", "inf", DType::F32).is_ok() && market("real", "-Infinity", DType::F64).is_ok());
    assert!(market("integer", "16777218", DType::F32).is_ok() && market("integer", "16777217", DType::F64).is_ok());
    assert!(market("real", "3e38", DType::F32).is_ok() && market("integer", "-9007199254740992", DType::F64).is_ok());
    for (field, value, dtype, problem) in [
        ("real", "1e39", DType::F32, "line 3: 1e39 is beyond the range of F32"),
        ("complex", "1 -1e39", DType::CF32, "line 3: -1e39 is beyond the range of CF32"),
        ("real", "1e400", DType::F64, "line 3: a number is beyond the range of F64"),
        ("real", "-1e400", DType::F32, "line 3: a number is beyond the range of F32"),
        ("complex", "0 1e400", DType::CF64, "line 3: a number is beyond the range of CF64"),
        ("integer", "16777217", DType::F32, "line 3: 16777217 is between two numbers of F32"),
        ("integer", "-33554433", DType::CF32, "line 3: -33554433 is between two numbers of CF32"),
        ("integer", "9007199254740993", DType::F64, "line 3: is not a row, a column and an integer"),
        ("integer", "1.5", DType::F64, "line 3: is not a row, a column and an integer"),
    ] {
        let e = market(field, value, dtype).unwrap_err();
        assert!(e.contains(problem), "{value}: {e}");
    }
    for (text, problem) in [
        ("0 1 1e39\n", "line 1: 1e39 is beyond the range of F32"),
        ("0 1 1\n0 1 1e400\n", "line 2: a weight is beyond the range of F32"),
        ("0 1 -1e400\n", "line 1: a weight is beyond the range of F32"),
        ("-1 9223372036854775807 1\n", "line 1: vertex -1 is outside 0 to 576460752303423486"),
        ("0 9223372036854775807 1\n", "line 1: vertex 9223372036854775807 is outside 0 to 576460752303423486"),
        ("0 1 1\n9223372036854775806 1 1\n", "line 2: vertex 9223372036854775806 is outside 0 to 576460752303423486"),
        ("576460752303423487 1 1\n", "line 1: vertex 576460752303423487 is outside 0 to 576460752303423486"),
        ("0 9223372036854775808 1\n", "line 1: vertex 9223372036854775808 is outside 0 to 576460752303423486"),
        ("%%matrixmarket matrix coordinate pattern general\n3 3 1\n1 2\n", "is a Matrix Market file"),
    ] {
        let path = folder.file("e", text.as_bytes());
        let options = EdgeList { dtype: DType::F32, weighted: true, duplicates: Duplicates::Sum, relabel: false };
        let e = read_edges(&c, &path, options).map(|_| ()).unwrap_err().to_string();
        assert!(e.contains(problem), "{text}: {e}");
    }
    let options = EdgeList { dtype: DType::F64, weighted: true, duplicates: Duplicates::Sum, relabel: false };
    let read = |text: &str, options| read_edges(&c, &folder.file("i", text.as_bytes()), options).map(|found| found.0);
    assert!(read("0 1 1e400\n", options).is_err_and(|e| e.to_string().contains("beyond the range of F64")));
    assert_eq!(tests::arrays::<f64>(&read("0 1 inf\n1 0 -Infinity\n", options).unwrap()).2.unwrap()[0], f64::INFINITY);
    // A number that is not read may be any.
    assert!(read("0 1 1e400\n", EdgeList { weighted: false, ..options }).is_ok());
}

#[test]
fn rows_beyond_the_free_memory_are_refused_before_they_are_allocated() {
    let folder = Folder::new("rows");
    let unlimited = tests::context(1);
    let market = "%%MatrixMarket matrix coordinate pattern general\n1099511627777 1099511627777 1\n1 1\n";
    let options = EdgeList { dtype: DType::F32, weighted: false, duplicates: Duplicates::Sum, relabel: false };
    // The largest vertex is a matter of memory, whose bytes are a true number.
    let far = read_edges(&unlimited, &folder.file("f", b"0 576460752303423486"), options)
        .map(|_| ())
        .unwrap_err()
        .to_string();
    assert!(far.contains("6917529027641081844 bytes"), "{far}");
    let small = limited(LIMIT);
    let (needed, _) = refused(&small, read_edges(&small, &folder.file("g", b"0 576460752303423486"), options));
    assert!((4611686018427387904..1 << 63).contains(&needed), "{needed}");
    let found = [
        read_edges(&unlimited, &folder.file("e", b"0 1099511627776"), options).map(|_| ()),
        read_market(&unlimited, &folder.file("m", market.as_bytes()), None).map(|_| ()),
    ];
    for e in found {
        let e = e.unwrap_err().to_string();
        assert!(e.starts_with("rows of a sparse matrix, which are more than is free: 13194139533324 bytes"), "{e}");
    }
}
