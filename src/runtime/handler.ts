/** The service without an address of its own, for a server that somebody else runs. */

import type { Listen } from "../config/listen.ts";
import type { Runtime, ServeOptions } from "./runtime.ts";

/** The value of UAM_LISTEN in that case: nothing listens there. */
export const NO_ADDRESS = "/nonexistent/served-by-another";

type Handler = ServeOptions["fetch"];

/** The runtime, but that what would listen at NO_ADDRESS is given to `take`; other addresses, as that of metrics, are listened to. */
export function withoutAddress(runtime: Runtime, address: string, take: (fetch: Handler) => void): Runtime {
  const isNone = (listen: Listen) => listen.kind === "unix" && listen.path === NO_ADDRESS;
  return {
    ...runtime,
    async serve(options) {
      if (!isNone(options.listen)) return await runtime.serve(options);
      take(options.fetch);
      return { address, async stop() {} };
    },
  };
}

/**
 * The address at the other end of the connection, as Bun and Deno tell their handlers by the second argument; undefined where it does
 * not say so, which is as on a unix socket.
 */
export function peerOf(request: Request, about: unknown): string | undefined {
  if (typeof about !== "object" || about === null) return undefined;
  if ("remoteAddr" in about) return textOf(about.remoteAddr, "hostname");
  if (!("requestIP" in about) || typeof about.requestIP !== "function") return undefined;
  return textOf(about.requestIP(request), "address");
}

function textOf(of: unknown, name: string): string | undefined {
  const value: unknown = typeof of === "object" && of !== null ? Reflect.get(of, name) : undefined;
  return typeof value === "string" ? value : undefined;
}
