"""What Schemathesis cannot read in the document: what an id is, and what refused credentials get."""

import os
import secrets

import schemathesis

LOWEST, HIGHEST = -(2**63), 2**63 - 1

taken = set()


@schemathesis.hook
def before_call(context, case, kwargs):
    """Gives a valid id that an earlier plant has a fresh one, so that it is accepted."""
    body = case.body
    if not isinstance(body, dict):
        return
    id = body.get("id")
    if type(id) is not int or not LOWEST <= id <= HIGHEST:
        return
    while id in taken:
        # Not `random`: Hypothesis seeds it anew for every example.
        id = LOWEST + secrets.randbits(64)
    taken.add(id)
    case.body = {**body, "id": id}


@schemathesis.check
def refused_credentials(ctx, response, case):
    """Without our token the answer is a 400 with `error` 401 and a challenge; with it, never."""
    if response.request.method != "POST":
        return
    ours = f"Bearer {os.environ['PLANT_STORE_TOKEN']}"
    accepted = response.request.headers.get("Authorization") == ours
    refused = response.status_code == 400 and response.json()["error"] == 401
    assert accepted != refused, "401 is for the requests without our token, and for all of them"
    assert refused == ("www-authenticate" in response.headers), "the challenge goes with a 401"
