//! Clients that take no answers. Each 200 keeps the permit of its create until its client has taken
//! it, so a few connections could keep all permits. They are closed after `--idle-timeout`.

use std::time::Duration;

use bytes::Bytes;
use h2::RecvStream;
use h2::client::{Builder, SendRequest};
use http::Request;
use nix::sys::signal::Signal;
use plant_store_tests::{Server, bearer, plant};
use tokio::net::TcpStream;
use tokio::time::interval;

/// The `--max-creates` of these servers. One token may have half of the permits.
const PERMITS: usize = 64;

/// A connection over HTTP/2 whose client takes no byte of an answer's body.
struct Deaf {
    requests: SendRequest<Bytes>,
    answers: Vec<RecvStream>,
    is_cut_off: bool,
}

impl Deaf {
    async fn connect(server: &Server) -> Self {
        let stream = TcpStream::connect(server.address).await.expect("the server listens");
        let connecting = Builder::new().initial_window_size(0).handshake(stream);
        let (requests, connection) = connecting.await.expect("the server speaks HTTP/2");
        tokio::spawn(connection);
        Self { requests, answers: Vec::new(), is_cut_off: false }
    }

    /// Sends a plant, and keeps the answer. Returns its status, or why the connection has ended.
    async fn create(&mut self, server: &Server, token: Option<&str>) -> Result<u16, h2::Error> {
        let mut request = Request::post(format!("{}/plants", server.url))
            .header("content-type", "application/json");
        if let Some(token) = token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        let head = request.body(()).expect("a request");
        let mut ready = self.requests.clone().ready().await?;
        let (answer, mut body) = ready.send_request(head, false)?;
        // A request without a token is refused before its body comes.
        let _ = body.send_data(Bytes::from(plant(1, "Ficus", None)), true);
        let (head, answer) = answer.await?.into_parts();
        self.answers.push(answer);
        Ok(head.status.as_u16())
    }
}

fn is_created(server: &Server, token: &str) -> bool {
    let answer = server.create_with(&bearer(token), &plant(2, "Fern", None));
    answer.status == 200
}

/// A server, and the tokens of two clients that take all permits, and of a third one.
fn with_three_tokens(idle_timeout: &str) -> (Server, [String; 3]) {
    let permits = PERMITS.to_string();
    let flags = ["--max-creates", &permits, "--idle-timeout", idle_timeout];
    let server = Server::starting().with(&flags).start();
    let other = |name| server.command(&["token", "create", name]).trim().to_owned();
    let tokens = [server.token.clone(), other("second"), other("third")];
    (server, tokens)
}

async fn take_all_permits(server: &Server, tokens: &[String]) -> Vec<Deaf> {
    let mut clients = Vec::new();
    for token in tokens {
        let mut client = Deaf::connect(server).await;
        for _ in 0..PERMITS / 2 {
            assert_eq!(client.create(server, Some(token)).await.expect("an answer"), 200);
        }
        clients.push(client);
    }
    clients
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_that_two_tokens_do_not_take_leave_a_third_one_its_creates_after_the_idle_time() {
    let (server, tokens) = with_three_tokens("2s");
    let mut clients = take_all_permits(&server, &tokens[..2]).await;
    assert!(!is_created(&server, &tokens[2]));
    // They go on with requests that are refused, without a token and with one.
    for (client, token) in clients.iter_mut().zip(&tokens) {
        let mut pace = interval(Duration::from_millis(100));
        for token in [None, Some(token.as_str())].into_iter().cycle().take(2 * PERMITS) {
            pace.tick().await;
            client.is_cut_off = client.create(&server, token).await.is_err();
            if client.is_cut_off {
                break;
            }
        }
        assert!(client.is_cut_off);
    }
    assert!(is_created(&server, &tokens[2]));
    server.wait_for_log("its client did not take an answer in time");
}

#[tokio::test(flavor = "multi_thread")]
async fn stop_does_not_wait_for_answers_that_are_not_taken() {
    let (mut server, tokens) = with_three_tokens("1h");
    let _clients = take_all_permits(&server, &tokens[..2]).await;
    server.signal(Signal::SIGTERM);
    assert_eq!(server.wait().code(), Some(0));
    assert!(server.log().contains("\"stopped\""), "{}", server.log());
}
