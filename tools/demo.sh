#!/usr/bin/env bash
# From a bare clone to a picture: tools, library, installation, then the C example against the installed package
# on a real diffusion MRI volume. Progress goes to stderr; the example's first line names the backend.
set -euo pipefail
source "$(dirname "$0")/environment.sh"
out=$TARGET/demo
log=$TARGET/logs/demo.log
mkdir -p "$out" "$TARGET/logs"

# What a user's own program would pass to the compiler: pkg-config's answer, or the same written out.
flags() {
    if have pkg-config && PKG_CONFIG_PATH="$PREFIX/lib/pkgconfig" pkg-config --exists purlin; then
        PKG_CONFIG_PATH="$PREFIX/lib/pkgconfig" pkg-config --cflags --libs purlin
    else
        echo "-I$PREFIX/include -L$PREFIX/lib -lpurlin"
    fi
}

say "demo: bringing tools"
"$ROOT/tools/deps.sh"
say "demo: building and installing (some minutes the first time; log in $log)"
if ! "$ROOT/tools/install.sh" >"$log" 2>&1; then
    tail -n 40 "$log" >&2
    die "the build failed; the whole log is $log"
fi
cd "$ROOT/examples-c"
# shellcheck disable=SC2046
"$CC" -O2 -std=c99 -Wall -Wextra sshopm_fibres.c fibres_page.c nifti.c -o "$out/sshopm_fibres" $(flags) -lm "-Wl,-rpath,$PREFIX/lib"
"$out/sshopm_fibres" data "$out"
[ -s "$out/index.html" ] || die "the example wrote no $out/index.html"
say "demo: open file://$out/index.html"
