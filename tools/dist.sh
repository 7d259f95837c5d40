#!/usr/bin/env bash
# Makes the files of a release in target/dist, each by a script of tools/dist, and their checksums.
#
#   tools/dist.sh [PART...]      sdk, wheel, octave, debian, rpm, conan; without one: all
#
# All hold the library of tools/dist/release.sh, whose debug file is packed beside them.
#
#   PURLIN_DIST_LIBRARY=FILE     a libpurlin.so that is built already, in its place; there is no debug file then
#   PURLIN_DIST_FOLDER=FOLDER    files in FOLDER/dist, not target/dist
#   SOURCE_DATE_EPOCH=SECONDS    the time that the files state; that of the last commit unless set
#
# The same sources, library and tools give the same bytes.
set -euo pipefail
source "$(dirname "$0")/environment.sh"
umask 022
FOLDER=${PURLIN_DIST_FOLDER:-$TARGET}
export DIST=$FOLDER/dist WORK=$FOLDER/dist-work
export STAGE=$WORK/stage PAPERS=$WORK/papers LIBRARY=$WORK/libpurlin.so DIST_VENV=$TARGET/dist-venv
VERSION=$(package_version)
SONAME=$(package_soname)
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$ROOT" log -1 --format=%ct 2>/dev/null || stat -c %Y "$ROOT/CHANGELOG.md")}
export VERSION SONAME SOURCE_DATE_EPOCH TZ=UTC LC_ALL=C.UTF-8
all=(sdk wheel octave debian rpm conan)
parts=("$@")
[ "$#" -gt 0 ] || parts=("${all[@]}")
for part in "${parts[@]}"; do
    [[ " ${all[*]} " == *" $part "* ]] || die "$part is no part; there are: ${all[*]}"
done
"$ROOT/tools/deps.sh" dist
have_cmake && have ninja && have readelf || die "CMake 3.21, ninja and binutils are needed"

install_tools() {
    local requirements=$ROOT/tools/requirements-dist.txt stamp
    stamp=$DIST_VENV/stamp-$(cat "$requirements" <("$PYTHON" -V 2>&1) | sha256sum | cut -c1-16)
    [ ! -e "$stamp" ] || return 0
    say "dist: installing $(grep -o '^[a-z][a-z0-9-]*' "$requirements" | tr '\n' ' ')with pip"
    rm -rf "$DIST_VENV"
    "$PYTHON" -m venv "$DIST_VENV"
    "$DIST_VENV/bin/python" -m pip install --quiet --disable-pip-version-check --no-input -r "$requirements" </dev/null
    touch "$stamp"
}

rm -rf "$WORK"
mkdir -p "$WORK" "$DIST"
# Files of an earlier version must not get checksums of this one.
[ "$#" -gt 0 ] || find "$DIST" -mindepth 1 -delete
install_tools
if [ -n "${PURLIN_DIST_LIBRARY:-}" ]; then
    [ -f "$PURLIN_DIST_LIBRARY" ] || die "PURLIN_DIST_LIBRARY: there is no file $PURLIN_DIST_LIBRARY"
    cp "$PURLIN_DIST_LIBRARY" "$LIBRARY"
else
    "$ROOT/tools/dist/release.sh" "$WORK/release" >"$WORK/release.log" 2>&1 || {
        tail -n 40 "$WORK/release.log" >&2
        die "the release build failed; the end of $WORK/release.log is above"
    }
    cp "$WORK/release/libpurlin.so" "$LIBRARY"
    debug=purlin-$VERSION-linux-x86_64-debug
    mkdir "$WORK/$debug"
    cp "$WORK/release/libpurlin.so.$VERSION.debug" "$WORK/$debug/"
    "$ROOT/tools/dist/pack.sh" "$WORK/$debug" "$DIST/$debug.tar.xz"
fi
[ "$(readelf -d "$LIBRARY" | sed -n 's/.*(SONAME).*\[\(.*\)\]/\1/p')" = "$SONAME" ] || die "the SONAME of $LIBRARY is not $SONAME"

(cd "$ROOT" && cargo fetch --locked --quiet --target "$(rustc -vV | sed -n 's/^host: //p')")
"$PYTHON" "$ROOT/tools/notices.py" "$PAPERS"
"$PYTHON" "$ROOT/tools/sbom.py" "$PAPERS"
cp "$ROOT/LICENSE-MIT" "$ROOT/LICENSE-APACHE" "$ROOT/CHANGELOG.md" "$ROOT/CITATION.cff" "$ROOT/SECURITY.md" "$PAPERS"
cp "$PAPERS/THIRD-PARTY.txt" "$PAPERS/purlin.cdx.json" "$DIST"
"$ROOT/tools/dist/stage.sh" "$STAGE" lib
for part in "${parts[@]}"; do
    say "dist: $part"
    "$ROOT/tools/dist/$part.sh" >"$WORK/$part.log" 2>&1 || {
        tail -n 40 "$WORK/$part.log" >&2
        die "$part failed; the end of $WORK/$part.log is above"
    }
done
"$ROOT/tools/checksums.sh" "$DIST"
(cd "$DIST" && stat -c '%10s  %n' -- *)
