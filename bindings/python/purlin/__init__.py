"""Eigenpairs of symmetric tensors, fibre directions, cone-beam CT, low-rank approximation and sparse spectra, on CPUs and
NVIDIA GPUs.

    import purlin

    pairs = purlin.sshopm.solve(tensors)                    # (.., entries) -> values (.., K), vectors (.., K, n)
    peaks = purlin.dwi.peaks(coefficients, basis="mrtrix3") # (.., coefficients) -> directions (.., K, 3)
    volume = purlin.fdk.reconstruct(projections, geometry)  # (views, rows, columns) -> (z, y, x)
    U, s, Vt = purlin.rsvd.compute(A, 50)                   # the 50 largest singular triplets
    L, S = purlin.rpca.compute(frames)                      # the background and the moving objects
    values, X = purlin.lanczos.solve(W, 10)                 # eigenpairs of a sparse symmetric matrix
    labels = purlin.graph.cluster(W, 3).labels              # clusters of a graph

Constants of the header are attributes without their PURLIN_ prefix.

Arguments that most functions and classes have:

    context   where to compute: a `Context`, on the CPU or a GPU. By default that of a `Matrix`, `Tensor` or `Source` among
              the arguments, else `default_context()`, which is on a GPU where there is one.
    stream    a `Stream` on whose queue a GPU works. By default the context's own, or CUDA's legacy stream for arrays of
              other libraries.
    progress  a function of the step, the number of steps and a measure, whose true result cancels the call; or True for a
              bar on stderr.
"""

from ._startup import watch as _watch

# Before the imports that take long.
_watch()

from . import blocks, dwi, fdk, graph, lanczos, pca, rpca, rsvd, sparse, spmv, sshopm, symmetric, tt
from ._constants import *  # noqa: F403
from ._context import (
    Context,
    ContextInfo,
    Device,
    Group,
    Stream,
    close_default_context,
    default_context,
    devices,
)
from ._error import (
    Busy,
    Cancelled,
    CudaError,
    Error,
    FileError,
    Forked,
    InternalError,
    InvalidArgument,
    InvalidHandle,
    NoConvergence,
    NoDevice,
    NotSupported,
    Numerical,
    OutOfDeviceMemory,
    OutOfMemory,
    status_name,
)
from ._help import describe as _describe
from ._lib import lib as _library
from ._matrix import Matrix
from ._tensor import Tensor

# The keyword options of functions, for `help`.
_describe(
    *(blocks, dwi, fdk, graph, lanczos, pca, rpca, rsvd, sparse, spmv, sshopm, symmetric, tt),
    own=(Context, ContextInfo, Device, Stream, Tensor, Matrix),
)

del Final  # type: ignore[name-defined]  # noqa: F821  (the constants' module imports it)

_version: int = _library.purlin_version()
__version__ = f"{_version // 10000}.{_version // 100 % 100}.{_version % 100}"


def build_info() -> str:
    """One line about the loaded library: version, CUDA or not, GPU architectures."""
    text: bytes = _library.purlin_build_info()
    return text.decode()


def live_handles() -> int:
    """Objects of the library that nobody has destroyed yet, in the whole process."""
    count: int = _library.purlin_live_handles()
    return count


__all__ = [
    "Busy",
    "Cancelled",
    "Context",
    "ContextInfo",
    "CudaError",
    "Device",
    "Error",
    "FileError",
    "Forked",
    "Group",
    "InternalError",
    "InvalidArgument",
    "InvalidHandle",
    "Matrix",
    "NoConvergence",
    "NoDevice",
    "NotSupported",
    "Numerical",
    "OutOfDeviceMemory",
    "OutOfMemory",
    "Stream",
    "Tensor",
    "blocks",
    "build_info",
    "close_default_context",
    "default_context",
    "devices",
    "dwi",
    "fdk",
    "graph",
    "lanczos",
    "live_handles",
    "pca",
    "rpca",
    "rsvd",
    "sparse",
    "spmv",
    "sshopm",
    "status_name",
    "symmetric",
    "tt",
]
