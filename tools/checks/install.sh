#!/usr/bin/env bash
# A fresh installation for the steps after it: files of an earlier version would hide a missing one. The build of the
# installed library must have no warnings; cargo repeats earlier warnings even if nothing is compiled.
set -euo pipefail
source "$(dirname "$0")/../environment.sh"
[ "$PREFIX" != "$TARGET/prefix" ] || rm -rf "$PREFIX"
mkdir -p "$TARGET"
"$ROOT/tools/install.sh" 2>&1 | tee "$TARGET/install.log"
# Notes of src/base/build.rs name the package: without nvcc there are no kernels.
if grep -E '^warning' "$TARGET/install.log" | grep -v '^warning: purlin-base@'; then
    die "the release build warns, above"
fi
