//! The turn of a connection: what its task does before the other connections have theirs.
//!
//! hyper answers up to 16 pipelined requests in one turn if their answers wait for nothing, and
//! Dropshot's router refuses without a place to wait. A client that pipelines refusals would get 16
//! answers for each answer of an honest client.

use futures::FutureExt;
use tokio::task::coop::{consume_budget, has_budget_remaining};

/// More than tokio lets a task do in one turn.
const MOST: u32 = 1024;

/// Ends the turn of the connection that this task serves. tokio has a budget for each turn. Without
/// it no socket can be written to, so hyper sends the answer in the next turn, and takes the next
/// request after that.
pub fn end() {
    for _ in 0..MOST {
        if !has_budget_remaining() {
            break;
        }
        let _ = consume_budget().now_or_never();
    }
}
