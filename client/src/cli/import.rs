//! `plants import`: creates every plant of a file of JSON lines.
//!
//! It keeps no record of its progress and writes no file. A create is idempotent, so an import that
//! ended early is simply run again. Two lines with the same id are never in flight together: the
//! first of them is created, in every run.
//!
//! Up to `--in-flight` lines are sent at once, and they are reported in the order of the file.
//! While that many lines wait to be reported, no further line is read.

mod create;
mod lines;

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::fs;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Result, anyhow, ensure};
use futures::StreamExt;
use groundwork_client::escape_control;
use indicatif::{ProgressBar, ProgressStyle};
use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::sync::{Notify, watch};
use tokio::time::{sleep, timeout};

use super::interrupted;
use crate::{Client, ExponentialBuilder, retry_policy};
use create::Latest;
use lines::{LONGEST, Line, lines};

/// How long the import waits for the first answer of the service.
const FIRST_ANSWER: Duration = Duration::from_secs(10);

/// How long an import that ends early waits for what is in flight.
const LAST_ANSWERS: Duration = Duration::from_secs(5);

/// How long it then waits for stdout, which may be a pipe that nobody reads.
const LAST_WRITE: Duration = Duration::from_secs(1);

/// The length limit of a reason, in characters. A reason may repeat a value of any length.
const LONGEST_REASON: usize = 500;

/// Create every plant of a file
///
/// The file contains one JSON object per line, as `plant-store export` writes them. A line that is
/// not created is written to standard output, unchanged and in the order of the file, and the
/// reason to standard error. So `plants import a > rejected; plants import rejected` tries again
/// what was not created. The import is idempotent: if it ended early, run the same command again.
#[derive(clap::Args)]
pub struct Arguments {
    /// File to import; - is standard input
    file: PathBuf,
    /// Ignore members that the contract does not have, instead of refusing them
    #[arg(long)]
    ignore_unknown: bool,
    /// How many creates may be in flight at once
    #[arg(long, value_name = "CREATES", default_value_t = 64)]
    #[arg(value_parser = clap::value_parser!(u16).range(1..))]
    in_flight: u16,
    /// How often to retry a create, with exponential backoff from 0.1 to 10 seconds and jitter of
    /// up to as much again. A refusal with 429 does not count
    #[arg(long, value_name = "RETRIES", default_value_t = 10)]
    retries: u16,
}

enum Outcome {
    /// The plant was created, or already existed.
    Created,
    /// The service refused the plant, or the line is not a plant.
    Rejected(String),
    /// Nobody knows whether the plant was created.
    Unanswered(String),
}

/// What the import still does.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Phase {
    Running,
    /// It reads no more lines.
    Ending,
    /// It waits for no more answers.
    Over,
}

/// An import that runs.
struct Import<'a> {
    arguments: &'a Arguments,
    /// The name of the file.
    name: String,
    client: Client,
    retries: ExponentialBuilder,
    phase: watch::Sender<Phase>,
    /// Why the import ends early.
    end: RefCell<Option<anyhow::Error>>,
    /// The latest line with each id in flight. The next line with the id waits for it.
    latest: RefCell<HashMap<i64, Latest>>,
    first_sent: Notify,
    /// Whether the service has answered, other than by refusing the token.
    is_answered: Cell<bool>,
    /// Why a create was retried last.
    last_failure: RefCell<Option<String>>,
    unanswered_in_a_row: Cell<u16>,
    created: Cell<u64>,
    rejected: Cell<u64>,
    unanswered: Cell<u64>,
    bar: ProgressBar,
}

/// Runs the import. An error means that nothing was sent.
pub async fn run(arguments: &Arguments, client: Client) -> Result<ExitCode> {
    let file = &arguments.file;
    ensure!(
        !file.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("csv")),
        "CSV is not supported: client/README.md converts it to JSON lines with five lines of Python"
    );
    let lines = lines(file, arguments.in_flight)?;
    let import = Import {
        arguments,
        name: file.display().to_string(),
        client,
        retries: retry_policy().with_max_times(arguments.retries.into()),
        phase: watch::Sender::new(Phase::Running),
        end: RefCell::default(),
        latest: RefCell::default(),
        first_sent: Notify::new(),
        is_answered: Cell::new(false),
        last_failure: RefCell::default(),
        unanswered_in_a_row: Cell::new(0),
        created: Cell::new(0),
        rejected: Cell::new(0),
        unanswered: Cell::new(0),
        bar: bar(file),
    };
    let creates = lines
        .take_until(import.reaches(Phase::Ending))
        .filter_map(async |line| import.read(line))
        .map(|line| import.create(line))
        .buffered(arguments.in_flight.into())
        .then(async |(line, outcome)| import.report(line, outcome).await);
    let mut creates = pin!(creates);
    let exit_code = tokio::select! {
        () = creates.by_ref().collect() => ExitCode::FAILURE,
        () = import.reaches(Phase::Ending) => ExitCode::FAILURE,
        () = import.is_never_answered() => ExitCode::FAILURE,
        exit_code = interrupted() => {
            import.end_early(Phase::Ending, anyhow!("interrupted"));
            exit_code
        }
    };
    if import.end.borrow().is_some() {
        tokio::select! {
            () = creates.by_ref().collect() => {}
            () = import.reaches(Phase::Over) => {}
            () = sleep(LAST_ANSWERS) => {}
            _ = interrupted() => {}
        }
        import.phase.send_replace(Phase::Over);
        let _: Result<(), _> = timeout(LAST_WRITE, creates.by_ref().collect()).await;
    }
    import.bar.finish_and_clear();
    let (summary, exit_code) = import.conclude(exit_code);
    let _ = timeout(LAST_WRITE, import.say(&summary)).await;
    Ok(exit_code)
}

impl Import<'_> {
    /// Returns a line, or ends the import if the file cannot be read any more.
    fn read(&self, line: io::Result<Line>) -> Option<Line> {
        line.map_err(|error| {
            let unreadable = anyhow!(error).context(format!("cannot read {}", self.name));
            self.end_early(Phase::Ending, unreadable);
        })
        .ok()
    }

    /// Ends the import if the service does not answer at all.
    async fn is_never_answered(&self) {
        self.first_sent.notified().await;
        sleep(FIRST_ANSWER).await;
        if self.is_answered.get() {
            return std::future::pending().await;
        }
        let reason = self.last_failure.take().unwrap_or_else(|| "there is no answer".to_owned());
        let reason = anyhow!("nothing was answered within {FIRST_ANSWER:?}: {reason}");
        self.end_early(Phase::Over, reason);
    }

    fn end_early(&self, phase: Phase, reason: anyhow::Error) {
        self.end.borrow_mut().get_or_insert(reason);
        self.phase.send_modify(|present| *present = phase.max(*present));
    }

    async fn reaches(&self, phase: Phase) {
        let mut changes = self.phase.subscribe();
        // The sender outlives the receiver, so this cannot fail.
        let _ = changes.wait_for(|present| *present >= phase).await;
    }

    /// Counts a line, and reports it if it was not created. The calls of this function are in the
    /// order of the file. If the import ends because the service never answered, the lines in
    /// flight are not reported, like the lines that were not read.
    async fn report(&self, line: Line, outcome: Outcome) {
        self.bar.inc(line.text.as_ref().map_or(LONGEST, |text| text.len() as u64));
        let (count, reason) = match outcome {
            Outcome::Created => (&self.created, None),
            Outcome::Rejected(reason) => (&self.rejected, Some(reason)),
            Outcome::Unanswered(reason) => {
                let is_like_unread = self.end.borrow().is_some() && !self.is_answered.get();
                (&self.unanswered, Some(reason).filter(|_| !is_like_unread))
            }
        };
        count.update(|lines| lines + 1);
        let Some(reason) = reason else { return };
        if let Some(mut text) = line.text {
            if !text.ends_with(b"\n") {
                text.push(b'\n');
            }
            if let Err(error) = self.write(io::stdout(), tokio::io::stdout(), &text).await {
                let unwritable = anyhow!(error).context("cannot write to standard output");
                self.end_early(Phase::Ending, unwritable);
            }
        }
        self.say(&self.reason(line.number, &reason)).await;
    }

    /// Prints a line to stderr. If stderr is closed, the exit code still reports the failure.
    async fn say(&self, line: &str) {
        let line = escape_control(line) + "\n";
        let _ = self.write(io::stderr(), tokio::io::stderr(), line.as_bytes()).await;
    }

    /// Writes to stdout or stderr, without drawing the bar into the text.
    async fn write(
        &self,
        mut terminal: impl Write + IsTerminal,
        mut other: impl AsyncWrite + Unpin,
        text: &[u8],
    ) -> io::Result<()> {
        if terminal.is_terminal() {
            return self.bar.suspend(|| terminal.write_all(text));
        }
        // It writes on another thread: a full pipe would block the handling of signals.
        other.write_all(text).await?;
        other.flush().await
    }

    fn reason(&self, number: u64, reason: &str) -> String {
        let reason: String = reason.chars().take(LONGEST_REASON).collect();
        format!("{}:{number}: {reason}", self.name)
    }

    /// Returns the summary, with the reason why the import ended early, and the exit code.
    fn conclude(&self, exit_code: ExitCode) -> (String, ExitCode) {
        let counts = [&self.created, &self.rejected, &self.unanswered];
        let [created, rejected, unanswered] = counts.map(Cell::get);
        let name = &self.name;
        let summary = format!(
            "plants: {created} created or already there, {rejected} rejected, \
             {unanswered} unanswered"
        );
        match self.end.take() {
            Some(reason) => {
                let rest = format!("the rest of {name} was not tried: run the same command again");
                (format!("{summary}; {reason:#}; {rest}"), exit_code)
            }
            None if created + rejected + unanswered == 0 => {
                (format!("{summary}; {name} contains no line"), exit_code)
            }
            None if rejected + unanswered == 0 => (summary, ExitCode::SUCCESS),
            None => (summary, exit_code),
        }
    }
}

/// Returns the progress in the file. indicatif draws it only if stderr is a terminal.
fn bar(file: &Path) -> ProgressBar {
    let size = fs::metadata(file).ok().filter(fs::Metadata::is_file).map(|file| file.len());
    let template = match size {
        Some(_) => "{bar:40} {bytes}/{total_bytes}, {eta} left",
        None => "{spinner} {bytes}, {bytes_per_sec}",
    };
    let style = ProgressStyle::with_template(template).expect("the template is valid");
    size.map_or_else(ProgressBar::no_length, ProgressBar::new).with_style(style)
}
