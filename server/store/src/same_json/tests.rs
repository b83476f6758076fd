use super::*;

#[test]
fn same_text_or_same_value_is_the_same() {
    let kept = r#"{"name":"Ficus","tag":"a"}"#;
    for same in [kept, r#"{"tag":"a","name":"Ficus"}"#, r#"{"name":"\u0046icus","tag":"a"}"#] {
        assert!(is_same_json(kept, same), "{same}");
    }
    for other in [r#"{"name":"Ficus"}"#, r#"{"name":"Ficus","tag":"b"}"#, "{", ""] {
        assert!(!is_same_json(kept, other), "{other}");
    }
    assert!(!is_same_json("no JSON", kept));
}

#[test]
fn text_longer_than_all_escapes_is_not_parsed() {
    let sent = format!(r#"{{"name":"{}"}}"#, "F".repeat(1000));
    let escaped = format!(r#"{{"name":"{}"}}"#, r"\u0046".repeat(1000));
    assert!(is_same_json(&escaped, &sent));
    let longer = format!("{sent}{}", " ".repeat(6 * sent.len()));
    assert!(!is_same_json(&longer, &sent), "it would be, if it was parsed");
}
