//! The work of a pass on the blocks of a group, one after the other on one thread.

use super::elementwise::{Elementwise, Pass};
use crate::alloc;
use crate::backend::cpu::Isa;
use crate::dense::serial::{self, multiply};
use crate::dense::{Accum, Mat, MatMut};
use crate::error::Result;
use crate::rpca::input::Strided;
use crate::rpca::ops::{Start, Step, Sums};
use crate::scalar::{Complex, Element, Scalar};

/// A small matrix in the type of the data, column-major and packed. A missing matrix has no columns.
///
/// A missing matrix is empty and not the `None` of an enum: compilers read the fields of a payload before they check that
/// there is one, and ignore them afterwards. A memory checker reports such a read as an error.
pub(in crate::rpca) struct Small<T> {
    pub(in crate::rpca) values: Vec<T>,
    pub(in crate::rpca) cols: usize,
}

impl<T> Small<T> {
    /// The missing matrix: no columns, no memory.
    pub(in crate::rpca) fn none() -> Self {
        Self { values: Vec::new(), cols: 0 }
    }
}

/// Which product a pass forms.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::rpca) enum Form {
    None,
    Gram,
    Normal,
    Projected,
}

/// [`crate::rpca::ops::Product`] in the type of the data.
pub(in crate::rpca) struct Product<T> {
    pub(in crate::rpca) form: Form,
    pub(in crate::rpca) factor: Small<T>,
}

impl<T> Product<T> {
    /// A step without a product: the factor is empty.
    pub(in crate::rpca) fn none() -> Self {
        Self { form: Form::None, factor: Small::none() }
    }
}

/// How the new low-rank part is formed from X.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::rpca) enum Parts {
    Zero,
    Whole,
    Factors,
}

/// [`crate::rpca::ops::LowRank`] in the type of the data; the second factor is B^H.
pub(in crate::rpca) struct LowRank<T> {
    pub(in crate::rpca) parts: Parts,
    pub(in crate::rpca) left: Small<T>,
    pub(in crate::rpca) right: Small<T>,
}

impl<T> LowRank<T> {
    /// L = 0, as before the first iteration.
    pub(in crate::rpca) fn zero() -> Self {
        Self { parts: Parts::Zero, left: Small::none(), right: Small::none() }
    }

    /// Columns of the factors; 0 without factors.
    fn rank(&self) -> usize {
        if self.parts == Parts::Factors { self.left.cols } else { 0 }
    }
}

/// The task of a pass.
#[derive(Clone, Copy)]
pub(in crate::rpca) enum Task {
    /// The norms of M before the first iteration.
    Begin,
    /// A product with X, or with M before the first iteration.
    Product,
    /// The element-wise part of an iteration, and the next product.
    Update(Step),
}

/// A pass over blocks of rows.
pub(in crate::rpca) struct Job<T> {
    pub(in crate::rpca) task: Task,
    /// The low-rank part of an iteration.
    pub(in crate::rpca) low_rank: LowRank<T>,
    pub(in crate::rpca) product: Product<T>,
    pub(in crate::rpca) columns: usize,
    /// Rows of a block; the last may be shorter.
    pub(in crate::rpca) block: usize,
    pub(in crate::rpca) scale: f64,
    pub(in crate::rpca) isa: Isa,
}

/// Sums over the blocks of a group, added in their order.
pub(in crate::rpca) struct Partial<T: Elementwise> {
    pub(in crate::rpca) start: Start,
    pub(in crate::rpca) sums: Sums,
    /// The product, in double precision; empty if the pass forms none.
    pub(in crate::rpca) product: Vec<T::Wide>,
    /// Row in the panel, column and value of the first entry that is not finite.
    pub(in crate::rpca) not_finite: Option<(usize, usize, Complex<f64>)>,
}

/// A thread's buffers for one block.
struct Buffers<T: Elementwise> {
    m: Vec<T>,
    low_rank: Vec<T>,
    narrow: Vec<T>,
    wide: Vec<T::Wide>,
    mask: Vec<u8>,
    sum: Vec<T>,
}

impl<T: Elementwise> Job<T> {
    /// Rows and columns of the product.
    pub(in crate::rpca) fn product_shape(&self) -> (usize, usize) {
        let cols = self.product.factor.cols;
        match self.product.form {
            Form::None => (0, 0),
            Form::Gram => (self.columns, self.columns),
            Form::Normal => (self.columns, cols),
            Form::Projected => (cols, cols),
        }
    }

    /// Bytes of a group without its product.
    fn group_bytes(&self, masked: bool) -> usize {
        let whole = self.block.saturating_mul(self.columns);
        let (rows, cols) = self.product_shape();
        let sum = if self.product.form == Form::Normal { rows.saturating_mul(cols) } else { 0 };
        let own = [whole, whole, self.narrow(), sum].into_iter().fold(0, usize::saturating_add);
        own.saturating_mul(size_of::<T>())
            .saturating_add(self.wide().saturating_mul(size_of::<T::Wide>()))
            .saturating_add(if masked { whole } else { 0 })
    }

    /// Bytes of a pass: those of the groups that `threads` threads process, of the products of all groups, and of their sum.
    pub(in crate::rpca) fn pass_bytes(&self, threads: usize, groups: usize, masked: bool) -> usize {
        let (rows, cols) = self.product_shape();
        let product = rows.saturating_mul(cols).saturating_mul(size_of::<T::Wide>());
        let own = threads.min(groups).saturating_mul(self.group_bytes(masked));
        own.saturating_add(product.saturating_mul(groups + 1))
    }

    /// Elements of P = X W or X A.
    fn narrow(&self) -> usize {
        self.block.saturating_mul(self.low_rank.rank().max(self.product.factor.cols))
    }

    /// Elements of the double-precision copy of X or X W for a Gram matrix; 0 for data in double precision.
    fn wide(&self) -> usize {
        if T::DTYPE == T::Wide::DTYPE {
            return 0;
        }
        match self.product.form {
            Form::Gram => self.block.saturating_mul(self.columns),
            Form::Projected => self.block.saturating_mul(self.product.factor.cols),
            Form::None | Form::Normal => 0,
        }
    }

    fn buffers(&self, masked: bool) -> Result<Buffers<T>> {
        const WHAT: &str = "blocks of a pass";
        let (zero, whole) = (T::from_parts(0.0, 0.0), self.block * self.columns);
        let (rows, cols) = self.product_shape();
        let sum = if self.product.form == Form::Normal { rows * cols } else { 0 };
        Ok(Buffers {
            m: alloc::filled(WHAT, whole, zero)?,
            low_rank: alloc::filled(WHAT, whole, zero)?,
            narrow: alloc::filled(WHAT, self.narrow(), zero)?,
            wide: alloc::filled(WHAT, self.wide(), T::Wide::from_parts(0.0, 0.0))?,
            mask: alloc::filled(WHAT, if masked { whole } else { 0 }, 0)?,
            sum: alloc::filled(WHAT, sum, zero)?,
        })
    }

    /// Processes `rows` rows from `first` on. `x` and `y` are the rows' parts of X and Y, or empty if the task needs none.
    pub(in crate::rpca) fn group(
        &self,
        first: usize,
        rows: usize,
        entries: Strided<'_>,
        mask: Option<Strided<'_>>,
        x: &mut [T],
        y: &mut [T],
    ) -> Result<Partial<T>> {
        let mut buffers = self.buffers(mask.is_some())?;
        let (product_rows, product_cols) = self.product_shape();
        let zero = T::Wide::from_parts(0.0, 0.0);
        let product = alloc::filled("product of a group", product_rows * product_cols, zero)?;
        let mut partial = Partial { start: Start::default(), sums: Sums::default(), product, not_finite: None };
        for from in (0..rows).step_by(self.block) {
            let count = self.block.min(rows - from);
            let (begin, length) = (from * self.columns, count * self.columns);
            let mut block = Block { job: self, rows: count, buffers: &mut buffers, partial: &mut partial };
            let part = |whole: &mut [T]| if whole.is_empty() { 0..0 } else { begin..begin + length };
            let (x_range, y_range) = (part(x), part(y));
            block.run(first + from, entries, mask, &mut x[x_range], &mut y[y_range])?;
            if partial.not_finite.is_some() {
                break;
            }
        }
        for (total, v) in partial.product.iter_mut().zip(&buffers.sum) {
            *total = v.widen();
        }
        Ok(partial)
    }
}

/// A block that a thread works on.
struct Block<'a, T: Elementwise> {
    job: &'a Job<T>,
    rows: usize,
    buffers: &'a mut Buffers<T>,
    partial: &'a mut Partial<T>,
}

impl<T: Elementwise> Block<'_, T> {
    fn run(
        &mut self,
        first: usize,
        entries: Strided<'_>,
        mask: Option<Strided<'_>>,
        x: &mut [T],
        y: &mut [T],
    ) -> Result<()> {
        let (columns, length) = (self.job.columns, self.rows * self.job.columns);
        if x.is_empty() || !matches!(self.job.task, Task::Product) {
            entries.block(first, columns, self.job.scale, &mut self.buffers.m[..length])?;
            if let Some(mask) = mask {
                self.read_mask(first, mask, length)?;
            }
        }
        match self.job.task {
            Task::Begin => {
                self.begin(first, length);
                Ok(())
            }
            Task::Product => {
                if x.is_empty() {
                    // M is moved out of the buffers, so that it can be read while the other buffers are written.
                    let m = std::mem::take(&mut self.buffers.m);
                    self.product(&m[..length]);
                    self.buffers.m = m;
                } else {
                    self.product(x);
                }
                Ok(())
            }
            Task::Update(step) => {
                self.update(&step, mask.is_some(), x, y);
                self.product(x);
                Ok(())
            }
        }
    }

    /// Reads the mask, and sets entries that are not observed to 0.
    fn read_mask(&mut self, first: usize, mask: Strided<'_>, length: usize) -> Result<()> {
        let Buffers { m, mask: flags, .. } = &mut *self.buffers;
        mask.flags(first, self.job.columns, &mut flags[..length])?;
        for (x, seen) in m[..length].iter_mut().zip(&flags[..length]) {
            if *seen == 0 {
                *x = T::from_parts(0.0, 0.0);
            }
        }
        Ok(())
    }

    fn begin(&mut self, first: usize, length: usize) {
        let start = &mut self.partial.start;
        for (k, x) in self.buffers.m[..length].iter().enumerate() {
            let square = x.re() * x.re() + x.im() * x.im();
            start.norm2 += square;
            // The modulus of a finite number may overflow.
            let modulus = if square.is_normal() { square.sqrt() } else { x.re().hypot(x.im()).min(f64::MAX) };
            start.one_norm += modulus;
            if modulus > start.max_abs {
                start.max_abs = modulus;
            }
            if !(x.re().is_finite() && x.im().is_finite()) {
                let place = (first + k % self.rows, k / self.rows);
                self.partial.not_finite = Some((place.0, place.1, Complex::new(x.re(), x.im())));
                return;
            }
        }
    }

    fn update(&mut self, step: &Step, masked: bool, x: &mut [T], y: &mut [T]) {
        let LowRank { parts, left, right } = &self.job.low_rank;
        let (rows, columns, length) = (self.rows, self.job.columns, x.len());
        let Buffers { m, low_rank: product, narrow, mask, .. } = &mut *self.buffers;
        let m = &m[..length];
        if let Some((x_scale, y_scale)) = step.first {
            let scaled = |v: &T, by: f64| T::from_parts(v.re() * by, v.im() * by);
            x.iter_mut().zip(m).for_each(|(x, v)| *x = scaled(v, x_scale));
            y.iter_mut().zip(m).for_each(|(y, v)| *y = scaled(v, y_scale));
        }
        let product = &mut product[..length];
        let one = T::from_parts(1.0, 0.0);
        let block = Mat::from_columns(&*x, rows, columns);
        match parts {
            Parts::Zero => product.fill(T::from_parts(0.0, 0.0)),
            Parts::Whole => {
                let k = Mat::from_columns(&left.values, columns, columns);
                let out = MatMut::from_columns(product, rows, columns);
                multiply(out, Accum::Replace, block, k, one);
            }
            Parts::Factors => {
                let rank = left.cols;
                let narrow = &mut narrow[..rows * rank];
                let a = Mat::from_columns(&left.values, columns, rank);
                let b = Mat::from_columns(&right.values, rank, columns);
                multiply(MatMut::from_columns(narrow, rows, rank), Accum::Replace, block, a, one);
                let p = Mat::from_columns(&*narrow, rows, rank);
                let out = MatMut::from_columns(product, rows, columns);
                multiply(out, Accum::Replace, p, b, one);
            }
        }
        let pass = Pass {
            low_rank: product,
            m,
            x,
            y,
            mask: masked.then(|| &mask[..length]),
            inverse: 1.0 / step.mu,
            mu: step.mu,
            shrink: step.lambda / step.mu,
            keep: 1.0 + step.mu / step.mu_next,
            last: step.last,
            measured: step.measured,
            threshold: step.threshold,
        };
        let sums = T::pass(self.job.isa, pass);
        self.partial.sums = self.partial.sums.and(sums);
    }

    /// Adds the block's part of the product.
    fn product(&mut self, x: &[T]) {
        let (rows, columns) = (self.rows, self.job.columns);
        let Buffers { narrow, wide, sum, .. } = &mut *self.buffers;
        let total = &mut self.partial.product;
        let block = Mat::from_columns(x, rows, columns);
        let one = T::from_parts(1.0, 0.0);
        let Product { form, factor: w } = &self.job.product;
        match form {
            Form::None => {}
            Form::Gram => gram::<T>(x, rows, columns, wide, total),
            Form::Normal | Form::Projected => {
                let narrow = &mut narrow[..rows * w.cols];
                let w_view = Mat::from_columns(&w.values, columns, w.cols);
                let out = MatMut::from_columns(narrow, rows, w.cols);
                multiply(out, Accum::Replace, block, w_view, one);
                if *form == Form::Projected {
                    gram::<T>(narrow, rows, w.cols, wide, total);
                    return;
                }
                let p = Mat::from_columns(&*narrow, rows, w.cols);
                let out = MatMut::from_columns(sum, columns, w.cols);
                multiply(out, Accum::Add, block.adjoint(), p, one);
            }
        }
    }
}

/// Adds the lower triangle of A^H A, in double precision.
fn gram<T: Elementwise>(a: &[T], rows: usize, cols: usize, wide: &mut [T::Wide], total: &mut [T::Wide]) {
    let mut add = |a: Mat<'_, T::Wide>| {
        serial::add_lower::<T>(MatMut::from_columns(&mut *total, cols, cols), a.adjoint(), a);
    };
    if let Some(a) = T::as_wide(a) {
        add(Mat::from_columns(a, rows, cols));
        return;
    }
    let wide = &mut wide[..a.len()];
    wide.iter_mut().zip(a).for_each(|(w, v)| *w = v.widen());
    add(Mat::from_columns(wide, rows, cols));
}
