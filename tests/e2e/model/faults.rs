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

/// A system call on a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    Read,
    Write,
    Sync,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// SIGTERM. A create without an answer must not be stored.
    Terminated,
    /// SIGKILL at any moment.
    Killed,
    /// SIGSTOP, until SIGCONT.
    Paused,
    /// The server is killed, and the store loses its power.
    PowerCut,

    /// Each call on the file fails: a sync with EIO, and a write for lack of space.
    Fails(Call, File),
    /// Each call on the file hangs. Only the server's reads hang.
    Hangs(Call, File),
    /// SIGKILL instead of the nth call.
    KilledAt { call: Call, file: File, nth: u8 },
    /// Each sync of the WAL takes 50 ms longer.
    Slow,
    /// Another program reads the store in one long transaction.
    Reader,
    /// The file is removed. At the end, it is written anew with the content that it had.
    Removed(File),

    /// The database is stopped properly, and starts again at the end.
    DatabaseStopped,
    /// All processes of the database are killed, and it starts again at the end.
    DatabaseKilled,
    /// SIGKILL of one backend. The database then ends the other backends, and recovers.
    BackendKilled,
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
    /// The latest explained create, counted from its end.
    pub lingers: Duration,
    /// With which exit codes the process may end. SIGKILL counts as 137, as in a shell.
    pub exits: &'static [i32],
    /// From how long after it is fully in force, until its end, no create can get a 200 or 409.
    pub denies: Option<Duration>,
}

impl Effect {
    /// Whether it keeps the process from answering finally, or from ending.
    pub fn blocks(&self) -> bool {
        self.answers == [Refused]
    }
}

/// Nothing is explained: the fault must not be noticed.
const NONE: Effect = Effect {
    answers: &[],
    after: Duration::ZERO,
    // A client notices the end of its connection when it sends the next create.
    lingers: Duration::from_secs(1),
    exits: &[],
    denies: None,
};

/// The service waits for the database as long as a create may take, and reconnects.
const WAITED_OUT: Effect = Effect {
    answers: &[Refused],
    after: Duration::from_millis(500),
    lingers: Duration::from_secs(5),
    ..NONE
};

impl Fault {
    /// The row of the table.
    pub fn effect(self) -> Effect {
        match self {
            Self::Slow | Self::Reader => NONE,
            // A body that ends after the grace period may still be refused.
            Self::Terminated => Effect { answers: &[Refused, Lost], exits: &[0], ..NONE },
            Self::Killed | Self::KilledAt { .. } => {
                Effect { answers: &[Lost], exits: &[137], ..NONE }
            }
            Self::Paused | Self::Hangs(..) => Effect { answers: &[Refused], ..NONE },
            // A commit that ends at the same time may still be a success.
            Self::Fails(Call::Sync, _) => Effect {
                answers: &[Failed, Refused, Lost],
                exits: &[1],
                denies: Some(Duration::from_millis(500)),
                ..NONE
            },
            Self::Fails(_, File::Wal) => Effect { answers: &[Refused], exits: &[1], ..NONE },
            // Every checkpoint fails, and the WAL grows.
            Self::Fails(..) => Effect { exits: &[1], ..NONE },
            // Exit code 3: the files are no longer in place. 1: they could not be closed.
            Self::Removed(_) => Effect {
                answers: &[Failed, Refused, Lost],
                exits: &[1, 3],
                denies: Some(Duration::ZERO),
                ..NONE
            },
            Self::PowerCut
            | Self::BackendKilled
            | Self::Failover
            | Self::WorkerDown
            | Self::WorkerPaused => WAITED_OUT,
            Self::DatabaseStopped
            | Self::DatabaseKilled
            | Self::NetworkReset
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
        matches!(self, Self::BackendKilled | Self::Failover)
    }

    /// Whether only an answer shows that it has met the service, for example because the service
    /// finds out by itself that a database that is up must not be used.
    pub fn is_shown_by_answers(self) -> bool {
        let is_noticed = matches!(self, Self::NoSync | Self::ReadOnly | Self::NoConnections);
        is_noticed || matches!(self, Self::Fails(Call::Read | Call::Write, File::Wal))
    }

    /// Whether a file is not in place. A command could then read, or leave behind, something else.
    pub fn removes_a_file(self) -> bool {
        matches!(self, Self::Removed(_))
    }
}
