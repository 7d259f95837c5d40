#!/usr/bin/env bash
# Source rules that no compiler checks; sources.py lists them.
set -euo pipefail
source "$(dirname "$0")/../environment.sh"
exec "$PYTHON" "$ROOT/tools/checks/sources.py"
