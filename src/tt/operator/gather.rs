//! The operator's part of a step: sums of columns.
//!
//! After multiplication by the ket's core, an environment is a set of columns (slot q, ket index j). After
//! multiplication by the operator's core, it is a set of columns (bra index i, slot q'). Each of the second set is a
//! sum of a few of the first, times coefficients.

use crate::alloc;
use crate::error::{Error, Result};
use crate::scalar::{Complex, Scalar, with_scalar};
use crate::tensor::train::{Sparsity, TrainMatrix};
use crate::trains::scaled::{exponent_of, scale};

use super::slots::Slots;

/// A column times a coefficient, as a term of a sum.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Term {
    /// Slot q of the environment before the step.
    pub slot: u32,
    /// Ket index j, below `cols`.
    pub column: u32,
    /// Coefficient of that column.
    pub value: Complex<f64>,
}

/// The sums of columns of one site.
#[derive(Debug)]
pub struct Gather {
    /// Bra indices m: rows of the site's operators.
    pub rows: usize,
    /// Ket indices n: columns of the site's operators.
    pub cols: usize,
    /// Slots q before the step.
    pub inputs: usize,
    /// Slots q' after the step.
    pub outputs: usize,
    /// Exponent of the power of two by which the coefficients were divided: those of the operator are 2^exponent times
    /// those of the terms.
    pub exponent: i64,
    starts: Vec<usize>,
    terms: Vec<Term>,
}

/// The column i + m q' to whose sum a term belongs, and the term.
type Placed = (usize, Term);

const WHAT: &str = "terms of an operator";

impl Gather {
    fn new(modes: [usize; 2], inputs: usize, outputs: usize, exponent: i64, mut placed: Vec<Placed>) -> Result<Self> {
        let [rows, cols] = modes;
        placed.sort_unstable_by_key(|(to, term)| (*to, term.slot, term.column));
        let count = rows * outputs;
        let mut starts = alloc::with_capacity(WHAT, count + 1)?;
        let mut terms = alloc::with_capacity(WHAT, placed.len())?;
        for (to, term) in placed {
            while starts.len() <= to {
                starts.push(terms.len());
            }
            terms.push(term);
        }
        while starts.len() <= count {
            starts.push(terms.len());
        }
        Ok(Self { rows, cols, inputs, outputs, exponent, starts, terms })
    }

    /// The terms of column `to` = i + m q'.
    pub fn of(&self, to: usize) -> &[Term] {
        &self.terms[self.starts[to]..self.starts[to + 1]]
    }

    /// Number of terms of all columns.
    pub fn len(&self) -> usize {
        self.terms.len()
    }

    /// Whether all sums are empty.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// The same sums with the terms from slot q to slot q' multiplied by 2^`power(q, q')`. Terms for which `power` is
    /// `None` are left out.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn shifted(&self, power: impl Fn(usize, usize) -> Option<i64>) -> Result<Self> {
        let mut placed = alloc::with_capacity(WHAT, self.terms.len())?;
        for to in 0..self.rows * self.outputs {
            for term in self.of(to) {
                let Some(e) = power(term.slot as usize, to / self.rows) else { continue };
                let value = Complex::new(scale(term.value.re, e), scale(term.value.im, e));
                placed.push((to, Term { value, ..*term }));
            }
        }
        Self::new([self.rows, self.cols], self.inputs, self.outputs, self.exponent, placed)
    }

    /// The same sums with the largest coefficient in [0.5, 1), if its exponent is beyond `limit`; otherwise `None`.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn limited(&self, limit: Option<i64>) -> Result<Option<Self>> {
        let most = self.sizes()?.into_iter().fold(0.0, f64::max);
        let exponent = exponent_of(most);
        if limit.is_none_or(|limit| exponent.abs() <= limit) {
            return Ok(None);
        }
        let made = self.shifted(|_, _| Some(-exponent))?;
        Ok(Some(Self { exponent: self.exponent + exponent, ..made }))
    }

    /// For each slot after the step, the largest |re| or |im| of the coefficients.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn sizes(&self) -> Result<Vec<f64>> {
        self.sizes_from(|_| true)
    }

    /// [`Gather::sizes`] of the terms from those slots before the step for which `is_used` holds.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn sizes_from(&self, is_used: impl Fn(usize) -> bool) -> Result<Vec<f64>> {
        let mut sizes = alloc::filled(WHAT, self.outputs, 0.0f64)?;
        for to in 0..self.rows * self.outputs {
            let size = &mut sizes[to / self.rows];
            let terms = self.of(to).iter().filter(|term| is_used(term.slot as usize));
            *size = terms.fold(*size, |most, t| most.max(t.value.re.abs()).max(t.value.im.abs()));
        }
        Ok(sizes)
    }

    /// The identity of n indices in each of `slots` slots.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn identity(n: usize, slots: usize) -> Result<Self> {
        let mut placed = alloc::with_capacity(WHAT, n * slots)?;
        (0..slots).for_each(|q| add_identity(&mut placed, n, q, q));
        Self::new([n, n], slots, slots, 0, placed)
    }

    /// The identity in each of `slots` slots, and one more slot with `op` (n-by-n, column-major) applied to slot 0.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn inserted(n: usize, slots: usize, op: &[Complex<f64>]) -> Result<Self> {
        let mut placed = alloc::with_capacity(WHAT, n * slots + n * n)?;
        (0..slots).for_each(|q| add_identity(&mut placed, n, q, q));
        add_operator(&mut placed, n, slots, op);
        Self::new([n, n], slots, slots + 1, 0, placed)
    }

    /// `op` alone (n-by-n, column-major), from one slot to one slot.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn local(n: usize, op: &[Complex<f64>]) -> Result<Self> {
        let mut placed = alloc::with_capacity(WHAT, n * n)?;
        add_operator(&mut placed, n, 0, op);
        Self::new([n, n], 1, 1, 0, placed)
    }

    /// Core k of an operator, between bonds t and t + 1 of `slots`; `mirrored` for a step from right to left. If the
    /// exponent of a coefficient is beyond `limit`, the coefficients are scaled; with `None` they never are.
    ///
    /// # Errors
    /// As [`TrainMatrix::blocks`]; out of memory.
    pub fn of_core(
        matrix: &TrainMatrix,
        blocks: &Sparsity,
        k: usize,
        slots: &Slots,
        t: usize,
        mirrored: bool,
        limit: Option<i64>,
    ) -> Result<Self> {
        let [left, m, n, _] = matrix.core(k);
        let mut placed: Vec<Placed> = Vec::new();
        let train = matrix.train();
        let (memory, offset) = train.memory(k);
        with_scalar!(train.dtype(), "h", T => {
            let core = &memory.host("h")?.as_slice::<T>()?[offset..offset + train.shape().core_len(k)];
            let at = |w: usize, i: usize, j: usize, v: usize| core[w + left * (i + m * (j + n * v))];
            for (q, &(p, w)) in slots.operator(t).iter().enumerate() {
                let w = w as usize;
                for block in blocks.from_left(k, w) {
                    let Some(r) = slots.find(t + 1, (p, block.right)) else { continue };
                    let (from, to) = if mirrored { (r, q) } else { (q, r) };
                    for j in 0..n {
                        for i in 0..m {
                            let value = at(w, i, j, block.right as usize);
                            if value != T::default() {
                                let value = Complex::new(value.re(), value.im());
                                alloc::push(WHAT, &mut placed, (i + m * to, term(from, j, value)?))?;
                            }
                        }
                    }
                }
            }
            Ok(())
        })?;
        let exponent = limit.map_or(0, |limit| take_exponent(&mut placed, limit));
        let (mut inputs, mut outputs) = (slots.count(t), slots.count(t + 1));
        if mirrored {
            std::mem::swap(&mut inputs, &mut outputs);
        }
        if slots.has_identity() {
            if m != n {
                return Err(Error::invalid("h", format!("core {k} has {m} rows and {n} columns, it must be square")));
            }
            alloc::refusable(|| placed.try_reserve_exact(n))
                .map_err(|_| alloc::out_of_memory(WHAT, n * size_of::<Placed>()))?;
            add_identity(&mut placed, n, inputs - 1, outputs - 1);
        }
        Self::new([m, n], inputs, outputs, exponent, placed)
    }
}

/// A term. Returns an error for indices beyond 32 bits, which exceed any memory.
fn term(slot: usize, column: usize, value: Complex<f64>) -> Result<Term> {
    match (u32::try_from(slot), u32::try_from(column)) {
        (Ok(slot), Ok(column)) => Ok(Term { slot, column, value }),
        _ => Err(Error::NotSupported(format!("h: {slot} slots and mode size {column}, at most 2^32 - 1"))),
    }
}

fn add_identity(placed: &mut Vec<Placed>, n: usize, from: usize, to: usize) {
    let one = Complex::new(1.0, 0.0);
    placed.extend((0..n).filter_map(|i| Some((i + n * to, term(from, i, one).ok()?))));
}

fn add_operator(placed: &mut Vec<Placed>, n: usize, to: usize, op: &[Complex<f64>]) {
    let zero = Complex::new(0.0, 0.0);
    for (at, &value) in op.iter().enumerate().filter(|(_, value)| **value != zero) {
        placed.extend(term(0, at / n, value).ok().map(|term| (at % n + n * to, term)));
    }
}

/// If the exponent of the largest coefficient is beyond `limit`, divides all coefficients by its power of two and
/// returns the exponent; otherwise returns 0.
fn take_exponent(placed: &mut [Placed], limit: i64) -> i64 {
    let largest = placed.iter().fold(0.0f64, |most, (_, t)| most.max(t.value.re.abs()).max(t.value.im.abs()));
    let exponent = exponent_of(largest);
    if exponent.abs() <= limit {
        return 0;
    }
    for (_, t) in placed {
        t.value = Complex::new(scale(t.value.re, -exponent), scale(t.value.im, -exponent));
    }
    exponent
}
