"""The packages for a crate registry: their descriptions and contents. Nothing is built or sent.

    python3 tools/checks/packages.py     asks cargo for the members of the workspace and for the list of each package
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
CARGO = os.environ.get("CARGO", "cargo")
# No package: it writes generated files of this repository.
INSIDE = {"purlin-header"}
# The registry's limit of a packed archive; here of the files in it, which are larger.
LARGEST = 10 * 1024 * 1024
# Of the registry's list of categories. A name that it does not know is dropped there without an error.
CATEGORIES = {"mathematics", "science", "algorithms"}
KEYWORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9_+-]{0,19}")
NEEDED = {"LICENSE-MIT", "LICENSE-APACHE", "README.md", "Cargo.toml"}
# cargo writes these itself.
WRITTEN = {".cargo_vcs_info.json", "Cargo.lock", "Cargo.toml.orig"}


def output(*command: str) -> str:
    return subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout


def check_description(package: dict[str, Any], version: str) -> list[str]:
    """Checks a manifest against the registry's rules."""
    name, problems = package["name"], []
    for field in ("description", "license", "readme", "documentation"):
        if not package[field]:
            problems.append(f"{name}: Cargo.toml has no {field}")
    keywords, categories = package["keywords"], package["categories"]
    if not 1 <= len(keywords) <= 5 or not all(KEYWORD.fullmatch(keyword) for keyword in keywords):
        problems.append(f"{name}: keywords are {keywords}, expected 1 to 5 of at most 20 letters")
    if not categories or set(categories) - CATEGORIES:
        problems.append(f"{name}: categories are {categories}, expected some of {sorted(CATEGORIES)}")
    if package["version"] != version:
        problems.append(f"{name}: version is {package['version']}, expected {version}")
    for dependency in package["dependencies"]:
        if dependency.get("path") and dependency["req"] != f"^{version}":
            problems.append(f"{name}: the dependency {dependency['name']} has the version {dependency['req']}, expected ^{version}")
    return problems


def check_files(name: str, folder: Path, files: set[str]) -> list[str]:
    """Checks the files of the archive."""
    problems = [f"{name}: the package lacks {file}" for file in sorted(NEEDED - files)]
    tracked = set(output("git", "-C", str(folder), "ls-files", "*.rs").splitlines())
    wanted = {f for f in tracked if name != "purlin" or f in ("build.rs", "src/lib.rs") or f.startswith("src/ffi/")}
    problems += [f"{name}: the package lacks {file}" for file in sorted(wanted - files)]
    problems += [f"{name}: the package holds {file}" for file in sorted(files) if file.startswith(("tests/golden/", "target/"))]
    # The readme of the members is the root's.
    size = sum((ROOT if f == "README.md" else folder).joinpath(f).stat().st_size for f in files - WRITTEN)
    if size > LARGEST:
        problems.append(f"{name}: the files of the package have {size} bytes, more than {LARGEST}")
    return problems


def self_test() -> list[str]:
    good: dict[str, Any] = dict.fromkeys(("name", "description", "license", "readme", "documentation"), "x")
    good |= {"keywords": ["a-b"], "categories": ["science"], "version": "1.2.3"}
    good |= {"dependencies": [{"name": "y", "path": "/y", "req": "^1.2.3"}]}
    faults: list[dict[str, Any]] = [
        {"readme": None},
        {"keywords": []},
        {"keywords": ["a b"]},
        {"keywords": ["a"] * 6},
        {"categories": ["heavy"]},
        {"version": "1.2.4"},
        {"dependencies": [{"name": "y", "path": "/y", "req": "*"}]},
    ]
    problems = check_description(good, "1.2.3")
    return problems + [f"self-test: {fault} is not found" for fault in faults if len(check_description(good | fault, "1.2.3")) != 1]


def main() -> int:
    metadata = json.loads(output(CARGO, "metadata", "--format-version", "1", "--no-deps", "--locked", "--offline"))
    packages = [package for package in metadata["packages"] if package["name"] not in INSIDE]
    version = next(package["version"] for package in packages if package["name"] == "purlin")
    problems = self_test()
    for package in packages:
        name, folder = package["name"], Path(package["manifest_path"]).parent
        problems += check_description(package, version)
        files = output(CARGO, "package", "--package", name, "--list", "--allow-dirty", "--offline", "--quiet")
        problems += check_files(name, folder, set(files.splitlines()))
    print(*problems, sep="\n", end="\n" if problems else "")
    if not problems:
        print(f"{len(packages)} packages for a registry")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
