"""Results of the command `purlin` are those of the library's calls, bit for bit, in every format."""

from __future__ import annotations

import importlib
import importlib.util
import json
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cli_runs import done, in_a_folder, needs_nibabel, refused, run  # noqa: F401  (the fixture of every test)
from conftest import ROOT
from test_paths import grey_page

import purlin
from purlin import cli, dwi, fdk, graph, lanczos, rpca, rsvd, sparse
from purlin.blocks import Sink, Source
from purlin.cli import png

GOLDEN = ROOT / "tests" / "golden"
DATA = ROOT / "examples-c" / "data"


# Cone-beam CT


def scan(name: str) -> tuple[Any, dict[str, Any]]:
    return np.load(GOLDEN / "fdk" / f"{name}_proj.npy"), json.loads((GOLDEN / "fdk" / f"{name}.json").read_text())


def golden_grid(about: dict[str, Any]) -> fdk.Grid:
    return fdk.Grid(
        tuple(about["vol_shape_zyx"][::-1]), tuple(about["vol_spacing_xyz_mm"]), tuple(about["vol_origin_xyz_mm"])
    )


def grid_options(grid: fdk.Grid) -> str:
    words = [f"--{name} " + " ".join(map(str, getattr(grid, name))) for name in ("size", "spacing", "origin")]
    return " ".join(words)


def volume_of(path: str, shape: tuple[int, ...], dtype: Any = "<f4") -> Any:
    """The voxels at the end of a file."""
    content = Path(path).read_bytes()
    count = int(np.prod(shape))
    return np.frombuffer(content, dtype, count, len(content) - count * np.dtype(dtype).itemsize).reshape(shape)


def metaimage(path: str, lines: Any, spacing: tuple[float, float], origin: tuple[float, float] | None) -> None:
    views, rows, columns = lines.shape
    at = "" if origin is None else f"Offset = {origin[0]} {origin[1]} 0\n"
    head = (
        f"ObjectType = Image\nNDims = 3\nBinaryData = True\nBinaryDataByteOrderMSB = False\n{at}ElementSpacing = {spacing[0]} "
        f"{spacing[1]} 1\nDimSize = {columns} {rows} {views}\nElementType = MET_FLOAT\nElementDataFile = LOCAL\n"
    )
    Path(path).write_bytes(head.encode() + lines.astype("<f4").tobytes())


def rtk_file(path: str, common: dict[str, Any], views: list[dict[str, Any]], version: int = 3) -> None:
    def written(of: dict[str, Any]) -> str:
        return "".join(f"<{name}>{value}</{name}>\n" for name, value in of.items())

    body = written(common) + "".join(f"<Projection>{written(view)}</Projection>\n" for view in views)
    root = f'<RTKThreeDCircularGeometry version="{version}">'
    Path(path).write_text(
        f'<?xml version="1.0"?>\n<!DOCTYPE RTKGEOMETRY>\n{root}\n{body}</RTKThreeDCircularGeometry>\n'
    )


def test_volumes_have_the_bits_of_the_library_in_every_format(cpu: purlin.Context) -> None:
    lines, about = scan("short")
    grid = golden_grid(about)
    geometry = fdk.Geometry(72, 48, 3.0, 4.0, 500.0, 1000.0, angles=np.radians(np.arange(85) * 2.5))
    want = fdk.reconstruct(lines, geometry, grid, window="hann", cutoff=0.8, context=cpu)
    np.save("scan.npy", lines)
    options = f"scan.npy --sid 500 --sdd 1000 --pitch 3 4 --step 2.5 --window hann --cutoff 0.8 {grid_options(grid)}"
    endings = [".mha", ".npy", ".raw", ".tif"] + [".nii"] * bool(importlib.util.find_spec("nibabel"))
    for ending in endings:
        done(f"fdk {options} --out v{ending}")
        if ending == ".tif":
            content = Path("v.tif").read_bytes()
            assert all(page.tobytes() in content for page in want)
            with Source.from_tiff("v.tif", context=cpu) as source:
                assert source.info.shape == want.shape
        else:
            assert np.array_equal(volume_of("v" + ending, want.shape), want), ending
    assert np.array_equal(np.load("v.npy"), want) and Path("v.raw").stat().st_size == want.nbytes
    with Source.from_metaimage("v.mha", context=cpu) as source:
        assert source.info.spacing == (2.0, 2.4, 2.2) and source.info.origin == (-35.0, -51.6, -51.7)
    # Integers with the scale of the run.
    done(f"fdk {options} --out v16.npy --out-type int16 --output-scale 1000")
    sixteen = np.empty(want.shape, np.int16)
    with fdk.Reconstruction(geometry, grid, window="hann", cutoff=0.8, output_scale=1000.0, context=cpu) as plan:
        plan.reconstruct(lines, sixteen)
    assert np.array_equal(np.load("v16.npy"), sixteen) and sixteen.max() > 500


@needs_nibabel
def test_a_nifti_volume_lies_where_the_metaimage_does(cpu: purlin.Context) -> None:
    nibabel = importlib.import_module("nibabel")
    assert run("example fdk") == 0
    done("fdk scan.mha --geometry geometry.xml --spacing 1.5 2 2.5 --size 30 20 10 --out v.nii")
    done("fdk scan.mha --geometry geometry.xml --spacing 1.5 2 2.5 --size 30 20 10 --out v.npy")
    image = nibabel.load("v.nii")
    assert np.array_equal(np.asarray(image.dataobj).T, np.load("v.npy"))
    # ITK's x and y are the negative ones of NIfTI.
    want = np.diag([-1.5, -2.0, 2.5, 1.0])
    want[:3, 3] = 14.5 * 1.5, 9.5 * 2, -4.5 * 2.5
    assert np.array_equal(image.affine, want) and np.allclose(image.get_qform(), want)


def test_counts_of_a_raw_file(cpu: purlin.Context) -> None:
    lines, _ = scan("full")
    counts = np.rint(60000 * np.exp(-0.01 * lines) + 100).astype(">u2")
    Path("scan.bin").write_bytes(b"twelve bytes" + counts.tobytes())
    np.save("dark.npy", np.full(lines.shape[1:], 100.0))
    geometry = fdk.Geometry(80, 64, 3.0, 3.5, 500.0, 1000.0, angles=np.radians(np.arange(90) * 4.0))
    with fdk.Reconstruction(geometry, context=cpu) as plan:
        plan.set_counts(60100.0, 100.0)
        want = plan.reconstruct(counts.astype(np.uint16))
    options = "--shape 90 64 80 --type '>u2' --header 12 --i0 60100 --sid 500 --sdd 1000 --pitch 3 3.5"
    done(f"fdk scan.bin {options} --dark dark.npy --out v.npy")
    assert np.array_equal(np.load("v.npy"), want)


def test_stacks_of_tiff_files_and_headers_beside_their_data(cpu: purlin.Context) -> None:
    lines, _ = scan("full")
    bytes_ = np.rint(lines * (255 / lines.max())).astype(np.uint8)
    for view, page in enumerate(bytes_):
        grey_page(Path(f"{view:03}.tif"), page)
    geometry = fdk.Geometry(80, 64, 3.0, 3.5, 500.0, 1000.0, 1.5, -2.0, angles=-np.radians(30 + np.arange(90) * 4.0))
    want = fdk.reconstruct(bytes_, geometry, context=cpu)
    names = " ".join(f"{view:03}.tif" for view in range(90))
    numbers = "--sid 500 --sdd 1000 --panel-offset 1.5 -2"
    done(f"fdk {names} {numbers} --pitch 3 3.5 --start -30 --step -4 --out stack.npy")
    assert np.array_equal(np.load("stack.npy"), want)
    head = (
        "NDims = 3\nDimSize = 80 64 90\nElementSpacing = 3 3.5 1\nElementType = MET_UCHAR\nElementDataFile = data.raw\n"
    )
    Path("scan.mhd").write_text(head)
    Path("data.raw").write_bytes(bytes_.tobytes())
    np.savetxt("angles.txt", -30 - np.arange(90) * 4.0)
    done(f"fdk scan.mhd {numbers} --angles angles.txt --out header.npy")
    assert np.array_equal(np.load("header.npy"), want)


def test_several_devices_share_the_work(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Two contexts on the CPU stand for two GPUs."""
    for name in ("fdk", "svd", "pca", "rpca", "eigs"):
        assert run(f"example {name} --quiet") == 0
    shared = ("fdk scan.mha --geometry geometry.xml", "eigs graph.txt --count 3", "eigs graph.txt --clusters 3")
    for k, line in enumerate(shared):
        done(f"{line} --out one{k}.npy")
    monkeypatch.setattr(cli.options, "device", lambda _text: ("cpu", [0, 0]))
    for k, line in enumerate(shared):
        done(f"{line} --out two{k}.npy")
    written = sorted(path.name for path in Path().glob("one*.npy"))
    assert len(written) == 7
    assert np.array_equal(np.load("one0.npy"), np.load("two0.npy"))
    for name in written:
        assert np.allclose(np.load(name), np.load(name.replace("one", "two")), atol=1e-9), name
    # These share work over GPUs alone: the refusal shows that the group has arrived.
    for line in ("svd matrix.npy --rank 3", "pca samples.npy --components 3", "rpca frames.npy --out r.npz"):
        refused(f"{line} --device cpu", 2, "--device: has 2 contexts on the CPU", capsys)


def test_rtk_geometries_of_circles(cpu: purlin.Context) -> None:
    lines, about = scan("displaced")
    grid = golden_grid(about)
    geometry = fdk.Geometry(48, 48, 3.5, 4.0, 500.0, 1000.0, 52.0, angles=np.radians(np.arange(90) * 4.0))
    want = fdk.reconstruct(lines, geometry, grid, context=cpu)
    views = [{"GantryAngle": angle} for angle in np.arange(90) * 4.0]
    distances = {"SourceToIsocenterDistance": 500.0, "SourceToDetectorDistance": 1000.0}
    # The panel's place is in the geometry, or in the origin of the projections.
    rtk_file("offset.xml", {**distances, "ProjectionOffsetX": 52.0}, views)
    rtk_file("plain.xml", distances, views)
    centre = (-23.5 * 3.5, -23.5 * 4.0)
    metaimage("centred.mha", lines, (3.5, 4.0), centre)
    metaimage("moved.mha", lines, (3.5, 4.0), (centre[0] + 52.0, centre[1]))
    metaimage("nowhere.mha", lines, (3.5, 4.0), None)
    for k, (name, geometry_name) in enumerate((("centred", "offset"), ("moved", "plain"), ("nowhere", "offset"))):
        done(f"fdk {name}.mha --geometry {geometry_name}.xml {grid_options(grid)} --scan half_fan --out {k}.npy")
        assert np.array_equal(np.load(f"{k}.npy"), want), name
    assert abs(want - np.load(GOLDEN / "fdk" / "displaced_rtk.npy")).max() < 5e-3


def bent() -> list[dict[str, float]]:
    """The views of the golden C-arm, as tests/golden/fdk/make_goldens_rtk.py draws them."""
    r = np.random.default_rng(11)

    def u(k: float) -> Any:
        return r.uniform(-k, k, 72)

    given: dict[str, Any] = {"SourceToIsocenterDistance": 500 + u(5), "SourceToDetectorDistance": 1000 + u(8)}
    given["GantryAngle"] = np.arange(72) * 5.0 + u(0.6)
    for name, width in (
        ("ProjectionOffsetX", 5),
        ("ProjectionOffsetY", 5),
        ("OutOfPlaneAngle", 1.0),
        ("InPlaneAngle", 1.5),
        ("SourceOffsetX", 2),
        ("SourceOffsetY", 2),
    ):
        given[name] = u(width)
    return [{name: float(values[k]) for name, values in given.items()} for k in range(72)]


def test_rtk_geometries_of_bent_orbits(cpu: purlin.Context, capsys: pytest.CaptureFixture[str]) -> None:
    lines, about = scan("carm")
    grid, views = golden_grid(about), bent()
    rtk_file("carm.xml", {}, views)
    metaimage("carm.mha", lines, (3.2, 3.7), (-37.5 * 3.2, -29.5 * 3.7))
    geometry = cli.fdk.rtk.geometry_of(cli.fdk.rtk.read_views("carm.xml"), cli.fdk.rtk.Panel(76, 60, 3.2, 3.7))
    golden = np.load(GOLDEN / "fdk" / "carm_matrices.npy")
    assert geometry.angles is None and np.allclose(
        geometry.matrices, golden, rtol=1e-12, atol=1e-12 * abs(golden).max()
    )
    done(f"fdk carm.mha --geometry carm.xml {grid_options(grid)} --edge skip --out v.npy")
    assert np.array_equal(np.load("v.npy"), fdk.reconstruct(lines, geometry, grid, edge="skip", context=cpu))
    # A matrix in the file must be that of the parameters, as in RTK.
    matrix = cli.fdk.rtk._matrix(views[0])
    for change, text in (
        (0.0, None),
        (2e-3, "Matrix of projection 0 differs"),
        (np.nan, "Matrix of projection 0 differs"),
    ):
        rtk_file(
            "m.xml", {}, [{**views[0], "Matrix": " ".join(map(repr, (matrix + change).ravel().tolist()))}, *views[1:]]
        )
        line = f"fdk carm.mha --geometry m.xml {grid_options(grid)} --out m.npy"
        if text is None:
            done(line)
            Path("m.npy").unlink()
        else:
            refused(line, 1, text, capsys)
    for name, common, fewer, version, text in (
        ("a", {}, views[1:], 3, "has 71 projections, the scan has 72 views"),
        ("b", {}, views, 1, "has version 1, expected 2 or 3"),
        ("c", {"RadiusCylindricalDetector": 900.0}, views, 3, "RadiusCylindricalDetector is 900.0"),
        ("d", {"GantryAngle": float("nan")}, views, 3, "expected a finite number"),
        ("e", {}, [{"GantryAngle": 0.0}] * 72, 3, "is parallel"),
        ("f", {}, [], 3, "has no Projection"),
    ):
        rtk_file(f"{name}.xml", common, fewer, version)
        refused(f"fdk carm.mha --geometry {name}.xml --out x.npy", 1, text, capsys)


# Diffusion MRI


@needs_nibabel
def test_peaks_are_those_of_the_library_in_both_layouts(cpu: purlin.Context) -> None:
    nibabel = importlib.import_module("nibabel")
    image = nibabel.load(DATA / "small_64D.nii")
    signals, bvals = np.asarray(image.dataobj), np.loadtxt(DATA / "small_64D.bval").ravel()
    bvecs = np.nan_to_num(np.loadtxt(DATA / "small_64D.bvec"))
    options: Any = {"relative_threshold": 0.3, "min_separation": float(np.radians(30)), "context": cpu}
    line = f"peaks {DATA}/small_64D.nii --bval {DATA}/small_64D.bval --bvec {DATA}/small_64D.bvec --count 2"
    line += " --relative-threshold 0.3 --min-separation 30"
    done(f"{line} --out p.npz")
    sh = dwi.csa(signals, bvals, bvecs, 4, "descoteaux07_legacy", context=cpu).sh
    want = dwi.peaks(sh, 2, basis="descoteaux07_legacy", missing="zero", **options)
    with np.load("p.npz") as found:
        assert np.array_equal(found["peak_dirs"], want.directions) and np.array_equal(found["peak_values"], want.values)
        assert np.array_equal(found["affine"], image.affine) and np.array_equal(found["shm_coeff"], np.nan_to_num(sh))
    done(f"{line} --out p.nii.gz")
    turned = cli.nifti.to_scanner(bvecs, image.affine)
    sh = dwi.csa(signals, bvals, turned, 4, "mrtrix3", context=cpu).sh
    want = dwi.peaks(sh, 2, basis="mrtrix3", format="mrtrix", **options)
    found = nibabel.load("p.nii.gz")
    assert found.shape == (10, 10, 10, 6) and np.array_equal(found.affine, image.affine)
    assert np.array_equal(np.asarray(found.dataobj), want.peaks.reshape(10, 10, 10, 6), equal_nan=True)
    # A mask, and the scheme in columns.
    mask = np.zeros((10, 10, 10), np.uint8)
    mask[2:5, 3] = 1
    nibabel.Nifti1Image(mask, image.affine).to_filename("mask.nii.gz")
    np.savetxt("columns.bvec", bvecs, "%.17g")
    done(f"{line.replace(f'{DATA}/small_64D.bvec', 'columns.bvec')} --mask mask.nii.gz --out m.npz")
    with np.load("m.npz") as masked:
        assert np.array_equal(masked["peak_values"], np.where(mask[..., None] != 0, np.load("p.npz")["peak_values"], 0))


@needs_nibabel
def test_nan_in_a_mask_is_outside() -> None:
    nibabel = importlib.import_module("nibabel")
    assert run("example peaks --quiet") == 0
    image = nibabel.load("dwi.nii")
    inside = np.random.default_rng(3).random(image.shape[:3]) < 0.5
    line = "peaks dwi.nii --bval dwi.bval --bvec dwi.bvec --mask"
    nibabel.Nifti1Image(inside.astype(np.uint8), image.affine).to_filename("bytes.nii")
    nibabel.Nifti1Image(np.where(inside, 1, np.nan).astype(np.float32), image.affine).to_filename("nan.nii")
    for name in ("bytes", "nan"):
        done(f"{line} {name}.nii --out {name}.npz")
    with np.load("bytes.npz") as want, np.load("nan.npz") as found:
        assert all(np.array_equal(found[name], want[name]) for name in want.files)
        assert not found["peak_values"][~inside].any() and found["peak_values"][inside, 0].all()


@needs_nibabel
def test_a_mask_beside_the_image_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    nibabel = importlib.import_module("nibabel")
    assert run("example peaks --quiet") == 0
    image = nibabel.load("dwi.nii")
    line = "peaks dwi.nii --bval dwi.bval --bvec dwi.bvec --force --out p.nii --mask m.nii"
    for distance, is_refused in ((0.0, False), (0.05, False), (5.0, True)):
        affine = image.affine.copy()
        affine[1, 3] += distance
        nibabel.Nifti1Image(np.ones(image.shape[:3], np.uint8), affine).to_filename("m.nii")
        if is_refused:
            refused(f"{line} --device cpu --quiet", 1, f"--mask: m.nii: lies up to {distance:.3g} mm from the voxels of the image", capsys)
        else:
            done(line)


@needs_nibabel
@pytest.mark.parametrize("ending", [".nii", ".npz"])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_gradients_that_are_no_numbers(value: float, ending: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Volumes without weighting need none; elsewhere the message has the place in the file."""
    assert run("example peaks --quiet") == 0
    vectors = np.loadtxt("dwi.bvec")
    line = f"peaks dwi.nii --bval dwi.bval --out o{ending} --bvec"
    done(f"{line} dwi.bvec")
    want = Path(f"o{ending}").read_bytes() if ending == ".nii" else dict(np.load("o.npz"))
    vectors[:, 0] = value
    np.savetxt("unweighted.bvec", vectors)
    done(f"{line} unweighted.bvec --force")
    if ending == ".nii":
        assert Path("o.nii").read_bytes() == want
    else:
        assert all(np.array_equal(array, want[name]) for name, array in np.load("o.npz").items())
    Path(f"o{ending}").unlink()
    vectors[1, 3] = value
    np.savetxt("columns.bvec", vectors)
    np.savetxt("rows.bvec", vectors.T)
    for name in ("column", "row"):
        text = f"--bvec: {name}s.bvec: {name} 3 (from 0) has norm NaN, a unit vector is needed"
        refused(f"{line} {name}s.bvec", 1, text, capsys)
    vectors[:, 3] = 2, 0, 0
    np.savetxt("long.bvec", vectors)
    refused(f"{line} long.bvec", 1, "--bvec: long.bvec: column 3 (from 0) has norm 2.000000", capsys)
    np.savetxt("nan.bval", np.where(np.arange(65) == 4, value, np.loadtxt("dwi.bval")))
    refused(f"{line.replace('dwi.bval', 'nan.bval')} dwi.bvec", 1, "--bval: nan.bval: number 4 (from 0) is ", capsys)


@needs_nibabel
def test_images_of_colours_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    nibabel = importlib.import_module("nibabel")
    assert run("example peaks --quiet") == 0
    for name, shape in (("image", (8, 8, 3, 65)), ("mask", (8, 8, 3))):
        colours = np.zeros(shape, [("R", "u1"), ("G", "u1"), ("B", "u1")])
        nibabel.Nifti1Image(colours, np.eye(4)).to_filename(f"{name}.nii")
    line = "--bval dwi.bval --bvec dwi.bvec --out o.nii"
    refused(f"peaks image.nii {line}", 1, "IMAGE: image.nii: has samples of type RGB, expected real numbers", capsys)
    text = "--mask: mask.nii: has samples of type RGB, expected real numbers"
    refused(f"peaks dwi.nii {line} --mask mask.nii", 1, text, capsys)


def test_gradients_turn_into_the_axes_of_the_scanner() -> None:
    vectors = np.random.default_rng(5).standard_normal((7, 3))
    # FSL's first axis counts backwards where the determinant is positive; spacings do not matter.
    assert np.allclose(cli.nifti.to_scanner(vectors, np.diag([2.0, 3, 4, 1])), vectors * [-1, 1, 1], atol=1e-14)
    assert np.allclose(cli.nifti.to_scanner(vectors, np.diag([-2.0, 3, 4, 1])), vectors * [-1, 1, 1], atol=1e-14)
    turn = np.eye(4)
    turn[:2, :2] = [[0.0, -2.0], [2.0, 0.0]]
    along_y = cli.nifti.to_scanner(np.array([[-1.0, 0, 0]]), turn)
    assert np.allclose(along_y, [[0, 1, 0]], atol=1e-14)


# Low rank


def test_factors_are_those_of_the_library(cpu: purlin.Context, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(GOLDEN / "rsvd" / "geo_200x120.npy")
    want = rsvd.compute(path, 7, power_iterations=3, seed=4, context=cpu)
    done(f"svd {path} --rank 7 --power-iterations 3 --seed 4 --out f.npz")
    with np.load("f.npz") as found:
        assert sorted(found.files) == ["U", "Vt", "s"]
        for name, array in want._asdict().items():
            assert np.array_equal(found[name], array)
    done(f"svd {path} --rank 7 --power-iterations 3 --seed 4 --out g.npy")
    for name, array in want._asdict().items():
        assert np.array_equal(np.load(f"g_{name}.npy"), array)
    assert not Path("g.npy").exists()
    values = rsvd.compute(path, 3, left=False, right=False, context=cpu).s
    done(f"svd {path} --rank 3")
    assert [float(line) for line in capsys.readouterr().out.split()] == values.tolist()
    # Out of core, to a tolerance.
    want = rsvd.compute(path, tolerance=1e-3, block_rows=16, context=cpu)
    done(f"svd {path} --tolerance 1e-3 --block-rows 16 --out t.npz")
    assert np.array_equal(np.load("t.npz")["U"], want.U)


def test_an_error_too_small_to_be_measured_is_no_number(capsys: pytest.CaptureFixture[str]) -> None:
    np.save("one.npy", np.ones((1, 1)))
    np.save("same.npy", np.ones((5, 4)))
    for name in ("one", "same"):
        for rule in ("--rank 1", "--tolerance 0.1"):
            assert run(f"svd {name}.npy {rule} --device cpu --out {name}.npz --force") == 0
            out = capsys.readouterr().out
            assert out.startswith(f"{name}.npz: 1 triplets") and "nan" not in out, out
    np.save("m.npy", np.diag([4.0, 3.0]))
    assert run("svd m.npy --rank 1 --device cpu --out m.npz") == 0
    assert capsys.readouterr().out.startswith("m.npz: 1 triplets, relative error 0.6\n")


@pytest.mark.parametrize("kind", ["csr", "csc", "coo"])
def test_sparse_matrices_of_scipys_files(kind: str, cpu: purlin.Context) -> None:
    row, col = np.array([0, 0, 2, 3, 4, 4]), np.array([1, 3, 2, 0, 1, 2])
    values, shape = np.array([1.5, -2, 3, 4, 5, -6]), np.array([5, 4])
    dense = np.zeros((5, 4))
    dense[row, col] = values
    if kind == "coo":
        parts = {"row": row, "col": col}
    else:
        major, minor, size = (row, col, 5) if kind == "csr" else (col, row, 4)
        order = np.lexsort((minor, major))
        values = values[order]
        parts = {
            "indices": minor[order],
            "indptr": np.concatenate([[0], np.cumsum(np.bincount(major, minlength=size))]),
        }
    np.savez("a.npz", format=np.array(kind.encode()), shape=shape, data=values, **parts)
    done("svd a.npz --rank 4 --out f.npz")
    with np.load("f.npz") as found:
        assert np.allclose((found["U"] * found["s"]) @ found["Vt"], dense, atol=1e-13)


def test_models_are_those_of_the_library(cpu: purlin.Context) -> None:
    path = str(GOLDEN / "rsvd" / "offset_300x50.npy")
    with purlin.pca.PCA(4, scale=True, whiten=True, context=cpu) as model:
        scores = model.fit_transform(path)
    done(f"pca {path} --components 4 --scale --whiten --scores --out m.npz")
    with np.load("m.npz") as found:
        assert np.array_equal(found["scores"], scores) and len(found.files) == 8
        for name in (
            "components",
            "mean",
            "scale",
            "explained_variance",
            "explained_variance_ratio",
            "singular_values",
        ):
            assert np.array_equal(found[name], getattr(model, name + "_")), name
        assert found["noise_variance"] == model.noise_variance_


@pytest.mark.parametrize("order", ["C", "F"])
def test_parts_are_those_of_the_library(order: Any, cpu: purlin.Context) -> None:
    assert run("example rpca") == 0
    np.save("m.npy", np.asarray(np.load("frames.npy")[:200], order=order))
    mask = (np.random.default_rng(2).random((200, 60)) < 0.9).astype(np.uint8)
    np.save("mask.npy", np.asarray(mask, order=order))
    line = "rpca m.npy --mask mask.npy --lambda 0.05 --tolerance 1e-5"
    want = rpca.compute(
        "m.npy", mask=purlin.Matrix.of("mask.npy", context=cpu), lambda_=0.05, tolerance=1e-5, context=cpu
    )
    done(f"{line} --low-rank l.npy --sparse s.npy")
    low, rest = np.load("l.npy"), np.load("s.npy")
    assert low.dtype == np.float32 and low.flags.c_contiguous == (order == "C")
    done(f"{line} --out both.npz")
    with np.load("both.npz") as both:
        assert np.array_equal(both["low_rank"], want.low_rank) and np.array_equal(both["sparse"], want.sparse)
    sinks = np.zeros_like(low), np.zeros_like(rest)
    ends = [Sink.to_array(part if order == "C" else part.T, context=cpu) for part in sinks]
    rpca.compute_to_sinks(
        "m.npy", *ends, mask=purlin.Matrix.of("mask.npy", context=cpu), lambda_=0.05, tolerance=1e-5, context=cpu
    )
    assert np.array_equal(low, sinks[0]) and np.array_equal(rest, sinks[1])
    done(f"{line} --sparse only.npy")
    assert np.array_equal(np.load("only.npy"), rest)


# Spectra


def test_pairs_are_those_of_the_library(cpu: purlin.Context, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(GOLDEN / "spectral" / "ca-AstroPh-cc.mtx.gz")
    want = lanczos.run(sparse.read_market(path, context=cpu), 4, context=cpu)
    done(f"eigs {path} --count 4 --out p.npz")
    with np.load("p.npz") as found:
        assert np.array_equal(found["values"], want.pairs.values) and np.array_equal(
            found["vectors"], want.pairs.vectors
        )
        assert np.array_equal(found["residuals"], want.residuals)
    assert run("example eigs --quiet") == 0
    w = sparse.symmetrize(sparse.read_edges("graph.txt", context=cpu)[0], context=cpu)
    options: Any = {"kind": "laplacian", "shift": 0.5, "context": cpu}
    values = lanczos.run(w, 3, "smallest", vectors=False, **options).pairs.values
    done("eigs graph.txt --count 3 --which smallest --kind laplacian --shift 0.5")
    assert [float(line) for line in capsys.readouterr().out.split()] == values.tolist()


def test_clusters_and_coordinates_are_those_of_the_library(cpu: purlin.Context) -> None:
    assert run("example eigs") == 0
    # Two more vertices that hang together, apart from the others.
    Path("graph.txt").write_text(Path("graph.txt").read_text() + "120 121\n")
    w, vertices = graph.component(sparse.symmetrize(sparse.read_edges("graph.txt", context=cpu)[0], context=cpu))
    embedding = graph.embed(w, 4, "unit_rows", context=cpu)
    labels = graph.cluster(w, 3, context=cpu).labels
    done("eigs graph.txt --component --clusters 3 --count 4 --scaling unit_rows --out g.npz --picture g.png")
    with np.load("g.npz") as found:
        assert np.array_equal(found["coordinates"], embedding.coordinates) and np.array_equal(
            found["values"], embedding.values
        )
        assert np.array_equal(found["labels"], labels) and np.array_equal(found["vertices"], vertices)
    assert sorted(np.bincount(labels)) == [40, 40, 40] and vertices.tolist() == list(range(120))
    assert Path("g.png").read_bytes().startswith(b"\x89PNG\r\n\x1a\n")


def test_default_counts_fit_small_graphs(capsys: pytest.CaptureFixture[str]) -> None:
    Path("path.txt").write_text("0 1\n1 2\n2 3\n")
    Path("edge.txt").write_text("0 1\n")
    for line, lines in (
        ("eigs path.txt", 4),
        ("eigs path.txt --embed", 3),
        ("eigs edge.txt", 2),
        ("eigs edge.txt --embed", 2),
        ("eigs edge.txt --clusters 2", 2),
        ("eigs path.txt --clusters 4", 4),
    ):
        done(line)
        found = capsys.readouterr()
        assert len(found.out.split()) == lines and not found.err, line
    np.save("m.npy", np.arange(24.0).reshape(4, 6))
    for kind, lines in (("gram", 6), ("outer_gram", 4), ("augmented", 6)):
        done(f"eigs m.npy --kind {kind}")
        assert len(capsys.readouterr().out.split()) == lines, kind


@pytest.mark.parametrize("weighted", ["", " --weighted"])
def test_edge_lists_that_count_from_1(weighted: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The same graph counted from 0 and from 1. Vertices 5 and 6, counted from 0, are a component."""
    edges = [(0, 1, 2.5), (1, 2, 0.5), (2, 0, 3.0), (2, 3, 1.0), (3, 4, 2.0), (5, 6, 1.5)]
    for base in (0, 1):
        Path(f"{base}.txt").write_text("".join(f"{a + base} {b + base} {w}\n" for a, b, w in edges))
    for options in ("--component --clusters 2", "--count 4 --kind laplacian"):
        done(f"eigs 0.txt{weighted} {options} --out 0.npz --force")
        done(f"eigs 1.txt{weighted} {options} --base 1 --out 1.npz --force")
        with np.load("0.npz") as zero, np.load("1.npz") as one:
            assert zero.files == one.files
            for name in zero.files:
                assert np.array_equal(zero[name] + (name == "vertices"), one[name]), name
    assert not capsys.readouterr().err
    # Without the option there is a vertex more, about which a warning says why.
    done(f"eigs 1.txt{weighted} --out a.npz")
    warning = "purlin eigs: warning: MATRIX: 1.txt: no edge has vertex 0; --base 1 counts vertices from 1, --base 0 from 0\n"
    assert capsys.readouterr().err == warning
    done(f"eigs 1.txt{weighted} --base 0 --out b.npz")
    assert not capsys.readouterr().err
    with np.load("a.npz") as a, np.load("b.npz") as b:
        assert a["vectors"].shape == (8, 6) and all(np.array_equal(a[name], b[name]) for name in a.files)
    # Of a component the numbers are those of the file.
    done(f"eigs 1.txt{weighted} --component --out c.npz")
    assert np.load("c.npz")["vertices"].tolist() == [1, 2, 3, 4, 5] and not capsys.readouterr().err


def test_pictures_hold_their_pixels() -> None:
    points = np.array([[0.0, 0], [1, 0], [0, 1], [1, 1]])
    pixels = png.scatter(points, np.array([0, 1, 2, 3]), (np.array([0]), np.array([3])), 100)
    # Corners: y grows upwards.
    corners = [pixels[y, x].tolist() for x, y in ((4, 95), (96, 95), (4, 3), (96, 3))]
    assert corners == png._COLOURS[:4].tolist()
    assert pixels[49, 50].tolist() == [215] * 3 and pixels[20, 20].tolist() == [255] * 3
    png.write(Path("p.png"), pixels)
    content = Path("p.png").read_bytes()
    at = content.index(b"IDAT")
    length = int.from_bytes(content[at - 4 : at], "big")
    rows = np.frombuffer(zlib.decompress(content[at + 4 : at + 4 + length]), np.uint8).reshape(100, 301)
    assert not rows[:, 0].any() and np.array_equal(rows[:, 1:].reshape(100, 100, 3), pixels)
    assert int.from_bytes(content[at + 4 + length : at + 8 + length], "big") == zlib.crc32(
        content[at : at + 4 + length]
    )
