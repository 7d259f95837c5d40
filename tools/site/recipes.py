"""Runs the code of pages: recipes.py MATLAB PAGE...

Of each page every block of `python`, and `matlab` where MATLAB is the folder of a built gateway, is run in the order of the
page, in one process a language and section ("## "). Lines of a comment that begins with `<!-- run` are run too: data, and
assertions about the results; with `<!-- run sh` or `<!-- run matlab` in that language. A block of another program that is not
installed says so in a comment before it, `<!-- not run: NAME -->`; excerpts of programs (excerpts.py) are not run either. In
blocks of `sh` `purlin` is the package's command, `python3` has the package, and PREFIX is the installation. Each section has
a folder of its own with links to the repository's examples.

A block after `<!-- file: NAME -->` is a whole file that the reader saves, by the name in the paragraph before. All sections of
such a page are run in one process a language, in a folder that has its files and nothing else.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PIECE = re.compile(
    r"^## (?P<title>[^\n]*)$|^<!-- run(?P<tongue> matlab| sh)?\n(?P<hidden>.*?)^-->$"
    r"|(?P<mark>^<!-- (?:not run:|from) [^\n]* -->\n|^<!-- file: (?P<file>\S+) -->\n)?^```(?P<language>\w+)\n(?P<code>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
COMPILERS = {".cpp": "c++", ".f90": "gfortran"}


@dataclass
class Program:
    """The code of a section in one language."""

    where: str
    language: str
    code: str
    files: dict[str, str]


def programs(page: Path) -> list[Program]:
    text = page.read_text()
    made: dict[tuple[str, str], Program] = {}
    files = {piece["file"]: piece["code"] for piece in PIECE.finditer(text) if piece["file"]}
    for piece in PIECE.finditer(text):
        if piece["file"] and f"`{piece['file']}`" not in text[: piece.start()].rstrip().rpartition("\n\n")[2]:
            sys.exit(f"{page.name}: the paragraph before the file {piece['file']} does not name it")
    title = ""
    for piece in PIECE.finditer(text):
        if piece["title"] is not None:
            title = title if files else piece["title"]
            continue
        if piece["mark"]:
            continue
        language = piece["language"] if piece["hidden"] is None else (piece["tongue"] or "python").strip()
        if language not in ("python", "matlab", "sh"):
            continue
        code = piece["hidden"] if piece["hidden"] is not None else piece["code"]
        at = text.count("\n", 0, piece.start("hidden" if piece["hidden"] is not None else "code")) + 1
        program = made.setdefault((title, language), Program(f"{page.name}, {title}, {language}", language, "", files))
        # Errors then name the line of the page.
        if language == "python":
            program.code += "\n" * (at - 1 - program.code.count("\n"))
        program.code += code
    return list(made.values())


def run(program: Program, gateway: str, folder: str) -> str | None:
    """The error of a program that fails."""
    for name, text in program.files.items():
        (Path(folder) / name).write_text(text)
    if not program.files:
        for name in ("examples-c", "bindings"):
            (Path(folder) / name).symlink_to(ROOT / name)
    source = Path(folder) / {"python": "page.py", "matlab": "page.m", "sh": "page.sh"}[program.language]
    source.write_text(program.code)
    if program.language == "python":
        command = [sys.executable, "-B", str(source)]
    elif program.language == "sh":
        words = {"python3": "-B", "purlin": "-B -m purlin"}
        begin = "".join(f'{word}() {{ "{sys.executable}" {call} "$@"; }}\n' for word, call in words.items())
        source.write_text("set -eu\n" + begin + program.code)
        command = ["bash", str(source)]
    else:
        package = Path(os.environ["PREFIX"]) / "share/purlin/matlab"
        call = f"addpath('{package}', '{gateway}'); run('{source}');"
        command = ["octave-cli", "--quiet", "--no-init-file", "--no-history", "--eval", call]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)
    return None if done.returncode == 0 else f"{program.where}:\n{done.stdout[-2000:]}{done.stderr[-3000:]}"


def main() -> None:
    gateway, wrong, count = sys.argv[1], [], {"python": 0, "matlab": 0, "sh": 0}
    for page in map(Path, sys.argv[2:]):
        for program in programs(page):
            if program.language == "matlab" and not gateway:
                continue
            needs = {COMPILERS[Path(name).suffix] for name in program.files if Path(name).suffix in COMPILERS}
            if missing := sorted(tool for tool in needs if shutil.which(tool) is None):
                print(f"no {', '.join(missing)}: {program.where} is left out")
                continue
            count[program.language] += 1
            with tempfile.TemporaryDirectory() as folder:
                if (said := run(program, gateway, folder)) is not None:
                    wrong.append(said)
    if wrong:
        sys.exit("\n".join(wrong))
    if not count["python"] or not count["sh"]:
        sys.exit(f"error: no section of Python, or none of the shell: {count}")
    print(", ".join(f"{n} sections of {language}" for language, n in count.items()) + " ran")


if __name__ == "__main__":
    main()
