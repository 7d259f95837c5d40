#!/usr/bin/env bash
# Runs tests of SciPy, scikit-learn and networkx, from the installed packages, on purlin:
#
#   run.sh PYTHON [PYTEST_ARGUMENTS]
#
# HALF=first or second runs some of the modules, which take about as long as the others; the default is all.
# PYTHON has purlin and the packages of tools/requirements-peers.txt. plugin.py replaces the functions under test and prints
# the counts of each module. scikit-learn's other users of these functions are omitted to keep the run short: locally linear
# embedding, Isomap, factor analysis, dictionary learning, NMF.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
export PYTHONPATH=$here${PYTHONPATH:+:$PYTHONPATH} PYTHONDONTWRITEBYTECODE=1
# NumPy's products of small matrices are faster on one thread. purlin has two of its own.
export OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1
# scikit-learn skips its tests in single precision without this.
export SKLEARN_RUN_FLOAT32_TESTS=1
first=(
    sklearn.utils.tests.test_extmath
    sklearn.decomposition.tests.test_kernel_pca
    sklearn.decomposition.tests.test_truncated_svd
    sklearn.manifold.tests.test_spectral_embedding
    sklearn.cluster.tests.test_spectral
    sklearn.cluster.tests.test_bicluster
)
second=(
    scipy.sparse.linalg._eigen.arpack.tests.test_arpack
    scipy.sparse.linalg._eigen.tests.test_svds
    sklearn.decomposition.tests.test_pca
    networkx.linalg.tests.test_algebraic_connectivity
    networkx.linalg.tests.test_spectrum
)
case ${HALF:-} in
first) modules=("${first[@]}") ;;
second) modules=("${second[@]}") ;;
*) modules=("${first[@]}" "${second[@]}") ;;
esac
exec "$1" -m pytest -q -p plugin -p no:cacheprovider -W ignore --no-header --tb=short -rfEsxX --durations=10 "${@:2}" --pyargs \
    "${modules[@]}"
