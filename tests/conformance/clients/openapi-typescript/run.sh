openapi-typescript ../../plant-store.json --output plant-store.d.ts
tsc --project .
node main.js
