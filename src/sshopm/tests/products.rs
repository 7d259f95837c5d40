//! Products and classification against plain loops from the definition.

use std::sync::Arc;

use super::support::*;
use crate::backend::cpu::Isa;
use crate::context::Context;
use crate::rng;
use crate::scalar::Real;
use crate::sshopm::{classify, product};
use crate::tensor::symmetric::{Norm, norm, rank};
use crate::tensor::{Symmetric, Tensor};

fn normals(seed: u64, count: usize) -> Vec<f64> {
    (0..count).map(|k| rng::normal(seed, 50, 0, u32::try_from(k).unwrap())).collect()
}

/// A x^(m-free) by summing over all places of the full tensor.
fn definition(shape: Symmetric, a: &[f64], x: &[f64], free: usize) -> Vec<f64> {
    let Symmetric { order: m, dimension: n } = shape;
    let mut out = vec![0.0; n.pow(u32::try_from(free).unwrap())];
    let mut index = vec![0usize; m];
    loop {
        let mut sorted = index.clone();
        sorted.sort_unstable();
        let monomial: f64 = index[free..].iter().map(|i| x[*i]).product();
        let place = index[..free].iter().rev().fold(0, |p, i| p * n + i);
        out[place] += a[rank(shape, &sorted).unwrap()] * monomial;
        let mut axis = 0;
        loop {
            if axis == m {
                return out;
            }
            index[axis] += 1;
            if index[axis] < n {
                break;
            }
            index[axis] = 0;
            axis += 1;
        }
    }
}

/// Computes one product of a batch.
fn compute<T: Real>(c: &Arc<Context>, a: &Tensor, x: &Tensor, free: usize) -> Vec<T> {
    let Symmetric { order, dimension: n } = a.symmetric().unwrap();
    let (v, t) = (x.dims()[1], a.dims()[1]);
    let mut out = dense::<T>(c, &[&[n, n][..free], &[v, t]].concat());
    product(c, None, a, x, i64::try_from(order - free).unwrap(), &mut out).unwrap();
    data(&out)
}

fn check<T: Real>(c: &Arc<Context>, m: usize, n: usize) {
    let isa = c.isa();
    let shape = Symmetric { order: m, dimension: n };
    let (v, t) = (5, 2);
    // Rounded to T first, so that both sides see the same numbers.
    let round = |x: Vec<f64>| x.into_iter().map(|x| T::from_f64(x).to_f64()).collect::<Vec<_>>();
    let entries = round(normals(1, shape.count() * t));
    let mut vectors = round(normals(2, n * v));
    for x in vectors.chunks_exact_mut(n) {
        let length = x.iter().map(|x| x * x).sum::<f64>().sqrt();
        x.iter_mut().for_each(|c| *c = T::from_f64(*c / length).to_f64());
    }
    // A vector with zeros: nothing may divide by a component.
    vectors[1..n].fill(0.0);
    let a = symmetric::<T>(c, m, n, &entries);
    let x = from_slice(c, &[n, v], &vectors.iter().map(|x| T::from_f64(*x)).collect::<Vec<_>>());
    let mut norms = dense::<T>(c, &[t]);
    norm(c, None, &a, Norm::Frobenius, &mut norms).unwrap();
    let norms = data::<T>(&norms);
    for free in 0..=2.min(m) {
        let got = compute::<T>(c, &a, &x, free);
        let size = n.pow(u32::try_from(free).unwrap());
        for tensor in 0..t {
            // A sum of n^(m-free) products of m - free factors, summed in a tree of at most m n additions a level.
            let bound = (4 * m * n) as f64 * T::EPSILON.to_f64() * norms[tensor].to_f64();
            for vector in 0..v {
                let a = &entries[tensor * shape.count()..(tensor + 1) * shape.count()];
                let expected = definition(shape, a, &vectors[vector * n..(vector + 1) * n], free);
                let first = (tensor * v + vector) * size;
                for (g, e) in got[first..first + size].iter().zip(expected) {
                    assert!((g.to_f64() - e).abs() <= bound, "({m},{n}) free {free} {isa:?}: {g:?} {e} {bound}");
                }
            }
        }
    }
}

#[test]
fn products_equal_the_definition() {
    for isa in [Isa::Portable, Isa::Avx2, Isa::Avx512].into_iter().filter(|i| *i <= Isa::detect()) {
        let c = with_isa(2, Some(isa));
        for m in 2..=8 {
            for n in 1..=6usize {
                // The plain loop takes n^m steps.
                if n.pow(u32::try_from(m).unwrap()) <= 50_000 {
                    check::<f64>(&c, m, n);
                    check::<f32>(&c, m, n);
                }
            }
        }
    }
}

#[test]
fn products_take_vectors_of_their_own_and_any_strides() {
    use crate::shape::Order;
    use crate::tensor::{Location, copy};
    let c = context(2);
    let (m, n, v, t) = (4, 3, 7, 3);
    let a = symmetric::<f64>(&c, m, n, &normals(3, 15 * t));
    let mut major = Tensor::create_symmetric(
        &c,
        crate::scalar::DType::F64,
        Location::Host,
        Order::RowMajor,
        Symmetric { order: m, dimension: n },
        t,
    )
    .unwrap();
    copy(&c, None, &a, &mut major).unwrap();
    let x = from_slice(&c, &[n, v, t], &normals(4, n * v * t));
    let mut expected = dense::<f64>(&c, &[n, v, t]);
    product(&c, None, &a, &x, 3, &mut expected).unwrap();
    let mut strided =
        Tensor::create(&c, crate::scalar::DType::F64, Location::Host, Order::RowMajor, &[n, v, t]).unwrap();
    product(&c, None, &major, &x, 3, &mut strided).unwrap();
    let (e, s) = (expected.view::<f64>("e").unwrap(), strided.view::<f64>("s").unwrap());
    for i in 0..n {
        for j in 0..v {
            for k in 0..t {
                assert_eq!(e.get(&[i, j, k]), s.get(&[i, j, k]));
            }
        }
    }
    let e = product(&c, None, &a, &x, 1, &mut expected).unwrap_err().to_string();
    assert_eq!(e, "power: is 1, 4, 3 or 2 is needed");
    let e = product(&c, None, &a, &x, 4, &mut expected).unwrap_err().to_string();
    assert!(e.starts_with("products: has dimensions"), "{e}");
}

#[test]
fn published_pairs_are_classified() {
    let c = context(1);
    let a = symmetric::<f64>(&c, 4, 3, &KOFIDIS_REGALIA);
    let x = [0.6672, 0.2471, -0.7027, 0.3598, -0.7780, 0.5150, 0.5915, -0.7467, -0.3043, f64::NAN, 0.0, 0.0];
    let x = from_slice(&c, &[3, 4, 1], &x);
    let l = from_slice(&c, &[4, 1], &[0.889_322_010_7, 0.510_473_279_5, -1.095_351_698_9, 1.0]);
    let (mut r, mut h, mut k) = (dense::<f64>(&c, &[4, 1]), dense::<f64>(&c, &[2, 4, 1]), dense::<i32>(&c, &[4, 1]));
    classify(&c, None, &a, &l, &x, 0.0, Some(&mut r), Some(&mut h), Some(&mut k)).unwrap();
    assert_eq!(data::<i32>(&k), [0, 2, 1, 4]);
    let (r, h) = (data::<f64>(&r), data::<f64>(&h));
    // Vectors of four decimals: residuals of a few 1e-4, Hessians of three decimals.
    assert!(r[..3].iter().all(|r| *r < 5e-4) && r[3].is_nan());
    for (h, e) in h.iter().zip([-1.846, -0.886, -2.340, 0.594, 1.863, 2.747]) {
        assert!((h - e).abs() < 3e-3, "{h} {e}");
    }
}
