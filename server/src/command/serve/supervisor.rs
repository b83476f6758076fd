//! What the service tells its supervisor, by the protocol of sd_notify(3): that it is ready, that
//! it stops, and that it is alive. Without `NOTIFY_SOCKET` in the environment nobody is told.

use std::convert::Infallible;
use std::future::pending;

use sd_notify::NotifyState;

/// Tells the supervisor.
pub fn tell(state: NotifyState<'_>) {
    // A supervisor that cannot be told sees what happens to the process.
    let _ = sd_notify::notify(&[state]);
}

/// Tells the supervisor that the service is alive, as often as it asks for (`WatchdogSec=`), while
/// that holds. Never ends.
pub async fn feed_watchdog(is_alive: impl Fn() -> bool) -> Infallible {
    let Some(limit) = sd_notify::watchdog_enabled() else { return pending().await };
    let mut ticks = tokio::time::interval(limit / 3);
    loop {
        ticks.tick().await;
        if is_alive() {
            tell(NotifyState::Watchdog);
        }
    }
}
