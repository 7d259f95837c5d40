"""The output files of a command get their names together, or older files are as they were: interrupts and errors at each rename."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cli_runs import in_a_folder, refused, run  # noqa: F401  (the fixture of every test)

import purlin
from purlin import cli
from purlin.cli import outputs

_MATRIX = np.random.default_rng(5).standard_normal((40, 12))

COMMANDS = {
    "svd": ("svd m.npy --rank 3 --out o.npy", ("o_U.npy", "o_s.npy", "o_Vt.npy")),
    "pca": (
        "pca m.npy --components 2 --out o.npy",
        tuple(
            f"o_{name}.npy"
            for name in (
                "components",
                "mean",
                "explained_variance",
                "explained_variance_ratio",
                "singular_values",
                "noise_variance",
            )
        ),
    ),
    "eigs": ("eigs g.txt --count 2 --out o.npy", ("o_values.npy", "o_vectors.npy", "o_residuals.npy")),
    "rpca": ("rpca m.npy --low-rank l.npy --sparse s.npy", ("l.npy", "s.npy")),
    "one": ("svd m.npy --rank 3 --out o.npz", ("o.npz",)),
}
# The first, the second and the last output of each command, counted from 1.
CASES = [(command, at) for command, (_, names) in COMMANDS.items() for at in sorted({1, min(2, len(names)), len(names)})]
OLD = b"precious"


def line_of(command: str, is_old: bool) -> tuple[str, tuple[str, ...]]:
    """Writes the inputs, and where asked for older outputs; returns the command line and the names of its outputs."""
    np.save("m.npy", _MATRIX)
    Path("g.txt").write_text("".join(f"{k} {k + 1}\n" for k in range(20)))
    line, names = COMMANDS[command]
    for name in names if is_old else ():
        Path(name).write_bytes(OLD)
        Path(name).chmod(0o640)
    return line + " --device cpu" + " --force" * is_old, names


def expect_as_before(names: tuple[str, ...], is_old: bool) -> None:
    inputs = {"m.npy", "g.txt"}
    assert {path.name for path in Path().iterdir()} == inputs | (set(names) if is_old else set())
    for name in names if is_old else ():
        found = os.stat(name)
        assert (Path(name).read_bytes(), found.st_mode & 0o777, found.st_nlink) == (OLD, 0o640, 1), name


def expect_new(names: tuple[str, ...]) -> None:
    assert {path.name for path in Path().iterdir()} == {"m.npy", "g.txt", *names}
    for name in names:
        assert Path(name).stat().st_nlink == 1 and Path(name).read_bytes() != OLD, name
        found = np.load(name)
        assert len(found.files) == 3 if name.endswith(".npz") else found.size > 0, name


def at_rename(monkeypatch: pytest.MonkeyPatch, number: int, act: Callable[[], None], before: bool, names: Any) -> None:
    """Has something happen at the rename to the output of this number, from 1, before it is made or directly after: by a link
    without --force, and by a rename if that fails."""
    target = os.path.realpath(names[number - 1])

    def change(module_function: Callable[..., None]) -> Callable[..., None]:
        def changed(source: Any, destination: Any, **settings: Any) -> None:
            is_due = os.fspath(destination) == target and ".partial" in os.fspath(source)
            if is_due and before:
                act()
            module_function(source, destination, **settings)
            if is_due and not before:
                act()

        return changed

    for name in ("rename", "replace", "link"):
        monkeypatch.setattr(os, name, change(getattr(os, name)))


def io_error() -> None:
    raise OSError(errno.EIO, os.strerror(errno.EIO))


def interrupted() -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize("is_old", [False, True])
@pytest.mark.parametrize("before", [False, True])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("command", COMMANDS)
def test_signals_during_the_renames_have_no_effect(
    command: str, number: signal.Signals, before: bool, is_old: bool, monkeypatch: pytest.MonkeyPatch, capfd: Any
) -> None:
    line, names = line_of(command, is_old)
    handlers = [signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)]
    # A user's Ctrl-C met the first rename, and the summary follows the last.
    for at in (1, len(names)):
        with monkeypatch.context() as patch:
            at_rename(patch, at, lambda: os.kill(os.getpid(), number), before, names)
            assert run(line) == 0
        found = capfd.readouterr()
        assert not found.err and found.out.startswith(", ".join(names) + ": ")
        expect_new(names)
        for name in names:
            Path(name).write_bytes(OLD) if is_old else Path(name).unlink()
    assert handlers == [signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)]


@pytest.mark.parametrize("is_old", [False, True])
@pytest.mark.parametrize("before", [False, True])
@pytest.mark.parametrize(("command", "number"), CASES)
def test_a_rename_that_fails_undoes_the_others(
    command: str, number: int, before: bool, is_old: bool, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    line, names = line_of(command, is_old)
    with monkeypatch.context() as patch:
        at_rename(patch, number, io_error, before, names)
        assert run(line) == 1
    found = capsys.readouterr()
    option = "--sparse" if names[number - 1] == "s.npy" else "--low-rank" if names[number - 1] == "l.npy" else "--out"
    # A link that was made and failed is taken for another program's.
    if is_old or before:
        want = f"{option}: {names[number - 1]}: cannot be written: Input/output error"
        assert found.err == f"purlin {line.split()[0]}: error: {want}\n"
    assert found.err.count("\n") == 1 and not found.out
    expect_as_before(names, is_old)


@pytest.mark.parametrize("is_old", [False, True])
@pytest.mark.parametrize("before", [False, True])
@pytest.mark.parametrize(("command", "number"), CASES)
def test_an_exception_at_a_rename_undoes_the_others(
    command: str, number: int, before: bool, is_old: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    line, names = line_of(command, is_old)
    with monkeypatch.context() as patch:
        at_rename(patch, number, interrupted, before, names)
        assert run(line) == 130
    expect_as_before(names, is_old)


@pytest.mark.parametrize("is_old", [False, True])
@pytest.mark.parametrize(("command", "number"), CASES)
def test_file_systems_without_hard_links(
    command: str, number: int, is_old: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_args: Any, **_settings: Any) -> None:
        raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))

    line, names = line_of(command, is_old)
    with monkeypatch.context() as patch:
        patch.setattr(os, "link", refused)
        at_rename(patch, number, io_error, True, names)
        assert run(line) == 1
    expect_as_before(names, is_old)
    with monkeypatch.context() as patch:
        patch.setattr(os, "link", refused)
        assert run(line) == 0
    expect_new(names)


@pytest.mark.parametrize("is_old", [False, True])
@pytest.mark.parametrize("command", COMMANDS)
def test_a_folder_that_cannot_be_written_out_undoes_all(
    command: str, is_old: bool, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    line, names = line_of(command, is_old)
    real = os.fsync

    def fails_for_folders(number: int) -> None:
        if os.path.isdir(f"/proc/self/fd/{number}"):
            io_error()
        real(number)

    monkeypatch.setattr(os, "fsync", fails_for_folders)
    assert run(line) == 1
    assert capsys.readouterr().err.endswith(f"{os.getcwd()}: Input/output error\n")
    expect_as_before(names, is_old)


def test_an_older_file_that_cannot_be_put_back_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a.npy", "b.npy"):
        Path(name).write_bytes(OLD)
    real = os.replace

    def fails(source: Any, target: Any) -> None:
        # The second file cannot be renamed, and then the first one cannot be put back.
        if Path(target).name == "b.npy" or ".older" in Path(source).name:
            io_error()
        real(source, target)

    with monkeypatch.context() as patch, pytest.raises(cli.failures.Failure) as caught:
        patch.setattr(os, "replace", fails)
        with outputs.Outputs(True) as files:
            for name in ("a.npy", "b.npy"):
                files.add("--out", name).write_bytes(b"new")
    kept = {name: next(Path().glob(f"{name}.*.older.npy")) for name in "ab"}
    text = str(caught.value)
    assert text.startswith("--out: b.npy: cannot be written: Input/output error; ")
    for name, path in kept.items():
        where = path.resolve()
        assert f"{Path(name).resolve()}.npy: the older file is {where}, and cannot be renamed: Input" in text
        assert path.read_bytes() == OLD
        path.unlink()


def test_files_of_other_programs_are_left_when_renames_are_undone(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that took the place of the first output before the second one failed."""

    def theirs() -> None:
        Path("a.npy").unlink()
        Path("a.npy").write_text("theirs")
        io_error()

    names = ("a.npy", "b.npy")
    with monkeypatch.context() as patch, pytest.raises(cli.failures.Failure):
        with outputs.Outputs(False) as files:
            for name in names:
                files.add("--out", name).write_bytes(b"ours")
            at_rename(patch, 2, theirs, True, names)
    assert Path("a.npy").read_text() == "theirs" and not Path("b.npy").exists()


def test_a_link_of_another_ending_stays() -> None:
    line_of("svd", False)
    Path("precious.data").write_bytes(OLD)
    Path("o.npz").symlink_to("precious.data")
    assert run("svd m.npy --rank 3 --out o.npz --device cpu --force") == 0
    assert Path("o.npz").is_symlink() and np.load("precious.data")["s"].shape == (3,)
    assert {path.name for path in Path().iterdir()} == {"m.npy", "g.txt", "o.npz", "precious.data"}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_while_the_process_ends_have_no_effect(number: signal.Signals, folder: Path) -> None:
    line, names = line_of("svd", True)
    (folder / "site").mkdir()
    text = f"import atexit, os, time\natexit.register(lambda: (os.kill(os.getpid(), {int(number)}), time.sleep(0.1)))\n"
    (folder / "site" / "sitecustomize.py").write_text(text)
    source = str(Path(purlin.__file__).parents[1])
    settings = {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder / "site"), source])}
    made = subprocess.run(
        [sys.executable, "-m", "purlin", *line.split(), "--quiet"],
        env=settings,
        capture_output=True,
        timeout=60,
        start_new_session=True,
    )
    assert (made.returncode, made.stdout, made.stderr) == (0, b"", b"")
    for path in sorted((folder / "site").rglob("*"), reverse=True):
        path.unlink() if path.is_file() else path.rmdir()
    (folder / "site").rmdir()
    expect_new(names)


def test_results_that_are_printed_can_be_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    line_of("svd", False)

    def show(_text: str) -> None:
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(cli.svd, "show", show)
    assert run("svd m.npy --rank 3 --device cpu") == 130


@pytest.mark.parametrize("end", ["/", "//", "/."])
@pytest.mark.parametrize(
    ("line", "option"),
    [
        ("svd m.npy --rank 3 --out o.npy", "--out"),
        ("svd m.npy --rank 3 --out o.npz", "--out"),
        ("rpca m.npy --low-rank l.npy", "--low-rank"),
        ("eigs g.txt --picture p.png", "--picture"),
        ("fdk m.npy --sid 1 --sdd 2 --out v.npy", "--out"),
        ("peaks m.npy --bval b --bvec b --out o.npz", "--out"),
    ],
)
def test_the_name_of_a_folder_is_no_output(line: str, option: str, end: str, capsys: Any) -> None:
    line_of("svd", False)
    name = line.split()[-1] + end
    refused(line + end, 2, f"error: {option}: is {name}, expected a name that ends in ", capsys)


@pytest.mark.parametrize("letter", ["a", "\u00e9", "\U0001f300"])
@pytest.mark.parametrize("is_old", [False, True])
def test_names_may_be_as_long_as_the_file_system_allows(letter: str, is_old: bool) -> None:
    line_of("svd", False)
    longest = os.pathconf(".", "PC_NAME_MAX")

    def long(ending: str) -> str:
        count, rest = divmod(longest - len(ending), len(letter.encode()))
        return letter * count + "x" * rest + ending

    one, low, begin = long(".npz"), long(".npy"), long("_Vt.npy")[: -len("_Vt.npy")]
    names = {one, low, *(f"{begin}_{name}.npy" for name in ("U", "s", "Vt"))}
    for name in names if is_old else ():
        Path(name).write_bytes(OLD)
    force = " --force" * is_old
    assert run(f"svd m.npy --rank 3 --out {one} --device cpu{force}") == 0
    assert run(f"svd m.npy --rank 3 --out {begin}.npy --device cpu{force}") == 0
    # Of this output the library writes a provisional file of its own.
    assert run(f"rpca m.npy --low-rank {low} --device cpu{force}") == 0
    assert {path.name for path in Path().iterdir()} == {"m.npy", "g.txt", *names}
    assert np.load(one)["s"].shape == np.load(f"{begin}_s.npy").shape == (3,) and np.load(low).shape == _MATRIX.shape


def test_a_link_to_a_file_of_a_long_ending_stays() -> None:
    line_of("svd", False)
    data = "d." + "e" * (os.pathconf(".", "PC_NAME_MAX") - 2)
    Path(data).write_bytes(OLD)
    Path("o_s.npy").symlink_to(data)
    assert run("svd m.npy --rank 3 --out o.npy --device cpu --force") == 0
    assert Path("o_s.npy").is_symlink() and np.load(data).shape == (3,)


@pytest.mark.parametrize(
    ("before", "line", "left"),
    [
        ("--scale --scores", "pca m.npy --components 2", "o_scale.npy, o_scores.npy exist"),
        ("--scale --scores", "pca m.npy --components 2 --scale", "o_scores.npy exists"),
        ("--scores", "pca m.npy --components 2 --scale", "o_scores.npy exists"),
        ("", "eigs g.txt --count 2 --embed", "o_vectors.npy, o_residuals.npy exist"),
        ("--clusters 2 --component", "eigs g.txt --count 2 --embed", "o_labels.npy, o_vertices.npy exist"),
        ("--embed", "eigs g.txt --count 2", "o_coordinates.npy exists"),
    ],
)
def test_an_older_set_with_more_arrays_is_not_replaced_in_part(
    before: str, line: str, left: str, folder: Path, capsys: Any
) -> None:
    line_of("svd", False)
    first = line.split(" --")[0] + (" --components 2 " if line.startswith("pca") else " --count 2 ") + before
    assert run(f"{first} --out o.npy --device cpu --quiet") == 0
    old = {path.name: path.read_bytes() for path in folder.iterdir()}
    refused(f"{line} --out o.npy --force", 1, f"--out: is o.npy, but {left}, which this run does not replace", capsys)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == old
    # The same set, another name, and an array of the user's own beside no older set.
    assert run(f"{first} --out o.npy --device cpu --quiet --force") == 0
    Path("q_labels.npy").write_bytes(OLD)
    Path("q_scores.npy").write_bytes(OLD)
    assert run(f"{line} --out q.npy --device cpu --quiet") == 0
    assert Path("q_labels.npy").read_bytes() == Path("q_scores.npy").read_bytes() == OLD
