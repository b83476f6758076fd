//! A real git repository in a temporary folder, and the compatibility check on it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;
use xtask::checkout::DOCUMENT;
use xtask::compat::Document;
use xtask::compat::base::base;

use crate::mutated;

/// A document that describes itself with these words.
pub fn described(words: &str) -> String {
    mutated(&[&format!("set /info/description {words:?}")]).to_string()
}

/// A repository in a folder of its own, which is also a cargo workspace. The folder has a space in
/// its name, as that of a user may have.
pub struct Repository {
    pub root: PathBuf,
    _folder: TempDir,
}

impl Repository {
    /// A repository whose main has these documents, one a commit.
    pub fn with(documents: &[&str]) -> Self {
        let folder = TempDir::new().expect("a folder");
        let repository = Self { root: folder.path().join("plant store"), _folder: folder };
        repository.write("Cargo.toml", "[workspace]");
        repository.git("init --quiet --initial-branch main");
        for words in documents {
            repository.commit(DOCUMENT, &described(words));
        }
        repository
    }

    /// A clone of the last `depth` commits of each branch.
    pub fn shallow(&self, depth: usize) -> Self {
        let folder = TempDir::new().expect("a folder");
        let clone = Self { root: folder.path().join("plant store"), _folder: folder };
        let depth = format!("--depth={depth}");
        let from = format!("file://{}", self.root.display());
        let to = clone.root.to_str().expect("a path that is text");
        self.run(&["clone", "--quiet", "--no-single-branch", &depth, &from, to]);
        clone
    }

    pub fn write(&self, file: &str, text: &str) {
        let path = self.root.join(file);
        fs::create_dir_all(path.parent().expect("a file is in a folder")).expect("a folder");
        fs::write(path, text).expect("the folder takes files");
    }

    pub fn commit(&self, file: &str, text: &str) {
        self.write(file, text);
        self.git("add --all");
        self.git("commit --quiet --message change");
    }

    /// Sets `origin/main` to this revision, as a fetch or a push does.
    pub fn push(&self, revision: &str) {
        self.git(&format!("update-ref refs/remotes/origin/main {revision}"));
    }

    /// Runs git with these words, of which none holds a space.
    pub fn git(&self, words: &str) -> String {
        self.run(&words.split(' ').collect::<Vec<_>>())
    }

    /// Runs git with these arguments, and with our settings alone.
    fn run(&self, arguments: &[&str]) -> String {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=Test", "-c", "user.email=test@localhost"]);
        let output = isolated(git.args(arguments).current_dir(&self.root));
        assert!(output.status.success(), "git {arguments:?}: {output:?}");
        String::from_utf8(output.stdout).expect("git prints text").trim_end().to_owned()
    }

    /// What a document is compared with: the words and the name of another one, nothing, or a
    /// failure.
    pub fn older(&self, words: &str) -> Result<Option<(String, String)>, String> {
        let present = Document::parse("this test", &described(words)).expect("a document");
        let older = base(&self.root, &present).map_err(|error| format!("{error:#}"))?;
        Ok(older.map(|older| {
            let words = older.json["info"]["description"].as_str().expect("a description");
            (words.to_owned(), older.name)
        }))
    }

    /// Fails unless a document is compared with the one of this revision.
    pub fn assert_older(&self, present: &str, words: &str, revision: &str) {
        let name = format!("the last commit with another document ({})", self.hash(revision));
        let expected = Ok(Some((words.to_owned(), name)));
        assert_eq!(self.older(present), expected);
    }

    /// Fails unless a document is compared with the one of this release.
    pub fn assert_released(&self, present: &str, words: &str, tag: &str) {
        let name = format!("the release {tag} ({})", self.hash(&format!("{tag}^{{commit}}")));
        let expected = Ok(Some((words.to_owned(), name)));
        assert_eq!(self.older(present), expected);
    }

    pub fn assert_refused(&self, words: &str, says: &str) {
        let line = self.older(words).expect_err("no older document");
        assert!(line.contains(says) && line.lines().count() == 1, "{line}");
    }

    /// The short hash of a revision.
    pub fn hash(&self, revision: &str) -> String {
        let hash = self.git(&format!("rev-parse {revision}"));
        hash[..7].to_owned()
    }

    /// What the real command says about this repository: all that it prints, and its exit status.
    /// Its environment has nothing about this checkout.
    pub fn compat(&self, environment: &[(&str, &str)]) -> (String, Option<i32>) {
        self.compat_with(&[], environment)
    }

    /// The same, with these flags.
    pub fn compat_with(
        &self,
        flags: &[&str],
        environment: &[(&str, &str)],
    ) -> (String, Option<i32>) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
        command.arg("compat").args(flags).current_dir(&self.root).env_remove("CARGO_MANIFEST_DIR");
        let output = isolated(command.envs(environment.iter().copied()));
        let said = [output.stdout, output.stderr].concat();
        (String::from_utf8(said).expect("it prints text"), output.status.code())
    }
}

fn isolated(command: &mut Command) -> Output {
    for variable in ["GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE"] {
        command.env_remove(variable);
    }
    let no_file = Path::new("/dev/null");
    command.envs([("GIT_CONFIG_GLOBAL", no_file), ("GIT_CONFIG_SYSTEM", no_file)]);
    command.output().expect("the program is installed")
}
