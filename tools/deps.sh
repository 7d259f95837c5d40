#!/usr/bin/env bash
# Installs the tools that a bare machine lacks: Debian packages when it may install them, nvcc and the Python packages
# of the tests from PyPI into target/. Missing tools are listed at the end; the rest of the build works without
# them. Quick when everything is installed.
#
#   tools/deps.sh [dist]      dist: only what `make dist` needs, the Debian packages for it among them
#
#   PURLIN_APT=off    never call apt-get (or sudo)
#   PURLIN_CUDA=off   do not fetch nvcc
set -u
source "$(dirname "$0")/environment.sh"
STAMPS=$TARGET/stamps
LOGS=$TARGET/logs
mkdir -p "$STAMPS" "$LOGS"
missing=()

# A stamp records a finished installation of exactly these requirements by exactly this Python.
stamp() { printf '%s/%s-%s' "$STAMPS" "$1" "$(cat "$2" <("$PYTHON" -V 2>&1) | sha256sum | cut -c1-16)"; }

# Debian's own cmake and not the stand-in in the virtual environment, so that a later root run can replace it.
have_system_cmake() { (PATH=${PATH%":$VENV/bin"} && have_cmake); }

# Prints `package<TAB>purpose` for each listed package whose test fails.
missing_packages() {
    local package probe purpose
    while IFS='|' read -r package probe purpose; do
        package=${package// /}
        [[ -z $package || $package == \#* ]] && continue
        eval "$probe" >/dev/null 2>&1 || printf '%s\t%s\n' "$package" "${purpose# }"
    done < <(cat "$ROOT/tools/debian-packages.txt" ${1:+"$ROOT/tools/debian-packages-$1.txt"})
}

# The command prefix under which apt-get may install, or failure.
root_prefix() {
    if [ "$(id -u)" -eq 0 ]; then
        echo env
    elif have sudo && sudo -n true 2>/dev/null; then
        echo sudo -n env
    else
        return 1
    fi
}

install_debian() {
    local wanted prefix log=$LOGS/apt.log
    wanted=$(missing_packages ${what:+"$what"})
    [ -n "$wanted" ] || return 0
    if [ "${PURLIN_APT:-auto}" != off ] && have apt-get && prefix=$(root_prefix); then
        local names
        names=$(cut -f1 <<<"$wanted" | tr '\n' ' ')
        say "deps: installing Debian packages: $names"
        # shellcheck disable=SC2086
        { $prefix apt-get -o DPkg::Lock::Timeout=300 update && $prefix DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 -y --no-install-recommends install $names; } \
            </dev/null >"$log" 2>&1 || say "deps: apt-get failed; see $log"
        hash -r
        wanted=$(missing_packages ${what:+"$what"})
    fi
    local package purpose
    while IFS=$'\t' read -r package purpose; do
        [ -n "$package" ] && missing+=("$package (Debian): $purpose")
    done <<<"$wanted"
}

install_rust_components() {
    have cargo || {
        missing+=("cargo: nothing works without it; see https://rustup.rs")
        return
    }
    local component
    for component in rustfmt clippy; do
        cargo "${component/rustfmt/fmt}" --version >/dev/null 2>&1 && continue
        have rustup && rustup component add "$component" >>"$LOGS/rustup.log" 2>&1 && continue
        missing+=("$component (rustup component): source checks")
    done
}

# A virtual environment, because Debian's Python refuses installations into itself.
make_venv() {
    [ -x "$VENV/bin/python" ] && "$VENV/bin/python" -m pip --version >/dev/null 2>&1 && return 0
    rm -rf "$VENV"
    "$PYTHON" -m venv "$VENV" >"$LOGS/venv.log" 2>&1 && return 0
    rm -rf "$VENV"
    return 1
}

pip_install() { # NAME REQUIREMENTS [pip arguments]
    local name=$1 requirements=$2 log=$LOGS/pip-$1.log
    shift 2
    say "deps: installing $(grep -o '^[a-z][a-z0-9-]*' "$requirements" | tr '\n' ' ')with pip"
    "$VENV/bin/python" -m pip install --disable-pip-version-check --no-input "$@" -r "$requirements" </dev/null >"$log" 2>&1 && return 0
    say "deps: pip failed; see $log"
    return 1
}

install_python() {
    local requirements=$ROOT/tools/requirements-test.txt done_
    done_=$(stamp python "$requirements")
    if [ -e "$done_" ] && [ -x "$VENV/bin/python" ]; then return; fi
    if make_venv && pip_install test "$requirements"; then
        rm -f "$STAMPS"/python-*
        touch "$done_"
    else
        missing+=("numpy, pytest, mypy (PyPI, in target/venv): Python binding tests")
    fi
}

# Packages whose own tests run on purlin. The numpy stays that of the tests' requirements.
install_peers() {
    local requirements=$ROOT/tools/requirements-peers.txt done_
    done_=$(stamp peers "$requirements")
    # The stamp may be older than the environment.
    if [ -e "$done_" ] && compgen -G "$VENV/lib/python*/site-packages/sklearn" >/dev/null; then return; fi
    if make_venv && pip_install peers "$requirements" -c "$ROOT/tools/requirements-test.txt"; then
        rm -f "$STAMPS"/peers-*
        touch "$done_"
    else
        missing+=("scipy, scikit-learn, networkx (PyPI, in target/venv): their tests on purlin")
    fi
}

# Packages whose tables and images the tests of the Python binding read.
install_tables() {
    local requirements=$ROOT/tools/requirements-tables.txt done_
    done_=$(stamp tables "$requirements")
    if [ -e "$done_" ] && compgen -G "$VENV/lib/python*/site-packages/pyarrow" >/dev/null; then return; fi
    if make_venv && pip_install tables "$requirements" -c "$ROOT/tools/requirements-test.txt"; then
        rm -f "$STAMPS"/tables-*
        touch "$done_"
    else
        missing+=("pandas, polars, pyarrow, ITK (PyPI, in target/venv): tests of the Python binding that read theirs")
    fi
}

install_docs() {
    local requirements=$ROOT/tools/requirements-docs.txt done_
    done_=$(stamp docs "$requirements")
    if [ -e "$done_" ] && compgen -G "$VENV/lib/python*/site-packages/material" >/dev/null; then return; fi
    if make_venv && pip_install docs "$requirements"; then
        rm -f "$STAMPS"/docs-*
        touch "$done_"
    else
        missing+=("mkdocs (PyPI, in target/venv): the site")
    fi
}

install_cmake_stand_in() {
    if have_cmake && have ninja; then return; fi
    make_venv && pip_install cmake "$ROOT/tools/requirements-cmake.txt" && return
    say "deps: no CMake: make install copies the files itself, without the CMake package"
}

install_toolchain() {
    [ "${PURLIN_CUDA:-auto}" != off ] || return
    # src/base/build.rs prefers the user's own nvcc, so none is installed.
    if [ -n "${NVCC:-}" ] || { [ -n "${CUDA_HOME:-}" ] && [ -x "$CUDA_HOME/bin/nvcc" ]; } || have nvcc; then return; fi
    # nvcc compiles the host's side of each file with g++.
    if ! have g++; then
        missing+=("nvcc 13.0: needs g++, which is missing; the library will be CPU only")
        return
    fi
    local requirements=$ROOT/tools/requirements-toolchain.txt done_
    done_=$(stamp toolchain "$requirements")
    if [ -e "$done_" ] && [ -x "$TOOLCHAIN/nvidia/cu13/bin/nvcc" ]; then return; fi
    # pip --target merges into an existing folder and leaves old files: start clean.
    rm -rf "$TOOLCHAIN"
    if make_venv && pip_install toolchain "$requirements" --target "$TOOLCHAIN" && [ -e "$TOOLCHAIN/nvidia/cu13/bin/nvcc" ]; then
        # Wheels do not carry the executable bit of everything nvcc starts.
        chmod -R a+rx "$TOOLCHAIN/nvidia/cu13/bin" "$TOOLCHAIN/nvidia/cu13/nvvm/bin"
        rm -f "$STAMPS"/toolchain-*
        touch "$done_"
    else
        missing+=("nvcc 13.0 (PyPI, in target/toolchain): GPU code; the library will be CPU only")
    fi
}

case ${1:-} in
'') ;;
dist) what=dist ;;
*) die "tools/deps.sh takes dist or nothing" ;;
esac
install_debian
install_cmake_stand_in
if [ -z "${what:-}" ]; then
    install_rust_components
    install_python
    install_peers
    install_tables
    install_docs
    install_toolchain
fi

if [ ${#missing[@]} -gt 0 ]; then
    say "deps: could not install these; everything else works without them:"
    for item in "${missing[@]}"; do say "  - $item"; done
fi
have cargo && have "$CC" || die "cargo and a C compiler are needed; see the list above"
