"""The types of public results: none is `Any`, and those of a program are as `typed_program.py` says."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import inspect
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, get_type_hints

import pytest

import purlin

FOLDER = Path(purlin.__file__).parent
FAMILIES = [name for name in purlin.__all__ if inspect.ismodule(getattr(purlin, name))]
# Members with these names are results, too.
OPERATORS = re.compile(r"__(matmul|getitem|call|len|iter|dlpack|dlpack_device|enter|reduce)__")
# Inputs: each is an option of a function of the family, whose types differ.
INPUTS = {"Estimator.options"}


def modules() -> list[ModuleType]:
    """The public modules; that of the estimators where scikit-learn is."""
    found = [purlin, *(importlib.import_module(f"purlin.{name}") for name in FAMILIES)]
    return found + ([importlib.import_module("purlin.sklearn")] if importlib.util.find_spec("sklearn") else [])


def definitions(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements of a module or a class with those behind `if`."""
    for one in body:
        if isinstance(one, ast.If):
            yield from definitions([*one.body, *one.orelse])
        else:
            yield one


def has_any(annotation: ast.expr | None) -> bool:
    """Whether a type has `Any`, but as the parameter of NumPy's `dtype`."""
    text = "Any" if annotation is None else ast.unparse(annotation)
    return re.search(r"\bAny\b", text.replace("np.dtype[Any]", "")) is not None


def is_overload(function: ast.stmt) -> bool:
    return isinstance(function, ast.FunctionDef) and any(ast.unparse(d) == "overload" for d in function.decorator_list)


def of_functions(body: list[ast.stmt], place: str, names: set[str] | None) -> Iterator[str]:
    """Functions that return `Any`: by their overloads, where there are some."""
    functions = [one for one in definitions(body) if isinstance(one, ast.FunctionDef)]
    overloaded = {one.name for one in functions if is_overload(one)}
    for one in functions:
        is_public = one.name in names if names is not None else not one.name.startswith("_") or OPERATORS.fullmatch(one.name)
        if is_public and (is_overload(one) or one.name not in overloaded) and has_any(one.returns) and one.name != "__reduce__":
            yield f"{place}{one.name}"


def of_classes(body: list[ast.stmt], names: set[str]) -> Iterator[str]:
    """Fields and methods of classes that are `Any`."""
    for one in definitions(body):
        if isinstance(one, ast.ClassDef) and one.name in names:
            for field in definitions(one.body):
                if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) and not field.target.id.startswith("_"):
                    if has_any(field.annotation) and f"{one.name}.{field.target.id}" not in INPUTS:
                        yield f"{one.name}.{field.target.id}"
            yield from of_functions(one.body, f"{one.name}.", None)


def results_of_any(trees: dict[str, ast.Module], public: dict[str, set[str]]) -> list[str]:
    """The public results that are `Any`: `public` has by modules of the package the names that are public or bases of such."""
    found: list[str] = []
    for module, names in public.items():
        found += [f"{module}: {one}" for one in of_functions(trees[module].body, "", names)]
        found += [f"{module}: {one}" for one in of_classes(trees[module].body, names)]
    return sorted(found)


def public_names() -> dict[str, set[str]]:
    """By the module of the package that defines them: the public functions, and the public classes with their bases."""
    found: dict[str, set[str]] = {}
    for module in modules():
        for name in module.__all__:
            thing = getattr(module, name)
            for one in thing.__mro__ if isinstance(thing, type) else [thing]:
                where = getattr(one, "__module__", "")
                if where.partition(".")[0] == "purlin" and (isinstance(one, type) or inspect.isfunction(one)):
                    found.setdefault(where, set()).add(one.__name__)
    return found


def parsed(public: dict[str, set[str]]) -> dict[str, ast.Module]:
    return {module: ast.parse(Path(str(sys.modules[module].__file__)).read_text()) for module in public}


def test_no_public_result_is_any() -> None:
    public = public_names()
    assert sum(map(len, public.values())) > 150
    assert results_of_any(parsed(public), public) == []


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("def f() -> Any: ...", ["m: f"]),
        ("def f(a: Any) -> int: ...", []),
        ("def f(): ...", ["m: f"]),
        ("def f() -> tuple[Array, Any]: ...", ["m: f"]),
        ("def f() -> np.dtype[Any]: ...", []),
        ("@overload\ndef f() -> int: ...\ndef f() -> Any: ...", []),
        ("@overload\ndef f() -> Any: ...\ndef f() -> int: ...", ["m: f"]),
        ("class C:\n  x: Any\n  _y: Any\n  def g(self) -> Any: ...", ["m: C.g", "m: C.x"]),
        ("if TYPE_CHECKING:\n  class C:\n    x: Any", ["m: C.x"]),
        ("class C:\n  def __matmul__(self, x: int) -> Any: ...", ["m: C.__matmul__"]),
    ],
)
def test_results_of_any_are_found(source: str, found: list[str]) -> None:
    assert results_of_any({"m": ast.parse(source)}, {"m": {"f", "C"}}) == found


@pytest.mark.parametrize("module", modules(), ids=lambda module: module.__name__)
def test_modules_list_their_public_names(module: ModuleType) -> None:
    listed: list[str] = module.__all__
    assert len(listed) == len(set(listed))
    space: dict[str, Any] = {}
    exec(f"from {module.__name__} import *", space)
    assert set(space) - {"__builtins__"} == set(listed)
    defined = {
        name
        for name, thing in vars(module).items()
        if not name.startswith("_") and inspect.isfunction(thing) and thing.__module__ == module.__name__
    }
    # The packages' own: whatever stands for a sparse matrix.
    assert defined - set(listed) <= {"of", "context_of", "raw_options", "read_info", "borrowed"}


def annotated() -> Iterator[tuple[str, Any]]:
    """What is public and has annotations: functions, classes, their methods and the functions of their properties."""
    for module in modules():
        for name in module.__all__:
            thing = getattr(module, name)
            if not inspect.isfunction(thing) and not isinstance(thing, type):
                continue
            yield f"{module.__name__}.{name}", thing
            for one in thing.__mro__ if isinstance(thing, type) else ():
                if one.__module__.partition(".")[0] != "purlin":
                    continue
                for key, member in vars(one).items():
                    member = getattr(member, "fget", None) or getattr(member, "__func__", member)
                    if inspect.isfunction(member) and member.__module__.partition(".")[0] == "purlin":
                        yield f"{module.__name__}.{name}.{key}", member


@pytest.mark.skipif(sys.version_info < (3, 10), reason="annotations have `X | Y`")
def test_annotations_can_be_read_while_a_program_runs() -> None:
    found = dict(annotated())
    assert len(found) > 400
    problems = {}
    for name, thing in found.items():
        try:
            get_type_hints(thing)
        except Exception as error:
            problems[name] = error
    assert problems == {}


def test_the_package_imports_none_that_is_for_types_alone() -> None:
    program = "import sys, purlin; print(*{'scipy', 'torch', 'cupy', 'sklearn', 'typing_extensions'} & sys.modules.keys())"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert run.stdout.split() == [], run.stdout


def test_a_program_has_the_types_that_it_says() -> None:
    pytest.importorskip("mypy")
    environment = dict(os.environ)
    environment.pop("MYPYPATH", None)
    if FOLDER.parent.name != "site-packages":
        environment["MYPYPATH"] = str(FOLDER.parent)
    program = Path(__file__).with_name("typed_program.py")
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", os.devnull, str(program)]
    run = subprocess.run(command, env=environment, cwd=program.parent, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr
