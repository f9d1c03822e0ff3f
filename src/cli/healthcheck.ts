/** uam healthcheck: whether the service answers where it is configured to listen. */

import { object } from "@optique/core/constructs";
import { message } from "@optique/core/message";
import { map, withDefault } from "@optique/core/modifiers";
import { command, option } from "@optique/core/primitives";
import type { Config } from "../config/config.ts";
import type { Listen } from "../config/listen.ts";
import { SECOND } from "../shared/clock.ts";
import { duration } from "./arguments.ts";
import { type Command, EXIT, loadConfig } from "./environment.ts";

const TIMEOUT = 5 * SECOND;
const PAUSE = SECOND / 4;
const PATH = "/api/v1/healthz";

export const healthcheckCommand = command(
  "healthcheck",
  map(
    object({
      wait: withDefault(
        option("--wait", duration(), { description: message`Keep trying for this long, such as 30s.` }),
        0,
      ),
    }),
    ({ wait }) => runHealthcheck(wait),
  ),
  {
    brief: message`Exit 0 if the service answers.`,
    description: message`Asks the service at the address in UAM_LISTEN, over https if UAM_TLS_CERT is set. For containers and units.`,
  },
);

function runHealthcheck(wait: number): Command {
  return async (environment) => {
    const config = await loadConfig(environment);
    const { formatListen } = await import("../config/listen.ts");
    const deadline = performance.now() + wait;
    for (;;) {
      const problem = await askService(config);
      if (problem === undefined) return EXIT.done;
      if (performance.now() + PAUSE > deadline) {
        environment.err(`uam: The service does not answer at ${formatListen(config.listen)}: ${problem}.\n`);
        return EXIT.failed;
      }
      await new Promise((resolve) => setTimeout(resolve, PAUSE));
    }
  };
}

/** What keeps the service from being healthy, or undefined. */
async function askService(config: Config): Promise<string | undefined> {
  const { request } = config.tlsCert === undefined ? await import("node:http") : await import("node:https");
  const options = {
    ...targetOf(config.listen),
    path: PATH,
    headers: { host: "localhost" },
    // A new connection each time.
    agent: false,
    timeout: TIMEOUT,
    // The certificate is for the public name, and nothing confidential is sent to whoever answers here.
    rejectUnauthorized: false,
  };
  return await new Promise((resolve) => {
    const asked = request(options, (response) => {
      response.resume();
      response.on("end", () => resolve(response.statusCode === 200 ? undefined : `status ${response.statusCode}`));
    });
    asked.on("timeout", () => asked.destroy(new Error("no answer in time")));
    asked.on("error", (error) => resolve(error.message || String((error as { code?: string }).code)));
    asked.end();
  });
}

/** Where to ask: on the loopback if the service listens on all addresses. */
function targetOf(listen: Listen): { readonly socketPath: string } | { readonly host: string; readonly port: number } {
  if (listen.kind === "unix") return { socketPath: listen.path };
  const { hostname, port } = listen;
  if (hostname === "0.0.0.0") return { host: "127.0.0.1", port };
  if (hostname === "::") return { host: "::1", port };
  return { host: hostname, port };
}
