"""Collects the pages of the site: pages.py FOLDER

FOLDER gets README.md as index.md, the pages of docs, and each file of the repository that a page links to: pages below
repository/, other files as pages that show them. Links are rewritten to these. Two habits of code hosts that Python's
Markdown does not share are changed: lists begin without an empty line, and are nested by two blanks. Standard library only.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parents[2]
LINK = re.compile(r"(!?\[(?:[^\[\]]|\[[^\]]*\])*\]\()([^)\s]+)(\))")
FENCE = re.compile(r"\s*(```+|~~~+)")
ITEM = re.compile(r"\s*([-*]|1\.) ")
LANGUAGES = {".c": "c", ".h": "c", ".cpp": "cpp", ".hpp": "cpp", ".f90": "fortran", ".m": "matlab", ".py": "python", ".rs": "rust", ".sh": "sh", ".toml": "toml"}
# Texts for readers of the repository, in whose place the site has links to pages that are made with it.
TO_SITE = {
    "README.md": ("`make docs` for a site with the reference of every language", "[the reference of every language](reference/index.md)"),
    "docs/command.md": ("`purlin COMMAND --help` lists the options", "[The reference](reference/command.md) and `purlin COMMAND --help` list the options"),
}
COPIED = {".png", ".svg", ".webp", ".css", ".js", ".json"}


def site_path(path: str) -> str:
    """The place in the site of a file of the repository."""
    if path in ("README.md", "docs/README.md"):
        return "index.md"
    if path.startswith("docs/"):
        return path[len("docs/") :]
    if path.endswith(".md") or Path(path).suffix in COPIED:
        return "repository/" + path
    return "repository/" + path + ".md"


def code_spans(line: str) -> list[tuple[int, int]]:
    return [m.span() for m in re.finditer(r"(`+)(?!`).*?(?<!`)\1(?!`)", line)]


def as_python_markdown(text: str) -> str:
    """The same page for Python's Markdown."""
    lines: list[str] = []
    fence = None
    before = ""
    for line in text.split("\n"):
        mark = FENCE.match(line)
        if mark and (fence is None or line.strip().startswith(fence)):
            fence = mark[1] if fence is None else None
        elif fence is None:
            blanks = len(line) - len(line.lstrip(" "))
            starts_list = ITEM.match(line) and before.strip() and not ITEM.match(before) and not before.startswith(" ")
            if starts_list:
                lines.append("")
            line = " " * blanks + line
            # Python's Markdown takes <x|y> for HTML.
            spans = code_spans(line)
            line = re.sub(r"<(?=\w+\\?\|)", lambda m, s=spans: m[0] if any(a <= m.start() < b for a, b in s) else "&lt;", line)  # type: ignore[misc]
        before = line
        lines.append(line)
    return "\n".join(lines)


class Pages:
    """The files that are to be written, and those that were."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.waiting: list[str] = []
        self.known: set[str] = set()
        self.wrong: list[str] = []

    def add(self, path: str) -> None:
        if path not in self.known:
            self.known.add(path)
            self.waiting.append(path)

    def target(self, page: str, link: str) -> str:
        """The link of a page of the repository as a link in the site."""
        if re.match(r"[a-z]+:|#", link):
            return link
        name, _, anchor = link.partition("#")
        path = os.path.normpath(str(PurePosixPath(page).parent / name))
        if not (ROOT / path).exists():
            self.wrong.append(f"{page}: {link}: there is no such file")
            return link
        self.add(path)
        relative = os.path.relpath(site_path(path), str(PurePosixPath(site_path(page)).parent))
        return relative + ("#" + anchor if anchor else "")

    def rewrite(self, page: str, text: str) -> str:
        lines = []
        fence = False
        for line in text.split("\n"):
            if FENCE.match(line):
                fence = not fence
            if not fence:
                spans = code_spans(line)

                def changed(m: re.Match[str], spans: list[tuple[int, int]] = spans) -> str:
                    if any(a <= m.start() < b for a, b in spans):
                        return m[0]
                    return m[1] + self.target(page, m[2]) + m[3]

                line = LINK.sub(changed, line)
            lines.append(line)
        return "\n".join(lines)

    def write(self, path: str) -> None:
        source, made = ROOT / path, self.folder / site_path(path)
        made.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            names = sorted(p.name for p in source.iterdir() if p.is_file() and not p.name.startswith("."))
            for name in names:
                self.add(f"{path}/{name}")
            here = str(PurePosixPath(site_path(path)).parent)
            rows = [f"- [{name}]({os.path.relpath(site_path(f'{path}/{name}'), here)})" for name in names]
            made.write_text(f"# {path}\n\n" + "\n".join(rows) + "\n")
        elif source.suffix in COPIED:
            shutil.copyfile(source, made)
        elif source.suffix == ".md":
            text = self.rewrite(path, source.read_text())
            if path in TO_SITE:
                old, new = TO_SITE[path]
                if text.count(old) != 1:
                    self.wrong.append(f"{path}: lacks the text: {old}")
                text = text.replace(old, new)
            # The list of changes has every name, and would come before the page that explains one.
            if path == "CHANGELOG.md":
                text = "---\nsearch:\n  boost: 0.2\n---\n\n" + text
            made.write_text(as_python_markdown(text))
        else:
            text = source.read_text()
            made.write_text(f"# {source.name}\n\n`{path}`\n\n````{LANGUAGES.get(source.suffix, 'text')}\n{text}\n````\n")

    def collect(self) -> None:
        self.add("README.md")
        self.add("docs/README.md")
        for page in sorted((ROOT / "docs").rglob("*.md")):
            # Doxygen's front page.
            if page.name != "api.md":
                self.add(str(page.relative_to(ROOT)))
        self.add("CHANGELOG.md")
        for name in ("docs/assets/site.css", "docs/assets/iframe-worker.js", "bindings/fortran/README.md", "bindings/matlab/README.md"):
            self.add(name)
        while self.waiting:
            path = self.waiting.pop()
            if path != "docs/README.md":
                self.write(path)


def main() -> None:
    pages = Pages(Path(sys.argv[1]))
    pages.collect()
    if pages.wrong:
        sys.exit("\n".join(pages.wrong))


if __name__ == "__main__":
    main()
