#!/usr/bin/env bash
# Builds the gateway from the installed package and runs the tests and the example in Octave:
#
#   run.sh PREFIX          in a folder of its own, which gets purlin_mex.mex
#
# Leaves with 77 when Octave is not there.
set -euo pipefail
prefix=$1
here=$(cd "$(dirname "$0")" && pwd)
for tool in octave-cli mkoctfile; do
  command -v "$tool" >/dev/null || { echo "no $tool"; exit 77; }
done
package=$prefix/share/purlin/matlab
golden=$here/../golden
data=$here/../../examples-c/data
octave() { octave-cli --quiet --no-init-file --no-history --eval "addpath('$package', '$PWD', '$here'); $1"; }
# A relative folder stays on the path, in spite of the changes of the current folder.
(
  work=$PWD
  cd "$package/.."
  octave-cli --quiet --no-init-file --no-history --eval "addpath('$(basename "$package")'); purlin_build('$prefix', '$work');
    if isempty(which('purlin.version')), error('purlin_build: the package is off the path'); end"
) 2>&1 | tee build.log
if grep -q load_path build.log; then exit 1; fi
# A script that fails to start must not pass for one that succeeded.
octave "run_tests('$golden', '$data');" | tee run.log
grep -q '^all tests passed$' run.log
octave "addpath('$package/examples'); fibres('$data');" | tee fibres.log
awk -f "$here/../same_directions.awk" "$golden/sshopm/fibres.txt" fibres.log
