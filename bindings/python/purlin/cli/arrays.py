"""Matrices from files: `.npy` in blocks, `.npz`, and Matrix Market."""

from __future__ import annotations

import argparse
import importlib
import io
import math
import os
import warnings
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from .. import Context, InvalidArgument, Matrix, NotSupported, sparse
from .. import _memory as memory
from .._error import renaming
from ..blocks import Source
from .failures import Failure, Usage
from .outputs import suffix_of

try:
    from lzma import LZMAError
except ImportError:
    # Python was built without it, and then NumPy reads no such files.
    _DAMAGED: tuple[type[Exception], ...] = (ValueError, EOFError, zlib.error)
else:
    _DAMAGED = (ValueError, EOFError, zlib.error, LZMAError)
_DAMAGED_ARCHIVE: tuple[type[Exception], ...] = (*_DAMAGED, zipfile.BadZipFile, KeyError, RuntimeError)

# Endings of the files that `matrix_of` reads.
_MATRICES = (".npy", ".npz", ".mtx", ".mtx.gz")
# Modules that unpack tables, and their classes. NumPy, which does it too, ignores bytes behind the last member, and so a
# damaged member behind the first.
_UNPACKED_BY = {".bz2": ("bz2", "BZ2Decompressor"), ".xz": ("lzma", "LZMADecompressor")}

# SciPy's sparse formats, and the arrays of each beside `data`.
_FORMATS = {"csr": ("indptr", "indices"), "csc": ("indptr", "indices"), "coo": ("row", "col")}
# The library's arguments by SciPy's names.
_NAMES = renaming(row_ptr="indptr", col_idx="indices", values="data")


def expect_inputs(given: argparse.Namespace, *inputs: tuple[str, str | None]) -> None:
    """Notes arguments and paths of inputs before the outputs are announced: no output may be one of them."""
    given.files.update({path: argument for argument, path in inputs if path is not None})


def existing(given: argparse.Namespace, argument: str, path: str) -> str:
    """The path of an input, which must be a regular file; messages of the library about it then name the argument."""
    given.files[path] = argument
    if not path:
        raise Failure(f"{argument}: is empty, expected the name of a file")
    if not Path(path).exists():
        raise Failure(f"{argument}: is {path}, which does not exist")
    if not Path(path).is_file():
        raise Failure(f"{argument}: is {path}, which is not a regular file")
    return path


@contextmanager
def contents(argument: str, path: str, expected: str) -> Iterator[None]:
    """Names the input and its file in errors about the contents, also in those about a compressed file that is damaged or
    cut, and the file in errors of the system."""
    try:
        yield
    except _DAMAGED as error:
        raise Failure(f"{argument}: {path}: is not {expected}: {error}") from None
    except MemoryError as error:
        raise Failure(f"{argument}: {path}: {error or 'not enough memory'}") from None
    except OSError as error:
        if error.errno is not None:
            raise OSError(error.errno, error.strerror, path) from error
        # Wrong check sums of gzip and bzip2.
        raise Failure(f"{argument}: {path}: is not {expected}: {error}") from None


def _unpacked(argument: str, path: str) -> io.BytesIO:
    """The contents of all members of a bzip2 or xz file. As of gzip files, zeros behind a member are padding, and other
    bytes there are refused."""
    module, name = _UNPACKED_BY[suffix_of(path)]
    try:
        make = getattr(importlib.import_module(module), name)
    except ImportError:
        raise Failure(f"{argument}: {path}: cannot be read: this Python was built without {module}") from None
    packed, found = Path(path).read_bytes(), io.BytesIO()
    while True:
        member = make()
        found.write(member.decompress(packed))
        if not member.eof:
            raise EOFError("ends before its last member does")
        packed = member.unused_data.lstrip(b"\0")
        if not packed:
            found.seek(0)
            return found


def load_text(argument: str, path: str, expected: str) -> Any:
    """The numbers of a text file, which may be compressed."""
    with contents(argument, path, expected), warnings.catch_warnings():
        # That there are none is said by the check of their number.
        warnings.simplefilter("ignore")
        return np.loadtxt(_unpacked(argument, path) if suffix_of(path) in _UNPACKED_BY else path, ndmin=2)


def _expect_elements(argument: str, path: str, file: Any, size: int, name: str = "") -> None:
    """Refuses an array whose header says more elements than the `size` bytes of its file hold, before memory is allocated for
    them."""
    shape, _, dtype = _header(file)
    end = file.tell() + math.prod(shape) * dtype.itemsize
    # The elements of objects are pickled, which is refused later.
    if end > size and not dtype.hasobject:
        raise Failure(f"{argument}: {path}: {name}has {size} bytes, its header says {end}")


def _member(argument: str, path: str, archive: zipfile.ZipFile, name: str) -> Any:
    """The array of a member, whose check sum is compared once all of its bytes are read."""
    with archive.open(name) as file:
        _expect_elements(argument, path, file, archive.getinfo(name).file_size, f"{name}: ")
    with archive.open(name) as file:
        array = np.lib.format.read_array(file, allow_pickle=False)
        if file.read(1):
            raise ValueError("has bytes behind its elements")
    return array


def load_npz(argument: str, path: str) -> dict[str, Any]:
    """All arrays of a `.npz` file."""
    expected = "a whole .npz file of numbers"
    with contents(argument, path, expected):
        try:
            with np.load(path, allow_pickle=False) as found:
                if not isinstance(found, np.lib.npyio.NpzFile) or found.zip is None:
                    raise Failure(f"{argument}: {path}: is not a .npz file")
                twice = next((name for name in found.files if found.files.count(name) > 1), None)
                if twice is not None:
                    raise Failure(f"{argument}: {path}: has the array {twice} twice")
                members = zip(found.files, found.zip.namelist())
                return {name: _member(argument, path, found.zip, member) for name, member in members}
        except _DAMAGED_ARCHIVE:
            # The errors of NumPy speak of pickles.
            raise Failure(f"{argument}: {path}: is not {expected}") from None


def _header(file: Any) -> Any:
    """Shape, order and type that the header of an array says, up to whose end the file is read."""
    version = np.lib.format.read_magic(file)
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    return read(file)


def load_npy(argument: str, path: str) -> Any:
    """The array of a `.npy` file in memory."""
    with contents(argument, path, "a whole .npy file of numbers"):
        try:
            with open(path, "rb") as file:
                _expect_elements(argument, path, file, os.fstat(file.fileno()).st_size)
                file.seek(0)
                return np.lib.format.read_array(file, allow_pickle=False)
        except (ValueError, EOFError):
            # The errors of NumPy speak of pickles.
            raise Failure(f"{argument}: {path}: is not a whole .npy file of numbers") from None


def stored_type(path: str) -> Any:
    """The type of the elements of a `.npy` file that a source has opened, which reads integers of 64 bits as float64."""
    with open(path, "rb") as file:
        return _header(file)[2]


@contextmanager
def _of_file(argument: str, path: str) -> Iterator[None]:
    """Adds the input and its file to messages about the contents."""
    try:
        yield
    except (InvalidArgument, NotSupported, ValueError, TypeError) as error:
        raise Failure(f"{argument}: {path}: {_NAMES(str(error))}") from None


def _expect_numbers(name: str, array: Any, kind: Any) -> None:
    """Refuses an array of anything else, and integers that `kind` does not hold."""
    if array.dtype.kind not in "biufc":
        raise TypeError(f"{name}: is {array.dtype}, expected numbers")
    memory.expect_held(name, array, kind)


def _line(name: str, array: Any) -> Any:
    if array.ndim != 1:
        raise ValueError(f"{name}: has {array.ndim} dimensions, expected 1")
    return array


def _indices(name: str, array: Any) -> Any:
    is_taken = array.dtype in (np.int32, np.int64)
    return _line(name, array if is_taken else memory.converted(name, array, np.int64))


def _of_scipy(parts: dict[str, Any], context: Context) -> Matrix:
    """A sparse matrix that SciPy's `save_npz` wrote."""
    written = parts["format"]
    kind = written.item() if written.ndim == 0 else written.tolist()
    kind = kind.decode("ascii", "replace") if isinstance(kind, bytes) else kind
    if not isinstance(kind, str) or kind not in _FORMATS:
        raise ValueError(f"format: is {memory.shown(kind)}, expected 'csr', 'csc' or 'coo'")
    missing = [name for name in _FORMATS[kind] if name not in parts]
    if missing:
        raise ValueError(f"{missing[0]}: is not in the file, the format {kind} needs it")
    sizes = parts["shape"]
    if sizes.shape != (2,) or sizes.dtype.kind not in "iu":
        raise ValueError(f"shape: is {memory.shown(sizes.tolist())}, expected two integers")
    rows, cols = (int(size) for size in sizes)
    values = _line("data", parts["data"])
    _expect_numbers("data", values, np.float64)
    if values.dtype.kind in "biu":
        values = values.astype(np.float64)
    first, second = (_indices(name, parts[name]) for name in _FORMATS[kind])
    if kind == "coo":
        return sparse.from_coordinates(first, second, values, (rows, cols), context=context)
    if kind == "csr":
        return Matrix.csr(first, second, values, (rows, cols), context=context)
    return sparse.transpose(Matrix.csr(first, second, values, (cols, rows), context=context))


def matrix_of(
    given: argparse.Namespace,
    argument: str,
    path: str,
    context: Context,
    key: str | None = None,
    others: tuple[str, ...] = (),
) -> Any:
    """A matrix for the library: of a `.npy` file a source that is read in blocks, of a `.npz` file the array `key`. `others`
    are endings of files that the command reads by itself."""
    existing(given, argument, path)
    ending = suffix_of(path)
    if key is not None and ending != ".npz":
        raise Usage(f"--key: is {key!r}, but {path} is not a .npz file")
    if ending == ".npy":
        source = Source.from_npy(path, context=context)
        if len(source.info.shape) < 2:
            raise Failure(f"{argument}: {path}: has 1 axis, at least 2 are needed")
        if source.fortran_order and len(source.info.shape) > 2:
            axes = f"has {len(source.info.shape)} axes in Fortran order, of which all but the last would be the rows"
            raise Failure(f"{argument}: {path}: {axes}: save the array in C order")
        return source
    if ending in (".mtx", ".mtx.gz"):
        return sparse.read_market(path, context=context)
    if ending != ".npz":
        *first, last = _MATRICES + others
        raise Failure(f"{argument}: is {path}, expected a name that ends in {', '.join(first)} or {last}")
    parts = load_npz(argument, path)
    if not parts:
        raise Failure(f"{argument}: {path}: has no arrays")
    if key is None and {"format", "shape", "data"} <= set(parts):
        with _of_file(argument, path):
            return _of_scipy(parts, context)
    if key is None and len(parts) != 1:
        raise Usage(f"--key: is not given, {path} has the arrays {', '.join(parts)}")
    if key is not None and key not in parts:
        raise Usage(f"--key: is {key!r}, {path} has the arrays {', '.join(parts)}")
    name = key if key is not None else next(iter(parts))
    array = parts[name]
    if array.ndim != 2:
        raise Failure(f"{argument}: {path}: has {array.ndim} axes, expected 2")
    with _of_file(argument, path):
        _expect_numbers(name, array, getattr(given, "dtype", None) or np.float64)
    return array
