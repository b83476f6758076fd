use super::*;

#[test]
fn what_a_terminal_obeys_is_escaped() {
    let line = "x\u{9b}31m \u{202e}\u{2028}\n\"é\n";
    assert_eq!(escaped(line.as_bytes()), "x\\u{9b}31m \\u{202e}\\u{2028}\\u{a}\"é\n");
}
