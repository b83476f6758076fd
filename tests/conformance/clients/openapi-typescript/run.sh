cp ../../plant-store.json .
node types.mjs
tsc --project .
node main.js
