// Calls a running service with the TypeScript client that OpenAPI Generator makes.

import { deepStrictEqual, ok, strictEqual } from "node:assert";
import { env } from "node:process";
import {
  Configuration, ModelErrorFromJSON, type NewPlant, PlantsApi, ResponseError,
} from "./plant-store/index.js";

function create(token: string | undefined, newPlant: NewPlant) {
  const configuration = new Configuration({ basePath: env.PLANTS_URL, accessToken: token });
  return new PlantsApi(configuration).createPlant({ newPlant });
}

async function assertRefused(token: string | undefined, plant: NewPlant, code: number) {
  const refusal = await create(token, plant).then(
    (created) => { throw new Error(`${created.name} was created`); },
    (reason: unknown) => reason,
  );
  ok(refusal instanceof ResponseError);
  strictEqual(refusal.response.status, 400);
  const { error, message } = ModelErrorFromJSON(await refusal.response.json());
  strictEqual(error, code);
  ok(message.length > 0);
}

const ours = env.PLANTS_TOKEN;
const monstera = { id: 1, name: "Monstera deliciosa", tag: "indoor" };
const other = { id: 1, name: "Ficus lyrata" };

deepStrictEqual(await create(ours, monstera), { name: "Monstera deliciosa", tag: "indoor" });

await assertRefused(ours, other, 409);
await assertRefused("unknown", other, 401);
