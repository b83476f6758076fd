//! The table of faults: what each of them allows the service to do, and until when. How a fault
//! begins and ends is in the world that has it: [`sqlite`](super::sqlite) or
//! [`postgres`](super::postgres). No I/O.

use std::time::Duration;

use super::rules::Answer::{self, Failed, Lost, Refused};

/// A file of a SQLite store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum File {
    Store,
    Wal,
    Index,
}

/// A system call that changes a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    Write,
    Sync,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The machine is so busy that the tokens may not be read in time.
    Stalled,
    /// SIGTERM. A create without an answer must not be stored.
    Terminated,
    /// SIGKILL at any moment.
    Killed,
    /// SIGSTOP, until SIGCONT.
    Paused,
    /// The server is killed, and the store loses its power.
    PowerCut,

    /// Each sync of the file fails.
    SyncFails(File),
    /// A sync of the server has failed.
    SyncFailed,
    /// Each sync of the file hangs.
    SyncHangs(File),
    /// Each write to the file hangs.
    WriteHangs(File),
    /// Each sync takes 50 ms longer. A sync may be slow and then fail.
    Slow,
    /// Each read of the server hangs. Commands read as usual.
    ReadsHang,
    /// The file cannot grow or change, for lack of space.
    Full(File),
    /// SIGKILL instead of the nth call.
    KilledAt { call: Call, file: File, nth: u8 },
    /// Another program reads the store in one long transaction.
    Reader,
    /// The file gets another name, and its own name again at the end.
    Renamed(File),
    /// The file is removed. At the end, it is written anew with the content that it had.
    Removed(File),
    /// Like [`Fault::Removed`], with an unrelated file at the path in the meantime.
    Replaced(File),

    /// The database is stopped properly, and starts again at the end.
    DatabaseStopped,
    /// All processes of the database are killed, and it starts again at the end.
    DatabaseKilled,
    /// SIGKILL of one backend. The database then ends the other backends, and recovers.
    BackendKilled,
    /// The database ends all sessions of the service.
    SessionsEnded,
    /// The primary is killed for good, and its standby is promoted.
    Failover,
    /// The synchronous standby is stopped.
    StandbyDown,
    /// The database does not allow writes.
    ReadOnly,
    /// The role of the service may not connect, and its sessions are ended.
    NoConnections,
    /// The network ends every connection with RST, and refuses new ones.
    NetworkReset,
    /// The network ends every connection with FIN, and refuses new ones.
    NetworkClosed,
    /// No byte arrives any more.
    NetworkStalled,
    /// The database, or one worker of Citus, does not sync.
    NoSync,
    /// Every create fails with an error of the database that has no code of its own.
    InternalError,
    /// One worker of Citus is killed.
    WorkerDown,
    /// One worker of Citus is stopped by SIGSTOP.
    WorkerPaused,
}

/// What a fault allows.
#[derive(Clone, Copy, Debug)]
pub struct Effect {
    /// The answers that it explains, besides those of a store without faults.
    pub answers: &'static [Answer],
    /// The earliest explained answer, counted from its begin.
    pub after: Duration,
    /// The latest explained answer, counted from its end.
    pub lingers: Duration,
    /// With which exit codes the process may end by itself. SIGKILL counts as 137, as in a shell.
    pub ends: &'static [i32],
    /// With which exit codes, besides 0, the process may end after SIGTERM.
    pub stops: &'static [i32],
    /// From how long after its begin, until its end, no create can get a 200 or 409.
    pub denies: Option<Duration>,
    /// Whether it keeps the process from answering finally, or from ending.
    pub blocks: bool,
    /// Whether the process has to end by itself within seconds.
    pub must_end: bool,
    /// Whether a command may fail.
    pub fails_commands: bool,
}

/// Nothing is explained: the fault must not be noticed.
const NONE: Effect = Effect {
    answers: &[],
    after: Duration::ZERO,
    lingers: Duration::ZERO,
    ends: &[],
    stops: &[],
    denies: None,
    blocks: false,
    must_end: false,
    fails_commands: true,
};

/// The disk blocks. The lease of the tokens may expire, and the tokens are read twice a second.
const BLOCKED: Effect =
    Effect { answers: &[Refused], lingers: Duration::from_secs(2), blocks: true, ..NONE };

/// Exit code 3: the files are no longer in place.
const GONE: Effect = Effect {
    answers: &[Failed, Refused, Lost],
    ends: &[3],
    stops: &[1, 3],
    denies: Some(Duration::ZERO),
    must_end: true,
    ..NONE
};

/// The service waits for the database as long as a create may take, and reconnects. Only the lease
/// of the tokens, which it read at most 0.5 s before, expires earlier.
const WAITED_OUT: Effect = Effect {
    answers: &[Refused],
    after: Duration::from_millis(500),
    lingers: Duration::from_secs(5),
    blocks: true,
    ..NONE
};

impl Fault {
    /// The row of the table.
    pub fn effect(self) -> Effect {
        match self {
            Self::Stalled => {
                Effect { answers: &[Refused], lingers: Duration::from_secs(3), ..NONE }
            }
            // A client notices the end of its connection when it sends the next create.
            Self::Killed => Effect { answers: &[Lost], lingers: Duration::from_secs(1), ..NONE },
            // A body that ends after the grace period may still be refused.
            Self::Terminated => {
                Effect { answers: &[Refused, Lost], lingers: Duration::from_secs(1), ..NONE }
            }
            Self::SyncFails(_) => {
                Effect { answers: &[Failed, Refused, Lost], ends: &[1], stops: &[1], ..NONE }
            }
            // A commit that ends at the same time may still be a success.
            Self::SyncFailed => Effect {
                answers: &[Failed, Refused, Lost],
                ends: &[1],
                stops: &[1],
                denies: Some(Duration::from_millis(500)),
                must_end: true,
                ..NONE
            },
            Self::Paused | Self::SyncHangs(_) | Self::WriteHangs(_) | Self::ReadsHang => BLOCKED,
            Self::Slow | Self::Reader => Effect { fails_commands: false, ..NONE },
            Self::Full(File::Wal) => {
                Effect { answers: &[Refused], stops: &[1], blocks: true, ..NONE }
            }
            // Every checkpoint fails, and the WAL grows.
            Self::Full(_) => Effect { stops: &[1], ..NONE },
            Self::KilledAt { .. } => Effect { answers: &[Lost], ends: &[137], ..NONE },
            Self::Renamed(_) | Self::Removed(_) | Self::Replaced(_) => GONE,
            Self::PowerCut => Effect { answers: &[Refused, Lost], ..WAITED_OUT },
            Self::BackendKilled
            | Self::SessionsEnded
            | Self::Failover
            | Self::WorkerDown
            | Self::WorkerPaused => WAITED_OUT,
            Self::DatabaseStopped
            | Self::DatabaseKilled
            | Self::NetworkReset
            | Self::NetworkClosed
            | Self::NetworkStalled
            | Self::InternalError
            | Self::StandbyDown => Effect { denies: Some(Duration::ZERO), ..WAITED_OUT },
            Self::ReadOnly | Self::NoConnections => {
                Effect { denies: Some(Duration::from_secs(1)), ..WAITED_OUT }
            }
            // The settings are inspected once a second.
            Self::NoSync => {
                Effect { after: Duration::ZERO, denies: Some(Duration::from_secs(3)), ..WAITED_OUT }
            }
        }
    }

    /// Whether it ends with its begin.
    pub fn is_instant(self) -> bool {
        matches!(self, Self::BackendKilled | Self::SessionsEnded | Self::Failover)
    }

    /// Whether it must not be noticed by any client.
    pub fn is_harmless(self) -> bool {
        self.effect().answers.is_empty()
    }

    /// Whether a file is not in place, so that a command's change would be lost.
    pub fn loses_changes(self) -> bool {
        matches!(self, Self::Renamed(_) | Self::Removed(_) | Self::Replaced(_))
    }
}
