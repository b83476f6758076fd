//! The rules: every kind of change, why it has its class, and the class.
//!
//! The comment of a kind is its reason, and is printed as it stands here: what is before a semicolon
//! for a request, and what is after it for a response.

use serde::Serialize;
use strum::{Display, EnumMessage};

use crate::Class::{self, Additive, Source, Wire, Words};

/// Who receives the place that changed: the service in a request, the client in a response.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Direction {
    pub request: bool,
    pub response: bool,
}

impl Direction {
    pub const BOTH: Self = Self { request: true, response: true };
    pub const REQUEST: Self = Self { request: true, response: false };
    pub const RESPONSE: Self = Self { request: false, response: true };

    /// What is in both.
    pub fn and(self, other: Self) -> Self {
        let request = self.request && other.request;
        Self { request, response: self.response && other.response }
    }
}

/// A kind of change.
#[derive(Clone, Copy, Debug, Display, EnumMessage, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Kind {
    /// a client that uses it fails
    OperationRemoved,
    /// no client uses it yet
    OperationAdded,
    /// generated functions have its name
    OperationId,
    /// generated arguments have its name, and the wire does not
    PathParameterRenamed,
    /// it still works (Semantic Versioning, section 7)
    Deprecation,
    /// it groups operations for readers, and progenitor's functions do not have it
    Tag,
    /// progenitor makes a stream of pages of such an operation
    Pagination,
    /// a websocket begins with another handshake than a plain request
    Websocket,
    /// the service calls what the client offers: the check does not look inside
    Callback,
    /// it is a hint
    Link,
    /// each request that was let in still is
    SecurityLoosened,
    /// a request that was let in may be refused
    SecurityTightened,
    /// a client has its address already
    Server,

    /// a client may leave it out; objects and headers are open, and a client ignores a new one
    Added,
    /// a request without it may be refused; a response promises more
    RequiredAdded,
    /// a client may send it; a client waits for it
    Removed,
    /// a client may send it; a response could lack it before, and code may name it
    OptionalRemoved,
    /// a request without it may be refused; a response promises more
    Required,
    /// a client may leave it out now; a response may lack it
    Optional,

    /// one side writes what the other reads in another way
    Encoding,
    /// a generated function returns it, and a client that runs does not look for it
    AnswerAdded,
    /// a client that runs sends the others, or asks for them
    MediaTypeAdded,
    /// a client sends it, or asks for it
    MediaTypeRemoved,
    /// a client sends the one, or asks for it, and the service speaks the other
    MediaType,
    /// a client takes a success that it does not know for a fault
    SuccessAdded,
    /// a client waits for it
    SuccessRemoved,
    /// a client waits for the one status, and another one comes
    SuccessStatus,
    /// a client of the default response takes it, and generated code names it
    SuccessNamed,
    /// a client takes it as the x00 of its class (RFC 9110, section 15)
    RefusalAdded,
    /// a client that knows it does not receive it any more
    RefusalRemoved,

    /// no value of the one type is one of the other
    Type,
    /// a request with another value may be refused; its values are of another type
    TypeNarrowed,
    /// its values are of another type; a client may not be able to read some values
    TypeWidened,
    /// nobody can say whether the values of the one format are those of the other
    Format,
    /// the generated type has another name
    TypeName,
    /// a request may have null now; a client may not expect null
    Nullable,
    /// a request with null may be refused; a response has no null any more
    NotNullable,
    /// a request may have them now; a client may not know them
    ValuesAdded,
    /// a request with one of them may be refused; code may name them
    ValuesRemoved,
    /// some values of the list went, and others came
    Values,
    /// a request with another value may be refused; the type becomes an enumeration
    ListAdded,
    /// the type is no enumeration any more; a client may not know the other values
    ListRemoved,
    /// a request beyond it may be refused; a response promises more
    LimitTightened,
    /// a request may go further; a client may refuse what goes further
    LimitLoosened,
    /// nobody can say which of the two limits allows more
    Limit,
    /// a request without it means another thing; its type is generated with it
    Default,
    /// its type is generated with it
    DefaultSaid,
    /// a request may have it now; a client that knows the object as closed refuses it
    AddedToClosed,
    /// a request without it may be refused; a client that knows the object as closed refuses it
    RequiredAddedToClosed,
    /// only one side may send it now
    OneWay,
    /// both sides may send it now
    BothWays,
    /// a request with another member may be refused; a response promises more
    ObjectClosed,
    /// a request may have more members; a client that knows the object as closed refuses them
    ObjectOpened,
    /// a request may be of one case more; a client may not know the case
    PartAdded,
    /// a request of this case may be refused; code may name the case
    PartRemoved,
    /// a request that does not fit it may be refused; its values are of another type
    DemandAdded,
    /// its values are of another type; a client may refuse what does not fit it
    DemandRemoved,
    /// a value that fits two parts is refused by `oneOf` and not by `anyOf`
    Composition,
    /// it is a hint: the parts say what is allowed
    Discriminator,
    /// the list is open: a client takes a new value as the x00 of its class
    CodeAdded,
    /// a request with it may be refused; code may name it
    CodeRemoved,
    /// a client sends the same request again in vain
    NoLongerRetryable,
    /// a client that gives up still may
    Retryable,

    /// no operation uses it, and generated code may have it
    UnusedTypeAdded,
    /// no operation uses it, but generated code may have it
    UnusedTypeRemoved,
    /// OpenAPI gives it no meaning, but a generator may
    Extension,
    /// it is text for people
    Text,
    /// this check does not know the keyword
    Unknown,
    /// the documents have too many pairs of types or too many levels, or references without an end
    NotCompared,
}

impl Kind {
    /// What it means to a consumer, if the place that changed is in requests and in responses.
    fn classes(self) -> (Class, Class) {
        match self {
            Self::Text => (Words, Words),

            Self::OperationAdded
            | Self::Deprecation
            | Self::Tag
            | Self::Link
            | Self::SecurityLoosened
            | Self::Server
            | Self::Added
            | Self::MediaTypeAdded
            | Self::RefusalAdded
            | Self::RefusalRemoved
            | Self::BothWays
            | Self::Discriminator
            | Self::CodeAdded
            | Self::Retryable
            | Self::UnusedTypeAdded
            | Self::Extension => (Additive, Additive),

            Self::OperationId
            | Self::PathParameterRenamed
            | Self::Pagination
            | Self::AnswerAdded
            | Self::SuccessNamed
            | Self::TypeName
            | Self::DefaultSaid
            | Self::Composition
            | Self::UnusedTypeRemoved => (Source, Source),

            Self::OperationRemoved
            | Self::Websocket
            | Self::Callback
            | Self::SecurityTightened
            | Self::Removed
            | Self::Encoding
            | Self::MediaTypeRemoved
            | Self::MediaType
            | Self::SuccessAdded
            | Self::SuccessRemoved
            | Self::SuccessStatus
            | Self::Type
            | Self::Values
            | Self::Limit
            | Self::OneWay
            | Self::RequiredAddedToClosed
            | Self::Format
            | Self::NoLongerRetryable
            | Self::Unknown
            | Self::NotCompared => (Wire, Wire),

            // A request has to keep to more: what was sent may be refused.
            Self::LimitTightened
            | Self::RequiredAdded
            | Self::Required
            | Self::NotNullable
            | Self::ObjectClosed => (Wire, Additive),
            Self::TypeNarrowed
            | Self::ValuesRemoved
            | Self::ListAdded
            | Self::PartRemoved
            | Self::DemandAdded
            | Self::CodeRemoved
            | Self::OptionalRemoved
            | Self::Default => (Wire, Source),

            // A response may have more: a client may receive what it cannot read.
            Self::LimitLoosened
            | Self::AddedToClosed
            | Self::Optional
            | Self::Nullable
            | Self::ValuesAdded
            | Self::ObjectOpened
            | Self::PartAdded => (Additive, Wire),
            Self::TypeWidened | Self::ListRemoved | Self::DemandRemoved => (Source, Wire),
        }
    }

    /// What it means to a consumer, if operations have the place, and who receives it.
    pub fn class(self, is_used: bool, place: Direction) -> Class {
        let (request, response) = self.classes();
        let class = match (place.request, place.response) {
            (true, true) => request.max(response),
            (true, false) => request,
            (false, true) => response,
            (false, false) => request.min(response),
        };
        // Generated code has every type, but a client that runs sends or receives only some.
        let is_on_wire = is_used && place != Direction::default();
        let is_known = !matches!(self, Self::Unknown | Self::NotCompared);
        if is_known && !is_on_wire { class.min(Source) } else { class }
    }

    /// Why.
    pub fn reason(self, place: Direction) -> &'static str {
        let reason = self.get_documentation().expect("each kind has a comment");
        match reason.split_once("; ") {
            Some((request, _)) if place.request && !place.response => request,
            Some((_, response)) if place.response && !place.request => response,
            _ => reason,
        }
    }
}
