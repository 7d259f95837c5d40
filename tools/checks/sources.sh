#!/usr/bin/env bash
# Source rules that no compiler checks: file length, unfinished work, shell syntax, executable scripts, mirrored structs,
# and that unsafe code and threads stay where they belong.
set -uo pipefail
source "$(dirname "$0")/../environment.sh"
cd "$ROOT" || exit 1
bad=0
report() {
    echo "$*"
    bad=1
}

# Generated files are as long as they are.
generated='^(Cargo.lock|include/purlin.h|tests/abi/.*|bindings/.*constants.*|benches/results/.*)$'
files=$(git ls-files --cached --others --exclude-standard) && [ -n "$files" ] || die "git lists no files here"
while IFS= read -r file; do
    [ -f "$file" ] || continue
    [[ $file =~ $generated ]] && continue
    case $file in
    *.rs | *.cu | *.cuh | *.h | *.hpp | *.c | *.cpp | *.f90 | *.inc | *.m | *.py | *.sh | *.cmake | *CMakeLists.txt | Makefile)
        lines=$(wc -l <"$file")
        [ "$lines" -le 600 ] || report "$file: $lines lines, more than 600"
        if grep -nE '\b(TODO|FIXME|XXX|HACK)\b|todo!\(|unimplemented!\(|dbg!\(' "$file" | grep -v 'checks/sources.sh'; then
            [ "$file" = tools/checks/sources.sh ] || report "$file: unfinished work, above"
        fi
        if LC_ALL=C grep -n $'\r' "$file" | head -1; then report "$file: carriage returns"; fi
        if grep -nE '[[:blank:]]+$' "$file" | head -3; then report "$file: blanks at a line's end, above"; fi
        ;;
    esac
    case $file in
    *.sh | .ci/run) bash -n "$file" || report "$file: syntax" ;;
    *.py) "$PYTHON" -c 'import ast, sys; ast.parse(open(sys.argv[1]).read(), sys.argv[1])' "$file" || report "$file: syntax" ;;
    esac
done <<<"$files"
for file in tools/*.sh tools/checks/*.sh .ci/run; do
    [ -x "$file" ] || [ "$file" = tools/environment.sh ] || report "$file: is not executable"
done

# What is written twice, by name and order: the header and Fortran, CUDA and Rust.
"$PYTHON" tools/checks/mirrors.py --self-test || report "mirrors differ, above"

# Every thread is started by src/thread.rs, which says so where the system refuses one. Tests, in modules at a file's end or in
# files of their own, may start them as they like.
starts='(std::thread|[^:]\bthread)::Builder|std::thread::spawn|\b(s|scope)\.spawn|\bpthread_create\b|use std::thread(;|::\{|::spawn|::Builder)'
started=$(git ls-files 'src/*.rs' | grep -vE '^src/thread\.rs$|/tests(/[a-z_]+)?\.rs$|_tests\.rs$' | while IFS= read -r file; do
    awk 'after && /^mod .*\{/ { exit }
        { after = /^#\[cfg\((test|all\(test)/ || (after && /^#\[/) }
        !/^ *\/\// { print FILENAME ":" FNR ": " $0 }' "$file"
done | grep -E "$starts")
if [ -n "$started" ]; then
    report "$started"
    report "threads started outside src/thread.rs, above"
fi

# unsafe stays in ffi and backend.
if grep -rnE '\bunsafe\s*(\{|fn\b|impl\b|extern\b)' src --include='*.rs' | grep -vE '^src/(ffi|backend)/|/tests(/[a-z_]+)?\.rs:' | grep -vE ':\s*//'; then
    report "unsafe outside src/ffi and src/backend, above"
fi
exit $bad
