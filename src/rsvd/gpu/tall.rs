//! Tall matrices, with as many rows as the data and divided among the devices in the same way. They lie on the device, or
//! in page-locked host memory in panels that are copied to the device and back.

use std::marker::PhantomData;
use std::sync::{Mutex, PoisonError};

use super::cut::{Span, spans};
use super::site::{ScratchUse, Site, bytes};
use crate::backend::gpu::{DeviceMemory, Staging, View};
use crate::error::{Error, Result};
use crate::scalar::{DType, Scalar};
use crate::shape::to_u64;

/// A matrix with as many rows as the data, of type T.
pub struct Tall<T: Scalar> {
    pub(super) matrix: TallMatrix,
    element: PhantomData<T>,
}

impl<T: Scalar> Tall<T> {
    /// `matrix`, which is of type T.
    pub(super) fn new(matrix: TallMatrix) -> Self {
        Self { matrix, element: PhantomData }
    }
}

/// The same, of the type of the computation.
pub(super) struct TallMatrix {
    pub(super) pieces: Vec<Piece>,
    pub(super) width: usize,
}

/// A device's rows of a tall matrix.
pub(super) struct Piece {
    dtype: DType,
    /// The device's rows in the whole.
    pub(super) share: Span,
    place: TallStorage,
}

enum TallStorage {
    /// Packed column-major memory, and the rows of a chunk.
    Device(DeviceMemory, usize),
    /// Panels of rows, each column-major and packed.
    Host(Vec<Panel>),
}

struct Panel {
    span: Span,
    memory: Mutex<Staging>,
}

/// How rows of a piece are accessed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    Read,
    Write,
    Update,
}

impl Piece {
    /// A zeroed piece on the device, in chunks of `chunk` rows.
    pub(super) fn on_device(
        site: &Site,
        dtype: DType,
        what: &'static str,
        share: Span,
        width: usize,
        chunk: usize,
    ) -> Result<Self> {
        let memory = site.gpu.allocate_on(&site.stream, what, bytes(dtype, share.rows, width)?)?;
        Ok(Self { dtype, share, place: TallStorage::Device(memory, chunk.max(1)) })
    }

    /// A zeroed piece in host memory, with one panel for each of `blocks`.
    pub(super) fn on_host(
        site: &Site,
        dtype: DType,
        what: &'static str,
        share: Span,
        width: usize,
        blocks: impl Iterator<Item = Span>,
    ) -> Result<Self> {
        let mut panels = Vec::new();
        for span in blocks {
            let memory = Staging::new(&site.gpu, what, bytes(dtype, span.rows, width)?, site.context.host_budget())?;
            panels.push(Panel { span, memory: Mutex::new(memory) });
        }
        Ok(Self { dtype, share, place: TallStorage::Host(panels) })
    }

    /// The packed columns, if the piece is on the device.
    pub(super) fn device(&self) -> Option<&DeviceMemory> {
        match &self.place {
            TallStorage::Device(memory, _) => Some(memory),
            TallStorage::Host(_) => None,
        }
    }

    /// The whole piece, if it is on the device and is one chunk.
    pub(super) fn whole(&self, width: usize) -> Option<View<'_>> {
        match &self.place {
            TallStorage::Device(memory, chunk) if *chunk >= self.share.rows => {
                Some(View::packed(memory.whole(), self.share.rows, width))
            }
            _ => None,
        }
    }

    /// Replaces the piece's device memory by `other`, whose columns are as long, and returns the old memory.
    pub(super) fn exchange(&mut self, other: DeviceMemory) -> DeviceMemory {
        match &mut self.place {
            TallStorage::Device(memory, _) => std::mem::replace(memory, other),
            TallStorage::Host(_) => other,
        }
    }

    /// The chunks or panels, which together cover all rows.
    pub(super) fn chunks(&self) -> Vec<Span> {
        match &self.place {
            TallStorage::Device(_, chunk) => spans(0, self.share.rows, *chunk).collect(),
            TallStorage::Host(panels) => panels.iter().map(|p| p.span).collect(),
        }
    }

    /// Calls `work` with rows of the piece, which has `width` columns before, and `after` columns when the rows are written
    /// back. Copied bytes are added to `moved`.
    pub(super) fn with(
        &self,
        site: &mut Site,
        (buffer, access): (ScratchUse, Access),
        span: Span,
        (width, after): (usize, usize),
        moved: &mut u64,
        work: impl FnOnce(&mut Site, View<'_>) -> Result<()>,
    ) -> Result<()> {
        let mut work = Some(work);
        let mut once = |site: &mut Site, rows: View<'_>| work.take().map_or(Ok(()), |work| work(site, rows));
        self.with_rows(site, (buffer, access), span, (width, after), moved, &mut once)
    }

    /// [`Piece::with`], compiled once for all work.
    fn with_rows(
        &self,
        site: &mut Site,
        (buffer, access): (ScratchUse, Access),
        span: Span,
        (width, after): (usize, usize),
        moved: &mut u64,
        work: &mut dyn FnMut(&mut Site, View<'_>) -> Result<()>,
    ) -> Result<()> {
        let panels = match &self.place {
            TallStorage::Device(memory, _) => {
                let view =
                    View::packed(memory.whole(), self.share.rows, width).rows(self.dtype, span.first, span.rows)?;
                return work(site, view);
            }
            TallStorage::Host(panels) => panels,
        };
        let panel = panels.iter().find(|p| p.span == span);
        let panel = panel.ok_or_else(|| Error::Internal(format!("{span:?} is no panel of a tall matrix")))?;
        let mut staging = panel.memory.lock().unwrap_or_else(PoisonError::into_inner);
        let (before, later) = (bytes(self.dtype, span.rows, width)?, bytes(self.dtype, span.rows, after)?);
        let mut memory = site.take(buffer, before.max(later))?;
        if access != Access::Write {
            staging.upload(&site.stream, 0, before, &mut memory, 0)?;
            *moved += to_u64(before);
        }
        work(site, View::packed(memory.region(0, before)?, span.rows, width))?;
        if access != Access::Read {
            staging.download(&site.stream, &memory, 0, 0, later)?;
            *moved += to_u64(later);
        }
        site.put(buffer, memory);
        Ok(())
    }
}
