# pip install requests tenacity

import os
from contextlib import suppress

import requests
from tenacity import retry, retry_if_exception, stop_after_attempt, wait_random_exponential


class Refused(Exception):
    """The store's answer to a create that it does not take."""

    def __init__(self, response):
        body = response.json()
        self.error = int(body["error"])
        self.retry_after = int(response.headers.get("Retry-After", 0))
        super().__init__(f"{self.error}: {body['message']}")


def is_temporary(error):
    """Whether the same plant may be accepted later. An unknown 5xx means the same as 500."""
    return error in (408, 429) or error >= 500


def may_pass(failure):
    """Whether to send the same plant again. A create is safe to repeat."""
    match failure:
        case Refused():
            return is_temporary(failure.error)
        case requests.HTTPError():  # of a proxy on the way: its status means the same
            status = failure.response.status_code
            return is_temporary(status) and status != 501
        case requests.exceptions.SSLError():
            return False
        case requests.ConnectionError() | requests.Timeout():
            return True
        case requests.exceptions.ChunkedEncodingError():
            return True
    return False


backoff = wait_random_exponential(multiplier=0.1, max=10)


def pause(state):
    asked_for = getattr(state.outcome.exception(), "retry_after", 0)
    return asked_for + backoff(state)


session = requests.Session()
session.headers["Authorization"] = "Bearer " + os.environ["PLANTS_TOKEN"]


@retry(retry=retry_if_exception(may_pass), wait=pause, stop=stop_after_attempt(11), reraise=True)
def create_plant(id, name, tag=None):
    plant = {"id": id, "name": name}  # an int of Python has as many digits as it needs
    if tag is not None:
        plant["tag"] = tag  # absent or a string, never null
    # A redirect is not followed: it would lose the token, or make a GET of the POST.
    response = session.post(
        os.environ["PLANTS_URL"] + "/plants", json=plant, timeout=(5, 30), allow_redirects=False
    )
    if response.status_code == 400:
        with suppress(KeyError, TypeError, ValueError):  # its body is no `Error`
            raise Refused(response)
    if response.status_code != 200:
        raise requests.HTTPError(f"HTTP status {response.status_code}", response=response)
    return response.json()


print(create_plant(9223372036854775807, "Ficus lyrata"))
print(create_plant(9007199254740993, "Monstera deliciosa", "indoor"))
