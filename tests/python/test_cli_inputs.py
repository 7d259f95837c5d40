"""The command `purlin`: damaged files, files that are longer than their elements, angles that cannot be used, options that
a command does not have, and signals while the command is imported."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cli_runs import in_a_folder, refused, run  # noqa: F401  (the fixture of every test)

import purlin

# One more than the integers that float64 has without gaps.
LARGE = 2**53 + 1
ROWS: dict[str, Any] = {
    "format": np.array(b"csr"),
    "shape": np.array([3, 3]),
    "indptr": np.arange(4, dtype=np.int32),
    "indices": np.arange(3, dtype=np.int32),
    "data": np.ones(3),
}
COORDINATES: dict[str, Any] = {
    "format": np.array(b"coo"),
    "shape": np.array([3, 3]),
    "row": np.arange(3, dtype=np.int32),
    "col": np.arange(3, dtype=np.int32),
    "data": np.ones(3),
}
INTEGERS = np.full(3, LARGE)
LOST = f"has {LARGE} at index 0 (from 0), which float64 does not hold"


@pytest.mark.parametrize("command", ["svd m.npz --rank 1", "eigs m.npz --count 1"])
@pytest.mark.parametrize(
    ("arrays", "text"),
    [
        ({**ROWS, "data": INTEGERS}, f"data: {LOST}"),
        ({**ROWS, "format": np.array(b"csc"), "data": INTEGERS}, f"data: {LOST}"),
        ({**COORDINATES, "data": INTEGERS}, f"data: {LOST}"),
        ({"m": np.full((3, 3), LARGE)}, f"m: has {LARGE} at index (0, 0) (from 0), which float64 does not hold"),
        ({"m": np.array([["a", "b"]])}, "m: is <U1, expected numbers"),
        ({**ROWS, "data": np.array(["a", "b", "c"])}, "data: is <U1, expected numbers"),
        ({**ROWS, "shape": np.array([3])}, "shape: is [3], expected two integers"),
        ({**COORDINATES, "shape": np.array([3])}, "shape: is [3], expected two integers"),
        ({**ROWS, "shape": np.eye(2, dtype=int)}, "shape: is [[1, 0], [0, 1]], expected two integers"),
        ({**ROWS, "shape": np.array([3.0, 3.0])}, "shape: is [3.0, 3.0], expected two integers"),
        ({**ROWS, "format": np.array(["csr", "csc"])}, "format: is ['csr', 'csc'], expected 'csr', 'csc' or 'coo'"),
        ({**ROWS, "format": np.array(b"bsr")}, "format: is 'bsr', expected 'csr', 'csc' or 'coo'"),
        ({n: a for n, a in ROWS.items() if n != "indptr"}, "indptr: is not in the file, the format csr needs it"),
        ({n: a for n, a in COORDINATES.items() if n != "col"}, "col: is not in the file, the format coo needs it"),
        ({**ROWS, "indices": np.array([0, 7, 2])}, "indices: element 1 is 7, outside 0 to 2"),
        ({**ROWS, "format": np.array(b"csc"), "indices": np.array([0, 7, 2])}, "indices: element 1 is 7, outside 0 to 2"),
        ({**ROWS, "indices": np.arange(3.0)}, "indices: is float64, expected integers"),
        ({**ROWS, "indptr": np.arange(3)}, "indptr: has shape (3,), expected (4,)"),
        ({**ROWS, "data": np.ones((3, 1))}, "data: has 2 dimensions, expected 1"),
        ({**ROWS, "data": np.ones(2)}, "data: has shape (2,), expected (3,)"),
        ({**COORDINATES, "row": np.array([0, -1, 2])}, "row: "),
    ],
)
def test_damaged_archives_name_the_file_and_the_array(
    command: str, arrays: Any, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    np.savez("m.npz", **arrays)
    refused(command, 1, f"error: MATRIX: m.npz: {text}", capsys)


def test_whole_archives_of_integers_are_read(capsys: pytest.CaptureFixture[str]) -> None:
    for kind, arrays in (("csr", ROWS), ("csc", ROWS), ("coo", COORDINATES)):
        np.savez("m.npz", **{**arrays, "format": np.array(kind), "data": np.array([3, 2, 2**53])})
        assert run("svd m.npz --rank 1 --device cpu") == 0
        assert float(capsys.readouterr().out) == pytest.approx(2.0**53)


def test_bytes_behind_the_elements_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("example fdk --quiet") == 0
    scan = Path("scan.mha").read_bytes()
    size = len(scan)
    begin = size - 4 * 90 * 48 * 64
    Path("long.mha").write_bytes(scan + b"x")
    Path("long.raw").write_bytes(scan[begin:] + b"x")
    header = scan[:begin].replace(b"LOCAL", b"long.raw")
    Path("long.mhd").write_bytes(header)
    said = f"has {size + 1} bytes, its header says {size}"
    refused("fdk long.mha --geometry geometry.xml --out o.mha", 1, f"PROJECTIONS: long.mha: {said}", capsys)
    said = f"long.raw: has {size - begin + 1} bytes, its header says {size - begin}"
    refused("fdk long.mhd --geometry geometry.xml --out o.mha", 1, f"PROJECTIONS: long.mhd: {said}", capsys)
    raw = "--sid 500 --sdd 1000 --pitch 3 --size 4 4 4 --quiet --device cpu"
    said = f"long.raw: has {size - begin + 1} bytes, --shape, --type and --header say {size - begin - 64 * 48 * 4}"
    refused(f"fdk long.raw --shape 89 48 64 {raw} --out o.raw", 1, f"PROJECTIONS: {said}", capsys)
    # A header of one byte, and the file is full; a HeaderSize says where the elements are.
    assert run(f"fdk long.raw --shape 90 48 64 --header 1 {raw} --out o.raw") == 0
    Path("long.mhd").write_bytes(header.replace(b"ElementDataFile", b"HeaderSize = 1\nElementDataFile"))
    assert run("fdk long.mhd --geometry geometry.xml --size 4 4 4 --quiet --device cpu --out o.mha") == 0
    # Further arrays may follow in a .npy file.
    with open("two.npy", "wb") as file:
        np.save(file, np.ones((90, 4, 6), np.float32))
        np.save(file, np.ones(3))
    assert run(f"fdk two.npy {raw} --out o.npy") == 0


def test_angles_that_cannot_be_used_name_the_option_they_are_from(capsys: pytest.CaptureFixture[str]) -> None:
    np.save("p.npy", np.ones((90, 4, 6), np.float32))
    np.savetxt("near.txt", np.arange(90.0))
    assert run("example fdk --quiet") == 0
    near = re.sub(r"(?<=<GantryAngle>)\d+", lambda found: str(int(found[0]) / 4), Path("geometry.xml").read_text())
    Path("near.xml").write_text(near)
    circle = "fdk p.npy --pitch 3 --out o.npy --sid 500 --sdd 1000"
    for line, text in (
        (f"{circle} --step 0", "--step: is 0, expected an angle other than 0"),
        (f"{circle} --step nan", "--step: is nan, expected a finite number"),
        (f"{circle} --step 1e308", "--step: is 1e+308, and 90 views of it are beyond the range of floating point"),
        (f"{circle} --step 1", "--step: cover 89.00 degrees"),
        (f"{circle} --step -1", "--step: cover 89.00 degrees"),
        (f"{circle} --angles near.txt", "--angles: cover 89.00 degrees"),
        ("fdk p.npy --pitch 3 --out o.npy --geometry near.xml", "--geometry: cover 89.00 degrees"),
    ):
        refused(line, 2, f"error: {text}", capsys)


def test_options_that_cannot_work(capsys: pytest.CaptureFixture[str]) -> None:
    np.save("m.npy", np.eye(4))
    # The library has no restart file of principal components.
    refused("pca m.npy --components 3 --restart state", 2, "unrecognized arguments: --restart state", capsys)
    assert run("svd --help") == 0 and "--restart" in capsys.readouterr().out
    refused("svd m.npy --rank 3 --restart ''", 2, "--restart: is empty", capsys)
    for line in ("svd m.npy --rank 3", "pca m.npy --components 3", "eigs m.npy --count 1", "rpca m.npy"):
        refused(f"{line} --out ''", 2, "--out: is empty, expected a name that ends in .npz", capsys)


SCRIPT = "import sys\nfrom purlin.cli import main\nsys.exit(main())\n"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("way", ["module", "script"])
def test_signals_during_the_imports_end_the_command_with_130(number: signal.Signals, way: str, folder: Path) -> None:
    (folder / "slow" / "numpy").mkdir(parents=True)
    loading = folder / "loading"
    text = f"import pathlib, time\npathlib.Path({str(loading)!r}).touch()\ntime.sleep(60)\n"
    (folder / "slow" / "numpy" / "__init__.py").write_text(text)
    (folder / "purlin").write_text(SCRIPT)
    source = str(Path(purlin.__file__).parents[1])
    settings = {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder / "slow"), source])}
    begin = ["-m", "purlin"] if way == "module" else ["purlin"]
    running = subprocess.Popen(
        [sys.executable, *begin, "svd", "m.npy", "--rank", "1"],
        start_new_session=True,
        env=settings,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        end = time.monotonic() + 30
        while not loading.exists() and running.poll() is None and time.monotonic() < end:
            time.sleep(0.02)
        running.send_signal(number)
        out, err = running.communicate(timeout=30)
    finally:
        running.kill()
    assert (running.returncode, out, err) == (130, b"", b"purlin svd: interrupted\n")


def test_the_library_leaves_the_signals_of_other_programs_alone() -> None:
    text = (
        "import signal, purlin, purlin.cli\n"
        "assert signal.getsignal(signal.SIGINT) is signal.default_int_handler\n"
        "assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL\n"
    )
    subprocess.run([sys.executable, "-c", text], check=True, timeout=120)
    # After a command that returns, its caller has them again.
    Path("purlin").write_text(
        "import signal\nfrom purlin.cli import main\nassert main(['info', '--quiet']) == 0\n" + text.partition("\n")[2]
    )
    subprocess.run([sys.executable, "purlin"], check=True, timeout=120, stdout=subprocess.DEVNULL)
