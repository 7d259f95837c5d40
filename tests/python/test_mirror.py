"""The generated modules agree with the header, which this file parses by itself: fields, argument types, constants."""

from __future__ import annotations

import ctypes
import re
from typing import Any

import pytest
from conftest import ROOT

from purlin import _constants, _lib, _prototypes, _structs

_INTEGERS = {
    "int32_t": ctypes.c_int32,
    "int64_t": ctypes.c_int64,
    "uint64_t": ctypes.c_uint64,
    "double": ctypes.c_double,
    "size_t": ctypes.c_size_t,
    "purlin_dtype": ctypes.c_int32,
    "purlin_location": ctypes.c_int32,
    "purlin_flags": ctypes.c_int32,
    "purlin_function_fn": ctypes.c_void_p,
    "purlin_log_fn": _structs.LOG,
    "purlin_progress_fn": _structs.PROGRESS,
    "purlin_read_fn": _structs.BLOCK,
    "purlin_write_fn": _structs.BLOCK,
    "purlin_apply_fn": _structs.APPLY,
}


@pytest.fixture(scope="module")
def header() -> str:
    path = ROOT / "include" / "purlin.h"
    if not path.is_file():
        pytest.skip("no header beside the tests")
    return re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.S)


def ctype(declaration: str) -> tuple[str, Any]:
    """Name and ctypes type of `type name`, `type *name` or `type name[count]`."""
    declaration = declaration.strip().replace("*const *", "**")
    match = re.fullmatch(r"(?:const )?(?:struct )?(\w+) (?:const )?(\**)(\w*)(?:\[(\d+)\])?", declaration)
    assert match, declaration
    base, stars, name, count = match.groups()
    if stars:
        return name, ctypes.c_void_p
    if base == "char":
        return name, ctypes.c_char * int(count)
    if count:
        return name, _INTEGERS[base] * int(count)
    return name, _INTEGERS[base]


def test_structs(header: str) -> None:
    mirrored = {
        "".join(word.capitalize() for word in name.removesuffix("_init").split("_")): name for name in _prototypes.INITS
    }
    assert len(mirrored) == len(_prototypes.INITS) >= 11
    for struct, name in mirrored.items():
        match = re.search(r"struct purlin_" + name + r" \{(.*?)\}", header, re.S)
        assert match, name
        fields = [ctype(line) for line in match.group(1).split(";") if line.strip()]
        assert fields == list(getattr(_structs, struct)._fields_), name


def test_prototypes(header: str) -> None:
    declared = dict(re.findall(r"purlin_status (purlin_\w+)\(([^)]*)\);", header))
    inits = {f"purlin_{name}_init" for name in _prototypes.INITS}
    assert set(declared) == inits | {"purlin_" + name for name in _prototypes.PROTOTYPES}
    for name, arguments in declared.items():
        expected = [ctype(argument)[1] for argument in re.sub(r"\s+", " ", arguments).split(",")]
        function = getattr(_lib.lib, name)
        found = [ctypes.c_void_p if issubclass(kind, ctypes._Pointer) else kind for kind in function.argtypes]
        assert found == expected, name


def test_constants(header: str) -> None:
    numbers = re.findall(r"#define PURLIN_(\w+) (-?\d+)\n", header) + re.findall(r"PURLIN_(\w+) = (-?\d+)", header)
    assert len(numbers) > 90
    for name, value in numbers:
        assert getattr(_constants, name) == int(value), name
