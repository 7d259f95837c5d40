//! One block: its copy, and the work on it.

use super::super::block::{Block, Entries};
use super::super::conversion::PassWork;
use super::super::cut::Span;
use super::super::input::{DataLocation, Input};
use super::super::site::Site;
use super::buffers::{BlockMemory, IN_FLIGHT, Slot, State};
use super::feed::Feed;
use super::pass::Body;
use crate::backend::gpu::kernels::rsvd::Lines;
use crate::backend::gpu::{DeviceMemory, Event};
use crate::error::{Error, Result};

impl Feed {
    /// Waits until at most [`IN_FLIGHT`] blocks are unfinished, so that cancellation takes effect soon.
    pub(super) fn throttle(&mut self, site: &Site) -> Result<()> {
        self.in_flight.push_back(site.stream.record()?);
        while self.in_flight.len() > IN_FLIGHT {
            if let Some(event) = self.in_flight.pop_front() {
                event.synchronize()?;
            }
        }
        Ok(())
    }

    /// Enqueues the copy of a block. The returned event completes when the block is on the device.
    pub(super) fn fetch(
        &mut self,
        input: &Input<'_>,
        span: Span,
        spot: BlockMemory,
        copy: &mut dyn FnMut(&mut DeviceMemory, usize, Span) -> Result<()>,
    ) -> Result<Event> {
        let whole = Span { first: self.share.first + span.first, ..span };
        let begin;
        match spot {
            BlockMemory::Store => {
                begin = self.link.record_time()?;
                copy(self.store.as_mut().ok_or_else(missing)?, input.bytes(span.first), whole)?;
            }
            BlockMemory::Slot(k) => {
                let slot = self.ring.get_mut(k).ok_or_else(missing)?;
                if let Some(free) = slot.free.take() {
                    free.make_wait(&self.link)?;
                }
                begin = self.link.record_time()?;
                copy(&mut slot.memory, 0, whole)?;
            }
            BlockMemory::Caller => return Err(missing()),
        }
        self.spans.push((true, begin, self.link.record_time()?));
        self.link.record()
    }

    /// Enqueues the work on a block that is on the device.
    pub(super) fn consume(
        &mut self,
        site: &mut Site,
        input: &Input<'_>,
        pass_work: PassWork,
        span: Span,
        spot: BlockMemory,
        body: &mut Body<'_>,
    ) -> Result<()> {
        let (begin, dtype) = (site.stream.record_time()?, self.conversion.dtype);
        let raw = raw_lines(input, (self.share.first, span), spot, &self.store, &self.ring)?;
        let lines = if spot == BlockMemory::Store && self.state == State::Ready {
            raw
        } else {
            self.conversion.apply(site, input, pass_work, span, raw, spot != BlockMemory::Caller)?
        };
        if !pass_work.moments {
            body(site, &Block { dtype, span, entries: Entries::Dense { lines, row_major: input.row_major } })?;
        }
        self.spans.push((false, begin, site.stream.record_time()?));
        if let BlockMemory::Slot(k) = spot {
            self.ring[k].free = Some(site.stream.record()?);
        }
        Ok(())
    }
}

/// The memory of a block on the device, before its conversion.
fn raw_lines<'f>(
    input: &'f Input<'_>,
    (first, span): (usize, Span),
    spot: BlockMemory,
    store: &'f Option<DeviceMemory>,
    ring: &'f [Slot],
) -> Result<Lines<'f>> {
    let (inner, outer) = input.lines(span.rows);
    if let (BlockMemory::Caller, DataLocation::Device(memory, stride)) = (spot, &input.place) {
        let rows = input.stretches(Span { first: first + span.first, ..span }, *stride);
        let bytes = rows.count.saturating_sub(1) * rows.pitch + rows.width;
        return Ok(Lines { memory: memory.region(rows.offset, bytes)?, inner, outer, stride: *stride });
    }
    let (memory, offset) = match spot {
        BlockMemory::Store => (store.as_ref(), input.bytes(span.first)),
        BlockMemory::Slot(k) => (ring.get(k).map(|s| &s.memory), 0),
        BlockMemory::Caller => (None, 0),
    };
    let memory = memory.ok_or_else(missing)?;
    Ok(Lines { memory: memory.region(offset, input.bytes(span.rows))?, inner, outer, stride: inner })
}

fn missing() -> Error {
    Error::Internal("a block without a place on the device".into())
}
