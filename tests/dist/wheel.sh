# In a Debian with Python's venv and no compiler: the wheel and NumPy without a network, the command, then the tests.
if command -v cc || command -v gcc || command -v cargo; then
    echo "there is a compiler, so this shows nothing"
    exit 1
fi
python3 -m venv /work
cd /work
bin/pip install --disable-pip-version-check --no-index --find-links /wheels "$(echo /dist/purlin-*.whl)" pytest nibabel scipy scikit-learn
bin/purlin info
bin/python /source/tests/dist/values.py
bin/purlin example svd
# Words of the caller's: files of tests, or none for all.
if [ "${PYTHON_TESTS-all}" = all ]; then PYTHON_TESTS=/source/tests/python; fi
# By a pipe: a test limits the size of files, which would be that of the log too.
# shellcheck disable=SC2086
bin/python -m pytest -q -p no:cacheprovider $PYTHON_TESTS | cat
