openapi-generator-cli generate --generator-name typescript-fetch --input-spec ../../plant-store.json --output plant-store --additional-properties importFileExtension=.js
tsc --project .
node main.js
