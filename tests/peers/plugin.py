"""A pytest plugin that runs the tests of SciPy, scikit-learn and networkx on purlin.

The tests come from the installed packages, unchanged. During a test the plugin replaces the function under test by the
adapter of the same signature (adapters.py), which calls purlin:

    python -m pytest -p plugin --pyargs scipy.sparse.linalg._eigen.arpack.tests.test_arpack ...

`expected.txt` lists the tests that must fail, each with the reason; one that passes is reported as a failure. It lists the
tests of solvers that no adapter replaces, too, which are deselected and counted. The summary counts the tests of each
module that called purlin.
"""

from __future__ import annotations

import importlib
import re
from collections import Counter
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import adapters
import pytest

SCIPY = "scipy.sparse.linalg._eigen"

# Test module: (module, function, adapter) to replace while its tests run.
REPLACED: dict[str, list[tuple[str, str, Any]]] = {
    f"{SCIPY}.arpack.tests.test_arpack": [(f"{SCIPY}.arpack.tests.test_arpack", "eigsh", adapters.eigsh)],
    f"{SCIPY}.tests.test_svds": [(f"{SCIPY}.tests.test_svds", "svds", adapters.svds)],
    "sklearn.utils.tests.test_extmath": [
        ("sklearn.utils.tests.test_extmath", "randomized_svd", adapters.randomized_svd),
        ("sklearn.utils.tests.test_extmath", "_randomized_eigsh", adapters.randomized_eigsh),
        ("sklearn.utils.tests.test_extmath", "eigsh", adapters.eigsh),
    ],
    "sklearn.decomposition.tests.test_pca": [("sklearn.decomposition.tests.test_pca", "PCA", adapters.PCA)],
    "sklearn.decomposition.tests.test_truncated_svd": [
        ("sklearn.decomposition.tests.test_truncated_svd", name, getattr(adapters, name)) for name in ("PCA", "TruncatedSVD")
    ],
    "sklearn.decomposition.tests.test_kernel_pca": [
        ("sklearn.decomposition._kernel_pca", "_randomized_eigsh", adapters.randomized_eigsh),
        ("sklearn.decomposition._kernel_pca", "eigsh", adapters.eigsh),
    ],
    "sklearn.manifold.tests.test_spectral_embedding": [
        # The class, and the function of scikit-learn, which has no class.
        ("sklearn.manifold.tests.test_spectral_embedding", "SpectralEmbedding", adapters.SpectralEmbedding),
        ("sklearn.manifold._spectral_embedding", "eigsh", adapters.eigsh),
    ],
    "sklearn.cluster.tests.test_spectral": [
        ("sklearn.cluster.tests.test_spectral", "SpectralClustering", adapters.SpectralClustering),
        ("sklearn.cluster._spectral", "SpectralClustering", adapters.SpectralClustering),
    ],
    "sklearn.cluster.tests.test_bicluster": [
        ("sklearn.cluster._bicluster", "_randomized_svd", adapters.randomized_svd),
        ("sklearn.cluster._bicluster", "svds", adapters.svds),
        ("sklearn.cluster._bicluster", "eigsh", adapters.eigsh),
    ],
    "networkx.linalg.tests.test_algebraic_connectivity": [
        ("networkx.linalg.algebraicconnectivity", "_get_fiedler_func", adapters.fiedler_function),
    ],
    "networkx.linalg.tests.test_spectrum": [
        ("networkx", name, getattr(adapters, name))
        for name in (
            "laplacian_spectrum", "normalized_laplacian_spectrum", "adjacency_spectrum", "modularity_spectrum",
            "bethe_hessian_spectrum",
        )
    ],
}

_reached: set[str] = set()
_module: dict[str, str] = {}
_deselected: Counter[tuple[str, str]] = Counter()


def _expected() -> dict[str, str]:
    """The test names of expected.txt that must fail, with their reasons."""
    return {name: reason for name, reason in _listed() if not name.startswith("deselect ")}


def _listed() -> list[tuple[str, str]]:
    lines = (Path(__file__).parent / "expected.txt").read_text().splitlines()
    pairs = (line.split(" | ", 1) for line in lines if line and not line.startswith("#"))
    return [(name.strip(), reason.strip()) for name, reason in pairs]


def _omitted() -> dict[str, list[tuple[str, str]]]:
    """Test module: regular expressions of test names that are deselected, with their reasons."""
    found: dict[str, list[tuple[str, str]]] = {}
    for name, reason in _listed():
        if name.startswith("deselect "):
            module, pattern = name.removeprefix("deselect ").split("::", 1)
            found.setdefault(module, []).append((pattern, reason))
    return found


def _name(item: pytest.Item) -> str:
    return f"{_module[item.nodeid]}::{item.nodeid.split('::', 1)[1]}"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    kept, dropped, omitted = [], [], _omitted()
    for item in items:
        module = _module[item.nodeid] = item.module.__name__  # type: ignore[attr-defined]
        test = item.nodeid.split("::", 1)[1]
        if module not in REPLACED:
            raise pytest.UsageError(f"{module}: no adapter replaces a function for this module")
        reason = next((why for pattern, why in omitted.get(module, []) if re.search(pattern, test)), None)
        if reason is None:
            kept.append(item)
        else:
            dropped.append(item)
            _deselected[module, reason] += 1
    config.hook.pytest_deselected(items=dropped)
    items[:] = kept
    expected = _expected()
    names = {_name(item) for item in kept}
    modules = {_module[item.nodeid] for item in kept}
    unknown = [name for name in expected if name not in names and name.split("::")[0] in modules]
    unknown += [f"{m}::{p}" for m in modules for p, why in omitted.get(m, []) if not _deselected[m, why]]
    if unknown and not config.option.keyword:
        raise pytest.UsageError(f"expected.txt: no such tests: {', '.join(unknown)}")
    for item in kept:
        reason = expected.get(_name(item))
        if reason is not None:
            item.add_marker(pytest.mark.xfail(reason=reason, strict=True))


@pytest.fixture(autouse=True)
def purlin_replaces(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Replaces the functions under test by the adapters, for one test."""
    for module, name, adapter in REPLACED[request.module.__name__]:
        target = importlib.import_module(module)
        # A peer that renames its function must not leave its own solver under test.
        assert hasattr(target, name), f"{module} has no {name}"
        monkeypatch.setattr(target, name, adapter)
    yield


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, None, None]:
    before = adapters.calls
    try:
        yield
    finally:
        if adapters.calls > before:
            _reached.add(item.nodeid)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    outcomes = ("passed", "failed", "error", "xfailed", "skipped")
    counts: dict[str, Counter[str]] = {}
    for outcome in outcomes:
        for report in terminalreporter.stats.get(outcome, []):
            # A module that could not be imported has no test.
            count = counts.setdefault(_module.get(report.nodeid, report.nodeid), Counter())
            count[outcome] += 1
            count["reached"] += report.nodeid in _reached
    terminalreporter.section("tests of other projects on purlin")
    for module, count in counts.items():
        terminalreporter.line(
            f"{module}: {count['passed']} passed, {count['failed'] + count['error']} failed, "
            f"{count['xfailed']} failed as expected, {count['skipped']} skipped; {count['reached']} called purlin"
        )
        if not count["reached"]:
            terminalreporter.line("  error: no test called purlin")
    terminalreporter.line(f"{sum(_deselected.values())} tests of {len(_deselected)} kinds are deselected:")
    for (module, reason), number in _deselected.items():
        terminalreporter.line(f"{module}: {number} deselected: {reason}")


def pytest_sessionfinish(session: pytest.Session) -> None:
    # Without this, a peer that no longer calls the replaced function would pass unnoticed.
    unused = {_module[item.nodeid] for item in session.items} - {_module[nodeid] for nodeid in _reached}
    if unused and not session.config.option.keyword and not session.config.option.collectonly:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
