//! Matrices as long as the data: cut over the devices as these are, on the device or in page-locked panels that travel to
//! it and back.

use std::marker::PhantomData;
use std::sync::{Mutex, PoisonError};

use super::cut::{Span, spans};
use super::site::{Site, Use, bytes};
use crate::backend::gpu::{DeviceMemory, Staging, View};
use crate::error::{Error, Result};
use crate::scalar::Scalar;
use crate::shape::to_u64;

/// A matrix with as many rows as the data.
pub struct Tall<T: Scalar> {
    pub(super) pieces: Vec<Piece<T>>,
    pub(super) width: usize,
}

/// A device's rows of it.
pub(super) struct Piece<T: Scalar> {
    /// Its rows in the whole.
    pub(super) share: Span,
    place: Place,
    element: PhantomData<T>,
}

enum Place {
    /// Column-major, with as many elements a column as there are rows, of which so many are worked on together.
    Device(DeviceMemory, usize),
    /// Panels of rows, each column-major and packed.
    Host(Vec<Panel>),
}

struct Panel {
    span: Span,
    memory: Mutex<Staging>,
}

/// What is done with rows of a piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    Read,
    Write,
    Update,
}

impl<T: Scalar> Piece<T> {
    /// Zeroed, on the device; no more than `chunk` rows are worked on together.
    pub(super) fn on_device(site: &Site, what: &'static str, share: Span, width: usize, chunk: usize) -> Result<Self> {
        let memory = site.gpu.allocate_on(&site.stream, what, bytes::<T>(share.rows, width)?)?;
        Ok(Self { share, place: Place::Device(memory, chunk.max(1)), element: PhantomData })
    }

    /// Zeroed, in panels of the rows of `blocks`.
    pub(super) fn on_host(
        site: &Site,
        what: &'static str,
        share: Span,
        width: usize,
        blocks: impl Iterator<Item = Span>,
    ) -> Result<Self> {
        let mut panels = Vec::new();
        for span in blocks {
            let memory = Staging::new(&site.gpu, what, bytes::<T>(span.rows, width)?, site.context.host_budget())?;
            panels.push(Panel { span, memory: Mutex::new(memory) });
        }
        Ok(Self { share, place: Place::Host(panels), element: PhantomData })
    }

    /// Its columns, packed, if they are on the device.
    pub(super) fn device(&self) -> Option<&DeviceMemory> {
        match &self.place {
            Place::Device(memory, _) => Some(memory),
            Place::Host(_) => None,
        }
    }

    /// Everything, if it is on the device and worked on at once.
    pub(super) fn whole(&self, width: usize) -> Option<View<'_>> {
        match &self.place {
            Place::Device(memory, chunk) if *chunk >= self.share.rows => {
                Some(View::packed(memory.whole(), self.share.rows, width))
            }
            _ => None,
        }
    }

    /// Takes other memory of the device, which holds columns as long as these, and gives its own.
    pub(super) fn exchange(&mut self, other: DeviceMemory) -> DeviceMemory {
        match &mut self.place {
            Place::Device(memory, _) => std::mem::replace(memory, other),
            Place::Host(_) => other,
        }
    }

    /// Parts of the rows that cover them, as they can be worked on.
    pub(super) fn chunks(&self) -> Vec<Span> {
        match &self.place {
            Place::Device(_, chunk) => spans(0, self.share.rows, *chunk).collect(),
            Place::Host(panels) => panels.iter().map(|p| p.span).collect(),
        }
    }

    /// Runs `work` on rows of the piece, which has `width` columns before and `after` columns when they are written.
    /// Bytes that travelled are added to `moved`.
    pub(super) fn with(
        &self,
        site: &mut Site,
        (buffer, access): (Use, Access),
        span: Span,
        (width, after): (usize, usize),
        moved: &mut u64,
        work: impl FnOnce(&mut Site, View<'_>) -> Result<()>,
    ) -> Result<()> {
        let panels = match &self.place {
            Place::Device(memory, _) => {
                let view = View::packed(memory.whole(), self.share.rows, width).rows::<T>(span.first, span.rows)?;
                return work(site, view);
            }
            Place::Host(panels) => panels,
        };
        let panel = panels.iter().find(|p| p.span == span);
        let panel = panel.ok_or_else(|| Error::Internal(format!("{span:?} is no panel of a tall matrix")))?;
        let mut staging = panel.memory.lock().unwrap_or_else(PoisonError::into_inner);
        let (before, later) = (bytes::<T>(span.rows, width)?, bytes::<T>(span.rows, after)?);
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
