#!/usr/bin/env bash
# Whether the sources compile for 64-bit ARM. Nothing is run, and no file of a release is for that processor.
set -euo pipefail
source "$(dirname "$0")/../environment.sh"
target=aarch64-unknown-linux-gnu
[ -d "$(rustc --print sysroot)/lib/rustlib/$target/lib" ] || skip "rustup target add $target"
export RELEASE_GLIBC=2.28 RELEASE_ARCH=aarch64 RELEASE_VENV=$TARGET/release-venv
"$ROOT/tools/dist/zig.sh" "$RELEASE_VENV"
export PATH=$RELEASE_VENV/bin:$PATH
export CC_aarch64_unknown_linux_gnu=$ROOT/tools/dist/zigcc.sh PURLIN_CUDA=off
cd "$ROOT"
exec cargo check --locked --workspace --exclude purlin-header --target "$target" --target-dir "$TARGET/$target"
