#!/usr/bin/env bash
# The public documentation of the Rust library, of all its members: no broken link, nothing undocumented.
set -euo pipefail
source "$(dirname "$0")/../environment.sh"
cd "$ROOT"
RUSTDOCFLAGS="-D warnings" cargo doc --locked --no-deps --workspace --exclude purlin-header
