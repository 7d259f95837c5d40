use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};

use super::super::Pool;
use super::*;
use crate::error::Error;

#[test]
fn pieces_are_those_of_the_slice() {
    let pool = Pool::new(3).unwrap();
    for (length, size) in [(0, 1), (1, 1), (7, 2), (8, 2), (97, 10), (5, 9)] {
        let from: Vec<usize> = (0..length).collect();
        let mut to = vec![0; length];
        pool.run(|| to.par_chunks_mut(size).zip(from.par_chunks(size)).for_each(|(to, from)| to.copy_from_slice(from)));
        assert_eq!(to, from);
        let whole: Vec<&[usize]> = pool.run(|| from.par_chunks_exact(size).collect());
        assert_eq!(whole, from.chunks_exact(size).collect::<Vec<_>>());
        let lengths: Vec<(usize, usize)> =
            pool.run(|| to.par_chunks_exact_mut(size).enumerate().map(|(i, p)| (i, p.len())).collect());
        assert_eq!(lengths, (0..length / size).map(|i| (i, size)).collect::<Vec<_>>());
    }
}

/// The example of docs/architecture.md.
#[test]
fn sums_of_pieces_have_the_same_bits_for_any_number_of_threads() {
    let x: Vec<f64> = (0..50_000).map(|i| 1.0 / (f64::from(i) + 1.0)).collect();
    let sum = |threads| -> f64 {
        let pool = Pool::new(threads).unwrap();
        pool.run(|| x.par_chunks(4096).map(|piece| piece.iter().map(|v| v * v).sum::<f64>()).sum())
    };
    assert!((sum(1) - 1.6449).abs() < 1e-3);
    assert_eq!(sum(1).to_bits(), sum(4).to_bits());
}

#[test]
fn items_come_in_their_order_and_once() {
    let pool = Pool::new(4).unwrap();
    let numbers: Vec<usize> = pool.run(|| (3..1000).into_par_iter().map(|i| i * i).collect());
    assert_eq!(numbers, (3..1000).map(|i| i * i).collect::<Vec<_>>());
    let mut marks = vec![0u8; 500];
    let parts: Vec<&mut u8> = marks.iter_mut().collect();
    pool.run(|| parts.into_par_iter().take(400).with_min_len(7).for_each(|mark| *mark += 1));
    assert!(marks[..400].iter().all(|m| *m == 1) && marks[400..].iter().all(|m| *m == 0));
    let sum: usize = pool.run(|| numbers.as_slice().into_par_iter().map(|n| n % 7).sum());
    assert_eq!(sum, numbers.iter().map(|n| n % 7).sum());
}

#[test]
fn the_first_error_is_the_one_returned() {
    let pool = Pool::new(4).unwrap();
    let odd = |i: usize| if i % 2 == 1 && i >= 31 { Err(Error::invalid("i", format!("is {i}"))) } else { Ok(()) };
    for _ in 0..20 {
        let error = pool.run(|| (0..1000).into_par_iter().try_for_each(odd)).unwrap_err();
        assert!(error.to_string().contains("is 31"), "{error}");
    }
    assert!(pool.run(|| (0..31).into_par_iter().try_for_each(odd)).is_ok());
    assert!(pool.run(|| (0..100).into_par_iter().all(|i| i < 100)));
    assert!(!pool.run(|| (0..100).into_par_iter().all(|i| i != 63)));
    let refused = || Err::<(), _>(Error::Cancelled);
    assert!(pool.run(|| (0..3).into_par_iter().try_for_each_init(refused, |_, _| Ok(()))).is_err());
}

#[test]
fn a_state_is_kept_from_item_to_item() {
    let pool = Pool::new(2).unwrap();
    let (made, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let init = || Ok(made.fetch_add(1, Ordering::Relaxed));
    let work = |_: &mut usize, _| {
        done.fetch_add(1, Ordering::Relaxed);
        Ok(())
    };
    pool.run(|| (0..100).into_par_iter().try_for_each_init(init, work)).unwrap();
    assert_eq!(done.into_inner(), 100);
    assert!((1..=2).contains(&made.into_inner()));
}

#[test]
fn both_sides_of_a_join_return() {
    let pool = Pool::new(2).unwrap();
    assert_eq!(pool.run(|| join(|| 1, || "two")), (1, "two"));
    let panic = catch_unwind(AssertUnwindSafe(|| pool.run(|| join(|| 1, || panic!("planted")))));
    assert!(panic.is_err());
}
