#!/usr/bin/env bash
# The C boundary under random calls for PURLIN_FUZZ_SECONDS (default 30). The seed is printed and can be given
# again in PURLIN_FUZZ_SEED.
set -euo pipefail
source "$(dirname "$0")/../environment.sh"
cd "$ROOT"
export PURLIN_FUZZ_SECONDS=${PURLIN_FUZZ_SECONDS:-30}
cargo test --locked --test fuzz -- --nocapture --include-ignored
