"""Runs each ctest test of the given build folders under the command in $VALGRIND.

ctest's own memcheck reports errors without failing, so the tests are listed by ctest and run here.
"""

import json
import os
import shlex
import subprocess
import sys


def tests_of(build: str) -> list[dict]:
    listing = subprocess.run(
        ["ctest", "--test-dir", build, "--show-only=json-v1"], check=True, capture_output=True, text=True
    )
    return json.loads(listing.stdout)["tests"]


def main() -> int:
    valgrind = shlex.split(os.environ["VALGRIND"])
    passed = failed = 0
    for build in sys.argv[1:]:
        if not os.path.isdir(build):
            print(f"{build}: not built, so not run")
            continue
        for test in tests_of(build):
            properties = {p["name"]: p["value"] for p in test.get("properties", [])}
            # A test that is judged by its text ends with an error on purpose, and then loses memory.
            if "PASS_REGULAR_EXPRESSION" in properties or "no-valgrind" in properties.get("LABELS", []):
                continue
            environment = dict(os.environ, PURLIN_UNDER_VALGRIND="1")
            for pair in properties.get("ENVIRONMENT", []):
                name, _, value = pair.partition("=")
                environment[name] = value
            result = subprocess.run(
                valgrind + test["command"],
                cwd=properties.get("WORKING_DIRECTORY", build),
                env=environment,
                stdin=subprocess.DEVNULL,
            )
            good = (result.returncode != 0) if properties.get("WILL_FAIL") else (result.returncode == 0)
            good = good and result.returncode != 9
            print(f"{'ok' if good else 'FAILED'}: {os.path.basename(build)}/{test['name']}", flush=True)
            passed, failed = passed + good, failed + (not good)
    total = passed + failed
    if total == 0:
        print("no test was found")
        return 1
    print(f"{100 * passed // total}% tests passed, {failed} tests failed out of {total}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
