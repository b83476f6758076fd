// npm install --save-dev @hey-api/openapi-ts@0.95 typescript@5
// npx openapi-ts: plant-store.json becomes the folder plant-store, and an int64 a bigint.

export default {
  input: "plant-store.json",
  output: { path: "plant-store", module: { extension: ".js" } },
  plugins: ["@hey-api/client-fetch", "@hey-api/sdk", "@hey-api/transformers"],
};
