#!/usr/bin/env bash
# Installs the library of the release, headers, bindings and the papers of the release into a folder.
#
#   stage.sh FOLDER LIBDIR       LIBDIR is CMake's CMAKE_INSTALL_LIBDIR
#
# Without Fortran's modules: these serve one version of one compiler, and find_package compiles the sources instead.
set -euo pipefail
source "$(dirname "$0")/../environment.sh"
folder=$1
rm -rf "$folder" "$folder-build"
mkdir -p "$(dirname "$folder")"
cmake -S "$ROOT/cmake" -B "$folder-build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DPURLIN_LIBRARY_FILE="$LIBRARY" \
    -DCMAKE_INSTALL_LIBDIR="$2" >"$folder.log"
cmake --build "$folder-build" >>"$folder.log"
cmake --install "$folder-build" --prefix "$folder" >>"$folder.log"
rm -rf "$folder-build"
cp "$PAPERS"/* "$folder/share/doc/purlin/"
