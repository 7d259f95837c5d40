//! Block sizes for expectation values at single sites: numbers of boundary pairs, and of sites with an operator, that
//! are computed at a time.

use super::chain::Chain;
use super::erased::Operations;
use super::ops::{Extent, StepBytes};
use super::plan::halvings;
use super::slots::Slots;
use crate::error::Result;
use crate::shape::{to_i64, to_u64};
use crate::trains::info::{Info, Kernel, Outcome};
use crate::trains::options::{Method, Options, too_little};

/// Default limit of environments in bytes.
const WORKSPACE: f64 = (64 << 20) as f64;

/// The expectation values of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Those of one operator at single sites; number of the sites.
    Local(usize),
    /// Those of two operators at all pairs of sites; whether both operators are equal.
    Correlation(bool),
}

/// Numbers of pairs and sites that are computed at a time.
#[derive(Debug, Clone, Copy)]
pub(super) struct Share {
    /// Boundary pairs that are computed together.
    pub block: usize,
    /// Sites of the first operator that are computed together.
    pub width: usize,
    /// Whether steps use as little workspace as possible.
    pub narrow: bool,
}

impl Share {
    /// The largest block sizes that the workspace allows.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] naming `workspace_limit` and the bytes needed, if the caller's limit is below the least
    /// that there is.
    pub fn new(chain: &Chain<'_>, ops: &dyn Operations, options: &Options, kind: Kind) -> Result<Self> {
        let (d, pairs) = (chain.len(), chain.pairs());
        let limit = options.workspace_limit;
        if limit == 0 {
            return Self::usual(chain, kind);
        }
        let bytes = |block, width, narrow| Need::new(chain, block)?.bytes(ops, kind, width, narrow);
        let mut least = 0.0;
        for narrow in [false, true] {
            for block in halvings(pairs) {
                least = bytes(block, 1, narrow)?;
                if least > limit as f64 {
                    continue;
                }
                for width in halvings(d) {
                    if bytes(block, width, narrow)? <= limit as f64 {
                        return Ok(Self { block, width, narrow });
                    }
                }
            }
        }
        Err(too_little(limit, least))
    }

    /// The block sizes without a caller's limit: the environments of all bonds fit the default workspace.
    fn usual(chain: &Chain<'_>, kind: Kind) -> Result<Self> {
        let one = Need::new(chain, 1)?;
        let kept = if kind.is_local() { 1.0 } else { 3.0 };
        let block = ((WORKSPACE / (one.all * kept)) as usize).clamp(1, chain.pairs());
        let width = (WORKSPACE / (4.0 * one.largest * block as f64)) as usize;
        Ok(Self { block, width: width.clamp(1, chain.len()), narrow: false })
    }

    /// The report before the call runs. `wanted` flags the sites of a local operator, by their numbers in the train.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`](crate::error::Error::InvalidArgument) for sizes beyond those of memory.
    pub fn info(&self, chain: &Chain<'_>, ops: &dyn Operations, kind: Kind, wanted: &[bool]) -> Result<Info> {
        let pairs = chain.pairs();
        let method = match (pairs, self.block) {
            (1, _) => Method::Open,
            (_, block) if block == pairs => Method::Full,
            (_, 1) => Method::Reduced,
            _ => Method::Blocked,
        };
        let what = match kind {
            Kind::Local(sites) => format!("an operator at {sites} sites"),
            Kind::Correlation(same) => {
                let order = if same { "equal operators" } else { "two operators, in both orders" };
                format!("{order}, {} first sites at a time", self.width)
            }
        };
        let each = self.multiplications(chain, kind, wanted) * if chain.dtype.is_complex() { 8.0 } else { 2.0 };
        let bytes = Need::new(chain, self.block)?.bytes(ops, kind, self.width, self.narrow)?;
        Ok(Info {
            method,
            kernel: Kernel::Products,
            reason: format!("cut at bond {}: {pairs} boundary pairs; {what}", chain.cut).into(),
            cut: to_i64(chain.cut),
            pairs: to_i64(pairs),
            block: to_i64(self.block),
            halved: false,
            two_ended: false,
            scaled: chain.scaled,
            contexts: 1,
            flops: each * pairs as f64,
            bytes: chain.trains.ket.bytes() as f64,
            workspace_bytes: bytes as i64,
            outcome: Outcome::Ok,
            seconds: 0.0,
        })
    }

    /// Multiplications for one boundary pair.
    fn multiplications(&self, chain: &Chain<'_>, kind: Kind, wanted: &[bool]) -> f64 {
        let d = chain.len();
        let ranks = |t: usize| {
            let bond = chain.bond(t);
            [chain.trains.bra, chain.trains.ket].map(|train| train.shape().ranks()[bond] as f64)
        };
        // A step from `from` to `to` environments at a bond. `join` is the product of `count` environments with the
        // right one.
        let step = |t: usize, from: usize, to: usize| {
            let ([m, n], [a, b], [a_to, b_to]) = (chain.modes(t).map(|n| n as f64), ranks(t), ranks(t + 1));
            from as f64 * n * a * b * b_to + to as f64 * m * a * a_to * b_to
        };
        let join = |t: usize, count: usize| count as f64 * ranks(t).iter().product::<f64>();
        let both_ways: f64 = (0..d).map(|t| 2.0 * step(t, 1, 1)).sum();
        let Kind::Correlation(same) = kind else {
            let at = |t: &usize| wanted[chain.site(*t)];
            return both_ways + (0..d).filter(at).map(|t| step(t, 1, 1) + join(t + 1, 1)).sum::<f64>();
        };
        let diagonal: f64 = (0..d).map(|t| step(t, 1, 1) + join(t + 1, 1)).sum();
        let mut off = (0..d).map(|t| step(t, 1, 1)).sum::<f64>();
        for start in (0..d).step_by(self.width) {
            let carried = |t: usize| (t - start).min(self.width) + 1;
            let steps = (start..d - 1).map(|t| step(t, carried(t), carried(t + 1)));
            off += steps.chain((start..d).map(|t| join(t, carried(t)))).sum::<f64>();
        }
        both_ways + diagonal + off * if same { 1.0 } else { 2.0 }
    }

    /// Total number of steps over a site.
    pub fn steps(&self, chain: &Chain<'_>, kind: Kind) -> u64 {
        let d = chain.len();
        let each = match kind {
            Kind::Local(sites) => 2 * d + sites.min(d),
            Kind::Correlation(same) => {
                let carried: usize = (0..d).step_by(self.width).map(|start| d - start - 1).sum();
                3 * d + (if same { 1 } else { 2 }) * (d + carried)
            }
        };
        to_u64(each).saturating_mul(to_u64(chain.pairs().div_ceil(self.block)))
    }
}

impl Kind {
    fn is_local(self) -> bool {
        matches!(self, Self::Local(_))
    }
}

/// Sizes in bytes for a block of boundary pairs.
struct Need<'c, 'a> {
    chain: &'c Chain<'a>,
    slots: Slots,
    pairs: usize,
    /// Bytes of the environments of all bonds.
    all: f64,
    largest: f64,
}

impl<'c, 'a> Need<'c, 'a> {
    fn new(chain: &'c Chain<'a>, pairs: usize) -> Result<Self> {
        let slots = Slots::identity(chain.len())?;
        let (mut all, mut largest) = (0.0, 0.0f64);
        for t in 0..=chain.len() {
            let bytes = chain.extent(t, &slots, pairs).elements()? as f64 * chain.dtype.size() as f64;
            (all, largest) = (all + bytes, largest.max(bytes));
        }
        Ok(Self { chain, slots, pairs, all, largest })
    }

    fn extent(&self, t: usize, slots: usize) -> Extent {
        Extent { slots, ..self.chain.extent(t, &self.slots, self.pairs) }
    }

    fn size(&self, t: usize) -> f64 {
        let Extent { bra, pairs, ket, .. } = self.extent(t, 1);
        bra as f64 * pairs as f64 * ket as f64 * self.chain.dtype.size() as f64
    }

    /// The largest workspace of a step over any site, in one direction.
    fn workspace(
        &self,
        ops: &dyn Operations,
        (halves, narrow, mirrored): (usize, bool, bool),
        slots: usize,
    ) -> StepBytes {
        (0..self.chain.len()).fold(StepBytes::default(), |most, t| {
            let (mut from, mut to) = (self.extent(t, slots), self.extent(t + 1, slots));
            if mirrored {
                std::mem::swap(&mut from, &mut to);
            }
            most.max(ops.step_workspace(halves, narrow, from, to, self.chain.modes(t)))
        })
    }

    /// Largest number of bytes of environments and workspace at the same time.
    fn bytes(&self, ops: &dyn Operations, kind: Kind, width: usize, narrow: bool) -> Result<f64> {
        let d = self.chain.len();
        let back = self.workspace(ops, (1, narrow, true), 1);
        let steps = |weight: [f64; 2]| {
            (0..d).map(|t| weight[0] * self.size(t) + weight[1] * self.size(t + 1)).fold(0.0, f64::max)
        };
        if kind.is_local() {
            // From the right, the environments of all bonds. From the left, the current one, the next one, and the next
            // one with the operator.
            let workspaces = 2.0 * self.workspace(ops, (2, narrow, false), 1).bytes();
            return Ok(self.all + back.bytes().max(steps([1.0, 2.0]) + workspaces));
        }
        // The steps share one workspace. In addition there are the environments with an operator after the step or
        // before it, and those that are carried from site to site.
        let slots = width + 1;
        self.extent(0, slots).elements()?;
        let workspace = back
            .max(self.workspace(ops, (1, narrow, false), 1))
            .max(self.workspace(ops, (1, narrow, false), slots))
            .bytes();
        let carried = if d > 1 { slots as f64 * steps([1.0, 1.0]) } else { 0.0 };
        let ends = self.all - self.size(d);
        Ok(2.0 * self.all + (ends + carried).max(self.largest) + workspace)
    }
}
