#!/usr/bin/env bash
# Papers of a release: third-party notices, bill of materials, packages for a crate registry, checksums of a folder. Planted
# faults must be found.
set -euo pipefail
source "$(dirname "$0")/../environment.sh"
"$PYTHON" -c 'import tomllib' 2>/dev/null || skip "Python 3.11 or newer is needed"
cd "$ROOT"
# Fetches the packages that the builds before this step have not; nothing is asked of a network if all is here.
cargo fetch --locked --quiet --target "$(rustc -vV | sed -n 's/^host: //p')"
"$PYTHON" tools/checks/third_party.py
"$PYTHON" tools/checks/packages.py

work=$TARGET/checksums
rm -rf "$work"
mkdir -p "$work"
echo one >"$work/one.txt"
echo two >"$work/two words.txt"
tools/checksums.sh "$work"
(cd "$work" && sha256sum --check --strict --quiet SHA256SUMS)
[ "$(wc -l <"$work/SHA256SUMS")" -eq 2 ] || die "SHA256SUMS does not have a line a file"
echo three >>"$work/one.txt"
if (cd "$work" && sha256sum --check --status SHA256SUMS); then die "a changed file has its old checksum"; fi
mkdir "$work/below"
if tools/checksums.sh "$work" 2>/dev/null; then die "a folder within the folder was left out silently"; fi
