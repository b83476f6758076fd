openapi-generator-cli generate --generator-name python --input-spec ../../plant-store.json --output plant-store
PYTHONPATH=plant-store python main.py
