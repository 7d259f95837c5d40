# In a Debian with compilers: the SDK under a folder of its own, by pkg-config and find_package, then Octave and Python.
mkdir /opt/moved
tar -C /opt/moved --strip-components=1 -xf /dist/purlin-*-linux-x86_64.tar.xz
sdk=/opt/moved
mkdir /work
cd /work
echo "== pkg-config"
# shellcheck disable=SC2046
cc -std=c99 /source/tests/package/main.c -o by_pkg_config $(PKG_CONFIG_PATH=$sdk/lib/pkgconfig pkg-config --cflags --libs purlin) -Wl,-rpath,$sdk/lib
./by_pkg_config
echo "== find_package"
cmake -S /source/tests/dist -B build -DCMAKE_PREFIX_PATH=$sdk
cmake --build build
for program in build/dist_*; do "$program"; done
if command -v octave-cli >/dev/null && [ "$(octave-cli --eval 'disp(compare_versions(OCTAVE_VERSION, "7.0.0", ">="))')" = 1 ]; then
    echo "== Octave"
    octave-cli --quiet --eval "addpath('$sdk/share/purlin/matlab'); purlin_build; run('/source/tests/dist/octave.m')"
fi
if python3 -c 'import sys, numpy
sys.exit(sys.version_info < (3, 9) or tuple(map(int, numpy.__version__.split(".")[:2])) < (1, 24))' 2>/dev/null; then
    echo "== Python"
    PYTHONPATH=$sdk/share/purlin/python python3 /source/tests/dist/values.py
fi
