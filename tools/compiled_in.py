"""The packages whose code is in libpurlin.so, for tools/notices.py and tools/sbom.py.

Cargo knows them: the normal dependencies of the crate purlin with its default features, on one target. Procedural macros,
build scripts and their dependencies run while the library is built, and no code of theirs is linked into it. So those edges
are left out, as are development dependencies. Nothing is asked of a network: `cargo fetch` has brought the sources.
"""

from __future__ import annotations

import json
import os
import subprocess
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

ROOT = Path(__file__).resolve().parents[1]
# The public registry, as Cargo.lock writes it, and where it keeps the archive of a version.
REGISTRY = "registry+https://github.com/rust-lang/crates.io-index"
ARCHIVE = "https://static.crates.io/crates/{0}/{0}-{1}.crate"


@dataclass(frozen=True)
class Crate:
    """One package; `own` if it is a member of this workspace."""

    name: str
    version: str
    licence: str
    authors: tuple[str, ...]
    repository: str
    folder: Path
    own: bool
    # SHA-256 of the registry's archive; empty for own packages.
    checksum: str
    # References of the packages that it is built on, of those compiled in.
    needs: tuple[str, ...]

    @property
    def reference(self) -> str:
        """The package's URL in the notation of package-url (purl)."""
        return f"pkg:cargo/{self.name}@{quote(self.version, safe='')}"

    @property
    def archive(self) -> str:
        """Where the source is to be had, for packages of the registry."""
        return "" if self.own else ARCHIVE.format(self.name, self.version)


def output(*command: str) -> str:
    """The output of a command; its own message, and an end, if it fails."""
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} failed with {done.returncode}")
    return done.stdout


def spdx(licence: str) -> str:
    """An SPDX expression; older packages write a slash for OR."""
    return licence.replace("/", " OR ") if " OR " not in licence else licence


def host() -> dict[str, str]:
    """The fields of `rustc -vV`: `release`, `host` and more."""
    lines = output(os.environ.get("RUSTC", "rustc"), "-vV").splitlines()
    return dict(line.split(": ", 1) for line in lines if ": " in line)


def compiled_in(target: str) -> list[Crate]:
    """The crates, purlin's own among them, by name and version."""
    cargo = os.environ.get("CARGO", "cargo")
    common = ("--locked", "--offline")
    # One line a package: "name vVERSION", with a path behind it for own ones.
    edges = ("--edges", "normal,no-proc-macro", "--prefix", "none", "--no-dedupe", "--format", "{p}")
    tree = output(cargo, "tree", *common, "--package", "purlin", "--target", target, *edges)
    wanted = {(words[0], words[1].removeprefix("v")) for line in tree.splitlines() if (words := line.split())}
    metadata = json.loads(output(cargo, "metadata", "--format-version", "1", *common, "--filter-platform", target))
    lock = tomllib.loads((ROOT / "Cargo.lock").read_text(encoding="utf-8"))
    checksums = {(p["name"], p["version"]): p.get("checksum", "") for p in lock["package"]}
    packages = {p["id"]: p for p in metadata["packages"] if (p["name"], p["version"]) in wanted}
    if missing := wanted - {(p["name"], p["version"]) for p in packages.values()}:
        raise SystemExit(f"cargo metadata does not know {sorted(missing)}")
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    crates = []
    for identity, package in packages.items():
        own = package["source"] is None
        if not own and package["source"] != REGISTRY:
            raise SystemExit(f"{package['name']} comes from {package['source']}, not from the public registry")
        crates.append(made(package, nodes[identity], packages, checksums, own))
    return sorted(crates, key=lambda crate: (crate.name, crate.version))


def made(
    package: dict[str, Any],
    node: dict[str, Any],
    packages: dict[str, dict[str, Any]],
    checksums: dict[tuple[str, str], str],
    own: bool,
) -> Crate:
    """A crate from cargo's records of it."""
    # An edge without a kind is a normal dependency.
    normal = {d["pkg"] for d in node["deps"] if any(kind["kind"] is None for kind in d["dep_kinds"])}
    crate = Crate(
        name=package["name"],
        version=package["version"],
        licence=spdx(package["license"] or ""),
        authors=tuple(package["authors"]),
        repository=package["repository"] or "",
        folder=Path(package["manifest_path"]).parent,
        own=own,
        checksum=checksums.get((package["name"], package["version"]), ""),
        needs=(),
    )
    needs = {f"pkg:cargo/{p['name']}@{quote(p['version'], safe='')}" for i in normal if (p := packages.get(i))}
    return Crate(**{**crate.__dict__, "needs": tuple(sorted(needs))})
