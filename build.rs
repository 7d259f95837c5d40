//! Names the shared library. `src/base/build.rs` compiles the kernels.

use std::env;

fn main() {
    let [major, minor] =
        ["MAJOR", "MINOR"].map(|part| env::var(format!("CARGO_PKG_VERSION_{part}")).unwrap_or_default());
    // Before 1.0 each minor version may change the interface.
    let compatible = if major == "0" { format!("{major}.{minor}") } else { major };
    // rustc writes no SONAME, and linkers would then record the path of the build.
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libpurlin.so.{compatible}");
    // A plug-in host may unload the library while its threads live.
    println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
    println!("cargo:rerun-if-changed=build.rs");
}
