#!/usr/bin/env bash
# Source rules that no compiler checks; sources.py lists them, and imports.py refuses circles of imports.
set -euo pipefail
source "$(dirname "$0")/../environment.sh"
status=0
"$PYTHON" "$ROOT/tools/checks/sources.py" || status=1
"$PYTHON" "$ROOT/tools/checks/imports.py" || status=1
exit $status
