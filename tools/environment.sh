# Paths, tools and messages shared by the scripts of this folder. Sourced, never run.
# shellcheck shell=bash

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
TARGET=$ROOT/target
VENV=$TARGET/venv
TOOLCHAIN=$TARGET/toolchain
BUILD=$TARGET/cmake
PREFIX=${PREFIX:-$TARGET/prefix}
export ROOT TARGET VENV TOOLCHAIN BUILD PREFIX
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$TARGET}
# The version is written once, in Cargo.toml.
package_version() {
    sed -n '/^\[workspace\.package\]/,/^\[/s/^version *= *"\([^"]*\)".*/\1/p' "$ROOT/Cargo.toml"
}

# The SONAME that programs load. Before 1.0 each minor version may change the interface.
package_soname() {
    local version
    version=$(package_version)
    case $version in
    0.*) printf 'libpurlin.so.%s\n' "${version%.*}" ;;
    *) printf 'libpurlin.so.%s\n' "${version%%.*}" ;;
    esac
}

have() { command -v "$1" >/dev/null 2>&1; }

# holds ARGUMENT-OF-GREP...: whether the input has such a line. Reads all of it, where `grep -q` stops at the first: then the
# command that writes may end by SIGPIPE, and with pipefail the line counts as missing.
holds() { [ -n "$(grep "$@")" ]; }

# Progress goes to stderr; stdout is for a command's result.
say() { printf '%s\n' "$*" >&2; }

die() {
    say "error: $*"
    exit 1
}

# A check that cannot run here gives the reason in its last line and exits with 77, ctest's status for a skipped test.
skip() {
    say "skipped: $*"
    exit 77
}

# together FUNCTION...: runs the functions at the same time, each in a shell of its own. When all have ended it prints their
# output, failed ones last, because only the end of a log is shown. Returns the status of the last that failed. A step that
# takes too long is ended by a signal; the output so far is then printed.
together() {
    local folder name code status=0 failed=()
    local -A process=()
    folder=$(mktemp -d)
    trap 'cat "$folder"/*; rm -rf "$folder"; exit 143' TERM INT
    for name in "$@"; do
        (
            trap - TERM INT
            set -e
            "$name"
        ) >"$folder/$name" 2>&1 &
        process[$name]=$!
    done
    for name in "$@"; do
        code=0
        wait "${process[$name]}" || code=$?
        if [ "$code" -eq 0 ]; then
            cat "$folder/$name"
            rm "$folder/$name"
        else
            status=$code
            failed+=("$name")
        fi
    done
    trap - TERM INT
    for name in ${failed[@]+"${failed[@]}"}; do cat "$folder/$name"; done
    rm -rf "$folder"
    return "$status"
}

# The compilers and the Python that the user named, or the defaults.
PYTHON=${PYTHON:-python3}
CC=${CC:-cc}
CXX=${CXX:-c++}
export PYTHON CC CXX

# CMake of at least 3.21, or nothing.
have_cmake() {
    have cmake || return 1
    local version
    version=$(cmake --version | sed -n '1s/.*version \([0-9]*\)\.\([0-9]*\).*/\1 \2/p')
    # shellcheck disable=SC2086
    set -- $version
    [ "${1:-0}" -gt 3 ] || { [ "${1:-0}" -eq 3 ] && [ "${2:-0}" -ge 21 ]; }
}

# A gfortran that the module compiles with, or nothing.
have_fortran() {
    have gfortran && [ "$(gfortran -dumpversion | sed 's/\..*//')" -ge 12 ]
}

# Tools installed by pip (cmake, ninja) are used if the system has none.
have cargo || PATH=$PATH:$HOME/.cargo/bin
if [[ :$PATH: != *":$VENV/bin:"* ]] && ! { have_cmake && have ninja; }; then PATH=$PATH:$VENV/bin; fi
export PATH
