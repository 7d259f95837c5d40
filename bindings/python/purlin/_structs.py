"""The structs of the C header as ctypes, and the types of its callbacks."""

from __future__ import annotations

import operator
from ctypes import (
    CFUNCTYPE,
    POINTER,
    Structure,
    c_char,
    c_char_p,
    c_double,
    c_int32,
    c_int64,
    c_size_t,
    c_uint64,
    c_void_p,
)
from typing import Any

PROGRESS = CFUNCTYPE(c_int32, c_int64, c_int64, c_double, c_void_p)
LOG = CFUNCTYPE(None, c_int32, c_char_p, c_void_p)
# A block's first element and extents, its memory, and the user's pointer; the same shape for reading and writing.
BLOCK = CFUNCTYPE(c_int32, POINTER(c_int64), POINTER(c_int64), c_void_p, c_void_p)
# Whether adjoint, number of vectors, the vectors and their distance, the products and theirs, the stream, and the user's
# pointer.
APPLY = CFUNCTYPE(c_int32, c_int32, c_int64, c_void_p, c_int64, c_void_p, c_int64, c_uint64, c_void_p)


_LIMITS: dict[Any, tuple[int, int]] = {
    c_int32: (-(2**31), 2**31 - 1),
    c_int64: (-(2**63), 2**63 - 1),
    c_uint64: (0, 2**64 - 1),
    c_size_t: (0, 2**64 - 1),
}


def whole(name: str, value: Any, kind: Any) -> int:
    """An integer that a C type holds. ctypes itself cuts one that does not fit."""
    if type(value) is not int:
        try:
            value = operator.index(bool(value) if type(value).__name__ in ("bool_", "bool") else value)
        except TypeError:
            raise TypeError(f"{name}: is {value!r}, expected an integer") from None
    low, high = _LIMITS[kind]
    if not low <= value <= high:
        raise ValueError(f"{name}: is {value}, expected {low} to {high}")
    found: int = value
    return found


class _Struct(Structure):
    """A C struct whose numbers are checked when they are set."""

    _kinds: dict[str, Any] = {}

    def __init_subclass__(cls) -> None:
        cls._kinds = {name: kind for name, kind in cls.__dict__["_fields_"] if kind in _LIMITS or kind is c_double}

    def __setattr__(self, name: str, value: Any) -> None:
        kind = self._kinds.get(name)
        if kind is c_double:
            if isinstance(value, (str, bytes)):
                raise TypeError(f"{name}: is {value!r}, expected a number")
            try:
                value = float(value)
            except (TypeError, ValueError):
                raise TypeError(f"{name}: is {value!r}, expected a number") from None
            except OverflowError:
                raise ValueError(f"{name}: is {value}, which no double holds") from None
        elif kind is not None:
            value = whole(name, value, kind)
        super().__setattr__(name, value)


def _fields(kind: Any, names: str) -> list[tuple[str, Any]]:
    return [(name, kind) for name in names.split()]


class DeviceInfo(_Struct):
    _fields_ = [
        ("struct_size", c_size_t),
        *_fields(c_int32, "ordinal compute_capability_major compute_capability_minor multiprocessors"),
        *_fields(c_int64, "memory_total memory_free l2_bytes shared_memory_per_block"),
        *_fields(c_int32, "clock_khz driver_version"),
        ("name", c_char * 128),
    ]


class ContextOptions(_Struct):
    _fields_ = [
        ("struct_size", c_size_t),
        *_fields(c_int32, "backend device threads cpu_isa"),
        *_fields(c_int64, "host_memory_limit device_memory_limit"),
        *_fields(c_int32, "log_level reserved"),
        ("log", LOG),
        ("log_user", c_void_p),
    ]


class ContextInfo(_Struct):
    _fields_ = [
        ("struct_size", c_size_t),
        *_fields(c_int32, "backend device threads cpu_isa"),
        *_fields(c_int64, "host_memory_limit device_memory_limit host_memory_used device_memory_used"),
        ("device_name", c_char * 128),
    ]


class TensorInfo(_Struct):
    _fields_ = [
        ("struct_size", c_size_t),
        *_fields(c_int32, "dtype location ndim flags symmetric_order owned"),
        *_fields(c_int64, "symmetric_dimension elements bytes"),
        ("data", c_uint64),
    ]


class MatrixInfo(_Struct):
    _fields_ = [
        ("struct_size", c_size_t),
        *_fields(c_int32, "dtype location storage flags"),
        *_fields(c_int64, "rows cols ld nnz bytes"),
        *_fields(c_uint64, "data row_ptr col_idx"),
        *_fields(c_int32, "index_base row_ptr_type col_idx_type owned"),
    ]


class SshopmOptions(_Struct):
    _fields_ = [
        ("struct_size", c_size_t),
        *_fields(c_int32, "goal method shift_kind test start_kind max_iterations warmup sign compatibility"),
        ("remove_isotropic", c_int32),
        ("starts", c_int64),
        ("seed", c_uint64),
        *_fields(c_double, "shift tolerance tau merge_angle merge_value degeneracy_tolerance"),
        ("progress", PROGRESS),
        ("progress_user", c_void_p),
    ]


class SshopmAllOptions(_Struct):
    _fields_ = [
        ("struct_size", c_size_t),
        *_fields(c_int64, "starts max_starts"),
        ("seed", c_uint64),
        *_fields(c_int32, "max_iterations sign"),
        *_fields(c_double, "tolerance merge_angle merge_value degeneracy_tolerance"),
        ("progress", PROGRESS),
        ("progress_user", c_void_p),
    ]


class SshopmResults(_Struct):
    _fields_ = [
        ("struct_size", c_size_t),
        *_fields(c_void_p, "count values vectors residuals classes hessian basins status"),
        *_fields(c_void_p, "start_values start_vectors start_residuals start_iterations start_shifts"),
        *_fields(c_void_p, "start_status start_violations trace found"),
    ]


class SshopmInfo(_Struct):
    _fields_ = [
        ("struct_size", c_size_t),
        *_fields(c_int64, "tensors starts converged_starts iterations skipped_tensors chunks"),
        *_fields(c_double, "tolerance seconds"),
        *_fields(c_int32, "tolerance_raised reserved"),
        *_fields(c_int64, "truncated_tensors unconverged_tensors"),
    ]


class DwiFitOptions(_Struct):
    _fields_ = [
        ("struct_size", c_size_t),
        *_fields(c_int32, "weighting nonpositive"),
        *_fields(c_double, "b0_threshold clamp"),
        ("progress", PROGRESS),
        ("progress_user", c_void_p),
    ]


class DwiCsaOptions(_Struct):
    _fields_ = [
        ("struct_size", c_size_t),
        *_fields(c_double, "b0_threshold smoothing minimum_signal maximum_signal"),
        ("progress", PROGRESS),
        ("progress_user", c_void_p),
    ]


class DwiPeaksOptions(_Struct):
    _fields_ = [
        ("struct_size", c_size_t),
        *_fields(c_int32, "basis format missing start_kind max_iterations method"),
        ("starts", c_int64),
        ("seed", c_uint64),
        *_fields(c_double, "absolute_threshold relative_threshold min_separation tolerance merge_angle"),
        ("progress", PROGRESS),
        ("progress_user", c_void_p),
    ]


class ArrayInfo(_Struct):
    _fields_ = [
        ("struct_size", c_size_t),
        *_fields(c_int32, "dtype ndim"),
        ("dims", c_int64 * 4),
        ("spacing", c_double * 4),
        ("origin", c_double * 4),
        ("bytes", c_int64),
        *_fields(c_int32, "flags reserved"),
    ]


class FdkGeometry(_Struct):
    _fields_ = [
        ("struct_size", c_size_t),
        *_fields(c_double, "source_to_axis source_to_detector column_pitch row_pitch column_offset row_offset"),
        *_fields(c_int64, "detector_columns detector_rows views"),
        *_fields(c_void_p, "angles matrices"),
        *_fields(c_int32, "allow_inside_panel reserved"),
    ]


class FdkGrid(_Struct):
    _fields_ = [
        ("struct_size", c_size_t),
        *_fields(c_int64, "nx ny nz"),
        *_fields(c_double, "dx dy dz x0 y0 z0"),
    ]


class FdkOptions(_Struct):
    _fields_ = [
        ("struct_size", c_size_t),
        *_fields(c_int32, "window redundancy edge interpolation precision mode fov_mask allow_missing"),
        *_fields(c_int32, "allow_short_arc sanitize"),
        *_fields(c_double, "cutoff truncation output_scale output_offset"),
        *_fields(c_int64, "slab view_batch fft_length"),
        ("progress", PROGRESS),
        ("progress_user", c_void_p),
    ]


class FdkInfo(_Struct):
    _fields_ = [
        ("struct_size", c_size_t),
        *_fields(c_int32, "redundancy kernel"),
        *_fields(c_double, "arc fan_half_angle largest_gap fov_radius"),
        *_fields(c_int64, "nx ny nz"),
        *_fields(c_double, "dx dy dz x0 y0 z0"),
        *_fields(c_int64, "slab slabs view_batch fft_length filtered_columns filtered_left contexts"),
        *_fields(c_int64, "device_bytes host_bytes device_bytes_used host_bytes_used"),
        *_fields(c_int64, "views_pushed pixels_sanitized pixels_clamped bytes_uploaded bytes_downloaded"),
        *_fields(c_double, "seconds_read seconds_upload seconds_filter seconds_backproject seconds_download"),
        *_fields(c_double, "seconds_write seconds_total gups"),
        ("reason", c_char * 128),
        *_fields(c_int64, "pixels_negative pixels_not_finite"),
    ]


class RsvdOptions(_Struct):
    _fields_ = [
        ("struct_size", c_size_t),
        *_fields(c_int64, "rank oversampling power_iterations max_rank block_columns block_rows resident_rows"),
        *_fields(c_int64, "merge_width probes"),
        ("seed", c_uint64),
        *_fields(c_double, "tolerance smallest_ratio"),
        *_fields(c_int32, "dtype method orthonormalization sketch center scale sign right error one_pass"),
        ("restart_path", c_void_p),
        ("progress", PROGRESS),
        ("progress_user", c_void_p),
        *_fields(c_int32, "iteration_precision reserved"),
        ("read_rate", c_double),
    ]


class RsvdInfo(_Struct):
    _fields_ = [
        ("struct_size", c_size_t),
        *_fields(c_int32, "method orthonormalization dtype transposed converged restarted error_kind sketch"),
        *_fields(c_int64, "rank columns power_iterations passes passes_restarted contexts blocks block_rows"),
        *_fields(c_int64, "resident_rows orthonormalization_fallbacks bytes_to_device bytes_tall bytes_read"),
        *_fields(c_int64, "bytes_predicted device_bytes host_bytes device_bytes_used host_bytes_used"),
        *_fields(c_double, "frobenius max_abs error_frobenius error_relative error_spectral seconds_read"),
        *_fields(c_double, "seconds_link seconds_multiply seconds_orthonormalize seconds_small seconds_total"),
        ("seconds_predicted", c_double),
        ("reason", c_char * 128),
    ]


class PcaOptions(_Struct):
    _fields_ = [
        ("struct_size", c_size_t),
        *_fields(c_int32, "samples center scale whiten"),
    ]


class PcaInfo(_Struct):
    _fields_ = [
        ("struct_size", c_size_t),
        *_fields(c_int32, "dtype samples centered scaled whitened reserved"),
        *_fields(c_int64, "count features rank"),
        *_fields(c_double, "total_variance noise_variance"),
    ]


class RpcaOptions(_Struct):
    _fields_ = [
        ("struct_size", c_size_t),
        *_fields(c_double, "lambda tolerance mu rho threshold scale"),
        *_fields(c_int64, "max_iterations max_rank fixed_rank power_iterations oversampling block_rows"),
        ("seed", c_uint64),
        *_fields(c_int32, "warm_start frames dtype reserved"),
        ("progress", PROGRESS),
        ("progress_user", c_void_p),
        ("contexts", c_void_p),
        ("contexts_count", c_int64),
    ]


class RpcaInfo(_Struct):
    _fields_ = [
        ("struct_size", c_size_t),
        *_fields(c_int32, "converged dtype"),
        *_fields(c_int64, "iterations rank nonzeros passes blocks block_rows bytes_to_device bytes_read"),
        *_fields(c_int64, "device_bytes_used host_bytes_used"),
        *_fields(c_double, "lambda mu norm2 frobenius residual objective nuclear_norm one_norm"),
        *_fields(c_double, "seconds_svd seconds_elementwise seconds_read seconds_total"),
        *_fields(c_int64, "contexts host_bytes device_bytes"),
    ]


# Argument types by letter: i int32, l int64, u uint64, d double, p handle or host address, s stream handle,
# z size; others are pointers. The return type is a status unless given.
class TtInfo(_Struct):
    _fields_ = [
        ("struct_size", c_size_t),
        *_fields(c_int32, "dtype location flags cyclic uniform owned"),
        *_fields(c_int64, "length max_rank elements bytes"),
    ]


class TtScaled(_Struct):
    _fields_ = [
        *_fields(c_double, "re im"),
        ("exponent", c_int64),
        *_fields(c_double, "log_abs phase_re phase_im"),
    ]


class TtContractionOptions(_Struct):
    _fields_ = [
        ("struct_size", c_size_t),
        *_fields(c_int32, "algorithm scaling conjugate math norm_way assume_hermitian kernel reserved"),
        *_fields(c_int64, "cut block repeat workspace_limit"),
        ("progress", PROGRESS),
        ("progress_user", c_void_p),
    ]


class TtContractionInfo(_Struct):
    _fields_ = [
        ("struct_size", c_size_t),
        *_fields(c_int32, "algorithm kernel outcome halved two_ended scaled"),
        *_fields(c_int64, "cut pairs block contexts workspace_bytes"),
        *_fields(c_double, "flops bytes seconds"),
        ("reason", c_char * 128),
    ]


class TtRoundOptions(_Struct):
    _fields_ = [
        ("struct_size", c_size_t),
        ("epsilon", c_double),
        ("max_rank", c_int64),
        *_fields(c_int32, "absolute reserved"),
    ]


class TtRoundInfo(_Struct):
    _fields_ = [
        ("struct_size", c_size_t),
        *_fields(c_double, "error log_norm"),
        ("max_rank", c_int64),
    ]


class SpmvOptions(_Struct):
    _fields_ = [
        ("struct_size", c_size_t),
        *_fields(c_int32, "algorithm op symmetric reserved order kind"),
        ("shift", c_double),
        ("degree", c_int64),
        *_fields(c_double, "lower upper"),
    ]


class SpmvInfo(_Struct):
    _fields_ = [
        ("struct_size", c_size_t),
        *_fields(c_int32, "algorithm group"),
        *_fields(c_int64, "rows nnz longest empty"),
        *_fields(c_double, "mean deviation short_rows beyond_32 beyond_1024"),
        *_fields(c_int64, "tiles bytes"),
        ("seconds", c_double),
        ("reason", c_char * 128),
        *_fields(c_int32, "order kind"),
        ("degree", c_int64),
    ]


class LanczosOptions(_Struct):
    _fields_ = [
        ("struct_size", c_size_t),
        ("count", c_int64),
        *_fields(c_int32, "which kind"),
        *_fields(c_double, "shift sigma tolerance"),
        *_fields(c_int64, "basis restarts"),
        ("seed", c_uint64),
        *_fields(c_int32, "verify method"),
        ("block", c_int64),
        *_fields(c_int32, "orthogonality filter"),
        ("degree", c_int64),
        ("progress", PROGRESS),
        ("progress_user", c_void_p),
        *_fields(c_int32, "order check_symmetry"),
        ("contexts", c_void_p),
        ("contexts_count", c_int64),
        ("start", c_void_p),
    ]


class LanczosInfo(_Struct):
    _fields_ = [
        ("struct_size", c_size_t),
        *_fields(c_int32, "reason breakdowns"),
        *_fields(c_int64, "count converged products restarts recovered basis degree"),
        *_fields(c_double, "norm seconds"),
        *_fields(c_int64, "contexts part_rows part_entries halo halo_bytes product_bytes"),
        *_fields(c_int32, "verified reserved"),
        *_fields(c_double, "residual orthogonality"),
    ]


class LanczosAccepted(_Struct):
    _fields_ = [
        *_fields(c_double, "value residual"),
        ("copies", c_int64),
    ]
