//! The order of packed entries: nondecreasing index tuples in lexicographic order; multinomial coefficients and
//! exponents of a tuple.

use crate::alloc;
use crate::error::{Error, Result};
use crate::tensor::Symmetric;

/// Walks through the index tuples of a packed symmetric tensor in the order of its entries.
///
/// For order 3 and dimension 2: 000 001 011 111. The packed order is that of MATLAB's Tensor Toolbox.
pub struct Monomials {
    dimension: usize,
    tuple: Vec<usize>,
    rank: usize,
    count: usize,
}

impl Monomials {
    /// An iterator before the first tuple.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn new(shape: Symmetric) -> Result<Self> {
        let tuple = alloc::filled("index tuple", shape.order, 0)?;
        Ok(Self { dimension: shape.dimension, tuple, rank: 0, count: shape.count() })
    }

    /// The next tuple with its rank; `None` after the last one.
    pub fn next_tuple(&mut self) -> Option<(usize, &[usize])> {
        if self.rank == self.count {
            return None;
        }
        if self.rank > 0 {
            // The last position that can still grow; all to its right take its new value.
            let p = self.tuple.iter().rposition(|i| i + 1 < self.dimension)?;
            let value = self.tuple[p] + 1;
            self.tuple[p..].fill(value);
        }
        self.rank += 1;
        Some((self.rank - 1, &self.tuple))
    }
}

/// C(a, k), saturating. Numbers beyond 2^127 never matter here.
fn binomial(a: usize, k: usize) -> u128 {
    let k = k.min(a.saturating_sub(k));
    let mut c: u128 = 1;
    for i in 1..=k {
        c = match c.checked_mul((a - k + i) as u128) {
            Some(x) => x / i as u128,
            None => return u128::MAX,
        };
    }
    c
}

/// Position of the nondecreasing tuple `indices` among the packed entries.
///
/// # Errors
/// [`Error::InvalidArgument`] if the tuple has another length than the order, is not sorted or leaves the dimension.
pub fn rank(shape: Symmetric, indices: &[usize]) -> Result<usize> {
    let Symmetric { order, dimension } = shape;
    if indices.len() != order || !indices.is_sorted() || indices.last().is_some_and(|i| *i >= dimension) {
        return Err(Error::invalid(
            "indices",
            format!("{indices:?} is no nondecreasing tuple of {order} indices below {dimension}"),
        ));
    }
    Ok(Ranks::new(shape)?.rank(indices))
}

/// Ranks of index tuples of one shape, by a table.
///
/// Before a tuple come, for each position p with k positions to its right, the tuples with a smaller index v there: the
/// sum over v from the previous index a to b - 1 of C(n - v + k - 1, k), which telescopes to
/// C(n - a + k, k + 1) - C(n - b + k, k + 1).
pub struct Ranks {
    order: usize,
    dimension: usize,
    /// C(n - v + k, k + 1) at `[k * (n + 1) + v]`.
    table: Vec<usize>,
}

impl Ranks {
    /// The table of a shape.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`]; [`Error::InvalidArgument`] if the size of the table overflows.
    pub fn new(shape: Symmetric) -> Result<Self> {
        let Symmetric { order, dimension } = shape;
        let size = crate::shape::product("order", order, dimension + 1)?;
        let mut table = alloc::with_capacity("rank table", size)?;
        for k in 0..order {
            // Every difference that is used is at most the packed count; larger table entries cannot matter.
            table.extend(
                (0..=dimension).map(|v| usize::try_from(binomial(dimension - v + k, k + 1)).unwrap_or(usize::MAX)),
            );
        }
        Ok(Self { order, dimension, table })
    }

    /// The rank of a nondecreasing tuple within the shape.
    pub fn rank(&self, tuple: &[usize]) -> usize {
        let mut previous = 0;
        let mut rank = 0;
        for (p, &i) in tuple.iter().enumerate() {
            let row = (self.order - 1 - p) * (self.dimension + 1);
            rank += self.table[row + previous] - self.table[row + i];
            previous = i;
        }
        rank
    }
}

/// m!/(k_1! .. k_n!) of a nondecreasing tuple: the number of positions of its entry in the full tensor.
///
/// # Errors
/// [`Error::InvalidArgument`] if it is more than 2^63 - 1.
pub fn multinomial(tuple: &[usize]) -> Result<i64> {
    let mut product: u128 = 1;
    let mut run = 0usize;
    for (p, i) in tuple.iter().enumerate() {
        run = if p > 0 && tuple[p - 1] == *i { run + 1 } else { 1 };
        // After each factor this is the multinomial of the tuple's beginning, hence an integer.
        product = product * (p as u128 + 1) / run as u128;
        if product > i64::MAX as u128 {
            return Err(Error::invalid(
                "order",
                format!("{} has multinomial coefficients of more than 2^63", tuple.len()),
            ));
        }
    }
    Ok(product as i64)
}

/// Entry of the identity E (E x^m = |x|^m) at a nondecreasing tuple of even length: ((m/2)!/prod (k_i/2)!)/mult(k) where
/// all exponents are even, else 0.
///
/// # Errors
/// As [`multinomial`]; [`Error::OutOfMemory`].
pub fn identity_entry(tuple: &[usize]) -> Result<f64> {
    let mut half = Vec::new();
    alloc::refusable(|| half.try_reserve_exact(tuple.len() / 2))
        .map_err(|_| alloc::out_of_memory("index tuple", tuple.len() * 4))?;
    for pair in tuple.chunks(2) {
        match pair {
            [a, b] if a == b => half.push(*a),
            _ => return Ok(0.0),
        }
    }
    Ok(multinomial(&half)? as f64 / multinomial(tuple)? as f64)
}

/// Index tuples [order x U], column-major, 0-based.
///
/// # Errors
/// [`Error::Internal`] for an `out` of another length; [`Error::OutOfMemory`]; [`Error::InvalidArgument`] if the size
/// of the table overflows.
pub fn indices(shape: Symmetric, out: &mut [i64]) -> Result<()> {
    fill(shape, shape.order, out, |tuple, column| {
        for (o, i) in column.iter_mut().zip(tuple) {
            *o = crate::shape::to_i64(*i);
        }
        Ok(())
    })
}

/// Exponents [dimension x U], column-major: how often each index occurs in the tuple.
///
/// # Errors
/// As [`indices`].
pub fn exponents(shape: Symmetric, out: &mut [i64]) -> Result<()> {
    fill(shape, shape.dimension, out, |tuple, column| {
        column.fill(0);
        tuple.iter().for_each(|i| column[*i] += 1);
        Ok(())
    })
}

/// Writes the multinomial coefficients of the U packed entries to `out`.
///
/// # Errors
/// As [`indices`] and [`multinomial`].
pub fn multinomials(shape: Symmetric, out: &mut [i64]) -> Result<()> {
    fill(shape, 1, out, |tuple, column| {
        column[0] = multinomial(tuple)?;
        Ok(())
    })
}

fn fill(
    shape: Symmetric,
    rows: usize,
    out: &mut [i64],
    mut write: impl FnMut(&[usize], &mut [i64]) -> Result<()>,
) -> Result<()> {
    let needed = crate::shape::product("order", rows, shape.count())?;
    if out.len() != needed {
        return Err(Error::Internal(format!("{} elements for a table of {needed}", out.len())));
    }
    let mut walk = Monomials::new(shape)?;
    for column in out.chunks_exact_mut(rows) {
        if let Some((_, tuple)) = walk.next_tuple() {
            write(tuple, column)?;
        }
    }
    Ok(())
}
