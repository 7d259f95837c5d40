"""The modules of the package import each other in one direction."""

from __future__ import annotations

import ast
from pathlib import Path

import purlin

FOLDER = Path(purlin.__file__).parent


def imported(text: str) -> set[str]:
    """Modules of the package that a module of it imports, also within functions."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and node.level == 1:
            found |= {node.module.split(".")[0]} if node.module else {name.name for name in node.names}
    return found


def circle(imports: dict[str, set[str]]) -> set[str]:
    """Modules that are left when those are removed, again and again, that import none of the rest."""
    left = dict(imports)
    while leaves := [name for name, used in left.items() if not used & left.keys()]:
        for name in leaves:
            del left[name]
    return set(left)


def test_no_circle_of_imports() -> None:
    assert circle({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}) == {"a", "b", "c", "d"}
    assert imported("def f():\n    from .spmv import Plan") == {"spmv"}
    assert imported("from . import _memory as memory, rsvd") == {"_memory", "rsvd"}
    modules = {file.stem: imported(file.read_text()) for file in FOLDER.glob("*.py") if file.stem != "__init__"}
    assert len(modules) > 30
    assert not circle(modules)
    assert not [name for name, used in modules.items() if "sklearn" in used]
    parts = {file.stem: imported(file.read_text()) for file in (FOLDER / "sklearn").glob("*.py")}
    assert parts["__init__"] > {"_low_rank"} and not circle(parts)
