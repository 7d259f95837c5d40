//! The cost model against times measured on an H200 (132 multiprocessors at 1.98 GHz).

use super::support::{Dense, PACKED, factor, matrix};
use crate::backend::BackendChoice;
use crate::blocks::array::ArrayInfo;
use crate::blocks::number::Number;
use crate::blocks::source::CallbackSource;
use crate::context::{Context, Options as ContextOptions};
use crate::matrix::{Matrix, SharedSource};
use crate::rsvd::choose::{Case, Machine};
use crate::rsvd::options::Method;
use crate::rsvd::{Options, Rsvd};
use crate::scalar::DType;
use crate::shape::Order;

/// Times of 2026-11-22 for data on the device; of 2026-11-20 for streamed data
/// (benches/results/nvidia-h200/20261120T172700Z-0a8e1efaed.json).
fn h200(single: bool) -> Machine {
    Machine::gpu(true, single, 1.98e9 * 132.0)
}

/// Two power iterations on a matrix of the device.
fn held(rows: usize, columns: usize, (rank, width): (usize, usize), single: bool) -> Case {
    let bytes = if single { 4 } else { 8 };
    Case {
        rows,
        columns,
        rank,
        width,
        iterations: 2,
        merge_width: 2 * width,
        one_pass: false,
        entries: (rows * columns) as f64,
        entry_bytes: bytes,
        element_bytes: bytes,
        is_there: true,
        resident: 1.0,
        has_blocks: true,
        blocks: 1,
        gram_limit: 30e9,
        is_delicate: false,
        is_given: false,
    }
}

#[test]
fn what_was_measured_fastest_is_taken() {
    let (few, many) = ((100, 128), (400, 500));
    for (rows, columns, widths, single, fused, krylov) in [
        (100_000, 4000, few, false, 15.97e-3, Some(23.60e-3)),
        (100_000, 4000, many, false, 64.35e-3, None),
        (100_000, 4000, few, true, 16.93e-3, Some(23.31e-3)),
        (100_000, 4000, many, true, 65.24e-3, None),
        (200_000, 5000, few, false, 35.69e-3, Some(50.47e-3)),
        (200_000, 5000, many, false, 143.4e-3, None),
        (200_000, 5000, few, true, 35.76e-3, Some(46.99e-3)),
        (200_000, 5000, many, true, 143.1e-3, None),
    ] {
        let (case, machine) = (held(rows, columns, widths, single), h200(single));
        let name = format!("{rows} x {columns}, l = {}, single: {single}", widths.1);
        for (method, measured) in [(Method::Fused, Some(fused)), (Method::Krylov, krylov)] {
            let Some(measured) = measured else { continue };
            let ratio = case.cost(method, &machine) / measured;
            assert!((0.9..1.1).contains(&ratio), "{name}: {method:?} takes {ratio:.3} of what was measured");
        }
        let (method, reason) = case.choose(&[machine], &[]).unwrap();
        assert_eq!(method, Method::Fused, "{name}: {reason}");
    }
}

/// 4 194 304 x 2048 in host memory, 16 GiB of the device: GRAM took 3.25 s, FUSED 4.28 s, MERGE 8.14 s.
#[test]
fn two_passes_are_taken_where_the_link_is_slow() {
    let mut case = held(4_194_304, 2048, (64, 128), false);
    (case.is_there, case.resident, case.blocks, case.gram_limit) = (false, 0.17, 512, 4e9);
    let machine = h200(false);
    let [gram, fused, merge] = [Method::Gram, Method::Fused, Method::Merge].map(|m| case.cost(m, &machine));
    assert!(gram < fused && fused < merge, "{gram} {fused} {merge}");
    assert_eq!(case.choose(&[machine], &[]).unwrap().0, Method::Gram);
    // Where small values are wanted it must not be taken.
    case.is_delicate = true;
    assert_ne!(case.choose(&[machine], &[]).unwrap().0, Method::Gram);
}

/// A file of 8 GB on one machine: fast from memory, and through a slow reader.
#[test]
fn a_slow_reader_is_read_in_the_fewest_passes() {
    let mut case = held(1_000_000, 1000, (20, 30), false);
    (case.is_there, case.resident, case.blocks) = (false, 0.0, 125);
    let fast = Machine { link: 2e9, flops: 160e9, ramp: 0.0, small: 16e9, memory: 40e9 };
    let slow = Machine { link: 20e6, ..fast };
    let passes = |machine: Machine| {
        let (method, _) = case.choose(&[machine], &[]).unwrap();
        (crate::rsvd::algorithm::passes(method, case.iterations, false), case.cost(method, &machine))
    };
    assert_eq!(passes(slow).0, 2);
    assert!(passes(slow).1 > 2.0 * 8e9 / 20e6 && passes(fast).1 < passes(slow).1 / 10.0);
}

/// GRAM reads a file once less than KRYLOV and FUSED and has ten times the operations, which only many threads hide behind the
/// reading. How many there are must not matter, so a method is taken that cannot be much too slow.
#[test]
fn a_file_is_read_by_the_method_that_few_threads_can_bear() {
    let plan = |read_rate: f64| {
        let context = of_threads(2);
        let options =
            Options { rank: 50, oversampling: Some(14), power_iterations: Some(2), read_rate, ..Options::default() };
        Rsvd::new(&context, options).unwrap().plan(&unread(&context, 10_000, 2000)).unwrap()
    };
    let file = plan(0.0);
    assert_eq!(file.method, Method::Krylov, "{}", file.reason);
    assert!(
        file.reason.contains("times as long as the fastest with 2 or 8 threads; ") && file.reason.contains("GRAM ")
    );
    // Through a slow reader a pass is dear, and two are the fewest.
    let slow = plan(20e6);
    assert!(matches!(slow.method, Method::Gram | Method::Merge), "{:?}: {}", slow.method, slow.reason);
}

#[test]
fn a_transfer_is_counted_where_there_is_one() {
    let mut case = held(100_000, 4000, (100, 128), false);
    let machine = h200(false);
    let there = case.cost(Method::Fused, &machine);
    case.is_there = false;
    let brought = case.cost(Method::Fused, &machine);
    assert!(brought > 3.2e9 / 50e9 && there < brought, "{there} {brought}");
    // Each of three passes over the rows that do not stay on the device.
    case.resident = 0.0;
    assert!(case.cost(Method::Fused, &machine) > 3.0 * 3.2e9 / 50e9);
}

/// A matrix whose entries are never read.
fn unread(context: &std::sync::Arc<Context>, rows: usize, columns: usize) -> Matrix {
    let info = ArrayInfo::new(Number::of("test", DType::F64).unwrap(), &[columns, rows]).unwrap();
    let read = |_: &_, _: &mut [u8]| Err(crate::error::Error::Internal("a plan reads nothing".into()));
    let source = SharedSource::new(Box::new(CallbackSource::new(info, Box::new(read))));
    Matrix::from_source(context, source, Order::RowMajor).unwrap()
}

fn of_threads(threads: usize) -> std::sync::Arc<Context> {
    Context::new(ContextOptions { backend: BackendChoice::Cpu, threads, ..ContextOptions::default() }).unwrap()
}

/// The choice of AUTO, and so the bits of a result, do not depend on the threads of the context.
#[test]
fn the_choice_does_not_depend_on_the_threads() {
    let contexts = [1, 8, 16, 33].map(of_threads);
    let shapes = [(500, 100), (500, 50), (2000, 300), (2000, 1000), (20_000, 50), (20_000, 1000), (1000, 20_000)];
    for (rows, columns) in shapes {
        for (rank, power_iterations) in [(5, Some(1)), (5, None), (20, None), (50, Some(3))] {
            for dtype in [DType::F32, DType::F64] {
                for read_rate in [0.0, 1e8] {
                    let options =
                        Options { rank, power_iterations, dtype: Some(dtype), read_rate, ..Options::default() };
                    let choices = contexts.each_ref().map(|context| {
                        let a = unread(context, rows, columns);
                        let info = Rsvd::new(context, options.clone()).unwrap().plan(&a).unwrap();
                        (info.method, info.reason)
                    });
                    let same = choices.iter().all(|c| c.0 == choices[0].0);
                    assert!(same, "{rows} x {columns}, {rank}, {power_iterations:?}, {dtype:?}: {choices:?}");
                }
            }
        }
    }
    for (rows, columns, rank, power_iterations) in [(500, 100, 5, Some(1)), (600, 90, 5, None)] {
        let noise = |k: usize| ((k * 7919 + k * k % 104_729 * 31) % 10_007) as f64 / 10_007.0 - 0.5;
        let x = Dense { rows, columns, data: (0..rows * columns).map(noise).collect() };
        let found = contexts.each_ref().map(|context| {
            let options = Options { rank, power_iterations, ..Options::default() };
            let s = factor::<f64>(context, &matrix(context, &x, PACKED), options).unwrap().s;
            s.iter().map(|s| s.to_bits()).collect::<Vec<_>>()
        });
        assert!(found.iter().all(|s| *s == found[0]), "{rows} x {columns}: {found:?}");
    }
}
