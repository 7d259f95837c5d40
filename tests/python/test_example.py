"""The example programs and their NIfTI reader."""

from __future__ import annotations

import importlib.util
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import GOLDEN, ROOT

EXAMPLE = ROOT / "bindings" / "python" / "examples" / "fibres.py"
DATA = ROOT / "examples-c" / "data"


@pytest.fixture(scope="module")
def fibres() -> Any:
    spec = importlib.util.spec_from_file_location("fibres", EXAMPLE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_volume_is_read_as_the_golden_one(fibres: Any) -> None:
    volume = fibres.read_nifti(DATA / "small_64D.nii")
    bvals, bvecs = fibres.read_scheme(DATA / "small_64D.bval", DATA / "small_64D.bvec")
    with np.load(GOLDEN / "dwi_small64d_csa4.npz") as golden:
        np.testing.assert_array_equal(volume.reshape(1000, 65), golden["S"])
        np.testing.assert_allclose(bvals, golden["bvals"])
        weighted = bvals > 50
        np.testing.assert_allclose(bvecs[weighted], golden["bvecs"][weighted])


def image(path: Path, order: str, slope: float) -> Path:
    """A 2 x 3 image of 0 to 5 in the given byte order."""
    header = bytearray(352)
    struct.pack_into(order + "i", header, 0, 348)
    struct.pack_into(order + "8h", header, 40, 2, 2, 3, 1, 1, 1, 1, 1)
    struct.pack_into(order + "h", header, 70, 4)
    struct.pack_into(order + "3f", header, 108, 352.0, slope, 1.0 if slope == 0.5 else 0.0)
    header[344:348] = b"n+1\0"
    path.write_bytes(bytes(header) + np.arange(6, dtype=order + "i2").tobytes())
    return path


@pytest.mark.parametrize("order", ["<", ">"])
def test_either_byte_order_and_scaling(fibres: Any, tmp_path: Path, order: str) -> None:
    expected = np.arange(6).reshape(2, 3, order="F")
    np.testing.assert_array_equal(fibres.read_nifti(image(tmp_path / "a.nii", order, 0.0)), expected)
    np.testing.assert_array_equal(fibres.read_nifti(image(tmp_path / "b.nii", order, 0.5)), expected * 0.5 + 1)


@pytest.mark.parametrize("content", [b"", b"\x5c\x01\0\0", b"\0" * 400])
def test_other_files_are_refused(fibres: Any, tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.nii"
    path.write_bytes(content)
    with pytest.raises(ValueError, match="is not a single-file NIfTI-1 image"):
        fibres.read_nifti(path)
    truncated = tmp_path / "y.nii"
    truncated.write_bytes(image(tmp_path / "z.nii", "<", 0.0).read_bytes()[:-1])
    with pytest.raises(ValueError):
        fibres.read_nifti(truncated)


def test_the_program_prints_its_table() -> None:
    run = subprocess.run([sys.executable, str(EXAMPLE)], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    lines = run.stdout.splitlines()
    assert lines[0].startswith("purlin ") and " on the " in lines[0]
    assert lines[1].split() == ["voxels", "1000", "(10", "x", "10", "x", "10)"]
    # All voxels but the isotropic one have directions.
    assert sum(int(line.split()[-1]) for line in lines[2:5]) == 999
    first = [float(word) for word in lines[lines.index("  first voxels' directions and values:") + 1].split()[3:]]
    with np.load(GOLDEN / "dwi_small64d_csa4.npz") as golden:
        peak = golden["peaks"][0, 0]
    np.testing.assert_allclose(np.multiply(first[:3], first[3]), peak * np.sign(peak[2]), atol=1e-4)


def test_modes_of_a_flow_on_disk() -> None:
    program = EXAMPLE.with_name("snapshots.py")
    run = subprocess.run([sys.executable, str(program), "600", "80"], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    lines = run.stdout.splitlines()
    angles = [float(line.split()[-2]) for line in lines if " angle" in line]
    assert len(angles) == 3
    clean, plain, robust = angles
    assert clean < 1.0 and robust < 2.0 and plain > 5 * robust
    assert 1.5 < float(lines[-1].split()[-2]) < 2.5


def test_spectra_make_their_page(tmp_path: Path) -> None:
    program = EXAMPLE.with_name("spectra.py")
    data = ROOT / "tests" / "golden" / "spectral"
    run = subprocess.run([sys.executable, "-B", str(program), str(tmp_path), str(data)], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith("sparse spectra: 4elt is cut at 168 edges, ")
    # The reference's thick restart needs 95 products, ARPACK 97; the test for missing copies needs about 50 more.
    assert 80 <= int(run.stdout.split(" products")[0].split()[-1]) <= 160
    page = (tmp_path / "spectra.html").read_text()
    assert 'href="demo.css"' in page and (tmp_path / "demo.css").read_text().startswith("/* The style of all pages")
    for name in ("mesh", "digits", "photo"):
        assert f'src="spectra_{name}.png"' in page
        assert (tmp_path / f"spectra_{name}.png").read_bytes().startswith(b"\x89PNG")
    for name in ("density", "convergence"):
        assert (tmp_path / f"spectra_{name}.svg").read_text().strip() in page
