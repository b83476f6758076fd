//! The operations of the contract, one method for each: what it sends, and nothing of how it is
//! repeated.

use std::fmt::Display;

use crate::{Client, Error, Failure, ResponseValue, RetryingClient, types};

impl RetryingClient {
    /// Creates a plant, and repeats it by the policy. It takes a builder, a plant, or a reference
    /// to one. Returns the last failure when the policy ends.
    pub async fn create_plant<P>(&self, plant: P) -> Result<ResponseValue<types::Plant>, Failure>
    where
        P: TryInto<types::NewPlant>,
        P::Error: Display,
    {
        let valid = plant.try_into().map_err(|error| Error::InvalidRequest(error.to_string()))?;
        let body = &valid;
        self.repeat(|client: Client| async move { client.create_plant().body(body).send().await })
            .await
    }
}

/// So that a plant can be given by reference where a builder or a plant is taken.
impl From<&types::NewPlant> for types::NewPlant {
    fn from(plant: &types::NewPlant) -> Self {
        plant.clone()
    }
}
