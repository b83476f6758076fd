//! `plants import`: creates every plant of a file of JSON lines.
//!
//! It keeps no record of its progress and writes no file. A create is idempotent, so an import that
//! ended early is simply run again. Two lines with the same id are never in flight together: the
//! first of them is created, in every run.
//!
//! A thread reads the lines. `--in-flight` of them are sent at once and reported in the order of the
//! file, and no line is read while as many wait to be reported.

use std::cell::{Cell, RefCell};
use std::collections::hash_map::{Entry, HashMap};
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, ensure};
use backon::Retryable;
use futures::{Stream, StreamExt, stream};
use groundwork_client::escape_control;
use indicatif::{ProgressBar, ProgressStyle};
use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::sync::{Notify, mpsc, oneshot, watch};
use tokio::time::{sleep, timeout};

use super::contract::parse;
use super::{interrupted, say};
use crate::types::NewPlant;
use crate::{Client, ErrorCode, ExponentialBuilder, Failure, retry_policy};

/// The length limit of a line, in bytes. It bounds the memory of the import, and is larger than the
/// service's default limit on a body.
const LONGEST: u64 = 1 << 20;

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

/// A line of the file.
struct Line {
    /// Counted from 1.
    number: u64,
    /// The bytes with the line break, or `None` if the line is too long.
    text: Option<Vec<u8>>,
}

/// A line in flight.
struct Latest {
    number: u64,
    turn_ends: oneshot::Receiver<()>,
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
#[derive(Clone, Copy, PartialEq, PartialOrd)]
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
    client: Client,
    retries: ExponentialBuilder,
    phase: watch::Sender<Phase>,
    /// Why the import ends early.
    end: RefCell<Option<anyhow::Error>>,
    ends: Notify,
    /// The latest line with each id in flight. The next line with the id waits for it.
    latest: RefCell<HashMap<i64, Latest>>,
    first_sent: Notify,
    /// Whether the service has answered, other than by refusing the token.
    is_answered: Cell<bool>,
    /// Why a create was retried last.
    last_failure: RefCell<Option<String>>,
    unanswered_in_a_row: Cell<u16>,
    bar: ProgressBar,
}

/// The number of lines with each outcome.
#[derive(Default)]
struct Summary {
    created: u64,
    rejected: u64,
    unanswered: u64,
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
        client,
        retries: retry_policy().with_max_times(arguments.retries.into()),
        phase: watch::Sender::new(Phase::Running),
        end: RefCell::default(),
        ends: Notify::new(),
        latest: RefCell::default(),
        first_sent: Notify::new(),
        is_answered: Cell::new(false),
        last_failure: RefCell::default(),
        unanswered_in_a_row: Cell::new(0),
        bar: bar(file),
    };
    let creates = lines
        .take_until(import.reaches(Phase::Ending))
        .filter_map(async |line| import.read(line))
        .map(|line| import.create(line))
        .buffered(arguments.in_flight.into())
        .then(async |(line, outcome)| import.report(line, outcome).await);
    let mut creates = pin!(creates);
    let mut summary = Summary::default();
    let exit_code = tokio::select! {
        () = summary.add_all(&mut creates) => ExitCode::FAILURE,
        () = import.ends.notified() => ExitCode::FAILURE,
        () = import.is_never_answered() => ExitCode::FAILURE,
        exit_code = interrupted() => {
            import.end_early(anyhow!("interrupted"));
            exit_code
        }
    };
    if import.end.borrow().is_some() {
        tokio::select! {
            () = summary.add_all(&mut creates) => {}
            () = import.reaches(Phase::Over) => {}
            () = sleep(LAST_ANSWERS) => {}
            _ = interrupted() => {}
        }
        import.phase.send_replace(Phase::Over);
        let _ = timeout(LAST_WRITE, summary.add_all(&mut creates)).await;
    }
    import.bar.finish_and_clear();
    let (conclusion, exit_code) = import.conclude(&summary, exit_code);
    let _ = timeout(LAST_WRITE, import.say(&conclusion)).await;
    Ok(exit_code)
}

impl Import<'_> {
    /// Returns a line, or ends the import if the file cannot be read any more.
    fn read(&self, line: io::Result<Line>) -> Option<Line> {
        line.map_err(|error| {
            self.end_early(anyhow!(error).context(format!("cannot read {}", self.name())));
        })
        .ok()
    }

    /// Creates the plant of a line. The calls of this function are in the order of the file.
    fn create(&self, line: Line) -> impl Future<Output = (Line, Outcome)> {
        let plant = match &line.text {
            Some(text) => parse::<NewPlant>(text, self.arguments.ignore_unknown),
            None => Err(anyhow!("the line is longer than 1 MiB, and is not repeated here")),
        };
        // Dropping the sender ends the turn of this line.
        let (turn, turn_ends) = oneshot::channel::<()>();
        let previous = plant.as_ref().ok().and_then(|plant| {
            let latest = Latest { number: line.number, turn_ends };
            self.latest.borrow_mut().insert(plant.id, latest)
        });
        async move {
            let plant = match plant {
                Ok(plant) => plant,
                Err(error) => {
                    let reason = error.to_string().replace(" at line 1 column ", " at column ");
                    return (line, Outcome::Rejected(reason));
                }
            };
            let outcome = tokio::select! {
                biased;
                () = self.reaches(Phase::Over) => {
                    Outcome::Unanswered("the import ended before the service answered".to_owned())
                }
                outcome = async {
                    if let Some(previous) = previous {
                        let _ = previous.turn_ends.await;
                    }
                    self.send(line.number, &plant).await
                } => outcome,
            };
            drop(turn);
            if let Entry::Occupied(latest) = self.latest.borrow_mut().entry(plant.id)
                && latest.get().number == line.number
            {
                latest.remove();
            }
            (line, outcome)
        }
    }

    /// Sends a plant until there is an answer that is not worth another try.
    async fn send(&self, number: u64, plant: &NewPlant) -> Outcome {
        self.first_sent.notify_one();
        let attempt = || async {
            let sent = self.client.create_plant().body(plant.clone()).send().await;
            sent.map(drop).map_err(Failure::from)
        };
        loop {
            let result = attempt
                .retry(self.retries)
                .when(|failure| failure.is_retryable() && !is_rate_limited(failure))
                .adjust(|failure, backoff| Some(failure.pause(backoff?)))
                .notify(|failure, _| self.note(number, failure))
                .await;
            match result {
                Err(failure) if is_rate_limited(&failure) => {
                    self.note(number, &failure);
                    sleep(failure.pause(Duration::ZERO).max(Duration::from_secs(1))).await;
                }
                result => return self.outcome(result),
            }
        }
    }

    fn outcome(&self, result: Result<(), Failure>) -> Outcome {
        let failure = match result {
            Ok(()) => return self.answered(Outcome::Created),
            Err(failure) => failure,
        };
        let reason = failure.to_string();
        if failure.code() == Some(ErrorCode::Unauthorized) {
            self.end_early(anyhow!("{reason}"));
            self.phase.send_replace(Phase::Over);
        } else if failure.code().is_some() && !failure.is_retryable() {
            return self.answered(Outcome::Rejected(reason));
        } else if !failure.is_retryable() && !self.is_answered.get() {
            self.end_early(anyhow!("{reason}"));
            self.phase.send_replace(Phase::Over);
        } else {
            self.unanswered_in_a_row.update(|creates| creates.saturating_add(1));
            if self.unanswered_in_a_row.get() == self.arguments.in_flight {
                self.end_early(anyhow!("the service no longer creates plants: {reason}"));
            }
        }
        Outcome::Unanswered(reason)
    }

    fn answered(&self, outcome: Outcome) -> Outcome {
        self.is_answered.set(true);
        self.unanswered_in_a_row.set(0);
        outcome
    }

    /// Reports the first failure at once, because the retries may take a minute.
    fn note(&self, number: u64, failure: &Failure) {
        if failure.code().is_some() {
            self.is_answered.set(true);
        }
        let reason = failure.to_string();
        if self.last_failure.borrow().is_none() {
            let line = self.reason(number, &format!("{reason}; retrying"));
            self.bar.suspend(|| say(&line));
        }
        self.bar.set_message(reason.clone());
        self.last_failure.replace(Some(reason));
    }

    /// Ends the import if the service does not answer at all.
    async fn is_never_answered(&self) {
        self.first_sent.notified().await;
        sleep(FIRST_ANSWER).await;
        if self.is_answered.get() {
            return std::future::pending().await;
        }
        let reason = self.last_failure.take().unwrap_or_else(|| "there is no answer".to_owned());
        self.end_early(anyhow!("nothing was answered within {FIRST_ANSWER:?}: {reason}"));
        self.phase.send_replace(Phase::Over);
    }

    fn end_early(&self, reason: anyhow::Error) {
        self.end.borrow_mut().get_or_insert(reason);
        self.phase.send_if_modified(|phase| {
            let is_running = *phase == Phase::Running;
            *phase = if is_running { Phase::Ending } else { *phase };
            is_running
        });
        self.ends.notify_one();
    }

    async fn reaches(&self, phase: Phase) {
        let mut changes = self.phase.subscribe();
        // The sender outlives the receiver, so this cannot fail.
        let _ = changes.wait_for(|present| *present >= phase).await;
    }

    /// Reports a line that was not created. The calls of this function are in the order of the
    /// file. If the import ends because the service never answered, the lines in flight are like
    /// those that were not read.
    async fn report(&self, line: Line, outcome: Outcome) -> Outcome {
        self.bar.inc(line.text.as_ref().map_or(LONGEST, |text| text.len() as u64));
        let reason = match &outcome {
            Outcome::Created => return outcome,
            Outcome::Unanswered(_) if self.end.borrow().is_some() && !self.is_answered.get() => {
                return outcome;
            }
            Outcome::Rejected(reason) | Outcome::Unanswered(reason) => reason,
        };
        if let Some(mut text) = line.text {
            if !text.ends_with(b"\n") {
                text.push(b'\n');
            }
            if let Err(error) = self.write(io::stdout(), tokio::io::stdout(), &text).await {
                self.end_early(anyhow!(error).context("cannot write to standard output"));
            }
        }
        self.say(&self.reason(line.number, reason)).await;
        outcome
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
        format!("{}:{number}: {reason}", self.name())
    }

    fn name(&self) -> String {
        self.arguments.file.display().to_string()
    }

    /// Returns the summary, why the import ended early if it did, and the exit code.
    fn conclude(&self, summary: &Summary, exit_code: ExitCode) -> (String, ExitCode) {
        let Summary { created, rejected, unanswered } = summary;
        let name = self.name();
        let counts = format!(
            "plants: {created} created or already there, {rejected} rejected, {unanswered} unanswered"
        );
        match self.end.take() {
            Some(reason) => {
                let advice =
                    format!("the rest of {name} was not tried: run the same command again");
                (format!("{counts}; {reason:#}; {advice}"), exit_code)
            }
            None if created + rejected + unanswered == 0 => {
                (format!("{counts}; {name} contains no line"), exit_code)
            }
            None if rejected + unanswered == 0 => (counts, ExitCode::SUCCESS),
            None => (counts, exit_code),
        }
    }
}

impl Summary {
    /// Counts outcomes until there are no more.
    async fn add_all(&mut self, outcomes: &mut (impl Stream<Item = Outcome> + Unpin)) {
        while let Some(outcome) = outcomes.next().await {
            match outcome {
                Outcome::Created => self.created += 1,
                Outcome::Rejected(_) => self.rejected += 1,
                Outcome::Unanswered(_) => self.unanswered += 1,
            }
        }
    }
}

fn is_rate_limited(failure: &Failure) -> bool {
    match failure {
        Failure::Unexpected { status, .. } => *status == 429,
        failure => failure.code() == Some(ErrorCode::TooManyRequests),
    }
}

/// Opens a file and returns its lines, without empty ones.
fn lines(file: &Path, ahead: u16) -> Result<impl Stream<Item = io::Result<Line>> + Unpin> {
    let input: Box<dyn Read + Send> = if file == Path::new("-") {
        Box::new(io::stdin())
    } else {
        Box::new(File::open(file).with_context(|| format!("cannot read {}", file.display()))?)
    };
    let (sender, mut receiver) = mpsc::channel(ahead.into());
    // A thread, because reading a pipe blocks.
    thread::spawn(move || {
        if let Err(error) = read(BufReader::new(input), &sender) {
            let _ = sender.blocking_send(Err(error));
        }
    });
    Ok(stream::poll_fn(move |context| receiver.poll_recv(context)))
}

/// Sends the lines of a file until its end, or until nobody receives them any more.
fn read(mut input: impl BufRead, lines: &mpsc::Sender<io::Result<Line>>) -> io::Result<()> {
    for number in 1.. {
        let mut text = Vec::new();
        if input.by_ref().take(LONGEST + 1).read_until(b'\n', &mut text)? == 0 {
            break;
        }
        let is_too_long = text.len() as u64 > LONGEST && !text.ends_with(b"\n");
        if is_too_long {
            input.skip_until(b'\n')?;
        } else if text.trim_ascii().is_empty() {
            continue;
        }
        let line = Line { number, text: (!is_too_long).then_some(text) };
        if lines.blocking_send(Ok(line)).is_err() {
            break;
        }
    }
    Ok(())
}

/// Returns the progress in the file. indicatif draws it only if stderr is a terminal.
fn bar(file: &Path) -> ProgressBar {
    let size = fs::metadata(file).ok().filter(fs::Metadata::is_file).map(|file| file.len());
    let template = match size {
        Some(_) => "{bar:40} {bytes}/{total_bytes}, {eta} left\n{wide_msg}",
        None => "{spinner} {bytes}, {bytes_per_sec}\n{wide_msg}",
    };
    let style = ProgressStyle::with_template(template).expect("the template is valid");
    size.map_or_else(ProgressBar::no_length, ProgressBar::new).with_style(style)
}
