//! The plan of a search for singular triplets: the checks and the sizes that need no entry of the matrix. A search makes
//! its plan first.

use std::sync::Arc;

use super::algorithm::bidiagonal;
use super::algorithm::pairs::Job;
use super::gpu::Passing;
use super::info::{Choice, Info, Shares};
use super::memory::{self, Bytes, Multiplied, TRIPLETS};
use super::operator::{self, Kind};
use super::options::{Filter, Method, Options, Orthogonalization, Settings, Which};
use crate::choice::{numbered, word};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::matrix::{Matrix, Storage};
use crate::scalar::Scalar;

pub(super) const WHAT: &str = "singular vectors";

/// Order up to which the smallest values come from a bidiagonalization of the whole matrix, which misses none.
const WHOLE: usize = 256;

/// Largest number of elements of the long side's vectors for such a bidiagonalization.
const WHOLE_NUMBERS: usize = 1 << 22;

/// The Hermitian operator whose eigenvectors are computed first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum SingularOperator {
    /// A^H A or A A^H, whichever is smaller, for the largest values; no operator for the smallest.
    Auto = 0,
    /// A^H A or A A^H, whichever is smaller.
    Gram = 1,
    /// [0 A; A^H 0], for the largest values only. Its eigenvectors have left and right vectors as parts.
    Augmented = 2,
}

numbered!(SingularOperator, Auto, Gram, Augmented);

/// The sides of a matrix, and which of its singular vectors they hold.
pub(super) struct Shape {
    /// The Gram operator on the short side.
    pub kind: Kind,
    /// Numbers of a column on the short and on the long side.
    pub lengths: [usize; 2],
    /// Whether right vectors are on the short side.
    pub is_tall: bool,
}

impl Shape {
    fn of(a: &Matrix) -> Self {
        let (rows, cols) = (a.rows(), a.cols());
        let is_tall = cols <= rows;
        let kind = if is_tall { Kind::Gram } else { Kind::OuterGram };
        Self { kind, lengths: [rows.min(cols), rows.max(cols)], is_tall }
    }
}

/// A search for triplets resolved to plain numbers.
pub(super) struct Planned {
    /// The sides of the matrix.
    pub shape: Shape,
    /// The operator whose eigenvectors are computed first; `None` if the search begins with Golub-Kahan-Lanczos.
    pub first: Option<Kind>,
    /// Settings of Golub-Kahan-Lanczos, which follows the eigenvectors where their residuals are too large.
    pub settings: Settings,
    /// The fields of the report that are known before the search; the others have their defaults.
    pub info: Info,
}

/// Whether an option is set that only eigenvectors use.
pub(super) fn is_of_eigenpairs(options: &Options) -> bool {
    options.method != Method::ThickRestart
        || options.filter != Filter::Off
        || options.block > 1
        || options.orthogonalization != Orthogonalization::Full
}

/// The options that apply to a search on both sides; the others have their defaults.
pub(super) fn search(options: &Options) -> Options {
    Options {
        method: Method::ThickRestart,
        filter: Filter::Off,
        degree: 0,
        block: 1,
        orthogonalization: Orthogonalization::Full,
        basis: if options.method == Method::Plain { 0 } else { options.basis },
        ..*options
    }
}

impl Planned {
    /// Checks the matrix and the options, and plans the search for `options.count` triplets.
    ///
    /// # Errors
    /// As [`super::singular::singular_triplets`], but for those that depend on entries and on the start vector.
    pub fn new<T: Scalar>(
        context: &Arc<Context>,
        a: &Matrix,
        through: SingularOperator,
        options: &Options,
    ) -> Result<Self> {
        let shape = Shape::of(a);
        let [n, long] = shape.lengths;
        if !matches!(options.which, Which::Largest | Which::Smallest) {
            return Err(Error::invalid("which", format!("is {}, LARGEST or SMALLEST is needed", word(options.which))));
        }
        if options.count > n {
            return Err(Error::invalid("count", format!("is {}, outside 1 to {n}", options.count)));
        }
        if options.check_symmetry {
            return Err(Error::invalid("check_symmetry", "is set, singular values ask for no symmetry"));
        }
        if through == SingularOperator::Augmented && options.which == Which::Smallest {
            let problem = "which: is SMALLEST through the augmented matrix, GRAM is needed";
            return Err(Error::NotSupported(problem.into()));
        }
        let begins = through != SingularOperator::Auto || options.which == Which::Largest || is_of_eigenpairs(options);
        let kind = if through == SingularOperator::Augmented { Kind::Augmented } else { shape.kind };
        operator::check::<T>(context, a, kind, 0.0, None)?;
        let order = kind.order((a.rows(), a.cols()));
        let job = if begins { Some(Job::<T>::planned(options, order, 0, false)?) } else { None };
        let mut last = search(options);
        let is_small = n <= WHOLE && n.saturating_mul(long) <= WHOLE_NUMBERS;
        if last.basis == 0 && last.which == Which::Smallest && is_small {
            last.basis = n;
        }
        let settings = last.resolve(n, 0, T::DTYPE)?;
        let (mut reason, mut basis) = (Choice::Bidiagonal, settings.basis);
        if let Some(job) = &job {
            (reason, basis) = (job.choice().of_triplets(), job.basis());
        }
        let job = job.as_ref().map(|job| (job, kind));
        let bytes = needed::<T>(context, a, (&shape, job), &settings, options.count)?;
        bytes.expect(context, TRIPLETS)?;
        let info = Info {
            method: options.method,
            reason,
            basis,
            degree: options.degree,
            host_bytes: bytes.host,
            device_bytes: bytes.device,
            ..Info::default()
        };
        Ok(Self { shape, first: begins.then_some(kind), settings, info })
    }

    /// The report of a plan: one context has the whole matrix, and a product is one with A and one with A^H.
    pub fn report(&self, a: &Matrix) -> Info {
        let mut shares = Shares { contexts: 1, ..Shares::default() };
        if let Storage::Csr(csr) = a.storage() {
            let (rows, entries, number) = (a.rows(), csr.nnz(), a.dtype().size());
            let entry = 4 + if csr.parts().values.is_some() { number } else { 0 };
            // Each product reads the entries and the offsets of its rows, and a vector of either side is read or written.
            let vectors = (rows + a.cols()).saturating_mul(8 + 2 * number);
            let product_bytes = entries.saturating_mul(2 * entry).saturating_add(vectors);
            shares = Shares { rows, entries, product_bytes, ..shares };
        }
        Info { shares, ..self.info }
    }
}

/// Bytes of a search for `count` triplets whose vectors are all returned, one step after another: the eigenvectors of
/// `job`, whose operator is of the given kind; the triplets from them; and Golub-Kahan-Lanczos with `settings`.
fn needed<T: Scalar>(
    context: &Arc<Context>,
    a: &Matrix,
    (shape, job): (&Shape, Option<(&Job<'_, T>, Kind)>),
    settings: &Settings,
    count: usize,
) -> Result<Bytes> {
    let (of_matrix, is_own) = ((a.rows(), a.cols()), matches!(a.storage(), Storage::Operator(_)));
    let returned = memory::numbers::<T>(numbers(shape, count));
    // All operators of triplets multiply by the matrix and by its adjoint.
    let copies = memory::copies(context, a, (shape.kind, None), 1)?;
    let kept = Bytes { host: 0, device: copies.device.kept };
    let both_sides = |columns: usize, rotated: usize| {
        let columns = columns.max(3);
        let own = memory::operator::<T>(context, shape.kind, of_matrix, None);
        let own = own.and(Bytes { host: 0, device: copies.space });
        let short = memory::space::<T>(context, (shape.lengths[0], columns), own, kept)?;
        let long = memory::space::<T>(context, (shape.lengths[1], columns), Bytes::default(), short.and(kept))?;
        let passing = Passing { rotated, multiplied: count, ..Passing::default() };
        let passing = memory::passing::<T>(context, (shape.lengths[1], columns), passing)?;
        Ok::<_, Error>(short.and(long).and(passing).and(returned))
    };
    let order = bidiagonal::largest_order(settings, shape.lengths[0]);
    let last = both_sides(bidiagonal::columns(settings), order)?.and(memory::singular_vectors(order));
    // A step may make the operator anew, beside the memory of the vectors that it returns.
    let mut most = last.behind(&copies, returned).or(memory::renewal(context, a, &copies));
    most = most.or(returned.and(memory::test_of_adjoint::<T>(shape.kind, of_matrix, is_own)));
    if let Some((job, kind)) = job {
        // The eigenvectors stay in host memory until they are columns of the short side.
        let held = job.order().saturating_mul(count);
        let of = Multiplied { kind, shape: of_matrix, is_own, is_ordered: false, copies };
        let first = memory::eigenpairs(context, job, &of, held)?;
        let next =
            both_sides(count.saturating_add(1), count)?.behind(&copies, returned).and(memory::numbers::<T>(held));
        most = most.or(first.behind(&copies, Bytes::default())).or(next);
    }
    Ok(most)
}

/// Numbers of `count` vectors of both sides.
fn numbers(shape: &Shape, count: usize) -> usize {
    count.saturating_mul(shape.lengths[0].saturating_add(shape.lengths[1]))
}
