//! How a consumer of the plant store tests its own code without a plant store. The mocks are typed
//! by the contract, so they can return only what the service may return.
//!
//! In the consumer's `Cargo.toml`:
//!
//! ```toml
//! [dev-dependencies]
//! httpmock = "0.9"
//! plant-store-client = { version = "1.0", features = ["mock"] }
//! ```

use std::net::TcpListener;

use httpmock::MockServer;
use plant_store_client::mock::MockServerExt;
use plant_store_client::types::{NewPlant, Plant};
use plant_store_client::{Client, Failure, Refusal, StatusCode, client};

/// The consumer's own code: a greenhouse that labels its plants.
#[derive(Debug, PartialEq)]
enum Label {
    Created(String),
    /// The id belongs to a different plant.
    Taken,
    /// The plant has to be sent again later.
    Later,
    /// Somebody has to look into the failure.
    Broken(String),
}

async fn plant(client: &Client, plant: NewPlant) -> Label {
    match client.create_plant().body(plant).send().await.map_err(Failure::from) {
        Ok(plant) => Label::Created(plant.into_inner().name),
        Err(failure) if failure.is_retryable() => Label::Later,
        Err(failure) if failure.code() == Some(StatusCode::CONFLICT) => Label::Taken,
        Err(failure) => Label::Broken(failure.to_string()),
    }
}

fn ficus() -> NewPlant {
    NewPlant::builder().id(2).name("Ficus").try_into().expect("a plant")
}

fn client_of(server: &MockServer) -> Client {
    client(&server.base_url(), "pst_of_the_test").expect("a client")
}

#[tokio::test]
async fn created_plant_is_labelled() {
    let server = MockServer::start();
    // The mock matches only this plant. The server answers any other request with 404.
    let create = server.create_plant(|when, then| {
        when.body(&ficus()).into_inner().header("authorization", "Bearer pst_of_the_test");
        then.ok(&Plant::builder().name("Ficus").try_into().expect("a plant"));
    });
    assert_eq!(plant(&client_of(&server), ficus()).await, Label::Created("Ficus".to_owned()));
    create.assert();
    let fern = NewPlant { name: "Fern".to_owned(), ..ficus() };
    assert!(matches!(plant(&client_of(&server), fern).await, Label::Broken(_)));
}

/// The service sends `Retry-After` with a refusal exactly if the same request may be sent again.
#[tokio::test]
async fn refusals_map_to_labels() {
    for (error, retry_after, label) in [
        (400, None, Label::Broken("refused with 400: why".to_owned())),
        (401, None, Label::Broken("refused with 401: why".to_owned())),
        (409, None, Label::Taken),
        (503, Some("1"), Label::Later),
    ] {
        let server = MockServer::start();
        let create = server.create_plant(|_, then| {
            let then = then.bad_request(&Refusal { error, message: "why".to_owned() });
            if let Some(seconds) = retry_after {
                then.into_inner().header("retry-after", seconds);
            }
        });
        assert_eq!(plant(&client_of(&server), ficus()).await, label, "{error}");
        create.assert();
    }
}

#[tokio::test]
async fn unreachable_server_is_retryable() {
    let port = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let url = format!("http://{}", port.local_addr().expect("a bound address"));
    drop(port);
    let client = client(&url, "pst_of_the_test").expect("a client");
    assert_eq!(plant(&client, ficus()).await, Label::Later);
}
