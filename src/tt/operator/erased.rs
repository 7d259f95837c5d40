//! The operations of an [`OperatorOps`] without its type parameters, so that contractions with operators are compiled
//! once for all element types and backends. Each operation works on a whole environment, so the cost of a dynamic call
//! is negligible.

use std::any::Any;
use std::marker::PhantomData;

use super::ops::{Extent, OperatorOps, Site, StepBytes};
use crate::error::{Error, Result};
use crate::scalar::{Complex, DType, Scalar};

/// An [`OperatorOps::Environment`]. Only the backend's [`Operations`] know its type.
pub struct Environment(Box<dyn Any + Send + Sync>);

impl Environment {
    /// An environment without its type.
    pub fn new<E: Send + Sync + 'static>(environment: E) -> Self {
        Self(Box::new(environment))
    }

    /// The environment itself.
    ///
    /// # Errors
    /// [`Error::Internal`] for an environment of another type.
    pub fn of<E: 'static>(&self) -> Result<&E> {
        self.0.downcast_ref().ok_or_else(foreign)
    }

    /// As [`Environment::of`].
    pub fn of_mut<E: 'static>(&mut self) -> Result<&mut E> {
        self.0.downcast_mut().ok_or_else(foreign)
    }
}

/// An [`OperatorOps::Work`] without its type.
pub struct Work(Box<dyn Any + Send + Sync>);

impl Work {
    /// Workspace without its type.
    pub fn new<W: Send + Sync + 'static>(work: W) -> Self {
        Self(Box::new(work))
    }

    /// The workspace itself.
    ///
    /// # Errors
    /// [`Error::Internal`] for workspace of another type.
    pub fn of_mut<W: 'static>(&mut self) -> Result<&mut W> {
        self.0.downcast_mut().ok_or_else(foreign)
    }
}

fn foreign() -> Error {
    Error::Internal("an environment of another backend or element type in a contraction with an operator".into())
}

/// The operations of a backend. Environments of another backend or element type are refused.
pub trait Operations: Sync {
    /// Element type of the computation.
    fn dtype(&self) -> DType;

    /// [`OperatorOps::environment`].
    fn environment(&self, elements: usize) -> Result<Environment>;

    /// [`OperatorOps::work`].
    fn work(&self, halves: usize, narrow: bool) -> Work;

    /// [`OperatorOps::step_workspace`].
    fn step_workspace(&self, halves: usize, narrow: bool, from: Extent, to: Extent, modes: [usize; 2]) -> StepBytes;

    /// [`OperatorOps::boundary`].
    fn boundary(&self, to: &mut Environment, extent: Extent, first: usize, starts: &[bool]) -> Result<()>;

    /// [`OperatorOps::step`].
    fn step(
        &self,
        work: &mut Work,
        site: &Site<'_>,
        from: &Environment,
        extent: Extent,
        to: &mut Environment,
    ) -> Result<i64>;

    /// [`OperatorOps::peaks`].
    fn peaks(&self, environment: &Environment, extent: Extent, split: usize) -> Result<[f64; 2]>;

    /// [`OperatorOps::shift`].
    fn shift(&self, environment: &mut Environment, extent: Extent, split: usize, by: [i64; 2]) -> Result<()>;

    /// [`OperatorOps::join`].
    fn join(&self, left: (&Environment, Extent), right: (&Environment, Extent)) -> Result<Vec<Complex<f64>>>;

    /// [`OperatorOps::is_concurrent`].
    fn is_concurrent(&self) -> bool;

    /// [`OperatorOps::both`] for closures that store their results themselves.
    fn run_both(&self, a: &mut (dyn FnMut() + Send), b: &mut (dyn FnMut() + Send));
}

/// [`OperatorOps::both`].
///
/// # Errors
/// [`Error::Internal`] if the backend did not run both.
pub fn both<A: Send, B: Send>(
    ops: &dyn Operations,
    a: impl FnOnce() -> A + Send,
    b: impl FnOnce() -> B + Send,
) -> Result<(A, B)> {
    let (mut a, mut b) = (Some(a), Some(b));
    let (mut first, mut second) = (None, None);
    ops.run_both(&mut || first = a.take().map(|a| a()), &mut || second = b.take().map(|b| b()));
    first.zip(second).ok_or_else(|| Error::Internal("a half of a contraction that did not run".into()))
}

/// The [`Operations`] of an [`OperatorOps`].
pub struct Typed<'o, T, O>(&'o O, PhantomData<fn() -> T>);

impl<'o, T: Scalar, O: OperatorOps<T>> Typed<'o, T, O> {
    /// The operations of `ops`, without its types.
    pub fn new(ops: &'o O) -> Self {
        Self(ops, PhantomData)
    }
}

impl<T: Scalar, O: OperatorOps<T>> Operations for Typed<'_, T, O> {
    fn dtype(&self) -> DType {
        T::DTYPE
    }

    fn environment(&self, elements: usize) -> Result<Environment> {
        self.0.environment(elements).map(Environment::new)
    }

    fn work(&self, halves: usize, narrow: bool) -> Work {
        Work::new(self.0.work(halves, narrow))
    }

    fn step_workspace(&self, halves: usize, narrow: bool, from: Extent, to: Extent, modes: [usize; 2]) -> StepBytes {
        self.0.step_workspace(halves, narrow, from, to, modes)
    }

    fn boundary(&self, to: &mut Environment, extent: Extent, first: usize, starts: &[bool]) -> Result<()> {
        self.0.boundary(to.of_mut()?, extent, first, starts)
    }

    fn step(
        &self,
        work: &mut Work,
        site: &Site<'_>,
        from: &Environment,
        extent: Extent,
        to: &mut Environment,
    ) -> Result<i64> {
        self.0.step(work.of_mut()?, site, from.of()?, extent, to.of_mut()?)
    }

    fn peaks(&self, environment: &Environment, extent: Extent, split: usize) -> Result<[f64; 2]> {
        self.0.peaks(environment.of()?, extent, split)
    }

    fn shift(&self, environment: &mut Environment, extent: Extent, split: usize, by: [i64; 2]) -> Result<()> {
        self.0.shift(environment.of_mut()?, extent, split, by)
    }

    fn join(&self, left: (&Environment, Extent), right: (&Environment, Extent)) -> Result<Vec<Complex<f64>>> {
        self.0.join((left.0.of()?, left.1), (right.0.of()?, right.1))
    }

    fn is_concurrent(&self) -> bool {
        self.0.is_concurrent()
    }

    fn run_both(&self, a: &mut (dyn FnMut() + Send), b: &mut (dyn FnMut() + Send)) {
        self.0.both(a, b);
    }
}
