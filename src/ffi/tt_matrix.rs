//! TT-matrices: operators on tensor trains.

use std::ffi::c_void;

use super::handle::{self, Exclusive, Shared};
use super::options;
use super::overlap::{self, Range};
use super::tensor::{
    self, PURLIN_PINNED, PURLIN_READ_ONLY, purlin_dtype, purlin_flags, purlin_location, purlin_tensor, storage_order,
};
use super::tt::{core_range, describe};
use super::tt_cores::{device_cores, host_cores, put_sizes, read_sizes};
use super::tt_types::purlin_tt_info;
use super::{context, guard, purlin_context, purlin_status, purlin_stream, stream};
use crate::error::{Error, Result};
use crate::scalar::DType;
use crate::tensor::train::{self, Shape, TensorTrain, TrainMatrix};

/// A TT-matrix (matrix-product operator): d cores, core k an array of w_k x m_k x n_k x w_k+1, first index fastest: left
/// bond, row (bra, out), column (ket, in), right bond. It is open if w_0 = w_d = 1 and else cyclic.
pub struct purlin_tt_matrix {
    _private: [u8; 0],
}

/// The TT-matrix of an argument that is only read, on a context that is alive.
pub(super) fn input(argument: &str, matrix: *const purlin_tt_matrix) -> Result<Shared<TrainMatrix>> {
    let matrix = handle::shared::<TrainMatrix, _>(argument, matrix)?;
    matrix.train().context().check_alive()?;
    Ok(matrix)
}

/// The same of an argument that may be NULL.
pub(super) fn input_or_null(argument: &str, matrix: *const purlin_tt_matrix) -> Result<Option<Shared<TrainMatrix>>> {
    if matrix.is_null() { Ok(None) } else { input(argument, matrix).map(Some) }
}

fn output(argument: &str, matrix: *mut purlin_tt_matrix) -> Result<Exclusive<TrainMatrix>> {
    let matrix = handle::exclusive::<TrainMatrix, _>(argument, matrix)?;
    matrix.train().context().check_alive()?;
    Ok(matrix)
}

/// Enters a new TT-matrix at the caller's place for its handle.
pub(super) fn put(target: &mut *mut purlin_tt_matrix, matrix: TrainMatrix) -> Result<()> {
    *target = handle::insert(matrix)?;
    Ok(())
}

/// Sizes as C gives them.
struct Sizes {
    rows: Vec<usize>,
    cols: Vec<usize>,
    shape: Shape,
}

impl Sizes {
    /// # Safety
    /// `rows` and `cols` are NULL or valid for `length` elements, `ranks` for `length + 1`.
    unsafe fn read(length: i64, rows: *const i64, cols: *const i64, ranks: *const i64) -> Result<Self> {
        // SAFETY: as promised by the caller.
        let rows = unsafe { read_sizes("rows", length, 0, rows) }?;
        // SAFETY: as promised by the caller.
        let cols = unsafe { read_sizes("cols", length, 0, cols) }?;
        // SAFETY: as promised by the caller.
        let ranks = unsafe { read_sizes("ranks", length, 1, ranks) }?;
        let shape = TrainMatrix::shape_of("ranks", &rows, &cols, &ranks)?;
        Ok(Self { rows, cols, shape })
    }

    fn matrix(&self, train: TensorTrain) -> Result<TrainMatrix> {
        TrainMatrix::new("matrix", train, &self.rows, &self.cols)
    }
}

/// Makes a TT-matrix in purlin's own memory. Each core has to be set before it is used.
///
/// @param      context   the context it belongs to.
/// @param      dtype     PURLIN_F32, PURLIN_F64, PURLIN_CF32 or PURLIN_CF64.
/// @param      location  PURLIN_HOST or PURLIN_DEVICE.
/// @param      flags     PURLIN_PINNED or 0.
/// @param      length    number of cores d, at least 1.
/// @param[in]  rows      d row (bra) mode sizes m_k, at least 1.
/// @param[in]  cols      d column (ket) mode sizes n_k, at least 1.
/// @param[in]  ranks     d + 1 ranks w_k, at least 1, the first equal to the last.
/// @param[out] matrix    the TT-matrix; destroy it with purlin_tt_matrix_destroy.
/// @return as purlin_tt_create.
///
/// # Safety
/// `rows` and `cols` are NULL or valid for `length` elements, `ranks` for `length + 1`; `matrix` is NULL or valid for
/// writing.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_tt_matrix_create(
    context: *const purlin_context,
    dtype: purlin_dtype,
    location: purlin_location,
    flags: purlin_flags,
    length: i64,
    rows: *const i64,
    cols: *const i64,
    ranks: *const i64,
    matrix: *mut *mut purlin_tt_matrix,
) -> purlin_status {
    guard::run(|| {
        let context = context::get(context)?;
        let dtype = DType::from_code("dtype", dtype)?;
        storage_order(flags, PURLIN_PINNED)?;
        let location = tensor::location(location, flags)?;
        // SAFETY: the caller promises NULL or a place for the handle.
        let target = unsafe { super::pointer::output("matrix", matrix) }?;
        // SAFETY: as promised above.
        let sizes = unsafe { Sizes::read(length, rows, cols, ranks) }?;
        put(target, sizes.matrix(TensorTrain::create(&context, dtype, location, sizes.shape.clone())?)?)
    })
}

/// Makes a TT-matrix over the caller's cores in host memory, which must outlive the handle.
///
/// @param      context  the context it belongs to.
/// @param      dtype    PURLIN_F32, PURLIN_F64, PURLIN_CF32 or PURLIN_CF64.
/// @param      flags    PURLIN_READ_ONLY or 0.
/// @param      length   number of cores d, at least 1.
/// @param[in]  rows     d row (bra) mode sizes m_k, at least 1.
/// @param[in]  cols     d column (ket) mode sizes n_k, at least 1.
/// @param[in]  ranks    d + 1 ranks w_k, at least 1, the first equal to the last.
/// @param[in]  cores    d addresses of cores, each packed with the first index fastest: a Fortran array `a(w, m, n, v)`.
/// @param[out] matrix   the TT-matrix; destroy it with purlin_tt_matrix_destroy.
/// @return as purlin_tt_borrow.
///
/// # Safety
/// As for purlin_tt_matrix_create; `cores` is NULL or valid for `length` addresses, each valid for its core while the
/// handle lives.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_tt_matrix_borrow(
    context: *const purlin_context,
    dtype: purlin_dtype,
    flags: purlin_flags,
    length: i64,
    rows: *const i64,
    cols: *const i64,
    ranks: *const i64,
    cores: *const *mut c_void,
    matrix: *mut *mut purlin_tt_matrix,
) -> purlin_status {
    guard::run(|| {
        let context = context::get(context)?;
        let dtype = DType::from_code("dtype", dtype)?;
        storage_order(flags, PURLIN_READ_ONLY)?;
        // SAFETY: the caller promises NULL or a place for the handle.
        let target = unsafe { super::pointer::output("matrix", matrix) }?;
        // SAFETY: as promised above.
        let sizes = unsafe { Sizes::read(length, rows, cols, ranks) }?;
        // SAFETY: as promised above.
        let memory = unsafe { host_cores(&sizes.shape, dtype, cores) }?;
        let read_only = flags & PURLIN_READ_ONLY != 0;
        put(target, sizes.matrix(TensorTrain::from_cores(&context, dtype, sizes.shape.clone(), memory, read_only)?)?)
    })
}

/// Makes a TT-matrix over the caller's cores in device memory, which must outlive the handle.
///
/// @param      context  a context on the GPU of that memory.
/// @param      dtype    PURLIN_F32, PURLIN_F64, PURLIN_CF32 or PURLIN_CF64.
/// @param      flags    PURLIN_READ_ONLY or 0.
/// @param      length   number of cores d, at least 1.
/// @param[in]  rows     d row (bra) mode sizes m_k, at least 1.
/// @param[in]  cols     d column (ket) mode sizes n_k, at least 1.
/// @param[in]  ranks    d + 1 ranks w_k, at least 1, the first equal to the last.
/// @param[in]  cores    d `CUdeviceptr` of cores, each packed with the first index fastest.
/// @param[out] matrix   the TT-matrix; destroy it with purlin_tt_matrix_destroy.
/// @return as purlin_tt_borrow_device.
///
/// # Safety
/// As for purlin_tt_matrix_borrow.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_tt_matrix_borrow_device(
    context: *const purlin_context,
    dtype: purlin_dtype,
    flags: purlin_flags,
    length: i64,
    rows: *const i64,
    cols: *const i64,
    ranks: *const i64,
    cores: *const u64,
    matrix: *mut *mut purlin_tt_matrix,
) -> purlin_status {
    guard::run(|| {
        let context = context::get(context)?;
        let dtype = DType::from_code("dtype", dtype)?;
        storage_order(flags, PURLIN_READ_ONLY)?;
        // SAFETY: the caller promises NULL or a place for the handle.
        let target = unsafe { super::pointer::output("matrix", matrix) }?;
        // SAFETY: as promised above.
        let sizes = unsafe { Sizes::read(length, rows, cols, ranks) }?;
        // SAFETY: as promised above.
        let memory = unsafe { device_cores(&context, &sizes.shape, dtype, cores) }?;
        let read_only = flags & PURLIN_READ_ONLY != 0;
        put(target, sizes.matrix(TensorTrain::from_cores(&context, dtype, sizes.shape.clone(), memory, read_only)?)?)
    })
}

/// Writes a core: a copy of a tensor.
///
/// @param matrix  the TT-matrix.
/// @param stream  NULL for the context's own.
/// @param k       the core, 0 to d - 1.
/// @param core    w_k x m_k x n_k x w_k+1, of the TT-matrix's element type; any strides on the host, packed on a device.
/// @return as purlin_tt_set_core.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn purlin_tt_matrix_set_core(
    matrix: *mut purlin_tt_matrix,
    stream: *const purlin_stream,
    k: i64,
    core: *const purlin_tensor,
) -> purlin_status {
    guard::run(|| {
        let mut matrix = output("matrix", matrix)?;
        let stream = stream::get(stream)?;
        let core = tensor::input("core", core)?;
        overlap::check(&[Range::of("core", &core)], &[core_range("matrix", matrix.train(), k)?])?;
        let dims = matrix.core(train::core_number(matrix.train(), k)?);
        train::write_core("matrix", stream.as_deref(), matrix.train_mut(), k, |_| dims.to_vec(), &core)
    })
}

/// Reads a core into a tensor.
///
/// @param matrix  the TT-matrix.
/// @param stream  NULL for the context's own.
/// @param k       the core, 0 to d - 1.
/// @param core    w_k x m_k x n_k x w_k+1, of the TT-matrix's element type; any strides on the host, where it is complete
///                on return; packed on a device.
/// @return as purlin_tt_core.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn purlin_tt_matrix_core(
    matrix: *const purlin_tt_matrix,
    stream: *const purlin_stream,
    k: i64,
    core: *mut purlin_tensor,
) -> purlin_status {
    guard::run(|| {
        let matrix = input("matrix", matrix)?;
        let stream = stream::get(stream)?;
        let mut core = tensor::output("core", core)?;
        overlap::check(&[core_range("matrix", matrix.train(), k)?], &[Range::of("core", &core)])?;
        train::read_core("matrix", stream.as_deref(), matrix.train(), k, |k| matrix.core(k).to_vec(), &mut core)
    })
}

/// Type, location, number of cores and size of a TT-matrix. purlin_tt_matrix_shape gives its modes and ranks.
///
/// @param      matrix  the TT-matrix.
/// @param[out] info    filled in; initialize it with purlin_tt_info_init.
/// @return as purlin_tt_properties.
///
/// # Safety
/// `info` is NULL or an initialized struct.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_tt_matrix_properties(
    matrix: *const purlin_tt_matrix,
    info: *mut purlin_tt_info,
) -> purlin_status {
    guard::run(|| {
        let matrix = handle::shared::<TrainMatrix, _>("matrix", matrix)?;
        if info.is_null() {
            return Err(Error::invalid("info", "is NULL"));
        }
        // SAFETY: not null; the caller promises an initialized struct.
        unsafe { options::write("info", info, describe(matrix.train())) }
    })
}

/// Mode sizes and ranks of a TT-matrix.
///
/// @param      matrix    the TT-matrix.
/// @param      capacity  cores that the arrays hold, at least d.
/// @param[out] rows      row (bra) mode sizes, d; may be NULL.
/// @param[out] cols      column (ket) mode sizes, d; may be NULL.
/// @param[out] ranks     ranks, d + 1; may be NULL.
/// @return as purlin_tt_shape.
///
/// # Safety
/// `rows` and `cols` are NULL or valid for `capacity` elements, `ranks` for `capacity + 1`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_tt_matrix_shape(
    matrix: *const purlin_tt_matrix,
    capacity: i64,
    rows: *mut i64,
    cols: *mut i64,
    ranks: *mut i64,
) -> purlin_status {
    guard::run(|| {
        let matrix = handle::shared::<TrainMatrix, _>("matrix", matrix)?;
        let lists = [(rows, matrix.rows()), (cols, matrix.cols()), (ranks, matrix.train().shape().ranks())];
        // SAFETY: as promised above.
        unsafe { put_sizes(capacity, matrix.rows().len(), &lists) }
    })
}

/// Destroys a TT-matrix, and frees its memory if that is purlin's.
///
/// @param matrix  the TT-matrix; NULL does nothing.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`.
#[unsafe(no_mangle)]
pub extern "C" fn purlin_tt_matrix_destroy(matrix: *mut purlin_tt_matrix) -> purlin_status {
    guard::run(|| handle::remove::<TrainMatrix, _>("matrix", matrix))
}
