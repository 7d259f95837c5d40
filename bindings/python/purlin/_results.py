"""Arrays for results: in which type, and where."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _memory as memory
from ._context import Context, Stream
from ._matrix import Matrix
from ._memory import Array
from ._tensor import Tensor
from .blocks import Source

_COMPUTING = (np.float32, np.float64, np.complex64, np.complex128)


def context_of(value: object, context: Context | None, options: Mapping[str, Any]) -> Context | None:
    """The context of a call without an object: the one given, or unless a group says it that of a matrix or a source."""
    if context is None and options.get("group") is None and isinstance(value, (Matrix, Source)):
        return value.context
    return context


def computing_type(matrix: Matrix, given: npt.DTypeLike | None) -> np.dtype[Any]:
    """The type that a call on `matrix` computes in: the given one, or its own, or for integers and halves the shorter float that
    holds them."""
    if given is not None:
        memory.computing_number(given)
        return np.dtype(given)
    return matrix.dtype if matrix.dtype in _COMPUTING else np.result_type(matrix.dtype, np.float32)


def output(
    shape: tuple[int, int], dtype: np.dtype[Any], like: Matrix, context: Context
) -> tuple[Array | Tensor, Matrix]:
    """A new array for a result, on the device for a matrix there, and the library's view of it."""
    made: Array | Tensor
    if like.storage == "dense" and like.location == "device":
        made = Tensor.create(shape, dtype, "device", order="F", context=context)
    else:
        made = np.zeros(shape, dtype, order="F")
    return made, Matrix.dense(made, context=context)


def queue_for(value: object, stream: Stream | None, context: Context) -> Stream | None:
    """Another library's array is made on CUDA's legacy stream: the work is queued behind it."""
    foreign = not isinstance(value, (Matrix, Tensor)) and memory.on_cuda(value)
    if stream is None and foreign:
        return Stream(context, cuda_stream=memory._CUDA_LEGACY_STREAM)
    return stream
