//! Creates a plant and handles each kind of failure. Set `PLANTS_TOKEN` to the token:
//!
//! ```text
//! cargo run -p plant-store-client --example create_plant -- 1 "Monstera deliciosa" indoor
//! ```

use anyhow::{Context, Result, bail};
use plant_store_client::{Failure, StatusCode, client, types::NewPlant};

#[tokio::main]
async fn main() -> Result<()> {
    let base_url = std::env::var("PLANTS_URL");
    let base_url = base_url.as_deref().unwrap_or("http://127.0.0.1:8080");
    let token = std::env::var("PLANTS_TOKEN").context("set PLANTS_TOKEN")?;
    let mut arguments = std::env::args().skip(1);
    let id: i64 = arguments.next().context("usage: create_plant ID NAME [TAG]")?.parse()?;
    let name = arguments.next().context("usage: create_plant ID NAME [TAG]")?;
    let plant = NewPlant::builder().id(id).name(name).tag(arguments.next());

    let client = client(base_url, &token)?;
    match client.create_plant().body(plant).send().await.map_err(Failure::from) {
        Ok(created) => println!("created {:?}", *created),
        Err(failure) if failure.code() == Some(StatusCode::CONFLICT) => {
            println!("taken: {failure}");
        }
        Err(failure) if failure.is_retryable() => bail!("try again in a moment: {failure}"),
        Err(failure) => return Err(failure.into()),
    }
    Ok(())
}
