"""The C header as ctypes: prototypes, and where the library is. The structs are in `_structs`."""

from __future__ import annotations

import ctypes
import ctypes.util
import os
import sys
from collections.abc import Iterator
from ctypes import (
    POINTER,
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
from ._structs import APPLY, BLOCK, LOG, whole



class _Whole:
    """An integer argument that is checked: ctypes itself cuts one that does not fit."""

    def __init__(self, kind: Any) -> None:
        self.kind = kind

    def from_param(self, value: Any) -> Any:
        return self.kind(whole("integer", value, self.kind))


_TYPES: dict[str, Any] = {
    "i": _Whole(c_int32),
    "l": _Whole(c_int64),
    "u": _Whole(c_uint64),
    "d": c_double,
    "p": c_void_p,
    "z": _Whole(c_size_t),
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
    "matrix_borrow_csr_device": "piillliuiuuP",
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
    "rpca_plan": "ppppp",
    "rpca_compute_csr": "ppppppPp",
    "rpca_stream": "pppppppp",
    "tt_create": "piiilppP",
    "tt_borrow": "piilpppP",
    "tt_borrow_device": "piilpppP",
    "tt_set_core": "pplp",
    "tt_core": "pplp",
    "tt_core_address": "plp",
    "tt_copy": "pppp",
    "tt_properties": "pp",
    "tt_shape": "plpp",
    "tt_destroy": "p",
    "tt_matrix_create": "piiilpppP",
    "tt_matrix_borrow": "piilppppP",
    "tt_matrix_borrow_device": "piilppppP",
    "tt_matrix_set_core": "pplp",
    "tt_matrix_core": "pplp",
    "tt_matrix_properties": "pp",
    "tt_matrix_shape": "plppp",
    "tt_matrix_destroy": "p",
    "tt_contraction_create": "ppP",
    "tt_contraction_add_context": "pp",
    "tt_contraction_destroy": "p",
    "tt_contraction_cancel": "p",
    "tt_plan": "pppp",
    "tt_plan_norm": "ppp",
    "tt_plan_distance": "pppp",
    "tt_plan_batch": "plppp",
    "tt_plan_gram": "plplpp",
    "tt_plan_sandwich": "ppppp",
    "tt_plan_rayleigh": "pppp",
    "tt_contraction_set_workspace": "pul",
    "tt_inner_enqueue": "pppppp",
    "tt_norm_enqueue": "ppppp",
    "tt_distance_enqueue": "pppppp",
    "tt_sandwich_enqueue": "ppppppp",
    "tt_rayleigh_enqueue": "pppppp",
    "tt_inner": "pppppp",
    "tt_inner_scaled": "pppppp",
    "tt_norm": "ppppp",
    "tt_norm_scaled": "ppppp",
    "tt_distance": "pppppp",
    "tt_distance_scaled": "pppppp",
    "tt_inner_batch": "pplppppp",
    "tt_gram": "pplplpppp",
    "tt_sandwich": "ppppppp",
    "tt_sandwich_scaled": "ppppppp",
    "tt_rayleigh": "pppppppp",
    "tt_expect_local": "pppplpp",
    "tt_correlation": "pppppp",
    "tt_matrix_ising": "piliddP",
    "tt_matrix_heisenberg": "piliipdP",
    "tt_matrix_identity": "pilpP",
    "tt_matrix_from_terms": "pilpilppppP",
    "tt_environments_create": "ppppP",
    "tt_environments_build": "ppil",
    "tt_environments_update_core": "pl",
    "tt_environments_set_trains": "pppll",
    "tt_environments_shape": "plpp",
    "tt_environments_get": "ppilpp",
    "tt_environments_apply": "pplippp",
    "tt_environments_value": "pplp",
    "tt_environments_local": "pplpp",
    "tt_environments_destroy": "p",
    "tt_add": "ppppppP",
    "tt_scale": "ppppliP",
    "tt_conj": "pppP",
    "tt_hadamard": "ppppP",
    "tt_apply": "ppppP",
    "tt_reverse": "pppP",
    "tt_rotate": "ppplP",
    "tt_to_open": "pppP",
    "tt_cast": "pppiP",
    "tt_canonicalise": "ppplpP",
    "tt_round": "ppppPpp",
    "tt_hadamard_round": "pppppPp",
    "tt_apply_round": "pppppPp",
    "tt_svd": "ppplppPpp",
    "tt_random": "piilppuP",
    "tt_zeros": "piilpP",
    "tt_ones": "piilpP",
    "tt_product_state": "plppP",
    "tt_element": "ppppp",
    "tt_elements": "ppplpp",
    "tt_full": "pppp",
    "matrix_from_coordinates": "piilllipppiP",
    "matrix_from_columns": "piilllipippP",
    "matrix_from_dense": "pdP",
    "matrix_to_dense": "pp",
    "matrix_canonical": "piP",
    "matrix_pattern": "pP",
    "matrix_drop_zeros": "pdP",
    "matrix_copy_to": "piP",
    "matrix_transpose": "piP",
    "matrix_symmetrise": "piP",
    "matrix_permute": "pppP",
    "matrix_select": "plplpP",
    "matrix_scale": "pppP",
    "matrix_set_values": "pp",
    "matrix_read_market": "ppiP",
    "matrix_write_market": "ppi",
    "matrix_read_edges": "ppiiiPP",
    "matrix_write_edges": "ppi",
    "matrix_norm": "pip",
    "matrix_check": "pi",
    "matrix_is_symmetric": "pdI",
    "matrix_row_sums": "pp",
    "matrix_diagonal": "pp",
    "matrix_order": "pip",
    "spmv_create": "ppP",
    "spmv_update": "pp",
    "spmv_apply": "ppppppp",
    "spmv_apply_block": "ppppppp",
    "spmv_properties": "pp",
    "spmv_destroy": "p",
    "lanczos_solve": "pppppppppp",
    "lanczos_partition": "ppp",
    "lanczos_singular": "pppppppp",
    "lanczos_tridiagonalise": "ppplpppL",
    "lanczos_filter": "lppddpL",
    "tridiagonal_eigenvalues": "lppppp",
    "graph_components": "ppL",
    "graph_component": "plPP",
    "graph_embed": "pppippp",
    "graph_cluster": "pppilppp",
    "graph_k_means": "pllupp",
    "graph_pivoted_qr": "ppp",
    "graph_fiedler": "ppipppp",
    "graph_bisect": "ppippp",
    "graph_density": "pppllppL",
    "graph_density_trace": "lpplppp",
    "graph_density_histogram": "lppddlp",
    "graph_of_image": "ppddddP",
    "graph_operator_of_image": "ppddddP",
}

_INITS = (
    "device_info context_options context_info tensor_info matrix_info sshopm_options sshopm_results sshopm_info "
    "sshopm_all_options dwi_fit_options dwi_csa_options dwi_peaks_options array_info fdk_geometry fdk_grid "
    "fdk_options fdk_info rsvd_options rsvd_info pca_options pca_info rpca_options rpca_info tt_info "
    "tt_contraction_options tt_contraction_info tt_round_options tt_round_info spmv_options spmv_info "
    "lanczos_options lanczos_info"
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


class _Checked:
    """A function whose refusals of arguments are a ValueError or a TypeError that names the function and the argument."""

    def __init__(self, name: str, function: Any) -> None:
        self._name = name
        self._function = function
        self.argtypes = [kind.kind if isinstance(kind, _Whole) else kind for kind in function.argtypes]
        self.restype = function.restype

    def __call__(self, *arguments: Any) -> int:
        try:
            status: int = self._function(*arguments)
        except ctypes.ArgumentError as error:
            number, _, text = str(error).partition(": ")
            kind = ValueError if text.startswith("ValueError") else TypeError
            raise kind(f"{self._name}, {number}: {text.partition(': ')[2].removeprefix('integer: ') or text}") from None
        return status


def _declare(library: ctypes.CDLL) -> ctypes.CDLL:
    for name, letters in _PROTOTYPES.items():
        function = getattr(library, "purlin_" + name)
        function.argtypes = [_TYPES[letter] for letter in letters]
        function.restype = c_int32
        if any(letter in "ilud" for letter in letters):
            setattr(library, "purlin_" + name, _Checked(name, function))
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
