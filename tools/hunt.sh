#!/usr/bin/env bash
# Attacks the installed library with random cases, checked by oracles of their own (tests/hunt). Arguments go to
# tests/hunt/run.py, which lists them with --help; without any it hunts for HUNT_SECONDS (default 3600) with a new seed.
# If the first argument is `completeness`, the others go to tests/hunt/completeness.py.
set -euo pipefail
source "$(dirname "$0")/environment.sh"
[ -x "$VENV/bin/python" ] || skip "no virtual environment: the hunt"
export PURLIN_LIBRARY=$PREFIX/lib/libpurlin.so
[ -e "$PURLIN_LIBRARY" ] || "$ROOT/tools/install.sh"
export PYTHONPATH=$ROOT/bindings/python PYTHONDONTWRITEBYTECODE=1
if [ "${1:-}" = completeness ]; then
    shift
    exec "$VENV/bin/python" "$ROOT/tests/hunt/completeness.py" "$@"
fi
[ $# -gt 0 ] || set -- --seconds "${HUNT_SECONDS:-3600}"
exec "$VENV/bin/python" "$ROOT/tests/hunt/run.py" "$@"
