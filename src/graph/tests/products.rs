//! Planned products with an image's graph that is not formed against those with its matrix.

use std::sync::Arc;

use crate::context::Context;
use crate::graph::image::{Weights, image_graph};
use crate::graph::stencil::image_adjacency;
use crate::matrix::{self, Matrix};
use crate::scalar::{Complex, DType};
use crate::shape::Order;
use crate::spmv::{Kind, Op, Options, Plan};
use crate::tensor::{self, Location, Tensor};
use crate::testing::checksums::value;
use crate::testing::sparse::{cpu, gpu, vector};

/// A copy of a vector in the memory asked for.
fn placed(c: &Arc<Context>, location: Location, values: &[f64]) -> Tensor {
    let mut t = Tensor::create(c, DType::F64, location, Order::ColumnMajor, &[values.len()]).unwrap();
    tensor::copy(c, None, &vector(c, values), &mut t).unwrap();
    t
}

/// A copy of a block of `rows` rows in the memory asked for.
fn block(c: &Arc<Context>, location: Location, order: Order, rows: usize, values: &[f64]) -> Matrix {
    let create = |at: Location| Matrix::create(c, DType::F64, at, order, rows, values.len() / rows).unwrap();
    let (mut host, mut made) = (create(Location::Host), create(location));
    let dense = host.dense_mut("m").unwrap();
    dense.memory.host_mut("m").unwrap().as_mut_slice::<f64>().unwrap().copy_from_slice(values);
    matrix::copy(c, None, &host, &mut made).unwrap();
    made
}

fn check(c: &Arc<Context>, location: Location) {
    let (height, width) = (9, 14);
    let n = height * width;
    let pixels: Vec<f64> = (0..n).map(|k| value(k + 5)).collect();
    let weights = Weights { radius: 2.3, intensity: 0.4, distance: 3.0, floor: 1e-3 };
    let formed = image_graph(c, &pixels, height, width, weights).unwrap();
    let unformed = image_adjacency(c, &pixels, (height, width), weights).unwrap();
    for kind in [Kind::Matrix, Kind::Laplacian, Kind::NormalizedLaplacian, Kind::RandomWalkLaplacian, Kind::Modularity]
    {
        for (op, degree) in [(Op::Plain, 0), (Op::Transpose, 0), (Op::Plain, 4)] {
            let (lower, upper) = if degree > 0 { (-1.0, 4.0) } else { (0.0, 0.0) };
            let options = Options { op, kind, shift: 0.5, degree, lower, upper, ..Options::default() };
            let plans = [&formed, &unformed].map(|a| (a, Plan::new(c, a, options).unwrap()));
            let x: Vec<f64> = (0..3 * n).map(|k| value(k + 40)).collect();
            let (alpha, beta) = (Complex::new(-1.5, 0.0), Complex::new(0.5, 0.0));
            let products = plans.each_ref().map(|(a, plan)| {
                let mut y = placed(c, location, &x[n..2 * n]);
                plan.apply(alpha, a, &placed(c, location, &x[..n]), beta, &mut y).unwrap();
                let mut host = vector(c, &x[..n]);
                tensor::copy(c, None, &y, &mut host).unwrap();
                let mut all = host.view::<f64>("y").unwrap().data().to_vec();
                for order in [Order::RowMajor, Order::ColumnMajor] {
                    let mut y = block(c, location, order, n, &x);
                    plan.apply_block(alpha, a, &block(c, location, order, n, &x), beta, &mut y).unwrap();
                    let mut host = Matrix::create(c, DType::F64, Location::Host, order, n, 3).unwrap();
                    matrix::copy(c, None, &y, &mut host).unwrap();
                    all.extend(host.dense("m").unwrap().memory.host("m").unwrap().as_slice::<f64>().unwrap());
                }
                all
            });
            let largest = products[0].iter().fold(1.0f64, |m, v| m.max(v.abs()));
            for (k, (a, b)) in products[0].iter().zip(&products[1]).enumerate() {
                assert!((a - b).abs() <= 1e-13 * largest, "{options:?} number {k}: {b}, not {a}");
            }
        }
    }
}

#[test]
fn plans_take_graphs_of_images() {
    check(&cpu(2), Location::Host);
}

#[test]
#[ignore = "needs a GPU"]
fn plans_on_a_gpu_take_graphs_of_images() {
    let c = gpu();
    check(&c, Location::Host);
    check(&c, Location::Device);
}
