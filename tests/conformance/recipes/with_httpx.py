# pip install httpx tenacity

import asyncio
import os
from contextlib import suppress

import httpx
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
        case httpx.HTTPStatusError():  # of a proxy on the way: its status means the same
            status = failure.response.status_code
            return is_temporary(status) and status != 501
        case httpx.ConnectError() if "[SSL" in str(failure):  # a certificate that is not trusted
            return False
        case httpx.NetworkError() | httpx.TimeoutException() | httpx.RemoteProtocolError():
            return True
    return False


backoff = wait_random_exponential(multiplier=0.1, max=10)


def pause(state):
    asked_for = getattr(state.outcome.exception(), "retry_after", 0)
    return asked_for + backoff(state)


@retry(retry=retry_if_exception(may_pass), wait=pause, stop=stop_after_attempt(11), reraise=True)
async def create_plant(client, id, name, tag=None):
    plant = {"id": id, "name": name}  # an int of Python has as many digits as it needs
    if tag is not None:
        plant["tag"] = tag  # absent or a string, never null
    response = await client.post("/plants", json=plant)
    if response.status_code == 400:
        with suppress(KeyError, TypeError, ValueError):  # its body is no `Error`
            raise Refused(response)
    response.raise_for_status()  # also of a redirect: httpx follows none
    return response.json()


async def main():
    async with httpx.AsyncClient(
        base_url=os.environ["PLANTS_URL"],
        headers={"Authorization": "Bearer " + os.environ["PLANTS_TOKEN"]},
        timeout=httpx.Timeout(30, connect=5),
    ) as client:
        print(await create_plant(client, 9223372036854775807, "Ficus lyrata"))
        print(await create_plant(client, 9007199254740993, "Monstera deliciosa", "indoor"))


asyncio.run(main())
