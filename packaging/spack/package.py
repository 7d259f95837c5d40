# Untested: Spack has not run this recipe.
from spack.package import *


class Purlin(CMakePackage):
    """Tensors, tensor trains, sparse spectra, cone-beam CT, randomized SVD and PCA on CPUs and NVIDIA GPUs."""

    homepage = "URL"
    url = "URL/purlin-VERSION.tar.gz"
    license("MIT OR Apache-2.0")
    root_cmakelists_dir = "cmake"

    version("VERSION", sha256="CHECKSUM")

    variant("cuda", default=False, description="Kernels for NVIDIA GPUs")
    variant("fortran", default=False, description="The Fortran module")

    depends_on("c", type="build")
    depends_on("fortran", type="build", when="+fortran")
    depends_on("cmake@3.21:", type="build")
    depends_on("rust@1.89:", type="build")
    depends_on("cuda@12.4:", type="build", when="+cuda")

    def setup_build_environment(self, env):
        env.set("PURLIN_CUDA", "on" if "+cuda" in self.spec else "off")

    def cmake_args(self):
        return [self.define_from_variant("PURLIN_FORTRAN", "fortran")]
