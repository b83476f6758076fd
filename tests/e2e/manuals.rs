//! The manual pages and the completions of both programs: they name what `--help` names.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use plant_store_tests::binary;
use tempfile::TempDir;

use crate::consumers::program;

/// Each program with its name.
fn programs() -> [(&'static str, &'static Path); 2] {
    [("plant-store", binary()), ("plants", program())]
}

/// What the program prints with these words.
fn printed(program: &Path, words: &[String]) -> String {
    let output = Command::new(program).args(words).output().expect("the program starts");
    assert!(output.status.success(), "{words:?}: {output:?}");
    String::from_utf8(output.stdout).expect("text")
}

/// The help of a command and of each one below it, by the words that lead to it.
fn helps(program: &Path, command: &[String]) -> Vec<(Vec<String>, String)> {
    let help = printed(program, &[command, &["--help".to_owned()]].concat());
    let commands: Vec<_> = commands(&help).map(ToOwned::to_owned).collect();
    let below = commands.into_iter().map(|name| [command, &[name]].concat());
    let below = below.flat_map(|command| helps(program, &command)).collect();
    [vec![(command.to_owned(), help)], below].concat()
}

/// The commands that a help lists, but for `help` itself.
fn commands(help: &str) -> impl Iterator<Item = &str> {
    let lines = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let lines = lines.take_while(|line| !line.is_empty());
    let names = lines.filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    names.filter(|name| !name.is_empty() && *name != "help")
}

/// The flags that a help lists. A line with a possible value begins with a hyphen, too.
fn flags(help: &str) -> impl Iterator<Item = &str> {
    let lines = help.lines().map(str::trim_start).filter(|line| line.starts_with('-'));
    let words = lines.flat_map(|line| line.split(", ").filter_map(|flag| flag.split(' ').next()));
    words.filter(|word| word.len() > 1 && word.starts_with('-'))
}

/// The variables of the environment that a help lists.
fn variables(help: &str) -> impl Iterator<Item = &str> {
    help.split("[env: ").skip(1).filter_map(|rest| rest.split(['=', ']']).next())
}

#[test]
fn manual_pages_name_every_command_flag_and_variable() {
    for (name, program) in programs() {
        let folder = TempDir::new().expect("a temporary folder");
        let pages = folder.path().join("man/man1");
        printed(program, &["man".to_owned(), pages.to_str().expect("text").to_owned()]);
        let mut expected = BTreeSet::new();
        for (command, help) in helps(program, &[]) {
            let page = [&[name.to_owned()], command.as_slice()].concat().join("-");
            let text = fs::read_to_string(pages.join(format!("{page}.1"))).expect("a page");
            // roff escapes a hyphen.
            let text = text.replace("\\-", "-");
            for word in flags(&help).chain(variables(&help)) {
                assert!(text.contains(&format!("\\fB{word}\\fR")), "{page}: {word}");
            }
            for below in commands(&help) {
                assert!(text.contains(&format!("{page}-{below}(1)")), "{page}: {below}");
            }
            expected.insert(format!("{page}.1"));
        }
        let written = fs::read_dir(&pages).expect("a folder").map(|page| page.expect("a page"));
        let written: BTreeSet<_> =
            written.map(|page| page.file_name().into_string().expect("text")).collect();
        assert_eq!(written, expected);
        assert!(expected.len() > 3, "{expected:?}");
    }
}

#[test]
fn completions_name_every_command_and_flag_and_bash_reads_them() {
    for (name, program) in programs() {
        for shell in ["bash", "zsh", "fish"] {
            let script = printed(program, &["completions".to_owned(), shell.to_owned()]);
            for (command, help) in helps(program, &[]) {
                for word in commands(&help).chain(flags(&help)) {
                    // fish has flags without their hyphens.
                    let word = word.trim_start_matches('-');
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
