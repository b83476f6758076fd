// npm install --save-dev @hey-api/openapi-ts@0.95 typescript@5
// npx openapi-ts: generates the folder plant-store, with a bigint for an int64.

export default {
  input: "plant-store.json",
  output: { path: "plant-store", module: { extension: ".js" } },
  plugins: ["@hey-api/client-fetch", "@hey-api/sdk", "@hey-api/transformers"],
};
