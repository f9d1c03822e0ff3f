/** Asking the service at the address where it is configured to listen. */

import type { Config } from "../../../config/config.ts";
import type { Listen } from "../../../config/listen.ts";
import { SECOND } from "../../../shared/time/clock.ts";

const TIMEOUT = 5 * SECOND;
const PATH = "/api/v1/healthz";

/** The reason the service does not answer at `UAM_LISTEN`, or undefined if it does. */
export async function askService(config: Pick<Config, "listen" | "tlsCert">): Promise<string | undefined> {
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
