/** What the pages without a session need to know of this installation. */

import { api } from "../../api.ts";

export interface ConsoleConfig {
  readonly version: string;
  readonly captcha: string;
  readonly contact: string;
  readonly setup: { readonly command: string } | null;
}

/** The route is not yet in the table of the service's routes. */
const read = api as unknown as (route: "GET /console/config") => Promise<ConsoleConfig>;

let known: Promise<ConsoleConfig> | undefined;

/** Asked for once, unless it failed or there was no administrator yet. */
export function readConsoleConfig(): Promise<ConsoleConfig> {
  known ??= read("GET /console/config").then(
    (config) => {
      if (config.setup !== null) known = undefined;
      return config;
    },
    (error: unknown) => {
      known = undefined;
      throw error;
    },
  );
  return known;
}
