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
# Words of the caller's: files of tests, or none for all, whose skips are then compared with a list.
if [ "${PYTHON_TESTS-all}" = all ]; then
    lists=(/source/tests/dist/expected_skips.txt)
    bin/python -c 'import sys; sys.exit(sys.version_info >= (3, 10))' && lists+=(/source/tests/dist/expected_skips_python39.txt)
    cat "${lists[@]}" >skips.txt
    PYTHON_TESTS="/source/tests/python --expected-skips /work/skips.txt"
fi
# By a pipe: a test limits the size of files, which would be that of the log too.
# shellcheck disable=SC2086
bin/python -m pytest -q -p no:cacheprovider $PYTHON_TESTS | cat
