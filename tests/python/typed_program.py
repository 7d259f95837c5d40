"""A program that `mypy --strict` checks and nobody runs: the types of results, as far as arguments decide them. A line with
`type: ignore` has to be an error, or mypy reports the comment."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Union

import numpy as np
import numpy.typing as npt
from typing_extensions import assert_type

import purlin
from purlin import blocks, dwi, fdk, graph, lanczos, pca, rpca, rsvd, sparse, spmv, sshopm, tt
from purlin.sklearn import PCA, RobustPCA, SpectralClustering, SpectralEmbedding, TruncatedSVD

Array = npt.NDArray[Any]
Either = Union[Array, purlin.Tensor]


class Cuda:
    """An array of a library for GPUs, as far as its type says."""

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {}


def low_rank(a: npt.NDArray[np.float64], t: purlin.Tensor, m: purlin.Matrix, source: blocks.Source, wanted: bool) -> None:
    U, s, Vt = rsvd.compute(a, 3)
    assert_type(U, Array)
    assert_type(s, Array)
    assert_type((U * s) @ Vt, Array)
    assert_type(rsvd.compute("a.npy", 3).U, Array)
    assert_type(rsvd.compute(source, 3).Vt, Array)
    assert_type(rsvd.compute([[1.0, 2.0]], 1).Vt, Array)
    assert_type(rsvd.compute(a, 3, left=wanted).U, Union[Array, None])
    assert_type(rsvd.compute(t, 3).U, Union[Array, purlin.Tensor, None])
    assert_type(rsvd.compute(m, 3).Vt, Union[Array, purlin.Tensor, None])
    assert_type(rsvd.range_finder(a, 3), Array)
    assert_type(rsvd.range_finder(t, 3), Either)
    assert_type(rsvd.qb(a, 3), tuple[Array, Array])
    assert_type(rsvd.qb(m, 3), tuple[Either, Either])
    assert_type(rsvd.symmetric(a, 3), tuple[Array, Array])
    assert_type(rsvd.symmetric(a, 3, vectors=wanted), tuple[Array, Union[Array, None]])
    assert_type(rsvd.symmetric(t, 3), tuple[Array, Union[Array, purlin.Tensor, None]])
    with rsvd.Rsvd(3) as session:
        assert_type(session, rsvd.Rsvd)
        assert_type(session.compute(a).U, Array)
        assert_type(session.qb(a, 3), tuple[Array, Array])
        assert_type(session.qb(a, 3, b=wanted), tuple[Array, Union[Array, None]])
        assert_type(session.symmetric(a), tuple[Array, Array])
        assert_type(session.last_info(), rsvd.Info)
    rsvd.compute(a, 3, method="fastest")  # type: ignore[call-overload]
    rsvd.compute(3.0, 3)  # type: ignore[call-overload]


def components(a: npt.NDArray[np.float32], c: Cuda) -> None:
    model = pca.PCA(3).fit(a)
    assert_type(model, pca.PCA)
    assert_type(model.transform(a), Array)
    assert_type(model.transform(c), Either)
    assert_type(model.fit_transform(a), Array)
    assert_type(model.inverse_transform(a), Array)
    assert_type(model.get_params(), dict[str, object])
    low, rest = rpca.compute(a)
    assert_type(low, Array)
    assert_type(rest, Array)
    assert_type(rpca.compute(a, sparse="csr").sparse, purlin.Matrix)
    assert_type(rpca.compute(c).low_rank, Either)
    parts, info = rpca.run(a)
    assert_type(parts.low_rank + parts.sparse, Array)
    assert_type(info, rpca.Info)


def estimators(a: npt.NDArray[np.float64]) -> None:
    assert_type(PCA(2).fit(a), PCA)
    assert_type(PCA(2).fit_transform(a), Array)
    assert_type(TruncatedSVD(2).fit_transform(a), Array)
    assert_type(RobustPCA(2).fit_transform(a), Array)
    assert_type(RobustPCA(2).fit(a).transform(a), Array)
    assert_type(PCA(2).fit(a).inverse_transform(a), Array)
    assert_type(SpectralEmbedding(2).fit_transform(a), Array)
    assert_type(SpectralClustering(2).fit_predict(a), Array)
    assert_type(PCA(2).info_, Union[rsvd.Info, lanczos.Info, rpca.Info])


def tomography(p: npt.NDArray[np.float32], t: purlin.Tensor, sink: blocks.Sink, geometry: fdk.Geometry) -> None:
    assert_type(fdk.reconstruct(p, geometry), Array)
    assert_type(fdk.reconstruct(t, geometry), Either)
    assert_type(fdk.reconstruct(p, geometry, volume=sink), blocks.Sink)
    assert_type(fdk.reconstruct(p, geometry, volume=p), npt.NDArray[np.float32])
    with fdk.Reconstruction(geometry) as plan:
        assert_type(plan.reconstruct(p), Array)
        assert_type(plan.reconstruct(p, sink), blocks.Sink)
        assert_type(plan.finish(), Array)
        assert_type(plan.finish(t), purlin.Tensor)
    assert_type(fdk.log_transform(p, 1.0), Array)
    assert_type(fdk.log_transform(p, 1.0, return_clamped=True), tuple[Array, int])


def spectra(a: npt.NDArray[np.float64], c: Cuda, wanted: bool) -> None:
    values, vectors = lanczos.solve(a, 3)
    assert_type(values, Array)
    assert_type(vectors, Array)
    assert_type(lanczos.solve(a, 3, vectors=wanted).vectors, Union[Array, None])
    assert_type(lanczos.solve(a, 3, vectors=c).vectors, Cuda)
    solution = lanczos.run(a, 3)
    assert_type(solution.pairs.vectors, Array)
    assert_type(solution.sorted_by_value().vectors, Array)
    u, s, v = lanczos.singular(a, 3).triplets
    assert_type(u, Array)
    assert_type(v, Array)
    assert_type(lanczos.singular(a, 3, vectors=wanted).triplets.u, Union[Array, None])
    with lanczos.Lanczos(3) as solver:
        assert_type(solver.solve(a).vectors, Array)
        assert_type(solver.singular(a).v, Array)
        assert_type(solver.solve(a, vectors=wanted).vectors, Union[Array, None])
    assert_type(graph.embed(a, 2).coordinates, Array)
    plan = spmv.Plan(a)
    assert_type(plan @ a, Array)
    assert_type(plan @ c, Cuda)
    assert_type(plan.apply(a), Array)
    assert_type(plan.apply(a, a), npt.NDArray[np.float64])
    matrix = sparse.from_dense(a)
    assert_type(matrix @ a, Array)
    assert_type(matrix @ c, Cuda)


def trains(cores: list[npt.NDArray[np.float64]], x: tt.Train, h: tt.TrainMatrix) -> None:
    assert_type(tt.inner(cores, x), Union[float, complex])
    assert_type(tt.norm(x), float)
    assert_type(tt.rayleigh(h, x), Union[float, complex])
    assert_type(tt.sandwich(x, h, x), Union[float, complex])
    assert_type(tt.element(x, [0, 1]), Union[float, complex])
    assert_type(tt.round(x).train, tt.Train)
    several = tt.Trains([x])
    assert_type(several[0], tt.Train)
    assert_type(several[:1], list[tt.Train])
    assert_type(tt.Contraction().inner(x, x), Union[float, complex])


def tensors(entries: npt.NDArray[np.float64], path: Path) -> None:
    assert_type(sshopm.solve(entries).values, Array)
    assert_type(dwi.peaks(entries, basis="tensor").directions, Array)
    assert_type(purlin.Tensor.borrow(entries).shape, tuple[int, ...])
    assert_type(blocks.Source.from_npy(path), blocks.Source)
