"""Runs of the command `purlin` in the process of its tests, in a folder of their own."""

from __future__ import annotations

import importlib.util
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from purlin import cli

needs_nibabel = pytest.mark.skipif(importlib.util.find_spec("nibabel") is None, reason="no nibabel")


@pytest.fixture(autouse=True, name="folder")
def in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The working directory of the commands. After the test no provisional file is left there, and no older one."""
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    assert not [path.name for word in ("partial", "older") for path in tmp_path.rglob(f"*.{word}*")]


def run(line: str) -> int:
    """The exit code of a command line."""
    try:
        return cli.main(shlex.split(line))
    except SystemExit as end:
        return int(end.code or 0)


def done(line: str) -> None:
    assert run(line + " --device cpu --quiet") == 0


def refused(line: str, code: int, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Checks that a command fails with one line, and leaves no file."""
    before = sorted(Path().rglob("*"))
    assert run(line) == code
    found = capsys.readouterr()
    assert found.err.count("\n") == 1 and found.err.startswith("purlin") and text in found.err, found.err
    assert not found.out and sorted(Path().rglob("*")) == before
