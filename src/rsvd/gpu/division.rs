//! The division of the rows among the devices, and the memory that each of them plans.

use super::super::data::Setting;
use super::block;
use super::conversion::BlockConversion;
use super::cut::{Cut, NO_HOST, Origin, Span, Task};
use super::feed::{self, Feed};
use super::input::DataLocation;
use super::site::{self, Site};
use super::state::{Devices, Matrix, Part};
use crate::dense::gpu::FACTORIZATION_BYTES;
use crate::error::{Error, Result};
use crate::group;
use crate::shape::to_u64;

/// Bytes of a device's `free` memory that are reserved for the workspace of small factorizations and of merged blocks.
fn slack(site: &Site, free: u64) -> u64 {
    site.context.device_budget().available().min(free - free / 32) / 64
}

impl Devices<'_> {
    /// Divides the rows evenly among the devices, and cuts each device's share into blocks.
    pub(super) fn divide(&mut self, sites: Vec<Site>) -> Result<()> {
        let count = sites.len();
        let free = group::free_device_memory(&sites.iter().map(|site| &*site.context).collect::<Vec<_>>())?;
        let is_elsewhere =
            matches!(&self.matrix, Matrix::Dense(input) if !matches!(input.place, DataLocation::Device(..)));
        let mut first = 0;
        for (k, (site, free)) in sites.into_iter().zip(free).enumerate() {
            // If the caller chose the rows of a block, each share is whole blocks. Blocks are then the same for any number
            // of devices.
            let grain = self.setting.block_rows.max(1);
            let end = if k + 1 == count { self.rows } else { self.rows * (k + 1) / count / grain * grain };
            let share = Span { first, rows: end - first };
            first = end;
            let conversion = BlockConversion::new(self.dtype, &self.setting)?;
            let cut = self.cut((&site, free), share, &conversion)?;
            let slack = slack(&site, free);
            let workspace = site.blas().own_workspace_bytes();
            self.planned = self.planned.max(cut.bytes.saturating_sub(slack).saturating_add(workspace));
            self.plan_host(&site, share, &cut)?;
            let feed = Feed::new(&site.gpu, share, cut, conversion)?;
            self.traffic.blocks += to_u64(feed.blocks());
            self.traffic.block_rows =
                self.traffic.block_rows.max(to_u64(if cut.block > 0 { cut.block } else { cut.resident_block }));
            self.traffic.resident_rows += to_u64(cut.resident);
            if let (Matrix::Dense(input), true) = (&self.matrix, is_elsewhere) {
                self.traffic.bytes_first += to_u64(input.bytes(share.rows));
                self.traffic.bytes_later += to_u64(input.bytes(share.rows - cut.resident));
            }
            self.parts.push(Part { site, feed });
        }
        Ok(())
    }

    /// Cuts the share of a device. This context may use `free` bytes of its memory.
    fn cut(&self, (site, free): (&Site, u64), share: Span, conversion: &BlockConversion) -> Result<Cut> {
        let budget = site.context.device_budget();
        let element = self.dtype.size();
        let mut first = 0;
        let (origin, entry, apart, extra, row_major) = match &self.matrix {
            Matrix::Implicit(matrix) => (Origin::Device, 0, false, matrix.footprint(&self.setting).device, false),
            Matrix::Dense(input) => {
                let is_device = matches!(input.place, DataLocation::Device(..));
                let apart = if is_device { conversion.converts(input.dtype) } else { input.dtype != self.dtype };
                let origin = if is_device { Origin::Device } else { Origin::Host };
                let bytes = conversion.bytes(input, share.rows.min(1 << 16))?;
                first = to_u64(bytes.1);
                (origin, input.dtype.size(), apart, to_u64(bytes.0), input.row_major)
            }
        };
        // Factors and sums of a pass; on the other devices the copies of them.
        let small = to_u64(self.setting.small_elements).saturating_mul(to_u64(self.dtype.wide().size()));
        let is_single = self.dtype.is_single();
        let across = to_u64(self.columns.max(self.setting.tall_columns)).saturating_mul(16);
        let wide = to_u64(share.rows).saturating_mul(across);
        // One panel of a Gram matrix and one of a CholeskyQR step, each of at least one row.
        let panel = to_u64(site.algebra.panel_bytes()).max(across);
        let panels = if is_single { wide.min(panel.saturating_mul(2)) } else { 0 };
        let own = to_u64(self.columns.saturating_mul(self.setting.tall_columns)).saturating_mul(to_u64(element));
        let flips = if block::is_flipped(self.dtype, row_major) { own } else { 0 };
        // Free memory may be fragmented, so a 32nd of it is not used.
        let available = budget.available().min(free - free / 32);
        let slack = slack(site, free);
        let is_implicit = matches!(self.matrix, Matrix::Implicit(_));
        let Setting { tall_columns, long, .. } = self.setting;
        // Other products than that which replaces a tall matrix are as long as a matrix without blocks. Its memory has them.
        let beside = if is_implicit { 0 } else { long.scratch.saturating_add(long.result) };
        let task = Task {
            rows: share.rows,
            columns: if is_implicit { 0 } else { self.columns },
            origin,
            entry,
            element,
            apart,
            tall_columns,
            product_columns: long.replaced.saturating_add(beside),
            merged_columns: long.merged,
            needs_tall: is_implicit,
            // A pass that only gathers moments comes before all factorizations.
            fixed: [FACTORIZATION_BYTES.max(first), panels, small, own, flips, extra, slack]
                .into_iter()
                .fold(0, u64::saturating_add),
            available,
            limit: budget.limit(),
            block_rows: self.setting.block_rows,
            resident: self.setting.resident,
        };
        task.cut()
    }

    /// Adds the host memory of a device's share to the plan: page-locked buffers, and the vectors and copies of a matrix
    /// without blocks. Refuses more than the context's limit leaves.
    fn plan_host(&mut self, site: &Site, share: Span, cut: &Cut) -> Result<()> {
        let ring = to_u64(site::RING_BYTES * site::RING);
        let bytes = match &self.matrix {
            Matrix::Implicit(matrix) => {
                let footprint = matrix.footprint(&self.setting);
                // Results are copied by the ring after a sparse matrix has left the host.
                footprint.host_copy.max(footprint.host_product.saturating_add(ring))
            }
            Matrix::Dense(input) => {
                let copies = match &input.place {
                    DataLocation::Device(..) => 0,
                    // Copies from page-locked memory need no pieces.
                    DataLocation::Host(source, _) if site.gpu.is_pinned(source)? => 0,
                    DataLocation::Host(..) => feed::PIECE_BYTES * feed::PIECES,
                    DataLocation::Source(_) => feed::read_buffers(cut, share.rows)
                        .saturating_mul(input.bytes(cut.block.max(cut.resident_block).min(share.rows))),
                };
                let tall = share.rows.saturating_mul(self.setting.tall_columns).saturating_mul(self.dtype.size());
                let tall = if cut.tall_on_device { 0 } else { tall };
                to_u64(copies).saturating_add(to_u64(tall)).saturating_add(ring)
            }
        };
        let budget = site.context.host_budget();
        if bytes > budget.available() {
            let (bytes, limit) = (bytes.saturating_add(budget.used()), budget.limit());
            return Err(Error::OutOfMemory { what: NO_HOST, bytes, limit });
        }
        self.planned_host = self.planned_host.max(bytes);
        Ok(())
    }
}
