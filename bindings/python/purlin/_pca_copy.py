"""Transforms by copies of PCA models, which have no model in the library: by NumPy, in double precision, in the units of the
library's own transforms."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from . import _constants as c
from . import _memory as memory
from ._error import InvalidArgument, NotSupported, Numerical
from ._matrix import Matrix, gathered
from ._memory import Array
from ._numbers import real_type
from .blocks import Source

_LEAST = -1000
"""Exponent of the least power of two that samples are multiplied by."""


class Numbers(NamedTuple):
    """A model's numbers."""

    components: Array  # (rank, features)
    mean: Array  # in double precision
    divisor: Array  # infinite for constant features
    constant: Array
    values: Array
    stretch: Array  # divisors of the scores; 0 along directions without variance
    scales: bool
    whitens: bool
    by_rows: bool  # whether a sample is a row of the caller's data


def taken(value: Any, name: str, by_rows: bool, dtype: np.dtype[Any]) -> Any:
    """Samples or scores as the rows of an array, or of a CSR matrix of SciPy, for a model of type `dtype`."""
    if isinstance(value, Matrix) and value.storage in ("dense", "csr"):
        value = value.numpy() if value.storage == "dense" else value.scipy(copy=False)
    if isinstance(value, Iterator):
        value = gathered(value, name)
    is_operator = hasattr(value, "matmat") and hasattr(value, "rmatmat")
    if isinstance(value, (Matrix, Source, str, os.PathLike)) or is_operator or memory.on_cuda(value):
        raise _unknown(value, name)
    if hasattr(value, "tocsr"):
        if len(value.shape) != 2:
            raise ValueError(f"{name}: has {len(value.shape)} dimensions, expected 2")
        # NumPy takes the entries of no other form.
        rows = value.tocsr()
        if memory.on_cuda(rows.data):
            raise _unknown(value, name)
        rows = memory.floating_sparse(name, rows, dtype)
        return rows if by_rows else rows.T
    array = memory.to_numpy(value, name, real_type(dtype))
    memory.expect_elements(name, array.dtype)
    memory.expect_held(name, array, real_type(dtype))
    if array.ndim != 2:
        raise ValueError(f"{name}: has {array.ndim} dimensions, expected 2")
    return array if by_rows else array.T


def _unknown(value: Any, name: str) -> NotSupported:
    problem = f"is a {type(value).__name__}, copies of models take arrays and sparse matrices in host memory"
    return NotSupported(c.ERROR_NOT_SUPPORTED, f"not supported: {name}: {problem}")


def _expect(rows: Any, name: str, model: Numbers, length: int, what: str) -> None:
    """Refuses the same rows as a model, in its words: another length, types that are not converted, and numbers that are
    not finite."""
    is_sparse, own = hasattr(rows, "tocsr"), model.components.dtype

    def refused(problem: str) -> InvalidArgument:
        return InvalidArgument(c.ERROR_INVALID_ARGUMENT, f"{name}: {problem}")

    if rows.shape[1] != length:
        raise refused(f"has {rows.shape[1]} {what}, {length} are needed")
    if is_sparse and rows.format != "csr":
        problem = "samples in the columns of a sparse matrix or an operator; give its transpose, with samples in rows"
        raise NotSupported(c.ERROR_NOT_SUPPORTED, f"not supported: {name}: {problem}")
    if is_sparse and rows.dtype != own:
        raise refused(f"is {rows.dtype.name}, {own.name} is needed")
    if rows.dtype.kind == "c" and own.kind != "c":
        raise refused(f"is {rows.dtype.name}, which is not converted to {own.name}")
    finite = np.isfinite(rows.data if is_sparse else rows)
    if not finite.all():
        first = tuple(np.argwhere(~finite)[0])
        value, place = (rows.data if is_sparse else rows)[first], first
        if is_sparse:
            place = (int(np.searchsorted(rows.indptr, first[0], side="right")) - 1, int(rows.indices[first[0]]))
        row, col = place if model.by_rows else place[::-1]
        part = value.imag if np.isfinite(value.real) else value.real
        raise refused(f"has {'NaN' if np.isnan(part) else part} in row {row}, column {col} (from 0)")


def _times_power(x: Array, e: Any) -> Array:
    """x 2^e, rounded once."""
    if not np.any(e):
        return x
    if not np.iscomplexobj(x):
        return np.asarray(np.ldexp(x, e))
    found = np.empty(np.broadcast_shapes(x.shape, np.shape(e)), x.dtype)
    found.real, found.imag = np.ldexp(x.real, e), np.ldexp(x.imag, e)
    return found


def _split(x: Array) -> tuple[Array, Array]:
    """Finite numbers as m 2^e with m from 0.5 to below 1."""
    m, e = np.frexp(x)
    return m, e.astype(np.int64)


def _wide(x: Any, model: Numbers) -> Any:
    return x.astype(np.result_type(model.mean.dtype, np.float64))


def _unit(model: Numbers) -> int:
    """Exponent of the power of two that brings the fit's samples into range, for a model without scales."""
    means = np.abs(np.concatenate([model.mean.real, model.mean.imag]))
    most = max(float(means.max(initial=0)), float(model.values.max(initial=0)))
    e = int(np.frexp(most)[1])
    return min(max(e, -900), 1020) - e if most > 0 else 0


def scores(model: Numbers, rows: Any) -> Array:
    """Scores of samples."""
    _expect(rows, "X", model, model.components.shape[1], "features")
    if rows.shape[0] == 0:
        return np.zeros((0, len(model.components)), model.components.dtype)
    stretch, e = _split(model.stretch)
    inverse = np.divide(1.0, stretch, out=np.zeros_like(stretch), where=stretch > 0)
    weights = _wide(model.components.conj().T, model) * inverse
    weights[model.constant] = 0
    exponents = np.where(stretch > 0, -e, 0)
    divisor, places = _split(np.where(model.constant, 1.0, model.divisor))
    base = 0 if model.scales else _unit(model)
    known, step = None, 4 + int(np.ceil(np.log2(max(rows.shape[0], 1) * max(rows.shape[1], 1)) / 2))
    by = base
    with np.errstate(all="ignore"):
        while True:
            # Samples and means in the unit of the deviation before they are subtracted: no difference or inverse may
            # overflow.
            if model.scales:
                unit = np.clip(by - places, -1000, 1000)
                gain = np.where(model.constant, 0.0, np.ldexp(1 / divisor, by - places - unit))
            else:
                unit, gain = np.full(len(places), by), np.ones(len(places))
            products = _products(rows, model, weights, unit, gain)
            finished = _times_power(products, exponents - by)
            # Numbers whose sums did not overflow are not computed in a smaller unit, in which they might lose digits.
            known = finished if known is None else np.where(np.isfinite(known), known, finished)
            if by <= _LEAST or np.isfinite(products).all():
                break
            by, step = max(by - step, _LEAST), 900
        return _held(known, "scores: component", model)


def _products(rows: Any, model: Numbers, weights: Array, unit: Array, gain: Array) -> Array:
    """Differences from the means, times 2^unit and the gains, times weights."""
    mean = _times_power(model.mean, unit) * gain
    if not hasattr(rows, "tocsr"):
        wide = _wide(rows, model)
        return np.asarray((_times_power(wide, unit) - _times_power(model.mean, unit)) * gain @ weights)
    entries = _wide(rows, model)
    entries.data = _times_power(entries.data, unit[entries.indices]) * gain[entries.indices]
    return np.asarray(entries @ weights - mean @ weights)


def samples(model: Numbers, rows: Any) -> Array:
    """Samples of scores. Weights of each feature are in its own unit, and so small that no sum overflows."""
    _expect(rows, "scores", model, len(model.components), "components")
    with np.errstate(all="ignore"):
        most = int(_split(model.stretch.max(initial=0))[1])
        factor, place = _split(np.where(model.constant, 0.0, model.divisor))
        weights = _wide(model.components, model) * np.ldexp(model.stretch, -most)[:, None] * factor
        total, own = _split(np.abs(weights).sum(axis=0))
        mean, of_mean = _split(np.maximum(np.abs(model.mean.real), np.abs(model.mean.imag)))
        exponents = np.where(total > 0, own + 1 + most + place, of_mean)
        exponents = np.where((total > 0) & (mean > 0), np.maximum(exponents, of_mean - 500), exponents)
        weights = _times_power(weights, most + place - exponents)
        # Scores of a model that neither scales nor whitens have the unit of its samples.
        by = 0 if model.scales or model.whitens else max(_unit(model), 0)
        found = _summed(model, rows, weights, exponents, by)
        if by > 0 and not np.isfinite(found).all():
            # Large scores overflow in the unit of tiny samples. Of other numbers it keeps the digits.
            found = np.where(np.isfinite(found), found, _summed(model, rows, weights, exponents, 0))
        return _held(found, "X: feature", model)


def _summed(model: Numbers, rows: Any, weights: Array, exponents: Array, by: int) -> Array:
    """Scores times weights times 2^exponents, plus means. Sums are computed of scores times 2^by."""
    given = _wide(rows, model)
    if hasattr(given, "tocsr"):
        given.data = _times_power(given.data, by)
    else:
        given = _times_power(given, by)
    products = np.asarray(given @ weights) + _times_power(model.mean, by - exponents)
    return _times_power(products, exponents - by)


def _held(found: Array, what: str, model: Numbers) -> Array:
    """The result in the type of the model, which holds it."""
    found = np.asarray(found, model.components.dtype, order="F")
    finite = np.isfinite(found)
    if finite.all():
        return found
    column = int(np.flatnonzero(~finite.all(axis=0))[0])
    row = int(np.flatnonzero(~finite[:, column])[0])
    problem = f"{what} {column} of sample {row} is beyond the range of {found.dtype.name}"
    raise Numerical(c.ERROR_NUMERICAL, f"numerical failure: {problem}")


Transform = Callable[[Numbers, Any], Array]
"""`scores` or `samples`."""

__all__ = ["Numbers", "Transform", "samples", "scores", "taken"]
