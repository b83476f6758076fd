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
use std::time::Duration;

use httpmock::MockServer;
use plant_store_client::mock::MockServerExt;
use plant_store_client::types::{Error, NewPlant, Plant};
use plant_store_client::{
    Client, ClientOptions, ErrorCode, ExponentialBuilder, Failure, RetryingClient,
    client_with_token,
};

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
        Err(failure) if failure.code() == Some(ErrorCode::Conflict) => Label::Taken,
        Err(failure) => Label::Broken(failure.to_string()),
    }
}

fn ficus() -> NewPlant {
    NewPlant::builder().id(2).name("Ficus").try_into().expect("a plant")
}

fn client(server: &MockServer) -> Client {
    client_with_token(server.base_url(), "pst_of_the_test").expect("a client")
}

#[tokio::test]
async fn created_plant_is_labelled() {
    let server = MockServer::start();
    // The mock matches only this plant. The server answers any other request with 404.
    let create = server.create_plant(|when, then| {
        when.body(&ficus()).into_inner().header("authorization", "Bearer pst_of_the_test");
        then.ok(&Plant::builder().name("Ficus").try_into().expect("a plant"));
    });
    assert_eq!(plant(&client(&server), ficus()).await, Label::Created("Ficus".to_owned()));
    create.assert();
    let fern = NewPlant { name: "Fern".to_owned(), ..ficus() };
    assert!(matches!(plant(&client(&server), fern).await, Label::Broken(_)));
}

#[tokio::test]
async fn errors_map_to_labels() {
    for (error, label) in [
        (400, Label::Broken("refused with 400: why".to_owned())),
        (401, Label::Broken("refused with 401: why".to_owned())),
        (408, Label::Later),
        (409, Label::Taken),
        (500, Label::Later),
        (503, Label::Later),
    ] {
        let server = MockServer::start();
        let create = server.create_plant(|_, then| {
            then.bad_request(&Error { error, message: "why".to_owned() });
        });
        assert_eq!(plant(&client(&server), ficus()).await, label, "{error}");
        create.assert();
    }
}

/// A mock can also set headers, and code that takes a [`Client`] also takes a [`RetryingClient`].
#[tokio::test]
async fn headers_of_a_mock_reach_the_code_under_test() {
    let server = MockServer::start();
    let create = server.create_plant(|_, then| {
        let busy = Error { error: 503, message: "why".to_owned() };
        then.bad_request(&busy).into_inner().header("retry-after", "7");
    });
    let failure = client(&server).create_plant().body(ficus()).send().await.map_err(Failure::from);
    let failure = failure.expect_err("the mock refuses");
    assert_eq!(failure.retry_after(), Some(Duration::from_secs(7)));
    create.assert();

    let token = || async { Ok("pst_of_the_test".to_owned()) };
    let client = RetryingClient::new(ClientOptions::new(server.base_url()), token).await;
    let never = ExponentialBuilder::new().with_max_times(0);
    assert_eq!(plant(&client.expect("a client").with_policy(never), ficus()).await, Label::Later);
    create.assert_calls(2);
}

#[tokio::test]
async fn unreachable_server_is_retryable() {
    let port = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let url = format!("http://{}", port.local_addr().expect("a bound address"));
    drop(port);
    let client = client_with_token(&url, "pst_of_the_test").expect("a client");
    assert_eq!(plant(&client, ficus()).await, Label::Later);
}
