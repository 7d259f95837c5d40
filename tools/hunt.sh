#!/usr/bin/env bash
# Attacks the installed library with random cases, judged by oracles of their own (tests/hunt). Arguments go to
# tests/hunt/run.py, which lists them with --help; without any it hunts for HUNT_SECONDS (default 3600) with a new seed.
set -euo pipefail
source "$(dirname "$0")/environment.sh"
[ -x "$VENV/bin/python" ] || skip "no virtual environment: the hunt"
export PURLIN_LIBRARY=$PREFIX/lib/libpurlin.so
[ -e "$PURLIN_LIBRARY" ] || "$ROOT/tools/install.sh"
export PYTHONPATH=$ROOT/bindings/python PYTHONDONTWRITEBYTECODE=1
[ $# -gt 0 ] || set -- --seconds "${HUNT_SECONDS:-3600}"
exec "$VENV/bin/python" "$ROOT/tests/hunt/run.py" "$@"
