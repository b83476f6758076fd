//! A real git repository in a temporary folder, and the compatibility check on it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use anyhow::Result;
use plant_store_chores::compat::{DOCUMENT, Document, older};
use tempfile::TempDir;

use super::{mutated, xtask};

/// A document that describes itself with these words.
pub fn described(words: &str) -> String {
    mutated(&[&format!("set /info/description {words:?}")]).to_string()
}

/// A repository in a folder of its own, which is also a cargo workspace.
pub struct Repository {
    pub root: PathBuf,
    _folder: TempDir,
}

impl Repository {
    pub fn new() -> Self {
        let repository = Self::without_git();
        repository.git("init --quiet --initial-branch main");
        repository
    }

    pub fn without_git() -> Self {
        let folder = TempDir::new().expect("a folder");
        let repository = Self { root: folder.path().join("store"), _folder: folder };
        repository.write("Cargo.toml", "[workspace]");
        repository
    }

    /// A repository whose main has these documents, one a commit.
    pub fn with(documents: &[&str]) -> Self {
        let repository = Self::new();
        for words in documents {
            repository.commit(DOCUMENT, &described(words));
        }
        repository
    }

    /// A clone of the last `depth` commits.
    pub fn shallow(&self, depth: usize) -> Self {
        let clone = Self::without_git();
        fs::remove_dir_all(&clone.root).expect("a folder that was made");
        let (from, to) = (self.root.display(), clone.root.display());
        self.git(&format!("clone --quiet --no-single-branch --depth {depth} file://{from} {to}"));
        clone.write("Cargo.toml", "[workspace]");
        clone
    }

    fn write(&self, file: &str, text: &str) {
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

    /// Runs git with these words (no word may hold a space) and with our settings alone.
    pub fn git(&self, words: &str) -> String {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=Test", "-c", "user.email=test@localhost"]);
        let output = isolated(git.args(words.split(' ')).current_dir(&self.root));
        assert!(output.status.success(), "git {words}: {output:?}");
        String::from_utf8(output.stdout).expect("git prints text").trim_end().to_owned()
    }

    /// What a document is compared with: its words and its name.
    pub fn older(&self, words: &str) -> Result<Option<(String, String)>> {
        let present = Document::parse("this test", &described(words))?;
        Ok(older(&self.root, None, &present)?.map(|older| {
            let words = older.json["info"]["description"].as_str().expect("a description");
            (words.to_owned(), older.name)
        }))
    }

    /// Fails unless a document is compared with the one of this revision, in this role.
    pub fn assert_older(&self, present: &str, words: &str, role: &str, revision: &str) {
        let hash = self.git(&format!("rev-parse --short {revision}"));
        let found = self.older(present).expect("a history that tells");
        assert_eq!(found, Some((words.to_owned(), format!("{role} ({hash})"))));
    }

    pub fn assert_refused(&self, words: &str, says: &str) {
        let line = format!("{:#}", self.older(words).expect_err("no older document"));
        assert!(line.contains(says), "{line}");
        assert_eq!(line.lines().count(), 1, "{line}");
    }

    /// The real command on this repository.
    pub fn compat(&self, environment: &[(&str, &Path)]) -> Output {
        let mut command = xtask();
        isolated(command.arg("compat").current_dir(&self.root).envs(environment.iter().copied()))
    }
}

fn isolated(command: &mut Command) -> Output {
    for variable in ["GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE"] {
        if !command.get_envs().any(|(name, _)| name == variable) {
            command.env_remove(variable);
        }
    }
    command
        .envs([("GIT_CONFIG_GLOBAL", "/dev/null"), ("GIT_CONFIG_SYSTEM", "/dev/null")])
        .output()
        .expect("the program is installed")
}
