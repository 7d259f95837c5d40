"""Sparse matrices: made from coordinates, dense ones and files, turned, cut, made symmetric, measured.

    A = purlin.sparse.read_market("graph.mtx.gz")
    W = purlin.sparse.symmetrize(A, "union")

Whatever takes a matrix takes a `purlin.Matrix`, a sparse matrix of SciPy (in place if it is CSR), or an array; results are
`purlin.Matrix`, which `scipy()` shows to SciPy.
"""

from __future__ import annotations

import ctypes
import os
from ctypes import c_double, c_int32, c_void_p
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from . import _constants as c
from . import _memory as memory
from ._checked import flag, how_many, rows_and_columns
from ._choices import ORDERING
from ._context import Context, choice, default_context
from ._error import Wording, renaming
from ._interrupts import Interruption
from ._lib import lib
from ._matrix import Matrix
from ._memory import Array
from ._numbers import real
from ._tensor import Tensor

Duplicates = Literal["sum", "first", "last", "max", "refuse"]
Symmetry = Literal["union", "sum", "average", "intersection", "mirror"]
NormKind = Literal["frobenius", "one", "max", "infinity"]

_DUPLICATES = {
    "sum": c.DUPLICATES_SUM,
    "first": c.DUPLICATES_FIRST,
    "last": c.DUPLICATES_LAST,
    "max": c.DUPLICATES_MAX,
    "refuse": c.DUPLICATES_REFUSE,
}
_SYMMETRIES = {
    "union": c.SYMMETRIZE_UNION,
    "sum": c.SYMMETRIZE_SUM,
    "average": c.SYMMETRIZE_AVERAGE,
    "intersection": c.SYMMETRIZE_INTERSECTION,
    "mirror": c.SYMMETRIZE_MIRROR,
}
_NORMS = {"frobenius": c.NORM_FROBENIUS, "one": c.NORM_ONE, "max": c.NORM_MAX, "infinity": c.NORM_INFINITY}

# The size of the matrix is one argument here.
_COORDINATES = renaming(row_idx="row", col_idx="col", rows="shape[0]", cols="shape[1]")

_ORDERS = {name: ORDERING[name] for name in ("degree", "cuthill_mckee")}


def of(value: Any, context: Context | None = None, *, name: str = "a") -> Matrix:
    """Whatever stands for a sparse matrix, on a given context, or its own. `name` is the argument in messages."""
    matrix = Matrix.of(value, context=context, name=name, floating=True)
    if matrix.storage == "dense":
        return from_dense(matrix)
    return matrix


def _made(function: Any, context: Context, *arguments: Any, wording: Wording | None = None) -> Matrix:
    made = c_void_p()
    with Interruption(context.cancel) as running:
        status = function(*arguments, ctypes.byref(made))
    return Matrix._made(status, made, context, running=running, wording=wording)


def _indices(name: str, values: npt.ArrayLike) -> Array:
    array = np.ascontiguousarray(memory.to_numpy(values, name))
    if array.ndim != 1:
        raise ValueError(f"{name}: has {array.ndim} dimensions, expected 1")
    if array.dtype in (np.int32, np.int64):
        return array
    if array.size and array.dtype.kind not in "iu":
        raise ValueError(f"{name}: is {array.dtype}, expected integers")
    return memory.converted(name, array, np.int64)


def from_coordinates(
    row: npt.ArrayLike,
    col: npt.ArrayLike,
    values: npt.ArrayLike | None,
    shape: tuple[int, int],
    *,
    duplicates: Duplicates = "sum",
    index_base: int = 0,
    dtype: npt.DTypeLike | None = None,
    context: Context | None = None,
) -> Matrix:
    """Entries in any order. `values` None = a pattern, all of whose entries are 1. `dtype` None is the type of `values`,
    and float64 for integers and a pattern; values become another type if it holds them."""
    context, number = context or default_context(), memory.dtype_number(np.float64 if dtype is None else dtype)
    rows, cols, shape = _indices("row", row), _indices("col", col), rows_and_columns("shape", shape)
    if rows.shape != cols.shape:
        raise ValueError(f"col: has shape {cols.shape}, expected {rows.shape}")
    if rows.dtype != cols.dtype:
        rows, cols = rows.astype(np.int64), cols.astype(np.int64)
    held = None
    if values is not None:
        array = np.ascontiguousarray(memory.to_numpy(values, "values"))
        # No sparse matrix has integers or numbers of half precision.
        kind = np.result_type(array, np.float32) if array.dtype.kind in "fc" else np.float64
        if dtype is not None or array.dtype.kind in "iub" or array.dtype == np.float16:
            array = memory.converted("values", array, kind if dtype is None else dtype)
        if array.shape != rows.shape:
            raise ValueError(f"values: has shape {array.shape}, expected {rows.shape}")
        held = memory.host_memory(array, name="values")
    return _made(
        lib.purlin_matrix_from_coordinates,
        context,
        context.handle,
        number if held is None else held.dtype,
        how_many("index_base", index_base),
        shape[0],
        shape[1],
        rows.size,
        memory.dtype_number(rows.dtype),
        rows.ctypes.data,
        cols.ctypes.data,
        None if held is None else held.address,
        choice("duplicates", duplicates, _DUPLICATES),
        wording=_COORDINATES,
    )


def from_dense(a: Any, threshold: float = 0.0, *, context: Context | None = None) -> Matrix:
    """The entries whose modulus is larger than `threshold`."""
    matrix = Matrix.of(a, context=context, floating=True)
    return _made(lib.purlin_matrix_from_dense, matrix.context, matrix.handle, real("threshold", threshold))


def to_dense(a: Any, *, context: Context | None = None) -> Array:
    """Every entry, as a NumPy array in Fortran order."""
    matrix = of(a, context)
    out = np.zeros(matrix.shape, matrix.dtype, order="F")
    with Matrix.dense(out, context=matrix.context) as target:
        matrix.context._run(lib.purlin_matrix_to_dense, matrix.handle, target.handle)
    return out


def canonical(a: Any, duplicates: Duplicates = "sum", *, context: Context | None = None) -> Matrix:
    """The columns of each row ascending, every place once."""
    matrix = of(a, context)
    chosen = choice("duplicates", duplicates, _DUPLICATES)
    return _made(lib.purlin_matrix_canonical, matrix.context, matrix.handle, chosen)


def pattern(a: Any, *, context: Context | None = None) -> Matrix:
    """The places of the entries, without values: every entry is 1."""
    matrix = of(a, context)
    return _made(lib.purlin_matrix_pattern, matrix.context, matrix.handle)


def drop_zeros(a: Any, threshold: float = 0.0, *, context: Context | None = None) -> Matrix:
    """Without the entries whose modulus is at most `threshold`: with 0 without stored zeros."""
    matrix = of(a, context)
    return _made(lib.purlin_matrix_drop_zeros, matrix.context, matrix.handle, real("threshold", threshold))


def copy_to(a: Any, place: Literal["host", "device"], *, context: Context | None = None) -> Matrix:
    """A copy in the library's own memory: on the host, where functions that make matrices of others need it, or on the
    context's GPU, where products and solvers read it in place."""
    matrix = of(a, context)
    where = choice("place", place, {"host": c.HOST, "device": c.DEVICE})
    return _made(lib.purlin_matrix_copy_to, matrix.context, matrix.handle, where)


def transpose(a: Any, *, conjugate: bool = False, context: Context | None = None) -> Matrix:
    """A^T, or with `conjugate` A^H."""
    matrix = of(a, context)
    return _made(lib.purlin_matrix_transpose, matrix.context, matrix.handle, flag("conjugate", conjugate))


def symmetrize(a: Any, rule: Symmetry = "union", *, context: Context | None = None) -> Matrix:
    """A symmetric matrix from a square one: entries of A or A^H (the larger of both), A + A^H, half of that, entries of
    both (the smaller), or of one triangle its mirror image too."""
    matrix = of(a, context)
    return _made(lib.purlin_matrix_symmetrize, matrix.context, matrix.handle, choice("rule", rule, _SYMMETRIES))


def permute(
    a: Any,
    rows: npt.ArrayLike | None = None,
    cols: npt.ArrayLike | None = None,
    *,
    context: Context | None = None,
) -> Matrix:
    """`A[rows][:, cols]` for permutations of all rows and columns, counted from 0."""
    matrix = of(a, context)
    lists = []
    for name, given, size in (("rows", rows, matrix.shape[0]), ("cols", cols, matrix.shape[1])):
        array = None if given is None else _indices(name, given).astype(np.int64)
        if array is not None and array.size != size:
            raise ValueError(f"{name}: has {array.size} elements, expected {size}")
        lists.append(array)
    addresses = [None if array is None else array.ctypes.data for array in lists]
    return _made(lib.purlin_matrix_permute, matrix.context, matrix.handle, *addresses)


def order(a: Any, method: Literal["degree", "cuthill_mckee"], *, context: Context | None = None) -> Array:
    """An order of the vertices that brings together the entries that products gather: `permute(a, order, order)` has it."""
    matrix = of(a, context)
    out = np.zeros(matrix.shape[0], np.int64)
    with Tensor.borrow(out, context=matrix.context) as tensor:
        matrix.context._run(lib.purlin_matrix_order, matrix.handle, choice("method", method, _ORDERS), tensor.handle)
    return out


def select(
    a: Any,
    rows: npt.ArrayLike | None = None,
    cols: npt.ArrayLike | None = None,
    *,
    context: Context | None = None,
) -> Matrix:
    """`A[rows][:, cols]` for lists of different indices."""
    matrix = of(a, context)
    lists = [None if given is None else _indices("list", given).astype(np.int64) for given in (rows, cols)]
    arguments: list[Any] = []
    for array in lists:
        arguments += [0, None] if array is None else [array.size, array.ctypes.data]
    return _made(lib.purlin_matrix_select, matrix.context, matrix.handle, *arguments)


def scale(
    a: Any,
    rows: npt.ArrayLike | None = None,
    cols: npt.ArrayLike | None = None,
    *,
    context: Context | None = None,
) -> Matrix:
    """`diag(rows) @ A @ diag(cols)`: the entries of A in their order, each with a value, of a pattern too."""
    matrix = of(a, context)
    on: dict[str, Any] = {"context": matrix.context}
    given = (("rows", rows), ("cols", cols))
    lists = [None if g is None else Tensor.borrow(memory.converted(n, g, matrix.dtype), **on) for n, g in given]
    handles = [None if tensor is None else tensor.handle for tensor in lists]
    return _made(lib.purlin_matrix_scale, matrix.context, matrix.handle, *handles)


def set_values(a: Matrix, values: npt.ArrayLike) -> None:
    """New values for a matrix of the library's own memory; the structure stays."""
    array = memory.converted("values", values, a.dtype)
    with Tensor.borrow(array, context=a.context) as tensor:
        a.context._run(lib.purlin_matrix_set_values, a.handle, tensor.handle)


def read_market(
    path: str | os.PathLike[str], dtype: npt.DTypeLike | None = None, *, context: Context | None = None
) -> Matrix:
    """A Matrix Market file of coordinates, plain or compressed by gzip; `dtype` None = float64, or complex128."""
    context = context or default_context()
    number = c.DTYPE_OF_FILE if dtype is None else memory.computing_number(dtype)
    return Matrix._from_market(memory.path_bytes(path), context, number)


def write_market(
    a: Any, path: str | os.PathLike[str], *, symmetric: bool = False, context: Context | None = None
) -> None:
    """Writes a Matrix Market file, with `symmetric` the lower triangle alone; by gzip if its name ends in `.gz`."""
    matrix = of(a, context)
    matrix.context._run(lib.purlin_matrix_write_market, matrix.handle, memory.path_bytes(path), flag("symmetric", symmetric))


def read_edges(
    path: str | os.PathLike[str],
    *,
    weighted: bool = False,
    duplicates: Duplicates = "first",
    relabel: bool = False,
    dtype: npt.DTypeLike = np.float64,
    context: Context | None = None,
) -> tuple[Matrix, Array | None]:
    """A directed graph from an edge list. With `relabel` vertices are numbered as they first come, and the second result
    has the number in the file of each."""
    relabel = flag("relabel", relabel)
    context = context or default_context()
    made, names = c_void_p(), c_void_p()
    with Interruption(context.cancel) as running:
        status = lib.purlin_matrix_read_edges(
            context.handle,
            memory.path_bytes(path),
            memory.dtype_number(dtype),
            flag("weighted", weighted),
            choice("duplicates", duplicates, _DUPLICATES),
            ctypes.byref(made),
            ctypes.byref(names) if relabel else None,
        )
    matrix = Matrix(made.value, context)
    vertices = Tensor(names.value, context) if relabel else None
    context.finish(status, running)
    return matrix, None if vertices is None else vertices.numpy()


def write_edges(
    a: Any, path: str | os.PathLike[str], *, symmetric: bool = False, context: Context | None = None
) -> None:
    """Writes the entries as edges, with `symmetric` each edge once; by gzip if the name ends in `.gz`."""
    matrix = of(a, context)
    matrix.context._run(lib.purlin_matrix_write_edges, matrix.handle, memory.path_bytes(path), flag("symmetric", symmetric))


def norm(a: Any, kind: NormKind = "frobenius", *, context: Context | None = None) -> float:
    """A norm, in double precision."""
    matrix, value = of(a, context), c_double()
    matrix.context._run(lib.purlin_matrix_norm, matrix.handle, choice("kind", kind, _NORMS), ctypes.byref(value))
    return value.value


def is_symmetric(a: Any, tolerance: float = 0.0, *, context: Context | None = None) -> bool:
    """Whether A = A^H, within `tolerance` times the largest modulus."""
    matrix, answer, limit = of(a, context), c_int32(), real("tolerance", tolerance)
    matrix.context._run(lib.purlin_matrix_is_symmetric, matrix.handle, limit, ctypes.byref(answer))
    return bool(answer.value)


def check(
    a: Any, *, sorted: bool = True, distinct: bool = True, finite: bool = True, context: Context | None = None
) -> None:
    """Raises `InvalidArgument` that names row, column and entry if a row's columns do not ascend, a place is stored twice, or
    a value is NaN or infinite."""
    matrix = of(a, context)
    wanted = c.CHECK_SORTED * flag("sorted", sorted)
    wanted += c.CHECK_DISTINCT * flag("distinct", distinct) + c.CHECK_FINITE * flag("finite", finite)
    matrix.context._run(lib.purlin_matrix_check, matrix.handle, wanted)


def _vector(function: Any, matrix: Matrix, size: int) -> Array:
    out = np.zeros(size, matrix.dtype)
    with Tensor.borrow(out, context=matrix.context) as tensor:
        matrix.context._run(function, matrix.handle, tensor.handle)
    return out


def row_sums(a: Any, *, context: Context | None = None) -> Array:
    """Sums of the rows: the degrees of a graph."""
    matrix = of(a, context)
    return _vector(lib.purlin_matrix_row_sums, matrix, matrix.shape[0])


def diagonal(a: Any, *, context: Context | None = None) -> Array:
    """The diagonal, min(m, n) numbers; entries at one place are added."""
    matrix = of(a, context)
    return _vector(lib.purlin_matrix_diagonal, matrix, min(matrix.shape))


__all__ = [
    "canonical",
    "copy_to",
    "drop_zeros",
    "diagonal",
    "from_coordinates",
    "from_dense",
    "check",
    "is_symmetric",
    "norm",
    "order",
    "pattern",
    "permute",
    "read_edges",
    "read_market",
    "row_sums",
    "scale",
    "select",
    "set_values",
    "symmetrize",
    "to_dense",
    "transpose",
    "write_edges",
    "write_market",
]
