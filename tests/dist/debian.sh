# In a Debian of the version that the packages were made on: installed by apt, used from C, Python and Octave, removed.
apt-get -y --no-install-recommends install /dist/*.deb
mkdir /work
cd /work
echo "== C"
# shellcheck disable=SC2046
cc -std=c99 /source/tests/package/main.c -o by_pkg_config $(pkg-config --cflags --libs purlin)
./by_pkg_config
echo "== CMake"
cmake -S /source/tests/dist -B build
cmake --build build
for program in dist_c dist_cpp dist_fortran; do "build/$program"; done
echo "== Python"
purlin info
python3 /source/tests/dist/values.py
echo "== Octave"
octave-cli --quiet --eval "pkg load purlin; run('/source/tests/dist/octave.m')"
apt-get -y purge libpurlin0.1
if ls /usr/lib/*/libpurlin* 2>/dev/null; then exit 1; fi
