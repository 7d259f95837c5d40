"""Conan recipe that packs the SDK of a release: `conan create .` with the SDK's tarball beside this file."""

from pathlib import Path

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.files import copy, unzip


class Purlin(ConanFile):
    """The library with its C and C++ headers."""

    name = "purlin"
    version = "@VERSION@"
    description = "Tensors, tensor trains, sparse spectra, cone-beam CT, randomized SVD and PCA on CPUs and NVIDIA GPUs"
    license = "MIT OR Apache-2.0"
    topics = ("linear-algebra", "tensor", "svd", "ct", "cuda")
    package_type = "shared-library"
    # The interface is C: compilers and build types of the consumer do not matter.
    settings = "os", "arch"
    exports_sources = "purlin-*-linux-x86_64.tar.xz"

    def validate(self) -> None:
        if (str(self.settings.os), str(self.settings.arch)) != ("Linux", "x86_64"):
            raise ConanInvalidConfiguration("the SDK is for Linux on x86_64")

    def build(self) -> None:
        unzip(self, str(Path(self.source_folder) / f"purlin-{self.version}-linux-x86_64.tar.xz"), strip_root=True)

    def package(self) -> None:
        for pattern in ("include/*", "lib/libpurlin.so*", "share/*"):
            copy(self, pattern, self.build_folder, self.package_folder)
        documents = Path(self.build_folder) / "share/doc/purlin"
        for pattern in ("LICENSE-*", "THIRD-PARTY.txt", "purlin.cdx.json"):
            copy(self, pattern, str(documents), str(Path(self.package_folder) / "licenses"))

    def package_info(self) -> None:
        self.cpp_info.libs = ["purlin"]
        self.cpp_info.set_property("cmake_file_name", "Purlin")
        self.cpp_info.set_property("cmake_target_name", "Purlin::purlin")
        self.cpp_info.set_property("pkg_config_name", "purlin")
