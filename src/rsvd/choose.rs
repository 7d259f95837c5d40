//! The cost model: seconds of each method on a machine, and the choice among them.
//!
//! The time of a run is the largest of three times: its bytes over the link, its products with the data, and its bytes
//! through the device's memory. The orthonormalizations and small factorizations are added, because they do not overlap.
//!
//! The figures of a GPU are fitted to whole runs on an H200 (2026-11-22, data on the device, `FUSED` with l = 128 and 500
//! and `KRYLOV` with l = 128 in both precisions). The predictions are within 10 % of these runs.

use super::options::Method;
use super::passes::passes;
use crate::backend::Backend;
use crate::backend::cpu::Isa;
use crate::choice::word;
use crate::context::Context;
use crate::scalar::DType;

/// Threads of the machines that AUTO chooses a method for on the CPU. Those of a context must not change the choice, as another
/// method gives other bits. With data in memory the rates of up to 10 threads are in proportion, and so are the costs: the last
/// decides. Data from a source are read as fast for few threads as for many, and both decide.
pub const CHOICE_THREADS: [u64; 2] = [2, 8];

/// Rates of a machine, from which costs in seconds follow.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Machine {
    /// Bytes a second of the link from the data to the device that uses them; infinite where the data are not moved.
    pub link: f64,
    /// Operations a second in products of matrices. An addition and a multiplication count as two.
    pub flops: f64,
    /// Columns of a product that reaches half of `flops`.
    pub ramp: f64,
    /// Operations a second in factorizations of small matrices.
    pub small: f64,
    /// Bytes a second of the memory that products read.
    pub memory: f64,
}

impl Machine {
    /// Rates of `contexts` contexts like `context`. `outside` means that the data come from a source.
    pub fn of(context: &Context, contexts: usize, dtype: DType, outside: bool) -> Self {
        match context.backend() {
            Backend::Gpu(gpu) => {
                let single = dtype.is_single();
                let complexity = complexity(dtype);
                let count = contexts.max(1) as f64;
                let info = gpu.info();
                let newest = info.compute_capability.0 >= 9;
                let clock = if info.clock_khz > 0 { f64::from(info.clock_khz) * 1e3 } else { 1.5e9 };
                let cycles = clock * f64::from(info.multiprocessors) / complexity;
                Self::gpu(newest, single, cycles).times(count)
            }
            Backend::Cpu => Self::cpu(context.isa(), context.threads(), dtype, outside),
        }
    }

    /// The machines that AUTO chooses a method for. On the CPU they have [`CHOICE_THREADS`] threads with AVX-512 for any
    /// context, so that the choice depends neither on its threads nor on its instruction set.
    pub fn for_choice(context: &Context, contexts: usize, dtype: DType, outside: bool) -> Vec<Self> {
        let [few, many] = CHOICE_THREADS.map(|threads| Self::cpu(Isa::Avx512, threads, dtype, outside));
        match context.backend() {
            Backend::Gpu(_) => vec![Self::of(context, contexts, dtype, outside)],
            Backend::Cpu if outside => vec![few, many],
            Backend::Cpu => vec![many],
        }
    }

    /// Rates of `threads` threads of a CPU.
    fn cpu(isa: Isa, threads: u64, dtype: DType, outside: bool) -> Self {
        let width = match isa {
            Isa::Avx512 => 40e9,
            Isa::Avx2 => 25e9,
            _ => 6e9,
        };
        let threads = threads as f64;
        let flops = width * threads * if dtype.is_single() { 2.0 } else { 1.0 } / complexity(dtype);
        Self {
            link: if outside { 2e9 } else { f64::INFINITY },
            flops,
            ramp: 0.0,
            small: flops / 10.0,
            memory: (10e9 * threads).min(100e9),
        }
    }

    /// A GPU whose multiprocessors have `cycles` cycles a second together; `newest` from compute capability 9 on.
    pub fn gpu(newest: bool, single: bool, cycles: f64) -> Self {
        // Operations of a multiprocessor in a cycle: tensor cores in f64, ordinary units in f32. Wide products reach five
        // sixths of them.
        let cycle = match (newest, single) {
            (true, _) | (false, true) => 256.0,
            (false, false) => 128.0,
        };
        let flops = 0.83 * cycle * cycles;
        Self {
            link: if newest { 50e9 } else { 22e9 },
            flops,
            ramp: 48.0,
            // Decompositions of a few hundred columns use few multiprocessors.
            small: flops / 270.0,
            memory: if newest { 3.5e12 } else { 1.4e12 },
        }
    }

    /// `count` such machines. They share the passes, but not the small factorizations.
    fn times(self, count: f64) -> Self {
        Self { link: count * self.link, flops: count * self.flops, memory: count * self.memory, ..self }
    }

    /// Seconds of products with `flops` operations, whose result has `width` columns.
    fn products(&self, flops: f64, width: f64) -> f64 {
        flops * (1.0 + self.ramp / width.max(1.0)) / self.flops
    }
}

/// Real operations for one of the type: a complex multiplication and addition counts as four real ones.
fn complexity(dtype: DType) -> f64 {
    if dtype.is_complex() { 4.0 } else { 1.0 }
}

/// The problem that a method is chosen for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Case {
    /// Rows, the axis that is cut.
    pub rows: usize,
    /// Columns of the oriented problem.
    pub columns: usize,
    /// Rank k, or with a tolerance the largest.
    pub rank: usize,
    /// Columns l of the sketch.
    pub width: usize,
    /// Power iterations q.
    pub iterations: usize,
    /// Columns that merged blocks keep.
    pub merge_width: usize,
    /// Merge without a second pass.
    pub one_pass: bool,
    /// Entries that are read; for sparse matrices the stored ones.
    pub entries: f64,
    /// Bytes of an entry as it is read.
    pub entry_bytes: usize,
    /// Bytes of an element of the type of computation.
    pub element_bytes: usize,
    /// Whether the data are never moved: they lie in the memory of the device that uses them.
    pub is_there: bool,
    /// Fraction of the rows that stays on the device between passes, 0 to 1.
    pub resident: f64,
    /// Whether the data have blocks of entries. False for sparse matrices and operators.
    pub has_blocks: bool,
    /// Blocks that the rows are read in, in one pass.
    pub blocks: usize,
    /// Bytes that a Gram matrix may take.
    pub gram_limit: f64,
    /// Whether values near sqrt(u) of the largest have to be resolved.
    pub is_delicate: bool,
    /// Whether the sketch is the caller's. A direct decomposition would ignore it.
    pub is_given: bool,
}

/// Time of a rank update divided by that of a product with as many operations, measured with runs of `GRAM` on the device.
/// Half of each tile on the diagonal is computed needlessly, and single precision is converted to double first.
const RANK_UPDATE: f64 = 1.2;

/// Largest number of columns for which AUTO considers `Gram`.
const GRAM_COLUMNS: usize = 16_384;

impl Case {
    /// Columns of the last orthonormalization, and order of the small problem.
    fn final_width(&self, method: Method) -> f64 {
        let least = self.rows.min(self.columns) as f64;
        let width = self.width as f64;
        match method {
            Method::Krylov => (width * (self.iterations as f64 + 1.0)).min(least),
            Method::Direct => least,
            _ => width.min(least),
        }
    }

    /// Seconds that `method` takes on `machine`.
    pub fn cost(&self, method: Method, machine: &Machine) -> f64 {
        let (m, n, l, q) = (self.rows as f64, self.columns as f64, self.width as f64, self.iterations as f64);
        let entries = self.entries;
        let last = self.final_width(method);
        let passes = passes(method, self.iterations, self.one_pass) as f64;
        let w = self.merge_width as f64;
        // Seconds of products of the data with `times` times l columns.
        let wide = |times: f64| machine.products(2.0 * times * entries * l, l);
        let products = match method {
            Method::Range | Method::Fused | Method::Brsvd => wide(2.0 * (q + 1.0)),
            Method::Gram => RANK_UPDATE * machine.products(entries * n, n) + wide(1.0),
            Method::Merge => {
                let second = if self.one_pass { 0.0 } else { wide(1.0) };
                machine.products(4.0 * (q + 1.0) * entries * w, w) + second
            }
            Method::Krylov => wide(2.0 * q) + machine.products(2.0 * entries * last, last),
            Method::OnePass => machine.products(2.0 * entries * (3.0 * l + 1.0), l),
            Method::Direct => machine.products(2.0 * entries * last, last),
            Method::Basic | Method::Fifo | Method::RowFused | Method::Auto | Method::Nystrom | Method::Rayleigh => {
                wide(2.0 * q + 1.0)
            }
        };
        // One CholeskyQR2 of the tall factor, one step for each of the others, and the products that transform bases.
        let bases = 4.0 * m * last * last
            + 2.0 * m * last * self.rank as f64
            + 4.0 * n * last * last
            + 2.0 * q * n * l * l
            + match method {
                Method::Krylov => 4.0 * n * last * last,
                Method::Range => 2.0 * q * m * l * l,
                Method::Gram => 2.0 * q * n * n * l,
                Method::Merge => 8.0 * n * w * w * self.blocks as f64,
                _ => 0.0,
            };
        let small = 25.0 * last.powi(3)
            + match method {
                // All eigenvectors, under the condition of `algorithm::gram`.
                Method::Gram if n <= 4096.0 && m >= 50.0 * n => 12.0 * n.powi(3),
                Method::Merge => self.blocks as f64 * 200.0 * w.powi(3),
                _ => 0.0,
            };
        let once = entries * self.entry_bytes as f64;
        let moved = once * (1.0 + (passes - 1.0) * (1.0 - self.resident));
        let link = if self.is_there || machine.link.is_infinite() { 0.0 } else { moved / machine.link };
        // Each use of a block in a product reads it once from the device's memory.
        let uses = match method {
            Method::Gram | Method::OnePass => passes + 1.0,
            Method::Merge | Method::Brsvd => 2.0 * (q + 1.0) + 1.0,
            Method::Direct | Method::Range | Method::Basic | Method::Fifo => passes,
            _ => 2.0 * passes,
        };
        let memory = uses * entries * self.element_bytes as f64 / machine.memory;
        link.max(products).max(memory) + bases / machine.flops + small / machine.small
    }

    /// The method that is not `excluded` and whose time, as a multiple of the fastest method's, is shortest on the machine of
    /// `machines` where that is longest; and the reason. `None` if all are excluded.
    pub fn choose(&self, machines: &[Machine], excluded: &[Method]) -> Option<(Method, String)> {
        let least = self.rows.min(self.columns);
        let smaller = match excluded {
            [] => String::new(),
            _ => {
                let words: Vec<_> = excluded.iter().map(word).collect();
                format!("; {} need more memory than the limit leaves", words.join(", "))
            }
        };
        if 2 * self.width >= least && !self.is_given && !excluded.contains(&Method::Direct) {
            let reason = format!("l = {} is half of min(m, n) = {least} or more: a direct SVD", self.width);
            return Some((Method::Direct, reason));
        }
        // In falling accuracy: the first method within a tenth of the best one is chosen.
        let mut candidates = Vec::with_capacity(5);
        if self.has_blocks && self.blocks > 1 {
            candidates.push(Method::Merge);
        }
        if self.iterations > 0 {
            // Without an iteration its basis is the sketch itself, which is independent of the data.
            candidates.push(Method::Krylov);
        }
        candidates.push(Method::Fused);
        let gram_bytes = (self.columns as f64).powi(2) * self.element_bytes.max(8) as f64;
        if self.has_blocks && self.columns <= GRAM_COLUMNS && gram_bytes <= self.gram_limit && !self.is_delicate {
            candidates.push(Method::Gram);
        }
        candidates.retain(|c| !excluded.contains(c));
        if candidates.is_empty() && self.iterations > 0 && !excluded.contains(&Method::RowFused) {
            // Less accurate by half a power iteration, but with the smallest need of memory.
            candidates.push(Method::RowFused);
        }
        let mut multiples = vec![0.0_f64; candidates.len()];
        let mut costs = Vec::new();
        for machine in machines {
            costs = candidates.iter().map(|c| self.cost(*c, machine)).collect::<Vec<_>>();
            let fastest = costs.iter().copied().fold(f64::INFINITY, f64::min);
            multiples.iter_mut().zip(&costs).for_each(|(multiple, cost)| *multiple = multiple.max(cost / fastest));
        }
        let best = multiples.iter().copied().fold(f64::INFINITY, f64::min);
        let chosen = multiples.iter().position(|multiple| *multiple <= 1.1 * best)?;
        let others = |text: &dyn Fn(usize) -> String| {
            let others = (0..candidates.len()).filter(|other| *other != chosen);
            others.map(|other| format!("{} {}", word(candidates[other]), text(other))).collect::<Vec<_>>().join(", ")
        };
        let reason = if machines.len() > 1 {
            let [few, many] = CHOICE_THREADS;
            format!(
                "at most {:.2} times as long as the fastest with {few} or {many} threads; {}{smaller}",
                multiples[chosen],
                others(&|other| format!("{:.2}", multiples[other])),
            )
        } else {
            let others = others(&|other| format!("{:.2e} s", costs[other]));
            format!("{:.2e} s predicted; {others}{smaller}", costs[chosen])
        };
        Some((candidates[chosen], reason))
    }
}
