"""Types that annotations name and that a program may ask for (`typing.get_type_hints`), without the packages that they are
of."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix as csr_matrix  # type: ignore[import-untyped,import-not-found,unused-ignore]
    from sklearn.utils import Tags as Tags  # type: ignore[import-untyped,import-not-found,unused-ignore]
    from typing_extensions import CapsuleType as CapsuleType
    from typing_extensions import Self as Self
    from typing_extensions import Unpack as Unpack
elif sys.version_info >= (3, 11):
    from typing import Self, Unpack
else:
    from typing import TypeVar

    Self = TypeVar("Self")

    class Unpack:
        """Python has it from 3.11 on."""

        def __class_getitem__(cls, item: object) -> object:
            return item


if not TYPE_CHECKING:
    # Those of SciPy and scikit-learn, and of Python from 3.13 on.
    csr_matrix, Tags, CapsuleType = Any, Any, object
