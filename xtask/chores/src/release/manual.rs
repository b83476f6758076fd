//! The manual pages of a program, one for each of its commands, made from what `--help` prints. So
//! a program needs no code for them, and the definition of its command line may be private.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

/// Writes the pages of the program with that name into a folder, which is made.
pub fn write(program: &Path, name: &str, folder: &Path) -> Result<()> {
    fs::create_dir_all(folder)?;
    for (words, help) in helps(program, &[])? {
        let title = [&[name.to_owned()], words.as_slice()].concat().join("-");
        fs::write(folder.join(format!("{title}.1")), page(&title, &help))?;
    }
    Ok(())
}

/// The help of a command and of each one below it, by the words that lead to it.
pub fn helps(program: &Path, words: &[String]) -> Result<Vec<(Vec<String>, String)>> {
    // What it prints names the values of variables.
    let printed = Command::new(program).args(words).arg("--help").env_clear().output();
    let printed = printed.with_context(|| format!("cannot run {}", program.display()))?;
    ensure!(printed.status.success(), "{} has no help for {words:?}", program.display());
    let help = String::from_utf8(printed.stdout)?;
    let mut helps = vec![(words.to_owned(), help.clone())];
    for command in commands(&help) {
        helps.extend(self::helps(program, &[words, &[command.to_owned()]].concat())?);
    }
    Ok(helps)
}

/// The commands that a help lists, but for `help` itself.
pub fn commands(help: &str) -> impl Iterator<Item = &str> {
    let lines = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let lines = lines.take_while(|line| !line.is_empty());
    // What is indented further is more text of the command above.
    let names = lines.filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    names.filter(|name| !name.is_empty() && *name != "help")
}

/// A page for man(1), as man(7) and man-pages(7) describe it.
fn page(title: &str, help: &str) -> String {
    let (about, rest) = help.split_once('\n').unwrap_or((help, ""));
    let name = title.to_uppercase();
    let mut page = format!(".TH {name} 1\n.SH NAME\n{title} \\- {about}\n.SH DESCRIPTION\n");
    for line in rest.lines() {
        let text = line.trim_start();
        let escaped = text.replace('\\', "\\e").replace('-', "\\-").replace("=]", "]");
        page += &match line.len() - text.len() {
            _ if text.is_empty() => ".PP\n".to_owned(),
            0 if text.starts_with("Usage: ") => {
                format!(".SH SYNOPSIS\n{}\n", escaped.trim_start_matches("Usage: "))
            }
            0 if text.ends_with(':') => format!(".SH {}\n", escaped.trim_end_matches(':')),
            0 => format!("{escaped}\n"),
            // A command or a flag, and what it does, if that is on the same line.
            1..=8 => {
                let (term, text) = escaped.split_once("  ").unwrap_or((&escaped, ""));
                format!(".TP\n\\fB{term}\\fR\n{}\n", text.trim_start())
            }
            // `[default: …]` and possible values have lines of their own.
            _ if text.starts_with(['[', '-']) => format!(".br\n{escaped}\n"),
            _ => format!("{escaped}\n"),
        };
    }
    page
}
