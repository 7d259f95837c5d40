"""Truth values and integers of every public function: another value is refused by the name of its argument."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_help import FUNCTIONS

import purlin
from purlin import Matrix, Tensor, dwi, fdk, graph, lanczos, pca, rsvd, sparse, sshopm, symmetric, tt
from purlin.blocks import Sink, Source

N = 12
PATH = np.diag(np.ones(N - 1), 1) + np.diag(np.ones(N - 1), -1)
DENSE = np.random.default_rng(0).standard_normal((N, 5))
TENSORS = np.random.default_rng(1).standard_normal((2, 15))
TRAIN = [np.ones((1, 2, 2)), np.ones((2, 2, 1))]
SIGNALS, BVALS = np.full((2, 7), 0.5), np.r_[0.0, np.full(6, 1000.0)]
BVECS = np.vstack([np.zeros(3), np.random.default_rng(2).standard_normal((6, 3))])
BVECS[1:] /= np.linalg.norm(BVECS[1:], axis=1)[:, None]
INDPTR, INDICES = np.array([0, 1, 2]), np.array([1, 0])


def begun() -> fdk.Reconstruction:
    """A reconstruction that takes views."""
    geometry = fdk.Geometry(8, 8, 1.0, 1.0, 500.0, 1000.0, angles=np.arange(8) * np.pi / 4)
    made = fdk.Reconstruction(geometry, allow_missing=True)
    made.begin()
    return made


def environments() -> tt.Environments:
    return tt.Environments(TRAIN, TRAIN)


# One call of each function, which takes the arguments that are tried by their names.
CALLS: dict[str, Callable[..., Any]] = {
    "Context": lambda **given: purlin.Context("cpu", **given),
    "Matrix.create": lambda **given: Matrix.create(**{"rows": 2, "cols": 2, **given}),
    "Matrix.csr": lambda **given: Matrix.csr(INDPTR, INDICES, np.ones(2), (2, 2), **given),
    "Matrix.from_scipy": lambda **given: Matrix.from_scipy(sparse.of(PATH).scipy(), **given),
    "Matrix.of": lambda **given: Matrix.of(DENSE, **given),
    "Matrix.scipy": lambda **given: sparse.of(PATH).scipy(**given),
    "Tensor.create": lambda **given: Tensor.create(**{"shape": (2, 2), **given}),
    "Tensor.create_symmetric": lambda **given: Tensor.create_symmetric(**{"order": 4, "dimension": 3, **given}),
    "Tensor.symmetric": lambda **given: Tensor.symmetric(TENSORS, **given),
    "blocks.Sink.to_file": lambda path, **given: Sink.to_file(path / "a", (2, 2), np.float32, **given),
    "blocks.Source.from_file": lambda path, **given: Source.from_file(path / "r", (2, 2), np.float32, **given),
    "blocks.Source.from_mapped_file": lambda path, **given: Source.from_mapped_file(path / "r", (2, 2), np.float32, **given),
    "dwi.Dwi.csa": lambda **given: dwi.Dwi().csa(SIGNALS, BVALS, BVECS, **{"degree": 2, "basis": "mrtrix3", **given}),
    "dwi.Dwi.fit": lambda **given: dwi.Dwi().fit(SIGNALS, BVALS, BVECS, **{"order": 2, **given}),
    "dwi.Dwi.peaks": lambda **given: dwi.Dwi(basis="mrtrix3").peaks(TENSORS, **given),
    "dwi.csa": lambda **given: dwi.csa(SIGNALS, BVALS, BVECS, **{"degree": 2, "basis": "mrtrix3", **given}),
    "dwi.fit": lambda **given: dwi.fit(SIGNALS, BVALS, BVECS, **{"order": 2, **given}),
    "dwi.peaks": lambda **given: dwi.peaks(TENSORS, basis="mrtrix3", **given),
    "fdk.Reconstruction.push": lambda **given: begun().push(**{"views": 0, "projections": np.ones((8, 8), np.float32), **given}),
    "fdk.log_transform": lambda **given: fdk.log_transform(np.ones((1, 2, 2), np.uint16), 1.0, **given),
    "graph.Density.histogram": lambda **given: graph.density(PATH, 4).histogram(-3.0, 3.0, **{"bins": 4, **given}),
    "graph.Density.trace": lambda **given: graph.density(PATH, 4).trace(**{"n": N, "f": np.abs, **given}),
    "graph.cluster": lambda **given: graph.cluster(PATH, **{"clusters": 2, **given}),
    "graph.component": lambda **given: graph.component(PATH, **given),
    "graph.density": lambda **given: graph.density(PATH, **{"steps": 4, **given}),
    "graph.embed": lambda **given: graph.embed(PATH, **{"k": 2, **given}),
    "graph.fiedler": lambda **given: graph.fiedler(PATH, **given),
    "graph.k_means": lambda **given: graph.k_means(DENSE, **{"clusters": 2, **given}),
    "lanczos.Lanczos": lambda **given: lanczos.Lanczos(**given),
    "lanczos.Lanczos.singular": lambda **given: lanczos.Lanczos(2).singular(PATH, **given),
    "lanczos.Lanczos.solve": lambda **given: lanczos.Lanczos(2).solve(PATH, **given),
    "lanczos.Lanczos.tridiagonalize": lambda **given: lanczos.Lanczos(1).tridiagonalize(PATH, **{"steps": 4, **given}),
    "lanczos.plan": lambda **given: lanczos.plan(PATH, **given),
    "lanczos.plan_singular": lambda **given: lanczos.plan_singular(PATH, **given),
    "lanczos.run": lambda **given: lanczos.run(PATH, **given),
    "lanczos.singular": lambda **given: lanczos.singular(PATH, **given),
    "lanczos.solve": lambda **given: lanczos.solve(PATH, **given),
    "lanczos.tridiagonalize": lambda **given: lanczos.tridiagonalize(PATH, **{"steps": 4, **given}),
    "pca.PCA": lambda **given: pca.PCA(**{"n_components": 2, **given}).fit(DENSE),
    "pca.PCA.plan": lambda **given: pca.PCA(2).plan(DENSE, **given),
    "rsvd.Rsvd": lambda **given: rsvd.Rsvd(**given),
    "rsvd.Rsvd.compute": lambda **given: rsvd.Rsvd(2).compute(DENSE, **given),
    "rsvd.Rsvd.plan": lambda **given: rsvd.Rsvd(2).plan(DENSE, **given),
    "rsvd.Rsvd.qb": lambda **given: rsvd.Rsvd().qb(DENSE, **{"columns": 2, **given}),
    "rsvd.Rsvd.sketch": lambda **given: rsvd.Rsvd(2).sketch(**{"rows": 3, "columns": 2, **given}),
    "rsvd.Rsvd.symmetric": lambda **given: rsvd.Rsvd(2).symmetric(PATH, **given),
    "rsvd.compute": lambda **given: rsvd.compute(DENSE, **{"rank": 2, **given}),
    "rsvd.qb": lambda **given: rsvd.qb(DENSE, **{"columns": 2, **given}),
    "rsvd.range_finder": lambda **given: rsvd.range_finder(DENSE, **{"columns": 2, **given}),
    "rsvd.sketch": lambda **given: rsvd.sketch(**{"rows": 3, "columns": 2, **given}),
    "rsvd.symmetric": lambda **given: rsvd.symmetric(PATH, **{"rank": 2, **given}),
    "sparse.check": lambda **given: sparse.check(PATH, **given),
    "sparse.from_coordinates": lambda **given: sparse.from_coordinates([0], [1], None, (3, 3), **given),
    "sparse.read_edges": lambda path, **given: sparse.read_edges(path / "edges", **given),
    "sparse.transpose": lambda **given: sparse.transpose(PATH, **given),
    "sparse.write_edges": lambda path, **given: sparse.write_edges(PATH, path / "a", **given),
    "sparse.write_market": lambda path, **given: sparse.write_market(PATH, path / "a", **given),
    "sshopm.Sshopm.plan": lambda **given: sshopm.Sshopm().plan(TENSORS, **given),
    "sshopm.Sshopm.solve": lambda **given: sshopm.Sshopm().solve(TENSORS, **given),
    "sshopm.Sshopm.solve_all": lambda **given: sshopm.Sshopm().solve_all(TENSORS, **given),
    "sshopm.classify": lambda **given: sshopm.classify(TENSORS, np.ones((2, 1)), np.ones((2, 1, 3)), **given),
    "sshopm.product": lambda **given: sshopm.product(TENSORS, np.ones(3), **{"power": 4, **given}),
    "sshopm.runs": lambda **given: sshopm.runs(TENSORS[:1], np.ones((1, 3)), **given),
    "sshopm.solve": lambda **given: sshopm.solve(TENSORS, **given),
    "sshopm.solve_all": lambda **given: sshopm.solve_all(TENSORS, **given),
    "sshopm.solve_into": lambda **given: sshopm.solve_into(Tensor.symmetric(TENSORS), sshopm.Results(), **given),
    "sshopm.starts": lambda **given: sshopm.starts(**{"count": 4, **given}),
    "symmetric.convert": lambda **given: symmetric.convert(TENSORS, "entries", "polynomial", **given),
    "symmetric.count": lambda **given: symmetric.count(**{"order": 4, **given}),
    "symmetric.exponents": lambda **given: symmetric.exponents(**{"order": 4, **given}),
    "symmetric.from_full": lambda **given: symmetric.from_full(np.eye(3), **given),
    "symmetric.identity": lambda **given: symmetric.identity(**{"order": 4, **given}),
    "symmetric.indices": lambda **given: symmetric.indices(**{"order": 4, **given}),
    "symmetric.multinomials": lambda **given: symmetric.multinomials(**{"order": 4, **given}),
    "symmetric.norm": lambda **given: symmetric.norm(TENSORS, **given),
    "symmetric.to_full": lambda **given: symmetric.to_full(TENSORS, **given),
    "tt.Environments.apply": lambda **given: environments().apply(**{"k": 0, "v": np.ones((1, 2, 2)), **given}),
    "tt.Environments.build": lambda **given: environments().build("left", **{"bond": 1, **given}),
    "tt.Environments.get": lambda **given: environments().get("left", **{"bond": 1, **given}),
    "tt.Environments.local": lambda **given: environments().local(**{"k": 0, "op": np.eye(2), **given}),
    "tt.Environments.set_trains": lambda **given: environments().set_trains(TRAIN, TRAIN, **{"first": 0, "last": 1, **given}),
    "tt.Environments.shape": lambda **given: environments().shape(**{"bond": 1, **given}),
    "tt.Environments.update_core": lambda **given: environments().update_core(**{"k": 0, **given}),
    "tt.Environments.value": lambda **given: environments().value(**given),
    "tt.Train.core": lambda **given: tt.Train(TRAIN).core(**{"k": 0, **given}),
    "tt.Train.set_core": lambda **given: tt.Train.create([2], [1, 1]).set_core(**{"k": 0, "core": np.ones((1, 2, 1)), **given}),
    "tt.TrainMatrix.core": lambda **given: tt.identity([2]).core(**{"k": 0, **given}),
    "tt.TrainMatrix.set_core": lambda **given: tt.identity([2]).set_core(**{"k": 0, "core": np.ones((1, 2, 2, 1)), **given}),
    "tt.apply_round": lambda **given: tt.apply_round(tt.identity([2, 2]), TRAIN, 0.1, **given),
    "tt.canonicalize": lambda **given: tt.canonicalize(TRAIN, **{"centre": 0, **given}),
    "tt.from_terms": lambda **given: tt.from_terms([2, 2], [(1.0, [(0, np.eye(2))])], **given),
    "tt.hadamard_round": lambda **given: tt.hadamard_round(TRAIN, TRAIN, 0.1, **given),
    "tt.heisenberg": lambda **given: tt.heisenberg(**{"length": 4, **given}),
    "tt.ising": lambda **given: tt.ising(**{"length": 4, "coupling": 1.0, "field": 1.0, **given}),
    "tt.random": lambda **given: tt.random([2, 2], [1, 2, 1], **given),
    "tt.rotate": lambda **given: tt.rotate(TRAIN, **{"first": 0, **given}),
    "tt.round": lambda **given: tt.round(TRAIN, 0.1, **given),
    "tt.scale": lambda **given: tt.scale(TRAIN, 2.0, **given),
    "tt.svd": lambda **given: tt.svd(DENSE, 0.1, **given),
}
OF_KIND = {"bool": ("a truth value", ["no", "", float("nan"), object(), [], 2, 1.0]), "int": ("an integer", ["x", 1.5, [1], np.ones(2)])}


def tried() -> list[tuple[str, str, str]]:
    """Function, argument and its type, of the functions that are called here."""
    found = []
    for name, _, function in FUNCTIONS:
        short = name.partition(".")[2]
        for one in inspect.signature(function).parameters.values():
            words = str(one.annotation).replace("|", " ").split()
            found += [(short, one.name, kind) for kind in OF_KIND if kind in words and short in CALLS]
    return found


TRIED = tried()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "r").write_bytes(bytes(16))
    (tmp_path / "edges").write_text("0 1\n1 2\n")
    return tmp_path


@pytest.mark.parametrize(("name", "argument", "kind"), TRIED, ids=[".".join(one[:2]) for one in TRIED])
def test_a_value_of_another_kind_is_refused_by_name(name: str, argument: str, kind: str, path: Path) -> None:
    call = CALLS[name]
    files = {"path": path} if "path" in inspect.signature(call).parameters else {}
    call(**files)
    for value in OF_KIND[kind][1]:
        # These take arrays, too.
        if argument in ("vectors", "starts", "views", "shape") and not isinstance(value, float):
            continue
        with pytest.raises((TypeError, ValueError)) as caught:
            call(**files, **{argument: value})
        assert str(caught.value).startswith(f"{argument}: "), (value, str(caught.value))
    if kind == "bool":
        for value in (True, False, np.True_, 0, np.int64(1)):
            if (name, argument, bool(value)) != ("sparse.read_edges", "weighted", True):
                call(**files, **{argument: value})


# Statuses and addresses are of the C interface; `deep` is scikit-learn's and without effect.
INNER = {"status", "handle", "cuda_stream", "deep"}
# For modules of the package; the last takes arrays on a GPU alone.
OWN = {"Tensor.from_rows", "Tensor.from_symmetric_memory", "tt.Environments.apply_to"}


def test_a_trace_has_no_negative_length() -> None:
    with pytest.raises(ValueError, match=r"^trace: is -1, at least 0 is needed"):
        sshopm.runs(TENSORS[:1], np.ones((1, 3)), trace=-1)


def test_the_functions_are_called_here() -> None:
    missing = set()
    for name, _, function in FUNCTIONS:
        if ".sklearn." in name:
            continue
        for one in inspect.signature(function).parameters.values():
            if set(str(one.annotation).replace("|", " ").split()) & set(OF_KIND) and one.name not in INNER:
                missing.add(name.partition(".")[2])
    assert sorted(missing - set(CALLS) - OWN) == []
