#!/usr/bin/env bash
# temporaries.sh COMPILER FOLDER:FOLDER: with the modules in these folders, every call that uses an array in place compiles
# with an array that has the target attribute. The compiler refuses other arrays, and expressions.
set -euo pipefail
compiler=$1
IFS=: read -ra folders <<<"$2"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

compiles() { # CALL
  cat >program.f90 <<END
program lends
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  use purlin
  implicit none
  type(purlin_context) :: c
  type(purlin_tensor) :: t
  type(purlin_matrix) :: m
  type(purlin_tt) :: x
  type(purlin_tt_core) :: core
  real(real32), target :: r32(4, 4)
  real(real64), target :: r64(4, 4), good(4)
  real(real64) :: bad(4), square(4, 4)
  complex(real64), target :: c64(4, 4)
  integer(int32), target :: i32(4)
  integer(int64), target :: i64(4)
  integer(int32) :: plain(4)
  call $1
end program
END
  "$compiler" -std=f2018 "${folders[@]/#/-I}" -fsyntax-only program.f90 >messages 2>&1
}

good=(
  't%borrow(c, r32)' 't%borrow(c, r64(:, 2:3))' 't%borrow(c, c64%re)' 't%borrow(c, i32)' 't%borrow(c, i64)'
  't%borrow_symmetric(c, 2, 2, r64)' 'm%borrow(c, r64)' 'm%borrow(c, r64(1:2, :))' 'm%borrow(c, c64)'
  'm%csr(c, 4, i32, i32, good)' 'm%csr(c, 4_int64, i64, i64, good)' 'm%csr(c, 4, i32, i32)'
  'x%borrow_flat(c, [2, 2], [1, 1, 1], good)' 'core%borrow(r64)'
)
bad=(
  't%borrow(c, bad)' 't%borrow(c, 2 * r64)' 't%borrow(c, (r64))' 't%borrow(c, transpose(r64))'
  't%borrow(c, plain)' 't%borrow_symmetric(c, 2, 2, 2 * r64)' 'm%borrow(c, square)' 'm%borrow(c, 2 * r64)'
  'm%borrow(c, conjg(c64))' 'm%csr(c, 4, i32, i32, bad)' 'm%csr(c, 4, i32 + 1, i32, good)'
  'm%csr(c, 4, i32, plain)' 'x%borrow_flat(c, [2, 2], [1, 1, 1], 2 * good)' 'core%borrow(-r64)'
)
for call in "${good[@]}"; do
  compiles "$call" || { cat messages; echo "does not compile: $call"; exit 1; }
done
for call in "${bad[@]}"; do
  ! compiles "$call" || { echo "compiles, with a copy of the array: $call"; exit 1; }
  grep -q 'Error: ' messages || { cat messages; exit 1; }
done
