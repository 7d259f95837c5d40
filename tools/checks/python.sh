#!/usr/bin/env bash
# The Python package as a user installs it, its tests, and its types.
set -euo pipefail
source "$(dirname "$0")/../environment.sh"
[ -x "$VENV/bin/python" ] || skip "no virtual environment: the Python binding"
python=$VENV/bin/python
"$python" -c 'import numpy, pytest, mypy' || skip "no numpy, pytest and mypy: the Python binding"
unset LD_LIBRARY_PATH PYTHONPATH
# The build tool is in the environment already, so this works without a network.
"$python" -m pip install --disable-pip-version-check --no-build-isolation --no-deps --force-reinstall "$ROOT/bindings/python"
export PURLIN_LIBRARY=$PREFIX/lib/libpurlin.so
cd "$TARGET"
# A test that skips for want of a package would look like one that passed.
skips=()
[ "${CI:-}" != true ] || skips=(--expected-skips "$ROOT/tests/python/expected_skips.txt")
# Half of the files each: one process leaves a core idle for most of the time.
first_half() { "$python" -m pytest -q -p no:cacheprovider "${skips[@]}" "$ROOT"/tests/python/test_[a-l]*.py; }
second_half() { "$python" -m pytest -q -p no:cacheprovider "${skips[@]}" "$ROOT"/tests/python/test_[!a-l]*.py; }
together first_half second_half
"$python" -m mypy --strict --cache-dir "$TARGET/mypy" -p purlin
