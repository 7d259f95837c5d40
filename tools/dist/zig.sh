#!/usr/bin/env bash
# Installs zig and cargo-zigbuild, the compiler and linker of releases, unless they are there already.
#
#   zig.sh FOLDER
set -euo pipefail
source "$(dirname "$0")/../environment.sh"
folder=$1
requirements=$ROOT/tools/requirements-release.txt
stamp=$folder/stamp-$(cat "$requirements" <("$PYTHON" -V 2>&1) | sha256sum | cut -c1-16)
[ ! -e "$stamp" ] || exit 0
rm -rf "$folder"
"$PYTHON" -m venv "$folder"
"$folder/bin/python" -m pip install --quiet --disable-pip-version-check --no-input -r "$requirements" </dev/null
touch "$stamp"
