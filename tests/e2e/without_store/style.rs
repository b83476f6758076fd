//! The style that rustfmt does not hold: the width of comments, strings and pages, and one name a
//! `let`. This file must not judge what rustfmt or clippy can.

use std::fs;
use std::process::Command;

use xtask::checkout::root;

/// The widest line, in characters.
const COLUMNS: usize = 100;

/// What is wrong with a line. In a page, a table, a block of code and a link cannot be wrapped.
fn fault(line: &str, is_in_block: bool) -> Option<&'static str> {
    let code = line.trim_start();
    let cannot_wrap = is_in_block || code.starts_with('|') || code.contains("://");
    if line.chars().count() > COLUMNS && !cannot_wrap {
        return Some("is over 100 columns: wrap it");
    }
    (code.starts_with("let (") && code.contains(") = (")).then_some("binds a tuple: split it")
}

#[test]
fn each_line_ends_at_column_100_and_no_let_binds_a_tuple() {
    let git = Command::new("git").args(["ls-files", "*.rs", "*.md"]).current_dir(root()).output();
    let files = String::from_utf8(git.expect("git is installed").stdout).expect("text");
    assert!(files.lines().count() > 100, "git lists too few files: {files}");
    let mut faults = Vec::new();
    for file in files.lines() {
        let text = fs::read_to_string(root().join(file)).expect("text");
        let is_page = file.rsplit('.').next() == Some("md");
        let mut is_in_block = false;
        let lines = if text.starts_with("// Generated") { "" } else { &text }.lines();
        for (number, line) in (1..).zip(lines) {
            is_in_block ^= is_page && line.trim_start().starts_with("```");
            faults.extend(fault(line, is_in_block).map(|what| format!("{file}:{number} {what}")));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
