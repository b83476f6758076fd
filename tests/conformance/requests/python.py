# pip install requests

import os
import sys

import requests

response = requests.post(
    os.environ["PLANTS_URL"] + "/plants",
    headers={"Authorization": "Bearer " + os.environ["PLANTS_TOKEN"]},
    json={"id": 1, "name": "Monstera deliciosa", "tag": "indoor"},
    timeout=30,
)
if response.status_code != 200:
    sys.exit(response.text)
print(response.json()["name"])
