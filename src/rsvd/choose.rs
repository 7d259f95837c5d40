//! The cost model: seconds of each method on a machine, and the choice among them.
//!
//! A run takes as long as the longest of: its bytes over the link, its products with the data, its bytes through the
//! device's memory; and the orthonormalisations and small factorisations besides, which hide behind nothing.
//!
//! The figures of a GPU are fitted to whole runs on an H200 (2026-11-22, data on the device, `FUSED` with l = 128 and 500
//! and `KRYLOV` with l = 128 in both precisions), which they meet within 10 %.

use super::algorithm::passes;
use super::options::Method;
use crate::backend::Backend;
use crate::backend::cpu::Isa;
use crate::context::Context;
use crate::scalar::DType;

/// Rates of a machine.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Machine {
    /// Bytes a second from where the data are to where they are used; infinite where that is one place.
    pub link: f64,
    /// Operations a second in products of matrices, an addition and a multiplication being two.
    pub flops: f64,
    /// Columns of a product that reach half of that.
    pub ramp: f64,
    /// Operations a second in factorisations of small matrices.
    pub small: f64,
    /// Bytes a second of the memory that products read.
    pub memory: f64,
}

impl Machine {
    /// Figures of a context, for all `contexts` that are like it; `outside` tells that the data come from a source.
    pub fn of(context: &Context, contexts: usize, dtype: DType, outside: bool) -> Self {
        let single = matches!(dtype, DType::F32 | DType::CF32);
        // A complex multiplication and addition counts for four real ones.
        let complexity = if matches!(dtype, DType::CF32 | DType::CF64) { 4.0 } else { 1.0 };
        let count = contexts.max(1) as f64;
        match context.backend() {
            Backend::Gpu(gpu) => {
                let info = gpu.info();
                let newest = info.compute_capability.0 >= 9;
                let clock = if info.clock_khz > 0 { f64::from(info.clock_khz) * 1e3 } else { 1.5e9 };
                let cycles = clock * f64::from(info.multiprocessors) / complexity;
                Self::gpu(newest, single, cycles).times(count)
            }
            Backend::Cpu => {
                let width = match context.isa() {
                    Isa::Avx512 => 40e9,
                    Isa::Avx2 => 25e9,
                    _ => 6e9,
                };
                let threads = context.threads() as f64;
                let flops = width * threads * if single { 2.0 } else { 1.0 } / complexity;
                Self {
                    link: if outside { 2e9 } else { f64::INFINITY },
                    flops,
                    ramp: 0.0,
                    small: flops / 10.0,
                    memory: (10e9 * threads).min(100e9),
                }
            }
        }
    }
}

impl Machine {
    /// A GPU whose multiprocessors have so many cycles a second together; `newest` from compute capability 9 on.
    pub fn gpu(newest: bool, single: bool, cycles: f64) -> Self {
        // Operations of a multiprocessor in a cycle: tensor cores in f64, ordinary units in f32. Five in six of them are
        // had in wide products.
        let cycle = match (newest, single) {
            (true, _) | (false, true) => 256.0,
            (false, false) => 128.0,
        };
        let flops = 0.83 * cycle * cycles;
        Self {
            link: if newest { 50e9 } else { 22e9 },
            flops,
            ramp: 48.0,
            // Decompositions of a few hundred columns keep few multiprocessors busy.
            small: flops / 270.0,
            memory: if newest { 3.5e12 } else { 1.4e12 },
        }
    }

    /// `count` of them, which share the passes and not the small factorisations.
    fn times(self, count: f64) -> Self {
        Self { link: count * self.link, flops: count * self.flops, memory: count * self.memory, ..self }
    }

    /// Seconds of products of so many operations, whose result has `width` columns.
    fn products(&self, flops: f64, width: f64) -> f64 {
        flops * (1.0 + self.ramp / width.max(1.0)) / self.flops
    }
}

/// What a choice depends on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Case {
    /// Rows, the axis that is cut.
    pub rows: usize,
    /// Columns.
    pub columns: usize,
    /// Rank.
    pub rank: usize,
    /// Columns of the sketch.
    pub width: usize,
    /// Power iterations.
    pub iterations: usize,
    /// Columns that merged blocks keep.
    pub merge_width: usize,
    /// Merge without a second pass.
    pub one_pass: bool,
    /// Entries that are read: of sparse matrices those stored.
    pub entries: f64,
    /// Bytes of an entry as it is read.
    pub entry_bytes: usize,
    /// Bytes of an element as it is computed with.
    pub element_bytes: usize,
    /// Whether the data are where they are used from the beginning.
    pub is_there: bool,
    /// Part of the rows that stays where it is used, 0 to 1.
    pub resident: f64,
    /// Whether blocks are there to be worked on by themselves: not in sparse matrices and operators.
    pub has_blocks: bool,
    /// Blocks of a pass.
    pub blocks: usize,
    /// Bytes that a Gram matrix may take.
    pub gram_room: f64,
    /// Whether values near sqrt(u) of the largest have to be resolved.
    pub is_delicate: bool,
    /// Whether the sketch is the caller's, which a direct decomposition would not look at.
    pub is_given: bool,
}

/// Seconds of a rank update over those of a product of as many operations, by the runs of `GRAM` on the device: of the
/// tiles on the diagonal half is in vain, and single numbers are taken to double first.
const RANK_UPDATE: f64 = 1.2;

/// Largest order of a Gram matrix that is chosen.
const GRAM_COLUMNS: usize = 16_384;

impl Case {
    /// Rows and columns that orthonormalisations and the small problem have in the end.
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
        // With the data; `times` l columns are multiplied with all of them.
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
        // CholeskyQR2 of the long factor once, one step of the others, and the products that turn bases.
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
                // All eigenvectors, where they take less than another pass.
                Method::Gram if n <= 4096.0 && m >= 50.0 * n => 12.0 * n.powi(3),
                Method::Merge => self.blocks as f64 * 200.0 * w.powi(3),
                _ => 0.0,
            };
        let once = entries * self.entry_bytes as f64;
        let moved = once * (1.0 + (passes - 1.0) * (1.0 - self.resident));
        let link = if self.is_there || machine.link.is_infinite() { 0.0 } else { moved / machine.link };
        // A product reads its block once for each time that it is used.
        let uses = match method {
            Method::Gram | Method::OnePass => passes + 1.0,
            Method::Merge | Method::Brsvd => 2.0 * (q + 1.0) + 1.0,
            Method::Direct | Method::Range | Method::Basic | Method::Fifo => passes,
            _ => 2.0 * passes,
        };
        let memory = uses * entries * self.element_bytes as f64 / machine.memory;
        link.max(products).max(memory) + bases / machine.flops + small / machine.small
    }

    /// The method to take that is not `excluded`, what it costs, and why; `None` if all are.
    pub fn choose(&self, machine: &Machine, excluded: &[Method]) -> Option<(Method, f64, String)> {
        let least = self.rows.min(self.columns);
        let smaller = match excluded {
            [] => String::new(),
            _ => format!("; {excluded:?} need more memory than the limit leaves"),
        };
        if 2 * self.width >= least && !self.is_given && !excluded.contains(&Method::Direct) {
            let reason = format!("l = {} is half of min(m, n) = {least} or more: a direct SVD", self.width);
            return Some((Method::Direct, self.cost(Method::Direct, machine), reason));
        }
        // By accuracy: of methods within a tenth of the least time the first is taken.
        let mut candidates = Vec::with_capacity(5);
        if self.has_blocks && self.blocks > 1 {
            candidates.push(Method::Merge);
        }
        if self.iterations > 0 {
            // Without an iteration its basis is the sketch itself, which knows nothing of the data.
            candidates.push(Method::Krylov);
        }
        candidates.push(Method::Fused);
        let gram_bytes = (self.columns as f64).powi(2) * self.element_bytes.max(8) as f64;
        if self.has_blocks && self.columns <= GRAM_COLUMNS && gram_bytes <= self.gram_room && !self.is_delicate {
            candidates.push(Method::Gram);
        }
        candidates.retain(|c| !excluded.contains(c));
        if candidates.is_empty() && self.iterations > 0 && !excluded.contains(&Method::RowFused) {
            // Less accurate by half a power, and the one that needs least memory.
            candidates.push(Method::RowFused);
        }
        let costs: Vec<(Method, f64)> = candidates.into_iter().map(|c| (c, self.cost(c, machine))).collect();
        let fastest = costs.iter().fold(f64::INFINITY, |t, (_, c)| t.min(*c));
        let chosen = costs.iter().find(|(_, c)| *c <= 1.1 * fastest);
        let (method, cost) = *chosen?;
        let others: Vec<String> = costs
            .iter()
            .filter(|(other, _)| *other != method)
            .map(|(other, c)| format!("{other:?} {c:.2e} s"))
            .collect();
        Some((method, cost, format!("{cost:.2e} s foretold; {}{smaller}", others.join(", "))))
    }
}
