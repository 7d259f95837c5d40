//! A device's share of the rows, and the passes over it.

use std::collections::VecDeque;

use super::super::conversion::{BlockConversion, PassWork};
use super::super::cut::{Cut, Span, spans};
use super::super::input::{DataLocation, Input, pack};
use super::super::site::Site;
use super::buffers::{BlockMemory, PIECE_BYTES, PIECES, Slot, State};
use super::pass::{Body, PassTraffic, Watch};
use crate::backend::gpu::{DeviceMemory, Event, Gpu, GpuStream, ScopedTransfers as _, Staging, StagingRing};
use crate::context::Context;
use crate::error::Result;
use crate::shape::to_u64;

/// A device's share of the rows, with the memory and the queue that bring them there.
pub(in crate::rsvd::gpu) struct Feed {
    /// The share: its first row in the data, and its number of rows.
    pub(in crate::rsvd::gpu) share: Span,
    pub(in crate::rsvd::gpu) cut: Cut,
    pub(super) link: GpuStream,
    pub(super) store: Option<DeviceMemory>,
    pub(super) state: State,
    pub(super) ring: Vec<Slot>,
    pub(in crate::rsvd::gpu) conversion: BlockConversion,
    pieces: Option<StagingRing>,
    pub(super) buffers: Vec<Staging>,
    pub(super) in_flight: VecDeque<Event>,
    pub(super) spans: Vec<(bool, Event, Event)>,
}

impl Feed {
    pub(in crate::rsvd::gpu) fn new(gpu: &Gpu, share: Span, cut: Cut, conversion: BlockConversion) -> Result<Self> {
        Ok(Self {
            share,
            cut,
            link: gpu.create_independent_stream()?,
            store: None,
            state: State::Empty,
            ring: Vec::new(),
            conversion,
            pieces: None,
            buffers: Vec::new(),
            in_flight: VecDeque::new(),
            spans: Vec::new(),
        })
    }

    /// Number of blocks of a pass.
    pub(in crate::rsvd::gpu) fn blocks(&self) -> usize {
        self.cut.blocks(self.share.rows)
    }

    /// The blocks of a pass, in the order of the rows.
    pub(in crate::rsvd::gpu) fn all_blocks(&self) -> impl Iterator<Item = Span> + use<> {
        self.residents().chain(self.streamed())
    }

    fn residents(&self) -> impl DoubleEndedIterator<Item = Span> + Clone + use<> {
        spans(0, self.cut.resident, self.cut.resident_block)
    }

    fn streamed(&self) -> impl DoubleEndedIterator<Item = Span> + Clone + use<> {
        spans(self.cut.resident, self.share.rows - self.cut.resident, self.cut.block)
    }

    /// Runs `body` on every block.
    pub(in crate::rsvd::gpu) fn run(
        &mut self,
        site: &mut Site,
        input: &Input<'_>,
        pass_work: PassWork,
        watch: &Watch<'_>,
        body: &mut Body<'_>,
    ) -> Result<PassTraffic> {
        let longest = self.cut.block.max(self.cut.resident_block);
        self.conversion.begin(site, input, pass_work, longest, self.blocks())?;
        let mut moved = PassTraffic::default();
        let outcome = self.pass(site, input, pass_work, watch, body, &mut moved);
        self.in_flight.clear();
        if outcome.is_err() {
            // The pass has no unfinished work when its error is returned.
            let _ = (self.link.synchronize(), site.stream.synchronize());
            self.state = State::Empty;
            self.spans.clear();
        }
        outcome?;
        moved.tallies = self.conversion.tallies(site)?;
        Ok(moved)
    }

    /// Number of copies and pieces of work whose times were not read yet.
    pub(in crate::rsvd::gpu) fn clocks(&self) -> usize {
        self.spans.len()
    }

    /// Seconds of copies and of work since the last call; waits for both.
    pub(in crate::rsvd::gpu) fn seconds(&mut self) -> Result<(f64, f64)> {
        let (mut link, mut work) = (0.0, 0.0);
        for (is_copy, begin, end) in self.spans.drain(..) {
            let seconds = end.seconds_since(&begin)?;
            *if is_copy { &mut link } else { &mut work } += seconds;
        }
        Ok((link, work))
    }

    fn pass(
        &mut self,
        site: &mut Site,
        input: &Input<'_>,
        pass_work: PassWork,
        watch: &Watch<'_>,
        body: &mut Body<'_>,
        moved: &mut PassTraffic,
    ) -> Result<()> {
        if let DataLocation::Device(..) = input.place {
            for span in self.residents() {
                watch.check()?;
                self.consume(site, input, pass_work, span, BlockMemory::Caller, body)?;
            }
            return Ok(());
        }
        self.prepare(site, input)?;
        let is_there = self.state != State::Empty;
        let resident = self.residents().map(|s| (s, BlockMemory::Store));
        let slots = self.ring.len().max(1);
        let mut streamed: Vec<Span> = self.streamed().collect();
        if pass_work.backwards {
            streamed.reverse();
        }
        let streamed = streamed.into_iter().enumerate().map(|(k, s)| (s, BlockMemory::Slot(k % slots)));
        let mut ready: Vec<(Span, BlockMemory)> = resident.clone().filter(|_| is_there).collect();
        if pass_work.backwards {
            ready.reverse();
        }
        let mut copies: Vec<(Span, BlockMemory)> = resident.filter(|_| !is_there).collect();
        if pass_work.backwards {
            copies.reverse();
        }
        copies.extend(streamed);
        for (span, _) in &copies {
            moved.to_device += to_u64(input.bytes(span.rows));
        }
        match &input.place {
            DataLocation::Host(source, stride) if site.gpu.is_pinned(source)? => {
                let (gpu, link) = (site.gpu.clone(), self.link.clone());
                gpu.overlapped(&[&link], |transfers| {
                    let mut copy = |memory: &mut DeviceMemory, offset: usize, span: Span| {
                        transfers.upload_rows(0, source, input.stretches(span, *stride), memory, offset)
                    };
                    self.copied(site, input, pass_work, watch, &ready, &copies, &mut copy, body)
                })
            }
            DataLocation::Host(source, stride) => {
                let context = site.context.clone();
                let mut pieces = self.take_pieces(&context, &site.gpu)?;
                let link = self.link.clone();
                let mut copy = |memory: &mut DeviceMemory, offset: usize, span: Span| {
                    let rows = input.stretches(span, *stride);
                    pieces.upload(&link, input.bytes(span.rows), memory, offset, |from, part| {
                        context.pool().run(|| pack(source, rows, from, part));
                        Ok(())
                    })
                };
                let outcome = self.copied(site, input, pass_work, watch, &ready, &copies, &mut copy, body);
                self.pieces = Some(pieces);
                outcome
            }
            DataLocation::Source(_) => self.read(site, input, pass_work, watch, &ready, &copies, body, moved),
            DataLocation::Device(..) => Ok(()),
        }?;
        self.update_resident(input, pass_work);
        Ok(())
    }

    /// Updates the state of the resident rows after a pass.
    fn update_resident(&mut self, input: &Input<'_>, pass_work: PassWork) {
        if self.cut.resident == 0 {
            return;
        }
        let in_place = !pass_work.moments && input.dtype == self.conversion.dtype;
        self.state = if in_place || self.state == State::Ready { State::Ready } else { State::Raw };
    }

    /// Allocates the memory of resident rows and of copied blocks.
    fn prepare(&mut self, site: &Site, input: &Input<'_>) -> Result<()> {
        if self.store.is_none() && self.cut.resident > 0 {
            let bytes = input.bytes(self.cut.resident);
            self.store = Some(site.gpu.allocate_uninitialized("rows that stay on the device", bytes)?);
        }
        let slots = if self.cut.block == 0 { 0 } else { self.cut.slots.min(self.streamed().count()) };
        while self.ring.len() < slots {
            let bytes = input.bytes(self.cut.block);
            let memory = site.gpu.allocate_uninitialized("blocks of a matrix", bytes)?;
            self.ring.push(Slot { memory, free: None });
        }
        Ok(())
    }

    fn take_pieces(&mut self, context: &Context, gpu: &Gpu) -> Result<StagingRing> {
        match self.pieces.take() {
            Some(pieces) => Ok(pieces),
            None => StagingRing::new(gpu, "page-locked buffers", PIECES, PIECE_BYTES, context.host_budget()),
        }
    }
}
