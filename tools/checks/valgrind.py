"""Runs each ctest test of the given build folders under the command in $VALGRIND, the longest first.

ctest's own memcheck reports errors without failing, so the tests are listed by ctest and run here.
"""

import json
import os
import shlex
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path


def tests_of(build: str) -> list[dict]:
    listing = subprocess.run(
        ["ctest", "--test-dir", build, "--show-only=json-v1"], check=True, capture_output=True, text=True
    )
    return json.loads(listing.stdout)["tests"]


def seconds_of(build: str) -> dict[str, float]:
    """Seconds of ctest's own runs of the tests; empty if it has run none."""
    record = Path(build, "Testing", "Temporary", "CTestCostData.txt")
    lines = [line.split() for line in record.read_text().splitlines()] if record.is_file() else []
    return {words[0]: float(words[2]) for words in lines if len(words) == 3}


def run(valgrind: list[str], build: str, test: dict) -> tuple[bool, str]:
    """Whether a test passed, and its output."""
    properties = {p["name"]: p["value"] for p in test.get("properties", [])}
    environment = dict(os.environ, PURLIN_UNDER_VALGRIND="1")
    for pair in properties.get("ENVIRONMENT", []):
        name, _, value = pair.partition("=")
        environment[name] = value
    began = time.monotonic()
    result = subprocess.run(
        valgrind + test["command"],
        cwd=properties.get("WORKING_DIRECTORY", build),
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    good = (result.returncode != 0) if properties.get("WILL_FAIL") else (result.returncode == 0)
    good = good and result.returncode != 9
    return good, f"{result.stdout}{'ok' if good else 'FAILED'}: {os.path.basename(build)}/{test['name']} {time.monotonic() - began:.0f} s"


def wanted(test: dict) -> bool:
    """A test that passes by its text ends with an error on purpose, and then loses memory."""
    properties = {p["name"]: p["value"] for p in test.get("properties", [])}
    return "PASS_REGULAR_EXPRESSION" not in properties and "no-valgrind" not in properties.get("LABELS", [])


def main() -> int:
    valgrind = shlex.split(os.environ["VALGRIND"])
    tests = []
    for build in sys.argv[1:]:
        if not os.path.isdir(build):
            print(f"{build}: not built, so not run")
            continue
        seconds = seconds_of(build)
        tests += [(seconds.get(test["name"], 0.0), build, test) for test in tests_of(build) if wanted(test)]
    # Otherwise the longest may start last and run alone.
    tests.sort(key=lambda item: -item[0])
    # Valgrind runs the threads of a program one at a time, so each program gets one core.
    passed = 0
    failures: list[str] = []
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for done in as_completed([pool.submit(run, valgrind, build, test) for _, build, test in tests]):
            good, text = done.result()
            print(text, flush=True)
            passed += good
            if not good:
                failures.append(text)
    failed = len(failures)
    total = passed + failed
    if total == 0:
        print("no test was found")
        return 1
    # Once more at the end, because only the end of a failed step's log is shown.
    print(*failures[-5:], sep="\n", end="\n" if failures else "")
    print(f"{100 * passed // total}% tests passed, {failed} tests failed out of {total}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
