//! Builds what the tests run: the real binary, and libraries in C that stand between a process and
//! the kernel.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The binary `plant-store`, built in this profile on the first call. Tests start it with
/// [`binary_in`](crate::binary_in), which sets its folder and its address.
pub fn binary() -> &'static Path {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY.get_or_init(|| {
        plant_store_launcher::build("plant-store", !cfg!(debug_assertions))
            .expect("the binary builds")
    })
}

/// Compiles `e2e/SOURCE.c`, a library that LD_PRELOAD puts between a process and the kernel.
pub fn library(source: &str, folder: &Path) -> PathBuf {
    let library = folder.join(format!("{}.so", std::process::id()));
    let source = format!("{}/e2e/{source}.c", env!("CARGO_MANIFEST_DIR"));
    let status = Command::new("cc")
        .args(["-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror", &source, "-o"])
        .arg(&library)
        .status()
        .expect("there is a C compiler, as the build needs one");
    assert!(status.success(), "{source} compiles");
    library
}
