"""Attacks on the C boundary itself: every function of the header, with handles of any kind and age, null pointers at any
place, struct sizes that are wrong, sizes up to 2^63, misaligned and overlapping arrays, texts that are no UTF-8 or very long.

Arrays are far longer than the small sizes that are drawn, and the bytes of the large sizes exceed 63 bits. So no arguments
excuse a crash, and a call that is not refused has enough memory to compute. On a GPU contexts are of CUDA and objects in
device memory are among the handles. Arrays are host memory there, too: the library must refuse them as device memory."""

from __future__ import annotations

import ctypes
import mmap
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import purlin
from purlin import _lib

from attack import Bench, Finding, pick, require

HEADER = Path(__file__).resolve().parents[2] / "include" / "purlin.h"
# The status of a bug in purlin.
INTERNAL = -14
# Not called with random arguments: functions on memory of devices and of other libraries, and callbacks that outlive the call.
LEFT_OUT = re.compile(r"_device$|dlpack|wrap$|set_log$|device_properties")
# PURLIN_BACKEND_CPU, PURLIN_BACKEND_CUDA and PURLIN_DEVICE.
BACKENDS = {"cpu": 1, "cuda": 2}
DEVICE = 1
# Bytes of a message.
LIMIT = 1024
# Linux: pages are not counted before they are used. The module mmap knows its name from Python 3.13 on.
NO_RESERVE = 0x4000


def parse() -> tuple[dict[str, list[tuple[str, str]]], dict[str, list[tuple[str, str, int]]]]:
    """Functions with the types and names of their parameters, and structs with the type, name and length of their fields."""
    text = re.sub(r"/\*.*?\*/", "", HEADER.read_text(), flags=re.S)

    def split(piece: str) -> tuple[str, str, int]:
        found = re.fullmatch(r"\s*(.+?)\s*(\w+)(?:\[(\d+)\])?\s*", piece, re.S)
        assert found, piece
        kind = re.sub(r"\s+", " ", found[1]).replace("struct ", "").replace(" *", "*")
        return kind, found[2], int(found[3] or 0)

    functions = {}
    for name, inside in re.findall(r"PURLIN_MUST_USE\s+purlin_status (purlin_\w+)\((.*?)\);", text, re.S):
        if not LEFT_OUT.search(name) and inside.strip() != "void":
            functions[name] = [split(piece)[:2] for piece in inside.split(",")]
    structs = {
        name: [split(piece) for piece in body.split(";") if piece.strip()]
        for name, body in re.findall(r"typedef struct (\w+) \{(.*?)\} \w+;", text, re.S)
    }
    return functions, structs


FUNCTIONS, STRUCTS = parse()
# Types of objects, in the order of the header: the context first.
OBJECTS = tuple(re.findall(r"^purlin_status purlin_(\w+)_destroy\(", HEADER.read_text(), re.M))
SIZES = {"char": 1, "int32_t": 4, "purlin_dtype": 4, "purlin_flags": 4, "purlin_location": 4}


class Memory:
    """Input of 4 GiB that reads as zeros behind a part with numbers, and output of 64 MiB."""

    def __init__(self) -> None:
        self.input = mmap.mmap(-1, 4 << 30, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | NO_RESERVE)
        self.output = mmap.mmap(-1, 64 << 20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | NO_RESERVE)
        # These references keep the mappings alive.
        self.views = [ctypes.c_char.from_buffer(self.input), ctypes.c_char.from_buffer(self.output)]
        self.source, self.target = (ctypes.addressof(view) for view in self.views)

    def fill(self, rng: np.random.Generator) -> None:
        part = np.frombuffer(self.input, np.float64, 1 << 12)
        kind = pick(rng, "normal", "integers", "special", "zeros")
        if kind == "normal":
            part[:] = rng.standard_normal(len(part))
        elif kind == "special":
            part[:] = rng.choice([0.0, -0.0, np.nan, np.inf, -np.inf, 5e-324, 1e308, 1.0], len(part))
        elif kind == "integers":
            np.frombuffer(self.input, np.int64, 1 << 12)[:] = rng.integers(0, 4, len(part))
        else:
            part[:] = 0.0


MEMORY: list[Memory] = []


# Functions without the prototypes of the bindings, which would refuse this file's arguments.
C = ctypes.CDLL(_lib.lib._name)
C.purlin_last_error_message.restype = ctypes.c_char_p


def status(name: str, *arguments: Any) -> int:
    return int(getattr(C, name)(*arguments))


def message() -> bytes:
    return C.purlin_last_error_message()


class World:
    """Live objects of every kind, the handles of destroyed ones, and a folder for files."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        if not MEMORY:
            MEMORY.append(Memory())
        self.memory = MEMORY[0]
        self.memory.fill(rng)
        self.live: dict[str, list[int]] = {kind: [] for kind in OBJECTS}
        self.dead: list[int] = []
        # Buffers of the current call, and callbacks.
        self.held: list[Any] = []
        self.callbacks: list[Any] = []
        self.folder = tempfile.mkdtemp()

    def close(self) -> None:
        for kind in reversed(OBJECTS):
            for handle in self.live[kind]:
                require(status(f"purlin_{kind}_destroy", ctypes.c_void_p(handle)) == 0, f"{kind}_destroy: {message()!r}")
        shutil.rmtree(self.folder)

    def handle(self, kind: str) -> int:
        roll = self.rng.random()
        if self.live[kind] and roll < 0.9:
            return int(self.rng.choice(self.live[kind]))
        others = [h for handles in self.live.values() for h in handles]
        if others and roll < 0.94:
            return int(self.rng.choice(others))
        if self.dead and roll < 0.96:
            return int(self.rng.choice(self.dead))
        if roll < 0.98:
            return 0
        return int(pick(self.rng, 1, 8, self.memory.source, self.memory.source + 1, (1 << 64) - 1, int(self.rng.integers(1 << 62))))

    def number(self, is_large: bool) -> int:
        small = int(self.rng.choice([0, 1, 1, 2, 2, 3, 3, 4, 5, 6, 8, 13, 17]))
        if not is_large:
            return small
        return int(pick(self.rng, -1, -(1 << 63), (1 << 62), (1 << 63) - 1, (1 << 62) + 1, -2, small))

    def real(self) -> float:
        return float(self.rng.choice([0.0, 1.0, -1.0, 0.5, 1e-3, 1e-8, 1e-16, 2.0, 100.0, np.nan, np.inf, 5e-324, 1e308, -0.0]))

    def array(self, kind: str) -> int:
        """The address of an array of the caller's."""
        if self.rng.random() < 0.03:
            return 0
        address = self.memory.source if "const" in kind else self.memory.target
        if "const" not in kind and self.rng.random() < 0.1:
            address = self.memory.source
        # Elsewhere in the first page, aligned or not.
        offset = int(self.rng.integers(512))
        return address + (offset if self.rng.random() < 0.04 else offset // 64 * 64)

    def text(self) -> bytes | None:
        folder = self.folder.encode()
        files = sorted(os.listdir(folder))
        return pick(
            self.rng, None, b"", b"\xff\xfe/\x80", b"a" * 10_000_000, folder, folder + b"/new" + bytes([97 + int(self.rng.integers(5))]),
            folder + b"/x\ny.mha", folder + b"/v.tif", folder + b"/g.mtx.gz", folder + b"/" + (files or [b"no"])[0], b"/dev/null", b"/dev/zero",
            folder + b"/" + b"n" * 250, folder + b"/nul", b"/proc/self/mem",
        )

    def struct(self, name: str, reads: bool) -> int:
        """The address of a struct. 4096 bytes there are the caller's."""
        space = ctypes.create_string_buffer(4096 + 16)
        self.held.append(space)
        address = (ctypes.addressof(space) + 15) // 16 * 16
        if self.rng.random() < 0.05:
            return 0
        size = ctypes.c_size_t(self.size_of(name))
        initialize = name + "_init"
        if STRUCTS[name][0][1] != "struct_size":
            return address
        require(status(initialize, ctypes.c_void_p(address), size) == 0, f"{initialize}: {message()!r}")
        if reads:
            self.change(name, address)
        if self.rng.random() < 0.06:
            real = size.value
            wrong = pick(self.rng, 0, 1, 7, 8, real - 8, real - 1, real + 1, real + 8, 1024, 1025, 4096, 1 << 32, (1 << 64) - 1)
            ctypes.c_size_t.from_address(address).value = wrong
        return address

    def size_of(self, name: str) -> int:
        return self.offsets(name)[1]

    @staticmethod
    def offsets(name: str) -> tuple[list[tuple[str, str, int, int]], int]:
        """Type, name, place and number of the fields, and the size of the struct: every field is aligned to its size."""
        at, fields = 0, []
        for kind, field, count in STRUCTS[name]:
            size = SIZES.get(kind, 8)
            at = (at + size - 1) // size * size
            fields.append((kind, field, at, max(count, 1)))
            at += size * max(count, 1)
        return fields, (at + 7) // 8 * 8

    def change(self, name: str, address: int) -> None:
        """Sets random fields: each with a probability of 0.15, in fdk's geometries and grids of 0.7."""
        fields = [f for f in self.offsets(name)[0] if f[1] not in ("struct_size", "reserved")]
        often = name in ("purlin_fdk_geometry", "purlin_fdk_grid")
        for kind, field, at, count in fields:
            if self.rng.random() > (0.7 if often else 0.15):
                continue
            for k in range(count):
                place = address + at + k * SIZES.get(kind, 8)
                if kind == "double":
                    ctypes.c_double.from_address(place).value = self.real()
                elif kind in SIZES:
                    ctypes.c_int32.from_address(place).value = int(self.rng.choice([0, 1, 2, 3, 4, 5, -1, 100, 2**31 - 1, -(2**31)]))
                elif kind in ("int64_t", "uint64_t"):
                    number = self.number(self.rng.random() < 0.1)
                    # Contractions that are not by powers take as many steps as are asked for.
                    ctypes.c_int64.from_address(place).value = min(number, 1 << 16) if field == "repeat" else number
                elif kind == "size_t" or kind.endswith("_fn") or kind == "void*":
                    continue
                elif kind == "const char*":
                    text = self.text()
                    self.held.append(text)
                    ctypes.c_char_p.from_address(place).value = text
                elif kind == "const double*":
                    ctypes.c_size_t.from_address(place).value = self.array(kind)
                elif kind.endswith("*const*"):
                    ctypes.c_size_t.from_address(place).value = self.handles(kind)
                elif kind.rstrip("*").split()[-1].removeprefix("purlin_") in OBJECTS:
                    object_ = kind.rstrip("*").split()[-1].removeprefix("purlin_")
                    # Few groups begin with the context of the call.
                    is_none = object_ == "group" and self.rng.random() < 0.8
                    ctypes.c_size_t.from_address(place).value = 0 if is_none else self.handle(object_)
                else:
                    raise Finding(f"{name}.{field} has type {kind}, which this attack does not know")

    def handles(self, kind: str) -> int:
        object_ = re.sub(r"const|\*|purlin_| ", "", kind)
        if object_ == "char":
            texts = (ctypes.c_char_p * 64)(*[self.text() for _ in range(4)], *[b""] * 60)
            self.held.append(texts)
            return ctypes.addressof(texts)
        if object_ == "void":
            arrays = (ctypes.c_size_t * 64)(*[self.array("const void*") for _ in range(64)])
            self.held.append(arrays)
            return ctypes.addressof(arrays)
        handles = (ctypes.c_size_t * 64)(*[self.handle(object_) for _ in range(64)])
        self.held.append(handles)
        return ctypes.addressof(handles)

    def callback(self, kind: str) -> Any:
        result = int(self.rng.random() < 0.05)
        pointer, long, integer = ctypes.c_void_p, ctypes.c_int64, ctypes.c_int32
        if kind == "purlin_apply_fn":
            made = ctypes.CFUNCTYPE(integer, integer, long, pointer, long, pointer, long, ctypes.c_uint64, pointer)(lambda *_: result)
        elif kind == "purlin_function_fn":
            made = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double, pointer)(lambda x, _: x * x)
        else:
            made = ctypes.CFUNCTYPE(integer, pointer, pointer, pointer, pointer)(lambda *_: result)
        # A source may call it as long as it lives.
        self.callbacks.append(made)
        return None if self.rng.random() < 0.05 else made


def random_call(world: World, name: str) -> tuple[int, list[tuple[str, ctypes.c_size_t]], bool]:
    """Makes a call. Returns its status, the addresses of new handles, and whether a size was impossible."""
    rng = world.rng
    world.held.clear()
    arguments: list[Any] = []
    out: list[tuple[str, ctypes.c_size_t]] = []
    is_large = rng.random() < 0.15
    for kind, argument in FUNCTIONS[name]:
        bare = re.sub(r"const|\*|purlin_| ", "", kind)
        if kind.endswith("_fn"):
            arguments.append(world.callback(kind))
        elif kind.endswith("*const*"):
            arguments.append(ctypes.c_void_p(world.handles(kind)))
        elif kind.endswith("**") and bare in OBJECTS:
            place = ctypes.c_size_t(0)
            out.append((bare, place))
            arguments.append(None if rng.random() < 0.03 else ctypes.byref(place))
        elif kind.endswith("*") and bare in OBJECTS:
            is_optional = bare == "stream" and rng.random() < 0.8
            arguments.append(ctypes.c_void_p(0 if is_optional else world.handle(bare)))
        elif kind == "const char*":
            text = world.text()
            arguments.append(ctypes.c_char_p(text))
        elif kind.endswith("*") and f"purlin_{bare}" in STRUCTS:
            arguments.append(ctypes.c_void_p(0 if rng.random() < 0.2 else world.struct(f"purlin_{bare}", kind.startswith("const"))))
        elif kind.endswith("*") and bare == "int64_t" and kind.startswith("const"):
            numbers = (ctypes.c_int64 * 64)(*[world.number(is_large and rng.random() < 0.2) for _ in range(64)])
            world.held.append(numbers)
            arguments.append(ctypes.c_void_p(0) if rng.random() < 0.03 else numbers)
        elif kind.endswith("*"):
            arguments.append(ctypes.c_void_p(world.array(kind)))
        elif kind == "double":
            arguments.append(ctypes.c_double(world.real()))
        elif name.startswith("purlin_symmetric_") and kind == "int64_t":
            # The number of values that these functions write depends on order and dimension.
            arguments.append(ctypes.c_int64(int(rng.choice([0, 0, 1, 1, 2, 2, 3, 4, 5, 7, -1, 2**31 - 1, -(2**31)]))))
        elif kind == "int64_t":
            arguments.append(ctypes.c_int64(world.number(is_large)))
        elif kind == "uint64_t":
            arguments.append(ctypes.c_uint64(int(rng.integers(1 << 40))))
        elif kind == "size_t":
            # The caller owns a page.
            arguments.append(ctypes.c_size_t(int(rng.choice([0, 1, 7, 8, 48, 96, 128, 200, 256, 500, 1024, 1025]))))
        elif kind in ("purlin_dtype",):
            arguments.append(ctypes.c_int32(int(rng.choice([0, 1, 1, 1, 2, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 99, -1]))))
        elif kind == "purlin_location":
            arguments.append(ctypes.c_int32(int(rng.choice([0, 0, 0, 0, 1, 2, -1]))))
        elif kind == "purlin_flags":
            arguments.append(ctypes.c_int32(int(rng.choice([0, 0, 0, 1, 2, 3, 4, 8, -1]))))
        elif kind == "int32_t":
            arguments.append(ctypes.c_int32(int(rng.choice([0, 0, 1, 1, 2, 2, 3, 4, 5, 7, -1, 2**31 - 1, -(2**31)]))))
        else:
            raise Finding(f"{name} has a parameter {argument} of type {kind}, which this attack does not know")
    if os.environ.get("PURLIN_HUNT_TRACE"):
        print(name, *(a.value if hasattr(a, "value") else a for a in arguments), file=sys.stderr, flush=True)
    return status(name, *arguments), out, is_large


def checked_call(world: World, name: str, bench: Bench) -> None:
    result, out, is_large = random_call(world, name)
    text = message()
    require(-14 <= result <= 0, f"{name}: status {result}")
    require(result != INTERNAL, f"{name}: internal error {text!r}")
    require((result == 0) == (text == b""), f"{name}: status {result}, message {text!r}")
    # Such a device error ends the CUDA context of the process.
    require(b"ILLEGAL_ADDRESS" not in text and b"MISALIGNED_ADDRESS" not in text, f"{name}: a kernel read or wrote outside memory: {text!r}")
    require(len(text) <= LIMIT and b"\n" not in text and b"\r" not in text, f"{name}: message of {len(text)} bytes {text[:80]!r}")
    try:
        text.decode()
    except UnicodeDecodeError as error:
        raise Finding(f"{name}: message is no UTF-8: {text!r}") from error
    for kind, place in out:
        require(result == 0 or place.value == 0, f"{name}: status {result} and a handle")
        if place.value:
            # An object over memory that does not exist is legal; computing with it is not.
            if is_large or len(world.live[kind]) > 5:
                require(status(f"purlin_{kind}_destroy", ctypes.c_void_p(place.value)) == 0, f"{kind}_destroy: {message()!r}")
                world.dead.append(place.value)
            else:
                world.live[kind].append(place.value)
    bench.outcomes["done" if result == 0 else "refused"] += 1


def base_objects(world: World, backend: str) -> None:
    """Objects to begin with: a context with memory limits, and small objects of each kind, on a GPU in device memory as well."""
    on_gpu = backend == "cuda"
    space = ctypes.create_string_buffer(4096)
    size = ctypes.c_size_t(World.offsets("purlin_context_options")[1])
    require(status("purlin_context_options_init", space, size) == 0, "options")
    for kind, field, at, _ in World.offsets("purlin_context_options")[0]:
        if field == "backend":
            ctypes.c_int32.from_address(ctypes.addressof(space) + at).value = BACKENDS[backend]
        if field == "threads":
            ctypes.c_int64.from_address(ctypes.addressof(space) + at).value = 1
        if field == "host_memory_limit" or (on_gpu and field == "device_memory_limit"):
            ctypes.c_int64.from_address(ctypes.addressof(space) + at).value = 64 << 20
    context = make(world, "context", "purlin_context_create", space)
    here = ctypes.c_void_p(context)
    make(world, "group", "purlin_group_create", ctypes.c_int64(1), (ctypes.c_size_t * 1)(context), None)
    source, target = world.memory.source, world.memory.target

    def dims(*sizes: int) -> Any:
        return (ctypes.c_int64 * len(sizes))(*sizes)

    def long(value: int) -> ctypes.c_int64:
        return ctypes.c_int64(value)

    for dtype in (1, 2):
        for address, sizes in ((target, (6,)), (target + (1 << 20), (4, 3)), (target + (2 << 20), (15, 3)), (target + (3 << 20), (3, 4, 5))):
            made = dims(*sizes)
            make(world, "tensor", "purlin_tensor_borrow", here, dtype, 0, len(sizes), made, None, ctypes.c_void_p(address))
        make(world, "tensor", "purlin_tensor_borrow_symmetric", here, dtype, 0, 4, long(3), long(3), long(0), long(0), ctypes.c_void_p(target + (4 << 20)))
        make(world, "matrix", "purlin_matrix_borrow", here, dtype, 0, long(6), long(4), long(6), ctypes.c_void_p(target + (5 << 20)))
        make(world, "matrix", "purlin_matrix_borrow", here, dtype, 0, long(6), long(6), long(6), ctypes.c_void_p(source))
        make(world, "tt", "purlin_tt_random", here, dtype, 0, long(4), dims(3, 3, 3, 3), dims(1, 2, 2, 2, 1), ctypes.c_uint64(3))
        if on_gpu:
            for sizes in ((6,), (4, 3), (3, 4, 5)):
                make(world, "tensor", "purlin_tensor_create", here, dtype, DEVICE, 0, long(len(sizes)), dims(*sizes))
            make(world, "matrix", "purlin_matrix_create", here, dtype, DEVICE, 0, long(6), long(6))
            make(world, "tt", "purlin_tt_random", here, dtype, DEVICE, long(4), dims(3, 3, 3, 3), dims(1, 2, 2, 2, 1), ctypes.c_uint64(3))
    rows, columns, ones = dims(0, 1, 2, 3), dims(1, 0, 3, 2), (ctypes.c_double * 4)(1, 1, 1, 1)
    make(world, "matrix", "purlin_matrix_from_coordinates", here, 2, 0, long(6), long(6), long(4), 9, rows, columns, ones, 0)
    make(world, "source", "purlin_source_from_tensor", here, ctypes.c_void_p(world.live["tensor"][1]))
    make(world, "sink", "purlin_sink_to_tensor", here, ctypes.c_void_p(world.live["tensor"][1]))
    make(world, "rsvd", "purlin_rsvd_create", here, None)
    make(world, "sshopm", "purlin_sshopm_create", here, None)
    make(world, "rpca", "purlin_rpca_create", here, None)
    make(world, "lanczos", "purlin_lanczos_create", here, None)
    make(world, "dwi", "purlin_dwi_create", here, None)
    make(world, "tt_contraction", "purlin_tt_contraction_create", here, None)
    make(world, "spmv", "purlin_spmv_create", ctypes.c_void_p(world.live["matrix"][-1]), None)


def make(world: World, kind: str, name: str, *arguments: Any) -> int:
    place = ctypes.c_size_t(0)
    if status(name, *arguments, ctypes.byref(place)) == 0:
        world.live[kind].append(place.value)
    return place.value


def destroy(world: World) -> None:
    """An object is destroyed, and a second destruction is refused."""
    kind = pick(world.rng, *OBJECTS[1:])
    if len(world.live[kind]) < 2:
        return
    handle = world.live[kind].pop(int(world.rng.integers(len(world.live[kind]))))
    name = f"purlin_{kind}_destroy"
    require(status(name, ctypes.c_void_p(handle)) == 0, f"{name}: {message()!r}")
    require(status(name, ctypes.c_void_p(handle)) == -2, f"{name}: a second destruction was not refused")
    world.dead.append(handle)


def random_calls(rng: np.random.Generator, bench: Bench) -> None:
    """A few hundred calls of all functions in any order."""
    world = World(rng)
    before = os.getcwd()
    os.chdir(world.folder)
    try:
        base_objects(world, bench.backend)
        names = [name for name in FUNCTIONS if not name.endswith("_destroy")]
        for _ in range(300):
            if rng.random() < 0.03:
                destroy(world)
            checked_call(world, pick(rng, *names), bench)
    finally:
        os.chdir(before)
        world.close()


def forked(rng: np.random.Generator, bench: Bench) -> None:
    """A child's calls on its parent's objects are refused with that reason, the parent refuses its handles, and both continue."""
    world = World(rng)
    base_objects(world, bench.backend)
    names = [name for name in FUNCTIONS if not name.endswith("_destroy") and not name.endswith("_init")]
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            own = World(rng)
            # CUDA does not work in a child of fork(): its own objects are on the CPU.
            base_objects(own, "cpu")
            made = [h for handles in own.live.values() for h in handles]
            os.write(writer, b"".join(h.to_bytes(8, "little") for h in made))
            for _ in range(60):
                checked_call(world, pick(rng, *names), bench)
            code = 0
        except Finding as finding:
            print(f"child: {finding}", file=sys.stderr, flush=True)
        finally:
            os._exit(code)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        data = pipe.read()
    ended = os.waitpid(child, 0)[1]
    require(os.WIFEXITED(ended) and os.WEXITSTATUS(ended) == 0, f"the child ended with {ended}")
    theirs = [int.from_bytes(data[k : k + 8], "little") for k in range(0, len(data), 8)]
    ours = {h for handles in world.live.values() for h in handles}
    for handle in set(theirs) - ours:
        for name in ("purlin_tensor_destroy", "purlin_context_cancel"):
            require(status(name, ctypes.c_void_p(handle)) == -2, f"{name}: took a handle of a child's")
    for _ in range(60):
        checked_call(world, pick(rng, *names), bench)
    world.close()


ATTACKS = {"random_calls": random_calls, "forked": forked}
