"""`python -m purlin` is the command `purlin`."""

import sys

from .cli import main

sys.exit(main())
