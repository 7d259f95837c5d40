#!/usr/bin/env bash
# The C consumers built by gcc -fsanitize=address,undefined against the ordinary library: a buffer that purlin
# writes past, or a leak, ends the run.
set -euo pipefail
source "$(dirname "$0")/../environment.sh"
have gcc && have_cmake || skip "no gcc or CMake"
work=$TARGET/asan
mkdir -p "$work"
echo 'int main(void) { return 0; }' >"$work/probe.c"
gcc -fsanitize=address,undefined "$work/probe.c" -o "$work/probe" || skip "gcc has no libasan here"
"$work/probe" || skip "programs built with -fsanitize=address do not start here"
unset LD_LIBRARY_PATH CMAKE_PREFIX_PATH
cmake -S "$ROOT/tests" -B "$work/build" -DPURLIN_TEST_LANGUAGES=c -DCMAKE_PREFIX_PATH="$PREFIX" -DCMAKE_C_COMPILER=gcc \
    -DCMAKE_C_FLAGS="-fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer -g"
cmake --build "$work/build" -j "$(nproc)"
# A request that no memory can meet is a test of ours and shall be refused, not end the program.
export ASAN_OPTIONS=allocator_may_return_null=1
# What valgrind leaves out (a forked child, a measurement of time) has no meaning here either.
ctest --test-dir "$work/build" --output-on-failure --no-tests=error -LE no-valgrind
