/** Prints what sshd's log has about refused logins to an account, as JSON. */

import { openRefusalLog } from "../../src/host/processes/refused-logins.ts";

const [, , name = ""] = process.argv;
process.stdout.write(`${JSON.stringify(await openRefusalLog(undefined).read(name))}\n`);
