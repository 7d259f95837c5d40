"""`python -m purlin` is the command `purlin`."""

import sys

from .cli import main_of_process

sys.exit(main_of_process())
