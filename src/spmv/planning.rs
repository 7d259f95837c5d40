//! Making plans: statistics of the rows, the choice of a method, and the terms of the operator.

use std::sync::Arc;
use std::time::Instant;

use super::gpu;
use super::info::{Info, Statistics};
use super::known;
use super::options::{Method, Op, Options};
use super::plan::{Operator, Plan};
use super::renumber::{Direction, Renumbering};
use super::terms::Terms;
use super::tiles::{TILE, binned, csr, row_of, search, tiles, whole_rows};
use super::walk;
use crate::alloc;
use crate::backend::Backend;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::matrix::Matrix;
use crate::matrix::sparse::{Rows, reordered, transpose};
use crate::scalar::{Real, with_real, with_scalar};

impl Plan {
    /// Examines the rows of a sparse matrix, O(rows). With [`Op::Transpose`] or [`Op::Adjoint`] of a matrix that is not
    /// symmetric, copies the transpose, O(nnz). With an order, makes a copy in that order, O(nnz log(longest row)).
    /// Kinds of graphs compute the row sums, O(nnz). The random-walk Laplacian of weights near the ends of the range copies
    /// the matrix, with rows multiplied by powers of two. In a context on a GPU the structure is copied to the device, and
    /// so are the values if they are not there.
    ///
    /// # Errors
    /// [`Error::NotSupported`] for another storage, and for [`Method::Sweeps`] on the CPU;
    /// [`Error::InvalidArgument`] for `symmetric`, an order, a shift or a graph's kind with a matrix that is not
    /// square, for an op or an order with a kind that has none, and for row sums that the kind does not allow;
    /// [`Error::Numerical`] for row sums that are too large for it; [`Error::OutOfMemory`].
    pub fn new(context: &Arc<Context>, a: &Matrix, options: Options) -> Result<Self> {
        let start = Instant::now();
        a.expect_context("a", context)?;
        options.check(a.rows(), a.cols())?;
        if known::operator(a).is_some() {
            return Self::of_operator(context, a, options, start);
        }
        let from = csr(a)?;
        let renumbering = options.ordering.map(|how| Renumbering::new(context, a, how)).transpose()?.map(Arc::new);
        let balanced = walk::balanced(context, a, options.kind)?;
        let source = balanced.as_ref().unwrap_or(a);
        let other = multiplied_by(context, source, &options, renumbering.as_deref())?;
        let multiplied = csr(other.as_ref().unwrap_or(source))?;
        let rows = Rows::new(multiplied)?;
        let statistics = statistics(&rows);
        let row_lanes = row_lanes(&statistics);
        let copy = other.as_ref().or(balanced.as_ref());
        let held = copy.map_or(0, |m| m.storage_bytes()) + renumbering.as_ref().map_or(0, |r| r.bytes());
        let info = Info {
            method: options.method,
            reason: "asked for",
            row_lanes,
            statistics,
            tiles: 0,
            bytes: held,
            seconds: 0.0,
        };
        let mut plan = Self::bare(context, options, info, (a.rows(), a.cols(), from.nnz()));
        plan.renumbering = renumbering;
        match context.backend() {
            Backend::Cpu => plan.cut(&rows)?,
            Backend::Gpu(gpu) => {
                let dtype = a.dtype().expect_scalar("a")?;
                if options.method == Method::Auto {
                    (plan.info.method, plan.info.reason) = gpu::choose(dtype, &statistics, multiplied.cols());
                }
                let made = gpu::Prepared::new(dtype, gpu, multiplied, plan.info.method, row_lanes)?;
                let (tiles, bytes) = made.figures();
                plan.info.tiles = tiles;
                plan.info.bytes += bytes;
                plan.device = Some(Box::new(made));
            }
        }
        plan.other = other;
        plan.make_operator(source)?;
        plan.other = plan.other.take().or(balanced);
        plan.info.seconds = start.elapsed().as_secs_f64();
        Ok(plan)
    }

    /// A plan without shares, copies or device data.
    fn bare(context: &Arc<Context>, options: Options, info: Info, shape: (usize, usize, usize)) -> Self {
        Self {
            context: Arc::clone(context),
            options,
            info,
            shape,
            other: None,
            renumbering: None,
            tiles: Vec::new(),
            order: Vec::new(),
            device: None,
            operator: None,
            is_of_operator: false,
        }
    }

    /// The plan of a matrix known only by its products, which needs no preparation.
    fn of_operator(context: &Arc<Context>, a: &Matrix, options: Options, start: Instant) -> Result<Self> {
        options.check_known(a.dtype())?;
        let (rows, cols) = (a.rows(), a.cols());
        let statistics =
            Statistics { rows: if options.op == Op::Plain { rows } else { cols }, ..Statistics::default() };
        let info = Info {
            method: Method::Auto,
            reason: "an operator forms its products itself",
            row_lanes: 0,
            statistics,
            tiles: 0,
            bytes: 0,
            seconds: 0.0,
        };
        let mut plan = Self { is_of_operator: true, ..Self::bare(context, options, info, (rows, cols, 0)) };
        plan.make_operator(a)?;
        plan.info.seconds = start.elapsed().as_secs_f64();
        Ok(plan)
    }

    /// Computes the terms of the plan's kind from `a`.
    fn make_operator(&mut self, a: &Matrix) -> Result<()> {
        let operator = if self.options.is_of_matrix() { None } else { Some(Operator::new(self, a)?) };
        self.info.bytes -= self.operator.as_ref().map_or(0, Operator::bytes);
        self.info.bytes += operator.as_ref().map_or(0, Operator::bytes);
        self.operator = operator;
        Ok(())
    }

    /// A plan that the matrix keeps for later calls if planning is expensive: in a context on a GPU, or with an order.
    /// It is created once. If its copy of the values may be out of date, it is updated. In other cases, a new plan each
    /// time.
    ///
    /// # Errors
    /// As [`Plan::new`].
    pub fn cached(context: &Arc<Context>, a: &Matrix, options: Options) -> Result<Arc<Self>> {
        a.expect_context("a", context)?;
        let from = csr(a)?;
        if matches!(context.backend(), Backend::Cpu) && options.ordering.is_none() {
            return Self::new(context, a, options).map(Arc::new);
        }
        let fits = |plan: &Self| plan.options == options;
        let version = from.version();
        if let Some((made_of, plan)) = from.cache().find(fits)
            && plan.is_current(a, made_of)?
        {
            return Ok(plan);
        }
        // Update the plan only if no other call uses it.
        let renewed = match from.cache().take(fits) {
            Some(mut plan) => match Arc::get_mut(&mut plan) {
                Some(own) => own.update(a).map(|()| Some(plan))?,
                None => None,
            },
            None => None,
        };
        let plan = match renewed {
            Some(plan) => plan,
            None => Arc::new(Self::new(context, a, options)?),
        };
        from.cache().put(version, &plan, fits)?;
        Ok(plan)
    }

    /// Divides the work into shares for threads.
    fn cut(&mut self, rows: &Rows<'_>) -> Result<()> {
        let statistics = &self.info.statistics;
        let (method, reason) = match self.options.method {
            Method::Auto => choose(statistics),
            Method::Sweeps => {
                return Err(Error::NotSupported("method: SWEEPS needs a context on a GPU".into()));
            }
            forced => (forced, "asked for"),
        };
        self.tiles = match method {
            Method::Merge => tiles(rows, |diagonal| search(rows, diagonal), statistics.rows + statistics.nnz)?,
            Method::EntrySplit => tiles(rows, |entry| row_of(rows, entry), statistics.nnz)?,
            _ => whole_rows(rows)?,
        };
        self.order = if method == Method::RowBin { binned(rows, &self.tiles)? } else { Vec::new() };
        (self.info.method, self.info.reason) = (method, reason);
        self.info.tiles = self.tiles.len() - 1;
        self.info.bytes += size_of_val(&self.tiles[..]) + size_of_val(&self.order[..]);
        Ok(())
    }

    /// Updates the plan for new values of a matrix of the same structure, if the plan has row sums, a copy in another
    /// form or, on a device, a copy of the values; else does nothing.
    ///
    /// # Errors
    /// As [`Plan::new`].
    pub fn update(&mut self, a: &Matrix) -> Result<()> {
        self.expect(a)?;
        if known::operator(a).is_some() {
            return self.make_operator(a);
        }
        let balanced = walk::balanced(&self.context, a, self.options.kind)?;
        let source = balanced.as_ref().unwrap_or(a);
        let bytes = |other: &Option<Matrix>| other.as_ref().map_or(0, |m| m.storage_bytes());
        let (had_copy, had_bytes) = (self.other.is_some(), bytes(&self.other));
        self.other = None;
        let other = multiplied_by(&self.context, source, &self.options, self.renumbering.as_deref())?;
        let is_copied = other.is_some() || balanced.is_some();
        let from = csr(other.as_ref().unwrap_or(source))?;
        if let (Some(device), Backend::Gpu(gpu)) = (&mut self.device, self.context.backend()) {
            let (method, row_lanes) = (self.info.method, self.info.row_lanes);
            let dtype = a.dtype().expect_scalar("a")?;
            if is_copied == had_copy {
                device.update(dtype, gpu, from)?;
            } else {
                // The plan may read the indices in the matrix's device memory, which a copy does not have.
                self.info.bytes -= device.figures().1;
                **device = gpu::Prepared::new(dtype, gpu, from, method, row_lanes)?;
                self.info.bytes += device.figures().1;
            }
        }
        self.other = other;
        self.make_operator(source)?;
        self.other = self.other.take().or(balanced);
        self.info.bytes = self.info.bytes - had_bytes + bytes(&self.other);
        Ok(())
    }

    /// Whether the plan, which was made of version `made_of` of the values of `a`, is one for its values now.
    pub(super) fn is_current(&self, a: &Matrix, made_of: u64) -> Result<bool> {
        Ok(!self.holds_values() || (a.owns_values() && made_of == csr(a)?.version()))
    }

    /// Whether it has data computed from values, which the matrix's values may later differ from.
    fn holds_values(&self) -> bool {
        let values = |m: &Matrix| csr(m).is_ok_and(|csr| csr.parts().values.is_some());
        self.operator.is_some()
            || self.other.as_ref().is_some_and(values)
            || self.device.as_ref().is_some_and(|d| !d.reads_in_place())
    }
}

impl Operator {
    /// The operator of the plan's kind, for a matrix whose products are planned already.
    pub(super) fn new(plan: &Plan, a: &Matrix) -> Result<Self> {
        with_real!(a.dtype().expect_scalar("a")?.part(), "a", P => Self::with_parts::<P>(plan, a))
    }

    /// As [`Operator::new`] for numbers with parts of type `P`.
    fn with_parts<P: Real>(plan: &Plan, a: &Matrix) -> Result<Self> {
        let options = plan.options();
        let mut terms = Terms::<P>::none();
        if options.kind.is_of_graph() {
            let degrees = with_scalar!(a.dtype(), "a", T => plan.degrees::<T>(a))?;
            terms = Terms::new(options.kind, &degrees, Some(a), |row| row)?;
            if options.op != Op::Plain {
                terms.sides = (terms.sides.1, terms.sides.0);
            }
            if let Some(order) = plan.renumbering() {
                for list in terms.lists() {
                    let mut turned = alloc::filled("operator of a sparse product", list.len(), P::ONE)?;
                    order.apply(plan.context(), Direction::ToOrder, 1, list, &mut turned)?;
                    *list = turned;
                }
            }
        }
        let device = match plan.context().backend() {
            Backend::Cpu => None,
            Backend::Gpu(gpu) => Some(gpu::DeviceTerms::new(a.dtype(), gpu, &terms)?),
        };
        let back = if options.kind.is_of_square() {
            None
        } else {
            let bare = Options { method: options.method, symmetric: options.symmetric, ..Options::default() };
            let settings = Options { op: Op::Adjoint, ..bare };
            Some(Box::new(Plan::new(plan.context(), a, settings)?))
        };
        Ok(Self { terms: Box::new(terms), device, back })
    }
}

/// The matrix of the product if it is not `a` itself: transposed, reordered, or both.
fn multiplied_by(
    context: &Arc<Context>,
    a: &Matrix,
    options: &Options,
    renumbering: Option<&Renumbering>,
) -> Result<Option<Matrix>> {
    let turned = match options.op {
        Op::Plain => None,
        _ if options.symmetric => None,
        op => Some(transpose(context, a, op == Op::Adjoint)?),
    };
    match renumbering {
        None => Ok(turned),
        Some(order) => reordered(context, turned.as_ref().unwrap_or(a), &order.rows()?).map(Some),
    }
}

pub(super) fn statistics(rows: &Rows<'_>) -> Statistics {
    let count = rows.len();
    let (mut nnz, mut longest, mut empty, mut short, mut far, mut hubs) = (0, 0, 0, 0usize, 0usize, 0usize);
    let mut squares = 0.0;
    for i in 0..count {
        let length = rows.row(i).len();
        nnz += length;
        longest = longest.max(length);
        empty += usize::from(length == 0);
        short += usize::from(length <= 32);
        far += if length > 32 { length } else { 0 };
        hubs += if length > 1024 { length } else { 0 };
        squares += (length as f64).powi(2);
    }
    let share = |part: usize, of: usize| if of == 0 { 0.0 } else { part as f64 / of as f64 };
    let mean = share(nnz, count);
    let variance = if count == 0 { 0.0 } else { (squares / count as f64 - mean * mean).max(0.0) };
    Statistics {
        rows: count,
        nnz,
        mean,
        deviation: variance.sqrt(),
        longest,
        empty,
        short: share(short, count),
        beyond_32: share(far, nnz),
        beyond_1024: share(hubs, nnz),
    }
}

pub(super) fn row_lanes(s: &Statistics) -> usize {
    (s.mean.ceil() as usize).clamp(1, 32).next_power_of_two()
}

/// Chooses a method from the row lengths.
fn choose(s: &Statistics) -> (Method, &'static str) {
    if s.longest as f64 <= (4.0 * s.mean).max(8.0) && s.deviation <= 0.5 * s.mean.max(1.0) {
        (Method::RowGroup, "rows of like length")
    } else if s.nnz > TILE && s.longest > TILE / 4 {
        (Method::Merge, "rows that are too long for a share")
    } else {
        (Method::RowGroup, "no row is too long for a share")
    }
}
