// Calls a running service with openapi-fetch and the types that types.mjs writes from
// openapi/plant-store.json. Outside of this repository:
// npm install lossless-json@4 openapi-fetch@0.17 && npm pkg set type=module
// npm install --save-dev openapi-typescript@7 typescript@5 @types/node@20
// The options of the compiler are in run.sh.

import { deepStrictEqual, ok, strictEqual } from "node:assert";
import { once } from "node:events";
import { connect } from "node:net";
import { env } from "node:process";
import { setTimeout } from "node:timers/promises";
import { stringify } from "lossless-json";
import createClient from "openapi-fetch";
import type { components, paths } from "./plant-store.js";

type NewPlant = components["schemas"]["NewPlant"];

/** Sends the request again exactly if the answer has a Retry-After header. */
async function create(token: string | undefined, body: NewPlant, beforeRetry = () => {}) {
  const client = createClient<paths>({
    baseUrl: env.PLANTS_URL,
    headers: { Authorization: `Bearer ${token}` },
    bodySerializer: (body) => stringify(body), // writes every digit of a bigint
  });
  while (true) {
    const answer = await client.POST("/plants", { body });
    const seconds = answer.response.headers.get("Retry-After");
    if (seconds === null) return answer;
    beforeRetry();
    await setTimeout(Number(seconds) * 1_000);
  }
}

/** Begins a create, which takes a permit of the service until the connection is closed. */
async function takeAPermit() {
  const { hostname, port } = new URL(env.PLANTS_URL ?? "");
  const connection = connect(Number(port), hostname);
  connection.write(
    "POST /plants HTTP/1.1\r\nHost: plants\r\nContent-Type: application/json\r\n" +
      `Authorization: Bearer ${token}\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n`,
  );
  const [interim] = await once(connection, "data");
  ok(interim.includes("100 Continue"));
  return connection;
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

// The token has one permit, and it is taken: the service answers `error` 503 and `Retry-After: 1`.
const permit = await takeAPermit();
const started = performance.now();
const { data } = await create(token, monstera, () => permit.destroy());
deepStrictEqual(data, { name: "Monstera deliciosa", tag: "indoor" });
ok(performance.now() - started >= 1_000, "the client did not wait");

// This id differs from the first one only if every digit is kept.
await create(token, { ...other, id: 9223372036854775806n }).then(({ data }) => ok(data));
await assertRefused(token, other, 409);
await assertRefused("unknown", other, 401);
