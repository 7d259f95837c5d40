"""Integers and structs of ctypes whose values are checked: ctypes itself cuts a number that does not fit."""

from __future__ import annotations

import operator
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

from ._numbers import real

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


def how_many(name: str, value: Any) -> int:
    """A number of things: an integer, and no truth value, which NumPy takes for none."""
    if isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name}: is {value!r}, expected an integer")
    return whole(name, value, c_int64)


def at_least(name: str, value: Any, least: int) -> int:
    """A number of things with a lower limit."""
    found = how_many(name, value)
    if found < least:
        raise ValueError(f"{name}: is {found}, at least {least} is needed")
    return found


def is_flag(value: object) -> bool:
    """Whether a value stands for a truth value: one of Python or NumPy, or the integer 0 or 1."""
    return isinstance(value, (bool, np.bool_)) or (isinstance(value, (int, np.integer)) and value in (0, 1))


def flag(name: str, value: object) -> bool:
    """A truth value. Python itself takes any object for one, "no" and NaN for true."""
    if not is_flag(value):
        raise TypeError(f"{name}: is {value!r}, expected True or False")
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
