#!/usr/bin/env bash
# Measures the cost of building purlin:
#
#   tools/build_cost.sh release             CPU seconds of a release build of the project's own code
#   tools/build_cost.sh edit FOLDER [FILE]  CPU seconds from an edit of all function bodies of a file to its unit tests
#   tools/build_cost.sh size                bytes of the stripped release library, by section, family and function
#
# CPU seconds are those of cargo, rustc and the linker together, user and system. They depend little on other work of the
# machine, elapsed time depends much on it. The same build twice differs by up to 10 %. FOLDER is that of a crate in src, as
# rsvd and tt/operator, or ffi. FILE defaults to the longest one of its CPU backend. The file is restored afterwards.
# CARGO_PROFILE_* variables apply as in any build.
set -euo pipefail
source "$(dirname "$0")/environment.sh"
cd "$ROOT"
usage() { sed -n '2,/^set /s/^# \{0,1\}//p' "$0" >&2; exit 2; }

# timed COMMAND...: runs it and prints CPU and elapsed seconds, and whether dependencies were compiled as well.
timed() {
    local log seconds TIMEFORMAT='%U %S %R'
    log=$(mktemp)
    seconds=$({ time "$@" >"$log" 2>&1; } 2>&1) || {
        cat "$log" >&2
        rm "$log"
        die "$* failed"
    }
    awk -v what="$*" '{ printf "%.0f CPU seconds, %.0f elapsed: %s\n", $1 + $2, $3, what }' <<<"$seconds"
    if grep -E '^ *Compiling ' "$log" | holds -vE ' purlin[a-z_-]* v'; then
        say "dependencies were compiled too: run this again for the figure of the project's own code"
    fi
    rm "$log"
}

# Inserts a statement at the start of every function of a file: other code in each, the same results and line numbers.
edit_bodies() {
    "$PYTHON" - "$1" <<'PY'
import re, sys
path = sys.argv[1]
text = open(path).read()
out, end, edits = [], 0, 0
for match in re.finditer(r"^[ ]*(?:pub(?:\([^)]*\))? )?(?:const |unsafe |extern \"C\" )*fn \w+", text, re.M):
    at, depth = match.end(), 0
    while depth > 0 or text[at] not in "{;":
        depth += (text[at] in "([") - (text[at] in ")]")
        at += 1
    if text[at] == "{" and at >= end:
        out.append(text[end:at + 1] + " std::hint::black_box(0_u8);")
        end, edits = at + 1, edits + 1
open(path, "w").write("".join(out) + text[end:])
print(f"{path}: {edits} bodies changed")
PY
}

case ${1:-} in
release)
    # Each crate of the workspace is compiled again.
    for file in src/lib.rs src/*/lib.rs src/*/*/lib.rs; do [ ! -f "$file" ] || touch "$file"; done
    timed cargo build --locked --release --lib
    ;;
edit)
    [ $# -ge 2 ] && [ -d "src/$2" ] || usage
    folder=$2
    ! compgen -G "src/$folder/*/Cargo.toml" >/dev/null || die "src/$folder has several crates: name one of them"
    file=${3:-$(find "src/$folder" -path '*cpu*' -name '*.rs' ! -path '*/tests*' -exec wc -l {} + | grep -v ' total$' |
        sort -k1,1nr -k2 | awk 'NR == 1 { print $2 }')}
    [ -f "$file" ] || die "src/$folder has no CPU backend: name a FILE"
    package=purlin features=fault-injection
    [ ! -f "src/$folder/Cargo.toml" ] || package=purlin-${folder//\//-}
    # The feature of base that the tests of the other members enable.
    [ "$folder" != base ] || features=$features,testing
    tests=(cargo test --locked -p "$package" --features "$features" --lib --no-run)
    say "building the tests of $package as they are"
    "${tests[@]}" >&2
    saved=$(mktemp)
    cp "$file" "$saved"
    # Written anew, not copied with its old time: cargo must notice that the file changed back.
    trap 'cat "$saved" >"$file"; rm "$saved"' EXIT
    edit_bodies "$file"
    timed "${tests[@]}"
    ;;
size)
    have readelf && have nm && have strip || die "binutils are needed"
    library=${2:-$CARGO_TARGET_DIR/release/libpurlin.so}
    [ -f "$library" ] || die "$library is missing: cargo build --release --lib"
    exec "$PYTHON" tools/library_sizes.py "$library"
    ;;
*) usage ;;
esac
