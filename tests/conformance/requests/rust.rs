//! Creates a plant. Add `plant-store-client`, and tokio with `macros` and `rt-multi-thread`.

use std::env;
use std::error::Error;

use plant_store_client::{Failure, client_with_token, types::NewPlant};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let client = client_with_token(env::var("PLANTS_URL")?, &env::var("PLANTS_TOKEN")?)?;
    let monstera = NewPlant::builder().id(1).name("Monstera deliciosa").tag("indoor".to_owned());
    let plant = client.create_plant().body(monstera).send().await.map_err(Failure::from)?;
    println!("{}", plant.name);
    Ok(())
}
