//! Tables of a shape on the device, for the general kernels.

use crate::alloc;
use crate::backend::gpu::kernels::sshopm as kernels;
use crate::backend::gpu::{DeviceMemory, Gpu, GpuStream};
use crate::error::{Error, Result};
use crate::scalar::Real;
use crate::tensor::Symmetric;
use crate::tensor::symmetric::Monomials;

/// Index tuples, multinomials and the identity's entries.
pub(crate) struct Tables {
    indices: DeviceMemory,
    multinomials: DeviceMemory,
    identity: Option<DeviceMemory>,
}

impl Tables {
    /// Uploads the tables of `shape`. The caller passes the two that depend on the type; `identity` may be empty.
    pub(crate) fn new<T: Real>(
        gpu: &Gpu,
        queue: &GpuStream,
        shape: Symmetric,
        multinomials: &[T],
        identity: &[T],
    ) -> Result<Self> {
        let indices = upload_indices(gpu, queue, shape)?;
        let upload = |numbers: &[T]| gpu.upload_numbers(queue, "tables of a shape", numbers);
        Ok(Self {
            indices,
            multinomials: upload(multinomials)?,
            identity: if identity.is_empty() { None } else { Some(upload(identity)?) },
        })
    }

    /// The tables as parameters of a launch.
    pub(crate) fn regions(&self) -> kernels::Tables<'_> {
        kernels::Tables {
            indices: self.indices.whole(),
            multinomials: self.multinomials.whole(),
            identity: self.identity.as_ref().map(DeviceMemory::whole),
        }
    }
}

/// The index tuples of the entries of `shape` on the device, one byte for each index.
fn upload_indices(gpu: &Gpu, queue: &GpuStream, shape: Symmetric) -> Result<DeviceMemory> {
    let mut tuples = alloc::with_capacity("index table", shape.count() * shape.order)?;
    let mut walk = Monomials::new(shape)?;
    while let Some((_, tuple)) = walk.next_tuple() {
        for index in tuple {
            let index = u8::try_from(*index).map_err(|_| {
                Error::NotSupported(format!("tensors: have dimension {}, at most 256 on a GPU", shape.dimension))
            })?;
            tuples.push(index);
        }
    }
    gpu.upload_numbers(queue, "tables of a shape", &tuples)
}
