// Node.js 20 or later: npm install lossless-json@4 p-retry@7; npm pkg set type=module
// To compile: npm install --save-dev typescript@5 @types/node@20
// npx tsc --strict --target es2022 --module nodenext --types node FILE.ts

import { env } from "node:process";
import { setTimeout } from "node:timers/promises";
import { stringify } from "lossless-json";
import pRetry from "p-retry";

interface Plant { name: string; tag?: string }
// A JavaScript number is exact only up to 2^53. Above that, two ids become one. So an id from a
// database or from JSON must be a bigint from the start: BigInt("9007199254740993").
interface NewPlant extends Plant { id: bigint | number }

const LOST_CONNECTION = [
  "EAI_AGAIN", "ECONNREFUSED", "ECONNRESET", "EPIPE", "ETIMEDOUT", "UND_ERR_CONNECT_TIMEOUT",
  "UND_ERR_SOCKET",
];

/** The store refused to create the plant. */
class Refused extends Error {
  constructor(readonly error: number, message: string, readonly retryAfter: number) {
    super(`${error}: ${message}`);
  }
}

/** A response that is not in the contract: it came from a proxy. */
class Unexpected extends Error {
  constructor(readonly status: number) {
    super(`HTTP status ${status}`);
  }
}

/** Returns whether the store may accept the same plant later. An unknown 5xx counts as 500. */
function isTemporary(error: number): boolean {
  return error === 408 || error === 429 || error >= 500;
}

/** Returns whether to send the same plant again, which is always safe. */
function mayRetry(failure: Error): boolean {
  if (failure instanceof Refused) return isTemporary(failure.error);
  if (failure instanceof Unexpected) return isTemporary(failure.status) && failure.status !== 501;
  if (failure.name === "TimeoutError") return true;
  // There was no response. A bad URL or an untrusted certificate has a different code, or none.
  const { code } = (failure.cause ?? {}) as { code?: string };
  return code !== undefined && LOST_CONNECTION.includes(code);
}

/** Returns the id with every digit. Throws if the id is a number that may have been rounded. */
function exact(id: bigint | number): bigint {
  if (typeof id === "number" && !Number.isSafeInteger(id)) {
    throw new RangeError(`the id ${id} may be rounded: pass it as a bigint`);
  }
  return BigInt(id);
}

/** Parses a body as JSON. Returns an empty object for a proxy's body that is not JSON. */
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
    body: stringify({ ...plant, id: exact(plant.id) }), // omits undefined members
    redirect: "manual", // following it could drop the token, or turn the POST into a GET
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
    shouldRetry: ({ error }) => mayRetry(error),
    onFailedAttempt: async ({ error }) => {
      if (error instanceof Refused) await setTimeout(error.retryAfter * 1_000);
    },
  });
}

// This id is not sent, because the number is 9007199254740992 in JavaScript.
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
