//! The flag of all commands that work on one store.

use clap::Args;

use crate::store::StoreUrl;

/// Which store to work on.
#[derive(Args, Clone, Debug)]
pub struct StoreArgs {
    /// Where the plants are kept
    #[arg(
        long = "store",
        value_name = "URL",
        env = "PLANT_STORE_STORE",
        // It may hold a password.
        hide_env_values = true,
        default_value = "sqlite:plant-store.db"
    )]
    pub url: StoreUrl,
}
