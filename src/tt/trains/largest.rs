//! The largest entry of each core of a train.

use std::sync::Arc;

use super::balance;
use super::scaled::exponent_of;
use crate::alloc;
use crate::backend::cpu::parallel::{Items as _, Pieces as _};
use crate::backend::gpu::kernels::tt::sandwich::CoreKeys;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::stream::{self, Stream};
use crate::tensor::train::TensorTrain;

const WHAT: &str = "largest numbers of cores";

/// Exponent of the largest entry of each stored core; 0 for a core of zeros and for one that is not finite. For a train
/// on a device it waits for one pass over the cores.
///
/// # Errors
/// Out of memory; those of a device.
pub fn exponents(context: &Arc<Context>, stream: Option<&Stream>, train: &TensorTrain) -> Result<Vec<i64>> {
    let cores = if train.is_uniform() { 1 } else { train.shape().len() };
    let mut peaks = alloc::filled(WHAT, cores, 0i64)?;
    if train.is_device() {
        let mut largest = alloc::filled(WHAT, cores, 0.0f64)?;
        largest_there(context, stream, train, &mut largest)?;
        peaks.iter_mut().zip(&largest).for_each(|(peak, most)| *peak = exponent_of(*most));
        return Ok(peaks);
    }
    let isa = context.isa();
    context.pool().run(|| {
        peaks.par_iter_mut().enumerate().try_for_each(|(k, peak)| {
            *peak = exponent_of(balance::peak(train, k, isa)?);
            Ok::<(), Error>(())
        })
    })?;
    Ok(peaks)
}

/// The largest magnitude of each stored core of a train on a device; not finite if an entry is not. A uniform train has
/// one core. Waits.
///
/// # Errors
/// Out of memory; those of a device.
pub fn largest_there(
    context: &Arc<Context>,
    stream: Option<&Stream>,
    train: &TensorTrain,
    largest: &mut [f64],
) -> Result<()> {
    let (count, dtype) = (largest.len(), train.dtype());
    let gpu = context.gpu("x")?;
    let stream = stream::select(context, stream)?.unwrap_or_else(|| gpu.default_stream());
    let mut cores = alloc::with_capacity(WHAT, count)?;
    for k in 0..count {
        let (memory, offset) = train.memory(k);
        let bytes = train.shape().core_len(k) * dtype.size();
        cores.push(memory.device("x")?.region(offset * dtype.size(), bytes)?);
    }
    let memory = gpu.allocate_uninitialized_on(stream, WHAT, CoreKeys::bytes(count)?)?;
    CoreKeys::find(dtype.part(), gpu, stream, &cores, memory.whole())?;
    // Keys are the bit patterns of doubles.
    gpu.load_numbers(stream, &memory, CoreKeys::offset(count), largest)
}
