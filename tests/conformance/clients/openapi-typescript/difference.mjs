// npm install lossless-json@4 openapi-fetch@0.17
import { env } from "node:process";
import { stringify } from "lossless-json";
import createClient, { defaultBodySerializer } from "openapi-fetch";

const headers = { Authorization: `Bearer ${env.PLANTS_TOKEN}` };
async function create(bodySerializer, id) {
  const client = createClient({ baseUrl: env.PLANTS_URL, bodySerializer, headers });
  const { response } = await client.POST("/plants", { body: { id, name: "Ficus" } });
  console.log(response.status, bodySerializer({ id }));
}
await create(defaultBodySerializer, 9007199254740993); // 200 {"id":9007199254740992}
await create((body) => stringify(body), 9007199254740993n); // 200 {"id":9007199254740993}
