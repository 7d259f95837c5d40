#!/usr/bin/env bash
# The tarball that is unpacked anywhere: library, headers, CMake and pkg-config packages, the sources of the Fortran module
# and of Octave's and MATLAB's gateway, the Python package, examples.
set -euo pipefail
source "$(dirname "$0")/../environment.sh"
name=purlin-$VERSION-linux-x86_64
folder=$WORK/sdk/$name
mkdir -p "$folder"
cp -a "$STAGE/." "$folder/"
data=$folder/share/purlin
mkdir -p "$data/python" "$data/examples"
cp -R "$ROOT/bindings/python/purlin" "$data/python/"
cp -R "$ROOT/examples-c" "$data/examples/c"
cp -R "$ROOT/bindings/fortran/examples" "$data/examples/fortran"
cp -R "$ROOT/bindings/python/examples" "$data/examples/python"
find "$data" -name __pycache__ -prune -exec rm -rf {} +
cp "$ROOT/packaging/sdk/README.md" "$folder/README.md"
# The tree is moved by whoever unpacks it.
if grep -rIlF "$TARGET" "$folder"; then die "the files above name a folder of this build"; fi
"$ROOT/tools/dist/pack.sh" "$folder" "$DIST/$name.tar.xz"
