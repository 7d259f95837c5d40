//! Contexts, element types, random trains and options of a call.

use std::sync::Arc;

use crate::backend::BackendChoice;
use crate::backend::gpu::Gpu;
use crate::backend::memory::Memory;
use crate::context::{Context, Options as ContextOptions};
use crate::scalar::{DType, Element, Scalar, with_scalar};
use crate::tensor::Location;
use crate::tensor::train::{Shape, TensorTrain};
use crate::trains::Options;
use crate::trains::options::{Conjugate, Method};

pub(super) const TYPES: [DType; 4] = [DType::F32, DType::F64, DType::CF32, DType::CF64];

pub(super) fn cpu() -> Arc<Context> {
    let backend = BackendChoice::Cpu;
    Context::new(ContextOptions { backend, threads: 2, ..ContextOptions::default() }).unwrap()
}

/// Pseudorandom numbers in [-1, 1).
pub(super) struct Disorder(pub u64);

impl Disorder {
    pub fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    pub fn pick(&mut self, least: usize, most: usize) -> usize {
        (least + ((self.next() + 1.0) / 2.0 * (most - least + 1) as f64) as usize).min(most)
    }
}

/// A train of plain numbers (real part, imaginary part).
#[derive(Clone)]
pub(super) struct Plain {
    pub modes: Vec<usize>,
    pub ranks: Vec<usize>,
    pub cores: Vec<Vec<(f64, f64)>>,
}

impl Plain {
    pub fn random(modes: &[usize], ranks: &[usize], seed: u64, size: f64) -> Self {
        let mut disorder = Disorder(seed);
        let core = |k: usize, d: &mut Disorder| -> Vec<(f64, f64)> {
            let count = ranks[k] * modes[k] * ranks[k + 1];
            (0..count).map(|_| (size * d.next(), size * d.next())).collect()
        };
        let cores = (0..modes.len()).map(|k| core(k, &mut disorder)).collect();
        Self { modes: modes.to_vec(), ranks: ranks.to_vec(), cores }
    }

    pub fn typed<T: Scalar>(&self, k: usize) -> Vec<T> {
        self.cores[k].iter().map(|&(re, im)| T::from_parts(re, im)).collect()
    }

    /// A train of `context`, in host memory or on its device.
    pub fn train(&self, context: &Arc<Context>, dtype: DType, location: Location) -> TensorTrain {
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
pub(super) fn put<T: Element>(context: &Arc<Context>, memory: &mut Memory, offset: usize, numbers: &[T]) {
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

/// Types of x and y: the four types with themselves, and mixed pairs.
pub(super) fn mixed() -> Vec<(DType, DType)> {
    let mut all = TYPES.map(|t| (t, t)).to_vec();
    all.extend([(DType::F64, DType::CF64), (DType::CF32, DType::F32)]);
    all
}

pub(super) fn options(method: Method, conjugate: Conjugate) -> Options {
    Options { method, conjugate, ..Options::default() }
}
