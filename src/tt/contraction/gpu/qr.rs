//! Norms by QR factors: R_k of R_{k-1} X_k from site to site. No number is squared, so the norm of a difference keeps
//! the digits that inner products lose.

use super::load::Loaded;
use super::pieces::{self, Piece};
use super::products::Products;
use super::scale::Exponents;
use crate::alloc;
use crate::backend::gpu::kernels::dense;
use crate::backend::gpu::kernels::tt::bonds;
use crate::backend::gpu::kernels::tt::{self, RESULT_WORDS, result, sandwich::CoreKeys};
use crate::backend::gpu::{Blas, Gpu, GpuStream, Region, Solver, Transpose, View, Work as Workspace};
use crate::contraction::ops::Work;
use crate::error::Result;
use crate::scalar::DType;
use crate::shape::{product, to_u64};
use crate::tensor::train::{Shape, TensorTrain};
use crate::trains::scaled::exponent_of;

/// One train of a sum, with its factor.
pub(super) struct Term<'a> {
    /// Its cores, in their order.
    pub(super) cores: Vec<Region<'a>>,
    /// Mode sizes and ranks of the train.
    pub(super) shape: &'a Shape,
    /// Factor of the train in the sum.
    pub(super) factor: f64,
}

/// The terms of a sum of trains that are on the device.
pub(super) fn terms_of<'a>(loaded: &'a [Loaded<'_>], trains: &[(&'a TensorTrain, f64)]) -> Result<Vec<Term<'a>>> {
    let mut terms = alloc::with_capacity("trains of a norm", trains.len())?;
    for (held, &(train, factor)) in loaded.iter().zip(trains) {
        terms.push(Term { cores: held.cores()?, shape: train.shape(), factor });
    }
    Ok(terms)
}

impl Term<'_> {
    fn bond(&self, k: usize) -> usize {
        self.shape.ranks()[k]
    }
}

/// Limits of two exponents: of a core's largest entry, and of the difference between two trains at a bond. Beyond them,
/// one exponent for the columns of all trains loses digits of the smaller ones. The columns of a single train have
/// magnitude 1 before each core.
fn limits(dtype: DType, trains: usize) -> (i64, i64) {
    match (dtype.is_single(), trains) {
        (true, 1) => (100, 0),
        (true, _) => (50, 40),
        (false, 1) => (900, 0),
        (false, _) => (400, 300),
    }
}

/// Whether the norm must be computed on the host: the magnitudes of the trains differ so much that each train needs an
/// exponent of its own, or products would overflow before they are measured. Waits.
pub(super) fn is_graded(gpu: &Gpu, stream: &GpuStream, work: &Work<'_>, terms: &[Term<'_>]) -> Result<bool> {
    let d = work.plan.cores;
    let mut cores = alloc::with_capacity("cores of a train", terms.len() * d)?;
    terms.iter().for_each(|term| cores.extend_from_slice(&term.cores));
    let what = "largest numbers of cores";
    let memory = gpu.allocate_uninitialized_on(stream, what, CoreKeys::bytes(cores.len())?)?;
    CoreKeys::find(work.plan.dtype.part(), gpu, stream, &cores, memory.whole())?;
    // Keys are the bit patterns of doubles.
    let mut largest = alloc::filled(what, cores.len(), 0.0f64)?;
    gpu.load_numbers(stream, &memory, CoreKeys::offset(cores.len()), &mut largest)?;
    let (one, apart) = limits(work.plan.dtype, terms.len());
    let mut sums = alloc::filled(what, terms.len(), 0i64)?;
    for i in 0..d {
        let k = work.plan.core(to_u64(i));
        for (sum, largest) in sums.iter_mut().zip(largest.chunks_exact(d)) {
            let q = exponent_of(largest[k]);
            if q.abs() > one {
                return Ok(true);
            }
            *sum += q;
        }
        let (low, high) = (sums.iter().min().copied().unwrap_or(0), sums.iter().max().copied().unwrap_or(0));
        if high - low > apart {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The cores of all terms in the order of the sweep.
fn swept<'a>(work: &Work<'_>, terms: &[Term<'a>]) -> Result<Vec<Region<'a>>> {
    let d = work.plan.cores;
    let mut cores = alloc::with_capacity("cores of a train", terms.len() * d)?;
    for term in terms {
        cores.extend((0..d).map(|i| term.cores[work.plan.core(to_u64(i))]));
    }
    Ok(cores)
}

/// Bytes of workspace of [`mark_graded`].
pub(super) fn graded_bytes(work: &Work<'_>, terms: &[Term<'_>]) -> Result<usize> {
    CoreKeys::bytes(terms.len() * work.plan.cores)
}

/// [`is_graded`] without waiting: sets the first number of `to` to NaN if the cores are graded.
pub(super) fn mark_graded(
    (gpu, stream): (&Gpu, &GpuStream),
    work: &Work<'_>,
    terms: &[Term<'_>],
    space: Region<'_>,
    to: Region<'_>,
) -> Result<()> {
    let keys = CoreKeys::find(work.plan.dtype.part(), gpu, stream, &swept(work, terms)?, space)?;
    bonds::mark_graded(gpu, stream, keys, work.plan.cores, limits(work.plan.dtype, terms.len()), to)
}

/// Memory of the matrices that are factorized.
pub(super) enum Space<'a> {
    /// One allocation for each matrix, freed when it is no longer needed. cuSOLVER's workspace is kept for the next
    /// call.
    Own(&'a mut Workspace),
    /// The caller's memory, in pieces of the sizes of [`bytes`].
    Borrowed([Region<'a>; PIECES]),
}

/// Number of pieces of the caller's memory: two for matrices, used in turn; one for a matrix in double precision; one
/// for its coefficients; one for cuSOLVER's workspace.
pub(super) const PIECES: usize = 5;
const WIDE: usize = 2;
const COEFFICIENTS: usize = 3;
const SOLVER: usize = 4;

/// Resources for norms on one stream.
pub(super) struct Norms<'a> {
    /// Element type of the trains.
    pub(super) dtype: DType,
    pub(super) gpu: &'a Gpu,
    pub(super) stream: &'a GpuStream,
    pub(super) blas: &'a Blas,
    pub(super) solver: &'a Solver,
    /// [`NUMBERS`] bytes: the numbers 1 and 0, and cuSOLVER's status.
    pub(super) numbers: Region<'a>,
    /// The exponent of the norm, and a copy of it.
    pub(super) exponents: Exponents<'a>,
    pub(super) space: Space<'a>,
}

/// Bytes of [`Norms::numbers`].
pub(super) const NUMBERS: usize = Products::NUMBERS + 16;

/// Sizes at a site of the sweep: the factor R has `rows` rows, its product with the cores is `tall` x `columns`.
struct Step {
    k: usize,
    rows: usize,
    tall: usize,
    columns: usize,
}

impl Step {
    /// The sizes at site `i`, where R has `rows` rows. At the last site all trains are added up in one column.
    fn new(work: &Work<'_>, terms: &[Term<'_>], i: usize, rows: usize) -> Result<Self> {
        let (plan, k) = (work.plan, work.plan.core(to_u64(i)));
        let next = plan.core(to_u64(i) + 1);
        let tall = product("x", rows, work.x.shape().modes()[k])?;
        let columns = if i + 1 < plan.cores {
            terms.iter().map(|term| term.bond(plan.cut) * term.bond(next)).sum::<usize>()
        } else {
            1
        };
        Ok(Self { k, rows, tall, columns })
    }

    /// Whether the product is factorized: not if it has too few rows, and not at the last site.
    fn is_factorized(&self, work: &Work<'_>, i: usize) -> bool {
        i + 1 < work.plan.cores && self.tall > self.columns
    }
}

/// Elements of the matrix before the first site: for each train the identity of its bond at the cut, p x p, as one row.
fn beginning(work: &Work<'_>, terms: &[Term<'_>]) -> Result<usize> {
    let mut total = 0usize;
    for term in terms {
        let p = term.bond(work.plan.cut);
        total = total.saturating_add(product("x", p, p)?);
    }
    Ok(total)
}

/// Bytes of the pieces of the caller's memory, for [`Space::Borrowed`].
pub(super) fn bytes(solver: &Solver, work: &Work<'_>, terms: &[Term<'_>]) -> Result<[usize; PIECES]> {
    let of = |elements, size| product("x", elements, size);
    let dtype = work.plan.dtype;
    let (own, wide) = (dtype.size(), dtype.wide().size());
    let mut pieces = [0; PIECES];
    let mut at_least = |piece: usize, bytes: usize| pieces[piece] = bytes.max(pieces[piece]);
    let (mut held, mut rows) = (0, 1);
    at_least(held, of(beginning(work, terms)?, own)?);
    for i in 0..work.plan.cores {
        let step = Step::new(work, terms, i, rows)?;
        let elements = product("x", step.tall, step.columns)?;
        at_least(1 - held, of(elements, own)?);
        if step.is_factorized(work, i) {
            if dtype.is_single() {
                // Factorizations are in double precision.
                at_least(WIDE, of(elements, wide)?);
            }
            at_least(COEFFICIENTS, of(step.columns, wide)?);
            at_least(SOLVER, solver.qr_bytes(dtype.wide(), step.tall, step.columns)?);
            at_least(held, of(product("x", step.columns, step.columns)?, own)?);
            rows = step.columns;
        } else {
            (held, rows) = (1 - held, step.tall);
        }
    }
    Ok(pieces)
}

/// Number of terms that [`Norms::enqueue`] writes.
pub(super) fn terms(work: &Work<'_>, list: &[Term<'_>]) -> Result<usize> {
    let mut rows = 1;
    for i in 0..work.plan.cores {
        let step = Step::new(work, list, i, rows)?;
        rows = if step.is_factorized(work, i) { step.columns } else { step.tall };
    }
    Ok(tt::sum_blocks(rows))
}

impl<'a> Norms<'a> {
    fn memory(&self, piece: usize, what: &'static str, elements: usize, size: usize) -> Result<Piece<'a>> {
        let bytes = product("x", elements, size)?;
        Ok(match &self.space {
            Space::Own(_) => Piece::Own(self.gpu.allocate_uninitialized_on(self.stream, what, bytes)?),
            Space::Borrowed(pieces) => Piece::Borrowed(pieces[piece].part(0, bytes)?),
        })
    }

    /// Enqueues the square of the norm of the sum of trains, as terms with an exponent. For each value of the bond at
    /// the cut the matrices have separate columns, as if the ring were an open train. Returns the number of terms.
    pub(super) fn enqueue(&mut self, work: &Work<'_>, terms: &[Term<'_>], results: Region<'_>) -> Result<usize> {
        let [low, high] = result::one(self.dtype);
        result::store(self.gpu, self.stream, &[low, high, 0, 0], self.numbers)?;
        let (mut held, mut rows) = (0, 1);
        let mut factor = self.begin(work, terms)?;
        for i in 0..work.plan.cores {
            let step = Step::new(work, terms, i, rows)?;
            let elements = product("x", step.tall, step.columns)?;
            let next = self.memory(1 - held, "product with a core", elements, self.dtype.size())?;
            if i + 1 < work.plan.cores {
                self.multiply(work, terms, &step, factor.whole(), next.whole())?;
            } else {
                self.add_up(work, terms, &step, factor.whole(), next.whole())?;
            }
            self.exponents.take(next.whole(), elements, 0)?;
            if step.is_factorized(work, i) {
                // Free the factor before the factorization allocates its memory.
                drop(factor);
                factor = self.triangle(held, next, &step)?;
                rows = step.columns;
            } else {
                (factor, held, rows) = (next, 1 - held, step.tall);
            }
            work.step()?;
        }
        // The sum of squares is in double precision, and its terms have magnitude about 1.
        self.exponents.copy(0, 1)?;
        let (column, states) = (factor.whole(), self.exponents.states(0, 2)?);
        let flags = (self.dtype.is_complex(), false);
        tt::join(self.dtype, self.gpu, self.stream, column, Some(column), (rows, 0), states, None, flags, results)?;
        Ok(tt::sum_blocks(rows))
    }

    fn begin(&self, work: &Work<'_>, terms: &[Term<'_>]) -> Result<Piece<'a>> {
        let size = self.dtype.size();
        let matrix = self.memory(0, "beginning of a norm", beginning(work, terms)?, size)?;
        self.gpu.clear(self.stream, matrix.whole())?;
        let mut start = 0;
        for term in terms {
            let p = term.bond(work.plan.cut);
            let rows = matrix.whole().part(start * size, p * p * size)?;
            pieces::identity(self.dtype, self.gpu, self.stream, self.numbers, rows, p)?;
            start += p * p;
        }
        Ok(matrix)
    }

    /// Multiplies R by the core of each train, for each value of the train's bond at the cut.
    fn multiply(
        &self,
        work: &Work<'_>,
        terms: &[Term<'_>],
        step: &Step,
        factor: Region<'_>,
        next: Region<'_>,
    ) -> Result<()> {
        let size = step.rows * self.dtype.size();
        let n = step.tall / step.rows;
        let (mut from, mut to) = (0, 0);
        for term in terms {
            let [r, _, r2] = term.shape.core(step.k);
            let core = View::packed(term.cores[step.k], r, n * r2);
            for _ in 0..term.bond(work.plan.cut) {
                let held = View::packed(factor.part(from * size, r * size)?, step.rows, r);
                // The product is written as rows x (n r2), and then read as (rows n) x r2.
                let made = View::packed(next.part(to * n * size, r2 * n * size)?, step.rows, n * r2);
                let plain = Transpose::Plain;
                self.blas.multiply(self.dtype, 1.0, held, plain, core, plain, 0.0, made)?;
                (from, to) = (from + r, to + r2);
            }
        }
        Ok(())
    }

    /// Multiplies by the last core of each train and adds the resulting columns.
    fn add_up(
        &self,
        work: &Work<'_>,
        terms: &[Term<'_>],
        step: &Step,
        factor: Region<'_>,
        column: Region<'_>,
    ) -> Result<()> {
        let n = work.x.shape().modes()[step.k];
        let size = step.rows * self.dtype.size();
        let to = View::packed(column, step.rows, n);
        let mut start = 0;
        for term in terms {
            let [r, _, p] = term.shape.core(step.k);
            let bytes = product("x", r, n)? * self.dtype.size();
            for j in 0..p {
                let held = View::packed(factor.part(start * size, r * size)?, step.rows, r);
                let core = View::packed(term.cores[step.k].part(j * bytes, bytes)?, r, n);
                let (plain, add) = (Transpose::Plain, if start > 0 { 1.0 } else { 0.0 });
                self.blas.multiply(self.dtype, term.factor, held, plain, core, plain, add, to)?;
                start += r;
            }
        }
        Ok(())
    }

    /// Replaces a product by the R of its QR factorization, which is computed in double precision.
    fn triangle(&mut self, held: usize, product: Piece<'a>, step: &Step) -> Result<Piece<'a>> {
        let (gpu, stream) = (self.gpu, self.stream);
        let (tall, columns) = (step.tall, step.columns);
        let wide = if self.dtype.is_single() {
            let wide = self.memory(WIDE, "Householder vectors", tall * columns, self.dtype.wide().size())?;
            let (from, to) = (View::packed(product.whole(), tall, columns), View::packed(wide.whole(), tall, columns));
            dense::convert(self.dtype, self.dtype.wide(), gpu, stream, from, to, false)?;
            drop(product);
            wide
        } else {
            product
        };
        let coefficients = self.memory(COEFFICIENTS, "Householder coefficients", columns, self.dtype.wide().size())?;
        let matrix = View::packed(wide.whole(), tall, columns);
        let said = self.numbers.part(Products::NUMBERS, 4)?;
        match &mut self.space {
            Space::Own(work) => self.solver.qr(self.dtype.wide(), matrix, coefficients.whole(), work, said)?,
            Space::Borrowed(pieces) => {
                self.solver.qr_in(self.dtype.wide(), matrix, coefficients.whole(), pieces[SOLVER], said)?;
            }
        }
        let triangle = self.memory(held, "triangle of a factorization", columns * columns, self.dtype.size())?;
        let (square, to) =
            (matrix.rows(self.dtype.wide(), 0, columns)?, View::packed(triangle.whole(), columns, columns));
        dense::upper(self.dtype.wide(), self.dtype, gpu, stream, square, to, dense::UpperOutputs::default())?;
        Ok(triangle)
    }
}

/// Bytes of the results of `terms` terms.
pub(super) fn results(terms: usize) -> Result<usize> {
    product("terms", terms, RESULT_WORDS * 8)
}
