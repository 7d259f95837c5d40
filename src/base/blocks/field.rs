//! One array of a batch: its location, and the layout of a chunk on the device.

use super::{Field, Input};
use crate::backend::cpu::parallel::{Items as _, Pieces as _};
use crate::backend::gpu::{DeviceMemory, Gpu};
use crate::error::{Error, Result};
use crate::scalar::DType;
use crate::shape::Order;
use crate::tensor::{Tensor, copy_strided};

/// The memory that an array is in, which decides how its chunks are copied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Transport {
    /// In device memory: nothing is copied.
    Resident,
    /// In page-locked host memory, packed with the items last. Chunks are copied directly.
    Direct,
    /// In other host memory: chunks go through a page-locked buffer.
    Staged,
}

/// Location and layout of one array.
pub(super) struct Slot {
    pub(super) transport: Transport,
    /// Sizes of all axes but the last, which counts the items.
    dims: Vec<usize>,
    /// Elements of an item: the product of `dims`.
    width: usize,
    /// Bytes of an element.
    size: usize,
    /// Whether the items of each element are contiguous in a staged chunk, as in the host array.
    items_first: bool,
    /// The host array's strides in elements, the items' last.
    strides: Vec<usize>,
    /// Offset in bytes of the array in a lane's device memory, and in its page-locked buffer.
    pub(super) device_offset: usize,
    pub(super) host_offset: usize,
}

impl Slot {
    fn new(argument: &str, tensor: &Tensor, items: usize, transport: Transport) -> Result<Self> {
        let layout = tensor.layout();
        expect_items(argument, layout.dims(), items, tensor.dtype())?;
        let dims = layout.dims()[..layout.dims().len() - 1].to_vec();
        let width = dims.iter().product();
        let strides = layout.strides().to_vec();
        let items_first = width > 1 && strides.last() == Some(&1);
        let size = tensor.dtype().size();
        Ok(Self { transport, dims, width, size, items_first, strides, device_offset: 0, host_offset: 0 })
    }

    pub(super) fn input(gpu: &Gpu, input: &Input<'_>, items: usize) -> Result<Self> {
        let Input { name, tensor, packed } = *input;
        if packed {
            refuse_strided_device(name, tensor)?;
        }
        let mut slot = Self::new(name, tensor, items, transport(gpu, name, tensor)?)?;
        slot.items_first &= !packed;
        Ok(slot)
    }

    /// An output; chunks are packed with the items last, as the kernels write them.
    pub(super) fn output(gpu: &Gpu, argument: &str, tensor: &Tensor, items: usize) -> Result<Self> {
        tensor.check_writable(argument)?;
        refuse_strided_device(argument, tensor)?;
        let mut slot = Self::new(argument, tensor, items, transport(gpu, argument, tensor)?)?;
        slot.items_first = false;
        Ok(slot)
    }

    /// Bytes of an item on the device.
    pub(super) fn item_bytes(&self) -> usize {
        self.width * self.size
    }

    /// Strides of a chunk in a lane's memory.
    fn chunk_strides(&self, count: usize) -> Vec<usize> {
        let mut step = if self.items_first { count } else { 1 };
        let mut strides: Vec<usize> = Vec::with_capacity(self.dims.len() + 1);
        for d in &self.dims {
            strides.push(step);
            step *= d;
        }
        strides.push(if self.items_first { 1 } else { self.width });
        strides
    }

    fn chunk_dims(&self, count: usize) -> Vec<usize> {
        self.dims.iter().copied().chain([count]).collect()
    }

    /// First byte of item `first` in the host array.
    fn host_begin(&self, first: usize) -> usize {
        first * self.strides.last().copied().unwrap_or(0) * self.size
    }

    /// The chunk of an array that lies on the device.
    pub(super) fn resident<'a>(
        &self,
        argument: &str,
        tensor: &'a Tensor,
        first: usize,
        count: usize,
    ) -> Result<Field<'a>> {
        let reach: usize = self.chunk_dims(count).iter().zip(&self.strides).map(|(d, s)| d.saturating_sub(1) * s).sum();
        let empty = count == 0 || self.width == 0;
        let bytes = if empty { 0 } else { (reach + 1) * self.size };
        let begin = if empty { 0 } else { self.host_begin(first) };
        let region = tensor.memory().device(argument)?.region(begin, bytes)?;
        Ok(Field { region, strides: self.strides.clone() })
    }

    /// The chunk of an array that is copied to or from a lane's memory.
    pub(super) fn copied<'a>(&self, memory: &'a DeviceMemory, count: usize) -> Result<Field<'a>> {
        let region = memory.region(self.device_offset, count * self.item_bytes())?;
        Ok(Field { region, strides: self.chunk_strides(count) })
    }

    /// Packs items of the host array `from` into `to`; runs on the calling pool's threads.
    pub(super) fn pack(&self, from: &[u8], first: usize, count: usize, to: &mut [u8]) {
        let strides = self.chunk_strides(count);
        let from = &from[self.host_begin(first)..];
        if let Some((rows, inner)) = self.dims.split_last().filter(|_| self.items_first) {
            // Cut along the slowest axis: each slab is a contiguous part of the chunk.
            let axis = inner.len();
            let mut dims = inner.to_vec();
            dims.push(count);
            let part = |s: &[usize]| -> Vec<usize> { s[..axis].iter().chain(&s[axis + 1..]).copied().collect() };
            let (from_strides, to_strides) = (part(&self.strides), part(&strides));
            let bytes = to.len() / rows;
            to.par_chunks_mut(bytes.max(1)).enumerate().for_each(|(row, to)| {
                let from = &from[row * self.strides[axis] * self.size..];
                copy_strided(self.size, from, &from_strides, to, &to_strides, &dims);
            });
            return;
        }
        to.par_chunks_mut((PIECE * self.item_bytes()).max(1)).enumerate().for_each(|(piece, to)| {
            let dims = self.chunk_dims(PIECE.min(count - piece * PIECE));
            let from = &from[self.host_begin(piece * PIECE)..];
            copy_strided(self.size, from, &self.strides, to, &strides, &dims);
        });
    }

    /// Unpacks a chunk into the host array; runs on the calling pool's threads.
    pub(super) fn unpack(&self, from: &[u8], first: usize, count: usize, to: &mut [u8]) {
        let strides = self.chunk_strides(count);
        let to = &mut to[self.host_begin(first)..];
        let bytes = self.item_bytes();
        if self.strides == strides {
            to[..count * bytes]
                .par_chunks_mut((PIECE * bytes).max(1))
                .zip(from.par_chunks((PIECE * bytes).max(1)))
                .for_each(|(to, from)| to.copy_from_slice(from));
            return;
        }
        copy_strided(self.size, from, &strides, to, &self.strides, &self.chunk_dims(count));
    }
}

fn transport(gpu: &Gpu, argument: &str, tensor: &Tensor) -> Result<Transport> {
    if tensor.is_device() {
        return Ok(Transport::Resident);
    }
    let is_packed = tensor.layout().is_packed(Order::ColumnMajor);
    if is_packed && gpu.is_pinned(tensor.memory().host(argument)?.as_slice()?)? {
        return Ok(Transport::Direct);
    }
    Ok(Transport::Staged)
}

fn refuse_strided_device(argument: &str, tensor: &Tensor) -> Result<()> {
    if tensor.is_device() && !tensor.layout().is_packed(Order::ColumnMajor) {
        return Err(Error::NotSupported(format!("{argument}: is strided device memory, packed is needed")));
    }
    Ok(())
}

/// Items that one thread packs at a time.
const PIECE: usize = 1024;

/// The type of a field, as a name for messages.
fn expect_items(argument: &str, dims: &[usize], items: usize, dtype: DType) -> Result<()> {
    if dims.last() == Some(&items) {
        return Ok(());
    }
    let name = dtype.name();
    Err(Error::Internal(format!("{argument}: a batch of {items} items of {name} with dimensions {dims:?}")))
}
