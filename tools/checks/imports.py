"""Circles of imports between files of a crate: none crosses folders, and those inside a folder are explained. Imports of
base: the table of docs/architecture.md allows each.

    python3 tools/checks/imports.py     checks src, and first itself: planted circles and imports must be found

A file imports another by `use` or by a path. A `mod.rs` does not import the items that it only re-exports: a file that
takes an item from there imports the file that has it. Tests do not count. The comment of a circle is in a file of its
folder: "`a.rs` and `b.rs` import each other: why", or "The files of this folder import each other: why". A comment of a
circle that is gone is a fault too.
"""

import re
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
COMMENT = re.compile(r"//[^\n]*")
TEST_MODULE = re.compile(r"#\[cfg\((test|all\(test)[^\]]*\]\s*(#\[[^\]]*\]\s*)*(pub(\([^)]*\))? )?mod \w+ \{")
TEST_FILE = re.compile(r"(.*/)?(tests/.*|device_tests/.*|\w*tests\.rs|build\.rs|generated/.*)")
INLINE = re.compile(r"\bmod \w+ (\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\})")
SUPER = re.compile(r"\bsuper::(?!super)")
VISIBILITY = re.compile(r"\bpub\(in [^)]*\)")
DECLARATION = re.compile(r"\bmod \w+;")
USE = re.compile(r"\b(pub(?:\([^)]*\))?\s+)?use\s+([^;]+);")
PATH = re.compile(r"(?<![\w:])(\w+(?:::\w+)+)")
ITEM = re.compile(r"\b(?:fn|struct|enum|trait|type|const|static|union|macro_rules!)\s+(\w+)")
CALL = r"\s*(\(|::)"
EXPLAINED = re.compile(r"((?:`\w+\.rs`|, | and )+|The files of this folder) import each other: ")

Name = tuple[str, ...]


def leaves(tree: str, before: str = "") -> list[tuple[str, str]]:
    """The paths of a tree of `use`, each with the name under which it is known here."""
    tree = re.sub(r"\s+", " ", tree).strip()
    if "{" not in tree:
        path, _, alias = (before + tree).partition(" as ")
        path = path.removesuffix("::self")
        return [(path, alias or path.split("::")[-1])] if tree else []
    at = tree.index("{")
    found, depth, start = [], 0, at + 1
    for k, letter in enumerate(tree[at:], at):
        depth += {"{": 1, "}": -1}.get(letter, 0)
        if (letter == "," and depth == 1) or depth == 0:
            found += leaves(tree[start:k], before + tree[:at])
            start = k + 1
    return found


def code(file: Path) -> str:
    """The text without comments and tests. In a module within the file, `super` is the file."""
    text = TEST_MODULE.split(VISIBILITY.sub("pub", COMMENT.sub("", file.read_text())), maxsplit=1)[0]
    return INLINE.sub(lambda module: SUPER.sub("self::", module[0]).replace("super::self", "super"), text)


class Crate:
    """The modules of a folder of src, by their paths, and the names that each imports of each other."""

    def __init__(self, folder: Path, prefix: Name):
        self.files: dict[Name, Path] = {}
        for file in sorted(folder.rglob("*.rs")):
            local = file.relative_to(folder)
            parts = local.with_suffix("").parts
            if not TEST_FILE.fullmatch(str(local)):
                self.files[() if parts == ("lib",) else prefix + (parts[:-1] if parts[-1] == "mod" else parts)] = file
        texts = {module: code(file) for module, file in self.files.items()}
        self.items = {module: set(ITEM.findall(text)) for module, text in texts.items()}
        self.exports: dict[Name, dict[str, Name]] = defaultdict(dict)
        self.globs: dict[Name, list[Name]] = defaultdict(list)
        self.ties: dict[Name, dict[Name, set[str]]] = defaultdict(lambda: defaultdict(set))
        used = {module: self.imports(module, text) for module, text in texts.items()}
        for module, text in texts.items():
            for owner, name in map(self.owner, self.paths(module, DECLARATION.sub("", USE.sub("", text)), used[module])):
                if owner not in (None, module):
                    self.ties[module][owner].add(name)

    def absolute(self, module: Name, path: str) -> Name | None:
        """The path from the crate's root; `None` for one that begins with another crate or a name from elsewhere."""
        parts = tuple(path.replace(" ", "").split("::"))
        if parts[0] not in ("crate", "self", "super"):
            return module + parts if module + parts[:1] in self.files else None
        while parts and parts[0] in ("crate", "self", "super"):
            module, parts = {"crate": (), "self": module, "super": module[:-1]}[parts[0]], parts[1:]
        return module + parts

    def imports(self, module: Name, text: str) -> list[tuple[Name, str, bool]]:
        """Names that `use` imports: the path, the local name, and whether it is re-exported."""
        found = []
        for public, tree in USE.findall(text):
            for path, name in leaves(tree):
                if (absolute := self.absolute(module, path)) is not None:
                    found.append((absolute, name, bool(public)))
                    if public and name == "*":
                        self.globs[module].append(absolute[:-1])
                    elif public:
                        self.exports[module][name] = absolute
        return found

    def owner(self, path: Name, depth: int = 0) -> tuple[Name | None, str]:
        """The file that has the item of a path, through re-exports, and the item's name; `*` for the module itself."""
        module = next((path[:k] for k in range(len(path), -1, -1) if path[:k] in self.files), None)
        if module is None or path == module:
            return module, "*"
        name, rest = path[len(module)], path[len(module) + 1 :]
        exported = self.exports[module].get(name)
        if exported is None and name not in self.items[module]:
            exported = next((m + (name,) for m in self.globs[module] if name in self.items.get(m, ())), None)
        if exported in (None, path[: len(module) + 1]) or depth == 8:
            return module, name
        return self.owner(exported + rest, depth + 1)

    def paths(self, module: Name, body: str, used: list[tuple[Name, str, bool]]) -> list[Name]:
        is_face = self.files[module].name in ("mod.rs", "lib.rs")
        paths, known = [], {}
        for path, name, public in used:
            owner, item = self.owner(path)
            if item == "*" and name != "*" and owner is not None:
                known[name] = owner
            elif not (is_face and public) or (name != "*" and re.search(rf"(?<![.\w]){name}\b" + CALL * name.islower(), body)):
                paths.append(path)
        for path in PATH.findall(body):
            first, _, rest = path.partition("::")
            absolute = known[first] + tuple(rest.split("::")) if first in known else self.absolute(module, path)
            paths += [] if absolute is None else [absolute]
        return paths

    def circles(self) -> list[list[Name]]:
        """Groups of files that all import each other, directly or through others."""
        reach: dict[Name, set[Name]] = {}
        for module in self.files:
            reach[module], found = set(), [module]
            while found:
                new = set(self.ties[found.pop()]) - reach[module]
                reach[module] |= new
                found += new
        groups = {tuple(sorted(m for m in reach[a] if a in reach[m])) for a in self.files if a in reach[a]}
        return [list(group) for group in sorted(groups)]


def crate_folders(source: Path) -> list[Path]:
    """The folders of src, but in place of one whose folders are crates those."""
    found = []
    for folder in sorted(folder for folder in source.iterdir() if folder.is_dir()):
        found += sorted(file.parent for file in folder.glob("*/lib.rs")) or [folder]
    return found


# Crates whose modules are declared in lib.rs, not in the mod.rs of a module with the name of the folder.
WITHOUT_FACE = ("base", "comm")


def check_tree(source: Path) -> list[str]:
    wrong, explained = [], set()
    for folder in crate_folders(source):
        crate = Crate(folder, () if folder.name in WITHOUT_FACE else (folder.name,))
        comments: dict[Path, list[tuple[Path, set[str]]]] = defaultdict(list)
        for file in crate.files.values():
            for found in EXPLAINED.findall(re.sub(r"\n\s*//[/!]? ?", " ", file.read_text())):
                comments[file.parent].append((file, set(re.findall(r"\w+\.rs", found))))
        for circle in crate.circles():
            folders = {crate.files[module].parent for module in circle}
            names = {crate.files[module].name for module in circle}
            fitting = [c for c in comments[min(folders)] if not c[1] or c[1] == names]
            if len(folders) == 1 and fitting:
                explained |= {(file, frozenset(files)) for file, files in fitting}
                continue
            path = {module: crate.files[module].relative_to(source.parent) for module in circle}
            for module in circle:
                for other in sorted(set(circle) & set(crate.ties[module])):
                    wrong.append(f"{path[module]} imports {', '.join(sorted(crate.ties[module][other]))} of {path[other]}")
            how = "without a comment that explains it" if len(folders) == 1 else "across folders"
            wrong.append(f"{len(circle)} files import each other {how}, above")
        for file, files in (each for found in comments.values() for each in found):
            if (file, frozenset(files)) not in explained:
                wrong.append(f"{file.relative_to(source.parent)}: explains a circle that is not there")
    return wrong


# Rows of the table: names, contents, imports. In base they end with that of `matrix`.
ROW = re.compile(r"^\| ([^|]*) \| [^|]* \| ([^|]*) \|$", re.MULTILINE)
PART = re.compile(r"`([^`]*)`|\b(base|backend)\b")
BASE = re.compile(r"\"Base\" in the next table stands for the files (.*?) of `src/base`", re.DOTALL)
# Tests, which the table does not list.
FIXTURES = "testing"


def parts(cell: str, base: list[str]) -> list[str]:
    """The modules that a cell of the table names, each as the path of its file in src/base without the ending."""
    found = []
    for path, word in PART.findall(cell):
        before, brace, rest = path.partition("{")
        names = [before + name for name in rest.rstrip("}").split(",")] if brace else [path or word]
        found += [part for name in names for part in (base if name == "base" else [name.removesuffix(".rs")])]
    return found


def is_part(path: str, names: list[str]) -> bool:
    return any(path == name or path.startswith(name + "/") for name in names)


def check_table(source: Path, page: str) -> list[str]:
    """Imports between parts of base that the table of the page does not allow, and files that it does not list."""
    listed, table = BASE.search(page), page.partition("| folder or file | contents | may import |")[2]
    base = parts(listed[1], []) if listed else []
    allowed: dict[str, list[str]] = {}
    for names, imports in ROW.findall(table.partition("\n\n")[0]):
        for name in parts(names, base):
            # The files of a row may import each other.
            allowed[name] = parts(f"{imports}, {names}", base)
        if "matrix" in allowed:
            break
    crate, wrong = Crate(source / "base", ()), []
    rows = {}
    for module in crate.files:
        path = "/".join(module)
        rows[module] = max((name for name in allowed if is_part(path, [name])), key=len, default=None)
        if rows[module] is None and path not in ("", "backend", FIXTURES) and not is_part(path, [FIXTURES]):
            wrong.append(f"{crate.files[module].relative_to(source.parent)}: is not in the table of docs/architecture.md")
    for module, row in rows.items():
        for other, names in crate.ties[module].items():
            path = "/".join(other)
            is_parent = module[: len(other)] == other
            if row and rows[other] not in (None, row) and not is_parent and not is_part(path, allowed[row]):
                file, owner = (crate.files[name].relative_to(source.parent) for name in (module, other))
                wrong.append(f"{file} imports {', '.join(sorted(names))} of {owner}, against docs/architecture.md")
    return wrong


# Files, and the end of the message that they must give; None: no message.
A, B, WHY = "use super::b::B;\n", "use super::a::A;\n", "//! `a.rs` and\n//! `b.rs` import each other: why.\n"
UNEXPLAINED = "2 files import each other without a comment that explains it, above"
ACROSS = "2 files import each other across folders, above"
PLANTED: list[tuple[dict[str, str], str | None]] = [
    ({"base/a.rs": A, "base/b.rs": B}, UNEXPLAINED),
    ({"base/a.rs": WHY + A, "base/b.rs": B}, None),
    ({"base/a.rs": WHY + A, "base/b.rs": ""}, "src/base/a.rs: explains a circle that is not there"),
    ({"tt/a.rs": "fn a() { crate::tt::b::c::B }", "tt/b/mod.rs": "", "tt/b/c.rs": "use super::super::a::{self, A};\n"}, ACROSS),
    ({"tt/a.rs": "use super::C;\n", "tt/mod.rs": "mod a;\npub use a::A;\npub use b::C;\n", "tt/b.rs": "struct C;"}, None),
    ({"tt/a.rs": "use super::C;\n", "tt/mod.rs": "pub use a::A;\nstruct C(A);\n"}, UNEXPLAINED),
    ({"tt/a.rs": "use super::C;\n", "tt/mod.rs": "pub use a::f;\nstruct C { f: i32 }\n"}, None),
    ({"tt/x/lib.rs": "pub mod x;\n", "tt/x/a.rs": "use crate::x::b::B;\n", "tt/x/b.rs": B}, UNEXPLAINED),
    ({"tt/x/lib.rs": "", "tt/x/a.rs": "use crate::y::b::B;\n", "tt/y/lib.rs": "", "tt/y/b.rs": B}, None),
    ({"tt/a.rs": A, "tt/b.rs": "#[cfg(test)]\nmod tests {\n    use crate::tt::a::A;\n}\n"}, None),
]
# A table, files of base, and the only message that they must give; None: no message.
PAGE = """"Base" in the next table stands for the files `a.rs` and `b.rs` of `src/base`.

| folder or file | contents | may import |
|---|---|---|
| base | x | base |
| `b.rs` | x | base, `backend/{c,d/e.rs}` |
| `backend/{c,d}` | x | base |
| `matrix` | x | base, backend |
| `rsvd` | x | `matrix` |
"""
FROM = "src/base/{} imports {} of src/base/{}, against docs/architecture.md"
PLANTED_IMPORTS: list[tuple[dict[str, str], str | None]] = [
    ({"a.rs": "use crate::b::B;\n", "b.rs": "use crate::backend::c::C;\n", "backend/c.rs": ""}, None),
    ({"a.rs": "use crate::backend::c::C;\n", "backend/c.rs": ""}, FROM.format("a.rs", "C", "backend/c.rs")),
    ({"b.rs": "use crate::backend::d::e::E;\n", "backend/d/e.rs": ""}, None),
    ({"b.rs": "use crate::backend::d::f::F;\n", "backend/d/f.rs": ""}, FROM.format("b.rs", "F", "backend/d/f.rs")),
    ({"backend/c.rs": "use crate::matrix::M;\n", "matrix/mod.rs": ""}, FROM.format("backend/c.rs", "M", "matrix/mod.rs")),
    ({"matrix/m.rs": "use crate::{backend::c::C, matrix::n};\n", "matrix/n.rs": "", "backend/c.rs": ""}, None),
    ({"f.rs": ""}, "src/base/f.rs: is not in the table of docs/architecture.md"),
]


def self_test(missed: list[str]) -> list[str]:
    for texts, expected in PLANTED_IMPORTS:
        with tempfile.TemporaryDirectory() as folder:
            for name, text in texts.items():
                file = Path(folder, "src/base", name)
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text)
            found = check_table(Path(folder, "src"), PAGE)
        if found != ([] if expected is None else [expected]):
            missed.append(f"self-test: {texts} gives {found}, not {expected!r}")
    for texts, expected in PLANTED:
        with tempfile.TemporaryDirectory() as folder:
            for name, text in texts.items():
                file = Path(folder, "src", name)
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text)
            found = check_tree(Path(folder, "src"))
        if found[-1:] != ([] if expected is None else [expected]):
            missed.append(f"self-test: {texts} gives {found}, not {expected!r}")
    return missed


if __name__ == "__main__":
    page = (ROOT / "docs/architecture.md").read_text()
    problems = self_test([]) + check_tree(ROOT / "src") + check_table(ROOT / "src", page)
    print(*problems, sep="\n", end="\n" if problems else "")
    sys.exit(1 if problems else 0)
