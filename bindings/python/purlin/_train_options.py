"""Options of contractions of tensor trains, and what they report."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypedDict

from . import _constants as c
from ._context import Group
from ._memory import Array

METHODS = {
    "auto": c.TT_METHOD_AUTO,
    "open": c.TT_METHOD_OPEN,
    "full": c.TT_METHOD_FULL,
    "reduced": c.TT_METHOD_REDUCED,
    "blocked": c.TT_METHOD_BLOCKED,
    "halves": c.TT_METHOD_HALVES,
    "power": c.TT_METHOD_POWER,
}
SCALINGS = {"auto": c.TT_SCALING_AUTO, "always": c.TT_SCALING_ALWAYS, "never": c.TT_SCALING_NEVER}
CONJUGATES = {"bra": c.TT_CONJ_BRA, "none": c.TT_CONJ_NONE}
MATHS = {
    "default": c.TT_MATH_DEFAULT,
    "tf32": c.TT_MATH_TF32,
    "tf32x3": c.TT_MATH_TF32X3,
    "gemm3m": c.TT_MATH_GEMM3M,
    "int8x6": c.TT_MATH_INT8X6,
}
NORM_METHODS = {
    "auto": c.TT_NORM_AUTO,
    "inner": c.TT_NORM_INNER,
    "triangle": c.TT_NORM_TRIANGLE,
    "qr": c.TT_NORM_QR,
}
KERNELS = {"products": c.TT_KERNEL_PRODUCTS, "chain": c.TT_KERNEL_CHAIN}
OUTCOMES = {
    "ok": c.TT_RESULT_OK,
    "overflow": c.TT_RESULT_OVERFLOW,
    "underflow": c.TT_RESULT_UNDERFLOW,
    "nonfinite": c.TT_RESULT_NONFINITE,
}
Side = Literal["left", "right"]
_SIDES = {"left": c.TT_LEFT, "right": c.TT_RIGHT}


def side_of(side: str) -> int:
    """The number of a side."""
    if side not in _SIDES:
        raise ValueError(f"side: is {side!r}, expected 'left' or 'right'")
    return _SIDES[side]


class Options(TypedDict, total=False):
    """Options of a contraction; what is left out keeps the library's default."""

    method: Literal["auto", "open", "full", "reduced", "blocked", "halves", "power"]
    scaling: Literal["auto", "always", "never"]
    conjugate: Literal["bra", "none"]
    math: Literal["default", "tf32", "tf32x3", "gemm3m", "int8x6"]
    norm_method: Literal["auto", "inner", "triangle", "qr"]
    assume_hermitian: bool
    kernel: Literal["auto", "products", "chain"]
    cut: int
    block: int
    repeat: int
    workspace_limit: int
    group: Group
    """GPUs that boundary pairs and items of batches are distributed over; begins with `context`."""


WORDS = {
    "method": METHODS,
    "scaling": SCALINGS,
    "conjugate": CONJUGATES,
    "math": MATHS,
    "norm_method": NORM_METHODS,
    "kernel": KERNELS | {"auto": c.TT_KERNEL_AUTO},
}


class Scaled(NamedTuple):
    """The number `mantissa * 2**exponent`, the logarithm of its modulus, and the number over its modulus."""

    mantissa: complex
    exponent: int
    log_abs: float
    phase: complex


class ScaledArray(NamedTuple):
    """Many numbers, each `mantissas[...] * 2.0**exponents[...]`, which may be beyond the range of float64."""

    mantissas: Array
    exponents: Array


@dataclass(frozen=True)
class Info:
    """The plan of a contraction and what came of it, as the C struct `purlin_tt_contraction_info` has it."""

    method: str
    kernel: str
    outcome: str
    halved: bool
    two_ended: bool
    scaled: bool
    cut: int
    pairs: int
    block: int
    contexts: int
    workspace_bytes: int
    flops: float
    bytes: float
    seconds: float
    reason: str


_INFO_WORDS = {"method": METHODS, "kernel": KERNELS, "outcome": OUTCOMES}
_FLAGS = ("halved", "two_ended", "scaled")


def info_of(raw: Any) -> Info:
    made: dict[str, Any] = {"reason": raw.reason.decode("utf-8", "replace")}
    for entry in dataclasses.fields(Info):
        if entry.name in made:
            continue
        value = getattr(raw, entry.name)
        if entry.name in _INFO_WORDS:
            value = next((word for word, n in _INFO_WORDS[entry.name].items() if n == value), str(value))
        made[entry.name] = bool(value) if entry.name in _FLAGS else value
    return Info(**made)


def scaled_of(raw: Any) -> Scaled:
    return Scaled(complex(raw.re, raw.im), raw.exponent, raw.log_abs, complex(raw.phase_re, raw.phase_im))
