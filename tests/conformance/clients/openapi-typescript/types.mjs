// npm install --save-dev openapi-typescript@7 typescript@5
// node types.mjs: generates plant-store.d.ts, with a bigint for an int64.

import { readFileSync, writeFileSync } from "node:fs";
import openapiTS, { astToString } from "openapi-typescript";
import { factory, SyntaxKind } from "typescript";

const bigint = factory.createKeywordTypeNode(SyntaxKind.BigIntKeyword);
const types = await openapiTS(readFileSync("plant-store.json", "utf8"), {
  transform: ({ format }) => (format === "int64" ? bigint : undefined),
});
writeFileSync("plant-store.d.ts", astToString(types));
