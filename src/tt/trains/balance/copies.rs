//! Balanced copies of trains and operators, for contractions, products and factorizations.

use std::sync::Arc;

use super::device::{Examination, ExaminationStream};
use super::powers::{Bounds, Examined, WHAT, balanced_within, examined, examined_operator};
#[cfg(any(test, feature = "testing"))]
use super::ring_underflow;
use super::risk::Risk;
use super::{device, powers, range};
use crate::alloc;
use crate::backend::Backend;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::stream::Stream;
use crate::tensor::train::{TensorTrain, TrainMatrix};
use crate::trains::largest;

/// Balanced copies of two trains, which may be the same train.
pub struct Balanced {
    x: Option<TensorTrain>,
    y: Option<TensorTrain>,
    same: bool,
    reserved: Option<ExaminationStream>,
    examination: Option<Examination>,
    turns: Option<usize>,
    ring_underflows: bool,
    is_wide: bool,
    is_wide_here: bool,
    /// Exponents of the largest numbers of the cores on the device, one train after another.
    peaks: Option<Vec<i64>>,
}

impl Balanced {
    /// Copies the host trains that need balancing. Trains on a device are examined in the order of `stream`;
    /// [`Balanced::again`] reads the result. `wants_peaks` makes a later call of [`Balanced::peaks`] cheaper for them.
    /// `turns` is the number of passes of the contraction through the cores; with `None` rings are not examined for
    /// [`Risk::RingUnderflow`].
    ///
    /// # Errors
    /// Out of memory.
    pub fn new(
        context: &Arc<Context>,
        stream: Option<&Stream>,
        x: &TensorTrain,
        y: &TensorTrain,
        wants_peaks: bool,
        turns: Option<usize>,
    ) -> Result<Self> {
        let mut balanced = Self::begin(context, stream, x, y, wants_peaks, turns)?;
        balanced.examine_here(context, x, y)?;
        Ok(balanced)
    }

    /// [`Balanced::new`] before any examination: [`Balanced::enqueue_device_examination`] and [`Balanced::examine_here`] examine.
    pub fn unexamined(x: &TensorTrain, y: &TensorTrain, turns: Option<usize>) -> Self {
        let (ring_underflows, is_wide, is_wide_here) = (false, false, false);
        let (same, reserved, examination) = (x.is_same(y), None, None);
        Self {
            x: None,
            y: None,
            same,
            reserved,
            examination,
            turns,
            ring_underflows,
            is_wide,
            is_wide_here,
            peaks: None,
        }
    }

    /// Orders a later examination behind the work that `stream` has now. Work enqueued afterwards runs beside it.
    ///
    /// # Errors
    /// [`Error::NotSupported`] if `stream` is captured; errors of the driver.
    pub fn reserve_examination_stream(
        &mut self,
        context: &Arc<Context>,
        stream: Option<&Stream>,
        (x, y): (&TensorTrain, &TensorTrain),
    ) -> Result<()> {
        self.reserved = ExaminationStream::new(context, stream, &[x, y])?;
        Ok(())
    }

    /// Enqueues the examination of the trains among `x` and `y` that are on the device, on the stream that was reserved for it
    /// or behind the work of `stream`.
    ///
    /// # Errors
    /// Out of memory.
    pub fn enqueue_device_examination(
        &mut self,
        context: &Arc<Context>,
        stream: Option<&Stream>,
        (x, y): (&TensorTrain, &TensorTrain),
        wants_peaks: bool,
    ) -> Result<()> {
        let list = [x, y];
        let trains = if self.same { &list[..1] } else { &list };
        let reserved = match self.reserved.take() {
            None => ExaminationStream::new(context, stream, trains)?,
            reserved => reserved,
        };
        self.examination =
            reserved.map(|reserved| Examination::on(reserved, trains, wants_peaks, self.turns)).transpose()?;
        Ok(())
    }

    /// [`Balanced::new`] without the examination of host trains, which [`Balanced::examine_here`] does.
    ///
    /// # Errors
    /// Out of memory.
    pub fn begin(
        context: &Arc<Context>,
        stream: Option<&Stream>,
        x: &TensorTrain,
        y: &TensorTrain,
        wants_peaks: bool,
        turns: Option<usize>,
    ) -> Result<Self> {
        let mut balanced = Self::unexamined(x, y, turns);
        balanced.enqueue_device_examination(context, stream, (x, y), wants_peaks)?;
        Ok(balanced)
    }

    /// Examines the host trains among `x` and `y`, and copies those that need balancing. Call it once. Sets the calling
    /// thread's flag of lost digits ([`crate::backend::cpu::flags`]) if, and only if, a copy has lost digits of entries
    /// that contribute.
    ///
    /// # Errors
    /// Out of memory.
    pub fn examine_here(&mut self, context: &Arc<Context>, x: &TensorTrain, y: &TensorTrain) -> Result<()> {
        let y = if self.same { Examined::default() } else { examined(context, y, self.turns)? };
        let x = examined(context, x, self.turns)?;
        self.ring_underflows = x.ring_underflows || y.ring_underflows;
        self.is_wide_here = x.is_wide || y.is_wide;
        (self.x, self.y) = (x.copy, y.copy);
        Ok(())
    }

    /// Whether a train is replaced by a balanced copy.
    pub fn has_copies(&self) -> bool {
        self.x.is_some() || self.y.is_some()
    }

    /// How a contraction of [`Balanced::of`] may lose digits. For trains on a device this is known after
    /// [`Balanced::again`].
    pub fn risk(&self) -> Risk {
        match (self.ring_underflows, self.is_wide) {
            (true, _) => Risk::RingUnderflow,
            (false, true) => Risk::Range,
            (false, false) => Risk::Nothing,
        }
    }

    /// Whether a host train is wide ([`range::is_wide`]), so that a device may lose digits of the result.
    pub fn is_wide_here(&self) -> bool {
        self.is_wide_here
    }

    /// The trains to contract in place of `x` and `y`.
    pub fn of<'a>(&'a self, x: &'a TensorTrain, y: &'a TensorTrain) -> (&'a TensorTrain, &'a TensorTrain) {
        let first = self.x.as_ref().unwrap_or(x);
        let second = match &self.y {
            Some(y) => y,
            None if self.same && self.x.is_some() => first,
            None => y,
        };
        (first, second)
    }

    /// Exponents of the largest number of each core, for both trains of [`Balanced::of`]. For trains on a device it
    /// waits for the running examination or for a new one.
    ///
    /// # Errors
    /// Out of memory.
    pub fn peaks(
        &self,
        context: &Arc<Context>,
        stream: Option<&Stream>,
        x: &TensorTrain,
        y: &TensorTrain,
    ) -> Result<[Vec<i64>; 2]> {
        let (a, b) = self.of(x, y);
        let mut found = self.peaks.as_deref().unwrap_or_default();
        let mut of = |given: &TensorTrain, taken: &TensorTrain| {
            if !given.is_device() || found.is_empty() {
                return largest::exponents(context, stream, taken);
            }
            let cores = if given.is_uniform() { 1 } else { given.shape().len() };
            let (own, rest) = found.split_at(cores.min(found.len()));
            found = rest;
            if std::ptr::eq(given, taken) {
                alloc::copied(WHAT, own)
            } else {
                largest::exponents(context, stream, taken)
            }
        };
        let first = of(x, a)?;
        let second = if self.same { alloc::copied(WHAT, &first)? } else { of(y, b)? };
        Ok([first, second])
    }

    /// Call it after a contraction of [`Balanced::of`]. Returns whether the contraction must be repeated, because bonds
    /// on the device are unbalanced or [`Balanced::risk`] has changed. Waits for the examination on the device.
    ///
    /// # Errors
    /// Out of memory.
    pub fn again(
        &mut self,
        context: &Arc<Context>,
        stream: Option<&Stream>,
        x: &TensorTrain,
        y: &TensorTrain,
    ) -> Result<bool> {
        let Some(mut examination) = self.examination.take() else { return Ok(false) };
        let findings = examination.findings()?;
        self.peaks = Some(examination.peaks()?);
        drop(examination);
        if !findings.is_any() {
            self.is_wide = findings.is_wide;
            return Ok(findings.is_wide);
        }
        let mut changed = false;
        for (train, copy, is_y) in [(x, &mut self.x, false), (y, &mut self.y, true)] {
            if train.is_device() && !(is_y && self.same) {
                let found = device::examined(context, stream, train, self.turns, findings)?;
                changed |= found.copy.is_some() || found.ring_underflows || found.is_wide;
                self.ring_underflows |= found.ring_underflows;
                self.is_wide |= found.is_wide;
                *copy = found.copy;
            }
        }
        Ok(changed)
    }

    /// Calls `run` with the trains of [`Balanced::of`] and [`Balanced::risk`]. Calls it again if [`Balanced::again`]
    /// says so. `first` replaces the result of the first call if it is given.
    ///
    /// # Errors
    /// As `run`; out of memory.
    pub fn run<R>(
        mut self,
        context: &Arc<Context>,
        stream: Option<&Stream>,
        (x, y): (&TensorTrain, &TensorTrain),
        mut first: Option<Result<R>>,
        mut run: impl FnMut(&TensorTrain, &TensorTrain, Risk) -> Result<R>,
    ) -> Result<R> {
        loop {
            let (a, b) = self.of(x, y);
            let found = first.take().unwrap_or_else(|| run(a, b, self.risk()));
            // A result of 0 (or a numerical error) may change once the bonds are balanced.
            let is_final = self.risk() == Risk::RingUnderflow || !matches!(found, Ok(_) | Err(Error::Numerical(_)));
            if is_final || !self.again(context, stream, x, y)? {
                return found;
            }
        }
    }
}

/// A copy on the host, with balanced bonds, of a train that will be expanded to a dense tensor; `None` if its bonds are
/// balanced. Waits for the examination of a train on the device.
///
/// # Errors
/// Out of memory.
pub fn for_dense(context: &Arc<Context>, stream: Option<&Stream>, train: &TensorTrain) -> Result<Option<TensorTrain>> {
    // Each half of the train has one exponent. The limit bounds the factor by which a half may exceed the tensor.
    let single = train.dtype().is_single();
    here_within(context, stream, train, Bounds { limit: if single { 8 } else { 40 }, drop: true })
}

/// A copy on the host, with balanced bonds, of a train whose cores will be factorized one after another; `None` if its
/// bonds are balanced. Waits for the examination of a train on the device.
///
/// # Errors
/// Out of memory.
pub fn for_factors(
    context: &Arc<Context>,
    stream: Option<&Stream>,
    train: &TensorTrain,
) -> Result<Option<TensorTrain>> {
    here_within(context, stream, train, Bounds { limit: powers::limit(train.dtype()), drop: true })
}

fn here_within(
    context: &Arc<Context>,
    stream: Option<&Stream>,
    train: &TensorTrain,
    bounds: Bounds,
) -> Result<Option<TensorTrain>> {
    if !train.is_device() {
        return balanced_within(context, train, bounds);
    }
    let Some(mut examination) = Examination::new(context, stream, &[train], None)? else { return Ok(None) };
    if !examination.findings()?.is_any() {
        return Ok(None);
    }
    balanced_within(context, &device::fetched(context, stream, train)?, bounds)
}

/// Copies on the host of those of x and y that are on a device. If both are the same train, only x is copied. Waits.
///
/// # Errors
/// Out of memory.
pub fn copies_here(
    context: &Arc<Context>,
    stream: Option<&Stream>,
    x: &TensorTrain,
    y: &TensorTrain,
) -> Result<[Option<TensorTrain>; 2]> {
    let copy = |train: &TensorTrain| train.is_device().then(|| device::fetched(context, stream, train)).transpose();
    Ok([copy(x)?, if x.is_same(y) { None } else { copy(y)? }])
}

/// Whether the exponents of the nonzero entries of some core differ so much that products of them may underflow on a
/// device, whatever the magnitude of the whole core. Waits for trains on a device.
///
/// # Errors
/// Out of memory.
pub fn are_far_apart(context: &Arc<Context>, stream: Option<&Stream>, [x, y]: [&TensorTrain; 2]) -> Result<bool> {
    let [a, b] = copies_here(context, stream, x, y)?;
    let first = range::is_far_apart(context, a.as_ref().unwrap_or(x))?;
    Ok(first || !x.is_same(y) && range::is_far_apart(context, b.as_ref().unwrap_or(y))?)
}

/// A balanced copy of a host train that is an operand of products. Returns `(None, false)` if its bonds are balanced,
/// and `(None, true)` if the copy would lose digits of entries that contribute.
///
/// # Errors
/// Out of memory.
pub fn for_product(context: &Arc<Context>, train: &TensorTrain) -> Result<(Option<TensorTrain>, bool)> {
    powers::for_product(context, train)
}

/// A balanced copy of a host train in double precision that will be rounded to single precision; `None` if its bonds
/// are balanced.
///
/// # Errors
/// Out of memory.
pub fn for_single(context: &Arc<Context>, train: &TensorTrain) -> Result<Option<TensorTrain>> {
    powers::for_single(context, train)
}

/// Whether a contraction of the ring is at risk of [`Risk::RingUnderflow`], by the search on the host or on the device.
///
/// # Errors
/// Out of memory; those of the device.
#[cfg(any(test, feature = "testing"))]
pub fn ring_underflows(context: &Arc<Context>, train: &TensorTrain, turns: usize) -> Result<bool> {
    if train.is_device() {
        device::ring_underflows(context, None, train, turns)
    } else {
        ring_underflow::ring_underflows(context, train, turns)
    }
}

/// Whether the examination on the device finds that a train there is wide ([`range::is_wide`]).
///
/// # Errors
/// Out of memory; those of the device.
#[cfg(any(test, feature = "testing"))]
pub fn is_wide_there(context: &Arc<Context>, train: &TensorTrain) -> Result<bool> {
    Examination::new(context, None, &[train], None)?
        .map_or(Ok(false), |mut examination| Ok(examination.findings()?.is_wide))
}

/// [`Balanced::run`] for two trains, which may be the same, after [`Balanced::new`] with `turns`.
///
/// # Errors
/// As `run`; out of memory.
pub fn with_balanced<R>(
    context: &Arc<Context>,
    stream: Option<&Stream>,
    (x, y): (&TensorTrain, &TensorTrain),
    turns: Option<usize>,
    run: impl FnMut(&TensorTrain, &TensorTrain, Risk) -> Result<R>,
) -> Result<R> {
    Balanced::new(context, stream, x, y, false, turns)?.run(context, stream, (x, y), None, run)
}

/// A balanced copy of a TT-matrix, for environments between balanced trains; `None` if its bonds are balanced. The flag
/// is set if `examines` and if the matrix is a ring at risk of [`Risk::RingUnderflow`].
///
/// # Errors
/// Out of memory.
pub fn of_operator(context: &Arc<Context>, h: &TrainMatrix, examines: bool) -> Result<(Option<TrainMatrix>, bool)> {
    // An entry of an environment of three trains is a product over six bonds, not four, so single precision allows a
    // smaller difference.
    let limit = if h.train().dtype().is_single() { 8 } else { powers::limit(h.train().dtype()) };
    // Leave blocks that the contraction never reads unchanged. The plan counts only the other blocks.
    let Examined { copy, ring_underflows, .. } =
        examined_operator(context, h, Bounds { limit, drop: false }, examines.then_some(1))?;
    let copy = copy.map(|copy| TrainMatrix::new("h", copy, h.rows(), h.cols())).transpose()?;
    Ok((copy, ring_underflows))
}

/// Whether a bond of one of these trains, or of the operator, exceeds its balancing limit. Waits for the examination of
/// trains on the device.
///
/// # Errors
/// Out of memory.
pub fn is_any_far(
    context: &Arc<Context>,
    stream: Option<&Stream>,
    trains: &[&TensorTrain],
    operator: Option<&TrainMatrix>,
) -> Result<bool> {
    if let Some(h) = operator {
        let bounds = Bounds { limit: powers::limit(h.train().dtype()), drop: false };
        if examined_operator(context, h, bounds, None)?.copy.is_some() {
            return Ok(true);
        }
    }
    Ok(!balanced_all(context, stream, trains, None)?.0.is_empty())
}

/// Balanced copies of the trains that need one; an empty list if none does. The flag says whether a contraction of one
/// of the trains is at risk of losing digits. `turns` is that of [`Balanced::new`]. Waits for the examination of trains
/// on the device.
///
/// # Errors
/// Out of memory.
pub fn balanced_all(
    context: &Arc<Context>,
    stream: Option<&Stream>,
    trains: &[&TensorTrain],
    turns: Option<usize>,
) -> Result<(Vec<Option<TensorTrain>>, bool)> {
    let mut copies = Vec::new();
    let mut is_any_at_risk = false;
    let has_device = !matches!(context.backend(), Backend::Cpu);
    let all_findings = device::all_findings(context, stream, trains, turns)?;
    for (i, train) in trains.iter().enumerate() {
        let found = if !train.is_device() {
            examined(context, train, turns)?
        } else if let Some(findings) = all_findings.get(i).filter(|findings| findings.is_any() || findings.is_wide) {
            device::examined(context, stream, train, turns, *findings)?
        } else {
            continue;
        };
        is_any_at_risk |= found.ring_underflows || found.is_wide && has_device;
        let Some(copy) = found.copy else { continue };
        if copies.is_empty() {
            copies = alloc::with_capacity(WHAT, trains.len())?;
            copies.resize_with(trains.len(), || None);
        }
        copies[i] = Some(copy);
    }
    Ok((copies, is_any_at_risk))
}

/// The trains of a list, each replaced by its balanced copy if there is one.
///
/// # Errors
/// Out of memory.
pub fn listed<'a>(trains: &[&'a TensorTrain], copies: &'a [Option<TensorTrain>]) -> Result<Vec<&'a TensorTrain>> {
    let mut list = alloc::with_capacity(WHAT, trains.len())?;
    list.extend(trains.iter().enumerate().map(|(i, train)| copies.get(i).and_then(Option::as_ref).unwrap_or(train)));
    Ok(list)
}
