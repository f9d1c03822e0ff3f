/** Joins a host to a service in a process of its own, that a test can stop and kill: `DIRECTORY LINE NAME`. */

import { joinService, meetService, parseJoinLine } from "../../src/agent/joining.ts";
import { systemClock } from "../../src/shared/time/clock.ts";

const [directory = "", text = "", name = ""] = process.argv.slice(2);
const line = parseJoinLine(text);
const send = (url: string, init: object) => fetch(url, init);
const fleetKey = await meetService(line, send);
const about = {
  name,
  mode: "direct",
  version: "0",
  ssh: { host: name, port: 22, host_keys: [] },
  highest_uid: 0,
} as const;
await joinService({ directory, line, fleetKey, ca: undefined, about, send, clock: systemClock });
