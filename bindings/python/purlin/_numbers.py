"""Single numbers that a caller gives: taken without loss, or refused by the name of their argument."""

from __future__ import annotations

import numbers
import operator
from typing import Any

import numpy as np
import numpy.typing as npt


def digits(kind: npt.DTypeLike) -> int:
    """Binary digits of a type of floating point: it holds every integer up to 2 to that power."""
    return int(np.finfo(kind).nmant) + 1


def real_type(dtype: npt.DTypeLike) -> np.dtype[Any]:
    """The type of the parts of a type of real or complex numbers."""
    return np.dtype(np.dtype(dtype).char.lower())


def holds(value: int, kind: npt.DTypeLike) -> bool:
    """Whether a type of floating point has an integer without rounding."""
    size = abs(value)
    odd = size.bit_length() - (size & -size).bit_length() + 1
    return size == 0 or (odd <= digits(kind) and size.bit_length() <= np.finfo(kind).maxexp)


def shown(value: object) -> str:
    """A value that a caller gave, for a message of one line: a large one by its shape or type."""
    text = repr(value)
    if len(text) <= 80 and text.isprintable():
        return text
    return f"an array of shape {value.shape}" if isinstance(value, np.ndarray) else f"a {type(value).__name__}"


def _integer(name: str, value: int, kind: npt.DTypeLike) -> float:
    if not holds(value, kind):
        # Python does not write integers of thousands of digits.
        shown = str(value) if value.bit_length() < 1024 else f"an integer of {value.bit_length()} bits"
        raise ValueError(f"{name}: is {shown}, which {np.dtype(kind)} does not hold")
    return float(value)


def _plain(name: str, value: Any) -> Any:
    """The number of an array without axes; anything else as it is."""
    if value is np.ma.masked or (isinstance(value, np.ma.MaskedArray) and value.ndim == 0 and bool(value.mask)):
        raise ValueError(f"{name}: is masked, expected a number")
    if isinstance(value, np.ndarray) and value.ndim == 0:
        return value.item() if value.dtype == object else value[()]
    return value


def scalar(name: str, value: Any, dtype: npt.DTypeLike) -> Any:
    """A number as a double, or for a complex `dtype` as two of them. An integer that `dtype` would round is refused;
    fractions are rounded as usual."""
    kind = np.dtype(dtype)
    is_complex = kind.kind == "c"
    if type(value) is float:
        return complex(value) if is_complex else value
    value = _plain(name, value)

    def wrong() -> TypeError:
        cut = isinstance(value, (complex, np.complexfloating))
        return TypeError(f"{name}: is {shown(value)}, expected a {'real number' if cut else 'number'}")

    if isinstance(value, (complex, np.complexfloating)):
        if not is_complex:
            raise wrong()
        return complex(value)
    if isinstance(value, np.generic) and value.dtype.kind not in "biuf":
        raise wrong()
    if isinstance(value, (str, bytes, bytearray)) or getattr(value, "ndim", None):
        raise wrong()
    if isinstance(value, np.bool_):
        value = bool(value)
    if isinstance(value, numbers.Rational) and value.denominator == 1:
        value = int(value.numerator)
    try:
        # Integers of other libraries have no other mark than this one.
        whole = operator.index(value)
    except TypeError:
        pass
    else:
        found = _integer(name, whole, kind)
        return complex(found) if is_complex else found
    try:
        return complex(value) if is_complex else float(value)
    except (TypeError, ValueError):
        raise wrong() from None
    except OverflowError:
        raise ValueError(f"{name}: is out of the range of {kind}") from None


def real(name: str, value: Any, dtype: npt.DTypeLike = np.float64) -> float:
    """A real number as a double. An integer that `dtype` would round is refused."""
    found: float = scalar(name, value, dtype)
    return found


def element(name: str, value: Any, dtype: npt.DTypeLike) -> Any:
    """A number as an array of `dtype` without axes. One that would only there be infinite or 0 is refused."""
    given = scalar(name, value, dtype)
    with np.errstate(over="ignore", under="ignore"):
        made = np.array(given, dtype)
    for part, kept in ((given.real, made.real), (given.imag, made.imag)):
        if np.isfinite(part) and (not np.isfinite(kept) or (part != 0) != (kept != 0)):
            raise ValueError(f"{name}: is {given}, which {made.dtype} does not hold")
    return made
