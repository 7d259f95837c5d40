#!/usr/bin/env bash
# Removes build outputs. Tools that `make deps` installed (target/toolchain, target/venv) stay, with their stamps.
set -euo pipefail
source "$(dirname "$0")/environment.sh"
[ -d "$TARGET" ] || exit 0
find "$TARGET" -mindepth 1 -maxdepth 1 ! -name toolchain ! -name venv ! -name stamps -exec rm -rf {} +
