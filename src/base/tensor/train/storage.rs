//! The cores of a train in memory.

use std::sync::Arc;

use super::shape::Shape;
use crate::alloc;
use crate::backend::memory::Memory;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::scalar::{DType, Element};
use crate::tensor::{Location, allocate};

/// Who owns the memory of the cores.
enum Storage {
    /// Contiguous in purlin's memory. `set` flags the cores that have been written; `missing` counts the others.
    Whole { memory: Memory, set: Vec<bool>, missing: usize },
    /// Each in memory of the caller. `packed` if each begins where the one before ends.
    Each { cores: Vec<Memory>, packed: bool },
}

/// A tensor train, open or cyclic depending on its ranks, in the memory of the host or of the context's GPU.
pub struct TensorTrain {
    // Declared before the context: device memory must be freed while its device is open.
    storage: Storage,
    shape: Shape,
    dtype: DType,
    device: bool,
    read_only: bool,
    context: Arc<Context>,
}

impl TensorTrain {
    /// A train that owns its memory. Its cores must still be set.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a type that is not one of the four of linear algebra; out of memory.
    pub fn create(context: &Arc<Context>, dtype: DType, location: Location, shape: Shape) -> Result<Self> {
        dtype.expect_scalar("dtype")?;
        let memory = allocate(context, "tensor train", location, shape.elements() * dtype.size())?;
        let set = alloc::filled("tensor train", shape.len(), false)?;
        let device = matches!(memory, Memory::Device(_));
        let storage = Storage::Whole { memory, set, missing: shape.len() };
        Ok(Self { storage, shape, dtype, device, read_only: false, context: Arc::clone(context) })
    }

    /// A train that owns its memory, with all cores zero: for results, which are written core by core.
    ///
    /// # Errors
    /// As [`TensorTrain::create`].
    pub fn zeros(context: &Arc<Context>, dtype: DType, location: Location, shape: Shape) -> Result<Self> {
        let mut train = Self::create(context, dtype, location, shape)?;
        (0..train.shape.len()).for_each(|k| train.mark_set(k));
        Ok(train)
    }

    /// A train over existing memory, one piece for each core, packed with the first index fastest. Several cores of one
    /// shape may share memory.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for memory that is too small, or partly on the host and partly on the device.
    pub fn from_cores(
        context: &Arc<Context>,
        dtype: DType,
        shape: Shape,
        cores: Vec<Memory>,
        read_only: bool,
    ) -> Result<Self> {
        dtype.expect_scalar("dtype")?;
        if cores.len() != shape.len() {
            return Err(Error::Internal(format!("{} cores for a train of {}", cores.len(), shape.len())));
        }
        let device = matches!(cores.first(), Some(Memory::Device(_)));
        for (k, core) in cores.iter().enumerate() {
            if matches!(core, Memory::Device(_)) != device {
                return Err(Error::invalid("cores", format!("core {k} is not where core 0 is: host or device")));
            }
            let needed = shape.core_len(k) * dtype.size();
            if core.bytes() < needed {
                return Err(Error::Internal(format!("{} bytes for core {k} of {needed}", core.bytes())));
            }
        }
        let follows = |k: usize| cores[k].address().checked_sub(cores[k - 1].address());
        let packed =
            (1..cores.len()).all(|k| follows(k) == Some(crate::shape::to_u64(shape.core_len(k - 1) * dtype.size())));
        let storage = Storage::Each { cores, packed };
        Ok(Self { storage, shape, dtype, device, read_only, context: Arc::clone(context) })
    }

    /// Mode sizes and ranks, set when the train is made.
    #[inline]
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Type of the elements, the same in all cores.
    #[inline]
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// Whether the cores are on the context's GPU.
    #[inline]
    pub fn is_device(&self) -> bool {
        self.device
    }

    /// Whether it was borrowed for reading only.
    #[inline]
    pub fn is_read_only(&self) -> bool {
        self.read_only
    }

    /// The context it belongs to.
    #[inline]
    pub fn context(&self) -> &Arc<Context> {
        &self.context
    }

    /// Bytes of all cores, without gaps between them.
    #[inline]
    pub fn bytes(&self) -> usize {
        self.shape.elements() * self.dtype.size()
    }

    /// Address of the first element of core k.
    #[inline]
    pub fn address(&self, k: usize) -> u64 {
        match &self.storage {
            // No core is beyond isize::MAX bytes, so this cannot overflow.
            Storage::Whole { memory, .. } => {
                memory.address() + crate::shape::to_u64(self.shape.offset(k) * self.dtype.size())
            }
            Storage::Each { cores, .. } => cores[k].address(),
        }
    }

    /// The memory of core k, and the index of its first element there.
    #[inline]
    pub fn memory(&self, k: usize) -> (&Memory, usize) {
        match &self.storage {
            Storage::Whole { memory, .. } => (memory, self.shape.offset(k)),
            Storage::Each { cores, .. } => (&cores[k], 0),
        }
    }

    /// Whether the cores are contiguous.
    #[inline]
    pub fn is_packed(&self) -> bool {
        match &self.storage {
            Storage::Whole { .. } => true,
            Storage::Each { packed, .. } => *packed,
        }
    }

    /// [`TensorTrain::memory`] for writing.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a train borrowed for reading.
    pub fn memory_mut(&mut self, argument: &str, k: usize) -> Result<(&mut Memory, usize)> {
        if self.read_only {
            return Err(Error::invalid(argument, "was borrowed read-only and cannot be written to"));
        }
        match &mut self.storage {
            Storage::Whole { memory, .. } => Ok((memory, self.shape.offset(k))),
            Storage::Each { cores, .. } => Ok((&mut cores[k], 0)),
        }
    }

    /// Checks that no cores share memory, as those of a uniform train do. Writing to one would change another.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] naming two that do; out of memory.
    pub fn expect_apart(&self, argument: &str) -> Result<()> {
        match &self.storage {
            Storage::Whole { .. } => Ok(()),
            Storage::Each { cores, .. } => refuse_overlap(argument, &self.shape, self.dtype, cores),
        }
    }

    /// Records that core k has been written.
    pub fn mark_set(&mut self, k: usize) {
        if let Storage::Whole { set, missing, .. } = &mut self.storage
            && !std::mem::replace(&mut set[k], true)
        {
            *missing -= 1;
        }
    }

    /// Refuses a train with cores that have not been set.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] naming `argument` and the first such core.
    pub fn expect_set(&self, argument: &str) -> Result<()> {
        match &self.storage {
            Storage::Whole { set, missing, .. } if *missing > 0 => {
                let first = set.iter().position(|s| !s).unwrap_or(0);
                Err(Error::invalid(argument, format!("core {first} has not been set")))
            }
            _ => Ok(()),
        }
    }

    /// Refuses to read core k if it has not been set.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] naming `argument` and the core.
    pub fn expect_core_set(&self, argument: &str, k: usize) -> Result<()> {
        match &self.storage {
            Storage::Whole { set, .. } if !set[k] => {
                Err(Error::invalid(argument, format!("core {k} has not been set")))
            }
            _ => Ok(()),
        }
    }

    /// Refuses another element type than `dtype`.
    ///
    /// # Errors
    /// As [`DType::expect`].
    pub fn expect_dtype(&self, argument: &str, dtype: DType) -> Result<()> {
        self.dtype.expect(argument, dtype)
    }

    /// Refuses a train of another context.
    ///
    /// # Errors
    /// As [`Context::expect_own`].
    pub fn expect_context(&self, argument: &str, context: &Context) -> Result<()> {
        context.expect_own(argument, &self.context)
    }

    /// Whether every core is in the same memory as that core of `other`.
    pub fn is_same(&self, other: &Self) -> bool {
        // Most trains differ in their first address.
        self.address(0) == other.address(0)
            && self.dtype == other.dtype
            && self.device == other.device
            && self.shape == other.shape
            && (1..self.shape.len()).all(|k| self.address(k) == other.address(k))
    }

    /// Whether all cores are the same memory: a uniform train.
    pub fn is_uniform(&self) -> bool {
        (1..self.shape.len()).all(|k| self.address(k) == self.address(0) && self.shape.core(k) == self.shape.core(0))
    }

    /// The cores of a host train whose cores are all set.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] naming the argument, for another type, a missing core or a misaligned one;
    /// [`Error::NotSupported`] for a train on a device.
    pub fn cores<T: Element>(&self, argument: &str) -> Result<Cores<'_, T>> {
        self.expect_dtype(argument, T::DTYPE)?;
        self.expect_set(argument)?;
        let mut cores = alloc::with_capacity("cores of a tensor train", self.shape.len())?;
        for k in 0..self.shape.len() {
            let (memory, offset) = self.memory(k);
            cores.push(&memory.host(argument)?.as_slice::<T>()?[offset..offset + self.shape.core_len(k)]);
        }
        Ok(Cores { shape: &self.shape, cores })
    }

    /// Core k of a host train.
    ///
    /// # Errors
    /// As [`TensorTrain::cores`]; [`Error::InvalidArgument`] for a core that has not been set.
    pub fn core<T: Element>(&self, argument: &str, k: usize) -> Result<&[T]> {
        self.expect_dtype(argument, T::DTYPE)?;
        self.expect_core_set(argument, k)?;
        let (memory, offset) = self.memory(k);
        Ok(&memory.host(argument)?.as_slice::<T>()?[offset..offset + self.shape.core_len(k)])
    }

    /// The cores of a host train, for writing. They count as set from then on.
    ///
    /// # Errors
    /// As [`TensorTrain::cores`]; [`Error::InvalidArgument`] for a train borrowed for reading.
    pub fn cores_mut<T: Element>(&mut self, argument: &str) -> Result<CoresMut<'_, T>> {
        self.expect_dtype(argument, T::DTYPE)?;
        if self.read_only {
            return Err(Error::invalid(argument, "was borrowed read-only and cannot be written to"));
        }
        let shape = &self.shape;
        let mut cores = alloc::with_capacity("cores of a tensor train", shape.len())?;
        match &mut self.storage {
            Storage::Whole { memory, set, missing } => {
                set.fill(true);
                *missing = 0;
                let mut rest = &mut memory.host_mut(argument)?.as_mut_slice::<T>()?[..shape.elements()];
                for k in 0..shape.len() {
                    let (core, tail) = rest.split_at_mut(shape.core_len(k));
                    cores.push(core);
                    rest = tail;
                }
            }
            Storage::Each { cores: each, .. } => {
                refuse_overlap(argument, shape, T::DTYPE, each)?;
                for (k, memory) in each.iter_mut().enumerate() {
                    cores.push(&mut memory.host_mut(argument)?.as_mut_slice::<T>()?[..shape.core_len(k)]);
                }
            }
        }
        Ok(CoresMut { shape, cores })
    }
}

/// Refuses cores to write to that share memory, as the cores of a uniform train do.
fn refuse_overlap(argument: &str, shape: &Shape, dtype: DType, cores: &[Memory]) -> Result<()> {
    let mut order = alloc::with_capacity("cores of a tensor train", cores.len())?;
    order.extend(0..cores.len());
    order.sort_unstable_by_key(|&k| cores[k].address());
    let overlap = order.windows(2).find(|pair| {
        let end = cores[pair[0]].address() + crate::shape::to_u64(shape.core_len(pair[0]) * dtype.size());
        end > cores[pair[1]].address()
    });
    match overlap {
        None => Ok(()),
        Some(pair) => {
            let (a, b) = (pair[0].min(pair[1]), pair[0].max(pair[1]));
            Err(Error::invalid(argument, format!("cores {a} and {b} share memory and cannot be written to")))
        }
    }
}

/// The cores of a host train, for reading.
#[derive(Debug, Clone)]
pub struct Cores<'a, T> {
    shape: &'a Shape,
    cores: Vec<&'a [T]>,
}

impl<'a, T> Cores<'a, T> {
    /// Cores outside a train; each has `shape.core_len(k)` elements.
    pub fn new(shape: &'a Shape, cores: Vec<&'a [T]>) -> Self {
        Self { shape, cores }
    }

    /// Mode sizes and ranks of the train.
    pub fn shape(&self) -> &'a Shape {
        self.shape
    }

    /// Core k: (r_k, n_k, r_{k+1}), first index fastest.
    pub fn core(&self, k: usize) -> &'a [T] {
        self.cores[k]
    }
}

/// The cores of a host train, for writing.
pub struct CoresMut<'a, T> {
    shape: &'a Shape,
    cores: Vec<&'a mut [T]>,
}

impl<'a, T> CoresMut<'a, T> {
    /// Mode sizes and ranks of the train.
    pub fn shape(&self) -> &'a Shape {
        self.shape
    }

    /// Core k: (r_k, n_k, r_{k+1}), first index fastest.
    pub fn core(&mut self, k: usize) -> &mut [T] {
        self.cores[k]
    }

    /// The elements of each core, from left to right.
    pub fn into_vec(self) -> Vec<&'a mut [T]> {
        self.cores
    }
}
