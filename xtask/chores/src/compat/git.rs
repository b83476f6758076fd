//! What git knows about the documents of the past.
//!
//! Git answers "no" with status 1. Every other failure is an error, with what git says about it, and
//! so is a "no" to a question that has no such answer.

use std::path::Path;

use anyhow::{Context, Result, bail};
use xshell::{Shell, cmd};

use super::{DOCUMENT, Document};

const COMPARE_WITH_A_FILE: &str = "compare with a file: `cargo xtask compat --against FILE`";

/// The repository of this folder.
pub struct Git<'a>(pub &'a Path);

impl Git<'_> {
    /// What git prints; none if it answers "no".
    pub fn ask(&self, arguments: &[&str]) -> Result<Option<String>> {
        let sh = Shell::new()?;
        sh.change_dir(self.0);
        let command = cmd!(sh, "git {arguments...}")
            // Git sets these for a hook. They name the hook's repository, which may be another one.
            .env_remove("GIT_DIR")
            .env_remove("GIT_INDEX_FILE")
            .env_remove("GIT_WORK_TREE")
            .ignore_status();
        let output =
            command.output().with_context(|| format!("install git, or {COMPARE_WITH_A_FILE}"))?;
        let [printed, said] =
            [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
        match output.status.code() {
            Some(0) => Ok(Some(printed.trim_end().to_owned())),
            Some(1) => Ok(None),
            _ => {
                let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
                bail!("`{command}` failed: {said}; mend that, or {COMPARE_WITH_A_FILE}")
            }
        }
    }

    /// What git prints, for a question to which "no" is an error.
    pub fn told(&self, arguments: &[&str]) -> Result<String> {
        let answer = self.ask(arguments)?;
        answer.with_context(|| format!("`git {}` fails without a reason", arguments.join(" ")))
    }

    /// The commit that a revision names.
    pub fn commit(&self, revision: &str) -> Result<Option<String>> {
        let commit = format!("{revision}^{{commit}}");
        self.ask(&["rev-parse", "--verify", "--quiet", &commit])
    }

    /// The document of a commit; none if the commit has no such file.
    pub fn document(&self, commit: &str, name: &str) -> Result<Option<Document>> {
        let file = format!("{commit}:./{DOCUMENT}");
        let Some(blob) = self.ask(&["rev-parse", "--verify", "--quiet", &file])? else {
            return Ok(None);
        };
        Document::parse(name, &self.told(&["cat-file", "blob", &blob])?).map(Some)
    }

    /// The commits that changed the document, along the first parent, the latest first.
    pub fn commits_of_the_document(&self, from: &str) -> Result<Vec<String>> {
        let list = ["rev-list", "--first-parent", from, "--", DOCUMENT];
        Ok(self.told(&list)?.lines().map(str::to_owned).collect())
    }

    /// Whether this is a shallow clone. In one, the oldest commit seems to have added every file.
    pub fn is_shallow(&self) -> Result<bool> {
        Ok(self.told(&["rev-parse", "--is-shallow-repository"])? == "true")
    }
}
