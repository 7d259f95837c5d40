//! Reports of progress: steps never go back, end at their number and there alone, and each of them can cancel.

use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::support::{Dense, PACKED, blank, cpu, gpu, matrix, vector, with_spectrum};
use crate::blocks::array::{ArrayInfo, Block};
use crate::blocks::number::Number;
use crate::blocks::source::{CallbackSource, HostSource, Source};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::group::Group;
use crate::matrix::{Matrix, SharedSource};
use crate::progress::ProgressFn;
use crate::rsvd::options::{Centering, ErrorKind, Method};
use crate::rsvd::outputs::Outputs;
use crate::rsvd::pca::PcaOptions;
use crate::rsvd::{Info, Options, Rsvd};
use crate::shape::{Order, to_i64};

/// A matrix whose reader takes longer for a block than reports are apart.
fn slow(context: &Arc<Context>, a: &Dense<f64>) -> Matrix {
    counted(context, a).0
}

/// The same, and the number of blocks that were read.
pub fn counted(context: &Arc<Context>, a: &Dense<f64>) -> (Matrix, Arc<AtomicUsize>) {
    let info = ArrayInfo::new(Number::F64, &[a.columns, a.rows]).unwrap();
    let whole = matrix(context, a, super::support::MatrixLayout { order: Order::RowMajor, gap: 0 });
    let bytes = whole.dense("test").unwrap().memory.host("test").unwrap().as_slice::<u8>().unwrap().to_vec();
    let inner = info.clone();
    let reads = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&reads);
    let read = move |block: &Block, out: &mut [u8]| {
        count.fetch_add(1, Ordering::Relaxed);
        std::thread::sleep(Duration::from_millis(55));
        HostSource::new(inner.clone(), &bytes)?.read(block, out)
    };
    let source = SharedSource::new(Box::new(CallbackSource::new(info, Box::new(read))));
    (Matrix::from_source(context, source, Order::RowMajor).unwrap(), reads)
}

/// Runs `call` and checks its reports; then cancels at the first and at the last report, and in the middle.
fn watch(name: &str, mut call: impl FnMut(&ProgressFn<'_>) -> Result<()>) {
    let seen = RefCell::new(Vec::new());
    let note = |step: i64, steps: i64, _: f64| {
        seen.borrow_mut().push((step, steps));
        true
    };
    call(&note).unwrap_or_else(|e| panic!("{name}: {e}"));
    let seen = seen.into_inner();
    assert!(seen.iter().all(|(step, steps)| 0 <= *step && step <= steps && *steps > 0), "{name}: {seen:?}");
    assert!(seen.windows(2).all(|w| w[0].0 <= w[1].0), "{name} goes back: {seen:?}");
    assert_eq!(seen.iter().filter(|s| s.0 == s.1).count(), 1, "{name} ends once: {seen:?}");
    let (last, steps) = seen[seen.len() - 1];
    assert_eq!(last, steps, "{name} ends at its steps: {seen:?}");
    for stop in [0, seen.len() / 2, seen.len() - 1] {
        let calls = Cell::new(0);
        let end = Cell::new(false);
        let until = |step: i64, steps: i64, _: f64| {
            calls.set(calls.get() + 1);
            // Times vary: the last report is known by its step.
            let is_last = step == steps;
            end.set(is_last);
            !(if stop + 1 == seen.len() { is_last } else { calls.get() > stop || is_last })
        };
        assert_eq!(call(&until), Err(Error::Cancelled), "{name} at {stop} of {seen:?}");
    }
}

fn options(method: Method) -> Options {
    let power_iterations = Some(if matches!(method, Method::Direct | Method::OnePass) { 0 } else { 1 });
    let oversampling = (method != Method::Direct).then_some(4);
    Options { rank: 3, method, power_iterations, oversampling, block_rows: 16, ..Options::default() }
}

const METHODS: [Method; 11] = [
    Method::Fused,
    Method::Range,
    Method::Merge,
    Method::Krylov,
    Method::Gram,
    Method::Direct,
    Method::OnePass,
    Method::Basic,
    Method::Fifo,
    Method::RowFused,
    Method::Brsvd,
];

fn compute(a: &Matrix, options: &Options, report: &ProgressFn<'_>) -> Result<Info> {
    let context = a.context();
    let k = if options.tolerance > 0.0 { options.max_rank } else { options.rank };
    let (mut u, mut s) = (blank::<f64>(context, a.rows(), k), vector(context, k));
    let mut v = blank::<f64>(context, a.cols(), k);
    let outputs = Outputs { u: Some(&mut u), s: Some(&mut s), v: Some(&mut v) };
    Rsvd::new(context, options.clone())?.compute(None, a, outputs, Some(report))
}

#[test]
fn every_method_reports_steps_that_end_once_and_cancel() {
    let context = cpu();
    check_methods(&context, &METHODS);
    let a = with_spectrum::<f64>(&context, 40, 20, &(0..20).map(|j| 0.6f64.powi(j)).collect::<Vec<_>>(), 3);
    let m = slow(&context, &a);
    for (error, center) in [(ErrorKind::Probes, Centering::Columns), (ErrorKind::Identity, Centering::Rows)] {
        let options = Options { error, center, ..options(Method::Fused) };
        watch(&format!("{error:?} {center:?}"), |report| compute(&m, &options, report).map(|_| ()));
    }
}

#[test]
#[ignore = "needs a GPU"]
fn methods_of_a_gpu_report_steps_that_end_once_and_cancel() {
    check_methods(&gpu(), &[Method::Fused, Method::Range, Method::Merge, Method::Krylov, Method::Gram]);
}

/// The first device's blocks are reported, on the thread of the call, and a report within a pass cancels on all.
#[test]
#[ignore = "needs a GPU"]
fn several_gpus_report_within_a_pass_and_cancel() {
    let contexts = [gpu(), gpu()];
    let group = Group::new(contexts.to_vec()).unwrap();
    let a = with_spectrum::<f64>(&contexts[0], 200, 20, &(0..20).map(|j| 0.6f64.powi(j)).collect::<Vec<_>>(), 3);
    for method in [Method::Fused, Method::Range, Method::Gram] {
        let run = |m: &Matrix, report: &ProgressFn<'_>| {
            let mut s = vector(&contexts[0], 3);
            let outputs = Outputs { u: None, s: Some(&mut s), v: None };
            Rsvd::over(&group, options(method))?.compute(None, m, outputs, Some(report))
        };
        let ((m, reads), reports) = (counted(&contexts[0], &a), Cell::new(0));
        let here = std::thread::current().id();
        let count = |_: i64, _: i64, _: f64| {
            assert_eq!(std::thread::current().id(), here);
            reports.set(reports.get() + 1);
            true
        };
        let info = run(&m, &count).unwrap();
        assert!(info.passes >= 1 && info.blocks >= 10, "{info:?}");
        let reads = reads.load(Ordering::Relaxed);
        assert!(3 * reports.get() > reads, "{method:?}: {} reports of {reads} blocks", reports.get());
        let m = slow(&contexts[0], &a);
        watch(&format!("{method:?} on two"), |report| run(&m, report).map(|_| ()));
        let ((m, reads), first) = (counted(&contexts[0], &a), |_: i64, _: i64, _: f64| false);
        assert_eq!(run(&m, &first).map(|_| ()), Err(Error::Cancelled));
        assert!(to_i64(reads.load(Ordering::Relaxed)) < info.blocks, "{method:?}: {reads:?}");
    }
}

fn check_methods(context: &Arc<Context>, methods: &[Method]) {
    let a = with_spectrum::<f64>(context, 40, 20, &(0..20).map(|j| 0.6f64.powi(j)).collect::<Vec<_>>(), 3);
    for &method in methods {
        let m = slow(context, &a);
        watch(&format!("{method:?}"), |report| compute(&m, &options(method), report).map(|_| ()));
        let ((m, reads), reports) = (counted(context, &a), Cell::new(0));
        let seen = RefCell::new(Vec::new());
        let count = |step: i64, steps: i64, _: f64| {
            reports.set(reports.get() + 1);
            seen.borrow_mut().push((step, steps));
            true
        };
        let info = compute(&m, &options(method), &count).unwrap();
        // Not once a pass, which has three blocks; a block that is read ahead may share its report.
        let reads = reads.load(Ordering::Relaxed);
        assert!(2 * reports.get() > reads, "{method:?}: {} reports of {reads} blocks", reports.get());
        // Steps are blocks. One that is read ahead may be done together with the next.
        let mut seen = seen.into_inner();
        let all = info.passes * info.blocks;
        assert!(seen.iter().all(|s| s.1 == all), "{method:?}: {all} steps, {seen:?}");
        seen.dedup_by_key(|s| s.0);
        // A GPU's blocks are read side by side, and then kept.
        let least = if context.gpu("test").is_err() { 2 * all / 3 } else { 1 };
        assert!(to_i64(seen.len()) > least, "{method:?}: {seen:?}");
    }
}

#[test]
fn repeated_passes_and_unknown_ranks_do_not_end_early() {
    let context = cpu();
    // Values below the resolution of a Gram matrix, a fast decay that FUSED repeats a pass for, and entries whose
    // squares overflow, for which the run begins anew.
    let steep = with_spectrum::<f64>(&context, 40, 20, &(0..20).map(|j| 1e-3f64.powi(j)).collect::<Vec<_>>(), 3);
    let mut huge = steep.clone();
    huge.data.iter_mut().for_each(|x| *x *= 1e200);
    for (name, a) in [("steep", &steep), ("huge", &huge)] {
        for method in [Method::Gram, Method::Fused] {
            let m = slow(&context, a);
            let options = Options { rank: 6, ..options(method) };
            watch(&format!("{name} {method:?}"), |report| compute(&m, &options, report).map(|_| ()));
        }
    }
    let m = slow(&context, &steep);
    let to_tolerance = Options {
        tolerance: 1e-4,
        max_rank: 20,
        block_columns: 2,
        rank: 0,
        oversampling: None,
        power_iterations: Some(0),
        block_rows: 16,
        ..Options::default()
    };
    watch("tolerance", |report| compute(&m, &to_tolerance, report).map(|_| ()));
}

#[test]
fn components_transforms_and_bases_report_alike() {
    let context = cpu();
    let a = with_spectrum::<f64>(&context, 40, 20, &(0..20).map(|j| 0.6f64.powi(j)).collect::<Vec<_>>(), 3);
    let m = slow(&context, &a);
    for method in [Method::Fused, Method::Direct] {
        watch(&format!("fit {method:?}"), |report| {
            let mut scores = blank::<f64>(&context, 40, 3);
            let mut session = Rsvd::new(&context, options(method))?;
            session.fit_pca(None, &m, &PcaOptions::default(), Some(&mut scores), Some(report)).map(|_| ())
        });
    }
    let mut session = Rsvd::new(&context, options(Method::Fused)).unwrap();
    let (pca, _) = session.fit_pca(None, &matrix(&context, &a, PACKED), &PcaOptions::default(), None, None).unwrap();
    let mut scores = blank::<f64>(&context, 40, 3);
    watch("transform", |report| pca.transform(None, &m, &mut scores, Some(report)).map(|_| ()));
    let kept = slow(&context, &super::support::held::<f64>(&scores));
    let mut back = blank::<f64>(&context, 40, 20);
    watch("inverse transform", |report| pca.inverse_transform(None, &kept, &mut back, Some(report)).map(|_| ()));
    let (mut q, mut b) = (blank::<f64>(&context, 40, 5), blank::<f64>(&context, 5, 20));
    let mut bases = Rsvd::new(&context, options(Method::Range)).unwrap();
    watch("range", |report| bases.range(None, &m, &mut q, Some(&mut b), Some(report)).map(|_| ()));
    let (u, v) = (blank::<f64>(&context, 40, 3), blank::<f64>(&context, 20, 3));
    let (s, mut left, mut right) = (vector(&context, 3), vector(&context, 3), vector(&context, 3));
    watch("error", |report| session.error(None, &m, (&u, &s, &v), Some(report)).map(|_| ()));
    watch("residuals", |report| {
        session.residuals(None, &m, (&u, &s, &v), &mut left, &mut right, Some(report)).map(|_| ())
    });
    let square = Dense { rows: 20, columns: 20, data: (0..400).map(|e| ((e % 20) * (e / 20)) as f64).collect() };
    let square = slow(&context, &square);
    let mut session = Rsvd::new(&context, Options { method: Method::Auto, ..options(Method::Fused) }).unwrap();
    watch("symmetric", |report| session.symmetric(None, &square, Some(&mut left), None, Some(report)).map(|_| ()));
}
