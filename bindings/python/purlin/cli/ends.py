"""Files of elements that are longer than their elements: most likely the given sizes are wrong."""

from __future__ import annotations

import math
import os
from pathlib import Path

from ..blocks import SourceInfo
from .failures import Failure

# No header of a MetaImage that the library reads is longer, in bytes.
_LONGEST_HEADER = 64 * 1024


def expect_end(argument: str, path: str, data: Path, begin: int, info: SourceInfo, source_of_size: str) -> None:
    """Refuses bytes behind the elements, which begin at byte `begin` of the file `data`. `source_of_size` names where their
    number is from."""
    found = os.stat(data).st_size
    end = begin + math.prod(info.shape) * info.dtype.itemsize
    if found > end:
        name = path if Path(path) == data else f"{path}: {data}"
        raise Failure(f"{argument}: {name}: has {found} bytes, {source_of_size} {end}")


def _header(path: str) -> tuple[dict[bytes, bytes], int]:
    """The keys of a MetaImage, and the number of the byte behind the last of them."""
    with open(path, "rb") as file:
        head = file.read(_LONGEST_HEADER)
    keys: dict[bytes, bytes] = {}
    begin = 0
    for line in head.split(b"\n"):
        begin += len(line) + 1
        key, _, value = line.partition(b"=")
        keys.setdefault(key.strip(), value.strip())
        if key.strip() == b"ElementDataFile":
            break
    return keys, begin


def file_of_elements(path: str) -> Path:
    """The file that has the elements of a MetaImage, which may be the image's own."""
    name = _header(path)[0].get(b"ElementDataFile", b"LOCAL")
    if name == b"LOCAL":
        return Path(path)
    data = Path(path).parent / os.fsdecode(name)
    # The library takes a file beside the one that a link leads to.
    return data if os.path.lexists(data) else Path(os.path.realpath(path)).parent / os.fsdecode(name)


def expect_metaimage_end(argument: str, path: str, info: SourceInfo) -> None:
    """Refuses bytes behind the elements of a MetaImage that the library has opened. With a HeaderSize the format allows
    others before and behind them."""
    keys, begin = _header(path)
    if keys.get(b"HeaderSize", b"0") != b"0":
        return
    data = file_of_elements(path)
    is_local = keys.get(b"ElementDataFile", b"LOCAL") == b"LOCAL"
    expect_end(argument, path, data, begin if is_local else 0, info, "its header says")
