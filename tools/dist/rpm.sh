#!/usr/bin/env bash
# The library and its development files as rpm packages, by nfpm, which needs no rpm tools.
set -euo pipefail
source "$(dirname "$0")/../environment.sh"
TREE=$WORK/rpm
"$ROOT/tools/dist/stage.sh" "$TREE/usr" lib64
rm -f "$TREE/usr.log"
GLIBC=$(objdump -T "$LIBRARY" | grep -oE 'GLIBC_2\.[0-9]+' | sort -Vu | tail -n 1 | sed 's/GLIBC_//')
MTIME=$(date -u -d "@$SOURCE_DATE_EPOCH" +%FT%TZ)
SCRIPTS=$ROOT/packaging/nfpm
export TREE GLIBC MTIME SCRIPTS
find "$TREE" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
for name in purlin purlin-devel; do
    # Not every field of nfpm's takes variables.
    "$PYTHON" -c 'import os, sys; print(os.path.expandvars(sys.stdin.read()), end="")' <"$SCRIPTS/$name.yaml" >"$WORK/$name.yaml"
    "$DIST_VENV/bin/nfpm" package --packager rpm --config "$WORK/$name.yaml" --target "$DIST/$name-$VERSION-1.x86_64.rpm"
done
