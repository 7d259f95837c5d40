//! Reports within passes over data that are delivered slowly, and cancels there.

use std::cell::Cell;
use std::slice::from_ref;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::calls::{compute, session};
use super::device::gpu_context;
use super::inputs::{context, matrix, synthetic};
use crate::blocks::array::{ArrayInfo, Block};
use crate::blocks::number::{Endianness, Number};
use crate::blocks::sink::{CallbackSink, FileSink};
use crate::blocks::source::CallbackSource;
use crate::context::Context;
use crate::error::Error;
use crate::matrix::{Matrix, SharedSource};
use crate::rpca::Options;
use crate::rpca::session::Observed;
use crate::shape::Order;

/// A 300 x 200 matrix whose reader takes longer for a block than reports are apart, and the number of blocks that were read.
fn slow(context: &Arc<Context>) -> (Matrix, Arc<AtomicUsize>) {
    let (values, _) = synthetic();
    let reads = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&reads);
    let read = move |block: &Block, out: &mut [u8]| {
        count.fetch_add(1, Ordering::Relaxed);
        std::thread::sleep(Duration::from_millis(55));
        let (first, columns) = (block.first(), block.count()[0]);
        for (k, bytes) in out.chunks_exact_mut(8).enumerate() {
            let (i, j) = (first[1] + k / columns, first[0] + k % columns);
            bytes.copy_from_slice(&values[i * 200 + j].to_ne_bytes());
        }
        Ok(())
    };
    let info = ArrayInfo::new(Number::F64, &[200, 300]).unwrap();
    let source = SharedSource::new(Box::new(CallbackSource::new(info, Box::new(read))));
    (Matrix::from_source(context, source, Order::RowMajor).unwrap(), reads)
}

/// About each block of the first device is reported, and a report within the first pass cancels there.
fn check(contexts: &[Arc<Context>]) {
    let options = Options { block_rows: 25, max_iterations: 2, ..Options::default() };
    let (m, reads) = slow(&contexts[0]);
    let reports = Cell::new(0);
    let count = |step: i64, steps: i64, _: f64| {
        assert!((0..=steps).contains(&step) && steps == 2, "{step} of {steps}");
        reports.set(reports.get() + 1);
        true
    };
    let info = compute(contexts, None, &m, None, &options, None, None, Some(&count)).unwrap();
    assert!(info.iterations == 2 && info.blocks >= 8, "{info:?}");
    // A block that is read ahead may share its report.
    let reads = reads.load(Ordering::Relaxed);
    assert!((1 + contexts.len()) * reports.get() > reads, "{} reports of {reads} blocks", reports.get());

    let (m, reads) = slow(&contexts[0]);
    let no = |step: i64, _: i64, _: f64| {
        assert_eq!(step, 0);
        false
    };
    let error = compute(contexts, None, &m, None, &options, None, None, Some(&no)).unwrap_err();
    assert_eq!(error, Error::Cancelled);
    assert!((reads.load(Ordering::Relaxed) as u64) < info.blocks, "{reads:?} blocks are read");
}

#[test]
fn each_block_is_reported_and_can_cancel() {
    check(from_ref(&context()));
}

#[test]
#[ignore = "needs a GPU"]
fn each_block_of_gpus_is_reported_and_can_cancel() {
    check(&[gpu_context(0)]);
    check(&[gpu_context(0), gpu_context(0)]);
}

/// A cancel that comes with the last block of the parts: the file of the other part keeps its earlier contents.
#[test]
fn a_cancel_while_the_parts_are_written_leaves_the_files() {
    let context = context();
    let m = matrix(&context, Order::ColumnMajor, (30, 20), |i, j| ((i * 7 + j * 3) % 11) as f64);
    let info = ArrayInfo::new(Number::F64, &[30, 20]).unwrap();
    let path = std::env::temp_dir().join(format!("purlin_rpca_sink_{}", std::process::id()));
    std::fs::write(&path, b"earlier").unwrap();
    let canceller = Arc::clone(&context);
    let write = move |_: &Block, _: &[u8]| {
        canceller.cancel();
        Ok(())
    };
    let mut low_rank = CallbackSink::new(info.clone(), Box::new(write));
    let mut sparse = FileSink::create(&path, &[], Endianness::Little, info).unwrap();
    let given = Observed { m: &m, mask: None };
    let options = Options { max_iterations: 3, ..Options::default() };
    let mut session = session(from_ref(&context), &options).unwrap();
    let found = session.compute_to_sinks(None, given, Some(&mut low_rank), Some(&mut sparse), None);
    assert!(matches!(found, Err(Error::Cancelled)), "{found:?}");
    drop(sparse);
    assert_eq!(std::fs::read(&path).unwrap(), b"earlier");
    std::fs::remove_file(&path).unwrap();
}
