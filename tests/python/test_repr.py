"""Each public class says in its `repr` what its objects are, also when they are closed."""

from __future__ import annotations

import dataclasses
import importlib
import importlib.util
import inspect
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import purlin
from purlin import blocks, dwi, fdk, lanczos, pca, rpca, rsvd, sparse, spmv, sshopm, tt

GEOMETRY = fdk.Geometry(8, 6, 1.0, 1.0, 100.0, 200.0, angles=np.arange(12) * np.pi / 6)
GRID = fdk.Grid.centred((4, 5, 6), (1.0, 1.0, 1.0))


def train(context: purlin.Context) -> tt.Train:
    return tt.random([2, 3], [1, 2, 1], context=context)


# By public names: an object, and the parts of its text.
OBJECTS: dict[str, tuple[Callable[[purlin.Context], Any], list[str]]] = {
    "purlin.Context": (lambda cpu: purlin.Context("cpu", threads=2, host_memory_limit=2**31), ["cpu", "2 threads", "2 GiB"]),
    "purlin.Group": (lambda cpu: purlin.Group([cpu]), ["of cpu"]),
    "purlin.Stream": (lambda cpu: purlin.Stream(cpu), ["on cpu"]),
    "purlin.Tensor": (lambda cpu: purlin.Tensor.create((2, 3), context=cpu), ["(2, 3)", "float64", "host"]),
    "purlin.Matrix": (lambda cpu: purlin.Matrix.create(2, 3, context=cpu), ["2 x 3", "float64", "dense", "host"]),
    "purlin.blocks.Source": (
        lambda cpu: blocks.Source.from_array(np.zeros((2, 3), np.float32), context=cpu),
        ["(2, 3)", "float32", "an array", "on cpu"],
    ),
    "purlin.blocks.Sink": (
        lambda cpu: blocks.Sink.to_function(print, (2, 3), np.uint16, context=cpu),
        ["(2, 3)", "uint16", "a function", "on cpu"],
    ),
    "purlin.dwi.Dwi": (lambda cpu: dwi.Dwi(weighting="wls", context=cpu), ["weighting='wls'", "on cpu"]),
    "purlin.sshopm.Sshopm": (lambda cpu: sshopm.Sshopm(goal="both", context=cpu), ["goal='both'", "on cpu"]),
    "purlin.fdk.Reconstruction": (
        lambda cpu: fdk.Reconstruction(GEOMETRY, GRID, window="hann", context=cpu),
        ["(12, 6, 8)", "(6, 5, 4)", "window='hann'", "on cpu"],
    ),
    "purlin.lanczos.Lanczos": (
        lambda cpu: lanczos.Lanczos(3, "smallest", kind="laplacian", context=cpu),
        ["k=3", "which='smallest'", "kind='laplacian'", "on cpu"],
    ),
    "purlin.rsvd.Rsvd": (lambda cpu: rsvd.Rsvd(4, method="krylov", context=cpu), ["rank=4", "method='krylov'", "on cpu"]),
    "purlin.rpca.Rpca": (lambda cpu: rpca.Rpca(max_rank=3, context=cpu), ["max_rank=3", "on cpu"]),
    "purlin.pca.PCA": (lambda cpu: pca.PCA(2, whiten=True, context=cpu).fit(np.eye(5)), ["n_components=2", "whiten=True", "5 samples"]),
    "purlin.spmv.Plan": (
        lambda cpu: spmv.Plan(sparse.from_dense(np.eye(5), context=cpu), kind="laplacian"),
        ["(5, 5)", "float64", "kind='laplacian'", "on cpu"],
    ),
    "purlin.tt.Train": (train, ["2 cores", "open", "float64"]),
    "purlin.tt.TrainMatrix": (lambda cpu: tt.identity([2, 3], context=cpu), ["2 cores", "open", "float64"]),
    "purlin.tt.Trains": (lambda cpu: tt.Trains([train(cpu)] * 3), ["3 trains"]),
    "purlin.tt.Contraction": (lambda cpu: tt.Contraction(method="full", context=cpu), ["method='full'", "on cpu"]),
    "purlin.tt.Environments": (
        lambda cpu: tt.Environments(train(cpu), train(cpu), tt.identity([2, 3], context=cpu), context=cpu),
        ["2 sites", "with an operator", "on cpu"],
    ),
}


def public_classes() -> dict[str, type]:
    """Classes that are not made of fields, whose text Python writes: by public names."""
    names = ["purlin", *(f"purlin.{name}" for name in purlin.__all__ if inspect.ismodule(getattr(purlin, name)))]
    if importlib.util.find_spec("sklearn"):
        names.append("purlin.sklearn")
    found = {}
    for name in names:
        module = importlib.import_module(name)
        for key in module.__all__:
            thing = getattr(module, key)
            of_fields = dataclasses.is_dataclass(thing) or hasattr(thing, "_fields") or hasattr(thing, "__total__")
            is_alias = hasattr(thing, "__origin__")  # of Python 3.9, where `inspect` takes it for a class
            if inspect.isclass(thing) and not is_alias and not of_fields and not issubclass(thing, (BaseException, dict)):
                found[f"{name}.{key}"] = thing
    return found


def test_each_class_has_a_text_of_its_own() -> None:
    classes = public_classes()
    assert set(OBJECTS) <= set(classes)
    for name, one in classes.items():
        assert one.__repr__ is not object.__repr__, name
        assert name in OBJECTS or name.startswith("purlin.sklearn."), name


@pytest.mark.parametrize("name", OBJECTS)
def test_the_text_says_what_an_object_is(name: str, cpu: purlin.Context) -> None:
    make, parts = OBJECTS[name]
    one = make(cpu)
    text = repr(one)
    assert text.startswith(f"<{name} ") and text.endswith(">") and len(text) < 200 and "\n" not in text
    for part in parts:
        assert part in text, text
    if hasattr(one, "closed"):
        one.close()
        assert "closed" in repr(one) and name in repr(one)


@pytest.mark.parametrize("name", OBJECTS)
def test_the_text_of_an_object_on_a_closed_context(name: str) -> None:
    with purlin.Context("cpu") as context:
        one = OBJECTS[name][0](context)
    assert repr(one).startswith(f"<{name}")


def test_the_text_of_an_object_that_was_not_made() -> None:
    kinds: list[type] = [purlin.Context, purlin.Stream, rsvd.Rsvd, tt.Environments]
    for kind in kinds:
        assert "closed" in repr(kind.__new__(kind))
    assert repr(pca.PCA.__new__(pca.PCA)).startswith("<purlin.pca.PCA")


def test_the_text_of_a_long_option_is_short(tmp_path: Path, cpu: purlin.Context) -> None:
    path = tmp_path / ("x" * 200)
    with rsvd.Rsvd(3, restart_path=path, context=cpu) as session:
        assert len(repr(session)) < 200 and "restart_path=" in repr(session)


class Unshown:
    def __repr__(self) -> str:
        raise RuntimeError("no text")

    def __index__(self) -> int:
        return 3


def test_an_option_that_cannot_be_shown_ends_nothing(cpu: purlin.Context) -> None:
    seed: Any = Unshown()
    with rsvd.Rsvd(3, seed=seed, context=cpu) as session:
        assert repr(session).startswith("<purlin.rsvd.Rsvd")
    assert repr(pca.PCA(3, seed=seed, context=cpu)).startswith("<purlin.pca.PCA")
    # Python does not write integers of thousands of digits.
    with pytest.raises(ValueError, match="output_scale: is an integer of 20001 bits"):
        fdk.Reconstruction(GEOMETRY, GRID, output_scale=2**20000, context=cpu)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_the_text_in_a_child_of_a_fork(cpu: purlin.Context) -> None:
    child = os.fork()
    if child == 0:
        try:
            os._exit(0 if repr(cpu).startswith("<purlin.Context") else 1)
        finally:
            os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
