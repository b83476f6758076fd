// Calls a running service with openapi-fetch and the types that types.mjs writes from
// openapi/plant-store.json. Outside of this repository:
// npm install lossless-json@4 openapi-fetch@0.17 && npm pkg set type=module
// npm install --save-dev openapi-typescript@7 typescript@5 @types/node@20
// The options of the compiler are in tsconfig.json.

import { deepStrictEqual, ok, strictEqual } from "node:assert";
import { env } from "node:process";
import { stringify } from "lossless-json";
import createClient from "openapi-fetch";
import type { components, paths } from "./plant-store.js";

type NewPlant = components["schemas"]["NewPlant"];

function create(token: string | undefined, body: NewPlant) {
  const client = createClient<paths>({
    baseUrl: env.PLANTS_URL,
    headers: { Authorization: `Bearer ${token}` },
    bodySerializer: (body) => stringify(body), // writes every digit of a bigint
  });
  return client.POST("/plants", { body });
}

async function assertRefused(token: string | undefined, plant: NewPlant, code: number) {
  const { error, response } = await create(token, plant);
  strictEqual(response.status, 400);
  ok(error);
  strictEqual(error.error, code);
  ok(error.message.length > 0);
}

const token = env.PLANTS_TOKEN;
const monstera = { id: 9223372036854775807n, name: "Monstera deliciosa", tag: "indoor" };
const other = { id: 9223372036854775807n, name: "Ficus lyrata" };

const { data } = await create(token, monstera);
deepStrictEqual(data, { name: "Monstera deliciosa", tag: "indoor" });

// This id differs from the first one only if every digit is kept.
await create(token, { ...other, id: 9223372036854775806n }).then(({ data }) => ok(data));
await assertRefused(token, other, 409);
await assertRefused("unknown", other, 401);
