//! Documents in YAML, and the lines of a document. JSON is YAML as well, so one parser finds the
//! lines of both.
//!
//! OpenAPI 3.0.3, "Format": a document in YAML holds what JSON can hold. So an unquoted value is
//! null, true, false, a number of JSON or a string. Aliases are refused: a few lines of them can hold
//! more than a memory does.

use std::collections::HashMap;
use std::fmt::Write;

use anyhow::{Context, Result, bail, ensure};
use saphyr_parser::{Event, Marker, Parser, ScalarStyle, StrInput};
use serde_json::{Map, Value};

/// As deep as `serde_json` goes. Code that follows a document by recursion relies on it.
const DEEPEST: usize = 127;

/// A line and a column, both from 1.
pub type Position = (usize, usize);

/// Parses a text that is one document.
pub fn parse(text: &str) -> Result<Value> {
    read(text, &mut HashMap::new())
}

/// The positions of values, by their JSON pointers, in a text in YAML or JSON. The position of a member
/// is that of its name.
#[must_use]
pub fn positions(text: &str, pointers: &[String]) -> Vec<Option<Position>> {
    let mut wanted = pointers.iter().map(|pointer| (pointer.clone(), None)).collect();
    let is_read = read(text, &mut wanted).is_ok();
    pointers.iter().map(|pointer| wanted[pointer].filter(|_| is_read)).collect()
}

type Wanted = HashMap<String, Option<Position>>;

fn read(text: &str, wanted: &mut Wanted) -> Result<Value> {
    let parser = Parser::new_from_str(text);
    let mut reader = Reader { parser, wanted, pointer: String::new(), depth: 0 };
    while matches!(
        reader.parser.peek(),
        Some(Ok((Event::StreamStart | Event::DocumentStart(_), _)))
    ) {
        reader.next()?;
    }
    let value = reader.value()?;
    let ends = [reader.next()?.0, reader.next()?.0];
    ensure!(ends == [Event::DocumentEnd, Event::StreamEnd], "there is more than one document");
    Ok(value)
}

struct Reader<'a> {
    parser: Parser<'a, StrInput<'a>>,
    wanted: &'a mut Wanted,
    /// Where the reader is.
    pointer: String,
    /// How many objects and lists are open.
    depth: usize,
}

impl<'a> Reader<'a> {
    fn next(&mut self) -> Result<(Event<'a>, Marker)> {
        let (event, span) = self.parser.next().context("the text ends too early")??;
        Ok((event, span.start))
    }

    /// Notes where a value begins, if that is wanted and not known.
    fn note(&mut self, at: Marker) {
        if let Some(position) = self.wanted.get_mut(&self.pointer) {
            position.get_or_insert((at.line(), at.col() + 1));
        }
    }

    fn value(&mut self) -> Result<Value> {
        let (event, at) = self.next()?;
        self.note(at);
        let is_list = match event {
            Event::Scalar(text, ScalarStyle::Plain, _, None) => return Ok(plain(&text)),
            Event::Scalar(text, _, _, None) => return Ok(text.into()),
            Event::SequenceStart(_, None) => true,
            Event::MappingStart(_, None) => false,
            Event::Alias(_) => bail!("line {}: replace the alias by its value", at.line()),
            _ => bail!("line {}: a value without a tag is expected", at.line()),
        };
        self.depth += 1;
        ensure!(self.depth <= DEEPEST, "line {}: more than {DEEPEST} levels", at.line());
        let value = if is_list { self.items()? } else { self.members()? };
        self.depth -= 1;
        Ok(value)
    }

    fn items(&mut self) -> Result<Value> {
        let mut items = Vec::new();
        let outside = self.pointer.len();
        while !self.is_at(&Event::SequenceEnd) {
            let _ = write!(self.pointer, "/{}", items.len());
            items.push(self.value()?);
            self.pointer.truncate(outside);
        }
        self.next()?;
        Ok(items.into())
    }

    fn members(&mut self) -> Result<Value> {
        let mut members = Map::new();
        let outside = self.pointer.len();
        loop {
            let (event, at) = self.next()?;
            let name = match event {
                Event::MappingEnd => return Ok(members.into()),
                Event::Scalar(name, _, _, None) => name.into_owned(),
                _ => bail!("line {}: the name of a member is expected", at.line()),
            };
            let is_new = !members.contains_key(&name);
            ensure!(is_new, "line {}: the member {name:?} is there twice", at.line());
            let _ = write!(self.pointer, "/{}", escaped(&name));
            self.note(at);
            members.insert(name, self.value()?);
            self.pointer.truncate(outside);
        }
    }

    fn is_at(&mut self, event: &Event<'_>) -> bool {
        matches!(self.parser.peek(), Some(Ok((next, _))) if next == event)
    }
}

/// An unquoted value.
fn plain(text: &str) -> Value {
    match text {
        "" | "~" | "Null" | "NULL" => Value::Null,
        "True" | "TRUE" => true.into(),
        "False" | "FALSE" => false.into(),
        _ => serde_json::from_str(text)
            .ok()
            .filter(|value: &Value| !value.is_string())
            .unwrap_or_else(|| text.into()),
    }
}

/// A step of a JSON pointer (RFC 6901).
pub fn escaped(step: &str) -> String {
    step.replace('~', "~0").replace('/', "~1")
}
