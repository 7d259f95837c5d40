//! The cost model: seconds and bytes of each method on a machine, and the choice among them.
//!
//! A run takes as long as the longest of: its bytes over the link, its arithmetic, its bytes through the device's memory;
//! and the orthonormalisations and small factorisations besides, which hide behind nothing.

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
    /// The same in factorisations of small matrices.
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
                // Operations of a multiprocessor in a cycle: tensor cores in f64, ordinary units in f32. Seven in ten
                // of them are had in large products.
                let cycle = match (newest, single) {
                    (true, _) | (false, true) => 256.0,
                    (false, false) => 128.0,
                };
                let flops = 0.7 * cycle * clock * f64::from(info.multiprocessors) / complexity;
                Self {
                    link: count * if newest { 50e9 } else { 22e9 },
                    flops: count * flops,
                    small: flops / 40.0,
                    memory: count * if newest { 3.5e12 } else { 1.4e12 },
                }
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
                    small: flops / 10.0,
                    memory: (10e9 * threads).min(100e9),
                }
            }
        }
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
}

/// What a method is foretold to take.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cost {
    /// Seconds.
    pub seconds: f64,
    /// Bytes over the link.
    pub bytes: f64,
}

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

    /// What `method` takes on `machine`.
    pub fn cost(&self, method: Method, machine: &Machine) -> Cost {
        let (m, n, l, q) = (self.rows as f64, self.columns as f64, self.width as f64, self.iterations as f64);
        let entries = self.entries;
        let last = self.final_width(method);
        let passes = passes(method, self.iterations, self.one_pass) as f64;
        let w = self.merge_width as f64;
        let data_flops = match method {
            Method::Range | Method::Fused => 4.0 * (q + 1.0) * entries * l,
            Method::Basic | Method::Fifo | Method::RowFused => 2.0 * (2.0 * q + 1.0) * entries * l,
            Method::Gram => entries * n + 2.0 * entries * l,
            Method::Brsvd => 4.0 * (q + 1.0) * entries * l,
            Method::Merge => 4.0 * (q + 1.0) * entries * w + if self.one_pass { 0.0 } else { 2.0 * entries * l },
            Method::Krylov => 4.0 * q * entries * l + 2.0 * entries * last,
            Method::OnePass => 2.0 * entries * (3.0 * l + 1.0),
            Method::Direct => 2.0 * entries * n.min(m),
            Method::Auto | Method::Nystrom | Method::Rayleigh => 2.0 * (2.0 * q + 1.0) * entries * l,
        };
        // CholeskyQR2 of the long factor once, one step of the others, and the products that turn bases.
        let bases = 4.0 * m * last * last
            + 2.0 * m * last * self.rank as f64
            + 4.0 * n * last * last
            + 2.0 * q * n * l * l
            + if method == Method::Krylov { 4.0 * n * last * last } else { 0.0 }
            + if method == Method::Range { 2.0 * q * m * l * l } else { 0.0 };
        let small = 25.0 * last.powi(3)
            + match method {
                Method::Gram if n <= 4096.0 && m >= 50.0 * n => 12.0 * n.powi(3),
                Method::Gram => 2.0 * q * n * n * l,
                Method::Merge => self.blocks as f64 * (8.0 * n * w * w + 200.0 * w.powi(3)),
                _ => 0.0,
            };
        let once = entries * self.entry_bytes as f64;
        let again = once * (1.0 - self.resident);
        let bytes = once + (passes - 1.0) * again;
        let link = if machine.link.is_finite() { bytes / machine.link } else { 0.0 };
        // A product reads its block once for each time that it is used.
        let uses = match method {
            Method::Gram | Method::OnePass => passes + 1.0,
            Method::Merge | Method::Brsvd => 2.0 * (q + 1.0) + 1.0,
            Method::Direct | Method::Range | Method::Basic | Method::Fifo => passes,
            _ => 2.0 * passes,
        };
        let memory = uses * entries * self.element_bytes as f64 / machine.memory;
        let seconds = link.max(data_flops / machine.flops).max(memory) + bases / machine.flops + small / machine.small;
        Cost { seconds, bytes }
    }

    /// The method to take, what it costs, and why.
    pub fn choose(&self, machine: &Machine) -> (Method, Cost, String) {
        let least = self.rows.min(self.columns);
        if 2 * self.width >= least {
            let reason = format!("l = {} is half of min(m, n) = {least} or more: a direct SVD", self.width);
            return (Method::Direct, self.cost(Method::Direct, machine), reason);
        }
        // By accuracy: of methods within a tenth of the least time the first is taken.
        let mut candidates = Vec::with_capacity(4);
        if self.has_blocks && self.blocks > 1 {
            candidates.push(Method::Merge);
        }
        candidates.push(Method::Krylov);
        candidates.push(Method::Fused);
        let gram_bytes = (self.columns as f64).powi(2) * self.element_bytes.max(8) as f64;
        if self.has_blocks && self.columns <= GRAM_COLUMNS && gram_bytes <= self.gram_room && !self.is_delicate {
            candidates.push(Method::Gram);
        }
        let costs: Vec<(Method, Cost)> = candidates.into_iter().map(|c| (c, self.cost(c, machine))).collect();
        let fastest = costs.iter().fold(f64::INFINITY, |t, (_, c)| t.min(c.seconds));
        let chosen = costs.iter().find(|(_, c)| c.seconds <= 1.1 * fastest);
        // One of them is the fastest itself.
        let (method, cost) = chosen.copied().unwrap_or((Method::Fused, self.cost(Method::Fused, machine)));
        let others: Vec<String> = costs
            .iter()
            .filter(|(other, _)| *other != method)
            .map(|(other, c)| format!("{other:?} {:.2e} s", c.seconds))
            .collect();
        (method, cost, format!("{:.2e} s foretold; {}", cost.seconds, others.join(", ")))
    }
}
