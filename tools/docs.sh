#!/usr/bin/env bash
# The site in target/docs: pages of docs, the reference of every language and of the command, Doxygen's pages of the headers
# and, where there is cargo, rustdoc's of the crates. Needs the installed library, from which the reference of Python and of the
# command is made. Fails for a link that leads nowhere. It loads nothing from a network when it is read. The code of recipes
# and tutorials runs first, their MATLAB lines where there is an Octave.
set -euo pipefail
source "$(dirname "$0")/environment.sh"
have doxygen || skip "no doxygen: the site"
[ -f "$PREFIX/lib/libpurlin.so" ] || skip "no installed library: the site (make install)"
if ! "$VENV/bin/python" -c 'import material, sklearn' 2>/dev/null; then
    PURLIN_APT=off PURLIN_CUDA=off "$ROOT/tools/deps.sh"
    "$VENV/bin/python" -c 'import material, sklearn' 2>/dev/null || skip "no MkDocs from PyPI: the site"
fi
work=$TARGET/site
pages=$work/pages
rm -rf "$work"
mkdir -p "$pages/api"
cd "$ROOT"
"$PYTHON" -B tools/site/pages.py "$pages"
{
    cat docs/Doxyfile
    echo "PROJECT_NUMBER = $(package_version)"
    echo "OUTPUT_DIRECTORY = \"$pages/api\""
    echo "HTML_OUTPUT = c"
    echo "GENERATE_TAGFILE = \"$pages/api/purlin.tag\""
} | doxygen -
"$PYTHON" -B tools/site/reference.py "$pages"
if have cargo; then
    tools/checks/rustdoc.sh
else
    say "docs: no cargo: the reference of Rust has its options alone"
fi
"$PYTHON" -B tools/site/rust_reference.py "$pages" "$CARGO_TARGET_DIR/doc"
# purlin_mex, with which the pages' MATLAB code runs, in Octave.
gateway=
if have octave-cli && have mkoctfile; then
    gateway=$work/octave
    mkdir -p "$gateway"
    octave-cli --quiet --no-init-file --no-history --eval "addpath('$PREFIX/share/purlin/matlab'); purlin_build('$PREFIX', '$gateway');"
fi
purlin_python() { PURLIN_LIBRARY=$PREFIX/lib/libpurlin.so PYTHONPATH=$ROOT/bindings/python "$VENV/bin/python" -B "$@"; }
purlin_python tools/site/python_reference.py "$pages"
purlin_python tools/site/command_reference.py "$pages"
"$PYTHON" -B tools/site/excerpts.py docs/tutorials/*.md
purlin_python tools/site/recipes.py "$gateway" docs/recipes.md docs/tutorials/*.md
rm "$pages/api/purlin.tag"
printf 'INHERIT: %s\ndocs_dir: %s\nsite_dir: %s\n' "$ROOT/docs/mkdocs.yml" "$pages" "$TARGET/docs" >"$work/mkdocs.yml"
# The theme's advertisement of a later version of MkDocs is no warning of this site.
NO_MKDOCS_2_WARNING=1 "$VENV/bin/python" -B -m mkdocs build --strict --clean -f "$work/mkdocs.yml"
"$PYTHON" -B tools/site/links.py "$TARGET/docs"
say "docs: file://$TARGET/docs/index.html"
