"""Compares the code of pages with the programs that it is taken from: excerpts.py PAGE...

A block after the comment `<!-- from PATH -->` has consecutive lines of this file, moved to the left; a line `...` in it
stands for lines left out. Standard library only.
"""

from __future__ import annotations

import re
import sys
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
EXCERPT = re.compile(r"^<!-- from (\S+) -->\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def contains(text: list[str], part: list[str], first: int) -> int:
    """The line after the part in the text, or -1."""
    for k in range(first, len(text) - len(part) + 1):
        if textwrap.dedent("\n".join(text[k : k + len(part)])).rstrip() == "\n".join(part).rstrip():
            return k + len(part)
    return -1


def main() -> None:
    wrong, count = [], 0
    for page in map(Path, sys.argv[1:]):
        for path, code in EXCERPT.findall(page.read_text()):
            text, at = (ROOT / path).read_text().split("\n"), 0
            for piece in re.split(r"(?m)^\s*\.\.\.\n", code):
                count += 1
                part = textwrap.dedent(piece).rstrip("\n").split("\n")
                at = contains(text, part, max(at, 0))
                if at < 0:
                    wrong.append(f"{page.name}: {path} has no such lines:\n" + "\n".join(part))
                    break
    if wrong:
        sys.exit("\n".join(wrong))
    if count == 0:
        sys.exit("error: no excerpt")
    print(f"{count} excerpts are the programs' own lines")


if __name__ == "__main__":
    main()
