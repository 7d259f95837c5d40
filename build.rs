//! Builds the CUDA kernels and names the shared library.

fn main() {
    let major = std::env::var("CARGO_PKG_VERSION_MAJOR").unwrap_or_default();
    // rustc writes no SONAME, and linkers would then record the path of the build.
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libpurlin.so.{major}");
    // A plug-in host may unload the library while its threads live.
    println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
}
