#!/usr/bin/env bash
# The C and Fortran consumers under valgrind: no invalid access, nothing lost. Uses the builds that the steps
# c and fortran made.
set -uo pipefail
source "$(dirname "$0")/../environment.sh"
have valgrind || skip "no valgrind"
have_cmake && have ctest || skip "no CMake: no consumers to run"
# The same library with its symbols, by which suppressions and reports name functions.
mkdir -p "$TARGET/symbols"
cp "$CARGO_TARGET_DIR/release/libpurlin.so" "$TARGET/symbols/$(package_soname)"
export LD_LIBRARY_PATH=$TARGET/symbols
# Fair scheduling, because a spinning thread would otherwise starve the others. Reading which functions were inlined where
# takes longer than most of the programs, and the lines of the calls are known without it.
export VALGRIND="valgrind -q --fair-sched=yes --read-inline-info=no --error-exitcode=9 --leak-check=full --errors-for-leak-kinds=definite,possible --num-callers=30 --suppressions=$ROOT/tests/c/valgrind.supp"
exec "$PYTHON" "$ROOT/tools/checks/valgrind.py" "$TARGET/consumers/c" "$TARGET/consumers/fortran"
