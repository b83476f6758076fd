//! Proxies of the environment (`http_proxy`, `https_proxy`, `all_proxy`, `no_proxy`), which reqwest
//! uses, and of which its errors say nothing.

use std::net::IpAddr;

use hyper_util::client::proxy::matcher::Matcher;
use reqwest::Url;

/// Whether the host of a URL is this machine. No proxy reaches it there, and one would get the
/// token.
pub(crate) fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let address = host.trim_matches(['[', ']']).parse::<IpAddr>();
    host == "localhost"
        || host.ends_with(".localhost")
        || address.is_ok_and(|address| address.to_canonical().is_loopback())
}

/// Names the proxy of the environment for this URL, if there is one, to be added to an error.
pub(crate) fn named(url: &Url) -> String {
    let proxy = || Matcher::from_system().intercept(&url.as_str().parse().ok()?);
    match proxy().filter(|_| !is_loopback(url)) {
        Some(proxy) => {
            let host = url.host_str().unwrap_or_default();
            let proxy = proxy.uri();
            format!("; the environment sets the proxy {proxy} (NO_PROXY={host} passes it by)")
        }
        None => String::new(),
    }
}
