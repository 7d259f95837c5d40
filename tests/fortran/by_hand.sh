#!/usr/bin/env bash
# by_hand.sh COMPILER SOURCES LIBRARIES PROGRAMS: compiles the module without CMake in the order of order.txt, with default
# integers of 8 bytes and gfortran's check of pointers, and programs that use it so.
set -euo pipefail
compiler=$1 sources=$2 libraries=$3
shift 3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
diff <(cd "$sources" && ls ./*.f90 | sed 's#./##' | sort) <(sort "$sources/order.txt")
for file in $(cat "$sources/order.txt"); do
  "$compiler" -fdefault-integer-8 -fcheck=pointer -std=f2018 -O0 -I"$sources" -c "$sources/$file"
done
ar rcs libpurlin_fortran.a purlin*.o
for program in "$@"; do
  "$compiler" -fdefault-integer-8 -std=f2018 "$program" -L. -lpurlin_fortran -L"$libraries" -lpurlin \
    -Wl,-rpath,"$libraries" -o program
  ./program
done
