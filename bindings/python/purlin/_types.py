"""Types of arguments that decide whether a result is an array on the host, for the overloads of functions.

No overload takes `object`: a type checker that finds `Any` in the type of an argument, as in that of most NumPy arrays,
gives up on a call that fits several overloads.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Union

from ._matrix import Matrix
from ._protocols import Operator, Sparse, SupportsArray, SupportsCuda
from ._tensor import Tensor
from .blocks import Source


OnDevice = Union[Tensor, SupportsCuda]
"""Arrays that may be on a device."""

OnHost = Union[SupportsArray, Source, Sequence[object]]
"""Arrays whose results are on the host. PyTorch's have the members of both, so overloads for `OnDevice` come first."""

DeviceMatrix = Union[Matrix, OnDevice]
"""What stands for a matrix and may be on a device."""

HostMatrix = Union[OnHost, Sparse, Operator, Iterator[object], str, os.PathLike[str]]
"""What stands for a matrix on the host."""

MatrixLike = Union[DeviceMatrix, HostMatrix]
"""What stands for a matrix."""
