"""TT-matrices of spin chains and of sums of local terms."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from ctypes import c_double, c_void_p

import numpy as np
import numpy.typing as npt

from . import _memory as memory
from ._checked import flag, how_many
from ._context import Context, default_context
from ._lib import lib
from ._memory import Array
from ._numbers import real, real_type, scalar
from ._tensor import Tensor, integers
from ._train import TrainMatrix, expect_cores


def operator_array(name: str, value: npt.ArrayLike, kind: npt.DTypeLike = np.float64) -> Array:
    """A matrix of real or complex numbers of double precision. `kind` is the type that must hold its integers."""
    array = memory.to_numpy(value, name)
    memory.expect_held(name, array, kind)
    return memory.converted(name, array, np.complex128 if array.dtype.kind == "c" else np.float64)


def ising(
    length: int,
    coupling: float,
    field: float,
    *,
    cyclic: bool = False,
    dtype: npt.DTypeLike = np.float64,
    context: Context | None = None,
) -> TrainMatrix:
    """-`coupling` sum of sigma_x sigma_x over bonds - `field` sum of sigma_z over sites, with Pauli matrices."""
    context = context or default_context()
    kind, made = memory.computing_number(dtype), c_void_p()
    parts = real_type(dtype)
    strengths = real("coupling", coupling, parts), real("field", field, parts)
    status = lib.purlin_tt_matrix_ising(context.handle, kind, how_many("length", length), flag("cyclic", cyclic), *strengths, ctypes.byref(made))
    return TrainMatrix._made(status, made, context)


def heisenberg(
    length: int,
    couplings: tuple[float, float, float] = (1.0, 1.0, 1.0),
    field: float = 0.0,
    *,
    twice_spin: int = 1,
    cyclic: bool = False,
    dtype: npt.DTypeLike = np.float64,
    context: Context | None = None,
) -> TrainMatrix:
    """Spins `twice_spin` / 2 with couplings J_x, J_y, J_z between neighbours in a field along z."""
    if len(couplings) != 3:
        raise ValueError(f"couplings: has {len(couplings)} numbers, 3 are needed")
    context = context or default_context()
    kind, made = memory.computing_number(dtype), c_void_p()
    parts = real_type(dtype)
    strengths = [real(f"couplings: element {k}", value, parts) for k, value in enumerate(couplings)]
    status = lib.purlin_tt_matrix_heisenberg(
        context.handle,
        kind,
        how_many("length", length),
        flag("cyclic", cyclic),
        how_many("twice_spin", twice_spin),
        (c_double * 3)(*strengths),
        real("field", field, parts),
        ctypes.byref(made),
    )
    return TrainMatrix._made(status, made, context)


def identity(modes: Sequence[int], *, dtype: npt.DTypeLike = np.float64, context: Context | None = None) -> TrainMatrix:
    """The identity as a TT-matrix."""
    context = context or default_context()
    modes = expect_cores("modes", modes)
    made = c_void_p()
    status = lib.purlin_tt_matrix_identity(
        context.handle, memory.computing_number(dtype), len(modes), integers(modes), ctypes.byref(made)
    )
    return TrainMatrix._made(status, made, context)


Term = tuple[complex, Sequence[tuple[int, npt.ArrayLike]]]


def from_terms(
    modes: Sequence[int],
    terms: Sequence[Term],
    *,
    cyclic: bool = False,
    dtype: npt.DTypeLike = np.float64,
    context: Context | None = None,
) -> TrainMatrix:
    """A sum of products of operators at single sites: terms are (coefficient, [(site, operator), ..])."""
    context = context or default_context()
    modes = expect_cores("modes", modes)
    number = memory.computing_number(dtype)
    kind = real_type(dtype)
    borrowed: dict[int, Tensor] = {}
    keep = []
    for t, (_, factors) in enumerate(terms):
        for _, op in factors:
            if id(op) not in borrowed:
                borrowed[id(op)] = Tensor.borrow(operator_array(f"terms: operator of term {t}", op, kind), context=context)
                keep.append(op)
    handles = [borrowed[id(op)].handle for _, factors in terms for _, op in factors]
    sites = [site for _, factors in terms for site, _ in factors]
    # Whether the terms may be complex is for the library to say, which knows the operators too.
    complex_kind = np.result_type(kind, np.complex64)
    given = [scalar(f"terms: coefficient {k}", value, complex_kind) for k, (value, _) in enumerate(terms)]
    parts = [part for value in given for part in (value.real, value.imag)]
    made = c_void_p()
    status = lib.purlin_tt_matrix_from_terms(
        context.handle,
        number,
        len(modes),
        integers(modes),
        flag("cyclic", cyclic),
        len(terms),
        (c_double * max(len(parts), 1))(*parts),
        integers([len(factors) for _, factors in terms]),
        integers(sites, "site"),
        (c_void_p * max(len(handles), 1))(*handles),
        ctypes.byref(made),
    )
    del keep
    return TrainMatrix._made(status, made, context)
