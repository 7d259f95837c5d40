"""Messages of the command `purlin` name the option or the file that the problem is from."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from cli_runs import in_a_folder, refused, run  # noqa: F401  (the fixture of every test)

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
