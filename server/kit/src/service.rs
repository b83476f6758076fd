//! A service: everything that the kit does not know.

use dropshot::ApiDescription;
use groundwork_store::{Names, StoreUrl};

use crate::error::{ErrorCode, ErrorRow, ROWS, RefusalStatus};
use crate::http::Context;

/// A service on this kit, as a static value that [`main`](crate::main) serves and maintains. [The
/// crate](crate#what-a-service-cannot-do) lists what no service can do.
///
/// The kit keeps no state and no settings of a service. What an operation needs besides the store,
/// such as a price table or a client for another system, is a static of the service: a
/// [`LazyLock`](std::sync::LazyLock) that reads its environment variables. The service calls
/// [`LazyLock::force`](std::sync::LazyLock::force) before [`main`](crate::main), so that a wrong
/// setting fails the command and not the first request. An operation must not block, because its
/// thread serves other requests, too.
pub struct Service {
    /// The name of the program, such as `book-shelf`, and the names that a store contains. The
    /// prefixes of the environment variables (`BOOK_SHELF_`) and of the metrics (`book_shelf_`),
    /// the realm of the credentials and the default store follow from the program.
    pub names: Names,
    /// The resource, such as `book`. The table has its plural as name.
    pub resource: &'static str,
    /// The prefix of every token, such as `bks_`: lowercase letters and `_`, with a `_` at its
    /// end. Secret scanners look for it. A change would make every token in use malformed.
    pub token_prefix: &'static str,
    /// The version of the service's own package: `env!("CARGO_PKG_VERSION")`.
    pub version: &'static str,
    /// The commit that the service was built from: [`commit!`](crate::commit). May be empty.
    pub commit: &'static str,
    /// What the program does, in one line of `--help`.
    pub about: &'static str,
    /// The beginning of the published document.
    pub info: Info,
    /// Creates the API: every operation with its implementation.
    pub api: fn() -> ApiDescription<Context>,
    /// The operations that are idempotent although their method is not (RFC 9110, section 9.2.2): a
    /// client may send the same request again if there was no response. The document marks them
    /// with `x-idempotent`, without which no client repeats a create that got no response. A create
    /// that only reads its body and commits is idempotent.
    pub idempotent: &'static [&'static str],
    /// The rows of the table of errors that only this service has: see [`Service::error`].
    pub errors: &'static [ErrorRow],
    /// The status of a refused request.
    pub refusal_status: RefusalStatus,
    /// An example of a create.
    pub example: Example,
    /// Whether a stored text is a resource as the service writes it:
    /// [`JsonText::<T>::is_valid`](crate::JsonText::is_valid).
    pub is_resource: fn(&str) -> bool,
}

/// The beginning of the published document.
pub struct Info {
    /// The name of the service, such as `Book Shelf`.
    pub title: &'static str,
    /// A change that breaks a consumer needs a new major version, an addition needs a new minor
    /// version, and a change of wording needs no new version.
    pub version: semver::Version,
    /// What the service does, in one sentence.
    pub description: &'static str,
    /// The licence of the document, such as `MIT`.
    pub license: &'static str,
    /// Where to read the licence.
    pub license_url: &'static str,
}

/// An example of a create by POST, whose body has the member `id`.
pub struct Example {
    /// The path of the operation.
    pub path: &'static str,
    /// The body, which is printed as part of a command when a new store is served.
    pub body: fn() -> String,
    /// The message with which the service refuses the body `{"id":1}`: the example of `error` 400
    /// in the document.
    pub refused: &'static str,
}

/// The commit of the checkout, abbreviated by git-describe(1), with `-dirty` if the checkout had
/// changes. Empty if the sources are not a git checkout or git is not installed. If the sources are
/// part of another repository, this is the commit of that repository.
#[macro_export]
macro_rules! commit {
    () => {
        $crate::git_version!(
            args = ["--always", "--dirty", "--abbrev=12", "--exclude=*"],
            fallback = ""
        )
    };
}

/// A row of the table of errors with the names of the service.
pub(crate) struct NamedRow {
    pub error: u16,
    pub retryable: bool,
    pub meaning: String,
    pub example: String,
}

impl Service {
    /// Returns a value of `error` that only this service has. As a constant, it compiles only if
    /// [`Service::errors`] has a row with this value:
    ///
    /// ```text
    /// const NOT_FOUND: ErrorCode = BOOK_SHELF.error(404);
    /// ```
    ///
    /// # Panics
    ///
    /// Panics if there is no such row.
    #[must_use]
    pub const fn error(&self, error: u16) -> ErrorCode {
        ErrorCode::find(self.errors, error)
    }

    /// Asserts the rules in the documentation of [`Names`] and of `token_prefix`.
    pub(crate) fn assert_names(&self) {
        let consists_of = |text: &str, others: &str| {
            text.bytes().all(|byte| byte.is_ascii_lowercase() || others.contains(char::from(byte)))
        };
        let Names { program, table, .. } = self.names;
        let is_program = program.starts_with(|first: char| first.is_ascii_lowercase())
            && consists_of(program, "0123456789-");
        assert!(is_program, "`program` must match [a-z][a-z0-9-]*: {program:?}");
        let is_table = !table.is_empty() && consists_of(table, "_") && table != "tokens";
        assert!(is_table, "`table` must match [a-z_]+, and must not be `tokens`: {table:?}");
        let prefix = self.token_prefix;
        let is_prefix =
            prefix.strip_suffix('_').is_some_and(|word| !word.is_empty() && consists_of(word, "_"));
        assert!(is_prefix, "`token_prefix` must match [a-z_]+_: {prefix:?}");
    }

    /// Returns the whole table of errors, in ascending order.
    pub(crate) fn error_table(&self) -> Vec<NamedRow> {
        let named = |row: &ErrorRow| NamedRow {
            error: row.error,
            retryable: row.retryable,
            meaning: self.fill_in(row.meaning),
            example: match row.error {
                400 => self.example.refused.to_owned(),
                _ => self.fill_in(row.example),
            },
        };
        let mut rows: Vec<_> = ROWS.iter().chain(self.errors).map(named).collect();
        rows.sort_by_key(|row| row.error);
        for pair in rows.windows(2) {
            let error = pair[0].error;
            let is_unique = error < pair[1].error;
            assert!(is_unique, "`errors` has {error} twice, or repeats a row of the library");
        }
        rows
    }

    /// Returns the release, followed by the commit in parentheses.
    pub(crate) fn release(&self) -> String {
        let Self { version, commit, .. } = self;
        if commit.is_empty() { (*version).to_owned() } else { format!("{version} ({commit})") }
    }

    /// Returns the program in the spelling of metrics.
    pub(crate) fn metrics_prefix(&self) -> String {
        self.names.program.replace('-', "_")
    }

    /// Returns the prefix of the environment variables of all flags.
    pub(crate) fn variables_prefix(&self) -> String {
        self.metrics_prefix().to_uppercase() + "_"
    }

    /// Replaces `{program}`, `{resource}`, `{resources}` and `{store_url}` in a text of the kit.
    pub(crate) fn fill_in(&self, text: &str) -> String {
        text.replace("{program}", self.names.program)
            .replace("{resource}", self.resource)
            .replace("{resources}", self.names.table)
            .replace("{store_url}", StoreUrl::FORMS)
    }
}
