//! Invariants of the eigenpair solver on random shapes, tensors and options.

use std::sync::Arc;

use proptest::prelude::*;
use purlin::backend::BackendChoice;
use purlin::context::{Context, Options as ContextOptions};
use purlin::progress::Progress;
use purlin::rng;
use purlin::scalar::{DType, Element};
use purlin::shape::Order;
use purlin::sshopm::{self, Goal, Method, Options, Results};
use purlin::tensor::symmetric::{Norm, norm};
use purlin::tensor::{Location, Symmetric, Tensor};

fn context() -> Arc<Context> {
    Context::new(ContextOptions { backend: BackendChoice::Cpu, threads: 2, ..ContextOptions::default() }).unwrap()
}

fn dense<T: Element>(c: &Arc<Context>, dims: &[usize]) -> Tensor {
    Tensor::create(c, T::DTYPE, Location::Host, Order::ColumnMajor, dims).unwrap()
}

fn random(c: &Arc<Context>, shape: Symmetric, order: Order, count: usize, seed: u64) -> Tensor {
    let mut t = Tensor::create_symmetric(c, DType::F64, Location::Host, order, shape, count).unwrap();
    let mut view = t.view_mut::<f64>("tensors").unwrap();
    for k in 0..count {
        for u in 0..shape.count() {
            view.set(&[u, k], rng::normal(seed, 90, k as u64, u32::try_from(u).unwrap()));
        }
    }
    t
}

fn data<T: Element>(t: &Tensor) -> Vec<T> {
    t.view::<T>("data").unwrap().data().to_vec()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    /// Every pair is a unit vector with the residual it claims, of the class that its goal asks for, in order, and every
    /// start is accounted for.
    #[test]
    fn pairs_are_what_they_claim(
        order in 2usize..7,
        dimension in 1usize..5,
        count in 1usize..6,
        starts in 1i64..40,
        seed in any::<u64>(),
        minima in any::<bool>(),
        power in any::<bool>(),
        row_major in any::<bool>(),
    ) {
        let c = context();
        let shape = Symmetric { order, dimension };
        let storage = if row_major { Order::RowMajor } else { Order::ColumnMajor };
        let a = random(&c, shape, storage, count, seed);
        let (k, n) = (6, dimension);
        let (mut values, mut residuals) = (dense::<f64>(&c, &[k, count]), dense::<f64>(&c, &[k, count]));
        let (mut vectors, mut found) = (dense::<f64>(&c, &[n, k, count]), dense::<i32>(&c, &[count]));
        let (mut basins, mut ends) = (dense::<i32>(&c, &[k, count]), dense::<i32>(&c, &[starts as usize, count]));
        let o = Options {
            goal: if minima { Goal::Minima } else { Goal::Maxima },
            method: if power { Method::Power } else { Method::Hybrid },
            starts,
            // In three dimensions the default starts are a lattice.
            seed: if dimension == 3 { 0 } else { seed },
            ..Options::default()
        };
        let mut r = Results {
            values: Some(&mut values),
            vectors: Some(&mut vectors),
            residuals: Some(&mut residuals),
            count: Some(&mut found),
            basins: Some(&mut basins),
            start_status: Some(&mut ends),
            ..Results::default()
        };
        let info = sshopm::solve(&c, None, &a, None, &o, &mut r, &Progress::none()).unwrap();
        let mut products = dense::<f64>(&c, &[n, k, count]);
        // Rows without a pair are NaN and give NaN.
        sshopm::product(&c, None, &a, &vectors, i64::try_from(order - 1).unwrap(), &mut products).unwrap();
        let mut norms = dense::<f64>(&c, &[count]);
        norm(&c, None, &a, Norm::Frobenius, &mut norms).unwrap();
        let (values, vectors, residuals) = (data::<f64>(&values), data::<f64>(&vectors), data::<f64>(&residuals));
        let (found, basins, norms) = (data::<i32>(&found), data::<i32>(&basins), data::<f64>(&norms));
        let (products, ends) = (data::<f64>(&products), data::<i32>(&ends));
        prop_assert_eq!(info.converged_starts, ends.iter().filter(|s| **s == 0).count() as i64);
        for t in 0..count {
            let listed = usize::try_from(found[t]).unwrap();
            prop_assert!(listed <= k);
            for p in k * t..k * t + listed {
                let x = &vectors[n * p..n * (p + 1)];
                let length: f64 = x.iter().map(|c| c * c).sum();
                prop_assert!((length - 1.0).abs() < 1e-14);
                let residual: f64 = x
                    .iter()
                    .zip(&products[n * p..])
                    .map(|(x, y)| (y - values[p] * x) * (y - values[p] * x))
                    .sum::<f64>()
                    .sqrt();
                // Two evaluations of the residual differ by the rounding of n^(m-1) terms of a tensor of this norm.
                prop_assert!((residual - residuals[p]).abs() < 1e-13 * norms[t], "{} {}", residual, residuals[p]);
                prop_assert!(residual <= 1.01 * o_tolerance(values[p], norms[t]));
                prop_assert!(basins[p] > 0);
            }
            let sorted = &values[k * t..k * t + listed];
            prop_assert!(sorted.windows(2).all(|w| if minima { w[0] <= w[1] } else { w[0] >= w[1] }), "{:?}", sorted);
            prop_assert!(values[k * t + listed..k * (t + 1)].iter().all(|v| v.is_nan()));
            let counted: i32 = basins[k * t..k * (t + 1)].iter().sum();
            prop_assert!(counted <= i32::try_from(starts).unwrap());
        }
    }

    /// Products are linear in the tensor and homogeneous in the vector.
    #[test]
    fn products_are_multilinear(
        order in 2usize..7,
        dimension in 1usize..6,
        seed in any::<u64>(),
        scale in -3.0f64..3.0,
    ) {
        let c = context();
        let shape = Symmetric { order, dimension };
        let (a, b) = (
            random(&c, shape, Order::ColumnMajor, 1, seed),
            random(&c, shape, Order::ColumnMajor, 1, seed.wrapping_add(1)),
        );
        let mut sum = random(&c, shape, Order::ColumnMajor, 1, seed);
        let other = data::<f64>(&b);
        for (s, o) in sum.view_mut::<f64>("sum").unwrap().data().iter_mut().zip(&other) {
            *s += scale * o;
        }
        let mut x = dense::<f64>(&c, &[dimension, 1]);
        let mut doubled = dense::<f64>(&c, &[dimension, 1]);
        for i in 0..dimension {
            let v = rng::normal(seed, 91, 0, u32::try_from(i).unwrap());
            x.view_mut::<f64>("x").unwrap().set(&[i, 0], v);
            doubled.view_mut::<f64>("x").unwrap().set(&[i, 0], 2.0 * v);
        }
        let product = |t: &Tensor, x: &Tensor| {
            let mut y = dense::<f64>(&c, &[dimension, 1, 1]);
            sshopm::product(&c, None, t, x, i64::try_from(order - 1).unwrap(), &mut y).unwrap();
            data::<f64>(&y)
        };
        let (ya, yb, ys, yd) = (product(&a, &x), product(&b, &x), product(&sum, &x), product(&a, &doubled));
        let length = data::<f64>(&x).iter().map(|x| x * x).sum::<f64>().sqrt();
        let size: f64 = data::<f64>(&a).iter().chain(&other).map(|a| a.abs()).fold(0.0, f64::max);
        // Rounding: eps times the number of terms n^(m-1) of size |a| |x|^(m-1), times the scale.
        let terms = (dimension as f64).powi(i32::try_from(order).unwrap());
        let bound = 16.0 * f64::EPSILON * terms * size * length.powi(i32::try_from(order - 1).unwrap()) * 4.0;
        for i in 0..dimension {
            prop_assert!((ya[i] + scale * yb[i] - ys[i]).abs() <= bound);
            // Doubling is exact.
            prop_assert_eq!(yd[i], ya[i] * 2f64.powi(i32::try_from(order - 1).unwrap()));
        }
    }
}

/// The residual at which a start has converged.
fn o_tolerance(lambda: f64, norm: f64) -> f64 {
    // 4 eps of the norm is the floor of the test; the result's residual is that of the test, in its own units.
    (1e-10 * lambda.abs().max(1e-3 * norm)).max(4.0 * f64::EPSILON * norm)
}
