//! The proxies in the environment (`http_proxy`, `https_proxy`, `all_proxy`, `no_proxy`). reqwest
//! uses them, but its errors do not mention them.

use std::net::IpAddr;

use hyper_util::client::proxy::matcher::Matcher;
use reqwest::Url;

/// Returns whether the host of a URL is this machine. A proxy cannot reach that host, and would
/// only get the token.
pub(crate) fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let address = host.trim_matches(['[', ']']).parse::<IpAddr>();
    host == "localhost"
        || host.ends_with(".localhost")
        || address.is_ok_and(|address| address.to_canonical().is_loopback())
}

/// Names the proxy that the environment sets for this URL, as the end of an error message. Empty if
/// there is no proxy.
pub(crate) fn hint(url: &Url) -> String {
    let proxy = || Matcher::from_system().intercept(&url.as_str().parse().ok()?);
    match proxy().filter(|_| !is_loopback(url)) {
        Some(proxy) => {
            let host = url.host_str().unwrap_or_default();
            let proxy = proxy.uri();
            format!("; the environment sets the proxy {proxy} (NO_PROXY={host} bypasses it)")
        }
        None => String::new(),
    }
}
