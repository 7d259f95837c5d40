#!/usr/bin/env bash
# Installs library, headers and bindings into PREFIX (default target/prefix): through CMake, or, where there is
# none, by copying to the same places. Only the CMake package is then missing. PURLIN_INSTALLER=shell chooses
# the second way.
set -euo pipefail
source "$(dirname "$0")/environment.sh"
mkdir -p "$TARGET"

if [ "${PURLIN_INSTALLER:-cmake}" = cmake ] && have_cmake; then
    "$ROOT/tools/build.sh"
    exec cmake --install "$BUILD" --prefix "$PREFIX"
fi

cd "$ROOT"
cargo build --release --lib
version=$(package_version)
soname=$(package_soname)
data=$PREFIX/share/purlin
mkdir -p "$PREFIX/lib/pkgconfig" "$PREFIX/share/doc/purlin"
# Removed first: writing into a library that a running program has mapped would crash that program.
rm -f "$PREFIX/lib/libpurlin.so.$version"
cp "$CARGO_TARGET_DIR/release/libpurlin.so" "$PREFIX/lib/libpurlin.so.$version"
chmod 755 "$PREFIX/lib/libpurlin.so.$version"
if have strip; then strip --strip-unneeded "$PREFIX/lib/libpurlin.so.$version"; fi
ln -sf "libpurlin.so.$version" "$PREFIX/lib/$soname"
ln -sf "$soname" "$PREFIX/lib/libpurlin.so"
# copy_tree FROM TO PATTERN...: the files that match, with their folders.
copy_tree() {
    local from=$1 to=$2 names=()
    shift 2
    for pattern in "$@"; do names+=(${names[@]+-o} -name "$pattern"); done
    mkdir -p "$to"
    (cd "$from" && find . -type f \( "${names[@]}" \) -print0 | tar --null -T - -cf -) | tar -C "$to" -xf -
}
copy_tree include "$PREFIX/include" '*.h' '*.hpp'
copy_tree bindings/fortran "$data/fortran" '*.f90' '*.inc' 'order.txt'
copy_tree bindings/matlab "$data/matlab" '*.m' '*.c' '*.cpp' '*.h'
cp LICENSE-MIT LICENSE-APACHE "$PREFIX/share/doc/purlin/"
description=$(sed -n 's/^ *DESCRIPTION "\(.*\)")$/\1/p' cmake/CMakeLists.txt)
sed -e 's|@purlin_pc_prefix@|../..|' -e 's|@purlin_pc_libdir@|lib|' -e 's|@purlin_pc_includedir@|include|' \
    -e 's|@purlin_data_dir@|share/purlin|' -e "s|@PROJECT_DESCRIPTION@|$description|" \
    -e "s|@PROJECT_VERSION@|$version|" cmake/purlin.pc.in >"$PREFIX/lib/pkgconfig/purlin.pc"
say "installed purlin $version into $PREFIX"
