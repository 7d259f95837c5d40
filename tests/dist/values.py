"""A product of known rank is found again, and the library that was loaded is named."""

import numpy as np
import purlin

A = np.sin(np.arange(3000.0)).reshape(100, 30) @ np.diag(np.r_[np.arange(1.0, 6), np.zeros(25)])
U, s, Vt = purlin.rsvd.compute(A, 5)
difference = np.linalg.norm((U * s) @ Vt - A) / np.linalg.norm(A)
assert difference < 1e-10, difference
print(f"Python: {difference:g}")
