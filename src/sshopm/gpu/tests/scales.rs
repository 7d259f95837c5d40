//! A tensor times a power of two has the pairs of the tensor, with the values times that power: bit for bit, on each
//! backend.

use std::sync::Arc;

use super::cases::{Case, context, entry, integers, numbers};
use crate::backend::BackendChoice;
use crate::context::Context;
use crate::rng;
use crate::scalar::{DType, Real};
use crate::shape::Order;
use crate::sshopm::{Goal, Options, Results, all, classify};
use crate::tensor::{Location, Symmetric};

/// Tensors of a batch: random ones, and after them one with a circle of maxima about the first axis, (x . x - x_1^2) to half
/// the order, times x_1 where that is odd.
const ITEMS: usize = 3;

fn put(shape: Symmetric) -> impl Fn(usize, usize) -> f64 {
    use crate::tensor::symmetric::{Monomials, multinomial};
    let half = (shape.order / 2) as u64;
    let factorial = |k: u64| (1..=k).product::<u64>() as f64;
    let mut circle = Vec::new();
    let mut walk = Monomials::new(shape).unwrap();
    while let Some((_, tuple)) = walk.next_tuple() {
        let counts: Vec<u64> = (0..shape.dimension).map(|i| tuple.iter().filter(|t| **t == i).count() as u64).collect();
        let is_term = counts[0] == shape.order as u64 % 2 && counts[1..].iter().all(|c| c % 2 == 0);
        let terms = factorial(half) / counts[1..].iter().map(|c| factorial(c / 2)).product::<f64>();
        circle.push(if is_term { terms / multinomial(tuple).unwrap() as f64 } else { 0.0 });
    }
    move |t, r| if t + 1 == ITEMS { circle[r] } else { entry(t, r) }
}

/// The results at one scale: integers, and numbers that scale with the tensor, then numbers that do not.
type Lists = (Vec<i32>, Vec<f64>, Vec<f64>);

fn solved<T: Real>(context: &Arc<Context>, shape: Symmetric, scale: f64, options: &Options, capacity: usize) -> Lists {
    let put = put(shape);
    let case = Case::<T>::new(context, shape, ITEMS, Location::Host, Order::ColumnMajor, |t, r| {
        T::from_f64(put(t, r)).to_f64() * scale
    });
    let f = case.solve(options, capacity, Location::Host);
    ([f.count, f.status, f.classes, f.basins].concat(), [f.values, f.residuals, f.hessian].concat(), f.vectors)
}

fn all_of<T: Real>(context: &Arc<Context>, shape: Symmetric, scale: f64) -> Lists {
    let (put, capacity, n) = (put(shape), 40, shape.dimension);
    let case = Case::<T>::new(context, shape, ITEMS, Location::Host, Order::ColumnMajor, |t, r| {
        T::from_f64(put(t, r)).to_f64() * scale
    });
    let integer = |dims: &[usize]| case.output(DType::I32, Location::Host, dims);
    let real = |dims: &[usize]| case.output(T::DTYPE, Location::Host, dims);
    let (mut count, mut status, mut classes) = (integer(&[ITEMS]), integer(&[ITEMS]), integer(&[capacity, ITEMS]));
    let (mut values, mut vectors) = (real(&[capacity, ITEMS]), real(&[n, capacity, ITEMS]));
    let (mut residuals, mut hessian) = (real(&[capacity, ITEMS]), real(&[n - 1, capacity, ITEMS]));
    let mut results = Results {
        count: Some(&mut count),
        status: Some(&mut status),
        classes: Some(&mut classes),
        values: Some(&mut values),
        vectors: Some(&mut vectors),
        residuals: Some(&mut residuals),
        hessian: Some(&mut hessian),
        ..Results::default()
    };
    let options = Options { starts: 100, max_starts: 200, ..Options::default() };
    let progress = context.progress(None);
    all(context, None, &case.tensors, &options, &mut results, None, None, &progress).unwrap();
    (
        [&count, &status, &classes].map(integers).concat(),
        [&values, &residuals, &hessian].map(numbers::<T>).concat(),
        numbers::<T>(&vectors),
    )
}

fn classified<T: Real>(context: &Arc<Context>, shape: Symmetric, scale: f64) -> Lists {
    let (put, n, v) = (put(shape), shape.dimension, 3);
    let case = Case::<T>::new(context, shape, ITEMS, Location::Host, Order::ColumnMajor, |t, r| {
        T::from_f64(put(t, r)).to_f64() * scale
    });
    let real = |dims: &[usize]| case.output(T::DTYPE, Location::Host, dims);
    let (mut values, mut vectors) = (real(&[v, ITEMS]), real(&[n, v, ITEMS]));
    for (k, x) in values.view_mut::<T>("x").unwrap().data().iter_mut().enumerate() {
        *x = T::from_f64(T::from_f64(rng::uniform(4, 54, 0, k as u32)).to_f64() * scale);
    }
    for (k, x) in vectors.view_mut::<T>("x").unwrap().data().iter_mut().enumerate() {
        *x = T::from_f64(T::from_f64(1.5 + 0.5 * rng::uniform(4, 55, 0, k as u32)).to_f64() / scale);
    }
    let (mut residuals, mut hessian) = (real(&[v, ITEMS]), real(&[n - 1, v, ITEMS]));
    let mut classes = case.output(DType::I32, Location::Host, &[v, ITEMS]);
    let (r, h, c) = (Some(&mut residuals), Some(&mut hessian), Some(&mut classes));
    classify(context, None, &case.tensors, &values, &vectors, 0.0, r, h, c).unwrap();
    (integers(&classes), [&residuals, &hessian].map(numbers::<T>).concat(), vec![])
}

fn scaled_lists_agree<T: Real>(backend: BackendChoice, exponents: &[i32]) {
    let c = context(backend, 0);
    let least_normal = if size_of::<T>() == 4 { f64::from(f32::MIN_POSITIVE) } else { f64::MIN_POSITIVE };
    let epsilon = T::EPSILON.to_f64();
    let most = Options { goal: Goal::Both, ..Options::default() };
    // More starts and pairs than the fused kernel takes.
    let many = Options { goal: Goal::Maxima, starts: 600, ..Options::default() };
    for (order, dimension) in [(4, 3), (5, 3), (4, 2), (3, 4)] {
        let shape = Symmetric::new(order, dimension).unwrap();
        let all_lists = |scale: f64| {
            [
                all_of::<T>(&c, shape, scale),
                solved::<T>(&c, shape, scale, &most, 6),
                solved::<T>(&c, shape, scale, &many, 40),
                classified::<T>(&c, shape, scale),
            ]
        };
        let whole = all_lists(1.0);
        assert!(whole[0].0[0] > 1, "{shape:?}: {:?}", whole[0].0);
        for exponent in exponents {
            let scale = 2f64.powi(*exponent);
            for (which, (one, other)) in whole.iter().zip(&all_lists(scale)).enumerate() {
                let what = format!("{shape:?} 2^{exponent} {} list {which}", T::DTYPE.name());
                assert_eq!(one.0, other.0, "{what}");
                let same = |a: f64, b: f64| a == b || (a.is_nan() && b.is_nan());
                for (a, b) in one.1.iter().zip(&other.1) {
                    let scaled = T::from_f64(a * scale).to_f64();
                    // Below the least normal number a value that is scaled in two steps is rounded twice.
                    let is_rounded_twice = b.abs() < least_normal && (scaled - b).abs() <= least_normal * epsilon;
                    assert!(same(scaled, *b) || is_rounded_twice, "{what}: {a:e} and {b:e}");
                }
                assert!(one.2.iter().zip(&other.2).all(|(a, b)| same(*a, *b)), "{what}");
            }
        }
    }
}

#[test]
fn pairs_of_a_scaled_tensor_are_scaled() {
    scaled_lists_agree::<f64>(BackendChoice::Cpu, &[-900, 900]);
    scaled_lists_agree::<f32>(BackendChoice::Cpu, &[-100, 100]);
}

#[test]
#[ignore = "needs a GPU"]
fn pairs_of_a_scaled_tensor_are_scaled_on_a_gpu() {
    // Residuals of smaller tensors are below the least number, and which of two equal ends is listed is then open.
    scaled_lists_agree::<f64>(BackendChoice::Cuda, &[-900, -60, 60, 900, 1015]);
    scaled_lists_agree::<f32>(BackendChoice::Cuda, &[-100, -60, 60, 100]);
}
