use super::*;

#[test]
fn same_plant_is_the_same_text_or_the_same_value() {
    let kept = r#"{"name":"Ficus","tag":"a"}"#;
    for same in [kept, r#"{"tag":"a","name":"Ficus"}"#, r#"{"name":"\u0046icus","tag":"a"}"#] {
        assert!(is_same_plant(kept, same), "{same}");
    }
    for other in [r#"{"name":"Ficus"}"#, r#"{"name":"Ficus","tag":"b"}"#, "{", ""] {
        assert!(!is_same_plant(kept, other), "{other}");
    }
    assert!(!is_same_plant("no JSON", kept));
}

#[test]
fn kept_text_is_the_same_plant_if_each_character_is_an_escape_and_not_parsed_if_it_is_longer() {
    let sent = format!(r#"{{"name":"{}"}}"#, "F".repeat(1000));
    let escaped = format!(r#"{{"name":"{}"}}"#, r"\u0046".repeat(1000));
    assert!(is_same_plant(&escaped, &sent));
    let longer = format!("{sent}{}", " ".repeat(6 * sent.len()));
    assert!(!is_same_plant(&longer, &sent), "it would be, if it was parsed");
}
