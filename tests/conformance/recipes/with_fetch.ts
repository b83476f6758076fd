// Node.js 20 or later: npm install lossless-json@4 p-retry@7; npm pkg set type=module
// To compile: npm install --save-dev typescript@5 @types/node@20
// npx tsc --strict --target es2022 --module nodenext --types node FILE.ts

import { env } from "node:process";
import { setTimeout } from "node:timers/promises";
import { stringify } from "lossless-json";
import pRetry from "p-retry";

interface Plant { name: string; tag?: string }
// A number of JavaScript is exact up to 2^53 only: above it, two ids become one. So an id from a
// database or from JSON must be a bigint from the start: BigInt("9007199254740993").
interface NewPlant extends Plant { id: bigint | number }

const LOST = [
  "EAI_AGAIN", "ECONNREFUSED", "ECONNRESET", "EPIPE", "ETIMEDOUT", "UND_ERR_CONNECT_TIMEOUT",
  "UND_ERR_SOCKET",
];

/** The store's answer to a create that it does not take. */
class Refused extends Error {
  constructor(readonly error: number, message: string, readonly retryAfter: number) {
    super(`${error}: ${message}`);
  }
}

/** An answer that is not of the contract: a proxy on the way gave it. */
class Unexpected extends Error {
  constructor(readonly status: number) {
    super(`HTTP status ${status}`);
  }
}

/** Whether the same plant may be accepted later. An unknown 5xx means the same as 500. */
function isTemporary(error: number): boolean {
  return error === 408 || error === 429 || error >= 500;
}

/** Whether to send the same plant again. A create is safe to repeat. */
function mayPass(failure: Error): boolean {
  if (failure instanceof Refused) return isTemporary(failure.error);
  if (failure instanceof Unexpected) return isTemporary(failure.status) && failure.status !== 501;
  if (failure.name === "TimeoutError") return true;
  // No answer came. A bad URL, or a certificate that is not trusted, has another code or none.
  const { code } = (failure.cause ?? {}) as { code?: string };
  return code !== undefined && LOST.includes(code);
}

/** The id with every digit. A number that may have been rounded is refused. */
function exact(id: bigint | number): bigint {
  if (typeof id === "number" && !Number.isSafeInteger(id)) {
    throw new RangeError(`the id ${id} may be rounded: give it as a bigint`);
  }
  return BigInt(id);
}

/** What a body holds as JSON: of a proxy, nothing. */
function parsed(body: string): any {
  try {
    return JSON.parse(body) ?? {};
  } catch {
    return {};
  }
}

async function send(plant: NewPlant): Promise<Plant> {
  const response = await fetch(`${env.PLANTS_URL}/plants`, {
    method: "POST",
    headers: {
      "Authorization": `Bearer ${env.PLANTS_TOKEN}`,
      "Content-Type": "application/json",
    },
    body: stringify({ ...plant, id: exact(plant.id) }), // no member that is undefined
    redirect: "manual", // another request would lose the token, or be a GET
    signal: AbortSignal.timeout(30_000),
  });
  if (response.status === 200) return response.json();
  if (response.status === 400) {
    const { error, message } = parsed(await response.text());
    const retryAfter = Number(response.headers.get("Retry-After"));
    if (typeof error === "number") throw new Refused(error, message, retryAfter);
  }
  throw new Unexpected(response.status);
}

function createPlant(plant: NewPlant): Promise<Plant> {
  return pRetry(() => send(plant), {
    retries: 10,
    minTimeout: 100,
    maxTimeout: 10_000,
    randomize: true,
    shouldRetry: ({ error }) => mayPass(error),
    onFailedAttempt: async ({ error }) => {
      if (error instanceof Refused) await setTimeout(error.retryAfter * 1_000);
    },
  });
}

// Not sent: in JavaScript this number is 9007199254740992.
await createPlant({ id: 9007199254740993, name: "Ficus lyrata" }).then(
  () => { throw new Error("a rounded id was sent"); },
  (refusal) => {
    if (!(refusal instanceof RangeError)) throw refusal;
    console.log(refusal.message);
  },
);
console.log(await createPlant({ id: 9223372036854775807n, name: "Ficus lyrata" }));
console.log(
  await createPlant({ id: 9007199254740993n, name: "Monstera deliciosa", tag: "indoor" }),
);
