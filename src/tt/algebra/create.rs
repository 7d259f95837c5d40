//! Random trains, constant trains, product states and identities.

use super::place::{Place, begin, finish};
use crate::alloc;
use crate::backend::cpu::parallel::{Items as _, Pieces as _};
use crate::dense::sketch::{Distribution, Sketch};
use crate::error::{Error, Result};
use crate::instances::compiled_here;
use crate::rng;
use crate::scalar::{DType, Element, Scalar, with_scalar};
use crate::shape::to_u64;
use crate::tensor::train::{Shape, TensorTrain, TrainMatrix};

/// A train of normally distributed numbers. Those of core k have the variance 1 / (n_k sqrt(r_k r_{k+1})), so that the
/// expectation of the squared norm is 1 for every shape. The real and the imaginary part of a complex number have half
/// of the variance each.
///
/// Element e of core k is entry (e, k) of the random matrix of `seed` (see [`Sketch`]): the same numbers for any number
/// of threads, on any device.
///
/// # Errors
/// [`Error::InvalidArgument`] for a type that is not one of the four of linear algebra and for more than 2^31 cores;
/// [`Error::NotSupported`] for device memory on a CPU context; out of memory.
pub fn random(at: &Place<'_>, dtype: DType, shape: Shape, seed: u64) -> Result<TensorTrain> {
    at.check()?;
    let mut result = begin(at, dtype, shape)?;
    with_scalar!(dtype, "dtype", T => fill::<T>(at, &mut result, seed))?;
    finish(at, result)
}

fn fill<T: Scalar>(at: &Place<'_>, train: &mut TensorTrain, seed: u64) -> Result<()> {
    let shape = train.shape().clone();
    let sketch = Sketch { distribution: Distribution::Gaussian, seed, stream: rng::stream::TRAINS };
    let mut cores = train.cores_mut::<T>("result")?;
    for k in 0..shape.len() {
        at.cancel.check()?;
        let column = u32::try_from(k).ok().filter(|k| *k < 1 << 31);
        let column = column.ok_or_else(|| Error::invalid("shape", format!("core {k} is beyond the 2^31-th")))?;
        let [r, n, s] = shape.core(k);
        let parts = if T::IS_COMPLEX { 2.0 } else { 1.0 };
        let deviation = (1.0 / (parts * n as f64 * (r as f64 * s as f64).sqrt())).sqrt();
        let core = cores.core(k);
        at.context.pool().run(|| {
            core.par_chunks_mut(1 << 12).enumerate().for_each(|(chunk, part)| {
                // Draw in double precision, so that each number is rounded once.
                let mut drawn = [T::Wide::default(); 64];
                for (first, values) in (to_u64(chunk << 12)..).step_by(64).zip(part.chunks_mut(64)) {
                    sketch.fill_column(first, column, &mut drawn[..values.len()]);
                    for (x, z) in values.iter_mut().zip(&drawn) {
                        *x = T::from_parts(z.re() * deviation, z.im() * deviation);
                    }
                }
            });
        });
    }
    Ok(())
}

/// A train of rank 1 whose entries are all 0.
///
/// # Errors
/// As [`random`]; [`Error::InvalidArgument`] for mode sizes that are 0.
pub fn zeros(at: &Place<'_>, dtype: DType, modes: &[usize]) -> Result<TensorTrain> {
    at.check()?;
    let shape = rank_one(modes)?;
    finish(at, begin(at, dtype, shape)?)
}

/// A train of rank 1 whose entries are all 1.
///
/// # Errors
/// As [`zeros`].
pub fn ones(at: &Place<'_>, dtype: DType, modes: &[usize]) -> Result<TensorTrain> {
    at.check()?;
    let shape = rank_one(modes)?;
    let mut result = begin(at, dtype, shape)?;
    with_scalar!(dtype, "dtype", T => {
        let mut cores = result.cores_mut::<T>("result")?;
        (0..modes.len()).for_each(|k| cores.core(k).fill(T::from_parts(1.0, 0.0)));
        Ok(())
    })?;
    finish(at, result)
}

fn rank_one(modes: &[usize]) -> Result<Shape> {
    let ranks = alloc::filled("shape of a tensor train", modes.len() + 1, 1usize)?;
    Shape::new("modes", modes, &ranks)
}

compiled_here! {
    /// The train of rank 1 of the outer product of vectors, which follow one another in `vectors`.
    ///
    /// # Errors
    /// As [`zeros`]; [`Error::InvalidArgument`] for another number of elements than the mode sizes add up to.
    pub fn product_state<T: Scalar>(
        at: &Place<'_>,
        modes: &[usize],
        vectors: &[T],
    ) -> Result<TensorTrain> = product_state_of;
}

fn product_state_of<T: Element>(at: &Place<'_>, modes: &[usize], vectors: &[T]) -> Result<TensorTrain> {
    at.check()?;
    let shape = rank_one(modes)?;
    if vectors.len() != shape.elements() {
        let problem = format!("has {} elements, {} are needed", vectors.len(), shape.elements());
        return Err(Error::invalid("vectors", problem));
    }
    let mut result = begin(at, T::DTYPE, shape)?;
    let mut rest = vectors;
    let mut cores = result.cores_mut::<T>("result")?;
    for (k, &n) in modes.iter().enumerate() {
        let (vector, tail) = rest.split_at(n);
        cores.core(k).copy_from_slice(vector);
        rest = tail;
    }
    finish(at, result)
}

/// The train of rank 1 that is 1 at `index` and 0 elsewhere: a state in which every site is in a basis state.
///
/// # Errors
/// As [`zeros`]; [`Error::InvalidArgument`] for an index that is outside its mode.
pub fn basis_state(at: &Place<'_>, dtype: DType, modes: &[usize], index: &[usize]) -> Result<TensorTrain> {
    at.check()?;
    let shape = rank_one(modes)?;
    super::element::check_index("indices", modes, index)?;
    let mut result = begin(at, dtype, shape)?;
    with_scalar!(dtype, "dtype", T => {
        let mut cores = result.cores_mut::<T>("result")?;
        index.iter().enumerate().for_each(|(k, &i)| cores.core(k)[i] = T::from_parts(1.0, 0.0));
        Ok(())
    })?;
    finish(at, result)
}

/// The TT-matrix of the identity, of rank 1.
///
/// # Errors
/// As [`zeros`].
pub fn identity(at: &Place<'_>, dtype: DType, modes: &[usize]) -> Result<TrainMatrix> {
    at.check()?;
    let ranks = alloc::filled("shape of a TT-matrix", modes.len() + 1, 1usize)?;
    let shape = TrainMatrix::shape_of("modes", modes, modes, &ranks)?;
    let mut result = begin(at, dtype, shape)?;
    with_scalar!(dtype, "dtype", T => {
        let mut cores = result.cores_mut::<T>("result")?;
        for (k, &n) in modes.iter().enumerate() {
            cores.core(k).iter_mut().step_by(n + 1).for_each(|x| *x = T::from_parts(1.0, 0.0));
        }
        Ok(())
    })?;
    TrainMatrix::new("modes", finish(at, result)?, modes, modes)
}
