"""Helpers of all tests: a context on the CPU, golden data, and the check that no object of the library is left."""

from __future__ import annotations

import gc
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from expected_skips import pytest_addoption, pytest_configure

import purlin

__all__ = ["pytest_addoption", "pytest_configure"]

ROOT = Path(__file__).resolve().parents[2]
PASSED = pytest.StashKey[bool]()
GOLDEN = ROOT / "tests" / "golden" / "sshopm"


def pytest_collection_finish() -> None:
    """Keeps the objects of imported modules out of the collections below, which SciPy and scikit-learn make slow."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, None, None]:
    """Notes whether the test has passed."""
    yield
    item.stash[PASSED] = True


@pytest.fixture(autouse=True)
def no_live_handles(request: pytest.FixtureRequest) -> Iterator[None]:
    """Every test ends with no live handle. (The traceback of a failed one still holds its objects.)"""
    yield
    purlin.close_default_context()
    gc.collect()
    if request.node.stash.get(PASSED, False):
        assert purlin.live_handles() == 0


@pytest.fixture
def cpu() -> Iterator[purlin.Context]:
    """A context on the CPU, even if the machine has a GPU."""
    with purlin.Context("cpu") as context:
        yield context


@pytest.fixture
def gpu() -> Iterator[purlin.Context]:
    """A context on the GPU, for tests that are skipped without one."""
    with purlin.Context("cuda") as context:
        yield context
