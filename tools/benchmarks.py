#!/usr/bin/env python3
"""Writes docs/benchmarks.md, its plots and the README's table of families from the files under benches/results.

    tools/benchmarks.py           writes them
    tools/benchmarks.py --check   fails if they differ from its output, or if a row belongs to no line of the page

Of each case on each device the newest run counts. benchmark_lines.py says which cases a line gathers.
"""

from __future__ import annotations

import json
import re
import sys
import textwrap
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from benchmark_lines import FAMILIES, LEFT_OUT, Beside, Family, Line, Rate
from benchmark_plot import Strip, plot

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benches" / "results"
PAGE = "docs/benchmarks.md"
README = "README.md"
BEGIN, END = "<!-- written by tools/benchmarks.py -->", "<!-- end -->"


@dataclass(frozen=True)
class Run:
    path: Path
    date: str
    commit: str
    gpu: str | None
    processor: str
    report: dict[str, Any]

    def link(self) -> str:
        return f"[{self.date}, {self.commit}](../{self.path.relative_to(ROOT)})"


@dataclass(frozen=True)
class Row:
    """One case; more is better. `theirs` is None where there is no program to compare with."""

    run: Run
    bench: str
    device: str
    on_gpu: bool
    case: str
    unit: str
    purlin: float
    peer: str
    theirs: float | None

    @property
    def ratio(self) -> float:
        assert self.theirs is not None
        return self.purlin / self.theirs


@dataclass(frozen=True)
class Entry:
    """A line of the page for one device."""

    what: str
    device: str
    on_gpu: bool
    peer: str
    rows: tuple[Row, ...]
    headline: bool

    @property
    def is_compared(self) -> bool:
        return self.rows[0].theirs is not None

    def ordered(self) -> list[Row]:
        return sorted(self.rows, key=lambda row: row.ratio)

    def median(self) -> Row:
        """The row in the middle, the lower one of two."""
        ordered = self.ordered()
        return ordered[(len(ordered) - 1) // 2]

    def losses(self) -> int:
        return sum(row.ratio < 1 for row in self.rows)


def runs() -> list[Run]:
    """All runs, newest first."""
    found = []
    for path in sorted(RESULTS.glob("*/*.json"), key=lambda path: path.name, reverse=True):
        report = json.loads(path.read_text())
        machine = report["machine"]
        processor = re.sub(r"\((R|TM)\)| Processor| CPU.*", "", machine["processor"])
        commit = str(report["build"].get("commit", "unknown"))[:10]
        found.append(Run(path, report["date"][:10], commit, machine["gpu"], processor, report))
    return found


def bench_name(name: str) -> str:
    """The script's name without the prefix of the step and the parts of the script that ran."""
    stem = re.sub(r"^(peers|bench)-", "", name).replace("-", "_")
    match = re.match(r"[a-z]+_(cpu|gpu|kernels)", stem)
    return match[0] if match else stem


def beside_raft(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The bench of eigenpairs has RAFT in a row beside CuPy: purlin's rows beside RAFT instead."""
    mark = ", RAFT beside CuPy"
    raft = {row["case"].removesuffix(mark): row["theirs"] for row in rows if str(row.get("case")).endswith(mark)}
    kept = [row for row in rows if not str(row.get("case")).endswith(mark)]
    for row in list(kept):
        for graph, theirs in raft.items():
            if "of_raft" in row and row["case"].startswith(graph):
                kept.append({**row, "peer": "RAFT eigsh", "theirs": theirs})
    return kept


def rows_of(run: Run) -> list[Row]:
    """Rows of a run: comparisons, and rates."""
    found = []
    for name, content in run.report["benches"].items():
        bench = bench_name(name)
        is_table = isinstance(content, dict) and "rows" in content
        if not is_table and not isinstance(content, list):
            continue
        on_gpu = run.gpu is not None and not bench.endswith("_cpu")
        threads = content.get("threads", 1) if is_table else 1
        device = run.gpu if on_gpu else f"{run.processor}, {threads} thread{'s' if threads > 1 else ''}"
        for row in beside_raft(content["rows"] if is_table else content):
            rate = row.get("purlin", row.get("rate"))
            if "case" in row and rate is not None:
                found.append(
                    Row(run, bench, str(device), on_gpu, row["case"], row["unit"], rate, row.get("peer", ""), row.get("theirs"))
                )
    return found


def newest(all_runs: list[Run]) -> list[Row]:
    """Of each case on each device the newest row; a version in a peer's name makes no other peer."""
    found: dict[tuple[str, ...], Row] = {}
    for run in all_runs:
        for row in rows_of(run):
            peer = re.sub(r" \d[\d.]*", "", row.peer)
            # A comparison whose peer was not installed gives way to an older one that has it.
            key = (row.bench, row.device, row.case, peer, str(row.theirs is None))
            found.setdefault(key, row)
    return list(found.values())


def rows_of_line(line: Line | Rate | Beside, rows: list[Row]) -> list[Row]:
    chosen = [row for row in rows if row.bench == line.bench]
    if isinstance(line, Line):
        return [
            row
            for row in chosen
            if row.theirs is not None and re.fullmatch(line.case, row.case) and re.fullmatch(line.peer, row.peer)
        ]
    if isinstance(line, Rate):
        # A limit of the machine that stands beside a rate is no program.
        return [replace(row, theirs=None) for row in chosen if re.fullmatch(line.case, row.case)]
    published = {row.device: row for row in chosen if row.case == line.theirs}
    return [
        replace(row, peer=line.peer, theirs=published[row.device].purlin)
        for row in chosen
        if row.case == line.ours and row.device in published and published[row.device].run == row.run
    ]


def entries(family: Family, rows: list[Row]) -> list[Entry]:
    """The family's lines, GPUs first."""
    found = []
    for line in family.lines:
        chosen = rows_of_line(line, rows)
        for device in sorted({row.device for row in chosen}):
            here = tuple(row for row in chosen if row.device == device)
            peers = sorted({row.peer for row in here})
            peer = peers[0] if len(peers) == 1 else re.sub(r"[ ,]+$", "", _common(peers))
            headline = not isinstance(line, Rate) and line.headline
            found.append(Entry(line.what, device, here[0].on_gpu, peer, here, headline))
    return sorted(found, key=lambda entry: not entry.on_gpu)


def _common(texts: list[str]) -> str:
    """The common beginning of the texts, to a whole word."""
    first, last = texts[0].split(" "), texts[-1].split(" ")
    return " ".join(a for k, a in enumerate(first) if last[: k + 1] == first[: k + 1])


def unclaimed(rows: list[Row]) -> list[Row]:
    """Comparisons that belong to no line and are not left out for a reason."""
    claimed = {
        id(row) for family in FAMILIES for line in family.lines if isinstance(line, Line) for row in rows_of_line(line, rows)
    }
    return [
        row
        for row in rows
        if row.theirs is not None
        and id(row) not in claimed
        and not any(
            re.fullmatch(bench, row.bench) and re.fullmatch(case, row.case) and re.fullmatch(peer, row.peer)
            for bench, case, peer, _ in LEFT_OUT
        )
    ]


def figure(value: float) -> str:
    """Three significant digits."""
    text = f"{float(f'{value:.3g}'):f}".rstrip("0").rstrip(".")
    return f"{float(text):,.0f}" if value >= 1000 else text


def units(unit: str) -> str:
    return {"1/s": "a second"}.get(unit, unit)


def times(value: float) -> str:
    return f"{value:.2f}" if value < 10 else f"{value:.0f}"


def table_line(entry: Entry) -> str:
    links = ", ".join(dict.fromkeys(row.run.link() for row in entry.rows))
    device = entry.device.replace(" ", "&nbsp;")
    if not entry.is_compared:
        row = entry.rows[0]
        cells = [device, entry.what, "none", "", "", "", f"{figure(row.purlin)} {units(row.unit)}", links]
        return "| " + " | ".join(cells) + " |"
    ordered, middle = entry.ordered(), entry.median()
    losses = f"**{entry.losses()}** of {len(ordered)}" if entry.losses() else f"0 of {len(ordered)}"
    lowest = times(ordered[0].ratio) + (f" ({ordered[0].case})" if len(ordered) > 1 and entry.losses() else "")
    assert middle.theirs is not None
    figures = f"{figure(middle.purlin)} to {figure(middle.theirs)} {units(middle.unit)}"
    if len(ordered) > 1:
        figures = f"{middle.case}: {figures}"
    cells = [device, entry.what, entry.peer, losses, lowest, f"**{times(middle.ratio)}**", figures, links]
    if len(ordered) > 1:
        cells[5] += f" (to {times(ordered[-1].ratio)})"
    return "| " + " | ".join(cells) + " |"


def wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, 120, break_on_hyphens=False)


def dates(found: list[Entry]) -> str:
    """The day of the oldest and of the newest run of the entries."""
    days = sorted({row.run.date for entry in found for row in entry.rows})
    return days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"


def section(family: Family, found: list[Entry]) -> list[str]:
    return [
        f"## {family.title}",
        "",
        *wrapped(family.measured),
        *(line for remark in family.remarks for line in ["", *wrapped(remark)]),
        "",
        f"![Ratios: {family.title}](figures/benchmarks_{family.name}.svg)",
        "",
        "| device | what | peer | slower in | lowest ratio | median ratio | median case: purlin to peer | run |",
        "|---|---|---|---|---|---|---|---|",
        *[table_line(entry) for entry in found],
        "",
        f"Printed by {', '.join(family.commands)}. The runs are of {dates(found)}. More: [{family.chapter}]({family.chapter}).",
        "",
    ]


def page(shown: dict[str, list[Entry]]) -> str:
    used = {row.run.path: row.run for found in shown.values() for entry in found for row in entry.rows}
    text = [
        "# Benchmarks",
        "",
        "purlin beside programs that do the same work, on the same data in the same run. A ratio is purlin's rate over the",
        "peer's: above 1 purlin is faster. In the plots each dot is one case, the stroke is the median (the lower one of two), and",
        "orange dots are cases in which purlin is slower. A line gathers the cases of one comparison on one device. Of each case the",
        "newest run counts, and every case with a peer is on the page. Only the raw files have purlin beside its own earlier builds,",
        "beside limits of the machine, and single kernels.",
        "",
        *wrapped(
            f"The runs are of {dates([entry for found in shown.values() for entry in found])}. The last column has the date and the "
            "commit of each. A run stays until a newer run of its cases on the same device replaces it; later changes of purlin are "
            "not in its figures."
        ),
        "",
        "`make bench` on your machine runs the benches, adds a file under `benches/results` and writes this page again with your",
        "device in it (`tools/benchmarks.py`). A GPU machine without a Rust toolchain runs them from `make gpu-bundle`. One script of",
        "`benches/compare` runs after `make install` with `PURLIN_LIBRARY=target/prefix/lib/libpurlin.so` and",
        "`PYTHONPATH=bindings/python`, by `target/venv/bin/python`.",
        "",
    ]
    for family in FAMILIES:
        text += section(family, shown[family.name])
    text += ["## Runs", "", "| run | device | host | driver | compiler | versions |", "|---|---|---|---|---|---|"]
    for run in sorted(used.values(), key=lambda run: run.path.name, reverse=True):
        machine, build = run.report["machine"], run.report["build"]
        versions = ", ".join(f"{name} {version}" for name, version in run.report["peers"].items())
        cells = [
            run.link(),
            run.gpu or run.processor,
            f"{run.processor}, {machine['cores']} cores",
            machine["driver"] or "",
            ", ".join(re.sub(r"^(rustc [\d.]+).*", r"\1", str(build[key])) for key in ("rustc", "nvcc") if build.get(key)),
            versions,
        ]
        text.append("| " + " | ".join(cells) + " |")
    return "\n".join(text) + "\n"


def drawing(family: Family, found: list[Entry]) -> str:
    strips = [
        Strip(entry.device, entry.what, entry.peer, [row.ratio for row in entry.ordered()], entry.median().ratio)
        for entry in found
        if entry.is_compared
    ]
    return plot(family.title, strips)


def readme_table(shown: dict[str, list[Entry]]) -> str:
    """A row a family: its headline comparisons, each with the range of its cases. Below them, the dates of their runs."""
    text = ["| family | what it does | purlin's rate over a peer's |", "|---|---|---|"]
    for family in FAMILIES:
        compared = []
        for entry in (entry for entry in shown[family.name] if entry.headline):
            ordered = entry.ordered()
            low, high = times(ordered[0].ratio), times(ordered[-1].ratio)
            cases = f" ({low} to {high})" if len(ordered) > 1 else ""
            compared.append(f"**{times(entry.median().ratio)}**{cases} {entry.peer}, {entry.device}: {_command(family, entry)}")
        text.append(f"| [{family.title}](docs/{family.chapter}) | {family.does} | {'<br>'.join(compared)} |")
    headlines = [entry for found in shown.values() for entry in found if entry.headline]
    text += ["", f"The runs are of {dates(headlines)}; later changes of purlin are not in their figures."]
    return "\n".join(text)


def _command(family: Family, entry: Entry) -> str:
    """The command of the family that prints the entry."""
    for command in family.commands:
        if entry.rows[0].bench in command:
            return command
    return family.commands[0]


def readme(text: str, table: str) -> str:
    before, rest = text.split(BEGIN, 1)
    return before + BEGIN + "\n" + table + "\n" + END + rest.split(END, 1)[1]


def main() -> int:
    rows = newest(runs())
    shown = {family.name: entries(family, rows) for family in FAMILIES}
    wanted = {PAGE: page(shown), README: readme((ROOT / README).read_text(), readme_table(shown))}
    wanted |= {f"docs/figures/benchmarks_{family.name}.svg": drawing(family, shown[family.name]) for family in FAMILIES}
    forgotten = unclaimed(rows)
    for row in forgotten:
        print(f"{row.run.path.relative_to(ROOT)}: {row.bench}: {row.case}, {row.peer}: no line of {PAGE} has it", file=sys.stderr)
    if "--check" not in sys.argv[1:]:
        for name, text in wanted.items():
            (ROOT / name).write_text(text)
        return 0
    stale = [name for name, text in wanted.items() if not (ROOT / name).is_file() or (ROOT / name).read_text() != text]
    for name in stale:
        print(f"{name}: is not what tools/benchmarks.py writes", file=sys.stderr)
    return 1 if stale or forgotten else 0


if __name__ == "__main__":
    sys.exit(main())
