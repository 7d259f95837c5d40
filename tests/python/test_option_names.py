"""Eigenpairs, diffusion and tensor trains have the same option names in Python and MATLAB, and the documentation lists them."""

from __future__ import annotations

import inspect
import re
from typing import Any

import pytest
from conftest import ROOT

from purlin import _sshopm_types, _structs, _train_options, dwi, sshopm
from purlin._context import initialised

MATLAB = ROOT / "bindings" / "matlab" / "+purlin"

# Python's options, the MATLAB file, and what only MATLAB takes by name: arguments of the Python function, or output on request.
CASES = [
    (_sshopm_types.Options, "sshopm_solve.m", {"pairs", "starts", "start_count", "full", "trace", "progress"}),
    (_sshopm_types.AllOptions, "sshopm_all.m", {"pairs", "progress"}),
    (dwi.FitOptions, "dwi_fit.m", {"mask", "weights", "layout", "progress"}),
    (dwi.CsaOptions, "dwi_csa.m", {"mask", "layout", "progress"}),
    (dwi.PeaksOptions, "dwi_peaks.m", {"basis", "peaks", "mask", "layout", "progress"}),
    (_train_options.Options, "+internal/tt_options.m", {"devices", "progress"}),
]


def matlab_names(file: str) -> set[str]:
    """What stands in `names = {...}`."""
    path = MATLAB / file
    if not path.is_file():
        pytest.skip("no MATLAB package beside the tests")
    found = re.search(r"^\s*names = \{(.*?)\};", path.read_text(), flags=re.S | re.M)
    assert found, f"{file} has no list of names"
    return set(re.findall(r"'(\w+)'", found.group(1)))


@pytest.mark.parametrize(("options", "file", "alone"), CASES, ids=[case[1] for case in CASES])
def test_names_are_those_of_matlab(options: type, file: str, alone: set[str]) -> None:
    names = set(options.__annotations__)
    assert matlab_names(file) - alone == names


@pytest.mark.parametrize(("options", "file", "alone"), CASES, ids=[case[1] for case in CASES])
def test_the_documentation_has_every_name(options: type, file: str, alone: set[str]) -> None:
    path = ROOT / "docs" / "sshopm.md"
    if not path.is_file():
        pytest.skip("no documentation beside the tests")
    start = path.read_text().index("### The same names in Python and MATLAB")
    table = path.read_text()[start:].split("\n\n")[2]
    call = {"+internal/tt_options.m": "contractions of tensor trains"}.get(file, f"`{file[:-2]}`")
    row = next(line for line in table.splitlines() if call in line)
    listed = set(re.findall(r"`(\w+)`", row.split("|")[2]))
    assert listed - {"starts"} == set(options.__annotations__) - {"starts"}


# MATLAB's help, the struct with the library's defaults, and the Python function whose parameter has another name.
DEFAULTS: list[tuple[str, type, str, Any, str]] = [
    ("sshopm_solve.m", _structs.SshopmOptions, "sshopm_options", sshopm.solve, "pairs"),
    ("dwi_fit.m", _structs.DwiFitOptions, "dwi_fit_options", dwi.fit, ""),
    ("dwi_csa.m", _structs.DwiCsaOptions, "dwi_csa_options", dwi.csa, ""),
    ("dwi_peaks.m", _structs.DwiPeaksOptions, "dwi_peaks_options", dwi.peaks, "count"),
]


@pytest.mark.parametrize(("file", "struct", "name", "function", "listed"), DEFAULTS, ids=[case[0] for case in DEFAULTS])
def test_defaults_are_those_of_matlab(file: str, struct: Any, name: str, function: Any, listed: str) -> None:
    """Both leave the defaults to the library: the numbers of MATLAB's help are those, and its K is Python's."""
    path = MATLAB / file
    if not path.is_file():
        pytest.skip("no MATLAB package beside the tests")
    library, compared = initialised(struct, name), 0
    for line in path.read_text().splitlines():
        found = re.match(r"%     ((?:'\w+'(?:, )?)+) .*default (\d[\d.e-]*\d|\d)( degrees)?(?: and (\d[\d.]*\d))?", line)
        if not found:
            continue
        values = [float(text) for text in (found[2], found[4]) if text]
        for option, value in zip(re.findall(r"'(\w+)'", found[1]), values, strict=True):
            value *= 3.14159265358979323846 / 180 if found[3] else 1
            if option in ("pairs", "peaks"):
                stated = inspect.signature(function).parameters[listed].default
            else:
                stated = getattr(library, option)
            assert stated == pytest.approx(value, rel=1e-12), option
            compared += 1
    assert compared >= 1
