"""Tells Schemathesis what the document cannot express: ids are unique, and `error` is 401 for a refused
token."""

import os
import secrets

import schemathesis

LOWEST, HIGHEST = -(2**63), 2**63 - 1

taken = set()


@schemathesis.hook
def before_call(context, case, kwargs):
    """Replaces a valid id that is already taken with a new one, so that the service accepts the plant."""
    body = case.body
    if not isinstance(body, dict):
        return
    id = body.get("id")
    if type(id) is not int or not LOWEST <= id <= HIGHEST:
        return
    while id in taken:
        # Not `random`, because Hypothesis reseeds it for every example.
        id = LOWEST + secrets.randbits(64)
    taken.add(id)
    case.body = {**body, "id": id}


@schemathesis.check
def refused_credentials(ctx, response, case):
    """A request gets `error` 401 and a challenge if, and only if, it lacks our token."""
    # The router refuses another method before the service checks the token.
    if response.request.method != case.operation.method.upper():
        return
    ours = f"Bearer {os.environ['PLANTS_TOKEN']}"
    accepted = response.request.headers.get("Authorization") == ours
    refused = response.status_code == 400 and response.json()["error"] == 401
    assert accepted != refused, "every request without our token gets 401, and no other request does"
    assert refused == ("www-authenticate" in response.headers), "a 401 has a challenge, and no other response does"
