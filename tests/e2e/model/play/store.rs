//! Judges the store after the last fault has ended.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::atomic::Ordering::Relaxed;
use std::thread::sleep;
use std::time::{Duration, Instant};

use plant_store_client::types::NewPlant;
use plant_store_tests::Connection;
use plant_store_tests::process::Ended;

use super::Player;
use crate::model::clients::{self, Clients, PAUSE, body, create};
use crate::model::rules::{Answer, Attempt, Plant, Result, Stored, Token};
use crate::model::world::World;

/// The longest that the service may take to recover after the last fault has ended.
const RECOVERY: Duration = Duration::from_secs(15);

impl<W: World> Player<W> {
    /// Judges the store, while no fault is in force: it is sound, its content is possible, every
    /// plant without a final answer gets one, and no revoked token does.
    pub(super) fn judge_store(&mut self) -> Result {
        self.notice_end()?;
        if !self.world.process().is_up() {
            return Ok(());
        }
        self.answer_all()?;
        let listed = self.succeeds(&["token", "list", "--json"])?;
        let listed: Vec<serde_json::Value> =
            serde_json::from_str(&listed.stdout).map_err(|error| error.to_string())?;
        let names: Vec<_> =
            listed.iter().map(|token| token["name"].as_str().expect("a name").into()).collect();
        self.model.settle_tokens(&names, Instant::now())?;
        self.succeeds(&["check"])?;
        let begun = Instant::now();
        let exported = self.succeeds(&["export"])?;
        let stored = stored(&exported)?;
        self.note_stalls();
        if let Some(clients) = &self.clients {
            self.model.judge(&clients.answered())?;
            let attempts = [self.attempts.clone(), clients.attempts()].concat();
            self.model.observe(&attempts, &stored, begun, Instant::now())?;
        } else {
            let attempts = std::mem::take(&mut self.attempts);
            self.model.settle(&attempts, &stored)?;
        }
        self.refuse_revoked()
    }

    /// Sends every plant again that got no final answer, and at least one plant.
    fn answer_all(&mut self) -> Result {
        let mut attempts = self.attempts.clone();
        attempts.extend(self.clients.as_ref().map(Clients::answered).unwrap_or_default());
        let is_final =
            |attempt: &&Attempt| matches!(attempt.answer, Answer::Created | Answer::Conflict);
        self.answered.extend(attempts.iter().filter(is_final).map(|attempt| attempt.plant));
        let mut open: BTreeSet<_> = attempts.iter().map(|attempt| attempt.plant).collect();
        open.insert(clients::plant(self.next.fetch_add(1, Relaxed)));
        let address = self.world.addresses()[0];
        let mut connection = None;
        for plant in open.difference(&self.answered).copied().collect::<Vec<_>>() {
            let answer = self.final_answer(address, &mut connection, plant, 0)?;
            if answer == Answer::Unauthorized {
                return Err(format!("{answer:?} for {plant:?}"));
            }
            self.answered.insert(plant);
        }
        Ok(())
    }

    fn refuse_revoked(&mut self) -> Result {
        let is_revoked = |token: &Token| token.revoked.is_some();
        let tokens = self.model.tokens.iter().enumerate();
        let revoked: Vec<_> =
            tokens.filter(|(_, token)| is_revoked(token)).map(|(at, _)| at).collect();
        for token in revoked {
            for address in self.world.addresses() {
                let plant = clients::plant(self.next.fetch_add(1, Relaxed));
                let answer = self.final_answer(address, &mut None, plant, token)?;
                if answer != Answer::Unauthorized {
                    return Err(format!("{answer:?} for a revoked token"));
                }
            }
        }
        Ok(())
    }

    /// Creates a plant until the answer is final. Shortly after a fault it may be refused.
    fn final_answer(
        &mut self,
        address: SocketAddr,
        connection: &mut Option<Connection>,
        plant: Plant,
        token: usize,
    ) -> Result<Answer> {
        let first = Instant::now();
        let secret = self.model.tokens[token].secret.clone();
        loop {
            let begun = Instant::now();
            let open = connection.take().or_else(|| Connection::try_open(address));
            let open = open.ok_or("the server takes no connection")?;
            let answer = create(open, connection, plant, &secret);
            let attempt = Attempt { plant, token, answer, begun, ended: Instant::now() };
            self.attempts.push(attempt);
            // Otherwise the model judges it at the end of the scene.
            if matches!(answer, Answer::Created | Answer::Conflict | Answer::Unauthorized) {
                return Ok(answer);
            }
            if first.elapsed() > RECOVERY {
                return Err(format!("{answer:?} for {plant:?}"));
            }
            self.note_stalls();
            self.model.judge(&[attempt])?;
            sleep(PAUSE);
        }
    }
}

/// Parses an export: each plant must be one that the clients send.
pub fn stored(export: &Ended) -> Result<Stored> {
    let mut stored = Stored::new();
    for line in export.stdout.lines() {
        let plant: NewPlant = serde_json::from_str(line).map_err(|error| error.to_string())?;
        let found = serde_json::to_value(&plant).expect("JSON");
        let is_it = |variant: &u8| {
            let sent = body(Plant { id: plant.id, variant: *variant });
            serde_json::from_str::<serde_json::Value>(&sent).expect("JSON") == found
        };
        let variant = (0..2).find(is_it).ok_or_else(|| format!("never sent: {line}"))?;
        if stored.last_key_value().is_some_and(|(last, _)| *last >= plant.id) {
            return Err("the export is not in the order of the ids".into());
        }
        stored.insert(plant.id, variant);
    }
    Ok(stored)
}
