#!/usr/bin/env bash
# Two tarballs for Octave's `pkg install`: one with the library inside, one that builds against an installed library.
set -euo pipefail
source "$(dirname "$0")/../environment.sh"
description=$(sed -n 's/^ *DESCRIPTION "\(.*\)")$/\1/p' "$ROOT/cmake/CMakeLists.txt")
tree() { # FOLDER
    mkdir -p "$1/inst" "$1/src/generated"
    cp -R "$ROOT/bindings/matlab/+purlin" "$1/inst/"
    cp -R "$ROOT/bindings/matlab/examples" "$1/inst/"
    cp "$ROOT"/bindings/matlab/src/*.{c,cpp,h} "$ROOT/packaging/octave/Makefile" "$1/src/"
    cp "$ROOT"/bindings/matlab/src/generated/*.h "$1/src/generated/"
    sed -e "s|@VERSION@|$VERSION|" -e "s|@DATE@|$(date -u -d "@$SOURCE_DATE_EPOCH" +%F)|" -e "s|@DESCRIPTION@|$description|" \
        "$ROOT/packaging/octave/DESCRIPTION.in" >"$1/DESCRIPTION"
    cat "$PAPERS/LICENSE-MIT" <(echo) "$PAPERS/LICENSE-APACHE" >"$1/COPYING"
    cp "$PAPERS/CHANGELOG.md" "$1/NEWS"
}
# pkg takes a tarball with one folder, of any name.
folder=$WORK/octave/purlin-$VERSION
# debian.sh runs this again, when the library is in the folder already.
rm -rf "$folder"
tree "$folder"
"$ROOT/tools/dist/pack.sh" "$folder" "$DIST/purlin-octave-$VERSION.tar.gz"

# The files that src/FILES names are installed where the gateway is loaded from.
cp "$STAGE/lib/libpurlin.so.$VERSION" "$folder/src/$SONAME"
cp "$STAGE/include/purlin.h" "$folder/src/"
printf '%s\n' purlin_mex.mex "$SONAME" >"$folder/src/FILES"
cp "$PAPERS/THIRD-PARTY.txt" "$PAPERS/purlin.cdx.json" "$folder/inst/"
"$ROOT/tools/dist/pack.sh" "$folder" "$DIST/purlin-octave-$VERSION-linux-x86_64.tar.gz"
