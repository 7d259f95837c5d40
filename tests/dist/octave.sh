# In a Debian with compilers: `pkg install` of the tarball that has the library inside.
command -v mkoctfile >/dev/null || exit 77
[ "$(octave-cli --eval 'disp(compare_versions(OCTAVE_VERSION, "7.0.0", ">="))')" = 1 ] || exit 77
octave-cli --quiet --eval "pkg install $(echo /dist/purlin-octave-*-linux-x86_64.tar.gz)"
octave-cli --quiet --eval "pkg load purlin; run('/source/tests/dist/octave.m')"
