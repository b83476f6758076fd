//! Creates a plant, and tells the failures apart:
//!
//! ```text
//! PLANT_STORE_TOKEN=pst_… cargo run -p plant-store-client --example create_plant -- 2 "Ficus" indoor
//! ```

use anyhow::{Context, Result, bail};
use plant_store_client::{client_with_token, explained, may_repeat, refusal, types::NewPlant};

#[tokio::main]
async fn main() -> Result<()> {
    let base_url = std::env::var("PLANT_STORE_URL");
    let base_url = base_url.as_deref().unwrap_or("http://127.0.0.1:8080");
    let token = std::env::var("PLANT_STORE_TOKEN").context("set PLANT_STORE_TOKEN")?;
    let mut words = std::env::args().skip(1);
    let id: i64 = words.next().context("usage: create_plant ID NAME [TAG]")?.parse()?;
    let name = words.next().context("usage: create_plant ID NAME [TAG]")?;
    let plant = NewPlant::builder().id(id).name(name).tag(words.next());

    let client = client_with_token(base_url, &token)?;
    match client.create_plant().body(plant).send().await {
        Ok(created) => println!("created {:?}", *created),
        Err(error) => match refusal(&error) {
            Some(refusal) if refusal.error == 409 => println!("taken: {}", refusal.message),
            _ if may_repeat(&error) => bail!("try again in a moment: {}", explained(&error)),
            _ => bail!("{}", explained(&error)),
        },
    }
    Ok(())
}
