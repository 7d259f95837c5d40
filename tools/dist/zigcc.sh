#!/usr/bin/env bash
# C compiler and linker of the release build: zig, for the glibc that RELEASE_GLIBC names.
# Without -fno-sanitize zig adds checks to C code that is compiled without optimization, as that of build scripts, which other
# linkers have no library for.
exec "$RELEASE_VENV/bin/cargo-zigbuild" zig cc -- -target "${RELEASE_ARCH:-x86_64}-linux-gnu.$RELEASE_GLIBC" -fno-sanitize=undefined "$@"
