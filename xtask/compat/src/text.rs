//! Formats values for people.

/// The longest value that is shown in full, in characters.
const LONGEST: usize = 40;

/// Shows two values. If one of them is long, their common beginning and end are left out.
pub fn difference(old: &str, new: &str) -> [String; 2] {
    let [old, new] = [old, new].map(|text| text.chars().collect::<Vec<_>>());
    if old.len().max(new.len()) <= LONGEST {
        return [old, new].map(String::from_iter);
    }
    let same = |(one, other): &(&char, &char)| one == other;
    let start = old.iter().zip(&new).take_while(same).count();
    let end = old[start..].iter().rev().zip(new[start..].iter().rev()).take_while(same).count();
    // Eight characters of the common text show where the difference is.
    let (start, end) = (start.saturating_sub(8), end.saturating_sub(8));
    [old, new].map(|text| {
        let middle: String = text[start..text.len() - end].iter().collect();
        let [before, after] = [start, end].map(|count| if count > 0 { "…" } else { "" });
        format!("{before}{}{after}", shortened(&middle))
    })
}

pub fn shortened(text: &str) -> String {
    cut(text, LONGEST)
}

/// Truncates a text to this number of characters.
pub fn cut(text: &str, longest: usize) -> String {
    match text.char_indices().nth(longest.saturating_sub(1)) {
        Some((at, _)) if text[at..].chars().nth(1).is_some() => format!("{}…", &text[..at]),
        _ => text.to_owned(),
    }
}

/// Escapes control characters, line breaks and invisible characters, so that a terminal shows every
/// character and a runner of GitHub runs no command.
#[must_use]
pub fn printable(text: &str) -> String {
    let escaped: String = text
        .chars()
        .map(|char| match char {
            '\'' | '"' | '\\' => char.to_string(),
            _ => char.escape_debug().to_string(),
        })
        .collect();
    // The runner finds this old form of a command anywhere in a line, and `::` only at its start.
    escaped.replace("##[", "##\\[")
}

/// A text as a JSON string, in quotes.
pub fn escaped(text: &str) -> String {
    serde_json::to_string(text).expect("a text is JSON")
}
