//! The rules: every kind of change, its class in a request and in a response, and the reason.

use serde::Serialize;
use strum::Display;

use crate::Class;

/// Who receives the place that changed: the service in a request, the client in a response.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Direction {
    pub request: bool,
    pub response: bool,
}

impl Direction {
    pub const BOTH: Self = Self { request: true, response: true };
    pub const REQUEST: Self = Self { request: true, response: false };
    pub const RESPONSE: Self = Self { request: false, response: true };

    /// The directions that are in both values.
    pub fn and(self, other: Self) -> Self {
        let request = self.request && other.request;
        Self { request, response: self.response && other.response }
    }
}

/// Makes the enumeration from the table of rules. A reason is printed as it is written here: the
/// text before a semicolon is about requests, the text after it about responses.
macro_rules! rules {
    ($($kind:ident $request:ident $response:ident $reason:literal)*) => {
        /// A kind of change.
        #[derive(Clone, Copy, Debug, Display, PartialEq, Eq, PartialOrd, Ord, Serialize)]
        #[serde(rename_all = "kebab-case")]
        #[strum(serialize_all = "kebab-case")]
        pub enum Kind {
            $(#[doc = $reason] $kind,)*
        }

        impl Kind {
            fn rule(self) -> (Class, Class, &'static str) {
                match self {
                    $(Self::$kind => (Class::$request, Class::$response, $reason),)*
                }
            }
        }
    };
}

rules! {
    // Operations.
    OperationRemoved Wire Wire "a client that uses the operation fails"
    OperationAdded Additive Additive "no client uses the operation yet"
    OperationId Source Source "generated functions are named after it"
    PathParameterRenamed Source Source
        "generated arguments are named after it, but the URLs are the same"
    Deprecation Additive Additive "a deprecated thing still works (Semantic Versioning, section 7)"
    Tag Additive Additive "tags group operations for readers"
    Pagination Source Source "progenitor makes a stream of pages of such an operation"
    Websocket Wire Wire "a websocket starts with another handshake than a plain request"
    Callback Wire Wire "the service calls what the client offers"
    Link Additive Additive "a link is a hint"
    SecurityLoosened Additive Additive "each request that was let in still is"
    SecurityTightened Wire Wire "a request that was let in may be refused"
    Server Additive Additive "a client is configured with its address already"
    Address Wire Wire
        "the path of each URL is another one (Server Object: the paths are appended to it)"

    // Parameters, headers, bodies and members.
    Added Additive Additive
        "a client may leave it out; objects and headers are open, and a client ignores a new one"
    RequiredAdded Wire Additive "a request without it may be refused; a response promises more"
    Removed Wire Wire "a client may send it; a client waits for it"
    OptionalRemoved Wire Source
        "a client may send it; a response could lack it before, and code may name it"
    Required Wire Additive "a request without it may be refused; a response promises more"
    Optional Additive Wire "a client may leave it out now; a response may lack it"
    Encoding Wire Wire "one side writes what the other reads in another way"
    EncodingAdded Additive Additive "a client may write it in another way, too"
    Xml Wire Wire "the XML of the value is another one"

    // Answers and media types.
    AnswerAdded Source Source
        "a generated function returns it, and a running client does not look for it"
    MediaTypeAdded Additive Additive "a running client sends the others, or asks for them"
    MediaTypeRemoved Wire Wire "a client sends it; a client asks for it"
    MediaType Wire Wire
        "a client sends the one, and the service takes the other; \
         a client reads the one, and the service sends the other"
    MediaTypeWidened Additive Wire
        "the range includes what a client sends; \
         a client may not be able to read the rest of the range"
    MediaTypeNarrowed Wire Source
        "a client may send the rest of the range; \
         the new media type was in the range, and generated code may decode it now"
    MediaTypeUnnamed Source Source "a range still includes it, and generated code names it"
    Charset Source Source
        "UTF-8 is what a client writes and reads anyway, and generated code may name the media type"
    SuccessAdded Wire Wire "a client takes a success that it does not know for a fault"
    SuccessRemoved Wire Wire "a client waits for it"
    SuccessStatus Wire Wire "a client waits for the one status, and another one comes"
    SuccessNamed Source Source
        "the status could come before and still can, and generated code names it"
    RefusalAdded Additive Additive
        "a client takes it as the x00 of its class (RFC 9110, section 15)"
    RefusalRemoved Additive Additive
        "a client that knows the status no longer receives it, or not as a case of its own"

    // Types and the values that they allow.
    Type Wire Wire "no value of the one type is one of the other"
    TypeNarrowed Wire Source
        "a request with another value may be refused; its values are of another type"
    TypeWidened Source Wire
        "its values are of another type; a client may not be able to read some values"
    Format Wire Wire "nobody can tell whether the values of the one format are those of the other"
    TypeName Source Source "the generated type has another name, or is made of other types"
    Nullable Additive Wire "a request may have null now; a client may not expect null"
    NotNullable Wire Additive "a request with null may be refused; a response has no null any more"
    NullSaid Source Source "`enum` does not list null, but a generated type may be optional"
    ValuesAdded Additive Wire "a request may have them now; a client may not know them"
    ValuesRemoved Wire Source "a request with one of them may be refused; code may name them"
    Values Wire Wire "some of the allowed values went, and others came"
    ListAdded Wire Source
        "a request with another value may be refused; the type becomes an enumeration"
    ListRemoved Source Wire
        "the type is no enumeration any more; a client may not know the other values"
    LimitTightened Wire Additive "a request beyond it may be refused; a response promises more"
    LimitLoosened Additive Wire "a request may go further; a client may refuse what goes further"
    Limit Wire Wire "nobody can tell which of the two limits allows more"
    Default Wire Source "a request without it means another thing; its type is generated with it"
    DefaultSaid Source Source "its type is generated with it"
    AddedToClosed Additive Wire
        "a request may have it now; a client that knows the object as closed refuses it"
    RequiredAddedToClosed Wire Wire
        "a request without it may be refused; a client that knows the object as closed refuses it"
    OneWay Wire Wire "only one side may send it now"
    BothWays Additive Additive "both sides may send it now"
    ObjectClosed Wire Additive
        "a request with another member may be refused; a response promises more"
    ObjectOpened Additive Wire
        "a request may have more members; a client that knows the object as closed refuses them"
    PartAdded Additive Wire "a request may be of one case more; a client may not know the case"
    PartRemoved Wire Source "a request of this case may be refused; code may name the case"
    Composition Source Source
        "`oneOf` and `anyOf` allow the same values here, but generated types differ"
    CompositionTightened Wire Source
        "`oneOf` refuses a value that fits two parts; the generated type is another one"
    CompositionLoosened Source Wire
        "the generated type is another one; a value may fit two parts now"
    Discriminator Wire Wire "another member tells which case a value is"
    DiscriminatorSaid Additive Additive
        "it is a hint: the parts allow the same values with and without it"
    CodeAdded Additive Additive
        "the list is open: a client takes a new value as the x00 of its class"
    CodeRemoved Wire Source "a request with it may be refused; code may name it"
    NoLongerRetryable Wire Wire "a client sends the same request again in vain"
    Retryable Additive Additive "a client that gives up still may"

    // The rest.
    UnusedTypeAdded Additive Additive "no operation uses it, and generated code may have it"
    UnusedTypeRemoved Source Source "no operation uses it, but generated code may have it"
    Extension Additive Additive "OpenAPI gives it no meaning, but a generator may"
    Text Words Words "it is text for people"
    Unknown Wire Wire "this check does not know the keyword"
    NotCompared Wire Wire
        "the documents have too many pairs of types or too many levels, or references without \
         an end"
}

impl Kind {
    /// The class of a change, if operations use the place, and who receives it.
    pub fn class(self, is_used: bool, place: Direction) -> Class {
        let (request, response, _) = self.rule();
        let class = match (place.request, place.response) {
            (true, true) => request.max(response),
            (true, false) => request,
            (false, true) => response,
            (false, false) => request.min(response),
        };
        // Generated code has every type, but a running client sends or receives only some.
        let is_on_wire = is_used && place != Direction::default();
        let is_known = !matches!(self, Self::Unknown | Self::NotCompared);
        if is_known && !is_on_wire { class.min(Class::Source) } else { class }
    }

    /// The reason for the class.
    pub fn reason(self, place: Direction) -> &'static str {
        let (_, _, reason) = self.rule();
        match reason.split_once("; ") {
            Some((request, _)) if place.request && !place.response => request,
            Some((_, response)) if place.response && !place.request => response,
            _ => reason,
        }
    }
}
