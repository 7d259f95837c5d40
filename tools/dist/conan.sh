#!/usr/bin/env bash
# The Conan recipe, with the SDK that it packs, and its test package, which is run here in a home of its own.
set -euo pipefail
source "$(dirname "$0")/../environment.sh"
sdk=$DIST/purlin-$VERSION-linux-x86_64.tar.xz
[ -e "$sdk" ] || "$ROOT/tools/dist/sdk.sh"
folder=$WORK/conan/purlin-conan-$VERSION
mkdir -p "$folder"
cp -R "$ROOT/packaging/conan/." "$folder/"
# Published with the recipe is the program that the installed package is tested with.
cp "$ROOT/tests/package/main.c" "$folder/test_package/"
sed -i "s|@VERSION@|$VERSION|" "$folder/conanfile.py"
cp "$PAPERS"/LICENSE-* "$folder/"
"$ROOT/tools/dist/pack.sh" "$folder" "$DIST/purlin-conan-$VERSION.tar.gz"

export CONAN_HOME=$WORK/conan/home
cp "$sdk" "$folder/"
conan=$DIST_VENV/bin/conan
# Conan knows the compilers by their own names, and `cc` is none.
unset CC CXX
"$conan" profile detect
"$conan" create "$folder" --no-remote
