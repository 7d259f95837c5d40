"""Runs the code of pages: recipes.py MATLAB PAGE...

Of each page every block of `python`, and `matlab` where MATLAB is the folder of a built gateway, is run in the order of the
page, in one process a language and section ("## "). Lines of a comment that begins with `<!-- run` are run too: data, and
assertions about the results. A block of another program that is not installed says so in a comment before it, `<!-- not
run: NAME -->`; excerpts of programs (excerpts.py) are not run either. Blocks of `sh`, in which `purlin` is the package's
command, are run too. Each section has a folder of its own with links to the repository's examples.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PIECE = re.compile(
    r"^## (?P<title>[^\n]*)$|^<!-- run(?P<tongue> matlab)?\n(?P<hidden>.*?)^-->$"
    r"|(?P<mark>^<!-- (?:not run:|from) [^\n]* -->\n)?^```(?P<language>\w+)\n(?P<code>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)


@dataclass
class Program:
    """The code of a section in one language."""

    where: str
    language: str
    code: str


def programs(page: Path) -> list[Program]:
    text = page.read_text()
    made: dict[tuple[str, str], Program] = {}
    title = ""
    for piece in PIECE.finditer(text):
        if piece["title"] is not None:
            title = piece["title"]
            continue
        if piece["mark"]:
            continue
        language = ("matlab" if piece["tongue"] else "python") if piece["hidden"] is not None else piece["language"]
        if language not in ("python", "matlab", "sh"):
            continue
        code = piece["hidden"] if piece["hidden"] is not None else piece["code"]
        at = text.count("\n", 0, piece.start("hidden" if piece["hidden"] is not None else "code")) + 1
        program = made.setdefault((title, language), Program(f"{page.name}, {title}, {language}", language, ""))
        # Errors then name the line of the page.
        if language == "python":
            program.code += "\n" * (at - 1 - program.code.count("\n"))
        program.code += code
    return list(made.values())


def run(program: Program, gateway: str, folder: str) -> str | None:
    """The error of a program that fails."""
    for name in ("examples-c", "bindings"):
        (Path(folder) / name).symlink_to(ROOT / name)
    source = Path(folder) / {"python": "page.py", "matlab": "page.m", "sh": "page.sh"}[program.language]
    source.write_text(program.code)
    if program.language == "python":
        command = [sys.executable, "-B", str(source)]
    elif program.language == "sh":
        source.write_text(f'set -eu\npurlin() {{ "{sys.executable}" -B -m purlin "$@"; }}\n' + program.code)
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
