#!/usr/bin/env bash
# old_compilers.sh COMPILER SOURCES: the module compiles with gfortran 12 and newer and with other compilers. Older gfortrans
# stop at a line that says so. The version is written into copies of the source in place of the compiler's own.
set -euo pipefail
compiler=$1
sources=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

compiles() { # VERSION
  sed "s/compiler_version()/'$1'/" "$sources/purlin_strides.f90" >strides.f90
  grep -q "version = '$1'" strides.f90
  "$compiler" -std=f2018 -I"$sources" -fsyntax-only strides.f90 >messages 2>&1
}

for version in 'GCC version 12.2.0' 'GCC version 13.3.0 20240801' 'GCC version 20.1.0' 'flang version 20.1.0' 'NAG'; do
  compiles "$version" || { cat messages; echo "does not compile: $version"; exit 1; }
done
for version in 'GCC version 4.8.5' 'GCC version 9.4.0' 'GCC version 10.2.1 20210110' 'GCC version 11.4.0'; do
  ! compiles "$version" || { echo "compiles: $version"; exit 1; }
  grep -q gfortran_12_is_the_oldest messages || { cat messages; exit 1; }
done
