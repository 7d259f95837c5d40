"""Writes the reference of Rust: rust_reference.py PAGES RUSTDOC

The tables of options are read from the structs in src, whose fields have their defaults behind `=`. RUSTDOC is the folder of
rustdoc's output, which is copied if it is there. Standard library only.
"""

from __future__ import annotations

import re
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from texts import FAMILIES, ROOT, escaped, expect_options, interface, sections, write


@dataclass(frozen=True)
class Struct:
    """A struct of options: its family, path, file, and the fields that are options of the family (all if empty)."""

    family: str
    path: str
    file: str
    fields: tuple[str, ...] = ()


STRUCTS = (
    Struct("context", "purlin::context::Options", "src/base/context.rs"),
    Struct("fdk", "purlin::fdk::Options", "src/fdk/options.rs"),
    Struct("sshopm", "purlin::sshopm::Options", "src/sshopm/options.rs"),
    Struct("dwi", "purlin::dwi::FitOptions", "src/dwi/options.rs"),
    Struct("dwi", "purlin::dwi::CsaOptions", "src/dwi/options.rs"),
    Struct("dwi", "purlin::dwi::PeaksOptions", "src/dwi/options.rs"),
    Struct("rsvd", "purlin::rsvd::Options", "src/rsvd/options.rs"),
    Struct("pca", "purlin::rsvd::pca::PcaOptions", "src/rsvd/pca/options.rs"),
    Struct("rpca", "purlin::rpca::Options", "src/rpca/options.rs"),
    Struct("spmv", "purlin::spmv::Options", "src/spmv/options.rs"),
    Struct("lanczos", "purlin::lanczos::Options", "src/lanczos/options.rs"),
    Struct("lanczos", "purlin::lanczos::session::Problem", "src/lanczos/session.rs", ("kind", "shift", "ordering")),
    Struct("tt_contraction", "purlin::tt::Options", "src/tt/trains/options.rs"),
    Struct("tt_round", "purlin::tt::algebra::Truncation", "src/tt/algebra/truncate.rs"),
)
# Arguments of calls in Rust, and the context's choice of instructions, which is `isa`.
LEFT_OUT = {
    *((family, name) for family in ("fdk", "rsvd", "rpca", "tt_contraction", "lanczos") for name in ("group", "progress", "progress_user")),
    *((family, name) for family in ("sshopm", "dwi") for name in ("progress", "progress_user")),
    *(("context", name) for name in ("cpu_isa", "log_user")),
}


def plain(text: str) -> str:
    """A documentation comment without rustdoc's links."""
    text = re.sub(r"\[(`[^`]+`)\](?:\([^)]*\))?", r"\1", text)
    text = re.sub(r"`(?:(?:super|crate)::)+(?:[a-z_]+::)*", "`", text)
    return escaped(re.sub(r"\[(\w[^\]]*)\]\([\w:]+\)", r"\1", text)).replace("\\|", "|").replace("|", "\\|")


def braces(text: str, at: int) -> str:
    """The text between the brace at `at` and the one that closes it."""
    depth = 0
    for end in range(at, len(text)):
        depth += {"{": 1, "}": -1}.get(text[end], 0)
        if depth == 0:
            return text[at + 1 : end]
    raise SystemExit(f"error: no brace closes the one at {text[at : at + 60]!r}")


def defaults(text: str, name: str) -> dict[str, str]:
    """What the `Default` of the struct says, where it is written out."""
    found = re.search(rf"impl Default for {name} \{{", text)
    if not found:
        return {}
    body = braces(text, found.end() - 1)
    return dict(re.findall(r"^ +(\w+): (.*),$", body, re.M))


def rows(struct: Struct) -> list[str]:
    """The fields of the struct as rows of a table."""
    text = (ROOT / struct.file).read_text()
    name = struct.path.split("::")[-1]
    found = re.search(rf"pub struct {name}(?:<[^>]*>)? \{{", text)
    if not found:
        raise SystemExit(f"error: {struct.file}: no struct {name}")
    constants = dict(re.findall(r"const (\w+): [\w<>]+ = ([^;]+);", text))
    own = defaults(text, name)
    is_derived = re.search(rf"derive\([^)]*\bDefault\b[^)]*\)\]\npub struct {name}\b", text) is not None
    of_type = {"bool": "false", "f64": "0.0", "usize": "0", "&'a [usize]": "&[]"}
    made = []
    field = re.compile(r"((?: *///[^\n]*\n)+) *pub (\w+): ([^\n]*?)(?: = ([^\n]*))?,\n")
    for comment, key, kind, default in field.findall(braces(text, found.end() - 1) + "\n"):
        value = default or own.get(key) or (of_type[kind] if is_derived else "")
        if not value:
            raise SystemExit(f"error: {struct.file}: {name}.{key}: no default found")
        value = re.sub(r"\b[A-Z][A-Z_]+\b", lambda m: constants.get(m[0], m[0]), value)
        said = " ".join(line.strip().removeprefix("///").strip() for line in comment.strip().split("\n"))
        if not struct.fields or key in struct.fields:
            made.append(f"| `{key}` | `{kind}` | `{value}` | {plain(said)} |")
    if not made:
        raise SystemExit(f"error: {struct.file}: {name}: no fields found")
    return made


def documented(struct: Struct, rustdoc: Path) -> str:
    """The link to the struct's page of rustdoc, where it has one."""
    *modules, name = struct.path.split("::")
    page = f"{'/'.join(modules)}/struct.{name}.html"
    shown = f"`{struct.path}`"
    return f"[{shown}](../api/rust/{page})" if (rustdoc / page).exists() else shown


def main() -> None:
    pages, rustdoc = map(Path, sys.argv[1:3])
    text = ["# Rust", "", "The core is a safe Rust library, in crates by family; the crate `purlin` exports all of them."]
    if (rustdoc / "purlin/index.html").exists():
        shutil.copytree(rustdoc, pages / "api/rust", dirs_exist_ok=True)
        text += ["", "[The reference of `cargo doc`](../api/rust/purlin/index.html)."]
    else:
        text += ["", "This site was built without cargo: `cargo doc --no-deps --workspace` makes the reference of all functions."]
    text += ["", "## Crates", "", "| crate | contents |", "| --- | --- |"]
    for manifest in sorted((ROOT / "src").rglob("Cargo.toml")):
        said = re.search(r'^description = "(.*)"', manifest.read_text(), re.M)
        text.append(f"| `{re.search(r'^name = .(.*).$', manifest.read_text(), re.M)[1]}` | {escaped(said[1]) if said else ''} |")  # type: ignore[index]
    text += ["", "## Options", "", "`..Default::default()` gives fields that are left out these defaults. Groups of contexts and functions for"]
    text += ["progress are arguments of the calls, or of the constructors of sessions."]
    for family, title in FAMILIES.items():
        text += ["", f"### Options: {title}"]
        for struct in (struct for struct in STRUCTS if struct.family == family):
            text += ["", documented(struct, rustdoc), "", "| field | type | default | meaning |", "| --- | --- | --- | --- |", *rows(struct)]
    heads = {family: f"### Options: {title}" for family, title in FAMILIES.items()}
    expect_options("rust", sections("\n".join(text), heads), interface()[0], LEFT_OUT)
    write(pages, "rust", text)


if __name__ == "__main__":
    main()
