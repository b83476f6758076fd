//! The names of the copy in every spelling, and where they replace the names of this service.

use std::path::Path;

use anyhow::{Result, ensure};
use heck::{ToShoutySnakeCase, ToSnakeCase, ToTitleCase, ToUpperCamelCase};
use regex::{Captures, Regex};

use crate::new::reserved::{RUST, SQL};

/// A name of this service in a text: the resource or the service in any spelling, with the article
/// before it; the prefix of the tokens; or `application_id`, as letters or as the number that SQLite
/// shows. Between two words there may be a line break inside a comment.
const NAME: &str = r"(?x)
    (?: \b (?<article> [Aa] ) (?<gap> (?: \ | \n[\ \t]*(?:/{2,3}!?\ |\#\ )? ) [`*]* ) )?
    (?<first> (?i:plant) )
    (?: (?<plural> [sS] ) (?: \b | (?<after> _ ) )
      | (?<between> [-_\ ] | \n[\ \t]*(?:/{2,3}!?\ |\#\ )? ) (?<second> (?i:store) )
      | (?<camel> Store ) )?
    | (?<token> \b pst_ )
    | (?<id> \b PLS \b | \b 1347179266 \b )";

/// The names of the copy.
pub struct Names {
    /// In kebab case.
    service: String,
    resource: String,
    pub plural: String,
    pattern: Regex,
}

impl Names {
    /// Checks that programs, types and a table can have these names.
    pub fn new(service: &str, resource: &str, plural: Option<&str>) -> Result<Self> {
        let plural = plural.map_or_else(|| format!("{resource}s"), str::to_owned);
        for word in [resource, &plural] {
            ensure!(is_word(word), "`{word}` is not a name such as `seed`: one lowercase word");
            ensure!(!has(RUST, word), "choose another word: `{word}` is a keyword of Rust");
        }
        ensure!(!has(SQL, &plural), "choose another word: `{plural}` is a reserved word of SQL");
        ensure!(resource != plural, "`{resource}` is its own plural: choose another word");
        ensure!(
            service != resource && service != plural,
            "`{service}` is also a name of the resource: choose another name for the service"
        );
        ensure!(
            service.split('-').all(is_word),
            "`{service}` is not a name such as `seed-bank`: lowercase words, separated by hyphens"
        );
        Ok(Self {
            service: service.to_owned(),
            resource: resource.to_owned(),
            plural,
            pattern: Regex::new(NAME).expect("the pattern is valid"),
        })
    }

    /// Returns the text with the names of the copy.
    pub fn rename(&self, text: &str) -> String {
        self.pattern.replace_all(text, |found: &Captures<'_>| self.replacement(found)).into_owned()
    }

    fn replacement(&self, found: &Captures<'_>) -> String {
        let part = |name| found.name(name).map_or("", |part| part.as_str());
        if found.name("token").is_some() {
            return self.token_prefix();
        }
        if found.name("id").is_some() {
            return self.application_id(part("id"));
        }
        let name = if found.name("camel").is_some() {
            self.service.to_upper_camel_case()
        } else if found.name("second").is_some() {
            self.service_like(part("first"), part("between"), part("second"))
        } else {
            let is_plural = found.name("plural").is_some();
            in_case_of(part("first"), if is_plural { &self.plural } else { &self.resource })
        };
        let starts_with_vowel = name.to_lowercase().starts_with(['a', 'e', 'i', 'o']);
        let n = if starts_with_vowel && found.name("article").is_some() { "n" } else { "" };
        format!("{}{n}{}{name}{}", part("article"), part("gap"), part("after"))
    }

    /// Spells the service like these two words.
    fn service_like(&self, first: &str, between: &str, second: &str) -> String {
        match between {
            "-" => in_case_of(first, &self.service),
            "_" if first == "PLANT" => self.service.to_shouty_snake_case(),
            "_" => self.service.to_snake_case(),
            // The first space may be a line break.
            _ if second == "Store" => self.service.to_title_case().replacen(' ', between, 1),
            _ => in_case_of(first, &self.service.replace('-', " ").replacen(' ', between, 1)),
        }
    }

    /// The initials of the service, and `t` for token.
    fn token_prefix(&self) -> String {
        let initials = self.service.split('-').filter_map(|word| word.chars().next());
        format!("{}t_", initials.collect::<String>())
    }

    /// `application_id` in the form of `found`: letters, or the number of the letters and the
    /// layout.
    fn application_id(&self, found: &str) -> String {
        let (first, last) = self.service.rsplit_once('-').unwrap_or((&self.service, "x"));
        let letters = format!("{}{}", &first[..2], &last[..1]).to_uppercase();
        if found == "PLS" {
            return letters;
        }
        // The last byte is twice the number of the layout.
        let bytes = letters.bytes().chain([2]);
        bytes.fold(0_u32, |id, byte| (id << 8) | u32::from(byte)).to_string()
    }

    /// Returns an extended regular expression that matches the definition of anything with a name of
    /// the copy.
    pub fn definition(&self) -> String {
        let Self { resource, plural, .. } = self;
        let title = resource.to_upper_camel_case();
        [
            format!(r"\b(struct|enum|trait|type) (New)?{title}\b"),
            format!(r"\b(mod|fn) ({resource}|{plural})\b"),
            format!(r"\bfn create_{resource}\b"),
            format!(r"\bTABLE (IF NOT EXISTS )?{plural}\b"),
        ]
        .join("|")
    }

    /// The message of the first commit.
    pub fn commit_message(&self) -> String {
        format!("{}: start with POST /{}", self.service, self.plural)
    }

    /// What to do in the copy.
    pub fn next_steps(&self, folder: &Path) -> String {
        let resource = &self.resource;
        format!(
            "
{folder} is ready. Run the service, and in a second terminal the checks:

    cd {folder}
    cargo run --release -- serve   # and the curl command that it prints
    cargo xtask test

Then make the service yours, and run `cargo xtask generate` after each change:

- server/api/src/types.rs: the members of your {resource}, and their example
- tests/specification.json: the contract that the document must contain
- server/api/src/document.rs: what the document says about the service
- xtask/CHANGES.md: how to add a member, an error, an operation, and how to remove PostgreSQL or
  the import

Until the service has consumers, amend the first commit after each change of the document: then
`cargo xtask compat` has no older document to compare with. The tests create each {resource} with
`name` and `tag`. Keep these members while you get to know the code, or edit client/tests and
tests/e2e when you remove them. If lines of a page have become too long, `cargo xtask conformance
markdown` lists them.",
            folder = folder.display(),
        )
    }
}

/// Whether a text is one lowercase word.
fn is_word(text: &str) -> bool {
    text.len() > 1 && text.bytes().all(|byte| byte.is_ascii_lowercase())
}

/// Whether a list, separated by spaces, has a word.
fn has(words: &str, word: &str) -> bool {
    words.split(' ').any(|listed| listed == word)
}

/// Returns a word in the case of another word: `plant`, `Plant` or `PLANT`.
fn in_case_of(other: &str, word: &str) -> String {
    if other == "PLANT" {
        word.to_uppercase()
    } else if other.starts_with('P') {
        word[..1].to_uppercase() + &word[1..]
    } else {
        word.to_owned()
    }
}
