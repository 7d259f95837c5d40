"""The C header as ctypes: structs, prototypes, and where the library is."""

from __future__ import annotations

import ctypes
import ctypes.util
import os
import sys
from collections.abc import Iterator
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
from pathlib import Path
from typing import Any

from . import _constants as c

PROGRESS = CFUNCTYPE(c_int32, c_int64, c_int64, c_double, c_void_p)
LOG = CFUNCTYPE(None, c_int32, c_char_p, c_void_p)
# A block's first element and extents, its memory, and the user's pointer; the same shape for reading and writing.
BLOCK = CFUNCTYPE(c_int32, POINTER(c_int64), POINTER(c_int64), c_void_p, c_void_p)
# Whether adjoint, number of vectors, the vectors and their distance, the products and theirs, and the user's pointer.
APPLY = CFUNCTYPE(c_int32, c_int32, c_int64, c_void_p, c_int64, c_void_p, c_int64, c_void_p)


def _fields(kind: Any, names: str) -> list[tuple[str, Any]]:
    return [(name, kind) for name in names.split()]


class DeviceInfo(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        *_fields(c_int32, "ordinal compute_capability_major compute_capability_minor multiprocessors"),
        *_fields(c_int64, "memory_total memory_free l2_bytes shared_memory_per_block"),
        *_fields(c_int32, "clock_khz driver_version"),
        ("name", c_char * 128),
    ]


class ContextOptions(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        *_fields(c_int32, "backend device threads cpu_isa"),
        *_fields(c_int64, "host_memory_limit device_memory_limit"),
        *_fields(c_int32, "log_level reserved"),
        ("log", LOG),
        ("log_user", c_void_p),
    ]


class ContextInfo(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        *_fields(c_int32, "backend device threads cpu_isa"),
        *_fields(c_int64, "host_memory_limit device_memory_limit host_memory_used device_memory_used"),
        ("device_name", c_char * 128),
    ]


class TensorInfo(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        *_fields(c_int32, "dtype location ndim flags symmetric_order owned"),
        *_fields(c_int64, "symmetric_dimension elements bytes"),
        ("data", c_uint64),
    ]


class MatrixInfo(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        *_fields(c_int32, "dtype location storage flags"),
        *_fields(c_int64, "rows cols ld nnz bytes"),
        *_fields(c_uint64, "data row_ptr col_idx"),
        *_fields(c_int32, "index_base row_ptr_type col_idx_type owned"),
    ]


class SshopmOptions(Structure):
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


class SshopmAllOptions(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        *_fields(c_int64, "starts max_starts"),
        ("seed", c_uint64),
        *_fields(c_int32, "max_iterations sign"),
        *_fields(c_double, "tolerance merge_angle merge_value degeneracy_tolerance"),
        ("progress", PROGRESS),
        ("progress_user", c_void_p),
    ]


class SshopmResults(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        *_fields(c_void_p, "count values vectors residuals classes hessian basins status"),
        *_fields(c_void_p, "start_values start_vectors start_residuals start_iterations start_shifts"),
        *_fields(c_void_p, "start_status start_violations trace"),
    ]


class SshopmInfo(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        *_fields(c_int64, "tensors starts converged_starts iterations skipped_tensors chunks"),
        *_fields(c_double, "tolerance seconds"),
        *_fields(c_int32, "tolerance_raised reserved"),
    ]


class DwiFitOptions(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        *_fields(c_int32, "weighting nonpositive"),
        *_fields(c_double, "b0_threshold clamp"),
        ("progress", PROGRESS),
        ("progress_user", c_void_p),
    ]


class DwiCsaOptions(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        *_fields(c_double, "b0_threshold smoothing minimum_signal maximum_signal"),
        ("progress", PROGRESS),
        ("progress_user", c_void_p),
    ]


class DwiPeaksOptions(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        *_fields(c_int32, "basis format missing start_kind max_iterations method"),
        ("starts", c_int64),
        ("seed", c_uint64),
        *_fields(c_double, "absolute_threshold relative_threshold min_separation tolerance merge_angle"),
        ("progress", PROGRESS),
        ("progress_user", c_void_p),
    ]


class ArrayInfo(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        *_fields(c_int32, "dtype ndim"),
        ("dims", c_int64 * 4),
        ("spacing", c_double * 4),
        ("origin", c_double * 4),
        ("bytes", c_int64),
        *_fields(c_int32, "flags reserved"),
    ]


class FdkGeometry(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        *_fields(c_double, "source_to_axis source_to_detector column_pitch row_pitch column_offset row_offset"),
        *_fields(c_int64, "detector_columns detector_rows views"),
        *_fields(c_void_p, "angles matrices"),
        *_fields(c_int32, "allow_inside_panel reserved"),
    ]


class FdkGrid(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        *_fields(c_int64, "nx ny nz"),
        *_fields(c_double, "dx dy dz x0 y0 z0"),
    ]


class FdkOptions(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        *_fields(c_int32, "window redundancy edge interpolation precision mode fov_mask allow_missing"),
        *_fields(c_int32, "allow_short_arc sanitize"),
        *_fields(c_double, "cutoff truncation output_scale output_offset"),
        *_fields(c_int64, "slab view_batch fft_length"),
        ("progress", PROGRESS),
        ("progress_user", c_void_p),
    ]


class FdkInfo(Structure):
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
        ("pixels_negative", c_int64),
    ]


class RsvdOptions(Structure):
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
    ]


class RsvdInfo(Structure):
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


class PcaOptions(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        *_fields(c_int32, "samples center scale whiten"),
    ]


class PcaInfo(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        *_fields(c_int32, "dtype samples centered scaled whitened reserved"),
        *_fields(c_int64, "count features rank"),
        *_fields(c_double, "total_variance noise_variance"),
    ]


class RpcaOptions(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        *_fields(c_double, "lambda tolerance mu rho threshold scale"),
        *_fields(c_int64, "max_iterations max_rank fixed_rank power_iterations oversampling block_rows"),
        ("seed", c_uint64),
        *_fields(c_int32, "warm_start frames dtype reserved"),
        ("progress", PROGRESS),
        ("progress_user", c_void_p),
    ]


class RpcaInfo(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        *_fields(c_int32, "converged dtype"),
        *_fields(c_int64, "iterations rank nonzeros passes blocks block_rows bytes_to_device bytes_read"),
        *_fields(c_int64, "device_bytes_used host_bytes_used"),
        *_fields(c_double, "lambda mu norm2 frobenius residual objective nuclear_norm one_norm"),
        *_fields(c_double, "seconds_svd seconds_elementwise seconds_read seconds_total"),
    ]


# Argument types by letter: i int32, l int64, u uint64, d double, p handle or host address, s stream handle,
# z size; others are pointers. The return type is a status unless given.
_TYPES: dict[str, Any] = {
    "i": c_int32,
    "l": c_int64,
    "u": c_uint64,
    "d": c_double,
    "p": c_void_p,
    "z": c_size_t,
    "P": POINTER(c_void_p),
    "I": POINTER(c_int32),
    "L": POINTER(c_int64),
    "G": LOG,
    "B": BLOCK,
    "A": APPLY,
}

_PROTOTYPES = {
    "device_count": "I",
    "device_properties": "ip",
    "context_create": "pP",
    "context_destroy": "p",
    "context_properties": "pp",
    "context_set_log": "piGp",
    "context_cancel": "p",
    "stream_create": "pP",
    "stream_wrap": "puP",
    "stream_synchronize": "p",
    "stream_destroy": "p",
    "tensor_create": "piiiiLP",
    "tensor_borrow": "piiiLLpP",
    "tensor_borrow_device": "piiiLLuP",
    "tensor_create_symmetric": "piiiillP",
    "tensor_borrow_symmetric": "piiillllpP",
    "tensor_borrow_symmetric_device": "piiilllluP",
    "tensor_from_dlpack": "ppP",
    "tensor_to_dlpack": "pP",
    "tensor_copy": "pppp",
    "tensor_properties": "pp",
    "tensor_shape": "piLL",
    "tensor_destroy": "p",
    "matrix_create": "piiillP",
    "matrix_borrow": "piilllpP",
    "matrix_borrow_device": "piillluP",
    "matrix_borrow_csr": "piilllipippP",
    "matrix_copy_csr": "piilllipippP",
    "matrix_from_source": "ppiP",
    "matrix_from_operator": "pillApiP",
    "matrix_copy": "pppp",
    "matrix_properties": "pp",
    "matrix_destroy": "p",
    "symmetric_count": "ilL",
    "symmetric_indices": "ilp",
    "symmetric_exponents": "ilp",
    "symmetric_multinomials": "ilp",
    "symmetric_convert": "pppipi",
    "symmetric_from_full": "pppidp",
    "symmetric_to_full": "pppp",
    "symmetric_norm": "pppip",
    "symmetric_identity": "ppdp",
    "sshopm_solve": "ppppppp",
    "sshopm_product": "ppppip",
    "sshopm_starts": "ppiup",
    "sshopm_classify": "pppppdppp",
    "sshopm_all": "pppppppp",
    "dwi_fit": "ppppppppppp",
    "dwi_csa": "ppppppippp",
    "dwi_sh_to_tensor": "pppip",
    "dwi_tensor_to_sh": "pppip",
    "dwi_peaks": "ppppppppp",
    "source_from_tensor": "ppP",
    "source_from_file": "ppliilLP",
    "source_from_mapped_file": "ppliilLP",
    "source_from_npy": "ppP",
    "source_from_metaimage": "ppP",
    "source_from_tiff": "plpP",
    "source_from_callback": "pilLBpP",
    "source_info": "pp",
    "source_destroy": "p",
    "sink_to_tensor": "ppP",
    "sink_to_file": "ppliilLP",
    "sink_to_metaimage": "ppilLppP",
    "sink_to_tiff": "ppilllP",
    "sink_to_callback": "pilLBpP",
    "sink_destroy": "p",
    "fdk_create": "ppppP",
    "fdk_add_context": "pp",
    "fdk_destroy": "p",
    "fdk_query": "pp",
    "fdk_weights": "ppp",
    "fdk_set_counts": "pdppd",
    "fdk_reconstruct": "ppppp",
    "fdk_reconstruct_tensor": "ppppp",
    "fdk_begin": "pp",
    "fdk_push": "plLp",
    "fdk_finish": "ppp",
    "fdk_finish_tensor": "ppp",
    "fdk_cancel": "p",
    "fdk_log_transform": "pppdppdpL",
    "fdk_weight": "pplLpp",
    "fdk_filter": "pplLpp",
    "fdk_backproject": "pplLpp",
    "fdk_ellipsoids": "pppp",
    "fdk_shepp_logan": "dp",
    "fdk_ellipsoid_volume": "ppp",
    "rsvd_create": "ppP",
    "rsvd_add_context": "pp",
    "rsvd_destroy": "p",
    "rsvd_cancel": "p",
    "rsvd_set_sketch": "pp",
    "rsvd_plan": "ppp",
    "rsvd_compute": "ppppppp",
    "rsvd_range": "pppppp",
    "rsvd_symmetric": "pppppp",
    "rsvd_error": "ppppppppp",
    "rsvd_residuals": "ppppppppp",
    "rsvd_sketch": "pppp",
    "pca_fit": "pppppPp",
    "pca_properties": "pp",
    "pca_mean": "pp",
    "pca_scale": "pp",
    "pca_singular_values": "pp",
    "pca_explained_variance": "pp",
    "pca_explained_variance_ratio": "pp",
    "pca_components": "ppp",
    "pca_transform": "ppppp",
    "pca_inverse_transform": "pppp",
    "pca_destroy": "p",
    "rpca_compute": "pppppppp",
    "rpca_compute_csr": "ppppppPp",
    "rpca_stream": "pppppppp",
}

_INITS = (
    "device_info context_options context_info tensor_info matrix_info sshopm_options sshopm_results sshopm_info "
    "sshopm_all_options dwi_fit_options dwi_csa_options dwi_peaks_options array_info fdk_geometry fdk_grid "
    "fdk_options fdk_info rsvd_options rsvd_info pca_options pca_info rpca_options rpca_info"
).split()


def _candidates() -> Iterator[str]:
    """Where the library may be, best first."""
    named = os.environ.get("PURLIN_LIBRARY")
    if named:
        yield named
        return
    soname = f"libpurlin.so.{c.VERSION_MAJOR}"
    package = Path(__file__).resolve().parent
    roots = [package, *package.parents[:6], Path(sys.prefix), Path(sys.base_prefix)]
    multiarch = str(getattr(sys.implementation, "_multiarch", ""))
    for root in roots:
        for folder in ("", "lib", f"lib/{multiarch}" if multiarch else "lib64", "lib64"):
            path = root / folder / soname
            if path.is_file():
                yield str(path)
    found = ctypes.util.find_library("purlin")
    if found:
        yield found
    yield soname


def _open() -> ctypes.CDLL:
    failures = []
    for name in dict.fromkeys(_candidates()):
        try:
            return ctypes.CDLL(name)
        except OSError as error:
            failures.append(str(error))
    raise ImportError(
        "libpurlin is not found; set PURLIN_LIBRARY to the file, or LD_LIBRARY_PATH to its folder ("
        + "; ".join(failures)
        + ")"
    )


def _declare(library: ctypes.CDLL) -> ctypes.CDLL:
    for name, letters in _PROTOTYPES.items():
        function = getattr(library, "purlin_" + name)
        function.argtypes = [_TYPES[letter] for letter in letters]
        function.restype = c_int32
    for name in _INITS:
        function = getattr(library, f"purlin_{name}_init")
        function.argtypes = [c_void_p, c_size_t]
        function.restype = c_int32
    library.purlin_version.argtypes = []
    library.purlin_version.restype = c_int32
    library.purlin_live_handles.argtypes = []
    library.purlin_live_handles.restype = c_int64
    library.purlin_build_info.argtypes = []
    library.purlin_build_info.restype = c_char_p
    library.purlin_last_error_message.argtypes = []
    library.purlin_last_error_message.restype = c_char_p
    library.purlin_status_string.argtypes = [c_int32]
    library.purlin_status_string.restype = c_char_p
    return library


def _check_version(library: ctypes.CDLL) -> None:
    """Refuses a library whose structs and constants are not the ones mirrored here."""
    library.purlin_version.restype = c_int32
    major, minor = divmod(library.purlin_version() // 100, 100)
    wanted = (c.VERSION_MAJOR, c.VERSION_MINOR)
    compatible = (major, minor) == wanted if wanted[0] == 0 else major == wanted[0] and minor >= wanted[1]
    if not compatible:
        raise ImportError(f"libpurlin is version {major}.{minor}, this package needs {wanted[0]}.{wanted[1]}")


lib = _open()
_check_version(lib)
_declare(lib)
