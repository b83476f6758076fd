cp ../../plant-store.json .
openapi-ts --no-log-file
tsc --project .
node main.js
