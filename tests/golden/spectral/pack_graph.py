"""Packs a symmetric pattern from a .mtx.gz file into gaps, for graphs whose text is too large for a repository (numpy, scipy).

The file is the gzip of unsigned LEB128 numbers: n; for each vertex i from 0 its count of neighbours j >= i; then for each
vertex these neighbours in ascending order, the first less i, the others less the one before.
Run:  python pack_graph.py ego-Twitter.mtx.gz ego-Twitter.gaps.gz"""

import gzip
import sys

import numpy as np
import scipy.io as sio
import scipy.sparse as sp


def leb128(numbers):
    """The bytes of numbers below 2^21."""
    low = np.stack([numbers & 127, numbers >> 7 & 127, numbers >> 14], 1)
    long = np.stack([numbers < 0, numbers >= 128, numbers >= 1 << 14], 1)
    more = np.column_stack([long[:, 1:], np.zeros(len(numbers), bool)])
    kept = long | (np.arange(3) == 0)
    return (low | more * 128).astype(np.uint8)[kept].tobytes()


def pack(source, target):
    upper = sp.triu(sio.mmread(source, spmatrix=False), format="csr")
    upper.sum_duplicates()
    rows = np.repeat(np.arange(upper.shape[0]), np.diff(upper.indptr))
    before = np.concatenate([[0], upper.indices[:-1]])
    first = np.diff(rows, prepend=-1) != 0
    gaps = upper.indices - np.where(first, rows, before)
    numbers = np.concatenate([[upper.shape[0]], np.diff(upper.indptr), gaps]).astype(np.int64)
    with open(target, "wb") as file:
        file.write(gzip.compress(leb128(numbers), 9, mtime=0))


if __name__ == "__main__":
    pack(*sys.argv[1:])
