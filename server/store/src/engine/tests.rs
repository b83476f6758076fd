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
