//! A plan's data on the device, and the choice of a method there.

use std::sync::{Arc, Mutex, PoisonError};

use super::cut::{Cut, DeviceCut};
use super::matrix::{Structure, Values};
use super::space::Space;
use super::sweeps::{self, Sweeps};
use crate::backend::gpu::Gpu;
use crate::backend::gpu::kernels::spmv::{self as kernels, Form, SHORT_TILE, TILE, TILE_ROWS};
use crate::error::{Error, Result};
use crate::matrix::Csr;
use crate::matrix::sparse::Rows;
use crate::scalar::DType;
use crate::spmv::info::Statistics;
use crate::spmv::options::Method;

const WHAT: &str = "plan of a sparse product";

/// How rows are divided among threads.
pub(super) enum Kernels {
    /// A group of so many lanes for each row.
    Rows(usize),
    /// Shares, processed by the kernel of a form.
    Shares(Form, Box<DeviceCut>),
    /// Products by columns, then sums by rows.
    Sweeps(Box<Sweeps>),
}

/// A plan's data on the device.
pub(in crate::spmv) struct Prepared {
    pub(super) structure: Structure,
    pub(super) values: Values,
    pub(super) kernels: Kernels,
    pub(super) dtype: DType,
    /// Tiles for blocks of vectors, with their number of entries as key.
    pub(super) blocks: Mutex<Vec<(usize, Arc<DeviceCut>)>>,
    /// Cached workspaces, for products that run one after another.
    pub(super) spaces: Mutex<Vec<(WorkspaceKey, Arc<Space>)>>,
}

/// The key of a workspace: the handle of the stream that orders products and, during a graph capture, the number of the
/// capture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct WorkspaceKey {
    pub(super) queue: u64,
    pub(super) capture: Option<u64>,
}

/// Chooses a method from the row lengths and the type, as measured on an H200 (`benches/gpu/spmv_kernels.cu`).
pub(in crate::spmv) fn choose(dtype: DType, s: &Statistics, cols: usize) -> (Method, &'static str) {
    let is_alike = s.longest as f64 <= (4.0 * s.mean).max(8.0) && s.deviation <= 0.5 * s.mean.max(1.0);
    let is_far = cols.saturating_mul(dtype.size()) > 2 << 20;
    if is_alike {
        (Method::EntrySplit, "rows of like length")
    } else if s.nnz > 1 << 22 && is_far && dtype.size() == 4 && sweeps::fits(dtype, cols, s.nnz) {
        (Method::Sweeps, "small numbers gathered from all over a long vector")
    } else if s.nnz > 1 << 24 && s.mean > 12.0 {
        (Method::RowBin, "many long rows of very different lengths")
    } else {
        (Method::EntrySplit, "rows of very different lengths")
    }
}

/// The kernel of a method, for rows of `group` lanes where it has groups; `None` for the sweeps.
pub(super) fn form(dtype: DType, method: Method, group: usize, entries: usize) -> Option<Form> {
    Some(match method {
        Method::Scalar => Form::Rows(1),
        Method::Vector => Form::Rows(32),
        Method::RowGroup => Form::Rows(group),
        Method::RowBin => Form::Bins,
        Method::Merge => Form::Merge,
        Method::Auto | Method::EntrySplit if has_short_tiles(dtype, entries) => Form::ShortTiles,
        Method::Auto | Method::EntrySplit => Form::Tiles,
        Method::Sweeps => return None,
    })
}

/// The shares that the kernel of a form takes; none for whole rows.
pub(super) fn cut(form: Form, rows: &Rows<'_>) -> Result<Cut> {
    match form {
        Form::Rows(_) => Ok(Cut::default()),
        Form::Bins => Cut::bins(rows),
        Form::Merge => Cut::merge(rows),
        Form::ShortTiles => Cut::tiles(rows, SHORT_TILE, TILE_ROWS),
        Form::Tiles => Cut::tiles(rows, TILE, TILE_ROWS),
    }
}

/// Whether tiles are short. Small matrices and wide numbers need more tiles to hide latencies.
fn has_short_tiles(dtype: DType, entries: usize) -> bool {
    dtype.size() > 4 || entries < 1 << 22
}

impl Prepared {
    /// Copies the matrix and the method's shares to the device.
    pub(in crate::spmv) fn new(dtype: DType, gpu: &Gpu, a: &Csr, method: Method, group: usize) -> Result<Self> {
        let stream = gpu.default_stream();
        let structure = Structure::new(gpu, stream, a)?;
        let values = Values::new(dtype, gpu, stream, a)?;
        let rows = Rows::new(a)?;
        let kernels = match form(dtype, method, group, structure.entries) {
            Some(Form::Rows(lanes)) => Kernels::Rows(lanes),
            Some(form) => Kernels::Shares(form, Box::new(DeviceCut::new(gpu, stream, &cut(form, &rows)?)?)),
            None => {
                let held = values.held(a)?;
                Kernels::Sweeps(Box::new(Sweeps::new(dtype, gpu, stream, &rows, &structure.with(a, held)?, held)?))
            }
        };
        Ok(Self { structure, values, kernels, dtype, blocks: Mutex::default(), spaces: Mutex::default() })
    }

    /// Updates the plan's copies of the values.
    pub(in crate::spmv) fn update(&mut self, dtype: DType, gpu: &Gpu, a: &Csr) -> Result<()> {
        let stream = gpu.default_stream();
        self.values = Values::new(dtype, gpu, stream, a)?;
        if let Kernels::Sweeps(sweeps) = &mut self.kernels {
            let held = self.values.held(a)?;
            sweeps.update(dtype, gpu, stream, held, a.nnz())?;
            stream.synchronize()?;
        }
        Ok(())
    }

    /// Whether products read the values in the matrix's own memory, so that they are never out of date.
    pub(in crate::spmv) fn reads_in_place(&self) -> bool {
        let is_copied = matches!(&self.kernels, Kernels::Sweeps(_)) && !matches!(self.values, Values::Ones);
        self.values.are_in_place() && !is_copied
    }

    /// Number of shares, and bytes on the device.
    pub(in crate::spmv) fn figures(&self) -> (usize, usize) {
        let own = self.structure.bytes() + self.values.bytes();
        match &self.kernels {
            Kernels::Rows(_) => (self.structure.rows, own),
            Kernels::Shares(_, cut) => (cut.count, own + cut.bytes),
            Kernels::Sweeps(sweeps) => (sweeps.cut.count, own + sweeps.bytes()),
        }
    }

    /// Workspace of a product: numbers of partial sums, of counters and of stored products.
    pub(super) fn workspace_lengths(&self) -> (usize, usize, usize) {
        match &self.kernels {
            Kernels::Rows(_) => (0, 0, 0),
            Kernels::Shares(_, cut) => (cut.pieces, cut.long_count, 0),
            Kernels::Sweeps(sweeps) => (sweeps.cut.pieces, sweeps.cut.long_count, sweeps.entries),
        }
    }

    pub(super) fn expect(&self, dtype: DType) -> Result<()> {
        if dtype == self.dtype {
            return Ok(());
        }
        Err(Error::invalid("a", format!("is {}, the plan is for {}", dtype.name(), self.dtype.name())))
    }

    /// Tiles for a block of `width` vectors.
    pub(super) fn block_tiles(&self, gpu: &Gpu, a: &Csr, width: usize) -> Result<Arc<DeviceCut>> {
        let entries = kernels::block_entries(self.dtype, width);
        let mut made = self.blocks.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = made.iter().find(|m| m.0 == entries) {
            return Ok(Arc::clone(&found.1));
        }
        let cut = Cut::tiles(&Rows::new(a)?, entries, TILE_ROWS)?;
        let cut = Arc::new(DeviceCut::new(gpu, gpu.default_stream(), &cut)?);
        crate::alloc::push(WHAT, &mut made, (entries, Arc::clone(&cut)))?;
        Ok(cut)
    }
}
