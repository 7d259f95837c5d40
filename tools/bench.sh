#!/usr/bin/env bash
# Runs the benches of this machine (cargo's, then the comparisons with peers) and writes one JSON file under
# benches/results/<device>/, with commit, date, driver and peer versions. A bench writes its figures, as JSON, to the
# file named by PURLIN_BENCH_JSON. A GPU machine without cargo: `make gpu-bundle`.
set -euo pipefail
source "$(dirname "$0")/environment.sh"
cd "$ROOT"
"$ROOT/tools/deps.sh"
"$ROOT/tools/install.sh" >&2
work=$TARGET/bench
rm -rf "$work"
mkdir -p "$work/json"
export CRITERION_HOME=$work/criterion
export PURLIN_LIBRARY=$PREFIX/lib/libpurlin.so
failed=0

for bench in benches/*.rs; do
    [ -e "$bench" ] || continue
    name=$(basename "$bench" .rs)
    say "bench: $name"
    PURLIN_BENCH_JSON=$work/json/$name.json cargo bench --locked --bench "$name" || failed=$((failed + 1))
done
say "bench: cost of a call"
cc -std=c99 -O2 -I"$PREFIX/include" tests/c/cost.c -o "$work/cost" -L"$PREFIX/lib" -Wl,-rpath,"$PREFIX/lib" -lpurlin -lm &&
    PURLIN_BENCH_JSON=$work/json/cost.json "$work/cost" || failed=$((failed + 1))
python=$PYTHON
[ ! -x "$VENV/bin/python" ] || python=$VENV/bin/python
for script in benches/compare/*.py; do
    [ -e "$script" ] && grep -q '__main__' "$script" || continue
    name=$(basename "$script" .py)
    say "bench: $name"
    status=0
    PYTHONPATH=$ROOT/bindings/python PURLIN_BENCH_JSON=$work/json/$name.json "$python" "$script" || status=$?
    case $status in
    0) ;;
    77) say "bench: $name: its peer is not here" ;;
    *) failed=$((failed + 1)) ;;
    esac
done
"$PYTHON" tools/bench_report.py --json "$work/json" --criterion "$CRITERION_HOME" --results benches/results
"$PYTHON" tools/benchmarks.py
[ "$failed" -eq 0 ] || die "$failed benches failed"
