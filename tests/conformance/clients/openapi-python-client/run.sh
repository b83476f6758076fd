openapi-python-client generate --path ../../plant-store.json --meta none --output-path plant_store --fail-on-warning
python main.py
