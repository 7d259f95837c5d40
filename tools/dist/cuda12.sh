#!/usr/bin/env bash
# Lays nvcc of CUDA 12.4 into a folder: the programs from Debian's package, of which nothing is installed, headers and libdevice
# from PyPI, whose packages of CUDA 12 lack the compiler itself. Needs apt-get, no root.
#
#   cuda12.sh FOLDER
set -euo pipefail
source "$(dirname "$0")/../environment.sh"
folder=$1
suite=trixie
package=nvidia-cuda-toolkit=12.4.131~12.4.1-2
work=$TARGET/cuda12-work
rm -rf "$work" "$folder"
mkdir -p "$work/lists/partial" "$work/archives" "$folder/bin" "$folder/nvvm/bin" "$folder/include"
# The archive that this machine has its packages from.
archive=$(apt-get indextargets --format '$(REPO_URI)' 'Origin: Debian' 'Component: main' | grep -v security | head -n 1)
[ -n "$archive" ] || die "apt-get knows no Debian archive; run apt-get update"
echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $archive $suite main contrib non-free" >"$work/sources.list"
apt=(apt-get -qq -o "Dir::Etc::sourcelist=$work/sources.list" -o Dir::Etc::sourceparts=- -o "Dir::State::lists=$work/lists" -o "Dir::Cache=$work"
    -o APT::Sandbox::User=)
"${apt[@]}" update
(cd "$work" && "${apt[@]}" download "$package" && dpkg -x nvidia-cuda-toolkit_*.deb debian)
"$PYTHON" -m venv "$work/venv"
"$work/venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-input --no-deps --target "$work/pypi" -r "$ROOT/tools/requirements-cuda12.txt"
programs=$work/debian/usr
cp "$programs/lib/nvidia-cuda-toolkit/bin/nvcc" "$programs"/bin/{cudafe++,ptxas,fatbinary,nvlink,bin2c,cuobjdump} "$folder/bin/"
cp -R "$programs/lib/nvidia-cuda-toolkit/bin/crt" "$folder/bin/"
cp "$programs/lib/nvidia-cuda-toolkit/bin/cicc" "$folder/nvvm/bin/"
cp -R "$work/pypi/nvidia/cuda_nvcc/nvvm/libdevice" "$folder/nvvm/"
for part in nvcc runtime cccl; do cp -R "$work/pypi/nvidia/cuda_$part/include/." "$folder/include/"; done
# Where nvcc, which reads this file beside itself, finds its parts.
cat >"$folder/bin/nvcc.profile" <<'PROFILE'
TOP = $(_HERE_)/..
CICC_PATH = $(TOP)/nvvm/bin
NVVMIR_LIBRARY_DIR = $(TOP)/nvvm/libdevice
PATH += $(CICC_PATH):$(_HERE_):
INCLUDES += "-I$(TOP)/include" $(_SPACE_)
PROFILE
chmod -R a+rx "$folder/bin" "$folder/nvvm/bin"
"$folder/bin/nvcc" --version | holds 'release 12\.4' || die "$folder/bin/nvcc is not that of CUDA 12.4"
rm -rf "$work"
