openapi-ts
tsc --project .
node main.js
