// What a program does with the client, the same on each runtime: prints what it saw.
import process from "node:process";
import { createClient, UamError } from "../../../deploy/client/client.js";

const [baseUrl, token, name] = process.argv.slice(2);
const uam = createClient({ baseUrl, token });
const seen = {};
const reasonOf = (error) => [error instanceof UamError, error.status, error.reason, error.message.length > 0];

for (const number of [1, 2, 3]) {
  await uam.call("createUser", { body: { username: `${name}${number}`, email: `${name}${number}@example.org` } });
}
const query = { q: name, sort: "username" };
seen.paged = [];
for await (const { username } of uam.all("listUsers", { query: { ...query, page_size: 2 } })) seen.paged.push(username);
const { total, items } = await uam.call("listUsers", { query });
seen.total = total;
const [{ id }] = items;
seen.one = (await uam.call("getUser", { path: { id } })).username;
seen.csv = (await uam.call("exportUsers", { query: { q: `${name}1` } })).includes(`${name}1@example.org`);
seen.missing = await uam.call("getUser", { path: { id: 4711 } }).catch(reasonOf);
seen.taken = await uam
  .call("createUser", { body: { username: `${name}1`, email: "x@example.org" } })
  .catch((error) => [error.status, error.reason]);
seen.withoutToken = await createClient({ baseUrl }).call("listUsers").catch(reasonOf);
seen.health = (await createClient({ baseUrl: `${baseUrl}/` }).call("getHealth")).status;
console.log(JSON.stringify(seen));
