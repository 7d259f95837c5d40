#!/usr/bin/env bash
# clippy over every target, with and without the fault points.
set -euo pipefail
source "$(dirname "$0")/../environment.sh"
cd "$ROOT"
cargo clippy --version >/dev/null 2>&1 || skip "no clippy (rustup component add clippy)"
cargo clippy --locked --all-targets -- -D warnings
# The GPU kernels were compiled for the build above; this one, like the fault test, does without.
PURLIN_CUDA=off cargo clippy --locked --all-targets --features fault-injection -- -D warnings
