#!/usr/bin/env bash
# A fresh installation for the steps after it: what an earlier version left behind would hide a missing file.
set -euo pipefail
source "$(dirname "$0")/../environment.sh"
[ "$PREFIX" != "$TARGET/prefix" ] || rm -rf "$PREFIX"
exec "$ROOT/tools/install.sh"
