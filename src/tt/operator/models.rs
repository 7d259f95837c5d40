//! TT-matrices of the usual spin chains.

use std::sync::Arc;

use super::spin::{pauli, spin};
use super::terms::Terms;
use crate::alloc;
use crate::context::Context;
use crate::error::{self, Error, Result};
use crate::scalar::{Complex, DType};
use crate::tensor::train::TrainMatrix;

/// A chain of spins S with nearest-neighbour couplings in a field along z:
/// sum over bonds of J_x S_x S_x + J_y S_y S_y + J_z S_z S_z, minus h sum of S_z.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Heisenberg {
    /// 2 S: a spin has 2 S + 1 states.
    pub twice_spin: usize,
    /// J_x, J_y, J_z; positive ones are antiferromagnetic.
    pub couplings: [f64; 3],
    /// The field h along z.
    pub field: f64,
    /// Whether the last spin is coupled to the first. Takes effect for three or more spins.
    pub ring: bool,
}

impl Default for Heisenberg {
    fn default() -> Self {
        Self { twice_spin: 1, couplings: [1.0; 3], field: 0.0, ring: false }
    }
}

/// The Hamiltonian of `d` spins, real: rank 5 in the middle, and on a ring 4 at the first bond.
///
/// # Errors
/// [`Error::InvalidArgument`] for d = 0, a spin of 0 or above 1000, and numbers that are not finite; out of memory.
pub fn heisenberg(context: &Arc<Context>, dtype: DType, d: usize, model: &Heisenberg) -> Result<TrainMatrix> {
    let Heisenberg { twice_spin, couplings: [x, y, z], field, ring } = *model;
    for (k, value) in model.couplings.iter().enumerate() {
        expect_finite("couplings", &format!("element {k} "), *value)?;
    }
    expect_finite("field", "", field)?;
    if !(x + y).is_finite() || !(x - y).is_finite() {
        let problem = format!(
            "J_x = {} and J_y = {} have a sum or difference that is not finite",
            error::real(x),
            error::real(y)
        );
        return Err(Error::invalid("couplings", problem));
    }
    let (up, down, sz) = (spin(twice_spin, "s+")?, spin(twice_spin, "s-")?, spin(twice_spin, "sz")?);
    let mut terms = Terms::uniform(d, twice_spin + 1)?;
    let real = |x: f64| Complex::new(x, 0.0);
    for (k, l) in bonds(d, ring) {
        for (coefficient, a, b) in [
            ((x + y) / 4.0, &up, &down),
            ((x + y) / 4.0, &down, &up),
            ((x - y) / 4.0, &up, &up),
            ((x - y) / 4.0, &down, &down),
            (z, &sz, &sz),
        ] {
            terms.add(real(coefficient), &[(k, a), (l, b)])?;
        }
    }
    for k in 0..d {
        terms.add(real(-field), &[(k, &sz)])?;
    }
    terms.build(context, dtype, ring)
}

/// The transverse-field Ising chain -J sum over bonds of sigma_x sigma_x - h sum of sigma_z, with Pauli matrices: rank 3,
/// and on a ring 2 at the first bond.
///
/// # Errors
/// As [`heisenberg`].
pub fn ising(
    context: &Arc<Context>,
    dtype: DType,
    d: usize,
    coupling: f64,
    field: f64,
    ring: bool,
) -> Result<TrainMatrix> {
    expect_finite("coupling", "", coupling)?;
    expect_finite("field", "", field)?;
    let (x, z) = (pauli("x")?, pauli("z")?);
    let mut terms = Terms::uniform(d, 2)?;
    for (k, l) in bonds(d, ring) {
        terms.add(Complex::new(-coupling, 0.0), &[(k, &x), (l, &x)])?;
    }
    for k in 0..d {
        terms.add(Complex::new(-field, 0.0), &[(k, &z)])?;
    }
    terms.build(context, dtype, ring)
}

/// The identity of the given modes: rank 1.
///
/// # Errors
/// [`Error::InvalidArgument`] for no modes or one of 0; out of memory.
pub fn identity(context: &Arc<Context>, dtype: DType, modes: &[usize]) -> Result<TrainMatrix> {
    let mut terms = Terms::new(modes)?;
    terms.add(Complex::new(1.0, 0.0), &[])?;
    terms.build(context, dtype, false)
}

fn expect_finite(argument: &str, element: &str, value: f64) -> Result<()> {
    if value.is_finite() {
        return Ok(());
    }
    Err(Error::invalid(argument, format!("{element}is {}, not finite", error::real(value))))
}

/// Pairs of neighbours; on a ring of three or more also the last and the first.
fn bonds(d: usize, ring: bool) -> impl Iterator<Item = (usize, usize)> {
    (1..d).map(|l| (l - 1, l)).chain((ring && d > 2).then(|| (d - 1, 0)))
}

impl Terms {
    /// No terms yet, of `d` modes of size n.
    ///
    /// # Errors
    /// As [`Terms::new`].
    pub fn uniform(d: usize, n: usize) -> Result<Self> {
        if d == 0 {
            return Err(Error::invalid("d", "is 0, at least 1 is needed"));
        }
        Self::new(&alloc::filled("terms of an operator", d, n)?)
    }
}
