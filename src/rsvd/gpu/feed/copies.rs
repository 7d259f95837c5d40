//! Copies of blocks that overlap with the work on earlier blocks.

use std::collections::VecDeque;
use std::sync::PoisonError;

use super::super::conversion::PassWork;
use super::super::cut::Span;
use super::super::input::{DataLocation, Input};
use super::super::site::Site;
use super::buffers::{BlockMemory, IN_FLIGHT, read_buffers};
use super::feed::Feed;
use super::pass::{Body, PassTraffic, Watch};
use crate::backend::gpu::{DeviceMemory, Staging};
use crate::blocks::pipeline::read_ahead;
use crate::error::Result;
use crate::shape::to_u64;

impl Feed {
    /// A pass over data in host memory: this thread enqueues the copies and the work, which overlap.
    #[allow(clippy::too_many_arguments, reason = "the arguments that the three ways of copying share")]
    pub(super) fn copied(
        &mut self,
        site: &mut Site,
        input: &Input<'_>,
        pass_work: PassWork,
        watch: &Watch<'_>,
        ready: &[(Span, BlockMemory)],
        copies: &[(Span, BlockMemory)],
        copy: &mut dyn FnMut(&mut DeviceMemory, usize, Span) -> Result<()>,
        body: &mut Body<'_>,
    ) -> Result<()> {
        // The next copy to a slot may be enqueued as soon as the work on its block is enqueued.
        let ahead = self.ring.len().max(IN_FLIGHT);
        let mut arrivals = VecDeque::with_capacity(ahead);
        let mut upcoming = copies.iter();
        for (span, spot) in upcoming.by_ref().take(ahead) {
            arrivals.push_back(self.fetch(input, *span, *spot, copy)?);
        }
        for (span, spot) in ready {
            watch.check()?;
            self.consume(site, input, pass_work, *span, *spot, body)?;
        }
        for (span, spot) in copies {
            watch.check()?;
            if let Some(arrival) = arrivals.pop_front() {
                arrival.make_wait(&site.stream)?;
            }
            self.consume(site, input, pass_work, *span, *spot, body)?;
            self.throttle(site)?;
            if let Some((span, spot)) = upcoming.next() {
                arrivals.push_back(self.fetch(input, *span, *spot, copy)?);
            }
        }
        Ok(())
    }

    /// A pass over a source: a separate thread reads the blocks ahead.
    #[allow(clippy::too_many_arguments, reason = "the arguments that the three ways of copying share")]
    pub(super) fn read(
        &mut self,
        site: &mut Site,
        input: &Input<'_>,
        pass_work: PassWork,
        watch: &Watch<'_>,
        ready: &[(Span, BlockMemory)],
        copies: &[(Span, BlockMemory)],
        body: &mut Body<'_>,
        moved: &mut PassTraffic,
    ) -> Result<()> {
        let DataLocation::Source(source) = &input.place else { return Ok(()) };
        let mut buffers = std::mem::take(&mut self.buffers);
        if buffers.is_empty() && !copies.is_empty() {
            let bytes = input.bytes(self.cut.block.max(self.cut.resident_block));
            for _ in 0..read_buffers(&self.cut, self.share.rows) {
                buffers.push(Staging::new(&site.gpu, "blocks that are read", bytes, site.context.host_budget())?);
            }
        }
        for (span, spot) in ready {
            watch.check()?;
            self.consume(site, input, pass_work, *span, *spot, body)?;
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
                watch.check()?;
                let (span, spot) = copies[k];
                let mut copy = |memory: &mut DeviceMemory, offset: usize, span: Span| {
                    buffer.upload(&link, 0, input.bytes(span.rows), memory, offset)
                };
                self.fetch(input, span, spot, &mut copy)?.make_wait(&site.stream)?;
                self.consume(site, input, pass_work, span, spot, body)?;
                self.throttle(site)
            },
        )?;
        self.buffers = buffers;
        moved.read += copies.iter().map(|(s, _)| to_u64(input.bytes(s.rows))).sum::<u64>();
        moved.seconds_read += times.read.as_secs_f64();
        Ok(())
    }
}
