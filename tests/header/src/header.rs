//! The C header, from the sources of the boundary.

use std::path::{Path, PathBuf};

/// Files of the boundary in the order of the header: the files that a reader needs first come first.
const ORDER: &[&str] = &[
    "library.rs",
    "status.rs",
    "callback.rs",
    "device.rs",
    "context.rs",
    "stream.rs",
    "group.rs",
    "tensor.rs",
    "tensor_symmetric.rs",
    "dlpack.rs",
    "matrix.rs",
    "matrix_device.rs",
    "symmetric.rs",
    "sshopm_types.rs",
    "sshopm.rs",
    "sshopm_solver.rs",
    "dwi_types.rs",
    "dwi.rs",
    "dwi_object.rs",
    "array.rs",
    "source.rs",
    "sink.rs",
    "fdk_types.rs",
    "fdk_convert.rs",
    "fdk.rs",
    "fdk_run.rs",
    "fdk_pieces.rs",
    "matrix_outside.rs",
    "rsvd_types.rs",
    "rsvd_convert.rs",
    "rsvd.rs",
    "rsvd_run.rs",
    "pca_types.rs",
    "pca.rs",
    "rpca_types.rs",
    "rpca.rs",
    "rpca_run.rs",
    "tt_types.rs",
    "tt.rs",
    "tt_matrix.rs",
    "tt_options.rs",
    "tt_contraction.rs",
    "tt_plan.rs",
    "tt_inner.rs",
    "tt_enqueue.rs",
    "tt_batch.rs",
    "tt_expect.rs",
    "tt_special.rs",
    "tt_environments.rs",
    "tt_algebra.rs",
    "tt_round.rs",
    "tt_entries.rs",
    "sparse.rs",
    "sparse_copies.rs",
    "sparse_files.rs",
    "sparse_measures.rs",
    "spmv_types.rs",
    "spmv.rs",
    "lanczos_types.rs",
    "lanczos_convert.rs",
    "lanczos.rs",
    "lanczos_solve.rs",
    "lanczos_singular.rs",
    "lanczos_tridiagonal.rs",
    "graph.rs",
    "graph_density.rs",
];

/// The header as cbindgen makes it, with Rust's heading for a caller's duties turned into doxygen's.
pub fn text(root: &Path) -> String {
    let config = cbindgen::Config::from_file(root.join("cbindgen.toml")).expect("cbindgen.toml");
    let mut text = Vec::new();
    let mut files: Vec<PathBuf> = std::fs::read_dir(root.join("src/ffi"))
        .expect("src/ffi")
        .map(|entry| entry.expect("an entry").path())
        // It names the others, which would be read twice. `generated` is made from the header.
        .filter(|path| path.is_file() && !path.ends_with("mod.rs"))
        .collect();
    files.sort();
    files.sort_by_key(|path| ORDER.iter().position(|name| path.ends_with(name)).unwrap_or(ORDER.len()));
    files
        .iter()
        .fold(cbindgen::Builder::new().with_config(config), |builder, file| builder.with_src(file))
        .generate()
        .expect("the sources parse")
        .write(&mut text);
    let text = String::from_utf8(text).expect("the header is UTF-8");
    text.replace(" * # Safety\n * ", " * @pre ")
}
