// Generated from the OpenAPI document. Edits of this file are lost.

#![allow(
    clippy::all,
    clippy::pedantic,
    clippy::unwrap_used,
    dead_code,
    missing_docs,
    unused_imports,
    unused_variables,
    reason = "generated: the generator decides how it reads"
)]

#[allow(unused_imports)]
pub use progenitor_client::{ByteStream, ClientInfo, Error, ResponseValue};
#[allow(unused_imports)]
use progenitor_client::{encode_path, ClientHooks, OperationInfo, RequestBuilderExt};
/// Types used as operation parameters and responses.
#[allow(clippy::all)]
pub mod types {
    ///A plant to create: the members of Plant and an identification number. Unknown members are ignored.
    #[derive(::serde::Deserialize, ::serde::Serialize, Clone, Debug, PartialEq)]
    pub struct NewPlant {
        ///Identification number of the plant, chosen by the client: any signed 64-bit integer. Languages whose numbers are doubles, such as JavaScript and TypeScript, round integers above 2^53, so two different ids can become the same id. In these languages, use a type that preserves every digit.
        pub id: i64,
        ///Name of the plant.
        pub name: ::std::string::String,
        ///Tag that specifies the type of the plant. It may be absent, but is never null.
        #[serde(skip_serializing_if = "::std::option::Option::is_none")]
        pub tag: ::std::option::Option<::std::string::String>,
    }
    impl NewPlant {
        pub fn builder() -> builder::NewPlant {
            Default::default()
        }
    }
    ///A plant in the store.
    #[derive(::serde::Deserialize, ::serde::Serialize, Clone, Debug, PartialEq)]
    pub struct Plant {
        ///Name of the plant.
        pub name: ::std::string::String,
        ///Tag that specifies the type of the plant. It may be absent, but is never null.
        #[serde(skip_serializing_if = "::std::option::Option::is_none")]
        pub tag: ::std::option::Option<::std::string::String>,
    }
    impl Plant {
        pub fn builder() -> builder::Plant {
            Default::default()
        }
    }
    /// Types for composing complex structures.
    pub mod builder {
        #[derive(Clone, Debug)]
        pub struct NewPlant {
            id: ::std::result::Result<i64, ::std::string::String>,
            name: ::std::result::Result<::std::string::String, ::std::string::String>,
            tag: ::std::result::Result<
                ::std::option::Option<::std::string::String>,
                ::std::string::String,
            >,
        }
        impl ::std::default::Default for NewPlant {
            fn default() -> Self {
                Self {
                    id: Err("no value supplied for id".to_string()),
                    name: Err("no value supplied for name".to_string()),
                    tag: Ok(Default::default()),
                }
            }
        }
        impl NewPlant {
            pub fn id<T>(mut self, value: T) -> Self
            where
                T: ::std::convert::TryInto<i64>,
                T::Error: ::std::fmt::Display,
            {
                self.id = value
                    .try_into()
                    .map_err(|e| format!("error converting supplied value for id: {e}"));
                self
            }
            pub fn name<T>(mut self, value: T) -> Self
            where
                T: ::std::convert::TryInto<::std::string::String>,
                T::Error: ::std::fmt::Display,
            {
                self.name = value
                    .try_into()
                    .map_err(|e| {
                        format!("error converting supplied value for name: {e}")
                    });
                self
            }
            pub fn tag<T>(mut self, value: T) -> Self
            where
                T: ::std::convert::TryInto<::std::option::Option<::std::string::String>>,
                T::Error: ::std::fmt::Display,
            {
                self.tag = value
                    .try_into()
                    .map_err(|e| {
                        format!("error converting supplied value for tag: {e}")
                    });
                self
            }
        }
        impl ::std::convert::TryFrom<NewPlant> for super::NewPlant {
            type Error = super::error::ConversionError;
            fn try_from(
                value: NewPlant,
            ) -> ::std::result::Result<Self, super::error::ConversionError> {
                Ok(Self {
                    id: value.id?,
                    name: value.name?,
                    tag: value.tag?,
                })
            }
        }
        impl ::std::convert::From<super::NewPlant> for NewPlant {
            fn from(value: super::NewPlant) -> Self {
                Self {
                    id: Ok(value.id),
                    name: Ok(value.name),
                    tag: Ok(value.tag),
                }
            }
        }
        #[derive(Clone, Debug)]
        pub struct Plant {
            name: ::std::result::Result<::std::string::String, ::std::string::String>,
            tag: ::std::result::Result<
                ::std::option::Option<::std::string::String>,
                ::std::string::String,
            >,
        }
        impl ::std::default::Default for Plant {
            fn default() -> Self {
                Self {
                    name: Err("no value supplied for name".to_string()),
                    tag: Ok(Default::default()),
                }
            }
        }
        impl Plant {
            pub fn name<T>(mut self, value: T) -> Self
            where
                T: ::std::convert::TryInto<::std::string::String>,
                T::Error: ::std::fmt::Display,
            {
                self.name = value
                    .try_into()
                    .map_err(|e| {
                        format!("error converting supplied value for name: {e}")
                    });
                self
            }
            pub fn tag<T>(mut self, value: T) -> Self
            where
                T: ::std::convert::TryInto<::std::option::Option<::std::string::String>>,
                T::Error: ::std::fmt::Display,
            {
                self.tag = value
                    .try_into()
                    .map_err(|e| {
                        format!("error converting supplied value for tag: {e}")
                    });
                self
            }
        }
        impl ::std::convert::TryFrom<Plant> for super::Plant {
            type Error = super::error::ConversionError;
            fn try_from(
                value: Plant,
            ) -> ::std::result::Result<Self, super::error::ConversionError> {
                Ok(Self {
                    name: value.name?,
                    tag: value.tag?,
                })
            }
        }
        impl ::std::convert::From<super::Plant> for Plant {
            fn from(value: super::Plant) -> Self {
                Self {
                    name: Ok(value.name),
                    tag: Ok(value.tag),
                }
            }
        }
    }
    /// Error types.
    pub mod error {
        /// Error from a `TryFrom` or `FromStr` implementation.
        pub struct ConversionError(::std::borrow::Cow<'static, str>);
        impl ::std::error::Error for ConversionError {}
        impl ::std::fmt::Display for ConversionError {
            fn fmt(
                &self,
                f: &mut ::std::fmt::Formatter<'_>,
            ) -> Result<(), ::std::fmt::Error> {
                ::std::fmt::Display::fmt(&self.0, f)
            }
        }
        impl ::std::fmt::Debug for ConversionError {
            fn fmt(
                &self,
                f: &mut ::std::fmt::Formatter<'_>,
            ) -> Result<(), ::std::fmt::Error> {
                ::std::fmt::Debug::fmt(&self.0, f)
            }
        }
        impl From<&'static str> for ConversionError {
            fn from(value: &'static str) -> Self {
                Self(value.into())
            }
        }
        impl From<String> for ConversionError {
            fn from(value: String) -> Self {
                Self(value.into())
            }
        }
    }
}
#[derive(Clone, Debug)]
/**Client for Plant Store

A sample plant store: authenticated clients create plants in it. Every refused request to an operation gets status 400 and an Error body, whose `error` member names the failure. The response has a `Retry-After` header exactly if the same request may be sent again. If there is no response, a request may be sent again if its method is idempotent (RFC 9110, section 9.2.2), or if its operation has `x-idempotent: true`.

Version: 1.0.0*/
pub struct Client {
    pub(crate) baseurl: String,
    pub(crate) client: reqwest::Client,
    pub(crate) inner: ::groundwork_client::SendPolicy,
}
impl Client {
    /// Create a new client.
    ///
    /// `baseurl` is the base URL provided to the internal
    /// `reqwest::Client`, and should include a scheme and hostname,
    /// as well as port and a path stem if applicable.
    pub fn new(baseurl: &str, inner: ::groundwork_client::SendPolicy) -> Self {
        #[cfg(not(target_arch = "wasm32"))]
        let client = {
            let dur = ::std::time::Duration::from_secs(15u64);
            reqwest::ClientBuilder::new().connect_timeout(dur).timeout(dur)
        };
        #[cfg(target_arch = "wasm32")]
        let client = reqwest::ClientBuilder::new();
        Self::new_with_client(baseurl, client.build().unwrap(), inner)
    }
    /// Construct a new client with an existing `reqwest::Client`,
    /// allowing more control over its configuration.
    ///
    /// `baseurl` is the base URL provided to the internal
    /// `reqwest::Client`, and should include a scheme and hostname,
    /// as well as port and a path stem if applicable.
    pub fn new_with_client(
        baseurl: &str,
        client: reqwest::Client,
        inner: ::groundwork_client::SendPolicy,
    ) -> Self {
        Self {
            baseurl: baseurl.to_string(),
            client,
            inner,
        }
    }
}
impl ClientInfo<::groundwork_client::SendPolicy> for Client {
    fn api_version() -> &'static str {
        "1.0.0"
    }
    fn baseurl(&self) -> &str {
        self.baseurl.as_str()
    }
    fn client(&self) -> &reqwest::Client {
        &self.client
    }
    fn inner(&self) -> &::groundwork_client::SendPolicy {
        &self.inner
    }
}
const _: () = {
    #[allow(dead_code)]
    fn assert_client_hooks()
    where
        Client: ClientHooks<::groundwork_client::SendPolicy>,
    {}
};
impl Client {
    /**Create a plant

Creates a new plant in the store.

The response is sent once the plant is durable. The operation is idempotent: if the same plant is sent again, the response is 200 again. A different plant with the same `id` is refused with `error` 409, and the first plant stays unchanged. After `error` 500 or 503, or if there is no response, the plant may or may not be stored: send the same request again.

Sends a `POST` request to `/plants`

Arguments:
- `body`: A plant to create: the members of Plant and an identification number.
```ignore
let response = client.create_plant()
    .body(body)
    .send()
    .await;
```*/
    pub fn create_plant(&self) -> builder::CreatePlant<'_> {
        builder::CreatePlant::new(self)
    }
}
/// Types for composing operation parameters.
#[allow(clippy::all)]
pub mod builder {
    use super::types;
    #[allow(unused_imports)]
    use super::{
        encode_path, ByteStream, ClientInfo, ClientHooks, Error, OperationInfo,
        RequestBuilderExt, ResponseValue,
    };
    /**Builder for [`Client::create_plant`]

[`Client::create_plant`]: super::Client::create_plant*/
    #[derive(Debug, Clone)]
    pub struct CreatePlant<'a> {
        client: &'a super::Client,
        body: Result<types::builder::NewPlant, String>,
    }
    impl<'a> CreatePlant<'a> {
        pub fn new(client: &'a super::Client) -> Self {
            Self {
                client: client,
                body: Ok(::std::default::Default::default()),
            }
        }
        pub fn body<V>(mut self, value: V) -> Self
        where
            V: std::convert::TryInto<types::NewPlant>,
            <V as std::convert::TryInto<types::NewPlant>>::Error: std::fmt::Display,
        {
            self.body = value
                .try_into()
                .map(From::from)
                .map_err(|s| format!("conversion to `NewPlant` for body failed: {}", s));
            self
        }
        pub fn body_map<F>(mut self, f: F) -> Self
        where
            F: std::ops::FnOnce(types::builder::NewPlant) -> types::builder::NewPlant,
        {
            self.body = self.body.map(f);
            self
        }
        ///Sends a `POST` request to `/plants`
        pub async fn send(
            self,
        ) -> Result<ResponseValue<types::Plant>, Error<::groundwork_client::Refusal>> {
            let Self { client, body } = self;
            let body = body
                .and_then(|v| types::NewPlant::try_from(v).map_err(|e| e.to_string()))
                .map_err(Error::InvalidRequest)?;
            let url = format!("{}/plants", client.baseurl,);
            let mut header_map = ::reqwest::header::HeaderMap::with_capacity(1usize);
            header_map
                .append(
                    ::reqwest::header::HeaderName::from_static("api-version"),
                    ::reqwest::header::HeaderValue::from_static(
                        super::Client::api_version(),
                    ),
                );
            #[allow(unused_mut)]
            let mut request = client
                .client
                .post(url)
                .header(
                    ::reqwest::header::ACCEPT,
                    ::reqwest::header::HeaderValue::from_static("application/json"),
                )
                .json(&body)
                .headers(header_map)
                .build()?;
            let info = OperationInfo {
                operation_id: "create_plant",
            };
            client.pre(&mut request, &info).await?;
            let result = client.exec(request, &info).await;
            client.post(&result, &info).await?;
            let response = result?;
            match response.status().as_u16() {
                200u16 => ResponseValue::from_response(response).await,
                400u16 => {
                    Err(
                        Error::ErrorResponse(
                            ResponseValue::from_response(response).await?,
                        ),
                    )
                }
                _ => Err(Error::UnexpectedResponse(response)),
            }
        }
    }
}
/// Items consumers will typically use such as the Client.
pub mod prelude {
    pub use self::super::Client;
}
impl ::groundwork_client::GeneratedClient for Client {
    const IDEMPOTENT: &'static [&'static str] = &["create_plant"];
    fn new(
        base_url: &str,
        http: reqwest::Client,
        policy: ::groundwork_client::SendPolicy,
    ) -> Self {
        Self::new_with_client(base_url, http, policy)
    }
    fn policy(&mut self) -> &mut ::groundwork_client::SendPolicy {
        &mut self.inner
    }
}
impl ClientHooks<::groundwork_client::SendPolicy> for Client {
    async fn exec(
        &self,
        request: reqwest::Request,
        info: &OperationInfo,
    ) -> reqwest::Result<reqwest::Response> {
        self.inner.send(&self.client, request, info).await
    }
}
