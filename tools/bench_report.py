#!/usr/bin/env python3
"""Gathers the figures of one bench run into one JSON file, with the details needed to repeat it.

Sources: the JSON files that benches wrote at PURLIN_BENCH_JSON, criterion's estimates, and (on a GPU
machine) the bundle's description and the table of steps. Standard library only, so that it runs on a bare machine.
"""

import argparse
import json
import os
import platform
import re
import subprocess
import sys
from datetime import datetime, timezone
from pathlib import Path
from typing import Any


def first_line(*command: str) -> str | None:
    """The first line that a command prints, or None when it cannot run."""
    try:
        result = subprocess.run(command, capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return None
    lines = result.stdout.strip().splitlines()
    return lines[0].strip() if result.returncode == 0 and lines else None


def processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def machine() -> dict[str, Any]:
    gpu = first_line("nvidia-smi", "--query-gpu=name,driver_version,memory.total", "--format=csv,noheader")
    name, driver, memory = (gpu.split(", ") + [None] * 3)[:3] if gpu else (None, None, None)
    return {
        "processor": processor(),
        "cores": len(os.sched_getaffinity(0)),
        "gpu": name,
        "driver": driver,
        "gpu_memory": memory,
        "kernel": platform.release(),
        "python": platform.python_version(),
    }


def peer_versions() -> dict[str, str]:
    """Versions of the Python packages that a peer may be, without importing them."""
    from importlib import metadata

    found = {}
    for name in ("numpy", "torch", "cupy-cuda13x", "cupy-cuda12x", "dipy", "scipy"):
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            pass
    return found


def slug(text: str) -> str:
    """`Intel(R) Xeon(R) CPU @ 2.20GHz` -> `intel-xeon-2.20ghz`: a folder's name."""
    text = re.sub(r"\((r|tm)\)|\bcpu\b|\bprocessor\b|@", " ", text.lower())
    return re.sub(r"[^a-z0-9.]+", "-", text).strip("-")


def written(folder: Path) -> dict[str, Any]:
    figures = {}
    for path in sorted(folder.glob("*.json")) if folder.is_dir() else []:
        try:
            figures[path.stem] = json.loads(path.read_text())
        except json.JSONDecodeError as problem:
            figures[path.stem] = {"unreadable": str(problem)}
    return figures


def printed(folder: Path) -> dict[str, Any]:
    """Lines of the logs that are JSON objects, which benches without a JSON library print."""
    figures = {}
    for path in sorted(folder.glob("*.log")):
        rows = []
        for line in path.read_text(errors="replace").splitlines():
            if line.startswith("{") and line.rstrip().endswith("}"):
                try:
                    rows.append(json.loads(line))
                except json.JSONDecodeError:
                    continue
        if rows:
            figures[path.stem] = rows
    return figures


def criterion(folder: Path) -> dict[str, Any]:
    """Median and its confidence interval of each criterion bench, in nanoseconds."""
    figures = {}
    for path in sorted(folder.rglob("new/estimates.json")) if folder.is_dir() else []:
        median = json.loads(path.read_text())["median"]
        interval = median["confidence_interval"]
        figures[str(path.parent.parent.relative_to(folder))] = {
            "median_ns": median["point_estimate"],
            "low_ns": interval["lower_bound"],
            "high_ns": interval["upper_bound"],
        }
    return figures


def steps(table: Path) -> list[dict[str, Any]]:
    found = []
    for line in table.read_text().splitlines():
        match = re.match(r"(PASS|FAIL|SKIP)\s+(.+?)\s+(\d+) s\s*(.*)", line)
        if match:
            found.append(dict(zip(("status", "name", "seconds", "last_line"), match.groups())))
            found[-1]["seconds"] = int(found[-1]["seconds"])
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bundle", type=Path, help="file of NAME=VALUE lines: commit, version, compilers")
    parser.add_argument("--table", type=Path, help="table of steps")
    parser.add_argument("--json", type=Path, required=True, help="folder of the benches' JSON files")
    parser.add_argument("--logs", type=Path, help="folder of logs, where a line may be a JSON object")
    parser.add_argument("--criterion", type=Path, required=True, help="criterion's folder")
    parser.add_argument("--started", default=datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"))
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--output", type=Path, help="the file to write")
    where.add_argument("--results", type=Path, help="write <device>/<date>-<commit>.json under this folder")
    arguments = parser.parse_args()

    build = {}
    if arguments.bundle:
        build = dict(line.split("=", 1) for line in arguments.bundle.read_text().splitlines() if "=" in line)
        build.pop("source", None)
    else:
        commit = first_line("git", "rev-parse", "HEAD") or "unknown"
        if first_line("git", "status", "--porcelain"):
            commit += " with changes"
        build = {"commit": commit, "rustc": first_line("rustc", "--version")}
    this_machine = machine()
    report = {
        "date": arguments.started,
        "build": build,
        "machine": this_machine,
        "peers": peer_versions(),
        "steps": steps(arguments.table) if arguments.table else [],
        "benches": {**(printed(arguments.logs) if arguments.logs else {}), **written(arguments.json)},
        "criterion": criterion(arguments.criterion),
    }
    output = arguments.output
    if output is None:
        device = slug(this_machine["gpu"] or this_machine["processor"])
        stamp = arguments.started.replace(":", "").replace("-", "")
        output = arguments.results / device / f"{stamp}-{build['commit'][:10]}.json"
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(json.dumps(report, indent=1, ensure_ascii=False) + "\n")
    print(output)
    return 0


if __name__ == "__main__":
    sys.exit(main())
