#!/usr/bin/env bash
# Runs the programs of `make gpu-bundle` on a machine with a GPU: tests, sanitizer, fault loop, benches with peers.
#
#   ./run.sh [OUT [STEP...]]    STEP: environment tests fault c memory python hunt benches peers sanitizer (default: all,
#                               in this order)
#
# OUT (default results/) gets table.txt, results.json and logs.txt. No failure stops it; the exit status is the number
# of failed steps. STEP_SECONDS bounds each step (default 600), BUDGET_SECONDS all of them together (default: none);
# PEERS="rsvd_gpu out methods; fdk_gpu one" runs these comparisons alone, with those arguments;
# the sanitizer runs the GPU tests whose names contain SANITIZER_FILTER (default: all) and not `large`: those repeat others
# on many more tensors, and would take it hours.
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
out=${1:-$here/results}
[ $# -gt 0 ] && shift
wanted=" ${*:-environment tests fault c memory python hunt benches peers sanitizer} "
limit=${STEP_SECONDS:-600}
budget=${BUDGET_SECONDS:-1000000}
mkdir -p "$out"
out=$(cd "$out" && pwd)
work=$(mktemp -d)
mkdir "$work/logs" "$work/json"
table=$out/table.txt
: >"$table"
failures=0
started=$(date -u +%Y-%m-%dT%H:%M:%SZ)

value() { sed -n "s/^$1=//p" "$here/BUNDLE"; }

# Library and programs are packed in an archive.
if [ -e "$here/programs.tar.xz" ]; then
    python3 -c 'import sys, tarfile; tarfile.open(sys.argv[1]).extractall(sys.argv[2])' "$here/programs.tar.xz" "$here" || exit 1
    rm "$here/programs.tar.xz"
fi
# Links and executable bits do not survive every way of copying.
library=$(cd "$here/lib" && ls libpurlin.so.*.*.* | head -n 1)
soname=$(value soname)
ln -sfn "$library" "$here/lib/$soname"
ln -sfn "$soname" "$here/lib/libpurlin.so"
chmod -R u+x "$here/tests" "$here/fault" "$here/benches" 2>/dev/null

# Programs find their data by cargo's variable, or by the path of the repository they were built in: where that path
# is free, it points to the bundle during the run.
export CARGO_MANIFEST_DIR=$here/source
baked=$(value source)
linked=
if [ -n "$baked" ] && [ ! -e "$baked" ] && mkdir -p "$(dirname "$baked")" 2>/dev/null && ln -s "$here/source" "$baked" 2>/dev/null; then
    linked=$baked
fi
trap '[ -z "$linked" ] || rm -f "$linked"; rm -rf "$work"' EXIT
export LD_LIBRARY_PATH=$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export PURLIN_LIBRARY=$here/lib/$soname
export PYTHONPATH=$here/python${PYTHONPATH:+:$PYTHONPATH}
export PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1
export CRITERION_HOME=$work/criterion
PURLIN_COMMIT=$(value commit)
export PURLIN_COMMIT
cd "$here/source" || exit 1

# step NAME COMMAND...: output to a log; status, time and last line to the table. A bench finds in
# PURLIN_BENCH_JSON where to write its figures.
step() {
    local name=$1 file=${1//[\/ ]/-} start=$SECONDS seconds=$limit status word last
    shift
    [ $((budget - SECONDS)) -ge "$seconds" ] || seconds=$((budget - SECONDS))
    if [ "$seconds" -gt 0 ]; then
        PURLIN_BENCH_JSON=$work/json/$file.json timeout -k 10 "$seconds" "$@" >"$work/logs/$file.log" 2>&1 </dev/null
        status=$?
    else
        echo "no time left" >"$work/logs/$file.log"
        status=77
    fi
    case $status in
    0) word=PASS ;;
    77) word=SKIP ;;
    *)
        word=FAIL
        failures=$((failures + 1))
        ;;
    esac
    last=$(grep -v '^[[:space:]]*$' "$work/logs/$file.log" | tail -n 1 | tr '\t\r' '  ' | cut -c1-110)
    [ "$status" -ne 124 ] || last="stopped after $seconds s; $last"
    printf '%-4s %-36s %4d s  %s\n' "$word" "$name" $((SECONDS - start)) "$last" | tee -a "$table"
    [ "$word" != FAIL ] || sed 's/^/      /' <(tail -n 15 "$work/logs/$file.log")
}

# Written after each group of steps, so that an interrupted run leaves its results so far.
report() {
    local log
    for log in "$work"/logs/*.log; do
        printf '\n======== %s\n' "$(basename "$log" .log)"
        cat "$log"
    done >"$out/logs.txt"
    python3 "$here/report.py" --bundle "$here/BUNDLE" --table "$table" --json "$work/json" --logs "$work/logs" --criterion "$CRITERION_HOME" \
        --started "$started" --output "$out/results.json" >/dev/null
}

has() { [[ $wanted == *" $1 "* ]]; }
# A step that is a function of this script, in a shell of its own so that its time can be bounded.
in_shell() { step "$1" bash -c "here='$here'; $(declare -f "$2"); $2"; }

environment() {
    cat "$here/BUNDLE"
    uname -a
    lscpu
    gcc --version | head -n 1
    nvcc --version | tail -n 1
    python3 -c 'import sys; print("python", sys.version)'
    for package in numpy cupy torch dipy; do
        python3 -c "import $package; print('$package', $package.__version__)" 2>/dev/null || echo "$package: none"
    done
    sha256sum "$here"/lib/libpurlin.so.*.*.*
    nvidia-smi
    nvidia-smi --query-gpu=name,driver_version,memory.total,clocks.max.sm,clocks.max.mem,power.limit --format=csv,noheader
}
if has environment; then in_shell environment environment; fi

# Ignored tests are those that need a GPU: here they run, and the rest too, on this processor.
if has tests; then
    for program in "$here"/tests/*; do
        # Faults are injected into the whole process, so the tests that do so run after the others, one by one.
        step "test $(basename "$program")" "$program" --include-ignored --skip may_fail_once
        # These tests choose their backend: their assertions must hold on a GPU too.
        if [ "$(basename "$program")" = sshopm ]; then
            step "test sshopm, on the GPU" env PURLIN_TEST_BACKEND=cuda "$program" sshopm::tests
        fi
        step "test $(basename "$program"), faults" "$program" --include-ignored --test-threads 1 may_fail_once
    done
    report
fi

if has fault; then
    for program in "$here"/fault/*; do
        step "fault $(basename "$program")" "$program" --include-ignored --test-threads 1
    done
fi

# The programs in C whose context is the test backend's, by their sources: they call test_context or test_backend, or
# all families.
c_programs() {
    local path name
    for path in $(grep -lE 'test_context|test_backend|"families\.h"|"children\.h"' tests/c/*.c); do
        name=$(basename "$path" .c)
        case $name in
        # Its own step.
        memory_refused) ;;
        # Limits of the address space: the driver reserves more addresses than a machine has memory.
        memory_limits) ;;
        # Limits on the number of threads, which include the driver's own.
        thread_limit) ;;
        # Processes that are killed at each file operation or write, with closed streams, or with no keys left: hundreds
        # of them, and each would initialize CUDA. They test files and the host, not a backend.
        broken_off | host_process | files_limits | files_written) ;;
        *) echo "$name" ;;
        esac
    done
}
c_program() { # NAME
    local more=
    # The volume is read as the example reads it.
    ! grep -q 'nifti\.h' "tests/c/$1.c" || more=examples-c/nifti.c
    # shellcheck disable=SC2086
    gcc -std=c99 -I"$here/include" "tests/c/$1.c" $more -DPURLIN_GOLDEN='"tests/golden"' -DPURLIN_DATA='"examples-c/data"' \
        -L"$here/lib" -lpurlin -lpthread -lm -o "$work/$1" && PURLIN_TEST_BACKEND=cuda "$work/$1"
}
# Those in C++, by the same rule.
cpp_program() { # NAME
    command -v g++ >/dev/null || { echo "no g++"; exit 77; }
    g++ -std=c++17 -I"$here/include" "tests/cpp/$1.cpp" -L"$here/lib" -lpurlin -lpthread -o "$work/cpp_$1" &&
        PURLIN_TEST_BACKEND=cuda "$work/cpp_$1"
}
if has c; then
    export work
    for name in $(c_programs); do
        step "c $name" bash -c "here='$here'; $(declare -f c_program); c_program $name"
    done
    for path in $(grep -l test_backend tests/cpp/*.cpp); do
        name=$(basename "$path" .cpp)
        step "c++ $name" bash -c "here='$here'; $(declare -f cpp_program); cpp_program $name"
    done
fi

# Calls whose large requests of host memory are refused, those of the driver among them, from C.
memory() {
    gcc -std=c99 -I"$here/include" tests/c/memory_refused.c -DPURLIN_GOLDEN='"tests/golden"' \
        -DPURLIN_DATA='"examples-c/data"' -L"$here/lib" -lpurlin -lpthread -ldl -lm -o "$work/memory_refused" &&
        PURLIN_TEST_BACKEND=cuda "$work/memory_refused" 4 large
}
if has memory; then
    export work
    in_shell memory memory
fi

if has python; then
    step "python tests" python3 -m pytest -q -p no:cacheprovider tests/python
fi

# Random attacks with a new seed, which the log has.
if has hunt; then
    step "hunt" python3 tests/hunt/run.py --backend cuda --seconds "${HUNT_SECONDS:-120}"
    # Without a backend it takes the GPU.
    step "completeness" python3 tests/hunt/completeness.py --quick
fi

if has benches; then
    for program in "$here"/benches/*; do
        [ -e "$program" ] || continue
        name=$(basename "$program")
        # Those that cargo built take --bench.
        if grep -qx "$name" "$here/benches.list"; then
            step "bench $name" "$program" --bench
        else
            # shellcheck disable=SC2046
            step "bench $name" "$program" $(sed -n "s/^$name //p" "$here/benches.arguments")
        fi
    done
    report
fi

if has peers; then
    for script in benches/compare/*.py; do
        name=$(basename "$script" .py)
        # A module that the others import has no `__main__` part.
        grep -q '__main__' "$script" || continue
        if [ -z "${PEERS:-}" ]; then
            step "peers $name" python3 "$script"
            continue
        fi
        tr ';' '\n' <<<"$PEERS" | while read -r peer arguments; do
            [ "$peer" != "$name" ] || echo "$arguments"
        done >"$work/arguments"
        while read -r arguments <&3; do
            # shellcheck disable=SC2086
            step "peers $name${arguments:+ $arguments}" python3 "$script" $arguments
        done 3<"$work/arguments"
    done
    report
fi

# Last, because it takes most of the time and may use all that is left of the budget.
sanitize() { # TOOL PROGRAM
    # Tests that provoke an error of the driver, which is an error to the sanitizer too: a trap in a kernel, a kernel that
    # does not exist, more memory than there is. Any other error fails the step.
    local log status provoked='
        --skip a_dead_context_is_reported_from_then_on
        --skip kernels_load_take_their_parameters_and_get_their_shared_memory
        --skip limits_and_the_device_itself_refuse_too_much'
    command -v compute-sanitizer >/dev/null || { echo "no compute-sanitizer"; exit 77; }
    # Real graphs, thousands of products each, and sizes beyond 32 bits: lanczos::gpu::tests launches the same kernels.
    provoked="$provoked --skip beyond_32_bits --skip on_a_gpu::recorded --skip three_copies_of_a_graph
        --skip the_plain_recurrence_accepts"
    # Dozens of whole reconstructions, which take racecheck minutes: fdk::tests::kernels launches the same kernels on less.
    [ "$1" != racecheck ] || provoked="$provoked --skip fdk::tests::device"
    log=$(mktemp)
    # shellcheck disable=SC2086
    compute-sanitizer --tool "$1" --error-exitcode 9 "$2" --ignored --test-threads 1 --skip large $provoked ${SANITIZER_FILTER:-} 2>&1 | tee "$log"
    status=${PIPESTATUS[0]}
    if grep -q 'Device not supported' "$log"; then
        echo "compute-sanitizer does not support this device here"
        status=77
    fi
    rm -f "$log"
    exit "$status"
}
if has sanitizer; then
    for program in "$here"/tests/*; do
        # shellcheck disable=SC2086
        [ -n "$("$program" --list --ignored ${SANITIZER_FILTER:-} 2>/dev/null | grep ': test$')" ] || continue
        for tool in memcheck racecheck initcheck; do
            step "$tool $(basename "$program")" bash -c "$(declare -f sanitize); sanitize $tool '$program'"
        done
    done
    report
fi

report
passes=$(grep -c '^PASS' "$table")
skips=$(grep -c '^SKIP' "$table")
printf '%d passed, %d failed, %d skipped\n' "$passes" "$failures" "$skips" | tee -a "$table"
exit "$failures"
