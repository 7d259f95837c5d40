#!/usr/bin/env bash
# Builds tests/LANGUAGE against the installed package with find_package and runs it by ctest.
set -euo pipefail
source "$(dirname "$0")/../environment.sh"
language=$1
case $language in
cpp) have g++ || skip "no g++: the C++ consumers" ;;
fortran) have_fortran || skip "no gfortran 12: the Fortran consumers" ;;
octave) have octave-cli && have mkoctfile || skip "no octave with mkoctfile: the Octave consumers" ;;
esac
have_cmake && have ctest || skip "no CMake: the $language consumers"
build=$TARGET/consumers/$language
# The prefix must be the only way to the library: no variable of the caller's may help.
unset LD_LIBRARY_PATH PKG_CONFIG_PATH CMAKE_PREFIX_PATH
cmake -S "$ROOT/tests" -B "$build" -DPURLIN_TEST_LANGUAGES="$language" -DCMAKE_PREFIX_PATH="$PREFIX"
cmake --build "$build" -j "$(nproc)"
ctest --test-dir "$build" -j "$(nproc)" --output-on-failure --no-tests=error | tee "$build/output"
# ctest counts a test that leaves with 77 as passed.
! grep -q '\*\*\*Skipped' "$build/output" || skip "a test of $language lacks a tool it needs"
