//! The plan of a run: type, orientation and sizes of a problem, and the method. `memory/fit.rs` makes it fit into the
//! available memory.

mod request;

use std::sync::Arc;

use super::choose::{CHOICE_THREADS, Case, Machine};
use super::data::{Center, LongColumns, Resident, Setting};
use super::options::{Centering, ErrorKind, IterationPrecision, Method, Options};
use super::passes::passes;
use crate::backend::Backend;
use crate::choice::word;
use crate::context::Context;
use crate::error::{Error, Result, real};
use crate::matrix::{Matrix, Storage};
use crate::scalar::DType;
use crate::shape::Order;

pub use request::{Goal, Request, Results, WantedFactors};

/// A planned run: method, sizes and predicted cost.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Type of the computation, after defaults.
    pub dtype: DType,
    /// Whether the columns are the axis that is cut.
    pub transposed: bool,
    /// Rows of the oriented problem.
    pub rows: usize,
    /// Columns of the oriented problem.
    pub columns: usize,
    /// Rank; with a tolerance the largest allowed.
    pub rank: usize,
    /// Columns l of the sketch.
    pub width: usize,
    /// Power iterations q.
    pub iterations: usize,
    /// Columns that merged blocks keep.
    pub merge_width: usize,
    /// Merge without a second pass.
    pub one_pass: bool,
    /// The method in force; not [`Method::Auto`].
    pub method: Method,
    /// Why this method was chosen, and remarks on options without effect.
    pub reason: String,
    /// Seconds that the cost model predicts.
    pub seconds: f64,
    /// Passes over the data; `None` if the number depends on the data.
    pub passes: Option<usize>,
    /// Passes for means and deviations before all others, 0 or 1.
    pub passes_of_means: usize,
    /// Whether ||A||_F is estimated from products instead of summed.
    pub estimates_norm: bool,
    /// How the data are read.
    pub setting: Setting,
    /// Peak of host memory in bytes of a run on the CPU whose columns stay linearly independent; 0 on a GPU.
    pub host_bytes: u64,
}

/// Bytes of the buffers for blocks, in the estimate of the rows that stay on a device: three blocks of 128 MB.
const BLOCK_BYTES: f64 = 3.0 * 128e6;

/// Whether to cut `matrix` along its columns. Where both axes can be cut, the longer one is.
fn orientation(options: &Options, matrix: &Matrix, goal: Goal, given: bool) -> Result<bool> {
    let wide = matrix.cols() > matrix.rows();
    let bound_to_rows = options.scale || given || goal == Goal::Symmetric;
    match matrix.storage() {
        Storage::Dense { .. } => Ok(wide && !bound_to_rows),
        Storage::Streamed(streamed) => {
            // A source of whole columns can only be read in blocks of columns.
            let by_columns = streamed.order() == Order::ColumnMajor;
            if by_columns && options.scale {
                return Err(Error::NotSupported("scale: of a matrix that is read by columns".into()));
            }
            Ok(by_columns && goal != Goal::Symmetric && !given)
        }
        Storage::Csr(_) | Storage::Operator(_) => Ok(false),
    }
}

/// A plan refuses what its run does not scale.
fn expect_scalable(matrix: &Matrix, center: Center) -> Result<()> {
    if matches!(matrix.storage(), Storage::Operator(_)) {
        return Err(Error::NotSupported("scale: of a matrix that is known by its products alone".into()));
    }
    if center == Center::Rows {
        return Err(Error::NotSupported("scale: of columns whose rows are centred".into()));
    }
    Ok(())
}

impl AsRef<Plan> for Plan {
    fn as_ref(&self) -> &Plan {
        self
    }
}

impl Plan {
    /// The plan without the sizes that depend on the available memory.
    pub(super) fn with(request: &Request<'_>) -> Result<Self> {
        let Request { options, matrix, goal, given, transposed, .. } = *request;
        let (m, n) = (matrix.rows(), matrix.cols());
        let least = m.min(n);
        let dtype = options.dtype.unwrap_or_else(|| matrix.dtype().computing());
        let transposed = match transposed {
            Some(true) if matches!(matrix.storage(), Storage::Csr(_) | Storage::Operator(_)) => {
                let problem = "samples in the columns of a sparse matrix or an operator; give its transpose, with samples in rows";
                return Err(Error::NotSupported(format!("a: {problem}")));
            }
            Some(transposed) => transposed,
            None => orientation(options, matrix, goal, given.is_some())?,
        };
        let (rows, columns) = if transposed { (n, m) } else { (m, n) };
        let rank = wanted_rank(options, least, goal)?;
        let width = sketch_width(options, rank, least, n, given, goal)?;
        let iterations = options.iterations_for(rank, least);
        let merge_width = match options.merge_width {
            0 => 2 * width,
            w if w < width => {
                let problem = format!("is {w}, less than rank + oversampling = {width}");
                return Err(Error::invalid("merge_width", problem));
            }
            w => w,
        }
        .min(columns);
        let center = match (options.center, transposed) {
            (Centering::None, _) => Center::None,
            (Centering::Columns, false) | (Centering::Rows, true) => Center::Columns,
            (Centering::Rows, false) | (Centering::Columns, true) => Center::Rows,
        };
        if options.scale {
            expect_scalable(matrix, center)?;
        }
        let setting = Setting {
            block_rows: options.block_rows,
            resident: options.resident_rows,
            alternate: false,
            center,
            scale: options.scale,
            factor: 1.0,
            tall_columns: 0,
            long: LongColumns::default(),
            small_elements: 0,
            panel_rows: 0,
        };
        let mut plan = Self {
            dtype,
            transposed,
            rows,
            columns,
            rank,
            width,
            iterations,
            merge_width,
            one_pass: options.one_pass,
            method: options.method,
            reason: String::new(),
            seconds: f64::NAN,
            passes: None,
            passes_of_means: 0,
            estimates_norm: matches!(matrix.storage(), Storage::Operator(_)),
            setting,
            host_bytes: 0,
        };
        plan.choose(request)?;
        let has_blocks = matches!(matrix.storage(), Storage::Dense { .. } | Storage::Streamed(_));
        // Those of sparse matrices and operators need none.
        let needs_means = has_blocks && (plan.setting.center == Center::Columns || plan.setting.scale);
        plan.passes_of_means = usize::from(needs_means);
        plan.passes = plan.passes(options, goal);
        plan.set_sizes(options, goal);
        Ok(plan)
    }

    fn choose(&mut self, request: &Request<'_>) -> Result<()> {
        let Request { options, contexts, matrix, goal, given, .. } = *request;
        let has_blocks = matches!(matrix.storage(), Storage::Dense { .. } | Storage::Streamed(_));
        let context = &contexts[0];
        let is_source = matches!(matrix.storage(), Storage::Streamed(_));
        if options.read_rate > 0.0 && !is_source {
            let problem = format!("is {}, for a matrix that is not read in blocks", real(options.read_rate));
            return Err(Error::invalid("read_rate", problem));
        }
        if matches!(goal, Goal::Decompose | Goal::Symmetric | Goal::Basis(_)) && !has_blocks {
            if options.block_rows > 0 {
                let problem = format!("is {}, for a matrix that is not read in blocks", options.block_rows);
                return Err(Error::invalid("block_rows", problem));
            }
            if let Resident::AtMost(rows) = options.resident_rows {
                let problem = format!("is {rows}, for a matrix that is not read in blocks");
                return Err(Error::invalid("resident_rows", problem));
            }
        }
        let slowed = |mut machine: Machine| {
            if options.read_rate > 0.0 {
                machine.link = machine.link.min(options.read_rate);
            }
            machine
        };
        let machine = slowed(Machine::of(context, contexts.len(), self.dtype, is_source));
        match goal {
            Goal::Symmetric => {
                self.method = match options.method {
                    Method::Auto | Method::Rayleigh => Method::Rayleigh,
                    Method::Nystrom => Method::Nystrom,
                    other => return Err(refused(other, "a symmetric decomposition", "AUTO, NYSTROM or RAYLEIGH")),
                };
            }
            Goal::Basis(_) => self.method = Method::Range,
            Goal::Products(_) | Goal::Map { .. } => self.method = Method::Direct,
            Goal::Decompose if options.tolerance > 0.0 => {
                self.method = Method::Range;
                "asked for by its tolerance: blocks of the range form".clone_into(&mut self.reason);
                return Ok(());
            }
            Goal::Decompose => match options.method {
                Method::Nystrom | Method::Rayleigh => {
                    return Err(refused(options.method, "a rectangular decomposition", "another method"));
                }
                Method::Gram | Method::Brsvd | Method::Merge if !has_blocks => {
                    let problem = format!("method: {} of a matrix without blocks of entries", word(options.method));
                    return Err(Error::NotSupported(problem));
                }
                // A given sketch may depend on the data.
                Method::Krylov | Method::RowFused | Method::Basic | Method::Fifo
                    if self.iterations == 0 && given.is_none() =>
                {
                    let problem = "whose basis is then random; at least 1, or RANGE or FUSED, is needed";
                    let problem = format!("is 0 for method {}, {problem}", word(options.method));
                    return Err(Error::invalid("power_iterations", problem));
                }
                _ => {}
            },
        }
        if goal != Goal::Decompose {
            return Ok(());
        }
        let mut case = self.case(options, context, matrix, has_blocks)?;
        if given.is_some() {
            // Blocks draw sketches of their own.
            case.blocks = 1;
            case.is_given = true;
        }
        if self.method == Method::Auto {
            let mut common = Machine::for_choice(context, contexts.len(), self.dtype, is_source);
            common.iter_mut().for_each(|machine| *machine = slowed(*machine));
            let chosen = case.choose(&common, request.excluded);
            let (method, reason) = chosen.ok_or(Error::OutOfMemory {
                what: "a decomposition by any method",
                bytes: 0,
                limit: context.host_budget().limit(),
            })?;
            (self.method, self.seconds, self.reason) = (method, case.cost(method, &machine), reason);
            if let [common] = common[..]
                && common != machine
                && method != Method::Direct
            {
                let [.., threads] = CHOICE_THREADS;
                self.reason.push_str(&format!("; seconds of {threads} threads with AVX-512"));
            }
            for name in options.idle(method) {
                self.reason.push_str("; ");
                self.reason.push_str(name);
                self.reason.push_str(" has no effect");
            }
        } else {
            self.seconds = case.cost(self.method, &machine);
            "asked for".clone_into(&mut self.reason);
        }
        let is_seen_once = matches!(self.method, Method::Direct | Method::OnePass);
        if is_seen_once {
            self.iterations = 0;
        }
        if is_seen_once && options.restart_path.is_some() {
            self.reason.push_str("; no restart file in one pass");
        }
        let has_iterations =
            !matches!(self.method, Method::Gram | Method::Brsvd | Method::Merge) && self.iterations > 0;
        if options.iteration_precision == IterationPrecision::Fast && !has_iterations {
            self.reason.push_str("; iterations in full precision: none over the data that could be faster");
        }
        Ok(())
    }

    /// Passes of the method alone, without those of the error.
    pub fn own_passes(&self) -> usize {
        match self.method {
            // A direct decomposition, as in `algorithm::krylov`.
            Method::Krylov if self.width >= self.rows && self.rows < self.columns => 1,
            method => passes(method, self.iterations, self.one_pass),
        }
    }

    /// Passes of a run that repeats nothing; `None` for calls whose number of passes depends on the data.
    fn passes(&self, options: &Options, goal: Goal) -> Option<usize> {
        let is_fixed = match goal {
            Goal::Decompose => options.tolerance == 0.0,
            Goal::Symmetric => true,
            Goal::Basis(_) | Goal::Products(_) | Goal::Map { .. } => false,
        };
        let own = self.own_passes();
        let probes = usize::from(self.estimates_norm && options.error == ErrorKind::Identity && !self.one_pass);
        let is_estimated = self.estimates_norm && options.error != ErrorKind::None && !self.one_pass;
        let norm = usize::from(is_estimated && !self.method.is_projection());
        is_fixed.then(|| own.saturating_add(self.passes_of_means + options.error.passes() + probes + norm))
    }

    /// The input of the cost model.
    fn case(&self, options: &Options, context: &Arc<Context>, matrix: &Matrix, has_blocks: bool) -> Result<Case> {
        let element = self.dtype.size();
        let entry_bytes = matrix.dtype().size();
        let (entries, is_resident) = match matrix.storage() {
            Storage::Csr(csr) => (csr.nnz() as f64, true),
            Storage::Dense { memory, .. } => {
                let on_device = matches!(memory, crate::backend::memory::Memory::Device(_));
                (self.rows as f64 * self.columns as f64, on_device || matches!(context.backend(), Backend::Cpu))
            }
            Storage::Streamed(_) => (self.rows as f64 * self.columns as f64, false),
            Storage::Operator(_) => (self.rows as f64 * self.columns as f64, true),
        };
        let available = match context.backend() {
            Backend::Gpu(gpu) => gpu.memory_available()? as f64,
            Backend::Cpu => context.host_budget().available() as f64,
        };
        let beside = (self.rows * self.width + 4 * self.columns * self.width) as f64 * element as f64;
        let row = (self.columns * entry_bytes).max(1) as f64;
        let fit = ((available - beside - BLOCK_BYTES) / row).clamp(0.0, self.rows as f64);
        let kept = match options.resident_rows {
            Resident::Auto => fit,
            Resident::AtMost(rows) => fit.min(rows as f64),
        };
        // On the CPU each pass reads a source again.
        let on_cpu = matches!(context.backend(), Backend::Cpu);
        let resident = match (is_resident, on_cpu) {
            (true, _) => 1.0,
            (false, true) => 0.0,
            (false, false) => kept / self.rows.max(1) as f64,
        };
        let block = if options.block_rows > 0 { options.block_rows as f64 } else { (128e6 / row).max(1.0) };
        let blocks = if is_resident && options.block_rows == 0 { 1.0 } else { (self.rows as f64 / block).ceil() };
        let delicate = if super::options::unit_roundoff(self.dtype) > 1e-10 { 3e-4 } else { 1e-7 };
        Ok(Case {
            rows: self.rows,
            columns: self.columns,
            rank: self.rank,
            width: self.width,
            iterations: self.iterations,
            merge_width: self.merge_width,
            one_pass: options.one_pass,
            entries,
            entry_bytes,
            element_bytes: element,
            is_there: is_resident,
            resident,
            has_blocks,
            blocks: blocks as usize,
            gram_limit: available / 4.0,
            is_delicate: options.smallest_ratio > 0.0 && options.smallest_ratio < delicate,
            is_given: false,
        })
    }

    /// Sets the sizes for which the backend reserves memory.
    fn set_sizes(&mut self, options: &Options, goal: Goal) {
        // Sizes beyond any memory are refused by the allocation. Here they must only not wrap around, so they saturate.
        let n = Size(self.columns);
        let (l, k) = (Size(self.width), Size(self.rank));
        let least = Size(self.rows.min(self.columns));
        let krylov = self.krylov_columns();
        let (merged, block) = (Size(self.merge_width), Size(options.block_columns));
        let is_probed = options.error.is_probed() || (self.estimates_norm && options.error != ErrorKind::None);
        let probes = Size(if is_probed { options.probes } else { 0 });
        let times = |factor: usize, size: Size| Size(factor) * size;
        let (tall, small) = match (goal, self.method) {
            (Goal::Products(width) | Goal::Map { width, .. }, _) => (times(3, Size(width)), n * times(3, Size(width))),
            (Goal::Decompose, _) if options.tolerance > 0.0 => {
                let basis = times(2, k + block);
                (basis, n * basis + times(4, k * k))
            }
            (_, Method::Krylov) => (krylov, n * times(2, krylov + l) + times(6, krylov * krylov)),
            (_, Method::OnePass) => (times(3, l) + Size(1), n * (times(4, l) + Size(1)) + times(16, l * l)),
            (_, Method::Direct) => (least, times(2, n * n) + times(6, least * least)),
            // G, a second sum, and the workspace of its eigenvectors.
            (_, Method::Gram) => (l, times(5, n * n) + n * times(4, l) + times(6, l * l)),
            (_, Method::Merge) => (l, n * times(6, merged) + times(8, merged * merged)),
            (_, Method::Nystrom | Method::Rayleigh) => (times(2, l), n * times(3, l) + times(6, l * l)),
            _ => (l, n * times(4, l) + times(8, l * l)),
        };
        self.setting.tall_columns = (tall + probes).0;
        self.setting.small_elements = (small + n * times(2, probes)).0;
        self.setting.alternate = self.method == Method::Fifo;
        self.setting.long = self.long_columns(options, goal, if is_probed { probes } else { Size(0) });
    }

    /// Columns of matrices beside tall ones. A run with `probes` may multiply them together with the vectors that it found.
    fn long_columns(&self, options: &Options, goal: Goal, probes: Size) -> LongColumns {
        let (l, k) = (Size(self.width), Size(self.rank));
        let none = Size(0);
        let (replaced, scratch, result) = match (goal, self.method) {
            (Goal::Products(width) | Goal::Map { width, .. }, _) => (none, none, Size(width)),
            (Goal::Decompose, _) if options.tolerance > 0.0 => (Size(2) * (k + Size(options.block_columns)), none, k),
            // Their results are narrower than matrices that are gone by then.
            (_, Method::Krylov) => (self.krylov_columns(), l, none),
            (_, Method::OnePass) => (l, Size(2) * l + Size(1), none),
            (_, Method::Direct) => (Size(self.rows.min(self.columns)), none, k),
            (_, Method::Fused | Method::RowFused | Method::Brsvd | Method::Nystrom | Method::Rayleigh) => (l, l, k),
            _ => (l, none, k),
        };
        let merges = goal == Goal::Decompose && self.method == Method::Merge;
        let merged = if merges { Size(2) * Size(self.merge_width) } else { none };
        let refined = if probes.0 > 0 { probes + k } else { none };
        LongColumns {
            replaced: replaced.0.max(probes.0),
            scratch: scratch.0,
            result: result.0,
            merged: merged.0,
            product: [replaced, scratch, result, l, refined].into_iter().fold(0, |most, columns| most.max(columns.0)),
        }
    }

    /// Columns of the basis of [`Method::Krylov`].
    fn krylov_columns(&self) -> Size {
        let all = Size(self.width) * Size(self.iterations.saturating_add(1));
        Size(all.0.min(self.rows).min(self.columns))
    }
}

/// A number of elements with saturating arithmetic.
#[derive(Clone, Copy)]
struct Size(usize);

impl std::ops::Add for Size {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl std::ops::Mul for Size {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        Self(self.0.saturating_mul(other.0))
    }
}

fn refused(method: Method, goal: &str, needed: &str) -> Error {
    Error::invalid("method", format!("is {}, which is none of {goal}; {needed} is needed", word(method)))
}

fn wanted_rank(options: &Options, least: usize, goal: Goal) -> Result<usize> {
    match goal {
        Goal::Products(width) | Goal::Map { width, .. } => return Ok(width),
        Goal::Basis(width) if width > least => {
            return Err(Error::invalid("q", format!("has {width} columns, more than min(m, n) = {least}")));
        }
        Goal::Basis(width) => return Ok(width),
        Goal::Decompose | Goal::Symmetric => {}
    }
    if options.tolerance > 0.0 && goal == Goal::Decompose {
        if options.max_rank > least {
            return Err(Error::invalid("max_rank", format!("is {}, more than min(m, n) = {least}", options.max_rank)));
        }
        return Ok(if options.max_rank == 0 { least } else { options.max_rank });
    }
    if options.rank == 0 {
        return Err(Error::invalid("rank", "is 0, at least 1 is needed without a tolerance"));
    }
    if options.rank > least {
        return Err(Error::invalid("rank", format!("is {}, more than min(m, n) = {least}", options.rank)));
    }
    Ok(options.rank)
}

/// Columns of the sketch: those of the given sketch, or rank + oversampling clipped to the smaller side.
fn sketch_width(
    options: &Options,
    rank: usize,
    least: usize,
    n: usize,
    given: Option<&Matrix>,
    goal: Goal,
) -> Result<usize> {
    let width = match goal {
        Goal::Basis(width) | Goal::Products(width) | Goal::Map { width, .. } => width,
        _ if options.tolerance > 0.0 => options.block_columns,
        _ => rank.saturating_add(options.oversampling_for(rank)),
    }
    .min(least);
    let Some(given) = given else { return Ok(width) };
    if matches!(goal, Goal::Products(_) | Goal::Map { .. }) {
        return Ok(width);
    }
    if options.tolerance > 0.0 || matches!(options.method, Method::Brsvd | Method::Merge | Method::Direct) {
        return Err(Error::NotSupported("omega: a given sketch with a tolerance, BRSVD, MERGE or DIRECT".into()));
    }
    if given.rows() != n || given.cols() < width {
        let found = format!("{} x {}", given.rows(), given.cols());
        return Err(Error::invalid("omega", format!("is {found}, {n} x {width} or wider is needed")));
    }
    Ok(width)
}
