#!/usr/bin/env bash
# Compiles the README's C program by the README's command and runs its Python program, both as printed, and compares their
# output with the published figures, with NumPy's singular values, and with the figures that the README shows.
set -euo pipefail
source "$(dirname "$0")/../environment.sh"
work=$TARGET/readme
mkdir -p "$work"
block() { # LANGUAGE: the README's blocks of it
    awk -v begin="^\`\`\`$1\$" '$0 ~ begin { on = 1; next } /^```$/ { on = 0 } on' "$ROOT/README.md"
}
block c >"$work/program.c"
"$CC" -std=c99 -Wall -Wextra -pedantic -Werror -fsyntax-only -I"$PREFIX/include" "$work/program.c"
line=$(block sh | grep '^cc ') || die "the README has no command that compiles the C program"
have pkg-config || skip "no pkg-config: the README's programs"
# The command names the installation as seen from the root of a clone.
mkdir -p "$work/target"
ln -sfn "$PREFIX" "$work/target/prefix"
(
    cd "$work"
    cc() { command "$CC" "$@"; }
    eval "$line"
    ./program
) | tee "$work/output"
# Kolda and Mayo 2011, Table 3.1: the three local maxima.
maxima='0.889322 0.816881 0.363306'
grep -qx "$maxima" "$work/output" || die "the C program does not print the three maxima"
grep -qF "\`$maxima\`" "$ROOT/README.md" || die "the README does not show the three maxima"
if ! "$VENV/bin/python" -c 'import numpy' 2>/dev/null; then
    say "no NumPy: the Python program is left out"
    exit
fi
block python >"$work/program.py"
[ -s "$work/program.py" ] || die "the README has no Python program"
cat >"$work/check.py" <<'PY'
import re, sys
import numpy as np
first, second, error = map(float, re.findall(r"[0-9][0-9.e+-]*", sys.stdin.read()))
true = np.linalg.svd(np.add.outer(np.arange(3000.0), np.arange(2000.0)), compute_uv=False)
assert abs(first / true[0] - 1) < 1e-10 and abs(second / true[1] - 1) < 1e-10, (first, second, true[:2])
assert error < 1e-9 * true[0], error
shown = re.findall(r"`\[([0-9.]+) +([0-9.]+)\]`", open(sys.argv[1]).read())
assert len(shown) == 1 and np.allclose(np.array(shown[0], float), (first, second), rtol=1e-12), shown
PY
PURLIN_LIBRARY=$PREFIX/lib/libpurlin.so PYTHONPATH=$ROOT/bindings/python "$VENV/bin/python" -B "$work/program.py" | tee "$work/output"
"$VENV/bin/python" "$work/check.py" "$ROOT/README.md" <"$work/output" || die "the Python program prints other singular values than NumPy or the README"
