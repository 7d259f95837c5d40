"""Puts a built library into the wheel: of Python alone it is for any machine, with a library for one kind of machine.

PURLIN_WHEEL_LIBRARY names the library, PURLIN_WHEEL_PLATFORM the tag of its platform, PURLIN_WHEEL_SBOM its bill of
materials. Without the first the wheel has no library, and the package finds one when it is imported.
"""

import os
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Library(BuildHookInterface):  # type: ignore[type-arg]
    """Hatchling finds the hook by its base class."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        library = os.environ.get("PURLIN_WHEEL_LIBRARY")
        if not library:
            return
        major, minor = self.metadata.version.split(".")[:2]
        soname = f"libpurlin.so.0.{minor}" if major == "0" else f"libpurlin.so.{major}"
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{os.environ['PURLIN_WHEEL_PLATFORM']}"
        build_data["force_include"][library] = f"purlin/{soname}"
        if bill := os.environ.get("PURLIN_WHEEL_SBOM"):
            build_data["sbom_files"].append(bill)
