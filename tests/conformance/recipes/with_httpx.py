# pip install httpx tenacity

import asyncio
import os
from contextlib import suppress

import httpx
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
        case httpx.HTTPStatusError():  # from a proxy, whose status means the same as `error`
            status = failure.response.status_code
            return is_temporary(status) and status != 501
        case httpx.ConnectError() if "[SSL" in str(failure):  # an untrusted certificate
            return False
        case httpx.NetworkError() | httpx.TimeoutException() | httpx.RemoteProtocolError():
            return True
    return False


backoff = wait_random_exponential(multiplier=0.1, max=10)


def pause(state):
    retry_after = getattr(state.outcome.exception(), "retry_after", 0)
    return retry_after + backoff(state)


@retry(retry=retry_if_exception(may_retry), wait=pause, stop=stop_after_attempt(11), reraise=True)
async def create_plant(client, id, name, tag=None):
    plant = {"id": id, "name": name}  # a Python int keeps every digit
    if tag is not None:
        plant["tag"] = tag  # absent or a string, never null
    response = await client.post("/plants", json=plant)
    if response.status_code == 400:
        with suppress(KeyError, TypeError, ValueError):  # raised if the body is not an `Error`
            raise Refused(response)
    response.raise_for_status()  # also for a redirect, which httpx does not follow
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
