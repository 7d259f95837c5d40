//! Limits of memory: a run that the plan accepts stays inside the limit, and one that does not fit is refused before
//! work starts.

use std::slice::from_ref;
use std::sync::Arc;

use super::calls::{compute, plan};
use super::inputs::{context_with, entries, synthetic};
use super::memory::streamed;
use crate::backend::memory::{Budget, HostMemory, Memory};
use crate::context::Context;
use crate::error::Error;
use crate::matrix::Matrix;
use crate::rpca::{Frames, Info, Options};
use crate::scalar::{Complex, DType, Scalar};
use crate::shape::Order;
use crate::tensor::Location;

/// A matrix whose memory the limit does not count.
fn outside<T: Scalar>(
    context: &Arc<Context>,
    (rows, cols): (usize, usize),
    entry: impl Fn(usize, usize) -> f64,
) -> Matrix {
    let layout = Matrix::dense_layout(T::DTYPE, Order::ColumnMajor, rows, cols, rows).unwrap();
    let mut memory = HostMemory::allocate("test", layout.extent() * size_of::<T>(), &Budget::new(0)).unwrap();
    for (k, x) in memory.as_mut_slice::<T>().unwrap().iter_mut().enumerate() {
        *x = T::from_parts(entry(k % rows, k / rows), if T::IS_COMPLEX { entry(k / rows, k % rows) } else { 0.0 });
    }
    Matrix::from_memory(context, T::DTYPE, Order::ColumnMajor, layout, Memory::Host(memory), false).unwrap()
}

fn bytes(context: &Arc<Context>, (rows, cols): (usize, usize)) -> Matrix {
    let layout = Matrix::dense_layout(DType::U8, Order::RowMajor, rows, cols, cols).unwrap();
    let mut memory = HostMemory::allocate("test", layout.extent(), &Budget::new(0)).unwrap();
    memory.as_mut_slice::<u8>().unwrap().iter_mut().enumerate().for_each(|(k, x)| *x = (k * k % 251) as u8);
    Matrix::from_memory(context, DType::U8, Order::RowMajor, layout, Memory::Host(memory), true).unwrap()
}

/// Low rank with spikes, or noise, whose low-rank part has many columns.
fn entry(is_noise: bool, i: usize, j: usize) -> f64 {
    let hash = |i: usize, j: usize| ((i * 7919 + j * 104_729 + i * j * 31) % 1009) as f64 / 504.5 - 1.0;
    let low = hash(i, 1) * hash(2, j) + hash(i, 3) * hash(4, j);
    match is_noise {
        true => hash(i, j),
        false if (i * 31 + j * 17).is_multiple_of(41) => low + 5.0,
        false => low,
    }
}

/// Runs under limits from just below the least that is accepted up.
fn sweep(name: &str, options: &Options, make: impl Fn(&Arc<Context>) -> Matrix) {
    let under = |limit: u64| {
        let context = context_with(2, limit);
        let m = make(&context);
        (plan(from_ref(&context), &m, None, options), context, m)
    };
    // The message names the bytes needed.
    let (refused, ..) = under(1 << 12);
    let Err(Error::OutOfMemory { bytes, .. }) = refused else { panic!("{name}: {refused:?}") };
    let (below, context, m) = under(bytes - 1);
    let e = below.unwrap_err();
    assert!(matches!(e, Error::OutOfMemory { .. }), "{name}: {e}");
    let again = compute(from_ref(&context), None, &m, None, options, None, None, None).unwrap_err();
    assert_eq!(again, e, "{name}");
    assert_eq!(context.host_memory_used(), 0, "{name}");
    let (unlimited, ..) = under(0);
    assert_eq!(unlimited.unwrap().reason, "X and Y fit in memory", "{name}");
    for eighths in [8, 9, 12, 16, 40] {
        let limit = bytes * eighths / 8;
        let (planned, context, m) = under(limit);
        let planned = planned.unwrap_or_else(|e| panic!("{name}: limit {limit}: {e}"));
        let info = compute(from_ref(&context), None, &m, None, options, None, None, None);
        let info = info.unwrap_or_else(|e| panic!("{name}: limit {limit}, planned {}: {e}", planned.host_bytes));
        assert!(info.host_bytes_used <= limit, "{name}: {} of {limit}", info.host_bytes_used);
        assert_eq!((planned.host_bytes, planned.blocks), (info.host_bytes, info.blocks), "{name}");
        assert_eq!(planned.reason, info.reason, "{name}");
        assert!(eighths > 8 || info.reason.contains("an unnamed file"), "{name}: {}", info.reason);
        if info.rank < 10 && m.rows() > 20 * m.cols() {
            let ratio = info.host_bytes as f64 / info.host_bytes_used as f64;
            assert!((0.9..=1.1).contains(&ratio), "{name}: limit {limit}: {info:?}");
        }
    }
}

#[test]
fn what_a_plan_accepts_runs_inside_the_limit() {
    let few = Options { max_iterations: 12, ..Options::default() };
    for is_noise in [false, true] {
        for shape in [(900, 24), (24, 300), (60, 60)] {
            let name = format!("{shape:?} noise {is_noise}");
            sweep(&name, &few, |c| outside::<f64>(c, shape, |i, j| entry(is_noise, i, j)));
            sweep(&name, &few, |c| outside::<f32>(c, shape, |i, j| entry(is_noise, i, j)));
        }
    }
    let complex = |c: &Arc<Context>| outside::<Complex<f64>>(c, (700, 20), |i, j| entry(false, i, j));
    sweep("complex", &few, complex);
    sweep("bytes", &Options { dtype: Some(DType::F64), scale: 1.0 / 255.0, ..few.clone() }, |c| bytes(c, (500, 24)));
    for order in [Order::RowMajor, Order::ColumnMajor] {
        let (values, _) = synthetic();
        sweep("a source", &Options { block_rows: 64, ..few.clone() }, |c| streamed(c, &values, order, usize::MAX));
    }
    for options in [
        Options { max_rank: 2, ..few.clone() },
        Options { fixed_rank: 4, power_iterations: 0, ..few.clone() },
        Options { power_iterations: 3, warm_start: false, ..few.clone() },
    ] {
        sweep(&format!("{options:?}"), &options, |c| outside::<f64>(c, (900, 60), |i, j| entry(true, i, j)));
    }
}

#[test]
fn cuts_under_a_limit_do_not_depend_on_the_threads() {
    let run = |threads| {
        let context = context_with(threads, 700_000);
        let m = outside::<f64>(&context, (900, 24), |i, j| entry(false, i, j));
        let mut low = outside::<f64>(&context, (900, 24), |_, _| 0.0);
        let info =
            compute(from_ref(&context), None, &m, None, &Options::default(), Some(&mut low), None, None).unwrap();
        (entries::<f64>(&low), info.blocks)
    };
    let (one, three) = (run(1), run(3));
    assert!(one == three);
}

/// A plan ends as a run does, with the same text, for good and bad options and matrices; and where both end well their
/// figures agree.
#[test]
fn a_plan_is_refused_where_a_run_is() {
    let few = Options { max_iterations: 40, ..Options::default() };
    let table = [
        few.clone(),
        Options { dtype: Some(DType::F32), ..few.clone() },
        Options { dtype: Some(DType::CF64), ..few.clone() },
        Options { fixed_rank: 3, ..few.clone() },
        Options { fixed_rank: 1000, ..few.clone() },
        Options { max_rank: 1000, oversampling: 1000, ..few.clone() },
        Options { block_rows: 7, ..few.clone() },
        Options { block_rows: usize::MAX / 2, ..few.clone() },
        Options { frames: Frames::Rows, ..few.clone() },
    ];
    let (mut good, mut bad) = (0, 0);
    for limit in [0, 40_000] {
        let context = context_with(2, limit);
        let stranger = context_with(1, 0);
        let doubles = |shape| outside::<f64>(&context, shape, |i, j| entry(false, i, j));
        let matrices = [
            doubles((90, 24)),
            doubles((24, 24)),
            doubles((1, 9)),
            doubles((2, 1)),
            outside::<Complex<f64>>(&context, (30, 20), |i, j| entry(false, i, j)),
            bytes(&context, (90, 24)),
            outside::<f64>(&stranger, (90, 24), |i, j| entry(false, i, j)),
            Matrix::create(&stranger, DType::F64, Location::Host, Order::ColumnMajor, 0, 24).unwrap(),
            Matrix::create(&context, DType::F64, Location::Host, Order::ColumnMajor, 0, 24).unwrap(),
            Matrix::create(&context, DType::F64, Location::Host, Order::ColumnMajor, 90, 0).unwrap(),
        ];
        let masks =
            [bytes(&context, (90, 24)), bytes(&context, (24, 90)), doubles((90, 24)), bytes(&stranger, (90, 24))];
        for options in &table {
            for m in &matrices {
                for mask in [None].into_iter().chain(masks.iter().map(Some)) {
                    let planned = plan(from_ref(&context), m, mask, options);
                    let done = compute(from_ref(&context), None, m, mask, options, None, None, None);
                    let what = format!("limit {limit}, {}x{} {:?}: {options:?}", m.rows(), m.cols(), m.dtype());
                    assert_eq!(planned.clone().err(), done.clone().err(), "{what}");
                    let (Ok(planned), Ok(done)) = (planned, done) else {
                        bad += 1;
                        continue;
                    };
                    let figures = |i: Info| (i.dtype, i.contexts, i.blocks, i.block_rows, i.host_bytes, i.device_bytes);
                    assert_eq!(figures(planned), figures(done), "{what}");
                    good += 1;
                }
            }
        }
    }
    assert!(good > 50 && bad > 200, "{good} good, {bad} bad");
}
