use super::*;

#[test]
fn passfile_line_fits_by_host_port_database_and_user() {
    let wanted = ["db.example", "5432", "plants", "ada"];
    for (line, password) in [
        ("db.example:5432:plants:ada:secret", Some("secret")),
        (r"*:*:*:ada:a\:b\\c", Some(r"a:b\c")),
        ("db.example:5433:plants:ada:secret", None),
        ("#db.example:5432:plants:ada:secret", None),
        ("db.example:5432:plants", None),
    ] {
        assert_eq!(password_of(line, wanted).as_deref(), password, "{line}");
    }
}
