use super::*;

#[test]
fn position_in_a_body_becomes_that_in_json_lines_and_loses_its_column_in_csv() {
    let message = "the body is not JSON: expected value at line 1 column 17; correct it";
    let position = |format| in_the_file(message, 3, format);
    let expected = "the body is not JSON: expected value at line 3 column 17; correct it";
    assert_eq!(position(Format::Jsonl), expected);
    let expected = "the body is not JSON: expected value at line 3; correct it";
    assert_eq!(position(Format::Csv), expected);
    assert_eq!(in_the_file("`name` is missing", 3, Format::Csv), "`name` is missing");
}
