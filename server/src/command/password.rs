//! Hides the password of a database in a message: a URL may stand where a file is expected, and
//! errors of files repeat their names.

/// What stands in its place.
pub const HIDDEN: &str = "(hidden: it may hold a password)";

/// The line without each URL that has a password, and without libpq's `password=…`. A
/// [`StoreUrl`](crate::store::StoreUrl) shows none.
#[must_use]
pub fn hidden(line: &str) -> String {
    let words = line.split(' ').map(|word| {
        match word.find("postgres").map(|at| word[at..].trim_end_matches(':')) {
            Some(url) if has_password(url) => word.replace(url, HIDDEN),
            _ if word.contains("password=") => HIDDEN.to_owned(),
            _ => word.to_owned(),
        }
    });
    words.collect::<Vec<_>>().join(" ")
}

fn has_password(url: &str) -> bool {
    let (_, place) = url.split_once(':').unwrap_or_default();
    let user = place.rsplit_once('@').map_or("", |(user, _)| user);
    user.contains(':') || place.contains("password=")
}
