//! The algebra of TT-matrices: that of their trains, and functions that distinguish rows from columns.

use super::place::{Place, begin, bytes, bytes_mut, finish, read};
use super::product::Product;
use super::svd::tt_svd;
use super::truncate::{Truncated, Truncation};
use super::{Spread, full};
use crate::alloc;
use crate::error::{Error, Result};
use crate::scalar::{Complex, DType};
use crate::shape::{Order, product};
use crate::tensor::train::{Shape, TensorTrain, TrainMatrix};
use crate::tensor::{self, Location, Tensor, copy_strided};
use crate::trains::scaled::Scaled;

/// A TT-matrix with the row and column modes of `h`.
fn like(h: &TrainMatrix, train: TensorTrain) -> Result<TrainMatrix> {
    TrainMatrix::new("h", train, h.rows(), h.cols())
}

/// A copy, in other memory if asked for.
///
/// # Errors
/// As [`super::copy`].
pub fn copy(at: &Place<'_>, h: &TrainMatrix) -> Result<TrainMatrix> {
    like(h, super::copy(at, h.train())?)
}

/// A copy of another type.
///
/// # Errors
/// As [`super::cast`].
pub fn cast(at: &Place<'_>, h: &TrainMatrix, dtype: DType) -> Result<TrainMatrix> {
    like(h, super::cast(at, h.train(), dtype)?)
}

/// The complex conjugate.
///
/// # Errors
/// As [`super::conj`].
pub fn conj(at: &Place<'_>, h: &TrainMatrix) -> Result<TrainMatrix> {
    like(h, super::conj(at, h.train())?)
}

/// factor H.
///
/// # Errors
/// As [`super::scale`].
pub fn scale(at: &Place<'_>, factor: Scaled, h: &TrainMatrix, spread: Spread) -> Result<TrainMatrix> {
    like(h, super::scale(at, factor, h.train(), spread)?)
}

/// alpha G + beta H.
///
/// # Errors
/// As [`super::add`]; [`Error::InvalidArgument`] for other row or column modes.
pub fn add(
    at: &Place<'_>,
    alpha: Complex<f64>,
    g: &TrainMatrix,
    beta: Complex<f64>,
    h: &TrainMatrix,
) -> Result<TrainMatrix> {
    if let Some(k) = (0..h.rows().len().min(g.rows().len())).find(|&k| h.rows()[k] != g.rows()[k]) {
        let problem = format!("core {k} has {} rows, that of g has {}", h.rows()[k], g.rows()[k]);
        return Err(Error::invalid("h", problem));
    }
    like(g, super::add(at, alpha, g.train(), beta, h.train())?)
}

/// The TT-matrix with smaller ranks, in the Frobenius norm.
///
/// # Errors
/// As [`super::round()`].
pub fn round(at: &Place<'_>, h: &TrainMatrix, truncation: &Truncation<'_>) -> Result<(TrainMatrix, Truncated)> {
    let (train, truncated) = super::round(at, h.train(), truncation)?;
    Ok((like(h, train)?, truncated))
}

/// The open TT-matrix of a cyclic one.
///
/// # Errors
/// As [`super::to_open`].
pub fn to_open(at: &Place<'_>, h: &TrainMatrix) -> Result<TrainMatrix> {
    like(h, super::to_open(at, h.train())?)
}

/// The transpose.
///
/// # Errors
/// As [`super::copy`].
pub fn transpose(at: &Place<'_>, h: &TrainMatrix) -> Result<TrainMatrix> {
    at.check()?;
    let here = read(at, "h", h.train())?;
    let mut result = begin(at, here.dtype(), here.shape().clone())?;
    for k in 0..h.rows().len() {
        at.cancel.check()?;
        let dims @ [w, m, n, _] = h.core(k);
        let (from, to) = ([1, w, w * m, w * m * n], [1, w * n, w, w * m * n]);
        copy_strided(here.dtype().size(), bytes(&here, k)?, &from, bytes_mut(&mut result, k)?, &to, &dims);
    }
    TrainMatrix::new("h", finish(at, result)?, h.cols(), h.rows())
}

/// The conjugate transpose.
///
/// # Errors
/// As [`super::copy`].
pub fn adjoint(at: &Place<'_>, h: &TrainMatrix) -> Result<TrainMatrix> {
    conj(at, &transpose(&Place { location: Location::Host, ..*at }, h)?)
}

/// G H: ranks multiply.
///
/// # Errors
/// As [`super::apply`].
pub fn multiply(at: &Place<'_>, g: &TrainMatrix, h: &TrainMatrix) -> Result<TrainMatrix> {
    at.check()?;
    let product = Product::matrix(at, g, ("h", h.train()), (h.rows(), Some(h.cols())))?;
    TrainMatrix::new("h", product.form(at)?, g.rows(), h.cols())
}

/// [`multiply`] and then [`round`], without the cores of the product together in memory, except as [`super::hadamard_round`].
///
/// # Errors
/// As both.
pub fn multiply_round(
    at: &Place<'_>,
    g: &TrainMatrix,
    h: &TrainMatrix,
    truncation: &Truncation<'_>,
) -> Result<(TrainMatrix, Truncated)> {
    at.check()?;
    let product = Product::matrix(at, g, ("h", h.train()), (h.rows(), Some(h.cols())))?;
    let (train, truncated) = product.round(at, ["g", "h"], truncation)?;
    Ok((TrainMatrix::new("h", train, g.rows(), h.cols())?, truncated))
}

/// Correspondence between a dense matrix and the tensor of a TT-matrix, whose modes are pairs of a row and a column
/// index.
struct Pairs {
    dims: Vec<usize>,
    /// Strides in a matrix that is packed, first index fastest.
    matrix: Vec<usize>,
    /// Strides in the tensor, one for each mode.
    tensor: Vec<usize>,
    rows: usize,
    cols: usize,
}

impl Pairs {
    fn new(rows: &[usize], cols: &[usize]) -> Result<Self> {
        let what = "strides of a TT-matrix";
        let d = rows.len();
        let height = rows.iter().try_fold(1usize, |p, &m| product("rows", p, m))?;
        let width = cols.iter().try_fold(1usize, |p, &n| product("cols", p, n))?;
        let mut dims = alloc::with_capacity(what, 2 * d)?;
        let mut matrix = alloc::with_capacity(what, 2 * d)?;
        let mut tensor = alloc::with_capacity(what, 2 * d)?;
        let (mut row, mut column, mut place) = (1, height, 1);
        for (&m, &n) in rows.iter().zip(cols) {
            dims.extend([m, n]);
            matrix.extend([row, column]);
            tensor.extend([place, place * m]);
            (row, column, place) = (row * m, column * n, place * m * n);
        }
        Ok(Self { dims, matrix, tensor, rows: height, cols: width })
    }
}

/// Writes the dense matrix, M x N: row i_0 + m_0 (i_1 + m_1 (...)), columns likewise. Needs memory for a second matrix
/// of that size. A matrix on a device is copied through the host.
///
/// # Errors
/// As [`super::full()`].
pub fn to_dense(at: &Place<'_>, h: &TrainMatrix, matrix: &mut Tensor, force: bool) -> Result<()> {
    at.check()?;
    matrix.expect_context("matrix", at.context)?;
    matrix.expect_dtype("matrix", h.train().dtype())?;
    full::check_size(h.train().shape().modes(), force)?;
    let pairs = Pairs::new(h.rows(), h.cols())?;
    matrix.expect_dims("matrix", &[pairs.rows, pairs.cols])?;
    let dtype = h.train().dtype();
    let elements = product("matrix", pairs.rows, pairs.cols)?;
    let mut tensor = Tensor::create(at.context, dtype, Location::Host, Order::ColumnMajor, &[elements])?;
    full::expand(at, h.train(), &mut tensor, elements)?;
    let mut dense = Tensor::create(at.context, dtype, Location::Host, Order::ColumnMajor, matrix.dims())?;
    let from = tensor.memory().host("matrix")?.as_slice::<u8>()?;
    let to = dense.memory_mut("matrix")?.host_mut("matrix")?.as_mut_slice::<u8>()?;
    copy_strided(dtype.size(), from, &pairs.tensor, to, &pairs.matrix, &pairs.dims);
    tensor::copy(at.context, at.stream, &dense, matrix)
}

/// The TT-matrix of a dense matrix, M x N with M the product of the row modes and N that of the column modes, with the
/// smallest ranks that `truncation` allows. Needs memory for a second matrix of that size. A matrix on a device is
/// copied through the host.
///
/// # Errors
/// As [`super::tt_svd()`].
pub fn from_dense(
    at: &Place<'_>,
    matrix: &Tensor,
    rows: &[usize],
    cols: &[usize],
    truncation: &Truncation<'_>,
) -> Result<(TrainMatrix, Truncated)> {
    at.check()?;
    matrix.expect_context("matrix", at.context)?;
    let ones = alloc::filled("shape of a TT-matrix", rows.len() + 1, 1usize)?;
    let shape: Shape = TrainMatrix::shape_of("rows", rows, cols, &ones)?;
    let pairs = Pairs::new(rows, cols)?;
    matrix.expect_dims("matrix", &[pairs.rows, pairs.cols])?;
    let dtype = matrix.dtype();
    let mut dense = Tensor::create(at.context, dtype, Location::Host, Order::ColumnMajor, matrix.dims())?;
    tensor::copy(at.context, at.stream, matrix, &mut dense)?;
    let elements = product("matrix", pairs.rows, pairs.cols)?;
    let mut tensor = Tensor::create(at.context, dtype, Location::Host, Order::ColumnMajor, &[elements])?;
    let from = dense.memory().host("matrix")?.as_slice::<u8>()?;
    let to = tensor.memory_mut("matrix")?.host_mut("matrix")?.as_mut_slice::<u8>()?;
    copy_strided(dtype.size(), from, &pairs.matrix, to, &pairs.tensor, &pairs.dims);
    drop(dense);
    let (train, truncated) = tt_svd(at, &tensor, Some(shape.modes()), truncation)?;
    Ok((TrainMatrix::new("rows", train, rows, cols)?, truncated))
}
