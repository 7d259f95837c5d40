//! Inner products of tensor trains on the CPU, two threads: open trains and rings by rank, a batch and a Gram matrix.
//! `cargo bench --bench tt`.

use std::sync::Arc;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use purlin::backend::BackendChoice;
use purlin::context::{Context, Options as ContextOptions};
use purlin::scalar::{Complex, Element, Scalar};
use purlin::tensor::Location;
use purlin::tensor::train::{Shape, TensorTrain};
use purlin::tt::{Contraction, Options, Scaled};

const D: usize = 50;
const N: usize = 2;

/// Ranks `rank`, at the ends too for a ring, but 1 there for an open train.
fn train<T: Scalar>(context: &Arc<Context>, rank: usize, ring: bool, seed: usize) -> TensorTrain {
    let mut ranks = vec![rank; D + 1];
    if !ring {
        (ranks[0], ranks[D]) = (1, 1);
    }
    let shape = Shape::new("x", &[N; D], &ranks).unwrap();
    let mut train = TensorTrain::create(context, <T as Element>::DTYPE, Location::Host, shape).unwrap();
    let mut cores = train.cores_mut::<T>("x").unwrap();
    for k in 0..D {
        for (i, v) in cores.core(k).iter_mut().enumerate() {
            let number = |at: usize| ((at * 7919 + seed * 104_729 + k * 31) % 1013) as f64 / 506.0 - 1.0;
            *v = T::from_parts(number(i), number(i + 17));
        }
    }
    train
}

fn inner<T: Scalar>(c: &mut Criterion, context: &Arc<Context>, ring: bool, ranks: &[usize]) {
    let kind = if ring { "ring" } else { "open" };
    let mut group = c.benchmark_group(format!("tt inner {kind} {} d = {D}, n = {N}", <T as Element>::DTYPE.name()));
    group.sample_size(10);
    for &rank in ranks {
        let (x, y) = (train::<T>(context, rank, ring, 1), train::<T>(context, rank, ring, 2));
        let mut session = Contraction::new(context, Options::default()).unwrap();
        let flops = session.plan_inner(&x, &y).unwrap().flops;
        group.throughput(Throughput::Elements(flops as u64));
        group.bench_function(BenchmarkId::from_parameter(rank), |b| {
            b.iter(|| session.inner_scaled(None, &x, &y, None).unwrap());
        });
    }
    group.finish();
}

fn many(c: &mut Criterion, context: &Arc<Context>) {
    let trains: Vec<_> = (0..64).map(|seed| train::<f64>(context, 16, false, seed)).collect();
    let list: Vec<_> = trains.iter().collect();
    let (x, y) = list.split_at(32);
    let mut session = Contraction::new(context, Options::default()).unwrap();
    let each = session.plan_inner(x[0], y[0]).unwrap().flops as u64;
    let mut group = c.benchmark_group(format!("tt many F64 rank 16, d = {D}, n = {N}"));
    group.sample_size(10).throughput(Throughput::Elements(32 * each));
    let mut sums = vec![Scaled::ZERO; 32];
    group.bench_function("batch of 32", |b| {
        b.iter(|| session.inner_batch(None, x, y, &mut sums, None).unwrap());
    });
    group.throughput(Throughput::Elements(1024 * each));
    let mut gram = vec![Scaled::ZERO; 1024];
    group.bench_function("Gram matrix 32 x 32", |b| {
        b.iter(|| session.gram(None, x, y, &mut gram, None).unwrap());
    });
    group.finish();
}

fn contractions(c: &mut Criterion) {
    let options = ContextOptions { backend: BackendChoice::Cpu, threads: 2, ..ContextOptions::default() };
    let context = Context::new(options).unwrap();
    inner::<f64>(c, &context, false, &[2, 4, 8, 16, 24, 32, 48, 64, 128, 256]);
    inner::<f32>(c, &context, false, &[4, 16, 32, 64]);
    inner::<Complex<f64>>(c, &context, false, &[4, 16, 32, 64]);
    inner::<f64>(c, &context, true, &[4, 8, 16, 32]);
    many(c, &context);
}

criterion_group!(benches, contractions);
criterion_main!(benches);
