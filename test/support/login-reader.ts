/** Prints what one or more readings of sshd's log find, as JSON lines: the bound of lines, then places to begin at. */

import { openLoginLog } from "../../src/host/processes/login-log.ts";

const [, , most = "", ...places] = process.argv;
let next = "";
for (const place of places) {
  const read = await openLoginLog(undefined, Number(most)).read(place === "on" ? next : place);
  next = read.next;
  process.stdout.write(`${JSON.stringify(read)}\n`);
}
