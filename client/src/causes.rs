//! An error and its causes, as one line for people.

use std::error::Error as StdError;

/// An error of any type, as [`StdError::source`] gives it.
pub(crate) type Cause = dyn StdError + 'static;

/// An error, its cause, the cause of that, and so on.
pub(crate) fn chain(error: &Cause) -> impl Iterator<Item = &Cause> {
    std::iter::successors(Some(error), |error| (*error).source())
}

/// What hyper says of an answer that is no HTTP/1.1, such as the alert of a server that speaks TLS.
pub(crate) const NO_HTTP: &str = "invalid HTTP version parsed";

/// The text, with its control characters escaped: a terminal would obey them.
pub(crate) fn in_one_line(text: &str) -> String {
    let escaped = |letter: char| {
        if letter.is_control() { letter.escape_default().to_string() } else { letter.to_string() }
    };
    text.chars().map(escaped).collect()
}

/// An error and its causes, in one line, with what to do about it.
pub(crate) fn with_causes(error: &Cause) -> String {
    let causes = chain(error).map(ToString::to_string).collect::<Vec<_>>().join(": ");
    let is_in = |(marker, _): &&(&str, &str)| causes.contains(marker);
    if let Some((what, why)) = causes.split_once(CERTIFICATE)
        && let Some((_, explained)) = OF_CERTIFICATES.iter().find(is_in)
    {
        let why = why.split_once(" { ").map_or(why, |(name, _)| name);
        return format!("{what}{CERTIFICATE}{why}: {explained}");
    }
    match ADVICE.iter().find(is_in) {
        Some((_, advice)) => format!("{causes}: {advice}"),
        None => causes,
    }
}

/// What to do about an error, by what rustls and hyper say of it.
const ADVICE: [(&str, &str); 5] = [
    // The first byte of every TLS record is its content type (RFC 8446, section 5.1).
    ("InvalidContentType", "the server does not speak TLS there; see whether its URL is http"),
    (NO_HTTP, "the server does not speak HTTP there; see whether its URL is https"),
    ("CertificateRequired", "the server asks for a certificate, and this client sends none"),
    ("alert: ProtocolVersion", "the server speaks neither TLS 1.2 nor TLS 1.3"),
    (
        "alert: HandshakeFailure",
        "the server has no certificate or no ciphers for this client; RSA of 2048 bits and ECDSA \
         on P-256 are certificates that it accepts",
    ),
];

/// What rustls says before the reason why it does not accept a certificate.
const CERTIFICATE: &str = "invalid peer certificate: ";

/// What to do about a certificate that is not accepted, by the reason.
const OF_CERTIFICATES: [(&str, &str); 10] = [
    (
        "CaUsedAsEndEntity",
        "it is that of an authority, as `openssl req -x509` makes them; made with `-addext \
         basicConstraints=critical,CA:FALSE -addext subjectAltName=DNS:HOST` it is a server's",
    ),
    (
        "UnknownIssuer",
        "no trusted authority has issued it; --ca-file (ClientOptions::authorities) names its \
         authority, or, if it is self-signed, the certificate itself",
    ),
    (
        "BadSignature",
        "a trusted authority has the name of the one that has issued it, but another key, or its \
         key is too weak (RSA needs 2048 bits); see whether --ca-file \
         (ClientOptions::authorities) is up to date",
    ),
    (
        "not valid for any names",
        "it has no subjectAltName; `-addext subjectAltName=DNS:HOST` of `openssl req` adds it",
    ),
    ("not valid for name", "the URL has to name the server as its certificate does"),
    ("xpired", "the operator has to renew it, unless the clock of this machine is wrong"),
    ("not valid yet", "see whether the clock of this machine is right"),
    (
        "UnsupportedCertVersion",
        "it has no extensions; `-addext subjectAltName=DNS:HOST` of `openssl req` adds one",
    ),
    (
        "UnsupportedSignatureAlgorithm",
        "RSA of 2048 bits and ECDSA on P-256, with SHA-256, are accepted",
    ),
    ("", "the operator has to replace it"),
];
