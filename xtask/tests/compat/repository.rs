//! Runs the compatibility check in a real git repository in a temporary folder.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use openapi_compat::Document;
use serde_json::{Value, json};
use tempfile::TempDir;
use xtask::checkout::{DOCUMENT, root};
use xtask::compat::base;

/// Returns the checked-in document with this description, and with the version 1.0.0, so that these
/// tests do not depend on its version.
pub fn described(description: &str) -> Value {
    let text = fs::read_to_string(root().join(DOCUMENT)).expect("the document is checked in");
    let mut document: Value = serde_json::from_str(&text).expect("the document is JSON");
    document["info"]["version"] = json!("1.0.0");
    document["info"]["description"] = json!(description);
    document
}

/// A repository in a folder of its own, whose name contains a space, as the names of users' folders
/// may.
pub struct Repository {
    pub root: PathBuf,
    _folder: TempDir,
}

impl Repository {
    /// Creates a repository with one commit on main for each document, given by its description.
    pub fn with(descriptions: &[&str]) -> Self {
        let folder = TempDir::new().expect("a folder");
        let repository = Self { root: folder.path().join("plant store"), _folder: folder };
        fs::create_dir(&repository.root).expect("a folder");
        repository.git("init --quiet --initial-branch main");
        for description in descriptions {
            repository.commit(DOCUMENT, &described(description).to_string());
        }
        repository
    }

    /// Clones the last `depth` commits of each branch.
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

    /// Runs git with the arguments in `words`, which are separated by spaces.
    pub fn git(&self, words: &str) -> String {
        self.run(&words.split(' ').collect::<Vec<_>>())
    }

    /// Runs git with these arguments, without the configuration of the user or the system.
    fn run(&self, arguments: &[&str]) -> String {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=Test", "-c", "user.email=test@localhost"]);
        let output = isolated(git.args(arguments).current_dir(&self.root));
        assert!(output.status.success(), "git {arguments:?}: {output:?}");
        String::from_utf8(output.stdout).expect("git prints text").trim_end().to_owned()
    }

    /// Returns the name of the base of the document with this description, `None` if there is no
    /// base, or the error.
    pub fn base(&self, description: &str) -> Result<Option<String>, String> {
        let present = Document::parse("this test", &described(description).to_string());
        let base = base(&self.root, &present.expect("a document"));
        base.map(|base| base.map(|base| base.name)).map_err(|error| format!("{error:#}"))
    }

    /// Asserts that the check fails for a document, with this message.
    pub fn assert_error(&self, present: &str, message: &str) {
        let line = self.base(present).expect_err("no base");
        assert!(line.contains(message) && line.lines().count() == 1, "{line}");
    }

    /// Returns the short hash of a revision.
    pub fn hash(&self, revision: &str) -> String {
        let hash = self.git(&format!("rev-parse {revision}"));
        hash[..7].to_owned()
    }

    /// Runs `cargo xtask compat` in this repository with these flags, and returns its whole output
    /// and its exit code.
    pub fn compat(&self, flags: &[&str], environment: &[(&str, &str)]) -> (String, Option<i32>) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
        command.arg("compat").args(flags).current_dir(&self.root);
        command.env("CARGO_MANIFEST_DIR", self.root.join("xtask"));
        let output = isolated(command.envs(environment.iter().copied()));
        let printed = [output.stdout, output.stderr].concat();
        (String::from_utf8(printed).expect("it prints text"), output.status.code())
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
