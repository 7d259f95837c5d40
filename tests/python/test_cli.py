"""The command `purlin`: examples of its help run, refusals are one line, no file is harmed, Ctrl-C and progress work.
test_cli_results.py has its results."""

from __future__ import annotations

import contextlib
import fcntl
import importlib.util
import io
import os
import pty
import re
import resource
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cli_runs import in_a_folder, needs_nibabel, refused, run  # noqa: F401  (the fixture of every test)

import purlin
from purlin import cli
from purlin.cli import outputs
from purlin._progress import Bar

COMMANDS = ("info", "example", "fdk", "peaks", "svd", "pca", "rpca", "eigs")
# An integer that 64 bits do not hold.
HUGE = 10**30
VOLUMES = (".mha", ".tif", ".npy", ".raw", *((".nii",) if importlib.util.find_spec("nibabel") else ()))


def actions() -> list[tuple[str, Any]]:
    """The options and inputs of all commands."""
    commands = next(a for a in cli.parser()._actions if isinstance(a.choices, dict))
    assert isinstance(commands.choices, dict)
    return [(name, action) for name, made in commands.choices.items() for action in made._actions]


# Help


@pytest.mark.parametrize("command", COMMANDS)
def test_examples_of_the_help_run_as_printed(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(f"{command} --help") == 0
    lines = capsys.readouterr().out.partition("\nexample:\n")[2].splitlines()
    assert lines and all(line.startswith("  purlin ") for line in lines)
    if command == "peaks":
        pytest.importorskip("nibabel")
    for line in lines:
        assert run(line.removeprefix("  purlin ")) == 0, line
    found = capsys.readouterr()
    assert found.out and not found.err
    written = re.findall(r"--(?:out|picture|sparse|low-rank) (\S+)", " ".join(lines))
    assert all(Path(name).stat().st_size for name in written)
    assert written or command in ("info", "example")


def test_every_option_is_documented_with_its_default() -> None:
    assert {name for name, _ in actions()} == set(COMMANDS)
    for command, action in actions():
        assert action.help, (command, action.dest)
        if action.option_strings and action.dest != "help" and not action.required:
            assert re.search(r"\(default: .+\)|\(needed ", action.help), (command, action.dest)
    defaults = {(command, action.dest): action.help for command, action in actions()}
    assert "(default: 1e-07)" in defaults["rpca", "tolerance"]
    assert "(default: gaussian)" in defaults["svd", "sketch"]


def test_info_names_the_loaded_library_and_what_is_missing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("info") == 0
    text = capsys.readouterr().out
    assert purlin.build_info() in text and purlin.__version__ in text and f"NumPy {np.__version__}" in text
    file = re.search(r"^file: +(.+)$", text, re.M)
    assert file and Path(file[1]).is_file()
    assert ("\nGPU:" in text) == (not purlin.devices()) and ("\nGPU 0:" in text) == bool(purlin.devices())
    # A GPU that cannot be used is named with the reason.
    fake = purlin.Device(99, "Old", (8, 0), 1, 4 << 30, 3 << 30, 0, 0, 0, 12040)
    monkeypatch.setattr(cli.info, "devices", lambda: [fake])
    assert run("info") == 0
    text = capsys.readouterr().out
    assert "\nGPU 99:      Old, sm_80, 3.0 GiB of 4.0 GiB free, driver for CUDA 12.4\n" in text
    assert re.search(r"\n- GPU 99: (no device|device): .+\. cuBLAS", text)
    # The way to get a package asks no registry for a package of our name.
    monkeypatch.setitem(cli.info._PACKAGES, "absent-package", "nothing")
    assert run("info") == 0
    assert capsys.readouterr().out.endswith("\n- absent-package: nothing. pip install absent-package\n")


# Refusals


@pytest.mark.parametrize(
    ("line", "code", "text"),
    [
        ("fdk none.mha --geometry geometry.xml --out o.mha", 1, "PROJECTIONS: is none.mha, which does not exist"),
        (
            "fdk cut.mha --geometry geometry.xml --out o.mha",
            1,
            "PROJECTIONS: cut.mha: has 5000 bytes, 1106170 are needed",
        ),
        ("fdk words.mha --geometry geometry.xml --out o.mha", 1, "PROJECTIONS: words.mha: is not a MetaImage"),
        ("fdk words.tif --sid 5 --sdd 9 --pitch 1 --out o.mha", 1, "PROJECTIONS: words.tif: page 0: format error"),
        ("fdk scan.mha --geometry words.npy --out o.mha", 1, "--geometry: words.npy: is not XML"),
        (
            "fdk scan.mha --geometry geometry.xml --window hann --cutoff nan --out o.mha",
            2,
            "--cutoff: is NaN, more than 0",
        ),
        ("fdk scan.mha --geometry geometry.xml --window cube --out o.mha", 2, "--window: is 'cube', expected one of"),
        (
            "fdk scan.mha --geometry geometry.xml --spacing 1 1 0 --out o.mha",
            2,
            "--spacing[2]: is 0, a finite number above 0",
        ),
        ("fdk scan.mha --geometry geometry.xml --sid 5 --out o.mha", 2, "--sid: is given beside --geometry"),
        ("fdk scan.mha --geometry geometry.xml --start 5 --out o.mha", 2, "--start: is given beside --geometry"),
        (
            "fdk scan.mha --sid 500 --sdd 1000 --angles edge.txt --start 5 --out o.mha",
            2,
            "--start: is given beside --angles",
        ),
        ("fdk scan.mha --sid 500 --sdd 1000 --start nan --out o.mha", 2, "--start: is nan, expected a finite number"),
        ("fdk scan.mha --sid 500 --sdd 1000 --step inf --out o.mha", 2, "--step: is inf, expected a finite number"),
        ("fdk scan.mha --geometry geometry.xml --type uint8 --out o.mha", 2, "--type: is given, but --shape is not"),
        ("fdk scan.mha --geometry geometry.xml --header 0 --out o.mha", 2, "--header: is given, but --shape is not"),
        ("fdk scan.mha --sid 500 --out o.mha", 2, "--sdd: is not given"),
        ("fdk scan.mha --sid nan --sdd 1000 --out o.mha", 2, "--sid: is NaN"),
        ("fdk scan.mha --sid 500 --sdd 1000 --start -1e-3 --step 1 --out o.mha", 2, "--step: the arc is 89.00 degrees"),
        ("fdk scan.mha --geometry geometry.xml --memory 1KB --out o.mha", 1, "--memory: is 1000 bytes"),
        ("fdk scan.mha --geometry geometry.xml --memory 0 --out o.mha", 2, "--memory: is '0', expected a size of at least"),
        ("svd matrix.npy --rank 3 --memory 0.4", 2, "--memory: is '0.4', expected a size of at least 1 byte"),
        (
            "svd matrix.npy --rank 3 --gpu-memory 99999999999GiB",
            2,
            "--gpu-memory: is '99999999999GiB', expected at most 9223372036854775807 bytes, which are less than 8388608TiB",
        ),
        (f"svd matrix.npy --rank 3 --memory {'9' * 400}", 2, ", expected a size of at least 1 byte"),
        # The limits of the option, also for numbers beyond 64 bits.
        (f"svd matrix.npy --rank {HUGE}", 2, f"--rank: is {HUGE}, more than min(m, n) = 60"),
        (f"svd matrix.npy --rank -{HUGE}", 2, f"--rank: is -{HUGE}, less than 0"),
        ("svd matrix.npy --rank 1000000000000", 2, "--rank: is 1000000000000, more than min(m, n) = 60"),
        (f"svd matrix.npy --rank 3 --seed {HUGE}", 2, f"--seed: is {HUGE}, expected 0 to 18446744073709551615"),
        (f"svd matrix.npy --rank 3 --threads {HUGE}", 2, f"--threads: is {HUGE}, more than 4096"),
        (f"pca matrix.npy --components {HUGE}", 2, f"--components: is {HUGE}, more than min(m, n) = 60"),
        (f"rpca matrix.npy --sparse o.npy --max-rank -{HUGE}", 2, f"--max-rank: is -{HUGE}, less than 0"),
        (f"eigs graph.txt --count {HUGE}", 2, f"--count: is {HUGE}, outside 1 to n = 120"),
        (f"eigs graph.txt --clusters {HUGE}", 2, f"--clusters: is {HUGE}, outside 1 to n = 120"),
        (f"eigs graph.txt --block {HUGE}", 2, f"--block: is {HUGE}, outside 1 to 16"),
        (
            f"fdk scan.mha --geometry geometry.xml --size 9 {HUGE} 9 --out o.mha",
            2,
            f"--size[1]: is {HUGE}, outside 1 to 1048576",
        ),

        (
            "fdk scan.mha --geometry geometry.xml --device one --out o.mha",
            2,
            "--device: is 'one', expected auto, cpu, gpu",
        ),
        (
            "fdk scan.mha --geometry geometry.xml --device 1,1 --out o.mha",
            2,
            "--device: is '1,1', which names a GPU twice",
        ),
        ("fdk scan.mha --geometry geometry.xml --out o.jpg", 2, "--out: is o.jpg, expected a name that ends in"),
        (
            "fdk scan.mha --geometry geometry.xml --out none/o.mha",
            1,
            "--out: is none/o.mha, whose folder does not exist",
        ),
        ("fdk scan.mha --geometry geometry.xml --dark 5 --out o.mha", 2, "--i0: is not given"),
        ("svd cut.npy --rank 3", 1, "MATRIX: cut.npy: has 5000 bytes"),
        ("svd words.npy --rank 3", 1, "MATRIX: words.npy: is not a .npy file"),
        ("svd words.npz --rank 3", 1, "MATRIX: words.npz: is not a whole .npz file"),
        ("svd words.mtx --rank 3", 1, "MATRIX: words.mtx: is no Matrix Market file"),
        ("svd scan.mha --rank 3", 1, "MATRIX: is scan.mha, expected a name that ends in .npy"),
        ("svd line.npy --rank 1", 1, "MATRIX: line.npy: has 1 axis, at least 2 are needed"),
        ("pca line.npy --components 1", 1, "SAMPLES: line.npy: has 1 axis, at least 2 are needed"),
        ("rpca matrix.npy --mask line.npy --out o.npz", 1, "--mask: line.npy: has 1 axis, at least 2 are needed"),
        ("eigs graph.txt --basis 2", 2, "--basis: is 2, outside --count + 1 = 7 to 120"),
        ("eigs graph.txt --embed --count 5 --basis 5", 2, "--basis: is 5, outside --count + 1 = 6 to 120"),
        ("eigs graph.txt --sigma 3", 2, "--sigma: is 3, but --which = largest: nearest is needed"),
        ("svd matrix.npy --rank 61", 2, "--rank: is 61, more than min(m, n) = 60"),
        ("svd matrix.npy --rank three", 2, "--rank: is 'three', expected an integer"),
        ("svd matrix.npy --tolerance nan", 2, "--tolerance: is NaN"),
        ("svd matrix.npy --tolerance 1e-9 --max-rank 3 --out o.npz", 1, "no convergence: the relative error is"),
        ("svd matrix.npy --rank 3 --memory 1KB", 1, "--memory: is 1000 bytes"),
        ("svd matrix.npy --rank 3 --key a", 2, "--key: is 'a', but matrix.npy is not a .npz file"),
        ("svd two.npz --rank 3", 2, "--key: is not given, two.npz has the arrays a, b"),
        ("svd matrix.npy", 2, "--rank: is not given, and no --tolerance either"),
        ("pca matrix.npy --components 90", 2, "--components: is 90, more than min(m, n) = 60"),
        ("pca matrix.npy --components 3 --scores", 2, "--scores: is given, but --out is not"),
        ("pca matrix.npy --components 3 --whiten --out o.npz", 2, "--whiten: is given, but --scores is not"),
        ("rpca matrix.npy --sparse o.npy --lambda nan", 2, "--lambda: is NaN"),
        ("rpca matrix.npy --sparse o.npy --max-iterations 2", 1, "no convergence: the residual is"),
        ("rpca matrix.npy --sparse o.npy --low-rank ./o.npy", 2, "--sparse: is o.npy, which is another output too"),
        ("rpca matrix.npy", 2, "--low-rank: is not given"),
        ("eigs words.txt", 1, "MATRIX: words.txt: line 1: is not two vertices"),
        ("eigs graph.txt --count 500", 2, "--count: is 500, outside 1 to n = 120"),
        ("eigs path.txt --count 5", 2, "--count: is 5, outside 1 to n = 4"),
        ("eigs path.txt --embed --count 0", 2, "--count: is 0, outside 1 to n = 4"),
        ("eigs path.txt --clusters 5", 2, "--clusters: is 5, outside 1 to n = 4"),
        ("eigs path.txt --picture o.png --count 2", 2, "--count: is 2, a picture needs at least 3"),
        ("eigs edge.txt --picture o.png", 1, "MATRIX: edge.txt: has 2 vertices, a picture needs at least 3"),
        ("eigs none.txt --scaling degrees", 2, "--scaling: is given, but it is of coordinates"),
        ("eigs none.txt --assignment k_means --embed", 2, "--assignment: is given, but it is of --clusters"),
        ("eigs none.txt --clusters 2 --count 3", 2, "--count: is given, but without --out and --picture"),
        ("eigs none.txt --clusters 2 --scaling degrees", 2, "--scaling: is given, but without --out and --picture"),
        ("eigs none.txt --key a", 2, "--key: is 'a', but none.txt is not a .npz file"),
        ("eigs none.npy --base 1", 2, "--base: is given, but none.npy is not an edge list"),
        ("eigs edge.txt --base 1", 2, "--base: is 1, but edge.txt has the vertex 0"),
        ("eigs graph.txt --tolerance nan", 2, "--tolerance: is NaN"),
        ("eigs graph.txt --embed --kind laplacian", 2, "--kind: is given, but"),
        ("eigs matrix.npy", 1, "MATRIX: is 1000 x 60, a square matrix is needed"),
        ("eigs matrix.npy --weighted", 2, "--weighted: is given, but"),
        ("peaks none.nii --bval b --bvec b --out o.mif", 2, "--out: is o.mif, expected a name that ends in .nii"),
        ("solve", 2, "COMMAND: is 'solve', expected one of"),
        ("svd matrix.npy --rnk 3", 2, "unrecognized arguments: --rnk 3"),
    ],
)
def test_refusals_are_one_line(
    line: str, code: int, text: str, capsys: pytest.CaptureFixture[str], inputs: Path
) -> None:
    refused(line, code, text, capsys)


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Inputs of commands, and broken ones."""
    folder = tmp_path_factory.mktemp("inputs")
    for name in ("fdk", "svd", "eigs"):
        assert run(f"example {name} --folder {folder} --quiet") == 0
    for name in ("scan.mha", "matrix.npy"):
        (folder / ("cut" + Path(name).suffix)).write_bytes((folder / name).read_bytes()[:5000])
    for ending in ("mha", "tif", "npy", "npz", "mtx", "txt"):
        (folder / f"words.{ending}").write_text("words\n")
    (folder / "edge.txt").write_text("0 1\n")
    (folder / "path.txt").write_text("0 1\n1 2\n2 3\n")
    np.save(folder / "line.npy", np.arange(5.0))
    np.savez(folder / "two.npz", a=np.eye(3), b=np.eye(3))
    return folder


@pytest.fixture
def inputs(made: Path, folder: Path) -> Path:
    """The inputs in the working directory."""
    for path in made.iterdir():
        os.link(path, folder / path.name)
    return folder


@needs_nibabel
@pytest.mark.parametrize(
    ("change", "code", "text"),
    [
        ("IMAGE none.nii", 1, "IMAGE: is none.nii, which does not exist"),
        ("IMAGE words.nii", 1, "IMAGE: words.nii: is not a NIfTI image"),
        ("IMAGE cut.nii", 1, "IMAGE: cut.nii: ends before its samples"),
        ("IMAGE cut.nii.gz", 1, "IMAGE: cut.nii.gz: "),
        ("dwi.bval words.nii", 1, "--bval: words.nii: is not a table of numbers"),
        ("dwi.bval dwi.bvec", 1, "--bval: dwi.bvec: has 195 numbers, the image has 65 volumes"),
        ("dwi.bvec dwi.bval", 1, "--bvec: dwi.bval: has 1 x 65 numbers, expected 3 x 65"),
        ("dwi.bval zero.bval", 1, "--bval: zero.bval: none of 65 is above --b0-threshold = 50"),
        ("dwi.bval shells.bval", 1, "--bval: shells.bval: run from 1000 to 2000; the orientation function"),
        ("--force --min-separation=nan", 2, "--min-separation: is nan, expected 0 to 90 degrees"),
        ("--force --relative-threshold=nan", 2, "--relative-threshold: is NaN, outside 0 .. 1"),
        ("--force --degree=7", 2, "--degree: is 7, an even number from 2 to 16"),
        (f"--force --count={HUGE}", 2, f"--count: is {HUGE}, outside 1 to 2001599834386887 for 192 voxels"),
        (f"--force --degree={HUGE}", 2, f"--degree: is {HUGE}, outside 2 to 1048576"),
        ("--force --count=0", 2, "--count: is 0, expected at least 1"),
        ("--force --mask=dwi.nii", 1, "--mask: dwi.nii: has shape (8, 8, 3, 65), the image (8, 8, 3)"),
        ("--force --memory=1KB", 1, "--memory: is 1000 bytes"),
        ("--force --device=0,1", 2, "--device: names 2 GPUs, this command uses one"),
    ],
)
def test_refusals_of_peaks(change: str, code: int, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("example peaks --quiet") == 0
    Path("cut.nii").write_bytes(Path("dwi.nii").read_bytes()[:5000])
    Path("cut.nii.gz").write_bytes(b"\x1f\x8b" + bytes(500))
    Path("words.nii").write_text("words\n")
    Path("zero.bval").write_text("0 " * 65)
    Path("shells.bval").write_text("0 " + "1000 " * 60 + "2000 " * 4)
    old, new = change.split()
    line = "peaks IMAGE --bval dwi.bval --bvec dwi.bvec --out o.nii --force".replace(old, new).replace(
        "IMAGE", "dwi.nii"
    )
    refused(line, code, text, capsys)


def test_nifti_without_nibabel_names_the_package(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "nibabel", None)
    Path("a.nii").write_bytes(b"")
    refused(
        "peaks a.nii --bval b --bvec b --out o.nii",
        1,
        "IMAGE: NIfTI files need the package nibabel: pip install nibabel",
        capsys,
    )
    refused(
        "fdk a.mha --sid 1 --sdd 2 --out o.nii", 1, "--out: NIfTI files need the package nibabel: pip install nibabel", capsys
    )


# Files, signals, progress


def test_no_file_is_replaced_unless_forced(inputs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = "svd matrix.npy --rank 3 --quiet --out o.npz"
    Path("o.npz").write_text("precious")
    Path("o.npz").chmod(0o640)
    refused(line, 1, "--out: is o.npz, which exists; --force replaces it", capsys)
    # A run that fails leaves the old file.
    assert (
        run("svd matrix.npy --tolerance 1e-12 --max-rank 2 --out o.npz --force") == 1
        and Path("o.npz").read_text() == "precious"
    )
    assert run(line + " --force") == 0
    assert np.load("o.npz")["s"].shape == (3,) and Path("o.npz").stat().st_mode & 0o777 == 0o640
    # A link stays, and its file is replaced.
    Path("link.npz").symlink_to("o.npz")
    before = Path("o.npz").read_bytes()
    assert run("svd matrix.npy --rank 2 --quiet --out link.npz --force") == 0
    assert Path("link.npz").is_symlink() and Path("o.npz").read_bytes() != before
    Path("folder.npz").mkdir()
    capsys.readouterr()
    refused("svd matrix.npy --rank 2 --out folder.npz --force", 1, "is folder.npz, which is not a regular file", capsys)


def test_a_file_that_appears_during_the_run_is_kept() -> None:
    with pytest.raises(cli.failures.Failure, match="was made by another program during the run"):
        with outputs.Outputs(False) as files:
            files.add("--out", "o.npy").write_text("ours")
            Path("o.npy").write_text("theirs")
    assert Path("o.npy").read_text() == "theirs"


@contextlib.contextmanager
def full_disk(size: int) -> Iterator[None]:
    """No file may grow beyond this many bytes, which fails as a full disk does. Pytest itself writes between tests."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("svd matrix.npy --rank 30 --out o.npz", "--out: o.npz"),
        ("svd matrix.npy --rank 30 --out o.npy", "--out: o_U.npy"),
        ("pca matrix.npy --components 5 --scores --out o.npz", "--out: o.npz"),
        ("rpca matrix.npy --low-rank o.npy --sparse p.npy", "--low-rank: o.npy"),
        ("rpca matrix.npy --out o.npz", "--out: o.npz"),
        ("eigs graph.txt --out o.npy", "--out: o_vectors.npy"),
        ("eigs graph.txt --picture o.png", "--picture: o.png"),
        *((f"fdk scan.mha --geometry geometry.xml --size 9 9 9 --out o{e}", f"--out: o{e}") for e in VOLUMES),
        *((f"example {command} --force", "--folder: ") for command in ("fdk", "svd", "pca", "rpca", "eigs")),
        ("svd matrix.npy --rank 5 --block-rows 10 --restart o.state", "--restart: o.state"),
    ],
)
def test_a_full_disk_is_said_by_the_argument(
    line: str, name: str, capsys: pytest.CaptureFixture[str], inputs: Path
) -> None:
    with full_disk(300):
        refused(line, 1, name, capsys)
    # With --force, too, and the older files are as they were.
    names = ("o.npz", "o_U.npy", "o.npy", "p.npy", "o_vectors.npy", "o.png", *(f"o{ending}" for ending in VOLUMES))
    for file in names:
        Path(file).write_text("precious")
    with full_disk(300):
        assert run(line + " --force") == 1
    err = capsys.readouterr().err
    assert name in err and "File too large" in err and err.count("\n") == 1 and "partial" not in err
    assert all(Path(file).read_text() == "precious" for file in names)


@needs_nibabel
@pytest.mark.parametrize("ending", [".nii", ".nii.gz", ".npz"])
def test_a_full_disk_is_said_by_peaks(ending: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("example peaks --quiet") == 0
    with full_disk(100):
        line = f"peaks dwi.nii --bval dwi.bval --bvec dwi.bvec --out o{ending}"
        refused(line, 1, f"--out: o{ending}: cannot be written: File too large", capsys)
        refused("example peaks --force", 1, "--folder: dwi.nii: cannot be written: File too large", capsys)


def test_a_full_disk_behind_a_sink_is_said_by_the_argument(folder: Path) -> None:
    """The library writes the output under a provisional name of its own."""
    with pytest.raises(cli.failures.Failure) as caught:
        with outputs.Outputs(False) as files:
            place = files.add("--out", "./o.mha")
            text = f"{place}.0123456789abcdef.partial: write: No space left on device (os error 28)"
            raise purlin.FileError(purlin._constants.ERROR_IO, text)
    assert str(caught.value) == "--out: ./o.mha: cannot be written: write: No space left on device (os error 28)"


def test_output_files_are_made_all_or_none() -> None:
    with pytest.raises(cli.failures.Failure, match="was made by another program during the run"):
        with outputs.Outputs(False) as files:
            for name in ("a.npy", "b.npy"):
                files.add("--out", name).write_text("ours")
            Path("b.npy").write_text("theirs")
    assert not Path("a.npy").exists() and Path("b.npy").read_text() == "theirs"


@pytest.mark.parametrize("line", ["svd matrix.npy --rank 3", "svd matrix.npy --rank 3 --out o.npz", "info"])
def test_results_that_cannot_be_printed(line: str, inputs: Path) -> None:
    with open("/dev/full", "wb") as full:
        running = child(*line.split(), stdout=full, stderr=subprocess.PIPE)
        _, err = running.communicate(timeout=60)
    text = f"purlin {line.split()[0]}: error: stdout: cannot be written: No space left on device\n"
    assert (running.returncode, err.decode()) == (1, text)


def child(*words: str, **settings: Any) -> subprocess.Popen[bytes]:
    # A session of its own: the signals are the child's alone.
    return subprocess.Popen([sys.executable, "-m", "purlin", *words], start_new_session=True, **settings)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_end_a_run_with_130_and_leave_no_file(number: signal.Signals, folder: Path) -> None:
    random = np.random.default_rng(0)
    np.save("m.npy", random.standard_normal((700, 600)))
    words = "rpca m.npy --low-rank l.npy --sparse s.npy --device cpu --tolerance 1e-15 --max-iterations 1000000 --rho 1.0000001"
    running = child(*words.split(), stderr=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        end = time.monotonic() + 30
        while len(list(folder.glob("s.*partial*"))) == 0 and running.poll() is None and time.monotonic() < end:
            time.sleep(0.02)
        time.sleep(0.3)
        running.send_signal(number)
        out, err = running.communicate(timeout=30)
    finally:
        running.kill()
    assert (running.returncode, out, err) == (130, b"", b"purlin rpca: interrupted\n")
    assert [path.name for path in folder.iterdir()] == ["m.npy"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_while_the_library_makes_a_sink_leaves_no_file(number: signal.Signals, folder: Path) -> None:
    np.save("p.npy", np.ones((24, 10, 16), np.float32))
    program = f"""
import os, sys
from purlin import cli
from purlin._lib import lib

make = lib.purlin_sink_to_metaimage

def make_interrupted(*arguments):
    status = make(*arguments)
    assert status == 0 and len([name for name in os.listdir() if ".partial.mha." in name]) == 1
    os.kill(os.getpid(), {int(number)})
    return status

lib.purlin_sink_to_metaimage = make_interrupted
sys.exit(cli.main_of_process())
"""
    words = "fdk p.npy --sid 100 --sdd 200 --pitch 2 --out v.mha --device cpu".split()
    done = subprocess.run([sys.executable, "-c", program, *words], capture_output=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"purlin fdk: interrupted\n")
    assert [path.name for path in folder.iterdir()] == ["p.npy"]


def on_terminal(words: str, **environment: str) -> str:
    """The output of a command on a terminal."""
    ours, theirs = pty.openpty()
    # 24 lines of 80 characters: in a terminal without a size tqdm draws nothing.
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    settings = {**os.environ, **environment}
    running = child(*words.split(), stderr=theirs, stdout=subprocess.DEVNULL, env=settings)
    os.close(theirs)
    text = b""
    try:
        while piece := os.read(ours, 4096):
            text += piece
    except OSError:
        # Linux's way to say that the other end is closed.
        pass
    os.close(ours)
    assert running.wait(30) == 0
    return text.decode()


def test_the_progress_bar_is_for_terminals(folder: Path) -> None:
    assert run("example rpca --quiet") == 0
    (folder / "without").mkdir()
    (folder / "without" / "tqdm.py").write_text("raise ImportError\n")
    paths = os.environ.get("PYTHONPATH", "")
    plain = on_terminal("rpca frames.npy --out a.npz", PYTHONPATH=f"{folder}/without:{paths}")
    assert re.search(r"\rpurlin rpca \[[#.]+\] +\d+ % residual \d\.\d\de[-+]\d\d", plain) and plain.endswith("\r\033[K"), (
        plain
    )
    if importlib.util.find_spec("tqdm") is not None:
        assert re.search(r"purlin rpca: +\d+%\|.*residual", on_terminal("rpca frames.npy --out b.npz"))
    assert on_terminal("rpca frames.npy --out c.npz --quiet") == ""
    made = child("rpca", "frames.npy", "--out", "d.npz", stderr=subprocess.PIPE, stdout=subprocess.PIPE)
    out, err = made.communicate(timeout=30)
    assert made.returncode == 0 and err == b"" and out.startswith(b"d.npz: rank 1")


def test_a_bar_fits_its_line(monkeypatch: pytest.MonkeyPatch) -> None:
    with Bar("purlin fdk", False) as bar:
        assert bar.line(1, 4, "", 80) == "purlin fdk [" + "#" * 10 + "." * 30 + "]  25 %"
        assert bar.line(0, 0, "", 80).endswith("]   0 %") and bar.line(9, 4, "", 80).endswith("] 100 %")
        assert all(len(bar.line(3, 4, "residual 1.00e-07", columns)) <= max(columns - 1, 1) for columns in range(90))
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setitem(sys.modules, "tqdm", None)
    with Bar("a", True) as bar:
        for step in range(1000):
            bar(step, 1000, 0.0)
        bar(1000, 1000, 0.0)
    # Drawn a few times a second, and at the end.
    assert 2 <= stream.getvalue().count("100 %") + stream.getvalue().count("  0 %") < 20


def test_the_traceback_is_for_debug(inputs: Path) -> None:
    with pytest.raises(purlin.InvalidArgument, match="rank: is 100"):
        run("svd matrix.npy --rank 100 --debug")
    version = subprocess.run([sys.executable, "-m", "purlin", "--version"], capture_output=True, check=True)
    assert version.stdout.decode() == f"purlin {purlin.__version__}\n"
