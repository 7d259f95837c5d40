//! The plan of a run, without the sizes that depend on the available memory.

use super::super::data::{Center, LongColumns, Setting};
use super::super::options::{Centering, Method, Options};
use super::request::{Goal, Request};
use crate::error::{Error, Result};
use crate::matrix::{Matrix, Storage};
use crate::scalar::DType;
use crate::shape::Order;

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
                return Err(Error::NotSupported("scale: is set, a source that is read by rows is needed".into()));
            }
            Ok(by_columns && goal != Goal::Symmetric && !given)
        }
        Storage::Csr(_) | Storage::Operator(_) => Ok(false),
    }
}

/// Refuses the matrices and the means that a run cannot scale.
fn expect_scalable(matrix: &Matrix, center: Center) -> Result<()> {
    if matches!(matrix.storage(), Storage::Operator(_)) {
        return Err(Error::NotSupported("scale: is set, a matrix other than an operator is needed".into()));
    }
    if center == Center::Rows {
        return Err(Error::NotSupported("scale: is set, centred columns are needed, rows are centred".into()));
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
    pub(in crate::rsvd) fn with(request: &Request<'_>) -> Result<Self> {
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
        let problem = "omega: is set, tolerance = 0 and a method other than BRSVD, MERGE and DIRECT are needed";
        return Err(Error::NotSupported(problem.into()));
    }
    if given.rows() != n || given.cols() < width {
        let found = format!("{} x {}", given.rows(), given.cols());
        return Err(Error::invalid("omega", format!("is {found}, {n} x {width} or wider is needed")));
    }
    Ok(width)
}
