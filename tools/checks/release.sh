#!/usr/bin/env bash
# The release build's compiler, linker and checks on a package of a few lines, in place of the whole library. Faults that are
# planted in it must be found.
set -euo pipefail
source "$(dirname "$0")/../environment.sh"
work=$TARGET/release-check
rm -rf "$work"
mkdir -p "$work/src" "$work/shift/src"
cd "$work"
# The lock file chooses the versions that cargo has fetched.
cp "$ROOT/Cargo.lock" .
cat >Cargo.toml <<TOML
[package]
name = "purlin"
version = "$(package_version)"
edition = "2024"
[lib]
crate-type = ["cdylib"]
[dependencies]
either = "1"
[build-dependencies]
cc = "1"
shift = { path = "shift" }
[profile.release]
debug = "line-tables-only"
[workspace]
TOML
# C code in a library of the build script: the same compiler makes it, without optimization, and another linker links it.
printf '[package]\nname = "shift"\nversion = "0.1.0"\nedition = "2024"\n[build-dependencies]\ncc = "1"\n' >shift/Cargo.toml
echo 'fn main() { cc::Build::new().file("shift.c").compile("shift_c"); }' >shift/build.rs
echo 'int shift(int value, int places) { return value << places; }' >shift/shift.c
echo 'unsafe extern "C" { pub safe fn shift(value: i32, places: i32) -> i32; }' >shift/src/lib.rs
{
    sed -n '/^use/p' "$ROOT/build.rs"
    echo "fn main() { assert_eq!(shift::shift(1, 3), 8); cc::Build::new().file(\"$ROOT/src/base/backend/foreign.c\").flag(\"-fexceptions\").compile(\"purlin_foreign\"); link(); }"
    sed '/^use/d; /^\/\/!/d; s/^fn main()/fn link()/' "$ROOT/build.rs"
} >build.rs
cat >src/lib.rs <<'RUST'
//! A panic in a crate of the registry, one here, and a call of the C library's.
#[unsafe(no_mangle)]
pub extern "C" fn purlin_version() -> i32 {
    let work = || {
        let count = std::env::args().count() as i32;
        let list = [1, 2, 3];
        either::Either::<i32, i32>::Left(list[count as usize]).expect_right("right")
    };
    std::panic::catch_unwind(work).unwrap_or(100)
}
RUST
cargo generate-lockfile --offline
cd "$ROOT"
PURLIN_CUDA=off RELEASE_MANIFEST=$work/Cargo.toml tools/dist/release.sh "$work/out"
library=$work/out/libpurlin.so
[ "$("$PYTHON" -c 'import ctypes, sys; print(ctypes.CDLL(sys.argv[1]).purlin_version())' "$library" 2>/dev/null)" = 100 ] || die "a panic is not caught"
[ "$(readelf -d "$library" | sed -n 's/.*(SONAME).*\[\(.*\)\]/\1/p')" = "$(package_soname)" ] || die "the SONAME is lost"
readelf -SW "$work/out/libpurlin.so.$(package_version).debug" | holds '\.debug_line' || die "the debug file has no line numbers"

say "== planted faults"
refused() { # WORDS LIBRARY
    local log=$work/refused.log
    if tools/dist/check_release.sh "$2" >"$log" 2>&1; then die "not found: $1"; fi
    grep -qF "$1" "$log" || { cat "$log" && die "found for another reason than: $1"; }
}
objcopy --add-section .note.path=<(echo "$HOME/.cargo/registry/src/a") "$library" "$work/path.so"
refused 'holds paths of the build' "$work/path.so"
refused 'is not stripped' "$work/target/x86_64-unknown-linux-gnu/release/libpurlin.so"
cp "$library" "$work/large.so"
truncate -s 29000001 "$work/large.so"
refused 'more than 29 MB' "$work/large.so"
# A build for this machine, whose names have no version.
(cd "$work" && cargo build --release --offline --lib --target-dir native && strip --strip-unneeded native/release/libpurlin.so)
refused 'without the version' "$work/native/release/libpurlin.so"
