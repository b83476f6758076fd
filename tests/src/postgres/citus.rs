//! Citus, which spreads the plants over several servers: a coordinator and two workers instead of
//! each cluster, if `PLANT_STORE_TESTS_CITUS=1` is in the environment.
//!
//! The tests stay the same: each new table `plants` is spread when it is created.

use std::env;

use super::Session;

/// How many servers keep the plants, beside the coordinator.
pub const WORKERS: usize = 2;

/// What a server needs on its command line. A commit on several servers that was interrupted is
/// completed or rolled back within a second, and not within a minute.
const SETTINGS: &str = "-c shared_preload_libraries=citus -c citus.node_conninfo=sslmode=disable \
                        -c citus.recover_2pc_interval=1s";

/// An operator does it once, by hand: see POSTGRESQL.md.
const SPREAD: &str = "
    CREATE FUNCTION spread() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN
        PERFORM create_distributed_table(objid, 'id') FROM pg_event_trigger_ddl_commands()
            WHERE object_identity = 'public.plants';
    END $$;
    CREATE EVENT TRIGGER spread ON ddl_command_end WHEN TAG IN ('CREATE TABLE')
        EXECUTE FUNCTION spread()";

/// Whether this run of the tests is one on Citus.
pub fn is_wanted() -> bool {
    env::var_os("PLANT_STORE_TESTS_CITUS").is_some()
}

/// See [`SETTINGS`]; nothing in all other runs.
pub fn settings() -> &'static str {
    if is_wanted() { SETTINGS } else { "" }
}

/// Makes these databases one: that of the coordinator, and those of the workers.
pub fn join(coordinator: &Session, workers: &[Session]) {
    for database in workers.iter().chain([coordinator]) {
        database.execute("CREATE EXTENSION citus");
    }
    coordinator.execute("SELECT citus_set_coordinator_host('127.0.0.1', inet_server_port())");
    for worker in workers {
        let port = worker.value("SELECT inet_server_port()");
        coordinator.execute(&format!("SELECT citus_add_node('127.0.0.1', {port})"));
    }
    coordinator.execute(SPREAD);
}
