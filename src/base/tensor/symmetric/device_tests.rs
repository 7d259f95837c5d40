//! The GPU against the CPU, on a device. Every tensor's memory is compared as a whole, so that a kernel that writes
//! between the elements of a strided tensor is found too.

use std::sync::Arc;

use super::*;
use crate::backend::BackendChoice;
use crate::backend::memory::{HostMemory, Memory};
use crate::context::{Context, Options};
use crate::rng;
use crate::scalar::{DType, Real};
use crate::shape::{Layout, Order};
use crate::stream::Stream;
use crate::tensor::{Location, Symmetric, Tensor};

const SHAPES: [(usize, usize); 5] = [(2, 1), (3, 3), (4, 3), (6, 3), (4, 5)];
const COUNTS: [usize; 3] = [0, 1, 33];
const TYPES: [DType; 2] = [DType::F32, DType::F64];

fn context(backend: BackendChoice) -> Arc<Context> {
    Context::new(Options { backend, threads: 2, ..Options::default() }).unwrap()
}

fn shape(order: usize, dimension: usize) -> Symmetric {
    Symmetric { order, dimension }
}

/// Packed and gapped storage, first or last index fastest.
fn layouts(dims: &[usize], dtype: DType) -> [Layout; 4] {
    let gapped = |axes: &mut dyn Iterator<Item = usize>| {
        let (mut strides, mut step) = (vec![0; dims.len()], 2);
        for axis in axes {
            strides[axis] = step;
            step = step * dims[axis].max(1) + 1;
        }
        Layout::strided(dims, &strides, dtype).unwrap()
    };
    [
        Layout::packed(dims, Order::ColumnMajor, dtype).unwrap(),
        Layout::packed(dims, Order::RowMajor, dtype).unwrap(),
        gapped(&mut (0..dims.len())),
        gapped(&mut (0..dims.len()).rev()),
    ]
}

/// The dimensions of dense tensors.
fn full_dims(s: Symmetric, count: usize) -> Vec<usize> {
    let mut dims = vec![s.dimension; s.order];
    dims.push(count);
    dims
}

/// A host tensor whose whole memory is random.
fn random(c: &Arc<Context>, dtype: DType, layout: &Layout, symmetric: Option<Symmetric>, seed: u64) -> Tensor {
    fn fill<T: Real>(memory: &mut HostMemory, seed: u64) {
        for (k, x) in memory.as_mut_slice::<T>().unwrap().iter_mut().enumerate() {
            *x = T::from_f64(rng::uniform(seed, 70, 0, k as u32));
        }
    }
    let bytes = layout.extent() * dtype.size();
    let mut memory = HostMemory::allocate("test", bytes, c.host_budget()).unwrap();
    if dtype == DType::F32 {
        fill::<f32>(&mut memory, seed)
    } else {
        fill::<f64>(&mut memory, seed)
    };
    Tensor::from_memory(c, dtype, layout.clone(), Memory::Host(memory), false, symmetric).unwrap()
}

/// The same tensor on a device.
fn on_device(c: &Arc<Context>, host: &Tensor) -> Tensor {
    let gpu = c.gpu("test").unwrap();
    let bytes = host.memory().host("test").unwrap().as_slice::<u8>().unwrap();
    let mut memory = gpu.allocate("test", bytes.len()).unwrap();
    gpu.upload(gpu.default_stream(), bytes, &mut memory, 0).unwrap();
    gpu.default_stream().synchronize().unwrap();
    let layout = host.layout().clone();
    Tensor::from_memory(c, host.dtype(), layout, Memory::Device(memory), false, host.symmetric()).unwrap()
}

/// The whole memory of a tensor.
fn bytes(c: &Arc<Context>, queue: Option<&Stream>, tensor: &Tensor) -> Vec<u8> {
    match tensor.memory() {
        Memory::Host(memory) => memory.as_slice::<u8>().unwrap().to_vec(),
        Memory::Device(memory) => {
            let gpu = c.gpu("test").unwrap();
            let mut bytes = vec![0u8; memory.bytes()];
            let queue = queue.and_then(Stream::gpu).unwrap_or_else(|| gpu.default_stream());
            gpu.download(queue, memory, 0, &mut bytes).unwrap();
            bytes
        }
    }
}

fn numbers(dtype: DType, bytes: &[u8]) -> Vec<f64> {
    let f32s = || bytes.chunks_exact(4).map(|b| f64::from(f32::from_ne_bytes([b[0], b[1], b[2], b[3]])));
    let f64s = || bytes.chunks_exact(8).map(|b| f64::from_ne_bytes([b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7]]));
    if dtype == DType::F32 { f32s().collect() } else { f64s().collect() }
}

/// A CPU context, a GPU context, and a stream of the latter.
struct Both {
    cpu: Arc<Context>,
    gpu: Arc<Context>,
    queue: Stream,
}

impl Both {
    fn new() -> Self {
        let gpu = context(BackendChoice::Cuda);
        Self { cpu: context(BackendChoice::Cpu), queue: Stream::new(&gpu).unwrap(), gpu }
    }

    /// Runs `work` on copies of two host tensors on either side; the memory of the second after it.
    fn run(
        &self,
        (input, output): (&Tensor, &Tensor),
        work: impl Fn(&Context, Option<&Stream>, &Tensor, &mut Tensor) -> crate::error::Result<()>,
    ) -> (Vec<u8>, Vec<u8>) {
        let memory = output.memory().host("test").unwrap().as_slice::<u8>().unwrap();
        let mut copy = HostMemory::allocate("test", memory.len(), self.cpu.host_budget()).unwrap();
        copy.as_mut_slice::<u8>().unwrap().copy_from_slice(memory);
        let (layout, symmetric) = (output.layout().clone(), output.symmetric());
        let mut here =
            Tensor::from_memory(&self.cpu, output.dtype(), layout, Memory::Host(copy), false, symmetric).unwrap();
        work(&self.cpu, None, input, &mut here).unwrap();
        let (source, mut there) = (on_device(&self.gpu, input), on_device(&self.gpu, output));
        work(&self.gpu, Some(&self.queue), &source, &mut there).unwrap();
        (bytes(&self.cpu, None, &here), bytes(&self.gpu, Some(&self.queue), &there))
    }
}

/// Every shape, count and pair of types, each with four of the pairs of layouts.
fn each_case(mut check: impl FnMut(Symmetric, usize, [DType; 2], usize)) {
    for (order, dimension) in SHAPES {
        for count in COUNTS {
            for (a, b) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                for storage in 0..4 {
                    check(shape(order, dimension), count, [TYPES[a], TYPES[b]], storage);
                }
            }
        }
    }
}

#[test]
#[ignore = "needs a GPU"]
fn small_conversions_are_those_of_the_cpu() {
    let both = Both::new();
    let ways = [
        (Packing::Entries, Packing::Polynomial),
        (Packing::Polynomial, Packing::Entries),
        (Packing::Entries, Packing::Entries),
    ];
    each_case(|s, count, [from, to], storage| {
        let dims = [s.count(), count];
        let source = random(&both.cpu, from, &layouts(&dims, from)[storage], Some(s), 1);
        let destination = random(&both.cpu, to, &layouts(&dims, to)[(storage + count) % 4], Some(s), 2);
        for (a, b) in ways {
            let (here, there) = both.run((&source, &destination), |c, q, i, o| convert(c, q, i, a, o, b));
            assert_eq!(here, there, "{s:?} {count} {from:?} to {to:?} {storage} {a:?} to {b:?}");
        }
    });
}

#[test]
#[ignore = "needs a GPU"]
fn small_dense_tensors_are_packed_and_unpacked_as_by_the_cpu() {
    let both = Both::new();
    each_case(|s, count, [dtype, other], storage| {
        // The pairs of different types give more pairs of layouts.
        let second = (storage + usize::from(dtype != other)) % 4;
        let packed = random(&both.cpu, dtype, &layouts(&[s.count(), count], dtype)[second], Some(s), 3);
        let dense = random(&both.cpu, dtype, &layouts(&full_dims(s, count), dtype)[storage], None, 4);
        let what = format!("{s:?} {count} {dtype:?} {storage} {second}");
        let (here, there) = both.run((&packed, &dense), to_full);
        assert_eq!(here, there, "{what}: unpacked");
        let (here, there) = both.run((&dense, &packed), |c, q, i, o| from_full(c, q, i, true, 0.0, o));
        assert_eq!(here, there, "{what}: symmetrized");
        let mut symmetric = dense;
        to_full(&both.cpu, None, &packed, &mut symmetric).unwrap();
        let (here, there) = both.run((&symmetric, &packed), |c, q, i, o| from_full(c, q, i, false, 0.0, o));
        assert_eq!(here, there, "{what}: packed");
    });
}

#[test]
#[ignore = "needs a GPU"]
fn small_single_tensors_need_no_axis_of_their_own() {
    let both = Both::new();
    let s = shape(3, 4);
    for storage in 0..4 {
        let layout = &layouts(&[4, 4, 4], DType::F64)[storage];
        let dense = random(&both.cpu, DType::F64, layout, None, 5);
        let packed = random(&both.cpu, DType::F64, &layouts(&[20, 1], DType::F64)[storage], Some(s), 6);
        let (here, there) = both.run((&packed, &dense), to_full);
        assert_eq!(here, there, "{storage}: unpacked");
        let (here, there) = both.run((&dense, &packed), |c, q, i, o| from_full(c, q, i, true, 0.0, o));
        assert_eq!(here, there, "{storage}: symmetrized");
    }
}

/// Norms agree to the rounding of sums in another order, and their gaps stay as they are.
fn norms_agree(both: &Both, packed: &Tensor, out: &Tensor, what: &str) {
    let dtype = out.dtype();
    for kind in [Norm::Frobenius, Norm::One, Norm::Max] {
        let (here, there) = both.run((packed, out), |c, q, i, o| norm(c, q, i, kind, o));
        // U terms of one sign, each rounded three times in f64, then one rounding to the type.
        let u = packed.dims()[0] as f64;
        let tolerance = (u + 8.0) * f64::EPSILON + if dtype == DType::F32 { f64::from(f32::EPSILON) } else { 0.0 };
        for (x, y) in numbers(dtype, &here).into_iter().zip(numbers(dtype, &there)) {
            let same = x == y || x.is_nan() && y.is_nan();
            assert!(same || (x - y).abs() <= tolerance * x.abs(), "{what} {kind:?}: {x} {y}");
        }
    }
}

#[test]
#[ignore = "needs a GPU"]
fn small_norms_are_those_of_the_cpu() {
    let both = Both::new();
    each_case(|s, count, [dtype, other], storage| {
        let packed = random(&both.cpu, dtype, &layouts(&[s.count(), count], dtype)[storage], Some(s), 7);
        let second = if dtype == other { 0 } else { 2 };
        let out = random(&both.cpu, dtype, &layouts(&[count], dtype)[second], None, 8);
        norms_agree(&both, &packed, &out, &format!("{s:?} {count} {dtype:?} {storage}"));
    });
}

#[test]
#[ignore = "needs a GPU"]
fn small_norms_of_zeros_extremes_and_what_is_not_finite_are_those_of_the_cpu() {
    let both = Both::new();
    let s = shape(4, 3);
    let rows: [&[(usize, f64)]; 7] = [
        &[],
        &[(3, 1e200), (7, -1e200)],
        &[(14, 1e-300)],
        &[(2, f64::NEG_INFINITY), (9, f64::NAN)],
        &[(2, f64::NAN), (9, f64::INFINITY)],
        &[(0, f64::INFINITY)],
        &[(14, f64::NAN)],
    ];
    let layout = Layout::packed(&[15, rows.len()], Order::ColumnMajor, DType::F64).unwrap();
    let mut packed = random(&both.cpu, DType::F64, &layout, Some(s), 9);
    let mut view = packed.view_mut::<f64>("packed").unwrap();
    for (t, row) in rows.iter().enumerate() {
        (0..15).for_each(|u| view.set(&[u, t], 0.0));
        row.iter().for_each(|(u, x)| view.set(&[*u, t], *x));
    }
    let out = random(&both.cpu, DType::F64, &layouts(&[rows.len()], DType::F64)[0], None, 10);
    norms_agree(&both, &packed, &out, "extremes");
}

#[test]
#[ignore = "needs a GPU"]
fn small_identities_are_those_of_the_cpu() {
    let both = Both::new();
    each_case(|s, count, [dtype, _], storage| {
        if s.order % 2 == 0 {
            let packed = random(&both.cpu, dtype, &layouts(&[s.count(), count], dtype)[storage], Some(s), 11);
            let (here, there) = both.run((&packed, &packed), |c, q, _, o| identity(c, q, -1.7, o));
            assert_eq!(here, there, "{s:?} {count} {dtype:?} {storage}");
        }
    });
}

#[test]
#[ignore = "needs a GPU"]
fn small_asymmetries_are_reported_as_by_the_cpu() {
    let both = Both::new();
    let s = shape(4, 3);
    for dtype in TYPES {
        for storage in 0..4 {
            let layout = layouts(&full_dims(s, 33), dtype)[storage].clone();
            let packed = random(&both.cpu, dtype, &layouts(&[15, 33], dtype)[0], Some(s), 12);
            let report = |change: &[([usize; 5], f64)], tolerance: f64| {
                let mut dense = random(&both.cpu, dtype, &layout, None, 13);
                to_full(&both.cpu, None, &packed, &mut dense).unwrap();
                for (place, value) in change {
                    match dtype {
                        DType::F32 => dense.view_mut::<f32>("full").unwrap().set(place, *value as f32),
                        _ => dense.view_mut::<f64>("full").unwrap().set(place, *value),
                    }
                }
                let new = |c: &Arc<Context>, location| {
                    Tensor::create_symmetric(c, dtype, location, Order::ColumnMajor, s, 33).unwrap()
                };
                let (mut here, mut there) = (new(&both.cpu, Location::Host), new(&both.gpu, Location::Device));
                let cpu = from_full(&both.cpu, None, &dense, false, tolerance, &mut here);
                let device = on_device(&both.gpu, &dense);
                let gpu = from_full(&both.gpu, Some(&both.queue), &device, false, tolerance, &mut there);
                assert_eq!(cpu, gpu, "{dtype:?} {storage} {change:?}");
                if gpu.is_err() {
                    let written = bytes(&both.gpu, Some(&both.queue), &there);
                    assert!(written.iter().all(|b| *b == 0), "what is refused writes nothing");
                }
                gpu.map_err(|e| e.to_string())
            };
            let wrong = [([2, 1, 0, 1, 30], 9.0), ([0, 2, 0, 0, 17], 5.0), ([2, 2, 1, 0, 17], 7.0)];
            let text = report(&wrong, 0.0).unwrap_err();
            assert!(text.contains("tensor 17 is not symmetric: 5e0 at [0, 2, 0, 0]"), "{text}");
            assert!(report(&[([1, 0, 0, 0, 32], f64::NAN)], 0.0).is_err());
            assert!(report(&[([0, 0, 0, 1, 0], f64::INFINITY)], 0.0).is_err());
            // Under a magnitude of 100 the others' differences vanish.
            let covered = [([0, 0, 0, 0, 17], 100.0), ([0, 2, 0, 0, 17], 1.0), ([2, 2, 1, 0, 17], 1.0)];
            assert_eq!(report(&covered, 0.03), Ok(()));
            let text = report(&covered, 1e-4).unwrap_err();
            assert!(text.contains("[0, 2, 0, 0]"), "{text}");
        }
    }
}

#[test]
#[ignore = "needs a GPU"]
fn small_calls_that_cannot_be_are_refused() {
    let c = context(BackendChoice::Cuda);
    let s = shape(4, 3);
    let new = |location| Tensor::create_symmetric(&c, DType::F64, location, Order::ColumnMajor, s, 2).unwrap();
    let (here, mut there) = (new(Location::Host), new(Location::Device));
    let e = convert(&c, None, &here, Packing::Entries, &mut there, Packing::Entries).unwrap_err().to_string();
    assert!(e.contains("source: is on the host and destination is on a device"), "{e}");
    let mut norms = Tensor::create(&c, DType::F64, Location::Host, Order::ColumnMajor, &[2]).unwrap();
    let e = norm(&c, None, &there, Norm::One, &mut norms).unwrap_err().to_string();
    assert!(e.contains("norms: is on the host and packed is on a device"), "{e}");
    // Host tensors of a GPU context are for the CPU.
    norm(&c, None, &here, Norm::One, &mut norms).unwrap();
    // 4^16 places, of which none is of its own.
    let large = Layout::strided(&[4; 16], &[0; 16], DType::F32).unwrap();
    let memory = Memory::Device(c.gpu("test").unwrap().allocate("test", 4).unwrap());
    let large = Tensor::from_memory(&c, DType::F32, large, memory, true, None).unwrap();
    let wide = shape(16, 4);
    let mut packed = Tensor::create_symmetric(&c, DType::F32, Location::Device, Order::ColumnMajor, wide, 1).unwrap();
    let e = from_full(&c, None, &large, true, 0.0, &mut packed).unwrap_err();
    assert!(matches!(e, crate::error::Error::NotSupported(_)), "{e}");
    // Read-only and overlapping outputs.
    let dense = Layout::strided(&[3, 3, 3, 3, 2], &[0; 5], DType::F64).unwrap();
    let memory = Memory::Device(c.gpu("test").unwrap().allocate("test", 8).unwrap());
    let mut dense = Tensor::from_memory(&c, DType::F64, dense, memory, false, None).unwrap();
    assert!(to_full(&c, None, &there, &mut dense).unwrap_err().to_string().starts_with("full: "));
    // As an input such a tensor is one number everywhere.
    from_full(&c, None, &dense, false, 0.0, &mut there).unwrap();
}

#[test]
#[ignore = "needs a GPU"]
fn large_volumes_and_wide_tensors_agree_with_the_cpu() {
    let both = Both::new();
    for (order, dimension, count) in [(4, 3, 50_001), (6, 4, 700), (4, 12, 5), (2, 40, 3), (8, 1, 70_000)] {
        let s = shape(order, dimension);
        for (dtype, storage) in [(DType::F32, 0), (DType::F64, 1), (DType::F64, 2), (DType::F32, 3)] {
            let what = format!("{s:?} {count} {dtype:?} {storage}");
            let packed = random(&both.cpu, dtype, &layouts(&[s.count(), count], dtype)[storage], Some(s), 14);
            let dense = random(&both.cpu, dtype, &layouts(&full_dims(s, count), dtype)[storage], None, 15);
            let (here, there) = both.run((&packed, &dense), to_full);
            assert!(here == there, "{what}: unpacked");
            let (here, there) = both.run((&dense, &packed), |c, q, i, o| from_full(c, q, i, true, 0.0, o));
            assert!(here == there, "{what}: symmetrized");
            let mut symmetric = dense;
            to_full(&both.cpu, None, &packed, &mut symmetric).unwrap();
            let (here, there) = both.run((&symmetric, &packed), |c, q, i, o| from_full(c, q, i, false, 0.0, o));
            assert!(here == there, "{what}: packed");
            let (a, b) = (Packing::Polynomial, Packing::Entries);
            let (here, there) = both.run((&packed, &packed), |c, q, i, o| convert(c, q, i, a, o, b));
            assert!(here == there, "{what}: converted");
            let out = random(&both.cpu, dtype, &layouts(&[count], dtype)[0], None, 16);
            norms_agree(&both, &packed, &out, &what);
        }
    }
}
