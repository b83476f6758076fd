//! Formats an error and its causes as one line for people, with advice where there is some.

use std::error::Error as StdError;

/// An error of any type, as [`StdError::source`] returns it.
pub(crate) type Cause = dyn StdError + 'static;

/// Iterates over an error and its chain of sources.
pub(crate) fn chain(error: &Cause) -> impl Iterator<Item = &Cause> {
    std::iter::successors(Some(error), |error| (*error).source())
}

/// hyper's message for a response that is not HTTP/1.1, such as the alert of a TLS server.
pub(crate) const NOT_HTTP: &str = "invalid HTTP version parsed";

/// Escapes the control characters of a text, because a terminal would obey them.
pub(crate) fn escape_control(text: &str) -> String {
    let escaped = |letter: char| {
        if letter.is_control() { letter.escape_default().to_string() } else { letter.to_string() }
    };
    text.chars().map(escaped).collect()
}

/// Formats an error and its causes as one line, followed by what to do about it.
pub(crate) fn with_causes(error: &Cause) -> String {
    let causes = chain(error).map(ToString::to_string).collect::<Vec<_>>().join(": ");
    let applies = |(marker, _): &&(&str, &str)| causes.contains(marker);
    if let Some((context, reason)) = causes.split_once(INVALID_CERTIFICATE)
        && let Some((_, advice)) = CERTIFICATE_ADVICE.iter().find(applies)
    {
        let reason = reason.split_once(" { ").map_or(reason, |(name, _)| name);
        return format!("{context}{INVALID_CERTIFICATE}{reason}: {advice}");
    }
    match ADVICE.iter().find(applies) {
        Some((_, advice)) => format!("{causes}: {advice}"),
        None => causes,
    }
}

/// Advice for an error, keyed by a part of the message from rustls or hyper.
const ADVICE: [(&str, &str); 5] = [
    // The first byte of every TLS record is its content type (RFC 8446, section 5.1).
    (
        "InvalidContentType",
        "the server does not speak TLS on this port; check whether the URL should begin with \
         http://",
    ),
    (
        NOT_HTTP,
        "the server does not speak plain HTTP on this port; check whether the URL should begin \
         with https://",
    ),
    (
        "CertificateRequired",
        "the server requires a client certificate, and this client does not send one",
    ),
    ("alert: ProtocolVersion", "the server supports neither TLS 1.2 nor TLS 1.3"),
    (
        "alert: HandshakeFailure",
        "the server has no certificate or cipher suite that this client supports; the client \
         supports certificates with a 2048-bit RSA key or an ECDSA P-256 key",
    ),
];

/// rustls' message before the reason why it rejected a certificate.
const INVALID_CERTIFICATE: &str = "invalid peer certificate: ";

/// Advice for a certificate that rustls rejected, keyed by a part of the reason.
const CERTIFICATE_ADVICE: [(&str, &str); 10] = [
    (
        "CaUsedAsEndEntity",
        "it is the certificate of an authority, which is what `openssl req -x509` makes by \
         default; `-addext basicConstraints=critical,CA:FALSE -addext subjectAltName=DNS:HOST` \
         makes a server certificate",
    ),
    (
        "UnknownIssuer",
        "no trusted authority issued it; pass the certificate of its authority, or the \
         certificate itself if it is self-signed, with --ca-file (ClientOptions::authorities)",
    ),
    (
        "BadSignature",
        "a trusted authority has the issuer's name but a different key, or its key is too weak \
         (RSA needs 2048 bits); check whether --ca-file (ClientOptions::authorities) is up to date",
    ),
    (
        "not valid for any names",
        "it has no subjectAltName; add one with `openssl req -addext subjectAltName=DNS:HOST`",
    ),
    ("not valid for name", "the host in the URL must match a name in the certificate"),
    ("xpired", "the operator must renew it, unless the clock of this machine is wrong"),
    ("not valid yet", "check whether the clock of this machine is right"),
    (
        "UnsupportedCertVersion",
        "it has no extensions; add one with `openssl req -addext subjectAltName=DNS:HOST`",
    ),
    (
        "UnsupportedSignatureAlgorithm",
        "the client supports 2048-bit RSA and ECDSA P-256 keys, with SHA-256",
    ),
    ("", "the operator must replace it"),
];
