"""Relative paths of objects that outlive a change of the working directory."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import purlin
from purlin import rpca, rsvd, sparse
from purlin.blocks import Sink, Source


def grey_page(path: Path, page: Any) -> None:
    """Writes a TIFF of one strip."""
    rows, columns = page.shape
    tags = [(256, columns), (257, rows), (258, 8), (259, 1), (262, 1), (273, 8), (277, 1), (278, rows), (279, page.size)]
    directory = b"".join(struct.pack("<HHII", tag, 4, 1, value) for tag, value in tags)
    head = b"II*\0" + struct.pack("<I", 8 + page.size)
    path.write_bytes(head + page.tobytes() + struct.pack("<H", len(tags)) + directory + bytes(4))


def test_relative_paths_are_of_the_folder_at_the_time_of_the_call(
    cpu: purlin.Context, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir(), there.mkdir()
    x = np.random.default_rng(0).standard_normal((100, 10))

    def stop(step: int, *_: Any) -> bool:
        return step >= 15

    # A restart file is written, read and removed where it was when the options were given.
    monkeypatch.chdir(here)
    options: Any = {"method": "range", "power_iterations": 3, "block_rows": 16, "restart_path": "state", "context": cpu}
    with rsvd.Rsvd(2, progress=stop, **options) as stopped, rsvd.Rsvd(2, **options) as session:
        monkeypatch.chdir(there)
        with pytest.raises(purlin.Cancelled):
            stopped.compute(x)
        assert [path.name for path in here.iterdir()] == ["state"] and not list(there.iterdir())
        session.compute(x)
        assert session.last_info().restarted and not list(here.iterdir())

    # Files of a stack are opened again for each page.
    monkeypatch.chdir(here)
    pages = np.random.default_rng(0).integers(0, 255, (3, 8, 5), np.uint8)
    for number, page in enumerate(pages):
        grey_page(here / f"{number}.tif", page)
    with Source.from_tiff([f"{number}.tif" for number in range(3)], context=cpu) as stack:
        monkeypatch.chdir(there)
        want = np.linalg.svd(pages.reshape(3, 40).astype(float), compute_uv=False)
        np.testing.assert_allclose(rsvd.compute(stack, 3, dtype=np.float64, context=cpu).s, want, rtol=1e-10)
    for path in here.iterdir():
        path.unlink()

    # The header and the data of an image, also one that replaces another.
    for _ in range(2):
        monkeypatch.chdir(here)
        sinks = [Sink.to_metaimage(f"{name}.mhd", (10, 100), np.float64, context=cpu) for name in ("low", "rest")]
        monkeypatch.chdir(there)
        rpca.compute_to_sinks(np.asfortranarray(x), *sinks, context=cpu)
        for sink in sinks:
            sink.close()
        names = ["low.mhd", "low.raw", "rest.mhd", "rest.raw"]
        assert sorted(path.name for path in here.iterdir()) == names and not list(there.iterdir())


def test_the_suffix_of_a_matrix_market_file_may_be_in_capitals(tmp_path: Path) -> None:
    sparse.write_market(np.diag([3.0, 2.0, 1.0]), tmp_path / "A.MTX")
    assert purlin.rsvd.compute(tmp_path / "A.MTX", 1).s[0] == pytest.approx(3.0)
