//! The part of a run that one device computes.

use super::algorithm::{Share, Times, reconstruct};
use super::arrays::{Input, Output, SharedSink};
use super::cut::Cut;
use super::open::OpenedInput;
use super::ops::{Borrowed, FdkOps, Job, Tally};
use crate::backend::gpu::{DeviceMemory, ScopedTransfers};
use crate::error::Result;
use crate::progress::CancelFlag;

/// The work of one device.
pub(super) struct Part<'a, 's> {
    pub(super) job: Job<'a>,
    pub(super) cut: &'a Cut,
    pub(super) share: Share,
    pub(super) input: &'a OpenedInput<'s>,
    pub(super) output: PartOut<'a, 's>,
    pub(super) flag: &'a CancelFlag,
}

pub(super) enum PartOut<'a, 's> {
    Write(&'a SharedSink<'s>),
    Borrowed(Vec<(usize, &'s mut [u8])>),
    Device(&'a DeviceMemory),
}

impl<'s> Part<'_, 's> {
    /// Runs the part on `ops`; `transfers` copies between the arrays and the device.
    pub(super) fn run<'x, O: FdkOps>(
        self,
        ops: &mut O,
        transfers: Option<&'x dyn ScopedTransfers<'x>>,
        step: &mut dyn FnMut(usize) -> Result<()>,
    ) -> Result<(Times, Tally)>
    where
        's: 'x,
    {
        let input = match self.input {
            OpenedInput::Read(source) => Input::Read(source),
            OpenedInput::Borrowed(scan) => Input::Borrowed(Borrowed { scan, transfers }),
            OpenedInput::Device(scan) => Input::Device(scan),
        };
        let output = match self.output {
            PartOut::Write(sink) => Output::Write(sink),
            PartOut::Borrowed(pieces) => Output::Borrowed(
                pieces.into_iter().map(|(first, p)| -> (usize, &'x mut [u8]) { (first, p) }).collect(),
                transfers,
            ),
            PartOut::Device(volume) => Output::Device(volume),
        };
        reconstruct(ops, self.job, self.cut, self.share, input, output, self.flag, step)
    }
}
