//! The method of a plan, its passes, and the input of the cost model.

use std::sync::Arc;

use super::super::choose::{CHOICE_THREADS, Case, Machine};
use super::super::data::Resident;
use super::super::options::{ErrorKind, IterationPrecision, Method, Options};
use super::super::passes::passes;
use super::plan::Plan;
use super::request::{Goal, Request};
use crate::backend::Backend;
use crate::choice::word;
use crate::context::Context;
use crate::error::{Error, Result, real};
use crate::matrix::{Matrix, Storage};

/// Bytes of the buffers for blocks, in the estimate of the rows that stay on a device: three blocks of 128 MB.
const BLOCK_BYTES: f64 = 3.0 * 128e6;

impl Plan {
    pub(super) fn choose(&mut self, request: &Request<'_>) -> Result<()> {
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
    pub(super) fn passes(&self, options: &Options, goal: Goal) -> Option<usize> {
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
        let delicate = if super::super::options::unit_roundoff(self.dtype) > 1e-10 { 3e-4 } else { 1e-7 };
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
}

fn refused(method: Method, goal: &str, needed: &str) -> Error {
    Error::invalid("method", format!("is {}, which is none of {goal}; {needed} is needed", word(method)))
}
