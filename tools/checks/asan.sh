#!/usr/bin/env bash
# The address sanitizer, twice. The C consumers built by gcc with -fsanitize=address,undefined against the ordinary
# library: a caller's buffer that purlin writes past, or a leak, ends the run. Then, where a nightly toolchain and clang
# with its runtime are, the library itself instrumented, under consumers built by clang, so that there is one runtime.
# That takes many minutes to compile: with CI=true it is done only for PURLIN_INSTRUMENTED=on.
set -euo pipefail
source "$(dirname "$0")/../environment.sh"
have gcc && have_cmake || skip "no gcc or CMake"
work=$TARGET/asan
mkdir -p "$work"
echo 'int main(void) { return 0; }' >"$work/probe.c"
unset LD_LIBRARY_PATH CMAKE_PREFIX_PATH
# Tests request impossible amounts of memory on purpose: malloc must return NULL and not end the program.
export ASAN_OPTIONS=allocator_may_return_null=1

# starts COMPILER FLAG...: whether its programs with these flags can be built and started here.
starts() { "$@" "$work/probe.c" -o "$work/probe" && "$work/probe"; }

# consumers COMPILER FLAGS: builds the C tests.
consumers() {
    cmake -S "$ROOT/tests" -B "$work/$1" -DPURLIN_TEST_LANGUAGES=c -DCMAKE_PREFIX_PATH="$PREFIX" -DCMAKE_C_COMPILER="$1" \
        -DCMAKE_C_FLAGS="$2 -fno-omit-frame-pointer -g"
    cmake --build "$work/$1" -j "$(nproc)"
}

# Tests that valgrind skips (forked children, time measurements) have no meaning here either.
run() { ctest --test-dir "$work/$1" -j "$(nproc)" --output-on-failure --no-tests=error -LE no-valgrind; }

starts gcc -fsanitize=address,undefined || skip "gcc's programs with -fsanitize=address do not start here"
consumers gcc "-fsanitize=address,undefined -fno-sanitize-recover=undefined"
run gcc

if [ "${CI:-}" = true ] && [ "${PURLIN_INSTRUMENTED:-}" != on ]; then
    echo "the library itself is not instrumented: PURLIN_INSTRUMENTED is not on"
    exit 0
fi
if ! cargo +nightly --version >/dev/null 2>&1 || ! have clang || ! starts clang -fsanitize=address; then
    echo "no nightly toolchain, or no clang with a sanitizer runtime: the library itself is not instrumented"
    exit 0
fi
# Dependencies at level 1: optimizing them further takes longer than the tests.
(cd "$ROOT" && RUSTFLAGS=-Zsanitizer=address PURLIN_CUDA=off \
    cargo +nightly build --locked --lib --config 'profile.dev.package."*".opt-level=1' --target x86_64-unknown-linux-gnu --target-dir "$work/cargo")
consumers clang -fsanitize=address
mkdir -p "$work/lib"
# Under its SONAME, which is the name that the loader looks for.
cp "$work/cargo/x86_64-unknown-linux-gnu/debug/libpurlin.so" "$work/lib/$(package_soname)"
nm -D "$work/lib/$(package_soname)" | holds __asan_report_load || die "the library is not instrumented"
LD_LIBRARY_PATH=$work/lib run clang
