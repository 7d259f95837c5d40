"""Integers and structs of ctypes whose values are checked: ctypes itself cuts a number that does not fit."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from ctypes import (
    Structure,
    c_double,
    c_int32,
    c_int64,
    c_size_t,
    c_uint64,
)
from typing import Any

import numpy as np

from ._numbers import real, shown

_LIMITS: dict[Any, tuple[int, int]] = {
    c_int32: (-(2**31), 2**31 - 1),
    c_int64: (-(2**63), 2**63 - 1),
    c_uint64: (0, 2**64 - 1),
    c_size_t: (0, 2**64 - 1),
}


def whole(name: str, value: Any, kind: Any) -> int:
    """An integer that a C type holds. ctypes itself cuts one that does not fit."""
    if type(value) is not int:
        if isinstance(value, np.ma.MaskedArray) and np.ma.getmaskarray(value).any():
            raise TypeError(f"{name}: is masked, expected an integer")
        try:
            value = operator.index(bool(value) if type(value).__name__ in ("bool_", "bool") else value)
        except TypeError:
            raise TypeError(f"{name}: is {shown(value)}, expected an integer") from None
    low, high = _LIMITS[kind]
    if not low <= value <= high:
        raise ValueError(f"{name}: is {value}, expected {low} to {high}")
    found: int = value
    return found


def how_many(name: str, value: Any) -> int:
    """A number of things: an integer, and no truth value, which NumPy takes for none."""
    refuse_flag(name, value)
    return whole(name, value, c_int64)


def refuse_flag(name: str, value: object) -> None:
    """Refuses a truth value in the place of an integer."""
    if isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name}: is {value!r}, expected an integer")


def sizes(name: str, values: Any) -> tuple[int, ...]:
    """Integers of a sequence, or of another iterable that has an order."""
    try:
        if isinstance(values, (str, bytes, set, frozenset, Mapping)):
            raise TypeError
        listed = tuple(values)
    except TypeError:
        raise TypeError(f"{name}: is {shown(values)}, expected a sequence of integers") from None
    return tuple(how_many(name, value) for value in listed)


def rows_and_columns(name: str, shape: Any) -> tuple[int, int]:
    """The shape of a matrix."""
    found = sizes(name, shape)
    if len(found) != 2:
        raise ValueError(f"{name}: is {found}, expected the numbers of rows and columns")
    return found[0], found[1]


def at_least(name: str, value: Any, least: int) -> int:
    """A number of things with a lower limit."""
    found = how_many(name, value)
    if found < least:
        raise ValueError(f"{name}: is {found}, at least {least} is needed")
    return found


def is_flag(value: object) -> bool:
    """Whether a value stands for a truth value: one of Python or NumPy, or the integer 0 or 1."""
    if type(value) is np.ndarray and value.ndim == 0:
        value = value[()]
    return isinstance(value, (bool, np.bool_)) or (isinstance(value, (int, np.integer)) and value in (0, 1))


def flag(name: str, value: object) -> bool:
    """A truth value. Python itself takes any object for one, "no" and NaN for true."""
    if not is_flag(value):
        raise TypeError(f"{name}: is {shown(value)}, expected True or False")
    return bool(value)


class Struct(Structure):
    """A C struct whose numbers are checked when they are set."""

    _kinds: dict[str, Any] = {}

    def __init_subclass__(cls) -> None:
        cls._kinds = {name: kind for name, kind in cls.__dict__["_fields_"] if kind in _LIMITS or kind is c_double}

    def __setattr__(self, name: str, value: Any) -> None:
        kind = self._kinds.get(name)
        if kind is c_double:
            value = real(name, value)
        elif kind is not None:
            value = whole(name, value, kind)
        super().__setattr__(name, value)


def fields(kind: Any, names: str) -> list[tuple[str, Any]]:
    """Pairs of name and type for fields of one type, as ctypes takes them."""
    return [(name, kind) for name in names.split()]
