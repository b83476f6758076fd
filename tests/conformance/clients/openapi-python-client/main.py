"""Calls a running service with the client that openapi-python-client generates."""

import os
import socket
from time import monotonic, sleep
from urllib.parse import urlsplit

from plant_store import AuthenticatedClient
from plant_store.api.plants import create_plant
from plant_store.models import Error, NewPlant, Plant

URL = os.environ["PLANTS_URL"]
TOKEN = os.environ["PLANTS_TOKEN"]


def create(plant, token=TOKEN, before_retry=lambda: None):
    """Sends the request again exactly if the answer has a Retry-After header."""
    client = AuthenticatedClient(base_url=URL, token=token)
    while True:
        response = create_plant.sync_detailed(client=client, body=plant)
        if "Retry-After" not in response.headers:
            return response.parsed
        before_retry()
        sleep(int(response.headers["Retry-After"]))


def assert_refused(response, error):
    assert isinstance(response, Error), response
    assert response.error == error, response
    assert isinstance(response.message, str) and response.message, response


def take_a_permit():
    """Begins a create, which takes a permit of the service until the connection is closed."""
    connection = socket.create_connection((urlsplit(URL).hostname, urlsplit(URL).port))
    head = "POST /plants HTTP/1.1\r\nHost: plants\r\nContent-Type: application/json\r\n"
    head += f"Authorization: Bearer {TOKEN}\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n"
    connection.sendall(head.encode())
    assert b"100 Continue" in connection.recv(1024)
    return connection


monstera = NewPlant(id=2**63 - 1, name="Monstera deliciosa", tag="indoor")
other = NewPlant(id=2**63 - 1, name="Ficus lyrata")

# The token has one permit, and it is taken: the service answers `error` 503 and `Retry-After: 1`.
started = monotonic()
created = create(monstera, before_retry=take_a_permit().close)
assert created == Plant(name="Monstera deliciosa", tag="indoor"), created
assert monotonic() - started >= 1, "the client did not wait"

assert_refused(create(other), 409)
assert_refused(create(other, token="unknown"), 401)
