#!/usr/bin/env bash
# The one build that all files of a release are made from: for glibc 2.28 through zig, with kernels by CUDA 12.4, which every
# driver from 525 on loads. Exported names have a version, no path of the build is inside, and the debug file is separate.
#
#   release.sh FOLDER            writes libpurlin.so and libpurlin.so.VERSION.debug there
#
#   RELEASE_MANIFEST=FILE        another Cargo.toml of a package purlin, as tools/checks/release.sh has
#   PURLIN_CUDA=off              no kernels
set -euo pipefail
source "$(dirname "$0")/../environment.sh"
export RELEASE_GLIBC=2.28 RELEASE_VENV=$TARGET/release-venv
folder=$1
triple=x86_64-unknown-linux-gnu
manifest=${RELEASE_MANIFEST:-$ROOT/Cargo.toml}
build=$TARGET/release-build
[ "$manifest" = "$ROOT/Cargo.toml" ] || build=$(dirname "$manifest")/target
"$ROOT/tools/dist/zig.sh" "$RELEASE_VENV"
export PURLIN_CUDA=${PURLIN_CUDA:-on}
if [ "$PURLIN_CUDA" != off ] && [ -z "${NVCC:-}" ]; then
    export NVCC=$TARGET/toolchain12/bin/nvcc
    [ -x "$NVCC" ] || "$ROOT/tools/dist/cuda12.sh" "$TARGET/toolchain12"
fi
SONAME=$(package_soname)
export SONAME PATH=$RELEASE_VENV/bin:$PATH
registry=${CARGO_HOME:-$HOME/.cargo}/registry/src
export CC_x86_64_unknown_linux_gnu=$ROOT/tools/dist/zigcc.sh
export CFLAGS_x86_64_unknown_linux_gnu="-ffile-prefix-map=$ROOT=/purlin"
# Flags for the target alone: build scripts are linked for this machine, by its own linker.
export CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUSTFLAGS="-Clinker=$ROOT/tools/dist/linker.sh --remap-path-prefix=$registry=/registry --remap-path-prefix=$ROOT=/purlin
    -Clink-arg=-Wl,--build-id=sha1"
(cd "$(dirname "$manifest")" && cargo build --release --lib --locked --target $triple --target-dir "$build")

mkdir -p "$folder"
built=$build/$triple/release/libpurlin.so
# The name by which the installed file's debugger looks for it.
debug=libpurlin.so.$(package_version).debug
objcopy --only-keep-debug --compress-debug-sections "$built" "$folder/$debug"
strip --strip-unneeded -o "$folder/libpurlin.so" "$built"
(cd "$folder" && objcopy --add-gnu-debuglink="$debug" libpurlin.so)
"$ROOT/tools/dist/check_release.sh" "$folder/libpurlin.so"
