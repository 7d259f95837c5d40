"""`help` lists the keyword options of functions with the defaults that the generated classes of options state."""

from __future__ import annotations

import importlib
import inspect
import math
import pydoc
import re
from collections.abc import Iterator
from typing import Any

import pytest

import purlin
from purlin import _help, _keywords, _options

MODULES = "dwi fdk graph lanczos pca rpca rsvd spmv sshopm tt".split()


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
    assert list(found) == list(options.__annotations__)
    for option, default in stated(options).items():
        if default.startswith('"'):
            assert found[option] == repr(default.strip('"')), option
        elif default in ("True", "False", "None"):
            assert found[option] == default, option
        else:
            assert float(found[option]) == pytest.approx(eval(default, {"pi": math.pi}), rel=1e-11), option
    assert _help.HEADER in pydoc.render_doc(thing, renderer=pydoc.plaintext)


def test_words_of_choices_are_listed() -> None:
    text = " ".join((inspect.getdoc(purlin.rsvd.compute) or "").split())
    for word in _options.WORDS["rsvd_options"]["method"]:
        assert repr(word) in text.partition("method = 'auto'")[2].partition("orthonormalization")[0]


def test_each_class_of_options_has_a_struct() -> None:
    classes = {kind for kind in vars(_options).values() if isinstance(kind, type) and kind.__name__.endswith("Options")}
    assert classes == set(_keywords.STRUCTS)
