#!/usr/bin/env bash
# Every allocation fails once, then that one and all later ones. Without GPU kernels, which would have to be
# compiled once more for this feature: `make gpu-bundle` brings the same test to a GPU.
set -euo pipefail
source "$(dirname "$0")/../environment.sh"
cd "$ROOT"
PURLIN_CUDA=off cargo test --locked --features fault-injection --test fault
