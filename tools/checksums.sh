#!/usr/bin/env bash
# Writes SHA256SUMS of the files in a folder (default target/dist), and verifies it as a user does: `sha256sum -c SHA256SUMS`.
#
#   tools/checksums.sh [FOLDER]
set -euo pipefail
source "$(dirname "$0")/environment.sh"
folder=${1:-$TARGET/dist}
[ -d "$folder" ] || die "$folder is no folder"
cd "$folder"
rm -f SHA256SUMS
# Names of other folders would not be found by a user who has fetched the files into one.
mapfile -d '' -t files < <(find . -mindepth 1 -maxdepth 1 -type f -printf '%f\0' | LC_ALL=C sort -z)
[ "${#files[@]}" -gt 0 ] || die "$folder holds no file"
[ -z "$(find . -mindepth 1 ! -type f -print -quit)" ] || die "$folder holds more than files: $(find . -mindepth 1 ! -type f | head -n 3 | tr '\n' ' ')"
sha256sum -- "${files[@]}" >.SHA256SUMS.partial
mv .SHA256SUMS.partial SHA256SUMS
sha256sum --check --strict --quiet SHA256SUMS
say "$folder/SHA256SUMS: ${#files[@]} files"
