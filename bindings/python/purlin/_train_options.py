"""Options and reports of contractions of tensor trains."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from . import _constants as c
from . import _options, _reports
from ._keywords import report
from ._memory import Array

Options = _options.TrainOptions
Info = _reports.TtContractionInfo
Side = Literal["left", "right"]
_SIDES = {"left": c.TT_LEFT, "right": c.TT_RIGHT}


def side_of(side: str) -> int:
    """The number of a side."""
    if side not in _SIDES:
        raise ValueError(f"side: is {side!r}, expected 'left' or 'right'")
    return _SIDES[side]


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


def info_of(raw: Any) -> Info:
    return report(Info, raw)


def scaled_of(raw: Any) -> Scaled:
    return Scaled(complex(raw.re, raw.im), raw.exponent, raw.log_abs, complex(raw.phase_re, raw.phase_im))


def refuse_idle(options: Any, call: str, names: list[str], is_ring: bool) -> None:
    """Refuses options that have no effect on a call that the C library has for objects alone."""
    defaults = {"conjugate": "bra", "norm_method": "auto", "kernel": "auto"}
    for name in names:
        if options.get(name, defaults[name]) != defaults[name]:
            raise ValueError(f"{name}: is {options[name]!r}, {call} does not use it")
    if is_ring:
        return
    if options.get("cut", -1) != -1:
        raise ValueError("cut: belongs to rings, the trains are open")
    if options.get("block", 0) != 0:
        raise ValueError(f"block: is {options['block']!r}, open trains have one boundary pair")
