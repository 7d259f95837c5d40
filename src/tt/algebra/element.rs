//! Entries of the tensor, one by one.

use std::cmp::Ordering;

use super::place::{Place, read};
use crate::alloc;
use crate::backend::cpu::parallel::{Items as _, Pieces as _};
use crate::error::{Error, Result};
use crate::scalar::{Complex, Scalar, with_scalar};
use crate::tensor::train::{Cores, TensorTrain};
use crate::tt::scaled::{Scaled, exponent_of};

/// Entries that one task computes.
const CHUNK: usize = 256;

/// Refuses an index tuple that does not lie in the tensor.
pub(super) fn check_index(argument: &str, modes: &[usize], index: &[usize]) -> Result<()> {
    if index.len() != modes.len() {
        let problem = format!("has {} indices, the train has {} cores", index.len(), modes.len());
        return Err(Error::invalid(argument, problem));
    }
    match (0..modes.len()).find(|&k| index[k] >= modes[k]) {
        None => Ok(()),
        Some(k) => {
            let problem = format!("index {k} is {}, the mode has the size {}", index[k], modes[k]);
            Err(Error::invalid(argument, problem))
        }
    }
}

/// The entry at `index`, however large or small.
///
/// # Errors
/// [`Error::InvalidArgument`] for an index that is outside its mode; as [`super::copy`].
pub fn element(at: &Place<'_>, x: &TensorTrain, index: &[usize]) -> Result<Scaled> {
    check_index("index", x.shape().modes(), index)?;
    Ok(elements(at, x, index)?.first().copied().unwrap_or(Scaled::ZERO))
}

/// The entries at the index tuples of d numbers each that lie one after another in `indices`. Tuples that begin alike
/// share that part of the work, in whatever order they are given.
///
/// An entry does not depend on the others asked for, to the bit.
///
/// # Errors
/// [`Error::InvalidArgument`] naming the first tuple that is outside the tensor; as [`super::copy`].
pub fn elements(at: &Place<'_>, x: &TensorTrain, indices: &[usize]) -> Result<Vec<Scaled>> {
    at.check()?;
    let modes = x.shape().modes();
    let d = modes.len();
    if !indices.len().is_multiple_of(d) {
        let problem = format!("has {} numbers, not a multiple of the {d} cores", indices.len());
        return Err(Error::invalid("indices", problem));
    }
    for (t, tuple) in indices.chunks_exact(d).enumerate() {
        if let Some(k) = (0..d).find(|&k| tuple[k] >= modes[k]) {
            let problem = format!("tuple {t}: index {k} is {}, the mode has the size {}", tuple[k], modes[k]);
            return Err(Error::invalid("indices", problem));
        }
    }
    let x = read(at, "x", x)?;
    let count = indices.len() / d;
    let what = "order of index tuples";
    let mut order = alloc::with_capacity(what, count)?;
    order.extend(0..count);
    let tuple = |t: usize| &indices[t * d..(t + 1) * d];
    let by_tuple = |&a: &usize, &b: &usize| tuple(a).cmp(tuple(b)).then(a.cmp(&b));
    at.context.pool().run(|| rayon::slice::ParallelSliceMut::par_sort_unstable_by(order.as_mut_slice(), by_tuple));
    let mut sorted = alloc::filled("entries", count, Scaled::ZERO)?;
    with_scalar!(x.dtype(), "x", T => {
        let cores = x.cores::<T>("x")?;
        at.context.pool().run(|| {
            sorted.par_chunks_mut(CHUNK).zip(order.par_chunks(CHUNK)).try_for_each(|(out, order)| {
                let mut chain = Chain::new(&cores)?;
                for (value, &t) in out.iter_mut().zip(order) {
                    *value = chain.entry(tuple(t));
                }
                Ok(())
            })
        })
    })?;
    let mut values = alloc::filled("entries", count, Scaled::ZERO)?;
    for (&t, value) in order.iter().zip(&sorted) {
        values[t] = *value;
    }
    Ok(values)
}

/// The products of the slices of one index tuple, kept for the next, which may begin alike.
struct Chain<'a, T> {
    cores: &'a Cores<'a, T>,
    /// One after another (r_0, r_k), k = 1 .. d, the second index fastest.
    products: Vec<T>,
    /// Where each begins.
    starts: Vec<usize>,
    /// Exponents taken out of each.
    exponents: Vec<i64>,
    tuple: Vec<usize>,
}

impl<'a, T: Scalar> Chain<'a, T> {
    fn new(cores: &'a Cores<'a, T>) -> Result<Self> {
        let what = "products of slices";
        let ranks = cores.shape().ranks();
        let mut starts = alloc::with_capacity(what, ranks.len())?;
        let mut end = 0usize;
        for r in &ranks[1..] {
            starts.push(end);
            end += ranks[0] * r;
        }
        let products = alloc::filled(what, end, T::default())?;
        let exponents = alloc::filled(what, ranks.len(), 0)?;
        Ok(Self { cores, products, starts, exponents, tuple: alloc::with_capacity(what, ranks.len())? })
    }

    fn entry(&mut self, tuple: &[usize]) -> Scaled {
        let alike = self.tuple.iter().zip(tuple).take_while(|(a, b)| a.cmp(b) == Ordering::Equal).count();
        self.tuple.truncate(alike);
        for (k, &i) in tuple.iter().enumerate().skip(alike) {
            self.step(k, i);
            self.tuple.push(i);
        }
        let ring = self.cores.shape().ranks()[0];
        let last = self.starts[tuple.len() - 1];
        let mut sum = Complex::new(0.0, 0.0);
        for p in 0..ring {
            let x = self.products[last + p * (ring + 1)];
            sum += Complex::new(x.re(), x.im());
        }
        Scaled::new(sum, self.exponents[tuple.len() - 1])
    }

    /// Multiplies with slice i of core k.
    fn step(&mut self, k: usize, i: usize) {
        let [r, n, s] = self.cores.shape().core(k);
        let ring = self.cores.shape().ranks()[0];
        let cores = self.cores;
        let slice = cores.core(k)[r * i..].chunks(r * n).map(|column| &column[..r]);
        let start = self.starts[k];
        let (before, out) = self.products.split_at_mut(start);
        let out = &mut out[..ring * s];
        if k == 0 {
            for (b, column) in slice.enumerate() {
                for (p, &x) in column.iter().enumerate() {
                    out[p * s + b] = x;
                }
            }
        } else {
            let before = &before[self.starts[k - 1]..];
            for (b, column) in slice.enumerate() {
                for (p, row) in before.chunks_exact(r).enumerate() {
                    out[p * s + b] = dot(row, column);
                }
            }
        }
        let carried = if k == 0 { 0 } else { self.exponents[k - 1] };
        self.exponents[k] = carried + rescale(out);
    }
}

/// Sum of a b, in four interleaved parts.
fn dot<T: Scalar>(a: &[T], b: &[T]) -> T {
    let mut lanes = [T::default(); 4];
    let (mut left, mut right) = (a.chunks_exact(4), b.chunks_exact(4));
    for (a, b) in (&mut left).zip(&mut right) {
        for ((lane, &a), &b) in lanes.iter_mut().zip(a).zip(b) {
            *lane += a * b;
        }
    }
    for ((lane, &a), &b) in lanes.iter_mut().zip(left.remainder()).zip(right.remainder()) {
        *lane += a * b;
    }
    (lanes[0] + lanes[1]) + (lanes[2] + lanes[3])
}

/// Divides by a power of two, exactly, where the next products could leave the range of the type. Returns its exponent.
fn rescale<T: Scalar>(values: &mut [T]) -> i64 {
    let largest = values.iter().fold(0.0f64, |most, x| most.max(x.re().abs()).max(x.im().abs()));
    // Cores themselves may reach far: only what is near 1 is left as it is.
    let e = exponent_of(largest);
    if e.abs() < 8 {
        return 0;
    }
    for x in values.iter_mut() {
        *x = T::from_parts(crate::tt::scaled::scale(x.re(), -e), crate::tt::scaled::scale(x.im(), -e));
    }
    e
}
