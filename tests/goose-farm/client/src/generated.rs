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
    ///Color of a ring.
    #[derive(
        ::serde::Deserialize,
        ::serde::Serialize,
        Clone,
        Copy,
        Debug,
        Eq,
        Hash,
        Ord,
        PartialEq,
        PartialOrd
    )]
    pub enum Color {
        ///The goose was ringed here.
        #[serde(rename = "blue")]
        Blue,
        ///The goose came from another farm.
        #[serde(rename = "white")]
        White,
    }
    impl ::std::fmt::Display for Color {
        fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
            match *self {
                Self::Blue => f.write_str("blue"),
                Self::White => f.write_str("white"),
            }
        }
    }
    impl ::std::str::FromStr for Color {
        type Err = self::error::ConversionError;
        fn from_str(
            value: &str,
        ) -> ::std::result::Result<Self, self::error::ConversionError> {
            match value {
                "blue" => Ok(Self::Blue),
                "white" => Ok(Self::White),
                _ => Err("invalid value".into()),
            }
        }
    }
    impl ::std::convert::TryFrom<&str> for Color {
        type Error = self::error::ConversionError;
        fn try_from(
            value: &str,
        ) -> ::std::result::Result<Self, self::error::ConversionError> {
            value.parse()
        }
    }
    impl ::std::convert::TryFrom<::std::string::String> for Color {
        type Error = self::error::ConversionError;
        fn try_from(
            value: ::std::string::String,
        ) -> ::std::result::Result<Self, self::error::ConversionError> {
            value.parse()
        }
    }
    ///A goose of the farm.
    #[derive(::serde::Deserialize, ::serde::Serialize, Clone, Debug, PartialEq)]
    pub struct Goose {
        ///Breed of the goose. It may be absent, but is never null.
        #[serde(skip_serializing_if = "::std::option::Option::is_none")]
        pub breed: ::std::option::Option<::std::string::String>,
        ///Weight in grams, at most 15,000.
        pub grams: u32,
        ///Name of the goose.
        pub name: Name,
        ///Rings on the legs of the goose.
        pub rings: ::std::vec::Vec<Ring>,
    }
    impl Goose {
        pub fn builder() -> builder::Goose {
            Default::default()
        }
    }
    ///A name of 1 to 40 characters.
    #[derive(::serde::Serialize, Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
    #[serde(transparent)]
    pub struct Name(::std::string::String);
    impl ::std::ops::Deref for Name {
        type Target = ::std::string::String;
        fn deref(&self) -> &::std::string::String {
            &self.0
        }
    }
    impl ::std::convert::From<Name> for ::std::string::String {
        fn from(value: Name) -> Self {
            value.0
        }
    }
    impl ::std::str::FromStr for Name {
        type Err = self::error::ConversionError;
        fn from_str(
            value: &str,
        ) -> ::std::result::Result<Self, self::error::ConversionError> {
            if value.chars().count() > 40usize {
                return Err("longer than 40 characters".into());
            }
            if value.chars().count() < 1usize {
                return Err("shorter than 1 characters".into());
            }
            Ok(Self(value.to_string()))
        }
    }
    impl ::std::convert::TryFrom<&str> for Name {
        type Error = self::error::ConversionError;
        fn try_from(
            value: &str,
        ) -> ::std::result::Result<Self, self::error::ConversionError> {
            value.parse()
        }
    }
    impl ::std::convert::TryFrom<::std::string::String> for Name {
        type Error = self::error::ConversionError;
        fn try_from(
            value: ::std::string::String,
        ) -> ::std::result::Result<Self, self::error::ConversionError> {
            value.parse()
        }
    }
    impl<'de> ::serde::Deserialize<'de> for Name {
        fn deserialize<D>(deserializer: D) -> ::std::result::Result<Self, D::Error>
        where
            D: ::serde::Deserializer<'de>,
        {
            ::std::string::String::deserialize(deserializer)?
                .parse()
                .map_err(|e: self::error::ConversionError| {
                    <D::Error as ::serde::de::Error>::custom(e.to_string())
                })
        }
    }
    ///A goose to add: the members of Goose and a number.
    #[derive(::serde::Deserialize, ::serde::Serialize, Clone, Debug, PartialEq)]
    pub struct NewGoose {
        ///Breed of the goose. It may be absent, but is never null.
        #[serde(skip_serializing_if = "::std::option::Option::is_none")]
        pub breed: ::std::option::Option<::std::string::String>,
        ///Weight in grams, at most 15,000.
        pub grams: u32,
        ///Number of the goose, chosen by the client.
        pub id: i64,
        ///Name of the goose.
        pub name: Name,
        ///Rings on the legs of the goose.
        pub rings: ::std::vec::Vec<Ring>,
    }
    impl NewGoose {
        pub fn builder() -> builder::NewGoose {
            Default::default()
        }
    }
    ///A ring.
    #[derive(::serde::Deserialize, ::serde::Serialize, Clone, Debug, PartialEq)]
    pub struct Ring {
        ///Letters and digits on the ring.
        pub code: ::std::string::String,
        ///Color of the ring.
        pub color: Color,
    }
    impl Ring {
        pub fn builder() -> builder::Ring {
            Default::default()
        }
    }
    /// Types for composing complex structures.
    pub mod builder {
        #[derive(Clone, Debug)]
        pub struct Goose {
            breed: ::std::result::Result<
                ::std::option::Option<::std::string::String>,
                ::std::string::String,
            >,
            grams: ::std::result::Result<u32, ::std::string::String>,
            name: ::std::result::Result<super::Name, ::std::string::String>,
            rings: ::std::result::Result<
                ::std::vec::Vec<super::Ring>,
                ::std::string::String,
            >,
        }
        impl ::std::default::Default for Goose {
            fn default() -> Self {
                Self {
                    breed: Ok(Default::default()),
                    grams: Err("no value supplied for grams".to_string()),
                    name: Err("no value supplied for name".to_string()),
                    rings: Err("no value supplied for rings".to_string()),
                }
            }
        }
        impl Goose {
            pub fn breed<T>(mut self, value: T) -> Self
            where
                T: ::std::convert::TryInto<::std::option::Option<::std::string::String>>,
                T::Error: ::std::fmt::Display,
            {
                self.breed = value
                    .try_into()
                    .map_err(|e| {
                        format!("error converting supplied value for breed: {e}")
                    });
                self
            }
            pub fn grams<T>(mut self, value: T) -> Self
            where
                T: ::std::convert::TryInto<u32>,
                T::Error: ::std::fmt::Display,
            {
                self.grams = value
                    .try_into()
                    .map_err(|e| {
                        format!("error converting supplied value for grams: {e}")
                    });
                self
            }
            pub fn name<T>(mut self, value: T) -> Self
            where
                T: ::std::convert::TryInto<super::Name>,
                T::Error: ::std::fmt::Display,
            {
                self.name = value
                    .try_into()
                    .map_err(|e| {
                        format!("error converting supplied value for name: {e}")
                    });
                self
            }
            pub fn rings<T>(mut self, value: T) -> Self
            where
                T: ::std::convert::TryInto<::std::vec::Vec<super::Ring>>,
                T::Error: ::std::fmt::Display,
            {
                self.rings = value
                    .try_into()
                    .map_err(|e| {
                        format!("error converting supplied value for rings: {e}")
                    });
                self
            }
        }
        impl ::std::convert::TryFrom<Goose> for super::Goose {
            type Error = super::error::ConversionError;
            fn try_from(
                value: Goose,
            ) -> ::std::result::Result<Self, super::error::ConversionError> {
                Ok(Self {
                    breed: value.breed?,
                    grams: value.grams?,
                    name: value.name?,
                    rings: value.rings?,
                })
            }
        }
        impl ::std::convert::From<super::Goose> for Goose {
            fn from(value: super::Goose) -> Self {
                Self {
                    breed: Ok(value.breed),
                    grams: Ok(value.grams),
                    name: Ok(value.name),
                    rings: Ok(value.rings),
                }
            }
        }
        #[derive(Clone, Debug)]
        pub struct NewGoose {
            breed: ::std::result::Result<
                ::std::option::Option<::std::string::String>,
                ::std::string::String,
            >,
            grams: ::std::result::Result<u32, ::std::string::String>,
            id: ::std::result::Result<i64, ::std::string::String>,
            name: ::std::result::Result<super::Name, ::std::string::String>,
            rings: ::std::result::Result<
                ::std::vec::Vec<super::Ring>,
                ::std::string::String,
            >,
        }
        impl ::std::default::Default for NewGoose {
            fn default() -> Self {
                Self {
                    breed: Ok(Default::default()),
                    grams: Err("no value supplied for grams".to_string()),
                    id: Err("no value supplied for id".to_string()),
                    name: Err("no value supplied for name".to_string()),
                    rings: Err("no value supplied for rings".to_string()),
                }
            }
        }
        impl NewGoose {
            pub fn breed<T>(mut self, value: T) -> Self
            where
                T: ::std::convert::TryInto<::std::option::Option<::std::string::String>>,
                T::Error: ::std::fmt::Display,
            {
                self.breed = value
                    .try_into()
                    .map_err(|e| {
                        format!("error converting supplied value for breed: {e}")
                    });
                self
            }
            pub fn grams<T>(mut self, value: T) -> Self
            where
                T: ::std::convert::TryInto<u32>,
                T::Error: ::std::fmt::Display,
            {
                self.grams = value
                    .try_into()
                    .map_err(|e| {
                        format!("error converting supplied value for grams: {e}")
                    });
                self
            }
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
                T: ::std::convert::TryInto<super::Name>,
                T::Error: ::std::fmt::Display,
            {
                self.name = value
                    .try_into()
                    .map_err(|e| {
                        format!("error converting supplied value for name: {e}")
                    });
                self
            }
            pub fn rings<T>(mut self, value: T) -> Self
            where
                T: ::std::convert::TryInto<::std::vec::Vec<super::Ring>>,
                T::Error: ::std::fmt::Display,
            {
                self.rings = value
                    .try_into()
                    .map_err(|e| {
                        format!("error converting supplied value for rings: {e}")
                    });
                self
            }
        }
        impl ::std::convert::TryFrom<NewGoose> for super::NewGoose {
            type Error = super::error::ConversionError;
            fn try_from(
                value: NewGoose,
            ) -> ::std::result::Result<Self, super::error::ConversionError> {
                Ok(Self {
                    breed: value.breed?,
                    grams: value.grams?,
                    id: value.id?,
                    name: value.name?,
                    rings: value.rings?,
                })
            }
        }
        impl ::std::convert::From<super::NewGoose> for NewGoose {
            fn from(value: super::NewGoose) -> Self {
                Self {
                    breed: Ok(value.breed),
                    grams: Ok(value.grams),
                    id: Ok(value.id),
                    name: Ok(value.name),
                    rings: Ok(value.rings),
                }
            }
        }
        #[derive(Clone, Debug)]
        pub struct Ring {
            code: ::std::result::Result<::std::string::String, ::std::string::String>,
            color: ::std::result::Result<super::Color, ::std::string::String>,
        }
        impl ::std::default::Default for Ring {
            fn default() -> Self {
                Self {
                    code: Err("no value supplied for code".to_string()),
                    color: Err("no value supplied for color".to_string()),
                }
            }
        }
        impl Ring {
            pub fn code<T>(mut self, value: T) -> Self
            where
                T: ::std::convert::TryInto<::std::string::String>,
                T::Error: ::std::fmt::Display,
            {
                self.code = value
                    .try_into()
                    .map_err(|e| {
                        format!("error converting supplied value for code: {e}")
                    });
                self
            }
            pub fn color<T>(mut self, value: T) -> Self
            where
                T: ::std::convert::TryInto<super::Color>,
                T::Error: ::std::fmt::Display,
            {
                self.color = value
                    .try_into()
                    .map_err(|e| {
                        format!("error converting supplied value for color: {e}")
                    });
                self
            }
        }
        impl ::std::convert::TryFrom<Ring> for super::Ring {
            type Error = super::error::ConversionError;
            fn try_from(
                value: Ring,
            ) -> ::std::result::Result<Self, super::error::ConversionError> {
                Ok(Self {
                    code: value.code?,
                    color: value.color?,
                })
            }
        }
        impl ::std::convert::From<super::Ring> for Ring {
            fn from(value: super::Ring) -> Self {
                Self {
                    code: Ok(value.code),
                    color: Ok(value.color),
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
/**Client for Goose Farm

A sample goose farm: authenticated clients add geese to it. Every refused request to an operation gets an Error body, whose `error` member is the status code. The response has a `Retry-After` header exactly if the same request may be sent again. If there is no response, a request may be sent again if its method is idempotent (RFC 9110, section 9.2.2), or if its operation has `x-idempotent: true`.

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
    /**Add a goose

The response is sent once the goose is durable. If the same goose is sent again, the response is 200 again.

Sends a `POST` request to `/geese`

Arguments:
- `body`: A goose to add: the members of Goose and a number.
```ignore
let response = client.add_goose()
    .body(body)
    .send()
    .await;
```*/
    pub fn add_goose(&self) -> builder::AddGoose<'_> {
        builder::AddGoose::new(self)
    }
    /**Get a goose

If there is no goose with this number, the request is refused with `error` 404.

Sends a `GET` request to `/geese/{id}`

Arguments:
- `id`: Number of the goose.
```ignore
let response = client.get_goose()
    .id(id)
    .send()
    .await;
```*/
    pub fn get_goose(&self) -> builder::GetGoose<'_> {
        builder::GetGoose::new(self)
    }
    /**Add a goose under a number

Like `add_goose`. A goose never changes: if there is a different goose with this number, the request is refused with `error` 409.

Sends a `PUT` request to `/geese/{id}`

Arguments:
- `id`: Number of the goose.
- `body`: A goose of the farm.
```ignore
let response = client.put_goose()
    .id(id)
    .body(body)
    .send()
    .await;
```*/
    pub fn put_goose(&self) -> builder::PutGoose<'_> {
        builder::PutGoose::new(self)
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
    /**Builder for [`Client::add_goose`]

[`Client::add_goose`]: super::Client::add_goose*/
    #[derive(Debug, Clone)]
    pub struct AddGoose<'a> {
        client: &'a super::Client,
        body: Result<types::builder::NewGoose, String>,
    }
    impl<'a> AddGoose<'a> {
        pub fn new(client: &'a super::Client) -> Self {
            Self {
                client: client,
                body: Ok(::std::default::Default::default()),
            }
        }
        pub fn body<V>(mut self, value: V) -> Self
        where
            V: std::convert::TryInto<types::NewGoose>,
            <V as std::convert::TryInto<types::NewGoose>>::Error: std::fmt::Display,
        {
            self.body = value
                .try_into()
                .map(From::from)
                .map_err(|s| format!("conversion to `NewGoose` for body failed: {}", s));
            self
        }
        pub fn body_map<F>(mut self, f: F) -> Self
        where
            F: std::ops::FnOnce(types::builder::NewGoose) -> types::builder::NewGoose,
        {
            self.body = self.body.map(f);
            self
        }
        ///Sends a `POST` request to `/geese`
        pub async fn send(
            self,
        ) -> Result<ResponseValue<types::Goose>, Error<::groundwork_client::Refusal>> {
            let Self { client, body } = self;
            let body = body
                .and_then(|v| types::NewGoose::try_from(v).map_err(|e| e.to_string()))
                .map_err(Error::InvalidRequest)?;
            let url = format!("{}/geese", client.baseurl,);
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
                operation_id: "add_goose",
            };
            client.pre(&mut request, &info).await?;
            let result = client.exec(request, &info).await;
            client.post(&result, &info).await?;
            let response = result?;
            match response.status().as_u16() {
                200u16 => ResponseValue::from_response(response).await,
                400u16..=499u16 => {
                    Err(
                        Error::ErrorResponse(
                            ResponseValue::from_response(response).await?,
                        ),
                    )
                }
                500u16..=599u16 => {
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
    /**Builder for [`Client::get_goose`]

[`Client::get_goose`]: super::Client::get_goose*/
    #[derive(Debug, Clone)]
    pub struct GetGoose<'a> {
        client: &'a super::Client,
        id: Result<i64, String>,
    }
    impl<'a> GetGoose<'a> {
        pub fn new(client: &'a super::Client) -> Self {
            Self {
                client: client,
                id: Err("id was not initialized".to_string()),
            }
        }
        pub fn id<V>(mut self, value: V) -> Self
        where
            V: std::convert::TryInto<i64>,
        {
            self.id = value
                .try_into()
                .map_err(|_| "conversion to `i64` for id failed".to_string());
            self
        }
        ///Sends a `GET` request to `/geese/{id}`
        pub async fn send(
            self,
        ) -> Result<ResponseValue<types::Goose>, Error<::groundwork_client::Refusal>> {
            let Self { client, id } = self;
            let id = id.map_err(Error::InvalidRequest)?;
            let url = format!(
                "{}/geese/{}", client.baseurl, encode_path(& id.to_string()),
            );
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
                .get(url)
                .header(
                    ::reqwest::header::ACCEPT,
                    ::reqwest::header::HeaderValue::from_static("application/json"),
                )
                .headers(header_map)
                .build()?;
            let info = OperationInfo {
                operation_id: "get_goose",
            };
            client.pre(&mut request, &info).await?;
            let result = client.exec(request, &info).await;
            client.post(&result, &info).await?;
            let response = result?;
            match response.status().as_u16() {
                200u16 => ResponseValue::from_response(response).await,
                400u16..=499u16 => {
                    Err(
                        Error::ErrorResponse(
                            ResponseValue::from_response(response).await?,
                        ),
                    )
                }
                500u16..=599u16 => {
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
    /**Builder for [`Client::put_goose`]

[`Client::put_goose`]: super::Client::put_goose*/
    #[derive(Debug, Clone)]
    pub struct PutGoose<'a> {
        client: &'a super::Client,
        id: Result<i64, String>,
        body: Result<types::builder::Goose, String>,
    }
    impl<'a> PutGoose<'a> {
        pub fn new(client: &'a super::Client) -> Self {
            Self {
                client: client,
                id: Err("id was not initialized".to_string()),
                body: Ok(::std::default::Default::default()),
            }
        }
        pub fn id<V>(mut self, value: V) -> Self
        where
            V: std::convert::TryInto<i64>,
        {
            self.id = value
                .try_into()
                .map_err(|_| "conversion to `i64` for id failed".to_string());
            self
        }
        pub fn body<V>(mut self, value: V) -> Self
        where
            V: std::convert::TryInto<types::Goose>,
            <V as std::convert::TryInto<types::Goose>>::Error: std::fmt::Display,
        {
            self.body = value
                .try_into()
                .map(From::from)
                .map_err(|s| format!("conversion to `Goose` for body failed: {}", s));
            self
        }
        pub fn body_map<F>(mut self, f: F) -> Self
        where
            F: std::ops::FnOnce(types::builder::Goose) -> types::builder::Goose,
        {
            self.body = self.body.map(f);
            self
        }
        ///Sends a `PUT` request to `/geese/{id}`
        pub async fn send(
            self,
        ) -> Result<ResponseValue<types::Goose>, Error<::groundwork_client::Refusal>> {
            let Self { client, id, body } = self;
            let id = id.map_err(Error::InvalidRequest)?;
            let body = body
                .and_then(|v| types::Goose::try_from(v).map_err(|e| e.to_string()))
                .map_err(Error::InvalidRequest)?;
            let url = format!(
                "{}/geese/{}", client.baseurl, encode_path(& id.to_string()),
            );
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
                .put(url)
                .header(
                    ::reqwest::header::ACCEPT,
                    ::reqwest::header::HeaderValue::from_static("application/json"),
                )
                .json(&body)
                .headers(header_map)
                .build()?;
            let info = OperationInfo {
                operation_id: "put_goose",
            };
            client.pre(&mut request, &info).await?;
            let result = client.exec(request, &info).await;
            client.post(&result, &info).await?;
            let response = result?;
            match response.status().as_u16() {
                200u16 => ResponseValue::from_response(response).await,
                400u16..=499u16 => {
                    Err(
                        Error::ErrorResponse(
                            ResponseValue::from_response(response).await?,
                        ),
                    )
                }
                500u16..=599u16 => {
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
    const IDEMPOTENT: &'static [&'static str] = &["add_goose"];
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
