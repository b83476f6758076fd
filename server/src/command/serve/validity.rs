//! From when until when the service's certificate is valid, and the metric of its end.

use chrono::{DateTime, TimeDelta, Utc};
use metrics::{Unit, describe_gauge, gauge};
use rustls::pki_types::CertificateDer;
use x509_cert::Certificate;
use x509_cert::der::Decode;

/// A certificate that ends within this time is one to renew.
const SOON: TimeDelta = TimeDelta::days(14);

const END: &str = "plant_store_tls_not_after_timestamp_seconds";

/// From when until when a certificate is valid (RFC 5280, section 4.1.2.5).
#[derive(Clone, Copy)]
pub struct Validity {
    pub from: DateTime<Utc>,
    pub until: DateTime<Utc>,
}

/// What is wrong with a certificate now, or will be soon.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum CertificateFault {
    #[error("the certificate is not valid yet")]
    NotYetValid,
    #[error("the certificate has expired")]
    Expired,
    #[error("the certificate expires within 14 days")]
    ExpiresSoon,
}

impl Validity {
    /// If rustls can use a certificate that cannot be read here, it counts as valid for ever.
    pub fn of(certificate: &CertificateDer<'_>) -> Self {
        let Ok(certificate) = Certificate::from_der(certificate) else {
            return Self { from: DateTime::<Utc>::MIN_UTC, until: DateTime::<Utc>::MAX_UTC };
        };
        let validity = certificate.tbs_certificate.validity;
        Self {
            from: validity.not_before.to_system_time().into(),
            until: validity.not_after.to_system_time().into(),
        }
    }

    /// Sets the metric of the certificate that connections are shown from now on.
    pub fn report(self) {
        describe_gauge!(END, Unit::Seconds, "When the certificate of TLS expires, in Unix time.");
        #[expect(clippy::cast_precision_loss, reason = "an f64 counts the seconds of a calendar")]
        gauge!(END).set(self.until.timestamp() as f64);
    }

    /// Whether the certificate is valid now.
    pub fn is_now(self) -> bool {
        (self.from..=self.until).contains(&Utc::now())
    }

    /// What is wrong with the certificate now, or will be soon.
    pub fn fault(self) -> Option<CertificateFault> {
        let now = Utc::now();
        if now < self.from {
            Some(CertificateFault::NotYetValid)
        } else if now > self.until {
            Some(CertificateFault::Expired)
        } else if now > self.until - SOON {
            Some(CertificateFault::ExpiresSoon)
        } else {
            None
        }
    }
}
