#!/usr/bin/env bash
# Runs every test in every language. Each step prints one line; a failing one also the end of its log, which is
# kept under target/test-logs. The last line counts single tests where a step has them, else steps.
#
#   tools/test.sh [STEP...]   only the named steps (`list` names them all); others they need must have run before
#
# A step exits with 77 when a tool it needs is missing. That is a skip, and with CI=true a failure. STEP_SECONDS bounds
# each step, so that one that hangs ends (default 3000).
set -u
source "$(dirname "$0")/environment.sh"
cd "$ROOT" || exit 1
LOGS=$TARGET/test-logs
export CARGO_TERM_COLOR=never CLICOLOR=0
mkdir -p "$LOGS"
# These builds need neither line numbers nor incremental compilation.
if [ "${CI:-}" = true ]; then export CARGO_PROFILE_DEV_DEBUG=false CARGO_INCREMENTAL=0; fi
passed=0
failed=0
skipped=0

# name | command. Order: first the steps that fail often and fast, then those that later steps need. Compiling the library
# takes longest: `compile` builds with fault injection for `rust` and `fuzz`, and all steps from `install` on share another.
STEPS='
sources     | tools/checks/sources.sh
format      | cargo fmt --all --check
header      | cargo test --locked -p purlin-header
clippy      | tools/checks/clippy.sh
compile     | tools/checks/rust.sh compile
rust        | tools/checks/rust.sh
fuzz        | tools/checks/fuzz.sh
rustdoc     | tools/checks/rustdoc.sh
notices     | tools/checks/notices.sh
install     | tools/checks/install.sh
library     | tools/checks/library.sh
release     | tools/checks/release.sh
headers     | tools/checks/headers.sh
c           | tools/checks/consumers.sh c
cpp         | tools/checks/consumers.sh cpp
fortran     | tools/checks/consumers.sh fortran
octave      | tools/checks/consumers.sh octave
python      | tools/checks/python.sh
hunt        | tools/hunt.sh --cases 4 --seed 20
complete    | tools/hunt.sh completeness --quick
peers       | tools/checks/peers.sh
readme      | tools/checks/readme.sh
package     | tools/checks/package.sh
abi         | tools/checks/abi.sh
asan        | tools/checks/asan.sh
valgrind    | tools/checks/valgrind.sh
demo        | tools/demo.sh
docs        | tools/docs.sh
'

# Adds the single tests that a log reports to the totals and prints them, or counts the step as one.
# Understood are cargo's `test result:`, ctest's `tests passed`, and pytest's last line.
count() { # STATUS LOG
    "$PYTHON" - "$1" "$2" <<'PY'
import re, sys
status, text = int(sys.argv[1]), open(sys.argv[2], errors="replace").read()
p = f = s = 0
for a, b, c in re.findall(r"^test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored", text, re.M):
    p, f, s = p + int(a), f + int(b), s + int(c)
for b, total in re.findall(r"^\d+% tests passed, (\d+) tests failed out of (\d+)", text, re.M):
    f, p = f + int(b), p + int(total) - int(b)
for a, b, c in re.findall(r"^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$", text, re.M):
    p, f, s = p + int(a), f + int(b), s + int(c or 0)
for line in re.findall(r"^=*\s*((?:\d+ \w+(?:, )?)+) in [\d.]+s(?: \([^)]*\))?\s*=*$", text, re.M):
    n = {word.rstrip("s"): int(number) for number, word in re.findall(r"(\d+) (\w+)", line)}
    p, f, s = p + n.get("passed", 0), f + n.get("failed", 0) + n.get("error", 0), s + n.get("skipped", 0)
if status == 77:
    p, f, s = 0, 0, 1
elif p + f + s == 0:
    p, f = (1, 0) if status == 0 else (0, 1)
elif status != 0 and f == 0:
    f = 1
print(p, f, s)
PY
}

run_step() { # NAME COMMAND
    local name=$1 command=$2 log=$LOGS/$1.log status start seconds p f s note=''
    start=$SECONDS
    # shellcheck disable=SC2086
    timeout -k 10 "${STEP_SECONDS:-3000}" $command >"$log" 2>&1 </dev/null
    status=$?
    [ "$status" -ne 124 ] || note=' (took too long)'
    seconds=$((SECONDS - start))
    read -r p f s < <(count "$status" "$log")
    if [ "$status" -eq 77 ]; then
        note=" ($(tail -n 1 "$log"))"
        if [ "${CI:-}" = true ]; then
            status=1 s=0 f=1
        fi
    elif [ $((p + f + s)) -gt 1 ]; then
        note=" ($p passed, $f failed, $s skipped)"
    fi
    passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
    case $status in
    0) printf 'PASS %-10s %4d s%s\n' "$name" "$seconds" "$note" ;;
    77) printf 'SKIP %-10s %4d s%s\n' "$name" "$seconds" "$note" ;;
    *)
        printf 'FAIL %-10s %4d s%s\n' "$name" "$seconds" "$note"
        sed 's/^/    /' <(tail -n 60 "$log")
        printf '    whole log: %s\n' "$log"
        ;;
    esac
}

wanted=" $* "
if [ "$wanted" = " list " ]; then
    sed -n 's/^\([a-z]*\) *|.*/\1/p' <<<"$STEPS"
    exit 0
fi
[ "$#" -gt 0 ] || tools/deps.sh
while IFS='|' read -r name command; do
    name=${name// /}
    [ -n "$name" ] || continue
    [ "$#" -eq 0 ] || [[ $wanted == *" $name "* ]] || continue
    run_step "$name" "$command"
done <<<"$STEPS"
printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
[ "$failed" -eq 0 ]
