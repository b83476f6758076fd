//! Documents in YAML, and the lines of a document. JSON is YAML as well, so one parser finds the
//! lines of both.
//!
//! OpenAPI 3.0.3, "Format": a document in YAML holds what JSON can hold. So an unquoted value is
//! null, true, false, a number of JSON or a string. Aliases are refused: a few lines of them can hold
//! more than a memory does.

use std::collections::HashMap;

use anyhow::{Context, Result, bail, ensure};
use saphyr_parser::{Event, Marker, Parser, ScalarStyle, StrInput};
use serde_json::{Map, Value};

/// As deep as `serde_json` goes. Code that follows a document by recursion relies on it.
const DEEPEST: usize = 127;

/// A line and a column, both from 1.
pub type Position = (usize, usize);

/// What a text in YAML or JSON holds, and the positions of its values by their JSON pointers. The
/// position of a member is that of its name.
pub struct Yaml {
    /// The value.
    pub json: Value,
    /// The positions.
    pub positions: HashMap<String, Position>,
}

/// Parses a text that is one document.
pub fn parse(text: &str) -> Result<Yaml> {
    let mut reader =
        Reader { parser: Parser::new_from_str(text), positions: HashMap::new(), depth: 0 };
    while matches!(
        reader.parser.peek(),
        Some(Ok((Event::StreamStart | Event::DocumentStart(_), _)))
    ) {
        reader.next()?;
    }
    let json = reader.value("")?;
    let ends = [reader.next()?.0, reader.next()?.0];
    ensure!(ends == [Event::DocumentEnd, Event::StreamEnd], "there is more than one document");
    Ok(Yaml { json, positions: reader.positions })
}

struct Reader<'a> {
    parser: Parser<'a, StrInput<'a>>,
    positions: HashMap<String, Position>,
    /// How many objects and lists are open.
    depth: usize,
}

impl<'a> Reader<'a> {
    fn next(&mut self) -> Result<(Event<'a>, Marker)> {
        let (event, span) = self.parser.next().context("the text ends too early")??;
        Ok((event, span.start))
    }

    fn value(&mut self, pointer: &str) -> Result<Value> {
        let (event, at) = self.next()?;
        self.positions.entry(pointer.to_owned()).or_insert_with(|| position(at));
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
        let value = if is_list { self.items(pointer)? } else { self.members(pointer)? };
        self.depth -= 1;
        Ok(value)
    }

    fn items(&mut self, pointer: &str) -> Result<Value> {
        let mut items = Vec::new();
        while !self.is_at(&Event::SequenceEnd) {
            items.push(self.value(&format!("{pointer}/{}", items.len()))?);
        }
        self.next()?;
        Ok(items.into())
    }

    fn members(&mut self, pointer: &str) -> Result<Value> {
        let mut members = Map::new();
        loop {
            let (event, at) = self.next()?;
            let name = match event {
                Event::MappingEnd => return Ok(members.into()),
                Event::Scalar(name, _, _, None) => name.into_owned(),
                _ => bail!("line {}: the name of a member is expected", at.line()),
            };
            let pointer = format!("{pointer}/{}", escaped(&name));
            self.positions.insert(pointer.clone(), position(at));
            let value = self.value(&pointer)?;
            let before = members.insert(name, value);
            ensure!(before.is_none(), "line {}: a member that is there twice", at.line());
        }
    }

    fn is_at(&mut self, event: &Event<'_>) -> bool {
        matches!(self.parser.peek(), Some(Ok((next, _))) if next == event)
    }
}

fn position(marker: Marker) -> Position {
    (marker.line(), marker.col() + 1)
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
