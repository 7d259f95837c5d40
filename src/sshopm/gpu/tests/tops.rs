//! Ends of starts that have a residual of rounding size and are no maxima: near circles of minima and points of inflection.

use super::cases::{Case, context};
use crate::backend::BackendChoice;
use crate::rng;
use crate::scalar::Real;
use crate::shape::Order;
use crate::sshopm::{Goal, Options, PairClass};
use crate::tensor::symmetric::Monomials;
use crate::tensor::{Location, Symmetric};

/// The tensor of (d . x)^m.
fn fibre(shape: Symmetric, d: &[f64]) -> Vec<f64> {
    let mut walk = Monomials::new(shape).unwrap();
    let mut entries = Vec::new();
    while let Some((_, tuple)) = walk.next_tuple() {
        entries.push(tuple.iter().map(|i| d[*i]).product());
    }
    entries
}

/// Of (d . x)^m the only maximum is d, whatever the order; the circle orthogonal to d is one of minima.
fn straight_fibres<T: Real>(backend: BackendChoice) {
    let c = context(backend, 0);
    let items = 10;
    for (order, dimension) in [(6, 3), (8, 3), (10, 3), (8, 2)] {
        let shape = Symmetric::new(order, dimension).unwrap();
        let fibres: Vec<Vec<f64>> = (0..items)
            .map(|t| {
                let d: Vec<f64> = (0..dimension as u32).map(|i| rng::normal(9, 56, t, i)).collect();
                let length = d.iter().map(|x| x * x).sum::<f64>().sqrt();
                fibre(shape, &d.iter().map(|x| x / length).collect::<Vec<_>>())
            })
            .collect();
        let items = fibres.len();
        let case = Case::<T>::new(&c, shape, items, Location::Host, Order::ColumnMajor, |t, r| fibres[t][r]);
        let what = format!("{shape:?} {}", T::DTYPE.name());
        // Orders 8 and 10 have kernels of their own on a GPU; many starts as well as the default.
        for starts in [0, 300].into_iter().take(if order == 8 && dimension == 3 { 2 } else { 1 }) {
            let options = Options { starts, ..Options::default() };
            let f = case.solve(&options, 4, Location::Host);
            assert_eq!(f.count, vec![1; items], "{what} {starts}: {:?}", f.values);
            assert!(f.values.iter().step_by(4).all(|v| (v - 1.0).abs() < 1e-5), "{what}");
            assert!(f.classes.iter().step_by(4).all(|k| *k == PairClass::NegativeStable as i32), "{what}");
            // The same of the negated form: its circle of maxima is one entry, or its points are.
            let negated = Case::<T>::new(&c, shape, 4, Location::Host, Order::ColumnMajor, |t, r| -fibres[t][r]);
            let f = negated.solve(&options, 4, Location::Host);
            assert!(f.count.iter().all(|c| *c > 0), "{what}: a circle of maxima is lost");
            assert!(f.values.iter().all(|v| v.is_nan() || v.abs() < 1e-5), "{what}: {:?}", f.values);
        }
    }
}

/// Forms of two variables with a point of inflection at the value 0: entries, and the values of their maxima.
fn inflections(backend: BackendChoice) {
    let c = context(backend, 0);
    for (order, entries, maxima) in [
        (3, &[2.0, 0.0, 0.0, 0.0][..], &[2.0][..]),
        (5, &[-2.0, 1.0, 2.0, 0.0, 0.0, 0.0], &[4.298_797_55, 2.308_991_13, 2.243_672_80]),
        // x^3 y: maxima at angles of 30 degrees and its negatives, inflection at x = 0.
        (4, &[0.0, 0.25, 0.0, 0.0, 0.0], &[0.324_759_526]),
    ] {
        let shape = Symmetric::new(order, 2).unwrap();
        let case = Case::<f64>::new(&c, shape, 1, Location::Host, Order::ColumnMajor, |_, r| entries[r]);
        for (seed, goal) in (0..4).flat_map(|seed| [(seed, Goal::Maxima), (seed, Goal::Minima), (seed, Goal::Both)]) {
            let options = Options { goal, seed, starts: 60, ..Options::default() };
            let f = case.solve(&options, 8, Location::Host);
            let mut values: Vec<f64> = f.values.iter().copied().filter(|v| !v.is_nan()).map(f64::abs).collect();
            values.dedup_by(|a, b| (*a - *b).abs() < 1e-7);
            assert!(
                values.len() == maxima.len() && values.iter().zip(maxima).all(|(v, w)| (v - w).abs() < 1e-7),
                "order {order} {goal:?} seed {seed}: {:?}, {maxima:?} are right",
                f.values
            );
        }
    }
}

#[test]
fn ends_that_are_no_maxima_are_left_out() {
    straight_fibres::<f64>(BackendChoice::Cpu);
    straight_fibres::<f32>(BackendChoice::Cpu);
    inflections(BackendChoice::Cpu);
}

#[test]
#[ignore = "needs a GPU"]
fn ends_that_are_no_maxima_are_left_out_on_a_gpu() {
    straight_fibres::<f64>(BackendChoice::Cuda);
    straight_fibres::<f32>(BackendChoice::Cuda);
    inflections(BackendChoice::Cuda);
}
