"""Matrices from files: `.npy` in blocks, `.npz`, and Matrix Market."""

from __future__ import annotations

import argparse
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from .. import Context, Matrix, sparse
from ..blocks import Source
from .failures import Failure, Usage
from .outputs import suffix_of


def existing(given: argparse.Namespace, argument: str, path: str) -> str:
    """The path of an input, which must be a regular file; messages of the library about it then name the argument."""
    given.files[path] = argument
    if not Path(path).exists():
        raise Failure(f"{argument}: is {path}, which does not exist")
    if not Path(path).is_file():
        raise Failure(f"{argument}: is {path}, which is not a regular file")
    return path


def load_npz(argument: str, path: str) -> dict[str, Any]:
    """All arrays of a `.npz` file."""
    try:
        with np.load(path, allow_pickle=False) as found:
            if not isinstance(found, np.lib.npyio.NpzFile):
                raise Failure(f"{argument}: {path}: is not a .npz file")
            return {name: found[name] for name in found.files}
    except (zipfile.BadZipFile, ValueError, EOFError, zlib.error, KeyError, NotImplementedError):
        # The errors of NumPy speak of pickles.
        raise Failure(f"{argument}: {path}: is not a whole .npz file of numbers") from None


def load_npy(argument: str, path: str) -> Any:
    """The array of a `.npy` file in memory."""
    try:
        found = np.load(path, allow_pickle=False)
    except (ValueError, EOFError, zipfile.BadZipFile):
        raise Failure(f"{argument}: {path}: is not a whole .npy file of numbers") from None
    if not isinstance(found, np.ndarray):
        raise Failure(f"{argument}: {path}: is not a .npy file")
    return found


def _of_scipy(argument: str, path: str, parts: dict[str, Any], context: Context) -> Matrix:
    """A sparse matrix that SciPy's `save_npz` wrote."""
    kind = parts["format"].item()
    kind = kind.decode() if isinstance(kind, bytes) else str(kind)
    rows, cols = (int(size) for size in parts["shape"])
    if kind == "coo":
        return sparse.from_coordinates(parts["row"], parts["col"], parts["data"], (rows, cols), context=context)
    values = parts["data"]
    if values.dtype.kind in "biu":
        values = values.astype(np.float64)
    if kind == "csr":
        return Matrix.csr(parts["indptr"], parts["indices"], values, (rows, cols), context=context)
    if kind == "csc":
        return sparse.transpose(Matrix.csr(parts["indptr"], parts["indices"], values, (cols, rows), context=context))
    raise Failure(f"{argument}: {path}: has the sparse format {kind}, expected csr, csc or coo")


def matrix_of(given: argparse.Namespace, argument: str, path: str, context: Context, key: str | None = None) -> Any:
    """A matrix for the library: of a `.npy` file a source that is read in blocks, of a `.npz` file the array `key`."""
    existing(given, argument, path)
    ending = suffix_of(path)
    if key is not None and ending != ".npz":
        raise Usage(f"--key: is {key!r}, but {path} is not a .npz file")
    if ending == ".npy":
        source = Source.from_npy(path, context=context)
        if len(source.info.shape) < 2:
            raise Failure(f"{argument}: {path}: has 1 axis, at least 2 are needed")
        return source
    if ending in (".mtx", ".mtx.gz"):
        return sparse.read_market(path, context=context)
    if ending != ".npz":
        raise Failure(f"{argument}: is {path}, expected a name that ends in .npy, .npz, .mtx or .mtx.gz")
    parts = load_npz(argument, path)
    if key is None and {"format", "shape", "data"} <= set(parts):
        return _of_scipy(argument, path, parts, context)
    if key is None and len(parts) != 1:
        raise Usage(f"--key: is not given, {path} has the arrays {', '.join(parts)}")
    if key is not None and key not in parts:
        raise Usage(f"--key: is {key!r}, {path} has the arrays {', '.join(parts)}")
    array = parts[key] if key is not None else next(iter(parts.values()))
    if array.ndim != 2:
        raise Failure(f"{argument}: {path}: has {array.ndim} axes, expected 2")
    return array
