"""Tables of pandas, polars and Arrow, and their columns: NumPy shows what they lack as NaN or as objects."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

_MOST_NAMED = 3
_Columns = Iterator[tuple[Any, Any, Callable[[], Any]]]


def _columns(value: Any) -> tuple[bool, _Columns] | None:
    """Whether `value` is a table, and name, type and values of its columns, or of the one that it is itself; None for
    other objects. A table may have many columns: pandas makes the object of one only when it is asked for."""
    if hasattr(value, "isna") and hasattr(value, "iloc"):
        if value.ndim == 1:
            return False, iter([(value.name, value.dtype, lambda: value)])
        named = enumerate(zip(value.columns, value.dtypes))
        return True, ((label, dtype, partial(value.iloc.__getitem__, (slice(None), k))) for k, (label, dtype) in named)
    if hasattr(value, "column_names") and hasattr(value, "schema") and hasattr(value, "column"):
        named, types = enumerate(value.column_names), value.schema.types
        return True, ((label, types[k], partial(value.column, k)) for k, label in named)
    if hasattr(value, "get_column") and hasattr(value, "columns") and hasattr(value, "dtypes"):
        return True, ((label, dtype, partial(value.get_column, label)) for label, dtype in zip(value.columns, value.dtypes))
    if hasattr(value, "null_count"):
        return False, iter([(None, getattr(value, "type", None) or getattr(value, "dtype", None), lambda: value)])
    return None


def _missing(column: Any) -> npt.NDArray[Any] | None:
    """Where a column has null, which is not a NaN; None where it has none."""
    if hasattr(column, "isna"):
        found = np.asarray(column.isna())
        return found if found.any() else None
    count = column.null_count
    if not (count() if callable(count) else count):
        return None
    # Arrow packs truth values into bits.
    return np.asarray(column.is_null().to_numpy(zero_copy_only=False) if hasattr(column, "type") else column.is_null())


def refuse_missing(name: str, value: Any) -> None:
    """Refuses a table or column with a missing value, and names its index: NumPy would make NaN of it."""
    is_table, columns = _columns(value) or (False, iter(()))
    for k, (label, dtype, get) in enumerate(columns):
        # A column of pandas of a type of NumPy has no other mark than NaN.
        at = None if isinstance(dtype, np.dtype) else _missing(get())
        if at is not None:
            row = int(np.flatnonzero(at)[0])
            word, fill = ("no value", "fillna") if hasattr(value, "isna") else ("null", "fill_null")
            of = f" of column {label!r}" if is_table else ""
            place = (row, k) if is_table else row
            raise ValueError(f"{name}: has {word} at index {place} (from 0); fill such places{of}, as by its {fill}(value)")


def numbers_of(name: str, value: Any, objects: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The numbers of a table, or of one column, that NumPy made an array of no numbers of; anything else as it is. A
    column of another kind is refused by its name, and an integer that float64 would round by its place."""
    found = _columns(value)
    if found is None:
        return objects
    is_table, columns = found
    wrong = [(label, dtype) for label, dtype, get in columns if not _has_numbers(dtype, get)]
    if wrong and is_table:
        shown = ", ".join(f"{label!r} ({dtype})" for label, dtype in wrong[:_MOST_NAMED])
        more = f" and {len(wrong) - _MOST_NAMED} more" if len(wrong) > _MOST_NAMED else ""
        noun = "columns" if len(wrong) > 1 else "column"
        raise TypeError(f"{name}: is a {type(value).__name__} with the {noun} {shown}{more}, expected numbers")
    if wrong:
        raise TypeError(f"{name}: is a {type(value).__name__} of type {wrong[0][1]}, expected numbers")
    if not hasattr(value, "isna"):
        return objects
    numbers = np.asarray(value.to_numpy(dtype=np.float64))
    for at in np.argwhere(np.abs(numbers) >= 2.0**53):
        one = objects[tuple(at)]
        if isinstance(one, (int, np.integer)) and int(numbers[tuple(at)]) != int(one):
            index = tuple(int(i) for i in at)
            raise ValueError(f"{name}: has {one} at index {index} (from 0), which float64 does not hold")
    return numbers


def _has_numbers(dtype: Any, get: Callable[[], Any]) -> bool:
    if isinstance(dtype, np.dtype) or hasattr(dtype, "kind"):
        # Of pandas, whose categories and texts are objects.
        return getattr(dtype, "kind", "O") in "biufc"
    return np.asarray(get()).dtype.kind in "biufc"
