#!/usr/bin/env bash
# The installed package from a user's side: moved elsewhere, found by CMake in three ways and by pkg-config, from C
# and Fortran, with the versions it must accept and refuse, and the same from the shell installer.
set -euo pipefail
source "$(dirname "$0")/../environment.sh"
unset LD_LIBRARY_PATH PKG_CONFIG_PATH CMAKE_PREFIX_PATH
work=$TARGET/package
source_=$ROOT/tests/package
major=$(package_version | cut -d. -f1)
minor=$(package_version | cut -d. -f2)
rm -rf "$work"
mkdir -p "$work"

# Loads by the stable name, from the place given, and runs.
run() { # PROGRAM LIBDIR
    if ! readelf -d "$1" | grep NEEDED | holds -F "[$(package_soname)]"; then
        readelf -d "$1"
        die "$1 does not need $(package_soname) by that name"
    fi
    env LD_LIBRARY_PATH="$2" "$1" || die "$1 failed"
}

say "== moved"
moved=$work/moved/by/hand
mkdir -p "$(dirname "$moved")"
cp -a "$PREFIX" "$moved"
if grep -rIl -e "$PREFIX" -e "$ROOT" "$moved"; then die "the files above name the place they were installed to"; fi
if grep -l -e "$ROOT" "$moved"/lib/libpurlin.so.*.*.*; then die "the library names the place it was built in"; fi

say "== pkg-config"
by_pkg_config() { # PREFIX LIBDIR OUTPUT
    local flags
    flags=$(PKG_CONFIG_PATH="$2/pkgconfig" pkg-config --cflags --libs purlin)
    # shellcheck disable=SC2086
    "$CC" -std=c99 "$source_/main.c" -o "$3" $flags
    run "$3" "$2"
}
# The installed module and library, as a user of Fortran links them by hand: the module is there only where a compiler
# was when purlin was installed.
fortran_by_pkg_config() { # LIBDIR OUTPUT
    local compiler=${FC:-gfortran} flags
    if [ ! -e "$1/pkgconfig/purlin-fortran.pc" ] || ! have "$compiler"; then
        ! { have_fortran && have_cmake; } || die "gfortran and CMake are here, and $1/pkgconfig has no purlin-fortran.pc"
        say "no Fortran: left out"
        return
    fi
    flags=$(PKG_CONFIG_PATH="$1/pkgconfig" pkg-config --cflags --libs purlin-fortran)
    # shellcheck disable=SC2086
    "$compiler" "$source_/main.f90" -J"$work" -o "$2" $flags
    run "$2" "$1"
}
if have pkg-config; then
    by_pkg_config "$moved" "$moved/lib" "$work/by_pkg_config"
    fortran_by_pkg_config "$moved/lib" "$work/fortran_by_pkg_config"
else
    say "no pkg-config: left out"
fi

say "== shell installer"
PREFIX=$work/shell PURLIN_INSTALLER=shell "$ROOT/tools/install.sh"
! have pkg-config || by_pkg_config "$work/shell" "$work/shell/lib" "$work/by_shell"
files() { (cd "$1" && find . ! -type d ! -path './lib/cmake/*' ! -name '*.mod' ! -name '*.smod' ! -name 'libpurlin_fortran.a' ! -name purlin-fortran.pc | sort); }
diff <(files "$PREFIX") <(files "$work/shell") || die "CMake (<) and the shell installer (>) install different files"
diff "$PREFIX/lib/pkgconfig/purlin.pc" "$work/shell/lib/pkgconfig/purlin.pc" || die "the two purlin.pc differ"

have_cmake || { [ "${CI:-}" != true ] || die "no CMake"; exit 0; }
generator=()
have ninja && generator=(-G Ninja)
fortran=OFF
have_fortran && fortran=ON

build() { # NAME ARGUMENT...
    local name=$1
    shift
    say "== $name"
    cmake -S "$source_" -B "$work/$name" "${generator[@]}" "$@"
    cmake --build "$work/$name"
}
build found -DCMAKE_PREFIX_PATH="$moved" -DPURLIN_TEST_VERSION="$major.$minor" -DPURLIN_TEST_FORTRAN=$fortran
run "$work/found/package_c" "$moved/lib"
if [ $fortran = ON ]; then
    run "$work/found/package_fortran" "$moved/lib"
    build fortran_source -DCMAKE_PREFIX_PATH="$moved" -DPURLIN_TEST_FORTRAN=ON -DPURLIN_FORTRAN_FROM_SOURCE=ON
    run "$work/fortran_source/package_fortran" "$moved/lib"
fi
for way in add_subdirectory FetchContent; do
    build "$way" -DPURLIN_WAY="$way" -DPURLIN_CARGO_TARGET_DIR="$CARGO_TARGET_DIR" -DPURLIN_TEST_FORTRAN=$fortran
    # No LD_LIBRARY_PATH: the build tree's programs must find the build tree's library.
    run "$work/$way/package_c" ''
done

say "== versions"
for version in "$major.$minor...<$((major + 1))" "$major.$minor...$(package_version)"; do
    build accepted -DCMAKE_PREFIX_PATH="$moved" -DPURLIN_TEST_VERSION="$version"
    rm -rf "$work/accepted"
done
for version in "$major.$((minor + 1))" "$((major + 1)).0" "$major.$minor...<$(package_version)" "$major.$((minor + 1))...<$((major + 2))"; do
    if cmake -S "$source_" -B "$work/refused" -DCMAKE_PREFIX_PATH="$moved" -DPURLIN_TEST_VERSION="$version" >"$work/refused.log" 2>&1; then
        die "find_package(Purlin $version) accepted $(package_version)"
    fi
    rm -rf "$work/refused"
done

say "== another library folder, and a library that is built already"
cmake -S "$ROOT/cmake" -B "$work/multiarch-build" "${generator[@]}" -DCMAKE_INSTALL_LIBDIR=lib/x86_64-linux-gnu \
    -DPURLIN_LIBRARY_FILE="$moved/lib/libpurlin.so.$(package_version)" -DPURLIN_CARGO=/nowhere/cargo
cmake --build "$work/multiarch-build"
cmake --install "$work/multiarch-build" --prefix "$work/multiarch"
! have pkg-config || by_pkg_config "$work/multiarch" "$work/multiarch/lib/x86_64-linux-gnu" "$work/by_multiarch"
build found_multiarch -DCMAKE_PREFIX_PATH="$work/multiarch"
run "$work/found_multiarch/package_c" "$work/multiarch/lib/x86_64-linux-gnu"
