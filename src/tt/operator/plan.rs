//! Plans of contractions with operators: the bond where a ring is cut, the bond where both ends meet, and the number of
//! boundary values that are computed together.

use super::chain::{Chain, SweepRange};
use super::erased::Operations;
use super::ops::StepBytes;
use super::slots::Slots;
use super::trains::Trains;
use crate::alloc;
use crate::error::{Error, Result};
use crate::shape::{self, to_i64, to_u64};
use crate::tensor::train::BlockKind;
use crate::trains::info::{Info, Kernel, Outcome};
use crate::trains::options::{Method, Options, too_little};

/// Plan of a contraction with an operator.
pub(super) struct Plan {
    /// Slots of successive ranges of the operator's values at the cut. Each range is a contraction of its own.
    pub runs: Vec<Slots>,
    /// Number of boundary pairs of bra and ket.
    pub pairs: usize,
    /// Pairs that are computed together.
    pub block: usize,
    /// Bond where both ends meet, counted from the cut.
    pub middle: usize,
    /// Whether the sweeps from both ends run at the same time.
    pub two_ended: bool,
    /// Whether a step uses the least workspace.
    pub narrow: bool,
    bytes: f64,
    cut: usize,
    states: usize,
    flops: f64,
}

/// Default workspace limit in bytes.
const WORKSPACE: u64 = 64 << 20;

/// Bytes of environments that fit into the cache of a CPU core.
const CACHE: f64 = 1e6;

/// Number of rows of the first product that fills its tiles.
const ROWS: usize = 256;

/// The bond with the smallest product of the three ranks, or the caller's choice.
pub(super) fn cut_of(trains: &Trains<'_>, options: &Options) -> Result<usize> {
    let d = trains.len();
    if let Some(cut) = options.cut {
        return shape::index("cut", to_i64(cut), d);
    }
    let (bra, ket) = (trains.bra.shape().ranks(), trains.ket.shape().ranks());
    let values = |k: usize| bra[k] as f64 * trains.operator_rank(k) as f64 * ket[k] as f64;
    // The first of bonds with equal products.
    Ok((1..d).fold(0, |best, k| if values(k) < values(best) { k } else { best }))
}

/// Multiplications of both products of a step over position t, for one boundary pair.
fn cost_of(chain: &Chain<'_>, slots: &Slots, t: usize) -> f64 {
    let (from, to) = (chain.extent(t, slots, 1), chain.extent(t + 1, slots, 1));
    let [m, n] = chain.modes(t).map(|n| n as f64);
    let [a, q, b] = [from.bra, from.slots, from.ket].map(|n| n as f64);
    let [a_to, q_to, b_to] = [to.bra, to.slots, to.ket].map(|n| n as f64);
    n * q * a * b * b_to + m * q_to * a * a_to * b_to
}

/// Multiplications of the sums between these products, with the operator's entries.
fn sums_of(chain: &Chain<'_>, slots: &Slots, t: usize, mirrored: bool) -> f64 {
    let [m, n] = chain.modes(t);
    let Some(blocks) = &chain.blocks else { return 0.0 };
    let terms = slots.operator(t).iter().flat_map(|&(p, w)| {
        let is_on_path = move |right: u32| slots.find(t + 1, (p, right)).is_some();
        blocks.from_left(chain.site(t), w as usize).iter().filter(move |b| is_on_path(b.right))
    });
    let terms: f64 = terms.map(|b| if b.kind == BlockKind::Dense { m * n } else { m.min(n) } as f64).sum();
    let (before, after) = if mirrored { (t + 1, t) } else { (t, t + 1) };
    terms * chain.extent(before, slots, 1).bra as f64 * chain.extent(after, slots, 1).ket as f64
}

fn middle_of(chain: &Chain<'_>, slots: &Slots) -> usize {
    let d = chain.len();
    let total: f64 = (0..d).map(|t| cost_of(chain, slots, t)).sum();
    let mut before = 0.0;
    for t in 0..d {
        let step = cost_of(chain, slots, t);
        if before + step / 2.0 >= total / 2.0 {
            return t.max(1);
        }
        before += step;
    }
    d
}

impl Plan {
    /// Plans <y|H|x> and, if `identity`, also <y|x>.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] naming `workspace_limit` and the bytes needed, if the caller's limit is below the least
    /// that there is; `block`; out of memory.
    pub fn new(chain: &Chain<'_>, ops: &dyn Operations, options: &Options, identity: bool) -> Result<Self> {
        let (pairs, states) = (chain.pairs(), chain.trains.operator_rank(chain.bond(0)));
        let limit = if options.workspace_limit == 0 { WORKSPACE } else { options.workspace_limit };
        let given = options.workspace_limit != 0;
        let candidates: &[(bool, bool)] =
            if given { &[(true, false), (true, true), (false, true)] } else { &[(true, false)] };
        let mut least = None;
        for &(two_ended, narrow) in candidates {
            for width in halvings(if options.method == Method::Reduced { 1 } else { states }) {
                let runs = runs_of(chain, states, width, identity)?;
                let Some(first) = runs.first() else { continue };
                let middle = middle_of(chain, first);
                let forced = match options.method {
                    Method::Reduced => Some(1),
                    Method::Full => Some(pairs),
                    _ if options.block > 0 => Some(options.block.min(pairs)),
                    _ => None,
                };
                let wanted = forced.unwrap_or_else(|| block_of(chain, first).min(pairs));
                for block in halvings(wanted) {
                    let mut sizes = runs.iter().map(|r| bytes_of(chain, ops, r, middle, block, two_ended, narrow));
                    let bytes = sizes.try_fold(0.0f64, |most, bytes| Ok::<f64, Error>(bytes?.max(most)))?;
                    let flops = 0.0;
                    let fits = bytes <= limit as f64;
                    let cut = chain.cut;
                    let plan = |runs| Self { runs, pairs, block, middle, two_ended, narrow, bytes, cut, states, flops };
                    if fits {
                        return Ok(plan(runs).with_flops(chain));
                    }
                    least = Some((bytes, width, block, middle));
                    if forced.is_some() {
                        break;
                    }
                }
            }
        }
        match least {
            Some((bytes, width, block, middle)) if !given => {
                let runs = runs_of(chain, states, width, identity)?;
                let (two_ended, narrow, cut, flops) = (true, false, chain.cut, 0.0);
                let plan = Self { runs, pairs, block, middle, two_ended, narrow, bytes, cut, states, flops };
                Ok(plan.with_flops(chain))
            }
            Some((bytes, ..)) => Err(too_little(limit, bytes)),
            None => Err(Error::Internal("a contraction without slots".into())),
        }
    }

    fn with_flops(mut self, chain: &Chain<'_>) -> Self {
        let middle = self.middle;
        let products = self.runs.iter().flat_map(|s| (0..chain.len()).map(move |t| cost_of(chain, s, t)));
        let sums = self.runs.iter().flat_map(|s| (0..chain.len()).map(move |t| sums_of(chain, s, t, t >= middle)));
        let each: f64 = products.chain(sums).sum();
        self.flops = each * self.pairs as f64 * if chain.dtype.is_complex() { 8.0 } else { 2.0 };
        self
    }

    /// The sweeps from both ends to the bond where they meet.
    pub fn sweep_ranges(&self, d: usize) -> [SweepRange; 2] {
        [SweepRange { from: 0, to: self.middle }, SweepRange { from: d, to: self.middle }]
    }

    /// Total number of steps over a site.
    pub fn steps(&self, d: usize) -> u64 {
        let runs = self.runs.iter().filter(|slots| slots.count(0) > 0).count();
        to_u64(runs.saturating_mul(self.pairs.div_ceil(self.block)).saturating_mul(d))
    }

    /// The report before the contraction runs.
    pub fn info(&self, chain: &Chain<'_>) -> Info {
        let (pairs, states) = (self.pairs, self.states);
        let method = match (pairs * states, self.block) {
            (1, _) => Method::Open,
            (_, b) if b == pairs && self.runs.len() == 1 => Method::Full,
            (_, 1) => Method::Reduced,
            _ => Method::Blocked,
        };
        let trains = &chain.trains;
        let same = trains.bra.is_same(trains.ket);
        let bytes = trains.ket.bytes() as f64
            + if same { 0.0 } else { trains.bra.bytes() as f64 }
            + trains.operator.map_or(0.0, |h| h.train().bytes() as f64);
        let slots = self.runs.iter().map(|r| r.count(self.middle)).sum::<usize>();
        let reason = format!(
            "cut at bond {}: {pairs} boundary pairs, {states} boundary values of the operator; {slots} slots in the middle",
            self.cut
        );
        Info {
            method,
            kernel: Kernel::Products,
            reason: reason.into(),
            cut: to_i64(self.cut),
            pairs: to_i64(pairs),
            block: to_i64(self.block),
            halved: false,
            two_ended: self.two_ended,
            scaled: chain.scaled,
            contexts: 1,
            flops: self.flops,
            bytes,
            workspace_bytes: self.bytes as i64,
            outcome: Outcome::Ok,
            seconds: 0.0,
        }
    }
}

/// n, n/2, n/4, ... 1, each rounded up.
pub(super) fn halvings(n: usize) -> impl Iterator<Item = usize> {
    std::iter::successors(Some(n), |&n| (n > 1).then(|| n.div_ceil(2)))
}

/// The slots for each range of `width` values of the operator at the cut. Ranges without a path are left out.
fn runs_of(chain: &Chain<'_>, states: usize, width: usize, identity: bool) -> Result<Vec<Slots>> {
    let d = chain.len();
    let Some(blocks) = &chain.blocks else { return Ok(vec![Slots::identity(d)?]) };
    let mut runs = alloc::with_capacity("slots of an operator", states.div_ceil(width))?;
    for first in (0..states).step_by(width) {
        let count = width.min(states - first);
        let slots = Slots::on_closed_paths(blocks, d, chain.cut, first, count, identity && first == 0)?;
        if slots.count(0) > 0 || first == 0 {
            runs.push(slots);
        }
    }
    Ok(runs)
}

/// Number of pairs with which the first product fills its tiles, or more as long as the environments fit into the
/// cache.
fn block_of(chain: &Chain<'_>, slots: &Slots) -> usize {
    let extents = (0..=chain.len()).map(|t| chain.extent(t, slots, 1));
    let (rows, elements) = extents.fold((1, 1.0f64), |(rows, most), e| {
        let size = e.bra as f64 * e.slots as f64 * e.ket as f64;
        (rows.max(e.bra.saturating_mul(e.slots)), most.max(size))
    });
    let cached = (CACHE / (2.0 * elements * chain.dtype.size() as f64)) as usize;
    ROWS.div_ceil(rows).max(cached).max(1)
}

fn bytes_of(
    chain: &Chain<'_>,
    ops: &dyn Operations,
    slots: &Slots,
    middle: usize,
    pairs: usize,
    two_ended: bool,
    narrow: bool,
) -> Result<f64> {
    let d = chain.len();
    let halves = if two_ended { 2 } else { 1 };
    let environment =
        |range: SweepRange| Ok::<f64, Error>(chain.largest(slots, range, pairs)? as f64 * chain.dtype.size() as f64);
    let step = |mirrored: bool, sites: std::ops::Range<usize>| {
        let largest = sites.fold(StepBytes::default(), |most, t| {
            let (mut from, mut to) = (chain.extent(t, slots, pairs), chain.extent(t + 1, slots, pairs));
            if mirrored {
                std::mem::swap(&mut from, &mut to);
            }
            most.max(ops.step_workspace(halves, narrow, from, to, chain.modes(t)))
        });
        largest.bytes()
    };
    let (left, right) =
        (environment(SweepRange { from: 0, to: middle })?, environment(SweepRange { from: d, to: middle })?);
    let (left_step, right_step) = (step(false, 0..middle), step(true, middle..d));
    Ok(if two_ended {
        2.0 * (left + right) + left_step + right_step
    } else {
        // The environment of the left end is held while the sweep from the right runs.
        (2.0 * left + left_step).max(left + 2.0 * right + right_step)
    })
}
