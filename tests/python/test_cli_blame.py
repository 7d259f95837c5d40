"""Messages of the command `purlin` name the option or the file that the problem is from."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import numpy as np
import pytest

from cli_runs import in_a_folder, needs_nibabel, refused, run  # noqa: F401  (the fixture of every test)

CIRCLE = "fdk p.npy --out v.npy --sid 500 --sdd 1000"


@pytest.mark.parametrize(
    ("line", "code", "text"),
    [
        (f"{CIRCLE} --pitch 1e30", 2, "--pitch: is 1e30: 6 columns are too wide for --sdd = 1000"),
        (f"{CIRCLE} --pitch 3 --start 1e300", 2, "--start: is 1e+300 degrees, beyond 1e9 rad"),
        (f"{CIRCLE} --pitch 3 --origin 999 0 0", 2, "--origin: reaches [999.0, 0.0, 0.0], which lies"),
        (f"{CIRCLE} --pitch 3 --origin 999 0 0 --size 9 9 9", 2, "--size, --origin: reaches [999.0, 0.0, 0.0]"),
        (f"{CIRCLE} --pitch 3 --i0 0", 2, "--i0: is 0, expected counts above 0\n"),
        ("fdk one.npy --out v.npy --sid 500 --sdd 1000 --pitch 3", 1, "PROJECTIONS: one.npy: the arc is 0.00 degrees"),
        ("fdk thin.npy --out v.npy --sid 500 --sdd 1000 --pitch 3", 1, "PROJECTIONS: thin.npy: is 1, less than 2"),
    ],
)
def test_orbits_of_numbers(line: str, code: int, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    for name, shape in (("p", (90, 4, 6)), ("one", (1, 4, 6)), ("thin", (90, 4, 1))):
        np.save(f"{name}.npy", np.ones(shape, np.float32))
    refused(line, code, f"error: {text}", capsys)


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"SourceToIsocenterDistance": "-100"}, "SourceToIsocenterDistance is -100, a finite number above 0"),
        ({"SourceToDetectorDistance": "50"}, "SourceToDetectorDistance is 50, less than SourceToIsocenterDistance = 500"),
        ({"InPlaneAngle": "90"}, "view 0: has rows at 90.0 degrees"),
        ({"SourceOffsetX": "1e200"}, "view 0: is singular"),
        ({"ProjectionOffsetX": "1e200"}, "ProjectionOffsetX is 1e200, more than 1000 times"),
        ({"OutOfPlaneAngle": "1e300"}, "OutOfPlaneAngle is 1e+300 degrees, beyond 1e9 rad"),
        ({"InPlaneAngle": "1e300"}, "InPlaneAngle is 1e+300 degrees, beyond 1e9 rad"),
    ],
)
def test_geometries_of_files(changes: dict[str, str], text: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("example fdk --quiet") == 0
    geometry = Path("geometry.xml").read_text()
    for name, value in changes.items():
        if name in geometry:
            geometry = re.sub(f"(?<=<{name}>)[^<]*", value, geometry)
        else:
            geometry = geometry.replace("<Projection>", f"<Projection><{name}>{value}</{name}>")
    Path("x.xml").write_text(geometry)
    refused("fdk scan.mha --geometry x.xml --out v.npy", 1, f"error: --geometry: x.xml: {text}", capsys)


def test_pitches_beside_a_geometry_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("example fdk --quiet") == 0
    line = "fdk scan.mha --pitch 1e11 --spacing 1 --out v.npy --geometry"
    refused(f"{line} geometry.xml", 2, "error: --pitch with the image's origin: is 31499999999", capsys)
    turned = Path("geometry.xml").read_text().replace("<Projection>", "<Projection><InPlaneAngle>1</InPlaneAngle>")
    Path("turned.xml").write_text(turned)
    refused(f"{line} turned.xml --panel-offset 0 0", 2, "error: --pitch: view 0 is singular", capsys)


def test_names_of_files(capsys: pytest.CaptureFixture[str]) -> None:
    np.save("m.npy", np.random.default_rng(0).random((30, 10)))
    Path("link.npz").symlink_to("gone/x.npz")
    target = Path("gone/x.npz").absolute()
    for line, code, text in (
        ("svd m.npy --rank 2 --restart m.npy", 2, "--restart: is m.npy, which is MATRIX too"),
        ("svd m.npy --rank 2 --restart ./m.npy", 2, "--restart: is ./m.npy, which is MATRIX too"),
        ("svd '' --rank 2", 1, "MATRIX: is empty, expected the name of a file"),
        ("svd m.npy --rank 2 --out link.npz", 1, f"--out: is link.npz, a link to {target}, whose folder does not exist"),
        ("svd m.npy --rank 2 --out gone/x.npz", 1, "--out: is gone/x.npz, whose folder does not exist"),
        ("svd m.npy --rank 2 --out .npz", 2, "--out: is .npz, expected a name before the ending"),
        ("peaks d.nii --bval b --bvec g --out .nii.gz", 2, "--out: is .nii.gz, expected a name before the ending"),
        ("peaks d.nii --bval b --bvec g --out gone/.NII", 2, "--out: is gone/.NII, expected a name before the ending"),
        ("svd m.npy --tolerance 0", 2, "--tolerance: is 0, which turns it off, and --rank is not given"),
        ("svd m.npy --tolerance 0.5 --rank 3", 2, "--rank: is 3 beside a tolerance, which finds it; --max-rank bounds it"),
    ):
        refused(line, code, f"error: {text}", capsys)


@needs_nibabel
def test_searches_for_peaks_without_convergence(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("example peaks --quiet") == 0
    peaks = "peaks dwi.nii --bval dwi.bval --bvec dwi.bvec --out o.nii --device cpu"
    text = "error: no start converged to the tolerance 1e-05 in any of 192 voxels; nothing was written"
    refused(f"{peaks} --max-iterations 1", 1, text, capsys)
    assert run(f"{peaks} --max-iterations 2") == 0
    said = capsys.readouterr()
    lost = re.search(r"192 voxels, (\d+) with 0", said.out)
    assert lost is not None and 0 < int(lost[1]) < 192
    text = f"purlin peaks: warning: no start converged to the tolerance 1e-05 in {lost[1]} voxels, which have no peak\n"
    assert said.err == text
    refused(f"{peaks} --force --tolerance 1", 2, "error: --tolerance: is 1, at least 0 and less than 1 is needed", capsys)
    text = "error: --starts: is 100000000000: start vectors: 1200000000000 bytes"
    refused(f"{peaks} --force --starts 100000000000", 1, text, capsys)
    # A threshold that no peak reaches is no failure of the search.
    assert run(f"{peaks} --force --absolute-threshold 1e9") == 0
    assert capsys.readouterr().err == ""


@needs_nibabel
@pytest.mark.parametrize(("axes", "rank"), [(1, 1), (4, 4)])
def test_gradients_that_do_not_determine_the_fit(axes: int, rank: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("example peaks --quiet") == 0
    gradients = np.loadtxt("dwi.bvec")
    known = gradients[:, np.linalg.norm(gradients, axis=0) > 0][:, :axes]
    np.savetxt("few.bvec", known[:, np.arange(gradients.shape[1]) % axes])
    assert run("peaks dwi.nii --bval dwi.bval --bvec few.bvec --out o.npz --device cpu --quiet") == 0
    text = f"--bvec: few.bvec: its gradients determine {rank} of the 15 coefficients of degree 4, and --smoothing the others"
    assert capsys.readouterr().err == f"purlin peaks: warning: {text}\n"
    assert run("peaks dwi.nii --bval dwi.bval --bvec dwi.bvec --out w.npz --device cpu --quiet") == 0
    assert capsys.readouterr().err == ""


@needs_nibabel
def test_images_with_a_singular_affine(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("example peaks --quiet") == 0
    header = bytearray(Path("dwi.nii").read_bytes())
    header[280:296] = bytes(16)
    Path("flat.nii").write_bytes(header)
    line = "peaks flat.nii --bval dwi.bval --bvec dwi.bvec --out o.nii"
    refused(line, 1, "error: IMAGE: flat.nii: has a singular affine, expected one with three axes", capsys)


def test_warnings_of_packages_are_lines(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    np.save("m.npy", np.eye(4))
    monkeypatch.setattr("purlin.cli.svd.expect_inputs", lambda *_: warnings.warn("one\n  and two", RuntimeWarning))
    assert run("svd m.npy --rank 1 --device cpu") == 0
    assert capsys.readouterr().err == "purlin svd: warning: one and two\n"
