//! Contractions on a GPU against the CPU: every kernel and library path, all types, odd sizes, extreme numbers.

mod algebra;
mod balance;
mod batch;
mod dense;
mod digits;
mod enqueue;
mod enqueue_dense;
mod enqueue_operators;
mod factors;
mod golden;
mod hard;
mod lost;
mod norms;
mod operators;
mod paths;
mod powers;
mod ring_underflow;

use std::sync::Arc;

use crate::backend::BackendChoice;
use crate::backend::gpu::Gpu;
use crate::backend::memory::Memory;
use crate::context::{Context, Options as ContextOptions};
use crate::group::Group;
use crate::scalar::{DType, Element, Scalar, with_scalar};
use crate::tensor::Location;
use crate::tensor::train::{Shape, TensorTrain};
use crate::tt::options::{Conjugate, Method};
use crate::tt::{Contraction, Options, Scaled};

/// The four element types.
const TYPES: [DType; 4] = [DType::F32, DType::F64, DType::CF32, DType::CF64];

/// A context on a GPU whose free memory is filled with NaN, which shows if something is read before it is written.
fn gpu(device: i32) -> Arc<Context> {
    let backend = BackendChoice::Cuda;
    let context = Context::new(ContextOptions { backend, device, threads: 2, ..ContextOptions::default() }).unwrap();
    let gpu = context.gpu("test").unwrap();
    let stream = gpu.default_stream();
    let mut memory = gpu.allocate_on(stream, "poison", 256 << 20).unwrap();
    gpu.fill(stream, &mut memory, 0, 256 << 20, 0xff).unwrap();
    context
}

fn cpu() -> Arc<Context> {
    let backend = BackendChoice::Cpu;
    Context::new(ContextOptions { backend, threads: 2, ..ContextOptions::default() }).unwrap()
}

/// Pseudorandom numbers in [-1, 1).
struct Disorder(u64);

impl Disorder {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    fn pick(&mut self, least: usize, most: usize) -> usize {
        (least + ((self.next() + 1.0) / 2.0 * (most - least + 1) as f64) as usize).min(most)
    }
}

/// A train of plain numbers (real part, imaginary part).
#[derive(Clone)]
struct Plain {
    modes: Vec<usize>,
    ranks: Vec<usize>,
    cores: Vec<Vec<(f64, f64)>>,
}

impl Plain {
    fn random(modes: &[usize], ranks: &[usize], seed: u64, size: f64) -> Self {
        let mut disorder = Disorder(seed);
        let core = |k: usize, d: &mut Disorder| -> Vec<(f64, f64)> {
            let count = ranks[k] * modes[k] * ranks[k + 1];
            (0..count).map(|_| (size * d.next(), size * d.next())).collect()
        };
        let cores = (0..modes.len()).map(|k| core(k, &mut disorder)).collect();
        Self { modes: modes.to_vec(), ranks: ranks.to_vec(), cores }
    }

    fn typed<T: Scalar>(&self, k: usize) -> Vec<T> {
        self.cores[k].iter().map(|&(re, im)| T::from_parts(re, im)).collect()
    }

    /// A train of `context`, in host memory or on its device.
    fn train(&self, context: &Arc<Context>, dtype: DType, location: Location) -> TensorTrain {
        let shape = Shape::new("x", &self.modes, &self.ranks).unwrap();
        let mut train = TensorTrain::create(context, dtype, location, shape).unwrap();
        for k in 0..self.modes.len() {
            with_scalar!(dtype, "dtype", T => {
                let (memory, offset) = train.memory_mut("x", k).unwrap();
                let numbers = self.typed::<T>(k);
                put(context, memory, offset * size_of::<T>(), &numbers);
                Ok::<(), crate::error::Error>(())
            })
            .unwrap();
            train.mark_set(k);
        }
        train
    }
}

/// Writes numbers to memory of the host or the device, from byte `offset` on.
fn put<T: Element>(context: &Arc<Context>, memory: &mut Memory, offset: usize, numbers: &[T]) {
    match memory {
        Memory::Device(device) => {
            let gpu: &Gpu = context.gpu("test").unwrap();
            gpu.store_numbers(gpu.default_stream(), numbers, device, offset).unwrap();
            gpu.default_stream().synchronize().unwrap();
        }
        Memory::Host(host) => {
            let at = offset / size_of::<T>();
            host.as_mut_slice::<T>().unwrap()[at..at + numbers.len()].copy_from_slice(numbers);
        }
    }
}

fn epsilon(dtype: DType) -> f64 {
    if dtype.is_single() { f64::from(f32::EPSILON) } else { f64::EPSILON }
}

/// The same numbers rounded to this type, as a train in [`wide`] has them.
fn rounded(p: &Plain, dtype: DType) -> Plain {
    let cut = |v: f64| if epsilon(dtype) > 1e-10 { f64::from(v as f32) } else { v };
    let cores = p.cores.iter().map(|c| c.iter().map(|&(re, im)| (cut(re), cut(im))).collect()).collect();
    Plain { modes: p.modes.clone(), ranks: p.ranks.clone(), cores }
}

/// The type of double precision, real or complex as the given one.
fn wide(dtype: DType) -> DType {
    match dtype {
        DType::F32 => DType::F64,
        DType::CF32 => DType::CF64,
        other => other,
    }
}

/// <x|y> on the CPU, and sqrt(<x|x> <y|y>), to which errors are relative.
fn expected(x: &Plain, y: &Plain, types: (DType, DType), conjugate: Conjugate) -> (Scaled, Scaled) {
    expected_by(x, y, types, &Options { conjugate, ..Options::default() })
}

/// [`expected`] with given options.
fn expected_by(x: &Plain, y: &Plain, types: (DType, DType), given: &Options) -> (Scaled, Scaled) {
    let context = cpu();
    let x = rounded(x, types.0).train(&context, wide(types.0), Location::Host);
    let y = rounded(y, types.1).train(&context, wide(types.1), Location::Host);
    let sum = |options: &Options, x: &TensorTrain, y: &TensorTrain| {
        Contraction::new(&context, options.clone()).unwrap().inner_scaled(None, x, y, None).unwrap().0
    };
    let bra = Options { conjugate: Conjugate::Bra, ..given.clone() };
    let (a, b) = (sum(&bra, &x, &x).re(), sum(&bra, &y, &y).re());
    (sum(given, &x, &y), a.times(b).sqrt())
}

/// Asserts that `got` differs from `want` by at most `bound` units of roundoff of |x| |y|.
fn assert_close(what: &str, got: Scaled, want: Scaled, size: Scaled, bound: f64) {
    let difference = got.plus(want.times(Scaled::real(-1.0)));
    let error = difference.over(size).map_or(0.0, |q| q.log_abs().exp());
    assert!(error <= bound, "{what}: {got:?} for {want:?}, off by {error:e} of {size:?}, {bound:e} is allowed");
}

/// Asserts that cores of magnitude 2^q and 2^-q give the same bits as cores of magnitude 1, with an exponent that
/// differs by `cores` times q. `run` computes the result for cores of the given magnitude.
fn assert_sizes_are_exponents(what: &str, dtype: DType, cores: i64, run: impl Fn(f64) -> Scaled) {
    let q = if epsilon(dtype) > 1e-10 { 60 } else { 900 };
    let plain = run(1.0);
    for q in [q, -q] {
        let got = run(2.0f64.powi(q));
        let back = (got.mantissa, got.exponent - cores * i64::from(q));
        assert_eq!(back, (plain.mantissa, plain.exponent), "{dtype:?} {what} 2^{q}");
    }
}

/// Bound of the error of an inner product: sums of up to n r terms at each of d sites, two sums for each site. Every
/// rounding enters at most once, relative to |x| |y| for random trains.
fn bound(x: &Plain, y: &Plain, dtype: DType) -> f64 {
    let rank = x.ranks.iter().chain(&y.ranks).copied().max().unwrap_or(1);
    let modes = x.modes.iter().copied().max().unwrap_or(1);
    4.0 * (x.modes.len() * (rank + modes * rank)) as f64 * epsilon(dtype)
}

/// Types of x and y: the four types with themselves, and mixed pairs.
fn mixed() -> Vec<(DType, DType)> {
    let mut all = TYPES.map(|t| (t, t)).to_vec();
    all.extend([(DType::F64, DType::CF64), (DType::CF32, DType::F32)]);
    all
}

/// The type of the result.
fn common(types: (DType, DType)) -> DType {
    if types.0.is_complex() { types.0 } else { types.1 }
}

/// The bytes that a call with a `workspace_limit` of 1 names in its error.
fn least_workspace(call: impl FnOnce(u64) -> crate::error::Result<()>) -> u64 {
    let refused = call(1).unwrap_err().to_string();
    let bytes = refused.strip_prefix("workspace_limit: is 1, at least ").and_then(|rest| rest.split(' ').next());
    bytes.and_then(|bytes| bytes.parse().ok()).unwrap_or_else(|| panic!("{refused}"))
}

fn options(method: Method, conjugate: Conjugate) -> Options {
    Options { method, conjugate, ..Options::default() }
}
