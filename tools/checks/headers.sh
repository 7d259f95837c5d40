#!/usr/bin/env bash
# The installed headers compile alone, without a warning, in every language standard a user may have.
set -uo pipefail
source "$(dirname "$0")/../environment.sh"
work=$TARGET/headers
mkdir -p "$work"
bad=0
compilers=()
have gcc && compilers+=(gcc)
have clang && compilers+=(clang)
[ ${#compilers[@]} -gt 0 ] || skip "no gcc or clang"
strict=(-Wall -Wextra -pedantic -Werror -fsyntax-only "-I$PREFIX/include")

printf '#include <purlin.h>\nint main(void) { return 0; }\n' >"$work/header.c"
printf '#include <purlin.h>\n#include <purlin.hpp>\nint main() { return 0; }\n' >"$work/header.cpp"
compile() {
    if "$@"; then echo "ok: $*"; else
        echo "FAILED: $*"
        bad=1
    fi
}
for compiler in "${compilers[@]}"; do
    for standard in c99 c11 c17; do
        compile "$compiler" -x c "-std=$standard" -Wstrict-prototypes "${strict[@]}" "$work/header.c"
    done
    have g++ || continue
    # The C header supports older C++ than purlin.hpp does.
    compile "$compiler" -x c++ -std=c++11 "${strict[@]}" "$work/header.c"
    for standard in c++17 c++20; do
        compile "$compiler" -x c++ "-std=$standard" "${strict[@]}" -Wshadow -Wconversion "$work/header.cpp"
    done
done
exit $bad
