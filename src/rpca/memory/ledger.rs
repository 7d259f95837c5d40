//! A backend that allocates no memory. It runs the method with sizes instead of matrices, and counts the bytes that the CPU
//! backend would charge.

use super::Shape;
use crate::backend::memory::Charge;
use crate::dense::sizes::{Blank, SimulatedResults, Sizes};
use crate::error::Result;
use crate::rpca::cpu::block::{Form, Job, LowRank, Parts, Product, Small, Task};
use crate::rpca::cpu::cut::Cut;
use crate::rpca::cpu::elementwise::Elementwise;
use crate::rpca::cpu::weights_of;
use crate::rpca::ops::{self, RpcaOps, Start, Step, Sums, Weights};
use crate::scalar::DType;

/// The passes on sizes alone: they count the bytes of the host.
pub(super) struct Ledger<'a, T: Elementwise> {
    shape: &'a Shape,
    cut: Cut,
    threads: usize,
    sizes: Sizes<T::Wide>,
    /// Whether X and Y were written by an iteration.
    has_begun: bool,
    _arrays: Charge,
}

impl<'a, T: Elementwise> Ledger<'a, T> {
    /// A run in which `rank` singular values are large and `threads` threads work.
    pub(super) fn new(shape: &'a Shape, cut: Cut, rank: usize, threads: usize) -> Result<Self> {
        let answers = SimulatedResults { large: rank, value: super::LARGE, failures: 0, vanishes: false };
        let sizes = Sizes::new(size_of::<T::Wide>(), answers);
        let arrays = sizes.hold("X and Y", if cut.in_memory { shape.sheet.arrays() } else { 0 })?;
        Ok(Self { shape, cut, threads, sizes, has_begun: false, _arrays: arrays })
    }

    /// Peak of the counted bytes.
    pub(super) fn peak(&self) -> u64 {
        self.sizes.peak()
    }

    fn hold(&self, what: &'static str, elements: usize, size: usize) -> Result<Charge> {
        self.sizes.elements(what, elements, 1, size)
    }

    /// Number of elements of a panel of `rows` rows.
    fn panel(&self, rows: usize) -> usize {
        let (m, n) = self.shape.sheet.size;
        rows.min(m).saturating_mul(n)
    }

    /// The buffers of a panel of X and of Y, if these are in files.
    fn panel_buffers(&self) -> Result<Charge> {
        let elements = if self.cut.in_memory { 0 } else { self.panel(self.cut.panel) };
        self.hold("panels of robust PCA", elements, 2 * size_of::<T>())
    }

    /// One pass over all panels.
    fn sweep(&self, job: &Job<T>, reads: bool) -> Result<()> {
        let _panels = self.panel_buffers()?;
        let bytes = job.pass_bytes(self.threads, self.cut.groups, self.shape.is_masked);
        let _blocks = self.hold("blocks of a pass", bytes, 1)?;
        let read = if reads { self.shape.read } else { 0 };
        let _read = self.hold("panels of the matrix", self.panel(self.cut.panel), 2 * read)?;
        Ok(())
    }

    /// The delivery of the parts to sinks.
    pub(super) fn deliver(&self) -> Result<()> {
        let _panels = self.panel_buffers()?;
        let elements = self.panel(self.cut.delivered_rows(&self.shape.sheet));
        self.hold("panel of a sink", elements, self.shape.sink).map(drop)
    }

    fn job(&self, task: Task, low_rank: LowRank<T>, product: &ops::Product<'_, Blank>) -> Job<T> {
        let form = match product {
            ops::Product::None => Form::None,
            ops::Product::Gram => Form::Gram,
            ops::Product::Normal(_) => Form::Normal,
            ops::Product::Projected(_) => Form::Projected,
        };
        let factor = width_of(product.operand());
        Job {
            task,
            low_rank,
            product: Product { form, factor },
            columns: self.shape.sheet.size.1,
            block: self.cut.block,
            scale: 1.0,
            isa: crate::backend::cpu::Isa::Portable,
        }
    }

    fn factors(&self, factors: [Option<&Blank>; 3]) -> Result<Charge> {
        let elements = factors.into_iter().flatten().map(|m| m.rows().saturating_mul(m.cols()));
        self.hold("factors of a pass", elements.fold(0, usize::saturating_add), size_of::<T>())
    }
}

/// A matrix in the type of the data that has only its width.
fn width_of<T>(matrix: Option<&Blank>) -> Small<T> {
    Small { values: Vec::new(), cols: matrix.map_or(0, Blank::cols) }
}

impl<T: Elementwise> RpcaOps<T::Wide> for Ledger<'_, T> {
    type Small = Sizes<T::Wide>;

    fn dtype(&self) -> DType {
        T::DTYPE
    }

    fn small(&mut self) -> &mut Sizes<T::Wide> {
        &mut self.sizes
    }

    fn size(&self) -> (usize, usize) {
        self.shape.sheet.size
    }

    fn weights(&self) -> Weights {
        weights_of::<T>()
    }

    fn checkpoint(&mut self, _: usize, _: usize, _: f64) -> Result<()> {
        Ok(())
    }

    fn set_scale(&mut self, _: f64) {}

    fn begin(&mut self) -> Result<Start> {
        self.sweep(&self.job(Task::Begin, LowRank::zero(), &ops::Product::None), true)?;
        Ok(Start { norm2: 1.0, max_abs: 1.0, one_norm: 1.0 })
    }

    fn product(&mut self, product: &ops::Product<'_, Blank>, _: &mut Blank) -> Result<()> {
        let _factors = self.factors([product.operand(), None, None])?;
        self.sweep(&self.job(Task::Product, LowRank::zero(), product), !self.has_begun)
    }

    fn update(
        &mut self,
        step: &Step,
        low_rank: &ops::LowRank<'_, Blank>,
        product: &ops::Product<'_, Blank>,
        _: &mut Blank,
    ) -> Result<Sums> {
        let (a, b) = low_rank.operands();
        let _factors = self.factors([a, b, product.operand()])?;
        let parts = match low_rank {
            ops::LowRank::Zero => Parts::Zero,
            ops::LowRank::Whole(_) => Parts::Whole,
            ops::LowRank::Factors(..) => Parts::Factors,
        };
        let low_rank = LowRank { parts, left: width_of(a), right: width_of(b) };
        self.sweep(&self.job(Task::Update(*step), low_rank, product), true)?;
        self.has_begun = true;
        Ok(Sums::default())
    }
}
