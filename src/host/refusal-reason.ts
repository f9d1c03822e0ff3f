/** Errors that the host throws, attributed to the host for API clients. */

import type { Host } from "../protocol/host.ts";
import { DEFAULT_REASONS, UamError } from "../shared/errors.ts";

/** The same host, whose refusals have the reason `host.refused` unless they give a better one. */
export function nameRefusals(host: Host): Host {
  const named = Object.entries(host).map(([name, part]) => [name, typeof part === "function" ? guarded(part) : part]);
  return Object.fromEntries(named);
}

type Method = (...input: unknown[]) => Promise<unknown>;

function guarded(method: Method): Method {
  return async (...input) => {
    try {
      return await method(...input);
    } catch (error) {
      throw error instanceof UamError && error.reason === DEFAULT_REASONS[error.code] ? renamed(error) : error;
    }
  };
}

function renamed(error: UamError): UamError {
  return new UamError(error.code, error.message, { cause: error, reason: "host.refused" });
}
