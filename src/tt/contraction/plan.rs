//! Plan of a contraction: method, operation counts, bytes and workspace.
//!
//! `ops.rs`, `peaks.rs` and `plan.rs` import each other: a backend describes its machine to a plan, and takes the plan
//! and its peaks of memory.

mod ends;
mod qr;

use std::sync::Arc;

use super::cost::{self, First, Halves, Sizes};
use super::cpu::chain::{Chain, TOGETHER};
use super::ops::Machine;
use super::pairs::Pairs;
use crate::alloc;
use crate::backend::cpu::Isa;
use crate::error::{Error, Result};
use crate::scalar::DType;
use crate::shape::{self, to_i64, to_u64};
use crate::tensor::train::Shape;
use crate::trains::info::{Info, Kernel, Outcome};
use crate::trains::options::{Conjugate, Method, Options, Scaling, too_little};

/// The contraction to plan. `x` and `y` are those of [`super::ops::Work`].
#[derive(Clone, Copy)]
pub struct Request<'a> {
    /// Options of the caller, without resolved defaults.
    pub options: &'a Options,
    /// Properties of the backend that the choice of a method depends on.
    pub machine: Machine,
    /// Number of contexts that share the work.
    pub contexts: usize,
    /// Shape and type of x.
    pub x: (&'a Shape, DType),
    /// Shape and type of y.
    pub y: (&'a Shape, DType),
    /// Whether the caller's x and y are exchanged: x here is then the caller's y. Of trains with mixed types, x here is
    /// the real one.
    pub swapped: bool,
    /// Whether x and y have the same cores.
    pub same: bool,
    /// Whether each train is uniform: one core, repeated d times.
    pub uniform: bool,
    /// Whether the result is a norm. For an open train, one triangle of each environment then suffices.
    pub triangle: bool,
}

/// A resolved contraction: all choices, sizes and costs.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// The method in force; not [`Method::Auto`].
    pub method: Method,
    /// The kernel that does the arithmetic.
    pub kernel: Kernel,
    /// Why the method was chosen.
    pub reason: Arc<str>,
    /// Type of the result: complex if either train is.
    pub dtype: DType,
    /// Whether y is conjugated in S.
    pub conjugate: bool,
    /// Whether the result is the conjugate of S.
    pub conjugate_result: bool,
    /// Number of cores d of each train.
    pub cores: usize,
    /// Number of passes over all cores.
    pub repeat: u64,
    /// The first core of the sweep: the bond before it is cut.
    pub cut: usize,
    /// The boundary pairs that are summed.
    pub pairs: Pairs,
    /// Pairs of a block, which are contracted together.
    pub block: usize,
    /// Blocks that one context contracts at the same time.
    pub workers: usize,
    /// For each core, which train's core is multiplied first.
    pub order: Vec<First>,
    /// Open trains: number of sites contracted from the left. The others are contracted from the right.
    pub meet: usize,
    /// Open trains: whether both ends are contracted at the same time.
    pub two_ended: bool,
    /// Open trains: numbers of sites at the left and at the right end whose dense tensors are built. That is cheaper
    /// than sweeping while few mode indices are involved.
    pub grow: [usize; 2],
    /// Dense halves: sites of the left half.
    pub split: usize,
    /// Dense halves: columns of the dense tensors at a time.
    pub panel: usize,
    /// Open trains: whether x = y and only one triangle of each environment is computed.
    pub triangle: bool,
    /// Whether the whole device contracts one pair after another by [`Kernel::Chain`].
    pub grid: bool,
    /// Whether environments are scaled at every site.
    pub scaled: bool,
    /// Whether a result near or beyond the limits of the range is recomputed with scaling.
    pub rescue: bool,
    /// Elements of the largest environment and the largest product, for one pair.
    pub largest: (usize, usize),
    /// The chain kernel's layout, if the CPU can use that kernel for these trains.
    pub chain: Option<Chain>,
    /// Floating-point operations: 2 a real multiply-add, 8 a complex one.
    pub flops: f64,
    /// Bytes of cores that are read.
    pub bytes: f64,
    /// Bytes of workspace that the plan needs.
    pub workspace: u64,
    /// The workspace that the caller allows, in bytes.
    pub limit: u64,
}

/// Converts to `usize`. Saturates, because larger numbers of elements exceed any memory.
fn whole(elements: f64) -> usize {
    elements as usize
}

impl Plan {
    /// Plans a contraction.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a cut that is no bond, a method that does not fit the trains, and a
    /// `workspace_limit` below the need, which it names; [`Error::OutOfMemory`].
    pub fn new(request: Request<'_>) -> Result<Self> {
        Planner::new(request)?.plan()
    }

    /// Plans the norm of x, or of x - y if `difference`, by QR factors from site to site.
    ///
    /// # Errors
    /// As [`Plan::new`]; [`Error::NotSupported`] for `repeat`.
    pub fn by_qr(request: Request<'_>, difference: bool) -> Result<Self> {
        if request.options.repeat > 1 {
            let (name, repeat) = (if difference { "repeat" } else { "norm_method" }, request.options.repeat);
            return Err(Error::NotSupported(format!("{name}: QR factors with repeat = {repeat}, they take 1")));
        }
        Planner::new(request)?.by_qr(difference)
    }

    /// Core of site `i`, counted from the cut.
    pub fn core(&self, i: u64) -> usize {
        // The remainder is below `cores`.
        ((to_u64(self.cut) + i) % to_u64(self.cores)) as usize
    }

    /// Number of sites: `cores` times `repeat`.
    pub fn sites(&self) -> u64 {
        to_u64(self.cores).saturating_mul(self.repeat)
    }

    /// Number of blocks of pairs.
    pub fn blocks(&self) -> usize {
        self.pairs.blocks(self.block)
    }

    /// Steps of the whole call, the unit of progress reports.
    pub fn steps(&self) -> u64 {
        match self.method {
            Method::Halves | Method::Power => 1,
            _ => self.sites().saturating_mul(to_u64(self.blocks())),
        }
    }

    /// The report for the caller, before the call has run.
    pub fn info(&self, contexts: usize) -> Info {
        Info {
            method: self.method,
            kernel: self.kernel,
            reason: Arc::clone(&self.reason),
            cut: to_i64(self.cut),
            pairs: to_i64(self.pairs.r.saturating_mul(self.pairs.s)),
            block: to_i64(self.block),
            halved: self.pairs.halved,
            two_ended: self.two_ended,
            scaled: self.scaled,
            contexts: to_i64(contexts),
            flops: self.flops,
            bytes: self.bytes,
            workspace_bytes: i64::try_from(self.workspace).unwrap_or(i64::MAX),
            outcome: Outcome::Ok,
            seconds: 0.0,
        }
    }
}

/// Returns an error if `needed` bytes exceed `limit`.
pub(super) fn expect_within(limit: u64, needed: f64) -> Result<()> {
    if needed <= limit as f64 {
        return Ok(());
    }
    Err(too_little(limit, needed))
}

struct Planner<'a> {
    request: Request<'a>,
    sizes: Sizes<'a>,
    cut: usize,
    /// Operations of one boundary pair.
    pair: f64,
    pairs: Pairs,
    dtype: DType,
    limit: u64,
    strict: bool,
}

impl<'a> Planner<'a> {
    fn new(mut request: Request<'a>) -> Result<Self> {
        match request.options.kernel {
            Some(Kernel::Products) => request.machine.chain_rank = 0,
            Some(Kernel::Chain) if request.machine.chain_rank > 0 => {
                request.machine.chain_rank = usize::MAX;
                request.machine.ring_rank = usize::MAX;
            }
            _ => {}
        }
        let Request { options, machine, x, y, .. } = request;
        let dtype = if x.1.is_complex() { x.1 } else { y.1 };
        let (x_operations, y_operations) = match (x.1.is_complex(), y.1.is_complex()) {
            (false, false) => (2.0, 2.0),
            (false, true) => (4.0, 8.0),
            _ => (8.0, 8.0),
        };
        let sizes = Sizes { modes: x.0.modes(), r: x.0.ranks(), s: y.0.ranks(), x_operations, y_operations };
        let d = sizes.len();
        if options.repeat == 0 {
            return Err(Error::invalid("repeat", "is 0, at least 1 is needed"));
        }
        let conjugated = options.conjugate == Conjugate::Bra || !dtype.is_complex();
        let pairs_at =
            |c: usize| Pairs { r: sizes.r[c], s: sizes.s[c], halved: request.same && conjugated && sizes.r[c] > 1 };
        let middle = sizes.middle();
        let cost = |c: usize| sizes.pair(c, options.repeat, middle);
        let cut = match options.cut {
            Some(c) => shape::index("cut", to_i64(c), d)?,
            None => {
                // The method OPEN has one environment, so it must be cut at a bond with a single pair, even if the
                // pairs of another bond would be cheaper.
                let single = |c: usize| sizes.r[c] == 1 && sizes.s[c] == 1;
                let open = options.method == Method::Open && (0..d).any(single);
                let total = |c: usize| {
                    if open && !single(c) { f64::INFINITY } else { pairs_at(c).len() as f64 * cost(c) }
                };
                (1..d).fold((0, total(0)), |best, c| if total(c) < best.1 { (c, total(c)) } else { best }).0
            }
        };
        let strict = options.workspace_limit > 0;
        let limit = if strict { options.workspace_limit } else { machine.workspace };
        Ok(Self { request, sizes, cut, pair: cost(cut), pairs: pairs_at(cut), dtype, limit, strict })
    }

    fn bytes(&self, elements: f64) -> f64 {
        elements * self.dtype.size() as f64
    }

    /// Whether the machine is a GPU. Only a CPU has `vectors`.
    fn is_gpu(&self) -> bool {
        self.request.machine.vectors.is_none()
    }

    fn repeat(&self) -> u64 {
        self.request.options.repeat
    }

    fn plan(self) -> Result<Plan> {
        let options = self.request.options;
        let pairs_flops = self.pairs.len() as f64 * self.pair;
        let is_open = self.pairs.r == 1 && self.pairs.s == 1;
        let smallest = self.pairs.r as f64 * self.pairs.s as f64;
        match options.method {
            Method::Open if !is_open => {
                let problem = format!("is OPEN, but the trains have {smallest} boundary pairs at bond {}", self.cut);
                return Err(Error::invalid("method", problem));
            }
            Method::Halves if self.repeat() > 1 => {
                return Err(Error::invalid("method", "is HALVES, which has no repeat"));
            }
            Method::Power if self.exponent() == 1 => {
                let problem = "is POWER, which needs trains of one core, met more than once, or repeat";
                return Err(Error::invalid("method", problem));
            }
            Method::Halves => return self.by_halves(self.best_halves(), "asked for".into()),
            Method::Power => return self.by_power("asked for".into()),
            Method::Auto => {}
            forced => return self.by_pairs(forced, "asked for".into(), f64::INFINITY),
        }
        let halves = self.best_halves();
        // Matrix products of dense halves are thin and their tensors do not fit the cache, so the method must save many
        // operations.
        let may = self.repeat() == 1 && self.request.machine.dense_halves;
        // Bytes of workspace with which a cheaper method would be chosen.
        let mut otherwise = f64::INFINITY;
        if may && 4.0 * halves.flops < pairs_flops {
            otherwise = self.halves_bytes(halves);
        }
        if otherwise <= self.limit as f64 {
            let reason = format!("dense halves take {:.3e} operations, pairs {pairs_flops:.3e}", halves.flops);
            return self.by_halves(halves, reason);
        }
        let power = self.power_flops();
        let may = self.exponent() > 1;
        let has_power = may && 2.0 * power < pairs_flops;
        if has_power {
            otherwise = otherwise.min(self.power_bytes());
        }
        if has_power && self.power_bytes() <= self.limit as f64 {
            let reason = format!("squaring takes {power:.3e} operations, pairs {pairs_flops:.3e}");
            return self.by_power(reason);
        }
        if is_open {
            return self.by_pairs(Method::Open, format!("open at bond {}", self.cut), otherwise);
        }
        let reason = format!("{smallest} pairs at bond {}, the cheapest", self.cut);
        self.by_pairs(Method::Blocked, reason, otherwise)
    }

    /// A plan with the fields that all methods share. The caller sets the others.
    fn start(&self, method: Method, reason: String) -> Result<Plan> {
        let Request { options, x, y, same, .. } = self.request;
        let mut order = alloc::with_capacity("plan of a contraction", self.sizes.len())?;
        order.extend((0..self.sizes.len()).map(|k| self.sizes.site(k).1));
        let conjugate = options.conjugate == Conjugate::Bra && self.dtype.is_complex();
        let read = |(shape, dtype): (&Shape, DType)| shape.elements() as f64 * dtype.size() as f64;
        let (environment, product) = self.sizes.largest(self.cut, self.repeat());
        let cores = self.sizes.len();
        let auto = options.scaling == Scaling::Auto;
        let sites = to_u64(cores).saturating_mul(self.repeat());
        Ok(Plan {
            method,
            kernel: Kernel::Products,
            reason: reason.into(),
            dtype: self.dtype,
            conjugate,
            conjugate_result: conjugate && !self.request.swapped,
            cores,
            repeat: self.repeat(),
            cut: self.cut,
            pairs: self.pairs,
            block: 1,
            workers: 1,
            order,
            meet: cores,
            two_ended: false,
            grow: [0, 0],
            split: 0,
            panel: 1,
            triangle: false,
            grid: false,
            scaled: options.scaling == Scaling::Always || (auto && sites > 30),
            rescue: options.scaling != Scaling::Never,
            largest: (whole(environment), whole(product)),
            chain: None,
            flops: self.pairs.len() as f64 * self.pair,
            bytes: read(x) + if same { 0.0 } else { read(y) },
            workspace: 0,
            limit: self.limit,
        })
    }

    /// Returns an error if the caller set a limit and `needed` bytes exceed it.
    fn expect_within(&self, needed: f64) -> Result<()> {
        if self.strict { expect_within(self.limit, needed) } else { Ok(()) }
    }

    /// Plans by boundary pairs. A cheaper method would be chosen with `otherwise` bytes of workspace. The error about
    /// `workspace_limit` names that number if it is smaller.
    fn by_pairs(&self, method: Method, reason: String, otherwise: f64) -> Result<Plan> {
        let mut plan = self.start(method, reason)?;
        let machine = self.request.machine;
        let max_rank = self.request.x.0.max_rank().max(self.request.y.0.max_rank());
        let all = self.pairs.len();
        let (environment, product) = self.sizes.largest(self.cut, self.repeat());
        let rank = if all > 1 { machine.chain_rank.min(machine.ring_rank) } else { machine.chain_rank };
        if max_rank <= rank {
            plan.kernel = Kernel::Chain;
        }
        let single = self.bytes(environment + product);
        // A block of n > 1 pairs needs three environments for each pair. A single pair needs one environment and one
        // product.
        let each = self.bytes(3.0 * environment);
        let forced = match method {
            Method::Reduced => Some(1),
            Method::Full => Some(all),
            _ => Some(self.request.options.block.min(all)).filter(|block| *block > 0),
        };
        let needed = match forced {
            Some(block) if block > 1 => block as f64 * each,
            _ => single,
        };
        let mut least = needed.min(otherwise);
        if let (Kernel::Chain, Some(isa)) = (plan.kernel, machine.vectors) {
            match self.by_chain(&mut plan, isa) {
                None => return Ok(plan),
                Some(needed) => (plan.kernel, least) = (Kernel::Products, least.min(needed)),
            }
        }
        // purlin's own GPU kernels may need no workspace. [`super::ops::ContractOps::finalize_plan`] chooses the kernel
        // and then checks the limit.
        let is_checked_later = self.is_gpu() && (plan.kernel == Kernel::Chain || plan.sites() == 1);
        let expect_within = |needed: f64| if is_checked_later { Ok(()) } else { self.expect_within(needed) };
        if needed > self.limit as f64 {
            expect_within(least)?;
        }
        if all == 1 {
            plan.workspace = single as u64;
            let whole = 2.0 * self.bytes(self.sizes.grid());
            let free = self.request.options.kernel.is_none() && (!self.strict || whole <= self.limit as f64);
            if plan.kernel == Kernel::Products && free && max_rank <= machine.grid_rank {
                (plan.kernel, plan.grid, plan.workspace) = (Kernel::Chain, true, whole as u64);
                return Ok(plan);
            }
            if method == Method::Open && self.repeat() == 1 && plan.kernel == Kernel::Products {
                self.ends(&mut plan, max_rank, (environment, product));
            }
            return Ok(plan);
        }
        let allowed = ((self.limit as f64 / each) as usize).clamp(1, all);
        plan.block = match forced {
            Some(block) => block,
            None => {
                let narrow = self.sizes.s.iter().copied().max().unwrap_or(1);
                let filling = machine.fill_rows.div_ceil(narrow).max(1);
                // On a GPU, larger products gain more than cached environments.
                let cached = if self.is_gpu() { allowed } else { ((machine.cache as f64 / each) as usize).max(1) };
                // At least one block for each worker of a large machine. The number is the same on a smaller machine.
                filling.min(cached).min(all.div_ceil(machine.shares * self.request.contexts.max(1))).min(allowed)
            }
        };
        let block = if plan.block == 1 { single } else { plan.block as f64 * each };
        expect_within(block)?;
        if method == Method::Blocked {
            let fitting = (self.limit as f64 / block) as usize;
            plan.workers = machine.workers.min(plan.blocks()).min(fitting).max(1);
        }
        plan.workspace = (plan.workers as f64 * block) as u64;
        Ok(plan)
    }

    /// Plans the pairs for the CPU's chain kernel and returns `None`. If the smallest block exceeds the limit, returns
    /// the bytes that it needs. If the chain kernel would use much more memory than products, returns infinity.
    fn by_chain(&self, plan: &mut Plan, isa: Isa) -> Option<f64> {
        let Request { options, machine, x, y, .. } = self.request;
        let Ok(repeat) = usize::try_from(self.repeat()) else { return Some(f64::INFINITY) };
        let chain = Chain::new(isa, x, y, (self.cut, repeat), plan.conjugate);
        let all = self.pairs.len();
        plan.block = match plan.method {
            Method::Reduced => 1,
            Method::Full => all,
            _ if options.block > 0 => options.block.min(all),
            // Enough blocks for every worker of a large machine. The number must not depend on the machine, because it
            // affects the rounding of the result.
            _ => all.div_ceil(64).min(TOGETHER),
        };
        let part = if self.dtype.is_single() { 4 } else { 8 };
        let block = chain.workspace(plan.block).saturating_mul(part);
        // The chain kernel pads short rows to a vector and gathers the cores at the cut. If that takes much more memory
        // than a product by the library, the library is used.
        let (environment, product) = self.sizes.largest(self.cut, self.repeat());
        let filled = (chain.workspace(1) * part) as f64 > self.bytes(environment + product) + 16384.0;
        if filled {
            return Some(f64::INFINITY);
        }
        if to_u64(block) > self.limit {
            return Some(block as f64);
        }
        let fitting = (self.limit / to_u64(block)).min(to_u64(machine.workers)) as usize;
        plan.workers = if plan.method == Method::Blocked { fitting.min(plan.blocks()).max(1) } else { 1 };
        plan.workspace = to_u64(block) * to_u64(plan.workers);
        plan.chain = Some(chain);
        None
    }

    fn best_halves(&self) -> Halves {
        let d = self.sizes.len();
        let start = self.sizes.halves(self.cut, d.div_ceil(2));
        // For longer trains, whose dense tensors fit no memory unless modes have size 1, only the middle is tried.
        (1..if d <= 64 { d } else { 1 })
            .map(|split| self.sizes.halves(self.cut, split))
            .fold(start, |a, b| if b.flops < a.flops { b } else { a })
    }

    fn halves_bytes(&self, halves: Halves) -> f64 {
        // At least one column of each dense tensor must fit.
        self.bytes(halves.x + halves.y + 2.0 * halves.left)
    }

    fn by_halves(&self, halves: Halves, reason: String) -> Result<Plan> {
        let needed = self.halves_bytes(halves);
        self.expect_within(needed)?;
        let mut plan = self.start(Method::Halves, reason)?;
        plan.pairs.halved = false;
        (plan.split, plan.flops) = (halves.split, halves.flops);
        // Columns of both tensors that fit into a core's cache together.
        let column = self.bytes(2.0 * halves.left);
        let cached = (0.5 * self.request.machine.cache as f64 / column).min(halves.right).max(1.0);
        let spare = self.limit as f64 - needed;
        plan.panel = whole(cached.min(1.0 + spare.max(0.0) / column));
        let panel = column * plan.panel as f64;
        let more = (spare - panel).max(0.0) / panel;
        let panels = whole(halves.right).div_ceil(plan.panel);
        plan.workers = self.request.machine.workers.min(panels).min(1 + whole(more)).max(1);
        plan.workspace = (needed - column + plan.workers as f64 * panel) as u64;
        Ok(plan)
    }

    /// The exponent of the transfer matrix. The matrix belongs to one core for uniform trains, otherwise to all cores.
    fn exponent(&self) -> u64 {
        let d = to_u64(self.sizes.len());
        if self.request.uniform { d.saturating_mul(self.repeat()) } else { self.repeat() }
    }

    fn power_order(&self) -> f64 {
        self.sizes.r[self.cut] as f64 * self.sizes.s[self.cut] as f64
    }

    fn power_flops(&self) -> f64 {
        let cell = if self.request.uniform { 0.0 } else { self.sizes.middle() };
        self.power_order() * cell + cost::power(self.power_order(), self.exponent(), self.sizes.y_operations)
    }

    fn power_bytes(&self) -> f64 {
        let (environment, product) = self.sizes.largest(self.cut, 2);
        self.bytes(if self.is_gpu() {
            // The GPU copies the cores, and uses three matrices for any exponent.
            3.0 * self.power_order() * environment + self.sizes.cores()
        } else if self.power_order() == 1.0 {
            environment + product
        } else {
            3.0 * self.power_order() * environment
        })
    }

    fn by_power(&self, reason: String) -> Result<Plan> {
        self.expect_within(self.power_bytes())?;
        let mut plan = self.start(Method::Power, reason)?;
        plan.pairs.halved = false;
        plan.block = plan.pairs.len();
        plan.largest = {
            let (a, b) = self.sizes.largest(self.cut, 2);
            (whole(a), whole(b))
        };
        plan.flops = self.power_flops();
        plan.workspace = self.power_bytes() as u64;
        if self.request.uniform {
            plan.repeat = self.exponent();
            plan.cores = 1;
            plan.cut = 0;
        }
        Ok(plan)
    }
}
