"""Text of comments and docstrings as Markdown, and the tables of docs/interface.md. Standard library only."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def escaped(line: str) -> str:
    """The line with its signs as they are, outside of its code spans."""
    parts = re.split(r"(`[^`]*`)", line)
    # Python's Markdown takes no backslash before <.
    return "".join(part if part.startswith("`") else re.sub(r"([*_\[\]|])", r"\\\1", part).replace("<", "&lt;") for part in parts)


def prose(text: str, language: str = "python") -> str:
    """Paragraphs, and as blocks of code the lines that are further to the right. NumPy's layout stays as it is."""
    if re.search(r"^-{3,}$", text, re.M):
        return f"```text\n{text}\n```"
    lines: list[str] = []
    code: list[str] = []

    def end_code() -> None:
        while code and not code[-1].strip():
            code.pop()
        if code:
            left = min(len(c) - len(c.lstrip()) for c in code if c.strip())
            lines.extend(["", f"```{language}", *(c[left:] for c in code), "```", ""])
            code.clear()

    for line in text.split("\n"):
        if line.startswith("    ") or (code and not line.strip()):
            code.append(line)
        else:
            end_code()
            lines.append(escaped(line))
    end_code()
    return "\n".join(lines).strip()


@dataclass(frozen=True)
class Entry:
    """A row of docs/interface.md: an option, or with no default a figure of a report."""

    name: str
    type: str
    default: str
    families: tuple[str, ...]
    meaning: str


def _rows(text: str) -> list[list[str]]:
    rows = []
    for line in text.split("\n"):
        if line.startswith("| `"):
            cells = re.split(r"(?<!\\)\|", line.strip()[1:-1])
            rows.append([cell.strip() for cell in cells])
    return rows


def interface() -> tuple[list[Entry], list[Entry]]:
    """The options and the reports of all families."""
    text = (ROOT / "docs/interface.md").read_text()
    options, reports = text.split("\n## Options\n")[1].split("\n## Reports\n")
    return (
        [Entry(r[0].strip("`"), r[1], r[2], tuple(r[3].split(", ")), "|".join(r[4:])) for r in _rows(options)],
        [Entry(r[0].strip("`"), r[1], "", tuple(r[2].split(", ")), "|".join(r[3:])) for r in _rows(reports)],
    )


def meanings(entries: list[Entry], family: str) -> dict[str, Entry]:
    return {entry.name: entry for entry in entries if family in entry.families}


# The families with options, in the order of the reference.
FAMILIES = {
    "context": "Contexts",
    "fdk": "Cone-beam CT",
    "sshopm": "Eigenpairs of symmetric tensors",
    "dwi": "Diffusion MRI",
    "rsvd": "Randomized SVD",
    "pca": "PCA",
    "rpca": "Robust PCA",
    "spmv": "Sparse products",
    "lanczos": "Lanczos",
    "tt_contraction": "Contractions of tensor trains",
    "tt_round": "Rounding of tensor trains",
}


def option_tables(entries: list[Entry]) -> str:
    """A table of options a family, as the C struct has them."""
    with_options = {family for e in entries for family in e.families}
    if wrong := sorted(with_options ^ FAMILIES.keys()):
        raise SystemExit(f"error: FAMILIES of tools/site/texts.py and the options of docs/interface.md differ: {', '.join(wrong)}")
    parts = []
    for family, title in FAMILIES.items():
        rows = [e for e in entries if family in e.families]
        parts.append(f"### Options: {title}\n\n`purlin_{family}_options`\n\n| name | type | default | meaning |\n| --- | --- | --- | --- |")
        parts[-1] += "".join(f"\n| `{e.name}` | {e.type} | {e.default} | {e.meaning} |" for e in rows)
    return "\n\n".join(parts)


def sections(text: str, heads: dict[str, str]) -> dict[str, str]:
    """By families, the part of a page from the family's heading to the next one of its level."""
    found = {}
    for family, head in heads.items():
        level = head.partition(" ")[0]
        _, _, rest = f"\n{text}\n{level} ".partition(f"\n{head}\n")
        found[family] = re.split(rf"\n{level} ", rest)[0]
    return found


def expect_options(page: str, parts: dict[str, str], entries: list[Entry], left_out: set[tuple[str, str]]) -> None:
    """Fails for an option of the header that the part of its family has neither in a table nor as an argument with a type.
    `left_out` are those that a language does not have."""
    wanted = {(family, entry.name) for entry in entries for family in entry.families}
    missing = {(family, name) for family, name in wanted if not re.search(rf"\| `{name}_?` \||\b{name}: ", parts.get(family, ""))}
    if absent := missing - left_out:
        raise SystemExit(f"error: reference/{page}.md: lacks the options {', '.join(sorted(map('.'.join, absent)))}")
    if needless := left_out - missing:
        raise SystemExit(f"error: reference/{page}.md: has {', '.join(sorted(map('.'.join, needless)))}, listed as left out")


def write(pages: Path, name: str, lines: list[str]) -> None:
    (pages / "reference").mkdir(exist_ok=True)
    text = re.sub(r"\n{3,}", "\n\n", "\n".join(lines))
    (pages / f"reference/{name}.md").write_text(text + "\n")
