"""`purlin info`: the library, the machine, and missing parts."""

from __future__ import annotations

import argparse
import importlib.metadata
import platform
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np

from .. import Context, Error, __version__, build_info, devices, rsvd
from .._lib import lib
from .options import command, show

_EXAMPLE = "purlin info"
# Optional packages, and their purpose.
_PACKAGES = {
    "nibabel": "NIfTI files of `purlin peaks` and `purlin fdk`",
    "tqdm": "progress bars with the time that is left; without it a plain bar is drawn",
    "scipy": "sparse matrices and operators in programs; the commands do without",
}


def add(commands: Any) -> None:
    """Declares the command."""
    text = "Prints the versions, the library's file, the CPU, the GPUs, and what is missing with the way to get it."
    command(commands, "info", run, "versions, CPU, GPUs, and what is missing", text, _EXAMPLE, output=False)


def _cpu_name() -> str:
    try:
        found = re.search(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(), re.M)
    except OSError:
        found = None
    return found[1].strip() if found else platform.machine()


def _library_file() -> str:
    """The file of the loaded library, which the system's loader may have found by its name alone."""
    name = Path(lib._name).name
    try:
        loaded = {
            line.split(maxsplit=5)[5].strip()
            for line in Path("/proc/self/maps").read_text().splitlines()
            if "/" in line
        }
    except OSError:
        loaded = set()
    # The name may be a link to the file that is mapped.
    wanted = {str(Path(lib._name).resolve()), lib._name}
    return next((path for path in sorted(loaded) if path in wanted or Path(path).name.startswith(name)), str(lib._name))


def _gib(size: int) -> str:
    return f"{size / 2**30:.1f} GiB"


def _row(name: str, text: str) -> None:
    show(f"{name + ':':<12} {text}")


def _print_gpus(missing: list[str]) -> None:
    """The GPUs, and whether each runs a small decomposition, which takes the driver, the kernels and cuBLAS."""
    if " GPU" not in build_info():
        missing.append("GPU code: this library was built without it; install a build with CUDA")
        _row("GPU", "none: the library has no GPU code")
        return
    try:
        found = devices()
    except Error as error:
        found = []
        missing.append(f"GPU: {error}")
    for gpu in found:
        major, minor = gpu.compute_capability
        driver = f"{gpu.driver_version // 1000}.{gpu.driver_version % 1000 // 10}"
        memory = f"{_gib(gpu.memory_free)} of {_gib(gpu.memory_total)} free"
        _row(f"GPU {gpu.ordinal}", f"{gpu.name}, sm_{major}{minor}, {memory}, driver for CUDA {driver}")
        try:
            with Context("cuda", device=gpu.ordinal) as context:
                rsvd.compute(np.eye(64), 4, context=context)
        except Error as error:
            missing.append(
                f"GPU {gpu.ordinal}: {error}. cuBLAS and cuSOLVER of CUDA must be where the loader finds them"
            )
    if not found:
        _row("GPU", "none")
        try:
            Context("cuda").close()
        except Error as error:
            missing.append(
                f"GPU: {error}. GPUs need NVIDIA's driver (nvidia.com/drivers); everything runs on the CPU too"
            )


def run(given: argparse.Namespace) -> None:
    """Prints the report."""
    missing: list[str] = []
    _row("purlin", f"{__version__} for Python, in {Path(__file__).resolve().parents[1]}")
    _row("library", build_info())
    _row("file", _library_file())
    _row("Python", f"{platform.python_version()}, {sys.executable}; NumPy {np.__version__}")
    with Context("cpu") as cpu:
        properties = cpu.properties
    threads = f"{properties.threads} thread{'s' if properties.threads != 1 else ''}"
    _row("CPU", f"{_cpu_name()}, {properties.cpu_isa}, {threads}")
    _print_gpus(missing)
    for name, purpose in _PACKAGES.items():
        try:
            _row(name, importlib.metadata.version(name))
        except importlib.metadata.PackageNotFoundError:
            _row(name, "not installed")
            missing.append(f"{name}: {purpose}. pip install {name}")
    show("")
    show("missing:" if missing else "nothing is missing")
    for text in missing:
        show(f"- {text}")
