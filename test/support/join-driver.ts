/** Joins a host to a service in a process of its own, that a test can stop and kill: `DIRECTORY LINE NAME`. */

import { joinHost } from "./join-host.ts";

const [directory = "", line = "", name = ""] = process.argv.slice(2);
await joinHost({ directory, line, name });
