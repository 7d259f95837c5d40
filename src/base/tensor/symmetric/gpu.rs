//! Operations on batches of packed symmetric tensors in device memory, in the order of the call's stream. Each call
//! computes its tables on the host and uploads them.

use super::monomials::Monomials;
use super::operations::{Norm, Packing, asymmetric, full_offset, next_permutation};
use crate::alloc;
use crate::backend::gpu::kernels::constants as c;
use crate::backend::gpu::kernels::linear::Items;
use crate::backend::gpu::kernels::symmetric::{self as kernels, Cubes, EntryPlaces, Scale};
use crate::backend::gpu::{DeviceMemory, Gpu, GpuStream};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::scalar::{Real, with_real};
use crate::tensor::{Symmetric, Tensor};

/// The device of a call.
#[derive(Clone, Copy)]
pub(super) struct Site<'a> {
    gpu: &'a Gpu,
    queue: &'a GpuStream,
}

/// The number of a place or of an entry as the device's 32-bit integer.
fn number(value: usize) -> Result<i32> {
    i32::try_from(value).map_err(|_| Error::NotSupported(format!("full: element {value}, at most 2^31 - 1 on a GPU")))
}

/// A batch for a kernel.
fn items<'a>(argument: &str, batch: &'a Tensor) -> Result<Items<'a>> {
    let strides = batch.layout().strides();
    Ok(Items { memory: batch.memory().device(argument)?.whole(), stride: strides[0], item_stride: strides[1] })
}

impl<'a> Site<'a> {
    /// The device if all tensors are there, `None` if all are on the host.
    ///
    /// # Errors
    /// [`Error::NotSupported`] if some are on the host and some on a device.
    pub(super) fn of(
        context: &'a Context,
        queue: Option<&'a GpuStream>,
        tensors: &[(&str, &Tensor)],
    ) -> Result<Option<Self>> {
        let Some((there, _)) = tensors.iter().find(|(_, t)| t.is_device()) else { return Ok(None) };
        if let Some((here, _)) = tensors.iter().find(|(_, t)| !t.is_device()) {
            return Err(Error::NotSupported(format!(
                "{here}: is on the host and {there} is on a device, all tensors of the call must be on one of them"
            )));
        }
        let queue = queue.ok_or_else(|| Error::Internal("device memory in a context without a device".into()))?;
        Ok(Some(Self { gpu: context.gpu(there)?, queue }))
    }

    /// [`super::convert`] of checked batches.
    pub(super) fn convert(
        self,
        source: &Tensor,
        from: Packing,
        multinomials: &[f64],
        destination: &Tensor,
        to: Packing,
    ) -> Result<()> {
        destination.check_writable("destination")?;
        let upload = || self.gpu.upload_numbers(self.queue, "multinomial table", multinomials);
        let table = if from == to { None } else { Some(upload()?) };
        let scale = match (&table, to) {
            (None, _) => Scale::None,
            (Some(table), Packing::Polynomial) => Scale::Times(table.whole()),
            (Some(table), Packing::Entries) => Scale::Over(table.whole()),
        };
        let size = (source.dims()[0], source.dims()[1]);
        let (input, output) = (items("source", source)?, items("destination", destination)?);
        with_real!(source.dtype(), "source", S => with_real!(destination.dtype(), "destination", D => {
            kernels::convert::<S, D>(self.gpu, self.queue, size, input, scale, output)
        }))
    }

    /// Writes the same `entries` to every tensor.
    pub(super) fn fill(self, entries: &[f64], packed: &Tensor) -> Result<()> {
        packed.check_writable("packed")?;
        let table = self.gpu.upload_numbers(self.queue, "identity tensor", entries)?;
        let source = Items { memory: table.whole(), stride: 1, item_stride: 0 };
        let size = (entries.len(), packed.dims()[1]);
        let output = items("packed", packed)?;
        with_real!(packed.dtype(), "packed", T => {
            kernels::convert::<f64, T>(self.gpu, self.queue, size, source, Scale::None, output)
        })
    }

    /// [`super::norm`] of a checked batch.
    pub(super) fn norm(self, packed: &Tensor, multinomials: &[f64], kind: Norm, norms: &Tensor) -> Result<()> {
        norms.check_writable("norms")?;
        let kind = match kind {
            Norm::Frobenius => c::NORM_FROBENIUS,
            Norm::One => c::NORM_ONE,
            Norm::Max => c::NORM_MAX,
        };
        let table = self.gpu.upload_numbers(self.queue, "multinomial table", multinomials)?;
        let size = (packed.dims()[0], packed.dims()[1]);
        let input = items("packed", packed)?;
        let output = (norms.memory().device("norms")?.whole(), norms.layout().strides()[0]);
        with_real!(packed.dtype(), "packed", T => {
            kernels::norm::<T>(self.gpu, self.queue, size, input, table.whole(), kind, output)
        })
    }

    /// [`super::to_full`] of checked tensors.
    pub(super) fn unpack(self, packed: &Tensor, shape: Symmetric, full: &Tensor) -> Result<()> {
        full.check_writable("full")?;
        let places = Places::new(full, shape)?;
        let mut map = alloc::filled("index map", places.count, 0i32)?;
        places.for_each(|u, place| {
            map[place] = number(u)?;
            Ok(())
        })?;
        let map = self.gpu.upload_numbers(self.queue, "index map", &map)?;
        let (input, output) = (items("packed", packed)?, places.cubes(full, packed.dims()[1])?);
        with_real!(packed.dtype(), "packed", T => {
            kernels::to_full::<T>(self.gpu, self.queue, shape.count(), input, map.whole(), output)
        })
    }

    /// [`super::from_full`] of checked tensors. Without a tolerance the entries are means. With one, the call waits for
    /// the result of the check.
    pub(super) fn pack(self, full: &Tensor, tolerance: Option<f64>, packed: &Tensor, shape: Symmetric) -> Result<()> {
        packed.check_writable("packed")?;
        let places = Places::new(full, shape)?;
        let mut table = alloc::with_capacity("index map", places.count)?;
        let mut starts = alloc::with_capacity("index map", shape.count() + 1)?;
        places.for_each(|u, place| {
            if starts.len() == u {
                starts.push(number(table.len())?);
            }
            table.push(number(place)?);
            Ok(())
        })?;
        starts.push(number(table.len())?);
        let on_device = self.gpu.upload_numbers(self.queue, "index map", &table)?;
        let starts = self.gpu.upload_numbers(self.queue, "index map", &starts)?;
        let tables = EntryPlaces { places: on_device.whole(), starts: starts.whole() };
        let (input, output) = (places.cubes(full, packed.dims()[1])?, items("packed", packed)?);
        with_real!(full.dtype(), "full", T => {
            let run = |packing| {
                kernels::from_full::<T>(self.gpu, self.queue, input, tables, packing, shape.count())
            };
            let Some(tolerance) = tolerance else { return run(kernels::Packing::Mean(output)) };
            // Check the whole batch before writing any output.
            let mut record = self.gpu.allocate_on(self.queue, "asymmetry", size_of::<u64>())?;
            self.gpu.fill(self.queue, &mut record, 0, size_of::<u64>(), 0xff)?;
            run(kernels::Packing::Check(tolerance, record.whole()))?;
            let mut first = [-1i64];
            self.gpu.download_numbers(self.queue, &record, &mut first)?;
            // All bits set, which is negative here, means that every place fits.
            let Ok(first) = usize::try_from(first[0]) else { return run(kernels::Packing::First(output)) };
            let (t, place) = (first / places.count, table.get(first % places.count).copied().unwrap_or(0));
            let index = places.index(usize::try_from(place).unwrap_or(0))?;
            let mut sorted = alloc::copied("index tuple", &index)?;
            sorted.sort_unstable();
            let strides = full.layout().strides();
            let memory = full.memory().device("full")?;
            let at = |tuple: &[usize]| self.element::<T>(memory, full_offset(strides, tuple, t));
            Err(asymmetric(t, (at(&index)?, &index), (at(&sorted)?, &sorted)))
        })
    }

    /// One element of device memory.
    fn element<T: Real>(self, memory: &DeviceMemory, at: usize) -> Result<f64> {
        let size = size_of::<T>();
        let mut bytes = [0u8; 8];
        self.gpu.download(self.queue, memory, at * size, &mut bytes[..size])?;
        let [a, b, c, d, ..] = bytes;
        Ok(if size == 4 { f64::from(f32::from_ne_bytes([a, b, c, d])) } else { f64::from_ne_bytes(bytes) })
    }
}

/// The places of a dense tensor, numbered in memory order: place p = sum over j of index[axes[j]] n^j, the axes by
/// ascending stride.
struct Places {
    shape: Symmetric,
    axes: Vec<usize>,
    strides: Vec<usize>,
    /// n^m, at most 2^31 - 1.
    count: usize,
}

impl Places {
    fn new(full: &Tensor, shape: Symmetric) -> Result<Self> {
        let Symmetric { order, dimension } = shape;
        let all = &full.layout().strides()[..order];
        let count = all
            .iter()
            .try_fold(1usize, |p, _| p.checked_mul(dimension))
            .filter(|p| i32::try_from(*p).is_ok())
            .ok_or_else(|| {
                let most = i32::MAX;
                Error::NotSupported(format!("full: {dimension}^{order} elements a tensor, the GPU takes {most}"))
            })?;
        // There are at most 32 axes.
        let mut axes: Vec<usize> = (0..order).collect();
        axes.sort_by_key(|axis| all[*axis]);
        let strides = axes.iter().map(|axis| all[*axis]).collect();
        Ok(Self { shape, axes, strides, count })
    }

    /// Calls `visit(entry, place)` for every place, entry by entry. The permutations of an entry's indices are in
    /// lexicographic order, as on the CPU.
    fn for_each(&self, mut visit: impl FnMut(usize, usize) -> Result<()>) -> Result<()> {
        let mut walk = Monomials::new(self.shape)?;
        let mut permuted = alloc::filled("index tuple", self.shape.order, 0usize)?;
        while let Some((u, tuple)) = walk.next_tuple() {
            permuted.copy_from_slice(tuple);
            loop {
                let digits = self.axes.iter().rev();
                visit(u, digits.fold(0, |place, axis| place * self.shape.dimension + permuted[*axis]))?;
                if !next_permutation(&mut permuted) {
                    break;
                }
            }
        }
        Ok(())
    }

    /// The indices of a place.
    fn index(&self, place: usize) -> Result<Vec<usize>> {
        let mut index = alloc::filled("index tuple", self.shape.order, 0usize)?;
        let mut rest = place;
        for axis in &self.axes {
            index[*axis] = rest % self.shape.dimension;
            rest /= self.shape.dimension;
        }
        Ok(index)
    }

    /// The dense tensors, for a kernel.
    fn cubes<'b>(&'b self, full: &'b Tensor, count: usize) -> Result<Cubes<'b>> {
        Ok(Cubes {
            memory: full.memory().device("full")?.whole(),
            strides: &self.strides,
            tensor_stride: full.layout().strides().get(self.shape.order).copied().unwrap_or(0),
            dimension: self.shape.dimension,
            places: self.count,
            count,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::backend::BackendChoice;
    use crate::context::Options;
    use crate::scalar::DType;
    use crate::shape::Order;
    use crate::tensor::Location;

    fn full(context: &Arc<Context>, order: Order, shape: Symmetric) -> Tensor {
        let dims = vec![shape.dimension; shape.order];
        Tensor::create(context, DType::F32, Location::Host, order, &dims).unwrap()
    }

    #[test]
    fn places_are_those_of_the_memory_and_their_indices_invert_them() {
        let c = Context::new(Options { backend: BackendChoice::Cpu, threads: 1, ..Options::default() }).unwrap();
        for (order, dimension) in [(2, 1), (3, 3), (4, 3), (2, 5)] {
            let shape = Symmetric { order, dimension };
            for storage in [Order::ColumnMajor, Order::RowMajor] {
                let full = full(&c, storage, shape);
                let places = Places::new(&full, shape).unwrap();
                assert_eq!(places.count, dimension.pow(order as u32));
                let mut owners = vec![None; places.count];
                places
                    .for_each(|u, place| {
                        let index = places.index(place)?;
                        assert_eq!(full_offset(full.layout().strides(), &index, 0), place);
                        let mut sorted = index.clone();
                        sorted.sort_unstable();
                        assert_eq!(crate::tensor::symmetric::rank(shape, &sorted)?, u);
                        assert_eq!(owners[place].replace(u), None);
                        Ok(())
                    })
                    .unwrap();
                assert!(owners.iter().all(Option::is_some));
            }
        }
    }
}
