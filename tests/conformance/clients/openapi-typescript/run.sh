cp ../../plant-store.json .
node types.mjs
tsc --project .
node main.js
node difference.mjs > sent
printf '200 {"id":%s}\n' 9007199254740992 9007199254740993 | diff - sent
