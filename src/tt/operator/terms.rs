//! TT-matrices from sums of local terms.

use std::collections::HashMap;
use std::sync::Arc;

use super::automaton::{Automaton, Entry};
use super::site_matrix::expect_operator;
use crate::alloc;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::progress::CancelWatch;
use crate::scalar::{Complex, DType, Scalar, with_scalar};
use crate::shape::{self, to_i64};
use crate::tensor::Location;
use crate::tensor::train::{TensorTrain, TrainMatrix};
use crate::trains::scaled::{exponent_of, scale};

/// A sum of products of operators at single sites.
#[derive(Debug)]
pub struct Terms {
    modes: Vec<usize>,
    /// Distinct matrices, column-major. Number 0 is the identity of any size.
    operators: Vec<Vec<Complex<f64>>>,
    numbers: HashMap<Vec<u64>, usize>,
    /// The coefficient of each term, and the index of its first factor in `factors`.
    terms: Vec<(Complex<f64>, usize)>,
    /// Site and operator of each factor, term after term; the sites of a term increase.
    factors: Vec<Factor>,
}

/// A site, and the index of the operator there.
pub(super) type Factor = (usize, usize);

/// The index of the identity.
pub(super) const IDENTITY: usize = 0;

const WHAT: &str = "terms of an operator";

impl Terms {
    /// A sum of no terms.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for no modes or one of 0; out of memory.
    pub fn new(modes: &[usize]) -> Result<Self> {
        if modes.is_empty() {
            return Err(Error::invalid("modes", "is empty, at least 1 is needed"));
        }
        if let Some(k) = modes.iter().position(|&n| n == 0) {
            return Err(Error::invalid("modes", format!("element {k} is 0, at least 1 is needed")));
        }
        Ok(Self {
            modes: alloc::copied(WHAT, modes)?,
            operators: vec![Vec::new()],
            numbers: HashMap::new(),
            terms: Vec::new(),
            factors: Vec::new(),
        })
    }

    /// Adds `coefficient` times the product of operators at sites, each n-by-n and column-major: element i + n j takes
    /// state j to state i. Without factors it is a multiple of the identity. Factors at one site are multiplied, the first
    /// on the left; the order of others does not matter.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a site that there is not, a matrix of another size, and numbers that are not finite;
    /// [`Error::Numerical`] for a product beyond the range of double precision; out of memory.
    pub fn add(&mut self, coefficient: Complex<f64>, factors: &[(usize, &[Complex<f64>])]) -> Result<()> {
        if !coefficient.re.is_finite() || !coefficient.im.is_finite() {
            return Err(Error::invalid("coefficients", format!("have {coefficient}, not finite")));
        }
        for &(site, matrix) in factors {
            let n = self.modes[shape::index("sites", to_i64(site), self.modes.len())?];
            expect_operator("operators", matrix, n)?;
            if matrix.iter().any(|x| !x.re.is_finite() || !x.im.is_finite()) {
                return Err(Error::invalid("operators", format!("at site {site} have numbers that are not finite")));
            }
        }
        if coefficient == Complex::new(0.0, 0.0) {
            return Ok(());
        }
        let mut order = alloc::with_capacity(WHAT, factors.len())?;
        order.extend(0..factors.len());
        order.sort_by_key(|&f| factors[f].0);
        let first = self.factors.len();
        let mut power = 0;
        for group in order.chunk_by(|&f, &g| factors[f].0 == factors[g].0) {
            let site = factors[group[0]].0;
            let n = self.modes[site];
            let mut matrix = alloc::copied(WHAT, factors[group[0]].1)?;
            power += take_power(&mut matrix);
            for &f in &group[1..] {
                let mut next = alloc::copied(WHAT, factors[f].1)?;
                power += take_power(&mut next);
                matrix = super::local::times(n, &matrix, &next);
                power += take_power(&mut matrix);
            }
            let number = self.number(n, matrix)?;
            if number != IDENTITY {
                alloc::push(WHAT, &mut self.factors, (site, number))?;
            }
        }
        if self.factors.len() == first {
            alloc::push(WHAT, &mut self.factors, (0, IDENTITY))?;
        }
        let scaled = Complex::new(scale(coefficient.re, power), scale(coefficient.im, power));
        if scale(scaled.re, -power) != coefficient.re || scale(scaled.im, -power) != coefficient.im {
            let problem = format!(
                "a term of a size below 2^{} is beyond the range of F64",
                exponent_of(peak(&[coefficient])) + power
            );
            return Err(Error::Numerical(problem));
        }
        alloc::push(WHAT, &mut self.terms, (scaled, first))
    }

    /// The index of a matrix in `operators`. Adds a matrix that is new.
    fn number(&mut self, n: usize, matrix: Vec<Complex<f64>>) -> Result<usize> {
        let is_identity =
            matrix.iter().enumerate().all(|(at, x)| *x == Complex::new(f64::from(u8::from(at % n == at / n)), 0.0));
        if is_identity {
            return Ok(IDENTITY);
        }
        let mut key = alloc::with_capacity(WHAT, 2 * matrix.len())?;
        // Adding 0 turns -0 into 0.
        key.extend(matrix.iter().flat_map(|x| [(x.re + 0.0).to_bits(), (x.im + 0.0).to_bits()]));
        if let Some(&number) = self.numbers.get(&key) {
            return Ok(number);
        }
        let number = self.operators.len();
        alloc::push(WHAT, &mut self.operators, matrix)?;
        self.numbers.insert(key, number);
        Ok(number)
    }

    /// Mode sizes, one for each site.
    pub(super) fn modes(&self) -> &[usize] {
        &self.modes
    }

    /// The coefficient and the factors of each term, in the order in which the terms were added.
    pub(super) fn products(&self) -> impl Iterator<Item = (Complex<f64>, &[Factor])> {
        self.terms.iter().enumerate().map(|(at, &(coefficient, _))| (coefficient, self.factors_of(at)))
    }

    fn factors_of(&self, term: usize) -> &[Factor] {
        let last = self.terms.get(term + 1).map_or(self.factors.len(), |t| t.1);
        &self.factors[self.terms[term].1..last]
    }

    /// The sum as a TT-matrix in host memory. On a ring, terms whose widest gap is not at the boundary wrap around it.
    /// The boundary bond then has one value, and one more for each distinct wrapping term. Without a ring all ranks at
    /// the ends are 1.
    ///
    /// In a real type, factors may be imaginary if the products are real, as Sy Sy in Sx Sx + Sy Sy + Sz Sz. Each
    /// factor that is purely imaginary is divided by i, and the coefficient is multiplied by it.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for terms that are complex in a real type; [`Error::Numerical`] for a term that is beyond the
    /// range of the type; [`Error::Cancelled`]; out of memory.
    pub fn build(&self, context: &Arc<Context>, dtype: DType, ring: bool) -> Result<TrainMatrix> {
        self.build_watched(context, dtype, ring, context.cancel_watch())
    }

    /// [`Terms::build`] for a call that has begun before, and is cancelled by `cancel`. It is checked at each site.
    ///
    /// # Errors
    /// As [`Terms::build`].
    pub fn build_watched(
        &self,
        context: &Arc<Context>,
        dtype: DType,
        ring: bool,
        cancel: CancelWatch<'_>,
    ) -> Result<TrainMatrix> {
        if !dtype.is_complex() && self.has_imaginary() {
            return self.with_real_factors(dtype)?.build_watched(context, dtype, ring, cancel);
        }
        let automaton = Automaton::new(self, ring, cancel)?;
        let shape = TrainMatrix::shape_of("terms", &self.modes, &self.modes, &automaton.ranks)?;
        let mut train = TensorTrain::zeros(context, dtype, Location::Host, shape)?;
        with_scalar!(dtype, "dtype", T => {
            let mut cores = train.cores_mut::<T>("terms")?;
            for (k, entries) in automaton.entries.iter().enumerate() {
                cancel.check()?;
                let (left, n) = (automaton.ranks[k], self.modes[k]);
                for entry in entries {
                    self.write(cores.core(k), left, n, entry)?;
                }
            }
            Ok(())
        })?;
        TrainMatrix::new("terms", train, &self.modes, &self.modes)
    }

    /// Whether a factor is purely imaginary. A real type cannot hold such a factor.
    fn has_imaginary(&self) -> bool {
        self.factors.iter().any(|&(_, number)| is_imaginary(&self.operators[number]))
    }

    /// The same sum with real factors: each purely imaginary factor A is replaced by A / i, and its coefficient
    /// multiplied by i.
    fn with_real_factors(&self, dtype: DType) -> Result<Self> {
        let mut real = Self::new(&self.modes)?;
        let turned = |x: &Complex<f64>| Complex::new(x.im, 0.0);
        for (at, (coefficient, factors)) in self.products().enumerate() {
            let (mut power, mut matrices) = (0usize, alloc::with_capacity(WHAT, factors.len())?);
            for &(site, number) in factors {
                let mut matrix = alloc::copied(WHAT, &self.operators[number])?;
                if number == IDENTITY {
                    let n = self.modes[site];
                    matrix = alloc::filled(WHAT, n * n, Complex::new(0.0, 0.0))?;
                    (0..n).for_each(|i| matrix[i * (n + 1)] = Complex::new(1.0, 0.0));
                } else if is_imaginary(&matrix) {
                    matrix.iter_mut().for_each(|x| *x = turned(x));
                    power += 1;
                }
                matrices.push((site, matrix));
            }
            // Products with powers of i are exact.
            let Complex { re, im } = coefficient;
            let coefficient =
                [Complex::new(re, im), Complex::new(-im, re), Complex::new(-re, -im), Complex::new(im, -re)][power % 4];
            if coefficient.im != 0.0 || matrices.iter().any(|(_, m)| m.iter().any(|x| x.im != 0.0)) {
                return Err(Error::invalid("dtype", format!("is {}, the terms are complex: term {at}", dtype.name())));
            }
            let mut given = alloc::with_capacity(WHAT, matrices.len())?;
            given.extend(matrices.iter().map(|(site, matrix)| (*site, &matrix[..])));
            real.add(coefficient, &given)?;
        }
        Ok(real)
    }

    fn write<T: Scalar>(&self, core: &mut [T], left: usize, n: usize, entry: &Entry) -> Result<()> {
        let one = Complex::new(1.0, 0.0);
        let count = if entry.operator == IDENTITY { n } else { n * n };
        let matrix = &self.operators[entry.operator];
        let size = peak(&[entry.coefficient]) * if matrix.is_empty() { 1.0 } else { peak(matrix) };
        let least = if T::DTYPE.is_single() { f64::from(f32::MIN_POSITIVE) } else { f64::MIN_POSITIVE };
        let beyond = |size: f64| {
            Err(Error::Numerical(format!("a term of the size {size:.3e} is beyond the range of {}", T::DTYPE.name())))
        };
        if size < least && entry.coefficient != Complex::new(0.0, 0.0) && (matrix.is_empty() || peak(matrix) > 0.0) {
            return beyond(size);
        }
        for at in 0..count {
            let (i, j, x) = match self.operators[entry.operator].get(at) {
                Some(&x) => (at % n, at / n, x),
                None => (at, at, one),
            };
            let value = entry.coefficient * x;
            if !T::IS_COMPLEX && value.im != 0.0 {
                return Err(Error::invalid("dtype", format!("is {}, the terms are complex", T::DTYPE.name())));
            }
            let place = &mut core[entry.from + left * (i + n * (j + n * entry.to))];
            *place += T::from_parts(value.re, value.im);
            if !place.re().is_finite() || !place.im().is_finite() {
                return beyond(peak(&[value]));
            }
        }
        Ok(())
    }
}

/// The largest |re| or |im| of a matrix.
fn peak(matrix: &[Complex<f64>]) -> f64 {
    matrix.iter().fold(0.0, |most, x| most.max(x.re.abs()).max(x.im.abs()))
}

/// Exponent by which the largest entry of a matrix may differ from 1. Products of a few such matrices stay within the
/// range of double precision.
const FAR: i64 = 200;

/// Scales a matrix beyond [`FAR`] to magnitude 1. Returns the exponent of the power of two by which it was divided, 0
/// for others.
fn take_power(matrix: &mut [Complex<f64>]) -> i64 {
    let most = peak(matrix);
    if most == 0.0 || !most.is_finite() || exponent_of(most).abs() <= FAR {
        return 0;
    }
    let power = exponent_of(most);
    matrix.iter_mut().for_each(|x| *x = Complex::new(scale(x.re, -power), scale(x.im, -power)));
    power
}

/// Whether a matrix is i times a real one that is not 0.
fn is_imaginary(matrix: &[Complex<f64>]) -> bool {
    matrix.iter().all(|x| x.re == 0.0) && matrix.iter().any(|x| x.im != 0.0)
}
