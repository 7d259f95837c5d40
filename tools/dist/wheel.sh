#!/usr/bin/env bash
# The wheel with the library inside. Its tag states the oldest glibc that the library takes; auditwheel has the last word.
set -euo pipefail
source "$(dirname "$0")/../environment.sh"
source_=$WORK/wheel
rm -rf "$source_"
mkdir -p "$source_"
cp -R "$ROOT/bindings/python/." "$source_/"
find "$source_" -name __pycache__ -prune -exec rm -rf {} +
cp "$PAPERS"/LICENSE-* "$PAPERS/THIRD-PARTY.txt" "$PAPERS/purlin.cdx.json" "$source_/"
glibc=$(objdump -T "$LIBRARY" | grep -oE 'GLIBC_2\.[0-9]+' | sort -Vu | tail -n 1)
# auditwheel knows no platform between those that Python's packagers named.
platform=manylinux_2_${glibc#GLIBC_2.}_x86_64
cp "$STAGE/lib/libpurlin.so.$VERSION" "$WORK/wheel-library"
cd "$source_"
PURLIN_WHEEL_LIBRARY=$WORK/wheel-library PURLIN_WHEEL_PLATFORM=$platform PURLIN_WHEEL_SBOM=purlin.cdx.json \
    "$DIST_VENV/bin/python" -m hatchling build -t wheel -d "$WORK/wheels"
wheel=$WORK/wheels/purlin-$VERSION-py3-none-$platform.whl
[ -f "$wheel" ] || die "hatchling made another wheel: $(ls "$WORK/wheels")"
report=$("$DIST_VENV/bin/auditwheel" show "$wheel" | tee /dev/stderr)
grep -qF "\"$platform\"" <<<"$report" || die "auditwheel does not find the wheel consistent with $platform"
mv "$wheel" "$DIST/"
