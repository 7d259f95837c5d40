"""Attacks the library with unusual random cases and checks the results by oracles that share no code with it.

    python run.py --seconds 3600                     all attacks in turn, new cases until the time is over
    python run.py --cases 5                          five cases of each
    python run.py --attack spectra.graphs --case 17  one case again, with the seed that was printed

A case runs in a child process, so that a crash, an abort or a hang is a finding like a wrong number. The last line counts.
"""

from __future__ import annotations

import argparse
import faulthandler
import gc
import importlib
import json
import os
import secrets
import subprocess
import sys
import time
import traceback
import zlib
from collections import Counter
from pathlib import Path

FAMILIES = (
    "spectra", "spectra_adjoint", "graphs", "graphs_not_finite", "units", "eigenpairs", "diffusion", "diffusion_units", "trains", "states", "ct", "ct_units", "lowrank", "lowrank_adjoint",
    "components", "restarts", "empty", "memory", "files", "calls", "sizes", "boundary",
)
CASE_SECONDS = 300


def attacks() -> dict[str, object]:
    found = {}
    for family in FAMILIES:
        module = importlib.import_module(family)
        # Attacks of ct_units.py are among those of ct.
        prefix = family.split("_")[0]
        found.update({f"{prefix}.{name}": function for name, function in module.ATTACKS.items()})
    return found


def work(arguments: argparse.Namespace) -> int:
    """The child: runs the cases that the parent names on standard input, and reports the outcome of each."""
    import numpy as np
    import purlin
    from attack import Bench, Finding, Refused, Skipped

    table = attacks()
    bench = Bench(arguments.backend)
    faulthandler.enable()
    for line in sys.stdin:
        name, case = line.split()
        faulthandler.dump_traceback_later(CASE_SECONDS, exit=True)
        rng = np.random.default_rng([arguments.seed, zlib.crc32(name.encode()), int(case)])
        gc.collect()
        before = purlin.live_handles()
        verdict, detail = "ok", ""
        bench.outcomes.clear()
        try:
            table[name](rng, bench)
        except Refused:
            verdict = "refused"
        except Skipped as reason:
            verdict, detail = "skipped", str(reason)
        except Finding as finding:
            verdict, detail = "finding", str(finding)
        except Exception:
            verdict, detail = "finding", "the attack failed: " + traceback.format_exc()
        gc.collect()
        after = purlin.live_handles()
        if verdict != "finding" and after != before:
            verdict, detail = "finding", f"{after - before} handles are left"
        faulthandler.cancel_dump_traceback_later()
        outcomes = json.dumps(bench.outcomes)
        print("\t".join([verdict, outcomes, detail.replace("\n", " | ").replace("\t", " ")]), flush=True)
    return 0


class Worker:
    """The child process and its reports."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self.command = [
            sys.executable, str(Path(__file__).resolve()), "--work", "--backend", arguments.backend, "--seed", str(arguments.seed),
        ]
        self.start()

    def start(self) -> None:
        # The oracles' matrices are small: NumPy's threads would only take processors from other hunts running at the same time.
        environment = {"OPENBLAS_NUM_THREADS": "1", **os.environ}
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)

    def run(self, name: str, case: int) -> tuple[str, str, str]:
        assert self.process.stdin and self.process.stdout
        try:
            self.process.stdin.write(f"{name} {case}\n")
            self.process.stdin.flush()
            answer = self.process.stdout.readline()
        except BrokenPipeError:
            answer = ""
        if answer:
            verdict, outcomes, detail = answer.rstrip("\n").split("\t")
            return verdict, outcomes, detail
        status = self.process.wait()
        self.start()
        return "finding", "", f"the process ended with status {status} (a negative one is a signal; 1 after {CASE_SECONDS} s is a hang)"

    def stop(self) -> None:
        assert self.process.stdin
        self.process.stdin.close()
        self.process.wait()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=0.0, help="time to hunt; 0: as many cases as --cases says")
    parser.add_argument("--cases", type=int, default=3, help="cases of each attack")
    parser.add_argument("--seed", type=int, default=0, help="0 and --seconds: a new one, which is printed")
    parser.add_argument("--attack", default="", help="attacks whose name starts so")
    parser.add_argument("--case", type=int, default=-1, help="this case alone")
    parser.add_argument("--backend", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--work", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.seconds > 0 and arguments.seed == 0:
        # Hunts that start at the same moment differ.
        arguments.seed = 1 + secrets.randbelow(2**31 - 1)
    if arguments.work:
        return work(arguments)

    names = [name for name in attacks() if name.startswith(arguments.attack)]
    if not names:
        parser.error(f"--attack: no attack starts with {arguments.attack!r}")
    print(f"seed {arguments.seed}, {arguments.backend}", flush=True)
    worker = Worker(arguments)
    verdicts: dict[str, Counter[str]] = {name: Counter() for name in names}
    outcomes: dict[str, Counter[str]] = {name: Counter() for name in names}
    spent: Counter[str] = Counter()
    skipped: dict[str, str] = {}
    start, case, findings, total = time.monotonic(), 0, 0, 0
    while True:
        for name in names:
            if name in skipped:
                continue
            if arguments.seconds > 0 and time.monotonic() - start > arguments.seconds:
                break
            # Every attack has the same share of the time: a slow one has fewer cases.
            if arguments.seconds > 0 and spent[name] > 1.5 * (time.monotonic() - start) / len(names) + 5:
                continue
            number = arguments.case if arguments.case >= 0 else case
            began = time.monotonic()
            verdict, counts, detail = worker.run(name, number)
            spent[name] += time.monotonic() - began
            verdicts[name][verdict] += 1
            outcomes[name].update(json.loads(counts or "{}"))
            if verdict == "skipped":
                skipped[name] = detail
                continue
            total += 1
            if verdict == "finding":
                findings += 1
                print(f"FINDING {name} --case {number} --seed {arguments.seed}: {detail}", flush=True)
        case += 1
        if len(skipped) == len(names) or arguments.case >= 0 or (arguments.seconds <= 0 and case >= arguments.cases):
            break
        if arguments.seconds > 0 and time.monotonic() - start > arguments.seconds:
            break
    worker.stop()
    for name in names:
        counts = ", ".join(f"{key} {count}" for key, count in sorted(outcomes[name].items()))
        ended = ", ".join(f"{key} {count}" for key, count in sorted(verdicts[name].items()))
        print(f"{name:28s} {spent[name]:7.1f} s  {ended:40s} {counts}")
    for name, reason in skipped.items():
        print(f"skipped on {arguments.backend}: {name}: {reason}")
    print(f"{total - findings} passed, {findings} failed, {len(skipped)} skipped")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
