use std::slice::from_ref;
use std::sync::Arc;

use super::calls::{compute, compute_csr, difference, split};
use super::inputs::{context, context_with, entries, matrix, synthetic};
use crate::blocks::array::{ArrayInfo, Block};
use crate::blocks::number::Number;
use crate::blocks::sink::HostSink;
use crate::blocks::source::CallbackSource;
use crate::context::Context;
use crate::error::Error;
use crate::matrix::{Matrix, SharedSource, Storage};
use crate::rpca::session::Observed;
use crate::rpca::{Options, Rpca};
use crate::scalar::Element;
use crate::shape::Order;
use crate::tensor::Location;

/// A streamed matrix of 300 x 200 entries, given row by row.
pub(super) fn streamed(context: &Arc<Context>, m: &[f64], order: Order, fail_at: usize) -> Matrix {
    let m = m.to_vec();
    let dims = if order == Order::RowMajor { [200, 300] } else { [300, 200] };
    let info = ArrayInfo::new(Number::F64, &dims).unwrap();
    let mut reads = 0;
    let read = move |block: &Block, out: &mut [u8]| {
        reads += 1;
        if reads > fail_at {
            return Err(Error::Io { path: "camera".into(), problem: "is out of film".into() });
        }
        let (first, count) = (block.first(), block.count());
        for (k, bytes) in out.chunks_exact_mut(8).enumerate() {
            let (fast, slow) = (first[0] + k % count[0], first[1] + k / count[0]);
            let (i, j) = if order == Order::RowMajor { (slow, fast) } else { (fast, slow) };
            bytes.copy_from_slice(&m[i * 200 + j].to_ne_bytes());
        }
        Ok(())
    };
    let source = SharedSource::new(Box::new(CallbackSource::new(info, Box::new(read))));
    Matrix::from_source(context, source, order).unwrap()
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let (m, _) = synthetic();
    let run = |threads| {
        let context = context_with(threads, 0);
        let m = matrix(&context, Order::ColumnMajor, (300, 200), |i, j| m[i * 200 + j]);
        split::<f64>(&context, &m, None, &Options::default()).unwrap()
    };
    let (one, three) = (run(1), run(3));
    assert!(one.0 == three.0 && one.1 == three.1);
}

#[test]
fn little_memory_and_streams_give_what_much_memory_gives() {
    let (m, _) = synthetic();
    let much = context();
    let dense = matrix(&much, Order::ColumnMajor, (300, 200), |i, j| m[i * 200 + j]);
    let (l, s, _) = split::<f64>(&much, &dense, None, &Options::default()).unwrap();
    for order in [Order::ColumnMajor, Order::RowMajor] {
        // Too little for X and Y, of 480 kB each, and for the parts: they go to files and sinks.
        let little = context_with(2, 3_050_000);
        let m = streamed(&little, &m, order, usize::MAX);
        let dims = if order == Order::RowMajor { [200, 300] } else { [300, 200] };
        let info = ArrayInfo::new(Number::F64, &dims).unwrap();
        let (mut low_rank, mut sparse) = (vec![0u8; 480_000], vec![0u8; 480_000]);
        let mut sinks =
            (HostSink::new(info.clone(), &mut low_rank).unwrap(), HostSink::new(info, &mut sparse).unwrap());
        let options = Options { block_rows: 70, ..Options::default() };
        let mut session = Rpca::new(&little, options).unwrap();
        let given = Observed { m: &m, mask: None };
        let run = session.compute_to_sinks(None, given, Some(&mut sinks.0), Some(&mut sinks.1), None).unwrap();
        assert!(run.converged && run.blocks > 3, "{run:?}");
        assert!(run.host_bytes_used <= 3_050_000, "{run:?}");
        assert_eq!(run.bytes_read % 480_000, 0);
        assert!(run.bytes_read > 0);
        let turned = |bytes: &[u8]| -> Vec<f64> {
            let v: Vec<f64> = bytes.chunks_exact(8).map(|b| f64::from_ne_bytes(b.try_into().unwrap())).collect();
            match order {
                Order::RowMajor => v,
                Order::ColumnMajor => (0..60_000).map(|e| v[e % 200 * 300 + e / 200]).collect(),
            }
        };
        assert!(difference(&turned(&low_rank), &l) < 1e-10, "{}", difference(&turned(&low_rank), &l));
        assert!(difference(&turned(&sparse), &s) < 1e-10);
    }
}

#[test]
fn a_reader_that_fails_ends_the_run_with_its_own_words() {
    let context = context();
    let (m, _) = synthetic();
    for reads in [0, 1, 9] {
        let m = streamed(&context, &m, Order::RowMajor, reads);
        let options = Options { block_rows: 64, ..Options::default() };
        let error = split::<f64>(&context, &m, None, &options).unwrap_err().to_string();
        assert_eq!(error, "camera: is out of film");
    }
}

#[test]
fn too_little_memory_is_an_error_that_says_for_what() {
    let context = context_with(1, 100_000);
    let m = streamed(&context, &synthetic().0, Order::RowMajor, usize::MAX);
    let error = compute(from_ref(&context), None, &m, None, &Options::default(), None, None, None).unwrap_err();
    assert!(matches!(error, Error::OutOfMemory { limit: Some(100_000), .. }), "{error}");
    assert_eq!(context.host_memory_used(), 0);
}

#[test]
fn the_sparse_part_in_compressed_rows_is_the_dense_one() {
    let context = context();
    let (values, _) = synthetic();
    for (rows, cols) in [(300, 200), (200, 300)] {
        let entry = |i: usize, j: usize| if rows > cols { values[i * 200 + j] } else { values[j * 200 + i] };
        let m = matrix(&context, Order::RowMajor, (rows, cols), entry);
        let (_, s, _) = split::<f64>(&context, &m, None, &Options::default()).unwrap();
        for threshold in [0.0, 0.5] {
            let options = Options { threshold, ..Options::default() };
            let (sparse, info) = compute_csr(from_ref(&context), None, &m, None, &options, None, None).unwrap();
            let Storage::Csr(csr) = sparse.storage() else { panic!("not sparse") };
            let offsets = csr.parts().row_ptr.as_slice::<i64>().unwrap();
            let columns = csr.parts().col_idx.as_slice::<i32>().unwrap();
            let found = csr.parts().values.as_ref().unwrap().host("s").unwrap().as_slice::<f64>().unwrap();
            let mut dense = vec![0.0; rows * cols];
            for i in 0..rows {
                for k in offsets[i] as usize..offsets[i + 1] as usize {
                    dense[i * cols + columns[k] as usize] = found[k];
                }
            }
            let expected: Vec<f64> = s.iter().map(|v| if v.abs() > threshold { *v } else { 0.0 }).collect();
            assert_eq!(dense, expected);
            assert_eq!(csr.nnz() as u64, info.nonzeros);
        }
    }
}

#[test]
fn a_leading_dimension_and_either_order_of_the_parts_are_respected() {
    let context = context();
    let (values, _) = synthetic();
    let m = matrix(&context, Order::RowMajor, (300, 200), |i, j| values[i * 200 + j]);
    let (l, ..) = split::<f64>(&context, &m, None, &Options::default()).unwrap();
    let mut part = Matrix::create(&context, f64::DTYPE, Location::Host, Order::RowMajor, 300, 200).unwrap();
    compute(from_ref(&context), None, &m, None, &Options::default(), Some(&mut part), None, None).unwrap();
    assert_eq!(entries::<f64>(&part), l);
    let budget = crate::backend::memory::Budget::new(0);
    let layout = Matrix::dense_layout(f64::DTYPE, Order::ColumnMajor, 300, 200, 310).unwrap();
    let mut memory = crate::backend::memory::HostMemory::allocate("test", layout.extent() * 8, &budget).unwrap();
    memory.as_mut_slice::<f64>().unwrap().fill(-7.0);
    let memory = crate::backend::memory::Memory::Host(memory);
    let mut wide = Matrix::from_memory(&context, f64::DTYPE, Order::ColumnMajor, layout, memory, false).unwrap();
    compute(from_ref(&context), None, &m, None, &Options::default(), Some(&mut wide), None, None).unwrap();
    assert_eq!(entries::<f64>(&wide), l);
    let dense = wide.dense("l").unwrap();
    let all = dense.memory.host("l").unwrap().as_slice::<f64>().unwrap();
    assert!(all.chunks(310).take(199).all(|column| column[300..].iter().all(|v| *v == -7.0)));
}
