// Calls a running service with openapi-fetch and the types that openapi-typescript makes.

import { deepStrictEqual, ok, strictEqual } from "node:assert";
import { env } from "node:process";
import createClient from "openapi-fetch";
import type { components, paths } from "./plant-store.js";

type NewPlant = components["schemas"]["NewPlant"];

function create(token: string | undefined, body: NewPlant) {
  const client = createClient<paths>({
    baseUrl: env.PLANT_STORE_URL,
    headers: { Authorization: `Bearer ${token}` },
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

const ours = env.PLANT_STORE_TOKEN;
const monstera = { id: 1, name: "Monstera deliciosa", tag: "indoor" };
const other = { id: 1, name: "Ficus lyrata" };

const { data } = await create(ours, monstera);
deepStrictEqual(data, { name: "Monstera deliciosa", tag: "indoor" });

await assertRefused(ours, other, 409);
await assertRefused("unknown", other, 401);
