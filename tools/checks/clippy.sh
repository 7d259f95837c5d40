#!/usr/bin/env bash
# clippy over every target with the fault points, over the library without, and over the generator of mirrors.
set -euo pipefail
source "$(dirname "$0")/../environment.sh"
cd "$ROOT"
cargo clippy --version >/dev/null 2>&1 || skip "no clippy (rustup component add clippy)"
cargo clippy --locked --all-targets --features fault-injection -- -D warnings
cargo clippy --locked --lib -- -D warnings
cargo clippy --locked -p purlin-header --all-targets -- -D warnings
