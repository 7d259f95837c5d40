//! [`OperatorOps`] on the CPU or on the GPU, depending on the memory of the trains.

use std::sync::Arc;

use super::cpu::{self, CpuOps};
use super::erased::{Operations, Typed};
use super::gather::Gather;
use super::gauge::{Sizes, rows_and_columns};
use super::gpu::{self, GpuOps};
use super::ops::{CoreView, Extent, OperatorOps, Site, StepBytes};
use super::trains::Trains;
use crate::alloc;
use crate::backend::gpu::{DeviceMemory, Region};
use crate::backend::memory::Memory;
use crate::context::Context;
use crate::dense::cpu::matrix::CpuMatrix;
use crate::error::{Error, Result};
use crate::scalar::{Complex, DType, Scalar, with_scalar};
use crate::stream::Stream;

/// The operations of one device.
pub enum Ops {
    /// On the threads of the context.
    Host(CpuOps),
    /// On the context's GPU, in the order of its stream.
    Device(GpuOps),
}

/// An environment on that device.
pub enum Environment<T> {
    /// In host memory, column-major.
    Host(CpuMatrix<T>),
    /// In memory of the context's GPU.
    Device(DeviceMemory),
}

/// Workspace of steps on that device.
pub enum Work<T> {
    /// Of steps on the CPU.
    Host(cpu::Work<T>),
    /// Of steps on the GPU.
    Device(gpu::Work),
}

impl Ops {
    /// On the GPU if `on_device`, on `stream` or on the context's own stream; otherwise on the CPU.
    ///
    /// # Errors
    /// [`Error::NotSupported`] for a device in a context on the CPU.
    pub fn new(context: &Arc<Context>, stream: Option<&Stream>, on_device: bool) -> Result<Self> {
        Ok(if on_device { Self::Device(GpuOps::new(context, stream)?) } else { Self::Host(CpuOps::new(context)) })
    }

    /// [`Ops::new`] for environments that are stored from call to call.
    ///
    /// # Errors
    /// As [`Ops::new`].
    pub fn with_stored_environments(context: &Arc<Context>, stream: Option<&Stream>, on_device: bool) -> Result<Self> {
        Ok(if on_device {
            Self::Device(GpuOps::with_stored_environments(context, stream)?)
        } else {
            Self::Host(CpuOps::new(context))
        })
    }

    /// Calls `run` with these operations on elements of `dtype`.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for `argument` of a type that is not one of the four of linear algebra; as `run`.
    pub fn with_type<R>(
        &self,
        argument: &str,
        dtype: DType,
        run: impl FnOnce(&dyn Operations) -> Result<R>,
    ) -> Result<R> {
        with_scalar!(dtype, argument, T => run(&Typed::<T, _>::new(self)))
    }

    /// Calls `run`. On a GPU, its work is ordered after that of earlier calls on the same environments and before that
    /// of later ones, also on other streams. Does not wait.
    ///
    /// # Errors
    /// As `run`, and errors of the streams.
    pub fn in_order<R>(&self, run: impl FnOnce() -> Result<R>) -> Result<R> {
        let Self::Device(ops) = self else { return run() };
        ops.begin()?;
        let result = run();
        let ended = ops.end();
        let value = result?;
        ended.map(|()| value)
    }

    /// Whether the stream is being captured to a graph.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn is_captured(&self) -> Result<bool> {
        match self {
            Self::Host(_) => Ok(false),
            Self::Device(ops) => ops.is_captured(),
        }
    }

    /// [`OperatorOps::apply`] with vectors in device memory. Does not wait. If the stream is being captured, cuBLAS
    /// must already exist.
    ///
    /// # Errors
    /// [`Error::NotSupported`] for environments on the host, and where the library is not there.
    pub fn apply_in_order<T: Scalar>(
        &self,
        work: &mut Work<T>,
        left: (&Environment<T>, Extent),
        gathers: &[Gather],
        right: (&Environment<T>, Extent),
        v: Region<'_>,
        out: Region<'_>,
    ) -> Result<()> {
        match (self, work, left.0, right.0) {
            (Self::Device(ops), Work::Device(work), Environment::Device(a), Environment::Device(b)) => {
                if ops.is_captured()? && !ops.is_ready(work) {
                    let problem = "stream: is being captured, and cuBLAS is not there yet: apply once before";
                    return Err(Error::NotSupported(problem.into()));
                }
                ops.apply_in_order(work, (a, left.1), gathers, (b, right.1), v, out)
            }
            _ => Err(Error::NotSupported("v: lies on the device, the environments on the host".into())),
        }
    }

    /// The largest magnitude at each value of each index of an environment.
    pub(super) fn sizes<T: Scalar>(&self, environment: &Environment<T>, extent: Extent) -> Result<Sizes> {
        let rows = extent.bra * extent.slots * extent.pairs;
        let [rows, columns] = match (self, environment) {
            (Self::Host(_), Environment::Host(values)) => {
                rows_and_columns(&values.slice()?[..extent.elements()?], rows, extent.ket)?
            }
            (Self::Device(ops), Environment::Device(memory)) => {
                ops.sizes(T::DTYPE, memory.region(0, extent.elements()? * size_of::<T>())?, [rows, 1, extent.ket])?
            }
            _ => return Err(apart()),
        };
        Sizes::new(extent, &rows, &columns)
    }

    /// The largest |re| or |im| of every row and of every column of a core.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a type that is not one of the four of linear algebra; [`Error::NotSupported`] on
    /// the CPU for a core on a device; as [`GpuOps::sizes`].
    pub fn core_sizes(&self, view: &CoreView<'_>) -> Result<[Vec<f64>; 2]> {
        let [r, n, s] = view.dims;
        if let (Self::Device(ops), Memory::Device(memory)) = (self, view.memory) {
            let size = view.dtype.size();
            return ops.sizes(view.dtype, memory.region(view.offset * size, r * n * s * size)?, view.dims);
        }
        with_scalar!(view.dtype, view.argument, S => {
            let core = &view.memory.host(view.argument)?.as_slice::<S>()?[view.offset..view.offset + r * n * s];
            core_sizes_here(core, view.dims)
        })
    }

    /// Copies a core to host memory.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`]; [`Error::NotSupported`] on the CPU for a core on a device; as [`GpuOps::load`].
    pub fn read_core<S: Scalar>(&self, view: &CoreView<'_>) -> Result<Vec<S>> {
        let count = view.dims.iter().product();
        let mut values = alloc::filled("copy of a core", count, S::default())?;
        match (self, view.memory) {
            (Self::Device(ops), Memory::Device(memory)) => {
                ops.load(memory, view.offset * size_of::<S>(), &mut values)?;
            }
            _ => {
                let core = &view.memory.host(view.argument)?.as_slice::<S>()?[view.offset..view.offset + count];
                values.copy_from_slice(core);
            }
        }
        Ok(values)
    }

    /// Copies numbers to new memory that steps can read.
    ///
    /// # Errors
    /// As [`CpuOps::bring`] and [`GpuOps::bring`].
    pub fn bring<S: Scalar>(&self, values: &[S]) -> Result<Memory> {
        match self {
            Self::Host(ops) => ops.bring(values).map(Memory::Host),
            Self::Device(ops) => ops.bring(values).map(Memory::Device),
        }
    }

    /// Writes all entries of an environment.
    ///
    /// # Errors
    /// [`Error::Internal`] for an environment of another device; as [`GpuOps::store`].
    pub fn write<T: Scalar>(&self, environment: &mut Environment<T>, values: &[T]) -> Result<()> {
        match (self, environment) {
            (Self::Host(_), Environment::Host(to)) => {
                to.slice_mut()?[..values.len()].copy_from_slice(values);
                Ok(())
            }
            (Self::Device(ops), Environment::Device(to)) => ops.store(values, to),
            _ => Err(apart()),
        }
    }

    /// The operations for these trains: on the GPU if one of them is there.
    ///
    /// # Errors
    /// As [`Ops::new`].
    pub fn of(context: &Arc<Context>, stream: Option<&Stream>, trains: &Trains<'_>) -> Result<Self> {
        Self::new(context, stream, on_device(trains))
    }
}

/// [`Ops::core_sizes`] of a core in host memory.
pub(super) fn core_sizes_here<S: Scalar>(core: &[S], [r, n, s]: [usize; 3]) -> Result<[Vec<f64>; 2]> {
    // The second bond is the slowest index, so take the largest over i for each b.
    let [rows, columns] = rows_and_columns(core, r, n * s)?;
    let mut most = alloc::filled("sizes of a core", s, 0.0f64)?;
    for (to, of) in most.iter_mut().zip(columns.chunks_exact(n)) {
        *to = of.iter().fold(0.0, |most: f64, x| if *x > most || x.is_nan() { *x } else { most });
    }
    Ok([rows, most])
}

/// Whether the bra or the ket is on a GPU.
pub fn on_device(trains: &Trains<'_>) -> bool {
    trains.bra.is_device() || trains.ket.is_device()
}

fn apart() -> Error {
    Error::Internal("environments and operations on two devices".into())
}

impl<T: Scalar> OperatorOps<T> for Ops {
    type Environment = Environment<T>;
    type Work = Work<T>;

    fn environment(&self, elements: usize) -> Result<Environment<T>> {
        match self {
            Self::Host(ops) => OperatorOps::<T>::environment(ops, elements).map(Environment::Host),
            Self::Device(ops) => OperatorOps::<T>::environment(ops, elements).map(Environment::Device),
        }
    }

    fn work(&self, halves: usize, narrow: bool) -> Work<T> {
        match self {
            Self::Host(ops) => Work::Host(OperatorOps::<T>::work(ops, halves, narrow)),
            Self::Device(ops) => Work::Device(OperatorOps::<T>::work(ops, halves, narrow)),
        }
    }

    fn step_workspace(&self, halves: usize, narrow: bool, from: Extent, to: Extent, modes: [usize; 2]) -> StepBytes {
        match self {
            Self::Host(ops) => OperatorOps::<T>::step_workspace(ops, halves, narrow, from, to, modes),
            Self::Device(ops) => OperatorOps::<T>::step_workspace(ops, halves, narrow, from, to, modes),
        }
    }

    fn boundary(&self, to: &mut Environment<T>, extent: Extent, first: usize, starts: &[bool]) -> Result<()> {
        match (self, to) {
            (Self::Host(ops), Environment::Host(to)) => ops.boundary(to, extent, first, starts),
            (Self::Device(ops), Environment::Device(to)) => OperatorOps::<T>::boundary(ops, to, extent, first, starts),
            _ => Err(apart()),
        }
    }

    fn step(
        &self,
        work: &mut Work<T>,
        site: &Site<'_>,
        from: &Environment<T>,
        extent: Extent,
        to: &mut Environment<T>,
    ) -> Result<i64> {
        match (self, work, from, to) {
            (Self::Host(ops), Work::Host(work), Environment::Host(from), Environment::Host(to)) => {
                ops.step(work, site, from, extent, to)
            }
            (Self::Device(ops), Work::Device(work), Environment::Device(from), Environment::Device(to)) => {
                OperatorOps::<T>::step(ops, work, site, from, extent, to)
            }
            _ => Err(apart()),
        }
    }

    fn peaks(&self, environment: &Environment<T>, extent: Extent, split: usize) -> Result<[f64; 2]> {
        match (self, environment) {
            (Self::Host(ops), Environment::Host(environment)) => ops.peaks(environment, extent, split),
            (Self::Device(ops), Environment::Device(environment)) => {
                OperatorOps::<T>::peaks(ops, environment, extent, split)
            }
            _ => Err(apart()),
        }
    }

    fn shift(&self, environment: &mut Environment<T>, extent: Extent, split: usize, by: [i64; 2]) -> Result<()> {
        match (self, environment) {
            (Self::Host(ops), Environment::Host(environment)) => ops.shift(environment, extent, split, by),
            (Self::Device(ops), Environment::Device(environment)) => {
                OperatorOps::<T>::shift(ops, environment, extent, split, by)
            }
            _ => Err(apart()),
        }
    }

    fn join(&self, left: (&Environment<T>, Extent), right: (&Environment<T>, Extent)) -> Result<Vec<Complex<f64>>> {
        match (self, left.0, right.0) {
            (Self::Host(ops), Environment::Host(a), Environment::Host(b)) => ops.join((a, left.1), (b, right.1)),
            (Self::Device(ops), Environment::Device(a), Environment::Device(b)) => {
                OperatorOps::<T>::join(ops, (a, left.1), (b, right.1))
            }
            _ => Err(apart()),
        }
    }

    fn apply(
        &self,
        work: &mut Work<T>,
        left: (&Environment<T>, Extent),
        gathers: &[Gather],
        right: (&Environment<T>, Extent),
        v: &[T],
        out: &mut [T],
    ) -> Result<()> {
        match (self, work, left.0, right.0) {
            (Self::Host(ops), Work::Host(work), Environment::Host(a), Environment::Host(b)) => {
                ops.apply(work, (a, left.1), gathers, (b, right.1), v, out)
            }
            (Self::Device(ops), Work::Device(work), Environment::Device(a), Environment::Device(b)) => {
                ops.apply(work, (a, left.1), gathers, (b, right.1), v, out)
            }
            _ => Err(apart()),
        }
    }

    fn read(&self, environment: &Environment<T>, out: &mut [T]) -> Result<()> {
        match (self, environment) {
            (Self::Host(ops), Environment::Host(environment)) => ops.read(environment, out),
            (Self::Device(ops), Environment::Device(environment)) => ops.read(environment, out),
            _ => Err(apart()),
        }
    }

    fn is_concurrent(&self) -> bool {
        match self {
            Self::Host(ops) => OperatorOps::<T>::is_concurrent(ops),
            Self::Device(ops) => OperatorOps::<T>::is_concurrent(ops),
        }
    }

    fn both<A: Send, B: Send>(&self, a: impl FnOnce() -> A + Send, b: impl FnOnce() -> B + Send) -> (A, B) {
        match self {
            Self::Host(ops) => OperatorOps::<T>::both(ops, a, b),
            Self::Device(ops) => OperatorOps::<T>::both(ops, a, b),
        }
    }
}
