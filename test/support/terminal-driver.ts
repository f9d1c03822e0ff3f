/** Runs `runSudo` as an operator at a terminal would have it run: `terminal-driver ACCOUNT COMMAND…`, as the account. */

import { runSudo } from "../../src/host/execute/sudo-run.ts";

const [user = "", ...argv] = process.argv.slice(2);
console.log(JSON.stringify(await runSudo({ as: "owner", argv }, { user })));
