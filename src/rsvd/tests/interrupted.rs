//! Runs that are interrupted and go on from their restart file.

use std::cell::Cell;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::progress::counted;
use super::streamed::streamed;
use super::support::{Dense, PACKED, bits, cpu, factor, factor_with, gpu, matrix, read_npy, vector, with_spectrum};
use crate::context::Context;
use crate::error::Error;
use crate::matrix::Matrix;
use crate::rsvd::data::Resident;
use crate::rsvd::options::{Centering, Method};
use crate::rsvd::outputs::Outputs;
use crate::rsvd::{Options, Rsvd};
use crate::scalar::{Complex, Scalar};
use crate::shape::{Order, to_i64};

/// A path in a folder of this process.
pub fn path(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("purlin-restart-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    folder.join(name)
}

/// Runs until so many passes are reported, and cancels.
pub fn interrupt(context: &Arc<Context>, a: &Matrix, options: &Options, passes: i64) {
    let mut rsvd = Rsvd::new(context, options.clone()).unwrap();
    // Steps are blocks.
    let steps = passes * rsvd.plan(a).unwrap().blocks;
    let cancel = rsvd.cancel_handle();
    let last = Cell::new(0);
    let report = |step: i64, _: i64, _: f64| {
        last.set(step);
        // Reports are rate-limited, so that some passes are not seen; the handle is as good as the answer.
        if step >= steps {
            cancel.cancel();
        }
        true
    };
    let mut s = vector(context, options.rank);
    let outcome = rsvd.compute(None, a, Outputs { s: Some(&mut s), ..Outputs::default() }, Some(&report));
    assert_eq!(outcome.unwrap_err(), Error::Cancelled, "{:?} was at {}", options.method, last.get());
}

fn goes_on<T: Scalar>(a: &Dense<T>, method: Method) {
    let context = cpu();
    let file = path(&format!("{:?}-{method:?}-{}", T::DTYPE, a.rows));
    let a = matrix(&context, a, PACKED);
    let options = Options {
        rank: 6,
        power_iterations: Some(3),
        method,
        block_rows: 40,
        restart_path: Some(file.clone()),
        ..Options::default()
    };
    let whole = factor::<T>(&context, &a, Options { restart_path: None, ..options.clone() }).unwrap();
    interrupt(&context, &a, &options, 1);
    assert!(file.exists(), "{method:?} left no file");
    let f = factor::<T>(&context, &a, options).unwrap();
    assert!(f.info.restarted && f.info.passes_restarted > 0, "{method:?}");
    assert_eq!(f.info.passes + f.info.passes_restarted, whole.info.passes, "{method:?}");
    assert!(f.s == whole.s && bits(&f.u) == bits(&whole.u) && bits(&f.v) == bits(&whole.v), "{method:?}");
    assert!(!file.exists(), "{method:?} left its file");
}

#[test]
fn a_run_goes_on_bit_for_bit() {
    let a = read_npy::<f64>("poly_150x150.npy");
    for method in [Method::RowFused, Method::Fused, Method::Gram, Method::Merge, Method::Krylov, Method::Brsvd] {
        goes_on(&a, method);
    }
    goes_on(&read_npy::<Complex<f64>>("cplx_100x70.npy"), Method::Fused);
    goes_on(&read_npy::<f32>("geo_200x120.npy"), Method::Krylov);
}

/// Runs of `a`, which is read in blocks of 16 rows, that are broken off after each pass, and, if `twice`, after a later one
/// again.
fn every_pass(context: &Arc<Context>, a: &Dense<f64>, methods: &[Method], center: Centering, twice: bool) {
    for &method in methods {
        let file = path(&format!("every-{method:?}-{center:?}-{twice}-{}", a.rows));
        let options = Options {
            rank: 3,
            power_iterations: Some(2),
            method,
            block_rows: 16,
            center,
            restart_path: Some(file.clone()),
            // Passes over data that a GPU keeps are too short for a report of each.
            resident_rows: if context.gpu("test").is_ok() { Resident::AtMost(0) } else { Resident::Auto },
            ..Options::default()
        };
        let (m, _) = counted(context, a);
        let whole = factor::<f64>(context, &m, Options { restart_path: None, ..options.clone() }).unwrap();
        let means = i64::from(center == Centering::Columns);
        let end = whole.info.passes - means;
        let lasts = |first| if twice { first + 1..end } else { first..first + 1 };
        let stops = (1..end).flat_map(|first| lasts(first).map(move |last| (first, last)));
        for (first, last) in stops {
            interrupt(context, &m, &options, first + means);
            assert!(file.exists(), "{method:?} after {first}");
            if last > first {
                interrupt(context, &m, &options, last + means);
            }
            let f = factor::<f64>(context, &m, options.clone()).unwrap();
            // The pass for means is made again.
            assert_eq!(f.info.passes_restarted, last, "{method:?} after {first}");
            assert_eq!(f.info.passes + last, whole.info.passes, "{method:?} after {first}, {last}");
            assert!(
                f.s == whole.s && bits(&f.u) == bits(&whole.u) && bits(&f.v) == bits(&whole.v),
                "{method:?} {center:?} after {first}, {last}"
            );
            assert!(!file.exists(), "{method:?} left its file");
        }
    }
}

fn full_rank(context: &Arc<Context>) -> Dense<f64> {
    with_spectrum::<f64>(context, 40, 20, &(0..20).map(|j| 0.6f64.powi(j)).collect::<Vec<_>>(), 3)
}

/// Columns of a basis that depend on others are replaced by random ones, which must be those of the whole run.
#[test]
fn a_run_of_lower_rank_than_its_sketch_goes_on_bit_for_bit() {
    let context = cpu();
    let mut a = full_rank(&context);
    // Seven columns that are not 0, for a sketch of 13.
    a.data[40 * 7..].fill(0.0);
    let methods = [Method::Range, Method::Basic, Method::Fifo, Method::Fused, Method::RowFused, Method::Krylov];
    every_pass(&context, &a, &methods, Centering::None, false);
    every_pass(&context, &a, &[Method::Fifo], Centering::Columns, false);
}

#[test]
fn a_run_that_is_broken_off_twice_goes_on_bit_for_bit() {
    let context = cpu();
    every_pass(&context, &full_rank(&context), &[Method::Fifo, Method::RowFused], Centering::Columns, true);
}

#[test]
fn the_state_is_saved_after_each_pass_but_the_last() {
    let (context, a) = (cpu(), full_rank(&cpu()));
    let methods = [Method::Range, Method::Basic, Method::Fifo, Method::Fused, Method::RowFused, Method::Krylov];
    every_pass(&context, &a, &methods, Centering::None, false);
    every_pass(&context, &a, &[Method::Fifo, Method::Range], Centering::Columns, false);
}

#[test]
#[ignore = "needs a GPU"]
fn the_state_is_saved_after_each_pass_but_the_last_on_a_gpu() {
    let methods = [Method::Range, Method::Basic, Method::Fifo, Method::Fused];
    let (context, a) = (gpu(), full_rank(&cpu()));
    every_pass(&context, &a, &methods, Centering::None, false);
    every_pass(&context, &a, &[Method::Fifo], Centering::Columns, false);
}

/// Such a run begins anew with scaled data, from the saved state as well.
#[test]
fn a_run_whose_data_are_scaled_goes_on() {
    let mut a = read_npy::<f64>("geo_200x120.npy");
    a.data.iter_mut().for_each(|x| *x *= 1e200);
    for method in [Method::Fused, Method::Range] {
        goes_on(&a, method);
    }
    // Down to 1e-180.
    a.data.iter_mut().for_each(|x| *x = *x * 1e-200 * 1e-180);
    goes_on(&a, Method::Basic);
}

/// The first rows are read to compare them with the file.
#[test]
fn the_bytes_that_a_restart_file_needs_are_counted() {
    let context = cpu();
    let a = with_spectrum::<f64>(&context, 40, 20, &(0..20).map(|j| 0.6f64.powi(j)).collect::<Vec<_>>(), 3);
    for restart_path in [None, Some(path("bytes"))] {
        let (m, read) = streamed(&context, &a, Order::RowMajor, None);
        let options = Options { rank: 3, method: Method::Range, block_rows: 16, restart_path, ..Options::default() };
        let f = factor::<f64>(&context, &m, options.clone()).unwrap();
        assert_eq!(f.info.bytes_read, to_i64(read.load(Ordering::Relaxed)), "{:?}", options.restart_path);
    }
}

/// A first try finds that the data cannot be squared. Its pass counts, and a run that goes on does not make it again.
#[test]
fn all_passes_over_data_that_are_scaled_count_and_none_is_made_twice() {
    let context = cpu();
    let plain = with_spectrum::<f64>(&context, 40, 20, &(0..20).map(|j| 0.6f64.powi(j)).collect::<Vec<_>>(), 3);
    for (unit, method, center) in [
        (1e200, Method::Range, Centering::None),
        (1e-200, Method::Range, Centering::None),
        (1e200, Method::Fifo, Centering::Columns),
        (1e-200, Method::Fused, Centering::Rows),
        (1e200, Method::Merge, Centering::None),
    ] {
        let what = format!("{method:?} {center:?} {unit:e}");
        let a = Dense { data: plain.data.iter().map(|x| x * unit).collect(), ..plain.clone() };
        let bytes = to_i64(8 * a.data.len());
        let file = path(&format!("scaled-{method:?}-{unit:e}"));
        let options = Options { rank: 3, method, block_rows: 16, center, restart_path: None, ..Options::default() };
        let (m, read) = streamed(&context, &a, Order::RowMajor, None);
        let planned = Rsvd::new(&context, options.clone()).unwrap().plan(&m).unwrap().passes;
        let whole = factor::<f64>(&context, &m, options.clone()).unwrap();
        let means = i64::from(center == Centering::Columns);
        assert_eq!(whole.info.passes, planned + 1 + means, "{what}");
        assert_eq!(whole.info.bytes_read, to_i64(read.load(Ordering::Relaxed)), "{what}");
        assert_eq!(whole.info.bytes_read, whole.info.passes * bytes, "{what}");
        let options = Options { restart_path: Some(file.clone()), ..options };
        let mut saved = 0;
        // Three blocks a pass, and a sample before all of them.
        for stop in 1..3 * usize::try_from(whole.info.passes).unwrap() {
            let (m, _) = streamed(&context, &a, Order::RowMajor, Some(1 + stop));
            assert!(matches!(factor::<f64>(&context, &m, options.clone()), Err(Error::Io { .. })), "{what} {stop}");
            let has_state = file.exists();
            let (m, read) = streamed(&context, &a, Order::RowMajor, None);
            let f = factor::<f64>(&context, &m, options.clone()).unwrap();
            assert_eq!(f.info.restarted, has_state, "{what} {stop}");
            assert_eq!(f.info.passes + f.info.passes_restarted, whole.info.passes, "{what} {stop}");
            assert_eq!(f.info.bytes_read, to_i64(read.load(Ordering::Relaxed)), "{what} {stop}");
            // The whole matrix is the sample.
            assert_eq!(f.info.bytes_read, (f.info.passes + 1) * bytes, "{what} {stop}");
            assert!(f.s == whole.s && bits(&f.u) == bits(&whole.u) && bits(&f.v) == bits(&whole.v), "{what} {stop}");
            assert!(!file.exists(), "{what} {stop}");
            saved += usize::from(has_state);
        }
        assert!(saved >= 3, "{what}");
    }
}

#[test]
fn a_file_that_is_damaged_or_of_something_else_is_refused() {
    let context = cpu();
    let a = matrix(&context, &read_npy::<f64>("poly_150x150.npy"), PACKED);
    let file = path("other");
    let options = Options {
        rank: 6,
        power_iterations: Some(3),
        method: Method::Fused,
        restart_path: Some(file.clone()),
        ..Options::default()
    };
    interrupt(&context, &a, &options, 1);
    let refused = |options: Options, a: &Matrix, needed: &str| {
        let e = factor::<f64>(&context, a, options).err().map(|e| e.to_string()).unwrap_or_default();
        assert!(e.starts_with("restart_path: ") && e.contains(needed), "{e}, not {needed}");
    };
    let mut bytes = std::fs::read(&file).unwrap();
    bytes[200] ^= 1;
    std::fs::write(&file, &bytes).unwrap();
    refused(options.clone(), &a, "is damaged");
    std::fs::write(&file, b"PURLINXX").unwrap();
    refused(options.clone(), &a, "is not a restart file");
    // The first format, whose word after the magic is 1 or 2.
    std::fs::write(&file, [b"PURLINRS".as_slice(), &2u64.to_le_bytes(), &[0; 112]].concat()).unwrap();
    refused(options.clone(), &a, "has version 2, which this library does not read: 3 is needed");
    std::fs::remove_file(&file).unwrap();
    assert!(factor_with::<f64>(&mut Rsvd::new(&context, options).unwrap(), &a).is_ok());
}

#[test]
fn only_the_runs_own_restart_file_is_replaced_or_removed() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let context = cpu();
    let a = matrix(&context, &read_npy::<f64>("poly_150x150.npy"), PACKED);
    let (file, link, fifo) = (path("own"), path("own-link"), path("own-fifo"));
    let options = |path: &PathBuf| Options {
        rank: 6,
        power_iterations: Some(3),
        method: Method::Fused,
        restart_path: Some(path.clone()),
        ..Options::default()
    };
    // The name that used to be predictable leads to somebody's file.
    let victim = path("own-victim");
    std::fs::write(&victim, "theirs").unwrap();
    symlink(&victim, path("own.part")).unwrap();
    interrupt(&context, &a, &options(&file), 1);
    assert_eq!(std::fs::read(&victim).unwrap(), b"theirs");
    let saved = std::fs::read(&file).unwrap();
    // A shorter, a longer and a resized state.
    for (bytes, needed) in [
        (saved[..saved.len() - 8].to_vec(), "is damaged"),
        ([&saved[..], &[0; 8]].concat(), "is damaged"),
        (saved[..100].to_vec(), "is not a restart file"),
    ] {
        std::fs::write(&file, bytes).unwrap();
        let e = factor::<f64>(&context, &a, options(&file)).err().map(|e| e.to_string()).unwrap_or_default();
        assert!(e.contains(needed), "{e}");
    }
    std::fs::write(&file, &saved).unwrap();
    symlink(&file, &link).unwrap();
    let e = factor::<f64>(&context, &a, options(&link)).err().map(|e| e.to_string()).unwrap_or_default();
    assert!(e.starts_with("restart_path: ") && e.contains("is a symbolic link"), "{e}");
    assert!(link.is_symlink() && file.exists());
    assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let e = factor::<f64>(&context, &a, options(&fifo)).err().map(|e| e.to_string()).unwrap_or_default();
    assert!(e.contains("own-fifo: is a FIFO"), "{e}");
    assert!(fifo.symlink_metadata().is_ok());
    // Permissions stay while it goes on.
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
    interrupt(&context, &a, &options(&file), 2);
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(factor::<f64>(&context, &a, options(&file)).unwrap().info.restarted);
    assert!(!file.exists());
}
