//! An output that overlaps another argument is refused where the address ranges show it.

use super::matrix::dense_range;
use crate::alloc;
use crate::backend::gpu::DeviceMemory;
use crate::backend::memory::{HostMemory, Memory};
use crate::error::{Error, Result};
use crate::matrix::{Matrix, Storage};
use crate::tensor::Tensor;

/// Address range of an argument.
#[derive(Clone, Copy)]
pub(super) struct Range<'a> {
    name: &'a str,
    start: u64,
    end: u64,
    device: bool,
}

impl<'a> Range<'a> {
    /// A range of `bytes` bytes from `start`, on the host or the device.
    pub(super) fn new(name: &'a str, start: u64, bytes: usize, device: bool) -> Self {
        Self { name, start, end: start.saturating_add(crate::shape::to_u64(bytes)), device }
    }

    /// The range of a tensor.
    pub(super) fn of(name: &'a str, tensor: &Tensor) -> Self {
        let bytes = tensor.layout().extent() * tensor.dtype().size();
        Self::new(name, tensor.memory().address(), bytes, tensor.is_device())
    }

    fn meets(&self, other: &Self) -> bool {
        self.device == other.device && self.start < other.end && other.start < self.end
    }
}

/// Address ranges of the arguments that are there, and of matrices that are dense.
pub(super) fn ranges<'a>(
    matrices: &[(&'a str, Option<&Matrix>)],
    tensors: &[(&'a str, Option<&Tensor>)],
) -> Vec<Range<'a>> {
    let matrices = matrices.iter().filter_map(|(name, m)| m.and_then(|m| dense_range(name, m)));
    matrices.chain(tensors.iter().filter_map(|(name, t)| t.map(|t| Range::of(name, t)))).collect()
}

/// Address ranges of a matrix that is only read: its entries, or the three arrays of a sparse one.
pub(super) fn stored<'a>(name: &'a str, matrix: &Matrix) -> Vec<Range<'a>> {
    let Storage::Csr(csr) = matrix.storage() else { return ranges(&[(name, Some(matrix))], &[]) };
    let parts = csr.parts();
    let host = |memory: &HostMemory| Range::new(name, memory.address(), memory.bytes(), false);
    let values = parts.values.iter().map(|v| Range::new(name, v.address(), v.bytes(), matches!(v, Memory::Device(_))));
    let there = |memory: &DeviceMemory| Range::new(name, memory.address(), memory.bytes(), true);
    let device = csr.device().map(|d| [there(&d.row_ptr), there(&d.col_idx)]);
    [host(&parts.row_ptr), host(&parts.col_idx)].into_iter().chain(device.into_iter().flatten()).chain(values).collect()
}

/// Refuses outputs that overlap an input, where there are many of both. Outputs may overlap one another.
pub(super) fn check_many(inputs: &[Range<'_>], outputs: &[Range<'_>]) -> Result<()> {
    let mut all = alloc::with_capacity("ranges of cores", inputs.len() + outputs.len())?;
    all.extend(inputs.iter().map(|r| (r.start, r.end, r.device, false)));
    all.extend(outputs.iter().map(|r| (r.start, r.end, r.device, true)));
    all.sort_unstable();
    // How far inputs and outputs reach so far, on the host and on the device.
    let mut reach = [[0u64; 2]; 2];
    for (start, end, device, out) in all {
        if start < end && start < reach[usize::from(device)][usize::from(!out)] {
            let name = |list: &[Range<'_>]| list.first().map_or_else(String::new, |r| r.name.to_owned());
            return Err(Error::invalid(name(outputs), format!("overlaps {} in memory", name(inputs))));
        }
        let own = &mut reach[usize::from(device)][usize::from(out)];
        *own = end.max(*own);
    }
    Ok(())
}

/// Refuses outputs that overlap an input or one another.
pub(super) fn check(inputs: &[Range<'_>], outputs: &[Range<'_>]) -> Result<()> {
    for (k, out) in outputs.iter().enumerate() {
        for other in inputs.iter().chain(&outputs[..k]) {
            if out.meets(other) {
                return Err(Error::invalid(out.name, format!("overlaps {} in memory", other.name)));
            }
        }
    }
    Ok(())
}
