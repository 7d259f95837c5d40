//! The operations on the devices of a group: their rows, data and plan.

use std::marker::PhantomData;
use std::sync::Arc;

use super::super::data::{Data, Problem, Setting};
use super::super::pace::Passes;
use super::super::statistics::Statistics;
use super::super::traffic::Traffic;
use super::feed::Feed;
use super::implicit::Implicit;
use super::input::{DataLocation, Input};
use super::site::Site;
use super::statistics;
use crate::backend::gpu::GpuStream;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::progress::Progress;
use crate::scalar::{DType, Scalar};

/// One device with its rows.
pub(super) struct Part {
    pub(super) site: Site,
    pub(super) feed: Feed,
}

/// The data, as entries or as products.
pub(super) enum Matrix<'a> {
    Dense(Input<'a>),
    Implicit(Box<Implicit<'a>>),
}

impl<'a> Matrix<'a> {
    fn new<T: Scalar>(shape: (usize, usize), data: Data<'a, T>, setting: &Setting) -> Result<Self> {
        Ok(match data {
            Data::Dense { memory, dtype, row_stride, column_stride } => {
                Self::Dense(Input::dense(shape.1, memory, dtype, (row_stride, column_stride))?)
            }
            Data::Streamed { source, order } => Self::Dense(Input::source(shape, source, order)?),
            Data::Csr(csr) => Self::Implicit(Box::new(Implicit::sparse(T::DTYPE, csr)?)),
            Data::Operator(operator) => Self::Implicit(Box::new(Implicit::operator(operator, setting)?)),
        })
    }
}

/// The devices of a run with their rows, for any type of the computation. It implements the operations of [`GpuOps`].
pub(super) struct Devices<'a> {
    /// Type of the computation.
    pub(super) dtype: DType,
    pub(super) parts: Vec<Part>,
    pub(super) matrix: Matrix<'a>,
    pub(super) rows: usize,
    pub(super) columns: usize,
    /// Whether the problem is of the transpose of the caller's matrix.
    pub(super) transposed: bool,
    pub(super) setting: Setting,
    pub(super) progress: &'a Progress<'a>,
    pub(super) passes: Passes,
    pub(super) statistics: Option<Statistics>,
    pub(super) columns_known: Option<statistics::KnownColumns>,
    pub(super) traffic: Traffic,
    pub(super) planned: u64,
    pub(super) planned_host: u64,
}

impl<'a> Devices<'a> {
    /// The division of a matrix of `shape` among the devices of `contexts`. The first device is that of `site`.
    fn planned(
        contexts: &[Arc<Context>],
        site: Site,
        matrix: (DType, Matrix<'a>),
        (rows, columns): (usize, usize),
        transposed: bool,
        setting: Setting,
        progress: &'a Progress<'a>,
    ) -> Result<Self> {
        let (mut sites, (dtype, matrix)) = (vec![site], matrix);
        let is_cut = matches!(&matrix, Matrix::Dense(input) if !matches!(input.place, DataLocation::Device(..)));
        for context in contexts.iter().skip(1).filter(|_| is_cut && rows >= contexts.len()) {
            let gpu = context.gpu("context")?;
            sites.push(Site::new(context, gpu.create_independent_stream()?)?);
        }
        let mut devices = Self {
            dtype,
            parts: Vec::with_capacity(sites.len()),
            matrix,
            rows,
            columns,
            transposed,
            setting,
            progress,
            passes: Passes::default(),
            statistics: None,
            columns_known: None,
            traffic: Traffic::default(),
            planned: 0,
            planned_host: 0,
        };
        devices.divide(sites)?;
        Ok(devices)
    }

    fn prepare(&mut self) -> Result<()> {
        if let (Matrix::Implicit(matrix), Some(part)) = (&mut self.matrix, self.parts.first_mut()) {
            matrix.prepare(&mut part.site, &self.setting)?;
        }
        Ok(())
    }

    /// The device that runs the unpartitioned steps.
    pub(super) fn site(&mut self) -> &mut Site {
        &mut self.parts[0].site
    }
}

/// [`RsvdOps`](super::super::ops::RsvdOps) on the GPUs of a group, each with its own rows.
pub struct GpuOps<'a, T: Scalar> {
    pub(super) devices: Devices<'a>,
    element: PhantomData<T>,
}

impl<'a, T: Scalar> GpuOps<'a, T> {
    /// The operations on `problem`, whose data may lie on the first context's device. Work is enqueued on `queue`, a queue
    /// of the first context.
    ///
    /// # Errors
    /// As [`GpuOps::planned`]; errors of the copy of a sparse matrix and of an operator's functions.
    pub fn new(
        contexts: &[Arc<Context>],
        queue: &GpuStream,
        problem: Problem<'a, T>,
        setting: Setting,
        progress: &'a Progress<'a>,
    ) -> Result<Self> {
        let mut ops = Self::planned(contexts, queue, problem, setting, progress)?;
        ops.devices.prepare()?;
        Ok(ops)
    }

    /// The operations on `problem`, divided among the devices and cut into blocks. No entry was read, nothing of the
    /// data's size was allocated, and no function of an operator was called: only the plan can be read from them.
    ///
    /// # Errors
    /// [`Error::OutOfDeviceMemory`] and [`Error::OutOfMemory`] if even small blocks do not fit the limits;
    /// [`Error::NotSupported`] for data or settings that the GPU backend does not support; [`Error::NoDevice`] if cuBLAS or
    /// cuSOLVER are missing.
    pub fn planned(
        contexts: &[Arc<Context>],
        queue: &GpuStream,
        problem: Problem<'a, T>,
        setting: Setting,
        progress: &'a Progress<'a>,
    ) -> Result<Self> {
        let Problem { rows, columns, transposed, data } = problem;
        let first = contexts.first().ok_or_else(|| Error::Internal("a run without a context".into()))?;
        let site = Site::new(first, queue.clone())?;
        let matrix = (T::DTYPE, Matrix::new((rows, columns), data, &setting)?);
        let devices = Devices::planned(contexts, site, matrix, (rows, columns), transposed, setting, progress)?;
        Ok(Self { devices, element: PhantomData })
    }

    /// Planned bytes of host memory, for the device that needs most.
    pub fn planned_host_bytes(&self) -> u64 {
        self.devices.planned_host
    }

    /// Planned bytes of device memory, on the device that needs most.
    pub fn planned_bytes(&self) -> u64 {
        self.devices.planned
    }

    /// Reads the clocks of the devices, and waits for their work.
    ///
    /// # Errors
    /// Errors of work that was still running.
    pub fn read_clocks(&mut self) -> Result<()> {
        self.devices.read_clocks()
    }
}
