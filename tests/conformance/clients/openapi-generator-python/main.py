"""Calls a running service with the Python client that OpenAPI Generator generates."""

import os

from plant_store import ApiClient, ApiException, Configuration, Error, NewPlant, Plant, PlantsApi


def plants(token):
    return PlantsApi(ApiClient(Configuration(host=os.environ["PLANTS_URL"], access_token=token)))


def assert_refused(plants, plant, code):
    try:
        raise AssertionError(plants.create_plant(plant))
    except ApiException as refusal:
        assert refusal.status == 400, refusal
        assert isinstance(refusal.data, Error), refusal
        assert refusal.data.error == code and refusal.data.message, refusal


ours = plants(os.environ["PLANTS_TOKEN"])
monstera = NewPlant(id=2**63 - 1, name="Monstera deliciosa", tag="indoor")
other = NewPlant(id=2**63 - 1, name="Ficus lyrata")

created = ours.create_plant(monstera)
assert created == Plant(name="Monstera deliciosa", tag="indoor"), created

assert_refused(ours, other, 409)
assert_refused(plants("unknown"), other, 401)
