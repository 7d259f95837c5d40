#!/usr/bin/env bash
# Compares the ABI that the header declares with the baseline in tests/abi. Every difference (a new or removed function, a
# changed signature, a moved or appended field) fails until it is accepted on purpose with
#
#   PURLIN_BLESS=1 tools/checks/abi.sh
set -uo pipefail
source "$(dirname "$0")/../environment.sh"
have abidw && have abidiff && have gcc || skip "no abigail-tools or gcc"
cd "$ROOT" || exit 1
baseline=tests/abi/libpurlin.abi
current=$TARGET/libpurlin.abi
work=$TARGET/abi
mkdir -p "$work"
# The header's functions without their code: the same ABI.
gcc -E -P include/purlin.h >"$work/header.i" || exit 1
"$PYTHON" tools/checks/abi_library.py "$work/header.i" "$work/library.c" || exit 1
library=$work/libpurlin.so
gcc -g -shared -fPIC "$work/library.c" -o "$library" || exit 1
abidw --no-corpus-path --no-comp-dir-path --no-show-locs --no-architecture --type-id-style hash \
    --out-file "$current.whole" "$library" || exit 1
"$PYTHON" tools/checks/abi_trim.py "$current.whole" "$current" || exit 1
# Make sure that the comparison reports a change: one that reports nothing looks like an unchanged ABI.
for struct in purlin_context_options purlin_sshopm_options; do
    "$PYTHON" tools/checks/abi_reorder.py "$current" "$current.reordered" $struct || exit 1
    abidiff "$current" "$current.reordered" >/dev/null && die "abidiff does not see that fields of $struct are swapped"
done
sed '/<elf-symbol name="purlin_version"/d; /<function-decl name="purlin_version"/,/<\/function-decl>/d' "$current" >"$current.shorter"
abidiff "$current.shorter" "$current" >/dev/null
# Bits 0 and 1 are errors of abidiff, bit 2 is a change.
[ $(($? & 7)) = 4 ] || die "abidiff does not see an added function"
if [ "${PURLIN_BLESS:-}" = 1 ]; then
    mkdir -p tests/abi
    cp "$current" "$baseline"
    echo "wrote $baseline: $(wc -c <"$baseline") bytes"
    exit 0
fi
[ -f "$baseline" ] || die "$baseline is missing; PURLIN_BLESS=1 $0 writes it"
abidiff --no-show-locs "$baseline" "$current"
status=$?
case $status in
0) echo "the ABI is the baseline's" ;;
*) echo "abidiff: exit $status (4: changed, 12: incompatible). If it is meant: PURLIN_BLESS=1 tools/checks/abi.sh" ;;
esac
exit $status
