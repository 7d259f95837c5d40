//! The bytes of a planned run, and blocks with which it fits into the available memory.

use std::sync::Arc;

use super::super::data::{Center, Setting};
use super::super::options::{Method, Options};
use super::super::plan::{Goal, Plan, Request, WantedFactors};
use super::rehearse;
use super::shape::{DataAssumption, Entries, Shape};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::matrix::{Matrix, Storage};
use crate::rsvd::cpu;
use crate::scalar::Complex;
use crate::shape::to_u64;

/// The blocks of a plan and their memory.
#[derive(Debug, Clone, Copy)]
pub struct Fit {
    /// Rows of a block that is read at once.
    pub block_rows: usize,
    /// Rows of a panel that is converted at once.
    pub panel_rows: usize,
    /// Upper bound of the bytes for any data.
    pub most: u64,
}

impl Fit {
    /// Writes the sizes of blocks and panels to `setting`.
    pub fn apply(&self, setting: &mut Setting) {
        (setting.block_rows, setting.panel_rows) = (self.block_rows, self.panel_rows);
    }
}

/// A planned run whose memory is to be computed.
pub struct Planned<'a> {
    pub(super) context: &'a Arc<Context>,
    pub(super) plan: &'a Plan,
    pub(super) options: &'a Options,
    pub(super) goal: Goal,
    /// The caller's sketch; `None` for a random one.
    pub(super) given: Option<&'a Matrix>,
    shape: Shape,
    /// Bytes of a row of a source; 0 where nothing is read.
    source_row: usize,
}

impl<'a> Planned<'a> {
    /// The run of a request's `plan`.
    pub fn new(context: &'a Arc<Context>, plan: &'a Plan, request: &Request<'a>) -> Self {
        let Request { options, matrix, goal, given, .. } = *request;
        let (entries, entry) = match matrix.storage() {
            Storage::Dense { .. } => (Entries::Memory, matrix.dtype().size()),
            Storage::Streamed(_) => (Entries::Source, matrix.dtype().size()),
            Storage::Csr(csr) => (Entries::Sparse(csr.nnz()), 0),
            Storage::Operator(_) => (Entries::Operator, 0),
        };
        let setting = &plan.setting;
        let is_centered = setting.center != Center::None || setting.scale;
        let source_row = if matches!(entries, Entries::Source) { plan.columns.saturating_mul(entry) } else { 0 };
        let cut = cpu::cut_of(plan.rows, plan.columns, entry.max(plan.dtype.size()), source_row > 0, setting);
        let moments = match entries {
            Entries::Memory | Entries::Source => cpu::moments_bytes(setting, plan.columns),
            Entries::Sparse(_) => cpu::implicit_moments_bytes(setting, (plan.rows, plan.columns), true),
            Entries::Operator => cpu::implicit_moments_bytes(setting, (plan.rows, plan.columns), false),
        };
        let shape = Shape {
            rows: plan.rows,
            columns: plan.columns,
            element: plan.dtype.size(),
            entries,
            is_direct: !is_centered && matrix.dtype() == plan.dtype,
            is_centered,
            is_scaled: setting.scale,
            moments,
            block_rows: cut.0,
            panel_rows: cut.1,
        };
        Self { context, plan, options, goal, given, shape, source_row }
    }

    fn count(&self, shape: Shape, assumption: DataAssumption, wanted: WantedFactors) -> Result<u64> {
        let is_complex = self.plan.dtype.is_complex();
        let own = if is_complex {
            rehearse::peak::<Complex<f64>>(self, wanted, shape, assumption)
        } else {
            rehearse::peak::<f64>(self, wanted, shape, assumption)
        }?;
        let buffers = to_u64(self.source_row).saturating_mul(to_u64(shape.block_rows)).saturating_mul(2);
        Ok(own.saturating_add(buffers))
    }

    fn most(&self, shape: Shape) -> Result<u64> {
        [DataAssumption::Regular, DataAssumption::Deficient, DataAssumption::Decaying, DataAssumption::Single]
            .into_iter()
            .try_fold(0, |most: u64, assumption| Ok(most.max(self.count(shape, assumption, WantedFactors::ALL)?)))
    }

    /// Peak in bytes of a run whose columns stay linearly independent.
    ///
    /// # Errors
    /// As [`Planned::fit`].
    pub fn expected(&self, fit: &Fit, wanted: WantedFactors) -> Result<u64> {
        let shape = Shape { block_rows: fit.block_rows, panel_rows: fit.panel_rows, ..self.shape };
        self.count(shape, DataAssumption::Regular, wanted)
    }

    /// Smallest number of rows that a block may have.
    fn least_block(&self) -> usize {
        let rows = self.plan.rows.max(1);
        match (self.goal, self.plan.method) {
            _ if self.plan.setting.block_rows > 0 => self.plan.setting.block_rows.min(rows),
            (Goal::Decompose, Method::Merge) => self.plan.merge_width.clamp(1, rows),
            (Goal::Decompose, Method::Brsvd) => self.plan.width.clamp(1, rows),
            _ => 1,
        }
    }

    /// Blocks and panels with which the run fits into `available` bytes, as large as is useful.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`] with the smallest number of bytes of any cut; errors for sizes beyond any memory.
    pub fn fit(&self, available: u64) -> Result<Fit> {
        let mut shape = self.shape;
        let least = self.least_block();
        // The smallest blocks may need more memory than one block of all rows, so the minimum is taken.
        let mut needed = u64::MAX;
        loop {
            let most = self.most(shape)?;
            needed = needed.min(most);
            if most <= available {
                return Ok(Fit { block_rows: shape.block_rows, panel_rows: shape.panel_rows, most });
            }
            let (before, block) = (shape.panel_rows, shape.block_rows);
            if block > least && block > shape.panel_rows {
                shape.block_rows = (block / 2).max(shape.panel_rows).max(least);
            } else {
                shape.panel_rows = (before / 2).max(1);
                shape.block_rows = if block > least { shape.panel_rows.max(least) } else { block };
            }
            if (shape.panel_rows, shape.block_rows) == (before, block) {
                return Err(self.refused(needed));
            }
        }
    }

    fn refused(&self, most: u64) -> Error {
        let what = match self.goal {
            Goal::Decompose if self.options.tolerance > 0.0 => "a decomposition of up to max_rank columns",
            Goal::Decompose => "a decomposition in the smallest blocks",
            Goal::Basis(_) => "a basis of the range in the smallest blocks",
            Goal::Symmetric => "eigenpairs in the smallest blocks",
            Goal::Products(_) | Goal::Map { .. } => "products with the matrix in the smallest blocks",
        };
        let budget = self.context.host_budget();
        Error::OutOfMemory { what, bytes: most.saturating_add(budget.used()), limit: budget.limit() }
    }
}
