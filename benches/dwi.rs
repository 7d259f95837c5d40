//! Kernels of the diffusion family on the CPU, one thread, voxels a second: `cargo bench --bench dwi`.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use purlin::backend::BackendChoice;
use purlin::context::{Context, Options};
use purlin::dwi::{self, Basis, CsaOptions, FitOptions, Weighting};
use purlin::progress::Progress;
use purlin::scalar::DType;
use purlin::shape::Order;
use purlin::tensor::{Location, Symmetric, Tensor};

const VOXELS: usize = 16_384;
const VOLUMES: usize = 65;

fn kernels(c: &mut Criterion) {
    let options = Options { backend: BackendChoice::Cpu, threads: 1, ..Options::default() };
    let Ok(context) = Context::new(options) else { return };
    let create =
        |dims: &[usize], dtype| Tensor::create(&context, dtype, Location::Host, Order::RowMajor, dims).unwrap();
    // One image a volume, as a NIfTI file holds them; directions on a Fibonacci lattice.
    let mut signals = create(&[VOLUMES, VOXELS], DType::F32);
    let mut bvals = create(&[VOLUMES], DType::F64);
    let mut bvecs = create(&[3, VOLUMES], DType::F64);
    for k in 0..VOLUMES {
        let z = 1.0 - (2 * k + 1) as f64 / VOLUMES as f64;
        let (r, phi) = ((1.0 - z * z).sqrt(), 2.399_963 * k as f64);
        bvals.view_mut::<f64>("bvals").unwrap().set(&[k], if k == 0 { 0.0 } else { 1000.0 });
        for (axis, x) in [r * phi.cos(), r * phi.sin(), z].into_iter().enumerate() {
            bvecs.view_mut::<f64>("bvecs").unwrap().set(&[axis, k], x);
        }
        for v in 0..VOXELS {
            let signal = if k == 0 { 1000.0 } else { 300.0 + ((k * 31 + v * 17) % 400) as f32 };
            signals.view_mut::<f32>("signals").unwrap().set(&[k, v], signal);
        }
    }
    let shape = Symmetric::new(4, 3).unwrap();
    let mut tensors =
        Tensor::create_symmetric(&context, DType::F32, Location::Host, Order::ColumnMajor, shape, VOXELS).unwrap();
    let mut sh = create(&[15, VOXELS], DType::F32);
    let mut group = c.benchmark_group("dwi order 4 f32, 64 directions");
    group.throughput(Throughput::Elements(VOXELS as u64)).sample_size(10);
    for (name, weighting) in [("fit", Weighting::Ordinary), ("fit weighted", Weighting::Signal)] {
        let options = FitOptions { weighting, ..FitOptions::default() };
        group.bench_function(name, |b| {
            b.iter(|| {
                let out = &mut tensors;
                let progress = Progress::none();
                dwi::fit(&context, None, &signals, &bvals, &bvecs, None, None, &options, out, None, None, &progress)
                    .unwrap();
            });
        });
    }
    group.bench_function("csa", |b| {
        b.iter(|| {
            let (o, progress) = (CsaOptions::default(), Progress::none());
            let basis = Basis::Mrtrix3;
            dwi::csa(&context, None, &signals, &bvals, &bvecs, None, basis, &o, &mut sh, None, &progress).unwrap();
        });
    });
    group.bench_function("sh_to_tensor", |b| {
        b.iter(|| dwi::sh_to_tensor(&context, None, &sh, Basis::Mrtrix3, &mut tensors).unwrap());
    });
    group.finish();
}

criterion_group!(benches, kernels);
criterion_main!(benches);
