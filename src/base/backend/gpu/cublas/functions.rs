//! The functions of cuBLAS, by element type, and the numbers that it takes for choices.

use std::ffi::{c_int, c_void};

use cudarc::driver::sys::CUstream;

use crate::backend::gpu::handles::Handle;
use crate::backend::gpu::library::{Library, functions};
use crate::backend::gpu::view::Transpose;
use crate::error::{Error, Result};
use crate::scalar::DType;

/// handle, operations, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc
pub(super) type Gemm = unsafe extern "C-unwind" fn(
    Handle,
    c_int,
    c_int,
    c_int,
    c_int,
    c_int,
    *const c_void,
    u64,
    c_int,
    u64,
    c_int,
    *const c_void,
    u64,
    c_int,
) -> i32;
/// As [`Gemm`], with elements from matrix to matrix after each leading dimension, and their number.
pub(super) type BatchedGemm = unsafe extern "C-unwind" fn(
    Handle,
    c_int,
    c_int,
    c_int,
    c_int,
    c_int,
    *const c_void,
    u64,
    c_int,
    i64,
    u64,
    c_int,
    i64,
    *const c_void,
    u64,
    c_int,
    i64,
    c_int,
) -> i32;
/// handle, triangle, operation, n, k, alpha, A, lda, beta, C, ldc
pub(super) type Syrk = unsafe extern "C-unwind" fn(
    Handle,
    c_int,
    c_int,
    c_int,
    c_int,
    *const c_void,
    u64,
    c_int,
    *const c_void,
    u64,
    c_int,
) -> i32;
/// handle, side, triangle, operation, diagonal, m, n, alpha, A, lda, B, ldb
pub(super) type Trsm = unsafe extern "C-unwind" fn(
    Handle,
    c_int,
    c_int,
    c_int,
    c_int,
    c_int,
    c_int,
    *const c_void,
    u64,
    c_int,
    u64,
    c_int,
) -> i32;

functions! {
    Functions of Library::Cublas;
    cublasCreate_v2(*mut Handle);
    cublasDestroy_v2(Handle);
    cublasSetStream_v2(Handle, CUstream);
    cublasSetWorkspace_v2(Handle, u64, usize);
    cublasSetMathMode(Handle, c_int);
    cublasSetPointerMode_v2(Handle, c_int);
    cublasSgemm_v2(Handle, c_int, c_int, c_int, c_int, c_int, *const c_void, u64, c_int, u64, c_int, *const c_void,
        u64, c_int);
    cublasDgemm_v2(Handle, c_int, c_int, c_int, c_int, c_int, *const c_void, u64, c_int, u64, c_int, *const c_void,
        u64, c_int);
    cublasCgemm_v2(Handle, c_int, c_int, c_int, c_int, c_int, *const c_void, u64, c_int, u64, c_int, *const c_void,
        u64, c_int);
    cublasZgemm_v2(Handle, c_int, c_int, c_int, c_int, c_int, *const c_void, u64, c_int, u64, c_int, *const c_void,
        u64, c_int);
    cublasCgemm3m(Handle, c_int, c_int, c_int, c_int, c_int, *const c_void, u64, c_int, u64, c_int, *const c_void,
        u64, c_int);
    cublasZgemm3m(Handle, c_int, c_int, c_int, c_int, c_int, *const c_void, u64, c_int, u64, c_int, *const c_void,
        u64, c_int);
    cublasSgemmStridedBatched(Handle, c_int, c_int, c_int, c_int, c_int, *const c_void, u64, c_int, i64, u64, c_int, i64,
        *const c_void, u64, c_int, i64, c_int);
    cublasDgemmStridedBatched(Handle, c_int, c_int, c_int, c_int, c_int, *const c_void, u64, c_int, i64, u64, c_int, i64,
        *const c_void, u64, c_int, i64, c_int);
    cublasCgemmStridedBatched(Handle, c_int, c_int, c_int, c_int, c_int, *const c_void, u64, c_int, i64, u64, c_int, i64,
        *const c_void, u64, c_int, i64, c_int);
    cublasZgemmStridedBatched(Handle, c_int, c_int, c_int, c_int, c_int, *const c_void, u64, c_int, i64, u64, c_int, i64,
        *const c_void, u64, c_int, i64, c_int);
    cublasSsyrk_v2(Handle, c_int, c_int, c_int, c_int, *const c_void, u64, c_int, *const c_void, u64, c_int);
    cublasDsyrk_v2(Handle, c_int, c_int, c_int, c_int, *const c_void, u64, c_int, *const c_void, u64, c_int);
    cublasCherk_v2(Handle, c_int, c_int, c_int, c_int, *const c_void, u64, c_int, *const c_void, u64, c_int);
    cublasZherk_v2(Handle, c_int, c_int, c_int, c_int, *const c_void, u64, c_int, *const c_void, u64, c_int);
    cublasStrsm_v2(Handle, c_int, c_int, c_int, c_int, c_int, c_int, *const c_void, u64, c_int, u64, c_int);
    cublasDtrsm_v2(Handle, c_int, c_int, c_int, c_int, c_int, c_int, *const c_void, u64, c_int, u64, c_int);
    cublasCtrsm_v2(Handle, c_int, c_int, c_int, c_int, c_int, c_int, *const c_void, u64, c_int, u64, c_int);
    cublasZtrsm_v2(Handle, c_int, c_int, c_int, c_int, c_int, c_int, *const c_void, u64, c_int, u64, c_int);
}

impl Functions {
    pub(super) fn gemm(&self, dtype: DType) -> Result<Gemm> {
        Ok(match dtype {
            DType::F32 => self.cublasSgemm_v2,
            DType::F64 => self.cublasDgemm_v2,
            DType::CF32 => self.cublasCgemm_v2,
            DType::CF64 => self.cublasZgemm_v2,
            other => return Err(unknown(other)),
        })
    }

    /// The function for complex products by three real products; for real matrices the ordinary function.
    pub(super) fn gemm3m(&self, dtype: DType) -> Result<Gemm> {
        match dtype {
            DType::CF32 => Ok(self.cublasCgemm3m),
            DType::CF64 => Ok(self.cublasZgemm3m),
            other => self.gemm(other),
        }
    }

    pub(super) fn batched_gemm(&self, dtype: DType) -> Result<BatchedGemm> {
        Ok(match dtype {
            DType::F32 => self.cublasSgemmStridedBatched,
            DType::F64 => self.cublasDgemmStridedBatched,
            DType::CF32 => self.cublasCgemmStridedBatched,
            DType::CF64 => self.cublasZgemmStridedBatched,
            other => return Err(unknown(other)),
        })
    }

    pub(super) fn syrk(&self, dtype: DType) -> Result<Syrk> {
        Ok(match dtype {
            DType::F32 => self.cublasSsyrk_v2,
            DType::F64 => self.cublasDsyrk_v2,
            DType::CF32 => self.cublasCherk_v2,
            DType::CF64 => self.cublasZherk_v2,
            other => return Err(unknown(other)),
        })
    }

    pub(super) fn trsm(&self, dtype: DType) -> Result<Trsm> {
        Ok(match dtype {
            DType::F32 => self.cublasStrsm_v2,
            DType::F64 => self.cublasDtrsm_v2,
            DType::CF32 => self.cublasCtrsm_v2,
            DType::CF64 => self.cublasZtrsm_v2,
            other => return Err(unknown(other)),
        })
    }
}

pub(super) fn unknown(dtype: DType) -> Error {
    Error::Internal(format!("{} in linear algebra", dtype.name()))
}

/// A scalar for the library, which reads it with the alignment of CUDA's complex numbers. This is twice that of Rust's.
#[repr(C, align(16))]
pub(super) struct Aligned(pub(super) [u8; 16]);

/// The number `value` in the type `dtype`, with the imaginary part 0 if that is complex.
pub(super) fn real(dtype: DType, value: f64) -> Aligned {
    let mut bytes = [0; 16];
    if dtype.is_single() {
        bytes[..4].copy_from_slice(&(value as f32).to_ne_bytes());
    } else {
        bytes[..8].copy_from_slice(&value.to_ne_bytes());
    }
    Aligned(bytes)
}

pub(super) fn operation(transpose: Transpose) -> c_int {
    match transpose {
        Transpose::Plain => 0,
        Transpose::Transpose => 1,
        Transpose::Adjoint => 2,
    }
}

pub(super) fn name(code: i32) -> &'static str {
    match code {
        1 => "CUBLAS_STATUS_NOT_INITIALIZED",
        3 => "CUBLAS_STATUS_ALLOC_FAILED",
        7 => "CUBLAS_STATUS_INVALID_VALUE",
        8 => "CUBLAS_STATUS_ARCH_MISMATCH",
        11 => "CUBLAS_STATUS_MAPPING_ERROR",
        13 => "CUBLAS_STATUS_EXECUTION_FAILED",
        14 => "CUBLAS_STATUS_INTERNAL_ERROR",
        15 => "CUBLAS_STATUS_NOT_SUPPORTED",
        _ => "an unknown error",
    }
}

/// A size as the library's `int`.
pub(in crate::backend::gpu) fn int(what: &str, value: usize) -> Result<c_int> {
    c_int::try_from(value).map_err(|_| Error::NotSupported(format!("{what}: {value} is more than cuBLAS takes")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scalar::{Scalar, with_scalar};

    #[test]
    fn scalars_are_those_of_their_types() {
        for value in [1.0, -0.1, 0.0, 1e300, f64::MIN_POSITIVE] {
            for dtype in [DType::F32, DType::F64, DType::CF32, DType::CF64] {
                let found = real(dtype, value).0;
                let (own, rest) = found.split_at(dtype.part_size());
                let expected =
                    with_scalar!(dtype, "dtype", T => Ok(<T as Scalar>::from_parts(value, 0.0).re())).unwrap();
                let number = match own.try_into() {
                    Ok(bytes) => f64::from(f32::from_ne_bytes(bytes)),
                    Err(_) => f64::from_ne_bytes(own.try_into().unwrap()),
                };
                assert_eq!(number.to_bits(), expected.to_bits(), "{dtype:?} {value}");
                assert!(rest.iter().all(|byte| *byte == 0), "{dtype:?} {value}");
            }
        }
    }
}
