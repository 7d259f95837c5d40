#!/usr/bin/env bash
# Checks promises of a released library that a build for one's own machine need not keep.
#
#   check_release.sh LIBRARY
set -euo pipefail
source "$(dirname "$0")/../environment.sh"
library=$1
soname=$(package_soname)
version=PURLIN_${soname#libpurlin.so.}
bad=0
report() {
    echo "$library $*"
    bad=1
}
newest=$(objdump -T "$library" | grep -oE 'GLIBC_2\.[0-9]+' | sort -Vu | tail -n 1)
[ "$(printf '%s\n' GLIBC_2.28 "$newest" | sort -V | tail -n 1)" = GLIBC_2.28 ] || report "needs $newest"
# Defined names: value, flags, section, size, version, name.
foreign=$(objdump -T "$library" | awk -v version="$version" '/ \.text\t/ && $(NF - 1) != version { print $NF }')
[ -z "$foreign" ] || report "exports names without the version $version:" $foreign
objdump -T "$library" | holds " $version  *purlin_version$" || report "has no purlin_version of the version $version"
# A path of the builder's: his home, the crates that cargo fetched, this tree.
paths=$(strings -n 6 "$library" | grep -F -e "${CARGO_HOME:-$HOME/.cargo}/" -e '.cargo/registry' -e "$HOME/" -e "$TARGET/" -e "$ROOT/src/" || true)
[ -z "$paths" ] || report "holds paths of the build:" "$paths"
readelf -SW "$library" | holds '\.debug_info' && report "is not stripped"
size=$(stat -c %s "$library")
[ "$size" -le 29000000 ] || report "is $size bytes, more than 29 MB"
exit $bad
