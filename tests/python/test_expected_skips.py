"""The list of expected skips: a skip that it lacks, and one that no longer happens, make a run of pytest fail."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = """
import pytest

def test_that_runs():
    pass

@pytest.mark.parametrize("k", [0, 1])
def test_that_needs_a_package(k):
    pytest.importorskip("a_package_that_is_missing")

@pytest.mark.xfail(reason="known")
def test_that_fails():
    assert False
"""
MODULE = "import pytest\npytest.skip('no module', allow_module_level=True)\n"
LINES = ["test_one.py 2 could not import 'a_package", "test_all.py 1 no module", "test_gone.py 3 a file of another run"]


@pytest.mark.parametrize(
    ("lines", "text"),
    [
        (LINES, ""),
        (["test_one.py * could not import", *LINES[1:]], ""),
        (LINES[:1], "test_all.py: 1 skipped, list.txt expects 0: no module"),
        (["test_one.py 3 could not import", *LINES[1:]], "test_one.py: 2 skipped, list.txt expects 3: could not import"),
        ([*LINES, "test_one.py 1 no GPU"], "test_one.py: 0 skipped, list.txt expects 1: no GPU"),
    ],
)
def test_other_skips_than_the_listed_ones_fail(lines: list[str], text: str, tmp_path: Path) -> None:
    (tmp_path / "test_one.py").write_text(TESTS)
    (tmp_path / "test_all.py").write_text(MODULE)
    (tmp_path / "list.txt").write_text("# comment\n" + "\n".join(lines) + "\n")
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "expected_skips", "--expected-skips", "list.txt"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parent)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert ended.returncode == (1 if text else 0), ended.stdout + ended.stderr
    assert text in ended.stdout and ended.stdout.count("expects") == bool(text)
