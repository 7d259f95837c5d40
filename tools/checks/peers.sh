#!/usr/bin/env bash
# Tests of SciPy, scikit-learn and networkx on the installed library (tests/peers).
set -euo pipefail
source "$(dirname "$0")/../environment.sh"
python=$VENV/bin/python
[ -x "$python" ] || skip "no virtual environment: tests of other projects"
"$python" -c 'import networkx, numpy, pytest, scipy, sklearn' || skip "no SciPy, scikit-learn and networkx: tests of other projects"
export PURLIN_LIBRARY=$PREFIX/lib/libpurlin.so PYTHONPATH=$ROOT/bindings/python
unset LD_LIBRARY_PATH
cd "$TARGET"
first_half() { HALF=first "$ROOT/tests/peers/run.sh" "$python"; }
second_half() { HALF=second "$ROOT/tests/peers/run.sh" "$python"; }
together first_half second_half
