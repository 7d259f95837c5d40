#!/usr/bin/env python3
"""Writes docs/results.md from the files under benches/results: for each device the newest run of everything, as the benches
wrote it."""

import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]


def figure(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    return "" if value is None else str(value)


def table(header: list[str], rows: list[list[str]]) -> list[str]:
    return ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)] + ["| " + " | ".join(r) + " |" for r in rows] + [""]


def comparison(bench: dict[str, Any]) -> list[str]:
    """Rows of benches/compare: purlin against a peer."""
    known = {"case", "unit", "purlin", "peer", "theirs", "ratio"}
    rows = []
    for row in bench["rows"]:
        notes = ", ".join(f"{k.replace('_', ' ')} {figure(v)}" for k, v in row.items() if k not in known and v is not None)
        rows.append(
            [row["case"], f"{figure(row['purlin'])} {row['unit']}", row["peer"], figure(row["theirs"]), figure(row["ratio"]), notes]
        )
    return table(["case", "purlin", "peer", "peer's figure", "ratio", "notes"], rows)


def plain(rows: list[dict[str, Any]]) -> list[str]:
    """Rows of any other bench, a column a key."""
    keys = list(dict.fromkeys(key for row in rows for key in row))
    return table([k.replace("_", " ") for k in keys], [[figure(row.get(k)) for k in keys] for row in rows])


def kernels(lines: list[dict[str, Any]]) -> list[str]:
    """Lines of the kernel benches: a rate, and the floor that the issue slots allow."""
    rows = []
    for line in lines:
        if "case" not in line or "rate" not in line:
            continue
        floor = line.get("floor") or 0
        share = f"{100 * line['rate'] / floor:.0f} %" if floor else ""
        rows.append([line["case"], f"{figure(line['ms'])} ms", f"{figure(line['rate'])} {line['unit']}", share])
    return table(["case", "median", "rate", "of the issue floor"], rows) if rows else []


def run(path: Path) -> list[str]:
    report = json.loads(path.read_text())
    machine, build = report["machine"], report["build"]
    device = machine["gpu"] or machine["processor"]
    out = [f"## {device}", ""]
    facts = [f"run of {report['date']}", f"commit {build.get('commit', 'unknown')[:10]}"]
    if machine["gpu"]:
        facts.append(f"driver {machine['driver']}")
    facts.append(f"{machine['processor']}, {machine['cores']} cores")
    facts += [f"{name} {version}" for name, version in report["peers"].items()]
    out += ["; ".join(facts) + f". File: `{path.relative_to(ROOT)}`.", ""]
    for name, bench in report["benches"].items():
        if isinstance(bench, dict) and "rows" in bench:
            out += [f"### {bench.get('title', name)}", ""]
            settings = [f"{k} {v}" for k, v in bench.items() if k not in ("title", "rows")]
            compared = all("theirs" in row for row in bench["rows"])
            out += (["; ".join(settings) + ".", ""] if settings else [])
            out += comparison(bench) if compared else plain(bench["rows"])
        elif isinstance(bench, list):
            body = kernels(bench)
            out += ([f"### {name}", ""] + body) if body else []
    if report["criterion"]:
        out += ["### Kernels on one machine, by criterion", ""]
        rows = [[name, f"{v['median_ns'] / 1e3:.4g} us", f"{v['low_ns'] / 1e3:.4g} to {v['high_ns'] / 1e3:.4g}"] for name, v in report["criterion"].items()]
        out += table(["bench", "median", "confidence interval"], rows)
    if report["steps"]:
        rows = [[s["status"], s["name"], str(s["seconds"]), s["last_line"].replace("|", "/")] for s in report["steps"]]
        out += ["### Steps", ""] + table(["", "step", "s", "last line"], rows)
    return out


def rows_of(path: Path) -> set[tuple[str, str]]:
    """Names of the rows of a run, each with its bench."""
    report = json.loads(path.read_text())
    found = {("criterion", name) for name in report["criterion"]}
    for name, bench in report["benches"].items():
        if isinstance(bench, dict) and "rows" in bench:
            found |= {(bench.get("title", name), str(row.get("case"))) for row in bench["rows"]}
        elif isinstance(bench, list):
            found |= {(name, str(line.get("case"))) for line in bench}
    return found


def runs_with_something_new(folder: Path) -> list[Path]:
    """A device's runs, newest first, without those of which newer ones have every row: parts may be run one by one."""
    kept, seen = [], set()
    for path in sorted(folder.glob("*.json"), reverse=True):
        rows = rows_of(path)
        if not kept or rows - seen:
            kept.append(path)
        seen |= rows
    return kept


def main() -> int:
    folders = sorted(p for p in (ROOT / "benches/results").iterdir() if p.is_dir())
    newest = [path for folder in folders for path in runs_with_something_new(folder)]
    text = [
        "# Results",
        "",
        "Made by `tools/results.py` from the files under `benches/results`, which `make bench` and the GPU bundle's `run.sh`",
        "write: for each device the newest runs first, and older ones that have what no newer one has; every figure as the bench",
        "printed it. A ratio compares figures of one run.",
        "",
    ]
    for path in newest:
        text += run(path)
    (ROOT / "docs/results.md").write_text("\n".join(text).rstrip() + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
