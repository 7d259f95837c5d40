#!/usr/bin/env bash
# `rust.sh compile` only builds the tests. It is a step of its own, because it may take longer than the tests.
#
# Unit tests beside the tests under tests/: the fault loop is one thread for most of its time, and so are the longest unit
# tests. Each is a process of its own, so a fault that is injected into one is not seen by the other.
set -euo pipefail
source "$(dirname "$0")/../environment.sh"
cd "$ROOT"
# Every member but the one of the step `header`. The same selection for all three, or dependencies are compiled twice.
tests=(cargo test --locked --no-fail-fast --workspace --exclude purlin-header --features fault-injection)
"${tests[@]}" --no-run
if [ "${1:-}" = compile ]; then exit; fi
unit_tests() {
    local status=0
    "${tests[@]}" --lib || status=$?
    "${tests[@]}" --doc || status=$?
    return "$status"
}
other_tests() { "${tests[@]}" --test '*'; }
together unit_tests other_tests
