#!/usr/bin/env bash
# The C boundary and the file readers under random input: the seeded driver for PURLIN_FUZZ_SECONDS (default 30), which
# prints its seeds (PURLIN_FUZZ_SEED repeats one); then, where cargo-fuzz and a nightly toolchain are, each target of
# fuzz/ with coverage and the address sanitizer, for as long together. Findings are saved in target/fuzz.
set -euo pipefail
source "$(dirname "$0")/../environment.sh"
cd "$ROOT"
export PURLIN_FUZZ_SECONDS=${PURLIN_FUZZ_SECONDS:-30}
# With the feature that the other tests need, so that the library is not compiled once more.
cargo test --locked --features fault-injection --test fuzz -- --nocapture --include-ignored

rustfmt --check --edition 2024 fuzz/src/lib.rs fuzz/fuzz_targets/*.rs
if ! cargo +nightly --version >/dev/null 2>&1 || ! cargo +nightly fuzz --version >/dev/null 2>&1; then
    echo "no cargo-fuzz with a nightly toolchain: the seeded driver alone"
    exit 0
fi
mapfile -t targets < <(sed -n 's|^path = "fuzz_targets/\(.*\)\.rs"$|\1|p' fuzz/Cargo.toml)
work=$TARGET/fuzz
seconds=$((PURLIN_FUZZ_SECONDS / ${#targets[@]} + 1))
export PURLIN_CUDA=off
# Tests request impossible amounts of memory on purpose: malloc must return NULL.
export ASAN_OPTIONS=allocator_may_return_null=1
cargo +nightly fuzz build --fuzz-dir fuzz --target-dir "$work"
for target in "${targets[@]}"; do
    mkdir -p "$work/corpus/$target"
    # 0: libFuzzer has no limit of its own for one allocation but that of all memory.
    cargo +nightly fuzz run --fuzz-dir fuzz --target-dir "$work" "$target" "$work/corpus/$target" -- \
        -max_total_time="$seconds" -max_len=2048 -len_control=0 -timeout=60 -malloc_limit_mb=1000000000 -print_final_stats=1 \
        -artifact_prefix="$work/$target-"
done
