//! Memory of a run on all contexts.

use super::super::algorithm::pairs::Job;
use super::super::gpu::{GpuPart, Passing};
use super::super::memory::{self, Bytes};
use super::super::operator::Kind;
use super::partition::Partition;
use crate::backend::Backend;
use crate::error::Result;
use crate::matrix::Matrix;
use crate::scalar::Scalar;

/// Columns of a part. With the modularity's second term they have one more, for d.
pub(super) fn columns<T: Scalar>(job: &Job<'_, T>, kind: Kind) -> usize {
    job.columns().max(3) + usize::from(kind == Kind::Modularity)
}

/// Bytes of a run on all contexts, with the partition unless the matrix keeps it; refuses those beyond the limit of a
/// context. The partition has been charged already, its parts on devices are counted.
///
/// # Errors
/// [`OutOfMemory`](crate::error::Error::OutOfMemory) and [`OutOfDeviceMemory`](crate::error::Error::OutOfDeviceMemory).
pub(in crate::lanczos) fn expect_bytes<T: Scalar>(
    a: &Matrix,
    solve: Option<&Matrix>,
    partition: &Partition,
    job: &Job<'_, T>,
    (kind, returned): (Kind, usize),
) -> Result<Bytes> {
    let first = memory::eigenvectors::<T>(job.projected()).and(memory::numbers::<T>(returned));
    let passing = Passing { watched: 0, count: 0, ..job.passing() };
    let mut all = Bytes::default();
    for (i, block) in partition.blocks().iter().enumerate() {
        let (place, n) = (block.matrix.context(), block.len());
        // The modularity's second term is in the columns.
        let own = if kind == Kind::Modularity { Kind::Matrix } else { kind };
        let mut copies = memory::copies(place, &block.matrix, (Kind::Matrix, None), 1)?;
        if let (0, Some(solve)) = (i, solve) {
            // Its products take vectors in host memory, so that none of its workspace is in a space.
            copies = copies.then(memory::copies(place, solve, (Kind::Matrix, None), 1)?);
        }
        let on_device = |device: usize| Bytes { host: 0, device };
        let size = (n, columns(job, kind));
        let own = memory::operator::<T>(place, own, (n, n), Some(block.matrix.cols()));
        let kept = on_device(copies.device.kept);
        let own = memory::space::<T>(place, size, own.and(on_device(copies.space)), kept)?;
        let exchanged = match place.backend() {
            Backend::Cpu => 0,
            Backend::Gpu(_) => GpuPart::<T>::exchange_bytes(block),
        };
        let own = own.and(on_device(exchanged));
        let own = own.and(memory::passing::<T>(place, size, passing)?);
        let own = if i == 0 { own.and(first) } else { own }.behind(&copies, Bytes::default());
        own.expect(place, memory::EIGENPAIRS)?;
        let rows = if partition.is_kept_by(a) { 0 } else { block.matrix.storage_bytes() };
        all = all.and(own).and(Bytes::on_host(rows));
    }
    Ok(all)
}
