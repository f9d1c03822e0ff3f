/** Receivers of webhooks in a process of their own: prints its port, and takes whatever comes. */

import { createServer } from "node:http";

let taken = 0;
const server = createServer((request, response) => {
  if (request.url === "/taken") {
    response.end(String(taken));
    return;
  }
  request.resume().on("end", () => {
    taken++;
    response.end();
  });
});
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  console.log(typeof address === "object" && address !== null ? address.port : 0);
});
