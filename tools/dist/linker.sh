#!/usr/bin/env bash
# Linker of the release build: gives rustc's list of exported names the version of the interface, then links by zig for an
# older glibc. rustc's list has no version, and linkers ignore a second list for names that the first one has.
set -euo pipefail
version=PURLIN_${SONAME#libpurlin.so.}
for argument in "$@"; do
    case $argument in
    -Wl,--version-script=*) sed -i "1s/^{/$version {/" "${argument#*=}" ;;
    esac
done
exec "$(dirname "$0")/zigcc.sh" "$@"
