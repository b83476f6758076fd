//! Words that the code cannot use as a bare name.

/// Keywords of Rust, strict and reserved (<https://doc.rust-lang.org/reference/keywords.html>).
pub const RUST: &str = "abstract as async await become box break const continue crate do dyn else \
    enum extern false final fn for gen if impl in let loop macro match mod move mut override priv \
    pub ref return self static struct super trait true try type typeof union unsafe unsized use \
    virtual where while yield";

/// Words that SQLite or PostgreSQL does not accept as the name of a table without quotes. SQLite
/// lists its keywords at <https://sqlite.org/lang_keywords.html>, PostgreSQL by
/// `pg_get_keywords()`.
pub const SQL: &str = "add all alter analyse analyze and any array as asc asymmetric authorization \
    autoincrement between binary both case cast check collate collation column commit concurrently \
    constraint create cross default deferrable delete desc distinct do drop else end escape except \
    exists false fetch for foreign freeze from full grant group having if ilike in index initially \
    inner insert intersect into is isnull join lateral leading left like limit localtime \
    localtimestamp natural not nothing notnull null offset on only or order outer overlaps placing \
    primary raise references returning right select set similar some symmetric table tablesample \
    then to trailing transaction true union unique update user using values variadic verbose when \
    where window with";
