//! The state of the operations: the problem, its buffers and statistics, and the counts of a run.

use std::sync::Arc;

use super::entries::Columns;
use super::panel::Transform;
use super::sizes::cut_of;
use crate::backend::memory::{Charge, HostMemory};
use crate::context::Context;
use crate::dense::cpu::CpuAlgebra;
use crate::dense::cpu::matrix::CpuMatrix;
use crate::error::{Error, Result};
use crate::progress::Progress;
use crate::rsvd::data::{Center, Data, Problem, Setting};
use crate::rsvd::pace::{Pace, Passes};
use crate::rsvd::statistics::Statistics;
use crate::rsvd::traffic::Traffic;
use crate::scalar::Scalar;
use crate::shape::to_u64;

/// The randomized SVD on the threads of a context. [`Setting::resident`] has no effect here: data in memory are used where
/// they lie, and each pass reads a source again.
pub struct CpuOps<'a, T: Scalar> {
    pub(super) context: &'a Arc<Context>,
    pub(super) algebra: CpuAlgebra,
    pub(super) problem: Problem<'a, T>,
    pub(super) setting: Setting,
    pub(super) progress: &'a Progress<'a>,
    pub(super) statistics: Option<Statistics>,
    /// The transform of the entries, once it is known.
    pub(super) transform: Option<Transform>,
    /// Columns of a sparse matrix, created by the first pass.
    pub(super) columns: Option<Columns<T>>,
    /// Two blocks of a source, one being read while the other is used.
    pub(super) buffers: Vec<HostMemory>,
    pub(super) passes: Passes,
    /// Rows of a panel that is converted at once.
    pub(super) panel_rows: usize,
    /// Memory of means and deviations.
    pub(super) moments: Option<Charge>,
    pub(super) traffic: Traffic,
}

impl<'a, T: Scalar> CpuOps<'a, T> {
    /// The operations for a problem.
    ///
    /// # Errors
    /// [`Error::NotSupported`] for data on a device or a scaling that the data do not allow, [`Error::OutOfMemory`] if two
    /// blocks of a source do not fit.
    pub fn new(
        context: &'a Arc<Context>,
        problem: Problem<'a, T>,
        setting: Setting,
        progress: &'a Progress<'a>,
    ) -> Result<Self> {
        if setting.scale && matches!(problem.data, Data::Operator(_)) {
            return Err(Error::NotSupported("scale: is set, a matrix other than an operator is needed".into()));
        }
        if setting.scale && setting.center == Center::Rows {
            return Err(Error::NotSupported("scale: is set, centred columns are needed, rows are centred".into()));
        }
        let mut ops = Self {
            context,
            algebra: CpuAlgebra::new(context),
            problem,
            setting,
            progress,
            statistics: None,
            transform: None,
            columns: None,
            buffers: Vec::new(),
            passes: Passes::default(),
            panel_rows: 1,
            moments: None,
            traffic: Traffic::default(),
        };
        ops.cut()?;
        Ok(ops)
    }

    /// Chooses the rows of a block, and allocates the buffers of a source.
    fn cut(&mut self) -> Result<()> {
        let (rows, columns) = (self.problem.rows, self.problem.columns);
        let size = match &self.problem.data {
            Data::Dense { memory, dtype, .. } => {
                memory.host("a")?;
                dtype.size()
            }
            Data::Streamed { source, .. } => source.info().number.size(),
            Data::Csr(_) | Data::Operator(_) => {
                self.traffic.block_rows = to_u64(rows);
                self.traffic.blocks = 1;
                self.traffic.resident_rows = to_u64(rows);
                return Ok(());
            }
        };
        let row = columns.saturating_mul(size).max(1);
        let streamed = matches!(self.problem.data, Data::Streamed { .. });
        let (height, panel) = cut_of(rows, columns, size.max(size_of::<T>()), streamed, &self.setting);
        self.panel_rows = panel;
        self.traffic.block_rows = to_u64(height);
        self.traffic.blocks = to_u64(rows.div_ceil(height));
        if streamed {
            let all = to_u64(rows).saturating_mul(to_u64(columns.saturating_mul(size)));
            (self.traffic.bytes_first, self.traffic.bytes_later) = (all, all);
            let bytes = crate::shape::product("block of a source", height, row)?;
            for _ in 0..2 {
                self.buffers.push(HostMemory::allocate("block of a source", bytes, self.context.host_budget())?);
            }
        } else {
            self.traffic.resident_rows = to_u64(rows);
        }
        Ok(())
    }

    pub(super) fn pace(&self) -> Pace {
        self.passes.pace(&self.traffic)
    }

    /// Whether the next pass runs backwards.
    pub(super) fn is_backwards(&self) -> bool {
        self.setting.alternate && self.passes.is_second(&self.traffic)
    }

    /// Rows of a block that is read at once.
    pub(super) fn block_rows(&self) -> usize {
        usize::try_from(self.traffic.block_rows).unwrap_or(usize::MAX)
    }

    pub(super) fn copied(&self, what: &'static str, m: &CpuMatrix<T>) -> Result<CpuMatrix<T>> {
        let mut copy = self.zeros_of(what, m.rows(), m.cols())?;
        copy.slice_mut()?.copy_from_slice(m.slice()?);
        Ok(copy)
    }

    /// A zeroed matrix of any element type, charged to the context's host memory.
    pub(super) fn zeros_of<S: Scalar>(&self, what: &'static str, rows: usize, cols: usize) -> Result<CpuMatrix<S>> {
        CpuMatrix::zeros(what, rows, cols, self.context.host_budget())
    }
}
