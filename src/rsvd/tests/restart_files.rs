//! Restart files of other runs are refused, and files that a run does not own are not touched.

use std::fs::Permissions;
use std::os::unix::fs::{FileExt as _, MetadataExt as _, PermissionsExt as _, symlink};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::interrupted::{interrupt, path};
use super::streamed::{streamed, watched};
use super::support::{Dense, MatrixLayout, PACKED, bits, cpu, factor, factor_with, matrix, read_npy, with_spectrum};
use crate::context::Context;
use crate::dense::sketch::Distribution;
use crate::error::{Error, Result};
use crate::matrix::Matrix;
use crate::rsvd::options::{Centering, ErrorKind, IterationPrecision, Method, Orthonormalization, Right, Sign};
use crate::rsvd::outputs::Outputs;
use crate::rsvd::{Options, Rsvd};
use crate::scalar::DType;
use crate::shape::{Order, to_i64};

fn options(method: Method, file: &Path) -> Options {
    Options {
        rank: 4,
        power_iterations: Some(3),
        method,
        block_rows: 16,
        restart_path: Some(file.to_owned()),
        ..Options::default()
    }
}

fn small(context: &Arc<Context>, rows: usize, columns: usize) -> Dense<f64> {
    with_spectrum(context, rows, columns, &(0..20).map(|j| 0.6f64.powi(j)).collect::<Vec<_>>(), 3)
}

fn refusal(context: &Arc<Context>, a: &Matrix, options: Options) -> String {
    match Rsvd::new(context, options).unwrap().compute(None, a, Outputs::default(), None) {
        Err(Error::InvalidArgument { argument, problem }) if argument == "restart_path" => problem,
        Err(other) => panic!("{other}"),
        Ok(info) => panic!("accepted, restarted: {}", info.restarted),
    }
}

/// A working directory that changes later must not change the file.
#[test]
fn a_relative_path_is_resolved_when_the_options_are_taken() {
    let given = Options { restart_path: Some("folder/../state".into()), ..options(Method::Range, Path::new("")) };
    let rsvd = Rsvd::new(&cpu(), given).unwrap();
    let found = rsvd.options().restart_path.as_deref().unwrap();
    assert_eq!(found, std::env::current_dir().unwrap().join("folder/../state"));
}

/// Each property that the state depends on, changed alone. The refusal names it, with both values.
#[test]
fn a_run_that_differs_in_one_property_is_refused_by_name() {
    let context = cpu();
    let dense = small(&context, 60, 40);
    let a = matrix(&context, &dense, PACKED);
    let file = path("properties");
    let merge = Options { merge_width: 30, ..options(Method::Merge, &file) };
    let range = options(Method::Range, &file);
    for (base, other, needed) in [
        (&range, Options { rank: 5, ..range.clone() }, "its rank is 4, this one's 5"),
        // The same sketch for another rank.
        (&range, Options { rank: 5, oversampling: Some(9), ..range.clone() }, "its rank is 4, this one's 5"),
        (&range, Options { oversampling: Some(8), ..range.clone() }, "its rank + oversampling is 14, this one's 12"),
        (&range, Options { power_iterations: Some(4), ..range.clone() }, "its power_iterations is 3, this one's 4"),
        // -1 stands for 4 where k is a tenth of min(m, n).
        (&range, Options { power_iterations: None, ..range.clone() }, "its power_iterations is 3, this one's 4"),
        (&range, Options { seed: u64::MAX, ..range.clone() }, "its seed is 0, this one's 18446744073709551615"),
        (&range, Options { method: Method::RowFused, ..range.clone() }, "its method is RANGE, this one's ROW_FUSED"),
        (
            &range,
            Options { sketch: Distribution::SparseSign, ..range.clone() },
            "its sketch is GAUSSIAN, this one's SPARSE_SIGN",
        ),
        (
            &range,
            Options { orthonormalization: Orthonormalization::ShiftedCholesky3, ..range.clone() },
            "its orthonormalization is AUTO, this one's SHIFTED_CHOLESKY3",
        ),
        (
            &range,
            Options { iteration_precision: IterationPrecision::Fast, ..range.clone() },
            "its iteration_precision is FULL, this one's FAST",
        ),
        (&range, Options { center: Centering::Rows, ..range.clone() }, "its center is NONE, this one's ROWS"),
        (&range, Options { block_rows: 0, ..range.clone() }, "its block_rows is 16, this one's 0"),
        (&merge, Options { merge_width: 0, ..merge.clone() }, "its merge_width is 30, this one's 28"),
        (&range, Options { dtype: Some(DType::F32), ..range.clone() }, "its dtype is F64, this one's F32"),
    ] {
        interrupt(&context, &a, base, 1);
        let before = std::fs::read(&file).unwrap();
        let problem = refusal(&context, &a, other);
        assert!(problem.ends_with(&format!(": is of another run: {needed}")), "{problem}, not {needed}");
        assert!(std::fs::read(&file).unwrap() == before, "{needed}");
        std::fs::remove_file(&file).unwrap();
    }
    let scaled = Options { center: Centering::Columns, ..range.clone() };
    interrupt(&context, &a, &scaled, 2);
    let problem = refusal(&context, &a, Options { scale: true, ..scaled.clone() });
    assert!(problem.ends_with("its scale is 0, this one's 1"), "{problem}");
    std::fs::remove_file(&file).unwrap();
    // Other matrices.
    interrupt(&context, &a, &range, 1);
    let of =
        |dense: &Dense<f64>, layout: MatrixLayout| refusal(&context, &matrix(&context, dense, layout), range.clone());
    let problem = of(&small(&context, 59, 40), PACKED);
    assert!(problem.ends_with("its number of rows is 60, this one's 59"), "{problem}");
    let problem = of(&small(&context, 60, 41), PACKED);
    assert!(problem.ends_with("its number of columns is 40, this one's 41"), "{problem}");
    let mut other = dense.clone();
    other.data[2399] += 1e-9;
    let problem = of(&other, PACKED);
    assert!(problem.ends_with("its data, or their order in memory, differ in the first MiB"), "{problem}");
    let (by_columns, _) = streamed(&context, &dense, Order::ColumnMajor, None);
    let problem = refusal(&context, &by_columns, range.clone());
    let orders = "its matrix is read in blocks of rows, this one's in blocks of columns: the order of a source decides \
                  (ROW_MAJOR, COLUMN_MAJOR)";
    assert!(problem.ends_with(&format!("is of another run: {orders}")), "{problem}");
    // An option that differs, too, is named: some of them decide how the matrix is read.
    let problem = refusal(&context, &by_columns, Options { seed: 1, ..range.clone() });
    assert!(problem.ends_with("its seed is 0, this one's 1"), "{problem}");
    let by_rows = MatrixLayout { order: Order::RowMajor, gap: 0 };
    assert!(of(&dense, by_rows).ends_with("its data, or their order in memory, differ in the first MiB"));
    std::fs::remove_file(&file).unwrap();
}

/// These act on the finished factors, on the choice of the method, or on rounding errors alone.
#[test]
fn a_run_that_goes_on_may_change_what_the_state_does_not_depend_on() {
    let (context, single) =
        (cpu(), Context::new(crate::context::Options { threads: 1, ..Default::default() }).unwrap());
    let dense = small(&context, 60, 40);
    let a = matrix(&context, &dense, PACKED);
    let file = path("changes");
    let gram = options(Method::Gram, &file);
    for other in [
        Options { sign: Sign::None, ..gram.clone() },
        Options { right: Right::Vh, ..gram.clone() },
        Options { error: ErrorKind::Probes, probes: 3, ..gram.clone() },
    ] {
        interrupt(&context, &a, &gram, 1);
        assert!(factor::<f64>(&context, &a, other.clone()).unwrap().info.restarted, "{other:?}");
    }
    let (source, _) = streamed(&context, &dense, Order::RowMajor, None);
    interrupt(&context, &source, &gram, 1);
    let faster = Options { read_rate: 1e9, ..gram.clone() };
    assert!(factor::<f64>(&context, &source, faster).unwrap().info.restarted);
    interrupt(&context, &a, &gram, 1);
    let there = matrix(&single, &dense, PACKED);
    assert!(factor::<f64>(&single, &there, gram).unwrap().info.restarted);
}

/// The sketch is compared by its numbers, wherever they lie.
#[test]
fn a_run_with_another_given_sketch_is_refused() {
    let context = cpu();
    let a = matrix(&context, &small(&context, 60, 40), PACKED);
    let file = path("given");
    let mut numbers = read_npy::<f64>("poly_150x150.npy");
    (numbers.rows, numbers.columns) = (40, 16);
    numbers.data.truncate(640);
    let mut others = numbers.clone();
    others.data[639] *= 1.5;
    let narrow = Dense { columns: 15, data: numbers.data[..600].to_vec(), ..numbers.clone() };
    let rows = MatrixLayout { order: Order::RowMajor, gap: 3 };
    for method in [Method::Range, Method::Fused, Method::RowFused, Method::Basic, Method::Krylov, Method::Gram] {
        let options = options(method, &file);
        let with = |sketch: Option<&Matrix>| {
            let mut rsvd = Rsvd::new(&context, options.clone()).unwrap();
            rsvd.set_sketch(sketch).unwrap();
            rsvd
        };
        let given = matrix(&context, &numbers, PACKED);
        let whole = {
            let mut rsvd = Rsvd::new(&context, Options { restart_path: None, ..options.clone() }).unwrap();
            rsvd.set_sketch(Some(&given)).unwrap();
            factor_with::<f64>(&mut rsvd, &a).unwrap()
        };
        let mut rsvd = with(Some(&given));
        let cancel = rsvd.cancel_handle();
        let stop = |step: i64, _: i64, _: f64| {
            if step >= 4 {
                cancel.cancel();
            }
            true
        };
        assert_eq!(rsvd.compute(None, &a, Outputs::default(), Some(&stop)).unwrap_err(), Error::Cancelled);
        for (sketch, needed) in [
            (Some(&others), "its given sketch (omega) has other numbers"),
            (Some(&narrow), "its given sketch (omega) has other numbers"),
            (None, "its sketch was given (omega)"),
        ] {
            let sketch = sketch.map(|sketch| matrix(&context, sketch, PACKED));
            let e = factor_with::<f64>(&mut with(sketch.as_ref()), &a).err().map(|e| e.to_string()).unwrap_or_default();
            assert!(e.ends_with(&format!("is of another run: {needed}")), "{method:?}: {e}, not {needed}");
        }
        let f = factor_with::<f64>(&mut with(Some(&matrix(&context, &numbers, rows))), &a).unwrap();
        assert!(f.info.restarted && bits(&f.u) == bits(&whole.u) && f.s == whole.s, "{method:?}");
        interrupt(&context, &a, &options, 1);
        let e = factor_with::<f64>(&mut with(Some(&given)), &a).err().map(|e| e.to_string()).unwrap_or_default();
        assert!(e.ends_with("is of another run: its sketch was drawn"), "{method:?}: {e}");
        std::fs::remove_file(&file).unwrap();
    }
}

/// The bytes behind the first MiB are known by the figures of the first pass.
#[test]
fn data_that_differ_behind_the_sample_are_refused_after_a_pass() {
    let context = cpu();
    let dense = small(&context, 3500, 40);
    let file = path("behind");
    let range = Options { block_rows: 0, ..options(Method::Range, &file) };
    let rows = MatrixLayout { order: Order::RowMajor, gap: 0 };
    interrupt(&context, &matrix(&context, &dense, rows), &range, 1);
    for factor in [1.0 + 1e-4, 1e200] {
        let mut other = dense.clone();
        // The last row.
        (0..40).for_each(|j| other.data[3499 + 3500 * j] = other.data[3499 + 3500 * j] * factor + 1e-3);
        let problem = refusal(&context, &matrix(&context, &other, rows), range.clone());
        assert!(problem.ends_with("its data differ behind the first MiB"), "{problem}");
        assert!(file.exists());
    }
    assert!(factor::<f64>(&context, &matrix(&context, &dense, rows), range).unwrap().info.restarted);
}

#[test]
fn a_path_that_cannot_be_written_is_refused_before_anything_is_read() {
    let context = cpu();
    let a = small(&context, 60, 40);
    let folder = path("a folder");
    std::fs::create_dir_all(&folder).unwrap();
    let slash = folder.join("state/");
    for (file, needed) in [
        (path("no such folder").join("state"), "create: No such file"),
        (folder.clone(), "is a directory"),
        (slash, "is not a file's name"),
        ("/dev/null".into(), "is a character device"),
        ("/proc/purlin".into(), "create: "),
        (path("x".repeat(300).as_str()), "create: File name too long"),
    ] {
        let (m, read) = streamed(&context, &a, Order::RowMajor, None);
        let e = factor::<f64>(&context, &m, options(Method::Range, &file)).err().map(|e| e.to_string());
        let e = e.unwrap_or_default();
        assert!(e.contains(needed) && e.contains(&*file.to_string_lossy()), "{e}, not {needed}");
        assert_eq!(read.load(Ordering::Relaxed), 0, "{needed}");
    }
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
    // Options are compared before the data are.
    let file = path("a folder").join("state");
    let range = options(Method::Range, &file);
    interrupt(&context, &streamed(&context, &a, Order::RowMajor, None).0, &range, 1);
    let (m, read) = streamed(&context, &a, Order::RowMajor, None);
    let problem = refusal(&context, &m, Options { seed: 1, ..range.clone() });
    assert!(problem.ends_with("its seed is 0, this one's 1"), "{problem}");
    assert_eq!(read.load(Ordering::Relaxed), 0);
    let f = factor::<f64>(&context, &m, range).unwrap();
    assert!(f.info.restarted && f.info.bytes_read == to_i64(read.load(Ordering::Relaxed)));
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
}

/// Runs while somebody does `what` before the reader's call number `at`.
fn meanwhile(file: &Path, at: usize, what: impl Fn(&Path) + Send + Sync + 'static) -> Result<i64> {
    let context = cpu();
    let owned = file.to_owned();
    let (m, calls) = watched(&context, &small(&context, 60, 40), Order::RowMajor, move |call| {
        if call == at {
            what(&owned);
        }
        Ok(())
    });
    let found = factor::<f64>(&context, &m, options(Method::Range, file)).map(|f| f.info.passes);
    assert!(calls.load(Ordering::Relaxed) > 0);
    found
}

#[test]
fn a_file_that_is_not_the_runs_own_is_not_replaced() {
    let file = path("foreign");
    // A sample, then four blocks a pass: within the first pass, before the first state is saved.
    let problem = meanwhile(&file, 3, |file| std::fs::write(file, "theirs").unwrap()).unwrap_err().to_string();
    assert!(problem.contains("foreign: came into being meanwhile, and is not replaced"), "{problem}");
    assert_eq!(std::fs::read(&file).unwrap(), b"theirs");
    std::fs::remove_file(&file).unwrap();
    // Within the third pass the state is replaced by another file.
    let replace = |file: &Path| {
        let other = file.with_extension("new");
        std::fs::write(&other, "theirs").unwrap();
        std::fs::rename(&other, file).unwrap();
    };
    let problem = meanwhile(&file, 11, replace).unwrap_err().to_string();
    assert!(problem.contains("foreign: is not the file that this run wrote before, and is not replaced"), "{problem}");
    assert_eq!(std::fs::read(&file).unwrap(), b"theirs");
    std::fs::remove_file(&file).unwrap();
    // A state that was removed is written again, and nothing is left in the end.
    assert_eq!(meanwhile(&file, 11, |file| std::fs::remove_file(file).unwrap()), Ok(8));
    assert!(!file.exists());
    // Within the last pass: the file stays.
    let count = Arc::new(AtomicUsize::new(0));
    let seen = Arc::clone(&count);
    let last = move |file: &Path| {
        seen.fetch_add(1, Ordering::Relaxed);
        replace(file);
    };
    assert_eq!(meanwhile(&file, 4 * 8 - 1, last), Ok(8));
    assert_eq!((std::fs::read(&file).unwrap(), count.load(Ordering::Relaxed)), (b"theirs".to_vec(), 1));
    std::fs::remove_file(&file).unwrap();
    assert!(
        !std::fs::read_dir(file.parent().unwrap())
            .unwrap()
            .any(|entry| { entry.unwrap().file_name().to_string_lossy().contains("foreign") })
    );
}

/// Things that are done to the run's state, and whether the run may take it for its own afterwards.
type Tampering = (&'static str, fn(&Path), bool);

fn in_place(file: &Path, from: u64, bytes: &[u8]) {
    // Times of files may have a resolution of some milliseconds.
    std::thread::sleep(std::time::Duration::from_millis(30));
    std::fs::OpenOptions::new().write(true).open(file).unwrap().write_all_at(bytes, from).unwrap();
}

const DEEDS: &[Tampering] = &[
    ("other permissions", |f| std::fs::set_permissions(f, Permissions::from_mode(0o600)).unwrap(), true),
    ("a hard link", |f| std::fs::hard_link(f, f.with_extension("link")).unwrap(), true),
    (
        "a renaming and back",
        |f| {
            std::fs::rename(f, f.with_extension("away")).unwrap();
            std::fs::rename(f.with_extension("away"), f).unwrap();
        },
        true,
    ),
    ("new contents", |f| std::fs::write(f, vec![b'x'; std::fs::read(f).unwrap().len()]).unwrap(), false),
    ("another first byte", |f| in_place(f, 0, b"X"), false),
    ("a number in the middle", |f| in_place(f, 400, &[1; 8]), false),
    ("another checksum", |f| in_place(f, std::fs::metadata(f).unwrap().len() - 8, &[7; 8]), false),
    ("more bytes", |f| in_place(f, std::fs::metadata(f).unwrap().len(), &[0]), false),
    ("no bytes", |f| std::fs::write(f, "").unwrap(), false),
    (
        "a new file",
        |f| {
            let length = std::fs::read(f).unwrap().len();
            std::fs::remove_file(f).unwrap();
            // Many file systems give the number of the removed file to the next one.
            std::fs::write(f, vec![b'x'; length]).unwrap();
        },
        false,
    ),
    (
        "a folder",
        |f| {
            std::fs::remove_file(f).unwrap();
            std::fs::create_dir(f).unwrap();
        },
        false,
    ),
    (
        "a symbolic link to the state",
        |f| {
            std::fs::rename(f, f.with_extension("link")).unwrap();
            symlink(f.with_extension("link"), f).unwrap();
        },
        false,
    ),
    (
        "a FIFO",
        |f| {
            std::fs::remove_file(f).unwrap();
            assert!(std::process::Command::new("mkfifo").arg(f).status().unwrap().success());
        },
        false,
    ),
];

/// Between two states, and within the last pass, behind which the state is removed.
#[test]
fn a_state_that_was_changed_is_neither_replaced_nor_removed() {
    for (k, (what, deed, is_own)) in DEEDS.iter().enumerate() {
        for (at, name) in [(11, "between"), (4 * 8 - 1, "last")] {
            let file = path(&format!("changed-{k}-{name}"));
            let link = file.with_extension("link");
            let left = Arc::new(std::sync::Mutex::new(None));
            let seen = Arc::clone(&left);
            let found = meanwhile(&file, at, move |file| {
                deed(file);
                *seen.lock().unwrap() = Some(state_of(file));
            });
            let left = left.lock().unwrap().take().unwrap_or_else(|| panic!("{what} {name}: not done"));
            if *is_own {
                assert_eq!(found, Ok(8), "{what} {name}");
                assert!(file.symlink_metadata().is_err(), "{what} {name}: is left");
            } else {
                assert!(state_of(&file) == left, "{what} {name}: was touched");
                match found {
                    Ok(passes) => assert!(name == "last" && passes == 8, "{what} {name}"),
                    Err(Error::Io { path, problem }) => {
                        assert!(
                            name == "between" && path.ends_with(&format!("changed-{k}-{name}")),
                            "{path}: {problem}"
                        );
                    }
                    Err(other) => panic!("{what} {name}: {other}"),
                }
                let _ = std::fs::remove_dir(&file).or_else(|_| std::fs::remove_file(&file));
            }
            let _ = std::fs::remove_file(&link);
            let folder = std::fs::read_dir(file.parent().unwrap()).unwrap();
            let rest = folder.map(|e| e.unwrap().file_name()).find(|n| n.to_string_lossy().contains("changed-"));
            assert_eq!(rest, None, "{what} {name}");
        }
    }
}

/// Kind, number and contents of the file that a path names.
fn state_of(path: &Path) -> (bool, bool, u64, Option<Vec<u8>>) {
    let found = path.symlink_metadata().unwrap();
    (found.is_file(), found.is_dir(), found.ino(), found.is_file().then(|| std::fs::read(path).unwrap()))
}

/// The state that a run goes on from is the run's own, as long as the file holds the contents that the run read.
#[test]
fn a_state_that_was_read_and_changed_is_not_replaced() {
    let context = cpu();
    let a = small(&context, 60, 40);
    for is_changed in [false, true] {
        let file = path(&format!("read-{is_changed}"));
        // A sample, then four blocks a pass.
        let (m, _) = streamed(&context, &a, Order::RowMajor, Some(10));
        assert!(matches!(factor::<f64>(&context, &m, options(Method::Range, &file)), Err(Error::Io { .. })));
        assert!(file.exists());
        let found = meanwhile(&file, 3, move |file| {
            if is_changed {
                in_place(file, 300, &[3; 8]);
            }
        });
        assert_eq!(found.is_err(), is_changed, "{found:?}");
        assert_eq!(file.exists(), is_changed);
        let _ = std::fs::remove_file(&file);
    }
}
