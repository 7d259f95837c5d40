"""Source rules that no compiler checks: file length, unfinished work, blanks, shell and Python syntax, pipes into grep -q,
executable scripts, that one file starts all threads, that one folder calls faer, that no mod.rs holds code, that files
named in comments and pages exist, and that comments, names and pages have no figurative verbs.

    python3 tools/checks/sources.py     checks the tree, and first itself: a planted fault of each rule must be found
"""

import ast
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
OWN = "tools/checks/sources.py"
MOST_LINES = 600

# Generated files are as long as they are.
GENERATED = re.compile(r"Cargo.lock|include/purlin.h|tests/abi/.*|bindings/.*constants.*|.*/generated/.*|src/base/backend/gpu/kernels/mirrors.rs|benches/results/.*")
TEXT = re.compile(r".*\.(rs|cu|cuh|h|hpp|c|cpp|f90|inc|m|py|sh|cmake)|.*CMakeLists\.txt|Makefile")
SHELL = re.compile(r".*\.sh|\.ci/run")
# The writer may end by SIGPIPE, which counts as a failure with pipefail; `holds` of tools/environment.sh reads everything.
EARLY = re.compile(r"\|\s*grep -[A-Za-z]*q.*")
EXECUTABLE = re.compile(r"tools/[^/]*\.sh|tools/checks/[^/]*\.sh|\.ci/run")

UNFINISHED = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b|todo!\(|unimplemented!\(|dbg!\(")
TRAILING = re.compile(r"[ \t]$", re.MULTILINE)
RETURN = re.compile("\r")
# Verbs that stood for many things, so that no search found the thing: compare, report, allocate, free, resolve, advance. The
# MIT licence furnishes, and compilers have a flag march.
FIGURATIVE = re.compile(r"\b(?i:judg\w*|told|furnish\w*(?! to do so)|vacat(?:e|es|ed|ing)|settl\w*)\b|(?<![-\w])march(?:es|ed|ing)?\b(?!=)")
COMMENT = re.compile(r"\s*//")

# Tests, in modules at a file's end or in files of their own, may start threads as they like.
TESTS = re.compile(r".*/tests(/[a-z_]+)?\.rs|.*_tests\.rs")
# src/base/thread.rs starts every thread and returns an error if the system refuses one. Build scripts start their own.
STARTS = re.compile(
    r"(std::thread|[^:]\bthread)::Builder|std::thread::spawn|\b(s|scope)\.spawn|\bpthread_create\b"
    r"|use std::thread(;|::\{|::spawn|::Builder)"
)
STARTERS = ("src/base/thread.rs", "src/base/build.rs")
# faer may be named only in dense, and in the workspace of products below it.
FAER = re.compile(r"\bfaer\b")
FAER_FILES = ("src/base/dense/", "src/base/backend/cpu/workspace.rs")
# A mod.rs holds comments, attributes, modules and re-exports, in tests too.
LISTED = re.compile(r"//[^\n]*|#!?\[[^\]]*\]|(pub(\([^)]*\))? )?(mod \w+|use [^;]+);")
# Files and folders that comments and pages name: a folder and a name of source code, or any path below a top folder.
PAGE = re.compile(r".*\.md")
COMMENTED = re.compile(r"\s*(//|#|\*|/\*|!|%|\"\"\")|.*(//|/\*)")
NAMED = re.compile(r"(?<![\w/$}{*<>:@+-])[\w.+-]*/[\w./+-]*(?:\{[\w./-]*,[\w.,/-]+\}[\w./-]*)?(?![\w(*<>{$./+-])")
SOURCE = re.compile(r".*\.(rs|cuh?|hpp|h|cpp|c|f90|py|m|sh|cmake|md|toml|txt|inc)")
BELOW_TOP = re.compile(r"(src|cuda|docs|tests|tools|benches|bindings|include|fuzz)/[\w./-]*\w")
BRACES = re.compile(r"(.*)\{(.*)\}(.*)")
# A placeholder of a path: FAMILY, LANGUAGE, X.
PLACEHOLDER = re.compile(r"(^|/)[A-Z]+(_launch)?($|[/.])")
# Not checked: this file's planted faults, and the list of changes, which names old files.
UNNAMED = (OWN, "CHANGELOG.md")
TEST_MODULE = re.compile(r"#\[cfg\((test|all\(test)")


def matches(pattern: re.Pattern[str], text: str) -> list[str]:
    """The lines that hold the pattern, with their numbers."""
    if not pattern.search(text):
        return []
    return [f"{n}:{line}" for n, line in enumerate(text.split("\n"), 1) if pattern.search(line)]


def outside_tests(lines: list[str]) -> list[tuple[int, str]]:
    """Lines of Rust before a test module at the file's end, without comments."""
    found, after = [], False
    for n, line in enumerate(lines, 1):
        if after and line.startswith("mod ") and "{" in line:
            break
        after = bool(TEST_MODULE.match(line)) or (after and line.startswith("#["))
        if not COMMENT.match(line):
            found.append((n, line))
    return found


def check_text(file: str, text: str) -> list[str]:
    wrong = []
    count = text.count("\n")
    if count > MOST_LINES:
        wrong.append(f"{file}: {count} lines, more than {MOST_LINES}")
    if file != OWN and (found := matches(UNFINISHED, text)):
        wrong += [*found, f"{file}: unfinished work, above"]
    if file != OWN and (found := matches(FIGURATIVE, text)):
        wrong += [*found, f"{file}: figurative verbs, above"]
    if found := matches(RETURN, text):
        wrong += [found[0].rstrip("\r"), f"{file}: carriage returns"]
    if found := matches(TRAILING, text):
        wrong += [*found[:3], f"{file}: blanks at a line's end, above"]
    return wrong


def parts_of_paths(files: list[str]) -> set[str]:
    """Each file and folder, by every run of the names in its path: a page may name `spmv/plan.rs` or `src/spmv`."""
    known = set()
    for file in files:
        names = file.split("/")
        known |= {"/".join(names[i:j]) for i in range(len(names)) for j in range(i + 1, len(names) + 1)}
    return known


def check_named(file: str, text: str, known: set[str]) -> list[str]:
    """The lines of comments, or of a page, that name files which are not there."""
    wrong = []
    for n, line in enumerate(text.split("\n"), 1):
        if not (PAGE.fullmatch(file) or COMMENTED.match(line)):
            continue
        for name in NAMED.findall(line):
            name = re.sub(r"^(\.{1,2}/)+|[./]+$", "", name)
            braces = BRACES.fullmatch(name)
            for path in [braces[1] + each + braces[3] for each in braces[2].split(",")] if braces else [name]:
                is_checked = ("/" in path and SOURCE.fullmatch(path)) or BELOW_TOP.fullmatch(path)
                if is_checked and path not in known and not PLACEHOLDER.search(path):
                    wrong.append(f"{file}:{n}: {path}")
    return wrong


def check_syntax(root: Path, file: str, text: str) -> list[str]:
    if SHELL.fullmatch(file):
        if found := EARLY.search(text):
            return [found[0], f"{file}: reads a command's output by grep -q"]
        result = subprocess.run(["bash", "-n", file], cwd=root, capture_output=True, text=True, errors="replace")
        if result.returncode != 0:
            return [result.stderr.rstrip(), f"{file}: syntax"]
    elif file.endswith(".py"):
        try:
            ast.parse(text, file)
        except (SyntaxError, ValueError) as problem:
            return [str(problem), f"{file}: syntax"]
    return []


def check_tree(root: Path, files: list[str]) -> list[str]:
    wrong, started, faer, absent = [], [], [], []
    known = parts_of_paths(files)
    for file in files:
        path = root / file
        if not path.is_file():
            continue
        # The library initializes rayon's crossbeam-epoch before its threads start; another copy would not be rayon's.
        if file == "Cargo.lock" and path.read_text().count('name = "crossbeam-epoch"\n') != 1:
            wrong.append("Cargo.lock: crossbeam-epoch is there in several versions, or not at all")
        if EXECUTABLE.fullmatch(file) and file != "tools/environment.sh" and not path.stat().st_mode & 0o100:
            wrong.append(f"{file}: is not executable")
        if PAGE.fullmatch(file) and file not in UNNAMED:
            text = path.read_text(errors="replace")
            absent += check_named(file, text, known)
            if found := matches(FIGURATIVE, text):
                wrong += [*found, f"{file}: figurative verbs, above"]
        if GENERATED.fullmatch(file) or not (TEXT.fullmatch(file) or SHELL.fullmatch(file)):
            continue
        text = path.read_bytes().decode(errors="replace")
        if TEXT.fullmatch(file):
            wrong += check_text(file, text)
        if file not in UNNAMED:
            absent += check_named(file, text, known)
        wrong += check_syntax(root, file, text)
        if file.startswith("src/") and file.endswith("/mod.rs") and (code := LISTED.sub("", text).split()):
            wrong += [" ".join(code)[:120], f"{file}: holds code, above"]
        if file.startswith("src/") and not file.startswith(FAER_FILES):
            faer += [f"{file}:{line}" for line in matches(FAER, text)]
        if not (file.startswith("src/") and file.endswith(".rs")) or TESTS.fullmatch(file) or file in STARTERS:
            continue
        if STARTS.search(text):
            started += [f"{file}:{n}: {line}" for n, line in outside_tests(text.split("\n")) if STARTS.search(line)]
    if absent:
        wrong += [*absent, "files named that are not there, above"]
    if faer:
        wrong += [*faer, "faer named outside src/base/dense, above"]
    if started:
        wrong += [*started, "threads started outside src/base/thread.rs, above"]
    return wrong


# A file with a fault, and the end of the message that it must give; None: no message.
PLANTED = [
    ("src/long.rs", "//\n" * 601, "src/long.rs: 601 lines, more than 600"),
    ("src/full.rs", "//\n" * 600, None),
    ("include/purlin.h", "//\n" * 601, None),
    ("tests/c/a.c", "int a; /* TODO */\n", "tests/c/a.c: unfinished work, above"),
    ("src/b.rs", "fn b() { unimplemented!() }\n", "src/b.rs: unfinished work, above"),
    ("src/c.rs", "fn c() { dbg!(1); }\n", "src/c.rs: unfinished work, above"),
    ("cuda/d.cu", "int d;\r\n", "cuda/d.cu: carriage returns"),
    ("src/z.rs", "// Errors are judged beside the norm.\n", "src/z.rs: figurative verbs, above"),
    ("src/tt/settle.py", "def settled_options():\n    settle()\n", "src/tt/settle.py: figurative verbs, above"),
    ("docs/aa.md", "The library is told the size.\n", "docs/aa.md: figurative verbs, above"),
    ("tools/ab.py", "# Judges: see judging.\n", "tools/ab.py: figurative verbs, above"),
    ("tools/ac.py", 'MIT = "is\\nfurnished to do so"  # -march=native, march=armv8, March 2026\n', None),
    ("bindings/e.f90", "end \n" * 5, "bindings/e.f90: blanks at a line's end, above"),
    ("tests/f/CMakeLists.txt", "project(F)\t\n", "tests/f/CMakeLists.txt: blanks at a line's end, above"),
    ("tools/g.sh", "if true\n", "tools/g.sh: syntax"),
    (".ci/run", "echo 'open\n", ".ci/run: syntax"),
    ("tests/o.sh", "nm a | grep -qw b\n", "tests/o.sh: reads a command's output by grep -q"),
    ("tests/p.sh", "grep -q b a || grep b a\n", None),
    ("tests/h.py", "def h(:\n    pass\n", "tests/h.py: syntax"),
    ("tools/checks/i.sh", "true\n", "tools/checks/i.sh: is not executable"),
    ("tools/environment.sh", "true\n", None),
    ("src/tt/j.rs", "pub fn j() { std::thread::spawn(|| ()); }\n", "threads started outside src/base/thread.rs, above"),
    ("src/tt/k.rs", "#[cfg(test)]\n#[allow(a)]\nmod tests {\n    use std::thread;\n}\n", None),
    ("src/tt/l.rs", "#[cfg(test)]\nmod tests;\nuse std::thread;\n", "threads started outside src/base/thread.rs, above"),
    ("src/tt/s.rs", "use faer::Mat;\n", "faer named outside src/base/dense, above"),
    ("src/tt/tests/t.rs", "    let m = faer::Mat::<f64>::zeros(1, 1);\n", "faer named outside src/base/dense, above"),
    ("src/base/dense/serial/u.rs", "use faer::Mat;\n", None),
    ("src/base/thread.rs", "fn m() { std::thread::spawn(|| ()); }\n", None),
    ("src/base/build.rs", "fn m() { std::thread::spawn(|| ()); }\n", None),
    ("src/tt/tests/n.rs", "use std::thread;\n", None),
    ("src/tt/tests/mod.rs", "mod a;\n\nfn b() {}\n", "src/tt/tests/mod.rs: holds code, above"),
    ("src/tt/mod.rs", "//! B.\n\n#[cfg(test)]\nmod a;\npub(crate) mod b;\n\npub use b::{\n    C,\n};\n", None),
    ("cuda/v.cuh", "// See src/rng.rs.\n", "files named that are not there, above"),
    ("docs/w.md", "Streams: `src/{docs,tt}/w.md` and `src/tt`.\n", "files named that are not there, above"),
    ("src/x.py", '"""As `tests/x.py`."""\n', "files named that are not there, above"),
    ("src/base/y.rs", "// base/y.rs in src/base, `tests/FAMILY/a.txt`, cuda/X.cu, a/b.\nlet y = \"src/rng.rs\";\n", None),
    ("Cargo.lock", 'name = "crossbeam-epoch"\n' * 2, "Cargo.lock: crossbeam-epoch is there in several versions, or not at all"),
]


def self_test() -> list[str]:
    """Checks trees that hold one file each. Scripts are executable but in the case that is about it."""
    missed = []
    for file, text, expected in PLANTED:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, file)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode())
            path.chmod(0o644 if expected is None or "executable" in expected else 0o755)
            found = check_tree(Path(folder), [file])
        if found[-1:] != ([] if expected is None else [expected]):
            missed.append(f"self-test: {file} gives {found}, not {expected!r}")
    return missed


def main() -> int:
    listing = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True
    )
    files = sorted(set(listing.stdout.split("\0")) - {""})
    if listing.returncode != 0 or not files:
        print("error: git lists no files here", file=sys.stderr)
        return 1
    wrong = self_test() + check_tree(ROOT, files)
    for line in wrong:
        print(line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
