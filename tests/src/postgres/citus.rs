//! Citus, which distributes the plants over several servers. If `PLANT_STORE_TESTS_CITUS=1` is in
//! the environment, each cluster is a coordinator with two workers.
//!
//! The tests stay the same: each new table `plants` is distributed when it is created.

use std::env;

use super::Session;

/// The number of workers, in addition to the coordinator.
pub const WORKERS: usize = 2;

/// The settings of a server on its command line. An interrupted commit on several servers is
/// completed or rolled back within a second, not within a minute.
const SETTINGS: &str = "-c shared_preload_libraries=citus -c citus.node_conninfo=sslmode=disable \
                        -c citus.recover_2pc_interval=1s";

/// Distributes each new table `plants`. An operator does that once, by hand: see STORES.md.
const DISTRIBUTE: &str = "
    CREATE FUNCTION distribute_plants() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN
        PERFORM create_distributed_table(objid, 'id') FROM pg_event_trigger_ddl_commands()
            WHERE object_identity = 'public.plants';
    END $$;
    CREATE EVENT TRIGGER distribute_plants ON ddl_command_end WHEN TAG IN ('CREATE TABLE')
        EXECUTE FUNCTION distribute_plants()";

/// Whether the tests run on Citus.
pub fn is_enabled() -> bool {
    env::var_os("PLANT_STORE_TESTS_CITUS").is_some()
}

/// Returns [`SETTINGS`] if the tests run on Citus, and otherwise nothing.
pub fn settings() -> &'static str {
    if is_enabled() { SETTINGS } else { "" }
}

/// Joins the databases of a coordinator and its workers to one distributed database.
pub fn join(coordinator: &Session, workers: &[Session]) {
    for database in workers.iter().chain([coordinator]) {
        database.execute("CREATE EXTENSION citus");
    }
    coordinator.execute("SELECT citus_set_coordinator_host('127.0.0.1', inet_server_port())");
    for worker in workers {
        let port = worker.value("SELECT inet_server_port()");
        coordinator.execute(&format!("SELECT citus_add_node('127.0.0.1', {port})"));
    }
    coordinator.execute(DISTRIBUTE);
}
