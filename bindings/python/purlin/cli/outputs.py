"""Output files of a command: written beside their names, and renamed together when all are complete."""

from __future__ import annotations

import io
import os
import re
import secrets
import shutil
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from . import interrupts
from .failures import PARTIAL, Failure, Usage

_DOUBLE = (".nii.gz", ".mtx.gz")
# Bytes of a name that provisional names begin with, and characters of an ending that names of older files have. The
# ending that the library appends for a provisional file of its own then fits too, wherever names may have 143 bytes.
_BEGIN, _ENDING = 64, 16


def suffix_of(path: str) -> str:
    """The ending of a file's name in lower case, `.nii.gz` as one; none of a path that ends in a slash."""
    name = os.path.basename(path).lower()
    return next((ending for ending in _DOUBLE if name.endswith(ending) and name != ending), Path(name).suffix)


def require_suffix(argument: str, path: str, *endings: str) -> str:
    """The ending of an output, which must be one of `endings`."""
    found = suffix_of(path)
    if os.path.basename(path).lower() in endings:
        raise Usage(f"{argument}: is {path}, expected a name before the ending")
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
    """The output files of a command. `with Outputs(force, inputs) as outputs:` removes written files if the block fails,
    and gives the files their names if it succeeds: all of them, or none. A process that is killed leaves
    `NAME.<16 hexadecimal digits>.partial.*`, and during the renames older files as `NAME.<16 hexadecimal digits>.older.*`."""

    def __init__(self, force: bool, inputs: Mapping[str, str] | None = None) -> None:
        """`inputs` has the argument of each path that the command reads. None of these files may be an output."""
        self._force = force
        self._inputs = inputs if inputs is not None else {}
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
        for file, name in self._inputs.items():
            if is_same(target, file):
                raise Usage(f"{argument}: is {path}, which is {name} too")
        self._check(argument, path, target)
        if not target.parent.is_dir():
            # The folder of a link is there.
            link = f"a link to {target}, " if os.path.islink(path) else ""
            raise Failure(f"{argument}: is {path}, {link}whose folder does not exist")
        if not os.access(target.parent, os.W_OK | os.X_OK):
            raise Failure(f"{argument}: is {path}, whose folder cannot be written to")
        partial = _beside(target, f"partial{suffix_of(path)}")
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
            try:
                # A second Ctrl-C does not end the removal.
                if self._files:
                    interrupts.hold()
            finally:
                for partial in self._files:
                    # The command's own failure says more than one of the removal.
                    with suppress(OSError):
                        partial.unlink(missing_ok=True)

    def _named(self, error: BaseException) -> str | None:
        """The message of an error about a provisional file, as one about the output; None for any other."""
        if not isinstance(error, OSError):
            return None
        # The library writes the name into the text, Python keeps it apart.
        text = str(error) if error.filename is None else f"{error.filename}: {error.strerror}"
        for partial, name in self._names.items():
            found = re.match(re.escape(str(partial)) + PARTIAL, text)
            if found is not None:
                return f"{name}: cannot be written: {text[found.end() :]}"
        return None

    def _raise_named(self, error: OSError) -> None:
        """Raises an error about a provisional file as one about the output; returns from any other."""
        text = self._named(error)
        if text is not None:
            raise Failure(text) from error

    def _finish(self) -> None:
        for partial, target in self._files.items():
            _write_out(partial)
            if self._force and target.exists():
                shutil.copymode(target, partial)
        if not self._files:
            return
        interrupts.hold()
        renames = [_Rename(partial, target) for partial, target in self._files.items()]
        try:
            for rename in renames:
                with writing(rename.partial):
                    if self._force:
                        rename.replace(alone=len(renames) == 1)
                    else:
                        rename.create()
            for folder in {rename.target.parent for rename in renames}:
                _write_out(folder)
        except BaseException as error:
            lost = [text for rename in reversed(renames) if (text := rename.undo()) is not None]
            if lost:
                raise Failure("; ".join([self._named(error) or str(error) or "interrupted", *lost])) from error
            raise
        for rename in renames:
            rename.forget()


class _Rename:
    """The step by which one output of a set gets its name, until all have theirs."""

    def __init__(self, partial: Path, target: Path) -> None:
        self.partial = partial
        self.target = target
        # Where the older file of the name is meanwhile.
        self._older: Path | None = None
        # Whether the name was free, so that to undo the step is to remove the file.
        self._is_new = False

    def create(self) -> None:
        """Gives the file its name unless one of the name has appeared since the check."""
        self._is_new = True
        try:
            os.link(self.partial, self.target)
        except FileExistsError:
            raise self._appeared() from None
        except OSError:
            # A file system without hard links.
            if self.target.exists():
                raise self._appeared() from None
            os.rename(self.partial, self.target)

    def _appeared(self) -> Failure:
        return Failure(f"{self.target}: was made by another program during the run; --force replaces it")

    def replace(self, alone: bool) -> None:
        """Gives the file its name in place of an older one. If the file is `alone` and the older one cannot have a second
        name, no other is kept: one rename replaces a file or fails."""
        try:
            found = os.lstat(self.target)
        except FileNotFoundError:
            self._is_new = True
        else:
            if not stat.S_ISREG(found.st_mode):
                raise Failure(f"{self.target}: has become another kind of file during the run")
            self._keep(found.st_uid == os.geteuid(), alone)
        os.replace(self.partial, self.target)

    def _keep(self, is_own: bool, alone: bool) -> None:
        self._older = _beside(self.target, f"older{suffix_of(self.target.name)[:_ENDING]}")
        # In a folder like /tmp a second name of another user's file could not be removed.
        if is_own:
            try:
                os.link(self.target, self._older, follow_symlinks=False)
                return
            except OSError:
                # A file system without hard links.
                pass
        if alone:
            self._older = None
        else:
            os.rename(self.target, self._older)

    def undo(self) -> str | None:
        """Takes the step back, whatever part of it was done. The message names the files that stay."""
        try:
            if self._older is not None and os.path.lexists(self._older):
                os.replace(self._older, self.target)
                # A rename to another name of the same file does nothing.
                self._older.unlink(missing_ok=True)
            elif self._is_new and self._has_name():
                self.target.unlink()
        except OSError as error:
            reason = error.strerror or str(error)
            if self._older is None:
                return f"{self.target}: cannot be removed: {reason}"
            return f"{self.target}: the older file is {self._older}, and cannot be renamed: {reason}"
        return None

    def _has_name(self) -> bool:
        """Whether the file of the name is this one, and not another program's."""
        return os.path.lexists(self.target) and (
            not self.partial.exists() or os.path.samefile(self.partial, self.target)
        )

    def forget(self) -> None:
        """Removes the older file. One that cannot be removed does no harm to the set, which is complete."""
        if self._older is not None:
            with suppress(OSError):
                self._older.unlink()


def is_same(target: Path, path: str) -> bool:
    """Whether two paths are of one file, also of one that does not exist."""
    try:
        if target.exists() and os.path.exists(path):
            return os.path.samefile(target, path)
        return str(target) == os.path.realpath(path)
    except (OSError, ValueError):
        # The second path may be from a file's header, and be none.
        return False


def _beside(target: Path, ending: str) -> Path:
    """A name that nobody can guess in the folder of a file, which begins like the file's and is of bounded length."""
    stem = target.name[: len(target.name) - len(suffix_of(target.name))]
    while len(os.fsencode(stem)) > _BEGIN:
        stem = stem[:-1]
    return target.with_name(f"{stem}.{secrets.token_hex(8)}.{ending}")


def _write_out(path: Path) -> None:
    """Waits until a file or a folder is on the disk."""
    with writing(path):
        number = os.open(path, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)


class ArrayFiles:
    """Arrays in one `.npz` file, or each in a `.npy` file of its own, NAME_ARRAY.npy."""

    def __init__(
        self, outputs: Outputs, argument: str, path: str, names: list[str], possible: Sequence[str] = ()
    ) -> None:
        """`possible` has the names of all arrays that the command writes, with other options too. An older set with an array
        that `names` lacks is not replaced, since that array would then be beside others that it does not belong to."""
        if require_suffix(argument, path, ".npz", ".npy") == ".npz":
            self._one: Path | None = outputs.add(argument, path)
            self.written = [path]
            return
        self._one = None
        begin = path[: -len(".npy")]
        self.written = [f"{begin}_{name}.npy" for name in names]
        self._several = {name: outputs.add(argument, file) for name, file in zip(names, self.written)}
        left = [file for name in possible if name not in names and os.path.lexists(file := f"{begin}_{name}.npy")]
        if left and any(os.path.lexists(file) for file in self.written):
            exist = "exists" if len(left) == 1 else "exist"
            raise Failure(f"{argument}: is {path}, but {', '.join(left)} {exist}, which this run does not replace")

    def write(self, arrays: dict[str, Any]) -> None:
        """Writes the arrays under the names announced."""
        if self._one is not None:
            save_npz(self._one, arrays)
            return
        for name, array in arrays.items():
            save_npy(self._several[name], array)
