//! The completions that both programs print.

use std::env;
use std::path::PathBuf;
use std::process::Command;

use plant_store_tests::binary_in;

use crate::consumers::program;

#[test]
fn completions_of_both_programs_name_a_command_and_a_flag_in_each_shell() {
    let server = PathBuf::from(binary_in(&env::temp_dir()).get_program());
    for (program, command, flag) in
        [(server, "serve", "max-body"), (program().to_owned(), "import", "in-flight")]
    {
        for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
            let printed = Command::new(&program).args(["completions", shell]).output();
            let script = String::from_utf8(printed.expect("the program starts").stdout);
            let script = script.expect("text");
            assert!([command, flag].iter().all(|word| script.contains(word)), "{shell}: {script}");
        }
    }
}
