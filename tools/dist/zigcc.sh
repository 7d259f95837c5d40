#!/usr/bin/env bash
# C compiler and linker of the release build: zig, for the glibc that RELEASE_GLIBC names.
exec "$RELEASE_VENV/bin/cargo-zigbuild" zig cc -- -target "x86_64-linux-gnu.$RELEASE_GLIBC" "$@"
