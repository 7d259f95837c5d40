//! The operations of a [`TrainOps`] without its type parameters, so that the methods for trains are compiled once for
//! all element types and backends. Each operation works on a whole matrix, so the cost of a dynamic call is negligible.

use super::ops::{Numbers, TrainOps};
use super::place::Place;
use super::positive::positive;
use crate::alloc;
use crate::backend::Backend;
use crate::backend::memory::Memory;
use crate::dense::Delta;
use crate::dense::cpu::CpuAlgebra;
use crate::dense::erased as dense;
pub use crate::dense::erased::{Dense, Typed};
use crate::dense::gpu::GpuAlgebra;
use crate::dense::orthonormal::{BasisMethod, Counts, Own, orthonormalize};
use crate::erased::{self, Value};
use crate::error::{Error, Result};
use crate::scalar::{DType, Scalar, is_finite, with_scalar};
use crate::tensor::train::TensorTrain;
use crate::trains::scaled::scale;

/// Numbers of the element type on the host.
pub struct Values(Box<dyn Value>);

impl Values {
    /// A `Vec` of the element type.
    pub fn new<T: Scalar>(values: Vec<T>) -> Self {
        Self(Box::new(values))
    }

    /// The `Vec` for functions that take any value.
    pub fn any(&self) -> &dyn Value {
        &*self.0
    }

    fn of<T: Scalar>(&self) -> Result<&[T]> {
        erased::of::<Vec<T>>("values", &*self.0).map(Vec::as_slice)
    }
}

/// A large matrix that is only read, column-major.
pub enum Held<'a> {
    /// The caller's memory, which the backend can read.
    Borrowed(&'a Memory),
    /// A matrix of the backend with as many elements.
    Owned(Dense),
    /// Nothing: the matrix was used up.
    Taken,
}

impl Held<'_> {
    fn numbers<T: Scalar, M: 'static>(&self, elements: usize) -> Result<Numbers<'_, T, M>> {
        match self {
            Self::Borrowed(memory) => Ok(Numbers::Host(&memory.host("tensor")?.as_slice::<T>()?[..elements])),
            Self::Owned(m) => Ok(Numbers::Matrix(m.of()?)),
            Self::Taken => Err(Error::Internal("a matrix of trains that was used up".into())),
        }
    }
}

/// The operations of a backend besides those of its algebra. A matrix of another backend or element type is refused.
pub trait Operations: dense::Operations {
    /// A matrix with ones on its diagonal, else of zeros.
    ///
    /// # Errors
    /// Out of memory; errors of the backend.
    fn identity(&mut self, what: &'static str, rows: usize, cols: usize) -> Result<Dense>;

    /// Numbers `first`, `first` + `step`, `first` + 2 `step`, ...
    ///
    /// # Errors
    /// [`Error::OutOfMemory`]; as [`erased::of`].
    fn every(&self, what: &'static str, values: &Values, first: usize, step: usize) -> Result<Values>;

    /// The numbers of a matrix, column-major.
    ///
    /// # Errors
    /// As [`Dense::of`]; out of memory; errors of the backend.
    fn values(&mut self, what: &'static str, m: &Dense) -> Result<Values>;

    /// Whether all numbers of a matrix are finite.
    ///
    /// # Errors
    /// As [`Operations::values`].
    fn is_finite(&mut self, what: &'static str, m: &Dense) -> Result<bool>;

    /// The Frobenius norm of `values` - 2^`exponent` `m`.
    ///
    /// # Errors
    /// As [`Operations::values`] and [`erased::of`].
    fn difference(&mut self, what: &'static str, values: &Values, m: &Dense, exponent: i64) -> Result<f64>;

    /// [`Algebra::adjoint`](crate::dense::Algebra::adjoint).
    ///
    /// # Errors
    /// As there; as [`Dense::of`].
    fn adjoint(&mut self, what: &'static str, m: &Dense) -> Result<Dense>;

    /// [`Algebra::householder`](crate::dense::Algebra::householder).
    ///
    /// # Errors
    /// As there; as [`Dense::of_mut`].
    fn householder(&mut self, x: &mut Dense, r: &mut Dense) -> Result<()>;

    /// Replaces `x` by Q with orthonormal columns; returns R with X = Q R.
    ///
    /// # Errors
    /// As [`orthonormalize`] and [`Dense::of_mut`]; out of memory; errors of the backend.
    fn orthonormalize(&mut self, x: &mut Dense, method: BasisMethod) -> Result<Dense>;

    /// Multiplies the columns of Q and the rows of R = Q^H X by phases so that the diagonal of R is real and not
    /// negative.
    ///
    /// # Errors
    /// As [`Dense::of_mut`]; out of memory; errors of the backend.
    fn positive(&mut self, q: &mut Dense, r: &mut Dense) -> Result<()>;

    /// [`TrainOps::reshape`].
    ///
    /// # Errors
    /// As there; as [`Dense::into_inner`].
    fn reshape(&mut self, m: Dense, rows: usize, cols: usize) -> Result<Dense>;

    /// [`TrainOps::load`].
    ///
    /// # Errors
    /// As there.
    fn load(&mut self, train: &TensorTrain, k: usize, rows: usize, cols: usize) -> Result<Dense>;

    /// [`TrainOps::store`].
    ///
    /// # Errors
    /// As there; as [`Dense::of`].
    fn store(&mut self, m: &Dense, train: &mut TensorTrain, k: usize) -> Result<()>;

    /// [`TrainOps::put`].
    ///
    /// # Errors
    /// As there; as [`Dense::of`].
    fn put(&mut self, m: &Dense, out: &mut Memory) -> Result<()>;

    /// The numbers of a packed tensor in memory that the backend can read; copies them if necessary.
    ///
    /// # Errors
    /// As [`TrainOps::hold`].
    fn hold<'a>(&mut self, memory: &'a Memory, elements: usize) -> Result<Held<'a>>;

    /// The held numbers as a matrix of the backend.
    ///
    /// # Errors
    /// [`Error::Internal`] for numbers that were used up; as [`Operations::reshape`]; out of memory; errors of the
    /// backend.
    fn matrix(&mut self, what: &'static str, held: Held<'_>, rows: usize, cols: usize) -> Result<Dense>;

    /// Whether |re| and |im| of all numbers in host memory are below `limit`. Stops at the first number that is not.
    ///
    /// # Errors
    /// As [`Memory::host`].
    fn are_below(&self, memory: &Memory, elements: usize, limit: f64) -> Result<bool>;

    /// [`TrainOps::left_vectors`].
    ///
    /// # Errors
    /// As there; [`Error::Internal`] for numbers that were used up.
    fn left_vectors(&mut self, a: &Held<'_>, shape: (usize, usize), delta: Delta) -> Result<(Dense, Vec<f64>)>;

    /// [`TrainOps::project`].
    ///
    /// # Errors
    /// As there; as [`Dense::of`]; [`Error::Internal`] for numbers that were used up.
    fn project(&mut self, u: &Dense, a: &Held<'_>, shape: (usize, usize)) -> Result<Dense>;

    /// [`TrainOps::product_to`].
    ///
    /// # Errors
    /// As there; as [`Dense::of`].
    fn product_to(&mut self, alpha: f64, a: &Dense, b: &Dense, out: &mut Memory) -> Result<()>;
}

fn downloaded<T: Scalar, A: TrainOps<T>>(algebra: &mut A, what: &'static str, m: &Dense) -> Result<Vec<T>> {
    let m = m.of()?;
    let (rows, cols) = algebra.shape(m);
    let mut values = alloc::filled(what, rows * cols, T::default())?;
    algebra.download(m, &mut values, rows)?;
    Ok(values)
}

impl<T: Scalar, A: TrainOps<T>> Operations for Typed<'_, T, A> {
    fn identity(&mut self, what: &'static str, rows: usize, cols: usize) -> Result<Dense> {
        let mut values = alloc::filled(what, rows * cols, T::default())?;
        values.iter_mut().step_by(rows + 1).take(rows.min(cols)).for_each(|x| *x = T::from_parts(1.0, 0.0));
        self.0.upload(what, rows, cols, &values, rows).map(Dense::new)
    }

    fn every(&self, what: &'static str, values: &Values, first: usize, step: usize) -> Result<Values> {
        let values = values.of::<T>()?.get(first..).unwrap_or_default();
        let mut taken = alloc::with_capacity(what, values.len().div_ceil(step.max(1)))?;
        taken.extend(values.iter().step_by(step.max(1)));
        Ok(Values::new::<T>(taken))
    }

    fn values(&mut self, what: &'static str, m: &Dense) -> Result<Values> {
        downloaded::<T, _>(self.0, what, m).map(Values::new)
    }

    fn is_finite(&mut self, what: &'static str, m: &Dense) -> Result<bool> {
        Ok(downloaded::<T, _>(self.0, what, m)?.iter().all(|x| is_finite(*x)))
    }

    fn difference(&mut self, what: &'static str, values: &Values, m: &Dense, exponent: i64) -> Result<f64> {
        let found = downloaded::<T, _>(self.0, what, m)?;
        let times = |x: f64| scale(x, exponent);
        let errors = values.of::<T>()?.iter().zip(&found);
        let errors = errors.map(|(x, y)| (x.re() - times(y.re())).hypot(x.im() - times(y.im())));
        Ok(errors.map(|e| e * e).sum::<f64>().sqrt())
    }

    fn adjoint(&mut self, what: &'static str, m: &Dense) -> Result<Dense> {
        self.0.adjoint(what, m.of()?).map(Dense::new)
    }

    fn householder(&mut self, x: &mut Dense, r: &mut Dense) -> Result<()> {
        self.0.householder(x.of_mut()?, r.of_mut()?)
    }

    fn orthonormalize(&mut self, x: &mut Dense, method: BasisMethod) -> Result<Dense> {
        orthonormalize(&mut Own(&mut *self.0), x.of_mut()?, method, &mut Counts::default()).map(Dense::new)
    }

    fn positive(&mut self, q: &mut Dense, r: &mut Dense) -> Result<()> {
        positive(self.0, q.of_mut()?, r.of_mut()?)
    }

    fn reshape(&mut self, m: Dense, rows: usize, cols: usize) -> Result<Dense> {
        self.0.reshape(m.into_inner()?, rows, cols).map(Dense::new)
    }

    fn load(&mut self, train: &TensorTrain, k: usize, rows: usize, cols: usize) -> Result<Dense> {
        self.0.load(train, k, rows, cols).map(Dense::new)
    }

    fn store(&mut self, m: &Dense, train: &mut TensorTrain, k: usize) -> Result<()> {
        self.0.store(m.of()?, train, k)
    }

    fn put(&mut self, m: &Dense, out: &mut Memory) -> Result<()> {
        self.0.put(m.of()?, out)
    }

    fn hold<'a>(&mut self, memory: &'a Memory, elements: usize) -> Result<Held<'a>> {
        Ok(self.0.hold(memory, elements)?.map_or(Held::Borrowed(memory), |m| Held::Owned(Dense::new(m))))
    }

    fn matrix(&mut self, what: &'static str, held: Held<'_>, rows: usize, cols: usize) -> Result<Dense> {
        match held {
            Held::Owned(m) => self.reshape(m, rows, cols),
            other => match other.numbers::<T, A::Matrix>(rows * cols)? {
                Numbers::Host(values) => self.0.upload(what, rows, cols, values, rows).map(Dense::new),
                Numbers::Matrix(_) => Err(Error::Internal("a matrix of trains that is not on the host".into())),
            },
        }
    }

    fn are_below(&self, memory: &Memory, elements: usize, limit: f64) -> Result<bool> {
        let values = &memory.host("tensor")?.as_slice::<T>()?[..elements];
        Ok(values.iter().all(|x| x.re().abs() < limit && x.im().abs() < limit))
    }

    fn left_vectors(&mut self, a: &Held<'_>, shape: (usize, usize), delta: Delta) -> Result<(Dense, Vec<f64>)> {
        let (u, s) = self.0.left_vectors(&a.numbers(shape.0 * shape.1)?, shape, delta)?;
        Ok((Dense::new(u), s))
    }

    fn project(&mut self, u: &Dense, a: &Held<'_>, shape: (usize, usize)) -> Result<Dense> {
        self.0.project(u.of()?, &a.numbers(shape.0 * shape.1)?, shape).map(Dense::new)
    }

    fn product_to(&mut self, alpha: f64, a: &Dense, b: &Dense, out: &mut Memory) -> Result<()> {
        self.0.product_to(alpha, a.of()?, b.of()?, out)
    }
}

/// Calls `run` with the operations of `at.context` on elements of `dtype`.
///
/// # Errors
/// [`Error::InvalidArgument`] for `argument` of a type that is not one of the four of linear algebra; as `run`.
pub fn with_operations<R>(
    at: &Place<'_>,
    argument: &str,
    dtype: DType,
    run: impl FnOnce(&mut dyn Operations) -> Result<R>,
) -> Result<R> {
    let (mut run, mut found) = (Some(run), None);
    dispatch(at, argument, dtype, &mut |operations| {
        found = run.take().map(|run| run(operations)).transpose()?;
        Ok(())
    })?;
    found.ok_or_else(|| Error::Internal("operations of trains that did not run".into()))
}

/// [`with_operations`] without a type parameter, so that it is compiled once.
fn dispatch(
    at: &Place<'_>,
    argument: &str,
    dtype: DType,
    run: &mut dyn FnMut(&mut dyn Operations) -> Result<()>,
) -> Result<()> {
    match at.context.backend() {
        Backend::Cpu => {
            let algebra = &mut CpuAlgebra::new(at.context);
            with_scalar!(dtype, argument, T => run(&mut Typed::<T, _>::new(algebra)))
        }
        Backend::Gpu(gpu) => {
            let algebra = &mut GpuAlgebra::new(at.context, gpu, at.queue()?)?;
            with_scalar!(dtype, argument, T => run(&mut Typed::<T, _>::new(algebra)))
        }
    }
}
