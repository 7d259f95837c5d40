#!/usr/bin/env bash
# Release build of the library and its package: through CMake in target/cmake, or by cargo alone where there is
# no CMake. Further arguments go to the CMake configuration.
set -euo pipefail
source "$(dirname "$0")/environment.sh"
have cargo || die "cargo is needed; see https://rustup.rs"

if ! have_cmake || ! { have ninja || have make; }; then
    say "build: no CMake 3.21: building with cargo alone"
    cd "$ROOT"
    exec cargo build --release --lib
fi
generator=()
if [ ! -e "$BUILD/CMakeCache.txt" ]; then
    have ninja && generator=(-G Ninja)
fi
fortran=OFF
have_fortran && fortran=ON
cmake -S "$ROOT/cmake" -B "$BUILD" "${generator[@]}" -DCMAKE_BUILD_TYPE=Release -DPURLIN_FORTRAN=$fortran \
    -DPURLIN_CARGO_TARGET_DIR="$CARGO_TARGET_DIR" "$@" >"$BUILD.log" 2>&1 || {
    cat "$BUILD.log" >&2
    die "CMake could not configure; the messages are above"
}
cmake --build "$BUILD"
