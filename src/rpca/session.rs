//! A session: options on one or several contexts, created once and used for many matrices.

use std::sync::Arc;

use super::info::Info;
use super::options::Options;
use super::run::{Call, Target};
use crate::blocks::sink::Sink;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::group::Group;
use crate::matrix::Matrix;
use crate::progress::ProgressFn;
use crate::session::{CancelHandle, LastInfo};
use crate::stream::Stream;

/// Robust PCA with given options on the contexts of a group.
pub struct Rpca {
    group: Group,
    options: Options,
    cancel: CancelHandle,
    last: LastInfo<Info>,
}

/// The two arguments of every call: the matrix, and which of its entries were observed.
#[derive(Clone, Copy)]
pub struct Observed<'a> {
    /// The matrix M, dense or streamed.
    pub m: &'a Matrix,
    /// A matrix of bytes of its size, 0 where an entry was not observed; `None` if all were.
    pub mask: Option<&'a Matrix>,
}

impl Rpca {
    /// Checks the options.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] naming the option that is out of range.
    pub fn new(context: &Arc<Context>, options: Options) -> Result<Self> {
        Self::over(&Group::of(context), options)
    }

    /// The same on several GPUs. The rows, or the columns where there are more of them, are divided among all. A matrix in
    /// device memory uses the first GPU alone.
    ///
    /// # Errors
    /// As [`Rpca::new`]; [`Error::InvalidArgument`] for several contexts on the CPU.
    pub fn over(group: &Group, options: Options) -> Result<Self> {
        group.check_alive()?;
        group.expect_gpus("rows")?;
        options.check()?;
        Ok(Self { group: group.clone(), options, cancel: CancelHandle::default(), last: LastInfo::default() })
    }

    /// The first context, which matrices and tensors of calls belong to.
    pub fn context(&self) -> &Arc<Context> {
        self.group.first()
    }

    /// A handle that cancels this object's runs. Any thread may use it while a run is under way.
    pub fn cancel_handle(&self) -> CancelHandle {
        self.cancel.clone()
    }

    /// The report of the last run that met its tolerance or reached the last iteration.
    pub fn last_info(&self) -> LastInfo<Info> {
        self.last.clone()
    }

    /// The plan of a run: how the matrix is cut, and the memory that is needed. Entries are not read.
    ///
    /// # Errors
    /// As [`Rpca::compute`] for arguments that do not fit the matrix; errors if the available memory does not suffice.
    pub fn plan(&self, given: Observed<'_>) -> Result<Info> {
        self.call(given, Target::Nowhere, Target::Nowhere).plan()
    }

    /// Splits `m` into a low-rank and a sparse matrix of its size, either of which may be left out. An entry that was not
    /// observed may have any value; there S is 0, and L follows from the observed entries.
    ///
    /// The parts have the type of the arithmetic. If the tolerance is not met within the allowed iterations, they hold
    /// the last iterate and [`Info::converged`] is false.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] naming an argument that does not fit, or the place where `m` is not finite;
    /// [`Error::NotSupported`] for storage that cannot be used here; [`Error::Cancelled`]; errors of sources. The
    /// object can be used again after any of them.
    pub fn compute(
        &mut self,
        stream: Option<&Stream>,
        given: Observed<'_>,
        low_rank: Option<&mut Matrix>,
        sparse: Option<&mut Matrix>,
        report: Option<&ProgressFn<'_>>,
    ) -> Result<Info> {
        self.run(stream, given, Target::matrix(low_rank), Target::matrix(sparse), report)
    }

    /// [`Rpca::compute`] with the sparse part in compressed rows, without entries that are no larger than the options'
    /// threshold.
    ///
    /// # Errors
    /// As [`Rpca::compute`].
    pub fn compute_csr(
        &mut self,
        stream: Option<&Stream>,
        given: Observed<'_>,
        low_rank: Option<&mut Matrix>,
        report: Option<&ProgressFn<'_>>,
    ) -> Result<(Matrix, Info)> {
        let mut csr = None;
        let info = self.run(stream, given, Target::matrix(low_rank), Target::Csr(&mut csr), report)?;
        let csr = csr.ok_or_else(|| Error::Internal("a sparse part that was not made".into()))?;
        Ok((Matrix::from_csr(self.context(), info.dtype, csr, false), info))
    }

    /// [`Rpca::compute`] with parts that are written in blocks. Their axes are those of the matrix's source, or [rows,
    /// columns] of a dense matrix in column-major order and [columns, rows] of one in row-major order. Sinks are
    /// finished.
    ///
    /// # Errors
    /// As [`Rpca::compute`], and the errors of sinks.
    pub fn compute_to_sinks<'a>(
        &'a mut self,
        stream: Option<&Stream>,
        given: Observed<'a>,
        low_rank: Option<&'a mut (dyn Sink + 'a)>,
        sparse: Option<&'a mut (dyn Sink + 'a)>,
        report: Option<&ProgressFn<'_>>,
    ) -> Result<Info> {
        self.run(stream, given, Target::sink(low_rank), Target::sink(sparse), report)
    }

    fn run<'a>(
        &'a self,
        stream: Option<&Stream>,
        given: Observed<'a>,
        low_rank: Target<'a>,
        sparse: Target<'a>,
        report: Option<&ProgressFn<'_>>,
    ) -> Result<Info> {
        let info = self.call(given, low_rank, sparse).run(stream, &self.cancel, report)?;
        self.last.set(info.clone());
        Ok(info)
    }

    fn call<'a>(&'a self, given: Observed<'a>, low_rank: Target<'a>, sparse: Target<'a>) -> Call<'a> {
        let Observed { m, mask } = given;
        Call { contexts: self.group.members(), m, mask, options: &self.options, low_rank, sparse }
    }
}
