//! The rules: every kind of change, with its class in a request, its class in a response, and the
//! reason.

use bitflags::bitflags;
use clap::ValueEnum;
use serde::Serialize;
use strum::Display;

/// What a change means to a consumer, the least severe class first.
#[derive(Clone, Copy, Debug, Display, PartialEq, Eq, PartialOrd, Ord, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Class {
    /// Only text for people or the spelling changed: the version may stay the same.
    #[strum(to_string = "words only")]
    Words,
    /// Everything that worked still works: a new minor version.
    #[strum(to_string = "additive")]
    Additive,
    /// Code that is compiled against a regenerated client may break: a new major version.
    #[strum(to_string = "breaks source")]
    Source,
    /// A running client may break: a new major version.
    #[strum(to_string = "breaks wire")]
    Wire,
}

bitflags! {
    /// Whether a value is sent in requests, in responses, or in both.
    #[derive(Clone, Copy, Default, PartialEq, Eq)]
    pub struct Direction: u8 {
        const REQUEST = 1;
        const RESPONSE = 2;
    }
}

struct Rule {
    request: Class,
    response: Class,
    reason: &'static str,
}

/// Generates `Kind` from the table of rules. A row has the kind, its class in a request, its class
/// in a response, and the reason. If the reason has two parts, separated by a semicolon, the first
/// part is about requests and the second part about responses.
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
            fn rule(self) -> Rule {
                match self {
                    $(Self::$kind => Rule {
                        request: Class::$request,
                        response: Class::$response,
                        reason: $reason,
                    },)*
                }
            }
        }
    };
}

rules! {
    // Operations.
    OperationRemoved Wire Wire "a client that calls the operation fails"
    OperationAdded Additive Additive "no client calls the operation yet"
    OperationId Source Source "generated functions are named after it"
    PathParameterRenamed Source Source
        "generated arguments are named after it, but the URLs stay the same"
    PromiseAdded Additive Additive "no client relies on the promise yet"
    PromiseRemoved Wire Wire "a client relies on the promise, such as one that repeats requests"
    Deprecation Additive Additive "deprecated things still work (Semantic Versioning, section 7)"
    Pagination Source Source "progenitor generates a stream of pages for such an operation"
    SecurityLoosened Additive Additive "every request that was let in still is"
    SecurityTightened Wire Wire "a request that was let in may be refused"
    Server Additive Additive "the address of the service is part of a client's configuration"
    Address Wire Wire
        "the path of every URL changes (Server Object: paths are appended to the server's URL)"

    // Parameters, headers, bodies and properties.
    Added Additive Additive
        "a client may leave it out; objects and headers are open, and a client ignores new ones"
    Removed Wire Wire "a client may send it; a client expects it"
    OptionalRemoved Wire Source
        "a client may send it; a response could lack it before, but code may use it"
    Required Wire Additive "a request without it may be refused; a response promises more"
    Optional Additive Wire "a client may leave it out now; a response may lack it"
    Encoding Wire Wire
        "the sender may encode it differently from what the receiver expects: read the change"
    EncodingAdded Additive Additive "a client may encode it in another way as well"

    // Responses and media types.
    AnswerAdded Source Source
        "a generated function returns it, and a running client does not look for it"
    MediaTypeAdded Additive Additive "a running client sends or asks for the other media types"
    MediaTypeRemoved Wire Wire "a client sends it; a client asks for it"
    MediaTypeWidened Additive Wire
        "the range includes what a client sends; \
         a client may not be able to read the rest of the range"
    MediaTypeNarrowed Wire Source
        "a client may send the rest of the range; \
         the new media type was in the range, and generated code may decode it now"
    SuccessAdded Wire Wire "a client treats an unknown success as an error"
    SuccessRemoved Wire Wire "a client expects it"
    SuccessNamed Source Source
        "the status was possible before and still is, but generated code names it"
    RefusalAdded Additive Additive
        "a client treats it as the x00 of its class (RFC 9110, section 15)"
    RefusalRemoved Additive Additive
        "a client that knows the status no longer receives it, or not as a case of its own"

    // Types and the values that they allow.
    Type Wire Wire "the two types may have no value in common"
    TypeNarrowed Wire Source
        "a request with another value may be refused; the generated type changes"
    TypeWidened Source Wire
        "the generated type changes; a client may not be able to read some values"
    TypeName Source Source "the generated type gets another name, or is made of other types"
    Nullable Additive Wire "a request may contain null now; a client may not expect null"
    NotNullable Wire Additive "a request with null may be refused; a response promises more"
    NullHint Source Source
        "`enum` does not list null, but the generated type may be optional"
    ValuesAdded Additive Wire "a request may use them now; a client may not know them"
    ValuesRemoved Wire Source "a request with one of them may be refused; code may name them"
    LimitTightened Wire Additive "a request beyond it may be refused; a response promises more"
    LimitLoosened Additive Wire
        "a request may go further now; a client may reject what goes further"
    Limit Wire Wire "the check cannot tell which of the two allows more"
    Default Wire Source
        "a request without it changes its meaning; the generated type contains the default"
    DefaultHint Source Source "the generated type contains the default"
    AddedToClosed Additive Wire
        "a request may contain it now; a client that knows the object as closed rejects it"
    RequiredAddedToClosed Wire Wire
        "a request without it may be refused; a client that knows the object as closed rejects it"
    OneWay Wire Wire "only one side may send it now"
    BothWays Additive Additive "both sides may send it now"
    Discriminator Wire Wire "another member or another value tells which case a value is"
    CodeAdded Additive Additive
        "the list is open: a client treats a new value as the x00 of its class"

    // The rest.
    UnusedTypeAdded Additive Additive "no operation uses it, but generated code may contain it"
    UnusedTypeRemoved Source Source "no operation uses it, but generated code may contain it"
    Extension Additive Additive "OpenAPI gives it no meaning, but a generator may"
    Hint Additive Additive "it is a hint for readers or generators, and allows the same values"
    Text Words Words "everything that a client sees means the same"
    Whole Wire Wire "the check compares it as a whole: read the change"
    Unknown Wire Wire "the check does not know the keyword"
    NotCompared Wire Wire
        "the documents contain too many pairs of types, too many levels, or circular references"
}

impl Kind {
    /// The class of a change. `is_used` is whether an operation uses the changed value.
    pub fn class(self, is_used: bool, direction: Direction) -> Class {
        let Rule { request, response, .. } = self.rule();
        let class = match direction {
            Direction::REQUEST => request,
            Direction::RESPONSE => response,
            _ if direction.is_empty() => request.min(response),
            _ => request.max(response),
        };
        // Generated code contains every type, but a running client sends and receives only some.
        let is_on_wire = is_used && !direction.is_empty();
        let is_known = !matches!(self, Self::Unknown | Self::NotCompared);
        if is_known && !is_on_wire { class.min(Class::Source) } else { class }
    }

    /// The reason for the class.
    pub fn reason(self, direction: Direction) -> &'static str {
        let Rule { reason, .. } = self.rule();
        match (reason.split_once("; "), direction) {
            (Some((request, _)), Direction::REQUEST) => request,
            (Some((_, response)), Direction::RESPONSE) => response,
            _ => reason,
        }
    }
}
