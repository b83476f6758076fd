"""What the document cannot tell Schemathesis: ids are unique, and a refused token is a 401."""

import os
import secrets

import schemathesis

LOWEST, HIGHEST = -(2**63), 2**63 - 1

taken = set()


@schemathesis.hook
def before_call(context, case, kwargs):
    """Replaces a valid id that an earlier plant has by a new one, so that the plant is accepted."""
    body = case.body
    if not isinstance(body, dict):
        return
    id = body.get("id")
    if type(id) is not int or not LOWEST <= id <= HIGHEST:
        return
    while id in taken:
        # Not `random`: Hypothesis seeds it again for every example.
        id = LOWEST + secrets.randbits(64)
    taken.add(id)
    case.body = {**body, "id": id}


@schemathesis.check
def refused_credentials(ctx, response, case):
    """A request without our token gets `error` 401 and a challenge. A request with it never does."""
    # Another method is none of the operation: it is refused before its token is looked at.
    if response.request.method != case.operation.method.upper():
        return
    ours = f"Bearer {os.environ['PLANTS_TOKEN']}"
    accepted = response.request.headers.get("Authorization") == ours
    refused = response.status_code == 400 and response.json()["error"] == 401
    assert accepted != refused, "401 is for the requests without our token, and for all of them"
    assert refused == ("www-authenticate" in response.headers), "the challenge goes with a 401"
