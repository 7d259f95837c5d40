#!/usr/bin/env bash
# Compiles the README's C program by the README's command, runs it and compares its output with the published figures.
set -euo pipefail
source "$(dirname "$0")/../environment.sh"
work=$TARGET/readme
mkdir -p "$work"
awk '/^```c$/ { on = 1; next } /^```$/ { on = 0 } on' "$ROOT/README.md" >"$work/program.c"
flags=(-I"$PREFIX/include" -L"$PREFIX/lib" -lpurlin "-Wl,-rpath,$PREFIX/lib")
"$CC" -std=c99 -Wall -Wextra -pedantic -Werror "$work/program.c" -o "$work/program" "${flags[@]}"
"$work/program" | tee "$work/output"
# Kolda and Mayo 2011, Table 3.1: the three local maxima.
for value in 0.889322 0.816881 0.363306; do
    grep -q "^$value at" "$work/output" || die "no maximum $value"
done
