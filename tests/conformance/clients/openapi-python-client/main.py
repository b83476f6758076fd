"""Calls a running service with the client that openapi-python-client generates."""

import os

from plant_store import AuthenticatedClient
from plant_store.api.plants import create_plant
from plant_store.models import Error, NewPlant, Plant


def client(token):
    return AuthenticatedClient(base_url=os.environ["PLANTS_URL"], token=token)


def assert_refused(response, error):
    assert isinstance(response, Error), response
    assert response.error == error, response
    assert isinstance(response.message, str) and response.message, response


ours = client(os.environ["PLANTS_TOKEN"])
monstera = NewPlant(id=2**63 - 1, name="Monstera deliciosa", tag="indoor")
other = NewPlant(id=2**63 - 1, name="Ficus lyrata")

created = create_plant.sync(client=ours, body=monstera)
assert created == Plant(name="Monstera deliciosa", tag="indoor"), created

assert_refused(create_plant.sync(client=ours, body=other), 409)
assert_refused(create_plant.sync(client=client("unknown"), body=other), 401)
