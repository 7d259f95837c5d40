"""Options have the same names in all languages, and the documentation of eigenpairs, diffusion and trains lists them."""

from __future__ import annotations

import inspect
import math
import re
from typing import Any

import pytest
from conftest import ROOT

from purlin import _options, _sshopm_types, _structs, _train_options, dwi, sshopm
from purlin._context import initialized

MATLAB = ROOT / "bindings" / "matlab" / "+purlin"

# Python's options, the MATLAB file, and names that only MATLAB has: arguments of the Python function, or optional outputs.
CASES = [
    (_sshopm_types.Options, "sshopm_solve.m", {"pairs", "starts", "start_count", "full", "trace", "progress"}),
    (_sshopm_types.AllOptions, "sshopm_solve_all.m", {"pairs", "progress"}),
    (dwi.FitOptions, "dwi_fit.m", {"mask", "weights", "layout", "progress"}),
    (dwi.CsaOptions, "dwi_csa.m", {"mask", "layout", "progress"}),
    (dwi.PeaksOptions, "+internal/peaks_options.m", {"basis", "layout"}),
    (_train_options.Options, "+internal/tt_options.m", {"devices", "progress"}),
]


def matlab_names(file: str) -> set[str]:
    """The names in `names = [purlin.internal.option_names('family'), {...}]`."""
    path = MATLAB / file
    if not path.is_file():
        pytest.skip("no MATLAB package beside the tests")
    pattern = r"^\s*names = \[purlin\.internal\.option_names\('(\w+)'\),.*?\{(.*?)\}\];"
    found = re.search(pattern, path.read_text(), flags=re.S | re.M)
    assert found, f"{file} has no list of names"
    listed = (MATLAB / "+internal" / "option_names.m").read_text().split(f"case '{found.group(1)}'\n")[1].split("};")[0]
    return set(re.findall(r"'(\w+)'", listed + found.group(2)))


@pytest.mark.parametrize(("options", "file", "alone"), CASES, ids=[case[1] for case in CASES])
def test_names_are_those_of_matlab(options: type, file: str, alone: set[str]) -> None:
    # MATLAB makes the group itself, of `devices`.
    names = set(options.__annotations__) - {"group"}
    assert matlab_names(file) - alone == names


@pytest.mark.parametrize(("options", "file", "alone"), CASES, ids=[case[1] for case in CASES])
def test_the_documentation_has_every_name(options: type, file: str, alone: set[str]) -> None:
    path = ROOT / "docs" / "sshopm.md"
    if not path.is_file():
        pytest.skip("no documentation beside the tests")
    start = path.read_text().index("### The same names in Python and MATLAB")
    table = path.read_text()[start:].split("\n\n")[2]
    shared = {"+internal/tt_options.m": "contractions of tensor trains", "+internal/peaks_options.m": "`dwi_peaks`"}
    call = shared.get(file, f"`{file[:-2]}`")
    row = next(line for line in table.splitlines() if call in line)
    listed = set(re.findall(r"`(\w+)`", row.split("|")[2]))
    assert listed - {"starts"} == set(options.__annotations__) - {"starts", "group"}


# MATLAB's help, Python's options, the struct with the library's defaults, the words of choices, and the Python function
# and its parameter that MATLAB has as an option.
DEFAULTS: list[tuple[str, type, type, str, Any, Any, str]] = [
    (
        "sshopm_solve.m",
        _sshopm_types.Options,
        _structs.SshopmOptions,
        "sshopm_options",
        _options.WORDS["sshopm_options"],
        sshopm.solve,
        "pairs",
    ),
    (
        "sshopm_solve_all.m",
        _sshopm_types.AllOptions,
        _structs.SshopmOptions,
        "sshopm_options",
        _options.WORDS["sshopm_options"],
        None,
        "",
    ),
    ("dwi_fit.m", dwi.FitOptions, _structs.DwiOptions, "dwi_options", _options.WORDS["dwi_options"], None, ""),
    ("dwi_csa.m", dwi.CsaOptions, _structs.DwiOptions, "dwi_options", {}, None, ""),
    (
        "dwi_peaks.m",
        dwi.PeaksOptions,
        _structs.DwiOptions,
        "dwi_options",
        _options.WORDS["dwi_options"],
        dwi.peaks,
        "count",
    ),
    (
        "tt_inner.m",
        _train_options.Options,
        _structs.TtContractionOptions,
        "tt_contraction_options",
        _options.WORDS["tt_contraction_options"],
        None,
        "",
    ),
]

# Options whose default, 0 or -1, leaves the choice to the library. The help states the default of every other one.
CHOSEN = {
    "sshopm_solve.m": {
        "max_iterations",
        "shift",
        "tolerance",
        "tau",
        "warmup",
        "merge_angle",
        "merge_value",
        "degeneracy_tolerance",
    },
    "sshopm_solve_all.m": {
        "starts",
        "max_starts",
        "max_iterations",
        "tolerance",
        "merge_angle",
        "merge_value",
        "degeneracy_tolerance",
    },
    "dwi_fit.m": {"clamp"},
    "dwi_csa.m": set(),
    "dwi_peaks.m": {"max_iterations", "starts", "tolerance", "merge_angle"},
    "tt_inner.m": {"cut", "block", "workspace_limit"},
}


def stated_defaults(help_text: str) -> dict[str, str | float]:
    """The defaults that the help of a MATLAB function states, as "'word' (default)" or "default 3 and 4"."""
    stated: dict[str, str | float] = {}
    for entry in re.split(r"\n%     (?=')", help_text.split("\n%   Errors:")[0])[1:]:
        head = re.match(r"(?:'\w+'(?:, )?)+", entry)
        assert head
        names, text = re.findall(r"'(\w+)'", head[0]), " ".join(entry[head.end() :].replace("\n%", " ").split())
        chosen = re.findall(r"(?:'(\w+)'|\b(true|false)) \((?:[^)]*, )?default\)", text)
        values: list[str | float] = [word or flag for word, flag in chosen]
        for number in re.findall(r"default (\d[\d.e-]*\d|\d)( degrees)?(?: and (\d[\d.e-]*\d|\d))?", text):
            unit = math.pi / 180 if number[1] else 1.0
            values += [float(n) * unit for n in (number[0], number[2]) if n]
        if values:
            assert len(names) == len(values)
            stated |= zip(names, values)
    return stated


@pytest.mark.parametrize(
    ("file", "options", "struct", "name", "words", "function", "listed"), DEFAULTS, ids=[case[0] for case in DEFAULTS]
)
def test_defaults_are_those_of_matlab(
    file: str, options: type, struct: Any, name: str, words: Any, function: Any, listed: str
) -> None:
    """Both leave the defaults to the library. MATLAB's help states each that is not 0 or -1 for a choice of the library."""
    path = MATLAB / file
    if not path.is_file():
        pytest.skip("no MATLAB package beside the tests")
    library, stated = initialized(struct, name), stated_defaults(path.read_text())
    for option in set(options.__annotations__) & CHOSEN[file]:
        assert getattr(library, option) in (0, -1), option
    if function is not None:
        k = stated.pop("pairs" if listed == "pairs" else "peaks")
        assert inspect.signature(function).parameters[listed].default == k
    stated.pop("layout", None)
    assert set(stated) == set(options.__annotations__) - CHOSEN[file] - {"group"}
    for option, value in stated.items():
        if option in words:
            value = words[option][value]
        elif isinstance(value, str):
            value = int(value == "true")
        assert getattr(library, option) == pytest.approx(value, rel=1e-12), option


# MATLAB's options that C does not have: those that docs/interface.md explains, and those that only the package uses
# internally.
ONLY_MATLAB = {"devices", "layout", "complex", "start_count"}


def c_names() -> tuple[dict[str, set[str]], set[str]]:
    """The fields of each struct of the C header, and the parameters of its functions."""
    path = ROOT / "include" / "purlin.h"
    if not path.is_file():
        pytest.skip("no C header beside the tests")
    text = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.S)
    structs = re.findall(r"typedef struct (purlin_\w+) \{(.*?)\n\}", text, flags=re.S)
    fields = {name: set(re.findall(r"(\w+)(?:\[[^\]]*\])?;", body)) for name, body in structs}
    lists = re.findall(r"purlin_status purlin_\w+\((.*?)\);", text, flags=re.S)
    return fields, {p.split()[-1].lstrip("*") for parameters in lists for p in parameters.split(",")}


def test_options_of_matlab_are_names_of_c() -> None:
    fields, parameters = c_names()
    names = parameters.union(*fields.values(), ONLY_MATLAB)
    files = [path for path in MATLAB.rglob("*.m") if path.name != "option_names.m"]
    seen: set[str] = set()
    for path in files:
        code = "\n".join(line for line in path.read_text().splitlines() if not line.lstrip().startswith("%"))
        lists = re.findall(r"(?:names|known|listed|planned) = (.*?);\n", code, flags=re.S)
        lists += re.findall(r"_(?:options|inputs)\([^,()]*, (\{.*?\})\)", code, flags=re.S)
        lists += re.findall(r"internal\.options\((.*?), (?:varargin|given|\{\w)", code, flags=re.S)
        cells = [cell for text in lists for cell in re.findall(r"\{(.*?)\}", text, flags=re.S)]
        found = {name for cell in cells for name in re.findall(r"'(\w+)'", cell)}
        assert found <= names, f"{path.name}: {found - names}"
        seen |= found
    assert {"dtype", "omega", "sparse", "grid", "assignment"} <= seen and ONLY_MATLAB <= seen


def test_options_of_cpp_are_names_of_c() -> None:
    fields, _ = c_names()
    headers = "".join(path.read_text() for path in (ROOT / "include" / "purlin").glob("*.hpp"))
    structs = re.findall(r"struct \w+ : (purlin_\w+_options) \{\n(.*?)\n\};", headers, flags=re.S)
    assert len(structs) > 8
    for of, body in structs:
        members = re.findall(r"^  [\w:]+ (\w+)(?: = [^;]*)?;", body, flags=re.M)
        assert {name.removeprefix("on_") for name in members} <= fields[of], of


def test_options_of_python_are_names_of_c() -> None:
    fields, _ = c_names()
    names = set().union(*fields.values())
    for name, options in vars(_options).items():
        if name.endswith("Options") and isinstance(options, type):
            assert {option.rstrip("_") for option in options.__annotations__} <= names, name
