"""The command `purlin`: damaged files, files that are longer than their elements, angles that cannot be used, options that
a command does not have, outputs that are inputs, and signals while the command is imported."""

from __future__ import annotations

import gzip
import importlib
import os
import re
import signal
import struct
import subprocess
import sys
import time
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cli_runs import in_a_folder, needs_nibabel, refused, run  # noqa: F401  (the fixture of every test)

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
        (f"{circle} --step 1", "--step: the arc is 89.00 degrees"),
        (f"{circle} --step -1", "--step: the arc is 89.00 degrees"),
    ):
        refused(line, 2, f"error: {text}", capsys)
    # The contents of a file are not the command line.
    np.savetxt("nan.txt", np.r_[np.nan, 4 * np.arange(1.0, 90.0)])
    for line, text in (
        (f"{circle} --angles nan.txt", "--angles: nan.txt: element 0 is NaN, not finite"),
        (f"{circle} --angles near.txt", "--angles: near.txt: the arc is 89.00 degrees"),
        ("fdk p.npy --pitch 3 --out o.npy --geometry near.xml", "--geometry: near.xml: the arc is 89.00 degrees"),
    ):
        refused(line, 1, f"error: {text}", capsys)


def test_wrong_contents_of_files_that_options_name_end_with_1(capsys: pytest.CaptureFixture[str]) -> None:
    np.save("m.npy", np.random.default_rng(0).random((30, 10)))
    Path("other.state").write_text("another program's file")
    for state in ("other.state", "m.npy", "./other.state"):
        matrix = "m.npy" if state != "m.npy" else "n.npy"
        np.save("n.npy", np.eye(10))
        line = f"svd {matrix} --rank 2 --device cpu --restart {state}"
        refused(line, 1, f"error: --restart: {state}: is not a restart file", capsys)
    np.save("p.npy", np.ones((90, 4, 6), np.float32))
    counts = np.full((4, 6), 9.0)
    counts[1, 2] = np.nan
    np.save("counts.npy", counts)
    line = "fdk p.npy --pitch 3 --out o.npy --sid 500 --sdd 1000 --device cpu"
    for options, code, text in (
        ("--i0 counts.npy", 1, "--i0: counts.npy: row 1, column 2 is NaN, not finite"),
        ("--i0 20 --dark counts.npy", 1, "--dark: counts.npy: row 1, column 2 is NaN, not finite"),
        ("--i0 nan", 2, "--i0: is NaN, a finite number above 0 is needed"),
        ("--i0 5 --dark 10", 2, "--i0: is 5, above dark at no pixel, the least of which is 10"),
    ):
        refused(f"{line} {options}", code, f"error: {text}", capsys)


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


# Compressed inputs, headers of NIfTI, outputs that are inputs


def packed(content: bytes, changes: dict[int, int] | None = None) -> bytes:
    """A gzip file whose bytes of content can be changed one by one, which its check sum then does not fit."""
    made = bytearray(gzip.compress(content, compresslevel=0))
    begin = made.find(content[:64])
    for place, flip in (changes or {}).items():
        made[begin + place] ^= flip
    return bytes(made)


PEAKS = "peaks dwi.nii --bval dwi.bval --bvec dwi.bvec --out o.npz --quiet --device cpu"


@needs_nibabel
def test_damaged_and_cut_gzip_files_are_refused_before_an_output_is_made(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("example peaks --quiet") == 0
    image = Path("dwi.nii").read_bytes()
    library = pytest.importorskip("nibabel")
    loaded = library.load("dwi.nii")
    library.Nifti1Image(np.ones(loaded.shape[:3], np.uint8), loaded.affine).to_filename("mask.nii")
    for option, name, damaged in (
        ("IMAGE", "dwi.nii", {4352: 0x40, 4356: 0x40}),
        ("--mask", "mask.nii", {360: 1}),
        ("--bval", "dwi.bval", {3: 1}),
        ("--bvec", "dwi.bvec", {7: 1}),
    ):
        content = Path(name).read_bytes()
        line = f"{PEAKS} --mask {name}.gz" if option == "--mask" else PEAKS.replace(f" {name} ", f" {name}.gz ")
        Path(f"{name}.gz").write_bytes(packed(content))
        assert run(f"{line} --force") == 0
        Path("o.npz").unlink()
        cut = packed(content)
        for wrong in (packed(content, damaged), cut[:-9], cut[:-8], cut[:-1], cut[:-4] + b"\1\0\0\0", cut[: len(cut) // 2]):
            Path(f"{name}.gz").write_bytes(wrong)
            refused(line, 1, f"error: {option}: {name}.gz: is not a", capsys)
    assert len(image) == 352 + 4 * 8 * 8 * 3 * 65


@pytest.mark.parametrize("ending", ["gz", "bz2", "xz"])
def test_damaged_compressed_tables_are_refused(ending: str, capsys: pytest.CaptureFixture[str]) -> None:
    np.save("p.npy", np.ones((90, 4, 6), np.float32))
    module = {"gz": gzip, "bz2": pytest.importorskip("bz2"), "xz": pytest.importorskip("lzma")}[ending]
    content = module.compress("".join(f"{4 * k}\n" for k in range(90)).encode())
    line = f"fdk p.npy --pitch 3 --out o.npy --sid 500 --sdd 1000 --size 2 2 2 --quiet --device cpu --angles a.{ending}"
    Path(f"a.{ending}").write_bytes(content)
    assert run(line) == 0
    Path("o.npy").unlink()
    middle = len(content) // 2
    for wrong in (content[:-1], content[:middle] + bytes([content[middle] ^ 255]) + content[middle + 1 :]):
        Path(f"a.{ending}").write_bytes(wrong)
        refused(line, 1, f"error: --angles: a.{ending}: is not a list of numbers", capsys)


@pytest.mark.parametrize("ending", ["gz", "bz2", "xz"])
def test_members_of_compressed_tables_are_all_read(ending: str, capsys: pytest.CaptureFixture[str]) -> None:
    np.save("p.npy", np.ones((90, 4, 6), np.float32))
    module = {"gz": gzip, "bz2": pytest.importorskip("bz2"), "xz": pytest.importorskip("lzma")}[ending]
    one, two = (
        module.compress("".join(f"{4 * k}\n" for k in part).encode()) for part in (range(50), range(50, 90))
    )
    line = f"fdk p.npy --pitch 3 --out o.npy --sid 500 --sdd 1000 --size 2 2 2 --quiet --device cpu --angles a.{ending}"
    for whole in (one + two, one + two + bytes(8), one + bytes(8) + two, module.compress(b"") + one + two):
        Path(f"a.{ending}").write_bytes(whole)
        assert run(line + " --force") == 0
    Path("o.npy").unlink()
    middle = len(two) // 2
    damaged = two[:middle] + bytes([two[middle] ^ 255]) + two[middle + 1 :]
    for wrong in (one + two + b"garbage", one + two + bytes(8) + b"1", one + damaged, one + two[:-1]):
        Path(f"a.{ending}").write_bytes(wrong)
        refused(line, 1, f"error: --angles: a.{ending}: is not a list of numbers", capsys)


def test_archives_without_arrays(capsys: pytest.CaptureFixture[str]) -> None:
    np.savez("none.npz")
    for line in ("svd none.npz --rank 1", "svd none.npz --rank 1 --key a", "eigs none.npz", "rpca none.npz --out o.npz"):
        refused(line, 1, "error: MATRIX: none.npz: has no arrays", capsys)


def test_names_of_inputs_that_no_reader_takes(capsys: pytest.CaptureFixture[str]) -> None:
    Path("a.txt.bz2").write_bytes(b"")
    np.save("m.npy", np.eye(3))
    expected = "expected a name that ends in .npy, .npz, .mtx"
    others = ".mtx.gz, .txt, .edges, .tsv, .el or .gz"
    refused("eigs a.txt.bz2", 1, f"error: MATRIX: is a.txt.bz2, {expected}, {others}", capsys)
    refused("svd a.txt.bz2 --rank 1", 1, f"error: MATRIX: is a.txt.bz2, {expected} or .mtx.gz", capsys)
    refused("svd m.npy/ --rank 1", 1, f"error: MATRIX: is m.npy/, {expected} or .mtx.gz", capsys)


def test_archives_are_read_to_the_check_sum_of_each_array(capsys: pytest.CaptureFixture[str]) -> None:
    np.savez("m.npz", m=np.eye(300))
    content = Path("m.npz").read_bytes()
    assert run("svd m.npz --rank 1 --device cpu --quiet") == 0
    # The damaged byte is in the header, which says fewer elements than there are.
    Path("m.npz").write_bytes(content.replace(b"(300, 300)", b"(100, 300)"))
    capsys.readouterr()
    refused("svd m.npz --rank 1", 1, "error: MATRIX: m.npz: is not a whole .npz file of numbers", capsys)


def _long(shape: str) -> bytes:
    """A .npy file whose header says more elements than the eight that it has."""
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header + bytes(64)


def test_headers_that_say_more_elements_than_there_are_take_no_memory(capsys: pytest.CaptureFixture[str]) -> None:
    content = _long("(1000000000, 20)")
    needed = 160_000_000_000 + len(content) - 64
    with zipfile.ZipFile("m.npz", "w") as archive:
        archive.writestr("x.npy", content)
    text = f"has {len(content)} bytes, its header says {needed}"
    refused("svd m.npz --rank 1", 1, f"error: MATRIX: m.npz: x.npy: {text}", capsys)
    Path("i0.npy").write_bytes(content)
    line = "fdk p.npy --pitch 3 --out o.npy --sid 500 --sdd 1000 --i0 i0.npy"
    refused(line, 1, f"error: --i0: i0.npy: {text}", capsys)


def number_of(content: bytes, place: int, form: str, *values: Any) -> bytes:
    """The content with numbers of a struct's form at a place."""
    made = bytearray(content)
    struct.pack_into(form, made, place, *values)
    return bytes(made)


@needs_nibabel
@pytest.mark.parametrize(
    ("place", "form", "values", "text"),
    [
        (108, "<f", [1e30], "ends before its samples: has 50272 bytes, its header says 1000000015047"),
        (108, "<f", [float("inf")], "is not a NIfTI image: "),
        (108, "<f", [float("nan")], "is not a NIfTI image: "),
        (40, "<h", [9], "is not a NIfTI image: "),
        (70, "<h", [9999], "is not a NIfTI image: data code 9999 not recognized"),
        (40, "<5h", [4, 32767, 32767, 32767, 65], "ends before its samples: has 50272 bytes, its header says 91"),
        (40, "<5h", [4, -8, -8, 3, 65], "has shape (-8, -8, 3, 65), expected sizes of at least 0"),
        (280, "<f", [float("nan")], "has an affine with NaN or infinity, expected finite numbers"),
    ],
)
@pytest.mark.parametrize(("option", "ending"), [("IMAGE", "nii"), ("--mask", "nii.gz")])
def test_headers_of_nifti_that_are_wrong_give_one_line(
    option: str, ending: str, place: int, form: str, values: Any, text: str
) -> None:
    assert run("example peaks --quiet") == 0
    wrong = number_of(Path("dwi.nii").read_bytes(), place, form, *values)
    Path(f"w.{ending}").write_bytes(wrong if ending == "nii" else gzip.compress(wrong))
    # In a process of its own: nibabel writes to the stderr that there is when it is imported.
    line = f"{PEAKS} --mask w.{ending}" if option == "--mask" else PEAKS.replace(" dwi.nii ", f" w.{ending} ")
    ended = subprocess.run([sys.executable, "-m", "purlin", *line.split()], capture_output=True, text=True, timeout=120)
    assert ended.returncode == 1 and not ended.stdout and not Path("o.npz").exists()
    assert ended.stderr.count("\n") == 1 and f"error: {option}: w.{ending}: {text}" in ended.stderr


@needs_nibabel
def test_images_and_masks_without_voxels_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("example peaks --quiet") == 0
    nibabel = importlib.import_module("nibabel")
    image = nibabel.load("dwi.nii")
    Path("w.nii").write_bytes(number_of(Path("dwi.nii").read_bytes(), 42, "<h", 0))
    text = f"error: IMAGE: w.nii: has shape {(0, *image.shape[1:])}, which is no voxel"
    refused(PEAKS.replace(" dwi.nii ", " w.nii "), 1, text, capsys)
    for value in (0, np.nan):
        nibabel.Nifti1Image(np.full(image.shape[:3], value, np.float32), image.affine).to_filename("m.nii")
        text = "error: --mask: m.nii: has no voxel of interest, all are 0 or NaN"
        refused(f"{PEAKS} --mask m.nii", 1, text, capsys)


@needs_nibabel
def test_what_nibabel_mends_in_a_header_is_a_warning_of_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("example peaks --quiet") == 0
    Path("w.nii").write_bytes(number_of(Path("dwi.nii").read_bytes(), 80, "<f", 0.0))
    assert run(PEAKS.replace(" dwi.nii ", " w.nii ")) == 0
    assert capsys.readouterr().err.startswith("purlin peaks: warning: IMAGE: w.nii: pixdim")


def test_messages_name_options_of_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    np.save("m.npy", np.random.default_rng(0).random((30, 10)))
    np.save("stack.npy", np.asfortranarray(np.ones((4, 5, 6))))
    refused("svd m.npy --rank 2 --method direct --restart r", 2, "error: --restart: is set, direct", capsys)
    for command, argument in (("svd --rank 2", "MATRIX"), ("pca --components 2", "SAMPLES"), ("rpca --out o.npz", "MATRIX")):
        name, options = command.split(" ", 1)
        assert run(f"{name} stack.npy {options}") == 1
        error = capsys.readouterr().err
        assert f"error: {argument}: stack.npy: has 3 axes in Fortran order" in error
        assert error.endswith("save the array in C order\n")
    for kind in ("int64", "uint64", "float32"):
        np.save("mask.npy", np.ones((30, 10), kind))
        text = f"error: --mask: mask.npy: is {kind}, expected uint8"
        refused("rpca m.npy --mask mask.npy --out o.npz", 1, text, capsys)


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("rpca m.npy --out o.npz --rho 1_0", "--rho: is '1_0', expected a number"),
        ("svd m.npy --rank 1_0", "--rank: is '1_0', expected an integer"),
        ("svd m.npy --rank 1 --seed 1_0", "--seed: is '1_0', expected an integer"),
        ("svd m.npy --rank \u0663", "--rank: is '\u0663', expected an integer"),
        ("fdk p.npy --out o.npy --sid 5_00 --sdd 1000", "--sid: is '5_00', expected a number"),
        ("fdk p.npy --out o.npy --sid 500 --sdd 1000 --i0 1_0", "--i0: is '1_0', expected a number or a .npy file"),
        ("peaks d.nii --bval b --bvec b --out o.npz --min-separation 2_5", "--min-separation: is '2_5', expected a number"),
        ("eigs g.txt --base 0_1", "--base: is '0_1', expected an integer"),
    ],
)
def test_numbers_are_written_as_usual(line: str, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    refused(line, 2, f"error: {text}", capsys)


@pytest.mark.parametrize("force", ["", " --force"])
@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("svd x_U.npy --rank 1 --out x.npy", "--out: is x_U.npy, which is MATRIX too"),
        ("svd link.npy --rank 1 --out x.npy", "--out: is x_U.npy, which is MATRIX too"),
        ("svd x_U.npy --rank 1 --out other.npy", "--out: is other_s.npy, which is MATRIX too"),
        ("pca x_mean.npy --components 1 --out x.npy", "--out: is x_mean.npy, which is SAMPLES too"),
        ("eigs x_values.npy --count 1 --out ./x.npy", "--out: is ./x_values.npy, which is MATRIX too"),
        ("rpca x_U.npy --low-rank x_U.npy", "--low-rank: is x_U.npy, which is MATRIX too"),
        ("rpca x_U.npy --mask mask.npy --sparse mask.npy", "--sparse: is mask.npy, which is --mask too"),
        ("svd x_U.npy --rank 1 --restart r.npz --out ./r.npz", "--out: is ./r.npz, which is --restart too"),
        ("fdk p.npy --sid 500 --sdd 1000 --pitch 3 --size 2 2 2 --out p.npy", "--out: is p.npy, which is PROJECTIONS too"),
        ("fdk p.npy --sid 500 --sdd 1000 --pitch 3 --i0 i0.npy --out i0.npy", "--out: is i0.npy, which is --i0 too"),
        ("fdk scan.mhd --sid 500 --sdd 1000 --size 2 2 2 --out scan.raw", "--out: is scan.raw, which is PROJECTIONS too"),
        ("peaks dwi.nii --bval b --bvec b --out dwi.nii", "--out: is dwi.nii, which is IMAGE too"),
        ("peaks dwi.nii --bval b --bvec b --mask m.nii --out m.nii", "--out: is m.nii, which is --mask too"),
    ],
)
def test_an_output_that_is_an_input_is_refused(
    line: str, text: str, force: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("x_U", "x_mean", "x_values"):
        np.save(f"{name}.npy", np.eye(4))
    np.save("mask.npy", np.ones((4, 4), np.uint8))
    np.save("p.npy", np.ones((90, 4, 6), np.float32))
    np.save("i0.npy", np.ones((4, 6), np.float32))
    os.symlink("x_U.npy", "link.npy")
    os.symlink("x_U.npy", "other_s.npy")
    assert run("example fdk --quiet") == 0
    scan = Path("scan.mha").read_bytes()
    begin = len(scan) - 4 * 90 * 48 * 64
    Path("scan.raw").write_bytes(scan[begin:])
    Path("scan.mhd").write_bytes(scan[:begin].replace(b"LOCAL", b"scan.raw"))
    for name in ("dwi.nii", "m.nii"):
        Path(name).write_bytes(b"")
    before = {path.name: path.read_bytes() for path in Path().iterdir()}
    refused(line + force, 2, f"error: {text}", capsys)
    assert {path.name: path.read_bytes() for path in Path().iterdir()} == before


@pytest.mark.parametrize(
    ("key", "value", "text"),
    [
        (b"Offset", b"0 0 0", "has Offset twice, once is needed"),
        (b"CompressedData", b"True", "has CompressedData twice, once is needed"),
        (b"DimSize", b"64 48 90", "has DimSize twice, once is needed"),
        (b"ElementToIntensityFunctionSlope", b"2", "has ElementToIntensityFunctionSlope = 2, values other than 1"),
        (b"ElementToIntensityFunctionOffset", b"-1024", "has ElementToIntensityFunctionOffset = -1024, values other than 0"),
    ],
)
def test_headers_that_say_a_key_twice_or_scale_the_values(key: bytes, value: bytes, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("example fdk --quiet") == 0
    scan = Path("scan.mha").read_bytes()
    Path("scan.mha").write_bytes(scan.replace(b"ElementDataFile", key + b" = " + value + b"\nElementDataFile", 1))
    refused("fdk scan.mha --geometry geometry.xml --out v.npy", 1, f"error: PROJECTIONS: scan.mha: {text}", capsys)


@pytest.mark.parametrize("name", ["x.txt.gz", "x.mtx.gz"])
@pytest.mark.parametrize("behind", [b"junk", b"more bytes than a header of gzip has", b"\x1f\x8b"])
def test_bytes_behind_a_gzip_member_are_named(name: str, behind: bytes, capsys: pytest.CaptureFixture[str]) -> None:
    head = "" if "txt" in name else "%%MatrixMarket matrix coordinate real symmetric\n9 9 3\n"
    whole = gzip.compress(f"{head}3 2\n".encode()) + gzip.compress(b"4 3\n5 4\n")
    if "mtx" in name:
        whole = gzip.compress(f"{head}3 2 1\n4 3 1\n".encode()) + gzip.compress(b"5 4 1\n")
    Path(name).write_bytes(whole + behind)
    refused(f"eigs {name} --count 1", 1, f"error: MATRIX: {name}: has bytes behind its last whole gzip member", capsys)
    Path(name).write_bytes(whole[:-12])
    refused(f"eigs {name} --count 1", 1, f"error: MATRIX: {name}: read: ", capsys)
    Path(name).write_bytes(whole)
    assert run(f"eigs {name} --count 1 --device cpu") == 0


def test_archives_with_a_name_twice_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    np.save("x.npy", np.eye(3))
    with zipfile.ZipFile("m.npz", "w") as archive, pytest.warns(UserWarning, match="Duplicate name"):
        archive.write("x.npy")
        archive.write("x.npy")
    refused("svd m.npz --rank 1", 1, "error: MATRIX: m.npz: has the array x twice", capsys)
