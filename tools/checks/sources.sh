#!/usr/bin/env bash
# Source rules that no compiler checks; sources.py lists them, imports.py and gateway.py refuse circles of files,
# thresholds.py numbers of SS-HOPM that differ between Rust and CUDA, and benchmarks.py a page of benchmarks that is not made
# from the files of the benches.
set -euo pipefail
source "$(dirname "$0")/../environment.sh"
status=0
"$PYTHON" "$ROOT/tools/checks/sources.py" || status=1
"$PYTHON" "$ROOT/tools/checks/imports.py" || status=1
"$PYTHON" "$ROOT/tools/checks/gateway.py" || status=1
"$PYTHON" "$ROOT/tools/checks/thresholds.py" || status=1
"$PYTHON" -B "$ROOT/tools/benchmarks.py" --check || status=1
exit $status
