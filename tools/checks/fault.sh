#!/usr/bin/env bash
# Every allocation fails once, then that one and all later ones.
set -euo pipefail
source "$(dirname "$0")/../environment.sh"
cd "$ROOT"
cargo test --locked --features fault-injection --test fault
