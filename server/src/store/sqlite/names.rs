//! The names of the files that belong to a store.

use std::path::{Path, PathBuf, absolute};

use nix::unistd::{User, geteuid};

/// The suffixes of the files beside a store: the WAL, its index, a rollback journal.
const BESIDE: [&str; 3] = ["-wal", "-shm", "-journal"];

/// A file with that suffix, beside the store's file itself, also if `path` is a link to it.
fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.canonicalize().unwrap_or_else(|_| path.to_owned()).into_os_string();
    name.push(suffix);
    name.into()
}

/// The WAL of a store.
pub fn wal_of(path: &Path) -> PathBuf {
    beside(path, BESIDE[0])
}

/// The WAL's index.
pub fn index_of(path: &Path) -> PathBuf {
    beside(path, BESIDE[1])
}

/// The rollback journal that would belong to a database there.
pub fn journal_of(path: &Path) -> PathBuf {
    beside(path, BESIDE[2])
}

/// The files that lie beside the place of a store, of those that belong to one; none if there are
/// none.
pub fn left_beside(path: &Path) -> Option<String> {
    let files = BESIDE.iter().map(|suffix| beside(path, suffix)).filter(|file| file.exists());
    let names: Vec<_> = files.map(|file| file.display().to_string()).collect();
    (!names.is_empty()).then(|| names.join(", "))
}

/// The folder in which the path is.
pub fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// The right to the path that the user of this process lacks.
pub fn denied(right: &str, path: &Path) -> String {
    let (id, path) = (geteuid(), absolute(path).unwrap_or_else(|_| path.to_owned()));
    let name = User::from_uid(id).ok().flatten().map_or(id.to_string(), |user| user.name);
    format!("permission to {right} {} is denied to the user {name}", path.display())
}
