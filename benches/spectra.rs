//! Sparse products and eigensolvers on the CPU, two threads, on generated graphs and meshes and those of the golden data.
//! `cargo bench --bench spectra`.

use std::path::PathBuf;
use std::sync::Arc;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use purlin::backend::BackendChoice;
use purlin::backend::memory::HostMemory;
use purlin::context::{Context, Options as ContextOptions};
use purlin::lanczos::operator::{Kind, Symmetric};
use purlin::lanczos::solve::{SolveInputs, tridiagonalize};
use purlin::lanczos::{Filter, Method, Options, Orthogonalization, Which, eigenpairs};
use purlin::matrix::Matrix;
use purlin::matrix::sparse::{Coordinates, Duplicates, Indices, Symmetrize, from_coordinates, read_market, symmetrize};
use purlin::progress::Progress;
use purlin::scalar::{Element, Scalar};
use purlin::spmv::cpu::Finish;
use purlin::spmv::{Options as ProductOptions, Plan};

/// A symmetric matrix from one of each pair of entries.
fn mirrored<T: Scalar>(context: &Arc<Context>, n: usize, entries: &[(i32, i32, f64)]) -> Matrix {
    let rows: Vec<i32> = entries.iter().map(|e| e.0).collect();
    let cols: Vec<i32> = entries.iter().map(|e| e.1).collect();
    let mut values = HostMemory::allocate("bench", entries.len() * size_of::<T>(), context.host_budget()).unwrap();
    let numbers = values.as_mut_slice::<T>().unwrap();
    numbers.iter_mut().zip(entries).for_each(|(v, e)| *v = T::from_parts(e.2, 0.0));
    let from = Coordinates {
        rows: n,
        cols: n,
        row_idx: Indices::I32(&rows),
        col_idx: Indices::I32(&cols),
        base: 0,
        dtype: <T as Element>::DTYPE,
        values: Some(&values),
    };
    symmetrize(context, &from_coordinates(context, &from, Duplicates::Max).unwrap(), Symmetrize::Mirror).unwrap()
}

fn mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// Barabasi and Albert's graph, three edges a new vertex: each end of an edge so far is as likely.
fn preferential(n: usize) -> Vec<(i32, i32, f64)> {
    let mut state = 1;
    let mut ends: Vec<i32> = vec![0, 1, 2];
    let mut list = Vec::new();
    for v in 3..n as i32 {
        for _ in 0..3 {
            let to = ends[(mix(&mut state) % ends.len() as u64) as usize];
            if to != v {
                list.push((to, v, 1.0));
                ends.extend([to, v]);
            }
        }
    }
    list
}

/// The seven-point stencil of a cube.
fn poisson(side: usize) -> Vec<(i32, i32, f64)> {
    let mut list = Vec::new();
    for i in 0..side * side * side {
        let (x, y, z) = (i % side, i / side % side, i / side / side);
        list.push((i as i32, i as i32, 6.0));
        for (at, step) in [(x, 1), (y, side), (z, side * side)] {
            if at + 1 < side {
                list.push((i as i32, (i + step) as i32, -1.0));
            }
        }
    }
    list
}

fn golden(context: &Arc<Context>, name: &str) -> Matrix {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden/spectral");
    read_market(context, &folder.join(format!("{name}.mtx.gz")), None).unwrap()
}

fn product<T: Scalar>(c: &mut Criterion, context: &Arc<Context>, name: &str, a: &Matrix) {
    let plan = Plan::new(context, a, ProductOptions::default()).unwrap();
    let s = plan.info().statistics;
    let x: Vec<T> = (0..a.cols()).map(|i| T::from_parts((i % 17) as f64 - 8.0, 0.0)).collect();
    let mut y = vec![T::default(); a.rows()];
    let mut group = c.benchmark_group(format!("spmv {}", <T as Element>::DTYPE.name()));
    // Bytes of a product with 32-bit indices.
    group
        .sample_size(20)
        .throughput(Throughput::Bytes((s.nnz * (size_of::<T>() + 4) + s.rows * (2 * size_of::<T>() + 4)) as u64));
    let one = T::from_parts(1.0, 0.0);
    group.bench_function(BenchmarkId::from_parameter(name), |b| {
        b.iter(|| plan.compute(a, Finish::plain(one, T::default()), &x, &x, &mut y).unwrap());
    });
    group.finish();
}

fn products(c: &mut Criterion) {
    let context = context();
    for name in ["as-caida20071105", "ca-AstroPh-cc", "email-Enron", "4elt"] {
        product::<f64>(c, &context, name, &golden(&context, name));
    }
    for (name, n, entries) in [
        ("Barabasi-Albert 200k", 200_000, preferential(200_000)),
        ("Barabasi-Albert 1.6M", 1_600_000, preferential(1_600_000)),
        ("Poisson 100^3", 1_000_000, poisson(100)),
    ] {
        product::<f64>(c, &context, name, &mirrored::<f64>(&context, n, &entries));
        product::<f32>(c, &context, name, &mirrored::<f32>(&context, n, &entries));
    }
}

fn context() -> Arc<Context> {
    Context::new(ContextOptions { backend: BackendChoice::Cpu, threads: 2, ..ContextOptions::default() }).unwrap()
}

fn solvers(c: &mut Criterion) {
    let context = context();
    let mut group = c.benchmark_group("lanczos k = 10");
    group.sample_size(10);
    let ten = Options { count: 10, ..Options::default() };
    let methods = [
        ("thick restart", ten),
        ("partial, basis 40", Options { orthogonalization: Orthogonalization::Partial, basis: 40, ..ten }),
        ("blocks of 4", Options { block: 4, ..ten }),
        ("plain, 63 steps", Options { method: Method::Plain, basis: 63, tolerance: 1e-6, ..ten }),
    ];
    for name in ["as-caida20071105", "ca-AstroPh-cc", "email-Enron"] {
        let a = golden(&context, name);
        for (what, options) in &methods {
            group.bench_function(BenchmarkId::new(*what, name), |b| {
                b.iter(|| {
                    let mut operator = Symmetric::<f64>::new(&context, &a, Kind::Matrix, 0.0).unwrap();
                    eigenpairs(&context, &mut operator, options, &SolveInputs::default(), &Progress::none()).unwrap()
                });
            });
        }
    }
    group.finish();
    let mut group = c.benchmark_group("smallest of the normalized Laplacian, 4elt, k = 8");
    group.sample_size(10);
    let a = golden(&context, "4elt");
    let eight = Options { count: 8, which: Which::Largest, tolerance: 1e-8, ..Options::default() };
    for (what, options) in [("thick restart", eight), ("filter", Options { filter: Filter::Chebyshev, ..eight })] {
        group.bench_function(what, |b| {
            b.iter(|| {
                let mut operator = Symmetric::<f64>::new(&context, &a, Kind::NormalizedAdjacency, 0.0).unwrap();
                eigenpairs(&context, &mut operator, &options, &SolveInputs::default(), &Progress::none()).unwrap()
            });
        });
    }
    group.finish();
    let mut group = c.benchmark_group("plain recurrence, 63 steps");
    group.sample_size(10);
    let a = golden(&context, "email-Enron");
    group.bench_function("email-Enron", |b| {
        b.iter(|| {
            let mut operator = Symmetric::<f64>::new(&context, &a, Kind::Matrix, 0.0).unwrap();
            tridiagonalize(&context, &mut operator, 63, 0, None, &Progress::none()).unwrap()
        });
    });
    group.finish();
}

criterion_group!(benches, products, solvers);
criterion_main!(benches);
