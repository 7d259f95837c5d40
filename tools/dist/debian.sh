#!/usr/bin/env bash
# Debian packages, made by debhelper from the library that is built already, for the Debian that this runs on: octave-purlin
# needs the Octave that its gateway was compiled for. lintian must find no error and no warning.
set -euo pipefail
source "$(dirname "$0")/../environment.sh"
for tool in dpkg-buildpackage dh dh_python3 fakeroot lintian octave-config mkoctfile; do
    have "$tool" || die "$tool is missing; Debian packages: debhelper dh-python dpkg-dev fakeroot lintian octave-dev"
done
source_=$WORK/debian/purlin-$VERSION
rm -rf "$WORK/debian"
mkdir -p "$source_/bindings/matlab" "$source_/python"
cd "$ROOT"
cp -R Cargo.toml LICENSE-MIT LICENSE-APACHE cmake include "$source_/"
cp -R bindings/fortran "$source_/bindings/"
cp "$PAPERS/THIRD-PARTY.txt" "$PAPERS/purlin.cdx.json" "$source_/"
cp -R packaging/debian "$source_/debian"

# The metadata of the Python package are those of a wheel without the library.
rm -rf "$WORK/pure"
cp -R bindings/python "$WORK/pure"
(cd "$WORK/pure" && "$DIST_VENV/bin/python" -m hatchling build -t wheel -d "$WORK/debian")
"$PYTHON" -m zipfile -e "$WORK/debian/purlin-$VERSION-py3-none-any.whl" "$source_/python"
rm "$source_/python/purlin-$VERSION.dist-info/RECORD"

"$ROOT/tools/dist/octave.sh"
tarball=purlin-octave-$VERSION.tar.gz
cp "$DIST/$tarball" "$source_/"

cd "$source_/debian"
sed -e "s|@VERSION@|$VERSION|" -e "s|@DATE@|$(date -u -R -d "@$SOURCE_DATE_EPOCH")|" changelog.in >changelog
# An empty line of the licence is a dot there.
sed -e '1,/^Copyright/d' -e '/./,$!d' -e 's/^$/./' -e 's/^/ /' "$ROOT/LICENSE-MIT" >"$WORK/debian/mit"
sed -e "/^@MIT@$/{r $WORK/debian/mit" -e 'd}' copyright.in >copyright
sed -i '/^License: Expat$/{n;/^ \.$/d}' copyright
rm changelog.in copyright.in
find "$source_" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
cd "$source_"
# Not the tests of the languages: they run against the packages when these are tried.
PURLIN_LIBRARY_FILE=$STAGE/lib/libpurlin.so.$VERSION OCTAVE_TARBALL=$tarball \
    dpkg-buildpackage --build=binary --no-check-builddeps --unsigned-changes -rfakeroot
cd "$WORK/debian"
lintian --fail-on error,warning --allow-root --tag-display-limit 0 ./*.changes
rm -f "$DIST"/*.deb
cp ./*.deb "$DIST/"
