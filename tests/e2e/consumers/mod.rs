//! What consumers of the service use: the client and the program `plants`.

mod client;
mod commands;
mod import;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

use plant_store_tests::PLANTS;
use plant_store_tests::prelude::*;

/// Returns a command that runs `plants` with these words against a server, with a valid token, in
/// the server's folder.
fn plants(server: &Server, words: &str) -> Command {
    let mut command = Command::new(&*PLANTS);
    command.args(words.split(' ')).current_dir(server.folder());
    command.env("PLANTS_URL", &server.url).env("PLANTS_TOKEN", &server.token);
    command
}

/// Writes a file into the server's folder.
fn write(server: &Server, name: &str, text: impl AsRef<[u8]>) {
    fs::write(server.folder().join(name), text).expect("the folder is writable");
}

/// A response of the contract, or of a proxy.
fn response(status: &str, headers: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "HTTP/1.1 {status}\r\nconnection: close\r\n{headers}content-length: {length}\r\n\r\n{body}"
    )
}

/// A refusal of the contract.
fn refusal(error: i32, headers: &str) -> String {
    response("400 Bad Request", headers, &format!(r#"{{"error":{error},"message":"why"}}"#))
}

/// A service that the test makes up.
struct Scripted {
    url: String,
    heads: Arc<Mutex<Vec<String>>>,
}

impl Scripted {
    /// Starts a service that gives these answers, one on each connection, and then repeats the last
    /// one. An empty answer closes the connection.
    fn start(answers: &[String]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("the listener is bound"));
        let heads = Arc::new(Mutex::new(Vec::new()));
        let received = heads.clone();
        let answers = answers.to_vec();
        thread::spawn(move || {
            for (number, connection) in listener.incoming().enumerate() {
                let mut connection = BufReader::new(connection.expect("a connection"));
                let lines = connection.by_ref().lines().map_while(Result::ok);
                let head: Vec<_> = lines.take_while(|line| !line.is_empty()).collect();
                let length = head.iter().find_map(|line| line.strip_prefix("content-length: "));
                let length = length.map_or(0, |bytes| bytes.parse().expect("a number"));
                let _ = connection.read_exact(&mut vec![0; length]);
                received.lock().expect("no panic").push(head.join("\n"));
                let answer = &answers[number.min(answers.len() - 1)];
                let _ = connection.into_inner().write_all(answer.as_bytes());
            }
        });
        Self { url, heads }
    }

    /// Returns the heads of the requests so far.
    fn heads(&self) -> Vec<String> {
        self.heads.lock().expect("no panic").clone()
    }
}
