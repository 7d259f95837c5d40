#!/usr/bin/env bash
# Tries the files of target/dist where they will be used: each in a fresh Debian, without the files of this machine.
# Needs root and debootstrap. One line a trial; logs in target/dist-test.
#
#   tools/dist-test.sh [SUITE...]      bullseye, bookworm, trixie (Debian 11, 12, 13); without one: all, and dist-twice.sh
#
# A library that needs a newer glibc than a suite has is not tried there, and that is a failure with CI=true. The packages
# are downloaded once, into target/dist-chroots, from the archive that debootstrap takes or that DEBIAN_MIRROR names.
set -euo pipefail
source "$(dirname "$0")/environment.sh"
DIST=$TARGET/dist
CHROOTS=$TARGET/dist-chroots
LOGS=$TARGET/dist-test
MIRROR=${DEBIAN_MIRROR:-}
mkdir -p "$CHROOTS" "$LOGS"
[ "$(id -u)" -eq 0 ] || skip "root is needed"
have debootstrap || skip "debootstrap is needed"
(cd "$DIST" && sha256sum --check --strict --quiet SHA256SUMS)

compilers="gcc g++ gfortran cmake make pkg-config xz-utils"
declare -A wheel=([bullseye]=python3-venv [bookworm]=python3-venv [trixie]=python3-venv)
declare -A compiled=(
    [bullseye]=$compilers
    [bookworm]="$compilers python3-numpy octave octave-dev"
    [trixie]="$compilers python3-numpy octave octave-dev rpm"
)
# rpm and MRtrix3 are tried in one suite only, which has the newest of both.
declare -A mrtrix=([trixie]="python3-venv mrtrix3")
# The Python that pip resolves for, and the versions of packages.
declare -A python=([bullseye]=3.9 [bookworm]=3.11 [trixie]=3.13)
declare -A versions=([bullseye]=python39 [bookworm]=test [trixie]=test)
# Packages that others need on an old Python alone: pip asks the Python that it runs in.
declare -A others=([bullseye]="exceptiongroup tomli zipp")

chroot_of() { # SUITE KIND PACKAGES
    local folder=$CHROOTS/$1-$2
    [ "$(cat "$folder.made" 2>/dev/null)" != "$3" ] || return 0
    rm -rf "$folder" "$folder.made"
    [ -e "$CHROOTS/$1-base.made" ] || {
        rm -rf "$CHROOTS/$1-base"
        debootstrap --variant=minbase "$1" "$CHROOTS/$1-base" ${MIRROR:+"$MIRROR"}
        touch "$CHROOTS/$1-base.made"
    }
    cp -a "$CHROOTS/$1-base" "$folder"
    # shellcheck disable=SC2086
    DEBIAN_FRONTEND=noninteractive chroot "$folder" sh -c "apt-get update && apt-get -y --no-install-recommends install $3"
    printf '%s\n' "$3" >"$folder.made"
}

wheelhouse() { # SUITE
    local folder=$CHROOTS/$1-wheels wanted
    local -a files=("$ROOT/tools/requirements-${versions[$1]}.txt")
    # The file of Python 3.9 has SciPy and scikit-learn too.
    [ "${versions[$1]}" != test ] || files+=("$ROOT/tools/requirements-peers.txt")
    wanted=$(cat "${files[@]}" | sha256sum)
    [ "$(cat "$folder.made" 2>/dev/null)" != "$wanted" ] || return 0
    rm -rf "$folder" "$folder.made"
    # shellcheck disable=SC2086
    "$TARGET/dist-venv/bin/python" -m pip download --quiet --disable-pip-version-check -d "$folder" --only-binary=:all: \
        --python-version "${python[$1]}" --platform manylinux_2_28_x86_64 --platform manylinux_2_17_x86_64 "${files[@]/#/--constraint=}" \
        numpy pytest nibabel scipy scikit-learn ${others[$1]:-}
    printf '%s\n' "$wanted" >"$folder.made"
}

# The trial changes a layer above the suite's folder, which is gone afterwards; it sees the files and the sources, read-only.
inside() { # SUITE KIND SCRIPT
    # shellcheck disable=SC2016
    unshare --mount bash -euc '
        lower=$1 wheels=$2 script=$3
        layer=$(mktemp -d)
        mount -t tmpfs tmpfs "$layer"
        mkdir "$layer/upper" "$layer/work" "$layer/root"
        mount -t overlay overlay -o "lowerdir=$lower,upperdir=$layer/upper,workdir=$layer/work" "$layer/root"
        root=$layer/root
        mkdir -p "$root/dist" "$root/source" "$root/wheels"
        mount --bind -o ro "$DIST" "$root/dist"
        mount --bind -o ro "$ROOT" "$root/source"
        [ ! -d "$wheels" ] || mount --bind -o ro "$wheels" "$root/wheels"
        mount -t proc proc "$root/proc"
        mount --rbind /dev "$root/dev"
        mount -t tmpfs tmpfs "$root/dev/shm" 2>/dev/null || true
        exec env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
            ${PYTHON_TESTS+"PYTHON_TESTS=$PYTHON_TESTS"} chroot "$root" bash -euo pipefail "/source/tests/dist/$script.sh"
    ' bash "$CHROOTS/$1-$2" "$CHROOTS/$1-wheels" "$3" </dev/null
}

failed=0
trial() { # SUITE KIND SCRIPT
    local log=$LOGS/$1-$3.log status=0 start=$SECONDS
    inside "$1" "$2" "$3" >"$log" 2>&1 || status=$?
    case $status in
    0) printf 'PASS %-9s %-7s %4d s\n' "$1" "$3" $((SECONDS - start)) ;;
    77) printf 'SKIP %-9s %-7s (no Octave 7)\n' "$1" "$3" ;;
    *)
        printf 'FAIL %-9s %-7s %4d s\n' "$1" "$3" $((SECONDS - start))
        tail -n 25 "$log" | sed 's/^/    /'
        failed=1
        ;;
    esac
}

export DIST
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tar -C "$work" --strip-components=2 --wildcards -xf "$DIST/purlin-$(package_version)-linux-x86_64.tar.xz" '*/lib/libpurlin.so.*.*.*'
needs=$(objdump -T "$work"/libpurlin.so.* | grep -oE 'GLIBC_2\.[0-9]+' | sort -Vu | tail -n 1)
here=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
if [ "$#" -eq 0 ]; then
    start=$SECONDS
    if "$ROOT/tools/dist-twice.sh" >"$LOGS/twice.log" 2>&1; then
        printf 'PASS %-17s %4d s\n' twice $((SECONDS - start))
    else
        printf 'FAIL %-17s %4d s\n' twice $((SECONDS - start))
        tail -n 25 "$LOGS/twice.log" | sed 's/^/    /'
        failed=1
    fi
fi
suites=("$@")
[ "$#" -gt 0 ] || suites=(bullseye bookworm trixie)
for suite in "${suites[@]}"; do
    [ -n "${compiled[$suite]:-}" ] || die "$suite is no suite; there are: ${!compiled[*]}"
    chroot_of "$suite" compilers "${compiled[$suite]}" >"$LOGS/$suite-chroot.log" 2>&1 || die "see $LOGS/$suite-chroot.log"
    has=GLIBC_$(chroot "$CHROOTS/$suite-compilers" ldd --version | sed -n '1s/.* //p')
    if [ "$(printf '%s\n' "$needs" "$has" | sort -V | tail -n 1)" != "$has" ]; then
        printf 'SKIP %-9s needs %s, has %s\n' "$suite" "$needs" "$has"
        [ "${CI:-}" != true ] || failed=1
        continue
    fi
    trial "$suite" compilers sdk
    trial "$suite" compilers octave
    [[ " ${compiled[$suite]} " != *" rpm "* ]] || trial "$suite" compilers rpm
    [ "$suite" != "$here" ] || trial "$suite" compilers debian
    [ -n "${wheel[$suite]:-}" ] || continue
    { chroot_of "$suite" wheel "${wheel[$suite]}" && wheelhouse "$suite"; } >>"$LOGS/$suite-chroot.log" 2>&1 || die "see $LOGS/$suite-chroot.log"
    trial "$suite" wheel wheel
    [ -n "${mrtrix[$suite]:-}" ] || continue
    chroot_of "$suite" mrtrix "${mrtrix[$suite]}" >>"$LOGS/$suite-chroot.log" 2>&1 || die "see $LOGS/$suite-chroot.log"
    trial "$suite" mrtrix mrtrix
done
exit $failed
