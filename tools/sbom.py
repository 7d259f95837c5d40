#!/usr/bin/env python3
"""Writes purlin.cdx.json: the software bill of materials of libpurlin.so, in CycloneDX 1.5.

    tools/sbom.py [FOLDER]      the folder is target/dist unless one is named

It lists the packages of tools/notices.py and the dependencies of each, with the checksums of Cargo.lock. The same
sources give the same file: it has a time only if SOURCE_DATE_EPOCH is set.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import uuid
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from compiled_in import ROOT, Crate, compiled_in, host
from notices import licence_of


def component(crate: Crate) -> dict[str, Any]:
    """A package as CycloneDX describes it."""
    links = [("distribution", crate.archive), ("vcs", crate.repository)]
    fields = {
        "type": "library",
        "bom-ref": crate.reference,
        "name": crate.name,
        "version": crate.version,
        "purl": crate.reference,
        "scope": "required",
        "licenses": [{"expression": licence_of(crate)}],
        "hashes": [{"alg": "SHA-256", "content": crate.checksum}] if crate.checksum else [],
        "externalReferences": [{"type": kind, "url": url} for kind, url in links if url],
    }
    return {key: value for key, value in fields.items() if value}


def bill(crates: list[Crate], compiler: str) -> dict[str, Any]:
    """The whole document; `compiler` is the version of Rust, whose standard library is linked in."""
    own = next(crate for crate in crates if crate.name == "purlin")
    reference = f"pkg:generic/rust@{compiler}"
    standard = {
        "type": "library",
        "bom-ref": reference,
        "name": "rust",
        "version": compiler,
        "description": "Rust's standard library, linked into the library",
        "purl": reference,
        "scope": "required",
        "licenses": [{"expression": "MIT OR Apache-2.0"}],
    }
    needs = [{"ref": c.reference, "dependsOn": sorted({*c.needs, reference})} for c in crates]
    document: dict[str, Any] = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": component(own)},
        "components": [component(crate) for crate in crates if crate is not own] + [standard],
        "dependencies": needs + [{"ref": reference, "dependsOn": []}],
    }
    document["serialNumber"] = f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(document, sort_keys=True))}"
    if epoch := os.environ.get("SOURCE_DATE_EPOCH"):
        moment = datetime.fromtimestamp(int(epoch), timezone.utc)
        document["metadata"]["timestamp"] = moment.strftime("%Y-%m-%dT%H:%M:%SZ")
    return document


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", default=ROOT / "target/dist", help="where the file is written")
    folder: Path = parser.parse_args(arguments).folder
    compiler = host()
    document = bill(compiled_in(compiler["host"]), compiler["release"])
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "purlin.cdx.json"
    file.write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"{file}: {len(document['components'])} components")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
