//! The bytes of plans before they are made, against those that plans are charged for.

use std::sync::Arc;

use super::cut::Cut;
use crate::context::Context;
use crate::matrix::sparse::{Ordering, Rows};
use crate::matrix::{Matrix, Storage};
use crate::scalar::{Complex, Scalar};
use crate::spmv::tests::{ALL, cases, matrix};
use crate::spmv::{DeviceBytes, Method, Op, Options, Plan};
use crate::testing::sparse::{all_on_device, cpu, from_entries, gpu};

/// Rows of `lengths` entries.
fn rows_of(lengths: &[usize], check: impl FnOnce(&Rows<'_>)) {
    let mut offsets = vec![0i64];
    lengths.iter().for_each(|length| offsets.push(offsets[offsets.len() - 1] + *length as i64));
    check(&Rows::of_offsets(&offsets));
}

#[test]
fn tiles_in_any_order_are_no_more_than_their_bound() {
    let lists: [Vec<usize>; 7] = [
        Vec::new(),
        vec![0; 50],
        (0..300).map(|i| i * i % 37).collect(),
        (0..300).map(|i| if i % 50 == 0 { 900 } else { 5 }).collect(),
        (0..200).map(|i| if i % 2 == 0 { 33 } else { 32 }).collect(),
        vec![64; 40],
        vec![1; 1000],
    ];
    for lengths in &lists {
        for (entries, most_rows) in [(64, 16), (64, 1000), (16, 7), (1024, 100), (1, 1)] {
            let mut sorted = lengths.clone();
            sorted.sort_unstable();
            let reversed = lengths.iter().rev().copied().collect();
            let from_both_ends =
                (0..sorted.len()).map(|i| sorted[if i % 2 == 0 { i / 2 } else { sorted.len() - 1 - i / 2 }]).collect();
            for ordered in [lengths.clone(), reversed, from_both_ends, sorted.clone()] {
                rows_of(&ordered, |rows| {
                    let found = Cut::tiles(rows, entries, most_rows).unwrap().sizes();
                    let most = Cut::most_tiles(rows, entries, most_rows);
                    assert!(found.count <= most.count && found.bytes <= most.bytes, "{found:?} {most:?}");
                    assert_eq!((found.pieces, found.longs), (most.pieces, most.longs));
                    rows_of(lengths, |given| assert_eq!(Cut::most_tiles(given, entries, most_rows), most));
                });
            }
        }
    }
}

#[test]
fn bytes_of_shares_are_those_of_their_lists() {
    for lengths in [vec![], vec![0; 2], vec![5000, 0, 1, 70, 9000], vec![3; 700]] {
        rows_of(&lengths, |rows| {
            for cut in [Cut::merge(rows), Cut::bins(rows), Cut::tiles(rows, 64, 16)] {
                let cut = cut.unwrap();
                let lists =
                    8 * (cut.words.len() + cut.longs.len()) + 4 * (cut.order.len() + cut.owners().unwrap().len());
                assert_eq!(cut.sizes().bytes, lists, "{lengths:?}");
            }
        });
    }
}

#[test]
fn nothing_of_a_plan_is_on_a_device_without_one() {
    let c = cpu(2);
    let a = from_entries(&c, (3, 3), &[(0, 0, 1.0), (2, 1, 2.0)]);
    assert_eq!(Plan::device_bytes(&c, &a, Options::default(), 4).unwrap(), DeviceBytes::default());
}

/// Compares the bytes of plans of `a` with the charges for making them and for their products.
fn compare<T: Scalar>(c: &Arc<Context>, a: &Matrix, options: Options, width: usize) {
    let budget = c.device_budget();
    let what = format!("{options:?} of {} x {} with {} entries", a.rows(), a.cols(), nnz(a));
    let wanted = match Plan::device_bytes(c, a, options, width) {
        Ok(wanted) => wanted,
        Err(error) => return assert_eq!(Plan::new(c, a, options).err(), Some(error), "{what}"),
    };
    let before = budget.restart_peak();
    let plan = match Plan::cached(c, a, options) {
        Ok(plan) => plan,
        Err(error) => return assert_eq!(options.method, Method::Sweeps, "{what}: {error}"),
    };
    let (kept, peak) = ((budget.used() - before) as usize, (budget.peak() - before) as usize);
    eprintln!("{what}: {wanted:?}, kept {kept}, peak {peak}");
    assert!(kept <= wanted.plan.kept && peak <= wanted.plan.peak, "{what}: {wanted:?}, kept {kept}, peak {peak}");
    if options.ordering.is_none() && plan.info().method != Method::Sweeps {
        assert_eq!((kept, peak), (wanted.plan.kept, wanted.plan.peak), "{what}");
    } else if nnz(a) > 1000 {
        assert!(kept as f64 >= 0.5 * wanted.plan.kept as f64, "{what}: {wanted:?}, kept {kept}");
    }
    // The plan is there now, and new values take the bytes of the values alone.
    let again = Plan::device_bytes(c, a, options, width).unwrap();
    assert!(again.plan.kept == 0 && again.tiles <= wanted.tiles, "{what}: {wanted:?} {again:?}");
    assert!(again.space <= wanted.space && again.block <= wanted.block, "{what}: {wanted:?} {again:?}");
    let gpu = c.gpu("test").unwrap();
    let stream = gpu.default_stream();
    let before = budget.used();
    let space = plan.device_space(stream).unwrap();
    assert_eq!((budget.used() - before) as usize, again.space, "{what}");
    drop(space);
    let (rows, cols) = if options.op == Op::Plain { (a.rows(), a.cols()) } else { (a.cols(), a.rows()) };
    let memory = |rows: usize| gpu.allocate("test", rows * width * size_of::<T>()).unwrap();
    let (x, y) = (memory(cols), memory(rows));
    let before = budget.restart_peak();
    let factors = (Complex::new(1.0, 0.0), Complex::new(0.0, 0.0));
    plan.multiply_device_block(a, stream, factors, width, (x.whole(), width), (y.whole(), width)).unwrap();
    assert_eq!((budget.used() - before) as usize, again.tiles, "{what}");
    assert_eq!((budget.peak() - before) as usize, again.tiles + again.block, "{what}");
    assert_eq!(Plan::device_bytes(c, a, options, width).unwrap().tiles, 0, "{what}");
    stream.synchronize().unwrap();
}

fn nnz(a: &Matrix) -> usize {
    match a.storage() {
        Storage::Csr(csr) => csr.nnz(),
        _ => 0,
    }
}

fn compare_all<T: Scalar>(pattern: bool) {
    let c = gpu();
    for (_, list) in cases() {
        for base in [0, 1] {
            for method in ALL.into_iter().chain([Method::Sweeps]) {
                for op in [Op::Plain, Op::Adjoint] {
                    let (a, _) = matrix::<T, i32>(&c, &list, base, pattern);
                    compare::<T>(&c, &a, Options { method, op, ..Options::default() }, 3);
                    if op == Op::Plain && !pattern {
                        let there = all_on_device::<T>(&c, &a);
                        compare::<T>(&c, &there, Options { method, ..Options::default() }, 3);
                    }
                }
                let (a, _) = matrix::<T, i64>(&c, &list, base, pattern);
                if a.rows() == a.cols() {
                    let ordering = Some(Ordering::Degree);
                    compare::<T>(&c, &a, Options { method, ordering, ..Options::default() }, 16);
                }
            }
        }
    }
}

#[test]
#[ignore = "needs a GPU"]
fn plans_take_the_bytes_that_were_counted_before() {
    compare_all::<f64>(false);
    compare_all::<f32>(true);
    compare_all::<Complex<f32>>(false);
}

#[test]
#[ignore = "needs a GPU"]
fn large_graphs_take_the_bytes_that_were_counted_before() {
    let c = gpu();
    // Rows of very different lengths all over a long vector: by sweeps in single precision.
    let n = 1 << 20;
    let far = |i: usize, k: usize| (i.wrapping_mul(2_654_435_761).wrapping_add(k * 40_503)) % n;
    let length = |i: usize| if i.is_multiple_of(1000) { 900 } else { i % 9 };
    let list: Vec<_> = (0..n).flat_map(|i| (0..length(i)).map(move |k| (i, far(i, k), 1.0f32))).collect();
    let a = from_entries(&c, (n, n), &list);
    for ordering in [None, Some(Ordering::Degree)] {
        compare::<f32>(&c, &a, Options { ordering, ..Options::default() }, 2);
    }
    assert_eq!(Plan::cached(&c, &a, Options::default()).unwrap().info().method, Method::Sweeps);
}
