"""Prints where the bytes of an unstripped libpurlin.so are: `library_sizes.py LIBRARY`.

A function belongs to the first module of purlin that its name mentions, else to its crate. Instances of a generic function
have the same name: `beyond` is their bytes less those of the largest, about the saving of one instance for all types.
"""

import os
import re
import subprocess
import sys
import tempfile
from collections import defaultdict

MODULE = re.compile(r"\bpurlin(?:_(?!base\b)(\w+?))?(?:_base)?::(\w+)")
CRATE = re.compile(r"[<&*(\s]*(?:mut |const |dyn |impl )*(\w+)::")
LARGEST = 30


def owner(name: str) -> str:
    if found := MODULE.search(name):
        return f"purlin::{found[1] or found[2]}"
    if name.startswith("purlin_"):
        return "purlin::ffi"
    found = CRATE.match(name)
    return found[1] if found else "other"


def lines(*command: str) -> list[str]:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()


def print_sections(library: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        stripped = os.path.join(folder, "stripped.so")
        subprocess.run(["strip", "--strip-unneeded", "-o", stripped, library], check=True)
        print(f"{os.path.getsize(stripped):>10} bytes, stripped")
        sections = []
        for line in lines("readelf", "-SW", stripped):
            found = re.match(r"\s*\[ *\d+\] (\S+)\s+(\S+)\s+\S+ \S+ (\S+)", line)
            if found and found[2] != "NOBITS":
                sections.append((int(found[3], 16), found[1]))
    for size, name in sorted(sections, reverse=True):
        if size >= 100_000:
            print(f"{size:>10} {name}")


def main() -> int:
    library = sys.argv[1]
    print_sections(library)
    owners: dict[str, list[int]] = defaultdict(list)
    functions: dict[str, list[int]] = defaultdict(list)
    kernels = 0
    for line in lines("nm", "-S", "-C", "--defined-only", library):
        parts = line.split(" ", 3)
        if len(parts) < 4:
            continue
        size, kind, name = int(parts[1], 16), parts[2], parts[3]
        if "IMAGES" in name:
            kernels += size
        elif kind in "tTwW":
            owners[owner(name)].append(size)
            functions[name].append(size)
    print(f"{kernels:>10} GPU kernels, in .rodata")
    beyond: dict[str, int] = defaultdict(int)
    for name, sizes in functions.items():
        beyond[owner(name)] += sum(sizes) - max(sizes)
    print("\n     bytes     beyond functions  of")
    for name, sizes in sorted(owners.items(), key=lambda item: -sum(item[1])):
        if sum(sizes) >= 10_000:
            print(f"{sum(sizes):>10} {beyond[name]:>10} {len(sizes):>9}  {name}")
    print(f"{sum(map(sum, owners.values())):>10} {sum(beyond.values()):>10} {sum(map(len, owners.values())):>9}  all")
    print("\n    beyond      bytes instances  function")
    for name, sizes in sorted(functions.items(), key=lambda item: max(item[1]) - sum(item[1]))[:LARGEST]:
        print(f"{sum(sizes) - max(sizes):>10} {sum(sizes):>10} {len(sizes):>9}  {name[:150]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
