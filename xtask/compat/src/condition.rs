//! The conditions that `rules.md` names. `case` says when each holds.

use strum::EnumString;

/// A condition of a rule. In `rules.md` it is written in kebab case, as `was-true`.
#[derive(Clone, Copy, Debug, EnumString)]
#[strum(serialize_all = "kebab-case")]
pub enum Condition {
    /// A value by which clients decide.
    Codes,
    /// Only text for people.
    Words,
    /// An extension of OpenAPI.
    Extension,
    /// The older value is `true`.
    WasTrue,
    /// An operation of the older document has this tag.
    TagUsed,
    /// An operation of the older document asks for this security scheme.
    SchemeUsed,
    /// An operation of the newer document asks for this security scheme.
    SchemeUsedNow,
    /// Requests use it, and nothing else but a composition.
    Request,
    /// Responses use it, and nothing else but a composition.
    Response,
    /// No composition uses it, and it is not unclear.
    Plain,
    /// A part of a composition.
    Composed,
    /// A callback, below `not`, or named by a discriminator alone.
    Unclear,
    /// No operation uses it.
    Unused,
    /// The newer value allows all that the older one did.
    Wider,
    /// The older value allows all that the newer one does.
    Narrower,
    /// A parameter or a body that may be left out.
    Optional,
    /// The object around this member allowed no other members.
    Closed,
    /// The object around this member allowed other members of any type.
    Open,
    /// A member that could be anything else before.
    Free,
    /// Each way in is still one.
    Loosened,
    /// A schema became the one part of a list, or was it.
    Wrapped,
    /// The schema around this member requires it, or nobody can tell.
    Demanded,
    /// Only requests use it, and it was read-only.
    NeverSent,
    /// Only responses use it, and it was write-only.
    NeverReceived,
    /// One of the values is absent, and the other is what its absence means.
    AbsentAlike,
    /// A response that is an error, or that stands for all others.
    Refusal,
}
