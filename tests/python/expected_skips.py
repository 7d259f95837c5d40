"""Compares the skipped tests of a run with a list, so that a missing package cannot hide tests: `--expected-skips FILE`.

Each line of the list is `FILE COUNT REASON`. REASON is the beginning of the reason that pytest prints. COUNT is the number of
such skips, or `*` for any number, zero included. A file that was not collected is not compared.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest


class Skips:
    """The skips that were found and those that are listed; a difference makes the run fail."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.found: Counter[tuple[str, str]] = Counter()
        self.collected: set[str] = set()
        lines = Path(path).read_text().splitlines()
        self.listed = [line.split(maxsplit=2) for line in lines if line and not line.startswith("#")]

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        self._count(report)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._count(report)

    def _count(self, report: Any) -> None:
        file = Path(report.nodeid.split("::")[0]).name
        self.collected.add(file)
        # An expected failure counts as skipped too.
        if report.skipped and not hasattr(report, "wasxfail"):
            reason = report.longrepr[2].partition("Skipped: ")[2]
            known = (words for name, _, words in self.listed if name == file and reason.startswith(words))
            self.found[file, next(known, reason)] += 1

    def differences(self) -> list[str]:
        """One line for each count that is not that of the list."""
        expected = {(file, words): count for file, count, words in self.listed if file in self.collected}
        lines = []
        for file, words in sorted({*expected, *self.found}):
            count, found = expected.get((file, words), "0"), self.found[file, words]
            if count not in ("*", str(found)):
                lines.append(f"{file}: {found} skipped, {self.path} expects {count}: {words}")
        return lines

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if session.exitstatus == 0 and self.differences():
            session.exitstatus = 1

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        for line in self.differences():
            terminalreporter.write_line(line)
        terminalreporter.write_line(f"skips by file and reason: {sum(self.found.values())} in {len(self.found)} kinds")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--expected-skips", metavar="FILE", help="fail when other tests are skipped than FILE lists")


def pytest_configure(config: pytest.Config) -> None:
    path = config.getoption("--expected-skips")
    if path:
        config.pluginmanager.register(Skips(path))
