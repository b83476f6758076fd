//! The operations, as functions.

use dropshot::{ApiDescription, Path, RequestContext, TypedBody, endpoint};
use groundwork::{
    AcceptedRequest, Answer, Context, Error, ErrorCode, Refusal, UnreadRequest, respond,
};

use crate::GOOSE_FARM;
use crate::types::{Goose, GoosePath, NewGoose};

const FORBIDDEN: ErrorCode = GOOSE_FARM.error(403);

const NOT_FOUND: ErrorCode = GOOSE_FARM.error(404);

const TOO_HEAVY: ErrorCode = GOOSE_FARM.error(422);

/// How the names of tokens begin that may only read.
const VISITOR: &str = "visitor-";

const MAX_GRAMS: u32 = 15_000;

/// Creates the API of the service.
pub fn api() -> ApiDescription<Context> {
    let mut api = ApiDescription::new();
    api.register(add_goose)
        .and_then(|()| api.register(put_goose))
        .and_then(|()| api.register(get_goose))
        .expect("the operations are a valid API description");
    api
}

/// Add a goose
///
/// The response is sent once the goose is durable. If the same goose is sent again, the response is
/// 200 again.
#[endpoint { method = POST, path = "/geese" }]
async fn add_goose(
    context: RequestContext<Context>,
    request: UnreadRequest<TypedBody<NewGoose>>,
) -> Result<Answer<Goose>, Error> {
    respond(context, request, async |new_goose, request| {
        let (id, goose) = new_goose.into_parts();
        add(id, &goose, request).await
    })
    .await
}

/// Add a goose under a number
///
/// Like `add_goose`. A goose never changes: if there is a different goose with this number, the
/// request is refused with `error` 409.
#[endpoint { method = PUT, path = "/geese/{id}" }]
async fn put_goose(
    context: RequestContext<Context>,
    request: UnreadRequest<(Path<GoosePath>, TypedBody<Goose>)>,
) -> Result<Answer<Goose>, Error> {
    respond(context, request, async |(GoosePath { id }, goose), request| {
        add(id, &goose, request).await
    })
    .await
}

/// Adds a goose, unless the token belongs to a visitor or the goose is too heavy.
async fn add(
    id: i64,
    goose: &Goose,
    request: &AcceptedRequest<'_>,
) -> Result<Answer<Goose>, Refusal> {
    if request.token_name().starts_with(VISITOR) {
        return Err(Refusal::new(FORBIDDEN, "visitors may look at geese, but not add any"));
    }
    if goose.grams > MAX_GRAMS {
        let message = format!("a goose of {} g is too heavy: weigh it again", goose.grams);
        return Err(Refusal::new(TOO_HEAVY, message));
    }
    request.commit(id, goose).await
}

/// Get a goose
///
/// If there is no goose with this number, the request is refused with `error` 404.
#[endpoint { method = GET, path = "/geese/{id}" }]
async fn get_goose(
    context: RequestContext<Context>,
    request: UnreadRequest<Path<GoosePath>>,
) -> Result<Answer<Goose>, Error> {
    respond(context, request, async |GoosePath { id }, request| {
        let missing = || Refusal::new(NOT_FOUND, format!("there is no goose {id}"));
        let goose = request.stored(id).await?.ok_or_else(missing)?;
        Ok(request.answer(goose))
    })
    .await
}
