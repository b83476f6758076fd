// The transformers make a bigint of an int64, in the types and in answers.
export default {
  input: "../../plant-store.json",
  output: { path: "plant-store", module: { extension: ".js" } },
  plugins: ["@hey-api/client-fetch", "@hey-api/sdk", "@hey-api/transformers"],
};
