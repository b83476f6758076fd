openapi-generator-cli generate --generator-name python --input-spec ../../plant-store.json --output client --package-name plant_store
PYTHONPATH=client python main.py
