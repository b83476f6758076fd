# pip install requests tenacity

import os
from contextlib import suppress

import requests
from tenacity import retry, retry_if_exception, stop_after_attempt, wait_random_exponential


class Refused(Exception):
    """The store refused to create the plant."""

    def __init__(self, response):
        body = response.json()
        self.error = int(body["error"])
        self.retry_after = int(response.headers.get("Retry-After", 0))
        super().__init__(f"{self.error}: {body['message']}")


def is_temporary(error):
    """Returns whether the store may accept the same plant later. An unknown 5xx counts as 500."""
    return error in (408, 429) or error >= 500


def may_retry(failure):
    """Returns whether to send the same plant again, which is always safe."""
    match failure:
        case Refused():
            return is_temporary(failure.error)
        case requests.HTTPError():  # from a proxy, whose status means the same as `error`
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
    retry_after = getattr(state.outcome.exception(), "retry_after", 0)
    return retry_after + backoff(state)


session = requests.Session()
session.headers["Authorization"] = "Bearer " + os.environ["PLANTS_TOKEN"]


@retry(retry=retry_if_exception(may_retry), wait=pause, stop=stop_after_attempt(11), reraise=True)
def create_plant(id, name, tag=None):
    plant = {"id": id, "name": name}  # a Python int keeps every digit
    if tag is not None:
        plant["tag"] = tag  # absent or a string, never null
    # Following a redirect could drop the token, or turn the POST into a GET.
    response = session.post(
        os.environ["PLANTS_URL"] + "/plants", json=plant, timeout=(5, 30), allow_redirects=False
    )
    if response.status_code == 400:
        with suppress(KeyError, TypeError, ValueError):  # raised if the body is not an `Error`
            raise Refused(response)
    if response.status_code != 200:
        raise requests.HTTPError(f"HTTP status {response.status_code}", response=response)
    return response.json()


print(create_plant(9223372036854775807, "Ficus lyrata"))
print(create_plant(9007199254740993, "Monstera deliciosa", "indoor"))
