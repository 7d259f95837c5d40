#!/usr/bin/env bash
# Lays everything that a GPU machine without cargo needs into target/gpu-bundle (under 60 MiB): library and headers,
# test and bench executables, GPU benches built by nvcc, the Python package with its tests, the peers' scripts, data,
# and run.sh, which runs it all there. That machine needs a driver, gcc, g++ and python3 (NumPy, for peers CuPy, PyTorch).
set -euo pipefail
source "$(dirname "$0")/environment.sh"
cd "$ROOT"
"$ROOT/tools/deps.sh"
bundle=$TARGET/gpu-bundle
rm -rf "$bundle"
mkdir -p "$bundle"/{lib,tests,fault,benches,python}

# executables NAME-OF-FOLDER CARGO-ARGUMENT...: builds, then copies each test or bench executable under its plain
# name, stripped; the unit tests of the member purlin-rsvd are `rsvd`. Release: the debug ones are larger than the bundle may be.
executables() {
    local folder=$bundle/$1
    shift
    "$cargo" cargo "$@" --locked --no-run --message-format=json | "$PYTHON" -c '
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message.get("reason") == "compiler-message" and message["message"]["level"] == "error":
        sys.stderr.write(message["message"]["rendered"])
    if message.get("reason") == "compiler-artifact" and message.get("executable") and message["profile"]["test"] | ("bench" in message["target"]["kind"]):
        kind = message["target"]["kind"][0]
        name = message["target"]["name"].removeprefix("purlin_")
        print(name, message["executable"], sep="\t")
' | while IFS=$'\t' read -r name executable; do
        cp "$executable" "$folder/$name"
        strip "$folder/$name"
    done
}

nvcc=${NVCC:-$(command -v nvcc || echo "$TOOLCHAIN/nvidia/cu13/bin/nvcc")}
[ -x "$nvcc" ] || die "no nvcc: the bundle would have no GPU code"

say "gpu-bundle: library"
PREFIX=$TARGET/gpu-prefix "$ROOT/tools/install.sh" >/dev/null
cp -a "$TARGET"/gpu-prefix/lib/libpurlin.so* "$bundle/lib/"
cp -R "$TARGET/gpu-prefix/include" "$bundle/include"

say "gpu-bundle: tests"
# Tests need no provenance of the code, and writing it takes longer than the tests.
tests_profile() { env CARGO_PROFILE_RELEASE_DEBUG=false "$@"; }
cargo=tests_profile
# One build for both: operations can fail on request, and do where a test requests it.
executables tests test --release --workspace --exclude purlin-header --features fault-injection --lib --test fault
mv "$bundle/tests/fault" "$bundle/fault/"
cargo=env
say "gpu-bundle: benches"
# The benches of this processor are for machines with cargo.
for bench in benches/gpu*.rs; do
    [ ! -e "$bench" ] || executables benches bench --bench "$(basename "$bench" .rs)"
done
ls "$bundle/benches" >"$bundle/benches.list"

for source_ in benches/gpu/*.cu; do
    [ -e "$source_" ] || continue
    name=$(basename "$source_" .cu)
    # The pip toolkit has its libraries in lib, where nvcc looks in lib64.
    "$nvcc" -O3 -std=c++17 -gencode arch=compute_90,code=sm_90 -gencode arch=compute_80,code=compute_80 -cudart static \
        -L"$(dirname "$(dirname "$nvcc")")/lib" -I"$bundle/include" -Icuda "$source_" -o "$bundle/benches/$name" \
        -L"$bundle/lib" -lpurlin -Xlinker -rpath -Xlinker '$ORIGIN/../lib'
done

# Command-line arguments of the benches, a line each; the real volume's tensors as plain doubles for the kernels.
arguments=$bundle/benches.arguments
: >"$arguments"
for order in 4 8; do
    archive=tests/golden/sshopm/dwi_small64d_csa$order.npz
    [ ! -e "$archive" ] || "$PYTHON" - "$archive" "$bundle/csa$order.f64" <<'PY'
import struct, sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as archive:
    data = archive.read("tensor.npy")
# numpy's format 1.0: a magic of 8 bytes, the header's length in 2, the header, then the array.
assert data[:8] == b"\x93NUMPY\x01\x00" and b"'<f8'" in data[:128]
with open(sys.argv[2], "wb") as file:
    file.write(data[10 + struct.unpack("<H", data[8:10])[0]:])
PY
done
[ ! -e "$bundle/csa4.f64" ] || echo 'sshopm_kernels both ../csa4.f64 ../csa8.f64' >>"$arguments"

say "gpu-bundle: Python, peers, data"
# Input files have the same paths in the bundle as in the repository.
copy() {
    local path
    for path in "$@"; do
        [ -e "$path" ] || continue
        mkdir -p "$bundle/source/$(dirname "$path")"
        cp -R "$path" "$bundle/source/$(dirname "$path")/"
    done
}
copy bindings/python tests/python tests/hunt tests/golden tests/data benches/compare examples-c benches/data Cargo.toml \
    tests/c/*.h tests/c/*.c tests/cpp/*.hpp tests/cpp/*.cpp
cp -R bindings/python/purlin "$bundle/python/purlin"
find "$bundle" -name __pycache__ -prune -exec rm -rf {} +

cp tools/gpu-run.sh "$bundle/run.sh"
cp tools/bench_report.py "$bundle/report.py"
chmod +x "$bundle/run.sh"
commit=$(git rev-parse HEAD 2>/dev/null || echo unknown)
[ -z "$(git status --porcelain 2>/dev/null)" ] || commit="$commit with changes"
{
    echo "commit=$commit"
    echo "version=$(package_version)"
    echo "built=$(date -u +%Y-%m-%dT%H:%M:%SZ)"
    echo "rustc=$(rustc --version)"
    echo "nvcc=$("$nvcc" --version | tail -n 1)"
    echo "source=$ROOT"
    echo "soname=$(package_soname)"
} >"$bundle/BUNDLE"

# Library and programs contain all kernels. In one archive with a window of 64 MiB they are stored only once.
"$PYTHON" - "$bundle" <<'PY'
import shutil, sys, tarfile
from pathlib import Path
bundle = Path(sys.argv[1])
folders = ("lib", "tests", "fault", "benches")
with tarfile.open(bundle / "programs.tar.xz", "w:xz", preset=9) as archive:
    for folder in folders:
        archive.add(bundle / folder, folder)
for folder in folders:
    shutil.rmtree(bundle / folder)
PY
# The largest bundle that can be copied to a machine that is available for minutes.
most=$((60 * 1024 * 1024))
size=$(du -sb "$bundle" | cut -f1)
say "gpu-bundle: $bundle, $((size / 1024 / 1024)) MiB"
if [ "$size" -ge "$most" ]; then
    say "gpu-bundle: the largest files:"
    find "$bundle" -type f -printf '%s %P\n' | sort -rn | sed -n '1,10s/^/  /p' >&2
    die "the bundle has $size bytes, more than the $most (60 MiB) it may have"
fi
