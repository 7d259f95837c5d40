#!/usr/bin/env bash
# The API reference from the headers, in target/docs/html. The book itself is Markdown in docs/.
set -euo pipefail
source "$(dirname "$0")/environment.sh"
have doxygen || skip "no doxygen: the API reference"
mkdir -p "$TARGET/docs"
cd "$ROOT"
{
    cat docs/Doxyfile
    echo "PROJECT_NUMBER = $(package_version)"
    echo "OUTPUT_DIRECTORY = \"$TARGET/docs\""
} | doxygen -
say "docs: file://$TARGET/docs/html/index.html"
