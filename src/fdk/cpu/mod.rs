//! FDK on the CPU.

pub mod backproject;
pub mod filter;
pub mod slab;

use super::algorithm::{FdkOps, Views};
use super::plan::Plan;
use crate::alloc;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::shape::to_u64;
use filter::{Batch, Filter, Layout};
use slab::Slab;

/// Zero samples below and above each column of a transposed view: back-projection reads past the panel's rows without
/// asking. At least the widest vector and the widest step of rows within one.
pub const PAD: usize = 48;

/// Samples from one column of a transposed view to the next.
pub fn column_stride(rows: usize) -> usize {
    (rows + 2 * PAD).next_multiple_of(16)
}

/// FDK on the threads of a context.
pub struct CpuOps<'a> {
    context: &'a Context,
    filter: Filter,
    slab: Option<Slab>,
    first: usize,
    filtered: Vec<f32>,
}

impl<'a> CpuOps<'a> {
    /// The operations for a plan.
    pub fn new(context: &'a Context, plan: &Plan) -> Result<Self> {
        Ok(Self { context, filter: Filter::new(plan)?, slab: None, first: 0, filtered: Vec::new() })
    }

    fn slab(&self) -> Result<&Slab> {
        self.slab.as_ref().ok_or_else(|| Error::Internal("a slab that was not begun".into()))
    }
}

impl FdkOps for CpuOps<'_> {
    fn bytes(&self, plan: &Plan, slices: usize, views: usize, rows: usize) -> u64 {
        Slab::bytes(&plan.grid, slices) + to_u64(views) * to_u64(Layout::Columns.samples(plan, rows)) * 4
    }

    fn begin(&mut self, plan: &Plan, first: usize, count: usize) -> Result<()> {
        self.first = first;
        match &mut self.slab {
            // The first slab is the thickest.
            Some(slab) if slab.capacity() >= count => slab.reset(count),
            slab => {
                *slab = None;
                *slab = Some(Slab::new(&plan.grid, count)?);
            }
        }
        Ok(())
    }

    fn add(&mut self, plan: &Plan, views: Views<'_>) -> Result<u64> {
        let batch = Batch { views: views.views, first_row: views.first_row, rows: views.rows };
        let samples = batch.views.len() * Layout::Columns.samples(plan, batch.rows);
        if self.filtered.len() < samples {
            self.filtered = Vec::new();
            self.filtered = alloc::filled("filtered projections", samples, 0.0)?;
        }
        let filtered = &mut self.filtered[..samples];
        let pool = self.context.pool();
        let replaced = self.filter.run(pool, plan, batch, views.pixels, Layout::Columns, filtered)?;
        let slab = self.slab.as_mut().ok_or_else(|| Error::Internal("a slab that was not begun".into()))?;
        backproject::backproject(pool, self.context.isa(), plan, batch, filtered, self.first, slab);
        Ok(replaced)
    }

    fn store(
        &mut self,
        plan: &Plan,
        first: usize,
        count: usize,
        scale: f32,
        offset: f32,
        out: &mut [f32],
    ) -> Result<()> {
        let slice = plan.grid.size[0] * plan.grid.size[1];
        self.slab()?.store(self.context.pool(), first, scale, offset, &mut out[..count * slice]);
        Ok(())
    }
}
