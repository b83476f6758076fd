cp ../../plant-store.json .
node types.mjs
tsc --strict --target es2022 --module nodenext --types node main.ts
node main.js
