//! The steps that operations have in common, from the head of a request to its answer.
//!
//! An operation is a function that takes the [`Input`] of a request whose token is accepted, and
//! returns an answer or a [`Refusal`]. [`respond`] is the only code that turns the result into an
//! answer, an access record and metrics.
//!
//! A request acquires its permit as soon as its token is accepted. Before that, nothing may wait
//! for a byte of the body, because waiting makes hyper send `100 Continue`.

use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Instant;

use async_trait::async_trait;
use dropshot::{
    ApiEndpointBodyContentType, Body, ExclusiveExtractor, ExtractorMetadata, HttpError, Path,
    RequestContext, ServerContext, SharedExtractor, TypedBody,
};
use groundwork_store::{Guard, Outcome, Row};
use http::HeaderMap;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use tokio::task::{spawn_blocking, yield_now};
use tokio::time::timeout;

use crate::error::{Error, ErrorCode, Refusal};
use crate::http::access_log::AccessRecord;
use crate::http::headers::{credentials, require_json};
use crate::http::typed::{Answer, Content, JsonText};
use crate::http::{Context, State, body};
use crate::service::Service;
use crate::tokens::KnownToken;

/// A request whose token is accepted, and that holds a permit. Its methods are the steps of an
/// operation.
pub struct AcceptedRequest<'r> {
    state: Context,
    token: Arc<KnownToken>,
    /// Permits bound the memory of requests. A permit is released when the last byte of a 200 has
    /// been written (see [`Answer::ok`]), before a refusal is sent, or when the connection and the
    /// commit of the row have ended.
    permit: Guard,
    record: &'r mut AccessRecord,
}

/// The head of a request, as Dropshot passes it to an operation.
type Head = RequestContext<Context>;

/// What an operation takes from a request: the body of a `TypedBody`, the parameters of a `Path`,
/// or a pair of both.
pub trait Input {
    /// The type that the document declares. For a pair, a pair of such types.
    type Value;

    /// Returns what the document declares: the metadata of Dropshot's extractor.
    fn metadata(content_type: ApiEndpointBodyContentType) -> ExtractorMetadata;

    /// Reads the input of a request whose token is accepted. [`respond`] calls this.
    fn read(
        head: Head,
        body: Body,
        request: &mut AcceptedRequest<'_>,
    ) -> impl Future<Output = Result<Self::Value, Refusal>> + Send;
}

/// A request as Dropshot passes it to an operation. The document describes it like an `I`, which is
/// one of Dropshot's extractors, `TypedBody<T>` or `Path<T>`, or a pair `(Path<P>, TypedBody<T>)`.
///
/// Nothing has been extracted and no byte of the body has been read, because Dropshot would do so
/// before the credentials are checked. `TypedBody` also reads a body that exceeds the limit to its
/// end, and accepts media types that the document does not declare. Pass this to
/// [`respond`](crate::respond).
pub struct UnreadRequest<I> {
    body: Body,
    input: PhantomData<fn() -> I>,
}

#[async_trait]
impl<I: Input + 'static> ExclusiveExtractor for UnreadRequest<I> {
    /// Accepts every request. Its head is in the context.
    async fn from_request<C: ServerContext>(
        _: &RequestContext<C>,
        request: http::Request<Body>,
    ) -> Result<Self, HttpError> {
        Ok(Self { body: request.into_body(), input: PhantomData })
    }

    fn metadata(content_type: ApiEndpointBodyContentType) -> ExtractorMetadata {
        I::metadata(content_type)
    }
}

/// Runs an operation if the token of the request is accepted, and answers, counts and logs the
/// request. The operation gets the input, which is read after the credentials are checked.
///
/// The result is never an `Err`: a refusal is returned as an [`Answer`], because it needs headers.
// Not an `async fn`, because its future would hold the parameters, and with them the whole head,
// until the answer.
pub fn respond<I: Input, T: Content>(
    mut context: Head,
    UnreadRequest { body, .. }: UnreadRequest<I>,
    operation: impl AsyncFnOnce(I::Value, &AcceptedRequest<'_>) -> Result<Answer<T>, Refusal>,
) -> impl Future<Output = Result<Answer<T>, Error>> {
    let state = Arc::clone(context.context());
    async move {
        let mut record = AccessRecord::new(Arc::clone(&state.access_log), &mut context);
        let service = state.service;
        let result = match accept(state, context.request.headers(), &mut record) {
            Ok(mut request) => match I::read(context, body, &mut request).await {
                Ok(input) => operation(input, &request).await,
                Err(refusal) => Err(refusal),
            },
            Err(refusal) => {
                drop(body);
                Err(refusal)
            }
        };
        let answer = match result {
            Ok(answer) => answer,
            Err(refusal) => {
                // Without this, hyper answers up to 16 pipelined requests of one connection before
                // it serves the others. In the meantime, hyper drops a body that has arrived with
                // the head. If a part is missing, it closes the connection after the answer and
                // says so (RFC 9112, section 9.6).
                yield_now().await;
                let answer = Answer::refusal(service, &refusal);
                record.refusal = Some(refusal);
                answer
            }
        };
        record.status = Some(answer.status());
        Ok(answer)
    }
}

/// Checks that the token of the request is accepted, and acquires a permit.
///
/// # Errors
///
/// `error` 401, or 503 if the tokens are unavailable or no permit is left.
fn accept<'r>(
    state: Context,
    headers: &HeaderMap,
    record: &'r mut AccessRecord,
) -> Result<AcceptedRequest<'r>, Refusal> {
    let digest = credentials(state.service.token_prefix, headers)?;
    let token = state.tokens.find(&digest)?;
    record.token = Some(Arc::clone(&token));
    token.check_expiry()?;
    let permit = acquire_permit(&state, &token)?;
    Ok(AcceptedRequest { state, token, permit, record })
}

/// Acquires a permit of the token and one of the service.
fn acquire_permit(state: &State, token: &KnownToken) -> Result<Guard, Refusal> {
    let exhausted = |cause| Refusal::of(ErrorCode::SERVICE_UNAVAILABLE).because(cause);
    let of_token = Arc::clone(&token.permits).try_acquire_owned();
    let of_token =
        of_token.map_err(|_| exhausted("the token already holds half of the permits"))?;
    let of_service = Arc::clone(&state.permits).try_acquire_owned();
    let of_service = of_service.map_err(|_| exhausted("the service has no permit left"))?;
    Ok(Arc::new((of_service, of_token)))
}

impl AcceptedRequest<'_> {
    /// Returns the name of the token, by which an operation can authorize the request or record who
    /// has sent it.
    ///
    /// The name is the only identity that a token has. It is unique in a store, but after `token
    /// revoke` another token can be issued under the same name.
    #[must_use]
    pub fn token_name(&self) -> &str {
        self.token.stored.name.as_str()
    }

    /// Reads the row with this id, within `--store-timeout`.
    ///
    /// # Errors
    ///
    /// `error` 500 or 503.
    pub async fn stored<T>(&self, id: i64) -> Result<Option<JsonText<T>>, Refusal>
    where
        T: DeserializeOwned,
    {
        let State { service, store, reading, limits, .. } = &*self.state;
        let deadline = Instant::now() + *limits.store_timeout;
        let read = async {
            let turn = Arc::clone(reading).lock_owned().await;
            let store = Arc::clone(store);
            spawn_blocking(move || {
                let _turn = turn;
                store.get(id, deadline)
            })
            .await
        };
        let too_late = |_| Refusal::store_unavailable("the row was not read in time".into());
        let read = timeout(*limits.store_timeout, read).await.map_err(too_late)?;
        let program = service.names.program;
        let found = read.map_err(|panic| Refusal::fault(panic.to_string()))?;
        let found = found.map_err(|cause| Refusal::of_store(program, &cause))?;
        let Some(row) = found else { return Ok(None) };
        // A message of serde could repeat a value of the row.
        let unreadable = || {
            let resource = service.resource;
            Refusal::fault(format!("the row {id} is not a {resource}: run `{program} check`"))
        };
        JsonText::stored(row.json).ok_or_else(unreadable).map(Some)
    }

    /// Commits a resource under this id, and answers with it once it is durable. The same id with
    /// the same resource is answered in the same way again.
    ///
    /// This future may be dropped at any point: a queued create is committed whether or not the
    /// client still waits for the answer.
    ///
    /// # Errors
    ///
    /// `error` 409, 500 or 503.
    pub async fn commit<T: Content>(&self, id: i64, value: &T) -> Result<Answer<T>, Refusal> {
        let text = JsonText::new(value);
        let row = Row { id, json: text.share() };
        let Service { names, resource, .. } = self.state.service;
        let committed = self.state.commits.create(row, Arc::clone(&self.permit)).await;
        match committed.map_err(|cause| Refusal::of_store(names.program, &cause))? {
            Outcome::Created | Outcome::Repeated => Ok(self.answer(text)),
            Outcome::Conflict => {
                let message =
                    format!("{resource} {id} already exists and is different: choose another id");
                Err(Refusal::new(ErrorCode::CONFLICT, message))
            }
        }
    }

    /// Answers with this text.
    pub fn answer<T: Content>(&self, text: JsonText<T>) -> Answer<T> {
        Answer::ok(text, Arc::clone(&self.permit))
    }
}

impl<T: DeserializeOwned + JsonSchema + Send + Sync + 'static> Input for TypedBody<T> {
    type Value = T;

    fn metadata(content_type: ApiEndpointBodyContentType) -> ExtractorMetadata {
        <Self as ExclusiveExtractor>::metadata(content_type)
    }

    /// Checks the media type, and receives and parses the body, within the limits. Checks the token
    /// again at the end, because it may have been revoked since.
    ///
    /// # Errors
    ///
    /// `error` 400, 401, 408, 413, 415, or 503 if the tokens are unavailable.
    async fn read(head: Head, body: Body, request: &mut AcceptedRequest<'_>) -> Result<T, Refusal> {
        require_json(head.request.headers())?;
        // Free the head, which may have 400 KiB, because the rest of the request may take a while.
        drop(head);
        let body = body::receive(body, &request.state.limits).await?;
        let (value, ignored) = body::parse(&body)?;
        request.record.ignored = ignored;
        request.state.tokens.check_still_accepted(&request.token)?;
        Ok(value)
    }
}

impl<T: DeserializeOwned + JsonSchema + Send + Sync + 'static> Input for Path<T> {
    type Value = T;

    fn metadata(content_type: ApiEndpointBodyContentType) -> ExtractorMetadata {
        <Self as SharedExtractor>::metadata(content_type)
    }

    async fn read(head: Head, _: Body, _: &mut AcceptedRequest<'_>) -> Result<T, Refusal> {
        extract(&head).await.map(Self::into_inner)
    }
}

/// A path together with a body, as in `PUT /books/{id}`.
impl<T, I: Input> Input for (Path<T>, I)
where
    T: DeserializeOwned + JsonSchema + Send + Sync + 'static,
{
    type Value = (T, I::Value);

    fn metadata(content_type: ApiEndpointBodyContentType) -> ExtractorMetadata {
        let mut parameters = <Path<T> as Input>::metadata(content_type.clone()).parameters;
        let rest = I::metadata(content_type);
        parameters.extend(rest.parameters);
        ExtractorMetadata { parameters, ..rest }
    }

    async fn read(
        head: Head,
        body: Body,
        request: &mut AcceptedRequest<'_>,
    ) -> Result<Self::Value, Refusal> {
        let path: Path<T> = extract(&head).await?;
        let rest = I::read(head, body, request).await?;
        Ok((path.into_inner(), rest))
    }
}

/// Extracts the parameters of the path.
///
/// # Errors
///
/// `error` 400.
async fn extract<E: SharedExtractor>(head: &Head) -> Result<E, Refusal> {
    let extracted = E::from_request(head).await;
    extracted.map_err(|error| {
        Refusal::new(ErrorCode::BAD_REQUEST, body::shortened(&error.external_message))
    })
}
