"""Tables of pandas whose columns may lack values: NumPy shows them as objects."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt


def numbers_of(name: str, value: Any, objects: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The numbers of a table, or of one column, of which NumPy made an array of objects; anything else as it is. A missing
    value is refused by its place, and so is an integer that float64 would round."""
    dtypes = getattr(value, "dtypes", None)
    if dtypes is None or not hasattr(value, "isna"):
        return objects
    # Other types, as that of text, are refused as objects are.
    if any(getattr(dtype, "kind", "O") not in "biuf" for dtype in (dtypes if value.ndim == 2 else [dtypes])):
        return objects
    missing = np.asarray(value.isna())
    if missing.any():
        raise ValueError(f"{name}: has no value{_place(missing)}; fill such places, as by its fillna(value)")
    found = np.asarray(value.to_numpy(dtype=np.float64))
    for at in np.argwhere(np.abs(found) >= 2.0**53):
        one = objects[tuple(at)]
        if isinstance(one, (int, np.integer)) and int(found[tuple(at)]) != int(one):
            index = tuple(int(i) for i in at)
            raise ValueError(f"{name}: has {one} at index {index} (from 0), which float64 does not hold")
    return found


def _place(where: npt.NDArray[Any]) -> str:
    index = tuple(int(i) for i in np.argwhere(where)[0])
    return f" at index {index[0] if len(index) == 1 else index} (from 0)"
