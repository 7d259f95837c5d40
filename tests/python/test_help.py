"""`help` lists the keyword options of functions with the defaults that the generated classes of options state."""

from __future__ import annotations

import ast
import dataclasses
import importlib
import importlib.util
import inspect
import math
import pydoc
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import purlin
from purlin import _arguments, _help, _keywords, _meanings, _options, blocks, graph, lanczos, pca, rsvd, sshopm, tt

MODULES = [name for name in purlin.__all__ if inspect.ismodule(getattr(purlin, name))]


def stated(options: type) -> dict[str, str]:
    """The defaults beside the names of a generated class of options, those that it inherits included."""
    source = inspect.getsource(_options)
    made = re.search(rf"^class {options.__name__}\((.*)\):\n((?:(?:    .*)?\n)*)", source, flags=re.M)
    assert made
    found: dict[str, str] = {}
    for parent in re.findall(r"\w+Options", made[1]):
        found |= stated(getattr(_options, parent))
    return found | dict(re.findall(r"^    (\w+): .*# default (.*)$", made[2], flags=re.M))


def documented() -> Iterator[tuple[str, Any, type]]:
    """Functions, classes and methods that take options."""
    for module in MODULES:
        space = importlib.import_module(f"purlin.{module}")
        for name, thing in vars(space).items():
            if name.startswith("_") or not getattr(thing, "__module__", "").startswith("purlin"):
                continue
            members = [(name, thing, thing.__init__ if isinstance(thing, type) else thing)]
            if isinstance(thing, type):
                members += [(f"{name}.{key}", one, one) for key, one in vars(thing).items() if not key.startswith("_")]
            for key, shown, function in members:
                annotation = getattr(function, "__annotations__", {}).get("options")
                if isinstance(annotation, str) and annotation.startswith("Unpack["):
                    yield f"{module}.{key}", shown, function.__globals__[annotation[7:-1]]


DOCUMENTED = list(documented())


def test_the_list_has_the_entry_points() -> None:
    names = {name for name, _, _ in DOCUMENTED}
    assert {"rsvd.compute", "rsvd.Rsvd", "pca.PCA", "rpca.compute", "lanczos.solve", "lanczos.Lanczos", "graph.embed"} <= names
    assert {"fdk.reconstruct", "dwi.peaks", "sshopm.solve", "tt.inner", "tt.Contraction", "spmv.Plan"} <= names


@pytest.mark.parametrize(("name", "thing", "options"), DOCUMENTED, ids=[name for name, _, _ in DOCUMENTED])
def test_help_lists_options_with_their_defaults(name: str, thing: Any, options: type) -> None:
    text = inspect.getdoc(thing) or ""
    own, header, listed = text.partition(_help.HEADER)
    assert header and own.strip(), name
    found = dict(re.findall(r"^    (\w+)(?: = (\S+))?  \(", listed, flags=re.M))
    refused = _help.REFUSED.get(name, {})
    assert list(found) == [option for option in options.__annotations__ if refused.get(option) != ()]
    for option, default in stated(options).items():
        if option not in found:
            continue
        if default.startswith('"'):
            assert found[option] == repr(default.strip('"')), option
        elif default in ("True", "False", "None"):
            assert found[option] == default, option
        else:
            assert float(found[option]) == pytest.approx(eval(default, {"pi": math.pi}), rel=1e-11), option
    assert _help.HEADER in pydoc.render_doc(thing, renderer=pydoc.plaintext)


def test_words_of_choices_are_listed() -> None:
    text = " ".join((inspect.getdoc(rsvd.Rsvd) or "").split())
    for word in _options.WORDS["rsvd_options"]["method"]:
        assert repr(word) in text.partition("method = 'auto'")[2].partition("orthonormalization")[0]


DATA = np.random.default_rng(0).standard_normal((60, 30))
SQUARE = DATA[:30] @ DATA[:30].T
PATH = np.diag(np.ones(199), -1) + np.diag(np.ones(199), 1)
TENSORS = np.random.default_rng(1).standard_normal((4, 15))
STARTS = np.random.default_rng(2).standard_normal((4, 3))
RING = [np.random.default_rng(3).standard_normal((2, 3, 2))] * 3



def stored(array: Any, in_blocks: bool) -> Any:
    return blocks.Source.from_array(array) if in_blocks else array


# One call of each function that leaves options out. `size` is the number of triplets or columns.
CALLS: dict[str, Callable[..., Any]] = {
    "rsvd.compute": lambda size=3, in_blocks=False, **given: rsvd.compute(stored(DATA, in_blocks), size, **given),
    "rsvd.range_finder": lambda size=5, in_blocks=False, **given: rsvd.range_finder(stored(DATA, in_blocks), size, **given),
    "rsvd.qb": lambda size=5, in_blocks=False, **given: rsvd.qb(stored(DATA, in_blocks), size, **given),
    "rsvd.symmetric": lambda size=3, in_blocks=False, **given: rsvd.symmetric(stored(SQUARE, in_blocks), size, **given),
    "pca.PCA": lambda size=3, in_blocks=False, **given: pca.PCA(size, **given).fit(stored(DATA, in_blocks)),
    "lanczos.singular": lambda **given: lanczos.singular(PATH, 3, **given),
    "lanczos.plan_singular": lambda **given: lanczos.plan_singular(PATH, 3, **given),
    "graph.embed": lambda **given: graph.embed(PATH, 2, **given),
    "graph.cluster": lambda **given: graph.cluster(PATH, 2, **given),
    "graph.fiedler": lambda **given: graph.fiedler(PATH, **given),
    "sshopm.runs": lambda **given: sshopm.runs(TENSORS, STARTS, **given),
    "tt.inner": lambda **given: tt.inner(RING, RING, **given),
    "tt.norm": lambda **given: tt.norm(RING, **given),
    "tt.distance": lambda **given: tt.distance(RING, RING, **given),
    "tt.sandwich": lambda **given: tt.sandwich(RING, tt.identity([3, 3, 3]), RING, **given),
    "tt.rayleigh": lambda **given: tt.rayleigh(tt.identity([3, 3, 3]), RING, **given),
}

# Values other than the default of options that are not words, with the other options that they need.
BY_TOLERANCE = {"size": 0, "tolerance": 0.5}
VALUES: dict[str, dict[str, Any]] = {
    "oversampling": {"oversampling": 7},
    "power_iterations": {"power_iterations": 3},
    "max_rank": {"max_rank": 5, **BY_TOLERANCE},
    "block_columns": {"block_columns": 4, **BY_TOLERANCE},
    "block_rows": {"block_rows": 16},
    "merge_width": {"merge_width": 20, "method": "merge"},
    "probes": {"probes": 5},
    "seed": {"seed": 3},
    "smallest_ratio": {"smallest_ratio": 1e-6},
    "dtype": {"dtype": "float32"},
    "one_pass": {"one_pass": True, "method": "merge"},
    "read_rate": {"read_rate": 1e9, "in_blocks": True},
    "scale": {"scale": True, "center": "columns"},
    "shift": {"shift": 0.5},
    "sigma": {"sigma": 0.3},
    "basis": {"basis": 20},
    "restarts": {"restarts": 50},
    "block": {"block": 2},
    "degree": {"degree": 4, "filter": "chebyshev"},
    "check_symmetry": {"check_symmetry": True},
    "cut": {"cut": 1},
    "repeat": {"repeat": 3},
    "workspace_limit": {"workspace_limit": 1 << 24},
    "assume_hermitian": {"assume_hermitian": True},
    "remove_isotropic": {"remove_isotropic": False},
    "max_iterations": {"max_iterations": 300},
    "warmup": {"warmup": 3},
    "tau": {"tau": 1e-6, "shift_kind": "adaptive", "method": "power"},
    "merge_angle": {"merge_angle": 0.05},
    "merge_value": {"merge_value": 0.01},
    "degeneracy_tolerance": {"degeneracy_tolerance": 1e-3},
}
# Tolerances differ by family: a decomposition finds its rank by one.
TOLERANCES = {"rsvd": BY_TOLERANCE, "pca": BY_TOLERANCE}


def options_of(name: str) -> type:
    return next(options for key, _, options in DOCUMENTED if key == name)


def tried(name: str, option: str, words: Iterable[str] | None, tmp_path: Path) -> list[dict[str, Any]]:
    """Arguments that give an option a value other than its default: one for each word of a choice."""
    if words is not None:
        return [{option: word} for word in words]
    if option == "restart_path":
        return [{option: tmp_path / "restart"}]
    if option == "tolerance":
        return [TOLERANCES.get(name.split(".")[0], {option: 1e-3})]
    return [VALUES[option]]


def test_each_function_that_leaves_options_out_is_called() -> None:
    assert set(CALLS) == set(_help.REFUSED)
    assert set(CALLS) <= {name for name, _, _ in DOCUMENTED}


LEFT_OUT = [(name, option) for name, refused in _help.REFUSED.items() for option in refused]


@pytest.mark.parametrize(("name", "option"), LEFT_OUT)
def test_options_that_help_leaves_out_are_refused(name: str, option: str, tmp_path: Path) -> None:
    words: Iterable[str] | None = _help.REFUSED[name][option]
    if not words:
        known = _options.WORDS[_keywords.STRUCTS[options_of(name)]].get(option)
        default = stated(options_of(name)).get(option)
        words = None if known is None else [word for word in known if f'"{word}"' != default]
    cases = tried(name, option, words, tmp_path)
    assert cases
    for given in cases:
        # With the options that it needs, and by itself: one of those is refused as well.
        with pytest.raises((TypeError, ValueError, purlin.Error)) as caught:
            CALLS[name](**given)
        assert any(re.search(rf"\b{key}\b", str(caught.value)) for key in given), caught.value
        if not set(given) & {"size"}:
            with pytest.raises((TypeError, ValueError, purlin.Error), match=rf"\b{option}\b"):
                CALLS[name](**{option: given[option]})


# Options of several contexts or of a GPU.
ELSEWHERE = {"group", "math", "resident_rows"}


def listed(name: str) -> dict[str, list[str]]:
    """The options in the help of a function, with their words."""
    thing = next(thing for key, thing, _ in DOCUMENTED if key == name)
    text = (inspect.getdoc(thing) or "").partition(_help.HEADER)[2]
    entries = re.findall(r"^    (\w+)(?: = (\S+))?  \(((?:.|\n {8})*?)\)$", text, flags=re.M)
    found = {option: re.findall(r"'(\w+)'", kind) for option, _, kind in entries}
    return {option: [word for word in found[option] if repr(word) != default] for option, default, _ in entries}


@pytest.mark.parametrize(
    ("name", "option"), [(name, option) for name in CALLS for option in listed(name) if option not in ELSEWHERE]
)
def test_options_that_help_lists_are_taken(name: str, option: str, tmp_path: Path) -> None:
    words = listed(name)[option] or None
    for given in tried(name, option, words, tmp_path):
        if option == "one_pass":
            given["left"] = False
        try:
            CALLS[name](**given)
        except purlin.NoConvergence:
            return
        except (ValueError, purlin.Error) as error:
            if words is None or given[option] == words[-1]:
                raise AssertionError(f"{name}: no call takes {option}") from error
        else:
            return


def test_each_class_of_options_has_a_struct() -> None:
    classes = {kind for kind in vars(_options).values() if isinstance(kind, type) and kind.__name__.endswith("Options")}
    assert classes == set(_keywords.STRUCTS)


@pytest.mark.parametrize(("name", "thing", "options"), DOCUMENTED, ids=[name for name, _, _ in DOCUMENTED])
def test_help_says_what_each_option_means(name: str, thing: Any, options: type) -> None:
    text = (inspect.getdoc(thing) or "").partition(_help.HEADER)[2]
    meanings = _meanings.MEANINGS[_keywords.STRUCTS[options]]
    for option in options.__annotations__:
        if _help.REFUSED.get(name, {}).get(option) == ():
            continue
        found = re.search(rf"^    {option}(?: = \S+)?  \((?:.|\n {{8}})*?\)$\n((?: {{8}}.*(?:\n|\Z))+)", text, flags=re.M)
        assert found, option
        meaning = " ".join(found[1].split())
        assert meaning == meanings[option.rstrip("_")] and len(meaning) > 8, option


def test_meanings_are_of_python() -> None:
    for struct, meanings in _meanings.MEANINGS.items():
        for option, text in meanings.items():
            assert not re.search(r"purlin_|PURLIN_|NULL|default \S+\.$", text), (struct, option, text)
            assert text.endswith(".") and text.count("`") % 2 == 0, (struct, option, text)


def public_functions() -> Iterator[tuple[str, Any, Any]]:
    """By public names: functions and methods, and classes with their constructors."""
    modules = [purlin, *(importlib.import_module(f"purlin.{module}") for module in MODULES)]
    if importlib.util.find_spec("sklearn"):
        modules.append(importlib.import_module("purlin.sklearn"))
    for module in modules:
        for name in module.__all__:
            thing = getattr(module, name)
            if inspect.isfunction(thing):
                yield f"{module.__name__}.{name}", thing, thing
            elif isinstance(thing, type) and thing.__module__.startswith("purlin") and not hasattr(thing, "__total__"):
                if inspect.isfunction(thing.__init__) and not hasattr(thing, "__dataclass_fields__"):
                    yield f"{module.__name__}.{name}", thing, thing.__init__
                for key in dir(thing):
                    member = inspect.getattr_static(thing, key)
                    member = getattr(member, "__func__", member)
                    if not key.startswith("_") and inspect.isfunction(member) and member.__module__.startswith("purlin"):
                        yield f"{module.__name__}.{name}.{key}", member, member


FUNCTIONS = list(public_functions())


def unnamed(thing: Any, function: Any) -> list[str]:
    """The arguments with defaults that the documentation does not name."""
    text = f"{inspect.getdoc(thing)} {function.__doc__}"
    named = [one for one in inspect.signature(function).parameters.values() if one.default is not one.empty]
    return [one.name for one in named if not re.search(rf"\b{one.name}\b", text)]


def test_documentation_names_every_argument_with_a_default() -> None:
    assert len(FUNCTIONS) > 250
    missing = {name: found for name, thing, function in FUNCTIONS if (found := unnamed(thing, function))}
    assert missing == {}


def test_an_argument_that_is_not_named_is_found() -> None:
    def function(a: int, size: int = 3, *, kind: str = "x") -> None:
        """Of a `size`."""

    assert unnamed(function, function) == ["kind"]


def test_help_of_the_package_explains_the_arguments_of_most_functions() -> None:
    for name in _help.EVERYWHERE:
        assert re.search(rf"^    {name} +\S", purlin.__doc__ or "", flags=re.M)
    assert "`context` and `stream` are as `help(purlin)` says." in (inspect.getdoc(sshopm.product) or "")


def test_each_shared_meaning_is_used() -> None:
    texts = {" ".join((inspect.getdoc(thing) or "").split()) for _, thing, _ in FUNCTIONS}
    unused = [key for key, text in _arguments.ARGUMENTS.items() if not any(" ".join(text.split()) in one for one in texts)]
    assert unused == []


def test_words_of_arguments_are_listed_where_a_signature_has_a_name_alone() -> None:
    hidden = [(name, thing, one, words) for name, thing, f in FUNCTIONS for one in f.__annotations__ if (words := _help.words_of(f, one))]
    assert {("purlin.symmetric.convert", "source"), ("purlin.graph.density", "kind"), ("purlin.Context", "backend")} <= {
        (name, one) for name, _, one, _ in hidden if one != "return"
    }
    for name, thing, one, words in hidden:
        text = inspect.getdoc(thing) or ""
        if one != "return" and ".sklearn." not in name:
            assert all(re.search(rf"[\"']{word}[\"']", text) for word in words), (name, one)


@pytest.mark.parametrize("name", ["rsvd", "rpca", "lanczos", "fdk", "dwi", "sshopm", "tt", "spmv"])
def test_help_of_a_report_says_what_each_field_means(name: str) -> None:
    kind = importlib.import_module(f"purlin.{name}").Info
    text = (inspect.getdoc(kind) or "").partition(_help.FIELDS)[2]
    for field in dataclasses.fields(kind):
        found = re.search(rf"^    {field.name}  \((?:.|\n {{8}})*?\)$\n((?: {{8}}.*(?:\n|\Z))+)", text, flags=re.M)
        assert field.name == "grid" or (found and len(found[1].strip()) > 8), field.name
    assert "'" in text or name not in ("rsvd", "fdk", "lanczos", "tt", "spmv")


def test_help_of_devices_and_contexts_says_what_each_field_means() -> None:
    assert "Bytes of device memory that are free now." in (inspect.getdoc(purlin.Device) or "")
    assert "Threads of the pool, at least 1." in (inspect.getdoc(purlin.ContextInfo) or "")


def test_meanings_of_reports_are_of_python() -> None:
    for struct, meanings in _meanings.REPORTS.items():
        for field, text in meanings.items():
            assert text.endswith(".") and not re.search(r"purlin_|PURLIN_|NULL|\b1 if\b", text), (struct, field, text)


# Files of the repository, but for the one that generated modules name.
ELSEWHERE_ALONE = r"\b(docs|tests|src|include)/(?!header: do not edit)|\.md\b"


def docstrings(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
            yield ast.get_docstring(node) or ""
        elif isinstance(node, (ast.Dict, ast.Assign)):
            # Texts of the command and of its options.
            values = node.values if isinstance(node, ast.Dict) else [node.value]
            yield from (v.value for v in values if isinstance(v, ast.Constant) and isinstance(v.value, str))


def test_no_documentation_refers_to_a_file_that_a_wheel_does_not_have() -> None:
    found: Mapping[str, list[str]] = {
        file.name: [text for text in docstrings(ast.parse(file.read_text())) if re.search(ELSEWHERE_ALONE, text)]
        for file in Path(purlin.__file__).parent.rglob("*.py")
    }
    assert len(found) > 50
    assert {name: texts for name, texts in found.items() if texts} == {}
