//! The manual pages of a release and the completions: both name what the command lines define.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::CommandFactory;
use plant_store_chores::release::manual;
use plant_store_server::command::Cli;
use plant_store_tests::binary_in;
use tempfile::TempDir;

use crate::consumers::program;

/// The program `plant-store`.
fn server() -> PathBuf {
    binary_in(&env::temp_dir()).get_program().into()
}

/// The page of each command below `command`, and the flags and variables that it must name.
fn expected(command: &clap::Command, page: &str) -> Vec<(String, Vec<String>)> {
    let flags = command.get_arguments().filter_map(|argument| argument.get_long());
    let flags = flags.map(|flag| format!("--{flag}"));
    let variables = command.get_arguments().filter_map(|argument| argument.get_env());
    let variables = variables.map(|variable| format!("[env: {}]", variable.display()));
    let below = command.get_subcommands();
    let below = below.flat_map(|below| expected(below, &format!("{page}-{}", below.get_name())));
    [(page.to_owned(), flags.chain(variables).collect())].into_iter().chain(below).collect()
}

/// The pages of a program, as the release has them, by their names.
fn pages(program: &Path, name: &str) -> Vec<(String, String)> {
    let folder = TempDir::new().expect("a temporary folder");
    manual::write(program, name, folder.path()).expect("the program has help");
    let files = fs::read_dir(folder.path()).expect("a folder").map(|file| file.expect("a file"));
    let mut pages: Vec<_> = files
        .map(|file| {
            let name = file.file_name().into_string().expect("text");
            // roff escapes a hyphen.
            let text = fs::read_to_string(file.path()).expect("a page").replace("\\-", "-");
            (name.trim_end_matches(".1").to_owned(), text)
        })
        .collect();
    pages.sort();
    pages
}

#[test]
fn manual_pages_name_every_command_flag_and_variable() {
    let mut expected = expected(&Cli::command(), "plant-store");
    expected.sort();
    let pages_of_server = pages(&server(), "plant-store");
    assert_eq!(pages_of_server.len(), expected.len());
    for ((page, text), (expected_page, words)) in pages_of_server.iter().zip(&expected) {
        assert_eq!(page, expected_page);
        assert!(text.starts_with(&format!(".TH {} 1\n", page.to_uppercase())), "{text}");
        for word in words {
            assert!(text.contains(word), "{page}: {word}");
        }
    }

    let pages = pages(program(), "plants");
    let names: BTreeSet<_> = pages.iter().map(|(name, _)| name.as_str()).collect();
    let expected = ["plants", "plants-completions", "plants-create-plant", "plants-import"];
    assert_eq!(names, expected.into());
    for (page, word) in [(2, "\\fB--id <id>\\fR"), (3, "[env: PLANTS_URL]")] {
        assert!(pages[page].1.contains(word), "{word}: {}", pages[page].1);
    }
}

#[test]
fn completions_name_every_command_and_flag_and_bash_reads_them() {
    for (name, program) in [("plant-store", server()), ("plants", program().to_owned())] {
        for shell in ["bash", "zsh", "fish"] {
            let printed = Command::new(&program).args(["completions", shell]).output();
            let printed = printed.expect("the program starts");
            assert!(printed.status.success(), "{printed:?}");
            let script = String::from_utf8(printed.stdout).expect("text");
            for (command, help) in manual::helps(&program, &[]).expect("the program has help") {
                let flags = help.split_whitespace().filter(|word| word.starts_with("--"));
                for word in manual::commands(&help).chain(flags) {
                    // fish has flags without their hyphens.
                    let word = word.trim_start_matches('-').trim_end_matches([',', '.', ';', ':']);
                    assert!(script.contains(word), "{name} {command:?}, {shell}: {word}");
                }
            }
            if shell == "bash" {
                let folder = TempDir::new().expect("a temporary folder");
                fs::write(folder.path().join(name), script).expect("the folder takes files");
                let bash = Command::new("bash").arg("-n").arg(folder.path().join(name)).status();
                assert!(bash.expect("bash starts").success(), "{name}");
            }
        }
    }
}
