//! Seconds that the stages of a run took on a device.

use std::collections::VecDeque;

use crate::backend::gpu::{Event, GpuStream};
use crate::error::Result;
use crate::fdk::ops::Tally;

/// Stages whose time is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    Upload,
    Filter,
    Backproject,
    Download,
}

/// Pairs of timing events around pieces of work. They are read after the work is long finished.
#[derive(Default)]
pub(super) struct Clock {
    spans: VecDeque<(Stage, Event, Event)>,
    seconds: [f64; 4],
}

/// Spans that are stored before the oldest are read.
const SPANS: usize = 256;

impl Clock {
    /// Enqueues `work` on `stream` between two timing events.
    pub(super) fn span(&mut self, stage: Stage, stream: &GpuStream, work: impl FnOnce() -> Result<()>) -> Result<()> {
        let begin = stream.record_time()?;
        work()?;
        self.spans.push_back((stage, begin, stream.record_time()?));
        if self.spans.len() > SPANS {
            self.read_oldest()?;
        }
        Ok(())
    }

    fn read_oldest(&mut self) -> Result<()> {
        if let Some((stage, begin, end)) = self.spans.pop_front() {
            self.seconds[stage as usize] += end.seconds_since(&begin)?;
        }
        Ok(())
    }

    /// Adds the seconds since the last call.
    pub(super) fn read(&mut self, tally: &mut Tally) -> Result<()> {
        while !self.spans.is_empty() {
            self.read_oldest()?;
        }
        let [upload, filter, backproject, download] = std::mem::take(&mut self.seconds);
        tally.upload += upload;
        tally.filter += filter;
        tally.backproject += backproject;
        tally.download += download;
        Ok(())
    }
}
