//! The blocks of a device's rows, one after the other, ready for products: those that stay there first, so that the first
//! copies run under them; then those that are copied anew, through a ring of buffers on a queue of their own.

use std::collections::VecDeque;
use std::sync::PoisonError;

use super::block::{Block, Entries};
use super::cut::{Cut, Span, spans};
use super::input::{Input, Place, pack};
use super::recipe::{Recipe, Turn};
use super::site::Site;
use crate::backend::gpu::kernels::rsvd::{Lines, RECORD};
use crate::backend::gpu::{DeviceMemory, Event, Gpu, GpuStream, Lender, Staging, StagingRing};
use crate::blocks::pipeline::read_ahead;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::progress::CancelFlag;
use crate::scalar::Scalar;
use crate::shape::to_u64;

/// Blocks whose products may be waiting.
const IN_FLIGHT: usize = 2;
/// Bytes of a page-locked buffer for pageable memory, and how many there are.
const PIECE_BYTES: usize = 16 << 20;
const PIECES: usize = 4;
/// Buffers for blocks that are read.
const READ_BUFFERS: usize = 3;

/// Where a block is on the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Spot {
    /// In the caller's memory.
    Caller,
    /// In the memory of the rows that stay.
    Store,
    /// In a buffer of the ring.
    Slot(usize),
}

/// What the rows that stay are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Not there.
    Empty,
    /// As they came.
    Raw,
    /// As they are computed with.
    Ready,
}

struct Slot {
    memory: DeviceMemory,
    /// Passed when the block in it is no longer needed.
    free: Option<Event>,
}

/// What a pass moved and found.
#[derive(Debug, Default)]
pub(super) struct Moved {
    pub(super) to_device: u64,
    pub(super) read: u64,
    pub(super) seconds_read: f64,
    /// Tallies of the blocks, where they were asked for.
    pub(super) tallies: Vec<(Span, [f64; RECORD])>,
}

/// Cancellation, and the caller's function where it may be called: on the thread of the call.
pub(super) struct Watch<'w> {
    pub(super) flag: CancelFlag,
    pub(super) tick: Option<&'w dyn Fn() -> Result<()>>,
}

impl Watch<'_> {
    fn check(&self) -> Result<()> {
        self.flag.check()?;
        self.tick.map_or(Ok(()), |tick| tick())
    }
}

/// What is done with a block.
pub(super) type Body<'f, T> = dyn FnMut(&mut Site, &Block<'_, T>) -> Result<()> + 'f;

/// A device's share of the rows, on its way there.
pub(super) struct Feed {
    /// First of its rows in the data, and how many there are.
    pub(super) share: Span,
    pub(super) cut: Cut,
    link: GpuStream,
    store: Option<DeviceMemory>,
    state: State,
    ring: Vec<Slot>,
    pub(super) recipe: Recipe,
    pieces: Option<StagingRing>,
    buffers: Vec<Staging>,
    in_flight: VecDeque<Event>,
    spans: Vec<(bool, Event, Event)>,
}

impl Feed {
    pub(super) fn new(gpu: &Gpu, share: Span, cut: Cut, recipe: Recipe) -> Result<Self> {
        Ok(Self {
            share,
            cut,
            link: gpu.create_independent_stream()?,
            store: None,
            state: State::Empty,
            ring: Vec::new(),
            recipe,
            pieces: None,
            buffers: Vec::new(),
            in_flight: VecDeque::new(),
            spans: Vec::new(),
        })
    }

    /// Blocks that one pass sees.
    pub(super) fn blocks(&self) -> usize {
        self.residents().count() + self.streamed().count()
    }

    /// The blocks of a pass, in the order of the rows.
    pub(super) fn all_blocks(&self) -> impl Iterator<Item = Span> + use<> {
        self.residents().chain(self.streamed())
    }

    fn residents(&self) -> impl DoubleEndedIterator<Item = Span> + Clone + use<> {
        spans(0, self.cut.resident, self.cut.resident_block)
    }

    fn streamed(&self) -> impl DoubleEndedIterator<Item = Span> + Clone + use<> {
        spans(self.cut.resident, self.share.rows - self.cut.resident, self.cut.block)
    }

    /// Runs `body` on every block.
    pub(super) fn run<T: Scalar>(
        &mut self,
        site: &mut Site,
        input: &Input<'_>,
        turn: Turn,
        watch: &Watch<'_>,
        body: &mut Body<'_, T>,
    ) -> Result<Moved> {
        let longest = self.cut.block.max(self.cut.resident_block);
        self.recipe.begin(site, input, turn, longest, self.blocks())?;
        let mut moved = Moved::default();
        let outcome = self.pass(site, input, turn, watch, body, &mut moved);
        self.in_flight.clear();
        if outcome.is_err() {
            // Nothing of the pass is in use when its error is told.
            let _ = (self.link.synchronize(), site.stream.synchronize());
            self.state = State::Empty;
            self.spans.clear();
        }
        outcome?;
        moved.tallies = self.recipe.tallies(site)?;
        Ok(moved)
    }

    /// Seconds that copies and work took since the last time; waits for them.
    pub(super) fn seconds(&mut self) -> Result<(f64, f64)> {
        let (mut link, mut work) = (0.0, 0.0);
        for (is_copy, begin, end) in self.spans.drain(..) {
            let seconds = end.seconds_since(&begin)?;
            *if is_copy { &mut link } else { &mut work } += seconds;
        }
        Ok((link, work))
    }

    fn pass<T: Scalar>(
        &mut self,
        site: &mut Site,
        input: &Input<'_>,
        turn: Turn,
        watch: &Watch<'_>,
        body: &mut Body<'_, T>,
        moved: &mut Moved,
    ) -> Result<()> {
        if let Place::Device(..) = input.place {
            for span in self.residents() {
                watch.check()?;
                self.consume(site, input, turn, span, Spot::Caller, body)?;
            }
            return Ok(());
        }
        self.prepare(site, input)?;
        let is_there = self.state != State::Empty;
        let resident = self.residents().map(|s| (s, Spot::Store));
        let slots = self.ring.len().max(1);
        let mut streamed: Vec<Span> = self.streamed().collect();
        if turn.backwards {
            streamed.reverse();
        }
        let streamed = streamed.into_iter().enumerate().map(|(k, s)| (s, Spot::Slot(k % slots)));
        let mut ready: Vec<(Span, Spot)> = resident.clone().filter(|_| is_there).collect();
        if turn.backwards {
            ready.reverse();
        }
        let copies: Vec<(Span, Spot)> = resident.filter(|_| !is_there).chain(streamed).collect();
        for (span, _) in &copies {
            moved.to_device += to_u64(input.bytes(span.rows));
        }
        match &input.place {
            Place::Host(source, stride) if site.gpu.is_pinned(source)? => {
                let (gpu, link) = (site.gpu.clone(), self.link.clone());
                gpu.overlapped(&[&link], |lent| {
                    let mut copy = |memory: &mut DeviceMemory, offset: usize, span: Span| {
                        lent.upload_rows(0, source, input.stretches(span, *stride), memory, offset)
                    };
                    self.copied(site, input, turn, watch, &ready, &copies, &mut copy, body)
                })
            }
            Place::Host(source, stride) => {
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
                let outcome = self.copied(site, input, turn, watch, &ready, &copies, &mut copy, body);
                self.pieces = Some(pieces);
                outcome
            }
            Place::Source(_) => self.read(site, input, turn, watch, &ready, &copies, body, moved),
            Place::Device(..) => Ok(()),
        }?;
        self.settle::<T>(input, turn);
        Ok(())
    }

    /// Notes what the rows that stay are now.
    fn settle<T: Scalar>(&mut self, input: &Input<'_>, turn: Turn) {
        if self.cut.resident == 0 {
            return;
        }
        let in_place = !turn.moments && input.dtype == T::DTYPE;
        self.state = if in_place || self.state == State::Ready { State::Ready } else { State::Raw };
    }

    /// Takes the memory that blocks come to.
    fn prepare(&mut self, site: &Site, input: &Input<'_>) -> Result<()> {
        if self.store.is_none() && self.cut.resident > 0 {
            let bytes = input.bytes(self.cut.resident);
            self.store = Some(site.gpu.allocate_uninitialised("rows that stay on the device", bytes)?);
        }
        let slots = if self.cut.block == 0 { 0 } else { self.cut.slots.min(self.streamed().count()) };
        while self.ring.len() < slots {
            let bytes = input.bytes(self.cut.block);
            let memory = site.gpu.allocate_uninitialised("blocks of a matrix", bytes)?;
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

    /// Copies and work side by side, both enqueued by this thread.
    #[allow(clippy::too_many_arguments, reason = "what the three ways of copying share")]
    fn copied<T: Scalar>(
        &mut self,
        site: &mut Site,
        input: &Input<'_>,
        turn: Turn,
        watch: &Watch<'_>,
        ready: &[(Span, Spot)],
        copies: &[(Span, Spot)],
        copy: &mut dyn FnMut(&mut DeviceMemory, usize, Span) -> Result<()>,
        body: &mut Body<'_, T>,
    ) -> Result<()> {
        // A slot may be copied to as soon as the work on what it holds is enqueued.
        let ahead = self.ring.len().max(IN_FLIGHT);
        let mut arrivals = VecDeque::with_capacity(ahead);
        let mut upcoming = copies.iter();
        for (span, spot) in upcoming.by_ref().take(ahead) {
            arrivals.push_back(self.fetch(input, *span, *spot, copy)?);
        }
        for (span, spot) in ready {
            watch.check()?;
            self.consume(site, input, turn, *span, *spot, body)?;
        }
        for (span, spot) in copies {
            watch.check()?;
            if let Some(arrival) = arrivals.pop_front() {
                arrival.make_wait(&site.stream)?;
            }
            self.consume(site, input, turn, *span, *spot, body)?;
            self.throttle(site)?;
            if let Some((span, spot)) = upcoming.next() {
                arrivals.push_back(self.fetch(input, *span, *spot, copy)?);
            }
        }
        Ok(())
    }

    /// Blocks that a thread of its own reads.
    #[allow(clippy::too_many_arguments, reason = "what the three ways of copying share")]
    fn read<T: Scalar>(
        &mut self,
        site: &mut Site,
        input: &Input<'_>,
        turn: Turn,
        watch: &Watch<'_>,
        ready: &[(Span, Spot)],
        copies: &[(Span, Spot)],
        body: &mut Body<'_, T>,
        moved: &mut Moved,
    ) -> Result<()> {
        let Place::Source(source) = &input.place else { return Ok(()) };
        let mut buffers = std::mem::take(&mut self.buffers);
        if buffers.is_empty() && !copies.is_empty() {
            let bytes = input.bytes(self.cut.block.max(self.cut.resident_block));
            for _ in 0..READ_BUFFERS.min(copies.len()) {
                buffers.push(Staging::new(&site.gpu, "blocks that are read", bytes, site.context.host_budget())?);
            }
        }
        for (span, spot) in ready {
            watch.check()?;
            self.consume(site, input, turn, *span, *spot, body)?;
        }
        let (first, link, flag) = (self.share.first, self.link.clone(), watch.flag.clone());
        let times = read_ahead(
            copies.len(),
            buffers.iter_mut().collect(),
            |k, buffer: &mut &mut Staging| {
                flag.check()?;
                let span = Span { first: first + copies[k].0.first, ..copies[k].0 };
                let out = &mut buffer.contents()?[..input.bytes(span.rows)];
                let mut source = source.lock().unwrap_or_else(PoisonError::into_inner);
                Input::read(&mut **source, input.row_major, span, out)
            },
            |k, buffer| {
                let (span, spot) = copies[k];
                let mut copy = |memory: &mut DeviceMemory, offset: usize, span: Span| {
                    buffer.upload(&link, 0, input.bytes(span.rows), memory, offset)
                };
                self.fetch(input, span, spot, &mut copy)?.make_wait(&site.stream)?;
                self.consume(site, input, turn, span, spot, body)?;
                self.throttle(site)
            },
        )?;
        self.buffers = buffers;
        moved.read += copies.iter().map(|(s, _)| to_u64(input.bytes(s.rows))).sum::<u64>();
        moved.seconds_read += times.read.as_secs_f64();
        Ok(())
    }

    /// Waits until few enough blocks are at work, so that cancelling is soon heard.
    fn throttle(&mut self, site: &Site) -> Result<()> {
        self.in_flight.push_back(site.stream.record()?);
        while self.in_flight.len() > IN_FLIGHT {
            if let Some(event) = self.in_flight.pop_front() {
                event.synchronize()?;
            }
        }
        Ok(())
    }

    /// Enqueues the copy of a block; the event is passed when it has arrived.
    fn fetch(
        &mut self,
        input: &Input<'_>,
        span: Span,
        spot: Spot,
        copy: &mut dyn FnMut(&mut DeviceMemory, usize, Span) -> Result<()>,
    ) -> Result<Event> {
        let whole = Span { first: self.share.first + span.first, ..span };
        let begin;
        match spot {
            Spot::Store => {
                begin = self.link.record_time()?;
                copy(self.store.as_mut().ok_or_else(missing)?, input.bytes(span.first), whole)?;
            }
            Spot::Slot(k) => {
                let slot = self.ring.get_mut(k).ok_or_else(missing)?;
                if let Some(free) = slot.free.take() {
                    free.make_wait(&self.link)?;
                }
                begin = self.link.record_time()?;
                copy(&mut slot.memory, 0, whole)?;
            }
            Spot::Caller => return Err(missing()),
        }
        self.spans.push((true, begin, self.link.record_time()?));
        self.link.record()
    }

    /// Enqueues the work on a block that is on the device.
    fn consume<T: Scalar>(
        &mut self,
        site: &mut Site,
        input: &Input<'_>,
        turn: Turn,
        span: Span,
        spot: Spot,
        body: &mut Body<'_, T>,
    ) -> Result<()> {
        let begin = site.stream.record_time()?;
        let raw = raw_lines(input, (self.share.first, span), spot, &self.store, &self.ring)?;
        let lines = if spot == Spot::Store && self.state == State::Ready {
            raw
        } else {
            self.recipe.apply::<T>(site, input, turn, span, raw, spot != Spot::Caller)?
        };
        if !turn.moments {
            body(site, &Block { span, entries: Entries::Dense { lines, row_major: input.row_major } })?;
        }
        self.spans.push((false, begin, site.stream.record_time()?));
        if let Spot::Slot(k) = spot {
            self.ring[k].free = Some(site.stream.record()?);
        }
        Ok(())
    }
}

/// Where a block lies on the device, as it came.
fn raw_lines<'f>(
    input: &'f Input<'_>,
    (first, span): (usize, Span),
    spot: Spot,
    store: &'f Option<DeviceMemory>,
    ring: &'f [Slot],
) -> Result<Lines<'f>> {
    let (inner, outer) = input.lines(span.rows);
    if let (Spot::Caller, Place::Device(memory, stride)) = (spot, &input.place) {
        let rows = input.stretches(Span { first: first + span.first, ..span }, *stride);
        let bytes = rows.count.saturating_sub(1) * rows.pitch + rows.width;
        return Ok(Lines { memory: memory.region(rows.offset, bytes)?, inner, outer, stride: *stride });
    }
    let (memory, offset) = match spot {
        Spot::Store => (store.as_ref(), input.bytes(span.first)),
        Spot::Slot(k) => (ring.get(k).map(|s| &s.memory), 0),
        Spot::Caller => (None, 0),
    };
    let memory = memory.ok_or_else(missing)?;
    Ok(Lines { memory: memory.region(offset, input.bytes(span.rows))?, inner, outer, stride: inner })
}

fn missing() -> Error {
    Error::Internal("a block without a place on the device".into())
}
