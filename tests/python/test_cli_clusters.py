"""`purlin eigs --clusters` solves as few eigenproblems as it can, with the library's labels and coordinates."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cli_runs import done, in_a_folder, run  # noqa: F401  (the fixture of every test)

import purlin
from purlin import graph, sparse


@pytest.mark.parametrize("assignment", ["k_means", "pivoted_qr"])
@pytest.mark.parametrize(
    "options, solves",
    [
        ("", ["cluster"]),
        ("--picture g.png", ["embed"]),
        ("--out g.npz", ["embed"]),
        ("--out g.npz --scaling unit_rows", ["embed"]),
        ("--out g.npz --scaling degrees", ["embed", "cluster"]),
        ("--out g.npz --count 4", ["embed", "cluster"]),
    ],
)
def test_clusters_take_as_few_solves_as_they_can(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    cpu: purlin.Context,
    assignment: Any,
    options: str,
    solves: list[str],
) -> None:
    assert run("example eigs --quiet") == 0
    w = sparse.symmetrize(sparse.read_edges("graph.txt", context=cpu)[0], context=cpu)
    labels = graph.cluster(w, 3, assignment, seed=4, context=cpu).labels
    scaling: Any = "unit_rows" if "unit" in options else "degrees" if "degrees" in options else "none"
    embedding = graph.embed(w, 4 if "--count" in options else 3, scaling, seed=4, context=cpu)
    called: list[str] = []
    for name in ("embed", "cluster"):
        solve = getattr(graph, name)
        monkeypatch.setattr(graph, name, lambda *a, solve=solve, name=name, **k: called.append(name) or solve(*a, **k))
    done(f"eigs graph.txt --clusters 3 --assignment {assignment} --seed 4 {options}")
    assert called == solves
    if "--out" in options:
        with np.load("g.npz") as found:
            assert np.array_equal(found["labels"], labels)
            assert np.array_equal(found["coordinates"], embedding.coordinates)
            assert np.array_equal(found["values"], embedding.values)
    elif not options:
        assert [int(word) for word in capsys.readouterr().out.split()] == labels.tolist()
