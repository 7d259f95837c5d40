#!/usr/bin/env bash
# clippy over every target, with the fault points. Warnings of the library without them fail the step `install`, which
# compiles it so: a pass of clippy for them would check all dependencies once more.
set -euo pipefail
source "$(dirname "$0")/../environment.sh"
cd "$ROOT"
cargo clippy --version >/dev/null 2>&1 || skip "no clippy (rustup component add clippy)"
cargo clippy --workspace --locked --all-targets --features fault-injection -- -D warnings
