import { env } from "node:process";

const response = await fetch(`${env.PLANTS_URL}/plants`, {
  method: "POST",
  headers: {
    "Authorization": `Bearer ${env.PLANTS_TOKEN}`,
    "Content-Type": "application/json",
  },
  body: JSON.stringify({ id: 1, name: "Monstera deliciosa", tag: "indoor" }),
  signal: AbortSignal.timeout(30_000),
});
if (response.status !== 200) throw new Error(await response.text());
console.log((await response.json()).name);
