//! Builds the programs of the workspace that the tests run, and the C libraries that intercept the
//! system calls of a process.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::LazyLock;

use escargot::CargoBuild;

/// The service. Tests run it with [`binary_in`](crate::binary_in), which sets its folder and its
/// address. This and the other programs are built on their first use, in the profile of the tests.
pub static PLANT_STORE: LazyLock<PathBuf> = LazyLock::new(|| build("plant-store"));

/// The command-line client.
pub static PLANTS: LazyLock<PathBuf> = LazyLock::new(|| build("plants"));

/// The second service on the same libraries.
pub static GOOSE_FARM: LazyLock<PathBuf> = LazyLock::new(|| build("goose-farm"));

/// The library of the simulated disk, to be loaded with LD_PRELOAD. It is compiled on its first
/// use.
pub static FAULTY_DISK: LazyLock<PathBuf> = LazyLock::new(|| library("sqlite/faulty_disk"));

/// Builds a program of the workspace, and returns its path.
///
/// It has the features of the whole workspace, like the build of the tests, so that nothing is
/// built twice. After `cargo xtask test` has built everything, this builds nothing.
fn build(program: &str) -> PathBuf {
    run(workspace().bin(program))
}

/// Builds an example of the workspace, and returns its path.
pub fn build_example(name: &str) -> PathBuf {
    run(workspace().example(name))
}

/// The default members of the workspace, in the profile of the tests.
fn workspace() -> CargoBuild {
    CargoBuild::new().current_release().args(["--workspace", "--exclude", "plant-store-bench"])
}

/// Runs cargo in the checkout whose package cargo runs, or else in the current folder.
fn run(build: CargoBuild) -> PathBuf {
    let build = match std::env::var_os("CARGO_MANIFEST_DIR") {
        Some(package) => build.manifest_path(PathBuf::from(package).join("Cargo.toml")),
        None => build,
    };
    build.run().expect("the program builds").path().to_owned()
}

/// Compiles `e2e/SOURCE.c`, and returns the path of the library, which is beside the service.
fn library(source: &str) -> PathBuf {
    let library = PLANT_STORE.with_file_name(source.replace('/', "-")).with_extension("so");
    // Another run of the tests may compile or use the library at the same time.
    let unfinished = library.with_extension(std::process::id().to_string());
    let source = format!("{}/e2e/{source}.c", env!("CARGO_MANIFEST_DIR"));
    let status = Command::new("cc")
        .args(["-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror", &source, "-o"])
        .arg(&unfinished)
        .status()
        .expect("there is a C compiler, as the build needs one");
    assert!(status.success(), "{source} compiles");
    fs::rename(unfinished, &library).expect("the library can be moved");
    library
}
