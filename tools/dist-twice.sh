#!/usr/bin/env bash
# Makes files of target/dist again, in target/dist-twice, from the library that the SDK there holds. The same commit and tools
# must give the same bytes. The debug file is left out, because the library is not built again.
#
#   tools/dist-twice.sh [PART...]      parts of tools/dist.sh; without one: all
set -euo pipefail
source "$(dirname "$0")/environment.sh"
again=$TARGET/dist-twice
rm -rf "$again"
mkdir -p "$again"
(cd "$TARGET/dist" && sha256sum --check --strict --quiet SHA256SUMS)
tar -C "$again" --strip-components=2 --wildcards -xf "$TARGET/dist/purlin-$(package_version)-linux-x86_64.tar.xz" '*/lib/libpurlin.so.*.*.*'
library=$(echo "$again"/libpurlin.so.*)
PURLIN_DIST_LIBRARY=$library PURLIN_DIST_FOLDER=$again "$ROOT/tools/dist.sh" "$@" >"$again/log" 2>&1 || {
    tail -n 40 "$again/log" >&2
    die "the second run failed; the end of $again/log is above"
}
differ=0
while read -r sum name; do
    [ "$(grep -F "  $name" "$TARGET/dist/SHA256SUMS")" = "$sum  $name" ] && continue
    say "differs: $name"
    differ=1
done <"$again/dist/SHA256SUMS"
[ "$differ" -eq 0 ] || die "two runs give other bytes; the second is in $again/dist"
say "$(wc -l <"$again/dist/SHA256SUMS") files have the same bytes"
