"""Output files of a command: written beside their names, and renamed when all are complete."""

from __future__ import annotations

import io
import os
import re
import secrets
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from .failures import PARTIAL, Failure, Usage

_DOUBLE = (".nii.gz", ".mtx.gz")


def suffix_of(path: str) -> str:
    """The ending of a file's name in lower case, `.nii.gz` as one."""
    name = Path(path).name.lower()
    return next((ending for ending in _DOUBLE if name.endswith(ending)), Path(name).suffix)


def require_suffix(argument: str, path: str, *endings: str) -> str:
    """The ending of an output, which must be one of `endings`."""
    found = suffix_of(path)
    if found not in endings:
        raise Usage(f"{argument}: is {path or 'empty'}, expected a name that ends in {', '.join(endings)}")
    return found


def npy_header(shape: tuple[int, ...], dtype: Any, is_fortran: bool = False) -> bytes:
    """The begin of a `.npy` file, as NumPy writes it."""
    content = io.BytesIO()
    description: dict[str, Any] = {
        "descr": np.lib.format.dtype_to_descr(np.dtype(dtype)),
        "fortran_order": is_fortran,
        "shape": shape,
    }
    np.lib.format.write_array_header_1_0(content, description)
    return content.getvalue()


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Adds the file's name to the errors of its writing: Python's have none once a file is open."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror or str(error), str(path)) from error


def write_begin(path: Path, begin: bytes) -> None:
    """Writes the first bytes of a file that a sink has left 0."""
    with writing(path), open(path, "r+b") as file:
        file.write(begin)


class _Stream:
    """A file that NumPy writes to by `write`. To a file of Python it writes by C functions, whose errors say only how many
    elements are missing, not why."""

    def __init__(self, file: io.BufferedWriter) -> None:
        self.write = file.write


def save_npy(path: Path, array: Any) -> None:
    """Writes a `.npy` file."""
    with writing(path), open(path, "wb") as file:
        np.save(_Stream(file), array)


def save_npz(path: Path, arrays: dict[str, Any]) -> None:
    """Writes a `.npz` file."""
    with writing(path):
        np.savez(path, **arrays)


class Outputs:
    """The output files of a command. `with Outputs(force) as outputs:` removes what was written if the block fails, and
    gives the files their names if it succeeds. A process that is killed leaves `NAME.<16 hexadecimal digits>.partial.*`."""

    def __init__(self, force: bool) -> None:
        self._force = force
        # Provisional names and final ones.
        self._files: dict[Path, Path] = {}
        # The argument and the path on the command line of each provisional name, for messages.
        self._names: dict[Path, str] = {}

    def add(self, argument: str, path: str) -> Path:
        """Announces an output before the work, and returns the name under which to write it."""
        # A link to a file stays, and the file is replaced.
        target = Path(os.path.realpath(path))
        if target in self._files.values():
            raise Usage(f"{argument}: is {path}, which is another output too")
        self._check(argument, path, target)
        if not target.parent.is_dir():
            raise Failure(f"{argument}: is {path}, whose folder does not exist")
        if not os.access(target.parent, os.W_OK | os.X_OK):
            raise Failure(f"{argument}: is {path}, whose folder cannot be written to")
        ending = suffix_of(path)
        stem = target.name[: len(target.name) - len(ending)]
        partial = target.with_name(f"{stem}.{secrets.token_hex(8)}.partial{ending}")
        self._files[partial] = target
        self._names[partial] = f"{argument}: {path}"
        return partial

    def _check(self, argument: str, path: str, target: Path) -> None:
        try:
            found = os.stat(path)
        except FileNotFoundError:
            return
        except OSError as error:
            raise Failure(f"{argument}: is {path}: {error.strerror}") from None
        if not stat.S_ISREG(found.st_mode):
            raise Failure(f"{argument}: is {path}, which is not a regular file")
        if not self._force:
            raise Failure(f"{argument}: is {path}, which exists; --force replaces it")

    def __enter__(self) -> Outputs:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                self._finish()
            elif isinstance(error, OSError):
                self._raise_named(error)
        except OSError as failure:
            self._raise_named(failure)
            raise
        finally:
            for partial in self._files:
                partial.unlink(missing_ok=True)

    def _raise_named(self, error: OSError) -> None:
        """Raises an error about a provisional file as one about the output; returns from any other."""
        # The library writes the name into the text, Python keeps it apart.
        text = str(error) if error.filename is None else f"{error.filename}: {error.strerror}"
        for partial, name in self._names.items():
            found = re.match(re.escape(str(partial)) + PARTIAL, text)
            if found is not None:
                raise Failure(f"{name}: cannot be written: {text[found.end() :]}") from error

    def _finish(self) -> None:
        for partial, target in self._files.items():
            _write_out(partial)
            if self._force and target.exists():
                shutil.copymode(target, partial)
        made: list[Path] = []
        try:
            for partial, target in self._files.items():
                if self._force:
                    os.replace(partial, target)
                else:
                    _rename_to_new(partial, target)
                    made.append(target)
        except BaseException:
            # All outputs or none.
            for target in made:
                target.unlink()
            raise
        for folder in {target.parent for target in self._files.values()}:
            _write_out(folder)


def _write_out(path: Path) -> None:
    """Waits until a file or a folder is on the disk."""
    with writing(path):
        number = os.open(path, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)


def _rename_to_new(partial: Path, target: Path) -> None:
    """Renames a file unless one of the new name has appeared since the check."""
    try:
        os.link(partial, target)
    except FileExistsError:
        raise Failure(f"{target}: was made by another program during the run; --force replaces it") from None
    except OSError:
        # A file system without hard links.
        if target.exists():
            raise Failure(f"{target}: was made by another program during the run; --force replaces it") from None
        os.rename(partial, target)


class ArrayFiles:
    """Arrays in one `.npz` file, or each in a `.npy` file of its own, NAME_ARRAY.npy."""

    def __init__(self, outputs: Outputs, argument: str, path: str, names: list[str]) -> None:
        if require_suffix(argument, path, ".npz", ".npy") == ".npz":
            self._one: Path | None = outputs.add(argument, path)
            self.written = [path]
        else:
            self._one = None
            self.written = [f"{path[: -len('.npy')]}_{name}.npy" for name in names]
            self._several = {name: outputs.add(argument, file) for name, file in zip(names, self.written)}

    def write(self, arrays: dict[str, Any]) -> None:
        """Writes the arrays under the names announced."""
        if self._one is not None:
            save_npz(self._one, arrays)
            return
        for name, array in arrays.items():
            save_npy(self._several[name], array)
