//! Parts of a randomized SVD on the CPU, two threads: passes over a dense matrix in both orders, bases, random matrices,
//! small decompositions. `cargo bench --bench rsvd`.

use std::sync::Arc;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use purlin::backend::BackendChoice;
use purlin::backend::memory::{HostMemory, Memory};
use purlin::context::{Context, Options};
use purlin::dense::Algebra;
use purlin::dense::sketch::{Distribution, Sketch};
use purlin::progress::Progress;
use purlin::rng::stream;
use purlin::rsvd::cpu::CpuOps;
use purlin::rsvd::data::{Center, Data, Problem, Setting};
use purlin::rsvd::ops::RsvdOps;
use purlin::scalar::{Element, Scalar};

const ROWS: usize = 20_000;
const COLUMNS: usize = 2_000;
const WIDTH: usize = 60;

fn data<T: Scalar>(context: &Context) -> Memory {
    let bytes = ROWS * COLUMNS * size_of::<T>();
    let mut memory = HostMemory::allocate("matrix", bytes, context.host_budget()).unwrap();
    for (k, x) in memory.as_mut_slice::<T>().unwrap().iter_mut().enumerate() {
        *x = T::from_parts((k % 1013) as f64 * 1e-3 - 0.5, 0.0);
    }
    Memory::Host(memory)
}

fn passes<T: Scalar>(c: &mut Criterion, context: &Arc<Context>) {
    let memory = data::<T>(context);
    let progress = Progress::none();
    // Multiplications and additions of one product with the matrix.
    let flops = 2 * (ROWS * COLUMNS * WIDTH) as u64;
    for (name, row_stride, column_stride) in [("rows", COLUMNS, 1), ("columns", 1, ROWS)] {
        for center in [Center::None, Center::Columns] {
            let setting = Setting { center, ..Setting::plain() };
            let data = Data::Dense { memory: &memory, dtype: <T as Element>::DTYPE, row_stride, column_stride };
            let problem = Problem { rows: ROWS, columns: COLUMNS, transposed: false, data };
            let mut ops = CpuOps::<T>::new(context, problem, setting, &progress).unwrap();
            let sketch = Sketch { distribution: Distribution::Gaussian, seed: 1, stream: stream::SKETCH };
            let mut w = ops.zeros("W", COLUMNS, WIDTH).unwrap();
            ops.fill(&mut w, &sketch, 0, 0).unwrap();
            let mut p = ops.tall("P", WIDTH).unwrap();
            let mut t = ops.zeros("T", COLUMNS, WIDTH).unwrap();
            let title = format!("rsvd {} {ROWS} x {COLUMNS}, {name} contiguous, centred {center:?}", T::DTYPE.name());
            let mut group = c.benchmark_group(title);
            group.sample_size(10).throughput(Throughput::Elements(flops));
            group.bench_function("A W", |b| b.iter(|| ops.pass_multiply(&w, &mut p).unwrap()));
            group.bench_function("A^H P", |b| b.iter(|| ops.pass_adjoint(&p, &mut t).unwrap()));
            group.throughput(Throughput::Elements(2 * flops));
            group.bench_function("A^H A W", |b| b.iter(|| ops.pass_fused(&w, Some(&mut p), &mut t).unwrap()));
            if center == Center::None && column_stride == 1 {
                let mut r = ops.zeros("R", WIDTH, WIDTH).unwrap();
                group.throughput(Throughput::Elements((2 * ROWS * WIDTH * WIDTH) as u64));
                group.bench_function("CholeskyQR step", |b| {
                    b.iter(|| ops.tall_cholesky_step(&mut p, 0.0, &mut r).unwrap());
                });
                group.throughput(Throughput::Elements((ROWS * WIDTH) as u64));
                group.bench_function("normal numbers", |b| b.iter(|| ops.tall_fill(&mut p, &sketch, 0).unwrap()));
                group.throughput(Throughput::Elements(1));
                group.bench_function("SVD of A^H P", |b| b.iter(|| ops.svd(&t).unwrap()));
            }
            group.finish();
        }
    }
}

fn parts(c: &mut Criterion) {
    let options = Options { backend: BackendChoice::Cpu, threads: 2, ..Options::default() };
    let context = Context::new(options).unwrap();
    passes::<f64>(c, &context);
    passes::<f32>(c, &context);
}

criterion_group!(benches, parts);
criterion_main!(benches);
