// Calls a running service with the client that hey-api generates. It has a bigint for an int64.

import { deepStrictEqual, ok, strictEqual } from "node:assert";
import { env } from "node:process";
import { stringify } from "lossless-json";
import { createClient } from "./plant-store/client/index.js";
import { createPlant, type NewPlant } from "./plant-store/index.js";

function create(auth: string | undefined, body: NewPlant) {
  const client = createClient({
    auth,
    baseUrl: env.PLANTS_URL,
    bodySerializer: (body) => stringify(body), // hey-api's own writes a bigint as a string
  });
  return createPlant({ client, body });
}

async function assertRefused(token: string | undefined, plant: NewPlant, code: number) {
  const { error, response } = await create(token, plant);
  strictEqual(response?.status, 400);
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
