//! Whole HTTP/1 connections to a service in this process: pipelined requests, valid and damaged,
//! sent in pieces.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::iter;
use std::time::Duration;

use plant_store_server::http::bodies::Bodies;
use plant_store_tests::{Connection, EVENT_TIMEOUT, Response, bearer, plant, post};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::Value;

use super::in_process::{InProcess, Plants};
use super::spelling::{near_plant, spelled_plant};
use super::{edited, fuzz, second_reader};
use crate::wire::properties::any_body;

/// The limit of a body. Some of the plants are larger.
const LIMIT: usize = 512;

/// The responses that may leave the service.
#[derive(Debug, PartialEq)]
enum Answer {
    Plant(Value),
    Refusal(i64),
    /// Dropshot's response to another path or method.
    Dropshot(u16),
    /// hyper's response to bytes that are not HTTP. It closes the connection.
    Hyper(u16),
}

impl Answer {
    fn of(response: &Response) -> Self {
        match (response.status, response.header("content-type")) {
            (200, _) => Self::Plant(response.plant()),
            (400, Some(_)) => Self::Refusal(response.refusal().0),
            (status @ (404 | 405), Some(_)) => {
                assert!(response.json()["message"].is_string(), "{response:?}");
                Self::Dropshot(status)
            }
            (status @ (400 | 414 | 431), None) => {
                assert!(response.body.is_empty(), "{response:?}");
                Self::Hyper(status)
            }
            _ => panic!("an undeclared answer: {response:?}"),
        }
    }
}

/// A request in its parts.
#[derive(Clone, Debug)]
struct Request {
    line: &'static str,
    authorization: String,
    media_type: &'static str,
    /// More header lines.
    more: &'static str,
    body: Vec<u8>,
    /// The length of each chunk, if the body is sent in chunks.
    chunks: Option<usize>,
}

impl Request {
    fn bytes(&self) -> Vec<u8> {
        let Self { line, authorization, media_type, more, body, chunks } = self;
        let framing = match chunks {
            Some(_) => "Transfer-Encoding: chunked\r\n".to_owned(),
            None => format!("Content-Length: {}\r\n", body.len()),
        };
        let head = format!(
            "{line} HTTP/1.1\r\nHost: plants\r\n{authorization}{media_type}{more}{framing}\r\n"
        );
        let mut bytes = head.into_bytes();
        let Some(size) = chunks else { return [bytes, body.clone()].concat() };
        for chunk in body.chunks(*size) {
            bytes.extend(format!("{:x}\r\n", chunk.len()).bytes().chain(chunk.iter().copied()));
            bytes.extend(b"\r\n");
        }
        bytes.extend(b"0\r\n\r\n");
        bytes
    }

    fn awaits_continue(&self) -> bool {
        self.more.starts_with("Expect")
    }

    /// The answer that the README promises, after the requests before this one, and whether its body
    /// is refused unread. Then the connection ends, unless the whole body has come with the head.
    fn answer(&self, token: &str, plants: &mut Plants) -> (Answer, bool) {
        let unread = self.chunks.is_some() || !self.body.is_empty();
        let refused = |error| (Answer::Refusal(error), unread);
        match self.line {
            PLANTS => {}
            "GET /plants" => return (Answer::Dropshot(405), false),
            _ => return (Answer::Dropshot(404), false),
        }
        if self.authorization != bearer(token) {
            return refused(401);
        }
        if self.media_type != JSON {
            return refused(415);
        }
        if self.body.len() > LIMIT {
            return refused(413);
        }
        let Some((id, plant)) = second_reader::new_plant(&self.body) else {
            return (Answer::Refusal(400), false);
        };
        if *plants.entry(id).or_insert_with(|| plant.clone()) != plant {
            return (Answer::Refusal(409), false);
        }
        (Answer::Plant(plant), false)
    }
}

const PLANTS: &str = "POST /plants";
const JSON: &str = "Content-Type: application/json\r\n";

/// Requests that each have exactly one right answer, in either framing.
fn request(token: &str) -> impl Strategy<Value = Request> {
    let authorization = prop_oneof![
        8 => Just(bearer(token)),
        1 => select(vec![String::new(), bearer("x"), bearer(token).repeat(2), bearer(&token[1..])]),
    ];
    let media_type = prop_oneof![
        12 => Just(JSON),
        1 => select(vec!["", "Content-Type: text/json\r\n"]),
    ];
    let more = select(vec!["", "", "Connection: keep-alive\r\n", "Expect: 100-continue\r\n"]);
    let body = prop_oneof![
        6 => spelled_plant().prop_map(|(_, body)| body),
        1 => near_plant(),
        1 => any_body(),
    ];
    let chunks = proptest::option::of(1..100_usize);
    let creates = (authorization, media_type, more, body, chunks).prop_map(
        |(authorization, media_type, more, body, chunks)| {
            let line = PLANTS;
            Request { line, authorization, media_type, more, body, chunks }
        },
    );
    let others = select(vec!["GET /plants", "POST /", "GET /plants/1"]).prop_map(|line| {
        let (authorization, body, chunks) = (String::new(), Vec::new(), None);
        Request { line, authorization, media_type: "", more: "", body, chunks }
    });
    prop_oneof![8 => creates, 1 => others]
}

/// Sends the bytes in pieces, and returns every answer until the service closes the connection. The
/// test itself does not close it.
fn send_in_pieces(service: &InProcess, bytes: &[u8], cuts: &[Index]) -> Vec<Answer> {
    // Ends the connection in every state: these bytes are longer than a body may be, they are no
    // chunk and no request, and they complete a head. hyper parses a partial head again only after
    // an empty line.
    let end = [&[0; LIMIT + 1][..], b"\r\n\r\n\0\r\n\r\n"].concat();
    let mut connection = Connection::open(service.address);
    let mut cuts: Vec<_> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
    cuts.sort_unstable();
    let mut sent = 0;
    for cut in cuts.into_iter().chain([bytes.len()]) {
        connection.try_send(&bytes[sent..cut]);
        sent = cut;
    }
    connection.try_send(&end);
    let responses = iter::from_fn(|| connection.try_receive());
    let answers = responses.filter(|response| response.status != 100);
    answers.map(|response| Answer::of(&response)).collect()
}

/// A client that sends valid requests on one connection during the whole run.
struct Honest(RefCell<Connection>, Vec<u8>);

impl Honest {
    fn connect(service: &InProcess) -> Self {
        let request = post(&bearer(&service.token), plant(0x00AB_CDEF, "honest", None).as_bytes());
        Self(RefCell::new(Connection::open(service.address)), request)
    }

    fn assert_served(&self) {
        self.0.borrow_mut().exchange(&self.1).plant();
    }
}

#[test]
fn pipelined_requests_get_their_own_answers_in_order() {
    let service = InProcess::start(Bodies::new(LIMIT, EVENT_TIMEOUT, 1000 * LIMIT));
    let plants = RefCell::default();
    let inputs = (vec(request(&service.token), 1..6), vec(any::<Index>(), 0..6));
    fuzz(300, 30_000, inputs, |(requests, cuts)| {
        let bytes: Vec<_> = requests.iter().flat_map(Request::bytes).collect();
        let answers = send_in_pieces(&service, &bytes, &cuts);
        let mut expected = Vec::new();
        let ended = requests.iter().any(|request| {
            let (answer, is_unread) = request.answer(&service.token, &mut plants.borrow_mut());
            expected.push(answer);
            is_unread && (request.awaits_continue() || answers.len() == expected.len())
        });
        if !ended {
            expected.push(Answer::Hyper(400));
        }
        prop_assert_eq!(answers, expected);
        Ok(())
    });
    assert_eq!(service.plants(), plants.into_inner());
    assert_eq!(InProcess::panics(), 0);
}

/// Every answer is a declared one, every connection ends, and nothing panics. Every plant that was
/// answered with 200 is stored. An honest client is served meanwhile.
#[test]
fn damaged_requests_get_declared_answers_or_none() {
    let limits = Bodies::new(LIMIT, Duration::from_millis(100), 1000 * LIMIT);
    let service = InProcess::start(limits);
    let honest = Honest::connect(&service);
    let more = select(vec![
        "",
        "Content-Length: 5\r\n",
        "Content-Length: 5, 5\r\n",
        "Content-Length: -1\r\n",
        "Content-Length: 18446744073709551616\r\n",
        "Transfer-Encoding: chunked\r\n",
        "Transfer-Encoding: gzip, chunked\r\n",
        "Transfer-Encoding: identity\r\n",
        "Connection: close\r\n",
        "Connection: upgrade\r\nUpgrade: h2c\r\n",
        "Expect: a plant\r\n",
        "X: y\r\n z\r\n",
        "X : y\r\n",
    ]);
    let requests = vec((request(&service.token), more), 1..5).prop_map(|requests| {
        let with = |(request, more)| Request { more, ..request }.bytes();
        requests.into_iter().flat_map(with).collect()
    });
    let new = prop_oneof![2 => select(&b"\r\n\r\n :;,0159abfx\0\t/"[..]), 1 => any::<u8>()];
    let answered = RefCell::new(BTreeSet::new());
    fuzz(2_000, 70_000, (edited(requests, new), vec(any::<Index>(), 0..6)), |(bytes, cuts)| {
        for answer in send_in_pieces(&service, &bytes, &cuts) {
            if let Answer::Plant(plant) = answer {
                answered.borrow_mut().insert(plant.to_string());
            }
        }
        honest.assert_served();
        Ok(())
    });
    let plants = service.plants().into_values();
    let stored = plants.map(|plant| plant.to_string()).collect();
    let lost: Vec<_> = answered.borrow().difference(&stored).cloned().collect();
    assert!(lost.is_empty(), "answered with 200 and lost: {lost:?}");
    assert_eq!(InProcess::panics(), 0);
}
